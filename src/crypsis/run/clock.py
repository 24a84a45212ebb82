"""The time of a run, over all its sessions."""

from __future__ import annotations

import math
import time


class Clock:
    """Seconds used by a run.

    Parameters
    ----------
    before : float
        Seconds charged in earlier sessions.
    """

    def __init__(self, before: float) -> None:
        self._before, self._begun = before, time.monotonic()
        self._since = math.inf

    def start(self) -> None:
        """Charge time to the budget from now on."""
        self._since = min(self._since, time.monotonic())

    @property
    def total(self) -> float:
        """Seconds since the session began, earlier sessions included."""
        return self._before + time.monotonic() - self._begun

    @property
    def elapsed(self) -> float:
        """Seconds charged to the budget."""
        return self._before + max(0.0, time.monotonic() - self._since)
