"""One search of a run: its problem, its state, and its progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from crypsis.encodings import Encoding
from crypsis.encodings.encoding import Description
from crypsis.evolution import Budget, Engine, Genome, Problem, State
from crypsis.measures.objective import Evaluation, Objective
from crypsis.pieces import Pieces, Underway, complete, together
from crypsis.run.clock import charged_now
from crypsis.run.decoding import Finishing
from crypsis.run.gain import Gains
from crypsis.run.store import GenerationRecord, Row, Store
from crypsis.searches.search import Search

MOMENT = 0.1
"""Seconds of pieces after which a step ends."""


def for_a_moment(work: Underway[Any], engine: Engine) -> bool:
    """Do pieces of work until a moment has passed.

    engine  where they are done
    returns  whether the work is done
    """
    started = charged_now()
    while not work.done and charged_now() - started < MOMENT:
        work.advance(engine, engine.workers)
    return work.done


class Measured(NamedTuple):
    """A measured candidate: what is stored and decoded, what it does, and its figures."""

    key: bytes
    genome: Genome
    message: str
    facts: Mapping[str, float | int | str]
    evaluation: Evaluation


@dataclass(frozen=True)
class Measuring:
    """Decodes, describes and measures genomes of one search.

    family  what its solutions do to values
    """

    encoding: Encoding
    objective: Objective
    family: str
    finish: Finishing

    def __call__(self, genome: Genome) -> tuple[Description, Evaluation]:
        """Decode a genome once, describe it and measure it."""
        return complete(self.in_pieces(genome))

    def in_pieces(self, genome: Genome) -> Pieces[tuple[Description, Evaluation]]:
        """The same in pieces."""
        [decoded] = yield [partial(self.encoding.decode, genome)]
        [masked] = yield [partial(self.finish, decoded, self.family)]
        [description] = yield [partial(self.encoding.describe, genome, masked)]
        return description, (yield from self.objective.evaluating(masked, self.family))

    def all(self, problem: Problem, candidates: Sequence[Genome], engine: Engine) -> Pieces[list[Measured]]:
        """Measure candidates of a search, each once; in pieces where the engine is in this process.

        problem  says which genome a candidate stands for
        engine  where they are measured
        """
        genomes = [problem.expressed(candidate) for candidate in candidates]
        if engine.here:
            read = yield from together([self.in_pieces(genome) for genome in genomes])
        else:
            read = engine.map(_measure, genomes, self)
        found = []
        for candidate, genome, (description, evaluation) in zip(candidates, genomes, read, strict=True):
            own = problem.facts(candidate) if problem.facts is not None else {}
            facts = {**description.facts, **own}
            found.append(Measured(problem.key(candidate), genome, description.message, facts, evaluation))
        return found


def _measure(measuring: Measuring, genome: Genome) -> tuple[Description, Evaluation]:
    return measuring(genome)


# -- One search of a run: its problem, its state, and its progress.

IDLE = 25
"""Quanta without a new candidate after which a search ends."""
RECORDS_TOGETHER = 400_000
"""Records of all candidates that are scored in one quantum, unless two have more."""


def stream(seed: int, *place: int) -> Generator:
    """An independent random stream for each place in a run.

    Parameters
    ----------
    seed : int
        Seed of the run.
    *place : int
        The place, e.g. search and purpose.

    Returns
    -------
    Generator
    """
    return np.random.default_rng(SeedSequence(seed, spawn_key=place))


def is_milestone(generation: int) -> bool:
    """Whether the front is measured after a generation: 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, …

    Examples
    --------
    >>> [n for n in range(20) if is_milestone(n)]
    [0, 1, 2, 3, 4, 6, 8, 12, 16]
    """
    if generation <= 4:
        return True
    while generation % 2 == 0:
        generation //= 2
    return generation in (1, 3)


@dataclass
class SearchState:
    """One search of a run.

    Attributes
    ----------
    index, name : int, str
        Its place in the plan, and its name.
    search : Search
        Its settings.
    budgets : sequence of Budget
        Its own limits.
    seed : int
        Seed of the run.
    state : State or None
        None before its start.
    seconds : float
        Time it has used, over all sessions.
    count : int
        Solutions that have a number.
    measured : set of bytes
        Keys of its solutions in the store.
    pending : list of GenerationRecord
        Generations that are not in the store yet.
    problem : Problem or None
        None before it is posed.
    due : list of Genome
        Members of the front that are measured next, before the search goes on.
    underway : Underway or None
        The measuring of the first of them, once it has begun.
    spent : float
        Seconds it has taken.
    fresh : list of Row
        Measured solutions that are not in the store yet, of which the first `shown` are shown.
    settled : bool
        Whether all of the front that is wanted is measured or in line; False once it goes on.
    written : float
        Of its seconds, those when it was last written.
    last_shown : float
        When it was last written or shown, by `charged_now`.
    gains : Gains
        What it gained in this session, and in which time.
    """

    index: int
    name: str
    search: Search
    budgets: Sequence[Budget]
    seed: int
    state: State | None = None
    seconds: float = 0.0
    count: int = 0
    measured: set[bytes] = field(default_factory=set)
    pending: list[GenerationRecord] = field(default_factory=list)
    problem: Problem | None = None
    due: list[Genome] = field(default_factory=list)
    underway: Underway[list[Measured]] | None = None
    spent: float = 0.0
    fresh: list[Row] = field(default_factory=list)
    shown: int = 0
    settled: bool = False
    written: float = 0.0
    last_shown: float = field(default_factory=charged_now)
    gains: Gains = field(default_factory=Gains)

    def restored(self, store: Store) -> SearchState:
        """This search as a store has it."""
        saved, history = store.state(self.index), store.history(self.index)
        if saved is not None:
            self.state = State.from_bytes(saved)
            self.seconds = self.written = history[-1].seconds
            self.settled = bool(store.noted(f"settled {self.index}", False))
        self.measured = store.known(self.index)
        self.count = len(self.measured)
        return self

    @property
    def title(self) -> str:
        """Name and place: a plan may name a search twice."""
        return f"{self.name} {self.index}"

    @property
    def seen(self) -> bool:
        """Whether a solution of it is measured."""
        return self.count > 0

    def posed(self, encoding: Encoding, objective: Objective | None, records: int) -> Problem:
        """The problem of the search, posed when first needed and the same in every session.

        Parameters
        ----------
        encoding : Encoding
            Decodes its genomes.
        objective : Objective or None
            Measures that guide the search; None for its own.
        records : int
            Of the table, by which follows how many candidates are scored in one quantum.

        Returns
        -------
        Problem
        """
        if self.problem is None:
            posed = self.search.problem(encoding, objective, stream(self.seed, self.index, 0))
            self.problem = replace(posed, together=posed.together or max(2, RECORDS_TOGETHER // max(records, 1)))
        return self.problem

    def ask(self, problem: Problem, most: int, variants: bool = False) -> None:
        """Put members of the front that are neither measured nor in line in line, at most so many.

        problem  gives the keys
        variants  whether variants of the members are taken too, after them
        """
        self.due += self.unmeasured(problem, most, variants)

    def measured_on_front(self, problem: Problem) -> int:
        """How many members of the front are measured.

        problem  gives the keys
        """
        if self.state is None:
            return 0
        known = self._known()
        return sum(problem.key(genome) in known for genome in self.state.frontier.genomes)

    def _known(self) -> set[bytes]:
        """Keys of its measured solutions, in the store or not yet."""
        return self.measured | {row.key for row in self.fresh}

    def spend(self, seconds: float) -> None:
        """Note time it took for measuring."""
        self.seconds += seconds
        self.spent += seconds
        self.gains.spent(seconds)

    def written_down(self) -> None:
        """All that was pending is in the store."""
        self.measured.update(row.key for row in self.fresh)
        self.pending.clear()
        self.fresh.clear()
        self.shown, self.written, self.last_shown = 0, self.seconds, charged_now()

    def advance(self, problem: Problem, engine: Engine) -> State:
        """Advance by one quantum.

        engine  where candidates are scored
        """
        started, before = charged_now(), self.state
        self.settled = False
        if before is None:
            self.state = problem.strategy.begin(problem, stream(self.seed, self.index, 1), engine)
        else:
            self.state = problem.strategy.advance(problem, before, engine)
        self.seconds += charged_now() - started
        state = self.state
        self.pending.append(
            GenerationRecord(
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
        """Number of the generation."""
        return self.state.generation if self.state is not None else 0

    @property
    def progress(self) -> float:
        """Share of its own budget that is used, 0 to 1; 0 for a search that only the time of the run limits."""
        if self.state is None:
            return 0.0
        if self.state.idle >= IDLE:
            return 1.0
        return max((budget.progress(self.state, self.seconds) for budget in self.budgets), default=0.0)

    def unmeasured(self, problem: Problem, most: int, variants: bool = False) -> list[Genome]:
        """Members of the front that are not in the store, chosen by `spread_positions`.

        Parameters
        ----------
        problem : Problem
            Gives the keys.
        most : int
            Largest number of members.
        variants : bool
            Whether variants of the members are taken too, after them.

        Returns
        -------
        list of Genome
        """
        if self.state is None:
            return []
        genomes, scores = list(self.state.frontier.genomes), list(self.state.frontier.scores)
        if variants and problem.variants is not None:
            for genome, row in zip(self.state.frontier.genomes, self.state.frontier.scores, strict=True):
                others = problem.variants(genome)
                genomes += others
                scores += [row] * len(others)
        taken = self._known() | {problem.key(genome) for genome in self.due}
        known = np.zeros(len(genomes), dtype=np.bool_)
        for place, genome in enumerate(genomes):
            key = problem.key(genome)  # a variant of one member may be another member
            known[place] = key in taken
            taken.add(key)
        return [genomes[place] for place in spread_positions(np.array(scores), known, most)]


def spread_positions(scores: NDArray[np.float64], known: NDArray[np.bool_], most: int) -> list[int]:
    """Positions of unknown rows that show the shape of a front.

    The best row of each column, the knee, then always the row farthest from the chosen ones; of equal rows the first,
    so that the choice is the same on every machine.

    Parameters
    ----------
    scores : float64[n, m]
        The rows.
    known : bool[n]
        Rows that are known.
    most : int
        Largest number of rows.

    Returns
    -------
    list of int
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
