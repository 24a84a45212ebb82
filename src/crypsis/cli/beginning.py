"""When a command began: with its process, or now where it is called within another program."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crypsis.run.clock import Moment

OWN_PROCESS: ContextVar[bool] = ContextVar("OWN_PROCESS", default=False)
"""Whether the command line has its process for itself."""


def command_began() -> Moment:
    """When the running command was given: interpreter start, imports and reading are after it."""
    from crypsis.run.clock import Moment, command_start

    return command_start() if OWN_PROCESS.get() else Moment.now()
