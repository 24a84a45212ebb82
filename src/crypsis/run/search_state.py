"""One search of a run: its problem, its state, its decoded solutions, and the hypervolume it gains by the time
it takes.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from crypsis.encodings import ColumnEncoding, Encoding, GroupingEncoding
from crypsis.encodings.encoding import Description
from crypsis.evolution import Archived, Budget, Elitist, Engine, Genome, Problem, State
from crypsis.evolution.focus import Focus
from crypsis.evolution.frontier import spread_frontier_positions
from crypsis.evolution.loop import random_stream_of_loop
from crypsis.masking.following import recompute_following
from crypsis.masking.repairing import repair
from crypsis.measures.objective import Evaluation, Objective
from crypsis.plan import Plan
from crypsis.run.choosing import BASELINE, Solution
from crypsis.run.clock import charged_now
from crypsis.run.seeding import Seed, measure_seed_tasks
from crypsis.run.steering import Entry, Obedience, digest_solution_key
from crypsis.run.store import GenerationRecord, Row, Store
from crypsis.searches.search import Search
from crypsis.table.precision import at_source_precision
from crypsis.table.rules import EditRule
from crypsis.table.table import PERTURBATION, MaskingStep, Table
from crypsis.tasks import Tasks, Underway, complete, together

# -- What the searches of a run gain: the hypervolume their points add, by the time they take.
#
# For the schedule losses and risks count by their logarithm: half the loss at a small risk is worth as much as half the
# loss at a large one. On a linear scale nearly all of the square lies beyond what anybody would choose.

REFERENCE = 100.0
"""Loss and risk, per cent, that bound the hypervolume."""
FINE = 0.5
"""Per cent of loss or risk below which differences count as they are, and above which by their ratio."""
UNKNOWN = 0.3
"""Share of the time of a search after which its front is measured again."""
PATIENCE = 1.5
"""Seconds a search may take before its gain counts: long walks gain late."""
SHARE_OF_PATIENCE = 0.4
"""Share of a budget that the patience with all searches may take together."""


class Found(NamedTuple):
    """What a run has found so far."""

    points: int = 0  # points of the front of loss and risk
    loss: float = float("nan")  # the least of each among the points that may be released; NaN if there is none
    risk: float = float("nan")
    hypervolume: float = 0.0  # share of the square of loss and risk that the front dominates, 0 to 1
    still: float = 0.0  # seconds since the front last moved


@dataclass
class Outlook:
    """The front of loss and risk among the points that may be released, and when it last moved."""

    front: list[tuple[float, float]] = field(default_factory=list)
    """(loss, risk), least loss first."""
    volume: float = 0.0
    worth: float = 0.0
    moved: float = 0.0

    def add(self, loss: float | None, risk: float | None, now: float) -> float:
        """Take a point in; returns the hypervolume it adds, of logarithms."""
        if loss is None or risk is None:
            return 0.0
        place = bisect_left(self.front, (loss, risk))
        if (place and self.front[place - 1][1] <= risk) or (loss, risk) in self.front[place : place + 1]:
            return 0.0
        end = place
        while end < len(self.front) and self.front[end][1] >= risk:
            end += 1
        self.front[place:end] = [(loss, risk)]
        before, self.worth = (
            self.worth,
            search_state_hypervolume(
                [(relative_hypervolume_figure(loss), relative_hypervolume_figure(risk)) for loss, risk in self.front]
            ),
        )
        self.volume, self.moved = search_state_hypervolume(self.front), now
        return self.worth - before

    def report_found(self, now: float) -> Found:
        """What has been found."""
        if not self.front:
            return Found(still=now)
        least, safest = self.front[0][0], self.front[-1][1]
        return Found(len(self.front), least, safest, self.volume, max(0.0, now - self.moved))


def relative_hypervolume_figure(figure: float) -> float:
    """A loss or risk for the hypervolume of a search, on a scale of logarithms that also goes from 0 to 100."""
    return REFERENCE * math.log1p(max(figure, 0.0) / FINE) / math.log1p(REFERENCE / FINE)


def search_state_hypervolume(front: Sequence[tuple[float, float]]) -> float:
    """State of one search of a run: the hypervolume of its own front, a share of the square.

    `front`: loss and risk in per cent, least loss first, none dominated.

    >>> search_state_hypervolume([(0.0, 50.0), (50.0, 0.0)])
    0.75
    """
    total, right = 0.0, REFERENCE
    for loss, risk in reversed(front):
        if loss < right and risk < REFERENCE:
            total += (right - max(loss, 0.0)) * (REFERENCE - max(risk, 0.0))
            right = max(loss, 0.0)
    return total / REFERENCE**2


@dataclass
class Gains:
    """Gain and time of one search, stretch by stretch: from one measured point to the next."""

    total: float = 0.0  # time it has taken
    seconds: float = 0.0  # time since the last measured point
    stretches: list[tuple[float, float]] = field(default_factory=list)  # (time and gain) of the stretches, in order

    def add_time(self, seconds: float) -> None:
        """Time the search took for a step."""
        self.total += seconds
        self.seconds += seconds

    def end_stretch(self, gain: float) -> None:
        """Points were measured: a stretch ends."""
        self.stretches.append((self.seconds, gain))
        self.seconds = 0.0

    @property
    def rate(self) -> float:
        """Hypervolume per second over the second half of the time up to the last measured point; infinite before one.

        What it did since then is not known yet; `overdue` says when that should be measured.
        """
        if not self.stretches:
            return float("inf")
        time, gained, measured = 0.0, 0.0, self.total - self.seconds
        for seconds, gain in reversed(self.stretches):
            if time >= measured / 2:
                break
            time, gained = time + seconds, gained + gain
        return gained / max(time, 1e-6)

    @property
    def overdue(self) -> bool:
        """Whether so much of its time has passed since the last measured point that its gain is not known."""
        return self.seconds >= UNKNOWN * self.total


# -- Progress of a run.


@dataclass(frozen=True)
class Progress:
    """One step of a run."""

    what: str  # "posed", "generation", "measured" or "baseline"; "measuring" and "making" for those not complete yet
    title: str  # the search or baseline
    generation: int = 0  # Generation, candidates scored and size of the front of the search
    evaluations: int = 0
    front: int = 0
    best: float = math.nan  # best fitness of the search
    seconds: float = 0.0  # seconds charged to the budget, over all sessions
    used: float = 0.0  # share of the budget, 0 to 1
    compiling: float = 0.0  # seconds of this session spent compiling kernels, which are not charged
    beyond: float = 0.0  # seconds beyond the budget, for a first solution that may be released
    # what all searches have found so far
    found: Found = Found()  # noqa: RUF009 - immutable


# -- Decoding of the solutions of a run: one encoding per search, and the tables decoded last.


@dataclass(frozen=True)
class Finishing:
    """Makes decoded tables what they are when they are published, so that they are measured as such."""

    original: Table = field(repr=False)  # as collected
    rules: tuple[EditRule, ...] = ()  # what must hold

    def __call__(self, masked: Table, family: str) -> Table:
        """The finished table; what perturbation broke is counted, as it has no classes that could be kept."""
        rounded = at_source_precision(masked, self.original)
        mended = rounded if family == PERTURBATION else repair(rounded, self.original, self.rules)
        return recompute_following(mended, self.original)


# -- Decoding of the solutions of a run: one encoding per search, and the tables decoded last.

KEPT = 5
"""Number of decoded tables in memory."""


@dataclass
class Encodings:
    """The encodings of the searches of a plan and of the baselines, each built once."""

    plan: Plan
    table: Table
    _built: dict[int, Encoding] = field(default_factory=dict, repr=False)

    def __getitem__(self, search: int) -> Encoding:
        if search not in self._built:
            named = None if search == BASELINE else self.plan.searches()[search]
            self._built[search] = named.encoding(self.table) if named else ColumnEncoding(self.table)
        return self._built[search]


@dataclass
class DecodedTables:
    """The masked tables of solutions, decoded when they are needed; the last ones stay in memory."""

    store: Store
    encodings: Encodings
    finish: Finishing
    _tables: OrderedDict[int, Table] = field(default_factory=OrderedDict, repr=False)
    _one: threading.RLock = field(default_factory=threading.RLock, repr=False)  # threads of the studio share the tables

    def __getitem__(self, solution: Solution) -> Table:
        with self._one:
            return self._decode(solution)

    def _decode(self, solution: Solution) -> Table:
        if solution.number not in self._tables:
            row = self.store.solution(solution.number)
            encoding = self.encodings[row.search]
            masked = replace(encoding.decode(row.genome), provenance=None)
            family = (
                solution.family if row.search == BASELINE else self.encodings.plan.search[row.search].build().family
            )
            masked = self.finish(masked, family)
            groups = encoding.together(row.genome) if isinstance(encoding, GroupingEncoding) else ()
            step = MaskingStep(solution.title, family, solution.message, dict(solution.facts), groups)
            self._tables[solution.number] = masked.masked_by(step, self.encodings.table)
        self._tables.move_to_end(solution.number)
        while len(self._tables) > KEPT:
            self._tables.popitem(last=False)
        return self._tables[solution.number]


# -- One search of a run: its problem, its state, and its progress.

MOMENT = 0.1
"""Seconds of tasks after which a step ends."""


def advance_search_state_work(work: Underway[Any], engine: Engine) -> bool:
    """State of one search of a run: advance work that is under way for a moment; whether it is done.

    Returns whether the work is done.
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


