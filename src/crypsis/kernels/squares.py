"""The sum of squares within the groups of a partition, and how many rows each group holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.compile import kernel


def _group_sizes(labels: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many rows carry each label 0, 1, …, the largest."""
    sizes = np.zeros(labels.max() + 1 if labels.shape[0] else 0, dtype=np.int64)
    for label in labels:
        sizes[label] += 1
    return sizes


group_sizes = kernel(_group_sizes)


def _sse(points: NDArray[np.float64], labels: NDArray[np.int32]) -> float:
    """Sum of squared distances of the records from their group's mean; exact far from the origin too.

    points float64[n, p], labels int32[n] of 0, 1, … → float. O(n p) time; each group is measured from its first record.
    """
    n, p = points.shape
    sizes = group_sizes(labels)
    first, means = np.full(sizes.shape[0], -1, dtype=np.int64), np.zeros((sizes.shape[0], p))
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
