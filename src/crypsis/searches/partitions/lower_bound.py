"""Optimal partitions of few records by full search, and a lower bound by column generation for more."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import comb, factorial, perm
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.errors import SearchError
from crypsis.kernels.annealing import sse
from crypsis.kernels.optimal_partitions import Offers, best_partition, price_groups
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.masking.partitioning import check_points, partition_trivially
from crypsis.masking.scaling import scaling_strata
from crypsis.searches.partitions.space import group_costs_in_space, nearest_neighbours_to_partition
from crypsis.table.table import Table

# -- The truth for small spaces: optimal k-partitions by full search, and exactly how many candidates there are.
#
# Legend as in Solanas et al. (2006): n records, groups of k … 2k − 1, G = ⌊n/k⌋ letters, a(n, k) representatives
# (multisets of group sizes). The paper bounds the number of candidates by a(n, k) · μ; the exact number comes
# from the exponential generating function exp(Σ xˢ/s!), s = k … 2k − 1, with Python's integers.

MOST_RECORDS = 20
"""Above this the subset recursion takes too long (each further record nearly triples it) and too much memory."""


def optimal_partition(points: NDArray[np.float64], k: int) -> tuple[NDArray[np.int32], float]:
    """The k-partition of few records with least SSE by full search, which no lower bound can exceed.

    `points`: ndarray of shape (n, p): n ≤ MOST_RECORDS unless one group is forced (n < 2k) or k = 1.

    >>> optimal_partition(np.array([[1.0], [5.0], [1.2], [5.4]]), 2)[0]
    array([0, 1, 0, 1], dtype=int32)
    """
    points = check_points(points, k)
    n = len(points)
    only = partition_trivially(points, k)
    if only is not None:
        return only, sse(points, only)
    if n > MOST_RECORDS:
        raise SearchError(
            f"an exact optimum was asked for {n} records, but full search is feasible up to {MOST_RECORDS}; "
            "use the partitioner 'genetic', 'two-step' or 'memetic' instead"
        )
    known = sse(points, mdav(points, k, GENERIC, EUCLIDEAN))
    labels, least = best_partition(points, k, known)
    return labels, float(least)


def count_partitions(n: int, k: int) -> int:
    """How many partitions of n records have all group sizes in [k, 2k − 1]: the candidates for the optimum.

    >>> count_partitions(6, 3)
    10
    """
    return sum(_partitions_by_groups(n, k))


def _partitions_by_groups(n: int, k: int) -> list[int]:
    """The same, split by the number of groups: entry m counts partitions into m groups."""
    groups = n // k
    # ways[r][m]: partitions of r records into m groups; the group of the lowest record has size s.
    ways = [[0] * (groups + 1) for _ in range(n + 1)]
    ways[0][0] = 1
    for r in range(k, n + 1):
        for size in range(k, min(2 * k - 1, r) + 1):
            choices = comb(r - 1, size - 1)
            rest = ways[r - size]
            for m in range(groups):
                if rest[m]:
                    ways[r][m + 1] += choices * rest[m]
    return ways[n]


def count_representative_partitions(n: int, k: int) -> int:
    """a(n, k) of Equation 4, for bounds on full search: ways to write n as a sum of group sizes in [k, 2k − 1]."""
    # sums[r]: ways to write r with the sizes admitted so far.
    sums = [1] + [0] * n
    for size in range(k, 2 * k):
        for records in range(size, n + 1):
            sums[records] += sums[records - size]
    return sums[n]


def paper_partition_bound(n: int, k: int) -> int:
    """μ of Equation 5, for bounds on full search: partitions of the representative with G groups, sizes most even.

    The paper calls it an upper bound for every representative; it is not (n = 30, k = 3: sizes 3⁶4³ have more).
    """
    groups = n // k
    small, larger = divmod(n, groups)
    sizes: int = factorial(small) ** (groups - larger) * factorial(small + 1) ** larger
    return factorial(n) // sizes // factorial(groups)


def paper_bound_probability(n: int, k: int) -> Fraction:
    """Equation 6: a(n, k) · μ / Gⁿ, the paper's "upper bound" for a random chromosome to be a candidate partition."""
    return Fraction(count_representative_partitions(n, k) * paper_partition_bound(n, k), (n // k) ** n)


def probability_of_candidate_partition(n: int, k: int) -> Fraction:
    """Beside full search and bounds: the true probability that n uniform letters of G form a candidate partition.

    A partition into m groups is spelt by G!/(G − m)! chromosomes; Equation 6 counts it once.
    """
    groups = n // k
    spelt = sum(ways * perm(groups, m) for m, ways in enumerate(_partitions_by_groups(n, k)))
    return Fraction(spelt, groups**n)


# -- A lower bound by column generation: the linear relaxation of choosing groups that cover every record once.

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

    At prices λ a partition costs Σ λᵢ + Σ over its groups of their reduced costs. A group in which one member lists
    all others is seen if its reduced cost r is negative, and r ≥ Σ over its s ≥ k members of (least r seen at i) / k.
    In any other group every member i has a fellow beyond its list, hence a share Σⱼ d²ᵢⱼ / 2s of the SSE of at least
    fᵢ = min over s of (d²ᵢ,beyond + the s − 2 smallest d²ᵢⱼ) / 2s. So at any prices, good or bad,

        SSE ≥ Σᵢ λᵢ + min(0, leastᵢ / k, fᵢ − λᵢ)

    `start`: any k-partition with groups of at most 2k − 1, the first columns; no bound depends on it.
    """
    points = check_points(points, k)
    n = len(points)
    known = float(group_costs_in_space(points, start).sum())
    if k == 1 or n < 2 * k or known == 0.0:
        return known * (1 - 1e-9)
    # The solver's tolerances are absolute: let a record cost about one.
    points = np.ascontiguousarray((points - points.mean(axis=0)) * np.sqrt(n / known))
    lists, floor = _lists(points, k, n - 1 if reach is None else min(reach, n - 1))
    groups = Groups(points)
    for label in range(int(start.max()) + 1):
        groups.add(np.flatnonzero(start == label).astype(np.int32))
    for row, near in enumerate(nearest_neighbours_to_partition(points, k - 1)[1]):
        groups.add(np.append(near, np.int32(row)))
    best, steady, halfway = -np.inf, np.zeros(n), False
    for _ in range(rounds):
        solved = groups.prices()
        if solved is None:
            break
        value, fresh = solved
        # Halfway to the prices of the best bound: the program's own jump about for long.
        asked = 0.5 * (fresh + steady) if halfway else fresh
        offers = price_groups(points, lists, asked, k, PATIENCE)
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
    squares, rows = nearest_neighbours_to_partition(points, reach + 1)
    within = np.concatenate((np.zeros((n, 1)), np.cumsum(squares, axis=1)), axis=1)
    floor = np.min([(squares[:, -1] + within[:, min(s - 2, reach)]) / (2 * s) for s in range(k, 2 * k)], axis=0)
    return np.ascontiguousarray(rows[:, :reach]), floor


# -- What no partition into groups of at least k can beat.

SOLVED_UP_TO = 14
"""Records up to which the optimum itself is found in milliseconds."""
COLUMNS_UP_TO = {2: 100, 3: 100, 4: 40, 5: 30}
"""Records up to which column generation takes less than about a second, by k; many more groups are possible above."""


def best_bound(points: NDArray[np.float64], k: int, labels: NDArray[np.int32]) -> tuple[float, str]:
    """The best lower bound that costs little, and its name."""
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

    The SSE of a group g of s records is Σ over its ordered pairs of d²ᵢⱼ / 2s. Record i pairs with s − 1 others,
    which lie no nearer than its s − 1 nearest neighbours: its share is at least (s − 1)/2s times their mean squared
    distance. Both factors grow with s, and s ≥ k; hence

        SSE ≥ Σᵢ (d²ᵢ₁ + … + d²ᵢ,ₖ₋₁) / 2k

    with d²ᵢ₁ ≤ d²ᵢ₂ ≤ … the squared distances from record i to the others. Sizes above 2k − 1 are covered as well.

    >>> round(nearest_neighbour_bound(np.array([[0.0], [1.0], [5.0], [6.0]]), 2), 6)
    1.0
    """
    points = check_points(points, k)
    if k == 1:
        return 0.0
    squares, _ = nearest_neighbours_to_partition(points, k - 1)
    # Rounding of the distances must not lift the bound above the truth.
    return float(squares.sum() / (2 * k)) * (1 - 1e-9)


def bound_k_by_strata(table: Table, names: Iterable[str]) -> int:
    """Beside the lower bound on SSE, a bound on k: the records of the smallest class of locked columns."""
    found = scaling_strata(table, names)
    return int(table.kept.sum()) if found is None or not len(found) else int(np.bincount(found).min())
