"""The clock of a run: from the first moment of the command, over all sessions, without the compiling of kernels."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from crypsis.kernels.compile_time import seconds_compiling

LONGEST = 10.0
"""Seconds; a process that old was not begun for its command."""


class Moment(NamedTuple):
    """A moment of this process.

    time  by `time.monotonic`
    compiled  seconds spent compiling kernels before it
    """

    time: float
    compiled: float

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

    Returns
    -------
    float
        Seconds since an arbitrary moment.

    Examples
    --------
    >>> first = charged_now()
    >>> charged_now() >= first
    True
    """
    return Moment.now().charged


class Clock:
    """Seconds of a run.

    Parameters
    ----------
    before : float
        Seconds charged in earlier sessions.
    began : Moment, optional
        When this session began; now by default.
    now : callable
        Gives the moment.
    """

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

    Examples
    --------
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
