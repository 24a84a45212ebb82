"""Optimal cuts along a path, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.optimal_partitions import label_cuts, path_optimum, univariate_optimum
from naive import partitions as naive


def test_cuts_by_hand() -> None:
    """Segments [0, 2) [2, 5) [5, 7): position 7 starts at 5, 5 at 2, 2 at 0; the others are never asked."""
    labels = label_cuts(np.array([9, 9, 0, 9, 9, 2, 9, 5]))
    assert labels.tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert labels.dtype == np.int32


def test_a_path_by_hand() -> None:
    """Along 0 1 | 9 10 11 in one attribute the gap decides; a second attribute that jumps elsewhere moves the cut."""
    line = np.array([0.0, 1, 9, 10, 11])
    assert univariate_optimum(line, 2).tolist() == path_optimum(line[:, None], 2).tolist() == [0, 0, 1, 1, 1]
    jumping = np.column_stack([line, [0.0, 0, 0, 90, 90]])
    assert path_optimum(jumping, 2).tolist() == [0, 0, 0, 1, 1]


def test_fewer_than_two_groups_stay_one() -> None:
    for k, n in ((3, 3), (3, 5), (1, 1)):
        labels = [path_optimum(np.arange(n)[:, None] ** 3.0, k), univariate_optimum(np.arange(n) ** 3.0, k)]
        assert [found.tolist() for found in labels] == [[0] * n] * 2
        assert {found.dtype for found in labels} == {np.dtype(np.int32)}
    assert path_optimum(np.array([[0.0], [9], [0], [9]]), 2).tolist() == [0, 0, 1, 1]
    assert univariate_optimum(np.array([0.0, 1, 8, 9]), 2).tolist() == [0, 0, 1, 1]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 14),
    st.integers(1, 3),
    st.integers(1, 5),
    st.sampled_from([1.0, 2.0**-10]),
    st.sampled_from([0.0, 2.0**20]),
    st.integers(0, 2**32),
)
def test_no_other_cuts_are_better(more: int, p: int, k: int, scale: float, shift: float, seed: int) -> None:
    """Whatever the scale of the data and wherever they lie."""
    rng, n = np.random.default_rng(seed), 2 * k + more
    points = rng.integers(-256, 256, (n, p)) / 64 * scale
    labels = path_optimum(points + shift, k)
    assert naive.is_along(labels)
    assert np.bincount(labels).min() >= k
    assert np.bincount(labels).max() <= 2 * k - 1
    assert naive.sse(points, labels) == pytest.approx(naive.least_sse_of_cuts(points, k), rel=1e-9, abs=1e-18)
    line = np.sort(points[:, :1], axis=0)
    labels = univariate_optimum(line[:, 0] + shift, k)
    assert naive.is_along(labels)
    assert np.bincount(labels).min() >= k
    assert np.bincount(labels).max() <= 2 * k - 1
    assert naive.sse(line, labels) == pytest.approx(naive.least_sse_of_cuts(line, k), rel=1e-9, abs=1e-18)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(2, 5), st.integers(0, 2**32))
def test_no_group_reaches_two_where_joining_costs_nothing(k: int, times: int, seed: int) -> None:
    """A path that repeats itself: two turns cost as much in one group as in two, and stay two all the same."""
    turn = np.random.default_rng(seed).random((k, 2))
    labels = path_optimum(np.tile(turn, (times, 1)), k)
    assert np.bincount(labels).min() >= k
    assert np.bincount(labels).max() <= 2 * k - 1
    labels = univariate_optimum(np.full(k * times, 0.1), k)
    assert np.bincount(labels).min() >= k
    assert np.bincount(labels).max() <= 2 * k - 1
