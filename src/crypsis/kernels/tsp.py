"""Short round tours through all points: nearest neighbour, then 2-opt and or-opt over neighbour lists."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s
from crypsis.kernels.compile import kernel


class Route(NamedTuple):
    """An open tour under way."""

    points: Floats  # float64[n, p]
    neighbours: Int32s  # int32[n, m]: nearest other records, nearest first
    order: Int32s  # int32[n]: the record at each position;  place  int32[n]: the position of each record
    place: Int32s


def _distance(points: Floats, i: int, j: int) -> float:
    total = 0.0
    for q in range(points.shape[1]):
        gap = points[i, q] - points[j, q]
        total += gap * gap
    return math.sqrt(total)


distance = kernel(_distance)


def _nearest_neighbour_tour(points: Floats, neighbours: Int32s, start: int) -> Int32s:
    """Go on to the nearest record not yet visited: by the neighbour list, and past all records where it ends."""
    n, here = points.shape[0], start
    order, ahead, place = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for step in range(n):
        ahead[step] = place[step] = step
    for step in range(n):
        order[step] = here
        last = n - 1 - step
        moved = ahead[last]
        ahead[place[here]] = moved
        place[moved] = place[here]
        place[here] = -1
        if last == 0:
            break
        following = -1
        for q in range(neighbours.shape[1]):
            if place[neighbours[here, q]] >= 0:
                following = neighbours[here, q]
                break
        if following < 0:
            least = np.inf
            for q in range(last):
                gap = distance(points, here, ahead[q])
                if gap < least or (gap == least and ahead[q] < following):
                    least, following = gap, ahead[q]
        here = following
    return order


nearest_neighbour_tour = kernel(_nearest_neighbour_tour)


def _reverse(route: Route, first: int, last: int) -> None:
    """Turn round the stretch of the tour from position first to last, both included."""
    order, place = route.order, route.place
    while first < last:
        one, other = order[first], order[last]
        order[first], order[last] = other, one
        place[other], place[one] = first, last
        first += 1
        last -= 1


reverse = kernel(_reverse)


def _edge_length(route: Route, one: int, other: int) -> float:
    """Length between two positions; past the ends of the tour nothing is paid."""
    order = route.order
    if one < 0 or other < 0 or one >= order.shape[0] or other >= order.shape[0]:
        return 0.0
    return distance(route.points, order[one], order[other])


edge_length = kernel(_edge_length)


def _two_opt(route: Route, a: int) -> bool:
    """Replace two edges, one of them at a, by two shorter ones if there are such."""
    i = route.place[a]
    for side in range(1, -2, -2):
        length = edge_length(route, i, i + side)
        for q in range(route.neighbours.shape[1]):
            c = route.neighbours[a, q]
            near = distance(route.points, a, c)
            if near >= length:
                break
            j = route.place[c]
            before = length + edge_length(route, j, j + side)
            if near + edge_length(route, i + side, j + side) < before - 1e-9 * before:
                low, high = min(i, j), max(i, j)
                if side == 1:
                    reverse(route, low + 1, high)
                else:
                    reverse(route, low, high - 1)
                return True
    return False


two_opt = kernel(_two_opt)


def _or_opt(route: Route, a: int) -> bool:
    """Move a and up to two records behind it next to one of a's neighbours if that is shorter.

    Sums of edges are compared, by more than they are rounded: with lengths of many orders of magnitude a difference of
    them can gain by its rounding alone, here and back again without end.
    """
    first = route.place[a]
    for last in range(first, min(first + 3, route.order.shape[0])):
        left = edge_length(route, first - 1, first) + edge_length(route, last, last + 1)
        closed = edge_length(route, first - 1, last + 1)
        for q in range(route.neighbours.shape[1]):
            c = route.neighbours[a, q]
            near = distance(route.points, a, c)
            if closed + near >= left:
                break
            j = route.place[c]
            for side in range(1, -2, -2):
                if first - 1 <= min(j, j + side) <= last:
                    continue
                before = left + edge_length(route, j, j + side)
                if closed + near + edge_length(route, last, j + side) < before - 1e-9 * before:
                    move_stretch(route, first, last, min(j, j + side))
                    if side == -1:
                        here = route.place[a]
                        reverse(route, here, here + last - first)
                    return True
    return False


def _move_stretch(route: Route, first: int, last: int, behind: int) -> None:
    """Carry a stretch, unturned, to the place behind the position `behind` outside it."""
    if behind > last:
        reverse(route, first, behind)
        reverse(route, first, behind - (last - first) - 1)
        reverse(route, behind - (last - first), behind)
    else:
        reverse(route, behind + 1, last)
        reverse(route, behind + 1, behind + 1 + last - first)
        reverse(route, behind + 2 + last - first, last)


move_stretch = kernel(_move_stretch)
or_opt = kernel(_or_opt)


def _build_tour(points: Floats, neighbours: Int32s, start: int) -> Int32s:
    """An open tour that visits every record once and cannot be shortened by 2-opt or or-opt among neighbours.

    →           int32[n]: records in the order of the visit

    `points` float64[n, p]; `neighbours` int32[n, m].
    """
    n = points.shape[0]
    order = nearest_neighbour_tour(points, neighbours, start)
    place = np.empty(n, np.int32)
    for q in range(n):
        place[order[q]] = q
    route = Route(points, neighbours, order, place)
    improved = True
    while improved:
        improved = False
        for a in range(n):
            while two_opt(route, a) or or_opt(route, a):
                improved = True
    return order


build_tour = kernel(_build_tour)
