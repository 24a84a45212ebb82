"""Halving records again and again at medians: the inner loop of balanced blocks."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Floats, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.quickselect import select_between


def _widest(points: Floats, order: Ints, begin: int, end: int) -> int:
    """The attribute of greatest variance among the rows begin … end − 1 of `order`; ties go to the first."""
    best, chosen = -1.0, 0
    for j in range(points.shape[1]):
        origin, total, squares = points[order[begin], j], 0.0, 0.0
        for place in range(np.uint64(begin), np.uint64(end)):
            gap = points[np.uint64(order[place]), j] - origin
            total += gap
            squares += gap * gap
        variance = squares - total * total / (end - begin)
        if variance > best:
            best, chosen = variance, j
    return chosen


widest = kernel(_widest)


def _halve_until(points: Floats, order: Ints, size: int, multiple: int, begins: Ints) -> int:
    """Rearrange the rows in `order` into blocks of at most `size`, each half cut at a median of its widest attribute.

    points  float64[n, p];  size ≥ 2 · multiple;  every cut falls on a multiple of `multiple`
    begins  int64[n + 1]: told where each block begins, and n
    →       how many blocks there are. Blocks hold more than size / 2 − multiple records.
    """
    n = order.shape[0]
    stack, line = np.empty((128, 2), dtype=np.int64), np.empty(n)
    stack[0, 0], stack[0, 1], depth = 0, n, 1
    blocks = 0
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        if end - begin <= size:
            begins[blocks] = begin
            blocks += 1
            continue
        half = begin + (end - begin) // (2 * multiple) * multiple
        attribute = widest(points, order, begin, end)
        for place in range(begin, end):
            line[place] = points[order[place], attribute]
        select_between(line, order, begin, end, half)
        # the left half goes on top, so that blocks come out from left to right
        stack[depth, 0], stack[depth, 1] = half, end
        stack[depth + 1, 0], stack[depth + 1, 1] = begin, half
        depth += 2
    begins[blocks] = n
    return blocks


halve_until_into = kernel(_halve_until)


def halve_until(points: Floats, order: Ints, size: int, multiple: int) -> Ints:
    """Rearrange the rows in `order` into blocks of at most `size`; → int64[blocks + 1]: where each begins, and n."""
    begins = np.empty(len(order) + 1, dtype=np.int64)
    return begins[: halve_until_into(points, order, size, multiple, begins) + 1].copy()