class Sent(NamedTuple):
    """A candidate that another process measures."""

    candidate: Genome
    genome: Genome  # what it stands for
    reading: Future[tuple[Description, Evaluation]]


@dataclass(frozen=True)
class Measuring:
    """Decodes, describes and measures genomes of one search."""

    encoding: Encoding
    objective: Objective
    family: str  # what its solutions do to values
    finish: Finishing

    def __call__(self, genome: Genome) -> tuple[Description, Evaluation]:
        """Decode a genome once, describe it and measure it."""
        return complete(self.measure_tasks(genome))

    def measure_tasks(self, genome: Genome) -> Tasks[tuple[Description, Evaluation]]:
        """The same in tasks."""
        [decoded] = yield [partial(self.encoding.decode, genome)]
        [masked] = yield [partial(self.finish, decoded, self.family)]
        [description] = yield [partial(self.encoding.describe, genome, masked)]
        return description, (yield from self.objective.evaluate_tasks(masked, self.family))

    def all(self, problem: Problem, candidates: Sequence[Genome], engine: Engine) -> Tasks[list[Measured]]:
        """Measure candidates of a search, each once; in tasks where the engine is in this process."""
        genomes = [problem.express_candidate(candidate) for candidate in candidates]
        if engine.here:
            read = yield from together([self.measure_tasks(genome) for genome in genomes])
        else:
            read = engine.map(_measure, genomes, self)
        return [measured_candidate(problem, *each) for each in zip(candidates, genomes, read, strict=True)]

    def seeds(self, seeds: Sequence[Seed], engine: Engine) -> Tasks[list[Measured]]:
        """Measure seeds; those that fit and keep every demand."""
        read = yield from together([measure_seed_tasks(self, seed.genome) for seed in seeds])
        found = [(seed, *each) for seed, each in zip(seeds, read, strict=True) if each is not None]
        return [Measured(s.key, s.genome, d.message, d.facts, e) for s, d, e in found if not e.complaints]


