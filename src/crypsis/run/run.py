"""A run: a folder in which several searches feed one measured front, and from which it can always go on.

A generation is written whole or not at all. Each search has random streams of its own, so that what it finds depends
on the plan and the seed alone: not on the engine, not on the other searches, not on how often the run was stopped.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from crypsis.encodings import ColumnEncoding, Encoding
from crypsis.engines import Serial
from crypsis.errors import CrypsisError, PlanError, SearchError
from crypsis.evolution import Budget, Engine, Genome, Problem
from crypsis.evolution.state import State
from crypsis.masking.blocks import LARGE
from crypsis.measures.objective import Objective
from crypsis.plan import Plan, read_budget
from crypsis.plan.writing import as_toml
from crypsis.run import folder as places
from crypsis.run.baselines import Baseline, baselines
from crypsis.run.clock import Clock
from crypsis.run.evaluation import Yardstick
from crypsis.run.front import Front
from crypsis.run.progress import Progress
from crypsis.run.search_state import Strand, is_milestone, stream
from crypsis.run.solution import BASELINE, Solution
from crypsis.run.store import Row, Store
from crypsis.table.table import Table

AT_A_TIME, AT_A_TIME_OF_MANY = 12, 4
"""Most members of a front measured at one milestone, and of a large table's."""
SHOWN_AFTER = 2.0
"""Seconds of measuring after which what is known so far is shown before the generation is whole."""
SHARE_FOR_SEARCH = 0.9
"""Part of a budget in seconds after which the searches end and their fronts are measured."""
BETWEEN_CHECKPOINTS = 0.25
"""Seconds of quick generations that may share one checkpoint; a slow one always has its own."""


