"""The evolution of masked files as a strategy: make the first files one by one, then breed batch after batch.

Marés and Torra (2012): a mutation changes single cells of one file; a crossover exchanges a stretch of the flattened
files of two; each child competes with its own parent (deterministic crowding).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.engines import Engine
from crypsis.errors import SearchError
from crypsis.evolution.problem import SELECTION, Child, Problem, Scores, Streams
from crypsis.evolution.selection import (
    FitnessFunction,
    WeightedMean,
    Worst,
    couple,
    leaders,
    roulette,
    roulette_weights,
)
from crypsis.evolution.state import State
from crypsis.evolution.strategies import conclude_generation, empty_state, succeed, with_first
from crypsis.kernels.mutations import fitness
from crypsis.masking import MaskingMethod, Microaggregation
from crypsis.searches.maskings.constraints import Constraints
from crypsis.table.table import Table

if TYPE_CHECKING:
    from crypsis.searches.maskings.masking_search import MaskingSearch

Codes = NDArray[np.signedinteger[Any]]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Parent:
    """A file of the population: codes [n, p], their key, loss and risk, and its goal (see `kernels.fitness`)."""

    codes: Codes
    key: bytes
    scores: Floats
    goal: Floats


@dataclass(frozen=True, eq=False)
class Proposal:
    """What is tried on a parent: single changes in turn (int64[k, 3]: row, column, code), or a whole child."""

    parent: Parent
    changes: Ints | None = None
    codes: Codes | None = None


@dataclass(frozen=True, eq=False)
class Offspring:
    """A child with its scores, whether it takes its parent's place (then with its key), and how many were scored.

    Of changes in turn the child has all that were kept; where none was, the last one tried.
    """

    codes: Codes
    scores: Scores
    survives: bool
    tried: int = 1
    key: bytes = b""


class Trials(Protocol):
    """How children are scored and judged: by tallies that follow changes, or in full."""

    def score(self, codes: Codes, key: bytes) -> Scores:
        """Loss and risk of a file."""

    def aim(self, parent: Parent, changes: Ints, draws: Floats, share: float) -> None:
        """Aim a share of the changes at where risk or loss sits, in place."""

    def run(self, proposals: Sequence[Proposal], engine: Engine) -> list[Offspring | None]:
        """One child for each proposal; None where nothing could be tried."""


def rejected_child(
    parent: Parent, changes: Ints, last: int, scores: Scores, tried: int, constraints: Constraints
) -> Offspring | None:
    """The child with the last change tried, for the front to see; None if there is none or it breaks a model."""
    if last < 0:
        return None
    row, column, code = changes[last]
    codes = parent.codes.copy()
    codes[row, column] = code
    return Offspring(codes, scores, False, tried) if constraints.models_hold(codes) else None


# -- Rays of the plane of loss and risk: each file of a front is improved along a ray of its own.

NEIGHBOURS = 8
"""Files on nearby rays with which a file is crossed."""


REACH = 1.5
"""How far above the highest risk a ray may begin: its file moves towards the origin, and its risk falls."""
RAY_CANDIDATES = 180
"""Angles among which the steepest ray is chosen."""


def rays(pairs: Floats, highest_risk: float = 100.0) -> Floats:
    """Assign files to rays that are spread evenly from the axis of loss to the steepest ray, by their angle.

    Parameters
    ----------
    pairs : float64[N, 2]
        Loss and risk of each file.
    highest_risk : float
        Risk above which no file is wanted.

    Returns
    -------
    float64[N, 2]
        Slopes of loss and risk of the ray of each file.
    """
    angles = (np.arange(len(pairs)) + 0.5) / len(pairs) * steepest(pairs, highest_risk)
    slopes = np.empty_like(pairs)
    slopes[np.argsort(np.arctan2(pairs[:, 1], pairs[:, 0]), kind="stable")] = np.stack(
        [1.0 / np.cos(angles), 1.0 / np.sin(angles)], axis=1
    )
    return slopes


def steepest(pairs: Floats, highest_risk: float) -> float:
    """The largest angle at which the files come as low as `REACH` times the highest risk; where none does, the least.

    Parameters
    ----------
    pairs : float64[N, 2]
        Loss and risk of each file.
    highest_risk : float
        Risk above which no file is wanted; 100 wants all.
    """
    if highest_risk >= 100.0:
        return np.pi / 2
    angles = (np.arange(RAY_CANDIDATES) + 0.5) / RAY_CANDIDATES * (np.pi / 2)
    met = np.maximum(pairs[:, :1] / np.cos(angles), pairs[:, 1:] / np.sin(angles)).min(axis=0) * np.sin(angles)
    low = np.flatnonzero(met <= REACH * highest_risk)
    return float(angles[low[-1]] if len(low) else angles[0])


def neighbours(slopes: Floats, chance: Generator) -> tuple[int, int]:
    """Draw a file, and one of the files on nearby rays.

    Parameters
    ----------
    slopes : float64[N, 2]
        The rays of the files.
    chance : Generator
        Source of randomness.

    Returns
    -------
    first, second : int
    """
    first = int(roulette(np.ones(len(slopes)), 1, chance)[0])
    angles = np.arctan2(slopes[:, 0], slopes[:, 1])
    apart = np.abs(angles - angles[first])
    apart[first] = np.inf
    near = np.argsort(apart, kind="stable")[: min(NEIGHBOURS, len(slopes) - 1)]
    return first, int(near[chance.integers(len(near))])


def best_on_each(pairs: Floats, goals: Floats) -> NDArray[np.int64]:
    """Choose the best file for each ray, in order of the rays.

    Parameters
    ----------
    pairs : float64[N, 2]
        Loss and risk of each file.
    goals : float64[N, 4]
        What the file of each ray is held against; see `kernels.trials.fitness`.

    Returns
    -------
    int64[N]
        For each ray its own file, or one that is better there.
    """
    chosen, pairs = np.arange(len(pairs)), pairs.copy()
    for seat, goal in enumerate(goals):
        fitnesses = [fitness(loss, risk, goal) for loss, risk in pairs]
        best = int(np.argmin(fitnesses))
        if fitnesses[best] < fitnesses[seat]:
            chosen[seat], pairs[seat] = chosen[best], pairs[best]
    return chosen


# -- Where the first population comes from: files handed in, or methods that make them one by one.


class FirstFiles(Protocol):
    """Files of the first population, made in order."""

    def __len__(self) -> int: ...

    def make(self, place: int, rng: Generator) -> Codes:
        """One file in codes; chance comes from `rng` alone."""


@dataclass(frozen=True, eq=False)
class GivenFiles:
    """Masked files of the user's own."""

    codes: Sequence[Codes] = field(repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    def make(self, place: int, rng: Generator) -> Codes:
        """The file as it was given."""
        return self.codes[place]


@dataclass(frozen=True, eq=False)
class MethodFiles:
    """One file by each method; a record that would hold a forbidden combination keeps its original categories.

    Microaggregations that differ in what a group's values become share their groups of records.
    """

    constraints: Constraints = field(repr=False)
    methods: Sequence[MaskingMethod]
    _latest: list[tuple[MaskingMethod, list[NDArray[np.int32]]]] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.methods)

    def make(self, place: int, rng: Generator) -> Codes:
        """The file of one method."""
        encoding = self.constraints.encoding
        codes = encoding.encode(self._masked(self.methods[place], rng))
        broken = self.constraints.broken(codes)
        codes[broken] = encoding.context.codes[broken]
        return codes

    def _masked(self, method: MaskingMethod, rng: Generator) -> Table:
        table = self.constraints.encoding.table
        if not isinstance(method, Microaggregation):
            return method.apply(table, rng)
        alike = method.model_copy(update={"numbers": "mean", "categories": "typical"})
        if not self._latest or self._latest[0][0] != alike:
            self._latest[:] = [(alike, method.partitions(table, rng))]
        return method.aggregated(table, self._latest[0][1])


