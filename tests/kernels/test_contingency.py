"""Counts by hand."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.contingency import pair_counts, table_gaps, weighted

ORIGINAL = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int32)
MASKED = np.array([[0, 0], [0, 0], [1, 1]], dtype=np.int32)


def test_gaps_of_a_one_way_and_a_two_way_table():
    """Attribute 0: category 0 gains one, 1 loses one. Crossed: (0, 0) gains one, (1, 0) loses one."""
    gaps = np.empty(6, dtype=np.int32)
    strides, starts = np.array([[1, 0], [2, 1]]), np.array([0, 2])
    assert table_gaps(ORIGINAL, MASKED, strides, starts, gaps) == 4
    assert gaps.tolist() == [1, -1, 1, 0, -1, 0]


def test_pairs_and_their_weighted_sums():
    """Attribute 0: 0→0 once, 1→0 once, 1→1 once; attribute 1 unchanged."""
    at, wide, mark = np.array([0, 4, 8]), np.array([2, 2]), np.array([0, 2, 4])
    pairs = np.empty(8, dtype=np.int32)
    totals = pair_counts(ORIGINAL, MASKED, at, wide, mark, pairs)
    assert pairs.tolist() == [1, 1, 0, 1, 2, 0, 0, 1]
    assert totals.tolist() == [2, 1, 2, 1]
    assert weighted(pairs, np.arange(8), at).tolist() == [0 + 1 + 3, 8 + 7]
