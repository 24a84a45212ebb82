"""MDAV through a kd-tree gives MDAV's own groups: scattered, tied, duplicated, far away, in every setting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels import partitions
from crypsis.kernels.partitions import (
    EUCLIDEAN,
    GENERIC,
    GOMM,
    HYBRID,
    MANHATTAN,
    WIDTH,
    Tree,
    grow_partition_tree,
    mdav,
    mdav_by_tree,
    remove_row,
    split_leaves,
)
from reference import EIA_COLUMNS, numeric, standardised


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 700),
    st.integers(1, 6),
    st.integers(1, 8),
    st.sampled_from(["scattered", "binary", "grid", "duplicated", "clustered", "constant column"]),
    st.sampled_from([GENERIC, HYBRID, GOMM]),
    st.sampled_from([EUCLIDEAN, MANHATTAN]),
    st.integers(0, 2**32),
)
def test_same_groups_as_the_plain_passes(
    n: int, p: int, k: int, shape: str, ending: int, metric: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, p))
    if shape == "binary":
        points = (points > 0).astype(float)
    elif shape == "grid":
        points = np.round(points * 2)
    elif shape == "duplicated":
        points = points[rng.integers(0, max(n // 4, 1), n)]
    elif shape == "clustered":
        points = points * 0.01 + rng.integers(0, 3, (n, 1)) * 100.0
    elif shape == "constant column":
        points[:, 0] = 7.5
    k = min(k, n)
    assert (mdav_by_tree(points, k, ending, metric) == mdav(points, k, ending, metric)).all()


@pytest.mark.parametrize("k", [3, 10])
def test_same_groups_on_reference_data(k: int) -> None:
    points = np.ascontiguousarray(standardised(numeric("eia.csv", EIA_COLUMNS)))
    assert (mdav_by_tree(points, k, GENERIC, EUCLIDEAN) == mdav(points, k, GENERIC, EUCLIDEAN)).all()


def test_same_groups_far_from_the_origin() -> None:
    points = np.round(np.random.default_rng(0).standard_normal((500, 3)) * 64)
    near = mdav_by_tree(points, 4, GENERIC, EUCLIDEAN)
    assert (mdav_by_tree(points + 1e12, 4, GENERIC, EUCLIDEAN) == near).all()


def span(one: np.ndarray, other: np.ndarray, metric: int) -> float:
    """The distance of two records as MDAV compares it, attribute after attribute."""
    total = 0.0
    for a, b in zip(one.tolist(), other.tolist(), strict=True):
        total += (a - b) * (a - b) if metric == EUCLIDEAN else abs(a - b)
    return total


def nodes_below(tree: Tree) -> dict[int, list[int]]:
    """The rows below every node that the tree keeps, read off its leaves."""
    leaves, below = len(tree.rows), {}
    for leaf in range(leaves):
        node = leaf + leaves
        rows = tree.rows[leaf, : tree.counts[node]].tolist()
        while True:
            below.setdefault(node, []).extend(rows)
            if node < WIDTH:
                break
            node //= WIDTH
    return below


@pytest.fixture(params=[EUCLIDEAN, MANHATTAN], ids=["euclidean", "manhattan"])
def metric(request: pytest.FixtureRequest) -> int:
    return int(request.param)


CASES = [(1, 2, False), (16, 1, True), (17, 2, True), (150, 2, True), (300, 3, False), (130, 1, False)]


def thinned(n: int, p: int, coarse: bool, metric: int) -> tuple[np.ndarray, Tree, list[int]]:
    """Points, a tree over nine tenths of them of which a third was taken out again, and the rows left in it.

    The middle is the mean of all that the tree was grown over.
    """
    rng = np.random.default_rng(n)
    points = rng.integers(0, 5, (n, p)).astype(float) if coarse else rng.random((n, p)) * [1.0, 4.0, 2.0][:p]
    held = np.sort(rng.permutation(n)[: max(1, 9 * n // 10)])
    tree = grow_partition_tree(points, held.copy(), metric)
    assert tree.middle == pytest.approx(points[held].mean(axis=0))
    gone = rng.permutation(held)[: len(held) // 3]
    for row in gone:
        remove_row(tree, int(row))
    return points, tree, sorted({*held.tolist()} - {*gone.tolist()})


@pytest.mark.parametrize("n, p, coarse", [*CASES, (2400, 1, False)])
def test_a_tree_holds_its_records_in_tight_boxes(n: int, p: int, coarse: bool, metric: int) -> None:
    points, tree, left = thinned(n, p, coarse, metric)
    below = nodes_below(tree)
    leaves, width = tree.rows.shape
    assert sorted(row for leaf in range(leaves) for row in below[leaf + leaves]) == left
    for row in left:
        leaf, slot = divmod(int(tree.places[row]), width)
        assert tree.rows[leaf, slot] == row
        assert tree.coordinates[leaf, :p, slot].tolist() == points[row].tolist()
    for node in range(len(tree.counts)):
        rows = below.get(node, [])
        assert tree.counts[node] == len(rows)
        if rows:
            lines = np.array([[*points[row], span(points[row], tree.middle, metric)] for row in rows])
            assert tree.low[node // WIDTH, :, node % WIDTH] == pytest.approx(lines.min(axis=0), rel=1e-12)
            assert tree.high[node // WIDTH, :, node % WIDTH] == pytest.approx(lines.max(axis=0), rel=1e-12)


@pytest.mark.parametrize("n, p, coarse", CASES)
def test_the_far_and_the_near_are_those_of_a_look_at_everybody(n: int, p: int, coarse: bool, metric: int) -> None:
    points, tree, left = thinned(n, p, coarse, metric)
    rng = np.random.default_rng(1)
    for seed in rng.choice(left, min(len(left), 6), replace=False):
        centre = points[seed]
        ranked = sorted((span(points[row], centre, metric), row) for row in left if row != seed)
        expected = min((-distance, row) for distance, row in [*ranked, (0.0, int(seed))])[1]
        assert partitions.find_farthest(tree, centre, metric) == expected
        k = min(len(left), 4)
        group, reach = np.empty(k, dtype=np.int64), np.empty(k)
        partitions.find_nearest(tree, centre, metric, int(seed), group, reach)
        assert group.tolist() == [seed, *(row for _, row in ranked[: k - 1])]
        assert reach.tolist() == [0.0, *(distance for distance, _ in ranked[: k - 1])]
    outside = np.full(p, 9.0)
    assert (
        partitions.find_farthest(tree, outside, metric) == min((-span(points[r], outside, metric), r) for r in left)[1]
    )


@pytest.mark.parametrize("n, p, coarse", CASES)
def test_bounds_are_those_of_boxes_and_of_the_middle(n: int, p: int, coarse: bool, metric: int) -> None:
    """Near: the distance to the box. Far: its corner, or what the middle o and the greatest |x − o| = b say,

    b² + |c − o|² less twice the least (x − o)·(c − o) over the box; in Manhattan b + |c − o|.
    """
    _, tree, _ = thinned(n, p, coarse, metric)
    power = 2 if metric == EUCLIDEAN else 1
    for centre in (np.zeros(p), tree.middle + 0.3, np.full(p, 2.5), np.full(p, 9.0)):
        for node in nodes_below(tree):
            if tree.counts[node] == 0:
                continue
            low, high = tree.low[node // WIDTH, :p, node % WIDTH], tree.high[node // WIDTH, :p, node % WIDTH]
            pull, corners = centre - tree.middle, np.maximum(abs(centre - low), abs(high - centre))
            round_trip = tree.high[node // WIDTH, p, node % WIDTH] + (abs(pull) ** power).sum()
            if metric == EUCLIDEAN:
                round_trip -= 2 * np.minimum(pull * (low - tree.middle), pull * (high - tree.middle)).sum()
            partitions.bound_farthest(tree, node // WIDTH, centre, metric)
            assert tree.strip[node % WIDTH] == pytest.approx(min((corners**power).sum(), round_trip))
            partitions.bound_nearest(tree, node // WIDTH, centre, metric)
            gaps = np.maximum(0.0, np.maximum(low - centre, centre - high))
            assert tree.strip[node % WIDTH] == pytest.approx((gaps**power).sum())


@pytest.mark.parametrize("n, leaves", [(16, 1), (17, 2), (50, 8), (61, 4)])
def test_leaves_are_halves_of_halves_along_the_widest_side(n: int, leaves: int) -> None:
    points = np.random.default_rng(n).random((n + 5, 3)) * [1.0, 4.0, 2.0] - [0.0, 9.0, 1.0]
    order = np.arange(5, n + 5)
    begun = np.zeros(2 * leaves, dtype=np.int64)
    split_leaves(points, order, begun)
    begins = np.append(begun[leaves:], n)
    assert sorted(order.tolist()) == list(range(5, n + 5))
    assert (len(begins), begins[0], begins[-1]) == (leaves + 1, 0, n)
    while leaves > 1:
        for begin, middle, end in zip(begins[:-2:2], begins[1:-1:2], begins[2::2], strict=True):
            rows = points[order[begin:end]]
            side = np.argmax(rows.max(axis=0) - rows.min(axis=0))
            assert middle - begin == (end - begin) // 2
            assert rows[: middle - begin, side].max() <= rows[middle - begin :, side].min()
        begins, leaves = begins[::2], leaves // 2


@pytest.mark.parametrize("ending", [GENERIC, HYBRID, GOMM])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_tables_of_few_groups_have_those_of_the_plain_passes(k: int, ending: int) -> None:
    for n in (k, 2 * k - 1, 2 * k, 3 * k - 1, 3 * k, 4 * k):
        points = np.random.default_rng(n).standard_normal((n, 2))
        got = mdav_by_tree(points, k, ending, EUCLIDEAN)
        assert got.tolist() == mdav(points, k, ending, EUCLIDEAN).tolist()
        assert got.dtype == np.int32


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 45), st.integers(1, 3), st.integers(2, 4), st.integers(0, 2**32))
def test_small_tables_have_the_groups_of_the_plain_passes(n: int, p: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (n, p)).astype(float) if seed % 2 else rng.standard_normal((n, p))
    k, metric = min(k, n), (EUCLIDEAN, MANHATTAN)[seed // 2 % 2]
    for ending in (GENERIC, HYBRID, GOMM):
        got = mdav_by_tree(points, k, ending, metric)
        assert got.tolist() == mdav(points, k, ending, metric).tolist()
        assert got.dtype == np.int32


@pytest.mark.parametrize("metric", [EUCLIDEAN, MANHATTAN])
def test_equal_records_are_grouped_as_by_the_plain_passes(metric: int) -> None:
    """Who is farthest is in the first group already: the next farthest is looked for among those left."""
    for k in (2, 3):
        points = np.ones((4 * k, 2))
        assert mdav_by_tree(points, k, GENERIC, metric).tolist() == mdav(points, k, GENERIC, metric).tolist()
