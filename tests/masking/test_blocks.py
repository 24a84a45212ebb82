"""Balanced blocks: what they hold, that borders are mended for the better, and that chance is the seed's alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import PlanError
from crypsis.kernels.annealing import group_sizes, near_groups, sse, swap_records
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.masking.partitioning import Blocks, join_partitioned_blocks, mend_partition_borders, partition_into_blocks
from naive import partitions as naive


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.integers(1, 3), st.integers(1, 5), st.integers(2, 40), st.integers(0, 2**32))
def test_blocks_cover_every_row_once_and_are_balanced(n: int, p: int, multiple: int, size: int, seed: int) -> None:
    points, size = np.random.default_rng(seed).integers(0, 9, (n, p)).astype(float), max(size, 4 * multiple)
    order, offsets = partition_into_blocks(points, size, multiple)
    counts = np.diff(offsets)
    assert sorted(order.tolist()) == list(range(n))
    assert offsets[0] == 0
    assert offsets[-1] == n
    assert counts.max() <= size
    assert counts.min() >= min(n, multiple)
    assert (counts[:-1] % multiple == 0).all()
    if n > size:
        assert counts.min() > size / 2 - multiple


def test_blocks_by_hand() -> None:
    """Eight numbers in blocks of two: neighbours on the line stay together."""
    order, offsets = partition_into_blocks(np.array([[7.0], [0], [5], [2], [4], [3], [6], [1]]), 2)
    assert [sorted(order[a:b].tolist()) for a, b in pairwise(offsets)] == [
        [1, 7],
        [3, 5],
        [2, 4],
        [0, 6],
    ]
    labels = join_partitioned_blocks(order, offsets, [np.zeros(2, dtype=np.int32)] * 4)
    assert labels.tolist() == [3, 0, 2, 1, 2, 1, 3, 0]


def test_too_small_blocks_are_refused() -> None:
    with pytest.raises(PlanError, match="choose 10 or more"):
        partition_into_blocks(np.zeros((30, 1)), 9, 5)


def test_near_groups_are_the_nearest() -> None:
    centroids = np.array([[0.0], [1], [3], [7]])
    assert near_groups(centroids, 2).tolist() == [[1, 2], [0, 2], [1, 0], [2, 1]]


@settings(max_examples=40, deadline=None)
@given(st.integers(8, 60), st.integers(1, 3), st.integers(2, 4), st.booleans(), st.integers(0, 2**32))
def test_swaps_never_raise_the_sse_nor_break_a_size(n: int, p: int, k: int, grid: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (n, p)).astype(float) if grid else rng.standard_normal((n, p))
    labels = mdav(points, k, GENERIC, EUCLIDEAN)[rng.permutation(n)]  # right sizes, poor groups
    groups = int(labels.max()) + 1
    centroids = np.stack([points[labels == g].mean(axis=0) for g in range(groups)])
    better = labels.copy()
    changes = swap_records(points, better, near_groups(centroids, min(5, groups - 1)), k, 10)
    assert naive.sse(points, better) <= naive.sse(points, labels) + 1e-9
    assert (naive.sse(points, better) < naive.sse(points, labels)) == (changes > 0)
    assert group_sizes(better).min() >= k
    assert group_sizes(better).max() <= 2 * k - 1


def test_a_swap_by_hand() -> None:
    """0 1 9 | 2 10 11: exchanging 9 for 2 leaves two tight groups."""
    points, labels = np.array([[0.0], [1], [9], [2], [10], [11]]) - 5.5, np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    assert swap_records(points, labels, near_groups(np.array([[-2.2], [2.2]]), 1), 3, 5) == 1
    assert len({*labels[[0, 1, 3]].tolist()}) == len({*labels[[2, 4, 5]].tolist()}) == 1
    assert labels[0] != labels[2]


def test_mending_lowers_the_loss_and_follows_the_seed() -> None:
    points = np.random.default_rng(0).standard_normal((2000, 4))
    plain = Blocks(size=200, mending=0).partition(points, 4, np.random.default_rng(1))
    mended = Blocks(size=200, mending=2).partition(points, 4, np.random.default_rng(1))
    again = Blocks(size=200, mending=2).partition(points, 4, np.random.default_rng(1))
    assert (mended == again).all()
    assert sse(points, mended) < sse(points, plain)
    assert sse(points, mended) < 1.03 * sse(points, mdav(points, 4, GENERIC, EUCLIDEAN))
    assert sse(points, mend_partition_borders(points, plain, 4, 200, np.random.default_rng(9))) < sse(points, plain)
    assert group_sizes(mended).min() >= 4


def test_one_block_is_the_inner_partitioner() -> None:
    points = np.random.default_rng(2).standard_normal((150, 3))
    labels = Blocks(size=1000, mending=0).partition(points, 3, np.random.default_rng(1))
    assert (labels == mdav(points, 3, GENERIC, EUCLIDEAN)).all()
