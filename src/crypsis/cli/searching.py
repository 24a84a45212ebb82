"""What `run` and `resume` share: the engine, progress, and how a run ends."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from crypsis.cli.front import OUTLINE, front_content, show_front
from crypsis.cli.output import say, say_json, warn
from crypsis.cli.progress import Watch
from crypsis.errors import EngineLost

if TYPE_CHECKING:
    from crypsis.run import Run

STOPPED = 3


def carry_out(started: Run, quiet: bool, json: bool) -> None:
    """Let a run proceed, print its progress and its front, and close it; exit 3 if it was stopped."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    stopped, watch = False, Watch()
    try:
        watch.follow(started.proceed(), quiet)
    except KeyboardInterrupt:
        stopped = True
    except EngineLost:
        warn(f"the run is kept; continue it with: crypsis resume {started.folder}")
        raise
    front = started.front
    if not (quiet or stopped):
        watch.close(len(front.everything))
    if json:
        say_json({"run": str(started.folder), "finished": not stopped, **front_content(front)})
    else:
        if not (stopped or front.everything):
            warn(
                "the budget ended before a first solution was measured; give a larger one to `crypsis resume --budget`"
            )
        outline = front.outline(OUTLINE)
        show_front(front, outline)
        if len(outline) < len(front):
            say(f"{len(front) - len(outline)} more are between these: crypsis front {started.folder}")
        say()
        say(f"run folder: {started.folder} (internal; never publish it)")
        if stopped:
            say(f"stopped; continue with: crypsis resume {started.folder}")
        elif front.solutions:
            say(f"Next: crypsis show {started.folder}")
            say(f"      crypsis release {started.folder} -o release")
    started.close()
    if stopped:
        raise typer.Exit(STOPPED)


def _as_interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def free(folder: Path) -> Path:
    """The folder, or the first free name beside it."""
    candidate, number = folder, 2
    while candidate.exists():
        candidate = folder.with_name(f"{folder.name}-{number}")
        number += 1
    return candidate
