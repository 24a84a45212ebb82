"""`crypsis check`: every problem of a plan at once, before it runs, or the JSON Schema of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options, rulebooks
from crypsis.cli.output import figure, say, say_json, show_spinner
from crypsis.errors import PlanError
from crypsis.small_tables import table

if TYPE_CHECKING:
    from crypsis.plan.checking import Check, Estimate
    from crypsis.rulebook import RuleResult


def check(
    plan: Annotated[Path | None, typer.Argument(help="the plan.toml", show_default=False)] = None,
    estimate: Annotated[bool, typer.Option(help="say how large the searches are")] = True,
    rulebook: options.RulebookName = None,
    waive: options.Waive = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="print the JSON Schema of a plan, for editors; needs no plan")
    ] = False,
    json: options.Json = False,
) -> None:
    """Report every problem of a plan before it runs.

    Looks at the plan, its data and its hierarchies together; says how large the searches are and how long a run takes.

    With a rulebook, also reports every rule that the plan breaks; exit 1 if one is broken and not waived.
    """
    from crypsis.plan.checking import check_before_run as check_plan
    from crypsis.plan.document import schema as plan_schema

    if schema:
        say_json(plan_schema())
        return
    if plan is None:
        raise PlanError(
            "no plan is given; write crypsis check plan.toml, or crypsis check --schema for its JSON Schema"
        )
    with show_spinner(f"checking {plan}"):
        found = check_plan(plan, estimate=estimate)
        rules = _rules(plan, rulebook, waive) if found.sound else []
    if json:
        say_json({**asdict(found), "sound": found.sound, "rules": [asdict(rule) for rule in rules]})
    else:
        _report(plan, found)
        if rules:
            say()
            say(rulebooks.results_text(rules))
    if not found.sound:
        raise typer.Exit(2)
    if any(not rule.holds and not rule.waived for rule in rules):
        raise typer.Exit(1)


def _rules(path: Path, name: str | None, waive: Sequence[str] | None) -> list[RuleResult]:
    """What a rulebook finds in the plan alone."""
    from crypsis.plan import Plan
    from crypsis.rulebook import check_planned
    from crypsis.table.attribute import UNPUBLISHED

    book = rulebooks.book_of(name)
    if book is None:
        return []
    plan = Plan.read(path)
    published = [name for name, column in plan.columns.items() if column.role not in UNPUBLISHED]
    return check_planned(
        book,
        models=plan.models(),
        columns=published,
        suppression=plan.suppression,
        order=plan.release.order,
        risk_limits={limit.measure: limit.at_most for limit in plan.limit},
        waivers=rulebooks.rule_waivers(waive),
    )


def _report(plan: Path, found: Check) -> None:
    for number, problem in enumerate(found.problems, 1):
        say(f"{number}. {problem}")
    for note in (*found.stops, *found.notes):
        say(f"note: {note}")
    if not found.sound:
        say(f"{plan}: {len(found.problems)} problem{'s' if len(found.problems) > 1 else ''}")
        return
    say(f"{plan}: sound; {found.rows} records{'; a search can start, and no release yet' if found.stops else ''}")
    if found.estimates:
        say()
        say(table(("search", "candidates", "memory"), [_row(each) for each in found.estimates], right=[1, 2]))
        say()
        if found.seconds is not None:
            say(f"The run takes {duration(found.seconds)}, its budget; --budget 10s shows a first front.")
        else:
            say("The budget counts generations or evaluations: how long they take depends on the machine.")
        say(f"Next: crypsis run {plan}")


def _row(estimate: Estimate) -> tuple[str, ...]:
    return (
        estimate.search,
        figure(estimate.candidates),
        f"about {estimate.megabytes:.0f} MB",
    )


def duration(seconds: float) -> str:
    """12 s, 3 min, 1.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
