"""The schedule of a run: quanta of searches, points to measure and baselines, one step at a time until the deadline.

A step is begun only if it will end in time, by what such steps took before. The next step goes to the search that
gains most for its time, with a floor for all. Each search has its own random streams, so that its result depends on
plan, seed and the number of its quanta alone: not on the engine, the other searches, or how often the run was stopped.
A quantum is written completely or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

from threadpoolctl import ThreadpoolController

from crypsis.encodings import ColumnEncoding
from crypsis.engines import Engine, Serial
from crypsis.errors import CrypsisError, EngineLost
from crypsis.evolution import Problem
from crypsis.evolution.loop import random_stream_of_loop
from crypsis.masking.partitioning import LARGE
from crypsis.measures.objective import Objective
from crypsis.plan import Plan, read_plan_budget
from crypsis.run.baselines import Baseline, baselines
from crypsis.run.choosing import BASELINE, Solution
from crypsis.run.clock import QUANTA, Clock, Moment, Pace, Step, charged_now, defer_interrupts_of_run
from crypsis.run.front import is_front_milestone
from crypsis.run.measuring_process import UNPICKLABLE, MeasuringProcess
from crypsis.run.search_state import (
    MOMENT,
    PATIENCE,
    SHARE_OF_PATIENCE,
    Encodings,
    Finishing,
    Gains,
    Measured,
    Measuring,
    Outlook,
    Progress,
    SearchState,
    Sent,
    advance_search_state_work,
    measured_candidate,
)
from crypsis.run.seeding import read_seeds
from crypsis.run.steering import Entry, SteeringLog
from crypsis.run.store import Row, Store
from crypsis.searches.search import Search
from crypsis.table.table import Table
from crypsis.tasks import Tasks, Underway


@dataclass
class BaselineSteps:
    """The baselines of one run."""

    plan: Plan  # as in `Schedule`
    original: Table
    objective: Objective
    store: Store
    seed: int
    finish: Finishing
    pace: Pace  # how long steps take
    begun: int | None = field(default=None, init=False)
    """The place of the one that is made and measured now, if it is not complete."""
    spent: float = field(default=0.0, init=False)
    """Seconds it has taken."""
    solution: Solution | None = field(default=None, init=False)
    """What the last complete one gave."""
    _work: Underway[Solution | None] | None = field(default=None, init=False)
    _impossible: set[str] = field(default_factory=set)

    @cached_property
    def all(self) -> list[Baseline]:
        """Every baseline of the plan, in its fixed order."""
        return baselines(self.plan, self.original)

    @cached_property
    def _measured_keys(self) -> set[bytes]:
        """Keys of those that are measured, read once: nobody else writes them."""
        return self.store.solution_keys(BASELINE)

    def open(self) -> list[int]:
        """Places of those that are neither measured nor impossible."""
        return [
            place
            for place, each in enumerate(self.all)
            if each.name.encode() not in self._measured_keys and each.name not in self._impossible
        ]

    def refuge(self) -> int | None:
        """The place of the quickest open one that keeps the limits, surely or as a rule; None if there is none."""
        return min((place for place in self.open() if self.all[place].protects), key=self.estimate, default=None)

    def sure_refuge(self, left: float) -> int | None:
        """The quickest open one that surely keeps the limits, if it ends in so many seconds."""
        sure = (place for place in self.open() if self.all[place].safe and self.estimate(place) <= left)
        return min(sure, key=self.estimate, default=None)

    def estimate(self, place: int) -> float:
        """Seconds that one will take."""
        return self.pace.estimate_step(self.step(place))

    def step(self, place: int) -> Step:
        """What measuring one is called in the pace."""
        baseline = self.all[place]
        return baseline.work, baseline.name

    def advance(self, place: int, engine: Engine, elapsed: Callable[[], float]) -> bool:
        """Do tasks of one; whether it is complete.

        `elapsed`: seconds of the run so far.
        """
        started = charged_now()
        if self._work is None or self.begun != place:
            self.begun, self.spent, self._work = place, 0.0, Underway(self._measure_tasks(place, elapsed))
        done = advance_search_state_work(self._work, engine)
        self.spent += charged_now() - started
        if done:
            self.pace.took(self.step(place), self.spent)
            self.solution, self.begun, self._work = self._work.result, None, None
        return done

    def _measure_tasks(self, place: int, elapsed: Callable[[], float]) -> Tasks[Solution | None]:
        """Make, measure and store one, in tasks; None if the table does not allow it, which is noted.

        `elapsed`: seconds of the run so far.
        """
        baseline = self.all[place]
        name, family, message = baseline.name, baseline.family, baseline.message
        try:
            masked = yield from baseline.make(
                self.original, random_stream_of_loop(self.seed, len(self.plan.search), place)
            )
        except CrypsisError as error:
            self._impossible.add(name)
            with self.store.transaction():
                self.store.note(f"baseline {name}", str(error))
            return None
        [finished] = yield [partial(self.finish, masked, family)]
        evaluation = yield from self.objective.evaluate_tasks(finished, family)
        solution = Solution(place + 1, BASELINE, name, family, message, {}, evaluation)
        [genome] = yield [partial(ColumnEncoding(self.original).encode, masked)]
        with self.store.transaction():
            self.store.add(Row(place + 1, BASELINE, name.encode(), genome, solution.content()))
            self.store.note("elapsed", elapsed())
        self._measured_keys.add(name.encode())
        return solution


# -- What a run writes while it proceeds: whole quanta with their solutions, and solutions ahead of their quantum.


@dataclass(frozen=True)
class Writing:
    """Writes the searches of a run."""

    store: Store  # where to
    pace: Pace  # takes note of the time it takes
    elapsed: Callable[[], float]  # seconds of the run so far

    def commit(self, search: SearchState, obeyed: Entry | None = None) -> None:
        """One transaction: checkpoint, history, new solutions, and the entry that is obeyed from here on."""
        if not search.pending and not search.fresh and obeyed is None:
            return
        started = charged_now()
        with self.store.transaction():
            if search.pending and search.state is not None:
                self.store.checkpoint(search.pending, search.state.to_bytes())
            for row in search.fresh:
                self.store.add(row)
            self.store.note(f"settled {search.index}", search.settled)
            if obeyed is not None:
                search.obey(obeyed)
                self.store.note(f"steered {search.index}", search.obedience.note)
            self.store.note("elapsed", self.elapsed())
            self.store.note("finished", False)
        search.written_down()
        self.pace.took(("commit", search.title), charged_now() - started)

    def commit_seeds(self, search: SearchState) -> None:
        """One transaction: seeds that hold, and how many were measured."""
        with self.store.transaction():
            for row in search.fresh:
                self.store.add(row)
            self.store.note(f"sown {search.index}", search.sown)
            self.store.note("elapsed", self.elapsed())
        search.written_down()

    def show(self, search: SearchState) -> None:
        """Show solutions before the state they belong to is written; a resumed run drops them."""
        with self.store.transaction():
            for row in search.fresh[search.shown :]:
                self.store.add(row, provisional=True)
        search.shown, search.last_shown = len(search.fresh), charged_now()


# -- The schedule of a run: quanta of searches, points to measure and baselines, one step at a time until the
#    deadline.
#
# A step is begun only if it will end in time, by what such steps took before. The next step goes to the search that
# gains most for its time, with a floor for all. Each search has its own random streams, so that its result depends on
# plan, seed and the number of its quanta alone: not on the engine, the other searches, or how often the run was
# stopped. A quantum is written completely or not at all.

AT_A_TIME, AT_A_TIME_OF_MANY = 12, 4
"""Members of a front measured at one milestone, for a small and for a large table."""
SHOWN_AFTER = 2.0
"""Seconds of measuring after which solutions are shown before their generation is complete."""
SHARE_FOR_SEARCH = 0.8
"""Share of a budget in seconds after which what is not measured yet comes first."""
SHARE_FOR_MEASURING, MEASURED_FIRST = 0.25, 6
"""Seconds of measuring for a second of searching until then, beyond the first points of a search."""
BETWEEN_CHECKPOINTS = 0.25
"""Seconds of fast generations that share one checkpoint."""
WORTH_OF_CHECKPOINT = 10.0
"""A checkpoint is written after so many times the seconds it takes."""
CLOSING, SHARE_FOR_CLOSING = 0.3, 0.075
"""Seconds at the end of a budget for the last note, the table of the front and the end of the process; at most so
large a share of the budget."""
FOR_A_FIRST_POINT = 8.0
"""Seconds that searches take at most, whatever the budget, for a first point to release, if no baseline is one."""
SHARE_FOR_BASELINE, SHARE_FOR_REFUGE = 0.2, 0.15
"""Shares of the time left: of one baseline at most, while searches go on; up to which the quickest that protects comes
before searches.
"""
WORTH_A_PROCESS, SENT_AHEAD = 3.0, 4
"""Seconds of a budget from which on points are measured in a second process; points it is given at once."""


class _Task(NamedTuple):
    """What is done next: a step, and how."""

    step: Step
    carry_out: Callable[[], Progress]


@dataclass
class Schedule:
    """The searching part of a run."""

    plan: Plan  # what is searched and demanded
    store: Store  # where whole quanta are written
    seed: int  # of all random streams
    original: Table  # the table that is protected
    objective: Objective  # what every solution is measured by
    encodings: Encodings  # how solutions are decoded
    engine: Engine  # where candidates are scored and points measured
    # when the session began: reading and binding the table are charged to the budget
    began: Moment = field(default_factory=Moment.now)
    _broken: bool = field(default=False, init=False)
    _beside: MeasuringProcess | None = field(default=None, init=False)

    def proceed(self) -> Iterator[Progress]:
        """Run until the budget is used; if it is stopped, the front so far stays in the store."""
        states, algebra = list[SearchState](), ThreadpoolController()
        steps = self._steps(states)
        try:
            while True:
                # A step is done as a whole even if somebody asks to stop, unless they ask twice. The matrices are
                # narrow: threads of the linear algebra would wait for each other longer than they work, and their
                # number would show in the last digit of a sum.
                with defer_interrupts_of_run(), algebra.limit(limits=1):
                    self._broken = True
                    step = next(steps, None)
                    self._broken = False
                if step is None:
                    return
                yield step
        except (KeyboardInterrupt, GeneratorExit):
            if not self._broken:
                with defer_interrupts_of_run():
                    self._keep_what_is_there(states)
            raise
        finally:
            self._end_beside(states)

    def _steps(self, states: list[SearchState]) -> Iterator[Progress]:
        """Every step until the deadline; the searches are put into the list."""
        with self.store.transaction():
            self.store.forget_provisional()
        states.extend(self._state(index) for index in range(len(self.plan.search)))
        for seed in read_seeds(self.store.path.parent, self.store):
            states[seed.search].seeds.append(seed)
        self._start_beside()
        while (task := self._next(states)) is not None:
            started = charged_now()
            step = task.carry_out()
            self._pace.took_step(task.step, charged_now() - started)
            yield step
        for search in states:
            self._store_writing.commit(search)
        with self.store.transaction():
            self.store.note("elapsed", self._clock.elapsed)
            self.store.note("finished", True)

    # -- what comes next --

    def _next(self, states: Sequence[SearchState]) -> _Task | None:
        """The next step that ends in time; None if there is none."""
        late, open_ = self._clock.elapsed >= SHARE_FOR_SEARCH * self._deadline, list[SearchState]()
        for search in states:
            if search.sown < len(search.seeds):
                continue
            held = self._obey(search)
            if (late or search.ended) and not search.in_line and not search.settled:
                self._settle(search)
            goes_on = self._measures_here(search, states) or not (search.ended or held)
            if goes_on and self._in_time(self._step(search, states), states, search.spent):
                open_.append(search)
        self._send_points(states)
        answered = next((search for search in states if search.sent and search.sent[0].reading.done()), None)
        if answered is not None:
            return _Task(("collect", answered.title), partial(self._collect, answered, states))
        measured_here = [search for search in open_ if self._measures_here(search, states)]
        if late and measured_here:
            open_ = measured_here
        sowing = [search for search in states if search.sown < len(search.seeds)]
        if sowing:
            return _Task(("measure", sowing[0].title), partial(self._sow, sowing[0]))
        if self._baselines.begun is not None:
            task = self._baseline_task(self._baselines.begun)
            if self._in_time(task.step, states, self._baselines.spent):
                return task
        refuge = self._refuge(open_)
        if refuge is not None:
            return refuge
        if all(search.has_measured for search in open_):
            baseline = self._next_baseline(states, SHARE_FOR_BASELINE if open_ else 1.0)
            if baseline is not None:
                return baseline
        if not open_:
            awaited = next((search for search in states if search.sent), None)
            if awaited is None or not self._in_time(("collect", awaited.title), states):
                return None
            return _Task(("collect", awaited.title), partial(self._await_point, awaited))
        first = [each for each in measured_here if not each.has_measured]
        place = schedule_next_search([each.gains for each in open_], self._patience / len(states))
        search = first[0] if first else open_[place]
        do = self._measure if self._measures_here(search, states) else self._advance
        return _Task(self._step(search, states), partial(do, search))

    def _step(self, search: SearchState, states: Sequence[SearchState]) -> Step:
        """What a search does next: where its front is measured in this process, that comes before it goes on."""
        here = self._measures_here(search, states)
        return ("measure" if here else "advance" if search.problem else "pose"), search.title

    def _in_time(self, step: Step, states: Sequence[SearchState], spent: float = 0.0) -> bool:
        """Whether a step ends before the deadline, and what must still be written and measured after it.

        `spent`: seconds that tasks of it have taken already.
        """
        if math.isinf(self._limit):
            return True
        after = sum(self._pace.estimate_step(("commit", each.title)) for each in states if each.state is not None)
        if step[0] == "pose":
            after += self._pace.estimate_step(("advance", step[1]))
        if step[0] in QUANTA and not any(each.has_measured for each in states if each.title == step[1]):
            after += self._pace.estimate_step(("point", step[1]))
        return (
            self._clock.elapsed + self._pace.estimate_left(step, spent) + after + self._seconds_to_close
            <= self._deadline
        )

    def _settle(self, search: SearchState) -> None:
        """Put all of its front that is wanted in line."""
        self._ask(search, self.plan.run.points)
        search.settled = True

    def _ask(self, search: SearchState, most: int) -> None:
        """Put members of a front that are not measured yet in line; with those measured at most so many."""
        if search.state is not None and len(search.state.frontier):
            problem = self._problem(search)
            search.ask(problem, most - search.measured_on_front(problem), variants=True)

    # -- steering --

    def _obey(self, search: SearchState) -> bool:
        """Obey what the log asks of a search that is between two quanta, entry by entry.

        Returns whether the search waits to obey until what another process measures of it is there.
        """
        while search.steerable or search.sent:
            entry = search.obedience.next_entry(self._log.read(), search.at, not search.ended)
            if entry is None:
                return False
            if search.sent:
                search.due.clear()  # what is still wanted after that is asked for again
                return search.state is None or search.state.whole
            self._store_writing.commit(search, entry)
            if search.ended:
                self._settle(search)
        return False

    # -- steps --

    def _advance(self, search: SearchState) -> Progress:
        """One quantum of a search; its problem is posed before the first."""
        posed, problem = search.problem is not None, self._problem(search)
        if not posed:
            return self._report("posed", search)
        before, known = search.seconds, search.state
        state = search.advance(problem, self.engine)
        search.gains.add_time(search.seconds - before)
        overdue = search.gains.overdue and math.isfinite(self._limit)  # without a clock, the same points in every run
        if search.in_line:
            pass  # what another process measures of it comes first
        elif state is not known and state.whole and (is_front_milestone(state.generation) or overdue):
            search.ask(problem, self._most_at_a_time(search))
            if not search.due:
                search.gains.end_stretch(0.0)
        elif not search.has_measured:
            search.ask(problem, 1)
        between = max(BETWEEN_CHECKPOINTS, WORTH_OF_CHECKPOINT * self._pace.estimate_step(("commit", search.title)))
        awaits_measuring = bool(search.due) and not self._sends(search)
        if not awaits_measuring and (search.seconds - search.written >= between or search.progress >= 1.0):
            self._store_writing.commit(search)
        return self._report("generation", search)

    def _most_at_a_time(self, search: SearchState) -> int:
        """Members of a front to measure at a milestone; under a clock what a share of its time for searching allows."""
        most = AT_A_TIME if len(self.original) <= LARGE else AT_A_TIME_OF_MANY
        if math.isinf(self._limit) or self._sends(search):
            return most
        point = self._pace.estimate_step(("point", search.title)) / self.engine.workers
        left = SHARE_FOR_MEASURING * (search.seconds - search.measuring) - search.measuring
        return max(min(most, int(left / point)), MEASURED_FIRST - search.count, 0)

    def _measure(self, search: SearchState) -> Progress:
        """Measure the next points in line; written with the state they belong to once the line is empty."""
        started, problem, some = charged_now(), self._problem(search), search.due[: self.engine.workers]
        if search.underway is None and problem.prepare(some, self.engine):
            search.here, search.due = some, search.due[len(some) :]
            search.underway = Underway(self._make_measuring(search).all(problem, some, self.engine))
        done = search.underway is not None and advance_search_state_work(search.underway, self._pieces_on)
        search.spend(charged_now() - started)
        if search.underway is None or not done:
            return self._report("measuring", search)
        measured = search.underway.result or []
        gain = self._add_solutions(search, measured)
        self._pace.took(("point", search.title), search.spent)
        search.here, search.underway, search.spent = [], None, 0.0
        search.gains.end_stretch(gain)
        if not search.due:
            self._store_writing.commit(search)
        elif not search.measured or charged_now() >= search.last_shown + SHOWN_AFTER:
            self._store_writing.show(search)
        return self._report("measured", search)

    # -- points that another process measures --

    def _start_beside(self) -> None:
        """Start the process that measures points, where the clock limits the run and there is a core for it.

        Without a clock every point is measured before its search goes on, the same in every run.
        """
        room = self.engine.here and self.engine.workers > 1 and len(self.original) <= LARGE
        if not room or not WORTH_A_PROCESS <= self._limit - self._clock.elapsed < math.inf:
            return
        searches = self.plan.searches()
        try:
            self._beside = MeasuringProcess(
                {index: self._make_measuring_of(index, search) for index, search in enumerate(searches)}
            )
        except (*UNPICKLABLE, OSError):
            self._beside = None

    def _end_beside(self, states: Sequence[SearchState]) -> None:
        """End the process; what it had not measured is in line again."""
        for search in states:
            search.due = [*(each.candidate for each in search.sent), *search.due]
            search.sent.clear()
        if self._beside is not None:
            self._beside.close()
            self._beside = None

    def _sends(self, search: SearchState) -> bool:
        """Whether another process measures the points of a search: of its first one, this process finds out how long
        it takes; and only here is the work kept that some genomes still need.
        """
        if self._beside is None or not self._beside.ready or not search.has_measured:
            return False
        return search.problem is not None and search.problem.ready is None

    def _measures_here(self, search: SearchState, states: Sequence[SearchState]) -> bool:
        """Whether points of a search are measured next in this process."""
        if search.here or not search.due or not self._sends(search):
            return bool(search.here or search.due)
        return self._clock.elapsed >= SHARE_FOR_SEARCH * self._deadline and self._falls_behind(states)

    def _falls_behind(self, states: Sequence[SearchState]) -> bool:
        """Whether the other process cannot measure in time all that is in line."""
        seconds = 0.0 if self._beside is None else self._beside.seconds
        waiting = sum(len(search.in_line) for search in states)
        return waiting * seconds > self._deadline - self._seconds_to_close - self._clock.elapsed

    def _send_points(self, states: Sequence[SearchState]) -> None:
        """Give the other process its next points, of each search in turn."""
        sending = [search for search in states if search.due and self._sends(search)]
        while sending and self._beside is not None and sum(len(each.sent) for each in states) < SENT_AHEAD:
            search = min(sending, key=lambda each: len(each.sent))
            candidate = search.due.pop(0)
            genome = self._problem(search).express_candidate(candidate)
            search.sent.append(Sent(candidate, genome, self._beside.measure(search.index, genome)))
            sending = [each for each in sending if each.due]

    def _collect(self, search: SearchState, states: Sequence[SearchState]) -> Progress:
        """Take in what another process has measured of a search."""
        measured, problem = list[Measured](), self._problem(search)
        while search.sent and search.sent[0].reading.done():
            sent = search.sent[0]
            try:
                read = sent.reading.result()
            except EngineLost:
                self._end_beside(states)
                break
            search.sent.pop(0)
            measured.append(measured_candidate(problem, sent.candidate, sent.genome, read))
        search.gains.end_stretch(self._add_solutions(search, measured))
        if charged_now() >= search.last_shown + SHOWN_AFTER:
            self._store_writing.show(search)
        return self._report("measured" if measured else "measuring", search)

    def _await_point(self, search: SearchState) -> Progress:
        """Wait a moment for the next point that another process measures."""
        wait([search.sent[0].reading], timeout=MOMENT)
        return self._report("measuring", search)

    def _add_solutions(self, search: SearchState, measured: Sequence[Measured]) -> float:
        """Number what was measured; returns the hypervolume it adds where solutions are wanted."""
        gain = 0.0
        for found in measured:
            number = len(self._baselines.all) + 1 + search.count * len(self.plan.search) + search.index
            family = search.search.family
            solution = Solution(number, search.index, search.name, family, found.message, found.facts, found.evaluation)
            search.fresh.append(Row(number, search.index, found.key, found.genome, solution.content()))
            search.count += 1
            gain += self._take_in(solution) * search.wants(found.evaluation.figures)
        return gain

    def _sow(self, search: SearchState) -> Progress:
        """Measure the next seeds of a search; those that hold are written at once."""
        started, some = charged_now(), search.seeds[search.sown : search.sown + self._pieces_on.workers]
        if search.underway is None:
            search.underway = Underway(self._make_measuring(search).seeds(some, self._pieces_on))
        done = advance_search_state_work(search.underway, self._pieces_on)
        search.spend(charged_now() - started)
        if not done:
            return self._report("measuring", search)
        known = search.measured | {row.key for row in search.fresh}
        self._add_solutions(search, [each for each in search.underway.result or [] if each.key not in known])
        search.sown += len(some)
        search.underway, search.spent = None, 0.0
        self._store_writing.commit_seeds(search)
        return self._report("measured", search)

    def _take_in(self, solution: Solution) -> float:
        """The hypervolume that a solution adds to what may be released."""
        if not solution.feasible:
            return 0.0
        return self._outlook.add(solution.figure("loss"), solution.figure("risk"), self._clock.elapsed)

    def _refuge(self, open_: Sequence[SearchState]) -> _Task | None:
        """While nothing may be released, a baseline that protects: the quickest if it takes little, and if nothing but
        a baseline ends in time, one that surely keeps the limits.
        """
        place = None if self._outlook.front or math.isinf(self._limit) else self._baselines.refuge()
        if place is None or any(each.here for each in open_):  # a point that is being measured may be released too
            return None
        left = self._limit - self._clock.elapsed - self._seconds_to_close
        takes = self._baselines.estimate(place)
        begun = (
            self._pace.estimate_left(("measure", each.title), each.spent)
            + (0.0 if each.in_line else self._pace.estimate_step(("advance", each.title)))
            for each in open_
        )
        if takes <= SHARE_FOR_REFUGE * left:
            return self._baseline_task(place)
        if takes + min(begun, default=math.inf) <= left:
            return None
        sure = self._baselines.sure_refuge(left)
        return self._baseline_task(place if sure is None else sure)

    def _next_baseline(self, states: Sequence[SearchState], share: float) -> _Task | None:
        """The first baseline that is neither measured nor impossible and takes at most a share of the time left."""
        left = self._deadline - self._clock.elapsed
        for place in self._baselines.open():
            if self._baselines.estimate(place) <= share * left and self._in_time(self._baselines.step(place), states):
                return self._baseline_task(place)
        return None

    def _baseline_task(self, place: int) -> _Task:
        return _Task(self._baselines.step(place), lambda: self._measure_baseline(place))

    def _measure_baseline(self, place: int) -> Progress:
        """Tasks of a baseline."""
        name = self._baselines.all[place].name
        if not self._baselines.advance(place, self._pieces_on, lambda: self._clock.elapsed):
            return self._progress("making", name)
        if self._baselines.solution is not None:
            self._take_in(self._baselines.solution)
        return self._progress("baseline", name)

    # -- stopping --

    def _keep_what_is_there(self, states: Sequence[SearchState]) -> None:
        """Show what a stopped run has measured; of a search of which nothing is measured, one point."""
        for search in states:
            if not search.has_measured:
                self._ask(search, 1)
            while not search.has_measured and (search.due or search.here):
                self._measure(search)
            self._store_writing.show(search)

    # -- parts --

    @cached_property
    def _clock(self) -> Clock:
        return Clock(self.store.read_note("elapsed", 0.0), self.began)

    @cached_property
    def _limit(self) -> float:
        """Seconds of the whole run; infinite if each search has another kind of limit."""
        text = self.store.read_note("budget")
        return read_plan_budget(text).seconds if text else math.inf

    @property
    def _patience(self) -> float:
        """Seconds of all searches together before their gains count."""
        return min(PATIENCE * len(self.plan.search), SHARE_OF_PATIENCE * self._limit)

    @property
    def _deadline(self) -> float:
        """The limit; a run that has found nothing to release yet goes on for a few seconds beyond a smaller one."""
        return self._limit if self._outlook.front else max(self._limit, FOR_A_FIRST_POINT)

    @property
    def _seconds_to_close(self) -> float:
        """Seconds at the end of the budget in which no step is begun."""
        return min(CLOSING, SHARE_FOR_CLOSING * self._limit)

    @property
    def _pieces_on(self) -> Engine:
        """Where tasks are done: they stay in this process."""
        return self.engine if self.engine.here else Serial()

    @cached_property
    def _log(self) -> SteeringLog:
        return SteeringLog(self.store.path.parent)

    @cached_property
    def _store_writing(self) -> Writing:
        return Writing(self.store, self._pace, lambda: self._clock.elapsed)

    @cached_property
    def _pace(self) -> Pace:
        return Pace(len(self.original))

    @cached_property
    def _outlook(self) -> Outlook:
        """The front of the solutions in the store."""
        outlook = Outlook(moved=self._clock.elapsed)
        for stored in self.store.contents():
            solution = Solution.of(*stored)
            if solution.feasible:
                outlook.add(solution.figure("loss"), solution.figure("risk"), self._clock.elapsed)
        return outlook

    @cached_property
    def _baselines(self) -> BaselineSteps:
        return BaselineSteps(self.plan, self.original, self.objective, self.store, self.seed, self._finish, self._pace)

    def _make_measuring(self, search: SearchState) -> Measuring:
        """How the points of a search are measured, made once: engines elsewhere know it again."""
        return self._make_measuring_of(search.index, search.search)

    def _make_measuring_of(self, index: int, search: Search) -> Measuring:
        """The same by the place of the search in the plan."""
        made = Measuring(self.encodings[index], self.objective, search.family, self._finish)
        return self._measurings.setdefault(index, made)

    @cached_property
    def _finish(self) -> Finishing:
        return Finishing(self.objective.original, self.plan.edit_rules())

    @cached_property
    def _measurings(self) -> dict[int, Measuring]:
        return {}

    def _problem(self, search: SearchState) -> Problem:
        guide = self.objective if self.plan.measures.guide else None
        return search.pose_problem(self.encodings[search.index], guide, len(self.original))

    def _state(self, index: int) -> SearchState:
        """A search in the state that the store has."""
        choice, text = self.plan.search[index], self.store.read_note("budget")
        search = self.plan.searches()[index]
        budgets = [read_plan_budget(choice.budget)] if choice.budget else []
        shared = read_plan_budget(text) if text else None
        if shared is not None and math.isinf(shared.seconds):
            budgets.append(shared)
        if shared is None and not budgets:
            budgets.append(search.budget())
        found = SearchState(index, choice.name, search, budgets, self.seed).restore(self.store)
        foreseen = search.first_seconds(self.original, self.plan.measures.guide)
        self._pace.foreseen["advance", found.title] = foreseen
        return found

    def _report(self, what: str, search: SearchState) -> Progress:
        """Progress of a search."""
        state, step = search.state, self._progress(what, search.name)
        if state is None:
            return step
        return replace(
            step,
            generation=state.generation,
            evaluations=state.evaluations,
            front=len(state.frontier),
            best=float(state.best_fitness),
            used=step.used if math.isfinite(self._limit) else search.progress,
        )

    def _progress(self, what: str, title: str) -> Progress:
        """Progress of the run."""
        seconds = self._clock.elapsed
        return Progress(
            what,
            title,
            seconds=seconds,
            used=min(1.0, seconds / self._limit),
            compiling=self._clock.compiling,
            beyond=max(0.0, seconds - self._limit),
            found=self._outlook.report_found(seconds),
        )


FLOOR = 0.15
"""Share of an equal share of the time below which no search falls."""


def schedule_next_search(gains: Sequence[Gains], patience: float = PATIENCE) -> int:
    """The search scheduled next: that with least time, up to the patience or floor; else that which gains most.

    >>> quick, slow = Gains(10.0, 0.0, [(5.0, 0.1), (5.0, 0.5)]), Gains(10.0, 0.0, [(5.0, 0.5), (5.0, 0.1)])
    >>> schedule_next_search([slow, quick]), schedule_next_search([quick, Gains(0.1, 0.0, [(0.1, 0.0)])])
    (1, 1)
    """
    total = sum(each.total for each in gains)
    places = range(len(gains))
    poorest = min(places, key=lambda place: gains[place].total)
    if gains[poorest].total < max(patience, FLOOR * total / len(gains)):
        return poorest
    return max(places, key=lambda place: (gains[place].rate, -gains[place].total))
