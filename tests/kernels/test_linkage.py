from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.linkage import CodeGroups, Forest, Known, grow_linkage_forest, link_all, to_box

NO_CODES = CodeGroups(np.empty((1, 0), dtype=np.int32), np.empty((1, 0), dtype=np.int32), np.array([0, 1]))


def groups_of(codes: np.ndarray, places: np.ndarray) -> CodeGroups:
    """CodeGroups whose rows are already in order."""
    new = [0, *(g for g in range(1, len(places)) if not np.array_equal(places[g], places[g - 1])), len(places)]
    return CodeGroups(codes, places, np.array(new))


def forest_of(points: np.ndarray, starts: list[int], bucket: int = 2) -> Forest:
    order, low, high, span, root = grow_linkage_forest(points, np.array(starts, dtype=np.int64), bucket)
    rows = np.arange(len(points))
    return Forest(points[order], np.ones(len(points), dtype=np.int64), rows[order], low, high, span, root)


def always(points: np.ndarray) -> np.ndarray:
    """Every coordinate counts beside every code."""
    return np.full((points.shape[1], 2), -1, dtype=np.int32)


def ties_at(
    points: np.ndarray,
    distance: np.ndarray,
    ancestors: np.ndarray,
    order: np.ndarray,
    groups: CodeGroups,
    forest: Forest,
) -> tuple[np.ndarray, np.ndarray]:
    ties, lowest, reach = link_all(Known(points, ancestors, order, always(points)), distance, groups, forest)
    assert np.isnan(reach).all()
    return ties, lowest


def nearest(
    points: np.ndarray,
    ancestors: np.ndarray,
    order: np.ndarray,
    groups: CodeGroups,
    forest: Forest,
    lines: np.ndarray | None = None,
) -> np.ndarray:
    known = Known(points, ancestors, order, always(points) if lines is None else lines)
    ties, lowest, reach = link_all(known, np.full(len(points), np.inf), groups, forest)
    assert not ties.any()
    assert (lowest == -1).all()
    return reach


