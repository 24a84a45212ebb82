"""Pricing sees every group that pays, and no other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.pricing import price
from naive.annealing import group_sse


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 10), k=st.integers(2, 3), full=st.booleans())
def test_the_cheapest_group_of_every_record(seed: int, n: int, k: int, full: bool) -> None:
    """All groups are tried one by one; with short lists, those in which one member lists all others."""
    rng = np.random.default_rng(seed)
    points, prices = rng.standard_normal((n, 2)), rng.uniform(0, 1, n)
    width = n - 1 if full else min(4, n - 1)
    lists = np.array([rng.permutation(np.delete(np.arange(n), row))[:width] for row in range(n)], np.int32)
    least, around = np.zeros(n), np.zeros(n)
    for size in range(k, min(2 * k - 1, n) + 1):
        for group in combinations(range(n), size):
            cost = group_sse(points, list(group)) - prices[list(group)].sum()
            seeds = [row for row in group if set(group) - {row} <= set(lists[row].tolist())]
            around[seeds] = np.minimum(around[seeds], cost)
            if seeds:
                least[list(group)] = np.minimum(least[list(group)], cost)
    offers = price(points, lists, prices, k, 10**6)
    np.testing.assert_allclose(offers.least, least, atol=1e-9)
    np.testing.assert_allclose(offers.costs, around, atol=1e-9)
    for row in np.flatnonzero(offers.sizes):
        group = offers.members[row, : offers.sizes[row]].tolist()
        assert row in group
        assert abs(group_sse(points, group) - prices[group].sum() - offers.costs[row]) < 1e-9


def test_a_list_ends_at_minus_one_and_patience_ends_a_search() -> None:
    points = np.array([[0.0], [1.0], [2.0]])
    prices = np.full(3, 5.0)
    lists = np.array([[1, 2], [2, -1], [-1, -1]], np.int32)
    offers = price(points, lists, prices, 2, 100)
    assert offers.sizes.tolist() == [3, 2, 0]
    assert offers.costs.tolist() == [-13.0, -9.5, 0.0]
    assert price(points, lists, prices, 2, 0).nodes[0] > 0
