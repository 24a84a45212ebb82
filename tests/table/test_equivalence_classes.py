"""Rows of codes as classes: by hand, against dictionaries, and where keys outgrow an integer."""

from __future__ import annotations

import doctest
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels import groupings
from crypsis.table import equivalence_classes as module
from crypsis.table.equivalence_classes import (
    LARGEST_KEY,
    class_columns_by_key,
    classes_of,
    equivalence_classes,
    pack_class_codes,
)
from crypsis.table.table import Table, rank_distinct
from naive.equivalence_classes import group_by

FIVE = np.array([[1, 0], [0, 2], [1, 0], [-1, 5], [1, 0]], dtype=np.int32)


@st.composite
def coded(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Rows of small or large codes, some of them left out."""
    rows, width = draw(st.integers(0, 20)), draw(st.integers(0, 4))
    top = draw(st.sampled_from([1, 3, 40, 2**31 - 1]))
    few = draw(st.lists(st.lists(st.integers(-1, top), min_size=width, max_size=width), min_size=1, max_size=6))
    codes = np.array(few, dtype=np.int32).reshape(len(few), width)
    picks = draw(st.lists(st.integers(0, len(few) - 1), min_size=rows, max_size=rows))
    return codes[np.array(picks, dtype=np.int64)], np.array(draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))


def test_the_examples_run() -> None:
    assert doctest.testmod(module).failed == 0


def test_by_hand() -> None:
    """(−1, 5), (0, 2), (1, 0) in this order; missing is a value below all others."""
    found = equivalence_classes(FIVE)
    assert (found.of.tolist(), found.count) == ([2, 1, 2, 0, 2], 3)
    assert (found.first.tolist(), found.sizes.tolist()) == ([3, 1, 0], [1, 1, 3])
    assert found.totals(np.array([5, 1, 6, 2, 9])).tolist() == [2, 1, 20]
    assert found.spread_out(np.array([0.5, 1.0, 2.0])).tolist() == [2, 1, 2, 0.5, 2]
    assert found.of.dtype == found.first.dtype == found.sizes.dtype == found.totals(found.of).dtype == np.int64


def test_rows_left_out_belong_to_no_class() -> None:
    found = equivalence_classes(FIVE, np.array([False, True, True, False, True]))
    assert (found.of.tolist(), found.count) == ([-1, 0, 1, -1, 1], 2)
    assert (found.first.tolist(), found.sizes.tolist()) == ([1, 2], [1, 2])
    assert found.totals(np.array([5, 1, 6, 2, 9])).tolist() == [1, 15]
    spread = found.spread_out(np.array([7.0, 8.0]))
    assert np.array_equal(spread, [np.nan, 7, 8, np.nan, 8], equal_nan=True)


def test_contents_by_hand() -> None:
    """Class 0 holds 4 twice and missing once, class 1 holds 9; the last row is left out. Values rank −1, 4, 9."""
    classes = equivalence_classes(
        np.array([[0], [1], [0], [0], [0]]), np.array([True, True, True, True, False])
    )  # fmt: skip
    held = classes.contents(np.array([4, 9, -1, 4, 7]))
    assert (held.owner.tolist(), held.value.tolist(), held.count.tolist()) == ([0, 0, 1], [0, 1, 2], [1, 2, 1])
    assert held.pair.tolist() == [1, 2, 0, 1, -1]
    assert held.overall.tolist() == [0.25, 0.5, 0.25]
    assert (held.values, held.distinct.tolist(), held.most.tolist()) == (3, [2, 1], [2, 1])
    assert held.bitsets.tolist() == [[0b011], [0b100]]


def test_bitsets_of_more_values_than_a_word_has_bits() -> None:
    """65 values: the last one is the lowest bit of a second word; 64 need one word only."""
    one = equivalence_classes(np.zeros((65, 0), dtype=np.int32))
    assert one.contents(np.arange(65)).bitsets.tolist() == [[2**64 - 1, 1]]
    assert equivalence_classes(np.zeros((64, 1), dtype=np.int32)).contents(np.arange(64)).bitsets.shape == (1, 1)


def test_no_rows_and_no_columns() -> None:
    nobody = equivalence_classes(np.empty((0, 3), dtype=np.int32))
    assert (nobody.count, nobody.sizes.tolist(), nobody.first.tolist()) == (0, [], [])
    held = nobody.contents(np.empty(0, dtype=np.int32))
    assert (held.values, held.distinct.tolist(), held.most.tolist(), held.bitsets.shape) == (0, [], [], (0, 0))
    everybody = equivalence_classes(np.empty((4, 0), dtype=np.int32))
    assert (everybody.count, everybody.sizes.tolist(), everybody.first.tolist()) == (1, [4], [0])
    assert equivalence_classes(FIVE, np.zeros(5, dtype=bool)).count == 0


@settings(max_examples=120, deadline=None)
@given(coded(), st.integers(0, 2**32))
def test_equal_to_dictionaries(case: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    codes, kept = case
    rng = np.random.default_rng(seed)
    values, records = rng.integers(-1, 4, len(codes)), rng.integers(0, 5, len(codes))
    for chosen in (None, kept):
        inside = np.arange(len(codes)) if chosen is None else np.flatnonzero(chosen)
        members = group_by([tuple(row) for row in codes[inside].tolist()])
        ordered = [[int(inside[place]) for place in members[row]] for row in sorted(members)]
        found = equivalence_classes(codes, chosen)
        assert found.count == len(ordered)
        assert [np.flatnonzero(found.of == number).tolist() for number in range(found.count)] == ordered
        assert (found.of == -1).sum() == len(codes) - len(inside)
        assert found.sizes.tolist() == [len(rows) for rows in ordered]
        assert found.first.tolist() == [rows[0] for rows in ordered]
        assert found.totals(records).tolist() == [int(records[rows].sum()) for rows in ordered]
        held, counts = found.contents(values), [Counter(values[rows].tolist()) for rows in ordered]
        known = sorted(set(values[inside].tolist()))
        pairs = [(number, known.index(v), c[v]) for number, c in enumerate(counts) for v in sorted(c)]
        assert list(zip(held.owner.tolist(), held.value.tolist(), held.count.tolist(), strict=True)) == pairs
        assert (held.values, held.distinct.tolist()) == (len(known), [len(c) for c in counts])
        assert held.most.tolist() == [max(c.values()) for c in counts]
        assert held.overall == pytest.approx([np.mean(values[inside] == v) for v in known])
        for row in inside:
            owner, value, _ = pairs[held.pair[row]]
            assert (owner, known[value]) == (found.of[row], values[row])


@pytest.mark.parametrize(("bits", "columns"), [(20, 3), (24, 4), (28, 4), (30, 4), (31, 4), (32, 3), (50, 1), (62, 5)])
def test_rows_of_large_codes_differ_by_one_step_in_one_column(bits: int, columns: int) -> None:
    """The plain product of the widths passes 2^53, what a float tells apart, or 2^64, what wraps around."""
    most = np.full((1, columns), (1 << bits) - 3, dtype=np.int64)
    rows = np.concatenate([most, most - np.eye(columns, dtype=np.int64), most, most * 0 - 2])
    found = equivalence_classes(rows)
    assert found.count == columns + 2
    assert found.of[0] == found.of[-2] == columns + 1
    assert found.of[-1] == 0
    assert [tuple(row) for row in rows[found.first].tolist()] == sorted(set(map(tuple, rows.tolist())))


def test_a_key_that_would_wrap_around_does_not_lose_its_first_column() -> None:
    """Five columns of width 2¹⁶: in one word the first is multiplied by 2⁶⁴, which is nothing."""
    codes = np.array([[0, *[65535] * 4], [1, *[65535] * 4], [0] * 5])
    assert equivalence_classes(codes).of.tolist() == [1, 2, 0]


def test_codes_at_both_ends_of_an_integer() -> None:
    rows = np.array([[-(2**31)], [2**31 - 1], [0], [2**31 - 1]], dtype=np.int32)
    assert equivalence_classes(np.concatenate([rows, rows], axis=1)).of.tolist() == [0, 2, 1, 2]


def test_many_words_of_many_rows() -> None:
    """Twelve columns of 31 bits: six words, then three, then two, then one."""
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 2_000_000_000, (200, 12)).astype(np.int32)
    codes = codes[rng.integers(0, 200, 300)]
    found = equivalence_classes(codes)
    assert np.array_equal(codes[found.first], np.unique(codes, axis=0))
    assert np.array_equal(codes[found.first][found.of], codes)


def test_columns_are_parted_where_a_key_is_full() -> None:
    assert LARGEST_KEY == 1 << 62
    assert class_columns_by_key([]) == [[]]
    assert class_columns_by_key([1 << 31, 1 << 31, 1]) == [[0, 1, 2]]
    assert class_columns_by_key([1 << 31, 1 << 31, 2]) == [[0, 1], [2]]
    assert class_columns_by_key([1 << 63, 2, 1 << 61, 3]) == [[0], [1, 2], [3]]


def test_packed_keys_have_the_order_of_the_rows() -> None:
    codes = np.array([[a, b, c] for a in range(2) for b in range(3) for c in range(4)])
    assert pack_class_codes(24, codes.T, [2, 3, 4]).tolist() == list(range(24))
    assert pack_class_codes(2, [], []).tolist() == [0, 0]


def test_classes_of_a_table_leave_out_suppressed_records() -> None:
    table = Table.from_columns({"a": ["x", "x", None, "y"], "b": [2.5, 2.5, 1.0, None]})
    held = table.without(np.array([False, False, True, False]))
    assert classes_of(held, ["a", "b"]).of.tolist() == [0, 0, -1, 1]
    assert classes_of(held, []).sizes.tolist() == [3]


@settings(max_examples=40, deadline=None)
@given(coded())
def test_the_compiled_classes_of_labels_are_the_same_classes(case: tuple[np.ndarray, np.ndarray]) -> None:
    """Compiled code numbers classes in the order they appear; who is with whom is the same."""
    codes = np.abs(case[0])
    of, first, sizes = groupings.classes(np.ascontiguousarray(codes.T))
    found = equivalence_classes(codes)
    order = np.argsort(found.first)
    assert np.array_equal(first, found.first[order])
    assert np.array_equal(sizes, found.sizes[order])
    assert np.array_equal(order[of] if len(of) else of, found.of)


@given(
    values=st.lists(
        st.sampled_from([0.0, -0.0, 1.0, 2.5, 3.5, 7.0, -4.0, 1e9, 1e308, -1e308, float("inf")]), max_size=12
    )
    | st.lists(st.integers(-6, 6).map(lambda each: each + 0.1), max_size=30)
    | st.lists(st.floats(allow_nan=False), max_size=8)
)
def test_numbers_are_ranked_as_by_sorting(values: list[float]) -> None:
    column = np.array(values, dtype=np.float64)
    assert rank_distinct(column).tolist() == np.unique(column, return_inverse=True)[1].tolist()
