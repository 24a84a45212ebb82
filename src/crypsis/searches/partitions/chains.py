"""The strategy of every search over partitions: one lineage for each k, each made tighter quantum by quantum.

A lineage never takes another one's seat, so that the smallest k is never lost. What a lineage carries from quantum to
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
from crypsis.evolution.problem import SELECTION, Child, Evaluate, PiecewiseScores, Streams
from crypsis.evolution.selection import FitnessFunction, WeightedMean
from crypsis.evolution.strategies import compete, conclude_generation, empty_state, score, with_first
from crypsis.kernels.annealing import sse
from crypsis.kernels.arrays import Floats, Int32s
from crypsis.kernels.compile import seconds_compiling
from crypsis.masking.partitioning import Partitioner, check_points, trivial
from crypsis.masking.representatives import Representatives
from crypsis.pieces import Pieces, complete
from crypsis.searches.partitions.space import (
    START_AT_ONCE,
    Blocking,
    PartitionSpace,
    bound_sizes,
    comparisons,
    first_partition,
)


def restyle(candidate: Genome, styles: Iterable[int]) -> list[Genome]:
    """The partition of a candidate, published in other ways."""
    found = []
    for style in styles:
        found.append(candidate.copy())
        found[-1][-TAIL] = style
    return found


@dataclass(frozen=True)
class Styles:
    """The ways of publishing a partition: in a candidate, the gene before k is the place of one of them."""

    chosen: tuple[Representatives, ...]

    def express(self, candidate: Genome) -> Genome:
        """The genome of a candidate."""
        return restyle(candidate, [self.chosen[int(candidate[-TAIL])].code])[0]

    def variants(self, candidate: Genome) -> list[Genome]:
        """The same partition in every other way."""
        return restyle(candidate, [place for place in range(len(self.chosen)) if place != int(candidate[-TAIL])])


# -- The strategy of every search over partitions: one lineage for each k, each made tighter quantum by quantum.
#
# A lineage never takes another one's seat, so that the smallest k is never lost. What a lineage carries from quantum
# to quantum are plain arrays, kept in the state: a run that goes on from a checkpoint is the run that was never
# interrupted.

Labels = NDArray[np.int32]
"""Group 0, 1, … of every record, without gaps."""
START = "start"
SEEDS, LABELS, BLOCK = f"{START}/seeds", f"{START}/labels", f"{START}/block"
"""Names in the memory before every lineage is begun: seeds, and of the next one its groups so far and next block."""
Memory = Mapping[str, NDArray[Any]]
"""What a lineage carries from quantum to quantum beside its partition, by name."""


@dataclass(frozen=True, eq=False)
class Lineage:
    """One k on its way.

    Parameters
    ----------
    k : int
        Least group size.
    labels : ndarray of int32
        Its partition: the best so far by the scores, or a candidate to be scored.
    memory : mapping of str to ndarray
        What it carries from quantum to quantum beside that.
    """

    k: int
    labels: Labels
    memory: Memory = field(default_factory=dict)

    @property
    def genome(self) -> Genome:
        """The labels, published by the first representatives, and k."""
        return partition_genome(self.labels, self.k)


class Refinement(Protocol):
    """How one partition is made tighter: a lineage in, a lineage out. Immutable and picklable."""

    @property
    def name(self) -> str:
        """What the operator is called in counts of children."""

    @property
    def begins_anywhere(self) -> bool:
        """Whether a lineage begins with any partition it is given."""
        return True

    @property
    def walks(self) -> bool:
        """Whether its work needs to know who is near whom."""
        return False

    def begin(self, space: PartitionSpace, k: int, seed: int, first: Labels | None = None) -> Lineage:
        """Make a lineage with its first partition.

        Parameters
        ----------
        space : PartitionSpace
            The records, at least 2k.
        k : int
            Least group size, at least 2.
        seed : int
            Of the lineage's own chance.
        first : ndarray of int32, optional
            Its first partition, if it begins with any; its own by default.

        Returns
        -------
        Lineage
        """

    def tasks(self, space: PartitionSpace, lineage: Lineage) -> Sequence[Any]:
        """Divide the next quantum into independent pieces of work.

        Parameters
        ----------
        space : PartitionSpace
            The records.
        lineage : Lineage
            As far as it is.

        Returns
        -------
        sequence
            Empty where nothing is left to do.
        """

    def work(self, space: PartitionSpace, task: Any) -> Any:
        """Do one piece: a pure function, done anywhere and in any order."""

    def absorb(self, space: PartitionSpace, lineage: Lineage, results: Sequence[Any]) -> Lineage:
        """Put the pieces of a quantum together; what was given is not changed.

        Parameters
        ----------
        space : PartitionSpace
            The records.
        lineage : Lineage
            As it was before the quantum.
        results : sequence
            What `work` gave, in the order of the tasks.

        Returns
        -------
        Lineage
            With a candidate for its partition.
        """


@dataclass(frozen=True, eq=False)
class Lineages:
    """A strategy with a seat for each k of the ladder; a quantum advances a few of them in turn.

    Parameters
    ----------
    space : PartitionSpace
        The records and the ladder of k.
    refinement : Refinement
        How a lineage advances.
    seats : int
        Lineages advanced in one quantum.
    styles : int
        Ways of publishing a partition that are scored; the best one takes the seat.
    """

    space: PartitionSpace = field(repr=False)
    refinement: Refinement
    seats: int = 1
    styles: int = 1
    fitness: FitnessFunction = WeightedMean()  # noqa: RUF009 - frozen

    @property
    def operators(self) -> tuple[str, ...]:
        """The refinement is the only operator."""
        return (self.refinement.name,)

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """The first partitions, scored: of every lineage, or of as many as one quantum holds."""
        seeds = np.array([int(rng.integers(2**63)) for _ in self.space.ladder])
        state = empty_state(problem, Streams.seeded(rng, (SELECTION, *self.operators)))
        return self._more_first(problem, replace(state, memory={SEEDS: seeds}), engine)

    def first(self, rng: Generator) -> tuple[Genome, ...]:
        """The first partition of every lineage."""
        seeds, found = [int(rng.integers(2**63)) for _ in self.space.ladder], list[Lineage]()
        for k, seed in zip(self.space.ladder, seeds, strict=True):
            least = found[0].labels if found else None
            if self._at_once(k):
                found.append(_begin(self, (k, seed)))
            else:
                found.append(self.refinement.begin(self.space, k, seed, first_partition(self.space, k, least)))
        return tuple(lineage.genome for lineage in found)

    def _more_first(self, problem: Problem, state: State, engine: Engine) -> State:
        """The next lineages: those begun at once together, any other one piece of its first partition at a time."""
        lineages, memory = _unpacked(state), dict(state.memory)
        seat = len(lineages)
        rungs = [*zip(self.space.ladder, memory[SEEDS].tolist(), strict=True)][seat:]
        quick = [*takewhile(lambda rung: self._at_once(rung[0]), rungs)]
        if quick:
            together = sum(comparisons(self.space.points, k) for k, _ in quick) <= START_AT_ONCE
            new = engine.map(_begin, quick if together else quick[:1], self)
        else:
            (k, seed), least = rungs[0], lineages[0].labels if lineages else None
            if not self.space.located(engine):
                return replace(state, whole=False)
            blocking = self.space.kept(("blocking", k), lambda: Blocking.of(self.space, k, least))
            if BLOCK not in memory:  # the blocks are a quantum of their own
                labels = np.zeros(len(blocking.points), np.int32)
                return replace(state, memory={**memory, LABELS: labels, BLOCK: np.array(0)}, whole=False)
            labels, done = memory[LABELS].copy(), int(memory[BLOCK])
            if done < blocking.blocks:
                blocks = blocking.piece(done)
                for block, groups in zip(blocks, engine.map(_group, blocks, blocking), strict=True):
                    blocking.fill(labels, block, groups)
                return replace(state, memory={**memory, LABELS: labels, BLOCK: np.array(blocks[-1] + 1)}, whole=False)
            new = [self.space.kept(("begun", k, seed), lambda: self._begun(k, seed, blocking.whole(labels)))]
        children = [Child(lineage.genome, "", (), problem.key(lineage.genome)) for lineage in new]
        if not quick and not problem.scorable([child.genome for child in children], engine):
            return replace(state, whole=False)
        lineages += new
        whole = len(lineages) == len(self.space.ladder)
        scores, known, fresh = score(problem, state, children, engine)
        memory = _packed(lineages) if whole else {**_packed(lineages), SEEDS: memory[SEEDS]}
        after = replace(with_first(state, children, scores), memory=memory, whole=whole)
        return conclude_generation(problem, after, state, children, scores, known, fresh)

    def _begun(self, k: int, seed: int, first: Labels) -> Lineage:
        """A lineage that begins with groups of which none is too large."""
        return self.refinement.begin(self.space, k, seed, bound_sizes(self.space, first, k))

    def _at_once(self, k: int) -> bool:
        """Whether a lineage begins at once: there is no choice, the first partition is quick, or the refinement's."""
        return (
            trivial(self.space.points, k) is not None
            or not self.refinement.begins_anywhere
            or comparisons(self.space.points, k) <= START_AT_ONCE
        )

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """A quantum of work for the lineages whose turn it is; what they propose is scored and may take their seats."""
        if not state.whole:
            return self._more_first(problem, state, engine)
        if self.refinement.walks and not self.space.surveyed(engine):
            return state
        lineages = _unpacked(state)
        tasks = self._tasks(state.generation, lineages)
        found = iter(engine.map(_work, [task for some in tasks.values() for task in some], self))
        children: list[Child] = []
        for seat, some in tasks.items():
            after = self.refinement.absorb(self.space, lineages[seat], [next(found) for _ in some])
            if not np.array_equal(after.labels, lineages[seat].labels):
                for genome in restyle(after.genome, range(self.styles)):
                    children.append(Child(genome, self.refinement.name, (seat,), problem.key(genome)))
            lineages[seat] = after
        worked = replace(state, memory=_packed(lineages))
        if not children:
            return replace(worked, generation=state.generation + 1, idle=0 if tasks else state.idle + 1)
        scores, known, fresh = score(problem, worked, children, engine)
        scored = compete(worked, children, scores, tighter, self.fitness)
        return replace(conclude_generation(problem, scored, worked, children, scores, known, fresh), idle=0)

    def _tasks(self, generation: int, lineages: Sequence[Lineage]) -> dict[int, Sequence[Any]]:
        """The pieces of work of the next lineages in turn that have any left, by seat."""
        chosen: dict[int, Sequence[Any]] = {}
        for place in range(len(lineages)):
            seat = (generation * self.seats + place) % len(lineages)
            if len(chosen) < self.seats and trivial(self.space.points, lineages[seat].k) is None:
                tasks = self.refinement.tasks(self.space, lineages[seat])
                if tasks:
                    chosen[seat] = tasks
        return chosen


