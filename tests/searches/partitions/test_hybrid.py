"""One-step and two-step hybrids: Lemma 1, independence of order, the paper's example and its Table 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import PlanError, TableError
from crypsis.kernels.annealing import sse
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.masking.partitioning import partitioners
from crypsis.searches.hybrid_microaggregation import OneStep, TwoStep, group_means_for_hybrid, split_hybrid_groups
from reference import EIA_COLUMNS, numeric, standardised

FIGURE_1 = np.array(
    [[0, 0], [1, 0], [0, 1], [6, 0], [7, 0], [6, 1], [12, 0], [12, 1], [13, 0], [13, 1], [13.5, 0.5]], dtype=float
)
"""Eleven points placed as in Figure 1: natural groups {1, 2, 3}, {4, 5, 6} and {7, …, 11}."""


def groups(labels: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(np.flatnonzero(labels == group) + 1) for group in range(labels.max() + 1)}


class Backwards:
    """An engine that works from the last item to the first."""

    def map(self, function: Callable[[Any, Any], Any], items: Sequence[Any], shared: Any = None) -> list[Any]:
        return [function(shared, item) for item in reversed(items)][::-1]


def test_figure_one_mdav_splits_the_natural_group_and_both_hybrids_find_it() -> None:
    rng = np.random.default_rng(0)
    assert groups(mdav(FIGURE_1, 3, GENERIC, EUCLIDEAN)) == {(1, 2, 3), (4, 5, 6, 7, 8), (9, 10, 11)}
    optimal = {(1, 2, 3), (4, 5, 6), (7, 8, 9, 10, 11)}
    for hybrid in (OneStep(), TwoStep(), OneStep(solver="exact"), TwoStep(solver="exact")):
        assert groups(hybrid.partition(FIGURE_1, 3, rng)) == optimal


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 70),
    k=st.integers(1, 5),
    size=st.integers(5, 20),
    heuristic=st.sampled_from(["mdav", "v-mdav", "cbfs", "univariate"]),
    solver=st.sampled_from(["genetic", "exact"]),
    grid=st.booleans(),
    keep_best=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_lemma_one(
    n: int, k: int, size: int, heuristic: str, solver: Any, grid: bool, keep_best: bool, seed: int
) -> None:
    """Two-step never ends above the heuristic it started from; every result has groups of at least k."""
    n = max(n, k)
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (n, 2)).astype(float) if grid else rng.standard_normal((n, 2))
    chosen = {
        "heuristic": heuristic,
        "macrogroup": min(size, 14),
        "solver": solver,
        "epochs": 20,
        "keep_best": keep_best,
    }
    alone = sse(points, partitioners.build(heuristic).partition(points, k, np.random.default_rng(0)))
    for hybrid in (TwoStep(**chosen), OneStep(**chosen), OneStep(**chosen, seeded=False)):
        result = hybrid.run(points, k, np.random.default_rng(seed))
        assert np.bincount(result.labels).min() >= k
        assert result.sse == pytest.approx(sse(points, result.labels))
        assert not result.sse > result.start_sse * (1 + 1e-9) + 1e-12
        if isinstance(hybrid, TwoStep):
            assert result.start_sse <= alone * (1 + 1e-9) + 1e-12


def test_order_of_the_work_changes_nothing() -> None:
    points = np.random.default_rng(0).standard_normal((120, 3))
    for hybrid in (OneStep(macrogroup=15, epochs=50), TwoStep(macrogroup=15, epochs=50)):
        forwards = hybrid.run(points, 3, np.random.default_rng(1))
        backwards = hybrid.run(points, 3, np.random.default_rng(1), Backwards())
        assert forwards.labels.tolist() == backwards.labels.tolist()
        assert forwards.labels.tolist() != hybrid.run(points, 3, np.random.default_rng(2)).labels.tolist()


@pytest.mark.parametrize(
    ("name", "columns", "mdav_printed", "one_step", "two_step"),
    [("census.csv", None, 799.18, 860.10, 767.93), ("eia.csv", EIA_COLUMNS, 217.38, 413.21, 187.01)],
)
def test_table_two_with_macrogroups_of_twelve_solved_exactly(
    name: str, columns: list[str] | None, mdav_printed: float, one_step: float, two_step: float
) -> None:
    points = standardised(numeric(name, columns))
    assert sse(points, mdav(points, 3, GENERIC, EUCLIDEAN)) == pytest.approx(mdav_printed, abs=0.005)
    settled = {"macrogroup": 12, "solver": "exact"}
    rng = np.random.default_rng(0)
    assert OneStep(**settled).run(points, 3, rng).sse == pytest.approx(one_step, abs=0.005)
    found = TwoStep(**settled).run(points, 3, rng)
    assert found.sse == pytest.approx(two_step, abs=0.005)
    assert found.start_sse == pytest.approx(mdav_printed, abs=0.005)


@pytest.mark.parametrize(("size", "one_step", "two_step"), [(18, -10, 4), (27, -15, 1)])
def test_table_two_census_evolved(size: int, one_step: float, two_step: float) -> None:
    """Per cent below MDAV as printed, within three points."""
    points = standardised(numeric("census.csv"))
    two = TwoStep(macrogroup=size).run(points, 3, np.random.default_rng(0))
    one = OneStep(macrogroup=size).run(points, 3, np.random.default_rng(0))
    assert 100 * (1 - two.sse / two.start_sse) == pytest.approx(two_step, abs=3)
    assert 100 * (1 - one.sse / two.start_sse) == pytest.approx(one_step, abs=3)


def test_one_step_from_nothing_ends_higher() -> None:
    points = np.random.default_rng(0).standard_normal((200, 4))
    seeded, random = (
        OneStep(seeded=chosen, epochs=500).run(points, 3, np.random.default_rng(0)) for chosen in (True, False)
    )
    assert seeded.sse < random.sse
    assert np.isnan(random.start_sse)


def test_settings_are_judged() -> None:
    points = np.random.default_rng(0).standard_normal((30, 2))
    rng = np.random.default_rng(0)
    with pytest.raises(PlanError, match="cannot hold groups of 5"):
        TwoStep(macrogroup=4).partition(points, 5, rng)
    with pytest.raises(PlanError, match="no partitioner 'mdva'"):
        partitioners.build("one-step", heuristic="mdva")
    with pytest.raises(TableError, match="30 records cannot form"):
        OneStep(macrogroup=50).partition(points, 31, rng)


def test_degenerate_input() -> None:
    rng = np.random.default_rng(0)
    points = np.random.default_rng(0).standard_normal((7, 2))
    for hybrid in (OneStep(), TwoStep()):
        assert hybrid.partition(points, 4, rng).tolist() == [0] * 7
        assert hybrid.partition(points, 1, rng).tolist() == list(range(7))
        assert np.bincount(hybrid.partition(points, 3, rng)).tolist() in ([3, 4], [4, 3])
        assert np.bincount(hybrid.partition(np.zeros((40, 3)), 3, rng)).min() >= 3


def test_oversized_groups_are_split_before_they_start() -> None:
    points = np.random.default_rng(0).standard_normal((20, 2))
    labels = split_hybrid_groups(points, np.repeat(np.array([5, 2], dtype=np.int32), [15, 5]), 3)
    assert np.bincount(labels).max() < 6
    assert len(set(labels[:15]) & set(labels[15:])) == 0


def test_group_means_by_hand() -> None:
    means = group_means_for_hybrid(np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0], dtype=np.int32))
    assert means.tolist() == [[2.0], [2.0]]
