"""Cells of a table: numbers that are equal exactly where rows are."""

from __future__ import annotations

import numpy as np

from crypsis.measures.spreading import Axis
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.table import Table


def test_a_number_is_cut_at_its_quantiles() -> None:
    """1 … 8 at 2.75, 4.5 and 6.25: two in each of four bins; at 4.5 alone: four in each of two."""
    table = Table((Attribute("x", Kind.NUMERIC),), (np.arange(1.0, 9.0),))
    assert Axis.of(table, "x", 4).codes.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert Axis.of(table, "x", 2).codes.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
