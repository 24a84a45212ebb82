"""How long the next step of a run will take: so that nothing is begun that cannot end in time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

Step = tuple[Literal["pose", "advance", "measure", "commit", "point", "group", "recode"], str]
"""What is done, and for which search or baseline."""

QUANTA = ("pose", "advance")
"""Steps that are done as a whole: posing the problem of a search, and its quanta."""
LAST = 4
"""Steps of a kind by which the next one is foretold: as long as the longest of them, and a little more."""
MARGIN = 1.15
FIRST: dict[str, tuple[float, float]] = {
    "pose": (0.02, 4e-6),
    "advance": (0.02, 8e-6),
    "measure": (0.02, 2e-6),
    "point": (0.02, 9e-6),
    "group": (0.05, 2.2e-5),
    "recode": (0.03, 7e-6),
    "commit": (0.005, 4e-7),
}
"""Seconds of the first step of a kind: at least, and for each record.

Measuring is done in pieces: `measure` is a few of them, `point` all of a few points; `group` and `recode` are
baselines, made and measured.
"""


@dataclass
class Pace:
    """The last durations of every kind of step.

    records  of the table
    foreseen  seconds of first steps that take longer than others of their kind
    """

    records: int
    foreseen: dict[Step, float] = field(default_factory=dict)
    _last: dict[Step, deque[float]] = field(default_factory=dict)

    def took(self, step: Step, seconds: float) -> None:
        """Note how long a step took."""
        self._last.setdefault(step, deque(maxlen=LAST)).append(seconds)

    def took_step(self, step: Step, seconds: float) -> None:
        """Note how long a step of the schedule took: a quantum, or pieces of measuring or of a baseline."""
        self.took(step if step[0] in QUANTA else ("measure", step[1]), seconds)

    def left(self, step: Step, spent: float) -> float:
        """Seconds a step will take that may have begun: a quantum, or all that is left to measure.

        spent  seconds that pieces of it have taken already
        """
        if step[0] in QUANTA:
            return self.expected(step)
        whole: Step = ("point", step[1]) if step[0] == "measure" else step
        return max(self.expected(("measure", step[1])), self.expected(whole) - spent)

    def expected(self, step: Step) -> float:
        """Seconds the next step of a kind will take: by the last ones, else by those of other searches or by rates."""
        last = self._last.get(step)
        if last:
            return MARGIN * max(last)
        least, rate = FIRST[step[0]]
        others = [max(seen) for (what, _), seen in self._last.items() if what == step[0] and what not in QUANTA]
        return max([least + rate * self.records, self.foreseen.get(step, 0.0), *others])
