"""Output for people and programs: plain tables and JSON on stdout, progress and notes on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from crypsis.release import Verification


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


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Aligned columns of plain text; `right` lists the columns of numbers."""
    from rich.cells import cell_len

    cells = [list(headers), *([str(cell) for cell in row] for row in rows)]
    widths = [max(cell_len(row[place]) for row in cells) for place in range(len(headers))]
    flush = set(right)

    def line(row: Sequence[str]) -> str:
        padded = [
            " " * (width - cell_len(cell)) + cell if place in flush else cell + " " * (width - cell_len(cell))
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    rule = "  ".join("─" * width for width in widths)
    return "\n".join([line(cells[0]), rule, *(line(row) for row in cells[1:])])


def figure(value: float | None) -> str:
    """A number with four significant digits; JSON has all of them."""
    if value is None:
        return "–"
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e9 else f"{value:.4g}"


def say_released(folder: Path, found: Verification) -> None:
    """Print where a release is, what each requirement attained over which columns, and k over all of them."""
    from crypsis.text import over_all_text, unknown_text

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
        say(unknown_text(found.assumed))
    for sentence in found.statements:
        say(sentence)
    say(f"signed with the key {found.signed_by}" if found.signed_by else "unsigned: sign it with --sign KEY")


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner on a terminal, a plain line elsewhere; always on stderr."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(what):
            yield
    else:
        typer.echo(what, err=True)
        yield
