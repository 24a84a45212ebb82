"""MDAV and its kin against a hand-worked case, their naive twins, and the published figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crypsis.kernels.annealing import group_sizes, sse
from crypsis.kernels.optimal_partitions import path_optimum, univariate_optimum
from crypsis.kernels.partitions import (
    EUCLIDEAN,
    GENERIC,
    GOMM,
    HYBRID,
    LAST,
    MANHATTAN,
    MEAN,
    assign,
    cbfs,
    fill_pool,
    gather_nearest,
    mdav,
    measure_distances,
    v_mdav,
)
from naive import partitions as naive
from reference import EIA_COLUMNS, numeric, standardised

ENDINGS = {"generic": GENERIC, "hybrid": HYBRID, "gomm": GOMM}
METRICS = {"euclidean": EUCLIDEAN, "manhattan": MANHATTAN}

MDAV_SSE = {
    "census": {3: 799.1829535394, 4: 1052.2558564909, 5: 1276.0163438681, 6: 1458.0138050263, 10: 1987.4926317138},
    "eia": {3: 217.3803790359, 4: 302.1858748410, 5: 750.2038237543, 6: 588.6470640050, 10: 1728.3123617884},
}
OTHERS_IL = {  # (method, set) → IL % by k, to the printed digit
    ("cbfs", "census"): {3: 5.654, 4: 7.441, 5: 8.884, 6: 10.194, 10: 14.007},
    ("cbfs", "eia"): {3: 0.478, 4: 0.671, 5: 1.740, 6: 1.297, 10: 3.512},
    ("v-mdav 0.2", "census"): {3: 5.662, 4: 7.514, 5: 9.007, 6: 10.365, 10: 14.073},
    ("v-mdav 0.2", "eia"): {3: 0.597, 5: 1.730, 10: 3.639},
    ("v-mdav 1.1", "eia"): {3: 0.508, 5: 1.304, 10: 2.805},
}


@st.composite
def clouds(draw: st.DrawFn, least: int = 1) -> tuple[NDArray[np.float64], int]:
    """Points and a k ≤ n: scattered, or on a coarse grid where distances tie, records repeat, columns stand still."""
    n, p = draw(st.integers(least, 36)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    grid = draw(st.sampled_from([0, 1, 2, 5]))
    points = rng.integers(0, grid + 1, (n, p)).astype(float) if draw(st.booleans()) else rng.standard_normal((n, p))
    return points, draw(st.integers(1, min(n, 7)))


@pytest.fixture(scope="module")
def sets() -> dict[str, NDArray[np.float64]]:
    return {"census": standardised(numeric("census.csv")), "eia": _eia()}


def _eia() -> NDArray[np.float64]:
    return np.ascontiguousarray(standardised(numeric("eia.csv", EIA_COLUMNS)))


def test_by_hand() -> None:
    """On 0 1 2 | 10 11 12 | 50 51 52: the mean is 21; farthest is 52, then 0; what is left is the middle."""
    points = np.array([[0.0], [10], [50], [1], [11], [51], [2], [12], [52]])
    labels = mdav(points, 3, GENERIC, EUCLIDEAN)
    assert labels.tolist() == [1, 2, 0, 1, 2, 0, 1, 2, 0]
    assert sse(points, labels) == pytest.approx(6.0)
    assert group_sizes(labels).tolist() == [3, 3, 3]


def test_endings_by_hand() -> None:
    """Seven points at k = 3: two groups, and one record over: a group of four, the nearest centroid, or alone."""
    points = np.array([[0.0], [1], [2], [5], [10], [11], [12]])
    assert sorted(group_sizes(mdav(points, 3, GENERIC, EUCLIDEAN))) == [3, 4]
    assert mdav(points, 3, HYBRID, EUCLIDEAN).tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert sorted(group_sizes(mdav(points, 3, GOMM, EUCLIDEAN))) == [1, 3, 3]


def test_the_last_records_by_hand() -> None:
    """Three records over make a group; one as far from either centroid joins the earlier group."""
    three = np.array([[0.0], [1], [2], [5], [6], [7], [10], [11], [12]])
    assert mdav(three, 3, HYBRID, EUCLIDEAN).tolist() == [0, 0, 0, 2, 2, 2, 1, 1, 1]
    midway = np.array([[0.0], [1], [2], [6], [10], [11], [12]])
    assert mdav(midway, 3, HYBRID, EUCLIDEAN).tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_a_neighbourhood_by_hand() -> None:
    """Around the second of two equal records: itself, its double, the nearest other; and how far they are."""
    pool = fill_pool(np.array([[0.0], [4], [1], [0], [3]]))
    group, reach = np.full(3, -9), np.full(3, -9.0)
    measure_distances(pool, 5, 3, EUCLIDEAN)
    gather_nearest(pool, 5, 3, group, reach)
    assert group.tolist() == [3, 0, 2]
    assert reach.tolist() == [0.0, 0.0, 1.0]


def test_where_all_are_equally_far_by_hand() -> None:
    """Five records 5 away from the first, which takes the lowest of them; the lowest one left is then the farthest."""
    points = np.array([[0.0, 0], [4, 3], [5, 0], [3, 4], [4, 3], [5, 0]])
    assert mdav(points, 2, GENERIC, EUCLIDEAN).tolist() == [0, 0, 1, 2, 2, 1] == naive.mdav(points, 2)


def test_growth_across_the_group_by_hand() -> None:
    """Around (0, 0): 1 to the right, 1.2 to the left. A record 0.3 further left joins; a pair 0.6 further right, and
    near to each other, does not, though it is met first."""
    near = [[0.0, 0], [1, -0.1], [-1.2, -0.1], [1.6, -0.1], [1.7, -0.1], [-1.5, -0.1]]
    points = np.array(near + [[step / 8, -100.0] for step in range(12)])
    labels = v_mdav(points, 3, 1.1)
    assert labels.tolist() == naive.v_mdav(points, 3, 1.1)
    assert np.flatnonzero(labels == labels[0]).tolist()[:4] == [0, 1, 2, 5]


def test_records_that_differ_in_their_last_bit_by_hand() -> None:
    """At 2⁴⁶ a 64th is the last bit: twice as far from the origin it would be lost."""
    points = np.random.default_rng(0).integers(0, 9, (40, 2)) / 64
    for group in (lambda x: mdav(x, 3, GENERIC, EUCLIDEAN), lambda x: v_mdav(x, 3, 1.1), lambda x: cbfs(x, 3)):
        assert group(points + 2.0**46).tolist() == group(points).tolist()


@settings(max_examples=30, deadline=None)
@given(clouds(least=2), st.sampled_from([2.0**-60, 2.0**60]), st.sampled_from(sorted(ENDINGS)))
def test_units_change_no_group(cloud: tuple[NDArray[np.float64], int], unit: float, ending: str) -> None:
    points, k = cloud
    for metric in METRICS.values():
        assert (mdav(points * unit, k, ENDINGS[ending], metric) == mdav(points, k, ENDINGS[ending], metric)).all()
    assert (cbfs(points * unit, k) == cbfs(points, k)).all()
    assert (v_mdav(points * unit, k, 1.1) == v_mdav(points, k, 1.1)).all()


@pytest.mark.parametrize("name", ["census", "eia"])
@pytest.mark.parametrize("k", [3, 4, 5, 6, 10])
def test_mdav_gives_the_published_sse(sets: dict[str, NDArray[np.float64]], name: str, k: int) -> None:
    assert sse(sets[name], mdav(sets[name], k, GENERIC, EUCLIDEAN)) == pytest.approx(MDAV_SSE[name][k], rel=1e-9)


@pytest.mark.parametrize(("method", "name"), list(OTHERS_IL))
def test_kin_of_mdav_give_the_recomputed_losses(sets: dict[str, NDArray[np.float64]], method: str, name: str) -> None:
    points = sets[name]
    for k, loss in OTHERS_IL[method, name].items():
        labels = cbfs(points, k) if method == "cbfs" else v_mdav(points, k, float(method.split()[1]))
        assert 100 * sse(points, labels) / points.size == pytest.approx(loss, abs=5.1e-4)


def test_hybrid_ending_differs_on_eia_at_five_only(sets: dict[str, NDArray[np.float64]]) -> None:
    labels = mdav(sets["eia"], 5, HYBRID, EUCLIDEAN)
    assert 100 * sse(sets["eia"], labels) / sets["eia"].size == pytest.approx(1.6666573612, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(clouds(), st.sampled_from(sorted(ENDINGS)), st.sampled_from(sorted(METRICS)))
def test_mdav_equals_its_twin(cloud: tuple[NDArray[np.float64], int], ending: str, metric: str) -> None:
    points, k = cloud
    labels = mdav(points, k, ENDINGS[ending], METRICS[metric])
    assert labels.tolist() == naive.mdav(points, k, ending, metric)
    if ending != "gomm":
        sizes = group_sizes(labels)
        assert sizes.min() >= k
        assert sizes.max() <= max(2 * k - 1, 1)


@settings(max_examples=40, deadline=None)
@given(clouds())
def test_cbfs_equals_its_twin(cloud: tuple[NDArray[np.float64], int]) -> None:
    points, k = cloud
    labels = cbfs(points, k)
    assert labels.tolist() == naive.cbfs(points, k)
    assert group_sizes(labels).min() >= k
    assert group_sizes(labels).max() <= max(2 * k - 1, 1)


@settings(max_examples=60, deadline=None)
@given(clouds(), st.sampled_from([0.0, 0.2, 0.9, 1.1, 3.0]))
def test_v_mdav_equals_its_twin(cloud: tuple[NDArray[np.float64], int], gamma: float) -> None:
    points, k = cloud
    labels = v_mdav(points, k, gamma)
    assert labels.tolist() == naive.v_mdav(points, k, gamma)
    assert group_sizes(labels).min() >= k


@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize("grid", [1, 3, 9, 1000])
def test_every_k_gives_the_groups_of_the_twin(k: int, grid: int) -> None:
    """From crowds of duplicates to points all different."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        points = rng.integers(0, grid + 1, (int(rng.integers(5 * k, 8 * k)), 2)).astype(float)
        for ending, metric in ((e, m) for e in ENDINGS for m in METRICS):
            labels = mdav(points, k, ENDINGS[ending], METRICS[metric])
            assert labels.tolist() == naive.mdav(points, k, ending, metric)
            assert labels.dtype == np.int32
        assert cbfs(points, k).tolist() == naive.cbfs(points, k)
        assert cbfs(points, k).dtype == np.int32
        for gamma in (0.0, 0.9, 1.1, 3.0):
            labels = v_mdav(points, k, gamma)
            assert labels.tolist() == naive.v_mdav(points, k, gamma)
            assert labels.dtype == np.int32


