"""Three strategies that advance by generations: Elitist, Crowding, Archived."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.engines import Engine
from crypsis.errors import SearchError
from crypsis.evolution.frontier import Frontier
from crypsis.evolution.operators import Muting, Tally, efficiency
from crypsis.evolution.problem import SELECTION, Child, Evaluate, Genome, Operator, Problem, Scores, Streams
from crypsis.evolution.selection import (
    FitnessFunction,
    Order,
    StrengthOrder,
    WeightedMean,
    couple,
    draw_positions,
    few_of_each,
    leaders,
    roulette,
    roulette_weights,
    tournament,
    truncation,
)
from crypsis.evolution.state import State
from crypsis.kernels.arrays import Floats

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
    if not problem.scorable([children[place].genome for place in find_unscored(state, children)], engine):
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
    earlier, unknown = state.memory.get(SCORED, _NONE), find_unscored(state, children)
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


def find_unscored(state: State, children: Sequence[Child]) -> list[int]:
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
    fresh = find_unscored(state, children)
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


# -- Three strategies that advance by generations: Elitist, Crowding, Archived.


def breed(operator: Operator, parents: Sequence[int], pool: Sequence[Genome], rng: Generator) -> list[Child]:
    """Apply an operator to parents.

    Parameters
    ----------
    operator : Operator
    parents : sequence of int
        Positions of the parents.
    pool : sequence of Genome
        Population and, after it, frontier.
    rng : Generator
        Random numbers of the operator.

    Returns
    -------
    list of Child
        The first parent of the i-th child is the i-th parent.
    """
    genomes = operator.apply([pool[parent] for parent in parents], rng)
    own = [i % len(parents) for i in range(len(genomes))]
    return [Child(genome, operator.name, (*parents[i:], *parents[:i])) for genome, i in zip(genomes, own, strict=True)]


def succeed(
    state: State, children: Sequence[Child], scores: Floats, survivors: NDArray[np.int64], fitness: FitnessFunction
) -> State:
    """The state after selection, with births and removals counted.

    state  the state before the generation
    scores  float64[n, m]: their scores
    survivors  int64[size]: positions in the old population followed by the children
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
    change = efficiency(fitness(scores), reference) if children else np.empty(0)
    alive = np.zeros(n + len(children), dtype=np.bool_)
    alive[survivors] = True
    born = np.concatenate([state.born, np.full(len(children), generation, dtype=np.int64)])
    origin = np.concatenate([state.origin, makers])
    bred = np.concatenate([used, np.zeros(len(children), dtype=np.bool_)])
    tally = state.tally.born(generation, makers, change, alive[n:])
    tally = tally.died(generation, origin[~alive], born[~alive], bred[~alive])
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


def compete(
    state: State,
    children: Sequence[Child],
    scores: Floats,
    prefer: Callable[[Floats, Floats], bool],
    fitness: FitnessFunction,
) -> State:
    """The state after every child has competed with its own parent alone, whose seat it takes if it is preferred."""
    n = len(state.genomes)
    seats, rows = np.arange(n, dtype=np.int64), state.scores.copy()
    for i, child in enumerate(children):
        seat = child.parents[0]
        if prefer(scores[i], rows[seat]):
            seats[seat], rows[seat] = n + i, scores[i]
    return succeed(state, children, scores, seats, fitness)


class Generations(ABC):
    """Strategies that advance by generations, in one quantum or several."""

    @property
    @abstractmethod
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """Score the first population; see `Strategy.begin`."""
        return first_generation(problem, self.operators, rng, engine)

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """Advance by one generation, or a part of it; see `Strategy.advance`."""
        if not state.generation and not state.whole and len(state.genomes) < len(problem.first()):
            return more_first(problem, state, engine)
        return next_generation(problem, self, state, engine)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Application:
    """An operator and how it is applied in a generation.

    elite  number of best members that may be parents; 0 for all
    """

    operator: Operator
    times: int
    elite: int = 0


@dataclass(frozen=True)
class Elitist(Generations):
    """Every operator is applied a fixed number of times to random parents; the best of parents and children survive.

    size  size of the population
    applications  operators and how often they are applied
    order  how parents and children are ranked; by fitness if None
    copies  how many members may be the same solution; 0 for any number
    muting  the rule that disables unproductive operators; never if None
    """

    size: int
    applications: tuple[Application, ...]
    fitness: FitnessFunction = WeightedMean()  # noqa: RUF009 - frozen
    order: Order | None = None
    copies: int = 0
    muting: Muting | None = None

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""
        return tuple(application.operator.name for application in self.applications)

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """Breed children; see `Breeding.propose`."""
        children: list[Child] = []
        ranked = truncation(self.fitness(state.scores), len(state.genomes))
        for application in self.applications:
            operator = application.operator
            if operator.name in state.muted:
                continue
            rng = streams[operator.name]
            eligible = ranked[: application.elite or len(ranked)]
            for _ in range(application.times):
                parents = eligible[draw_positions(len(eligible), operator.arity, rng)].tolist()
                children += breed(operator, parents, state.genomes, rng)
        return children

    def absorb(self, state: State, children: Sequence[Child], scores: Floats) -> State:
        """Select survivors; see `Breeding.absorb`."""
        pool = np.vstack([state.scores, scores.reshape(-1, state.scores.shape[1])])
        ranked = truncation((self.order or self.fitness)(pool), len(pool))
        if self.copies:
            ranked = few_of_each([*state.keys, *(child.key for child in children)], ranked, self.copies)
        after = succeed(state, children, scores, ranked[: self.size], self.fitness)
        if self.muting is None:
            return after
        return replace(after, muted=self.muting.muted(after.tally, after.generation, state.muted))


