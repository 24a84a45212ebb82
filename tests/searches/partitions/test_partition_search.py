"""The search over a ladder of group sizes: every rung is a lineage of its own."""

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
from crypsis.searches.partitions.memetic import Memetic
from crypsis.searches.partitions.partition_search import PartitionSearch
from crypsis.searches.partitions.space import PartitionSpace
from crypsis.searches.search import searches
from crypsis.table.example import example
from crypsis.table.table import LOCAL


def advanced(problem: Problem, quanta: int, seed: int = 1) -> State:
    state = problem.strategy.begin(problem, np.random.default_rng(seed), Serial())
    for _ in range(quanta):
        state = problem.strategy.advance(problem, state, Serial())
    return state


@pytest.mark.parametrize("method", ["memetic", "two-step"])
def test_every_rung_stays_and_becomes_tighter_than_mdav(method: str) -> None:
    search = PartitionSearch(k=3, rungs=4, largest_k=20, method=method)
    encoding = search.encoding(example(120, seed=2))
    state = advanced(search.problem(encoding, None, np.random.default_rng(0)), 12)
    points, ladder = encoding.points, search.ladder(120)
    assert [int(genome[-1]) for genome in state.genomes] == list(ladder)
    for genome, k in zip(state.genomes, ladder, strict=True):
        plain = sse(points, MDAV().partition(points, k, np.random.default_rng(0)))
        assert np.bincount(genome[:-2]).min() >= k
        assert sse(points, genome[:-2]) < plain or (method == "two-step" and k > 10)


def test_the_genetic_method_starts_from_nothing_and_improves_every_rung() -> None:
    search = PartitionSearch(k=3, rungs=3, largest_k=8, method="genetic")
    problem = search.pose(example(40, seed=2), None, np.random.default_rng(0))
    first, state = advanced(problem, 0), advanced(problem, 4)
    assert (state.scores[:, 0] < first.scores[:, 0]).all()


def test_in_blocks_every_rung_stays_and_becomes_tighter() -> None:
    search = PartitionSearch(k=3, rungs=3, largest_k=12, blocks="always", breedings=3)
    problem = search.pose(example(400, seed=2), None, np.random.default_rng(0))
    first, state = advanced(problem, 0), advanced(problem, 4)
    assert [int(genome[-1]) for genome in state.genomes] == list(search.ladder(400))
    assert all(np.bincount(genome[:-2]).min() >= int(genome[-1]) for genome in state.genomes)
    assert (state.scores[:, 0] < first.scores[:, 0]).all(), "exchanges between near groups made each rung tighter"


def test_with_an_objective_a_lineage_follows_it() -> None:
    """The seat holds the partition of least measured loss, and the walk goes on from there."""
    table = example(120, seed=2)
    objective = Objective(table, {"loss": CellLoss(), "risk": RecordLinkage()})
    search = PartitionSearch(k=3, rungs=2, largest_k=9)
    encoding = search.encoding(table)
    problem = search.problem(encoding, objective, np.random.default_rng(0))
    state = advanced(problem, 16)
    for genome, scores in zip(state.genomes, state.scores, strict=True):
        assert objective.score(encoding.decode(problem.expressed(genome))) == tuple(scores)
    by_k = {int(genome[-1]): scores[0] for genome, scores in zip(state.genomes, state.scores, strict=True)}
    for genome, scores in zip(state.frontier.genomes, state.frontier.scores, strict=True):
        assert scores[0] >= by_k[int(genome[-1])]


def test_a_front_is_published_in_every_way() -> None:
    """Beside each k by typical values: common ancestors, the cheaper of both, and kept distributions."""
    search = PartitionSearch(k=3, rungs=2, largest_k=9, numbers="vary", categories="vary")
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
    styles = PartitionSearch(**given).styles(attributes)
    assert len(styles) == many
    numeric = [attribute for attribute in attributes if attribute.numeric]
    varying = PartitionSearch(numbers="vary", categories="vary")
    assert len(varying.styles(numeric)) == 2, "categories do not vary where there are none"


def test_the_first_population_can_be_had_without_a_run() -> None:
    problem = PartitionSearch(k=3, rungs=3).pose(example(60, seed=1), None, np.random.default_rng(0))
    assert [genome.tolist() for genome in problem.first()] == [g.tolist() for g in advanced(problem, 0).genomes]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"method": "mdav"}, "'mdav' does not search; choose one of genetic, one-step, two-step, memetic"),
        ({"method": "memetik"}, "no partitioner called 'memetik'"),
        ({"method": "two-step", "method_settings": {"heuristic": "mdaf"}}, "no partitioner 'mdaf'; known: "),
        ({"method_settings": {"population": 20}}, "unknown setting 'population'"),
        ({"method_settings": {"steps": 20}}, "leave steps out and give the search steps"),
        ({"method": "genetic", "method_settings": {"seconds": 2.0}}, "leave seconds out and give the search a budget"),
        ({"method": "genetic", "steps": 20}, "steps moves nothing with the method genetic"),
    ],
)
def test_a_method_that_cannot_be_is_refused_with_what_can(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PlanError, match=sentence):
        searches.build("partition", **given)


def test_in_blocks_a_method_moves_nothing_and_is_refused() -> None:
    with pytest.raises(PlanError, match="method moves nothing in blocks"):
        searches.build("partition", blocks="always", method="genetic")


def test_steps_are_moves_per_record_as_everywhere() -> None:
    """At every k a plan's search finds what `partition` finds with the same steps, and then ends."""
    search = PartitionSearch(k=3, rungs=2, largest_k=6, steps=400, scaling="none")
    encoding = search.encoding(example(120, seed=2))
    state = advanced(search.problem(encoding, None, np.random.default_rng(1)), 8)
    assert state.idle == 5, "400 moves per record are three quanta"
    chance = np.random.default_rng(1)
    for genome, k in zip(state.genomes, search.ladder(120), strict=True):
        alone = Memetic(steps=400).refinement()
        lineage = alone.begin(PartitionSpace(encoding.points, (3, 6)), k, int(chance.integers(2**63)))
        while tasks := alone.tasks(PartitionSpace(encoding.points, (3, 6)), lineage):
            lineage = alone.work(PartitionSpace(encoding.points, (3, 6)), tasks[0])
        assert lineage.labels.tolist() == genome[:-2].tolist()


def test_above_many_records_a_method_is_refused_unless_it_takes_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crypsis.searches.partitions.partition_search.LARGE", 50)
    table = example(60, seed=1)
    assert PartitionSearch(steps=20).obstacle(table).startswith("steps moves nothing above 50 records")
    assert not PartitionSearch(steps=20, blocks="never").obstacle(table)
    assert not PartitionSearch().obstacle(table)


def test_macrogroups_that_cannot_hold_a_rung_are_refused() -> None:
    search = PartitionSearch(k=3, rungs=2, largest_k=12, method="two-step", method_settings={"macrogroup": 9})
    with pytest.raises(SearchError, match="cannot hold groups of 12"):
        search.pose(example(60, seed=1), None, np.random.default_rng(0))


def test_settings_of_the_method_change_what_is_found() -> None:
    def found(**settings: Any) -> bytes:
        search = PartitionSearch(k=3, rungs=2, method="two-step", method_settings={"epochs": 2000, **settings})
        return advanced(search.pose(example(60, seed=1), None, np.random.default_rng(0)), 3).genomes[0].tobytes()

    assert found() == found()
    assert len({found(), found(macrogroup=12), found(mutation_rate=0.5), found(heuristic="cbfs")}) == 4
