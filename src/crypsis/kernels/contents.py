"""What a class holds against what it must hold: sizes, confidential values and their spread.

A class is a list of records. Its confidential values are counted into a buffer that is empty again afterwards, so that
a class of s records costs O(s), however many values the column has; sorting what it holds adds O(m log m) for m values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel

SIZE, DISTINCT, ENTROPY, RECURSIVE, EQUAL, ORDERED, HIERARCHICAL, ALPHA, BETA, PRESENCE = range(10)
"""Kinds of demands."""
_TOLERANCE = 1e-9


class ContentDemands(NamedTuple):
    """What every class must hold, over the values of c columns that are numbered in one sequence.

    code      int32[c, n]: value of each record, in its own column's stretch; −1: missing
    column    int64[d]: row of `code` that a demand reads
    kind      int64[d]: SIZE, …
    bound     float64[d, 3]: the threshold, then what the kind needs besides
    first     int64[c + 1]: where the values of each column begin
    overall   float64[3, values]: share of each value among all records that have one; cumulated in the order of the
              values of a column; and the sums of those
    up        int32[levels, values]: group of each value, then of each group, one level higher; in the same stretch
    mass      float64[levels + 1, values]: share of each value, then of each group at every level
    height    int64[c]: levels of the hierarchy of each column
    """

    code: Int32s
    column: Ints
    kind: Ints
    bound: Floats
    first: Ints
    overall: Floats
    up: Int32s
    mass: Floats
    height: Ints


class ContentRoom(NamedTuple):
    """Buffers of one caller, all zero between two calls but for the lists.

    times   int64[values]: how often each value occurs
    held    int64[3, values]: which values occur; groups of two levels of a hierarchy
    share   float64[4, values]: share, surplus, deficit and mass seen of each group
    """

    times: Ints
    held: Ints
    share: Floats


def content_room(demands: ContentDemands) -> ContentRoom:
    """Empty buffers."""
    values = max(demands.overall.shape[1], 1)
    return ContentRoom(np.zeros(values, np.int64), np.zeros((3, values), np.int64), np.zeros((4, values)))


def _sort_held(held: Ints, m: int, by: NDArray[Any], falling: bool) -> None:
    """Sort the first m values by their number, or by how often they occur, the most frequent first."""
    gap = 1
    while gap < m // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, m):
            moving = held[i]
            j = i
            while j >= gap and (by[held[j - gap]] < by[moving] if falling else held[j - gap] > moving):
                held[j] = held[j - gap]
                j -= gap
            held[j] = moving
        gap //= 3


sort_held = kernel(_sort_held)


def _ordered_level(demands: ContentDemands, room: ContentRoom, c: int, m: int, total: int) -> float:
    """Σ |P − Q| / (values − 1) over the cumulated shares of a column."""
    first, last = demands.first[c], demands.first[c + 1]
    if last - first < 2:
        return 0.0
    sort_held(room.held[0], m, room.times, False)
    whole, sums, held = demands.overall[1], demands.overall[2], room.held[0]
    gaps = sums[held[0] - 1] if held[0] > first else 0.0  # nothing is cumulated before the first value held
    seen = 0
    for i in range(m):
        seen += room.times[held[i]]
        height, left, right = seen / total, held[i], held[i + 1] if i + 1 < m else last
        low, high = left, right
        while low < high:  # Q never falls, so that it crosses the height once
            middle = (low + high) // 2
            if whole[middle] < height:
                low = middle + 1
            else:
                high = middle
        below = sums[low - 1] if low > first else 0.0
        gaps += height * (low - left) - (below - (sums[left - 1] if left > first else 0.0))
        gaps += (sums[right - 1] - below) - height * (right - low)
    return float(max(gaps, 0.0) / (last - first - 1))


ordered_level = kernel(_ordered_level)


def _hierarchical_level(demands: ContentDemands, room: ContentRoom, c: int, m: int, total: int) -> float:
    """Σ over groups of the hierarchy of their relative height times what their parts exchange."""
    height, here = demands.height[c], 0
    share, surplus, deficit, seen = room.share[0], room.share[1], room.share[2], room.share[3]
    for i in range(m):
        share[room.held[0, i]] = room.times[room.held[0, i]] / total
    cost, count = 0.0, m
    for level in range(height):
        groups, there = 0, 1 if here != 1 else 2
        for i in range(count):
            part = room.held[here, i]
            group, apart = demands.up[level, part], share[part] - demands.mass[level, part]
            if seen[group] == 0.0:
                room.held[there, groups] = group
                groups += 1
            seen[group] += demands.mass[level, part]
            surplus[group] += max(apart, 0.0)
            deficit[group] += max(-apart, 0.0)
        for i in range(count):  # shares of a level are no longer needed once those above are known
            share[room.held[here, i]] = 0.0
        for i in range(groups):
            group = room.held[there, i]
            lacking = demands.mass[level + 1, group] - seen[group] + deficit[group]
            cost += (level + 1) / height * min(surplus[group], lacking)
            share[group] = surplus[group] - deficit[group] + seen[group]
            surplus[group], deficit[group], seen[group] = 0.0, 0.0, 0.0
        here, count = there, groups
    for i in range(count):
        share[room.held[here, i]] = 0.0
    return cost


hierarchical_level = kernel(_hierarchical_level)


def _content_level(demands: ContentDemands, room: ContentRoom, d: int, m: int, total: int, size: int) -> float:
    """The level of a class under a demand that looks at its values.

    m      values it holds, listed in `room.held[0]` and counted in `room.times`
    total  records that have a value
    size   records
    """
    kind, c = demands.kind[d], demands.column[d]
    level, largest = 0.0, 0
    if kind == ALPHA and size < demands.bound[d, 1]:
        return 1.0
    if total == 0:
        return 0.0
    if kind == DISTINCT:
        return float(m)
    if kind == ORDERED:
        return ordered_level(demands, room, c, m, total)
    if kind == HIERARCHICAL:
        return hierarchical_level(demands, room, c, m, total)
    if kind == RECURSIVE:
        sort_held(room.held[0], m, room.times, True)
        largest, tail = room.times[room.held[0, 0]], total
        for i in range(m):
            if largest < demands.bound[d, 1] * tail:
                level += 1.0
            tail -= room.times[room.held[0, i]]
        return level
    here = 0.0
    for i in range(m):
        value = room.held[0, i]
        share, whole = room.times[value] / total, demands.overall[0, value]
        largest = max(largest, room.times[value])
        if kind == ENTROPY:
            level -= share * np.log(share)
        elif kind == EQUAL:
            level += abs(share - whole)
            here += whole
        elif kind == BETA:
            gain = share / whole - 1.0
            if demands.bound[d, 1] > 0.0 and gain > -np.log(whole) + _TOLERANCE:
                gain = np.inf
            level = max(level, gain)
        elif kind == PRESENCE and value == demands.first[c] + 1:
            here = share
    if kind == ENTROPY:
        return float(np.exp(level))
    if kind == EQUAL:
        return (level + max(1.0 - here, 0.0)) / 2.0
    if kind == ALPHA:
        return float(largest / total)
    if kind == PRESENCE:
        return float(max(max(here - demands.bound[d, 2], demands.bound[d, 1] - here), 0.0))
    return level


content_level = kernel(_content_level)


def _group_shortfall(demands: ContentDemands, room: ContentRoom, members: Ints, size: int) -> float:
    """How far a class of records falls short, 0 … 1: the mean over the demands; 0 exactly where it meets them all.

    members  int64[…]: the records, the first `size` of them
    """
    short, before, m, total = 0.0, -1, 0, 0
    for d in range(len(demands.kind)):
        kind, c, bound = demands.kind[d], demands.column[d], demands.bound[d, 0]
        if kind != SIZE and c != before:  # demands on one column stand side by side
            for i in range(m):
                room.times[room.held[0, i]] = 0
            m, total, before = 0, 0, c
            for i in range(size):
                value = demands.code[c, members[i]]
                if value >= 0:
                    if room.times[value] == 0:
                        room.held[0, m] = value
                        m += 1
                    room.times[value] += 1
                    total += 1
        level = float(size) if kind == SIZE else content_level(demands, room, d, m, total, size)
        allowed = _TOLERANCE * max(1.0, abs(bound))
        if kind <= RECURSIVE:
            if level < bound - allowed:
                short += (bound - level) / bound
        elif level > bound + allowed:
            excess = level - bound
            short += 1.0 if excess == np.inf else excess / (excess + (bound if bound > 0.0 else 1.0))
    for i in range(m):
        room.times[room.held[0, i]] = 0
    return short / max(len(demands.kind), 1)


group_shortfall = kernel(_group_shortfall)


def _group_shortfalls(demands: ContentDemands, room: ContentRoom, members: Ints, start: Ints, out: Floats) -> None:
    """`group_shortfall` of many classes, the records of class g being members[start[g] : start[g + 1]]."""
    for g in range(len(start) - 1):
        out[g] = group_shortfall(demands, room, members[start[g] : start[g + 1]], start[g + 1] - start[g])


group_shortfalls = kernel(_group_shortfalls)


def _take_cheapest(cost: Floats, n: int) -> int:
    """The first of n with the least finite cost, which is made infinite; −1 if there is none."""
    near = -1
    for g in range(n):
        if cost[g] < np.inf and (near < 0 or cost[g] < cost[near]):
            near = g
    if near >= 0:
        cost[near] = np.inf
    return near


take_cheapest = kernel(_take_cheapest)
