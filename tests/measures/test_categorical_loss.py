"""CTBIL, DBIL and EBIL: worked by hand, against their twins, and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from categories import pairs_of_files, recoded, table
from crypsis.errors import TableError
from crypsis.measures.categorical_loss import ContingencyLoss, DistanceLoss, EntropyLoss
from crypsis.table.table import Table
from naive import categorical as naive

# One attribute of four ordered categories, one of two names; two records change.
ORIGINAL = [(0, 0), (1, 0), (2, 1), (3, 1)]
MASKED = [(0, 0), (0, 0), (2, 1), (3, 0)]


def test_contingency_by_hand():
    """One-way: a 0:1→2, 1:1→0 (2); b 0:2→3, 1:2→1 (2). Two-way: (0,0) +1, (1,0) −1, (3,1) −1, (3,0) +1 (4)."""
    original, masked = table(ORIGINAL, [4, 2], [True, False]), table(MASKED, [4, 2], [True, False])
    assert ContingencyLoss().against(original).read(masked) == pytest.approx(100 * 8 / (2 * 4 * 3))
    assert ContingencyLoss(order=1).against(original).read(masked) == pytest.approx(100 * 4 / (2 * 4 * 2))
    by_cells = ContingencyLoss(normalisation="cells").against(original)
    assert by_cells.read(masked) == pytest.approx(8 / (4 + 2 + 8))
    assert by_cells.explain(masked).unit == "records per cell"


def test_distance_by_hand():
    """One rank of four in a, one change of name in b: (1/4 + 1) / 8; over |D| − 1: (1/3 + 1) / 8; nominal: 2 / 8."""
    original, masked = table(ORIGINAL, [4, 2], [True, False]), table(MASKED, [4, 2], [True, False])
    assert DistanceLoss().against(original).read(masked) == pytest.approx(100 * 1.25 / 8)
    assert DistanceLoss(divisor="range").against(original).read(masked) == pytest.approx(100 * (4 / 3) / 8)
    assert DistanceLoss(divisor="nominal").against(original).read(masked) == pytest.approx(100 * 2 / 8)
    assert DistanceLoss().against(original).explain(masked).counts["changed cells"] == 2


def test_entropy_by_hand():
    """a: masked 0 hides {0, 1}: 1 bit for two of four records, over 2 bits. b: masked 0 hides {0, 0, 1}."""
    original, masked = table(ORIGINAL, [4, 2], [True, False]), table(MASKED, [4, 2], [True, False])
    of_b = 0.75 * (-(2 / 3) * math.log2(2 / 3) - (1 / 3) * math.log2(1 / 3))
    assert EntropyLoss().against(original).read(masked) == pytest.approx(100 * (0.5 / 2 + of_b) / 2)


def test_entropy_of_a_constant_mask_is_total_when_normalised_by_entropy():
    original = table([(0,), (0,), (1,), (2,)], [3], [False])
    masked = table([(1,)] * 4, [3], [False])
    assert EntropyLoss(normalisation="entropy").against(original).read(masked) == pytest.approx(100.0)
    assert EntropyLoss().against(original).read(masked) == pytest.approx(100 * 1.5 / math.log2(3))


def test_a_known_matrix_replaces_the_estimate():
    """Two equally frequent categories flipped with probability 1/4: posterior (3/4, 1/4) whatever was drawn."""
    original = table([(0,), (1,)], [2], [False])
    matrix = ((0.75, 0.25), (0.25, 0.75))
    bound = EntropyLoss(transitions={"a": matrix}).against(original)
    expected = 100 * (-0.75 * math.log2(0.75) - 0.25 * math.log2(0.25))
    for codes in ([(0,), (1,)], [(1,), (1,)]):
        assert bound.read(table(codes, [2], [False])) == pytest.approx(expected)


@pytest.mark.parametrize("matrix", [((0.5, 0.4), (0.5, 0.5)), ((1.0,),), ((1.5, -0.5), (0.0, 1.0))])
def test_a_matrix_that_is_none_is_refused(matrix):
    with pytest.raises(TableError, match="transition matrix of 'a'"):
        EntropyLoss(transitions={"a": matrix}).against(table([(0,), (1,)], [2], [False]))


def test_a_matrix_for_another_column_is_refused():
    with pytest.raises(TableError, match="not among the compared columns"):
        EntropyLoss(transitions={"z": ((1.0,),)}).against(table([(0,)], [1], [False]))


@settings(max_examples=40, deadline=None)
@given(pairs_of_files(), st.integers(1, 3))
def test_contingency_equals_its_twin(files, order):
    original, masked, sizes, ordinal, kept = files
    bound = ContingencyLoss(order=order).against(table(original, sizes, ordinal))
    got = bound.read(table(masked, sizes, ordinal, kept))
    assert got == pytest.approx(naive.contingency(original, masked, kept, order))
    assert 0 <= got <= 100


@settings(max_examples=40, deadline=None)
@given(pairs_of_files(), st.sampled_from(["size", "range", "nominal"]))
def test_distance_equals_its_twin(files, divisor):
    original, masked, sizes, ordinal, kept = files
    bound = DistanceLoss(divisor=divisor).against(table(original, sizes, ordinal))
    got = bound.read(table(masked, sizes, ordinal, kept))
    assert got == pytest.approx(naive.distance_loss(original, masked, kept, sizes, ordinal, divisor))


@settings(max_examples=40, deadline=None)
@given(pairs_of_files(), st.sampled_from(["size", "entropy"]))
def test_entropy_equals_its_twin(files, normalisation):
    original, masked, sizes, ordinal, kept = files
    bound = EntropyLoss(normalisation=normalisation).against(table(original, sizes, ordinal))
    got = bound.read(table(masked, sizes, ordinal, kept))
    assert got == pytest.approx(naive.entropy_loss(original, masked, kept, sizes, normalisation), abs=1e-9)


@pytest.mark.parametrize("measure", [ContingencyLoss(), DistanceLoss(), EntropyLoss()])
def test_the_identity_loses_nothing_and_suppression_everything(measure):
    original = table(ORIGINAL, [4, 2], [True, False])
    bound = measure.against(original)
    assert bound.read(original) == 0.0
    reading = bound.explain(original.without(np.ones(4, dtype=np.bool_)))
    assert reading.value == pytest.approx(100.0)
    assert reading.aim == "loss"
    assert reading.scope == ("a", "b")
    assert "missing" in reading.missing


@pytest.mark.parametrize("measure", [ContingencyLoss(order=1), DistanceLoss(divisor="range"), EntropyLoss()])
def test_a_ledger_reads_what_the_bound_measure_reads(measure):
    original, masked = table(ORIGINAL, [4, 2], [True, False]), table(MASKED, [4, 2], [True, False])
    bound = measure.against(original)
    assert bound.ledger(masked).read() == bound.read(masked)


def test_large_tables_are_counted_by_tuples(monkeypatch):
    original, masked = table(ORIGINAL, [4, 2], [True, False]), table(MASKED, [4, 2], [True, False])
    bound = ContingencyLoss().against(original)
    dense = bound.read(masked)
    monkeypatch.setattr("crypsis.measures.categorical_loss.DENSE", 0)
    assert bound.read(masked) == dense


def test_a_new_label_stands_for_what_it_replaced():
    """0 and 1 merged: of the cells of a, two lose a record and a new one gains two; two cells move one rank of four."""
    original = table(ORIGINAL, [4, 2], [True, False])
    masked = recoded(original)
    assert ContingencyLoss(order=1).against(original).read(masked) == pytest.approx(100 * 4 / (2 * 4 * 2))
    assert DistanceLoss().against(original).read(masked) == pytest.approx(100 * 2 * 0.25 / 8)
    assert EntropyLoss().against(original).read(masked) == pytest.approx(100 * (0.5 / 2) / 2)


def test_what_cannot_be_compared_is_refused():
    numbers = Table.from_columns({"x": [1.0, 2.0]}, roles={"x": "quasi"})
    assert "nominal or ordinal" in DistanceLoss().obstacle(numbers)
    assert "does not hold categories" in DistanceLoss(columns=("x",)).obstacle(numbers)
    assert "no column 'z'" in DistanceLoss(columns=("z",)).obstacle(numbers)
    with pytest.raises(TableError, match="nominal or ordinal"):
        DistanceLoss().against(numbers)
    original = table(ORIGINAL, [4, 2], [True, False])
    assert DistanceLoss().obstacle(original) == ""
    with pytest.raises(TableError, match="rows correspond"):
        DistanceLoss().against(original).read(original.take(np.arange(2)))
    assert "no records" in DistanceLoss().obstacle(original.take(np.arange(0)))
    assert DistanceLoss().obstacle(numbers) == (
        "no quasi-identifier is nominal or ordinal; give categorical columns that role or name them"
    )


def test_readings_explain_themselves():
    original, masked = table(ORIGINAL, [4, 2], [True, False]), table(MASKED, [4, 2], [True, False])
    for measure, name, counts in (
        (ContingencyLoss(order=2), "contingency-loss", {"records": 4, "tables": 3}),
        (DistanceLoss(), "distance-loss", {"records": 4, "changed cells": 2}),
        (EntropyLoss(), "entropy-loss", {"records": 4}),
    ):
        reading = measure.against(original).explain(masked)
        assert (reading.measure, reading.unit, reading.better, reading.aim) == (name, "%", "low", "loss")
        assert (reading.definition, reading.scope, reading.counts) == (measure.definition, ("a", "b"), counts)
        assert reading.missing.startswith("a missing value counts as a category of its own")
        assert reading.value == measure.against(original).read(masked)


def test_cells_of_a_table_are_those_that_can_be_filled():
    """a: four categories and a missing value; b: two, and a new label. One-way 5 + 3, two-way 15 cells."""
    original = table([(0, 0), (1, 0), (-1, 1), (3, 1)], [4, 2], [True, False])
    attribute = original.attribute("b").but(categories=("0", "1", "new"))
    masked = original.with_columns({"b": np.array([2, 0, 1, 1], dtype=np.int32)}, attributes={"b": attribute})
    # b: 0 loses one and 'new' gains one (2); (0, 0) loses one and (0, new) gains one (2).
    bound = ContingencyLoss(normalisation="cells").against(original)
    assert bound.read(masked) == pytest.approx(4 / (5 + 3 + 15))
    assert ContingencyLoss(normalisation="cells", order=1).against(original).read(masked) == pytest.approx(2 / 8)


@settings(max_examples=30, deadline=None)
@given(pairs_of_files(), st.integers(1, 3))
def test_counting_by_tuples_equals_counting_by_cells(files, order):
    original, masked, sizes, ordinal, kept = files
    bound = ContingencyLoss(order=order).against(table(original, sizes, ordinal))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("crypsis.measures.categorical_loss.DENSE", 0)
        got = bound.read(table(masked, sizes, ordinal, kept))
    assert got == pytest.approx(naive.contingency(original, masked, kept, order))


def test_a_known_matrix_is_weighed_by_how_often_categories_occur():
    """0, 0, 0, 1 and a third category that never occurs: P(0 | masked 0) is 3·¾ to 1·½, P(0 | masked 1) 3·¼ to ½."""
    original = table([(0,), (0,), (0,), (1,)], [3], [False])
    matrix = ((0.75, 0.25, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
    bound = EntropyLoss(transitions={"a": matrix}).against(original)

    def bits(*weights):
        return naive.entropy([label for label, weight in enumerate(weights) for _ in range(weight)])

    for codes, expected in (
        ([0, 0, 0, 0], bits(9, 2)),
        ([1, 1, 1, 1], bits(3, 2)),
        ([2, 2, 2, 2], 0.0),
        ([0, 1, 0, 2], (2 * bits(9, 2) + bits(3, 2)) / 4),
    ):
        got = bound.read(table([(code,) for code in codes], [3], [False]))
        assert got == pytest.approx(100 * expected / math.log2(3))
    # A suppressed record tells nothing: the entropy of the original column, whatever the matrix.
    gone = table([(0,)] * 4, [3], [False], [False] * 4)
    assert bound.read(gone) == pytest.approx(100 * bits(3, 1) / math.log2(3))


def test_a_matrix_for_one_column_leaves_the_others_to_their_counts():
    original, masked = table(ORIGINAL, [4, 2], [True, False]), table(MASKED, [4, 2], [True, False])
    sure = ((1.0, 0.0), (0.0, 1.0))
    alone = EntropyLoss(columns=("a",)).against(original).read(masked)
    assert EntropyLoss(transitions={"b": sure}).against(original).read(masked) == pytest.approx(alone / 2)
    sentence = r"^the transition matrix of 'b' must be 2 × 2, one row per original category$"
    with pytest.raises(TableError, match=sentence):
        EntropyLoss(transitions={"b": (*sure, (0.0, 1.0))}).against(original)
    with pytest.raises(
        TableError, match=r"^the transition matrix of 'b' must hold probabilities whose rows sum to one$"
    ):
        EntropyLoss(transitions={"b": ((1.0, 1e-3), (0.0, 1.0))}).against(original)


def test_the_rows_of_a_matrix_sum_to_one_but_for_rounding():
    thirds = ((0.333333, 0.333333, 0.333333),) * 3
    original = table([(0,), (1,), (2,)], [3], [False])
    assert EntropyLoss(transitions={"a": thirds}).against(original).read(original) == pytest.approx(100)


def test_a_missing_value_is_one_category_more():
    """0 and missing published alike: one bit, of log2(1 + 1); a column of one category has nothing to lose."""
    original = table([(0,), (-1,)], [1], [False])
    assert EntropyLoss().against(original).read(table([(0,), (0,)], [1], [False])) == pytest.approx(100)
    lone = table([(0,), (0,)], [1], [False])
    assert EntropyLoss().against(lone).read(lone) == 0
    assert EntropyLoss(normalisation="entropy").against(lone).read(lone) == 0
