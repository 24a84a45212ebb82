"""The strategy of a search whose first population is its whole answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.engines import Engine, Serial
from crypsis.evolution import Child, Genome, Problem, State, Streams
from crypsis.evolution.generation import empty_state
from crypsis.evolution.problem import SELECTION
from crypsis.evolution.selection import FitnessFunction
from crypsis.evolution.strategies import Generations
from crypsis.pieces import Pieces, Underway


@dataclass(eq=False)
class Answer:
    """Genomes that are worked out when they are first needed, piece by piece.

    finding  how
    """

    finding: Callable[[], Pieces[tuple[Genome, ...]]]
    _work: Underway[tuple[Genome, ...]] | None = field(default=None, repr=False)

    def found(self, engine: Engine) -> bool:
        """Do the next pieces; whether none is left."""
        if self._work is None:
            self._work = Underway(self.finding())
        elif not self._work.done:
            self._work.advance(engine if engine.here else Serial(), engine.workers)
        return self._work.done

    def __call__(self) -> tuple[Genome, ...]:
        """The genomes."""
        while not self.found(Serial()):
            pass
        return (self._work.result if self._work is not None else None) or ()


@dataclass(frozen=True)
class Complete(Generations):
    """The strategy of a search that has nothing left to find: no children, nobody dies.

    answer  its first population, where that takes long to find
    """

    fitness: FitnessFunction
    answer: Answer | None = None
    operators: tuple[str, ...] = ()

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """Find the answer, or a piece of it; see `Strategy.begin`."""
        state = empty_state(problem, Streams.seeded(rng, (SELECTION, *self.operators)))
        return self.advance(problem, replace(state, whole=False), engine)

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """Find another piece of the answer; see `Strategy.advance`."""
        if not state.genomes and self.answer is not None and not self.answer.found(engine):
            return state
        return super().advance(problem, state, engine)

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """No children; see `Breeding.propose`."""
        return []

    def absorb(self, state: State, children: Sequence[Child], scores: NDArray[np.float64]) -> State:
        """The same population; see `Breeding.absorb`."""
        return replace(state, generation=state.generation + 1)
