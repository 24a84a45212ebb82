"""The clock of a run: from the first moment of the command, over all sessions, without the compiling of kernels."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Literal, NamedTuple

from crypsis.kernels.compile import seconds_compiling

LONGEST = 10.0
"""Seconds; a process that old was not begun for its command."""


class Moment(NamedTuple):
    """A moment of this process."""

    time: float  # by `time.monotonic`
    compiled: float  # seconds spent compiling kernels before it

    @classmethod
    def now(cls) -> Moment:
        """This moment."""
        return cls(time.monotonic(), seconds_compiling())

    @property
    def charged(self) -> float:
        """The time without what was spent compiling."""
        return self.time - self.compiled


def charged_now() -> float:
    """A reading of the clock that stands still while kernels compile: differences of it are what steps are charged.

    >>> first = charged_now()
    >>> charged_now() >= first
    True
    """
    return Moment.now().charged


class Clock:
    """Seconds of a run."""

    def __init__(
        self, before: float = 0.0, began: Moment | None = None, now: Callable[[], Moment] = Moment.now
    ) -> None:
        self._before, self._began, self._now = before, began or now(), now

    @property
    def compiling(self) -> float:
        """Seconds of this session spent compiling kernels, which are not charged."""
        return self._now().compiled - self._began.compiled

    @property
    def elapsed(self) -> float:
        """Seconds charged to the budget, earlier sessions included."""
        return self._before + max(0.0, self._now().charged - self._began.charged)


def command_start() -> Moment:
    """When this process began: the moment its command was given; where the system does not say, now.

    Interpreter start and imports are after it.

    >>> command_start().time <= Moment.now().time
    True
    """
    now = time.monotonic()
    with suppress(OSError, ValueError, AttributeError, IndexError):
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
        if 0.0 <= age < LONGEST:
            return Moment(now - age, 0.0)
    return Moment(now, 0.0)


# -- Signals that ask a run to stop wait for the end of a step, so that no step is left half done.

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def defer_interrupts_of_run() -> Iterator[None]:
    """For the clock of a run, hold back the first signal to stop until a block ended; a second is obeyed at once.

    A signal without a handler in Python keeps its effect, and outside the main thread, where no signal arrives, nothing
    is changed.

    >>> with defer_interrupts_of_run():
    ...     pass
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = list[int]()
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in handlers.items() if callable(handler)}

    def hold(number: int, frame: FrameType | None) -> None:
        if asked:
            before[signal.Signals(number)](number, frame)
        asked.append(number)

    for number in before:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if asked:
        before[signal.Signals(asked[0])](asked[0], None)


# -- How long the next step of a run will take: so that nothing is begun that cannot end in time.

Step = tuple[Literal["pose", "advance", "measure", "collect", "commit", "point", "group", "recode"], str]
"""What is done, and for which search or baseline."""

QUANTA = ("pose", "advance")
"""Steps that are done as a whole: posing the problem of a search, and its quanta."""
LAST = 4
"""Steps of a kind by which the next one is foretold: as long as the longest of them, and a little more."""
MARGIN = 1.15
FIRST: dict[str, tuple[float, float]] = {
    "pose": (0.01, 1e-6),
    "advance": (0.02, 1e-5),
    "measure": (0.02, 2e-6),
    "point": (0.02, 5e-6),
    "collect": (0.01, 0.0),
    "group": (0.05, 1.3e-5),
    "recode": (0.03, 4e-6),
    "commit": (0.005, 4e-7),
}
"""Seconds of the first step of a kind: at least, and for each record.

Measuring is done in tasks: `measure` is a few of them, `point` all of a few points, `collect` takes in points that
another process measured; `group` and `recode` are baselines, made and measured.
"""


@dataclass
class Pace:
    """The last durations of every kind of step."""

    records: int  # of the table
    # seconds of first steps that take longer than others of their kind
    foreseen: dict[Step, float] = field(default_factory=dict)
    _last: dict[Step, deque[float]] = field(default_factory=dict)

    def took(self, step: Step, seconds: float) -> None:
        """Note how long a step took."""
        self._last.setdefault(step, deque(maxlen=LAST)).append(seconds)

    def took_step(self, step: Step, seconds: float) -> None:
        """Note how long a step of the schedule took: a quantum, or tasks of measuring or of a baseline."""
        self.took(step if step[0] in (*QUANTA, "collect") else ("measure", step[1]), seconds)

    def estimate_left(self, step: Step, spent: float) -> float:
        """Seconds a step will take that may have begun: a quantum, or all that is left to measure.

        `spent`: seconds that tasks of it have taken already.
        """
        if step[0] in (*QUANTA, "collect"):
            return self.estimate_step(step)
        whole: Step = ("point", step[1]) if step[0] == "measure" else step
        return max(self.estimate_step(("measure", step[1])), self.estimate_step(whole) - spent)

    def estimate_step(self, step: Step) -> float:
        """Seconds the next step of a kind will take: by the last ones, else by those of other searches or by rates."""
        last = self._last.get(step)
        if last:
            return MARGIN * max(last)
        least, rate = FIRST[step[0]]
        others = [max(seen) for (what, _), seen in self._last.items() if what == step[0] and what not in QUANTA]
        return max([least + rate * self.records, self.foreseen.get(step, 0.0), *others])
