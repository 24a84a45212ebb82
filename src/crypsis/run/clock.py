"""How much of its time a run has used."""

from __future__ import annotations

import math
import time


class Clock:
    """Seconds spent, sessions added up; `shown` from the beginning, `elapsed` only from when it was set off."""

    def __init__(self, before: float) -> None:
        self._before, self._begun = before, time.monotonic()
        self._since = math.inf

    def set_off(self) -> None:
        self._since = min(self._since, time.monotonic())

    @property
    def shown(self) -> float:
        return self._before + time.monotonic() - self._begun

    @property
    def elapsed(self) -> float:
        return self._before + max(0.0, time.monotonic() - self._since)
