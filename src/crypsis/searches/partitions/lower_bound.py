"""A lower bound by column generation: the linear relaxation of choosing groups that cover every record once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.kernels.annealing import sse
from crypsis.kernels.optimal_partitions import Offers, price
from crypsis.masking.partitioning import check_points
from crypsis.searches.exhaustive import optimal_partition
from crypsis.searches.partitions.recombination import group_costs
from crypsis.searches.partitions.space import nearest

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
    points = check_points(points, k)
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
        added = _add_columns(groups, offers)
        if (not added and not halfway) or value - best <= CLOSE * value:
            break
        halfway = added > 0
    # Rounding must not lift the bound above the truth.
    return max(best - 1e-9 * n, 0.0) * known / n


def _add_columns(groups: Groups, offers: Offers) -> int:
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


# -- What no partition into groups of at least k can beat.

SOLVED_UP_TO = 14
"""Records up to which the optimum itself is found in milliseconds."""
COLUMNS_UP_TO = {2: 100, 3: 100, 4: 40, 5: 30}
"""Records up to which column generation takes less than about a second, by k; many more groups are possible above."""


def best_bound(points: NDArray[np.float64], k: int, labels: NDArray[np.int32]) -> tuple[float, str]:
    """The best lower bound that costs little, and its name.

    points  ndarray of shape (n, p): finite and already scaled
    labels  a good k-partition, from which column generation starts
    """
    n = len(points)
    if k == 1 or n < 2 * k:
        return sse(points, labels), "optimum"
    if n <= SOLVED_UP_TO:
        return optimal_partition(points, k)[1], "optimum"
    cheap = nearest_neighbour_bound(points, k)
    if n <= COLUMNS_UP_TO.get(k, 0) and np.bincount(labels).max() < 2 * k:
        better = column_generation_bound(points, k, labels)
        if better > cheap:
            return better, "column-generation bound"
    return cheap, "nearest-neighbour bound"


def nearest_neighbour_bound(points: NDArray[np.float64], k: int) -> float:
    """A lower bound on the SSE of every partition of the points into groups of at least k, cheap at any size.

    points  ndarray of shape (n, p): finite and already scaled

    Notes
    -----
    The SSE of a group g of s records is Σ over its ordered pairs of d²ᵢⱼ / 2s. Record i pairs with s − 1 others,
    which lie no nearer than its s − 1 nearest neighbours: its share is at least (s − 1)/2s times their mean squared
    distance. Both factors grow with s, and s ≥ k; hence

        SSE ≥ Σᵢ (d²ᵢ₁ + … + d²ᵢ,ₖ₋₁) / 2k

    with d²ᵢ₁ ≤ d²ᵢ₂ ≤ … the squared distances from record i to the others. Sizes above 2k − 1 are covered as well.

    Examples
    --------
    >>> round(nearest_neighbour_bound(np.array([[0.0], [1.0], [5.0], [6.0]]), 2), 6)
    1.0
    """
    points = check_points(points, k)
    if k == 1:
        return 0.0
    squares, _ = nearest(points, k - 1)
    # Rounding of the distances must not lift the bound above the truth.
    return float(squares.sum() / (2 * k)) * (1 - 1e-9)
