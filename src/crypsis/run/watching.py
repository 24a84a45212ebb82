"""A run that is watched from Python: a line of progress, and a log of what it finds."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack

from crypsis.run.search_state import Progress

Update = Callable[[Progress], None]

log = logging.getLogger("crypsis")
"""Improvements of the common front, at the level INFO."""


def watch_progress(steps: Iterable[Progress], shown: bool | None = None) -> None:
    """Let a run proceed to its end, and say how far it is.

    `shown`: whether a line shows it; by default on a terminal and in a notebook.
    """
    best: tuple[int, float, float] = (0, float("inf"), float("inf"))
    with ExitStack() as open_lines:
        update = _open_line(open_lines) if (_somebody_looks() if shown is None else shown) else None
        for step in steps:
            found = (step.found.points, step.found.loss, step.found.risk)
            if found[0] and found != best:
                best = found
                log.info("%s: %s", step.title, found_summary(step))
            if update is not None:
                update(step)


def found_summary(step: Progress) -> str:
    """What a run has found so far: figures alone, never a value of the table.

    >>> found_summary(Progress("generation", "memetic"))
    'nothing to release yet'
    """
    found = step.found
    if not found.points:
        return "nothing to release yet"
    counted = f"{found.points} solution{'s' * (found.points != 1)}"
    return f"{counted}, loss from {found.loss:.3g} %, risk from {found.risk:.3g} %"


def _open_line(open_lines: ExitStack) -> Update:
    """A line of progress that rich draws until the run ends."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Line

    columns = (BarColumn(bar_width=20), TextColumn("{task.percentage:3.0f} %  {task.description}"))
    console = Console(stderr=True)
    line = open_lines.enter_context(Line(*columns, console=console, transient=console.is_terminal))
    task = line.add_task("starting", total=1.0)

    def update(step: Progress) -> None:
        line.update(task, completed=step.used, description=f"{step.title}: {found_summary(step)}")

    return update


def _somebody_looks() -> bool:
    """Whether the program runs on a terminal or in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules
