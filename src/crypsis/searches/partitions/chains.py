"""The strategy of every search over partitions: a chain for each k, each improved quantum by quantum.

A chain never takes the place of another one, so that the smallest k is never lost. What a chain carries from quantum to
quantum are plain arrays, kept in the state: a run that goes on from a checkpoint is the run that was never interrupted.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.encodings.partition import TAIL, compact, partition_genome, partition_key
from crypsis.errors import SearchError
from crypsis.evolution import Budget, Engine, Genome, Problem, Scores, State, evolve
from crypsis.evolution.focus import Focus, find_focused
from crypsis.evolution.loop import conclude_generation
from crypsis.evolution.problem import SELECTION, Child, Evaluate, Streams, TaskScores
from crypsis.evolution.selection import FitnessFunction, WeightedMean, has_better_scores
from crypsis.evolution.state import empty_search_state, extend_search_state
from crypsis.evolution.strategies import compete, score_strategy_children
from crypsis.kernels.annealing import sse
from crypsis.kernels.arrays import Floats, Int32s
from crypsis.kernels.compile import seconds_compiling
from crypsis.masking.partitioning import Partitioner, check_points, partition_trivially, partitioner_comparisons
from crypsis.masking.representatives import Representatives
from crypsis.searches.partitions.space import (
    START_AT_ONCE,
    Blocking,
    PartitionSpace,
    first_partition_of_space,
    split_large_space_groups,
)
from crypsis.tasks import Tasks, complete


def _set_representatives(candidate: Genome, codes: Iterable[int]) -> list[Genome]:
    """The partition of a candidate, published in other ways."""
    found = []
    for code in codes:
        found.append(candidate.copy())
        found[-1][-TAIL] = code
    return found


@dataclass(frozen=True)
class RepresentativeChoices:
    """The ways of publishing a partition: in a candidate, the gene before k is the place of one of them."""

    choices: tuple[Representatives, ...]

    def express(self, candidate: Genome) -> Genome:
        """The genome of a candidate."""
        return _set_representatives(candidate, [self.choices[int(candidate[-TAIL])].code])[0]

    def variants(self, candidate: Genome) -> list[Genome]:
        """The same partition in every other way."""
        others = [place for place in range(len(self.choices)) if place != int(candidate[-TAIL])]
        return _set_representatives(candidate, others)


Labels = NDArray[np.int32]
"""Group 0, 1, … of every record, without gaps."""
START = "start"
SEEDS, LABELS, BLOCK = f"{START}/seeds", f"{START}/labels", f"{START}/block"
"""Names in the memory until every chain has begun: seeds, and of the next one its groups so far and next block."""
Memory = Mapping[str, NDArray[Any]]
"""What a chain carries from quantum to quantum beside its partition, by name."""


@dataclass(frozen=True, eq=False)
class PartitionChain:
    """The partition of one k, and what its refinement carries from quantum to quantum."""

    k: int  # least group size
    labels: Labels  # its partition: the best so far by the scores, or a candidate to be scored
    memory: Memory = field(default_factory=dict)  # what it carries from quantum to quantum beside that

    @property
    def genome(self) -> Genome:
        """The labels, published by the first representatives, and k."""
        return partition_genome(self.labels, self.k)


class Refinement(Protocol):
    """How one partition is improved: a chain in, a chain out. Immutable and picklable."""

    @property
    def name(self) -> str:
        """What the operator is called in counts of children."""

    @property
    def begins_anywhere(self) -> bool:
        """Whether a chain begins with any partition it is given."""
        return True

    @property
    def needs_neighbours(self) -> bool:
        """Whether its work needs the nearest neighbours of all records."""
        return False

    def begin(self, space: PartitionSpace, k: int, seed: int, first: Labels | None = None) -> PartitionChain:
        """Make a chain with its first partition.

        `space`: the records, at least 2k; `k`: least group size, at least 2.
        """

    def tasks(self, space: PartitionSpace, chain: PartitionChain) -> Sequence[Any]:
        """Divide the next quantum into independent tasks."""

    def work(self, space: PartitionSpace, task: Any) -> Any:
        """Do one task: a pure function, done anywhere and in any order."""

    def absorb(self, space: PartitionSpace, chain: PartitionChain, results: Sequence[Any]) -> PartitionChain:
        """Put the tasks of a quantum together; what was given is not changed.

        `results`: What `work` gave, in the order of the tasks.
        """


FOCUSED = 2
"""Chains that advance at least under a focus: those whose risk is nearest to its box."""


@dataclass(frozen=True, eq=False)
class PartitionChains:
    """A strategy with a chain for each k of the grid; a quantum advances a few of them in turn."""

    space: PartitionSpace = field(repr=False)  # the records and the grid of k
    refinement: Refinement  # how a chain advances
    chains_per_generation: int = 1  # chains advanced in one quantum
    representatives: int = 1  # ways of publishing a partition that are scored; the best one is kept
    fitness: FitnessFunction = WeightedMean()  # noqa: RUF009 - frozen
    focus: Focus | None = None  # chains in it or next to it advance; all if None
    given: Mapping[int, Labels] = field(default_factory=dict, repr=False)  # k → partition from which its chain begins

    @property
    def operators(self) -> tuple[str, ...]:
        """The refinement is the only operator."""
        return (self.refinement.name,)

    def begin_from(self, genomes: Sequence[Genome]) -> PartitionChains:
        """The strategy whose chains begin from partitions that were found before, of several the first, if they fit."""
        given: dict[int, Labels] = {}
        for genome in genomes if self.refinement.begins_anywhere else ():
            labels, k = compact(genome), int(genome[-1])
            if len(labels) == len(self.space) and int(np.bincount(labels).min()) >= k:
                given.setdefault(k, labels)
        return replace(self, given=given)

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """The first partitions, scored: of every chain, or of as many as one quantum holds."""
        seeds = np.array([int(rng.integers(2**63)) for _ in self.space.k_grid])
        state = empty_search_state(problem, Streams.spawn(rng, (SELECTION, *self.operators)))
        return self._more_first(problem, replace(state, memory={SEEDS: seeds}), engine)

    def first(self, rng: Generator) -> tuple[Genome, ...]:
        """The first partition of every chain."""
        seeds, found = [int(rng.integers(2**63)) for _ in self.space.k_grid], list[PartitionChain]()
        for k, seed in zip(self.space.k_grid, seeds, strict=True):
            least = found[0].labels if found else None
            if self._begins_at_once(k):
                found.append(_begin(self, (k, seed)))
            else:
                found.append(self.refinement.begin(self.space, k, seed, first_partition_of_space(self.space, k, least)))
        return tuple(chain.genome for chain in found)

    def _more_first(self, problem: Problem, state: State, engine: Engine) -> State:
        """The next chains: those begun at once together, any other one task of its first partition at a time."""
        chains, memory = _unpack_chains(state), dict(state.memory)
        ahead = [*zip(self.space.k_grid, memory[SEEDS].tolist(), strict=True)][len(chains) :]
        quick = [*takewhile(lambda seeded: self._begins_at_once(seeded[0]), ahead)]
        if quick:
            together = sum(partitioner_comparisons(self.space.points, k) for k, _ in quick) <= START_AT_ONCE
            new = engine.map(_begin, quick if together else quick[:1], self)
        else:
            (k, seed), least = ahead[0], chains[0].labels if chains else None
            if not self.space.locate(engine):
                return replace(state, whole=False)
            blocking = self.space.remember(("blocking", k), lambda: Blocking.of(self.space, k, least))
            if BLOCK not in memory:  # the blocks are a quantum of their own
                labels = np.zeros(len(blocking.points), np.int32)
                return replace(state, memory={**memory, LABELS: labels, BLOCK: np.array(0)}, whole=False)
            labels, done = memory[LABELS].copy(), int(memory[BLOCK])
            if done < blocking.blocks:
                blocks = blocking.choose_blocks(done)
                for block, groups in zip(blocks, engine.map(_group, blocks, blocking), strict=True):
                    blocking.fill(labels, block, groups)
                return replace(state, memory={**memory, LABELS: labels, BLOCK: np.array(blocks[-1] + 1)}, whole=False)
            new = [
                self.space.remember(("begun", k, seed), lambda: self._begin_bounded(k, seed, blocking.expand(labels)))
            ]
        children = [Child(chain.genome, "", (), problem.key(chain.genome)) for chain in new]
        if not quick and not problem.scorable([child.genome for child in children], engine):
            return replace(state, whole=False)
        chains += new
        whole = len(chains) == len(self.space.k_grid)
        scores, known, fresh = score_strategy_children(problem, state, children, engine)
        memory = _pack_chains(chains) if whole else {**_pack_chains(chains), SEEDS: memory[SEEDS]}
        after = replace(extend_search_state(state, children, scores), memory=memory, whole=whole)
        return conclude_generation(problem, after, state, children, scores, known, fresh)

    def _begin_bounded(self, k: int, seed: int, first: Labels) -> PartitionChain:
        """A chain that begins with groups of which none is too large."""
        return self.refinement.begin(self.space, k, seed, split_large_space_groups(self.space, first, k))

    def _begins_at_once(self, k: int) -> bool:
        """Whether a chain begins at once: there is no choice, the first partition is quick, or the refinement's."""
        return (
            partition_trivially(self.space.points, k) is not None
            or not self.refinement.begins_anywhere
            or k in self.given
            or partitioner_comparisons(self.space.points, k) <= START_AT_ONCE
        )

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """A quantum of work for the chains whose turn it is; what they propose is scored and replaces what is worse."""
        if not state.whole:
            return self._more_first(problem, state, engine)
        if self.refinement.needs_neighbours and not self.space.find_neighbours(engine):
            return state
        chains = _unpack_chains(state)
        near = find_focused(self.focus, state.scores, FOCUSED, by_risk=True).tolist()
        tasks = self._tasks(state.generation, chains, near) or self._tasks(state.generation, chains)
        found = iter(engine.map(_work, [task for some in tasks.values() for task in some], self))
        children: list[Child] = []
        for number, some in tasks.items():
            after = self.refinement.absorb(self.space, chains[number], [next(found) for _ in some])
            if not np.array_equal(after.labels, chains[number].labels):
                for genome in _set_representatives(after.genome, range(self.representatives)):
                    children.append(Child(genome, self.refinement.name, (number,), problem.key(genome)))
            chains[number] = after
        worked = replace(state, memory=_pack_chains(chains))
        if not children:
            return replace(worked, generation=state.generation + 1, idle=0 if tasks else state.idle + 1)
        scores, known, fresh = score_strategy_children(problem, worked, children, engine)
        scored = compete(worked, children, scores, has_better_scores, self.fitness)
        return replace(conclude_generation(problem, scored, worked, children, scores, known, fresh), idle=0)

    def _tasks(
        self, generation: int, chains: Sequence[PartitionChain], near: Sequence[int] | None = None
    ) -> dict[int, Sequence[Any]]:
        """The tasks of the next chains in turn that have any left, by the number of the chain; of all, or the near."""
        chosen: dict[int, Sequence[Any]] = {}
        turn = list(range(len(chains)) if near is None else near)
        for place in range(len(turn)):
            number = turn[(generation * self.chains_per_generation + place) % len(turn)]
            if (
                len(chosen) < self.chains_per_generation
                and partition_trivially(self.space.points, chains[number].k) is None
            ):
                tasks = self.refinement.tasks(self.space, chains[number])
                if tasks:
                    chosen[number] = tasks
        return chosen


