"""Records that one column singles out: by hand, against a slow twin, and with cells that were masked."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.privacy.singling_out import Finding, alone, singling_out
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.table import Table


def test_by_hand() -> None:
    """Ten records: nobody shares a weight, two share no place, everybody shares a sex; one weight is missing."""
    table = Table.from_columns(
        {
            "sex": ["f", "m"] * 5,
            "place": ["a"] * 4 + ["b"] * 4 + ["c", "d"],
            "weight": [*(float(n) for n in range(9)), None],
        }
    )
    assert singling_out(table) == [
        Finding("singling-out", ("place",), 2, 0.2),
        Finding("singling-out", ("weight",), 9, 0.9),
    ]
    assert singling_out(table, most=0.2) == [Finding("singling-out", ("weight",), 9, 0.9)]
    assert [each.key for each in singling_out(table)] == ["singling-out:place", "singling-out:weight"]


def test_a_masked_cell_leads_to_nobody() -> None:
    table = Table.from_columns({"weight": [float(n) for n in range(10)], "other": [float(n) for n in range(10)]})
    masked = {"weight": np.arange(10) < 3}
    assert singling_out(table, masked) == [
        Finding("singling-out", ("weight",), 3, 0.3),
        Finding("singling-out", ("other",), 10, 1.0),
    ]


def test_suppressed_records_are_not_in_the_file() -> None:
    table = Table.from_columns({"x": [1.0, 1, 2, 2, 3]})
    assert singling_out(table.without(np.array([0, 0, 0, 0, 1], dtype=bool))) == []
    assert singling_out(table.without(np.array([1, 0, 0, 0, 0], dtype=bool)))[0].records == 2
    assert singling_out(table.without(np.ones(5, dtype=bool))) == []


@given(st.lists(st.one_of(st.none(), st.integers(0, 6)), min_size=1, max_size=30), st.floats(0, 1))
def test_the_count_is_its_slow_twin(values: list[int | None], most: float) -> None:
    table = Table.from_columns({"n": values, "c": [None if v is None else f"v{v}" for v in values]})
    held = Counter(value for value in values if value is not None)
    single = sum(count == 1 for count in held.values())
    expected = [("n", single), ("c", single)] if single / len(values) > most else []
    assert [(each.columns[0], each.records) for each in singling_out(table, most=most)] == expected
    codes = np.array([-1 if v is None else v for v in values], dtype=np.int32)
    assert alone(codes).tolist() == [v is not None and held[v] == 1 for v in values]


@pytest.mark.parametrize(("single", "found"), [(5, False), (6, True)])
def test_one_in_twenty_may_stand_alone(single: int, found: bool) -> None:
    values = [*range(single), *([100] * (100 - single))]
    assert bool(singling_out(Table.from_columns({"x": values}))) is found
    assert LARGEST_SHARE == 0.05
