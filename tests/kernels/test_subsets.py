"""The exact optimum: a case by hand, then against every partition there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crypsis.kernels.optimal_partitions import (
    SubsetSearch,
    best_partition,
    extend,
    group_costs,
    least_shares,
    squared_distances,
)
from naive.subsets import optimum, partitions, sum_of_squares


def test_two_pairs_on_a_line_by_hand() -> None:
    points = np.array([[0.0], [10.0], [1.0], [12.0]])
    labels, sse = best_partition(points, 2, np.inf)
    assert labels.tolist() == [0, 1, 0, 1]
    assert sse == pytest.approx(0.5 + 2.0)


def test_group_costs_by_hand() -> None:
    costs = group_costs(squared_distances(np.array([[0.0], [2.0], [4.0]])), 2)
    assert costs.tolist() == [np.inf, 0, 0, 2, 0, 8, 2, np.inf]


def test_least_shares_by_hand() -> None:
    """0 1 3: the nearest is 1, 1 and 2 away, over 2k = 4; the two nearest, over 6."""
    squared = squared_distances(np.array([[0.0], [1.0], [3.0]]))
    assert least_shares(squared, 2).tolist() == [0.25, 0.25, 1.0]
    assert least_shares(squared, 3).tolist() == pytest.approx([10 / 6, 5 / 6, 13 / 6])


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(4, 8), k=st.integers(2, 3), share=st.sampled_from([0.3, 0.6, 1.0, np.inf]), seed=st.integers(0, 10**6)
)
def test_one_step_notes_every_group_that_may_end_below_the_bound(n: int, k: int, share: float, seed: int) -> None:
    """Groups of the lowest free record that leave nobody or k behind, all others paying their least shares."""
    rng = np.random.default_rng(seed)
    squared = squared_distances(rng.standard_normal((n, 2)))
    costs, owed = group_costs(squared, min(n, 2 * k - 1)), least_shares(squared, k)
    bound = share * float(squared.sum()) / (2 * n)
    grouped = int(rng.integers(0, 1 << n) & rng.integers(0, 1 << n) & ~(1 << int(rng.integers(n))))
    totals, chosen = rng.uniform(0, 1, 1 << n) * rng.choice([1.0, 1e9], 1 << n), np.full(1 << n, -7, np.int32)
    totals[grouped] = rng.uniform(0, 0.2) * min(bound, 9.0)
    free = [record for record in range(n) if not grouped >> record & 1]
    better = totals.copy()
    for size in range(k, 2 * k):
        for fellows in combinations(free[1:], size - 1):
            group = sum(1 << record for record in (free[0], *fellows))
            others = [record for record in free if not group >> record & 1]
            total = totals[grouped] + costs[group]
            if (not others or len(others) >= k) and total + owed[others].sum() <= bound:
                better[grouped | group] = min(better[grouped | group], total)
    before, junk = totals.copy(), np.full((2, n), n + 5)
    extend(SubsetSearch(costs, totals, chosen, owed, junk[0], junk[1]), grouped, k, bound)
    assert totals.tolist() == better.tolist()
    changed = np.flatnonzero(totals < before)
    assert (totals[grouped] + costs[chosen[changed]]).tolist() == totals[changed].tolist()
    assert (grouped | chosen[changed]).tolist() == changed.tolist()
    assert (np.delete(chosen, changed) == -7).all()


@settings(max_examples=40, deadline=None)
@given(n=st.integers(4, 9), k=st.integers(2, 4), p=st.integers(1, 3), grid=st.booleans(), seed=st.integers(0, 10**6))
def test_no_partition_is_better(n: int, k: int, p: int, grid: bool, seed: int) -> None:
    """Also with ties and duplicates, and with the optimum itself as the bound to stay below."""
    if n < k:
        n = k
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (n, p)).astype(float) if grid else rng.standard_normal((n, p))
    best = optimum(points, k)
    for known in (np.inf, best, 1.5 * best):
        labels, sse = best_partition(points, k, known)
        assert sse == pytest.approx(best, rel=1e-9, abs=1e-9)
        sizes = np.bincount(labels)
        assert sizes.min() >= k
        assert sizes.max() < 2 * k
        groups = [tuple(np.flatnonzero(labels == group)) for group in range(len(sizes))]
        assert sum_of_squares(points, groups) == pytest.approx(best, rel=1e-9, abs=1e-9)


@settings(max_examples=30, deadline=None)
@example(n=7, k=2, seed=0, unit=2.0**40)
@given(n=st.integers(4, 8), k=st.integers(2, 3), seed=st.integers(0, 10**6), unit=st.sampled_from([2.0**-40, 2.0**40]))
def test_units_change_nothing_even_at_the_bound(n: int, k: int, seed: int, unit: float) -> None:
    """What counts as rounding follows the data: the optimum is found though it is all that is allowed."""
    points = np.random.default_rng(seed).standard_normal((n, 2))
    labels, sse = best_partition(points, k, np.inf)
    found, cost = best_partition(points * unit, k, sse * unit**2)
    assert cost == pytest.approx(sse * unit**2, rel=1e-12)
    assert found.tolist() == labels.tolist()


def test_every_record_alone_at_k_one() -> None:
    points, used = np.array([[3.0], [1.0], [2.0]]), np.full(3, 7, np.int32)
    del used  # what the labels are written to held something else before
    labels, sse = best_partition(points, 1, np.inf)
    assert labels.tolist() == [0, 1, 2]
    assert labels.dtype == np.int32
    assert sse == 0.0


@settings(max_examples=20, deadline=None)
@given(k=st.integers(2, 3), seed=st.integers(0, 10**6))
def test_least_shares_never_exceed_a_partition(k: int, seed: int) -> None:
    points = np.random.default_rng(seed).standard_normal((7, 2))
    owed = least_shares(squared_distances(points), k).sum()
    assert all(owed <= sum_of_squares(points, groups) + 1e-9 for groups in partitions(tuple(range(7)), k))


def test_a_bound_no_partition_reaches_is_said_by_infinity() -> None:
    points = np.arange(12.0).reshape(6, 2) ** 2
    assert best_partition(points, 2, 0.0)[1] == np.inf
