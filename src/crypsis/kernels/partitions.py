"""Groups of at least k alike records: MDAV, V-MDAV and CBFS.

Every kernel shifts the points by their column minima before it computes anything, so that a constant added
to the data changes no group. The mean of the unassigned records is a compensated running sum, right to the
last bit in practice: it does not depend on the order of the rows, and ties stay ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.paths import path_optimum, univariate_optimum
from crypsis.kernels.squares import group_sizes, sse

__all__ = [
    "EUCLIDEAN",
    "GENERIC",
    "GOMM",
    "HYBRID",
    "MANHATTAN",
    "cbfs",
    "finish_mdav",
    "group_sizes",
    "mdav",
    "path_optimum",
    "sse",
    "univariate_optimum",
    "v_mdav",
]

GENERIC, HYBRID, GOMM = 0, 1, 2
EUCLIDEAN, MANHATTAN = 0, 1

MEAN, LAST = -1, -2
"""Centres that are no record: the mean of the unassigned, and the one distances were last measured from."""
STRIP = 512
"""Records per strip of a distance pass: one strip of sums stays in the fastest cache."""


class RecordPool(NamedTuple):
    """The unassigned records, compact in the first `count` positions.

    coordinates  float64[p, n], one attribute per row so that a distance pass runs over neighbours in memory
    rows         int64[n]: the table row at each position;  places  int64[n]: its inverse
    distances    float64[n]: of each position from the last centre measured
    totals       float64[2, p]: sum of the unassigned records, and the compensation of its rounding
    centre       float64[p]: the point distances were last measured from
    """

    coordinates: Floats
    rows: Ints
    places: Ints
    distances: Floats
    totals: Floats
    centre: Floats


def _fill(points: Floats) -> RecordPool:
    """All rows of float64[n, p], unassigned, shifted by their column minima."""
    n, p = points.shape
    coordinates, rows, places = np.empty((p, n)), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    distances, totals, centre = np.empty(n), np.empty((2, p)), np.empty(p)
    for i in range(n):
        rows[i] = places[i] = i
    for j in range(p):
        least, total, rounding = np.inf, 0.0, 0.0
        for i in range(n):
            least = min(least, points[i, j])
        for i in range(n):
            value = points[i, j] - least
            coordinates[j, i] = value
            new = total + value
            part = new - total
            rounding += (total - (new - part)) + (value - part)
            total = new
        totals[0, j], totals[1, j] = total, rounding
    return RecordPool(coordinates, rows, places, distances, totals, centre)


def _measure(pool: RecordPool, count: int, row: int, metric: int) -> None:
    """Distance of every unassigned record, squared if Euclidean, from one of them, from the MEAN or the LAST centre."""
    coordinates, distances, centre = pool.coordinates, pool.distances, pool.centre
    for j in range(centre.shape[0]):
        if row == MEAN:
            centre[j] = (pool.totals[0, j] + pool.totals[1, j]) / count
        elif row != LAST:
            centre[j] = coordinates[j, pool.places[row]]
    # Indices without a sign: the compiler need not ask whether they count from the end, and takes several at once.
    end, strip = np.uint64(count), np.uint64(STRIP)
    for start in range(np.uint64(0), end, strip):
        stop = min(start + strip, end)
        for i in range(start, stop):
            distances[i] = 0.0
        for j in range(centre.shape[0]):
            at = centre[j]
            if metric == EUCLIDEAN:
                for i in range(start, stop):
                    gap = coordinates[j, i] - at
                    distances[i] += gap * gap
            else:
                for i in range(start, stop):
                    distances[i] += abs(coordinates[j, i] - at)


def _outermost(pool: RecordPool, count: int) -> int:
    """Row of the unassigned record farthest from the centre; ties go to the lower row."""
    best, row = -1.0, -1
    for i in range(count):
        distance = pool.distances[i]
        if distance >= best and (distance > best or pool.rows[i] < row):
            best, row = distance, pool.rows[i]
    return row


def _gather(pool: RecordPool, count: int, seed: int, group: Ints, reach: Floats) -> None:
    """group ← seed and the nearest other unassigned rows as last measured, nearest first; reach ← their distances."""
    size = group.shape[0]
    group[0], reach[0] = seed, 0.0
    held = 1
    for i in range(count):
        distance, row = pool.distances[i], pool.rows[i]
        if row == seed:
            continue
        if held == size:
            if size == 1 or distance > reach[size - 1] or (distance == reach[size - 1] and row > group[size - 1]):
                continue
            place = size - 1
        else:
            place = held
            held += 1
        while place > 1 and (distance < reach[place - 1] or (distance == reach[place - 1] and row < group[place - 1])):
            reach[place], group[place] = reach[place - 1], group[place - 1]
            place -= 1
        reach[place], group[place] = distance, row


def _assign(pool: RecordPool, count: int, row: int, label: int, labels: Int32s) -> int:
    """Give a row its label and take it out of the pool, from the totals by Knuth's two-sum; → the new count."""
    coordinates, totals = pool.coordinates, pool.totals
    place, last = pool.places[row], count - 1
    labels[row] = label
    moved = pool.rows[last]
    for j in range(coordinates.shape[0]):
        value, old = -coordinates[j, place], totals[0, j]
        new = old + value
        part = new - old
        totals[0, j] = new
        totals[1, j] += (old - (new - part)) + (value - part)
        coordinates[j, place] = coordinates[j, last]
    pool.rows[place], pool.places[moved] = moved, place
    pool.rows[last], pool.places[row] = row, last
    return last


