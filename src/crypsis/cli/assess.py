"""`crypsis assess`: loss and risk of a file that any tool masked."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options
from crypsis.cli.options import Roles
from crypsis.cli.output import figure, say, say_json, show_spinner, warn
from crypsis.errors import TableError
from crypsis.small_tables import table

if TYPE_CHECKING:
    from crypsis.privacy.model import PrivacyModel, Verdict
    from crypsis.table.table import Table


def assess(
    original: Annotated[Path, typer.Argument(help="the file before masking", show_default=False)],
    masked: Annotated[Path, typer.Argument(help="the same rows after masking, by any tool", show_default=False)],
    columns: Roles,
    require: options.Requirements = None,
    family: Annotated[
        str,
        typer.Option(help="how it was masked: aggregation, recoding or perturbation; decides which measures apply"),
    ] = "aggregation",
    definitions: options.Definitions = False,
    json: options.Json = False,
) -> None:
    """Measure loss and risk of a masked file.

    Row i of the masked file is row i of the original, unless a column identifies the rows; exit 1 if a required
    privacy model fails.
    """
    from crypsis.measures import assess as assess_tables
    from crypsis.measures.assess import NOT_IN_PLACE, assessed_rows_correspond
    from crypsis.privacy.anonymity import smallest_anonymity_class
    from crypsis.table.aligning import read_aligned
    from crypsis.table.equivalence_classes import count_class_readings
    from crypsis.text import over_all_text, readings_text

    document = options.read_plan(columns.plan)
    before = columns.read(original)
    if not before.quasi_identifiers:
        before = _suggest_roles(before)
    after = read_aligned(before, masked)
    demands = options.requirements(require, document)
    with show_spinner(f"measuring {len(before)} records"):
        corresponding = assessed_rows_correspond(before, after)
        assessment = assess_tables(before, after, family=family, corresponding=corresponding)
        verdicts, smallest = _judge(demands, after, before if corresponding else None), smallest_anonymity_class(after)
    if json:
        say_json(
            {
                "corresponding": corresponding,
                **assessment.to_dict(),
                "verdicts": [asdict(v) for v in verdicts],
                "smallest_class": smallest and asdict(smallest),
            }
        )
        return
    say(f"{masked} against {original}: {len(before)} records, columns {', '.join(before.quasi_identifiers)}")
    if not corresponding:
        warn(f"{NOT_IN_PLACE}. Only measures of the files as wholes are given")
    say()
    rows: list[tuple[Any, ...]] = [
        (r.aim, r.measure, figure(r.value), r.unit, _span(r.interval), figure(r.baseline)) for r in assessment.readings
    ]
    say(table(("", "measure", "value", "unit", "95 % interval", "baseline"), rows, right=[2, 4, 5]))
    say()
    say(
        f"score: mean of loss and risk {figure(assessment.mean_score)}, worse of the two {figure(assessment.max_score)}"
    )
    for verdict in verdicts:
        say(f"{verdict.model}: {'holds' if verdict.holds else 'FAILS'} — {_format_attained(verdict)}")
    say(over_all_text(smallest, family))
    readings = count_class_readings(after, before.quasi_identifiers, before if corresponding else None)
    if readings:
        say(f"note: {readings_text(readings)}")
    for warning in [f"{r.measure}: {r.warning}" for r in assessment.readings if r.warning]:
        say(f"note: {warning}")
    if definitions:
        for r in assessment.readings:
            say(f"\n{r.measure}: {r.definition} {r.missing} {r.better.capitalize()} is better.")
    if any(not verdict.holds for verdict in verdicts):
        raise typer.Exit(1)


def _suggest_roles(table: Table) -> Table:
    """Roles as the profile suggests them, where none are given."""
    from crypsis.table.attribute import Role
    from crypsis.table.profile import profile

    roles = {column.name: Role(column.role) for column in profile(table).columns}
    settled = table.with_roles(roles)
    if not settled.quasi_identifiers:
        raise TableError(
            "no quasi-identifier is named and the profile suggests none; name them with --quasi age,region"
        )
    warn(f"quasi-identifiers as the profile suggests: {', '.join(settled.quasi_identifiers)} (name them with --quasi)")
    return settled


def _judge(demands: list[PrivacyModel], table: Table, original: Table | None) -> list[Verdict]:
    """The verdicts; true values are known where the rows correspond."""
    if original is not None:
        demands = [demand.bind_original(original) for demand in demands]
    for demand in demands:
        obstacle = demand.obstacle(table)
        if obstacle:
            raise TableError(obstacle)
    return [demand.judge(table) for demand in demands]


def _format_attained(verdict: Verdict) -> str:
    return (
        f"{verdict.sense} {verdict.required:g} required over {', '.join(verdict.columns)}, {verdict.attained:g} "
        f"attained, {verdict.offending} of {verdict.records} records offend"
        f"{f' ({verdict.remark})' if verdict.remark else ''}"
    )


def _span(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{figure(interval[0])} – {figure(interval[1])}"
