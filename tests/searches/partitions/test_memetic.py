"""The memetic partitioner: never worse than MDAV, the same bits for the same steps, and kind to odd tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crypsis.evolution import Budget
from crypsis.kernels.annealing import sse
from crypsis.masking.partitioning import MDAV
from crypsis.searches.memetic import (
    FIRST_RUN,
    LONGEST_RUN,
    MOVES,
    Memetic,
    moves_of_memetic_quantum,
    quanta_of_memetic_run,
    recombine_memetic_partitions,
)
from crypsis.searches.partitions.chains import last_state_of_chains
from crypsis.searches.partitions.partition import PartitionResult, partition
from crypsis.searches.partitions.space import PartitionAnnealer, group_costs_in_space
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


def memetic(points: NDArray[np.float64], k: int, steps: int, seed: int = 1) -> PartitionResult:
    return partition(points, k, steps=steps, seed=seed, scale=False)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 60),
    k=st.integers(1, 8),
    distinct=st.sampled_from([1, 2, 7, 10**6]),
    steps=st.sampled_from([0, 1, 1500]),
)
def test_never_worse_than_mdav_and_repeatable(seed: int, n: int, k: int, distinct: int, steps: int) -> None:
    """Duplicates, constant columns, n barely ≥ k and k near n/2 included."""
    points = np.random.default_rng(seed).integers(0, distinct, (n, 2)).astype(np.float64)
    points = np.column_stack((points, np.full(n, 3.0)))
    k = min(k, n)
    found, again = memetic(points, k, steps, seed), memetic(points, k, steps, seed)
    check(points, found.labels, k)
    assert np.array_equal(found.labels, again.labels)
    assert found.sse == pytest.approx(sse(points, found.labels))
    assert found.sse <= mdav(points, k) * (1 + 1e-12)
    assert found.bound <= found.sse + 1e-9
    assert 0 <= found.gap <= 1


@pytest.mark.parametrize("k", [3, 8])
def test_more_quanta_are_never_worse(k: int) -> None:
    """What a budget buys is a part of what a larger one buys, quantum by quantum."""
    points = np.random.default_rng(9).standard_normal((150, 3))
    states = list(Memetic().search(points, k, np.random.default_rng(1), Budget(generations=26)))
    values = [state.best_scores[0] for state in states]
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]
    for given_quanta in (0, 1, 6, 16):
        shorter = last_state_of_chains(
            Memetic().search(points, k, np.random.default_rng(1), Budget(generations=given_quanta))
        )
        assert shorter.to_bytes() == states[given_quanta].to_bytes()


@pytest.mark.parametrize("steps", [1, 20, 599, 600, 1000, 4001])
def test_steps_are_moves_per_record(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = [0]

    def counted(annealer: PartitionAnnealer, most: int, hot: float, cold: float) -> float:
        tried[0] += most
        return anneal(annealer, most, hot, cold)

    def freed(annealer: PartitionAnnealer, rounds: int, records: int, most: int, hot: float, cold: float) -> float:
        tried[0] += rounds * most
        return resolve(annealer, rounds, records, most, hot, cold)

    anneal, resolve = PartitionAnnealer.anneal, PartitionAnnealer.resolve
    monkeypatch.setattr(PartitionAnnealer, "anneal", counted)
    monkeypatch.setattr(PartitionAnnealer, "resolve", freed)
    points = np.random.default_rng(9).standard_normal((150, 3))
    states = list(Memetic(steps=steps).search(points, 3, np.random.default_rng(1)))
    assert states[-1].idle == 1, "then nothing is left to do"
    assert 0.85 * steps * 150 <= tried[0] <= steps * 150, "regions are freed a whole number of times"


def test_the_long_run_ends_before_the_steps_do() -> None:
    """A first run, one that melts the partition, and regions solved again with what is left."""
    for records in (100, 1000, 10_000):
        for steps in (600, 3000, 20_000):
            spent = (
                quanta_of_memetic_run(records, 0, steps) + quanta_of_memetic_run(records, 1, steps)
            ) * moves_of_memetic_quantum(records)
            assert spent <= steps * records
            assert quanta_of_memetic_run(records, 1, steps) * moves_of_memetic_quantum(records) <= LONGEST_RUN * (
                records + 3000
            ) + moves_of_memetic_quantum(records)
        assert quanta_of_memetic_run(records, 0, 599) * moves_of_memetic_quantum(records) == pytest.approx(
            599 * records, rel=0.1
        )


def test_a_first_run_ends_within_few_steps() -> None:
    """20 moves per record are less than a first run has by itself; it cools down all the same."""
    points = np.random.default_rng(9).standard_normal((2000, 3))
    assert quanta_of_memetic_run(2000, 0) * moves_of_memetic_quantum(2000) > 20 * 2000
    assert memetic(points, 3, steps=20).sse < mdav(points, 3)


def test_quanta_are_fixed_by_the_table() -> None:
    """A first run of 150 moves per record, each later one twice as long, up to a longest; at most so many at a time."""
    assert [moves_of_memetic_quantum(n) for n in (20, 400, 1000, 10_000, 100_000)] == [
        3000,
        60_000,
        MOVES,
        25_000,
        100_000,
    ]
    assert [quanta_of_memetic_run(2000, run) * MOVES for run in range(3)] == [300_000, 600_000, 1_200_000]
    assert quanta_of_memetic_run(400, 0) * moves_of_memetic_quantum(400) == FIRST_RUN * 400
    assert quanta_of_memetic_run(1000, 30) * MOVES == LONGEST_RUN * 4000


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 9), k=st.integers(2, 3))
def test_small_tables_are_solved_to_the_optimum(seed: int, n: int, k: int) -> None:
    points = np.random.default_rng(seed).standard_normal((n, 2))
    best = min(total_sse(points, groups) for groups in partitions(list(range(n)), k))
    found = memetic(points, k, steps=100)
    assert found.sse == pytest.approx(best)
    assert (found.bound_kind, found.gap) == ("optimum", pytest.approx(0.0, abs=1e-9))


def test_what_can_be_solved_by_full_search_needs_no_more_time() -> None:
    """The loop ends by itself where nothing is left to do, whatever the budget."""
    points = np.random.default_rng(1).standard_normal((12, 2))
    states = list(Memetic(seconds=1_000_000).search(points, 3, np.random.default_rng(1)))
    assert [state.idle for state in states] == [0, 1]


def test_the_bound_is_stated_with_its_name() -> None:
    points = np.random.default_rng(8).standard_normal((60, 5))
    found = memetic(points, 3, steps=50_000)
    assert "column-generation bound" in str(found)
    assert found.gap < 0.02


def test_a_budget_of_zero_is_mdav() -> None:
    points = np.random.default_rng(1).standard_normal((50, 3))
    expected = MDAV().partition(points, 4, np.random.default_rng(0))
    for partitioner in (Memetic(steps=0), Memetic(seconds=0), Memetic(seconds=0, steps=100)):
        assert np.array_equal(partitioner.partition(points, 4, np.random.default_rng(1)), expected)
    assert np.array_equal(partition(points, 4, seconds=0), partition(points, 4, "mdav"))


def test_time_and_target_stop_a_search() -> None:
    points = np.random.default_rng(2).standard_normal((120, 3))
    easy = mdav(points, 3) * 0.99
    found = last_state_of_chains(Memetic().search(points, 3, np.random.default_rng(1), budget=Budget(target=easy)))
    assert found.best_scores[0] <= easy
    timed = partition(points, 3, seconds=0.2, seed=1, scale=False)
    assert timed.sse < mdav(points, 3)


def test_more_steps_find_less_loss_on_census_and_eia() -> None:
    for points, limit in (
        (standardised(numeric("census.csv")), 4.95),
        (standardised(numeric("eia.csv", EIA_COLUMNS)), 0.375),
    ):
        found = memetic(points, 3, steps=3_000_000 // len(points))
        assert 100 * found.sse / np.square(points).sum() < limit
        assert "nearest-neighbour bound" in str(found)


def test_every_setting_moves_something() -> None:
    points = np.random.default_rng(3).standard_normal((150, 3))

    def outcome(**changed: float) -> bytes:
        partitioner = Memetic.model_validate({"steps": 2000} | changed)
        return partitioner.partition(points, 4, np.random.default_rng(1)).tobytes()

    usual = outcome()
    assert usual == outcome()
    for changed in ({"steps": 30}, {"seconds": 0.0}, {"initial_temperature": 0.2}, {"region": 20}):
        assert outcome(**changed) != usual, changed


def test_recombination_takes_the_cheaper_side_of_every_component() -> None:
    """Rows 0–3 are better in the first parent, rows 4–7 in the second, rows 8 and 9 alike in both."""
    points = np.array([[0.0], [1], [10], [11], [20], [21], [30], [31], [50], [51]])
    one = np.array([0, 0, 1, 1, 2, 3, 2, 3, 4, 4], np.int32)
    other = np.array([0, 1, 0, 1, 2, 2, 3, 3, 4, 4], np.int32)
    child = recombine_memetic_partitions(points, one, other)
    assert lists(child) == [[0, 1], [2, 3], [8, 9], [4, 5], [6, 7]] or total_sse(points, lists(child)) == 2.5
    assert group_costs_in_space(points, one) == pytest.approx([group_sse(points, rows) for rows in lists(one)])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 40), k=st.integers(2, 5))
def test_a_child_is_never_worse_than_its_better_parent(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    n = max(n, 2 * k)
    points = rng.standard_normal((n, 2))
    parents = [np.minimum(rng.permutation(n) // k, n // k - 1).astype(np.int32) for _ in range(2)]
    child = recombine_memetic_partitions(points, *parents)
    check(points, child, k)
    assert sse(points, child) <= min(sse(points, parent) for parent in parents) + 1e-9
