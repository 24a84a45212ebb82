from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from adult import adult
from crypsis.errors import CrypsisError
from crypsis.masking.generalisation import generalise
from crypsis.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from crypsis.privacy.demands import class_demands
from crypsis.searches.pbg_ea import PbgEaSearch
from crypsis.searches.pbg_ea.pbg_ea_search import closest_node_of_pbg
from crypsis.searches.pbg_ea.scores import NodeContents
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.lattice import Lattice
from crypsis.table.suppression import allowed_records
from crypsis.table.table import Table
from lattice_tables import tables

DEMANDS: list[list[PrivacyModel]] = [
    [KAnonymity(k=2), TCloseness(t=0.4, distance="equal")],
    [LDiversity(l=2.2, kind="entropy")],
    [KAnonymity(k=3), LDiversity(l=2, kind="recursive")],
]
ORDER = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
OPTIMA = [
    (TCloseness(t=0.3, distance="equal"), 0.01, 0.655878, (0, 4, 1, 2, 3, 3, 3, 1), 54),
    (TCloseness(t=0.3, distance="equal"), 0.04, 0.596916, (1, 4, 0, 3, 3, 2, 3, 0), 472),
    (TCloseness(t=0.2, distance="equal"), 0.01, 0.781006, (1, 4, 1, 2, 3, 3, 3, 1), 91),
    (TCloseness(t=0.2, distance="equal"), 0.04, 0.740023, (1, 4, 1, 1, 3, 2, 3, 1), 1134),
    (LDiversity(l=4, kind="entropy"), 0.01, 0.387399, (0, 5, 0, 2, 2, 3, 3, 0), 270),
    (LDiversity(l=4, kind="entropy"), 0.04, 0.285983, (0, 5, 0, 1, 2, 3, 2, 0), 1124),
]
"""Least loss of k = 5 and a model on occupation over every node of Adult, found by enumeration outside this project."""


def by_hand(contents: NodeContents, levels: tuple[int, ...]) -> tuple[float, float, int, int]:
    """Suppressed records, loss, smallest class and classes of one node, class by class."""
    table, lattice = contents.table, contents.lattice
    classes = classes_of(generalise(table, lattice, levels), lattice.names)
    suppressed, lost, left = 0, 0.0, []
    for number in range(classes.count):
        rows = np.flatnonzero(classes.of == number)
        if contents.demands.shortfall(rows) > 0:
            suppressed += len(rows)
            lost += len(rows) * len(lattice.names)
            continue
        left.append(len(rows))
        for row in rows:
            for name, hierarchy, level in zip(lattice.names, lattice.hierarchies, levels, strict=True):
                leaf = int(table.leaf_codes(name)[row])
                if leaf >= 0:
                    held = int(hierarchy.leaves(level)[hierarchy.groups[level][leaf]])
                    lost += (held - 1) / max(hierarchy.size - 1, 1)
    return suppressed, lost, min(left, default=0), len(left)


@given(tables, st.sampled_from(DEMANDS), st.sampled_from([0.0, 0.2, 1.0]))
@settings(max_examples=40, deadline=None)
def test_every_node_is_what_one_finds_class_by_class(
    table: Table, models: list[PrivacyModel], suppression: float
) -> None:
    lattice = Lattice.of(table)
    contents = NodeContents(
        table, lattice, class_demands(models, table, lattice.names), allowed_records(suppression, len(table))
    )
    found = contents.judge_all()
    for number in range(lattice.size):
        levels = lattice.levels(number)
        suppressed, lost, least, classes = by_hand(contents, levels)
        feasible = suppressed <= contents.allowance and classes > 0
        assert feasible == (found[number, 0] <= contents.allowance and found[number, 3] > 0)
        if feasible:
            assert found[number] == pytest.approx([suppressed, lost, least, classes])
            assert contents.judge_node(levels) == pytest.approx(tuple(found[number]))


@pytest.mark.parametrize(("model", "suppression", "loss", "node", "suppressed"), OPTIMA, ids=str)
def test_the_optima_of_adult(
    model: PrivacyModel, suppression: float, loss: float, node: tuple[int, ...], suppressed: int
) -> None:
    """The least loss of the front is the optimum, and the models hold on the file that is left."""
    search = PbgEaSearch(columns=ORDER, suppression=suppression, indices=("k", "glm")).under([KAnonymity(k=5), model])
    table = adult()
    problem = search.pose(table, None, np.random.default_rng(0))
    best = problem.first()[0]
    assert tuple(best.tolist()) == node
    assert problem.evaluate(best)[0] == pytest.approx(100 * loss, abs=1e-4)
    masked = search.encoding(table).decode(best)
    assert int((~masked.kept).sum()) == suppressed
    assert model.judge(masked).holds
    assert KAnonymity(k=5).judge(masked).holds


@pytest.mark.parametrize("method", ["auto", "pbg"])
def test_every_solution_meets_what_the_plan_demands(method: str) -> None:
    people = crypsis.example(300)
    search = PbgEaSearch(suppression=0.1, method=method, population=10)
    models = [KAnonymity(k=3), TCloseness(t=0.35, confidential=("diagnosis",))]
    with crypsis.evolve(people, search, models, budget="6 generations", seed=1, release={"suppression": "10%"}) as run:
        found = [s for s in run.front.everything if not s.baseline]
        assert found
        assert all(s.feasible for s in found)


def test_where_nothing_passes_the_closest_node_is_given() -> None:
    people = crypsis.example(60)
    model = LDiversity(l=500, confidential=("diagnosis",))
    search = PbgEaSearch().under([model])
    problem = search.pose(people, None, np.random.default_rng(0))
    assert min(problem.evaluate(problem.first()[0])) > 100
    lattice = Lattice.of(people)
    strict = [KAnonymity(k=20), LDiversity(l=4, kind="entropy", confidential=("diagnosis",))]
    contents = NodeContents(people, lattice, class_demands(strict, people, lattice.names), 0)
    closest = closest_node_of_pbg(contents)
    suppressed = by_hand(contents, lattice.levels(closest))[0]
    assert suppressed <= min(by_hand(contents, lattice.levels(number))[0] for number in range(0, lattice.size, 97))


def test_a_scenario_that_knows_fewer_columns_is_kept_too() -> None:
    people = crypsis.example(200)
    models = [LDiversity(l=2, quasi_identifiers=("age", "sex"), confidential=("diagnosis",))]
    search = PbgEaSearch(suppression=0.05, population=8).under(models)
    encoding = search.encoding(people)
    problem = search.pose(people, None, np.random.default_rng(1))
    for genome in problem.first():
        masked = encoding.decode(genome)
        assert not masked.kept.any() or models[0].judge(masked).holds
        try:
            problem.evaluate(genome)
        except CrypsisError:
            pytest.fail("a node is scored, however many records it suppresses")