def _begin(strategy: PartitionChains, begun: tuple[int, int]) -> PartitionChain:
    (k, seed), space = begun, strategy.space
    only = partition_trivially(space.points, k)
    if only is not None:
        return PartitionChain(k, only)
    return strategy.refinement.begin(space, k, seed, strategy.given.get(k))


def _group(blocking: Blocking, block: int) -> Labels:
    return blocking.group_block(block)


def _work(strategy: PartitionChains, task: Any) -> Any:
    return strategy.refinement.work(strategy.space, task)


def _pack_chains(chains: Sequence[PartitionChain]) -> dict[str, NDArray[Any]]:
    """The memories of all chains in one."""
    return {f"{number}/{name}": array for number, each in enumerate(chains) for name, array in each.memory.items()}


def _unpack_chains(state: State) -> list[PartitionChain]:
    """The chains of a state: the partition of each, and what it carries."""
    memories: list[dict[str, NDArray[Any]]] = [{} for _ in state.genomes]
    for name, array in state.memory.items():
        number, _, own = name.partition("/")
        if number != START:
            memories[int(number)][own] = array
    pairs = zip(state.genomes, memories, strict=True)
    return [PartitionChain(int(genome[-1]), genome[:-TAIL], memory) for genome, memory in pairs]


# -- The problem of partitioning records, with the scores it has where no objective is given.


