"""A bound is a bound: never above the best of all partitions, whatever the data."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.kernels.annealing import sse
from crypsis.masking.partitioning import MDAV
from crypsis.searches.partitions.lower_bound import (
    best_bound,
    column_generation_bound,
    nearest_neighbour_bound,
    optimal_partition,
)
from naive.annealing import Lists, total_sse
from reference import numeric, standardised


def partitions(rows: list[int], k: int) -> Iterator[Lists]:
    """Every partition of some rows into groups of at least k."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for chosen in range(2 ** len(rest)):
        group = [first] + [row for bit, row in enumerate(rest) if chosen >> bit & 1]
        if len(group) >= k:
            others = [row for row in rest if row not in group]
            if not others or len(others) >= k:
                yield from ([group, *more] for more in partitions(others, k))


def test_the_bound_by_hand() -> None:
    """0, 1, 10, 12 with k = 2: nearest squared distances 1, 1, 4, 4, over 2k: 2.5, which the best partition attains."""
    points = np.array([[0.0], [1.0], [10.0], [12.0]])
    assert nearest_neighbour_bound(points, 2) == pytest.approx(2.5)
    assert min(total_sse(points, groups) for groups in partitions([0, 1, 2, 3], 2)) == pytest.approx(2.5)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 9),
    k=st.integers(1, 4),
    p=st.integers(1, 3),
    distinct=st.sampled_from([2, 4, 10**6]),
)
def test_no_partition_beats_the_bound(seed: int, n: int, k: int, p: int, distinct: int) -> None:
    points = np.random.default_rng(seed).integers(0, distinct, (n, p)) / distinct
    k = min(k, n)
    best = min(total_sse(points, groups) for groups in partitions(list(range(n)), k))
    bound = nearest_neighbour_bound(points, k)
    assert 0 <= bound <= best + 1e-12
    assert math.isfinite(bound)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 13),
    k=st.integers(2, 4),
    distinct=st.sampled_from([1, 2, 4, 10**6]),
    reach=st.sampled_from([None, 1, 3, 6]),
    rounds=st.sampled_from([1, 2, 60]),
    unit=st.sampled_from([1e-6, 1.0, 1e7]),
)
def test_column_generation_never_exceeds_the_optimum(
    seed: int, n: int, k: int, distinct: int, reach: int | None, rounds: int, unit: float
) -> None:
    """Duplicates and a constant column included; short lists and broken-off runs give a bound all the same."""
    points = unit * np.random.default_rng(seed).integers(0, distinct, (n, 2)) / distinct
    points = np.column_stack((points, np.full(n, 3.0)))
    k = min(k, n // 2)
    start = MDAV().partition(points, k, np.random.default_rng(0))
    bound = column_generation_bound(points, k, start, reach=reach, rounds=rounds)
    assert 0 <= bound <= optimal_partition(points, k)[1] * (1 + 1e-9)


def test_column_generation_is_far_above_the_cheap_bound() -> None:
    """Where the relaxation has a whole solution it proves the optimum: two clusters of four around (0, 0), (9, 9)."""
    points = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [9, 8], [8, 9], [8, 8]])
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)
    assert column_generation_bound(points, 4, labels) == pytest.approx(sse(points, labels))
    assert best_bound(points, 4, labels) == (pytest.approx(4.0), "optimum")
    points = np.random.default_rng(1).standard_normal((40, 2))
    start = MDAV().partition(points, 3, np.random.default_rng(0))
    bound, kind = best_bound(points, 3, start)
    assert kind == "column-generation bound"
    assert 1.3 * nearest_neighbour_bound(points, 3) < bound <= sse(points, start)


def test_large_tables_and_large_groups_get_the_cheap_bound() -> None:
    points = np.random.default_rng(2).standard_normal((120, 2))
    for k in (3, 9):
        start = MDAV().partition(points, k, np.random.default_rng(0))
        assert best_bound(points, k, start) == (nearest_neighbour_bound(points, k), "nearest-neighbour bound")
    assert best_bound(points[:5], 3, np.zeros(5, np.int32))[1] == "optimum"


def test_the_bound_refuses_what_cannot_be_grouped() -> None:
    with pytest.raises(TableError, match="k = 5"):
        nearest_neighbour_bound(np.zeros((4, 2)), 5)


@pytest.mark.parametrize(("k", "least", "best_seen"), [(3, 3.3, 4.668), (5, 4.9, 7.265), (10, 7.2, 11.365)])
def test_the_bound_on_census_is_worth_something(k: int, least: float, best_seen: float) -> None:
    points = standardised(numeric("census.csv"))
    bound = 100 * nearest_neighbour_bound(points, k) / np.square(points).sum()
    assert least < bound < best_seen
