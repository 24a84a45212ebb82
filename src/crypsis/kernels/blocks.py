"""Halving records again and again at medians: the inner loop of balanced blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.compile import kernel


def _select(values: NDArray[np.float64], order: NDArray[np.int64], rank: int) -> None:
    """Reorder values (and order with them) so that the one at `rank` is where sorting would put it (Hoare 1961)."""
    left, right = 0, values.shape[0] - 1
    while left < right:
        pivot = values[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if rank <= j:
            right = j
        elif rank >= i:
            left = i
        else:
            return


select = kernel(_select)


def _widest(points: NDArray[np.float64], rows: NDArray[np.int64]) -> int:
    """The attribute of greatest variance among some rows; ties go to the first."""
    best, chosen = -1.0, 0
    for j in range(points.shape[1]):
        origin, total, squares = points[rows[0], j], 0.0, 0.0
        for row in rows:
            gap = points[row, j] - origin
            total += gap
            squares += gap * gap
        variance = squares - total * total / rows.shape[0]
        if variance > best:
            best, chosen = variance, j
    return chosen


widest = kernel(_widest)


def _halve_until(points: NDArray[np.float64], order: NDArray[np.int64], size: int, multiple: int) -> NDArray[np.int64]:
    """Rearrange the rows in `order` into blocks of at most `size`, each half cut at a median of its widest attribute.

    points  float64[n, p];  size ≥ 2 · multiple;  every cut falls on a multiple of `multiple`
    →       int64[blocks + 1]: where each block begins, and n. Blocks hold more than size / 2 − multiple records.
    """
    n = order.shape[0]
    stack = np.empty((128, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1], depth = 0, n, 1
    begins, blocks = np.empty(n + 1, dtype=np.int64), 0
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        if end - begin <= size:
            begins[blocks] = begin
            blocks += 1
            continue
        half = (end - begin) // (2 * multiple) * multiple
        rows = order[begin:end]
        attribute = widest(points, rows)
        line = np.empty(rows.shape[0])
        for i in range(rows.shape[0]):
            line[i] = points[rows[i], attribute]
        select(line, rows, half)
        # the left half goes on top, so that blocks come out from left to right
        stack[depth, 0], stack[depth, 1] = begin + half, end
        stack[depth + 1, 0], stack[depth + 1, 1] = begin, begin + half
        depth += 2
    begins[blocks] = n
    return begins[: blocks + 1].copy()


halve_until = kernel(_halve_until)
