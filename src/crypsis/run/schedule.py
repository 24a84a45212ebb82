"""The schedule of a run: baselines, then the searches quantum by quantum, then the rest of their fronts.

A quantum is written completely or not at all. Each search has its own random streams, so that its result depends on
plan and seed alone: not on the engine, the other searches, or how often the run was stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from crypsis.encodings import ColumnEncoding
from crypsis.errors import CrypsisError
from crypsis.evolution import Budget, Engine, Genome, Problem
from crypsis.evolution.state import State
from crypsis.masking.blocks import LARGE
from crypsis.measures.objective import Objective
from crypsis.plan import Plan, read_budget
from crypsis.run.baselines import Baseline, baselines
from crypsis.run.clock import Clock
from crypsis.run.decoding import Encodings
from crypsis.run.progress import Progress
from crypsis.run.search_state import SearchState, is_milestone, stream
from crypsis.run.solution import BASELINE, Solution
from crypsis.run.store import Row, Store
from crypsis.table.table import Table

AT_A_TIME, AT_A_TIME_OF_MANY = 12, 4
"""Members of a front measured at one milestone, for a small and for a large table."""
SHOWN_AFTER = 2.0
"""Seconds of measuring after which solutions are shown before their generation is complete."""
SHARE_FOR_SEARCH = 0.9
"""Share of a budget in seconds for the searches; then their fronts are measured."""
BETWEEN_CHECKPOINTS = 0.25
"""Seconds of fast generations that share one checkpoint."""


@dataclass
class Schedule:
    """The searching part of a run.

    Parameters
    ----------
    plan : Plan
        What is searched and demanded.
    store : Store
        Where whole quanta are written.
    seed : int
        Of all random streams.
    original : Table
        The table that is protected.
    objective : Objective
        What every solution is measured by.
    encodings : Encodings
        How solutions are decoded.
    engine : Engine
        Where candidates are scored.
    """

    plan: Plan
    store: Store
    seed: int
    original: Table
    objective: Objective
    encodings: Encodings
    engine: Engine

    def proceed(self) -> Iterator[Progress]:
        """Run until the budget is used; if it is stopped, the front so far stays in the store.

        Yields
        ------
        Progress
        """
        with self.store.transaction():
            self.store.forget_provisional()
        clock = Clock(self.store.noted("elapsed", 0.0))
        budget = self._budget()
        states = [self._state(index) for index in range(len(self.plan.search))]
        try:
            yield from self._measure_baselines(clock)
            yield from self._search(states, clock, budget)
            yield from self._settle(states, clock, budget)
        except (KeyboardInterrupt, GeneratorExit):
            self._keep_what_is_there(states)
            raise
        with self.store.transaction():
            self.store.note("finished", True)

    def _search(self, states: Sequence[SearchState], clock: Clock, budget: Budget | None) -> Iterator[Progress]:
        """Advance the searches; each makes its start and one generation before time is charged to the budget."""
        limit = budget.seconds * SHARE_FOR_SEARCH if budget is not None else math.inf
        written = dict.fromkeys(range(len(states)), 0.0)
        while going := [each for each in states if each.progress < 1.0]:
            if all(each.generation for each in going):
                clock.start()
            if clock.elapsed >= limit:
                break
            search = min(going, key=lambda each: (each.generation > 0, each.seconds, each.index))
            state = search.advance(self._problem(search), self.engine)
            fresh = self._measure(search, self._at_a_time) if state.whole and is_milestone(state.generation) else []
            waited = search.seconds - written[search.index]
            if fresh or waited >= BETWEEN_CHECKPOINTS or search.progress >= 1.0:
                self._commit(search, fresh, clock)
                written[search.index] = search.seconds
            yield self._report("generation", search, clock, limit)
        for search in states:
            self._commit(search, [], clock)

    def _settle(self, states: Sequence[SearchState], clock: Clock, budget: Budget | None) -> Iterator[Progress]:
        """Measure the rest of each front; with a budget in seconds, at least its corners."""
        limit = budget.seconds if budget is not None else math.inf
        for search in states:
            if search.state is None:
                continue
            problem, front = self._problem(search), search.state.frontier
            left = self.plan.run.points - sum(problem.key(genome) in search.measured for genome in front.genomes)
            while left > 0:
                fresh = self._measure(search, min(left, 4) if math.isfinite(limit) else left, variants=True)
                if not fresh:
                    break
                self._commit(search, fresh, clock)
                left -= len(fresh)
                yield self._report("measured", search, clock, limit)
                if clock.elapsed > limit:
                    break

    def _commit(self, search: SearchState, fresh: Sequence[Row], clock: Clock) -> None:
        """One transaction: checkpoint, history and new solutions."""
        if not search.pending and not fresh:
            return
        with self.store.transaction():
            if search.pending and search.state is not None:
                self.store.checkpoint(search.pending, search.state.to_bytes())
            for row in fresh:
                self.store.add(row)
            self.store.note("elapsed", clock.elapsed)
            self.store.note("finished", False)
        search.pending.clear()
        search.measured.update(row.key for row in fresh)
        search.count += len(fresh)

    def _keep_what_is_there(self, states: Sequence[SearchState]) -> None:
        """Measure and show the fronts of a stopped run; a resumed run drops these solutions."""
        for search in states:
            search.measured = self.store.known(search.index)
            if search.state is None or (search.measured and len(self.original) > LARGE):
                continue
            search.count = len(search.measured)
            self._show(self._measure(search, self._at_a_time))

    # -- measuring --

    def _measure(self, search: SearchState, most: int, variants: bool = False) -> list[Row]:
        """Decode, describe and measure members of a search's front that are not in the store yet.

        If this takes long, solutions are shown before their generation is complete.
        """
        started, rows = time.monotonic(), list[Row]()
        shown, since = 0, started
        problem = self._problem(search)
        for place, genome in enumerate(search.unmeasured(problem, most, variants)):
            number = len(self._baselines) + 1 + (search.count + place) * len(self.plan.search) + search.index
            rows.append(self._row(search, problem, genome, number))
            if time.monotonic() >= since + SHOWN_AFTER:
                self._show(rows[shown:])
                shown, since = len(rows), time.monotonic()
        search.seconds += time.monotonic() - started
        return rows

    def _row(self, search: SearchState, problem: Problem, candidate: Genome, number: int) -> Row:
        """Express, decode, describe and measure a candidate, each once."""
        encoding, family = self.encodings[search.index], search.search.family
        genome = problem.expressed(candidate)
        masked = encoding.decode(genome)
        description = encoding.describe(genome, masked)
        own = problem.facts(candidate) if problem.facts is not None else {}
        facts, evaluation = {**description.facts, **own}, self.objective.evaluate(masked, family)
        solution = Solution(number, search.index, search.name, family, description.message, facts, evaluation)
        return Row(number, search.index, problem.key(candidate), genome, solution.content())

    def _show(self, rows: Sequence[Row]) -> None:
        with self.store.transaction():
            for row in rows:
                self.store.add(row, provisional=True)

    def _measure_baselines(self, clock: Clock) -> Iterator[Progress]:
        known = self.store.known(BASELINE)
        for place, baseline in enumerate(self._baselines):
            if baseline.name.encode() in known:
                continue
            try:
                masked = baseline.make(self.original, stream(self.seed, len(self.plan.search), place))
            except CrypsisError as error:
                with self.store.transaction():
                    self.store.note(f"baseline {baseline.name}", str(error))
                continue
            evaluation = self.objective.evaluate(masked, baseline.family)
            name, family, message = baseline.name, baseline.family, baseline.message
            solution = Solution(place + 1, BASELINE, name, family, message, {}, evaluation)
            genome = ColumnEncoding(self.original).encode(masked)
            with self.store.transaction():
                self.store.add(Row(place + 1, BASELINE, name.encode(), genome, solution.content()))
                self.store.note("elapsed", clock.elapsed)
            yield Progress("baseline", name, seconds=clock.total)

    # -- parts --

    @cached_property
    def _baselines(self) -> list[Baseline]:
        return baselines(self.plan, self.original)

    @property
    def _at_a_time(self) -> int:
        return AT_A_TIME if len(self.original) <= LARGE else AT_A_TIME_OF_MANY

    def _problem(self, search: SearchState) -> Problem:
        guide = self.objective if self.plan.measures.guide else None
        return search.posed(self.encodings[search.index], guide)

    def _budget(self) -> Budget | None:
        """The limit of the run in seconds; None if each search has another kind of limit."""
        text = self.store.noted("budget")
        budget = read_budget(text) if text else None
        return budget if budget is not None and math.isfinite(budget.seconds) else None

    def _state(self, index: int) -> SearchState:
        """A search in the state that the store has."""
        choice, text = self.plan.search[index], self.store.noted("budget")
        search = self.plan.searches()[index]
        budgets = [read_budget(choice.budget)] if choice.budget else []
        shared = read_budget(text) if text else None
        if shared is not None and math.isinf(shared.seconds):
            budgets.append(shared)
        if shared is None and not budgets:
            budgets.append(search.budget())
        found = SearchState(index, choice.name, search, budgets, self.seed)
        saved, history = self.store.state(index), self.store.history(index)
        if saved is not None:
            found.state = State.from_bytes(saved)
            found.seconds = history[-1].seconds
        found.measured = self.store.known(index)
        found.count = len(found.measured)
        return found

    @staticmethod
    def _report(what: str, search: SearchState, clock: Clock, limit: float) -> Progress:
        state = search.state
        if state is None:
            return Progress(what, search.name, seconds=clock.total)
        own = clock.elapsed / limit if math.isfinite(limit) else search.progress
        return Progress(
            what, search.name, state.generation, state.evaluations, len(state.frontier), float(state.best_fitness),
            clock.total, min(1.0, own),
        )  # fmt: skip
