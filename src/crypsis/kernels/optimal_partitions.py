"""Optimal k-partitions of few records or along a path, and groups that would pay at given prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel

# -- The optimal k-partition of few records, by recursion over the subsets already grouped.
#
# A subset is the bits of one integer. The next group always holds the lowest record still free, so every
# partition is met once; Result 1 of Domingo-Ferrer and Mateo-Sanz (2002) keeps groups between k and 2k − 1.
# What cannot end below a known SSE is cut off: a group never gets cheaper by growing, and every record outside
# it still owes its least share of the distances to its k − 1 nearest.


class SubsetSearch(NamedTuple):
    """The recursion's memory, indexed by subset where 2ⁿ long."""

    costs: Floats  # float64[2ⁿ]: SSE of the subset as one group, infinite above 2k − 1 records
    # float64[2ⁿ]: least SSE of the subset partitioned;  chosen  int32[2ⁿ]: the last group of that partition
    totals: Floats
    chosen: Int32s
    owed: Floats  # float64[n]: what a record adds to any partition at the least
    free: Ints  # int64[n]: records still free in order; places among them of the group being tried
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

    Depth-first over ascending choices of further records, cut where no end below `bound` is possible.
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
            # Nobody can follow: the last record is replaced by its successor, or leaves if it has none.
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

    →       infinity, and labels that mean nothing, if no k-partition is as good as `known`

    `points` float64[n, p].
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

# -- Optimal cuts along a path: records in a given order, split into contiguous groups of at least k.
#
# The sum of squares of a segment is taken from the segment's own last record, never from the origin: what
# rounding loses is at most the segment's size times the last bit, however far away the data lie.


def _path_optimum(points: Floats, k: int) -> Int32s:
    """The best partition whose groups are contiguous in the given order.

    →       int32[n]: labels 0, 1, … along the path, sizes in [k, 2k−1], SSE the least possible

    Hansen and Mukherjee (2003), multivariate as in Domingo-Ferrer et al. (2006). O(k n p) time, O(n) memory.

    `points` float64[n, p]: rows in the order of the path, n ≥ k.
    """
    n, p = points.shape
    cost, start, total = np.empty(n + 1), np.empty(n + 1, dtype=np.int64), np.empty(p)
    for end in range(n + 1):
        cost[end], start[end] = np.inf, 0
    cost[0] = 0.0
    for end in range(k if n >= 2 * k else n + 1, n + 1):
        squares = 0.0
        for j in range(p):
            total[j] = 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            begin, length = end - size, 0.0
            for j in range(p):
                gap = points[begin, j] - points[end - 1, j]
                total[j] += gap
                squares += gap * gap
                length += total[j] * total[j]
            if size >= k:
                value = cost[begin] + max(squares - length / size, 0.0)
                if value < cost[end]:
                    cost[end], start[end] = value, begin
    return label_cuts(start)


def _univariate_optimum(values: Floats, k: int) -> Int32s:
    """The optimal partition of sorted numbers: float64[n] ascending, n ≥ k → int32[n], labels ascending. O(k n)."""
    n = values.shape[0]
    cost, start = np.empty(n + 1), np.empty(n + 1, dtype=np.int64)
    for end in range(n + 1):
        cost[end], start[end] = np.inf, 0
    cost[0] = 0.0
    for end in range(k if n >= 2 * k else n + 1, n + 1):
        total, squares = 0.0, 0.0
        last = values[end - 1]
        for begin in range(end - 1, end - k, -1):
            gap = values[begin] - last
            total += gap
            squares += gap * gap
        best, chosen = np.inf, 0
        for begin in range(end - k, max(end - 2 * k, -1), -1):
            gap = values[begin] - last
            total += gap
            squares += gap * gap
            value = cost[begin] + max(squares - total * total / (end - begin), 0.0)
            if value < best:
                best, chosen = value, begin
        cost[end], start[end] = best, chosen
    return label_cuts(start)


def _label_cuts(start: Ints) -> Int32s:
    """Labels along a path from where each segment that ends at a position starts."""
    end = start.shape[0] - 1
    labels, groups = np.empty(end, dtype=np.int32), 0
    while end > 0:
        for i in range(start[end], end):
            labels[i] = groups
        end, groups = start[end], groups + 1
    last = np.int32(groups - 1)
    for i in range(labels.shape[0]):
        labels[i] = last - labels[i]
    return labels


