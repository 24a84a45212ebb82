"""Open tours from the definitions: nearest neighbour, 2-opt and or-opt over neighbour lists, on plain lists."""

from __future__ import annotations

import math
from collections.abc import Sequence

Point = Sequence[float]
GAIN = 1e-9
"""Share by which a move must shorten what it touches."""


def distance(points: Sequence[Point], one: int, other: int) -> float:
    return math.dist(points[one], points[other])


def chain(points: Sequence[Point], neighbours: Sequence[Sequence[int]], start: int) -> list[int]:
    """The first of the neighbour list not yet visited, or else the nearest of all, the lowest of equals."""
    order, free = [start], set(range(len(points))) - {start}
    while free:
        here = order[-1]
        listed = [j for j in neighbours[here] if j in free]
        order.append(listed[0] if listed else min(free, key=lambda j: (distance(points, here, j), j)))
        free.remove(order[-1])
    return order


def between(points: Sequence[Point], tour: Sequence[int], one: int, other: int) -> float:
    """What the tour pays between two places; past its ends nothing."""
    inside = min(one, other) >= 0 and max(one, other) < len(tour)
    return distance(points, tour[one], tour[other]) if inside else 0.0


def two_opt(points: Sequence[Point], neighbours: Sequence[Sequence[int]], tour: list[int], a: int) -> list[int] | None:
    """The tour after the first reversal that joins a to a neighbour nearer than its successor, or its predecessor."""
    i = tour.index(a)
    for side in (1, -1):
        length = between(points, tour, i, i + side)
        for c in neighbours[a]:
            if distance(points, a, c) >= length:
                break
            j = tour.index(c)
            before = length + between(points, tour, j, j + side)
            after = distance(points, a, c) + between(points, tour, i + side, j + side)
            if after < before * (1 - GAIN):
                low, high = min(i, j) + (side == 1), max(i, j) + (side == 1)
                return tour[:low] + tour[low:high][::-1] + tour[high:]
    return None


def or_opt(points: Sequence[Point], neighbours: Sequence[Sequence[int]], tour: list[int], a: int) -> list[int] | None:
    """The tour after the first move of a and up to two records behind it between a neighbour of a and the next one."""
    first = tour.index(a)
    for last in range(first, min(first + 3, len(tour))):
        part, rest = tour[first : last + 1], tour[:first] + tour[last + 1 :]
        left = between(points, tour, first - 1, first) + between(points, tour, last, last + 1)
        closed = between(points, tour, first - 1, last + 1)
        for c in neighbours[a]:
            near = distance(points, a, c)
            if closed + near >= left:
                break
            if c in part:
                continue
            j = rest.index(c)
            for side in (1, -1):
                if {j, j + side} == {first - 1, first}:  # where it comes from
                    continue
                before, after = left + between(points, rest, j, j + side), closed + near
                if 0 <= j + side < len(rest):
                    after += distance(points, part[-1], rest[j + side])
                if after < before - GAIN * before:
                    return rest[: j + 1] + part + rest[j + 1 :] if side == 1 else rest[:j] + part[::-1] + rest[j:]
    return None


def tour(points: Sequence[Point], neighbours: Sequence[Sequence[int]], start: int) -> list[int]:
    """The chain, then for each record in turn 2-opt, and where that fails or-opt, until nothing changes."""
    order, improved = chain(points, neighbours, start), True
    while improved:
        improved = False
        for a in range(len(points)):
            while changed := two_opt(points, neighbours, order, a) or or_opt(points, neighbours, order, a):
                order, improved = changed, True
    return order
