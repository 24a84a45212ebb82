"""The loop: a strategy advances quantum by quantum until the budget is used."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from numpy.random import Generator

from crypsis.engines import Engine, Serial
from crypsis.errors import SearchError
from crypsis.evolution.problem import Problem
from crypsis.evolution.state import State


@dataclass(frozen=True)
class Budget:
    """When a search stops: at the limit that is reached first.

    Attributes
    ----------
    seconds : float
        Wall time, `spent` included.
    evaluations : float
        Candidates scored; a generation that has begun is finished.
    generations : float
        Generations since the first start.
    target : float
        Fitness at or below which the best candidate is good enough.
    idle : float
        Quanta in a row that try nothing new, after which nothing is left to find.
    spent : float
        Seconds used by earlier parts of a resumed run.

    Raises
    ------
    SearchError
        If there is no limit.
    """

    seconds: float = math.inf
    evaluations: float = math.inf
    generations: float = math.inf
    target: float = -math.inf
    idle: float = math.inf
    spent: float = 0.0

    def __post_init__(self) -> None:
        limits = (self.seconds, self.evaluations, self.generations, self.target, self.idle)
        if all(math.isinf(limit) for limit in limits):
            raise SearchError(
                "the budget has no limit; give seconds, evaluations, generations, a target or idle quanta"
            )

    def progress(self, state: State, elapsed: float = 0.0) -> float:
        """Share of the budget that is used.

        state  the state of the search
        elapsed  seconds of this part of the run
        """
        if state.best_fitness <= self.target or state.idle >= self.idle:
            return 1.0
        parts = (
            (self.spent + elapsed, self.seconds),
            (state.evaluations, self.evaluations),
            (state.generation, self.generations),
        )
        return min(1.0, max(used / limit if limit > 0 else 1.0 for used, limit in parts))


def evolve(
    problem: Problem,
    rng: Generator,
    budget: Budget,
    engine: Engine | None = None,
    state: State | None = None,
    clock: Callable[[], float] = time.monotonic,
    began: float | None = None,
) -> Iterator[State]:
    """Run a search: yield the first state, then the state after every quantum, until the budget is used.

    rng  determines all random streams of a new search
    engine  where candidates are scored; changes the time, not the result. This process by default
    state  continue from this state: it is not yielded again, `rng` is not used, and the states that follow are bit
        for bit those of an uninterrupted run
    clock, began  the time, and since when it counts; now by default

    A quantum is begun only if one as long as the longest of the last few ends in time; in any case the search goes
    on until it has a first candidate.
    """
    engine = engine or Serial()
    started, last = clock() if began is None else began, deque[float](maxlen=4)
    if state is None:
        state = problem.strategy.begin(problem, rng, engine)
        yield state
    while not state.evaluations or budget.progress(state, clock() - started + max(last, default=0.0)) < 1.0:
        quantum = clock()
        state = problem.strategy.advance(problem, state, engine)
        last.append(clock() - quantum)
        yield state
