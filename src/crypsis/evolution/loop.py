"""The one loop: quantum after quantum of a strategy until the budget is used; a generator of states."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from numpy.random import Generator

from crypsis.engines import Serial
from crypsis.errors import SearchError
from crypsis.evolution.problem import Engine, Problem
from crypsis.evolution.state import State


@dataclass(frozen=True)
class Budget:
    """When to stop: whichever limit comes first. No limit at all is refused.

    seconds      wall time, counted from `spent` (what earlier parts of a resumed run used)
    evaluations  candidates scored; a generation under way is finished
    generations  generations since the first start
    target       fitness at or below which the best is good enough
    """

    seconds: float = math.inf
    evaluations: float = math.inf
    generations: float = math.inf
    target: float = -math.inf
    spent: float = 0.0

    def __post_init__(self) -> None:
        if all(math.isinf(limit) for limit in (self.seconds, self.evaluations, self.generations, self.target)):
            raise SearchError("the budget has no limit; give seconds, evaluations, generations or a target")

    def progress(self, state: State, elapsed: float = 0.0) -> float:
        """How much of the budget is used, 0 to 1."""
        if state.best_fitness <= self.target:
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
) -> Iterator[State]:
    """Yield the first state, then the state after every quantum, until the budget is used up.

    Given a state, go on from it (it is not yielded again, and `rng` is not touched): the states that follow
    are, bit for bit, those of a run that was never interrupted. The engine changes the time, not the result.
    """
    engine = engine or Serial()
    started = clock()
    if state is None:
        state = problem.strategy.begin(problem, rng, engine)
        yield state
    while budget.progress(state, clock() - started) < 1.0:
        state = problem.strategy.advance(problem, state, engine)
        yield state
