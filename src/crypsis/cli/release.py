"""`crypsis release`: publish a masked file, or a solution of a run, once its guarantees hold in the written bytes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import inputs, options, rulebooks
from crypsis.cli.output import say, say_json, say_released, working
from crypsis.errors import PlanError

if TYPE_CHECKING:
    from crypsis.release import Limit, Verification


def release(
    file: Annotated[Path, typer.Argument(help="the masked file, or the folder of a run", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="folder to write; must not exist", show_default=False)],
    pick: Annotated[
        str, typer.Option(help='which solution of a run: a number, knee, best, or "best where risk < 5"')
    ] = "knee",
    require: options.Requirements = None,
    original: Annotated[
        Path | None, typer.Option(help="the file before masking, same rows; for losses and risks", show_default=False)
    ] = None,
    quasi: options.Quasi = None,
    identifier: options.Identifier = None,
    confidential: options.Confidential = None,
    kind: options.Kinds = None,
    hierarchy: options.Hierarchies = None,
    plan: options.PlanFile = None,
    title: options.Title = "Protected microdata",
    method: Annotated[
        str, typer.Option(help="how the file was masked, in a sentence for both reports")
    ] = "The file was masked before it reached Crypsis.",
    family: Annotated[
        str, typer.Option(help="aggregation, recoding or perturbation; a perturbed file cannot rely on class sizes")
    ] = "unknown",
    format: Annotated[str, typer.Option(help="csv or parquet")] = "csv",
    keep_order: options.KeepOrder = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="MEASURE=LARGEST reading allowed, e.g. record-linkage=5; may be repeated", show_default=False
        ),
    ] = None,
    rulebook: options.RulebookName = None,
    waive: options.Waive = None,
    sign: options.Sign = None,
    json: options.Json = False,
) -> None:
    """Publish a masked file, or a solution of a run.

    The file is judged, written to a temporary folder, read back and judged again, and then renamed atomically; it is
    published whole or not at all (exit 1).
    """
    from crypsis.release import Account, publish, verify
    from crypsis.table.aligning import read_aligned

    if file.is_dir():
        _release_from_run(file, pick, out, title, rulebook, waive, sign, json)
        return
    document = inputs.read_plan(plan)
    if format not in ("csv", "parquet"):
        raise PlanError(f"--format {format!r}: choose csv or parquet")
    roles = (quasi, identifier, confidential, kind, hierarchy)
    before = inputs.load(original, plan, *roles) if original else None
    masked = read_aligned(before, file) if before is not None else inputs.load(file, plan, *roles, masked=True)
    with working("judging, writing, reading back, judging again"):
        publish(
            masked,
            out,
            models=inputs.requirements(require, document),
            original=before,
            account=Account(title=title, method=method, family=family),
            format="parquet" if format == "parquet" else "csv",
            order="kept" if keep_order else "shuffled",
            limits=_limits(limit),
            rulebook=rulebooks.book_of(rulebook),
            waivers={**(document.waivers() if document else {}), **rulebooks.waivers_of(waive)},
            sign=sign,
        )
        checked = verify(out)
    _report_released(out, checked, json)


def _limits(texts: list[str] | None) -> list[Limit]:
    """['record-linkage=5'] → limits on registered measures."""
    from crypsis.measures import measures
    from crypsis.release import Limit

    limits = []
    for name, text in inputs.pairs(texts, "--limit").items():
        try:
            limits.append(Limit(measures.build(name), float(text), name))
        except ValueError:
            raise PlanError(f"--limit {name}={text}: {text!r} is not a number; write e.g. {name}=5") from None
    return limits


def _release_from_run(
    folder: Path,
    pick: str,
    out: Path,
    title: str,
    rulebook: str | None,
    waive: list[str] | None,
    sign: Path | None,
    json: bool,
) -> None:
    """Release a solution of a run under all demands of its plan."""
    from crypsis.release import verify
    from crypsis.run import Run

    with working("decoding, judging, writing, reading back, judging again"):
        with Run.open(folder) as opened:
            book = rulebooks.book_of(rulebook)
            waivers = {**opened.plan.waivers(), **rulebooks.waivers_of(waive)}
            solution = opened.release(pick, out, title=title, rulebook=book, waivers=waivers, sign=sign)
        checked = verify(out)
    if not json:
        say(f"solution {solution.number} of {folder}: {solution.message}")
    _report_released(out, checked, json)


def _report_released(out: Path, checked: Verification, json: bool) -> None:
    if json:
        smallest = checked.smallest_class and asdict(checked.smallest_class)
        verdicts = [asdict(v) for v in checked.verdicts]
        say_json({"release": str(out), "verdicts": verdicts, "smallest_class": smallest})
        return
    say_released(out, checked)
