"""How much memory this process may use, so that a file is refused before it fills it."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""Where a container's limit stands; 'max' if it has none."""


def memory() -> int:
    """Bytes: of the machine, of the container, or what the process was allowed, whichever is least."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed != resource.RLIM_INFINITY:
        limits.append(allowed)
    with suppress(OSError, ValueError):
        limits.append(int(CONTAINER.read_text(encoding="ascii")))
    return min(limits)
