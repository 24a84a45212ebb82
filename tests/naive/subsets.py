"""Slow, plain twin of the exact search: every partition of a small set, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray


def partitions(records: tuple[int, ...], k: int) -> Iterator[list[tuple[int, ...]]]:
    """All partitions with groups of k … 2k − 1, each once."""
    if not records:
        yield []
        return
    first, others = records[0], records[1:]
    for size in range(k, 2 * k):
        for fellows in combinations(others, size - 1):
            rest = tuple(record for record in others if record not in fellows)
            for tail in partitions(rest, k):
                yield [(first, *fellows), *tail]


def sum_of_squares(points: NDArray[np.float64], groups: list[tuple[int, ...]]) -> float:
    return sum(float(((points[list(g)] - points[list(g)].mean(axis=0)) ** 2).sum()) for g in groups)


def optimum(points: NDArray[np.float64], k: int) -> float:
    return min(sum_of_squares(points, groups) for groups in partitions(tuple(range(len(points))), k))


def representatives(n: int, p: int, k: int) -> int:
    """Equation 4 of the paper, as printed."""
    if n < p:
        return 0
    if n <= 2 * k - 1:
        return 1
    return sum(representatives(n - q, q, k) for q in range(p, 2 * k))
