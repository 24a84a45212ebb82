"""What microaggregating a group of attributes costs and reveals, and how the groups add up.

Squared distances add over attribute groups: a group leaves behind the distance of every original record to
each of its centroids, and the linkage of any grouping is found from those blocks alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.compile import kernel

ABSOLUTE, RELATIVE = 0, 1
"""Intervals of ±w % of one unit, or of ±w % of the protected value."""
WIDTHS = 10
"""Intervals are taken for w = 1, 2, … 10 % and averaged."""
TOLERANCE = 1e-12
"""Squared distances closer than this are ties."""


def _centroids(points: NDArray[np.float64], labels: NDArray[np.int32], groups: int) -> NDArray[np.float64]:
    """float64[groups, p]: mean of each group."""
    n, p = points.shape
    centres = np.zeros((groups, p))
    sizes = np.zeros(groups)
    for i in range(n):
        sizes[labels[i]] += 1.0
        for j in range(p):
            centres[labels[i], j] += points[i, j]
    for g in range(groups):
        for j in range(p):
            centres[g, j] /= sizes[g]
    return centres


centroids = kernel(_centroids)


def _distances(points: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[n, groups]: squared Euclidean distance of every record to every centre."""
    n, p = points.shape
    groups = centres.shape[0]
    block = np.zeros((n, groups))
    across = np.ascontiguousarray(centres.T)
    for i in range(n):
        for j in range(p):
            value = points[i, j]
            for g in range(groups):
                gap = value - across[j, g]
                block[i, g] += gap * gap
    return block


distances = kernel(_distances)


def _squares(points: NDArray[np.float64], centres: NDArray[np.float64], labels: NDArray[np.int32]) -> float:
    """SSE of a grouping of records."""
    n, p = points.shape
    total = 0.0
    for i in range(n):
        for j in range(p):
            gap = points[i, j] - centres[labels[i], j]
            total += gap * gap
    return total


squares = kernel(_squares)


def _disclosed(points: NDArray[np.float64], centres: NDArray[np.float64], labels: NDArray[np.int32], mode: int) -> int:
    """How many of the cells × 10 widths have the original value inside the interval around the protected one.

    mode  RELATIVE: |x − x′| ≤ w/100 · x′;  ABSOLUTE: |x − x′| ≤ w/100
    """
    n, p = points.shape
    hits = 0
    for i in range(n):
        for j in range(p):
            centre = centres[labels[i], j]
            gap = abs(points[i, j] - centre)
            for w in range(1, WIDTHS + 1):
                reach = w / 100.0 * centre if mode == RELATIVE else w / 100.0
                if gap <= reach:
                    hits += WIDTHS + 1 - w
                    break
    return hits


disclosed = kernel(_disclosed)


def _classes(labels: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Distinct rows of int32[n, g]: class of each row, first row of each class, size of each class."""
    n, g = labels.shape
    slots = 1
    while slots < 2 * n:
        slots *= 2
    table = np.full(slots, -1, dtype=np.int32)
    classes = np.empty(n, dtype=np.int32)
    first = np.empty(n, dtype=np.int32)
    sizes = np.zeros(n, dtype=np.int32)
    count = 0
    for i in range(n):
        code = np.uint64(1469598103934665603)
        for j in range(g):
            code = (code ^ np.uint64(labels[i, j])) * np.uint64(1099511628211)
        at = np.int64((code ^ (code >> np.uint64(29))) & np.uint64(slots - 1))
        while True:
            found = table[at]
            if found < 0:
                table[at] = count
                first[count] = i
                classes[i] = count
                sizes[count] = 1
                count += 1
                break
            same = True
            for j in range(g):
                if labels[first[found], j] != labels[i, j]:
                    same = False
                    break
            if same:
                classes[i] = found
                sizes[found] += 1
                break
            at = (at + 1) & (slots - 1)
    return classes, first[:count].copy(), sizes[:count].copy()


classes = kernel(_classes)


def _links(blocks: NDArray[np.float64], labels: NDArray[np.int32]) -> tuple[float, int, int]:
    """Nearest-record links of originals to protected records, from the blocks of all attribute groups.

    blocks  float64[n, s]: the groups' distance blocks side by side
    labels  int32[n, g]: for each record and attribute group the column of `blocks` that holds its centroid
    →       credit (a record whose own image is among t nearest ones counts 1/t), size of the smallest class
            of records with equal labels, number of records alone in their class

    A record is given up as soon as one protected record is nearer than its own image.
    """
    n, groups = labels.shape
    _, first, sizes = classes(labels)
    count = len(first)
    columns = np.empty((count, groups), dtype=np.int32)
    for c in range(count):
        for j in range(groups):
            columns[c, j] = labels[first[c], j]
    credit = 0.0
    sums = np.empty(count)
    for i in range(n):
        own = 0.0
        for j in range(groups):
            own += blocks[i, labels[i, j]]
        least = own
        beaten = False
        for c in range(count):
            far = 0.0
            for j in range(groups):
                far += blocks[i, columns[c, j]]
            sums[c] = far
            if far < own - TOLERANCE:
                beaten = True
                break
            least = min(least, far)
        if beaten:
            continue
        ties = 0
        for c in range(count):
            if sums[c] <= least + TOLERANCE:
                ties += sizes[c]
        credit += 1.0 / ties
    return credit, np.min(sizes), np.sum(sizes == 1)


links = kernel(_links)


def _links_in_full(points: NDArray[np.float64], masked: NDArray[np.float64]) -> float:
    """Credit of linking float64[n, p] originals to masked records, all pairs, from the values themselves."""
    n, p = points.shape
    credit = 0.0
    sums = np.empty(n)
    for i in range(n):
        least = np.inf
        for r in range(n):
            far = 0.0
            for j in range(p):
                gap = points[i, j] - masked[r, j]
                far += gap * gap
            sums[r] = far
            least = min(least, far)
        if sums[i] <= least + TOLERANCE:
            ties = 0
            for r in range(n):
                if sums[r] <= least + TOLERANCE:
                    ties += 1
            credit += 1.0 / ties
    return credit


links_in_full = kernel(_links_in_full)