def plain(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.empty((len(points), 0), dtype=np.int32), np.arange(len(points))


def test_by_hand() -> None:
    """From 0: two at distance 1 and none nearer; from 5 at distance 4: one at 2 is nearer."""
    forest = forest_of(np.array([[-1.0], [1.0], [7.0]]), [0, 3])
    known = np.array([[0.0], [5.0], [0.0]])
    ancestors, order = plain(known)
    ties, lowest = ties_at(known, np.array([1.0, 4.0, np.nan]), ancestors, order, NO_CODES, forest)
    assert ties.tolist() == [2, 0, 0]
    assert lowest.tolist() == [0, -1, -1]
    assert nearest(known, ancestors, order, NO_CODES, forest).tolist() == [1, 2, 1]


def test_codes_add_one_each() -> None:
    """CodeGroups (0,0) and (1,0) with one point each; the record (1,1) differs by 2 and by 1."""
    forest = forest_of(np.array([[0.0], [1.0]]), [0, 1, 2])
    codes = np.array([[0, 0], [1, 0]], dtype=np.int32)
    places = np.array([[0, 1], [0, 1]], dtype=np.int32)
    known, ancestors = np.array([[0.0]]), np.array([[1, 1]], dtype=np.int32)
    assert nearest(known, ancestors, np.array([0]), groups_of(codes, places), forest)[0] == pytest.approx(np.sqrt(2))
    ties, lowest = ties_at(known, np.sqrt([2.0]), ancestors, np.array([0]), groups_of(codes, places), forest)
    assert (ties[0], lowest[0]) == (2, 0)


def test_a_coordinate_that_counts_beside_one_place_only() -> None:
    """Published: a leaf at 0.75, a group (place 1), a blank. From 0 a leaf is 0.75 away; a group counts 1 or 0."""
    codes = np.array([[-1], [0], [7]], dtype=np.int32)
    places = np.array([[0], [0], [1]], dtype=np.int32)
    forest = forest_of(np.array([[0.0], [0.75], [0.0]]), [0, 1, 2, 3])
    known, lines = np.array([[0.0], [0.0], [9.0]]), np.array([[0, 0]], dtype=np.int32)
    ancestors = np.array([[0, 5], [0, 7], [-1, -1]], dtype=np.int32)  # in no group, in the group, missing
    groups = groups_of(codes, places)
    assert nearest(known, ancestors, np.arange(3), groups, forest, lines).tolist() == [0.75, 0, 0]


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(0, 4), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_equal_to_all_pairs(seed: int, m: int, q: int, bucket: int) -> None:
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(1, 4))
    group = np.sort(rng.integers(0, groups, m))
    points = rng.integers(0, 4, (m, q)).astype(float)
    starts = [int(s) for s in np.searchsorted(group, range(groups))] + [m]
    forest = forest_of(points, starts, bucket)
    codes = np.arange(groups, dtype=np.int32)[:, None]
    places = np.zeros((groups, 1), dtype=np.int32)
    known = rng.integers(0, 4, (12, q)).astype(float)
    ancestors = rng.integers(0, groups, (12, 1)).astype(np.int32)
    square = ((known[:, None] - points[None]) ** 2).sum(axis=2) + (ancestors != group[None])
    best = np.sqrt(square.min(axis=1))
    order = np.argsort(ancestors[:, 0], kind="stable")
    assert nearest(known, ancestors, order, groups_of(codes, places), forest) == pytest.approx(best)
    ties, lowest = ties_at(known, best, ancestors, order, groups_of(codes, places), forest)
    assert ties.tolist() == (square == square.min(axis=1)[:, None]).sum(axis=1).tolist()
    assert lowest.tolist() == square.argmin(axis=1).tolist()
    farther, _ = ties_at(known, best + 0.5, ancestors, order, groups_of(codes, places), forest)
    assert not farther.any(), "a nearer record spoils every link"


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_codes_of_several_patterns_equal_all_pairs(seed: int, m: int, c: int, ladders: int) -> None:
    """Codes that stand at one of several ancestors each, as after local recoding."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (m, 1)).astype(float)
    places = (rng.integers(0, ladders, (m, c)) + ladders * np.arange(c)).astype(np.int32)
    codes = rng.integers(0, 3, (m, c)).astype(np.int32)
    sorting = np.lexsort([*codes.T, *places.T])
    points, places, codes = points[sorting], places[sorting], codes[sorting]
    both = np.hstack([places, codes])
    heads = [0, *(i for i in range(1, m) if not np.array_equal(both[i], both[i - 1]))]
    groups, forest = groups_of(codes[heads], places[heads]), forest_of(points, [*heads, m])
    known = rng.integers(0, 3, (12, 1)).astype(float)
    ancestors = rng.integers(0, 3, (12, c * ladders)).astype(np.int32)
    differ = np.array(
        [[(row[place] != code).sum() for place, code in zip(places, codes, strict=True)] for row in ancestors]
    )
    square = ((known[:, None] - points[None]) ** 2).sum(axis=2) + differ
    best, order = np.sqrt(square.min(axis=1)), np.lexsort(ancestors.T)
    assert nearest(known, ancestors, order, groups, forest) == pytest.approx(best)
    ties, lowest = ties_at(known, best, ancestors, order, groups, forest)
    assert ties.tolist() == (square == square.min(axis=1)[:, None]).sum(axis=1).tolist()
    assert lowest.tolist() == square.argmin(axis=1).tolist()
    assert not ties_at(known, best + 0.5, ancestors, order, groups, forest)[0].any()


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 3), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_ties_weigh_what_they_stand_for_and_only_the_nearest_count(seed: int, m: int, q: int, groups: int) -> None:
    """Distinct records standing for several rows each, some originals not linkable, and distances of all sorts."""
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, groups, m))
    points, weight, first = rng.integers(0, 3, (m, q)).astype(float), rng.integers(1, 4, m), rng.permutation(m)
    starts = np.array([*np.searchsorted(group, range(groups)), m])
    order, low, high, span, root = grow_linkage_forest(points, starts, 2)
    forest = Forest(points[order], weight[order], first[order], low, high, span, root)
    codes, places = np.arange(groups, dtype=np.int32)[:, None], np.zeros((groups, 1), dtype=np.int32)
    known, ancestors = rng.integers(0, 3, (10, q)).astype(float), rng.integers(0, groups, (10, 1)).astype(np.int32)
    square = ((known[:, None] - points[None]) ** 2).sum(axis=2) + (ancestors != group[None])
    asked = square[np.arange(10), rng.integers(0, m, 10)]
    asked = np.maximum(asked + rng.choice([0.0, 0.0, 0.25, -0.25], 10), 0.0)
    distance = np.where(rng.random(10) < 0.2, np.nan, np.sqrt(asked))
    ties, lowest = ties_at(known, distance, ancestors, np.argsort(ancestors[:, 0]), groups_of(codes, places), forest)
    for row in range(10):
        tied = square[row] == asked[row] if square[row].min() >= asked[row] else np.zeros(m, dtype=bool)
        tied &= not np.isnan(distance[row])
        assert ties[row] == weight[tied].sum()
        assert lowest[row] == min(first[tied], default=-1)
    assert ties.dtype == lowest.dtype == np.int64


def test_ties_are_found_however_far_away() -> None:
    """Turned and mirrored copies of a record a million units away differ from its distance by rounding alone."""
    far = np.random.default_rng(4).random((30, 2)) * 1e6
    for x, y in far:
        copies = np.array([[x, y], [-y, x], [y, -x], [x, -y]])
        known = np.zeros((1, 2))
        ancestors, order = plain(known)
        distance = np.array([np.hypot(x, y)])
        assert ties_at(known, distance, ancestors, order, NO_CODES, forest_of(copies, [0, 4]))[0].tolist() == [4]


def test_the_distance_to_a_box_by_hand() -> None:
    """The box [0, 1] × [2, 4] × [−1, 1]: sides add up, a coordinate inside adds nothing."""
    low, high = np.array([[9.0, 9.0, 9.0], [0.0, 2.0, -1.0]]), np.array([[9.0, 9.0, 9.0], [1.0, 4.0, 1.0]])
    forest = forest_of(np.zeros((1, 3)), [0, 1])._replace(low=low, high=high)
    assert to_box(np.array([-3.0, 0.0, 0.0]), forest, 1) == 9 + 4
    assert to_box(np.array([3.0, 7.0, 2.0]), forest, 1) == 4 + 9 + 1
    assert to_box(np.array([0.5, 7.0, -3.0]), forest, 1) == 9 + 4
    assert to_box(np.array([1.0, 2.0, 1.0]), forest, 1) == 0


@pytest.mark.parametrize("scale", [1.0, 0.001])
def test_nodes_are_split_at_the_median_of_their_widest_side(scale: float) -> None:
    points = np.random.default_rng(7).random((90, 3)) * [3.0, -2.0, 5.0] * scale - scale
    order, low, _, span, root = grow_linkage_forest(points, np.array([0, 50, 50, 90]), 4)
    assert root.dtype == span.dtype == np.int64
    assert span.shape == (len(low), 3)
    assert [span[node, :2].tolist() for node in root] == [[0, 50], [50, 50], [50, 90]]
    for begin, end, child in span:
        if end - begin <= 4:
            assert child == -1
            continue
        middle, side = (begin + end) // 2, np.argmax(np.ptp(points[order[begin:end]], axis=0))
        assert span[child : child + 2, :2].tolist() == [[begin, middle], [middle, end]]
        assert points[order[begin:middle], side].max() <= points[order[middle:end], side].min()


def test_boxes_hold_their_points() -> None:
    points = np.random.default_rng(3).standard_normal((300, 3))
    order, low, high, span, root = grow_linkage_forest(points, np.array([0, 300]), 8)
    assert sorted(order.tolist()) == list(range(300))
    for node in range(len(span)):
        inside = points[order[span[node, 0] : span[node, 1]]]
        assert np.array_equal(inside.min(axis=0), low[node])
        assert np.array_equal(inside.max(axis=0), high[node])
    assert root.tolist() == [0]
    assert (span[span[:, 2] < 0, 1] - span[span[:, 2] < 0, 0]).max() <= 8
