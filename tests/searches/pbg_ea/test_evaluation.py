"""Every node of a lattice against a plain group-by, and the optima SCIENCE.md 2.3 records for Adult."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from adult import QUASI, adult
from crypsis.errors import PlanError, SearchError, TableError
from crypsis.searches.pbg_ea import evaluate_lattice, evaluation, optimal_lattice_node
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.example import example
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.lazy import count_distinct_lazily
from crypsis.table.table import Table
from lattice_tables import random_table, tables
from naive.lattices import judge_node

FIGURES = ("k", "l", "cm", "s_k", "s_l", "classes", "suppressed")


def compare(table: Table, frame, lattice: Lattice, limit, demand, rule, nodes) -> None:
    cells = np.stack([table.leaf_codes(name) for name in lattice.names], axis=1).tolist()
    values, labels = (table.codes([name])[:, 0].tolist() for name in (table.confidential[0], "label"))
    for number in nodes:
        row = frame.row(number, named=True)
        levels = tuple(row[name] for name in lattice.names)
        assert lattice.number(levels) == number
        twin = judge_node(cells, lattice.hierarchies, levels, values, labels, limit, demand, rule)
        assert {name: row[name] for name in FIGURES} == {name: twin[name] for name in FIGURES}
        assert row["glm_sum"] == pytest.approx(twin["glm_sum"], abs=1e-9)


@given(tables, st.sampled_from([0.0, 0.1, 0.3, 1.0]), st.sampled_from(["by-size", "failing-class"]))
@settings(max_examples=40, deadline=None)
def test_every_node_equals_a_group_by(table, share, rule):
    lattice = Lattice.of(table)
    frame = evaluate_lattice(table, share, rule, label="label")
    compare(table, frame, lattice, int(share * len(table) + 1e-9), None, rule, range(lattice.size))


@given(tables, st.integers(1, 6), st.integers(1, 3), st.booleans())
@settings(max_examples=30, deadline=None)
def test_demanded_classes_fail_or_stay(table, k, l, value_spread):  # noqa: E741
    lattice = Lattice.of(table)
    frame = evaluate_lattice(table, 0.2, k=k, l=l, label="label", value_spread=value_spread)
    if not value_spread:
        frame = frame.with_columns(evaluate_lattice(table, 0.2, k=k, l=l, label="label")["s_l"])
    compare(table, frame, lattice, int(0.2 * len(table) + 1e-9), (k, l), "failing-class", range(lattice.size))


@pytest.mark.parametrize("tallied", [1, 3], ids=["both columns listed", "confidential listed, label tallied"])
@given(tables, st.sampled_from([0.0, 0.2, 1.0]), st.sampled_from([None, (3, 2)]), st.sampled_from(["label", "illness"]))
@settings(max_examples=25, deadline=None)
def test_listed_values_are_counted_like_tallied_ones(tallied, table, share, demand, label):
    k, l = demand or (None, None)  # noqa: E741
    wanted = evaluate_lattice(table, share, k=k, l=l, label=label)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "MOST_TALLIED", tallied)
        assert_frame_equal(evaluate_lattice(table, share, k=k, l=l, label=label), wanted)
        lean = evaluate_lattice(table, share, k=k, l=l, label=label, value_spread=False)
    assert_frame_equal(lean, wanted.drop("s_l"))


def test_a_number_as_confidential_column_equals_a_group_by():
    """Three hundred incomes: as many values as records, listed and not tallied."""
    table = example(300).with_roles({"diagnosis": Role.OTHER})
    lattice = Lattice.of(table)
    frame = evaluate_lattice(table, 0.05, confidential="income")
    cells = np.stack([table.leaf_codes(name) for name in lattice.names], axis=1).tolist()
    values = table.codes(["income"])[:, 0].tolist()
    for number in np.random.default_rng(3).integers(0, lattice.size, size=10):
        row = frame.row(int(number), named=True)
        levels = lattice.levels(int(number))
        twin = judge_node(cells, lattice.hierarchies, levels, values, values, 15, None, "failing-class")
        assert {name: row[name] for name in FIGURES} == {name: twin[name] for name in FIGURES}


@given(tables, st.integers(2, 6), st.sampled_from([0.0, 0.1, 0.3]))
@settings(max_examples=30, deadline=None)
def test_pruning_loses_no_node_that_reaches_k(table, k, share):
    whole = evaluate_lattice(table, share, "by-size", label="label")
    pruned = evaluate_lattice(table, share, "by-size", label="label", prune=k)
    reached = whole.filter(whole["k"] >= k)
    assert reached.equals(pruned.filter(pruned["k"] >= k))


def test_more_attributes_than_a_machine_word_holds():
    """Seventy ungeneralisable copies of a column change no class while the column itself stays at level 0."""
    table = random_table(5, 60, 4)
    original = table.attributes[0]
    flat = Hierarchy(original.hierarchy.groups[:1], original.hierarchy.labels[:1])
    copies = tuple(original.but(name=f"copy{place}", hierarchy=flat) for place in range(70))
    wide = Table((*table.attributes, *copies), (*table.columns, *[table.columns[0]] * len(copies)))
    narrow, frame = evaluate_lattice(table, 0.1), evaluate_lattice(wide, 0.1)
    for name in ("k", "l", "s_k", "cm"):
        assert frame.filter(frame["q0"] == 0)[name].to_list() == narrow.filter(narrow["q0"] == 0)[name].to_list()


def test_counts_do_as_well_as_a_table():
    table = random_table(3, 30, 3)
    counts = count_distinct_lazily(table, [*Lattice.of(table).names, "illness", "label"])
    assert evaluate_lattice(counts, 0.1, label="label").equals(evaluate_lattice(table, 0.1, label="label"))


LOSSES = {
    (5, 0.0): 0.605014, (10, 0.0): 0.605014, (100, 0.0): 0.679145,
    (5, 0.01): 0.303976, (10, 0.01): 0.372569, (100, 0.01): 0.568650,
    (5, 0.02): 0.238245, (5, 0.05): 0.182531, (5, 0.1): 0.163901, (5, 1.0): 0.162379,
}  # fmt: skip
SUPPRESSED = {5: 235, 10: 265, 100: 223}


@pytest.mark.parametrize("k, share", LOSSES)
def test_optimum_of_adult_is_the_recorded_one(k, share):
    best = optimal_lattice_node(adult(), k, share)
    assert best.glm == pytest.approx(LOSSES[k, share], abs=1e-6)
    if share == 0.01:
        assert best.suppressed == SUPPRESSED[k]
    assert best.k >= k


def test_adult_nodes_equal_a_group_by():
    table = adult()
    lattice = Lattice.of(table)
    assert lattice.names == QUASI
    assert lattice.size == 17_920
    frame = evaluate_lattice(table, 0.01, "by-size", label="salary-class")
    cells = np.stack([table.leaf_codes(name) for name in lattice.names], axis=1)
    occupation, salary = (table.codes([name])[:, 0] for name in ("occupation", "salary-class"))
    for number in np.random.default_rng(1).integers(0, lattice.size, size=12):
        levels = lattice.levels(int(number))
        lifted = np.stack(
            [h.lift(c, lv) for h, c, lv in zip(lattice.hierarchies, cells.T, levels, strict=True)], axis=1
        )
        _, of, size = np.unique(lifted, axis=0, return_inverse=True, return_counts=True)
        of = of.ravel()
        k = next(k for k in range(1, len(table)) if size[size <= k].sum() > 301)
        stay = size >= k
        pairs = np.zeros((len(size), 14), dtype=int)
        np.add.at(pairs, (of, occupation), 1)
        labels = np.zeros((len(size), 2), dtype=int)
        np.add.at(labels, (of, salary), 1)
        gone = size[~stay].sum()
        row = frame.row(int(number), named=True)
        assert (row["k"], row["suppressed"]) == (k, gone)
        assert row["l"] == (pairs[stay] > 0).sum(axis=1).min()
        assert row["s_k"] == (size[stay] ** 2).sum() + gone**2
        assert row["s_l"] == (pairs[stay] ** 2).sum() + (pairs[~stay].sum(axis=0) ** 2).sum()
        assert row["cm"] == gone + (size[stay] - labels[stay].max(axis=1)).sum()
        loss = sum(
            ((h.leaves(lv)[c] - 1) / (h.size - 1))[stay[of]].sum()
            for h, c, lv in zip(lattice.hierarchies, lifted.T, levels, strict=True)
        )
        assert row["glm_sum"] == pytest.approx(loss + 8 * gone, rel=1e-12)
        assert row["glm"] == pytest.approx(row["glm_sum"] / (8 * 30162))


def test_an_impossible_demand_says_what_is_closest():
    """Twenty records of towns that stay 12, 5 and 3 at the highest level; two may be suppressed."""
    towns = Hierarchy.from_rows([["A", "a"], ["B", "b"], ["C", "c"]])
    town = Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, towns.labels[0], towns)
    table = Table((town,), (np.repeat([0, 1, 2], [12, 5, 3]).astype(np.int32),))
    with pytest.raises(SearchError, match=r"no node reaches k = 21 .* highest level k = 3 is the most; lower"):
        optimal_lattice_node(table, 21, 0.1)
    for rule in ("failing-class", "by-size"):
        with pytest.raises(SearchError, match=r"no node reaches k = 6 .* would suppress 8 \(40.00 %\)") as refusal:
            optimal_lattice_node(table, 6, 0.1, rule)
        assert "raise the suppression limit to 0.4, or lower the demand: k = 3 is within reach" in str(refusal.value)
    assert optimal_lattice_node(table, 6, 0.4).suppressed == 8


def test_bad_requests_are_refused_in_a_sentence():
    table = random_table(8, 20, 3)
    with pytest.raises(PlanError, match="130 % of the records"):
        evaluate_lattice(table, 1.3)
    for wrong in ({"k": 0}, {"k": 2.5}, {"l": "2"}, {"l": True}):
        with pytest.raises(PlanError, match="what a class holds is a whole number of at least 1"):
            evaluate_lattice(table, **wrong)
    with pytest.raises(PlanError, match="did you mean 'by-size'"):
        evaluate_lattice(table, 0.1, "by-sise")
    with pytest.raises(PlanError, match="no column is confidential"):
        evaluate_lattice(table.with_roles({"illness": Role.OTHER}), l=2)
    with pytest.raises(PlanError, match="to demand l use rule 'failing-class'"):
        evaluate_lattice(table, 0.1, "by-size", l=2)
    bare = table.with_columns({}, attributes={"q1": table.attribute("q1").but(hierarchy=None)})
    with pytest.raises(TableError, match="'q1' has no hierarchy"):
        evaluate_lattice(bare)


@pytest.mark.parametrize("confidential", [None, "diagnosis"])
def test_nodes_judged_one_by_one_have_the_bits_of_the_walk(monkeypatch, confidential):
    table = example(80, seed=3)
    context = evaluation.prepare_lattice_evaluation(
        table, Lattice.of(table, ["age", "sex", "district", "hours"]), confidential, confidential, True
    )
    walked = context.judge_nodes(0, 8, k=2)
    monkeypatch.setattr(evaluation, "is_compiled", lambda _: False)
    monkeypatch.setattr(evaluation, "roll_up", lambda *_: pytest.fail("no walk is needed"))
    single = context.judge_nodes(0, 8, k=2)
    for before, after in zip(walked, single, strict=True):
        assert before.tobytes() == after.tobytes()
