"""The genetic microaggregation: what it promises, and the paper's experiments in small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import PlanError, SearchError, TableError
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.kernels.squares import sse
from crypsis.masking.partition import partitioners
from crypsis.searches.exhaustive import optimal_partition
from crypsis.searches.partitions.genetic import Genetic, renumbered, run_genetic
from reference import standardised

PAPER = {"population": 10, "epochs": 10_000, "crossover_rate": 0.5, "mutation_rate": 0.1}


def uniform(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Random n × d data as in the paper: simple random sampling from [−10000, 10000], then standardised."""
    return standardised(np.random.default_rng(seed).uniform(-1e4, 1e4, (n, d)))


def mdav_loss(points: np.ndarray) -> float:
    return sse(points, mdav(points, 3, GENERIC, EUCLIDEAN))


@pytest.mark.parametrize("d", [2, 3, 5, 7, 10])
def test_eleven_records_reach_the_optimum(d: int) -> None:
    points = uniform(11, d)
    best = optimal_partition(points, 3)[1]
    settings = PAPER | {"population": 50}
    runs = [run_genetic(points, 3, **settings, seed=seed) for seed in range(10)]
    assert sum(run.sse <= best * (1 + 1e-9) for run in runs) >= 9


@pytest.mark.parametrize(("n", "population", "epochs"), [(20, 30, 10_000), (35, 50, 10_000)])
def test_small_tables_end_below_mdav(n: int, population: int, epochs: int) -> None:
    points = uniform(n, 2)
    settings = PAPER | {"population": population, "epochs": epochs}
    assert min(run_genetic(points, 3, **settings, seed=seed).sse for seed in range(2)) < mdav_loss(points)


def test_a_hundred_records_end_above_mdav() -> None:
    points = uniform(100, 2)
    assert run_genetic(points, 3, **PAPER, seed=0).sse > mdav_loss(points)


def test_without_a_place_for_the_best_the_papers_figures_are_out_of_reach() -> None:
    points = uniform(35, 2)
    forgetful = run_genetic(points, 3, **PAPER, seed=0, keep_best=False)
    assert forgetful.sse > 2 * mdav_loss(points)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(2, 30),
    k=st.integers(1, 6),
    p=st.integers(1, 3),
    grid=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_results_are_partitions_and_say_their_sse(n: int, k: int, p: int, grid: bool, seed: int) -> None:
    n = max(n, k)
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (n, p)).astype(float) if grid else rng.standard_normal((n, p))
    result = run_genetic(points, k, **PAPER | {"epochs": 60}, seed=seed)
    sizes = np.bincount(result.labels)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k or k == 1
    assert result.sse == pytest.approx(sse(points, result.labels), rel=1e-9, abs=1e-9)
    assert (np.diff(result.history) <= 0).all()
    assert result.history[-1] == result.sse
    assert result.history[result.convergence_epoch] == result.sse
    if result.convergence_epoch:
        assert result.history[result.convergence_epoch - 1] > result.sse


@settings(max_examples=20, deadline=None)
@given(n=st.integers(6, 40), seed=st.integers(0, 2**32))
def test_never_worse_than_its_start(n: int, seed: int) -> None:
    points = np.random.default_rng(seed).standard_normal((n, 2))
    start = mdav(points, 3, GENERIC, EUCLIDEAN)
    for keep_best in (True, False):
        result = run_genetic(points, 3, **PAPER | {"epochs": 30}, seed=seed, start=start, keep_best=keep_best)
        assert result.sse <= sse(points, start) * (1 + 1e-12)


def test_same_seed_same_run_and_input_untouched() -> None:
    points = uniform(25, 3)
    before = points.copy()
    one, same, other = (run_genetic(points, 3, **PAPER | {"epochs": 200}, seed=seed) for seed in (4, 4, 5))
    assert one.labels.tolist() == same.labels.tolist()
    assert one.history.tolist() == same.history.tolist() != other.history.tolist()
    np.testing.assert_array_equal(points, before)


def test_partitioner_is_registered_and_bounded() -> None:
    partitioner = partitioners.build("genetic", population=20, epochs=100)
    assert isinstance(partitioner, Genetic)
    labels = partitioner.partition(uniform(14, 2), 3, np.random.default_rng(0))
    assert np.bincount(labels).min() >= 3
    assert labels.dtype == np.int32
    for bad in ({"population": 1}, {"mutation_rate": 1.5}, {"epochs": -1}, {"mutation": 0.1}):
        with pytest.raises(PlanError):
            partitioners.build("genetic", **bad)


def test_bad_input_is_refused_in_a_sentence() -> None:
    points = uniform(9, 2)
    with pytest.raises(TableError, match="9 records cannot form"):
        run_genetic(points, 10, **PAPER, seed=0)
    broken = points.copy()
    broken[3, 1] = np.nan
    with pytest.raises(TableError, match="position 1"):
        run_genetic(broken, 3, **PAPER, seed=0)
    with pytest.raises(SearchError, match="labels 4 records"):
        run_genetic(points, 3, **PAPER, seed=0, start=np.zeros(4, dtype=np.int32))
    with pytest.raises(SearchError, match="groups of 9 to 9"):
        run_genetic(points, 3, **PAPER, seed=0, start=np.zeros(9, dtype=np.int32))


def test_nothing_to_search() -> None:
    points = uniform(5, 2)
    assert run_genetic(points, 1, **PAPER, seed=0).labels.tolist() == [0, 1, 2, 3, 4]
    assert run_genetic(points, 3, **PAPER, seed=0).labels.tolist() == [0] * 5
    assert run_genetic(points, 5, **PAPER, seed=0).convergence_epoch == 0


def test_constant_columns_change_nothing() -> None:
    points = uniform(15, 2)
    padded = np.column_stack([points, np.full(15, 7.0)])
    short = PAPER | {"epochs": 300}
    assert (
        run_genetic(points, 3, **short, seed=1).labels.tolist()
        == run_genetic(padded, 3, **short, seed=1).labels.tolist()
    )


def test_renumbered_by_first_appearance() -> None:
    assert renumbered(np.array([7, 3, 7, 0], dtype=np.int32)).tolist() == [0, 1, 0, 2]
