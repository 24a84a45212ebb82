"""Tours: by hand on a line, and no 2-opt or or-opt move left anywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crypsis.kernels import tours
from crypsis.searches.partitions.neighbourhoods import nearest


def length(points: NDArray[np.float64], order: NDArray[np.int32]) -> float:
    return float(np.sqrt(np.square(np.diff(points[order], axis=0)).sum(axis=1)).sum())


def all_others(points: NDArray[np.float64]) -> NDArray[np.int32]:
    return nearest(points, len(points) - 1)[1]


def test_on_a_line_the_tour_is_the_order_of_the_line() -> None:
    points = np.array([[3.0], [0.0], [5.0], [1.0], [4.0], [2.0]])
    order = tours.tour(points, all_others(points), 2)
    assert order.tolist() == [2, 4, 0, 5, 3, 1]


def test_the_chain_goes_to_the_nearest_unvisited_and_past_the_end_of_its_list() -> None:
    """From 0 the only neighbour listed is 1, from 1 it is 0: the rest is found by looking at all."""
    points = np.array([[0.0], [1.0], [10.0], [12.0]])
    order = tours.chain(points, np.array([[1], [0], [3], [2]], np.int32), 0)
    assert order.tolist() == [0, 1, 2, 3]


def test_a_crossing_is_undone() -> None:
    """The square 0 1 2 3 visited crosswise is longer by twice the diagonal's excess."""
    points = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    order = np.arange(4, dtype=np.int32)
    place = order.copy()
    assert tours.two_opt(points, all_others(points), order, place, 0)
    assert length(points, order) == pytest.approx(3)
    assert np.array_equal(order[place], np.arange(4))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(2, 30), distinct=st.sampled_from([2, 6, 10**6]), reach=st.integers(1, 9)
)
def test_a_tour_visits_everyone_and_is_never_longer_than_its_chain(
    seed: int, n: int, distinct: int, reach: int
) -> None:
    points = np.random.default_rng(seed).integers(0, distinct, (n, 2)).astype(np.float64)
    neighbours = nearest(points, min(reach, n - 1))[1]
    chain = tours.chain(points, neighbours, n // 2)
    order = tours.tour(points, neighbours, n // 2)
    assert sorted(order.tolist()) == list(range(n))
    assert length(points, order) <= length(points, chain) * (1 + 1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 14))
def test_no_reversal_shortens_a_finished_tour(seed: int, n: int) -> None:
    points = np.random.default_rng(seed).standard_normal((n, 2))
    order = tours.tour(points, all_others(points), 0)
    found = length(points, order)
    for first in range(n):
        for last in range(first + 1, n):
            turned = np.concatenate((order[:first], order[first : last + 1][::-1], order[last + 1 :]))
            # A stretch that reaches an end of the tour frees one edge and costs one: outside what 2-opt looks at.
            if first > 0 and last < n - 1:
                assert length(points, turned) >= found * (1 - 1e-6)
