"""How long this process has been compiling kernels: time that is shown and not charged to a budget."""

from __future__ import annotations

import time

from numba.core import event


class _Stopwatch(event.Listener):
    """Wall time during which at least one kernel is being compiled; kernels compile the kernels they call."""

    def __init__(self) -> None:
        self.total, self.depth, self.begun = 0.0, 0, 0.0

    def on_start(self, event: event.Event) -> None:
        if self.depth == 0:
            self.begun = time.monotonic()
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.total += time.monotonic() - self.begun


_stopwatch = _Stopwatch()
event.register("numba:compile", _stopwatch)  # type: ignore[no-untyped-call]


def seconds_compiling() -> float:
    """Seconds of wall time in which this process compiled kernels so far; what a cache gave back counts nothing."""
    running = time.monotonic() - _stopwatch.begun if _stopwatch.depth else 0.0
    return _stopwatch.total + running
