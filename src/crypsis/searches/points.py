"""What every search for k-partitions asks of its points, and the cases that leave nothing to search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError


def usable(points: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The points as contiguous float64[n, p], or a sentence why they cannot be grouped by k."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    if points.ndim != 2:
        raise TableError(f"points have {points.ndim} dimensions; give a table of n rows and p columns")
    if k < 1:
        raise TableError(f"groups of at least {k} records make no sense; choose k of 1 or more")
    if len(points) < k:
        raise TableError(f"{len(points)} records cannot form a group of {k}; give at least k records or a smaller k")
    broken = np.flatnonzero(~np.isfinite(points).all(axis=0))
    if broken.size:
        raise TableError(
            f"column {broken[0]} (counted from 0) holds missing or infinite values, which have no distance; "
            "drop or fill those records, or leave the column out"
        )
    return points


def forced(n: int, k: int) -> NDArray[np.int32] | None:
    """The only candidate where there is but one: every row its own for k = 1, one group below 2k records."""
    if k == 1:
        return np.arange(n, dtype=np.int32)
    return np.zeros(n, dtype=np.int32) if n < 2 * k else None


def renumbered(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same groups with labels 0, 1, … in order of first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int32)
    order[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return order[inverse]
