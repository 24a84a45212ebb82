"""Groups of attributes: their labels, what a group reveals, and links from blocks against links from values."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels import groupings
from crypsis.kernels.groupings import ABSOLUTE, RELATIVE, UNASKED

labelled = st.lists(st.integers(0, 5), min_size=1, max_size=8).map(lambda labels: np.array(labels, dtype=np.int32))
tables = st.tuples(st.integers(1, 4), st.integers(1, 12), st.integers(1, 3), st.integers(0, 2**32))


def random_rows(case: tuple[int, int, int, int]) -> np.ndarray:
    """int32[n, g] of few labels."""
    groups, n, width, seed = case
    return np.random.default_rng(seed).integers(0, width, (n, groups)).astype(np.int32)


def test_labels_by_hand() -> None:
    assert groupings.renumber(np.array([4, 1, 4, 0], dtype=np.int32)).tolist() == [0, 1, 0, 2]
    assert groupings.settle(np.array([4, 1, 4, 0, 9], dtype=np.int32)).tolist() == [2, 1, 2, 0, 9]


@settings(max_examples=40, deadline=None)
@given(labelled)
def test_labels_are_numbered_by_first_appearance_or_in_order(labels: np.ndarray) -> None:
    seen = list(dict.fromkeys(labels.tolist()))
    got = groupings.renumber(labels)
    assert got.tolist() == [seen.index(label) for label in labels]
    settled = groupings.settle(np.append(labels, np.int32(7)))
    assert settled.tolist() == [*(sorted(seen).index(label) for label in labels), 7]
    assert got.dtype == settled.dtype == np.int32


@settings(max_examples=40, deadline=None)
@given(labelled)
def test_attributes_group_by_group(labels: np.ndarray) -> None:
    members, starts = groupings.by_group(labels)
    seen = list(dict.fromkeys(labels.tolist()))
    assert [members[a:b].tolist() for a, b in pairwise(starts)] == [
        np.flatnonzero(labels == label).tolist() for label in seen
    ]
    assert (members.dtype, starts.dtype) == (np.int32, np.int64)


def test_injection_by_hand() -> None:
    """Group 1 of the giver, {1, 2}, comes first; of the receiver {0, 2 gone}, {1 gone, 3} stay as they were."""
    giver, receiver = np.array([0, 1, 1, 2, 5], dtype=np.int32), np.array([0, 1, 0, 1, 8], dtype=np.int32)
    assert groupings.inject(giver, receiver, 1, 2).tolist() == [1, 0, 0, 2, 5]
    assert groupings.inject(giver, receiver, 0, 2).tolist() == [0, 1, 1, 2, 5]
    assert groupings.inject(giver, receiver, 1, 3).tolist() == [2, 0, 0, 1, 5]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([1, 5, 63, 64, 65, 130]), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**32))
def test_blocks_hold_squared_distances_and_their_least(n: int, p: int, groups: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, labels = rng.random((n, p)), rng.integers(0, groups, n).astype(np.int32)
    labels[: min(groups, n)] = np.arange(min(groups, n))
    groups = int(labels.max()) + 1
    centres = groupings.centroids(points, labels, groups)
    assert centres == pytest.approx(np.stack([points[labels == g].mean(axis=0) for g in range(groups)]))
    block = np.full(n * (groups + 1) + 2, 7.0)
    groupings.measure(points, centres, block)
    lines = block[:-2].reshape(n, groups + 1)
    expected = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    assert lines[:, :-1] == pytest.approx(expected)
    assert lines[:, -1] == pytest.approx(expected.min(axis=1))
    assert block[-2:].tolist() == [7.0, 7.0]


def test_intervals_by_hand() -> None:
    """Gaps 0, 0.033, 0.1 and 0.2 from a centre of 0.5 or −0.5.

    ±1 … 10 % of a unit hold them 10, 7, 1 and 0 times; ±1 … 10 % of 0.5, up to 0.05, 10, 4, 0 and 0 times;
    w % of a negative value is negative, and no gap is below it.
    """
    points, labels = np.array([[0.5], [0.533], [0.4], [0.7]]), np.zeros(4, dtype=np.int32)
    centres = np.array([[0.5]])
    total = 0.033**2 + 0.1**2 + 0.2**2
    assert groupings.judge_grouping(points, centres, labels, ABSOLUTE) == (pytest.approx(total), 10 + 7 + 1)
    assert groupings.judge_grouping(points, centres, labels, RELATIVE) == (pytest.approx(total), 10 + 4)
    assert groupings.judge_grouping(points, centres, labels, UNASKED) == (pytest.approx(total), 0)
    assert groupings.judge_grouping(-points, -centres, labels, RELATIVE)[1] == 0
    both = groupings.judge_grouping(
        np.array([[0.5, 1.0], [0.9, 1.0]]), np.array([[0.5, 1.0], [0.9, 0.9]]), labels, ABSOLUTE
    )
    assert both == (pytest.approx(0.4**2), 3 * 10)
    # 1 of 10, on the border of ±10 %; 0.1995 of 2, just inside it; 2.5 of 20, outside.
    values, means = np.array([[11.0], [1.8005], [22.5]]), np.array([[10.0], [2.0], [20.0]])
    assert groupings.judge_grouping(values, means, np.arange(3, dtype=np.int32), RELATIVE)[1] == 1 + 1 + 0


def test_a_survey_by_hand() -> None:
    points, labels = np.array([[0.0], [0.2], [1.0]]), np.array([0, 0, 1], dtype=np.int32)
    block = np.zeros(9)
    assert groupings.survey(points, labels, ABSOLUTE, block) == (2, pytest.approx(0.02), 1 + 1 + 10)
    assert block == pytest.approx([0.01, 1.0, 0.01, 0.01, 0.64, 0.01, 0.81, 0.0, 0.0])
    assert groupings.survey(points, labels, UNASKED, np.zeros(0)) == (2, pytest.approx(0.02), 0)


@settings(max_examples=40, deadline=None)
@given(tables)
def test_distinct_rows_are_counted_and_sorted(case: tuple[int, int, int, int]) -> None:
    rows = random_rows(case)
    distinct = list(dict.fromkeys(map(tuple, rows.tolist())))
    classes, first, sizes = groupings.classes(np.ascontiguousarray(rows.T))
    assert [distinct.index(tuple(row)) for row in rows.tolist()] == classes.tolist()
    assert [rows.tolist().index(list(row)) for row in distinct] == first.tolist()
    assert [sum(tuple(row) == one for row in rows.tolist()) for one in distinct] == sizes.tolist()
    assert classes.dtype == first.dtype == sizes.dtype == np.int32
    order = groupings.sorted_classes(rows[first], case[2])
    assert [distinct[place] for place in order] == sorted(distinct)


@settings(max_examples=40, deadline=None)
@given(tables)
def test_branches_end_where_their_labels_do(case: tuple[int, int, int, int]) -> None:
    rows = np.unique(random_rows(case), axis=0)
    shared, leave = groupings.branches(rows)
    lines = rows.tolist()
    assert len(shared) == len(lines) + 1
    assert shared[0] == shared[len(lines)] == 0
    for c, line in enumerate(lines):
        if c:
            assert shared[c] == next(j for j, label in enumerate(line) if label != lines[c - 1][j])
        for j in range(case[0]):
            later = [d for d in range(c + 1, len(lines)) if lines[d][: j + 1] != line[: j + 1]]
            assert leave[c, j] == (later[0] if later else len(lines))
    assert shared.dtype == leave.dtype == np.int32


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 14), st.integers(1, 4), st.booleans(), st.integers(0, 2**32))
def test_links_of_blocks_are_links_of_all_pairs(n: int, groups: int, coarse: bool, seed: int) -> None:
    """Groups of one or two attributes, their blocks in scattered rows of an arena wider than any of them."""
    rng = np.random.default_rng(seed)
    slots = rng.permutation(groups + 2)[:groups]
    arena, clusters = np.full((groups + 2, n * (n + 2)), np.nan), np.zeros((groups + 2, n), dtype=np.int32)
    widths, values, masked = np.empty(groups, dtype=np.int64), [], []
    for j, slot in enumerate(slots):
        points = rng.integers(0, 3, (n, 2)).astype(float) if coarse else rng.random((n, 1 + j % 2))
        labels = groupings.renumber(rng.integers(0, 3, n).astype(np.int32))
        widths[j], _, _ = groupings.survey(points, labels, UNASKED, arena[slot])
        clusters[slot] = labels
        values.append(points)
        masked.append(groupings.centroids(points, labels, int(widths[j]))[labels])
    points, images = np.hstack(values), np.hstack(masked)
    credit, smallest, alone = groupings.links(arena, clusters, slots, widths)
    _, sizes = np.unique(clusters[slots], axis=1, return_counts=True)
    assert (smallest, alone) == (sizes.min(), (sizes == 1).sum())
    far = ((points[:, None] - images[None]) ** 2).sum(axis=2)
    tied = far <= far.min(axis=1)[:, None] + 1e-10
    expected = sum(1 / tied[i].sum() for i in range(n) if tied[i, i])
    assert credit == pytest.approx(expected)
    assert groupings.links_in_full(points, images) == pytest.approx(expected)
