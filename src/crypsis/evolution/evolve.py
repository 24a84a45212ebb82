"""The one loop: propose, look up, evaluate, absorb, offer to the frontier; a generator of states."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import SearchError
from crypsis.evolution.frontier import Frontier
from crypsis.evolution.operators import Tally
from crypsis.evolution.space import SELECTION, Child, Engine, Evaluate, Genome, Problem, Scores, Streams
from crypsis.evolution.state import State


@dataclass(frozen=True)
class Budget:
    """When to stop: whichever limit comes first. No limit at all is refused.

    seconds      wall time, counted from `spent` (what earlier parts of a resumed run used)
    evaluations  candidates scored; a generation under way is finished
    generations  generations since the first start
    target       worth at or below which the best is good enough
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
        if state.best_worth <= self.target:
            return 1.0
        parts = (
            (self.spent + elapsed, self.seconds),
            (state.evaluations, self.evaluations),
            (state.generation, self.generations),
        )
        return min(1.0, max(used / limit if limit > 0 else 1.0 for used, limit in parts))


class InProcess:
    """The engine that needs nothing."""

    def map(self, function: Callable[[Any, Any], Any], items: Sequence[Any], shared: Any) -> list[Any]:
        return [function(shared, item) for item in items]


def evolve(
    problem: Problem,
    rng: Generator,
    budget: Budget,
    engine: Engine | None = None,
    state: State | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[State]:
    """Yield the first state, then the state after every generation, until the budget is used up.

    Given a state, go on from it (it is not yielded again, and `rng` is not touched): the states that follow
    are, bit for bit, those of a run that was never interrupted. The engine changes the time, not the result.
    """
    engine = engine or InProcess()
    started = clock()
    if state is None:
        state = begin(problem, rng, engine)
        yield state
    while budget.progress(state, clock() - started) < 1.0:
        state = step(problem, state, engine)
        yield state


def begin(problem: Problem, rng: Generator, engine: Engine) -> State:
    """The first population, scored."""
    first = problem.first()
    if not first:
        raise SearchError("the search has an empty first population; give it at least one candidate")
    strategy = problem.strategy
    streams = Streams.seeded(rng, (SELECTION, *strategy.operators))
    children = [Child(genome, "", (), problem.space.key(genome)) for genome in first]
    n, m = len(children), len(problem.objectives)
    empty = State(
        generation=0,
        genomes=first,
        keys=tuple(child.key for child in children),
        scores=np.empty((0, m)),
        born=np.zeros(n, dtype=np.int64),
        origin=np.full(n, -1, dtype=np.int64),
        used=np.zeros(n, dtype=np.bool_),
        frontier=Frontier(scores=np.empty((0, m)), boxes=problem.boxes),
        tally=Tally.empty(strategy.operators),
        best=first[0],
        best_scores=(math.inf,) * m,
        best_worth=math.inf,
        best_found=0,
        evaluations=0,
        hits=0,
        rng=streams.snapshot(),
    )
    scores, known, fresh = score(problem, empty, children, engine)
    return record(problem, replace(empty, scores=scores), empty, children, scores, known, fresh)


def step(problem: Problem, state: State, engine: Engine) -> State:
    """The state after one more generation."""
    streams = Streams(state.rng)
    proposed = problem.strategy.propose(state, problem.space, streams)
    children = [Child(c.genome, c.operator, c.parents, problem.space.key(c.genome)) for c in proposed]
    scores, known, fresh = score(problem, state, children, engine)
    after = problem.strategy.absorb(state, children, scores)
    after = replace(after, rng=streams.snapshot())
    return record(problem, after, state, children, scores, known, fresh)


def score(
    problem: Problem, state: State, children: Sequence[Child], engine: Engine
) -> tuple[NDArray[np.float64], Mapping[bytes, Scores], list[int]]:
    """Scores of all children, the known scores after, and which children had to be evaluated."""
    seen: set[bytes] = set()
    fresh: list[int] = []
    for place, child in enumerate(children):
        if child.key not in state.known and child.key not in seen:
            seen.add(child.key)
            fresh.append(place)
    if problem.assess is not None:
        found = problem.assess([children[place] for place in fresh], state, engine)
    else:
        found = engine.map(_evaluate, [children[place].genome for place in fresh], problem.evaluate)
    new = {children[place].key: tuple(map(float, row)) for place, row in zip(fresh, found, strict=True)}
    rows = np.array(
        [new[child.key] if child.key in new else state.known[child.key] for child in children], dtype=np.float64
    ).reshape(len(children), len(problem.objectives))
    if not new:
        return rows, state.known, fresh
    known = {**state.known, **new}
    for key in list(known)[: max(0, len(known) - problem.remember)]:
        del known[key]
    return rows, known, fresh


def _evaluate(evaluate: Evaluate, genome: Genome) -> Scores:
    return evaluate(genome)


def record(
    problem: Problem,
    after: State,
    before: State,
    children: Sequence[Child],
    scores: NDArray[np.float64],
    known: Mapping[bytes, Scores],
    fresh: list[int],
) -> State:
    """With the frontier, the best so far and the counts brought up to date."""
    frontier = before.frontier.offer_all((children[place].genome, tuple(scores[place].tolist())) for place in fresh)
    changes: dict[str, Any] = {}
    if fresh:
        worth = problem.strategy.worth(scores[fresh])
        first = int(np.argmin(worth))
        if worth[first] < before.best_worth:
            place = fresh[first]
            changes = {
                "best": children[place].genome,
                "best_scores": tuple(scores[place].tolist()),
                "best_worth": float(worth[first]),
                "best_found": before.evaluations + first + 1,
            }
    return replace(
        after,
        frontier=frontier,
        known=known,
        evaluations=before.evaluations + len(fresh),
        hits=before.hits + len(children) - len(fresh),
        **changes,
    )
