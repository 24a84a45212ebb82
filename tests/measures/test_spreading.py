"""Cells of a table: numbers that are equal exactly where rows are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crypsis.measures.spreading import Axis, joint_key
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.table import Table


def test_a_number_is_cut_at_its_quantiles() -> None:
    """1 … 8 at 2.75, 4.5 and 6.25: two in each of four bins; at 4.5 alone: four in each of two."""
    table = Table((Attribute("x", Kind.NUMERIC),), (np.arange(1.0, 9.0),))
    assert Axis.of(table, "x", 4).codes.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert Axis.of(table, "x", 2).codes.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_every_row_of_small_codes_has_a_number_of_its_own() -> None:
    rows = np.array(list(product(range(-2, 2), range(-2, 3), range(-2, 1))), dtype=np.int64)
    keys = joint_key(np.concatenate([rows, rows[::-1]]))
    assert len(np.unique(keys[: len(rows)])) == len(rows)
    assert np.array_equal(keys[len(rows) :], keys[len(rows) - 1 :: -1])
    assert len(joint_key(np.empty((0, 2), dtype=np.int64))) == 0


@pytest.mark.parametrize(("bits", "columns"), [(20, 3), (24, 4), (28, 4), (30, 4), (32, 3), (50, 1)])
def test_rows_of_large_codes_are_told_apart_by_one_step_in_one_column(bits: int, columns: int) -> None:
    """The plain product of the columns' widths passes 2^53, what a float tells apart, or 2^64, what wraps around."""
    most = np.full((1, columns), (1 << bits) - 3, dtype=np.int64)
    rows = np.concatenate([most, most - np.eye(columns, dtype=np.int64), most])
    keys = joint_key(rows)
    assert len(np.unique(keys[:-1])) == columns + 1
    assert keys[0] == keys[-1]