fill, measure, outermost = kernel(_fill), kernel(_measure), kernel(_outermost)
gather, assign = kernel(_gather), kernel(_assign)


def _join_nearest(points: Floats, labels: Int32s, groups: int, metric: int) -> None:
    """Each row labelled −1 joins the group with the nearest centroid; ties go to the earlier group."""
    n, p = points.shape
    centroids, sizes = np.empty((groups, p)), np.empty(groups)
    for g in range(groups):
        sizes[g] = 0.0
        for j in range(p):
            centroids[g, j] = 0.0
    for i in range(n):
        if labels[i] >= 0:
            sizes[labels[i]] += 1.0
            for j in range(p):
                centroids[labels[i], j] += points[i, j] - points[0, j]
    for i in range(n):
        if labels[i] >= 0:
            continue
        best, chosen = np.inf, 0
        for g in range(groups):
            distance = 0.0
            for j in range(p):
                gap = points[i, j] - points[0, j] - centroids[g, j] / sizes[g]
                distance += gap * gap if metric == EUCLIDEAN else abs(gap)
            if distance < best:
                best, chosen = distance, g
        labels[i] = -2 - chosen
    for i in range(n):
        if labels[i] < -1:
            labels[i] = -2 - labels[i]


join_nearest = kernel(_join_nearest)


def _finish_mdav(points: Floats, labels: Int32s, k: int, ending: int, metric: int) -> None:
    """Label the rows still at −1 (fewer than 3k of them) as the ending says; in place."""
    n, p = points.shape
    rest, count, groups = np.empty(n, dtype=np.int64), 0, 0
    for i in range(n):
        groups = max(groups, int(labels[i]) + 1)
        if labels[i] == -1:
            rest[count] = i
            count += 1
    if count == 0:
        return
    if ending == HYBRID and count < k:
        join_nearest(points, labels, groups, metric)
        return
    if ending == GENERIC and count >= 2 * k:
        left, group, reach = np.empty((count, p)), np.empty(k, dtype=np.int64), np.empty(k)
        for i in range(count):
            for j in range(p):
                left[i, j] = points[rest[i], j]
        pool = fill(left)
        measure(pool, count, MEAN, metric)
        seed = outermost(pool, count)
        measure(pool, count, seed, metric)
        gather(pool, count, seed, group, reach)
        for member in range(k):
            labels[rest[group[member]]] = groups
        groups += 1
    for i in range(count):
        if labels[rest[i]] == -1:
            labels[rest[i]] = groups


finish_mdav = kernel(_finish_mdav)


def _mdav(points: Floats, k: int, ending: int, metric: int) -> Int32s:
    """Group rows into clusters of k, two at a time, starting from the outermost.

    points  float64[n, p], already scaled, n ≥ k;  ending  GENERIC, HYBRID or GOMM;  metric  EUCLIDEAN or MANHATTAN
    →       int32[n]: labels 0, 1, … in order of construction, sizes in [k, 2k−1] (GOMM may leave one smaller)

    Domingo-Ferrer and Torra (2005). Ties go to the lower row. O(n² p / k) time, O(n p) memory.
    """
    n = points.shape[0]
    labels = np.empty(n, dtype=np.int32)
    for i in range(n):
        labels[i] = i if k <= 1 else -1
    if k <= 1:
        return labels
    pool, count, label = fill(points), n, 0
    group, reach = np.empty(k, dtype=np.int64), np.empty(k)
    while count >= (3 * k if ending == GENERIC else 2 * k):
        far = -1
        for side in range(2):
            if side == 0:
                measure(pool, count, MEAN, metric)
                seed = outermost(pool, count)
            else:
                seed = far
            measure(pool, count, seed, metric)
            if side == 0:
                far = outermost(pool, count)
            gather(pool, count, seed, group, reach)
            for member in range(k):
                count = assign(pool, count, group[member], label, labels)
            label += 1
            if side == 0 and labels[far] >= 0:  # only where distances tie: look again, still from the first record
                measure(pool, count, LAST, metric)
                far = outermost(pool, count)
    finish_mdav(points, labels, k, ending, metric)
    return labels