def _begin(strategy: Lineages, begun: tuple[int, int]) -> Lineage:
    (k, seed), space = begun, strategy.space
    only = trivial(space.points, k)
    return Lineage(k, only) if only is not None else strategy.refinement.begin(space, k, seed)


def _group(blocking: Blocking, block: int) -> Labels:
    return blocking.grouped(block)


def _work(strategy: Lineages, task: Any) -> Any:
    return strategy.refinement.work(strategy.space, task)


def tighter(child: NDArray[np.float64], parent: NDArray[np.float64]) -> bool:
    """Whether a child takes its parent's seat: less of the first objective, or as much and less of the next."""
    return tuple(child.tolist()) < tuple(parent.tolist())


def _packed(lineages: Sequence[Lineage]) -> dict[str, NDArray[Any]]:
    """The memories of all lineages in one."""
    return {f"{seat}/{name}": array for seat, each in enumerate(lineages) for name, array in each.memory.items()}


def _unpacked(state: State) -> list[Lineage]:
    """The lineages of a state: what sits on the seats, and what each remembers."""
    memories: list[dict[str, NDArray[Any]]] = [{} for _ in state.genomes]
    for name, array in state.memory.items():
        seat, _, own = name.partition("/")
        if seat != START:
            memories[int(seat)][own] = array
    seated = zip(state.genomes, memories, strict=True)
    return [Lineage(int(genome[-1]), genome[:-TAIL], memory) for genome, memory in seated]


