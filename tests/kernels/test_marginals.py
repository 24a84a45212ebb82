"""Keeping a distribution, against every choice there is."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.masking.representatives import choose_marginals
from naive import marginals as naive


def chosen(groups: list[list[int]], count: int, ordered: bool) -> tuple[float, float]:
    """Σ |records of a category after − before| of what the kernel chooses, and its cost."""
    codes = np.array([each for group in groups for each in group], dtype=np.int32)
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    found, filled = choose_marginals(codes, labels, len(groups), count, ordered)
    assert filled.all()
    assert all(category in group for category, group in zip(found.tolist(), groups, strict=True))
    after = np.bincount(found[labels], minlength=count)
    moved = float(np.abs(after - np.bincount(codes, minlength=count)).sum())
    return moved, sum(naive.cost(g, int(c), count, ordered) for g, c in zip(groups, found, strict=True))


def test_by_hand() -> None:
    """Six x and three y in groups of three: the mode publishes x alone, the distribution asks for one group of y."""
    assert chosen([[0, 0, 1], [0, 0, 1], [0, 0, 1]], 2, False) == (0.0, 4.0)
    # The middle of every group is 1; three groups share out what they hold: 0, 1 and 2, each moved by a rank or two.
    assert chosen([[0, 1, 2], [0, 1, 2], [0, 1, 2]], 3, True) == (0.0, (3 + 2 + 3) / 2)


def test_a_chain_is_needed_where_no_group_holds_both() -> None:
    """Category 0 has three too many and 2 three too few, and no group holds both: one goes 0 → 1, another 1 → 2."""
    groups = [[0, 0, 1], [0, 0, 1], [0, 0, 1], [1, 1, 2], [1, 1, 2], [1, 1, 2]]
    assert chosen(groups, 3, False) == naive.categories(groups, 3, False) == (0.0, 6.0 + 2.0)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 4), st.booleans(), st.integers(0, 2**32))
def test_where_counts_divide_it_is_the_cheapest_of_all(
    groups: int, size: int, count: int, ordered: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(rng.integers(0, count, groups), size))
    cut = [part.tolist() for part in np.split(codes, groups)]
    moved, lost = chosen(cut, count, ordered)
    least, cheapest = naive.categories(cut, count, ordered)
    assert least == moved == 0.0
    assert abs(lost - cheapest) < 1e-9


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 6), st.integers(1, 4), st.booleans(), st.integers(0, 2**32))
def test_groups_of_any_sizes_end_within_a_group_of_the_best(groups: int, count: int, ordered: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cut = [rng.integers(0, count, rng.integers(2, 5)).tolist() for _ in range(groups)]
    moved, _ = chosen(cut, count, ordered)
    assert moved <= naive.categories(cut, count, ordered)[0] + 2 * max(len(group) for group in cut)