mdav = kernel(_mdav)


def _cbfs(points: Floats, k: int) -> Int32s:
    """Group rows into clusters of k, one at a time, around the record farthest from the mean of those left.

    points float64[n, p], scaled, n ≥ k → int32[n]; sizes in [k, 2k−1]. Laszlo and Mukherjee (2005). O(n² p / k).
    """
    n = points.shape[0]
    labels = np.empty(n, dtype=np.int32)
    for i in range(n):
        labels[i] = i
    if k <= 1:
        return labels
    pool, count, label = fill(points), n, 0
    group, reach = np.empty(k, dtype=np.int64), np.empty(k)
    while count >= 2 * k:
        measure(pool, count, MEAN, EUCLIDEAN)
        seed = outermost(pool, count)
        measure(pool, count, seed, EUCLIDEAN)
        gather(pool, count, seed, group, reach)
        for member in range(k):
            count = assign(pool, count, group[member], label, labels)
        label += 1
    for i in range(count):
        labels[pool.rows[i]] = label
    return labels


cbfs = kernel(_cbfs)


def _v_mdav(points: Floats, k: int, gamma: float) -> Int32s:
    """Group rows into clusters that grow beyond k where a near record is nearer to them than to its other neighbours.

    points  float64[n, p], scaled, n ≥ k;  gamma ≥ 0: 0 never grows, 0.2 suits scattered data, 1.1 clustered
    →       int32[n]: labels in order of construction, each used at least k times (left-overs may exceed 2k−1)

    Solanas and Martínez-Ballesté (2006), on distances, not their squares. O(n² p / k) time, O(n p) memory.
    """
    n = points.shape[0]
    labels, outward = np.empty(n, dtype=np.int32), np.empty(n)
    for i in range(n):
        labels[i] = i if k <= 1 else -1
    if k <= 1:
        return labels
    pool, count, label = fill(points), n, 0
    measure(pool, count, MEAN, EUCLIDEAN)
    for i in range(n):
        outward[i] = pool.distances[i]
    group, reach = np.empty(k, dtype=np.int64), np.empty(k)
    members = np.empty((2 * k, points.shape[1]))
    while count >= k:
        best, seed = -1.0, -1
        for i in range(count):
            row = pool.rows[i]
            if outward[row] >= best and (outward[row] > best or row < seed):
                best, seed = outward[row], row
        measure(pool, count, seed, EUCLIDEAN)
        gather(pool, count, seed, group, reach)
        for size in range(k):
            for j in range(points.shape[1]):
                members[size, j] = pool.coordinates[j, pool.places[group[size]]]
            count = assign(pool, count, group[size], label, labels)
        if gamma > 0.0:
            count = grow(pool, count, members, label, labels, gamma)
        label += 1
    if count > 0:
        join_nearest(points, labels, label, EUCLIDEAN)
    return labels


def _grow(pool: RecordPool, count: int, members: Floats, label: int, labels: Int32s, gamma: float) -> int:
    """V-MDAV's extension of the group whose k members are the first rows of `members` (float64[2k, p]); → count."""
    p, size = members.shape[1], members.shape[0] // 2
    while size < members.shape[0] - 1 and count > 0:
        for j in range(p):
            pool.centre[j] = members[0, j]
        measure(pool, count, LAST, EUCLIDEAN)
        radius = 0.0
        for member in range(1, size):
            spread = 0.0
            for j in range(p):
                spread += (members[member, j] - members[0, j]) ** 2
            radius = max(radius, spread)
        nearest, row, bound = np.inf, -1, np.inf
        for i in range(count):
            # no member is nearer than the distance from the first less the group's radius
            if pool.distances[i] > bound:
                continue
            for member in range(size):
                distance = 0.0
                for j in range(p):
                    distance += (pool.coordinates[j, i] - members[member, j]) ** 2
                if distance < nearest or (distance == nearest and pool.rows[i] < row):
                    nearest, row = distance, pool.rows[i]
            bound = (np.sqrt(nearest) + np.sqrt(radius)) ** 2 * (1.0 + 1e-9)
        measure(pool, count, row, EUCLIDEAN)
        other = np.inf
        for i in range(count):
            if pool.distances[i] < other and pool.rows[i] != row:
                other = pool.distances[i]
        if not np.sqrt(nearest) < gamma * np.sqrt(other):
            break
        for j in range(p):
            members[size, j] = pool.centre[j]
        count = assign(pool, count, row, label, labels)
        size += 1
    return count


grow = kernel(_grow)
v_mdav = kernel(_v_mdav)
