"""One generation of a population: score the children, update counts and frontier, select survivors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.engines import Engine
from crypsis.errors import SearchError
from crypsis.evolution.frontier import Frontier
from crypsis.evolution.operators import Tally
from crypsis.evolution.problem import SELECTION, Child, Evaluate, Genome, Problem, Scores, Streams
from crypsis.evolution.state import State

SCORED = "scored"
"""Name of the array of positions of children that earlier quanta of a generation scored."""
_NONE = np.empty(0, dtype=np.int64)


def first_generation(problem: Problem, operators: tuple[str, ...], rng: Generator, engine: Engine) -> State:
    """Score the first population, or as much of it as one quantum holds.

    operators  names of the operators
    rng  determines all random streams
    engine  where candidates are scored

    Raises
    ------
    SearchError
        If the first population is empty.
    """
    return more_first(problem, empty_state(problem, Streams.seeded(rng, (SELECTION, *operators))), engine)


def more_first(problem: Problem, state: State, engine: Engine) -> State:
    """Score the next members of the first population; the state is whole after the last."""
    first, begun = problem.first(), len(state.genomes)
    if not first:
        raise SearchError("the search has an empty first population; give it at least one candidate")
    end = min(len(first), begun + (problem.together or len(first)))
    children = [Child(genome, "", (), problem.key(genome)) for genome in first[begun:end]]
    if not problem.scorable([children[place].genome for place in unscored(state, children)], engine):
        return replace(state, whole=False)
    scores, known, fresh = score(problem, state, children, engine)
    after = replace(with_first(state, children, scores), whole=end == len(first))
    return conclude_generation(problem, after, state, children, scores, known, fresh)


def empty_state(problem: Problem, streams: Streams) -> State:
    """The state before the first candidate."""
    m, operators = len(problem.objectives), problem.strategy.operators
    return State(
        generation=0,
        genomes=(),
        keys=(),
        scores=np.empty((0, m)),
        born=np.empty(0, dtype=np.int64),
        origin=np.empty(0, dtype=np.int64),
        used=np.empty(0, dtype=np.bool_),
        frontier=Frontier(scores=np.empty((0, m)), boxes=problem.boxes),
        tally=Tally.empty(operators),
        best=np.empty(0),
        best_scores=(math.inf,) * m,
        best_fitness=math.inf,
        best_found=0,
        evaluations=0,
        hits=0,
        rng=streams.snapshot(),
    )


def with_first(state: State, children: Sequence[Child], scores: NDArray[np.float64]) -> State:
    """With more members of the first population, which no operator made."""
    n = len(children)
    return replace(
        state,
        genomes=(*state.genomes, *(child.genome for child in children)),
        keys=(*state.keys, *(child.key for child in children)),
        scores=np.vstack([state.scores, scores]),
        born=np.concatenate([state.born, np.zeros(n, dtype=np.int64)]),
        origin=np.concatenate([state.origin, np.full(n, -1, dtype=np.int64)]),
        used=np.concatenate([state.used, np.zeros(n, dtype=np.bool_)]),
    )


class Breeding(Protocol):
    """A strategy whose quantum is a generation."""

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """Breed children.

        Parameters
        ----------
        state : State
            The state before the generation.
        streams : Streams
            Random streams of selection and operators.

        Returns
        -------
        list of Child
        """

    def absorb(self, state: State, children: Sequence[Child], scores: NDArray[np.float64]) -> State:
        """Select the survivors of parents and children.

        state  the state before the generation
        scores  float64[n, m]: their scores
        """


def next_generation(problem: Problem, breeding: Breeding, state: State, engine: Engine) -> State:
    """The state after one more quantum: propose, look up, evaluate, absorb, offer to the frontier.

    A quantum is a generation, or as many of its children as are scored together. Until the last of them is scored only
    the known scores grow; as nothing else changes, the next quantum proposes the same children again.

    breeding  proposes children and selects survivors
    engine  where candidates are scored
    """
    streams = Streams(state.rng)
    children = [replace(child, key=problem.key(child.genome)) for child in breeding.propose(state, streams)]
    earlier, unknown = state.memory.get(SCORED, _NONE), unscored(state, children)
    some = unknown[: problem.together or len(unknown)]
    if not problem.scorable([children[place].genome for place in some], engine):
        return state
    if len(some) < len(unknown):
        _, known, _ = score(problem, state, [children[place] for place in some], engine)
        return replace(state, known=known, memory={SCORED: np.append(earlier, some)}, whole=False)
    scores, known, _ = score(problem, state, children, engine)
    after = breeding.absorb(state, children, scores)
    after = replace(after, rng=streams.snapshot(), memory={}, whole=True)
    return conclude_generation(problem, after, state, children, scores, known, sorted({*earlier.tolist(), *unknown}))


def unscored(state: State, children: Sequence[Child]) -> list[int]:
    """Positions of children whose scores are not known yet; of equal ones the first."""
    seen: set[bytes] = set()
    fresh: list[int] = []
    for place, child in enumerate(children):
        if child.key not in state.known and child.key not in seen:
            seen.add(child.key)
            fresh.append(place)
    return fresh


def score(
    problem: Problem, state: State, children: Sequence[Child], engine: Engine
) -> tuple[NDArray[np.float64], Mapping[bytes, Scores], list[int]]:
    """Score children; those whose key is known are looked up.

    Parameters
    ----------
    problem : Problem
    state : State
        Has the known scores.
    children : sequence of Child
    engine : Engine
        Where candidates are scored.

    Returns
    -------
    scores : float64[n, m]
    known : mapping of bytes to tuple of float
        Known scores afterwards.
    fresh : list of int
        Positions of the children that were evaluated.
    """
    fresh = unscored(state, children)
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


def conclude_generation(
    problem: Problem,
    after: State,
    before: State,
    children: Sequence[Child],
    scores: NDArray[np.float64],
    known: Mapping[bytes, Scores],
    fresh: list[int],
) -> State:
    """Update frontier, best candidate and counts of a state.

    Parameters
    ----------
    problem : Problem
    after, before : State
        States after and before selection.
    children, scores
        Children and their scores.
    known : mapping
        Known scores.
    fresh : list of int
        Positions of the children that were evaluated.

    Returns
    -------
    State
    """
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
