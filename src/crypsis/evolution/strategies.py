"""Two strategies that advance by generations: Elitist and Archived."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.engines import Engine
from crypsis.errors import SearchError
from crypsis.evolution.focus import Focus, find_focused
from crypsis.evolution.loop import advance_loop_state, conclude_generation
from crypsis.evolution.operators import Muting, apply_evolution_operator, draw_operator_positions
from crypsis.evolution.problem import SELECTION, Child, Evaluate, Genome, Operator, Problem, Scores, Streams
from crypsis.evolution.selection import FitnessFunction, Order, StrengthOrder, WeightedMean, tournament, truncation
from crypsis.evolution.state import State, empty_search_state, extend_search_state
from crypsis.kernels.arrays import Floats

SHARE_IN_FOCUS = 4
"""A focus leaves at least one of so many members, the nearest to its box, as parents."""
SCORED = "scored"
"""Name of the array of positions of children that earlier quanta of a generation scored."""
_NONE = np.empty(0, dtype=np.int64)


def _first_generation(problem: Problem, operators: tuple[str, ...], rng: Generator, engine: Engine) -> State:
    """Score the first population, or as much of it as one quantum holds."""
    return _more_first(problem, empty_search_state(problem, Streams.spawn(rng, (SELECTION, *operators))), engine)


def _more_first(problem: Problem, state: State, engine: Engine) -> State:
    """Score the next members of the first population; the state is whole after the last."""
    first, begun = problem.first(), len(state.genomes)
    if not first:
        raise SearchError("the search has an empty first population; give it at least one candidate")
    end = min(len(first), begun + (problem.together or len(first)))
    children = [Child(genome, "", (), problem.key(genome)) for genome in first[begun:end]]
    if not problem.scorable([children[place].genome for place in find_unscored_children(state, children)], engine):
        return replace(state, whole=False)
    scores, known, fresh = score_strategy_children(problem, state, children, engine)
    after = replace(extend_search_state(state, children, scores), whole=end == len(first))
    return conclude_generation(problem, after, state, children, scores, known, fresh)


class Breeding(Protocol):
    """A strategy whose quantum is a generation."""

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """Breed children."""

    def absorb(self, state: State, children: Sequence[Child], scores: NDArray[np.float64]) -> State:
        """Select the survivors of parents and children.

        `scores` float64[n, m].
        """


def _next_generation(problem: Problem, breeding: Breeding, state: State, engine: Engine) -> State:
    """The state after one more quantum: propose, look up, evaluate, absorb, offer to the frontier.

    A quantum is a generation, or as many of its children as are scored together. Until the last of them is scored only
    the known scores grow; as nothing else changes, the next quantum proposes the same children again.
    """
    streams = Streams(state.rng)
    children = [replace(child, key=problem.key(child.genome)) for child in breeding.propose(state, streams)]
    earlier, unknown = state.memory.get(SCORED, _NONE), find_unscored_children(state, children)
    some = unknown[: problem.together or len(unknown)]
    if not problem.scorable([children[place].genome for place in some], engine):
        return state
    if len(some) < len(unknown):
        _, known, _ = score_strategy_children(problem, state, [children[place] for place in some], engine)
        return replace(state, known=known, memory={SCORED: np.append(earlier, some)}, whole=False)
    scores, known, _ = score_strategy_children(problem, state, children, engine)
    after = breeding.absorb(state, children, scores)
    after = replace(after, rng=streams.snapshot(), memory={}, whole=True)
    return conclude_generation(problem, after, state, children, scores, known, sorted({*earlier.tolist(), *unknown}))


def find_unscored_children(state: State, children: Sequence[Child]) -> list[int]:
    """Positions of children in a strategy whose scores are not known yet; of equal ones the first."""
    seen: set[bytes] = set()
    fresh: list[int] = []
    for place, child in enumerate(children):
        if child.key not in state.known and child.key not in seen:
            seen.add(child.key)
            fresh.append(place)
    return fresh


def score_strategy_children(
    problem: Problem, state: State, children: Sequence[Child], engine: Engine
) -> tuple[NDArray[np.float64], Mapping[bytes, Scores], list[int]]:
    """Score the children of a strategy's generation; those whose key is known are looked up.

    Returns float64[n, m].
    """
    fresh = find_unscored_children(state, children)
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


# -- Two strategies that advance by generations: Elitist and Archived.


def compete(
    state: State,
    children: Sequence[Child],
    scores: Floats,
    prefer: Callable[[Floats, Floats], bool],
    fitness: FitnessFunction,
) -> State:
    """The state after every child has competed with its own parent alone, whose place it takes if it is preferred."""
    n = len(state.genomes)
    survivors, rows = np.arange(n, dtype=np.int64), state.scores.copy()
    for i, child in enumerate(children):
        place = child.parents[0]
        if prefer(scores[i], rows[place]):
            survivors[place], rows[place] = n + i, scores[i]
    return advance_loop_state(state, children, scores, survivors, fitness)


class Generations(ABC):
    """Strategies that advance by generations, in one quantum or several."""

    @property
    @abstractmethod
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """Score the first population; see `Strategy.begin`."""
        return _first_generation(problem, self.operators, rng, engine)

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """Advance by one generation, or a part of it; see `Strategy.advance`."""
        if not state.generation and not state.whole and len(state.genomes) < len(problem.first()):
            return _more_first(problem, state, engine)
        return _next_generation(problem, self, state, engine)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Application:
    """An operator and how it is applied in a generation."""

    operator: Operator
    times: int
    elite: int = 0  # number of best members that may be parents; 0 for all


@dataclass(frozen=True)
class Elitist(Generations):
    """Every operator is applied a fixed number of times to random parents; the best of parents and children survive."""

    size: int  # size of the population
    applications: tuple[Application, ...]  # operators and how often they are applied
    fitness: FitnessFunction = WeightedMean()  # noqa: RUF009 - frozen
    order: Order | None = None  # how parents and children are ranked; by fitness if None
    copies: int = 0  # how many members may be the same solution; 0 for any number
    muting: Muting | None = None  # the rule that disables unproductive operators; never if None
    focus: Focus | None = None  # where parents are drawn from; everywhere if None
    like: Genome | None = field(default=None, compare=False)  # what parents are most like, if wanted
    contestants: int = 1  # members drawn for every parent, of which the best is taken; 2 for binary tournaments
    attempts: int = 1  # how often an operator may try for a child that is neither a member nor bred before

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""
        return tuple(application.operator.name for application in self.applications)

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """Breed children; see `Breeding.propose`."""
        children: list[Child] = []
        ranked = truncation(self.fitness(state.scores), len(state.genomes))
        if self.focus is not None or self.like is not None:
            near = _find_parents(self.focus, state.scores, state.genomes, self.like)
            ranked = ranked[np.isin(ranked, near)]
        order = (self.order or self.fitness)(state.scores) if self.contestants > 1 else None
        bred = {genome.tobytes() for genome in state.genomes} if self.attempts > 1 else set[bytes]()
        for application in self.applications:
            operator = application.operator
            if operator.name in state.muted:
                continue
            rng = streams[operator.name]
            eligible = ranked[: application.elite or len(ranked)]
            for _ in range(application.times):
                for attempt in range(1, self.attempts + 1):
                    parents = self._draw_parents(eligible, order, operator.arity, rng)
                    made = apply_evolution_operator(operator, parents, state.genomes, rng)
                    if attempt == self.attempts or not bred.issuperset(child.genome.tobytes() for child in made):
                        break
                if self.attempts > 1:
                    bred.update(child.genome.tobytes() for child in made)
                children += made
        return children

    def _draw_parents(self, eligible: NDArray[np.int64], order: Floats | None, arity: int, rng: Generator) -> list[int]:
        """Positions of the parents of one application, each the best of those drawn for it."""
        drawn = eligible[draw_operator_positions(len(eligible), arity * self.contestants, rng)]
        if order is None:
            return [int(place) for place in drawn]
        rivals = drawn.reshape(arity, self.contestants)
        return [int(place) for place in rivals[np.arange(arity), np.argmin(order[rivals], axis=1)]]

    def absorb(self, state: State, children: Sequence[Child], scores: Floats) -> State:
        """Select survivors; see `Breeding.absorb`."""
        pool = np.vstack([state.scores, scores.reshape(-1, state.scores.shape[1])])
        ranked = truncation((self.order or self.fitness)(pool), len(pool))
        if self.copies:
            ranked = _few_of_each([*state.keys, *(child.key for child in children)], ranked, self.copies)
        after = advance_loop_state(state, children, scores, ranked[: self.size], self.fitness)
        if self.muting is None:
            return after
        return replace(after, muted=self.muting.find_muted(after.tally, after.generation, state.muted))


@dataclass(frozen=True)
class Archived(Generations):
    """Parents are drawn by binary tournament from population and frontier; the children replace the population."""

    size: int  # size of the population
    mutation: Operator
    crossover: Operator
    crossover_rate: float = 0.8  # probability that a pair is crossed
    fitness: FitnessFunction = WeightedMean()  # noqa: RUF009 - frozen
    # how candidates of the tournament are ranked
    order: Order = StrengthOrder()  # noqa: RUF009 - frozen
    focus: Focus | None = None  # where parents are drawn from; everywhere if None
    like: Genome | None = field(default=None, compare=False)  # what parents are most like, if wanted

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""
        return (self.mutation.name,) if self.crossover is None else (self.mutation.name, self.crossover.name)

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """Breed children; see `Breeding.propose`."""
        pool = (*state.genomes, *state.frontier.genomes)
        scores = np.vstack([state.scores, state.frontier.scores.reshape(-1, state.scores.shape[1])])
        order, near = self.order(scores), _find_parents(self.focus, scores, pool, self.like)
        chosen = near[tournament(order[near], self.size, streams[SELECTION])]
        return _mate_in_strategy(self.crossover, self.mutation, self.crossover_rate, chosen, pool, streams)

    def absorb(self, state: State, children: Sequence[Child], scores: Floats) -> State:
        """Select survivors; see `Breeding.absorb`."""
        n = len(state.genomes)
        return advance_loop_state(
            state, children, scores, np.arange(n, n + len(children), dtype=np.int64), self.fitness
        )


def _find_parents(
    focus: Focus | None, scores: Floats, genomes: Sequence[Genome], like: Genome | None
) -> NDArray[np.int64]:
    """Positions of the members that may be parents: those in focus, or those whose genomes are most like another one.

    `scores` float64[n, m]; returns int64[l].
    """
    least = max(2, len(scores) // SHARE_IN_FOCUS)
    if like is None or any(genome.shape != like.shape for genome in genomes):
        return find_focused(focus, scores, least)
    differ = np.array([np.mean(genome != like) for genome in genomes])
    far = np.zeros(len(scores)) if focus is None else focus.distances(scores)
    return np.sort(np.lexsort((far, differ))[:least])


def _mate_in_strategy(
    crossover: Operator,
    mutation: Operator,
    rate: float,
    chosen: NDArray[np.int64],
    pool: Sequence[Genome],
    streams: Streams,
) -> list[Child]:
    """Generation of a strategy: cross chosen parents in pairs, or copy them, and mutate every result once.

    `chosen` int64[n].
    """
    children: list[Child] = []
    for at in range(0, len(chosen), 2):
        pair = [int(parent) for parent in chosen[at : at + 2]]
        crossing = len(pair) == 2 and streams[SELECTION].random() < rate
        if crossing:
            made = apply_evolution_operator(crossover, pair, pool, streams[crossover.name])[:2]
        else:
            made = [Child(pool[parent], mutation.name, (parent,)) for parent in pair]
        for child in made:
            (genome,) = mutation.apply([child.genome], streams[mutation.name])
            children.append(replace(child, genome=genome))
    return children


def _few_of_each(keys: Sequence[bytes], places: NDArray[np.int64], copies: int) -> NDArray[np.int64]:
    """The positions whose key occurs fewer than a number of times at earlier positions.

    `places` int64[n]: positions in order; returns int64[m].
    """
    seen: dict[bytes, int] = {}
    fresh = []
    for place in places.tolist():
        before = seen.get(keys[place], 0)
        if before < copies:
            seen[keys[place]] = before + 1
            fresh.append(place)
    return np.array(fresh, dtype=np.int64)
