"""Fitted rows recognised in other data: values as places among the fitted ones, and rows that equal fitted rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table


def codes_within(domain: NDArray[Any], column: NDArray[Any]) -> NDArray[np.int32]:
    """Place of each value in an ascending domain; −1 where it is not in it."""
    at = np.minimum(np.searchsorted(domain, column), len(domain) - 1)
    return np.where(domain[at] == column, at, MISSING).astype(np.int32)


def codes_among(fitted: Table, table: Table) -> NDArray[np.int32]:
    """int32[n, p]: each value as its place among the fitted values of its column; −1 where it is not among them."""
    pairs = zip(fitted.columns, table.columns, strict=True)
    return np.stack([codes_within(np.unique(before), column) for before, column in pairs], axis=1)


def turns(of: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many equal entries precede each entry."""
    order = np.argsort(of, kind="stable")
    ranked = of[order]
    turn = np.empty(len(of), dtype=np.int64)
    turn[order] = np.arange(len(of)) - np.searchsorted(ranked, ranked)
    return turn


def fitted_rows(fitted: NDArray[np.int32], rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each row of codes the fitted row it equals, or −1; copies of a tuple take its fitted rows in turn."""
    of = equivalence_classes(np.concatenate([fitted, rows])).of
    known, asked = of[: len(fitted)], of[len(fitted) :]
    order = np.argsort(known, kind="stable")
    first, last = (np.searchsorted(known[order], asked, side=side) for side in ("left", "right"))
    count = last - first
    found = order[np.minimum(first + turns(asked) % np.maximum(count, 1), len(fitted) - 1)]
    return np.where((count > 0) & (rows >= 0).all(axis=1), found, -1)
