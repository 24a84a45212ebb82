"""Groups that would pay at given prices: the pricing step of column generation over k-partitions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel


class Offers(NamedTuple):
    """What pricing found.

    least    float64[n]: the least reduced cost, at most 0, of any group seen that contains the record
    costs    float64[n]: the least reduced cost of a group around each record as seed; 0 if none is negative
    sizes    int64[n], members int32[n, 2k − 1]: that group
    nodes    int64[1]: branches looked at; above what was allowed, the search was given up
    """

    least: Floats
    costs: Floats
    sizes: Ints
    members: Int32s
    nodes: Ints


def _squares(points: Floats, seed: int, near: Int32s) -> Floats:
    """float64[m + 1, m]: squared distances of the listed records to each other; the last row is the seed's."""
    m = near.size
    squares = np.zeros((m + 1, m))
    for a in range(m + 1):
        one = points[seed if a == m else near[a]]
        for b in range(m):
            for column in range(points.shape[1]):
                squares[a, b] += (one[column] - points[near[b], column]) ** 2
    return squares


squares_of = kernel(_squares)


def _grow(squares: Floats, seed: int, near: Int32s, prices: Floats, k: int, offers: Offers, patience: int) -> None:
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
        room = most - size
        for place in range(room):
            best[place] = 0.0
        for a in range(q + 1, m):
            to_group[deeper, a] = to_group[level, a] + squares[q, a]
            gain = to_group[deeper, a] / most - prices[near[a]]
            if gain < best[room - 1]:
                place = room - 1
                while place > 0 and gain < best[place - 1]:
                    best[place] = best[place - 1]
                    place -= 1
                best[place] = gain
        gains = 0.0
        for place in range(room):
            gains += best[place]
        if pairs[deeper] / most - paid[deeper] + gains < 0.0:
            cursor[deeper] = q + 1
            level = deeper


grow = kernel(_grow)


def _price(points: Floats, lists: Int32s, prices: Floats, k: int, patience: int) -> Offers:
    """Find the groups of k … 2k − 1 records, a seed and some records of its list, that cost less than their prices.

    points    float64[n, p];  lists  int32[n, m]: records each one may take along, filled up with −1
    prices    float64[n]: the reduced cost of a group of s records is Σ of its pairs' d² / s − Σ of its prices
    patience  branches after which to give up: then `nodes` says more, and what was not seen may be negative too
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
        grow(squares_of(points, seed, near), seed, near, prices, k, offers, patience)
    return offers


price = kernel(_price)
