"""The sum of squares within the groups of a partition, and how many rows each group holds."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel


def _group_sizes(labels: Int32s) -> Ints:
    """How many rows carry each label 0, 1, …, the largest."""
    groups = 0
    for i in range(labels.shape[0]):
        groups = max(groups, int(labels[i]) + 1)
    sizes = np.empty(groups, dtype=np.int64)
    for g in range(groups):
        sizes[g] = 0
    for i in range(labels.shape[0]):
        sizes[labels[i]] += 1
    return sizes


group_sizes = kernel(_group_sizes)


def _sse(points: Floats, labels: Int32s) -> float:
    """Sum of squared distances of the records from their group's mean; exact far from the origin too.

    points float64[n, p], labels int32[n] of 0, 1, … → float. O(n p) time; each group is measured from its first record.
    """
    n, p = points.shape
    sizes = group_sizes(labels)
    first, means = np.empty(sizes.shape[0], dtype=np.int64), np.empty((sizes.shape[0], p))
    for g in range(sizes.shape[0]):
        first[g] = -1
        for j in range(p):
            means[g, j] = 0.0
    for i in range(n):
        g = labels[i]
        if first[g] < 0:
            first[g] = i
        for j in range(p):
            means[g, j] += (points[i, j] - points[first[g], j]) / sizes[g]
    total = 0.0
    for i in range(n):
        g = labels[i]
        for j in range(p):
            gap = points[i, j] - points[first[g], j] - means[g, j]
            total += gap * gap
    return total


sse = kernel(_sse)
