"""Slow, obvious twins of the partition kernels, written from the definitions (SCIENCE 1.1–1.5)."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

Rows = list[int]


class Points:
    """Records as lists of plain floats, measured from their column minima."""

    def __init__(self, points: Any, metric: str = "euclidean") -> None:
        shifted = np.asarray(points, dtype=float)
        self.records = [[float(value) for value in record] for record in shifted - shifted.min(axis=0)]
        self.metric = metric

    def distance(self, one: list[float], two: list[float]) -> float:
        total = 0.0
        for a, b in zip(one, two, strict=True):
            total += (a - b) * (a - b) if self.metric == "euclidean" else abs(a - b)
        return total

    def mean(self, rows: Rows) -> list[float]:
        return [math.fsum(column) / len(rows) for column in zip(*(self.records[row] for row in rows), strict=True)]

    def farthest(self, rows: Rows, centre: list[float]) -> int:
        return max(rows, key=lambda row: (self.distance(self.records[row], centre), -row))

    def neighbourhood(self, rows: Rows, seed: int, k: int) -> Rows:
        others = [row for row in rows if row != seed]
        others.sort(key=lambda row: (self.distance(self.records[row], self.records[seed]), row))
        return [seed, *others[: k - 1]]

    def nearest_group(self, row: int, groups: list[Rows]) -> int:
        first = self.records[0]

        def gap(group: Rows) -> float:
            sums = [math.fsum(self.records[r][j] - first[j] for r in group) for j in range(len(first))]
            at = [self.records[row][j] - first[j] for j in range(len(first))]
            return self.distance(at, [total / len(group) for total in sums])

        return min(range(len(groups)), key=lambda g: (gap(groups[g]), g))


def labelled(groups: list[Rows], n: int) -> list[int]:
    labels = [-1] * n
    for label, group in enumerate(groups):
        for row in group:
            labels[row] = label
    return labels


def mdav(points: Any, k: int, ending: str = "generic", metric: str = "euclidean") -> list[int]:
    data, rest, groups = Points(points, metric), list(range(len(points))), []

    def take(seed: int) -> None:
        groups.append(data.neighbourhood(rest, seed, k))
        for row in groups[-1]:
            rest.remove(row)

    if k == 1:
        return rest
    while len(rest) >= (3 * k if ending == "generic" else 2 * k):
        first = data.farthest(rest, data.mean(rest))
        second = data.farthest(rest, data.records[first])
        take(first)
        if second not in rest:
            second = data.farthest(rest, data.records[first])
        take(second)
    if ending == "generic" and len(rest) >= 2 * k:
        take(data.farthest(rest, data.mean(rest)))
    if ending == "hybrid" and len(rest) < k and groups:
        for row, group in [(row, data.nearest_group(row, groups)) for row in rest]:
            groups[group] = [*groups[group], row]
    elif rest:
        groups.append(rest)
    return labelled(groups, len(points))


def cbfs(points: Any, k: int) -> list[int]:
    data, rest, groups = Points(points), list(range(len(points))), []
    while k > 1 and len(rest) >= 2 * k:
        groups.append(data.neighbourhood(rest, data.farthest(rest, data.mean(rest)), k))
        rest = [row for row in rest if row not in groups[-1]]
    return list(range(len(points))) if k == 1 else labelled([*groups, rest], len(points))


def v_mdav(points: Any, k: int, gamma: float) -> list[int]:
    data, rest, groups = Points(points), list(range(len(points))), []
    if k == 1:
        return rest
    centre = data.mean(rest)
    while len(rest) >= k:
        group = data.neighbourhood(rest, data.farthest(rest, centre), k)
        rest = [row for row in rest if row not in group]
        while len(group) < 2 * k - 1 and rest and gamma > 0:
            inward = {row: min(data.distance(data.records[row], data.records[g]) for g in group) for row in rest}
            row = min(rest, key=lambda r: (inward[r], r))
            outward = [data.distance(data.records[row], data.records[r]) for r in rest if r != row]
            if not math.sqrt(inward[row]) < gamma * math.sqrt(min(outward, default=math.inf)):
                break
            group.append(row)
            rest.remove(row)
        groups.append(group)
    for row, group in [(row, data.nearest_group(row, groups)) for row in rest]:
        groups[group] = [*groups[group], row]
    return labelled(groups, len(points))


def sse(points: Any, labels: Any) -> float:
    points, total = np.asarray(points, dtype=float), 0.0
    for label in set(np.asarray(labels).tolist()):
        group = points[np.asarray(labels) == label]
        centred = group - group[0]
        total += float(((centred - centred.mean(axis=0)) ** 2).sum())
    return total


def least_sse_of_cuts(points: Any, k: int) -> float:
    """The least SSE of contiguous groups of at least k rows, by trying every way to cut."""
    points = np.asarray(points, dtype=float)

    @cache
    def from_row(begin: int) -> float:
        if begin == len(points):
            return 0.0
        ends = [end for end in range(begin + k, len(points) + 1) if end == len(points) or len(points) - end >= k]
        return min(sse(points[begin:end], [0] * (end - begin)) + from_row(end) for end in ends)

    return from_row(0)


def least_sse_of_all(values: Any, k: int) -> float:
    """The least SSE of any groups of at least k numbers, contiguous or not: a recursion over all subsets."""
    values = [float(value) for value in values]
    n = len(values)
    subsets = np.arange(1 << n)
    member = (subsets[:, None] >> np.arange(n)) & 1
    size = member.sum(axis=1)
    mean = member @ np.array(values) / np.maximum(size, 1)
    loss = (member * (np.array(values)[None, :] - mean[:, None]) ** 2).sum(axis=1)
    loss[size < k] = np.inf
    best = [math.inf] * (1 << n)
    best[0], cost = 0.0, loss.tolist()
    for whole in range(1, 1 << n):
        lowest = whole & -whole
        others = whole ^ lowest
        part = others
        while True:  # every group that holds the lowest member
            group = part | lowest
            best[whole] = min(best[whole], cost[group] + best[whole ^ group])
            if part == 0:
                break
            part = (part - 1) & others
    return best[-1]


def is_along(labels: Any) -> bool:
    """Whether labels run 0, 1, 2, … without a gap along the rows."""
    return labels[0] == 0 and all(b - a in (0, 1) for a, b in pairwise(np.asarray(labels).tolist()))
