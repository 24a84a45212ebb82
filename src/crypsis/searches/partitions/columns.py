"""A lower bound by column generation: the linear relaxation of choosing groups that cover every record once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.kernels.pricing import Offers, price
from crypsis.masking.heuristics import checked
from crypsis.searches.partitions.neighbourhoods import nearest
from crypsis.searches.partitions.recombination import group_costs

ROUNDS = 60
"""Linear programs solved at most; the bound is valid after any number of them."""
PATIENCE = 3_000_000
"""Branches of one search for cheaper groups; where more are needed there is no bound from that round."""
CLOSE = 1e-5
"""Gap between the program's value and the bound, relative to the value, at which further rounds are not worth it."""


class Groups:
    """The groups known so far, each a column of the linear program."""

    def __init__(self, points: NDArray[np.float64]) -> None:
        self.points = points
        self.costs: dict[bytes, float] = {}

    def add(self, rows: NDArray[np.int32]) -> bool:
        """Whether the group was new."""
        key = np.sort(rows).astype(np.int32).tobytes()
        if key in self.costs:
            return False
        self.costs[key] = float(np.square(self.points[rows] - self.points[rows].mean(axis=0)).sum())
        return True

    def prices(self) -> tuple[float, NDArray[np.float64]] | None:
        """The program's value and what it would pay for covering each record, if the solver comes to an end."""
        groups = [np.frombuffer(key, np.int32) for key in self.costs]
        starts = np.concatenate(([0], np.cumsum([len(group) for group in groups])))
        shape = (len(self.points), len(groups))
        # Any: the solver takes sparse matrices, its published types do not.
        cover: Any = scipy.sparse.csc_array((np.ones(starts[-1]), np.concatenate(groups), starts), shape=shape)
        solved = scipy.optimize.linprog(
            np.fromiter(self.costs.values(), np.float64),
            A_eq=cover,
            b_eq=np.ones(len(self.points)),
            bounds=(0, None),
            method="highs",
        )
        if solved.status != 0 or solved.fun is None:
            return None
        return float(solved.fun), np.asarray(solved.eqlin.marginals, np.float64)


def column_generation_bound(
    points: NDArray[np.float64], k: int, start: NDArray[np.int32], *, reach: int | None = None, rounds: int = ROUNDS
) -> float:
    """A lower bound on the SSE of every partition into groups of at least k.

    points  ndarray of shape (n, p): finite and already scaled
    start  any k-partition with groups of at most 2k − 1, the first columns; no bound depends on it
    reach  neighbours listed for each record; by default all, which is what few records can afford
    rounds  most linear programs that are solved
    returns  zero if pricing never came to an end

    Notes
    -----
    At prices λ a partition costs Σ λᵢ + Σ over its groups of their reduced costs. A group in which one member lists
    all others is seen if its reduced cost r is negative, and r ≥ Σ over its s ≥ k members of (least r seen at i) / k.
    In any other group every member i has a fellow beyond its list, hence a share Σⱼ d²ᵢⱼ / 2s of the SSE of at least
    fᵢ = min over s of (d²ᵢ,beyond + the s − 2 smallest d²ᵢⱼ) / 2s. So at any prices, good or bad,

        SSE ≥ Σᵢ λᵢ + min(0, leastᵢ / k, fᵢ − λᵢ)
    """
    points = checked(points, k)
    n = len(points)
    known = float(group_costs(points, start).sum())
    if k == 1 or n < 2 * k or known == 0.0:
        return known * (1 - 1e-9)
    # The solver's tolerances are absolute: let a record cost about one.
    points = np.ascontiguousarray((points - points.mean(axis=0)) * np.sqrt(n / known))
    lists, floor = _lists(points, k, n - 1 if reach is None else min(reach, n - 1))
    groups = Groups(points)
    for label in range(int(start.max()) + 1):
        groups.add(np.flatnonzero(start == label).astype(np.int32))
    for row, near in enumerate(nearest(points, k - 1)[1]):
        groups.add(np.append(near, np.int32(row)))
    best, steady, halfway = -np.inf, np.zeros(n), False
    for _ in range(rounds):
        solved = groups.prices()
        if solved is None:
            break
        value, fresh = solved
        # Halfway to the prices of the best bound: the program's own jump about for long.
        asked = 0.5 * (fresh + steady) if halfway else fresh
        offers = price(points, lists, asked, k, PATIENCE)
        if offers.nodes[0] <= PATIENCE:
            bound = float((asked + np.minimum(np.minimum(offers.least / k, floor - asked), 0.0)).sum())
            if bound > best:
                best, steady = bound, asked
        added = _added(groups, offers)
        if (not added and not halfway) or value - best <= CLOSE * value:
            break
        halfway = added > 0
    # Rounding must not lift the bound above the truth.
    return max(best - 1e-9 * n, 0.0) * known / n


def _added(groups: Groups, offers: Offers) -> int:
    """Take up the best group around every seed; how many of them were new."""
    return sum(
        groups.add(offers.members[seed, : offers.sizes[seed]].copy()) for seed in np.flatnonzero(offers.sizes).tolist()
    )


def _lists(points: NDArray[np.float64], k: int, reach: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Records each one may form a group with, and what it costs at the least to reach beyond them."""
    n = len(points)
    if reach >= n - 1:
        # Every group once, from its lowest row.
        lists = np.full((n, n - 1), -1, np.int32)
        for row in range(n - 1):
            lists[row, : n - 1 - row] = np.arange(row + 1, n)
        return lists, np.full(n, np.inf)
    squares, rows = nearest(points, reach + 1)
    within = np.concatenate((np.zeros((n, 1)), np.cumsum(squares, axis=1)), axis=1)
    floor = np.min([(squares[:, -1] + within[:, min(s - 2, reach)]) / (2 * s) for s in range(k, 2 * k)], axis=0)
    return np.ascontiguousarray(rows[:, :reach]), floor
