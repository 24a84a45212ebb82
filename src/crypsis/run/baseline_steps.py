"""The baselines of a run as steps of its schedule: which comes next, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

from crypsis.encodings import ColumnEncoding
from crypsis.engines import Engine
from crypsis.errors import CrypsisError
from crypsis.measures.objective import Objective
from crypsis.pieces import Pieces, Underway
from crypsis.plan import Plan
from crypsis.run.baselines import Baseline, baselines
from crypsis.run.clock import charged_now
from crypsis.run.finishing import Finishing
from crypsis.run.measuring import for_a_moment
from crypsis.run.pace import Pace, Step
from crypsis.run.search_state import stream
from crypsis.run.solution import BASELINE, Solution
from crypsis.run.store import Row, Store
from crypsis.table.table import Table


@dataclass
class BaselineSteps:
    """The baselines of one run.

    plan, original, objective, store, seed, finish  as in `Schedule`
    pace  how long steps take
    """

    plan: Plan
    original: Table
    objective: Objective
    store: Store
    seed: int
    finish: Finishing
    pace: Pace
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

    def open(self) -> list[int]:
        """Places of those that are neither measured nor impossible."""
        known = self.store.known(BASELINE)
        return [
            place
            for place, each in enumerate(self.all)
            if each.name.encode() not in known and each.name not in self._impossible
        ]

    def refuge(self) -> int | None:
        """The place of the quickest open one that keeps the limits, surely or as a rule; None if there is none."""
        left = [place for place in self.open() if self.all[place].protects]
        return min(left, key=lambda place: self.pace.expected(self.step(place)), default=None)

    def step(self, place: int) -> Step:
        """What measuring one is called in the pace."""
        baseline = self.all[place]
        return baseline.work, baseline.name

    def advance(self, place: int, engine: Engine, elapsed: Callable[[], float]) -> bool:
        """Do pieces of one; whether it is complete.

        engine  where the pieces are done
        elapsed  seconds of the run so far
        """
        started = charged_now()
        if self._work is None or self.begun != place:
            self.begun, self.spent, self._work = place, 0.0, Underway(self._measuring(place, elapsed))
        done = for_a_moment(self._work, engine)
        self.spent += charged_now() - started
        if done:
            self.pace.took(self.step(place), self.spent)
            self.solution, self.begun, self._work = self._work.result, None, None
        return done

    def _measuring(self, place: int, elapsed: Callable[[], float]) -> Pieces[Solution | None]:
        """Make, measure and store one, in pieces; None if the table does not allow it, which is noted.

        elapsed  seconds of the run so far
        """
        baseline = self.all[place]
        name, family, message = baseline.name, baseline.family, baseline.message
        try:
            masked = yield from baseline.make(self.original, stream(self.seed, len(self.plan.search), place))
        except CrypsisError as error:
            self._impossible.add(name)
            with self.store.transaction():
                self.store.note(f"baseline {name}", str(error))
            return None
        [finished] = yield [partial(self.finish, masked, family)]
        evaluation = yield from self.objective.evaluating(finished, family)
        solution = Solution(place + 1, BASELINE, name, family, message, {}, evaluation)
        [genome] = yield [partial(ColumnEncoding(self.original).encode, masked)]
        with self.store.transaction():
            self.store.add(Row(place + 1, BASELINE, name.encode(), genome, solution.content()))
            self.store.note("elapsed", elapsed())
        return solution
