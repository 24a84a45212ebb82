"""Operators on nodes of a lattice, and two strategies: feasible nodes first, and a start that is the whole answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.engines import Engine, Serial
from crypsis.evolution import Child, Genome, Operator, Problem, State, Streams
from crypsis.evolution.problem import SELECTION
from crypsis.evolution.selection import FitnessFunction
from crypsis.evolution.state import empty_search_state
from crypsis.evolution.strategies import Generations
from crypsis.table.lattice import Lattice
from crypsis.tasks import Tasks, Underway


def _draw_nodes(lattice: Lattice, rng: Generator, size: int) -> list[Genome]:
    """Random nodes."""
    heights = np.array(lattice.heights)
    return [rng.integers(0, heights + 1).astype(np.int16) for _ in range(size)]


def draw_first_pbg_nodes(lattice: Lattice, rng: Generator, size: int) -> tuple[Genome, ...]:
    """Nodes of a lattice on which operators start: random ones, the fully special and the fully general one."""
    ends = [np.array(lattice.bottom, dtype=np.int16), np.array(lattice.top, dtype=np.int16)]
    return (*ends, *_draw_nodes(lattice, rng, max(size - 2, 0)))


@dataclass(frozen=True)
class OnePoint(Operator):
    """Swap what follows a random cut."""

    name: str = "crossover"
    arity: int = 2

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        first, second = parents
        if len(first) < 2:
            return [first.copy(), second.copy()]
        cut = int(rng.integers(1, len(first)))
        return [np.concatenate([first[:cut], second[cut:]]), np.concatenate([second[:cut], first[cut:]])]


@dataclass(frozen=True)
class LevelStep(Operator):
    """Each level goes one up or one down with probability `rate`, kept inside its hierarchy."""

    heights: tuple[int, ...]
    rate: float
    name: str = "step"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        (node,) = parents
        moves = (rng.random(len(node)) < self.rate) * rng.choice((-1, 1), size=len(node))
        return [np.clip(node + moves, 0, self.heights).astype(np.int16)]


@dataclass(frozen=True)
class SteppedCrossover(Operator):
    """Crossover whose children take a step each."""

    crossover: OnePoint
    step: LevelStep
    name: str = "crossover"
    arity: int = 2

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        return [self.step.apply([child], rng)[0] for child in self.crossover.apply(parents, rng)]


# -- Feasibility first: the least loss that meets a demand, found by evolution where nodes are too many to judge each.


@dataclass(frozen=True)
class FeasibleFirst:
    """Worth of (loss, shortfall): loss where nothing falls short, else beyond any loss and by shortfall."""

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(scores[:, 1] > 0, 1000.0 + scores[:, 1], scores[:, 0])


# -- The strategy of a search whose first population is its whole answer.


@dataclass(eq=False)
class Answer:
    """Genomes that are worked out when they are first needed, task by task."""

    find: Callable[[], Tasks[tuple[Genome, ...]]]  # how
    _work: Underway[tuple[Genome, ...]] | None = field(default=None, repr=False)

    def work(self, engine: Engine) -> bool:
        """Do the next tasks; whether none is left."""
        if self._work is None:
            self._work = Underway(self.find())
        elif not self._work.done:
            self._work.advance(engine if engine.here else Serial(), engine.workers)
        return self._work.done

    def __call__(self) -> tuple[Genome, ...]:
        """The genomes."""
        while not self.work(Serial()):
            pass
        return (self._work.result if self._work is not None else None) or ()


@dataclass(frozen=True)
class AnswerOnly(Generations):
    """The strategy of a search that has nothing left to find: no children, nobody dies."""

    fitness: FitnessFunction
    answer: Answer | None = None  # its first population, where that takes long to find
    operators: tuple[str, ...] = ()

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """Find the answer, or a task of it; see `Strategy.begin`."""
        state = empty_search_state(problem, Streams.spawn(rng, (SELECTION, *self.operators)))
        return self.advance(problem, replace(state, whole=False), engine)

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """Find another task of the answer; see `Strategy.advance`."""
        if not state.genomes and self.answer is not None and not self.answer.work(engine):
            return state
        return super().advance(problem, state, engine)

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """No children; see `Breeding.propose`."""
        return []

    def absorb(self, state: State, children: Sequence[Child], scores: NDArray[np.float64]) -> State:
        """The same population; see `Breeding.absorb`."""
        return replace(state, generation=state.generation + 1)
