"""Searches over a grid of group sizes: every k has a chain of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import crypsis
from crypsis.engines import Serial
from crypsis.errors import PlanError, SearchError
from crypsis.evolution import Problem, State
from crypsis.kernels.annealing import sse
from crypsis.masking.partitioning import MDAV
from crypsis.measures.information_loss import CellLoss
from crypsis.measures.objective import Objective
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.searches.ga_microaggregation import GaMicroaggregationSearch
from crypsis.searches.hybrid_microaggregation import HybridMicroaggregationSearch
from crypsis.searches.memetic import Annealing, Memetic, MemeticSearch
from crypsis.searches.partitions.chains import EvolvingPartitioner
from crypsis.searches.partitions.microaggregation_search import MicroaggregationSearch
from crypsis.searches.partitions.space import PartitionSpace
from crypsis.searches.search import searches
from crypsis.table.example import example
from crypsis.table.table import LOCAL


def advanced(problem: Problem, quanta: int, seed: int = 1) -> State:
    state = problem.strategy.begin(problem, np.random.default_rng(seed), Serial())
    for _ in range(quanta):
        state = problem.strategy.advance(problem, state, Serial())
    return state


@pytest.mark.parametrize("name", ["memetic", "hybrid-microaggregation"])
def test_every_k_stays_and_becomes_tighter_than_mdav(name: str) -> None:
    search = searches.build(name, k=3, k_values=4, largest_k=20)
    assert isinstance(search, MicroaggregationSearch)
    encoding = search.encoding(example(120, seed=2))
    state = advanced(search.problem(encoding, None, np.random.default_rng(0)), 12)
    points, k_grid = encoding.points, search.k_grid(encoding.table)
    assert [int(genome[-1]) for genome in state.genomes] == list(k_grid)
    for genome, k in zip(state.genomes, k_grid, strict=True):
        plain = sse(points, MDAV().partition(points, k, np.random.default_rng(0)))
        assert np.bincount(genome[:-2]).min() >= k
        assert sse(points, genome[:-2]) < plain or (name == "hybrid-microaggregation" and k > 10)


def test_the_genetic_algorithm_starts_from_nothing_and_improves_every_k() -> None:
    search = GaMicroaggregationSearch(k=3, k_values=3, largest_k=8)
    problem = search.pose(example(40, seed=2), None, np.random.default_rng(0))
    first, state = advanced(problem, 0), advanced(problem, 4)
    assert (state.scores[:, 0] < first.scores[:, 0]).all()


def test_in_blocks_every_k_stays_and_becomes_tighter() -> None:
    search = MemeticSearch(k=3, k_values=3, largest_k=12, blocks="always", chains_per_generation=3)
    problem = search.pose(example(400, seed=2), None, np.random.default_rng(0))
    first, state = advanced(problem, 0), advanced(problem, 4)
    assert [int(genome[-1]) for genome in state.genomes] == list(search.k_grid(example(400, seed=2)))
    assert all(np.bincount(genome[:-2]).min() >= int(genome[-1]) for genome in state.genomes)
    assert (state.scores[:, 0] < first.scores[:, 0]).all(), "exchanges between near groups made each k tighter"


def test_with_an_objective_a_chain_follows_it() -> None:
    """The chain keeps the partition of least measured loss, and annealing goes on from there."""
    table = example(120, seed=2)
    objective = Objective(table, {"loss": CellLoss(), "risk": RecordLinkage()})
    search = MemeticSearch(k=3, k_values=2, largest_k=9)
    encoding = search.encoding(table)
    problem = search.problem(encoding, objective, np.random.default_rng(0))
    state = advanced(problem, 16)
    for genome, scores in zip(state.genomes, state.scores, strict=True):
        assert objective.score(encoding.decode(problem.express_candidate(genome))) == tuple(scores)
    by_k = {int(genome[-1]): scores[0] for genome, scores in zip(state.genomes, state.scores, strict=True)}
    for genome, scores in zip(state.frontier.genomes, state.frontier.scores, strict=True):
        assert scores[0] >= by_k[int(genome[-1])]


def test_a_front_is_published_in_every_way() -> None:
    """Beside each k by typical values: common ancestors, the cheaper of both, and kept distributions."""
    search = MemeticSearch(k=3, k_values=2, largest_k=9, numbers="vary", categories="vary")
    with crypsis.evolve(example(120, seed=2), search=search, budget="3 generations", seed=1) as run:
        found = {s.message for s in run.solutions if not s.baseline and s.facts["k"] == 3}
        for solution in run.solutions:
            masked = run.decode(solution)
            assert solution.baseline or solution.figure("k") >= 3
            if "true of the whole group" in solution.message:
                assert masked.level("district") == LOCAL
    for words in ("true of the whole group", "loses less than the typical one", "distribution is kept"):
        assert any(words in message for message in found)
    assert any("categories" not in message for message in found)


@pytest.mark.parametrize(
    ("given", "many"),
    [
        ({}, 1),
        ({"numbers": "vary", "categories": "vary"}, 4),
        ({"numbers": "median", "categories": "vary"}, 4),
        ({"numbers": "vary", "categories": "marginal"}, 2),
        ({"numbers": "mean", "categories": "mode"}, 1),
    ],
)
def test_settings_leave_fewer_ways(given: dict[str, Any], many: int) -> None:
    table = example(60, seed=1)
    attributes = [table.attribute(name) for name in table.quasi_identifiers]
    chosen = MemeticSearch(**given).representatives(attributes)
    assert len(chosen) == many
    numeric = [attribute for attribute in attributes if attribute.numeric]
    varying = MemeticSearch(numbers="vary", categories="vary")
    assert len(varying.representatives(numeric)) == 2, "categories do not vary where there are none"


def test_the_first_population_can_be_had_without_a_run() -> None:
    problem = MemeticSearch(k=3, k_values=3).pose(example(60, seed=1), None, np.random.default_rng(0))
    assert [genome.tolist() for genome in problem.first()] == [g.tolist() for g in advanced(problem, 0).genomes]


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("hybrid-microaggregation", {"heuristic": "mdaf"}, "no partitioner 'mdaf'; known: "),
        ("hybrid-microaggregation", {"seeded": False}, "seeded moves nothing with the variant two-step"),
        ("memetic", {"population": 20}, "unknown setting 'population'"),
        ("memetic", {"seconds": 2.0}, "unknown setting 'seconds'"),
        ("ga-microaggregation", {"steps": 20}, "unknown setting 'steps'"),
        ("ga-microaggregation", {"blocks": "always"}, "unknown setting 'blocks'"),
        ("memetic", {"blocks": "always", "region": 20}, "region moves nothing in blocks"),
    ],
)
def test_a_setting_that_moves_nothing_is_refused(name: str, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PlanError, match=sentence):
        searches.build(name, **given)


class OwnPartitioner(EvolvingPartitioner):
    """Ten moves per record, as somebody might contribute."""

    def refinement(self) -> Annealing:
        return Annealing(steps=10)


class OwnSearch(MicroaggregationSearch):
    """The search of a contributed partitioner."""

    def partitioner(self) -> OwnPartitioner:
        return OwnPartitioner()


def test_a_contributed_partitioner_has_a_search_of_three_lines() -> None:
    """It finds what the partitioner of the same moves finds."""

    def found(search: MicroaggregationSearch) -> list[list[int]]:
        problem = search.pose(example(60, seed=1), None, np.random.default_rng(0))
        return [genome.tolist() for genome in advanced(problem, 3).genomes]

    assert found(OwnSearch(k=3, k_values=2)) == found(MemeticSearch(k=3, k_values=2, steps=10))


def test_steps_are_moves_per_record_as_everywhere() -> None:
    """At every k a plan's search finds what `partition` finds with the same steps, and then ends."""
    search = MemeticSearch(k=3, k_values=2, largest_k=6, steps=400, scaling="none")
    encoding = search.encoding(example(120, seed=2))
    state = advanced(search.problem(encoding, None, np.random.default_rng(1)), 8)
    assert state.idle == 5, "400 moves per record are three quanta"
    rng = np.random.default_rng(1)
    for genome, k in zip(state.genomes, search.k_grid(encoding.table), strict=True):
        alone = Memetic(steps=400).refinement()
        chain = alone.begin(PartitionSpace(encoding.points, (3, 6)), k, int(rng.integers(2**63)))
        while tasks := alone.tasks(PartitionSpace(encoding.points, (3, 6)), chain):
            chain = alone.work(PartitionSpace(encoding.points, (3, 6)), tasks[0])
        assert chain.labels.tolist() == genome[:-2].tolist()


def test_above_many_records_steps_are_refused_unless_the_whole_is_annealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crypsis.searches.memetic.LARGE", 50)
    table = example(60, seed=1)
    assert MemeticSearch(steps=20).obstacle(table).startswith("steps moves nothing above 50 records")
    assert not MemeticSearch(steps=20, blocks="never").obstacle(table)
    assert not MemeticSearch().obstacle(table)


def test_macrogroups_that_cannot_hold_a_group_are_refused() -> None:
    search = HybridMicroaggregationSearch(k=3, k_values=2, largest_k=12, macrogroup=9)
    with pytest.raises(SearchError, match="cannot hold groups of 12"):
        search.pose(example(60, seed=1), None, np.random.default_rng(0))


def test_settings_of_the_hybrid_change_what_is_found() -> None:
    def found(**settings: Any) -> bytes:
        search = HybridMicroaggregationSearch(k=3, k_values=2, **{"epochs": 2000, **settings})
        return advanced(search.pose(example(60, seed=1), None, np.random.default_rng(0)), 3).genomes[0].tobytes()

    assert found() == found()
    assert len({found(), found(macrogroup=12), found(mutation_rate=0.5), found(heuristic="cbfs")}) == 4
