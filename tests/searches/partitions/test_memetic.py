"""The memetic partitioner: never worse than MDAV, the same bits for the same steps, and kind to odd tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crypsis.errors import PlanError, TableError
from crypsis.kernels.squares import sse
from crypsis.masking.heuristics import MDAV
from crypsis.searches.partitions.memetic import Memetic, memetic
from crypsis.searches.partitions.partition import partition
from crypsis.searches.partitions.recombination import group_costs, recombine
from crypsis.searches.partitions.set_partitioning import Pool
from crypsis.table.scaling import z_scores
from naive.annealing import group_sse, lists, total_sse
from reference import EIA_COLUMNS, numeric, standardised
from searches.partitions.test_bounds import partitions


def mdav(points: NDArray[np.float64], k: int) -> float:
    return sse(points, MDAV().partition(points, k, np.random.default_rng(0)))


def check(points: NDArray[np.float64], labels: NDArray[np.int32], k: int) -> None:
    sizes = np.bincount(labels)
    assert labels.dtype == np.int32
    assert sizes.min() >= k
    assert sizes.max() <= max(2 * k - 1, len(points) if len(points) < 2 * k else 0)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 60),
    k=st.integers(1, 8),
    distinct=st.sampled_from([1, 2, 7, 10**6]),
    steps=st.sampled_from([0, 1, 5000]),
)
def test_never_worse_than_mdav_and_repeatable(seed: int, n: int, k: int, distinct: int, steps: int) -> None:
    """Duplicates, constant columns, n barely ≥ k and k near n/2 included."""
    points = np.random.default_rng(seed).integers(0, distinct, (n, 2)).astype(np.float64)
    points = np.column_stack((points, np.full(n, 3.0)))
    k = min(k, n)
    found = memetic(points, k, steps=steps, seed=seed)
    again = memetic(points, k, steps=steps, seed=seed)
    check(points, found.labels, k)
    assert np.array_equal(found.labels, again.labels)
    assert found.sse == pytest.approx(sse(points, found.labels))
    assert found.sse <= mdav(points, k) * (1 + 1e-12)
    assert found.bound <= found.sse + 1e-9
    assert 0 <= found.gap <= 1
    assert [value for _, _, value in found.history] == sorted((v for _, _, v in found.history), reverse=True)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 9), k=st.integers(2, 3))
def test_small_tables_are_solved_to_the_optimum(seed: int, n: int, k: int) -> None:
    points = np.random.default_rng(seed).standard_normal((n, 2))
    best = min(total_sse(points, groups) for groups in partitions(list(range(n)), k))
    found = memetic(points, k, steps=1000, seed=1)
    assert found.sse == pytest.approx(best)
    assert (found.bound_kind, found.gap) == ("optimum", pytest.approx(0.0, abs=1e-9))


def test_the_bound_is_told_with_its_name() -> None:
    points = np.random.default_rng(8).standard_normal((60, 5))
    found = memetic(points, 3, steps=3_000_000, seed=1)
    assert "column-generation bound" in str(found)
    assert found.gap < 0.02


def test_a_budget_of_zero_is_mdav() -> None:
    points = np.random.default_rng(1).standard_normal((50, 3))
    expected = MDAV().partition(points, 4, np.random.default_rng(0))
    for result in (memetic(points, 4, steps=0), memetic(points, 4, seconds=0.0)):
        assert np.array_equal(result.labels, expected)
    assert np.bincount(partition(points, 4, seconds=0)).tolist() == np.bincount(partition(points, 4, "mdav")).tolist()


def test_time_target_and_wall_clock_stop_a_search() -> None:
    points = np.random.default_rng(2).standard_normal((120, 3))
    easy = mdav(points, 3) * 0.99
    found = memetic(points, 3, steps=10**9, target=easy, seed=1)
    assert found.sse <= easy
    for clock in ("cpu", "wall"):
        timed = memetic(points, 3, seconds=0.2, seed=1, clock=clock)
        assert timed.sse <= mdav(points, 3)
        assert timed.history[-1][0] < 60


def test_more_steps_find_less_loss_on_census_and_eia() -> None:
    for points, limit in (
        (standardised(numeric("census.csv")), 4.95),
        (standardised(numeric("eia.csv", EIA_COLUMNS)), 0.375),
    ):
        found = memetic(points, 3, steps=3_000_000, seed=1)
        assert 100 * found.sse / np.square(points).sum() < limit
        assert "nearest-neighbour bound" in str(found)


def test_every_setting_moves_something() -> None:
    points = np.random.default_rng(3).standard_normal((150, 3))

    def outcome(**changed: float) -> bytes:
        partitioner = Memetic.model_validate({"steps": 2000} | changed)
        return partitioner.partition(points, 4, np.random.default_rng(1)).tobytes()

    usual = outcome()
    assert usual == outcome()
    for changed in ({"steps": 30}, {"seconds": 0.3}, {"heat": 0.2}, {"region": 40}):
        assert outcome(**changed) != usual, changed
    assert outcome(steps=60_000, starts=1) != outcome(steps=300_000, starts=2)


def test_recombination_takes_the_cheaper_side_of_every_component() -> None:
    """Rows 0–3 are better in the first parent, rows 4–7 in the second, rows 8 and 9 alike in both."""
    points = np.array([[0.0], [1], [10], [11], [20], [21], [30], [31], [50], [51]])
    one = np.array([0, 0, 1, 1, 2, 3, 2, 3, 4, 4], np.int32)
    other = np.array([0, 1, 0, 1, 2, 2, 3, 3, 4, 4], np.int32)
    child = recombine(points, one, other)
    assert lists(child) == [[0, 1], [2, 3], [8, 9], [4, 5], [6, 7]] or total_sse(points, lists(child)) == 2.5
    assert group_costs(points, one) == pytest.approx([group_sse(points, rows) for rows in lists(one)])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 40), k=st.integers(2, 5))
def test_a_child_is_never_worse_than_its_better_parent(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    n = max(n, 2 * k)
    points = rng.standard_normal((n, 2))
    parents = [np.minimum(rng.permutation(n) // k, n // k - 1).astype(np.int32) for _ in range(2)]
    child = recombine(points, *parents)
    check(points, child, k)
    assert sse(points, child) <= min(sse(points, parent) for parent in parents) + 1e-9


def test_a_choice_puts_together_the_best_of_all_groups_seen() -> None:
    points = np.array([[0.0], [1], [10], [11], [20], [21]])
    pool = Pool(points, 100)
    for labels in ([0, 0, 1, 2, 1, 2], [0, 1, 0, 1, 2, 2], [0, 2, 1, 1, 0, 2]):
        pool.add(np.array(labels, np.int32), group_costs(points, np.array(labels, np.int32)))
    chosen = pool.choose(None)
    assert chosen is not None
    assert sse(points, chosen) == pytest.approx(1.5)


def test_plain_function_scales_and_labels_in_order() -> None:
    values = np.random.default_rng(4).standard_normal((60, 3)) * [1, 1000, 1e-3] + [0, 5, 1e6]
    labels = partition(values, 3, seed=1)
    check(values, labels, 3)
    assert np.array_equal(labels, partition(values, 3, seed=1))
    assert labels[0] == 0
    assert np.array_equal(np.unique(labels, return_index=True)[1], np.sort(np.unique(labels, return_index=True)[1]))
    assert np.array_equal(partition(values, 3, seed=1), partition(z_scores(values), 3, seed=1, scale=False))
    assert sse(z_scores(values), labels) < sse(z_scores(values), partition(values, 3, scale=False, seed=1))
    assert len(np.unique(partition(values[:, 0], 5, "univariate"))) > 5


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_cannot_be_grouped_is_refused_with_its_column(bad: float) -> None:
    values = np.ones((10, 3))
    values[4, 1] = bad
    with pytest.raises(TableError, match="column number 1"):
        partition(values, 3)
    with pytest.raises(TableError, match="'income'"):
        partition(values, 3, names=["age", "income", "tax"])


def test_other_refusals_say_what_to_do() -> None:
    with pytest.raises(TableError, match="choose k of at most 3"):
        partition(np.ones((3, 2)), 4)
    with pytest.raises(TableError, match="not a number"):
        partition([["a", "b"], ["c", "d"]], 2)
    with pytest.raises(PlanError, match="no partitioner called 'memetik'"):
        partition(np.ones((9, 2)), 3, "memetik")
    with pytest.raises(PlanError, match="'mdav' takes no seconds"):
        partition(np.ones((9, 2)), 3, "mdav", seconds=1)
    with pytest.raises(PlanError, match="heat"):
        partition(np.ones((9, 2)), 3, heat=-1)
