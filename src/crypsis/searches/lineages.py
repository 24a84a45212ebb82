"""Lineages that walk: one for each seat of a strategy, annealed in runs, with what each carries in plain arrays.

A lineage never takes another one's seat, so that a front keeps its ends. The state of a strategy holds the arrays of
every lineage by seat and name: a run that goes on from a checkpoint is the run that was never interrupted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from crypsis.evolution import Engine, Genome, Problem, State
from crypsis.evolution.generation import conclude_generation, empty_state, score, with_first
from crypsis.evolution.problem import SELECTION, Child, Streams
from crypsis.evolution.selection import FitnessFunction, WeightedMean
from crypsis.evolution.strategies import compete

Prefer = Callable[[NDArray[np.float64], NDArray[np.float64]], bool]
"""Whether scores of a child are preferred to those of its parent."""


@dataclass(frozen=True, eq=False)
class WalkingLineage:
    """What one seat has found, and where its walk is.

    best, walk  int32: what costs least so far, and what is on the move, of one shape
    chance  uint64[1]: state of the walk's generator
    place  int64[2]: the run, and the next quantum of it
    due  bool[1]: whether the best became better and is to be scored
    """

    best: NDArray[np.int32]
    walk: NDArray[np.int32]
    chance: NDArray[np.uint64]
    place: NDArray[np.int64]
    due: NDArray[np.bool_]


Walking = TypeVar("Walking", bound=WalkingLineage)


def first_chance(seed: int) -> NDArray[np.uint64]:
    """The state of a walk's generator at its beginning."""
    return SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)


def packed(lineages: Sequence[WalkingLineage], first: int = 0) -> dict[str, NDArray[np.generic]]:
    """The lineages as plain arrays, from seat `first` on."""
    return {
        f"{seat}/{each.name}": getattr(lineage, each.name)
        for seat, lineage in enumerate(lineages, first)
        for each in fields(lineage)
    }


def unpacked(kind: type[Walking], state: State) -> list[Walking]:
    """The lineages of a state."""
    names = [each.name for each in fields(kind)]
    return [kind(*(state.memory[f"{seat}/{name}"] for name in names)) for seat in range(len(state.genomes))]


@dataclass(frozen=True, eq=False)
class WalkingStrategy(ABC, Generic[Walking]):
    """A strategy whose lineages take their seats one after another and walk in turn."""

    operators: ClassVar[tuple[str, ...]]
    """Names of what changes a lineage."""

    fitness: FitnessFunction = field(default=WeightedMean(), kw_only=True)

    @abstractmethod
    def seat_next(self, problem: Problem, state: State, engine: Engine) -> State:
        """The state with the next lineage on its seat."""

    @abstractmethod
    def work(self, seat: int, lineage: Walking) -> Walking:
        """One quantum of a lineage; all is loaded from its arrays alone, so that any worker may do it."""

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """The first lineage on its seat, scored."""
        state = empty_state(problem, Streams.seeded(rng, (SELECTION, *self.operators)))
        return self.seat_next(problem, state, engine)

    def scored(
        self, problem: Problem, state: State, children: Sequence[Child], engine: Engine, prefer: Prefer
    ) -> State:
        """The state after children are scored; each takes the seat of its parent if it is preferred."""
        scores, known, fresh = score(problem, state, children, engine)
        after = compete(state, children, scores, prefer, self.fitness)
        return replace(conclude_generation(problem, after, state, children, scores, known, fresh), idle=0)


def walked(strategy: WalkingStrategy[Walking], task: tuple[int, Walking]) -> Walking:
    """One quantum of a seat's lineage, for an engine to map."""
    return strategy.work(*task)


def seated(
    problem: Problem, state: State, engine: Engine, lineage: WalkingLineage, genome: Genome, streams: Streams
) -> State:
    """The state with one more lineage on the next seat, its first genome scored."""
    children = [Child(genome, "", (), problem.key(genome))]
    scores, known, fresh = score(problem, state, children, engine)
    memory = {**state.memory, **packed([lineage], len(state.genomes))}
    after = replace(with_first(state, children, scores), memory=memory, rng=streams.snapshot())
    return replace(conclude_generation(problem, after, state, children, scores, known, fresh), idle=0)
