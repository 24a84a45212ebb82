"""The memory this process may use, so that a file that needs more is refused early."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""File with the memory limit of a container; 'max' if it has none."""


def memory() -> int:
    """Bytes of memory: of the machine, of the container or of the process limit, whichever is least."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed != resource.RLIM_INFINITY:
        limits.append(allowed)
    with suppress(OSError, ValueError):
        limits.append(int(CONTAINER.read_text(encoding="ascii")))
    return min(limits)
