"""`crypsis show`: one solution of a run in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options
from crypsis.cli.output import figure, say, say_json, table, working

if TYPE_CHECKING:
    from crypsis.run import Solution


def show(
    folder: options.RunFolder,
    pick: Annotated[str, typer.Argument(help=options.PICKS)] = options.DEFAULT_PICK,
    json: options.Json = False,
) -> None:
    """Describe one solution in words.

    What happens to each column, its figures, class sizes, and which records bear the loss.
    """
    from dataclasses import asdict

    from crypsis.run import Run
    from crypsis.text import burden_text, class_size_text, column_text, ruin_text

    with Run.open(folder) as opened:
        solution = opened.choose(pick)
        with working(f"decoding solution {solution.number}"):
            description = opened.describe(solution)
        ruins = opened.front.ruins(solution)
    if json:
        say_json({**solution.to_dict(), "ruins": [asdict(ruin) for ruin in ruins], "description": asdict(description)})
        return
    say(f"solution {solution.number}, by {solution.title} ({solution.family})")
    say(solution.message)
    say()
    columns = [(column.name, figure(column.loss), column_text(column)) for column in description.columns]
    say(table(("column", "loss, %", "what happened"), columns, right=[1]))
    say()
    _show_figures(solution)
    if description.classes:
        sizes = ", ".join(f"{class_size_text(count)}: {count.classes}" for count in description.classes)
        say(f"equivalence classes by size (records in a class: how many classes): {sizes}")
    if description.suppressed:
        say(f"{description.suppressed} records are suppressed")
    for sentence in burden_text(description):
        say(sentence)
    say()
    if ruins:
        say(f"{ruin_text(ruins)}")
    for complaint in solution.complaints:
        say(f"may not be released: {complaint}")
    if solution.feasible:
        say(f"may be released: crypsis release {folder} --pick {solution.number} -o release")


def _show_figures(solution: Solution) -> None:
    from crypsis.text import omission_text

    evaluation = solution.evaluation
    for name, value in evaluation.figures.items():
        if value is None:
            say(f"{name}: not given ({omission_text(evaluation.omissions.get(name))})")
            continue
        span = evaluation.intervals.get(name)
        interval = f", 95 % interval {figure(span[0])} to {figure(span[1])}" if span else ""
        guess = f", blind guessing {figure(evaluation.baselines[name])}" if name in evaluation.baselines else ""
        say(f"{name}: {figure(value)}{interval}{guess}")
    for note in evaluation.notes:
        say(f"note: {note}")
