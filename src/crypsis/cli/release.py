"""`crypsis release`, `verify`, `report`: publish what keeps its guarantee, check it again later, find its reports."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import inputs, rulebooks
from crypsis.cli.output import figure, say, say_json, table, tell_verdicts, working
from crypsis.errors import PlanError

if TYPE_CHECKING:
    from crypsis.release import Limit, Verification


def release(
    file: Annotated[Path, typer.Argument(help="the masked file, or the folder of a run", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="folder to write; must not exist", show_default=False)],
    pick: Annotated[
        str, typer.Option(help='which solution of a run: a number, knee, best, or "best where risk < 5"')
    ] = "knee",
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
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="MEASURE=LARGEST reading allowed, e.g. record-linkage=5; may be repeated", show_default=False
        ),
    ] = None,
    rulebook: rulebooks.BookName = None,
    waive: rulebooks.Waive = None,
    json: inputs.Json = False,
) -> None:
    """Judge a masked file, write it aside, read it back, judge it again, then publish it at once."""
    from crypsis.release import Account, publish, verify
    from crypsis.table.aligning import read_aligned

    if file.is_dir():
        _release_from_run(file, pick, out, title, rulebook, waive, json)
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
    folder: Path, pick: str, out: Path, title: str, rulebook: str | None, waive: list[str] | None, json: bool
) -> None:
    """A solution of a run, under everything its plan demands."""
    from crypsis.release import verify
    from crypsis.run import Run

    with working("decoding, judging, writing, reading back, judging again"):
        with Run.open(folder) as opened:
            book = rulebooks.book_of(rulebook)
            waivers = {**opened.plan.waivers(), **rulebooks.waivers_of(waive)}
            solution = opened.release(pick, out, title=title, rulebook=book, waivers=waivers)
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
    say(f"released: {out / 'public'} (may be published)")
    say(f"report to sign: {out / 'internal' / 'report.html'} (internal; never publish it)")
    tell_verdicts(checked)


def verify(
    folder: Annotated[Path, typer.Argument(help="a release, or its public folder", show_default=False)],
    rulebook: rulebooks.BookName = None,
    waive: rulebooks.Waive = None,
    json: inputs.Json = False,
) -> None:
    """Re-read and re-judge a release from its files alone; exit 1 if anything is not as it was signed."""
    from crypsis.release import check_release
    from crypsis.release import verify as verify_release
    from crypsis.rulebook import refusals

    book = rulebooks.book_of(rulebook)
    if waive and book is None:
        raise PlanError("--waive needs --rulebook: name the rulebook the rule stands in")
    with working(f"verifying {folder}"):
        found = verify_release(folder)
        rules = check_release(folder, book, rulebooks.rule_waivers(waive)) if book else []
    broken = refusals(rules)
    if json:
        say_json({**asdict(found), "sound": found.sound, "rules": [asdict(r) for r in rules], "rules_kept": not broken})
    else:
        _report_verified(folder, found)
        if book:
            say()
            say(f"rulebook {book.name}: {book.title}")
            say(rulebooks.results_text(rules))
            say(f"{folder}: rules {'kept' if not broken else 'BROKEN'}")
    if not found.sound or broken:
        raise typer.Exit(1)


def _report_verified(folder: Path, found: Verification) -> None:
    from crypsis.text import over_all_text

    if found.verdicts:
        rows = [
            (
                v.model,
                ", ".join(v.columns),
                f"{v.sense} {figure(v.required)}",
                figure(v.attained),
                "holds" if v.holds else "FAILS",
            )
            for v in found.verdicts
        ]
        say(table(("model", "over", "required", "attained", "verdict"), rows, right=[3]))
        say()
    say(over_all_text(found.smallest_class, found.family))
    for problem in found.problems:
        say(f"✗ {problem}")
    for note in found.notes:
        say(f"note: {note}")
    say(f"{folder}: {'sound' if found.sound else 'NOT sound'}; {found.files} files checked")


def report(
    folder: Annotated[Path, typer.Argument(help="a release", show_default=False)],
    json: inputs.Json = False,
) -> None:
    """Say where the two reports of a release lie, and who may see which."""
    from crypsis.release import verify as verify_release

    sound = verify_release(folder).sound
    public = folder / "public" if (folder / "public").is_dir() else folder
    places = {
        "internal": folder / "internal" / "report.html",
        "internal_json": folder / "internal" / "report.json",
        "external": public / "report.html",
        "external_json": public / "report.json",
    }
    found = {name: str(path) for name, path in places.items() if path.is_file()}
    if json:
        say_json({**found, "sound": sound})
        return
    words = {"internal": "to sign; internal, never published", "external": "published with the data"}
    rows = [(name.replace("_json", ", for programs"), path, words[name.split("_")[0]]) for name, path in found.items()]
    say(table(("report", "file", "for"), rows))
    say(f"{folder}: {'sound' if sound else 'NOT sound; see crypsis verify'}")


def diff_release(
    old: Annotated[Path, typer.Argument(help="the release that was approved before", show_default=False)],
    new: Annotated[Path, typer.Argument(help="the release to approve", show_default=False)],
    json: inputs.Json = False,
) -> None:
    """What changed between two releases, and whether both together reveal more; exit 1 if they do."""
    from crypsis.cli.diff_release import report as report_differences
    from crypsis.release import diff_release as compare

    with working(f"comparing {old} and {new}"):
        found = compare(old, new)
    if json:
        say_json({**asdict(found), "reveals_more": found.pair.reveals_more})
    else:
        report_differences(found)
    if found.pair.reveals_more:
        raise typer.Exit(1)