class Run:
    """A run's folder, and the table it protects."""

    def __init__(self, folder: Path, plan: Plan, engine: Engine | None = None, table: Table | None = None) -> None:
        self.folder, self.plan, self.engine = folder, plan, engine or Serial()
        self.lock = places.Lock.read(folder)
        self.store = Store(folder / places.STORE)
        self._given = table
        self._encodings: dict[int, Encoding] = {}
        self._keeping: TemporaryDirectory[str] | None = None

    # -- beginning --

    @classmethod
    def start(
        cls,
        plan: Plan,
        folder: str | Path,
        engine: Engine | None = None,
        *,
        home: str | Path | None = None,
        table: Table | None = None,
        text: str | None = None,
        seed: int | None = None,
        budget: str | None = None,
    ) -> Run:
        """A new run in a new folder; nothing is searched before `proceed`.

        home    folder the plan's paths are relative to; or else
        table   the data themselves
        text    the plan as it was written, comments and all
        seed    wins over the plan's; without any, the operating system's randomness
        """
        folder = Path(folder)
        if not plan.search:
            raise PlanError('search: the plan names no search; add [[search]] with a name, e.g. name = "partition"')
        home = "" if home is None else str(Path(home).resolve())
        read = table if table is not None else plan.table(Path(home))
        obstacles = [
            f"search {choice.name!r}: {why}" for choice in plan.search if (why := choice.build().obstacle(read))
        ]
        if obstacles:
            raise SearchError("; ".join(obstacles))
        Yardstick(plan, read)
        chosen = next((s for s in (seed, plan.run.seed) if s is not None), secrets.randbits(128))
        lock = places.Lock(chosen, home, read.fingerprint(), places.plan_fingerprint(plan), places.versions())
        with places.new(folder, text if text is not None else as_toml(plan)) as aside:
            lock.write(aside)
            with Store(aside / places.STORE, create=True) as store, store.transaction():
                store.note("budget", budget or plan.run.budget)
        return cls(folder, plan, engine, read)

    @classmethod
    def open(cls, folder: str | Path, engine: Engine | None = None, *, table: Table | None = None) -> Run:
        """A run as it stands, to look at or to go on with."""
        folder = Path(folder)
        if not (folder / places.STORE).is_file():
            raise SearchError(f"{folder}: holds no run (no {places.STORE}); start one with `crypsis run PLAN`")
        run = cls(folder, Plan.read(folder / places.PLAN), engine, table)
        if places.plan_fingerprint(run.plan) != run.lock.plan:
            raise SearchError(
                f"{folder / places.PLAN}: was changed since the run began; put the old plan back, or start a new run "
                f"with the new one"
            )
        return run

    @classmethod
    def resume(
        cls,
        folder: str | Path,
        engine: Engine | None = None,
        *,
        table: Table | None = None,
        budget: str | None = None,
    ) -> Run:
        """A run that goes on where its last whole generation ended; with a new budget, beyond its old end."""
        run = cls.open(folder, engine, table=table)
        if budget is not None:
            try:
                read_budget(budget)
            except ValueError as error:
                raise PlanError(f"budget: {error}") from None
            with places.held(run.folder), run.store.transaction():
                run.store.note("budget", budget)
        return run

    def keep(self, folder: TemporaryDirectory[str] | None) -> None:
        """Let a temporary folder live as long as the run."""
        self._keeping = folder

    def close(self) -> None:
        self.store.close()
        if self._keeping is not None:
            self._keeping.cleanup()

    # -- what it holds --

    @cached_property
    def original(self) -> Table:
        """The table to protect; the same data the run was begun with, or a refusal."""
        if self._given is None and not self.lock.home:
            raise SearchError(f"{self.folder}: the run protects a table from memory; open it with that table")
        table = self._given if self._given is not None else self.plan.table(Path(self.lock.home))
        if table.fingerprint() != self.lock.data:
            raise SearchError(
                f"{self.folder}: the data changed since the run began, so it cannot go on; put the old file back, or "
                f"start a new run"
            )
        return table

    @cached_property
    def yardstick(self) -> Yardstick:
        return Yardstick(self.plan, self.original)

    @property
    def solutions(self) -> list[Solution]:
        """Everything measured so far, in order of number."""
        with self.store.reading():
            return [Solution.of(number, search, content) for number, search, content in self.store.contents()]

    @property
    def front(self) -> Front:
        """The best of all searches and baselines under the common yardstick, among those that may be released."""
        axes = ("loss", "risk", "uses") if any(u.treated_as == "objective" for u in self.plan.use) else ("loss", "risk")
        return Front(tuple(self.solutions), axes)

    @property
    def finished(self) -> bool:
        """Whether the budget was used up; otherwise the run was stopped and can be resumed."""
        return bool(self.store.noted("finished", False))

    def pick(self, text: str | int) -> Solution:
        """A solution by number, 'knee', or 'best where risk < 5'."""
        return self.front.pick(text)

    def table(self, picked: Solution | str | int) -> Table:
        """The masked table of a solution."""
        solution = picked if isinstance(picked, Solution) else self.pick(picked)
        row = self.store.solution(solution.number)
        return self._encoding(row.search).decode(row.genome)

    # -- going on --

    def proceed(self) -> Iterator[Progress]:
        """Baselines, then generation after generation until the budget is used, then what is left of the fronts.

        Stopped from outside (an exception, or nobody asks for more), the front so far stays on disk.
        """
        with places.held(self.folder):
            with self.store.transaction():
                self.store.forget_provisional()
            clock = Clock(self.store.noted("elapsed", 0.0))
            budget = self._budget()
            strands = [self._strand(index) for index in range(len(self.plan.search))]
            try:
                yield from self._measure_baselines(clock)
                yield from self._search(strands, clock, budget)
                yield from self._settle(strands, clock, budget)
            except (KeyboardInterrupt, GeneratorExit):
                self._keep_what_is_there(strands)
                raise
            with self.store.transaction():
                self.store.note("finished", True)

    def _search(self, strands: Sequence[Strand], clock: Clock, budget: Budget | None) -> Iterator[Progress]:
        """Every search makes its start and one generation, however short the budget; only then the clock counts.

        So the first run on a machine does not pay with its budget for the kernels it compiles.
        """
        limit = budget.seconds * SHARE_FOR_SEARCH if budget is not None else math.inf
        written = dict.fromkeys(range(len(strands)), 0.0)
        while going := [strand for strand in strands if strand.progress < 1.0]:
            if all(strand.generation for strand in going):
                clock.set_off()
            if clock.elapsed >= limit:
                break
            strand = min(going, key=lambda each: (each.generation > 0, each.seconds, each.index))
            state = strand.advance(self._encoding(strand.index), self._guide, self.engine)
            fresh = self._measure(strand, self._at_a_time) if is_milestone(state.generation) else []
            waited = strand.seconds - written[strand.index]
            if fresh or waited >= BETWEEN_CHECKPOINTS or strand.progress >= 1.0:
                self._commit(strand, fresh, clock)
                written[strand.index] = strand.seconds
            yield self._told("generation", strand, clock, limit)
        for strand in strands:
            self._commit(strand, [], clock)

    def _settle(self, strands: Sequence[Strand], clock: Clock, budget: Budget | None) -> Iterator[Progress]:
        """Measure what of each front was not; with a budget in seconds, at least the corners, then while time lasts."""
        limit = budget.seconds if budget is not None else math.inf
        for strand in strands:
            if strand.state is None:
                continue
            problem, front = self._problem(strand), strand.state.frontier
            left = self.plan.run.points - sum(problem.key(genome) in strand.measured for genome in front.genomes)
            while left > 0:
                fresh = self._measure(strand, min(left, 4) if math.isfinite(limit) else left)
                if not fresh:
                    break
                self._commit(strand, fresh, clock)
                left -= len(fresh)
                yield self._told("measured", strand, clock, limit)
                if clock.elapsed > limit:
                    break

    def _commit(self, strand: Strand, fresh: Sequence[Row], clock: Clock) -> None:
        """One transaction: checkpoint, history and new solutions."""
        if not strand.pending and not fresh:
            return
        with self.store.transaction():
            if strand.pending and strand.state is not None:
                self.store.checkpoint(strand.pending, strand.state.to_bytes())
            for row in fresh:
                self.store.add(row)
            self.store.note("elapsed", clock.elapsed)
            self.store.note("finished", False)
        strand.pending.clear()
        strand.measured.update(row.key for row in fresh)
        strand.count += len(fresh)

    def _keep_what_is_there(self, strands: Sequence[Strand]) -> None:
        """A stopped run shows the front it had reached; what is measured for that alone is forgotten on resume."""
        for strand in strands:
            strand.measured = self.store.known(strand.index)
            if strand.state is None or (strand.measured and len(self.original) > LARGE):
                continue
            strand.count = len(strand.measured)
            self._show(self._measure(strand, self._at_a_time))

    def _measure(self, strand: Strand, most: int) -> list[Row]:
        """Decode, tell and measure members of a search's front that are not in the store yet.

        Where that takes long, those ready are shown meanwhile; they are the run's own only when their generation is.
        """
        started, rows = time.monotonic(), []
        shown, since = 0, started
        self._problem(strand)
        for place, genome in enumerate(strand.unmeasured(most)):
            number = len(self._baselines) + 1 + (strand.count + place) * len(self.plan.search) + strand.index
            rows.append(self._row(strand, genome, number))
            if time.monotonic() >= since + SHOWN_AFTER:
                self._show(rows[shown:])
                shown, since = len(rows), time.monotonic()
        strand.seconds += time.monotonic() - started
        return rows

    def _show(self, rows: Sequence[Row]) -> None:
        with self.store.transaction():
            for row in rows:
                self.store.add(row, provisional=True)

    @property
    def _at_a_time(self) -> int:
        return AT_A_TIME if len(self.original) <= LARGE else AT_A_TIME_OF_MANY

    def _row(self, strand: Strand, candidate: Genome, number: int) -> Row:
        """A candidate worked out, decoded, described and measured: each once."""
        encoding, problem = self._encoding(strand.index), self._problem(strand)
        genome = problem.expressed(candidate)
        masked = encoding.decode(genome)
        description = encoding.describe(genome, masked)
        own = problem.facts(candidate) if problem.facts is not None else {}
        solution = Solution(
            number=number,
            search=strand.index,
            title=strand.name,
            family=strand.search.family,
            words=description.message,
            facts={**description.facts, **own},
            measured=self.yardstick.measure(masked, strand.search.family),
        )
        return Row(number, strand.index, problem.key(candidate), genome, solution.content())

    def _measure_baselines(self, clock: Clock) -> Iterator[Progress]:
        known = self.store.known(BASELINE)
        for place, baseline in enumerate(self._baselines):
            if baseline.name.encode() in known:
                continue
            try:
                masked = baseline.make(self.original, stream(self.lock.seed, len(self.plan.search), place))
            except CrypsisError as error:
                with self.store.transaction():
                    self.store.note(f"baseline {baseline.name}", str(error))
                continue
            measured = self.yardstick.measure(masked, baseline.family)
            solution = Solution(place + 1, BASELINE, baseline.name, baseline.family, baseline.words, {}, measured)
            genome = ColumnEncoding(self.original).encode(masked)
            row = Row(place + 1, BASELINE, baseline.name.encode(), genome, solution.content())
            with self.store.transaction():
                self.store.add(row)
                self.store.note("elapsed", clock.elapsed)
            yield Progress("baseline", baseline.name, seconds=clock.shown)

    # -- the parts --

    @cached_property
    def _baselines(self) -> list[Baseline]:
        return baselines(self.plan, self.original)

    @cached_property
    def _guide(self) -> Objective | None:
        return self.plan.guide(self.original)

    def _encoding(self, search: int) -> Encoding:
        """How the solutions of a search, or the baselines, are decoded; built once."""
        if search not in self._encodings:
            baseline = search == BASELINE
            named = (
                ColumnEncoding(self.original) if baseline else self.plan.search[search].build().encoding(self.original)
            )
            self._encodings[search] = named
        return self._encodings[search]

    def _budget(self) -> Budget | None:
        """The run's own limit in seconds; None where each search has one of another kind."""
        text = self.store.noted("budget")
        budget = read_budget(text) if text else None
        return budget if budget is not None and math.isfinite(budget.seconds) else None

    def _strand(self, index: int) -> Strand:
        """A search with all the store knows of it."""
        choice, text = self.plan.search[index], self.store.noted("budget")
        search = choice.build()
        budgets = [read_budget(choice.budget)] if choice.budget else []
        shared = read_budget(text) if text else None
        if shared is not None and math.isinf(shared.seconds):
            budgets.append(shared)
        if shared is None and not budgets:
            budgets.append(search.budget())
        strand = Strand(index, choice.name, search, budgets, self.lock.seed)
        saved, history = self.store.state(index), self.store.history(index)
        if saved is not None:
            strand.state = State.from_bytes(saved)
            strand.seconds = history[-1].seconds
            evaluations = [each.evaluations for each in history]
            strand.idle = sum(1 for count in evaluations if count == evaluations[-1]) - 1
        strand.measured = self.store.known(index)
        strand.count = len(strand.measured)
        return strand

    def _problem(self, strand: Strand) -> Problem:
        return strand.posed(self._encoding(strand.index), self._guide)

    def _told(self, what: str, strand: Strand, clock: Clock, limit: float) -> Progress:
        state = strand.state
        if state is None:
            return Progress(what, strand.name, seconds=clock.shown)
        own = clock.elapsed / limit if math.isfinite(limit) else strand.progress
        return Progress(
            what, strand.name, state.generation, state.evaluations, len(state.frontier), float(state.best_fitness),
            clock.shown, min(1.0, own),
        )  # fmt: skip
