"""`crypsis run`: run the searches of a plan."""

from __future__ import annotations

import os
import signal
from contextlib import nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from crypsis.cli import options
from crypsis.cli.front import OUTLINE, front_content, show_front
from crypsis.cli.options import PlanEngine
from crypsis.cli.output import Watch, say, say_json, show_spinner, warn
from crypsis.errors import EngineLost, PlanError

if TYPE_CHECKING:
    from crypsis.run import Run
    from crypsis.run.clock import Moment

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


# -- When a command began: with its process, or now where it is called within another program.

OWN_PROCESS: ContextVar[bool] = ContextVar("OWN_PROCESS", default=False)
"""Whether the command line has its process for itself."""


def command_began() -> Moment:
    """When the running command was given: interpreter start, imports and reading are after it."""
    from crypsis.run.clock import Moment, command_start

    return command_start() if OWN_PROCESS.get() else Moment.now()


# -- `crypsis run`: run the searches of a plan.


def run(
    plan: options.PlanToRead,
    place: PlanEngine,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the run; must not exist. Default: beside the plan")
    ] = None,
    budget: options.Budget = None,
    seed: options.Seed = None,
    parent: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="an earlier run on the same data: begin with its solutions that still hold",
            show_default=False,
        ),
    ] = None,
    steering: Annotated[
        Path | None,
        typer.Option(help="what another run obeyed, as `crypsis steer --log` writes it", show_default=False),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Run the searches of a plan until the budget is used.

    The budget counts from the start of the command: reading, baselines and measuring are in it, compiling is not.
    Ctrl-C stops the run and keeps its front (exit 3); `crypsis resume` continues it.
    """
    began = command_began()
    from crypsis.plan import Plan, read_plan_budget
    from crypsis.run import Run
    from crypsis.run.steering import read_log
    from crypsis.run.warm_up import compile_ahead

    document = Plan.read(plan)
    compile_ahead()
    if budget is not None:
        try:
            read_plan_budget(budget)
        except ValueError as error:
            raise PlanError(f"--budget: {error}") from None
    folder = out or free(plan.with_name(f"{plan.stem}-run"))
    warn_if_large(plan.parent / document.data.source)
    with place.open_engine(document) as engine:
        with nullcontext() if quiet else show_spinner(f"reading {plan.parent / document.data.source}"):
            text = plan.read_text(encoding="utf-8")
            with nullcontext() if parent is None else Run.open(parent) as earlier:
                started = Run.start(
                    document, folder, engine,
                    home=plan.parent, text=text, seed=seed, budget=budget,
                    parent=earlier, steered_by=() if steering is None else read_log(steering),
                )  # fmt: skip
        started.began = began
        carry_out(started, quiet, json)


# -- `crypsis resume`: continue a run.


def resume(
    folder: options.RunFolder,
    place: PlanEngine,
    budget: options.Budget = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Continue a run.

    One that was stopped or killed, or, with a larger --budget, one that has ended.
    """
    began = command_began()
    from crypsis.run import Run

    with Run.open(folder) as opened:
        document = opened.plan
    with place.open_engine(document) as engine:
        continued = Run.resume(folder, engine, budget=budget)
        continued.began = began
        carry_out(continued, quiet, json)


def warn_if_large(path: Path) -> None:
    """Warn before a file is read that may not fit in memory, and name the alternative."""
    try:
        size, memory = path.stat().st_size, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):  # Windows does not say so
        return
    if size > memory / 4:
        warn(
            f"{path.name} may not fit in memory; `crypsis generalise` protects a table of any size without reading it "
            f"whole"
        )


def free(folder: Path) -> Path:
    """The folder, or the first free name beside it."""
    candidate, number = folder, 2
    while candidate.exists():
        candidate = folder.with_name(f"{folder.name}-{number}")
        number += 1
    return candidate
