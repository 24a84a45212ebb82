"""`crypsis release` and `crypsis verify`: publish what keeps its guarantee, and check it again later."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import inputs
from crypsis.cli.output import figure, say, say_json, table, working
from crypsis.errors import PlanError


def release(
    file: Annotated[Path, typer.Argument(help="the masked file", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="folder to write; must not exist", show_default=False)],
    require: Annotated[
        list[str] | None,
        typer.Option("--require", "-r", help="a privacy model that must hold, e.g. k-anonymity:k=5; may be repeated"),
    ] = None,
    original: Annotated[
        Path | None, typer.Option(help="the file before masking, same rows; for losses and risks", show_default=False)
    ] = None,
    quasi: inputs.Quasi = None,
    identifier: inputs.Identifier = None,
    confidential: inputs.Confidential = None,
    kind: inputs.Kinds = None,
    hierarchy: inputs.Hierarchies = None,
    plan: inputs.PlanFile = None,
    title: Annotated[str, typer.Option(help="title of the reports")] = "Protected microdata",
    method: Annotated[
        str, typer.Option(help="how the file was masked, in words, for both reports")
    ] = "The file was masked before it reached Crypsis.",
    family: Annotated[
        str, typer.Option(help="aggregation, recoding or perturbation; a perturbed file cannot rely on class sizes")
    ] = "unknown",
    format: Annotated[str, typer.Option(help="csv or parquet")] = "csv",
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="do not shuffle the rows (their order can betray people)")
    ] = False,
    json: inputs.Json = False,
) -> None:
    """Judge a masked file, write it aside, read it back, judge it again, then publish it at once."""
    from crypsis.release import Account, publish, verify
    from crypsis.table.aligning import read_aligned

    document = inputs.read_plan(plan)
    if format not in ("csv", "parquet"):
        raise PlanError(f"--format {format!r}: choose csv or parquet")
    roles = (quasi, identifier, confidential, kind, hierarchy)
    before = inputs.load(original, document, *roles) if original else None
    masked = read_aligned(before, file) if before is not None else inputs.load(file, document, *roles)
    with working("judging, writing, reading back, judging again"):
        publish(
            masked,
            out,
            models=inputs.requirements(require, document),
            original=before,
            account=Account(title=title, method=method, family=family),
            format="parquet" if format == "parquet" else "csv",
            order="kept" if keep_order else "shuffled",
        )
        checked = verify(out)
    if json:
        say_json({"release": str(out), "verdicts": [asdict(v) for v in checked.verdicts]})
        return
    say(f"released: {out / 'public'} (may be given away)")
    say(f"report to sign: {out / 'internal' / 'report.html'} (stays in the house)")
    for verdict in checked.verdicts:
        say(f"{verdict.model}: {verdict.attained:g} attained, {verdict.sense} {verdict.required:g} required — holds")


def verify(
    folder: Annotated[Path, typer.Argument(help="a release, or its public folder", show_default=False)],
    json: inputs.Json = False,
) -> None:
    """Re-read and re-judge a release from its files alone; exit 1 if anything is not as it was signed."""
    from crypsis.release import verify as verify_release

    with working(f"verifying {folder}"):
        found = verify_release(folder)
    if json:
        say_json(asdict(found) | {"sound": found.sound})
    else:
        rows = [
            (v.model, f"{v.sense} {figure(v.required)}", figure(v.attained), "holds" if v.holds else "FAILS")
            for v in found.verdicts
        ]
        say(table(("model", "required", "attained", "verdict"), rows, right=[2]))
        say()
        for problem in found.problems:
            say(f"✗ {problem}")
        say(f"{folder}: {'sound' if found.sound else 'NOT sound'}; {found.files} files checked")
    if not found.sound:
        raise typer.Exit(1)