@dataclass(frozen=True)
class SquaredErrors:
    """The SSE of a partition: what is minimised where there is one k."""

    space: PartitionSpace

    def __call__(self, genome: Genome) -> Scores:
        return (sse(self.space.points, compact(genome)),)


@dataclass(frozen=True)
class QuickScores:
    """(SSE/SST, groups/records), both per cent: what the search over a grid of k minimises by itself."""

    space: PartitionSpace

    def __call__(self, genome: Genome) -> Scores:
        return complete(self.score_tasks(genome))

    def score_tasks(self, genome: Genome) -> Tasks[Scores]:
        """The same in tasks."""
        labels = compact(genome)
        [total] = yield [lambda: self.space.total]
        [squares] = yield [lambda: sse(self.space.points, labels)]
        return 100.0 * squares / total if total > 0 else 0.0, 100.0 * (int(labels.max()) + 1) / len(labels)

    def in_tasks(self) -> TaskScores:
        """The same, divided between quanta where the table is large."""
        return TaskScores(self.score_tasks, partition_key, len(self.space))


def problem_of_partition_chains(
    chains: PartitionChains,
    evaluate: Evaluate,
    objectives: tuple[str, ...],
    rng: Generator,
    notes: Mapping[str, Any],
    representatives: RepresentativeChoices | None = None,
) -> Problem:
    """The problem of partitioning records by a chain for each k, whatever they are scored by."""
    return Problem(
        key=partition_key,
        strategy=chains,
        start=lambda: chains.first(rng),
        evaluate=evaluate,
        objectives=objectives,
        express=None if representatives is None else representatives.express,
        variants=None if representatives is None else representatives.variants,
        remember=10 * (len(chains.space.k_grid) + chains.chains_per_generation) * chains.representatives,
        notes=notes,
    )


