"""The strategy of the searches over partitions: chains that stay, quanta that resume to the bit on any engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.engines import Processes, Serial
from crypsis.evolution import Problem, State
from crypsis.kernels.annealing import sse
from crypsis.searches.ga_microaggregation import Genetic
from crypsis.searches.hybrid_microaggregation import OneStep, TwoStep
from crypsis.searches.memetic import Memetic
from crypsis.searches.partitions import space
from crypsis.searches.partitions.chains import PartitionChains, QuickScores, Refinement, problem_of_partition_chains
from crypsis.searches.partitions.refinements import BlockRefinement
from crypsis.searches.partitions.space import PartitionSpace

K_GRID = (3, 5, 9)
REFINEMENTS: dict[str, Refinement] = {
    "memetic": Memetic().refinement(),
    "genetic": Genetic(epochs=20_000).refinement(),
    "one-step": OneStep(epochs=4000, macrogroup=30).refinement(),
    "two-step": TwoStep(epochs=4000, macrogroup=30).refinement(),
    "two-step, exact": TwoStep(solver="exact", macrogroup=12).refinement(),
    "blocks": BlockRefinement(),
}
EVERY = pytest.mark.parametrize("name", list(REFINEMENTS))


class Backwards:
    """An engine that works from the last item to the first, and hands over what may not be written to."""

    def map(self, function: Callable[[Any, Any], Any], items: Sequence[Any], shared: Any = None) -> list[Any]:
        return [function(shared, locked(item)) for item in reversed(items)][::-1]


def locked(item: Any) -> Any:
    """The item with its arrays read-only, as an engine's memory maps are."""
    for part in vars(item).values() if hasattr(item, "__dict__") else ():
        for array in part.values() if isinstance(part, dict) else part if isinstance(part, tuple) else (part,):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    return item


def problem(name: str, chains: int = 2, k_grid: tuple[int, ...] = K_GRID, records: int = 60) -> Problem:
    points = np.random.default_rng(5).standard_normal((records, 3))
    space = PartitionSpace(points, k_grid)
    strategy = PartitionChains(space, REFINEMENTS[name], chains)
    return problem_of_partition_chains(strategy, QuickScores(space), ("loss", "risk"), np.random.default_rng(0), {})


def states(posed: Problem, quanta: int, engine: Any = None) -> list[State]:
    engine = engine or Serial()
    found = [posed.strategy.begin(posed, np.random.default_rng(1), engine)]
    for _ in range(quanta):
        found.append(posed.strategy.advance(posed, found[-1], engine))
    return found


@EVERY
def test_a_run_resumed_from_its_bytes_is_the_run_that_was_never_interrupted(name: str) -> None:
    whole = [state.to_bytes() for state in states(problem(name), 6)]
    for stopped in (0, 1, 2, 5):
        state, afresh = State.from_bytes(whole[stopped]), problem(name)
        for later in whole[stopped + 1 :]:
            state = afresh.strategy.advance(afresh, State.from_bytes(state.to_bytes()), Serial())
            assert state.to_bytes() == later


@EVERY
def test_order_and_place_of_the_work_change_nothing(name: str) -> None:
    here = [state.to_bytes() for state in states(problem(name), 4)]
    assert [state.to_bytes() for state in states(problem(name), 4, Backwards())] == here


def test_two_processes_give_the_same_bits() -> None:
    with Processes(2) as two:
        for name in REFINEMENTS:
            here, there = states(problem(name), 3), states(problem(name), 3, two)
            assert [state.to_bytes() for state in there] == [state.to_bytes() for state in here], name


@EVERY
def test_every_k_keeps_its_chain_and_never_becomes_worse(name: str) -> None:
    posed = problem(name)
    run = states(posed, 8)
    for before, after in pairwise(run):
        assert [int(genome[-1]) for genome in after.genomes] == list(K_GRID)
        assert (after.scores[:, 0] <= before.scores[:, 0]).all()
        assert all(np.bincount(genome[:-2]).min() >= genome[-1] for genome in after.genomes)
    assert (run[-1].scores[:, 0] < run[0].scores[:, 0]).sum() >= 2
    assert K_GRID[0] in {int(genome[-1]) for genome in run[-1].frontier.genomes}, "the smallest k is never lost"


def test_chains_take_turns() -> None:
    """Three of them, two at a time: 0 1, 2 0, 1 2, …"""
    run = states(problem("memetic"), 3)
    passed = [[int(state.memory[f"{number}/place"][2]) for number in range(3)] for state in run]
    assert passed == [[0, 0, 0], [1, 1, 0], [2, 1, 1], [2, 2, 2]]


def test_a_k_that_leaves_no_choice_has_its_only_partition_and_no_work() -> None:
    posed = problem("memetic", k_grid=(3, 40))
    run = states(posed, 3)
    assert run[-1].genomes[1].tolist() == [0] * 60 + [0, 40]
    assert not [name for name in run[-1].memory if name.startswith("1/")]
    assert int(run[-1].memory["0/place"][2]) == 3


def test_where_nothing_is_left_to_do_quanta_are_idle() -> None:
    run = states(problem("two-step, exact"), 8)
    assert run[-1].idle > 0
    assert run[-1].generation == 8
    assert run[-1].scores.tolist() == run[-2].scores.tolist()


def test_one_neighbour_search_serves_every_k(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(located: space.Located, count: int) -> space.NeighbourSearch:
        asked.append(count)
        return space.NeighbourSearch(located.points, count)

    monkeypatch.setattr(space.NeighbourSearch, "of", counted)
    states(problem("memetic", records=100), 6)
    assert asked == [27]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 40), k=st.integers(2, 4), largest=st.integers(4, 12))
def test_the_lists_of_a_shared_search_are_those_of_one_k_alone(seed: int, n: int, k: int, largest: int) -> None:
    points = np.random.default_rng(seed).standard_normal((n, 2))
    shared, alone = (PartitionSpace(points, k_grid).context(k) for k_grid in ((k, largest), (k,)))
    assert np.array_equal(shared.neighbours, alone.neighbours)
    assert shared.temperature_unit == pytest.approx(alone.temperature_unit)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(15, 60), k=st.integers(2, 5))
def test_groups_along_a_tour_are_a_partition(seed: int, n: int, k: int) -> None:
    points = np.random.default_rng(seed).integers(0, 5, (n, 2)).astype(np.float64)
    labels = PartitionSpace(points, (k,)).group_along_tour(k)
    assert labels is not None
    sizes = np.bincount(labels)
    assert (sizes.min() >= k, sizes.max() < 2 * k) == (True, True)


def test_quick_scores_by_hand() -> None:
    """0, 1 | 10, 12: SSE 2.5 of SST 112.75; two groups of four records."""
    records = PartitionSpace(np.array([[0.0], [1.0], [10.0], [12.0]]), (2,))
    assert QuickScores(records)(np.array([0, 0, 1, 1, 0, 2])) == pytest.approx((100 * 2.5 / 112.75, 50.0))
    assert sse(records.points, np.zeros(4, np.int32)) == pytest.approx(records.total) == pytest.approx(112.75)
    flat = PartitionSpace(np.ones((4, 1)), (2,))
    assert QuickScores(flat)(np.array([0, 0, 1, 1, 0, 2])) == (0.0, 50.0)