# -- The evolution of masked files as a strategy: make the first files one by one, then breed batch after batch.
#
# Marés and Torra (2012): a mutation changes single cells of one file; a crossover exchanges a stretch of the flattened
# files of two; each child competes with its own parent (deterministic crowding).

MUTATION, CROSSOVER, START = "mutation", "crossover", "start"
CANDIDATES = 8
"""Records an aimed change looks at."""
GOALS = {"mean": (0.0, 1.0, 1.0, 1.0), "max": (1.0, 1.0, 1.0, 0.0), "front": (1.0, 1.0, 1.0, 1.0)}
"""Weight of the greater side, slopes of loss and risk, weight of their mean: see `kernels.trials.fitness`."""
PAIRS = 50_000_000
"""Pairs of records worth of masking in one quantum of the first population."""


@dataclass(frozen=True, eq=False)
class MaskingStrategy:
    """One quantum makes files of the first population, or breeds a batch of files none of which takes part twice.

    settings  how files are chosen and changed
    first  the first population, made when the search begins
    constraints  what every file keeps; a file of the first population that does not takes no part
    trials  how children are scored and judged
    chance  state of the random stream the first population draws from
    """

    settings: MaskingSearch
    first: FirstFiles
    constraints: Constraints = field(repr=False)
    trials: Trials = field(repr=False)
    chance: Mapping[str, Any] = field(repr=False)

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""
        return MUTATION, CROSSOVER

    @property
    def fitness(self) -> FitnessFunction:
        """Equation 1 (mean) or Equation 2 (maximum) of loss and risk."""
        return WeightedMean() if self.settings.score == "mean" else Worst()

    # -- the first population --

    def files(self) -> tuple[Codes, ...]:
        """The first population, made at once."""
        rng = Streams({START: self.chance})[START]
        return tuple(self.first.make(place, rng) for place in range(len(self.first)))

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """The first files."""
        state = empty_state(problem, Streams.seeded(rng, (SELECTION, *self.operators)))
        streams = {**state.rng, START: self.chance}
        return self._make(problem, replace(state, rng=streams, memory={"made": np.array(0)}))

    def _make(self, problem: Problem, state: State) -> State:
        """More files of the first population: as many as one quantum holds, and at least one that takes part."""
        streams, made = Streams(state.rng), int(state.memory["made"])
        due = min(len(self.first), made + max(1, PAIRS // max(1, self._rows) ** 2))
        children: list[Child] = []
        scores = []
        while made < due or (made < len(self.first) and not (state.genomes or children)):
            codes = self.first.make(made, streams[START])
            made += 1
            if self.constraints.hold(codes):
                children.append(Child(codes, "", (), problem.key(codes)))
                scores.append(self.trials.score(codes, children[-1].key))
        whole = made == len(self.first)
        if whole and not (state.genomes or children):
            raise SearchError(
                f"none of the {made} files keeps every constraint; "
                "give files that already satisfy the models and avoid the forbidden combinations"
            )
        pairs = np.array(scores).reshape(-1, 2)
        after = replace(
            with_first(state, children, pairs),
            memory={"made": np.array(made)},
            rng=streams.snapshot(),
            whole=whole,
        )
        if whole and self.settings.score == "front":
            after = replace(after, memory={**after.memory, "slopes": rays(after.scores, self.settings.highest_risk)})
        return conclude_generation(problem, after, state, children, pairs, {}, list(range(len(children))))

    @property
    def _rows(self) -> int:
        return self.constraints.encoding.table.rows

    # -- breeding --

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """More files of the first population or, once it is whole, a batch of breedings."""
        if int(state.memory["made"]) < len(self.first):
            return self._make(problem, state)
        if self.settings.score == "front" and (state.generation + 1) % len(state.genomes) == 1:
            state = self._share(state)
        streams = Streams(state.rng)
        files = zip(state.genomes, state.keys, state.scores, self._goals(state), strict=True)
        parents = [Parent(codes, key, scores, goal) for codes, key, scores, goal in files]
        proposals, makers = self._proposals(state, parents, streams)
        found = self.trials.run(proposals, engine)
        return self._booked(problem, replace(state, rng=streams.snapshot()), found, makers)

    def _booked(
        self, problem: Problem, state: State, found: Sequence[Offspring | None], makers: Sequence[tuple[int, ...]]
    ) -> State:
        """The next generation: survivors in their parents' places, all children offered to the frontier.

        makers  for each child its parents, its own first
        """
        born = [(child, made_by) for child, made_by in zip(found, makers, strict=True) if child is not None]
        children = [
            Child(child.codes, CROSSOVER if len(made_by) > 1 else MUTATION, made_by, child.key)
            for child, made_by in born
        ]
        scores = np.array([child.scores for child, _ in born]).reshape(-1, 2)
        seats = np.arange(len(state.genomes), dtype=np.int64)
        for place, (child, made_by) in enumerate(born):
            if child.survives:
                seats[made_by[0]] = len(seats) + place
        after = succeed(state, children, scores, seats, self.fitness)
        after = conclude_generation(problem, after, state, children, scores, {}, list(range(len(children))))
        more = sum(child.tried for child, _ in born) - len(born)
        return replace(after, evaluations=after.evaluations + more, hits=after.hits + len(found) - len(born))

    def _goals(self, state: State) -> Floats:
        """float64[N, 4]: what each file is held against."""
        goals = np.tile(GOALS[self.settings.score], (len(state.genomes), 1))
        if self.settings.score == "front":
            goals[:, 1:3] = state.memory["slopes"]
        return goals

    # -- who breeds --

    def _proposals(
        self, state: State, parents: Sequence[Parent], streams: Streams
    ) -> tuple[list[Proposal], list[tuple[int, ...]]]:
        """What is tried on which parents."""
        proposals: list[Proposal] = []
        makers: list[tuple[int, ...]] = []
        for seats in self._chosen(state, streams[SELECTION]):
            if len(seats) == 1:
                changes = self._changes(parents[seats[0]], streams[MUTATION])
                proposals.append(Proposal(parents[seats[0]], changes=changes))
            else:
                one, two = (parents[seat] for seat in seats)
                span = self._span(one.codes.size, streams[CROSSOVER])
                proposals += [Proposal(a, codes=cross(a.codes, b.codes, span)) for a, b in ((one, two), (two, one))]
            makers += [seats] if len(seats) == 1 else [seats, seats[::-1]]
        return proposals, makers

    def _chosen(self, state: State, chance: Generator) -> list[tuple[int, ...]]:
        """The files of each breeding of a batch: one to be changed, or two to be crossed; none takes part twice."""
        settings, fitness = self.settings, self.fitness(state.scores)
        weights = self._weights(fitness)
        best = leaders(fitness, max(2, int(settings.leaders * len(fitness))))
        chosen: list[tuple[int, ...]] = []
        taken: set[int] = set()
        seats: tuple[int, ...]
        for _ in range(min(settings.batch, max(1, len(fitness) // 2))):
            if chance.random() < settings.crossover_rate and len(fitness) > 1:
                front = settings.score == "front"
                seats = neighbours(state.memory["slopes"], chance) if front else couple(weights, best, chance)
            else:
                seats = (int(roulette(weights, 1, chance)[0]),)
            if taken.isdisjoint(seats):
                taken.update(seats)
                chosen.append(seats)
        return chosen

    def _weights(self, fitness: Floats) -> Floats:
        if self.settings.score == "front":
            return np.ones(len(fitness))
        if self.settings.selection == "inverse":
            return np.asarray(1.0 / np.maximum(fitness, 1e-9))
        return fitness.copy() if self.settings.selection == "printed" else roulette_weights(fitness)

    # -- how --

    def _changes(self, parent: Parent, rng: Generator) -> Ints:
        """int64[strokes, 3]: single changes at random, some of them aimed; a cell missing in the original stays so."""
        context = self.constraints.encoding.context
        settings, sizes = self.settings, np.array(context.sizes)
        rows = rng.integers(len(parent.codes), size=settings.strokes)
        columns = rng.integers(len(sizes), size=settings.strokes)
        here = parent.codes[rows, columns]
        inside = here < sizes[columns]
        others = rng.integers(np.maximum(sizes[columns] - inside, 1))
        changes = np.stack([rows, columns, others + (inside & (others >= here) & (sizes[columns] > 1))], axis=1)
        if settings.aimed:
            draws = rng.random((settings.strokes, 3 + CANDIDATES))
            self.trials.aim(parent, changes, draws, settings.aimed)
        missing = context.codes[changes[:, 0], changes[:, 1]] == sizes[changes[:, 1]]
        changes[missing, 2] = sizes[changes[missing, 1]]
        return changes

    def _span(self, cells: int, rng: Generator) -> slice:
        """The stretch of the flattened file that a crossover exchanges."""
        first = int(rng.integers(cells))
        longest = max(1, int(self.settings.longest * cells))
        return slice(first, int(rng.integers(first, min(cells, first + longest))) + 1)

    def _share(self, state: State) -> State:
        """Whoever is beaten on its own ray by another file starts again from that file."""
        adopted = best_on_each(state.scores, self._goals(state))
        return replace(
            state,
            genomes=tuple(state.genomes[place] for place in adopted),
            keys=tuple(state.keys[place] for place in adopted),
            scores=state.scores[adopted],
            born=state.born[adopted],
            origin=state.origin[adopted],
            used=state.used[adopted],
        )


def cross(codes: Codes, mate: Codes, span: slice) -> Codes:
    """A file with the mate's cells in a stretch of the flattened file."""
    child = np.ascontiguousarray(codes).copy()
    child.reshape(-1)[span] = mate.reshape(-1)[span]
    return child
