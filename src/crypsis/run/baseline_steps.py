"""The baselines of a run as steps of its schedule: which comes next, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from crypsis.encodings import ColumnEncoding
from crypsis.errors import CrypsisError
from crypsis.measures.objective import Objective
from crypsis.plan import Plan
from crypsis.run.baselines import Baseline, baselines
from crypsis.run.finishing import Finishing
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

    def measure(self, place: int, elapsed: Callable[[], float]) -> Solution | None:
        """Make, measure and store one; None if the table does not allow it, which is noted.

        elapsed  seconds of the run so far
        """
        baseline = self.all[place]
        name, family, message = baseline.name, baseline.family, baseline.message
        try:
            masked = baseline.make(self.original, stream(self.seed, len(self.plan.search), place))
        except CrypsisError as error:
            self._impossible.add(name)
            with self.store.transaction():
                self.store.note(f"baseline {name}", str(error))
            return None
        evaluation = self.objective.evaluate(self.finish(masked, family), family)
        solution = Solution(place + 1, BASELINE, name, family, message, {}, evaluation)
        genome = ColumnEncoding(self.original).encode(masked)
        with self.store.transaction():
            self.store.add(Row(place + 1, BASELINE, name.encode(), genome, solution.content()))
            self.store.note("elapsed", elapsed())
        return solution
