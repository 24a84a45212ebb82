"""Distances of two distributions: total variation of counts, Kolmogorov distance of numbers, records in the tails."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Floats, Ints
from crypsis.table.hierarchy import MISSING


def code_counts(before: Ints, after: Ints) -> tuple[Floats, Floats]:
    """Records by code in both files; the first entry is of missing cells."""
    size = max(int(before.max(initial=MISSING)), int(after.max(initial=MISSING))) + 2
    first, last = np.bincount(before + 1, minlength=size), np.bincount(after + 1, minlength=size)
    return first.astype(np.float64), last.astype(np.float64)


def total_variation(first: Floats, last: Floats) -> float:
    """Total variation distance of two tables of counts, per cent; 100 where one of them is empty."""
    if first.sum() <= 0 or last.sum() <= 0:
        return 0.0 if first.sum() == last.sum() else 100.0
    distance = 50.0 * float(np.abs(first / first.sum() - last / last.sum()).sum())
    return 0.0 if distance < 1e-9 else min(distance, 100.0)


def kolmogorov(before: Floats, after: Floats, forgiven: float = 0.0) -> float:
    """Largest difference of two distribution functions, per cent; 100 where one of them is empty.

    forgiven  the first function may be read so far to the left or right, whichever is nearer
    """
    if not before.size or not after.size:
        return 0.0 if before.size == after.size else 100.0
    values, published = _distinct(before), _distinct(after)
    points = np.concatenate([values - forgiven, values + forgiven, published])
    last = np.searchsorted(after, points, side="right") / after.size
    low = np.searchsorted(before, points - forgiven, side="right") / before.size
    high = np.searchsorted(before, points + forgiven, side="right") / before.size
    return 100.0 * max(float(np.maximum(low - last, last - high).max()), 0.0)


def _distinct(ordered: Floats) -> Floats:
    """The distinct values of sorted numbers."""
    return ordered[np.flatnonzero(np.diff(ordered, prepend=-np.inf) > 0)]


def records_beyond(ordered: Floats, at: float, share: float) -> int:
    """Records strictly beyond a point: below it for a share under 50 %, above it otherwise."""
    low = int(np.searchsorted(ordered, at, side="left"))
    return low if share < 50 else len(ordered) - int(np.searchsorted(ordered, at, side="right"))
