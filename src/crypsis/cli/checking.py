"""`crypsis check` and `crypsis schema`: everything wrong with a plan at once, before anything runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import inputs
from crypsis.cli.output import figure, say, say_json, table, working

if TYPE_CHECKING:
    from crypsis.plan.checking import Check, Estimate


def check(
    plan: Annotated[Path, typer.Argument(help="the plan.toml to check", show_default=False)],
    estimate: Annotated[bool, typer.Option(help="measure what the run will take")] = True,
    json: inputs.Json = False,
) -> None:
    """Report every problem of a plan, its data and its hierarchies together, and what a run would take."""
    from crypsis.plan.checking import check as check_plan

    with working(f"checking {plan}"):
        found = check_plan(plan, estimate=estimate)
    if json:
        say_json({**asdict(found), "sound": found.sound})
    else:
        _tell(plan, found)
    if not found.sound:
        raise typer.Exit(2)


def _tell(plan: Path, found: Check) -> None:
    for number, problem in enumerate(found.problems, 1):
        say(f"{number}. {problem}")
    for note in found.notes:
        say(f"note: {note}")
    if not found.sound:
        say(f"{plan}: {len(found.problems)} problem{'s' if len(found.problems) > 1 else ''}")
        return
    say(f"{plan}: sound; {found.rows} records")
    if found.estimates:
        say()
        head = ("search", "candidates", "evaluations", "time", "memory")
        say(table(head, [_row(each) for each in found.estimates], right=[1, 2, 3, 4]))
        say()
        say(f"Next: crypsis run {plan}")


def _row(estimate: Estimate) -> tuple[str, ...]:
    return (
        estimate.search,
        figure(estimate.candidates),
        f"about {estimate.evaluations:.0f}",
        f"about {duration(estimate.seconds)}",
        f"about {max(estimate.megabytes, 1):.0f} MB",
    )


def duration(seconds: float) -> str:
    """12 s, 3 min, 1.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def schema() -> None:
    """Print the JSON Schema of a plan, for editors that complete and check while one types."""
    from crypsis.plan.schema import schema as plan_schema

    say_json(plan_schema())
