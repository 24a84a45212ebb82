"""Selection, the widest attribute and repeated halving, by hand and from their definitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.halving import find_widest, halve_until
from crypsis.kernels.quickselect import select_between


def test_widest_by_hand() -> None:
    """Variances of rows 0 and 2: 0, 4, 4: the first of the equal ones. Row 1 is not asked."""
    points = np.array([[1.0, 0, 7], [90, 0, 0], [1, 4, 3]])
    assert find_widest(points, np.array([0, 2, 1]), 0, 2) == 1
    assert find_widest(points, np.array([0, 1, 2]), 0, 3) == 0
    assert find_widest(points, np.array([0, 1]), 1, 2) == 0


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 12),
    st.integers(1, 4),
    st.sampled_from([(1.0, 0.0), (2.0**-60, 0.0), (1.0, 2.0**30), (2.0**-20, 2.0**30)]),
    st.integers(0, 2**32),
)
def test_widest_has_the_greatest_variance(n: int, p: int, where: tuple[float, float], seed: int) -> None:
    """Whatever the scale of the data and wherever they lie."""
    rng, (scale, shift) = np.random.default_rng(seed), where
    points, rows = rng.integers(-64, 64, (n + 3, p)) * scale, rng.permutation(n + 3)[:n]
    variances = points[rows].var(axis=0)
    assert variances[find_widest(points + shift, rows, 0, n)] >= variances.max() * (1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.integers(0, 3), st.integers(0, 3), st.data())
def test_selection_puts_one_rank_where_sorting_would(
    numbers: list[int], before: int, behind: int, data: st.DataObject
) -> None:
    """What lies before and behind stays where it is."""
    rank, n = data.draw(st.integers(0, len(numbers) - 1)), len(numbers)
    line = np.array([9] * before + numbers + [-9] * behind, dtype=float)
    order = np.arange(len(line))
    select_between(line, order, before, before + n, before + rank)
    assert order[:before].tolist() == list(range(before))
    assert order[before + n :].tolist() == list(range(before + n, before + n + behind))
    values, order = line[before : before + n], order[before : before + n] - before
    assert np.array(numbers)[order].tolist() == values.tolist()
    assert sorted(order.tolist()) == list(range(n))
    assert values[rank] == sorted(numbers)[rank]
    assert (values[:rank] <= values[rank]).all()
    assert (values[rank:] >= values[rank]).all()


def test_every_rank_of_shuffled_values_is_selected() -> None:
    rng = np.random.default_rng(6)
    for n in range(1, 14):
        for rank in range(n):
            line, order = rng.permutation(n).astype(float), np.arange(n)
            select_between(line, order, 0, n, rank)
            assert line[rank] == rank
            assert max(line[: rank + 1]) == rank == min(line[rank:])


def halved(points: np.ndarray, rows: set[int], size: int, multiple: int) -> list[set[int]]:
    """The definition, where no two values are equal: the lower part of the widest attribute, then the upper."""
    if len(rows) <= size:
        return [rows]
    lines = sorted(rows)
    ranked = sorted(lines, key=lambda row: points[row, np.argmax(points[lines].var(axis=0))])
    half = len(rows) // (2 * multiple) * multiple
    lower, upper = set(ranked[:half]), set(ranked[half:])
    return [*halved(points, lower, size, multiple), *halved(points, upper, size, multiple)]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 3), st.integers(1, 3), st.integers(0, 6), st.integers(0, 2**32))
def test_halving_equals_its_definition(n: int, p: int, multiple: int, more: int, seed: int) -> None:
    points, size = np.random.default_rng(seed).standard_normal((n, p)), 2 * multiple + more
    order = np.random.default_rng(seed).permutation(n)
    begins = halve_until(points, order, size, multiple)
    assert begins[0] == 0
    assert begins[-1] == n
    assert begins.dtype == np.int64
    blocks = [set(order[a:b].tolist()) for a, b in pairwise(begins)]
    assert blocks == halved(points, set(range(n)), size, multiple)
