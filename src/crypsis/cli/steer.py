"""`crypsis steer`: ask something of a run while it searches."""

from __future__ import annotations

import json as plain
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options
from crypsis.cli.output import say, say_json
from crypsis.errors import SearchError

if TYPE_CHECKING:
    from crypsis.run import Run
    from crypsis.run.steering import Entry

HOW = "drop SEARCH, restore SEARCH, focus loss 20-40 risk 0-10, focus none, more NUMBER or undo"


def steer(
    folder: options.RunFolder,
    asked: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WHAT]...", help=f"{HOW}; without it, what was asked", show_default=False),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option("--log", help="write what was obeyed to a file, for `crypsis run --steering`", show_default=False),
    ] = None,
    json: options.Json = False,
) -> None:
    """Ask something of a run while it searches.

    It is obeyed between two steps of every search and noted with the generation at which it was, so that the run stays
    repeatable. A run that is stopped obeys when it is resumed.
    """
    from crypsis.run import Run
    from crypsis.table.files import write_atomically

    with Run.open(folder) as opened:
        if asked:
            _ask(opened, asked)
        entries = opened.steering
        if log is not None:
            lines = [plain.dumps(entry.to_dict()) for entry in entries if entry.obeyed]
            write_atomically(log, "".join(f"{line}\n" for line in lines).encode())
            say(f"{len(lines)} entries written to {log}; repeat the run with: crypsis run PLAN --steering {log}")
        elif json:
            say_json({"entries": [entry.to_dict() for entry in entries], "in force": _list_in_force(opened, entries)})
        else:
            _show(opened, entries)


def _ask(run: Run, asked: Sequence[str]) -> None:
    """Put what was asked into the log."""
    match [*asked]:
        case ["drop" | "restore" as what, search]:
            run.steer(what, search=search)
        case ["focus", "none"]:
            run.steer("focus")
        case ["focus", *sides] if sides and len(sides) % 2 == 0 and {*sides[::2]} <= {"loss", "risk"}:
            box = {axis: _read_range(axis, text) for axis, text in zip(sides[::2], sides[1::2], strict=True)}
            run.steer("focus", loss=box.get("loss"), risk=box.get("risk"))
        case ["more", number] if number.isdecimal():
            run.steer("more", solution=int(number))
        case ["undo"]:
            run.steer("undo")
        case _:
            raise SearchError(f"{' '.join(asked)!r} cannot be asked of a run; write {HOW}")


def _read_range(axis: str, text: str) -> tuple[float, float]:
    low, dash, high = text.partition("-")
    try:
        return (float(low), float(high)) if dash else (0.0, float(text))
    except ValueError:
        raise SearchError(f"{axis} {text}: write two numbers in per cent with a dash between, such as 20-40") from None


def _show(run: Run, entries: Sequence[Entry]) -> None:
    """What was asked, when it was obeyed, and what is in force."""
    from crypsis.run.steering import entry_text, obeyed_text

    names = [each.name for each in run.plan.search]
    if not entries:
        say(f"nothing was asked of this run yet; ask with: crypsis steer {run.folder} focus loss 0-20 risk 0-10")
        return
    for entry in entries:
        say(f"{entry.number}. {entry_text(entry, names)}: {obeyed_text(entry, names)}")
    say()
    in_force = _list_in_force(run, entries)
    say(f"in force: {'; '.join(in_force) if in_force else 'nothing, the search is free'}")


def _list_in_force(run: Run, entries: Sequence[Entry]) -> list[str]:
    from crypsis.run.steering import entry_text, fold_entries

    names = [each.name for each in run.plan.search]
    return [entry_text(entry, names) for entry in fold_entries(entries).entries]
