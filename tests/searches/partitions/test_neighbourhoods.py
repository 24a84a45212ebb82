"""Neighbour lists: exact ones against all distances, quick ones true in what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.annealing import sse
from crypsis.masking.partitioning import MDAV
from crypsis.searches.memetic import Memetic
from crypsis.searches.partitions.space import NeighbourSearch, nearest_neighbours_to_partition


def test_neighbours_by_hand() -> None:
    squares, rows = nearest_neighbours_to_partition(np.array([[0.0], [1.0], [3.0], [10.0]]), 2)
    assert rows.tolist() == [[1, 2], [0, 2], [1, 0], [2, 1]]
    assert squares.tolist() == [[1, 9], [1, 4], [4, 9], [49, 81]]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 40), distinct=st.sampled_from([1, 3, 10**6]))
def test_nearest_is_what_all_distances_say(seed: int, n: int, distinct: int) -> None:
    points = np.random.default_rng(seed).integers(0, distinct, (n, 2)).astype(np.float64)
    count = min(6, n - 1)
    squares, rows = nearest_neighbours_to_partition(points, count)
    every = np.square(points[:, None] - points).sum(axis=2)
    np.fill_diagonal(every, np.inf)
    assert squares == pytest.approx(np.sort(every, axis=1)[:, :count])
    assert all(row not in near for row, near in enumerate(rows.tolist()))
    assert all(len(set(near)) == count for near in rows.tolist())


def test_quick_lists_are_true_and_mostly_complete() -> None:
    points = np.random.default_rng(1).standard_normal((3000, 4))
    squares, rows = NeighbourSearch(points, 10, exact=False).complete()
    exact, _ = nearest_neighbours_to_partition(points, 10)
    assert squares == pytest.approx(np.square(points[:, None] - points[rows]).sum(axis=2))
    assert all(row not in near and len(set(near)) == 10 for row, near in enumerate(rows.tolist()))
    assert (np.diff(squares, axis=1) >= 0).all()
    assert (squares >= exact * (1 - 1e-9)).all()
    assert squares.mean() < 1.1 * exact.mean()
    assert np.array_equal(rows, NeighbourSearch(points, 10, exact=False).complete()[1])


def test_a_large_table_of_duplicates_can_be_searched() -> None:
    points = np.random.default_rng(2).integers(0, 4, (13_000, 2)).astype(np.float64)
    found = Memetic(steps=20).partition(points, 3, np.random.default_rng(1))
    assert np.bincount(found).min() >= 3
    assert sse(points, found) <= sse(points, MDAV().partition(points, 3, np.random.default_rng(0)))