label_cuts = kernel(_label_cuts)
path_optimum, univariate_optimum = kernel(_path_optimum), kernel(_univariate_optimum)

# -- Groups that would pay at given prices: the pricing step of column generation over k-partitions.


class Offers(NamedTuple):
    """What pricing found."""

    least: Floats  # float64[n]: the least reduced cost, at most 0, of any group seen that contains the record
    costs: Floats  # float64[n]: the least reduced cost of a group around each record as seed; 0 if none is negative
    sizes: Ints  # int64[n], members int32[n, 2k − 1]: that group
    members: Int32s
    nodes: Ints  # int64[1]: branches looked at; above what was allowed, the search was given up


def _listed_squares(points: Floats, seed: int, near: Int32s) -> Floats:
    """float64[m + 1, m]: squared distances of the listed records to each other; the last row is the seed's."""
    m = near.size
    squares = np.zeros((m + 1, m))
    for a in range(m + 1):
        one = points[seed if a == m else near[a]]
        for b in range(m):
            for column in range(points.shape[1]):
                squares[a, b] += (one[column] - points[near[b], column]) ** 2
    return squares


listed_squares = kernel(_listed_squares)


def _search_groups(
    squares: Floats, seed: int, near: Int32s, prices: Floats, k: int, offers: Offers, patience: int
) -> None:
    """Look at every group of k … 2k − 1 records made of the seed and some listed records, depth first.

    A branch is cut off when even the best further records, each paying only its distances to those already in,
    could not make the reduced cost negative.
    """
    most, m = 2 * k - 1, near.size
    to_group = np.empty((most, m))
    pairs, paid, best = np.zeros(most), np.zeros(most), np.empty(most)
    cursor, chosen = np.zeros(most, np.int64), np.empty(most, np.int32)
    to_group[0] = squares[m]
    chosen[0], paid[0] = seed, prices[seed]
    level = 0
    while level >= 0 and offers.nodes[0] <= patience:
        q = cursor[level]
        if q == m:
            level -= 1
            continue
        cursor[level] = q + 1
        offers.nodes[0] += 1
        deeper = level + 1
        size = deeper + 1
        chosen[deeper] = near[q]
        pairs[deeper] = pairs[level] + to_group[level, q]
        paid[deeper] = paid[level] + prices[near[q]]
        cost = pairs[deeper] / size - paid[deeper]
        if size >= k and cost < 0.0:
            for place in range(size):
                offers.least[chosen[place]] = min(offers.least[chosen[place]], cost)
            if cost < offers.costs[seed]:
                offers.costs[seed], offers.sizes[seed] = cost, size
                for place in range(size):
                    offers.members[seed, place] = chosen[place]
        if size == most:
            continue
        places = most - size
        for place in range(places):
            best[place] = 0.0
        for a in range(q + 1, m):
            to_group[deeper, a] = to_group[level, a] + squares[q, a]
            gain = to_group[deeper, a] / most - prices[near[a]]
            if gain < best[places - 1]:
                place = places - 1
                while place > 0 and gain < best[place - 1]:
                    best[place] = best[place - 1]
                    place -= 1
                best[place] = gain
        gains = 0.0
        for place in range(places):
            gains += best[place]
        if pairs[deeper] / most - paid[deeper] + gains < 0.0:
            cursor[deeper] = q + 1
            level = deeper


search_groups = kernel(_search_groups)


def _price_groups(points: Floats, lists: Int32s, prices: Floats, k: int, patience: int) -> Offers:
    """Find the groups of k … 2k − 1 records, a seed and some records of its list, that cost less than their prices.

    `points` float64[n, p]; `prices` float64[n].
    """
    n, m = lists.shape
    offers = Offers(
        np.zeros(n), np.zeros(n), np.zeros(n, np.int64), np.zeros((n, 2 * k - 1), np.int32), np.zeros(1, np.int64)
    )
    for seed in range(n):
        listed = 0
        while listed < m and lists[seed, listed] >= 0:
            listed += 1
        near = np.empty(listed, dtype=np.int32)
        for place in range(listed):
            near[place] = lists[seed, place]
        search_groups(listed_squares(points, seed, near), seed, near, prices, k, offers, patience)
    return offers


price_groups = kernel(_price_groups)
