"""Output for people and programs: plain tables and JSON on stdout, progress and notes on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from crypsis.small_tables import cell_text

if TYPE_CHECKING:
    from crypsis.release import Verification
    from crypsis.run import Progress
    from crypsis.run.search_state import Found


def say(text: str = "") -> None:
    """Print a line on stdout."""
    typer.echo(text)


def warn(text: str) -> None:
    """Print a note on stderr, so that a pipe has results only."""
    typer.echo(f"note: {text}", err=True)


def say_json(content: Any) -> None:
    """Print plain data as JSON on stdout."""
    typer.echo(json.dumps(content, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def figure(value: float | None) -> str:
    """A number with four significant digits; JSON has all of them."""
    return cell_text(None if value is None else float(value))


def say_released(folder: Path, found: Verification) -> None:
    """Print where a release is, what each requirement attained over which columns, and k over all of them."""
    from crypsis.text import over_all_text, unknown_to_attackers_text

    say(f"released: {folder / 'public'} (may be published)")
    say(f"report to sign: {folder / 'internal' / 'report.html'} (internal; never publish it)")
    for v in found.verdicts:
        columns = ", ".join(v.columns)
        against = f", scenario {v.scenario}" if v.scenario else ""
        say(f"{v.model} over {columns}{against}: {v.attained:g} attained, {v.sense} {v.required:g} required — holds")
        if v.remark:
            say(f"   {v.remark}")
    say(over_all_text(found.smallest_class, found.family, [v.columns for v in found.verdicts]))
    if found.singled_out:
        say(found.singled_out)
    if found.assumed:
        say(unknown_to_attackers_text(found.assumed))
    for sentence in found.statements:
        say(sentence)
    say(f"signed with the key {found.signed_by}" if found.signed_by else "unsigned: sign it with --sign KEY")


@contextmanager
def show_spinner(what: str) -> Iterator[None]:
    """A spinner on a terminal, a plain line elsewhere; always on stderr."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(what):
            yield
    else:
        typer.echo(what, err=True)
        yield


# -- Progress of a run on stderr: a live line on a terminal, a plain one now and then elsewhere, nothing if quiet.

EVERY = 5.0
"""Seconds between plain lines."""
LONG_STILL, SHORT = 0.3, 10.0
"""A front that has not moved for this share of the time, which counts as at least so many seconds, stands still."""
BASELINES = ("baseline", "making")
"""Steps of a baseline: the last one, and those before it."""
WORTH_A_WORD = 0.5
"""Seconds of compiling, or beyond the budget, that are worth a word."""


class Watch:
    """The progress of a run so far, for the line that ends it."""

    def __init__(self) -> None:
        self._generations, self.seconds = dict[str, int](), 0.0
        self._compiling, self._beyond, self._still = 0.0, 0.0, 0.0

    def follow(self, steps: Iterable[Progress], quiet: bool) -> None:
        """Let a run proceed to its end and print its progress."""
        seen = map(self._note, steps)
        if quiet:
            for _ in seen:
                pass
        elif sys.stderr.isatty():
            _live(seen)
        else:
            _print_lines(seen)

    def close(self, solutions: int) -> None:
        """Print the last line; of a short run it may be the only one."""
        done = sum(self._generations.values())
        lines = [
            f"finished: {done} generation{'s'[: done != 1]}, {solutions} solution{'s'[: solutions != 1]} measured",
            f"{self._compiling:.1f} s of compiling not charged" if self._compiling >= WORTH_A_WORD else "",
            f"the budget was too small for a first solution: {self._beyond:.1f} s more" if self._late else "",
            f"nothing better in the last {self._still:.0f} s" if _is_long(self._still, self.seconds) else "",
        ]
        typer.echo(f"[{self.seconds:6.1f} s, 100 %] {'; '.join(filter(None, lines))}", err=True)

    @property
    def _late(self) -> bool:
        return self._beyond >= WORTH_A_WORD

    def _note(self, step: Progress) -> Progress:
        if step.what not in BASELINES:
            self._generations[step.title] = step.generation
        self.seconds = max(self.seconds, step.seconds)
        self._compiling = max(self._compiling, step.compiling)
        self._beyond = max(self._beyond, step.beyond)
        self._still = step.found.still if step.found.points else 0.0
        return step


def progress_text(step: Progress, rate: float) -> str:
    """'memetic: generation 12, 1480 evaluations (310/s); 24 points, loss from 8.2 %, risk from 0.4 %'."""
    if step.what in BASELINES:
        doing = f"baseline {step.title}"
    else:
        speed = f" ({rate:.0f}/s)" if rate > 0 else ""
        verb = "measuring its front" if step.what in ("measured", "measuring") else f"generation {step.generation}"
        counted = f"{step.evaluations} evaluation{'s'[: step.evaluations != 1]}"
        doing = f"{step.title}: {verb}, {counted}{speed}"
    return f"{doing}; {found_text(step.found, step.seconds)}"


def found_text(found: Found, seconds: float) -> str:
    """What a run has found so far, and for how long nothing has moved if that is long."""
    if not found.points:
        return "nothing to release yet"
    points = f"{found.points} point{'s'[: found.points != 1]}"
    text = f"{points}, loss from {found.loss:.3g} %, people found by the plan's intruder from {found.risk:.3g} %"
    return f"{text}, nothing better for {found.still:.0f} s" if _is_long(found.still, seconds) else text


def _is_long(still: float, seconds: float) -> bool:
    """Whether a front that has not moved for so long stands still, after so many seconds of a run."""
    return still >= LONG_STILL * max(seconds, SHORT)


class _Rate:
    """Evaluations per second of all searches together, since watching began."""

    def __init__(self) -> None:
        self._started, self._first, self._last = time.monotonic(), dict[str, int](), dict[str, int]()

    def update(self, step: Progress) -> float:
        if step.evaluations:
            self._first.setdefault(step.title, step.evaluations if step.generation else 0)
            self._last[step.title] = step.evaluations
        done = sum(self._last[title] - self._first[title] for title in self._last)
        return done / max(time.monotonic() - self._started, 1e-3)


def _print_lines(steps: Iterable[Progress]) -> None:
    last, rate = -EVERY, _Rate()
    for step in steps:
        speed = rate.update(step)
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
            bars.update(task, completed=step.used, description=progress_text(step, rate.update(step)))


def say_answers(out: Path) -> None:
    """Print what an analyst keeps, as the internal report of a release states it."""
    from json import loads

    from crypsis.text.cards import weighted_answers_texts

    card = loads((out / "internal" / "report.json").read_text(encoding="utf-8"))["card"] or {}
    for sentence in weighted_answers_texts(card):
        say(sentence)
    if card.get("analyses"):
        say(card["analyses"]["text"])
        for row in card["analyses"]["worst"]:
            say(f"  {row['text']}")