# -- Partitioners that search: settings, a budget of their own, and the one loop.


class EvolvingPartitioner(Partitioner):
    """A partitioner that advances by quanta of work: the same strategy a table's search over partitions uses."""

    seconds: float | None = Field(
        default=None,
        ge=0,
        le=1_000_000,
        description="wall-clock seconds after which the search ends, compiling not counted; not given: time is no "
        "limit. How far a search gets in a second is not the same twice, so neither are the groups",
    )

    @abstractmethod
    def refinement(self) -> Refinement:
        """How these settings improve a partition."""

    def refinement_of(self, records: int) -> Refinement:
        """How these settings improve a partition of so many records."""
        return self.refinement()

    def check(self, k: int) -> None:
        """Refuse a k that these settings cannot treat."""

    def with_limit(self) -> EvolvingPartitioner:
        """These settings, with a limit where they would let a search go on for ever."""
        return self

    def budget(self) -> Budget:
        """Until nothing is left to do, or the time is over."""
        return Budget(seconds=math.inf if self.seconds is None else self.seconds, idle=1)

    def problem(self, points: Floats, k: int, rng: Generator, refinement: Refinement | None = None) -> Problem:
        """What the loop needs to group scaled points by their SSE; a refinement in place of the settings' own."""
        self.check(k)
        space = PartitionSpace(check_points(points, k), (k,))
        chains = PartitionChains(space, refinement or self.refinement_of(len(space)))
        return problem_of_partition_chains(chains, SquaredErrors(space), ("SSE",), rng, {})

    def search(
        self,
        points: Floats,
        k: int,
        rng: Generator,
        budget: Budget | None = None,
        engine: Engine | None = None,
        refinement: Refinement | None = None,
    ) -> Iterator[State]:
        """The states of the loop: after the first partition, and after every quantum.

        `rng`: decides everything; the same one gives the same states.
        """
        began, settings = _charged_time(), self.with_limit() if budget is None else self
        problem = settings.problem(points, k, rng, refinement)
        return evolve(problem, rng, budget or settings.budget(), engine, clock=_charged_time, began=began)

    def partition(self, points: Floats, k: int, rng: Generator) -> Int32s:
        return compact(last_state_of_chains(self.search(points, k, rng)).best)


def last_state_of_chains(states: Iterator[State]) -> State:
    """The state with which a search by chains of partitions ends."""
    state = next(states)
    for later in states:
        state = later
    if not len(state.best):
        raise SearchError("no partition was finished in the time given; give more seconds")
    return state


def _charged_time() -> float:
    """The time, without what was spent compiling kernels."""
    return time.monotonic() - seconds_compiling()