def measured_candidate(
    problem: Problem, candidate: Genome, genome: Genome, read: tuple[Description, Evaluation]
) -> Measured:
    """A candidate of a search with what was read of its genome."""
    description, evaluation = read
    own = problem.facts(candidate) if problem.facts is not None else {}
    return Measured(problem.key(candidate), genome, description.message, {**description.facts, **own}, evaluation)


def _with_seeds(first: Callable[[], tuple[Genome, ...]], seeds: Sequence[Genome]) -> tuple[Genome, ...]:
    """A first population with the seeds that are like its members."""
    drawn = first()
    alike = [each for each in seeds if drawn and (each.shape, each.dtype) == (drawn[0].shape, drawn[0].dtype)]
    return (*alike, *drawn)


def _measure(measuring: Measuring, genome: Genome) -> tuple[Description, Evaluation]:
    return measuring(genome)


# -- One search of a run: its problem, its state, and its progress.

IDLE = 25
"""Quanta without a new candidate after which a search ends."""
RECORDS_TOGETHER = 400_000
"""Records of all candidates that are scored in one quantum, unless two have more."""


@dataclass
class SearchState:
    """One search of a run."""

    index: int  # its place in the plan, and its name
    name: str
    search: Search  # its settings
    budgets: Sequence[Budget]  # its own limits
    seed: int  # seed of the run
    state: State | None = None  # None before its start
    seconds: float = 0.0  # time it has used, over all sessions
    count: int = 0  # solutions that have a number
    measured: set[bytes] = field(default_factory=set)  # keys of its solutions in the store
    pending: list[GenerationRecord] = field(default_factory=list)  # generations that are not in the store yet
    problem: Problem | None = None  # None before it is posed
    # members of the front that are measured next: in this process before the search goes on, or beside it
    due: list[Genome] = field(default_factory=list)
    here: list[Genome] = field(default_factory=list)  # those that are measured in this process now
    sent: list[Sent] = field(default_factory=list)  # those that the process beside it measures, in order
    underway: Underway[list[Measured]] | None = None  # the measuring of those in this process, once it has begun
    spent: float = 0.0  # seconds it has taken
    # measured solutions that are not in the store yet, of which the first `shown` are shown
    fresh: list[Row] = field(default_factory=list)
    shown: int = 0
    settled: bool = False  # whether all of the front that is wanted is measured or in line; False once it goes on
    written: float = 0.0  # of its seconds, those when it was last written
    last_shown: float = field(default_factory=charged_now)  # when it was last written or shown, by `charged_now`
    gains: Gains = field(default_factory=Gains)  # what it gained in this session, and in which time
    obedience: Obedience = field(init=False)  # what it obeyed of the steering log
    # what it is given of an earlier run, and how many of them are measured: those that hold are its first solutions
    seeds: list[Seed] = field(default_factory=list)
    sown: int = 0
    measuring: float = 0.0  # seconds of measuring in this session

    store: Store | None = field(default=None, init=False, repr=False)  # where its solutions are looked up

    def __post_init__(self) -> None:
        self.obedience = Obedience(self.index)

    def restore(self, store: Store) -> SearchState:
        """This search as a store has it."""
        self.store = store
        saved, history = store.state(self.index), store.history(self.index)
        if saved is not None:
            self.state = State.from_bytes(saved)
            self.seconds = self.written = history[-1].seconds
            self.settled = bool(store.read_note(f"settled {self.index}", False))
        self.obedience = Obedience.of(self.index, store.read_note(f"steered {self.index}", []))
        self.sown = int(store.read_note(f"sown {self.index}", 0))
        self.measured = store.solution_keys(self.index)
        self.count = len(self.measured)
        return self

    @property
    def title(self) -> str:
        """Name and place: a plan may name a search twice."""
        return f"{self.name} {self.index}"

    @property
    def has_measured(self) -> bool:
        """Whether a solution of it is measured."""
        return self.count > 0

    def pose_problem(self, encoding: Encoding, objective: Objective | None, records: int) -> Problem:
        """The problem of the search, posed when first needed and the same in every session.

        `objective`: measures that guide the search; None for its own.
        """
        if self.problem is None:
            posed = self.search.problem(encoding, objective, random_stream_of_loop(self.seed, self.index, 0))
            self.problem = replace(posed, together=posed.together or max(2, RECORDS_TOGETHER // max(records, 1)))
            self._begin_from_seeds()
            self._take_focus()
        return self.problem

    def _begin_from_seeds(self) -> None:
        """Let the strategy begin from the seeds that hold, if it can."""
        held = [each.genome for each in self.seeds if each.key in self._measured_keys()]
        if self.problem is None or not held:
            return
        strategy: Any = self.problem.strategy
        if hasattr(strategy, "begin_from"):
            self.problem = replace(self.problem, strategy=strategy.begin_from(held))
        elif isinstance(strategy, (Elitist, Archived)) and self.problem.express is None:
            self.problem = replace(self.problem, start=partial(_with_seeds, self.problem.first, held))

    # -- steering --

    @property
    def at(self) -> tuple[int, int]:
        """How far it is: its generation, −1 before its first quantum, and the number of its solutions."""
        return (-1 if self.state is None else self.state.generation), self.count

    @property
    def steerable(self) -> bool:
        """Whether it is between two quanta, with nothing left to measure."""
        return not self.in_line and (self.state is None or self.state.whole)

    @property
    def in_line(self) -> list[Genome]:
        """Members of the front that will be measured, or are now."""
        return [*(each.candidate for each in self.sent), *self.here, *self.due]

    @property
    def ended(self) -> bool:
        """Whether it advances no more: its budget is used, or it was dropped."""
        return self.progress >= 1.0 or self.obedience.in_force.stops(self.index)

    def obey(self, entry: Entry) -> None:
        """Obey an entry of the steering log from now on."""
        self.obedience.obey(entry, self.at)
        self._take_focus()

    @property
    def focus(self) -> Focus | None:
        """Where solutions are wanted; None: everywhere. A search with other objectives than loss and risk has none."""
        known = self.problem is not None and self.problem.objectives[:2] == ("loss", "risk")
        return self.obedience.in_force.focus if known else None

    def wants(self, figures: Mapping[str, float | None]) -> bool:
        """Whether a solution with these figures is in focus; all are without one."""
        loss, risk = figures.get("loss"), figures.get("risk")
        if self.focus is None or loss is None or risk is None:
            return True
        return bool(self.focus.distances(np.array([[loss, risk]]))[0] == 0.0)

    def _take_focus(self) -> None:
        """Let the strategy work where solutions are wanted; one that cannot is only measured there."""
        if self.problem is None:
            return
        strategy: Any = self.problem.strategy
        if isinstance(strategy, (Elitist, Archived)):
            strategy = replace(strategy, focus=self.focus, like=self._find_liked())
            self.problem = replace(self.problem, strategy=strategy)
        elif getattr(strategy, "focus", self.focus) != self.focus:
            self.problem = replace(self.problem, strategy=replace(strategy, focus=self.focus))

    def _find_liked(self) -> Genome | None:
        """The genome of the solution of which more is wanted, if it is one of this search and decodes as it is."""
        wanted = self.obedience.in_force.key
        if wanted is None or self.store is None or self.problem is None or self.problem.express is not None:
            return None
        for key, number in self.store.solution_numbers(self.index).items():
            if digest_solution_key(key) == wanted:
                return self.store.solution(number).genome
        return None

    def ask(self, problem: Problem, most: int, variants: bool = False) -> None:
        """Put members of the front that are neither measured nor in line in line, at most so many.

        `variants`: whether variants of the members are taken too, after them.
        """
        self.due += self.choose_unmeasured(problem, most, variants)

    def measured_on_front(self, problem: Problem) -> int:
        """How many members of the front are measured."""
        if self.state is None:
            return 0
        known = self._measured_keys()
        return sum(problem.key(genome) in known for genome in self.state.frontier.genomes)

    def _measured_keys(self) -> set[bytes]:
        """Keys of its measured solutions, in the store or not yet."""
        return self.measured | {row.key for row in self.fresh}

    def spend(self, seconds: float) -> None:
        """Note time it took for measuring."""
        self.seconds += seconds
        self.measuring += seconds
        self.spent += seconds
        self.gains.add_time(seconds)

    def written_down(self) -> None:
        """All that was pending is in the store."""
        self.measured.update(row.key for row in self.fresh)
        self.pending.clear()
        self.fresh.clear()
        self.shown, self.written, self.last_shown = 0, self.seconds, charged_now()

    def advance(self, problem: Problem, engine: Engine) -> State:
        """Advance by one quantum."""
        started, before = charged_now(), self.state
        self.settled = False
        if before is None:
            self.state = problem.strategy.begin(problem, random_stream_of_loop(self.seed, self.index, 1), engine)
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

    def choose_unmeasured(self, problem: Problem, most: int, variants: bool = False) -> list[Genome]:
        """Members of the front that are not in the store, chosen by `spread_positions`; in focus alone, if any are."""
        if self.state is None:
            return []
        genomes, scores = list(self.state.frontier.genomes), list(self.state.frontier.scores)
        if variants and problem.variants is not None:
            for genome, row in zip(self.state.frontier.genomes, self.state.frontier.scores, strict=True):
                others = problem.variants(genome)
                genomes += others
                scores += [row] * len(others)
        taken = self._measured_keys() | {problem.key(genome) for genome in self.in_line}
        known = np.zeros(len(genomes), dtype=np.bool_)
        for place, genome in enumerate(genomes):
            key = problem.key(genome)  # a variant of one member may be another member
            known[place] = key in taken
            taken.add(key)
        if self.focus is not None and len(genomes):
            far = self.focus.distances(np.array(scores))
            known |= (far > 0.0) & bool((~known & (far == 0.0)).any())
        return [genomes[place] for place in spread_frontier_positions(np.array(scores), known, most)]
