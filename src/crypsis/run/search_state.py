"""One search of a run: its problem, its state, and when it has done enough."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from crypsis.encodings import Encoding
from crypsis.evolution import Budget, Engine, Genome, Problem, State
from crypsis.measures.objective import Objective
from crypsis.run.store import Step
from crypsis.searches.search import Search

IDLE = 25
"""Generations without a new candidate after which a search has nothing left to find."""


def stream(seed: int, *place: int) -> Generator:
    """A random stream of its own for each place in the run, whatever else runs and in which order."""
    return np.random.default_rng(SeedSequence(seed, spawn_key=place))


def is_milestone(generation: int) -> bool:
    """0, 1, 2, 3, 4, 6, 8, 12, 16, 24, …: generations after which the front is measured and written down."""
    if generation <= 4:
        return True
    while generation % 2 == 0:
        generation //= 2
    return generation in (1, 3)


@dataclass
class SearchState:
    """A search on its way.

    seconds  what it has used, over all sessions
    pending  generations not yet written to the store
    measured keys of the solutions in the store; count: how many of its solutions have a number
    """

    index: int
    name: str
    search: Search
    budgets: Sequence[Budget]
    seed: int
    state: State | None = None
    seconds: float = 0.0
    idle: int = 0
    count: int = 0
    measured: set[bytes] = field(default_factory=set)
    pending: list[Step] = field(default_factory=list)
    problem: Problem | None = None

    def posed(self, encoding: Encoding, objective: Objective | None) -> Problem:
        """The problem; posed when first needed, the same in every session."""
        if self.problem is None:
            self.problem = self.search.problem(encoding, objective, stream(self.seed, self.index, 0))
        return self.problem

    def advance(self, problem: Problem, engine: Engine) -> State:
        """One quantum more."""
        started, before = time.monotonic(), self.state
        if before is None:
            self.state = problem.strategy.begin(problem, stream(self.seed, self.index, 1), engine)
        else:
            self.state = problem.strategy.advance(problem, before, engine)
            self.idle = self.idle + 1 if self.state.evaluations == before.evaluations else 0
        self.seconds += time.monotonic() - started
        state = self.state
        self.pending.append(
            Step(
                self.index,
                state.generation,
                state.evaluations,
                state.hits,
                self.seconds,
                float(state.best_fitness),
                len(state.frontier),
            )
        )
        return state

    @property
    def generation(self) -> int:
        return self.state.generation if self.state is not None else 0

    @property
    def progress(self) -> float:
        """How much of its own budget is used, 0 to 1; 0 for a search that only the run's clock limits."""
        if self.state is None:
            return 0.0
        if self.idle >= IDLE:
            return 1.0
        return max((budget.progress(self.state, self.seconds) for budget in self.budgets), default=0.0)

    def unmeasured(self, problem: Problem, most: int) -> list[Genome]:
        """Up to so many members of its front that are not in the store, those first that tell most."""
        if self.state is None:
            return []
        front = self.state.frontier
        known = np.array([problem.key(genome) in self.measured for genome in front.genomes], dtype=np.bool_)
        return [front.genomes[place] for place in spread(front.scores, known, most)]


def spread(scores: NDArray[np.float64], known: NDArray[np.bool_], most: int) -> list[int]:
    """Places of up to `most` rows that are not known: the best of each column, the knee, then the farthest from all.

    Ties go to the lower place, so that the choice is the same on every machine.
    """
    if not len(scores) or known.all() or most <= 0:
        return []
    low, high = scores.min(axis=0), scores.max(axis=0)
    points = (scores - low) / np.where(high > low, high - low, 1.0)
    corners = [int(np.argmin(column)) for column in points.T] + [int(np.argmin(points.sum(axis=1)))]
    chosen = list(dict.fromkeys(place for place in corners if not known[place]))[:most]
    taken = known.copy()
    taken[chosen] = True
    gap = np.full(len(points), np.inf)
    for place in np.flatnonzero(taken):
        gap = np.minimum(gap, ((points - points[place]) ** 2).sum(axis=1))
    while len(chosen) < most and not taken.all():
        farthest = int(np.argmax(np.where(taken, -1.0, gap)))
        chosen.append(farthest)
        taken[farthest] = True
        gap = np.minimum(gap, ((points - points[farthest]) ** 2).sum(axis=1))
    return chosen
