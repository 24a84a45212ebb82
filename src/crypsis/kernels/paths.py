"""Optimal cuts along a path: records in a given order, split into contiguous groups of at least k.

The sum of squares of a segment is taken from the segment's own last record, never from the origin: what
rounding loses is at most the segment's size times the last bit, however far away the data lie.
"""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel


def _path_optimum(points: Floats, k: int) -> Int32s:
    """The best partition whose groups are contiguous in the given order.

    points  float64[n, p], rows in the order of the path, n ≥ k
    →       int32[n]: labels 0, 1, … along the path, sizes in [k, 2k−1], SSE the least possible

    Hansen and Mukherjee (2003), multivariate as in Domingo-Ferrer et al. (2006). O(k n p) time, O(n) memory.
    """
    n, p = points.shape
    cost, start, total = np.empty(n + 1), np.empty(n + 1, dtype=np.int64), np.empty(p)
    for end in range(n + 1):
        cost[end], start[end] = np.inf, 0
    cost[0] = 0.0
    for end in range(k if n >= 2 * k else n + 1, n + 1):
        squares = 0.0
        for j in range(p):
            total[j] = 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            begin, length = end - size, 0.0
            for j in range(p):
                gap = points[begin, j] - points[end - 1, j]
                total[j] += gap
                squares += gap * gap
                length += total[j] * total[j]
            if size >= k:
                value = cost[begin] + max(squares - length / size, 0.0)
                if value < cost[end]:
                    cost[end], start[end] = value, begin
    return label_cuts(start)


def _univariate_optimum(values: Floats, k: int) -> Int32s:
    """The optimal partition of sorted numbers: float64[n] ascending, n ≥ k → int32[n], labels ascending. O(k n)."""
    n = values.shape[0]
    cost, start = np.empty(n + 1), np.empty(n + 1, dtype=np.int64)
    for end in range(n + 1):
        cost[end], start[end] = np.inf, 0
    cost[0] = 0.0
    for end in range(k if n >= 2 * k else n + 1, n + 1):
        total, squares = 0.0, 0.0
        last = values[end - 1]
        for begin in range(end - 1, end - k, -1):
            gap = values[begin] - last
            total += gap
            squares += gap * gap
        best, chosen = np.inf, 0
        for begin in range(end - k, max(end - 2 * k, -1), -1):
            gap = values[begin] - last
            total += gap
            squares += gap * gap
            value = cost[begin] + max(squares - total * total / (end - begin), 0.0)
            if value < best:
                best, chosen = value, begin
        cost[end], start[end] = best, chosen
    return label_cuts(start)


def _label_cuts(start: Ints) -> Int32s:
    """Labels along a path from where each segment that ends at a position starts."""
    end = start.shape[0] - 1
    labels, groups = np.empty(end, dtype=np.int32), 0
    while end > 0:
        for i in range(start[end], end):
            labels[i] = groups
        end, groups = start[end], groups + 1
    last = np.int32(groups - 1)
    for i in range(labels.shape[0]):
        labels[i] = last - labels[i]
    return labels


label_cuts = kernel(_label_cuts)
path_optimum, univariate_optimum = kernel(_path_optimum), kernel(_univariate_optimum)
