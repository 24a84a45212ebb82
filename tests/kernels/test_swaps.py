"""Near groups and the exchanges between them, against prices of the whole partition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.annealing import near_groups, swap_records
from naive import swaps as naive


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 12), st.integers(1, 3), st.booleans(), st.integers(0, 2**32), st.data())
def test_near_groups_are_the_nearest_in_order(groups: int, p: int, grid: bool, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    centroids = rng.integers(0, 3, (groups, p)).astype(float) if grid else rng.standard_normal((groups, p))
    many = data.draw(st.integers(1, groups - 1))
    near = near_groups(centroids, many)
    assert near.shape == (groups, many)
    for g in range(groups):
        gaps = ((centroids - centroids[g]) ** 2).sum(axis=1)
        others = [other for other in range(groups) if other != g]
        assert g not in near[g]
        assert len(set(near[g].tolist())) == many
        assert gaps[near[g]] == pytest.approx(sorted(gaps[others])[:many])


@settings(max_examples=40, deadline=None)
@given(st.integers(6, 16), st.integers(1, 3), st.integers(2, 3), st.integers(1, 3), st.integers(0, 2**32))
def test_swaps_equal_those_priced_by_the_whole_sse(n: int, p: int, k: int, passes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(2, n // k + 1))
    points = rng.standard_normal((n, p))
    labels = rng.permutation(np.arange(n) % groups).astype(np.int32)
    near = near_groups(rng.standard_normal((groups, p)), int(rng.integers(1, groups)))
    wanted, changes = naive.swap_records(points, labels, near, k, passes)
    got = labels.copy()
    assert swap_records(points, got, near, k, passes) == changes
    assert got.tolist() == wanted.tolist()


def test_a_move_by_hand() -> None:
    """0 1 2 10 | 11 12: with k = 2 the 10 moves over; a group of three, the most there may be, takes no fourth."""
    points, near = np.array([[0.0], [1], [2], [10], [11], [12]]), np.array([[1], [0]], dtype=np.int32)
    labels = np.array([0, 0, 0, 0, 1, 1], dtype=np.int32)
    assert swap_records(points, labels, near, 2, 5) == 1
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    points, labels = np.vstack([points, [[13.0]]]), np.array([0, 0, 0, 0, 1, 1, 1], dtype=np.int32)
    assert swap_records(points, labels, near, 2, 5) == 0
    assert swap_records(points, labels, near, 3, 5) == 1, "with k = 3 a group may hold five"


def test_what_lowers_nothing_is_left_alone() -> None:
    """Records all alike, and groups of equals: an exchange saves nothing."""
    near, labels = np.array([[1], [0]], dtype=np.int32), np.array([0, 1, 0, 1, 0, 1], dtype=np.int32)
    for points in (np.ones((6, 2)), np.array([[0.0], [5], [0], [5], [0], [5]])):
        after = labels.copy()
        assert swap_records(points, after, near, 2, 5) == 0
        assert after.tolist() == labels.tolist()
