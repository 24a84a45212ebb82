"""Progress of a run on stderr: a live line on a terminal, a plain one now and then elsewhere, nothing if quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from crypsis.run import Progress

EVERY = 5.0
"""Seconds between plain lines."""


class Watch:
    """The progress of a run so far, for the line that ends it."""

    def __init__(self) -> None:
        self._generations, self.seconds = dict[str, int](), 0.0

    def follow(self, steps: Iterable[Progress], quiet: bool) -> None:
        """Let a run proceed to its end and print its progress."""
        seen = map(self._note, steps)
        if quiet:
            for _ in seen:
                pass
        elif sys.stderr.isatty():
            _live(seen)
        else:
            _plain(seen)

    def close(self, solutions: int) -> None:
        """Print the last line; of a short run it may be the only one."""
        done = sum(self._generations.values())
        typer.echo(
            f"[{self.seconds:6.1f} s, 100 %] finished: {done} generation{'s'[: done != 1]}, {solutions} "
            f"solution{'s'[: solutions != 1]} measured",
            err=True,
        )

    def _note(self, step: Progress) -> Progress:
        if step.what != "baseline":
            self._generations[step.title] = step.generation
        self.seconds = max(self.seconds, step.seconds)
        return step


def progress_text(step: Progress, rate: float) -> str:
    """'grouping: generation 12, 1 480 evaluations (310/s), front 24'."""
    if step.what == "baseline":
        return f"baseline {step.title}"
    speed = f" ({rate:.0f}/s)" if rate > 0 else ""
    verb = "measuring the front" if step.what == "measured" else f"generation {step.generation}"
    return f"{step.title}: {verb}, {step.evaluations} evaluations{speed}, front {step.front}, best {step.best:.4g}"


class _Rate:
    """Evaluations per second of all searches together, since watching began."""

    def __init__(self) -> None:
        self._started, self._first, self._last = time.monotonic(), dict[str, int](), dict[str, int]()

    def seen(self, step: Progress) -> float:
        if step.evaluations:
            self._first.setdefault(step.title, step.evaluations if step.generation else 0)
            self._last[step.title] = step.evaluations
        done = sum(self._last[title] - self._first[title] for title in self._last)
        return done / max(time.monotonic() - self._started, 1e-3)


def _plain(steps: Iterable[Progress]) -> None:
    last, rate = -EVERY, _Rate()
    for step in steps:
        speed = rate.seen(step)
        if step.what == "baseline" or time.monotonic() - last >= EVERY:
            last = time.monotonic()
            typer.echo(f"[{step.seconds:6.1f} s, {100 * step.used:3.0f} %] {progress_text(step, speed)}", err=True)


def _live(steps: Iterable[Progress]) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    rate = _Rate()
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("starting", total=1.0)
        for step in steps:
            bars.update(task, completed=step.used, description=progress_text(step, rate.seen(step)))
