"""Pricing sees every group that pays, and no other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.optimal_partitions import price_groups
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
    offers = price_groups(points, lists, prices, k, 10**6)
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
    offers = price_groups(points, lists, prices, 2, 100)
    assert offers.sizes.tolist() == [3, 2, 0]
    assert offers.costs.tolist() == [-13.0, -9.5, 0.0]
    assert [array.shape for array in offers] == [(3,), (3,), (3,), (3, 3), (1,)]
    assert [array.dtype for array in offers] == [np.float64, np.float64, np.int64, np.int32, np.int64]


def test_every_branch_is_counted_and_one_too_many_ends_the_search() -> None:
    """Around 0: 01, 012, 02; around 1: 12; around 2 nothing."""
    points, prices, lists = np.array([[0.0], [1.0], [2.0]]), np.full(3, 5.0), np.array([[1, 2], [2, -1], [-1, -1]])
    whole = price_groups(points, lists.astype(np.int32), prices, 2, 4)
    assert whole.nodes.tolist() == [4]
    assert whole.costs.tolist() == [-13.0, -9.5, 0.0]
    for patience in range(4):
        assert price_groups(points, lists.astype(np.int32), prices, 2, patience).nodes.tolist() == [patience + 1]
    assert price_groups(points, lists.astype(np.int32), prices, 2, 0).costs.tolist() == [-9.5, 0.0, 0.0]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 9), k=st.integers(2, 4))
def test_a_group_that_barely_pays_is_not_cut_off(seed: int, n: int, k: int) -> None:
    """Prices raised until exactly the best group is worth a millionth more than it costs."""
    rng = np.random.default_rng(seed)
    points, prices = rng.standard_normal((n, 2)), rng.uniform(0.2, 1, n)
    groups = [list(g) for size in range(k, min(2 * k - 1, n) + 1) for g in combinations(range(n), size)]
    least, best = min((group_sse(points, group) / prices[group].sum(), group) for group in groups)
    prices *= least * (1 + 1e-6)
    lists = np.array([rng.permutation(np.delete(np.arange(n), row)) for row in range(n)], np.int32)
    offers = price_groups(points, lists, prices, k, 10**6)
    assert set(best) <= set(np.flatnonzero(offers.sizes).tolist())
    for seed_row in best:
        assert sorted(offers.members[seed_row, : offers.sizes[seed_row]].tolist()) == best


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4), more=st.integers(0, 3))
def test_a_group_that_pays_only_when_full_is_not_cut_off(seed: int, k: int, more: int) -> None:
    """Records in one spot, all worth having, around one that is dear: only 2k − 1 together pay for it, and barely."""
    rng, n = np.random.default_rng(seed), 2 * k - 1 + more
    points, prices = 1e-6 * rng.standard_normal((n, 2)), rng.uniform(0.5, 1, n)
    lists = np.full((n, n - 1), -1, np.int32)
    lists[0] = 1 + rng.permutation(n - 1)
    best = [0, *sorted(1 + np.argsort(-prices[1:])[: 2 * k - 2])]
    prices[0] = 1e-6 - prices[best[1:]].sum()
    offers = price_groups(points, lists, prices, k, 10**6)
    assert sorted(offers.members[0, : offers.sizes[0]].tolist()) == best
    assert abs(offers.costs[0] + 1e-6) < 1e-9
