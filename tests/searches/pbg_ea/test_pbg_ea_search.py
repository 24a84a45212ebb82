"""PBG-EA, the exact front, feasibility first: operators, archive theorems, truth, and a lattice of millions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from adult import adult
from crypsis.errors import PlanError, SearchError
from crypsis.evolution import Budget, Frontier, evolve
from crypsis.kernels.nodes import DEMANDED
from crypsis.measures import measures
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.objective import Objective
from crypsis.privacy import models
from crypsis.searches.pbg_ea import (
    PbgEaSearch,
    convergence_error_of_nodes,
    evaluate_lattice,
    minimal_node_scores,
    optimal_lattice_node,
    representation_ratio_of_scores,
    search_least_pbg_loss,
)
from crypsis.searches.pbg_ea.evaluation import evaluated_node_boxes, prepare_lattice_evaluation
from crypsis.searches.pbg_ea.operators import LevelStep, OnePoint
from crypsis.searches.pbg_ea.pbg_ea_search import Exchange, feasible_pbg_strategy
from crypsis.searches.search import searches
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table
from lattice_tables import random_hierarchy, random_table, tables
from naive.lattices import information_lost

points = st.lists(st.tuples(*[st.integers(0, 30)] * 2), min_size=1, max_size=60)


# -- the archive (Algorithm 1 of the paper) --


def archive(rows, sides):
    frontier = Frontier(scores=np.empty((0, 2)), boxes=sides)
    return frontier.offer_all((np.array([place]), tuple(-float(v) for v in row)) for place, row in enumerate(rows))


@given(points, st.tuples(st.integers(1, 7), st.integers(1, 7)))
@settings(max_examples=60, deadline=None)
def test_archive_theorems(rows, sides):
    """Only minimal nodes, one per box, no dominated box, and no more than the bound."""
    held = -archive(rows, sides).scores
    every = np.array(rows, dtype=float)
    for row in held:
        assert not ((every >= row).all(axis=1) & (every > row).any(axis=1)).any()
    taken = evaluated_node_boxes(held, sides)
    assert len({tuple(box) for box in taken.tolist()}) == len(taken)
    assert minimal_node_scores(taken).all()
    bound = max(int(every[:, place].max() // sides[place]) + 1 for place in range(2))
    assert len(held) <= bound


@given(points)
@settings(max_examples=40, deadline=None)
def test_minimal_rows_by_definition(rows):
    every = np.array(rows, dtype=float)
    dominated = [((every >= row).all(axis=1) & (every > row).any(axis=1)).any() for row in every]
    kept = minimal_node_scores(every)
    assert {tuple(r) for r in every[kept].tolist()} == {
        tuple(r) for r, d in zip(every.tolist(), dominated, strict=True) if not d
    }
    assert len({tuple(r) for r in every[kept].tolist()}) == kept.sum()


def test_convergence_and_representation_by_hand():
    truth = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0]])
    assert convergence_error_of_nodes(truth[:2], truth) == 0
    assert convergence_error_of_nodes(np.array([[2.0, 1.0]]), truth) == pytest.approx(0.25)
    assert representation_ratio_of_scores(truth[:2], truth, (1, 1)) == pytest.approx(2 / 3)
    assert representation_ratio_of_scores(truth[:1], truth, (5, 5)) == 1


# -- operators --


@given(st.integers(0, 999), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_operators_stay_in_the_lattice_and_change_no_parent(seed, s):
    rng = np.random.default_rng(seed)
    heights = tuple(int(h) for h in rng.integers(0, 5, s))
    one, two = (rng.integers(0, np.array(heights) + 1).astype(np.int16) for _ in range(2))
    before = one.copy(), two.copy()
    children = OnePoint().apply([one, two], rng)
    assert all(
        sorted(pair) == sorted(other)
        for pair, other in zip(zip(*children, strict=True), zip(one, two, strict=True), strict=True)
    )
    for operator in (LevelStep(heights, 0.5), Exchange(heights)):
        (child,) = operator.apply([one], rng)
        assert ((child >= 0) & (child <= heights)).all()
    (child,) = LevelStep(heights, 1.0).apply([one], rng)
    assert (np.abs(child - one) <= 1).all()
    assert np.array_equal(one, before[0])
    assert np.array_equal(two, before[1])


# -- the search --


@given(tables)
@settings(max_examples=15, deadline=None)
def test_exact_front_is_the_front_of_all_nodes(table):
    problem = PbgEaSearch(suppression=0.1, indices=("k", "glm")).pose(table, None, np.random.default_rng(0))
    assert problem.notes["exact"]
    states = list(evolve(problem, np.random.default_rng(0), Budget(generations=2)))
    frame = evaluate_lattice(table, 0.1, "by-size")
    cells = len(table) * len(Lattice.of(table).names)
    every = np.stack([frame["k"].to_numpy(), cells - frame["glm_sum"].to_numpy()], axis=1)
    best = every[minimal_node_scores(every)]
    found = -states[-1].frontier.scores
    assert sorted(map(tuple, np.round(found, 6).tolist())) == sorted(map(tuple, np.round(best, 6).tolist()))


@given(tables, st.sampled_from([0.0, 0.2]), st.sampled_from([(1, 0), (3, 0), (2, 2)]))
@settings(max_examples=25, deadline=None)
def test_the_information_lost_at_every_node_is_what_one_finds_record_by_record(table, suppression, demand):
    """The file that a node gives loses as much; a suppressed record what those of its groups lose on average."""
    lattice = Lattice.of(table)
    context = prepare_lattice_evaluation(table, lattice, "illness", None, False, "information-loss")
    limit = int(suppression * len(table))
    read = context.judge_nodes(DEMANDED, limit, *demand)
    search = PbgEaSearch(k=demand[0], l=demand[1], suppression=1.0)
    for number in range(0, lattice.size, 3):
        levels = lattice.levels(number)
        masked = search.encoding(table).decode(np.array(levels, dtype=np.int16))
        lifted = table.leaf_codes
        columns = [[None if leaf < 0 else int(leaf) for leaf in lifted(name)] for name in lattice.names]
        groups = [
            [-1 if leaf < 0 else int(tree.groups[level][leaf]) for leaf in lifted(name)]
            for name, tree, level in zip(lattice.names, lattice.hierarchies, levels, strict=True)
        ]
        kept = masked.kept if masked.kept.any() else np.zeros(len(table), np.bool_)
        assert read.loss[number] == pytest.approx(information_lost(columns, groups, kept.tolist(), False), abs=1e-9)
        one = context.judge_node(levels, DEMANDED, limit, *demand)
        assert one.loss[0] == pytest.approx(read.loss[number])


def test_the_information_lost_by_numbers_and_categories_is_that_of_the_measure():
    """Nothing is suppressed: the loss of every node is the figure of the measure; importance counts."""
    people = crypsis.example(60)
    weighed = [replace(each, importance=3.0 if each.name == "age" else 1.0) for each in people.attributes]
    people = replace(people, attributes=tuple(weighed))
    lattice = Lattice.of(people)
    context = prepare_lattice_evaluation(people, lattice, None, None, False, "information-loss")
    read, loss = context.judge_nodes(DEMANDED, 0), InformationLoss(columns=lattice.names).against(people)
    cells = len(people) * len(lattice.names)
    for number in range(0, lattice.size, 53):
        masked = PbgEaSearch(suppression=0.0).encoding(people).decode(np.array(lattice.levels(number), np.int16))
        assert 100 * read.loss[number] / cells == pytest.approx(loss.read(masked))


def test_the_index_of_information_finds_less_information_lost_than_glm():
    people = crypsis.example(400)
    loss = InformationLoss().against(people)
    found = {}
    for name in ("information-loss", "glm"):
        search = PbgEaSearch(k=3, suppression=0.05, loss=name)
        best = search.pose(people, None, np.random.default_rng(0)).first()[0]
        found[name] = loss.read(search.encoding(people).decode(best))
    assert found["information-loss"] < found["glm"]
    with pytest.raises(SearchError, match="a front has one loss"):
        PbgEaSearch(indices=("k", "information", "glm")).pose(people, None, np.random.default_rng(0))


@given(tables, st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_a_node_judged_alone_scores_as_among_all(table, pick):
    names = ("k", "l", "glm", "s_l")
    search = PbgEaSearch(indices=names, suppression=0.1, favour="many", method="pbg")
    problem = search.pose(table, None, np.random.default_rng(0))
    lattice = Lattice.of(table)
    everywhere = problem.evaluate.judge_all()
    number = pick % lattice.size
    genome = np.array(lattice.levels(number), dtype=np.int16)
    assert problem.evaluate(genome) == pytest.approx(tuple(-everywhere[number]), abs=1e-7)
    masked = search.encoding(table).decode(genome)
    assert (
        int(np.unique(masked.codes(lattice.names)[masked.kept], axis=0, return_counts=True)[1].min())
        == everywhere[number, 0]
    )


@pytest.mark.parametrize("method", ["pbg", "nsga2"])
def test_evolution_comes_close_to_the_truth_of_adult(method):
    search = PbgEaSearch(method=method, boxes=(1, 1), indices=("k", "glm"))
    problem = search.pose(adult(), None, np.random.default_rng(2))
    everywhere = problem.evaluate.judge_all()
    *_, state = evolve(problem, np.random.default_rng(3), Budget(generations=30))
    truth, found = everywhere[minimal_node_scores(everywhere)], -state.frontier.scores
    assert state.evaluations <= 1300
    assert representation_ratio_of_scores(found, truth, (1, 1)) > 0.4
    assert convergence_error_of_nodes(found, truth) < 0.5


def test_user_measures_replace_the_indices():
    table = random_table(6, 40, 3)
    chosen = Objective(table, {"glm": measures.build("glm"), "record-linkage": measures.build("record-linkage")})
    problem = PbgEaSearch(suppression=0.1, population=6).pose(table, chosen, np.random.default_rng(0))
    assert problem.objectives == ("loss", "risk")
    *_, state = evolve(problem, np.random.default_rng(0), Budget(generations=3))
    loss, risk = problem.evaluate(np.array(Lattice.of(table).top, dtype=np.int16))
    assert loss > 0
    assert 0 < risk <= 100
    assert len(state.frontier)


def test_a_node_is_described_in_words():
    encoding, genome = PbgEaSearch().encoding(adult()), np.array([2, 0, 2, 0, 0, 0, 4, 0], dtype=np.int16)
    description = encoding.describe(genome, encoding.decode(genome))
    assert description.message.startswith(
        "age in 10-year bands, education in 3 groups, native-country hidden, the rest as collected"
    )
    assert description.facts["level of age"] == 2


# -- feasibility first --


@pytest.mark.parametrize("k", [5])
def test_feasibility_first_finds_the_optimum_of_adult(k):
    truth = optimal_lattice_node(adult(), k, 0.01)
    found = search_least_pbg_loss(adult(), np.random.default_rng(1), k=k)
    assert found.loss == pytest.approx(100 * truth.glm)
    assert found.evaluations <= 1000


@given(tables, st.integers(2, 5))
@settings(max_examples=15, deadline=None)
def test_a_demanded_class_size_gives_the_optimum_and_nothing_that_cannot_be_decoded(table, k):
    search = PbgEaSearch(k=k, suppression=0.2, population=6, loss="glm")
    if search.obstacle(table):
        return
    truth = optimal_lattice_node(table, k, 0.2)
    for method in ("auto", "feasible"):
        problem = search.model_copy(update={"method": method}).pose(table, None, np.random.default_rng(0))
        *_, state = evolve(problem, np.random.default_rng(0), Budget(generations=4))
        assert problem.notes["exact"] == (method == "auto")
        for genome in state.frontier.genomes:
            masked = search.encoding(table).decode(genome)
            assert int((~masked.kept).sum()) <= truth.allowance
        if method == "auto":
            assert state.best_scores == (pytest.approx(100 * truth.glm), 0.0)


def test_feasibility_first_under_several_models():
    table = random_table(12, 60, 3)
    demanded = [models.build("k-anonymity", k=3), models.build("l-diversity", l=2)]
    found = search_least_pbg_loss(table, np.random.default_rng(0), models=demanded, suppression=0.2, evaluations=300)
    frame = evaluate_lattice(table, 0.2, k=3, l=2).filter("feasible")
    assert found.loss == pytest.approx(100 * frame["glm"].min())


def test_a_lattice_of_millions_is_evolved():
    rng = np.random.default_rng(8)
    attributes, columns = [], []
    for place in range(14):
        tree = random_hierarchy(rng, 8, 2)
        rows = [[tree.labels[level][tree.groups[level][leaf]] for level in range(3)] + ["*"] for leaf in range(8)]
        tree = type(tree).from_rows(rows)
        attributes.append(Attribute(f"q{place}", Kind.NOMINAL, Role.QUASI_IDENTIFIER, tree.labels[0], tree))
        columns.append(rng.integers(0, 8, 300).astype(np.int32))
    table = Table(tuple(attributes), tuple(columns))
    assert Lattice.of(table).size == 4**14
    problem = PbgEaSearch().pose(table, None, np.random.default_rng(0))
    assert not problem.notes["exact"]
    *_, state = evolve(problem, np.random.default_rng(0), Budget(generations=10))
    assert len(state.frontier) > 2
    found = search_least_pbg_loss(table, np.random.default_rng(0), k=5, suppression=0.05, evaluations=600)
    assert found.nodes == 4**14
    assert found.loss < 100


def test_the_demanded_evolution_follows_its_rates():
    heights, size = (3, 3, 3), 30
    usual = {a.operator.name: a.times for a in feasible_pbg_strategy(heights, size).applications}
    assert usual == {"crossover": 5, "step": 10, "exchange": 10}
    assert [a.operator.name for a in feasible_pbg_strategy(heights, size, 0.0).applications] == ["step", "exchange"]
    assert [(a.operator.name, a.times) for a in feasible_pbg_strategy(heights, size, 1.0).applications] == [
        ("crossover", 15)
    ]
    assert feasible_pbg_strategy(heights, size, 0.5, 0.9).applications[1].operator == LevelStep(heights, 0.9)


IDLE = [
    (
        {"k": 5, "rule": "by-size", "indices": ("k", "s_k"), "boxes": (1, 2)},
        "indices, boxes, rule move nothing where k or l is demanded; leave them out, or set both to 0",
    ),
    ({"method": "exact", "population": 30}, "population moves nothing with method 'exact', which evolves nothing"),
    ({"method": "feasible"}, "method moves nothing as 'feasible' where neither k nor l is demanded"),
    ({"method": "pbg", "patience": 1.0}, "patience moves nothing with method 'pbg'"),
    ({"favour": "many"}, "favour moves nothing without the index s_l; leave it out, or add it to indices"),
    ({"label": "illness"}, "label moves nothing without the index cm"),
    ({"loss": "glm"}, "loss moves nothing where neither k nor l is demanded"),
]


@pytest.mark.parametrize(("given", "sentence"), IDLE)
def test_settings_that_would_move_nothing_are_refused_where_they_stand(given, sentence):
    with pytest.raises(PlanError, match=sentence):
        searches.build("pbg-ea", **given)


def test_settings_that_move_nothing_beside_measures_or_without_them_are_refused_when_posed():
    table, rng = random_table(6, 40, 3), np.random.default_rng(0)
    chosen = Objective(table, {"glm": measures.build("glm"), "record-linkage": measures.build("record-linkage")})
    with pytest.raises(SearchError, match=r"method moves nothing as 'nsga2' where k or l is demanded; .* 'feasible'"):
        PbgEaSearch(k=2, method="nsga2").pose(table, None, rng)
    PbgEaSearch(k=2, method="nsga2", suppression=0.2).pose(table, chosen, rng)
    for alone, name in (({"boxes": (1, 1)}, "boxes"), ({"patience": 1.0}, "patience"), ({"method": "exact"}, "method")):
        PbgEaSearch(**alone).pose(table, None, rng)
        with pytest.raises(SearchError, match=f"{name} moves nothing .*where measures guide the search"):
            PbgEaSearch(**alone).pose(table, chosen, rng)


def test_refusals():
    table = random_table(3, 20, 2)
    with pytest.raises(SearchError, match="needs a confidential column"):
        PbgEaSearch(indices=("l", "glm")).pose(
            table.with_roles({"illness": Role.OTHER}), None, np.random.default_rng(0)
        )
    with pytest.raises(SearchError, match="1 box sides for 2 indices"):
        PbgEaSearch(boxes=(1.0,)).pose(table, None, np.random.default_rng(0))
    with pytest.raises(SearchError, match="no node reaches k = 21 while suppressing at most 0 of 20 records"):
        search_least_pbg_loss(table, np.random.default_rng(0), k=21, evaluations=50)
    with pytest.raises(SearchError, match="no node judged meets the demand"):
        search_least_pbg_loss(
            table, np.random.default_rng(0), models=[models.build("k-anonymity", k=21)], evaluations=50
        )
    assert "no node reaches k = 21" in PbgEaSearch(k=21).obstacle(table)
    with pytest.raises(PlanError, match="this would be 130 % of the records"):
        searches.build("pbg-ea", suppression=1.3)
    bare = table.with_roles({"illness": Role.OTHER})
    assert PbgEaSearch(l=3).obstacle(bare).startswith("l = 3 was demanded but no column is confidential")
    with pytest.raises(PlanError, match="no column is confidential"):
        search_least_pbg_loss(table.with_roles({"illness": Role.OTHER}), np.random.default_rng(0), l=2)
    with pytest.raises(SearchError, match="weighs a loss"):
        Objective(table, {"r": measures.build("record-linkage")})
