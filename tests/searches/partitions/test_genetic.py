"""The genetic microaggregation: what it promises, and the paper's experiments in small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import PlanError, TableError
from crypsis.kernels.annealing import sse
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.masking.partitioning import partitioners
from crypsis.searches.ga_microaggregation import QUANTUM, Genetic, GeneticResult, renumber_ga_microaggregation_groups
from crypsis.searches.partitions.lower_bound import optimal_partition
from reference import standardised

PAPER = {"population": 10, "epochs": 10_000, "crossover_rate": 0.5, "mutation_rate": 0.1}


def evolved(points: np.ndarray, k: int, seed: int, **changed: Any) -> GeneticResult:
    """One run with the paper's settings."""
    return Genetic(**PAPER | changed).run(points, k, np.random.default_rng(seed))


def uniform(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Random n × d data as in the paper: simple random sampling from [−10000, 10000], then standardised."""
    return standardised(np.random.default_rng(seed).uniform(-1e4, 1e4, (n, d)))


def mdav_loss(points: np.ndarray) -> float:
    return sse(points, mdav(points, 3, GENERIC, EUCLIDEAN))


@pytest.mark.parametrize("d", [2, 3, 5, 7, 10])
def test_eleven_records_reach_the_optimum(d: int) -> None:
    points = uniform(11, d)
    best = optimal_partition(points, 3)[1]
    runs = [evolved(points, 3, seed, population=50) for seed in range(10)]
    assert sum(run.sse <= best * (1 + 1e-9) for run in runs) >= 9


@pytest.mark.parametrize(("n", "population", "epochs"), [(20, 30, 10_000), (35, 50, 10_000)])
def test_small_tables_end_below_mdav(n: int, population: int, epochs: int) -> None:
    points = uniform(n, 2)
    runs = [evolved(points, 3, seed, population=population, epochs=epochs) for seed in range(2)]
    assert min(run.sse for run in runs) < mdav_loss(points)


def test_a_hundred_records_end_above_mdav() -> None:
    points = uniform(100, 2)
    assert evolved(points, 3, 0).sse > mdav_loss(points)


def test_without_a_place_for_the_best_the_papers_figures_are_out_of_reach() -> None:
    points = uniform(35, 2)
    forgetful = evolved(points, 3, 0, keep_best=False)
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
    states = list(Genetic(**PAPER | {"epochs": 60}).search(points, k, np.random.default_rng(seed)))
    result = evolved(points, k, seed, epochs=60)
    sizes = np.bincount(result.labels)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k or k == 1
    assert result.sse == pytest.approx(sse(points, result.labels), rel=1e-9, abs=1e-9)
    assert result.sse == states[-1].best_scores[0]
    assert 0 <= result.convergence_epoch <= 60
    assert (result.convergence_epoch == 0) == (result.sse == states[0].best_scores[0])


def test_a_run_that_ends_at_the_optimum_returns_what_it_would_have() -> None:
    points = uniform(12, 2)
    least = optimal_partition(points, 3)[1]
    for seed in range(3):
        long = evolved(points, 3, seed)
        short = Genetic(**PAPER).run(points, 3, np.random.default_rng(seed), least=least)
        assert (short.labels.tolist(), short.convergence_epoch) == (long.labels.tolist(), long.convergence_epoch)


def test_a_run_advances_by_a_fixed_number_of_genes() -> None:
    points, rng = uniform(50, 2), np.random.default_rng(0)
    states = list(Genetic(population=100, epochs=2000).search(points, 3, rng))
    each = QUANTUM // (100 * 50)
    assert [int(state.memory["0/epochs"][0, 1]) for state in states] == [0, each, 2 * each, 2000, 2000]
    assert [state.idle for state in states] == [0, 0, 0, 0, 1]


def test_same_seed_same_run_and_input_untouched() -> None:
    points = uniform(25, 3)
    before = points.copy()
    one, same, other = (evolved(points, 3, seed, epochs=200) for seed in (4, 4, 5))
    assert one.labels.tolist() == same.labels.tolist()
    assert (one.sse, one.convergence_epoch) == (same.sse, same.convergence_epoch)
    assert one.labels.tolist() != other.labels.tolist()
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
        evolved(points, 10, 0)
    broken = points.copy()
    broken[3, 1] = np.nan
    with pytest.raises(TableError, match="position 1"):
        evolved(broken, 3, 0)


def test_nothing_to_search() -> None:
    points = uniform(5, 2)
    assert evolved(points, 1, 0).labels.tolist() == [0, 1, 2, 3, 4]
    assert evolved(points, 3, 0).labels.tolist() == [0] * 5
    assert evolved(points, 5, 0).convergence_epoch == 0


def test_constant_columns_change_nothing() -> None:
    points = uniform(15, 2)
    padded = np.column_stack([points, np.full(15, 7.0)])
    assert evolved(points, 3, 1, epochs=300).labels.tolist() == evolved(padded, 3, 1, epochs=300).labels.tolist()


def test_renumbered_by_first_appearance() -> None:
    assert renumber_ga_microaggregation_groups(np.array([7, 3, 7, 0], dtype=np.int32)).tolist() == [0, 1, 0, 2]
