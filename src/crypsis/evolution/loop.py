"""The loop: a strategy advances quantum by quantum until the budget is used."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from crypsis.engines import Engine, Serial
from crypsis.errors import SearchError
from crypsis.evolution.problem import Child, Problem, Scores
from crypsis.evolution.selection import FitnessFunction
from crypsis.evolution.state import State
from crypsis.kernels.arrays import Floats


@dataclass(frozen=True)
class Budget:
    """When a search stops: at the limit that is reached first."""

    seconds: float = math.inf  # wall time, `spent` included
    evaluations: float = math.inf  # candidates scored; a generation that has begun is finished
    generations: float = math.inf  # generations since the first start
    target: float = -math.inf  # fitness at or below which the best candidate is good enough
    idle: float = math.inf  # quanta in a row that try nothing new, after which nothing is left to find
    spent: float = 0.0  # seconds used by earlier parts of a resumed run

    def __post_init__(self) -> None:
        limits = (self.seconds, self.evaluations, self.generations, self.target, self.idle)
        if all(math.isinf(limit) for limit in limits):
            raise SearchError(
                "the budget has no limit; give seconds, evaluations, generations, a target or idle quanta"
            )

    def progress(self, state: State, elapsed: float = 0.0) -> float:
        """Share of the budget that is used.

        `elapsed`: seconds of this part of the run.
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


def advance_loop_state(
    state: State, children: Sequence[Child], scores: Floats, survivors: NDArray[np.int64], fitness: FitnessFunction
) -> State:
    """The state with which the loop goes on after selection, with births and removals counted.

    `scores` float64[n, m]; `survivors` int64[size].
    """
    n, generation = len(state.genomes), state.generation + 1
    places = {name: place for place, name in enumerate(state.tally.names)}
    makers = np.array([places[child.operator] for child in children], dtype=np.int64)
    used = state.used.copy()
    for child in children:
        used[[parent for parent in child.parents if parent < n]] = True
    parents_fitness = fitness(np.vstack([state.scores, state.frontier.scores.reshape(-1, state.scores.shape[1])]))
    fitnesses = parents_fitness.tolist()
    reference = np.array([sum(fitnesses[p] for p in child.parents) / len(child.parents) for child in children])
    change = efficiency_in_loop(fitness(scores), reference) if children else np.empty(0)
    alive = np.zeros(n + len(children), dtype=np.bool_)
    alive[survivors] = True
    born = np.concatenate([state.born, np.full(len(children), generation, dtype=np.int64)])
    origin = np.concatenate([state.origin, makers])
    bred = np.concatenate([used, np.zeros(len(children), dtype=np.bool_)])
    tally = state.tally.born(generation, makers, change, alive[n:])
    tally = tally.count_removals(generation, origin[~alive], born[~alive], bred[~alive])
    genomes = [*state.genomes, *(child.genome for child in children)]
    keys = [*state.keys, *(child.key for child in children)]
    return replace(
        state,
        generation=generation,
        genomes=tuple(genomes[i] for i in survivors),
        keys=tuple(keys[i] for i in survivors),
        scores=np.vstack([state.scores, scores.reshape(-1, state.scores.shape[1])])[survivors],
        born=born[survivors],
        origin=origin[survivors],
        used=bred[survivors],
        tally=tally,
    )


def conclude_generation(
    problem: Problem,
    after: State,
    before: State,
    children: Sequence[Child],
    scores: NDArray[np.float64],
    known: Mapping[bytes, Scores],
    fresh: list[int],
) -> State:
    """The end of a generation in the loop: frontier, best candidate and counts of a state are updated."""
    frontier = before.frontier.offer_all((children[place].genome, tuple(scores[place].tolist())) for place in fresh)
    changes: dict[str, Any] = {}
    if fresh:
        fitness = problem.strategy.fitness(scores[fresh])
        first = int(np.argmin(fitness))
        if fitness[first] < before.best_fitness:
            place = fresh[first]
            changes = {
                "best": children[place].genome,
                "best_scores": tuple(scores[place].tolist()),
                "best_fitness": float(fitness[first]),
                "best_found": before.evaluations + first + 1,
            }
    return replace(
        after,
        frontier=frontier,
        known=known,
        evaluations=before.evaluations + len(fresh),
        hits=before.hits + len(children) - len(fresh),
        idle=0 if fresh else before.idle + 1,
        **changes,
    )


def random_stream_of_loop(seed: int, *place: int) -> Generator:
    """An independent random stream for each place in a run of the evolutionary loop."""
    return np.random.default_rng(SeedSequence(seed, spawn_key=place))


def efficiency_in_loop(child: Floats, reference: Floats) -> Floats:
    """Improvement (positive) or worsening (negative) of each child in a generation of the loop, per cent.

    100 (1 − r) if r ≤ 1 and 100 (1/r − 1) otherwise, with r = child / reference.

    `child`, `reference` float64[n]; returns float64[n].

    >>> efficiency_in_loop(np.array([1.0, 4.0]), np.array([2.0, 2.0])).tolist()
    [50.0, -50.0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = child / reference
        result = np.where(ratio <= 1.0, 100.0 * (1.0 - ratio), 100.0 * (1.0 / ratio - 1.0))
    return np.where(np.isfinite(result), result, 0.0)
