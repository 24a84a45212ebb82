"""Counts by hand and from the definition."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.ledger import pair_counts, sum_weighted, table_gaps

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
    assert sum_weighted(pairs, np.arange(8), at).tolist() == [0 + 1 + 3, 8 + 7]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 12), st.integers(0, 2**32))
def test_counts_equal_their_definition(rows, seed):
    """Three attributes of 2, 3 and 4 categories, of which the first may be masked by a third one."""
    rng, sizes, masks = np.random.default_rng(seed), [2, 3, 4], [3, 3, 4]
    original, masked = (rng.integers(0, wide, (rows, 3)).astype(np.int32) for wide in (sizes, masks))
    at, mark = np.cumsum([0, 6, 9, 16]), np.cumsum([0, *masks])
    pairs, pair = np.full(31, 7, dtype=np.int32), Counter()
    totals = pair_counts(original, masked, at, np.array(sizes), mark, pairs)
    for before, after in zip(original.tolist(), masked.tolist(), strict=True):
        pair.update((j, o, m) for j, (o, m) in enumerate(zip(before, after, strict=True)))
    cells = {(j, o, m): at[j] + m * sizes[j] + o for j in range(3) for m in range(masks[j]) for o in range(sizes[j])}
    assert sorted(cells.values()) == list(range(31))
    assert all(pairs[cell] == pair[key] for key, cell in cells.items())
    assert totals.tolist() == [(masked[:, j] == m).sum() for j in range(3) for m in range(masks[j])]
    assert totals.dtype == np.int32
    weights = rng.integers(-5, 6, 31)
    sums = sum_weighted(pairs, weights, at)
    assert sums.tolist() == [(pairs[a:b] * weights[a:b]).sum() for a, b in pairwise(at)]
    assert sums.dtype == np.int64
    gaps = np.full(3 + 12 + 36, 7, dtype=np.int32)
    total = table_gaps(original, masked, np.array([[1, 0, 0], [0, 4, 1], [12, 4, 1]]), np.array([0, 3, 15]), gaps)
    for start, kept, shape in ((0, [0], (3,)), (3, [1, 2], (3, 4)), (15, [0, 1, 2], (3, 3, 4))):
        counts = np.zeros((2, *shape), dtype=int)
        for side, file in enumerate((original, masked)):
            np.add.at(counts[side], tuple(file[:, kept].T), 1)
        assert gaps[start : start + counts[0].size].tolist() == (counts[1] - counts[0]).ravel().tolist()
    assert total == np.abs(gaps).sum()