@dataclass(frozen=True)
class Crowding(Generations):
    """A few children per generation; each competes with its own parent and replaces it if it is better.

    Attributes
    ----------
    mutation : Operator
        Its parent is drawn by roulette on the turned fitness.
    crossover : Operator or None
        Its first parent is drawn from the leaders, its second by roulette; with None there are mutations alone, and
        every position of the population is a lineage.
    crossover_rate : float
        Probability that an application is a crossover.
    times : int
        Applications per generation.
    leaders : int
        Number of best members from which first parents are drawn.
    fitness : callable
        Scores → fitness.
    weights : callable
        Fitness → weights of the roulette.
    prefer : callable or None
        Whether the scores of a child are better than those of its parent; strictly smaller fitness if None.
    disjoint : bool
        No two applications of a generation share a parent, so that all are scored at once.
    """

    mutation: Operator
    crossover: Operator | None = None
    crossover_rate: float = 0.5
    times: int = 1
    leaders: int = 10
    fitness: FitnessFunction = WeightedMean()  # noqa: RUF009 - frozen
    weights: Callable[[Floats], Floats] = roulette_weights
    prefer: Callable[[Floats, Floats], bool] | None = None
    disjoint: bool = True

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""
        return (self.mutation.name,) if self.crossover is None else (self.mutation.name, self.crossover.name)

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """Breed children; see `Breeding.propose`."""
        chance, fitness = streams[SELECTION], self.fitness(state.scores)
        weights, best = self.weights(fitness), leaders(fitness, self.leaders)
        taken: set[int] = set()
        children: list[Child] = []
        for _ in range(self.times):
            operator = self.mutation
            if self.crossover is not None and chance.random() < self.crossover_rate and len(fitness) > 1:
                operator = self.crossover
                parents = list(couple(weights, best, chance))
            else:
                parents = roulette(weights, 1, chance).tolist()
            if self.disjoint and taken.intersection(parents):
                continue
            taken.update(parents)
            children += breed(operator, parents, state.genomes, streams[operator.name])
        return children

    def absorb(self, state: State, children: Sequence[Child], scores: Floats) -> State:
        """Select survivors; see `Breeding.absorb`."""
        return compete(state, children, scores, self.prefer or self._better, self.fitness)

    def _better(self, child: Floats, parent: Floats) -> bool:
        pair = self.fitness(np.stack([child, parent]))
        return bool(pair[0] < pair[1])


@dataclass(frozen=True)
class Archived(Generations):
    """Parents are drawn by binary tournament from population and frontier; the children replace the population.

    size  size of the population
    crossover_rate  probability that a pair is crossed
    order  how candidates of the tournament are ranked
    """

    size: int
    mutation: Operator
    crossover: Operator
    crossover_rate: float = 0.8
    fitness: FitnessFunction = WeightedMean()  # noqa: RUF009 - frozen
    order: Order = StrengthOrder()  # noqa: RUF009 - frozen

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""
        return (self.mutation.name,) if self.crossover is None else (self.mutation.name, self.crossover.name)

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """Breed children; see `Breeding.propose`."""
        pool = (*state.genomes, *state.frontier.genomes)
        order = self.order(np.vstack([state.scores, state.frontier.scores.reshape(-1, state.scores.shape[1])]))
        chosen = tournament(order, self.size, streams[SELECTION])
        return mate(self.crossover, self.mutation, self.crossover_rate, chosen, pool, streams)

    def absorb(self, state: State, children: Sequence[Child], scores: Floats) -> State:
        """Select survivors; see `Breeding.absorb`."""
        n = len(state.genomes)
        return succeed(state, children, scores, np.arange(n, n + len(children), dtype=np.int64), self.fitness)


def mate(
    crossover: Operator,
    mutation: Operator,
    rate: float,
    chosen: NDArray[np.int64],
    pool: Sequence[Genome],
    streams: Streams,
) -> list[Child]:
    """Cross chosen parents in pairs, or copy them, and mutate every result once.

    Parameters
    ----------
    crossover, mutation : Operator
    rate : float
        Probability that a pair is crossed.
    chosen : int64[n]
        Positions of the parents.
    pool : sequence of Genome
        Population and, after it, frontier.
    streams : Streams
        Random streams.

    Returns
    -------
    list of Child
    """
    children: list[Child] = []
    for at in range(0, len(chosen), 2):
        pair = [int(parent) for parent in chosen[at : at + 2]]
        crossing = len(pair) == 2 and streams[SELECTION].random() < rate
        if crossing:
            made = breed(crossover, pair, pool, streams[crossover.name])[:2]
        else:
            made = [Child(pool[parent], mutation.name, (parent,)) for parent in pair]
        for child in made:
            (genome,) = mutation.apply([child.genome], streams[mutation.name])
            children.append(replace(child, genome=genome))
    return children
