"""The optimal k-partition of few records, by recursion over the subsets already grouped.

A subset is the bits of one integer. The next group always holds the lowest record still free, so every
partition is met once; Result 1 of Domingo-Ferrer and Mateo-Sanz (2002) keeps groups between k and 2k − 1.
What cannot end below a known SSE is cut off: a group never gets cheaper by growing, and every record outside
it still owes its least share of the distances to its k − 1 nearest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel


class SubsetSearch(NamedTuple):
    """The recursion's memory, indexed by subset where 2ⁿ long.

    costs   float64[2ⁿ]: SSE of the subset as one group, infinite above 2k − 1 records
    totals  float64[2ⁿ]: least SSE of the subset partitioned;  chosen  int32[2ⁿ]: the last group of that partition
    owed    float64[n]: what a record adds to any partition at the least
    free, stack  int64[n]: records still free in order; places among them of the group being tried
    """

    costs: Floats
    totals: Floats
    chosen: Int32s
    owed: Floats
    free: Ints
    stack: Ints


def _squared_distances(points: Floats) -> Floats:
    n, p = points.shape
    squared = np.zeros((n, n))
    for one in range(n):
        for other in range(n):
            for column in range(p):
                gap = points[one, column] - points[other, column]
                squared[one, other] += gap * gap
    return squared


squared_distances = kernel(_squared_distances)


def _least_shares(squared: Floats, k: int) -> Floats:
    """Σ squared distances to the k − 1 nearest / 2k: a record's least share of Σ pairs / size in any group."""
    n = squared.shape[0]
    shares = np.empty(n)
    for record in range(n):
        nearest = np.sort(squared[record])
        shares[record] = nearest[1:k].sum() / (2 * k)
    return shares


least_shares = kernel(_least_shares)


def _group_costs(squared: Floats, largest: int) -> Floats:
    """SSE of every subset of at most `largest` records: float64[2ⁿ], infinite for the others and for none.

    Σ squared distances of pairs / size, the pairs of a subset being those without its top record plus its row.
    """
    n = squared.shape[0]
    costs = np.zeros(1 << n)
    sizes = np.zeros(1 << n, np.int8)
    for top in range(n):
        bit = 1 << top
        for rest in range(bit):
            sizes[bit | rest] = sizes[rest] + 1
            if sizes[rest] >= largest:
                continue
            total = costs[rest]
            for record in range(top):
                if rest >> record & 1:
                    total += squared[top, record]
            costs[bit | rest] = total
    for subset in range(1 << n):
        costs[subset] = costs[subset] / sizes[subset] if 0 < sizes[subset] <= largest else np.inf
    return costs


group_costs = kernel(_group_costs)


def _extend(search: SubsetSearch, grouped: int, k: int, bound: float) -> None:
    """Try every group of the lowest free record after the subset `grouped`, and note the totals that get better.

    A depth-first walk over ascending choices of fellows, cut where no end below `bound` is possible.
    """
    costs, totals, free, stack, owed = search.costs, search.totals, search.free, search.stack, search.owed
    count, debt, heaviest = 0, totals[grouped], 0.0
    for record in range(free.size):
        if not grouped >> record & 1:
            free[count] = record
            count += 1
            debt += owed[record]
            heaviest = max(heaviest, owed[record])
    group = 1 << free[0]
    debt -= owed[free[0]]
    stack[0] = 0
    depth = 1
    while True:
        left = count - depth
        least = debt + costs[group]
        if depth >= k and (left == 0 or left >= k) and least <= bound:
            total = totals[grouped] + costs[group]
            if total < totals[grouped | group]:
                totals[grouped | group] = total
                search.chosen[grouped | group] = group
        last = stack[depth - 1]
        # Records that still join pay within the group, no longer on their own.
        hopeless = least - (2 * k - 1 - depth) * heaviest > bound
        if hopeless or depth == 2 * k - 1 or last + 1 == count:
            # Nobody can follow: the last fellow is replaced by its successor, or leaves if it has none.
            if last + 1 == count:
                group ^= 1 << free[last]
                debt += owed[free[last]]
                depth -= 1
            if depth <= 1:
                return
            depth -= 1
            last = stack[depth]
            group ^= 1 << free[last]
            debt += owed[free[last]]
        stack[depth] = last + 1
        group |= 1 << free[last + 1]
        debt -= owed[free[last + 1]]
        depth += 1


extend = kernel(_extend)


def _best_partition(points: Floats, k: int, known: float) -> tuple[Int32s, float]:
    """The k-partition of least SSE among all: labels in order of each group's lowest record, and the SSE.

    points  float64[n, p] with k ≤ n ≤ 24; 13 · 2ⁿ bytes of memory
    known   SSE of any k-partition, or infinity: the lower, the sooner the search ends
    →       infinity, and labels that mean nothing, if no k-partition is as good as `known`
    """
    n = points.shape[0]
    everyone = (1 << n) - 1
    squared = squared_distances(points)
    costs = group_costs(squared, min(n, 2 * k - 1))
    totals = np.full(1 << n, np.inf)
    chosen = np.zeros(1 << n, np.int32)
    search = SubsetSearch(costs, totals, chosen, least_shares(squared, k), np.empty(n, np.int64), np.empty(n, np.int64))
    # Room for rounding, so that the optimum itself is never cut off.
    bound = known + 1e-9 * squared.sum() / n
    totals[0] = 0.0
    for grouped in range(everyone):
        if totals[grouped] < np.inf:
            extend(search, grouped, k, bound)
    labels = np.empty(n, np.int32)
    if totals[everyone] == np.inf:
        return labels, np.inf
    groups, grouped = 0, everyone
    while grouped > 0:
        grouped ^= chosen[grouped]
        groups += 1
    grouped = everyone
    while grouped > 0:
        groups -= 1
        for record in range(n):
            if chosen[grouped] >> record & 1:
                labels[record] = groups
        grouped ^= chosen[grouped]
    return labels, totals[everyone]


best_partition = kernel(_best_partition)
