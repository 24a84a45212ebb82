"""`crypsis compare`: two solutions of a run side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options
from crypsis.cli.output import figure, say, say_json, table, working

if TYPE_CHECKING:
    from crypsis.run import Solution


def compare(
    folder: options.RunFolder,
    first: Annotated[str, typer.Argument(help="a solution: a number, faithful, safest …", show_default=False)],
    second: Annotated[str, typer.Argument(help="another", show_default=False)],
    json: options.Json = False,
) -> None:
    """Compare two solutions of a run.

    Their figures, and what each does to every column.
    """
    from dataclasses import asdict

    from crypsis.run import Run
    from crypsis.text import column_text

    with Run.open(folder) as opened:
        pair = [opened.choose(first), opened.choose(second)]
        with working("decoding both"):
            described = [opened.describe(solution) for solution in pair]
    if json:
        both = [{**s.to_dict(), "description": asdict(d)} for s, d in zip(pair, described, strict=True)]
        say_json({"solutions": both})
        return
    head = ("", *(f"{s.number} ({s.title})" for s in pair), "better")
    names = list(dict.fromkeys(name for s in pair for name in s.evaluation.figures))
    rows = [(name, *(figure(s.figure(name)) for s in pair), _better(name, pair)) for name in names]
    rows.append(("may be released", *("yes" if s.feasible else "no" for s in pair), ""))
    say(table(head, rows, right=[1, 2]))
    say()
    both_columns = zip(described[0].columns, described[1].columns, strict=True)
    columns = [(a.name, column_text(a), column_text(b)) for a, b in both_columns]
    say(table(("column", str(pair[0].number), str(pair[1].number)), columns))


def _better(name: str, pair: Sequence[Solution]) -> str:
    a, b = (solution.figure(name) for solution in pair)
    if a is None or b is None or a == b:
        return ""
    lower = a < b
    return str(pair[0 if lower != (name == "k") else 1].number)
