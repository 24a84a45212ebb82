"""The written file in the order of the original, so that both can be compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Column, Table


def put_back(published: Table, masked: Table, rows: NDArray[np.intp]) -> Table:
    """The masked table with the cells of the published file.

    published  row i is record rows[i] of `masked`; suppressed records stay as they are
    """
    columns: dict[str, Column] = {}
    for name in published.names:
        column = masked.column(name).copy()
        if masked.holds_numbers(name):
            column[rows] = published.column(name)
        else:
            column[rows] = _codes(published, masked, name, column[rows])
        columns[name] = column
    return masked.with_columns(columns)


def _codes(published: Table, masked: Table, name: str, own: Column) -> Column:
    """Codes of the published labels; where two groups share a label, the one of the record."""
    first: dict[str, int] = {}
    same = np.array([*(first.setdefault(label, code) for code, label in enumerate(masked.labels(name))), MISSING])
    read = np.array([*(first.get(label, MISSING) for label in published.labels(name)), MISSING])
    found = read[published.column(name)]
    return np.where(same[own] == found, own, found).astype(np.int32)
