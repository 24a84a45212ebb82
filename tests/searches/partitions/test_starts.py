"""Cheap first partitions: in tasks, on any engine, of every k, and little worse than MDAV on the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.engines import Serial
from crypsis.evolution import State
from crypsis.kernels.annealing import sse
from crypsis.masking.partitioning import MDAV
from crypsis.searches.memetic import Annealing
from crypsis.searches.partitions import space as partition_space
from crypsis.searches.partitions.chains import PartitionChains, QuickScores, problem_of_partition_chains
from crypsis.searches.partitions.refinements import BlockRefinement
from crypsis.searches.partitions.space import NeighbourSearch, PartitionSpace


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(40, 300), st.integers(1, 30), st.integers(2, 6), st.integers(1, 6), st.booleans()
)
def test_every_rung_has_groups_between_k_and_twice_k(seed: int, n: int, p: int, k: int, times: int, flat: bool) -> None:
    """Also where records are equal, in wide tables, and for a k that is no multiple of the smallest."""
    points = np.random.default_rng(seed).integers(0, 2 if flat else 1000, (n, p)).astype(np.float64)
    space = PartitionSpace(points, (k, k * times + 1))
    least = partition_space.first_partition_of_space(space, k)
    for rung, labels in (
        (k, least),
        (k * times + 1, partition_space.first_partition_of_space(space, k * times + 1, least)),
    ):
        sizes = np.bincount(labels)
        assert sizes.min() >= min(rung, n)
        assert sizes.max() < max(2 * rung, n if n < 2 * rung else 0) or n < 2 * rung


def test_blocks_on_a_few_directions_lose_little_against_mdav_on_the_whole() -> None:
    rng = np.random.default_rng(3)
    points = rng.standard_normal((3000, 6)) @ rng.standard_normal((6, 40)) + 0.1 * rng.standard_normal((3000, 40))
    space = PartitionSpace(points, (5, 10))
    least = partition_space.first_partition_of_space(space, 5)
    for k, labels in ((5, least), (10, partition_space.first_partition_of_space(space, 10, least))):
        whole = sse(points, MDAV().partition(points, k, rng))
        assert sse(points, labels) < 1.1 * whole


@pytest.mark.parametrize("refinement", [Annealing(), BlockRefinement()])
def test_a_start_in_tasks_is_the_start_made_at_once_and_resumes(
    refinement: Annealing | BlockRefinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("START_AT_ONCE", 0), ("BLOCK", 60), ("START_TASK", 100)):
        monkeypatch.setattr(partition_space, name, value)
    monkeypatch.setattr("crypsis.searches.partitions.chains.START_AT_ONCE", 0)
    space = PartitionSpace(np.random.default_rng(5).standard_normal((500, 4)), (3, 5, 12))
    chains = PartitionChains(space, refinement, 2)
    posed = problem_of_partition_chains(chains, QuickScores(space), ("loss", "risk"), np.random.default_rng(1), {})
    state, quanta = posed.strategy.begin(posed, np.random.default_rng(1), Serial()), 1
    assert not state.whole
    assert not len(state.genomes), "the first quantum has only a task of the first partition"
    while not state.whole:
        again = replace(posed, strategy=PartitionChains(PartitionSpace(space.points, space.k_grid), refinement, 2))
        state = again.strategy.advance(again, State.from_bytes(state.to_bytes()), Serial())
        quanta += 1
    assert quanta > 6
    assert [g.tolist() for g in state.genomes] == [g.tolist() for g in posed.first()]
    later = posed.strategy.advance(posed, state, Serial())
    assert later.generation == 1
    assert (later.scores[:, 0] <= state.scores[:, 0]).all()


@pytest.mark.parametrize("exact", [True, False])
def test_a_neighbour_search_in_tasks_is_the_one_made_at_once(exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(2).standard_normal((2500, 3))
    whole = NeighbourSearch(points, 12, exact=exact).complete()
    monkeypatch.setattr("crypsis.searches.partitions.space.TASK_COORDINATES", 1)
    search, tasks = NeighbourSearch(points, 12, exact=exact), 1
    while not search.more(Serial()):
        tasks += 1
    assert tasks >= 3
    assert all(np.array_equal(one, two) for one, two in zip(search.complete(), whole, strict=True))