def test_the_mean_is_right_to_the_last_bit_whoever_leaves() -> None:
    """2⁵³ swallows every 1 that is added to it; when it leaves, three of them are still there."""
    pool = fill_pool(np.array([[1.0, 0.1], [2.0**53, 0.2], [1.0, 0.3], [0.0, 0.0], [1.0, 0.7]]))
    assign(pool, 5, 1, 0, np.full(5, -1, dtype=np.int32))
    measure_distances(pool, 4, MEAN, EUCLIDEAN)
    assert pool.centre[0] == 0.75
    assert pool.centre[1] == pytest.approx(1.1 / 4, rel=1e-15)


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_distances_of_many_records_are_those_of_few(metric: str) -> None:
    """More records than are measured at a time, and not all of them asked for."""
    points = np.random.default_rng(0).integers(0, 99, (1300, 2)).astype(float)
    points[0] = 0.0
    pool = fill_pool(points)
    pool.centre[:] = 7.0, 50.0
    measure_distances(pool, 1290, LAST, METRICS[metric])
    gaps = np.abs(points[:1290] - pool.centre)
    assert pool.distances[:1290].tolist() == (gaps**2 if metric == "euclidean" else gaps).sum(axis=1).tolist()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_rows_in_another_order_form_the_same_groups(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, shuffle = rng.standard_normal((40, 3)), rng.permutation(40)
    for group in (lambda x: mdav(x, 3, GENERIC, EUCLIDEAN), lambda x: v_mdav(x, 3, 1.1), lambda x: cbfs(x, 3)):
        assert (group(points[shuffle]) == group(points)[shuffle]).all()


@settings(max_examples=30, deadline=None)
@given(clouds(), st.sampled_from([0.0, 1e12, -1e12, 2.0**46]))
def test_sse_equals_its_twin_wherever_the_data_lie(cloud: tuple[NDArray[np.float64], int], shift: float) -> None:
    points, k = cloud
    points = np.abs(np.round(points * 64) / 64)  # representable at 2⁴⁶ too, and no further out
    labels = mdav(points, k, GENERIC, EUCLIDEAN)
    assert sse(points + shift, labels) == pytest.approx(naive.sse(points, labels), rel=1e-12, abs=1e-15)
    assert (mdav(points + shift, k, GENERIC, EUCLIDEAN) == labels).all()


@pytest.mark.parametrize("n", range(2, 15))
def test_univariate_optimum_equals_brute_force_over_all_partitions(n: int) -> None:
    rng = np.random.default_rng(n)
    for k in (2, 3) if n == 14 else range(2, min(n, 6) + 1):
        values = np.sort(rng.integers(0, 12, n) if k % 2 else rng.standard_normal(n)).astype(float)
        labels = univariate_optimum(values, k)
        assert sse(values[:, None], labels) == pytest.approx(naive.least_sse_of_all(values, k), rel=1e-9, abs=1e-12)
        assert group_sizes(labels).min() >= k


@settings(max_examples=40, deadline=None)
@given(clouds(least=2), st.sampled_from([0.0, 1e12]))
def test_path_optimum_is_the_best_way_to_cut(cloud: tuple[NDArray[np.float64], int], shift: float) -> None:
    points, k = cloud
    points, k = np.round(points[:12] * 64) / 64, min(max(k, 2), len(points[:12]))
    labels = path_optimum(points + shift, k)
    assert naive.is_along(labels)
    assert group_sizes(labels).min() >= k
    assert group_sizes(labels).max() <= 2 * k - 1
    assert naive.sse(points, labels) == pytest.approx(naive.least_sse_of_cuts(points, k), rel=1e-9, abs=1e-12)
    line = np.sort(points[:, 0])
    assert sse(line[:, None], univariate_optimum(line + shift, k)) == pytest.approx(
        sse(line[:, None], path_optimum(line[:, None], k)), rel=1e-9, abs=1e-12
    )


def test_every_record_alone_at_k_one() -> None:
    points = np.array([[3.0], [1], [1]])
    for labels in (mdav(points, 1, GENERIC, EUCLIDEAN), cbfs(points, 1), v_mdav(points, 1, 0.2)):
        assert labels.tolist() == [0, 1, 2]
    assert path_optimum(points, 1).tolist() == [0, 1, 2]
    assert univariate_optimum(np.sort(points[:, 0]), 1).tolist() == [0, 1, 2]
    assert mdav(points[:1], 1, GENERIC, EUCLIDEAN).tolist() == [0]


def test_a_crowd_of_duplicates_keeps_the_seed_in_its_own_group() -> None:
    labels = mdav(np.zeros((11, 2)), 3, GENERIC, EUCLIDEAN)
    assert sorted(group_sizes(labels)) == [3, 3, 5]
    assert sse(np.zeros((11, 2)), labels) == 0.0
