"""The sum of squares within groups and the sizes of groups, by hand and from the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.annealing import group_sizes, sse
from naive import partitions as naive


def test_sizes_by_hand() -> None:
    sizes = group_sizes(np.array([3, 1, 1, 0], dtype=np.int32))
    assert sizes.tolist() == [1, 2, 0, 1]
    assert sizes.dtype == np.int64
    assert group_sizes(np.zeros(0, dtype=np.int32)).tolist() == []


def test_squares_by_hand() -> None:
    """(0, 0) (2, 4) around (1, 2): 1 + 4 twice. 5 6 10 around 7: 4 + 1 + 9 in one column, 0 in the other."""
    points = np.array([[5.0, 1], [0, 0], [6, 1], [2, 4], [10, 1]])
    assert sse(points, np.array([1, 0, 1, 0, 1], dtype=np.int32)) == pytest.approx(10 + 14, rel=1e-15)
    assert sse(points, np.arange(5, dtype=np.int32)) == 0.0


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 20), st.integers(1, 3), st.integers(1, 5), st.sampled_from([0.0, 1e12]), st.integers(0, 2**32))
def test_squares_equal_their_twin_wherever_the_data_lie(n: int, p: int, groups: int, shift: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, labels = rng.integers(-64, 64, (n, p)) / 64, rng.integers(0, groups, n).astype(np.int32)
    assert sse(points + shift, labels) == pytest.approx(naive.sse(points, labels), rel=1e-12, abs=1e-15)
    assert group_sizes(labels).tolist() == [labels.tolist().count(g) for g in range(labels.max() + 1)]
