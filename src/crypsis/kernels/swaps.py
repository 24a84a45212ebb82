"""Swapping and moving records between near groups of a given partition, as long as the SSE falls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel


class SwapGroups(NamedTuple):
    """A partition under improvement.

    points     float64[n, p]
    centroids  float64[G, p]
    members    int64[G, room]: rows of each group, in its first sizes[g] places
    sizes      int64[G]
    """

    points: Floats
    centroids: Floats
    members: Ints
    sizes: Ints


def _near_groups(centroids: Floats, many: int) -> Int32s:
    """float64[G, p] → int32[G, many]: the nearest other groups of each, nearest first; many < G. O(G² p) time."""
    groups, p = centroids.shape
    lines = np.empty((p, groups))
    for j in range(p):
        for i in range(groups):
            lines[j, i] = centroids[i, j]
    near, reach, sums = np.empty((groups, many), dtype=np.int32), np.empty(many), np.empty(groups)
    for g in range(groups):
        for i in range(groups):
            sums[i] = 0.0
        for j in range(p):
            line, at = lines[j], centroids[g, j]
            for i in range(groups):
                gap = line[i] - at
                sums[i] += gap * gap
        sums[g] = np.inf
        for place in range(many):
            reach[place], near[g, place] = np.inf, 0
        for i in range(groups):
            if sums[i] >= reach[many - 1]:
                continue
            place = many - 1
            while place > 0 and sums[i] < reach[place - 1]:
                reach[place], near[g, place] = reach[place - 1], near[g, place - 1]
                place -= 1
            reach[place], near[g, place] = sums[i], i
    return near


def _best_change(groups: SwapGroups, near: Int32s, k: int, row: int, own: int) -> tuple[float, int, int]:
    """The change of one row's group that lowers the SSE most → (change, group, place of the partner or −1).

    With d = y − x and w the own centroid less the other, exchanging x for y changes the SSE by
    −2 d·w − |d|² (1/a + 1/b); moving x alone, by b/(b+1) |x − c_b|² − a/(a−1) |x − c_a|². a, b are the sizes.
    """
    points, centroids, members, sizes = groups.points, groups.centroids, groups.members, groups.sizes
    p = points.shape[1]
    best, group, partner = -1e-12, -1, -1
    inner = 0.0
    for j in range(p):
        inner += (points[row, j] - centroids[own, j]) ** 2
    for rank in range(near.shape[1]):
        other = near[own, rank]
        outer = 0.0
        for j in range(p):
            outer += (points[row, j] - centroids[other, j]) ** 2
        if sizes[own] > k and sizes[other] < 2 * k - 1:
            change = outer * sizes[other] / (sizes[other] + 1) - inner * sizes[own] / (sizes[own] - 1)
            if change < best:
                best, group, partner = change, other, -1
        share = 1.0 / sizes[own] + 1.0 / sizes[other]
        for place in range(sizes[other]):
            mate, along, square = members[other, place], 0.0, 0.0
            for j in range(p):
                gap = points[mate, j] - points[row, j]
                along += gap * (centroids[own, j] - centroids[other, j])
                square += gap * gap
            change = -2.0 * along - square * share
            if change < best:
                best, group, partner = change, other, place
    return best, group, partner


def _recentre(groups: SwapGroups, group: int) -> None:
    """A group's centroid from its members, afresh."""
    for j in range(groups.points.shape[1]):
        total = 0.0
        for place in range(groups.sizes[group]):
            total += groups.points[groups.members[group, place], j]
        groups.centroids[group, j] = total / groups.sizes[group]


best_change, recentre, near_groups = kernel(_best_change), kernel(_recentre), kernel(_near_groups)


def _swap_records(points: Floats, labels: Int32s, near: Int32s, k: int, passes: int) -> int:
    """Change labels in place, row after row, by the best exchange or move with a near group; → changes made.

    points  float64[n, p], centred near 0;  labels  int32[n] of groups 0 … G − 1 of at least k rows
    near    int32[G, c] from `near_groups`;  passes  most rounds over all rows; ends early when nothing changes
    Sizes stay at least k, and at most 2k − 1 where they were. The SSE never rises. O(passes · n c k p) time.
    """
    n, p = points.shape
    count = near.shape[0]
    sizes, most = np.empty(count, dtype=np.int64), 2 * k
    for group in range(count):
        sizes[group] = 0
    for row in range(n):
        sizes[labels[row]] += 1
    for group in range(count):
        most = max(most, sizes[group])
        sizes[group] = 0
    members, places = np.empty((count, most), dtype=np.int64), np.empty(n, dtype=np.int64)
    for row in range(n):
        members[labels[row], sizes[labels[row]]], places[row] = row, sizes[labels[row]]
        sizes[labels[row]] += 1
    groups, changes = SwapGroups(points, np.empty((count, p)), members, sizes), 0
    for group in range(count):
        recentre(groups, group)
    for _ in range(passes):
        before = changes
        for row in range(n):
            own = labels[row]
            _change, group, partner = best_change(groups, near, k, row, own)
            if group < 0:
                continue
            if partner >= 0:
                mate = members[group, partner]
                members[own, places[row]], members[group, partner] = mate, row
                places[mate], places[row] = places[row], partner
                labels[mate] = own
            else:
                sizes[own] -= 1
                last = members[own, sizes[own]]
                members[own, places[row]], places[last] = last, places[row]
                members[group, sizes[group]], places[row] = row, sizes[group]
                sizes[group] += 1
            labels[row] = group
            recentre(groups, own)
            recentre(groups, group)
            changes += 1
        if changes == before:
            break
    return changes


swap_records = kernel(_swap_records)
