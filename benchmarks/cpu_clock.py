"""A clock of CPU seconds for benchmarks: on a busy machine a budget in seconds then buys the same work."""

from __future__ import annotations

import time
from types import SimpleNamespace

from crypsis.kernels import compile
from crypsis.run import clock


def count_cpu() -> None:
    """From now on the clock of a run reads the CPU time of this process; give the run the engine `Serial`."""
    for module in (clock, compile):
        module.time = SimpleNamespace(monotonic=time.process_time)  # type: ignore[attr-defined]
