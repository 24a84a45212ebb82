"""When a command began: with its process, or now where it is called within another program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from crypsis.run.clock import Moment


class ProcessCommand:
    """The object of a command line that has its process for itself."""


def command_began() -> Moment:
    """When the running command was given: interpreter start, imports and reading are after it."""
    from crypsis.run.clock import Moment, command_start

    context = click.get_current_context(silent=True)
    own = context is not None and isinstance(context.obj, ProcessCommand)
    return command_start() if own else Moment.now()
