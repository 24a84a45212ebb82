"""`crypsis run`, `resume`, `front`, `show`, `compare`: from a plan to a front, and what stands on it."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from crypsis.cli import inputs
from crypsis.cli.generalise import warn_if_large
from crypsis.cli.output import figure, say, say_json, table, warn, working
from crypsis.cli.progress import Watch
from crypsis.errors import EngineLost

if TYPE_CHECKING:
    from crypsis.plan import Plan
    from crypsis.run import Front, Run, Solution

RunFolder = Annotated[Path, typer.Argument(help="folder of a run", show_default=False)]
BudgetText = Annotated[
    str | None,
    typer.Option(help="60s or 10m in all; 500 evaluations or 50 generations for each search", show_default=False),
]
EngineName = Annotated[
    str | None, typer.Option("--engine", help="serial, processes or dask; default: the plan's", show_default=False)
]
Workers = Annotated[int | None, typer.Option(min=0, help="worker processes; 0: one per core", show_default=False)]
Scheduler = Annotated[str | None, typer.Option(help="address of a Dask scheduler", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no progress")]

STOPPED = 3
OUTLINE = 12
"""Solutions listed at the end of a run; `crypsis front` lists them all."""


def run(
    plan: Annotated[Path, typer.Argument(help="the plan.toml to carry out", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the run; must not exist. Default: beside the plan")
    ] = None,
    budget: BudgetText = None,
    engine: EngineName = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="for a repeatable run; keep it secret", show_default=False)
    ] = None,
    quiet: Quiet = False,
    json: inputs.Json = False,
) -> None:
    """Carry out a plan: baselines, then the searches until the budget is used. Ctrl-C keeps the front (exit 3)."""
    from crypsis.plan import Plan, read_budget
    from crypsis.run import Run

    document = Plan.read(plan)
    if budget is not None:
        _refuse_bad(read_budget, budget)
    folder = out or free(plan.with_name(f"{plan.stem}-run"))
    warn_if_large(plan.parent / document.data.source)
    with _engine(document, engine, workers, scheduler) as place:
        with nullcontext() if quiet else working(f"reading {plan.parent / document.data.source}"):
            text = plan.read_text(encoding="utf-8")
            started = Run.start(document, folder, place, home=plan.parent, text=text, seed=seed, budget=budget)
        _carry_out(started, quiet, json)


def resume(
    folder: RunFolder,
    budget: BudgetText = None,
    engine: EngineName = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    json: inputs.Json = False,
) -> None:
    """Go on with a run that was stopped or killed; with a larger --budget, with one that had ended."""
    from crypsis.run import Run

    document = Run.open(folder).plan
    with _engine(document, engine, workers, scheduler) as place:
        _carry_out(Run.resume(folder, place, budget=budget), quiet, json)


def _carry_out(started: Run, quiet: bool, json: bool) -> None:
    signal.signal(signal.SIGTERM, _as_interrupt)
    stopped, watch = False, Watch()
    try:
        watch.follow(started.proceed(), quiet)
    except KeyboardInterrupt:
        stopped = True
    except EngineLost:
        warn(f"the run is kept; go on with: crypsis resume {started.folder}")
        raise
    front = started.front
    if not (quiet or stopped):
        watch.close(len(front.everything))
    if json:
        say_json({"run": str(started.folder), "finished": not stopped, **front_content(front)})
    else:
        outline = front.outline(OUTLINE)
        show_front(front, outline)
        if len(outline) < len(front):
            say(f"{len(front) - len(outline)} more lie between these: crypsis front {started.folder}")
        say()
        say(f"run folder: {started.folder} (stays in the house)")
        if stopped:
            say(f"stopped; go on with: crypsis resume {started.folder}")
        elif front.solutions:
            say(f"Next: crypsis show {started.folder} knee")
            say(f"      crypsis release {started.folder} --pick knee -o release")
    started.close()
    if stopped:
        raise typer.Exit(STOPPED)


def _as_interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


@contextmanager
def _engine(document: Plan, name: str | None, workers: int | None, scheduler: str | None) -> Iterator[Any]:
    from crypsis.engines import engine

    chosen = document.run
    with engine(
        name or ("dask" if scheduler else chosen.engine),
        chosen.workers if workers is None else workers,
        scheduler or chosen.scheduler,
    ) as place:
        yield place


def _refuse_bad(read: Any, budget: str) -> None:
    from crypsis.errors import PlanError

    try:
        read(budget)
    except ValueError as error:
        raise PlanError(f"--budget: {error}") from None


def free(folder: Path) -> Path:
    """The folder, or the first free name beside it."""
    candidate, number = folder, 2
    while candidate.exists():
        candidate = folder.with_name(f"{folder.name}-{number}")
        number += 1
    return candidate


# -- looking --


def front(
    folder: RunFolder,
    where: Annotated[
        str | None, typer.Option(help='a condition on figures, e.g. "k >= 5 and loss < 20"', show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="every measured solution, releasable or not")] = False,
    json: inputs.Json = False,
) -> None:
    """The front of a run: what may be released and nothing else beats, with the baselines beside it."""
    from crypsis.run import Run

    found = Run.open(folder).front
    chosen = found.everything if everything else found.solutions
    if where:
        chosen = found.where(where, chosen)
    if json:
        say_json(front_content(found, chosen))
        return
    show_front(found, chosen)


def front_content(found: Front, chosen: Sequence[Solution] | None = None) -> dict[str, Any]:
    """A front for a program."""
    listed = found.solutions if chosen is None else chosen
    return {
        "axes": list(found.axes),
        "knee": found.knee().number if found.solutions else None,
        "front": [solution.to_dict() for solution in listed],
        "baselines": [solution.to_dict() for solution in found.baselines],
        "measured": len(found.everything),
    }


def show_front(found: Front, chosen: Sequence[Solution]) -> None:
    axes = [name for name in ("loss", "risk", "uses") if name in found.axes]
    head = ("no.", "method", "family", *axes, "k", "suppressed", "", "in words")
    knee = found.knee().number if found.solutions else None
    if chosen:
        say(table(head, [_line(s, axes, knee) for s in chosen], right=[0, *range(3, 5 + len(axes))]))
    else:
        say("no solution that may be released" + ("" if found.everything else " was measured yet"))
    listed = {solution.number for solution in chosen}
    beside = [solution for solution in found.baselines if solution.number not in listed]
    if beside:
        say()
        say("baselines")
        say(table(head, [_line(s, axes, None) for s in beside], right=[0, *range(3, 5 + len(axes))]))
    for own, winner in found.beaten if listed else ():
        figures = ", ".join(f"{axis} {figure(own.figure(axis))}" for axis in axes)
        say(f"not on the front: {own.title} (e.g. no. {own.number}: {figures}; no. {winner.number} is better)")
    lost = [solution for solution in found.out_of_reach if solution.number not in listed]
    if lost:
        say()
        say(
            f"{len(lost)} more solution{'s'[: len(lost) != 1]} would be on the front but may not be released "
            f"(e.g. {lost[0].measured.complaints[0]}); see them with --all"
        )


def _line(solution: Solution, axes: Sequence[str], knee: int | None) -> tuple[str, ...]:
    standing = "knee" if solution.number == knee else "" if solution.feasible else "not releasable"
    words = solution.words if len(solution.words) <= 70 else f"{solution.words[:69]}…"
    return (
        str(solution.number),
        solution.title,
        solution.family if not (solution.baseline and solution.title == "untouched") else "none",
        *(figure(solution.figure(axis)) for axis in axes),
        figure(solution.figure("k")),
        figure(solution.figure("suppressed")),
        standing,
        words,
    )


def show(
    folder: RunFolder,
    pick: Annotated[str, typer.Argument(help='a number, knee, best, or "best where risk < 5"')] = "knee",
    json: inputs.Json = False,
) -> None:
    """One solution in plain words: what happened to each column, smallest groups, who was hard to protect."""
    from dataclasses import asdict

    from crypsis.run import Run
    from crypsis.run.description import tell

    opened = Run.open(folder)
    solution = opened.pick(pick)
    with working(f"decoding solution {solution.number}"):
        story = tell(opened.original, opened.table(solution), solution.family)
    if json:
        say_json({**solution.to_dict(), "story": asdict(story)})
        return
    say(f"solution {solution.number}, by {solution.title} ({solution.family})")
    say(solution.words)
    say()
    columns = [(column.name, figure(column.loss), column.words) for column in story.columns]
    say(table(("column", "loss, %", "what happened"), columns, right=[1]))
    say()
    _show_figures(solution)
    if story.classes:
        groups = ", ".join(f"{size}: {count}" for size, count in story.classes.items())
        say(f"groups by size (records in a group: how many groups): {groups}")
    if story.suppressed:
        say(f"{story.suppressed} records are left out")
    for sentence in story.hardest:
        say(sentence)
    say()
    for complaint in solution.measured.complaints:
        say(f"may not be released: {complaint}")
    if solution.feasible:
        say(f"may be released: crypsis release {folder} --pick {solution.number} -o release")


def _show_figures(solution: Solution) -> None:
    measured = solution.measured
    for name, value in measured.figures.items():
        if value is None:
            say(f"{name}: not given ({measured.unsaid.get(name, 'a part of it cannot be read')})")
            continue
        span = measured.intervals.get(name)
        interval = f", 95 % interval {figure(span[0])} to {figure(span[1])}" if span else ""
        guess = f", blind guessing {figure(measured.guessing[name])}" if name in measured.guessing else ""
        say(f"{name}: {figure(value)}{interval}{guess}")
    for note in measured.notes:
        say(f"note: {note}")


def compare(
    folder: RunFolder,
    first: Annotated[str, typer.Argument(help="a solution: number, knee, best …", show_default=False)],
    second: Annotated[str, typer.Argument(help="another", show_default=False)],
    json: inputs.Json = False,
) -> None:
    """Two solutions side by side: figures, and what each does to every column."""
    from dataclasses import asdict

    from crypsis.run import Run
    from crypsis.run.description import tell

    opened = Run.open(folder)
    pair = [opened.pick(first), opened.pick(second)]
    with working("decoding both"):
        stories = [tell(opened.original, opened.table(solution), solution.family) for solution in pair]
    if json:
        both = [{**s.to_dict(), "story": asdict(t)} for s, t in zip(pair, stories, strict=True)]
        say_json({"solutions": both})
        return
    head = ("", *(f"{s.number} ({s.title})" for s in pair), "better")
    names = list(dict.fromkeys(name for s in pair for name in s.measured.figures))
    rows = [(name, *(figure(s.figure(name)) for s in pair), _better(name, pair)) for name in names]
    rows.append(("may be released", *("yes" if s.feasible else "no" for s in pair), ""))
    say(table(head, rows, right=[1, 2]))
    say()
    columns = [(a.name, a.words, b.words) for a, b in zip(stories[0].columns, stories[1].columns, strict=True)]
    say(table(("column", str(pair[0].number), str(pair[1].number)), columns))


def _better(name: str, pair: Sequence[Solution]) -> str:
    a, b = (solution.figure(name) for solution in pair)
    if a is None or b is None or a == b:
        return ""
    lower = a < b
    return str(pair[0 if lower != (name == "k") else 1].number)
