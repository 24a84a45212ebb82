"""`crypsis check`: everything wrong with a plan at once, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import inputs, rulebooks
from crypsis.cli.output import figure, say, say_json, table, working

if TYPE_CHECKING:
    from crypsis.plan.checking import Check, Estimate
    from crypsis.rulebook import RuleResult


def check(
    plan: Annotated[Path, typer.Argument(help="the plan.toml to check", show_default=False)],
    estimate: Annotated[bool, typer.Option(help="measure what the run will take")] = True,
    rulebook: rulebooks.BookName = None,
    waive: rulebooks.Waive = None,
    json: inputs.Json = False,
) -> None:
    """Report every problem of a plan, its data and its hierarchies together, and what a run would take.

    With a rulebook, also every rule the plan alone can break; exit 1 when one is broken and not waived.
    """
    from crypsis.plan.checking import check as check_plan

    with working(f"checking {plan}"):
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
    """What a rulebook says of the plan before anything has run."""
    from crypsis.plan import Plan
    from crypsis.rulebook import check_planned
    from crypsis.table.attribute import Role

    book = rulebooks.book_of(name)
    if book is None:
        return []
    plan = Plan.read(path)
    published = [name for name, column in plan.columns.items() if column.role is not Role.IDENTIFIER]
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