# -- The problem of partitioning records, with the scores it has where no objective is given.


@dataclass(frozen=True)
class SquaredErrors:
    """The SSE of a partition: what is minimised where there is one k."""

    space: PartitionSpace

    def __call__(self, genome: Genome) -> Scores:
        return (sse(self.space.points, compact(genome)),)


@dataclass(frozen=True)
class QuickScores:
    """(SSE/SST, groups/records), both per cent: what the search over a ladder of k minimises by itself."""

    space: PartitionSpace

    def __call__(self, genome: Genome) -> Scores:
        return complete(self.scoring(genome))

    def scoring(self, genome: Genome) -> Pieces[Scores]:
        """The same in pieces."""
        labels = compact(genome)
        [total] = yield [lambda: self.space.total]
        [squares] = yield [lambda: sse(self.space.points, labels)]
        return 100.0 * squares / total if total > 0 else 0.0, 100.0 * (int(labels.max()) + 1) / len(labels)

    def piecewise(self) -> PiecewiseScores:
        """The same, divided between quanta where the table is large."""
        return PiecewiseScores(self.scoring, partition_key, len(self.space))


def partition_problem(
    lineages: Lineages,
    evaluate: Evaluate,
    objectives: tuple[str, ...],
    rng: Generator,
    notes: Mapping[str, Any],
    styles: Styles | None = None,
) -> Problem:
    """The problem of partitioning records, whatever they are scored by."""
    return Problem(
        key=partition_key,
        strategy=lineages,
        start=lambda: lineages.first(rng),
        evaluate=evaluate,
        objectives=objectives,
        express=None if styles is None else styles.express,
        variants=None if styles is None else styles.variants,
        remember=10 * (len(lineages.space.ladder) + lineages.seats) * lineages.styles,
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
        """How these settings make a partition tighter."""

    def refinement_of(self, records: int) -> Refinement:
        """How these settings make a partition of so many records tighter."""
        return self.refinement()

    def check(self, k: int) -> None:
        """Refuse a k that these settings cannot treat."""

    def limited(self) -> EvolvingPartitioner:
        """These settings, with a limit where they would let a search go on for ever."""
        return self

    def budget(self) -> Budget:
        """Until nothing is left to do, or the time is over."""
        return Budget(seconds=math.inf if self.seconds is None else self.seconds, idle=1)

    def problem(self, points: Floats, k: int, rng: Generator, refinement: Refinement | None = None) -> Problem:
        """What the loop needs to group scaled points by their SSE; a refinement in place of the settings' own."""
        self.check(k)
        space = PartitionSpace(check_points(points, k), (k,))
        lineages = Lineages(space, refinement or self.refinement_of(len(space)))
        return partition_problem(lineages, SquaredErrors(space), ("SSE",), rng, {})

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

        points  ndarray of shape (n, p): finite and already scaled
        rng  decides everything; the same one gives the same states
        budget  when to stop; by default the settings' own
        engine  where independent pieces of a quantum are done; changes the time, not the result
        refinement  in place of the settings' own
        returns  its ``best`` holds the labels and k, its ``best_scores`` the SSE
        """
        began, settings = charged_time(), self.limited() if budget is None else self
        problem = settings.problem(points, k, rng, refinement)
        return evolve(problem, rng, budget or settings.budget(), engine, clock=charged_time, began=began)

    def partition(self, points: Floats, k: int, rng: Generator) -> Int32s:
        return compact(last(self.search(points, k, rng)).best)


def last(states: Iterator[State]) -> State:
    """The state a search ends with."""
    state = next(states)
    for later in states:
        state = later
    if not len(state.best):
        raise SearchError("no partition was finished in the time given; give more seconds")
    return state


def charged_time() -> float:
    """The time, without what was spent compiling kernels."""
    return time.monotonic() - seconds_compiling()
