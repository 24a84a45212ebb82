"""`crypsis verify`: check a release from its files alone, and say where its reports are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options, rulebooks
from crypsis.cli.output import figure, say, say_json, show_spinner
from crypsis.errors import PlanError
from crypsis.small_tables import count_characters_of_line, table

if TYPE_CHECKING:
    from crypsis.release import Verification


def verify(
    folder: options.ReleaseFolder,
    rulebook: options.RulebookName = None,
    waive: options.Waive = None,
    key: Annotated[
        Path | None, typer.Option(help="public key the release must be signed with", show_default=False)
    ] = None,
    json: options.Json = False,
) -> None:
    """Check a release from its files alone.

    Reads and judges the published data again; exit 1 unless everything that is stated holds and nothing is left out.
    Also prints where the reports of the release are.
    """
    from crypsis.release import judge_evidence_by_rulebook
    from crypsis.release import verify as verify_release
    from crypsis.rulebook import refusals

    book = rulebooks.book_of(rulebook)
    if waive and book is None:
        raise PlanError("--waive needs --rulebook: name the rulebook the rule stands in")
    with show_spinner(f"verifying {folder}"):
        found = verify_release(folder, key=key)
        rules = judge_evidence_by_rulebook(folder, book, rulebooks.rule_waivers(waive)) if book else []
    broken = refusals(rules)
    if json:
        say_json(
            {
                **asdict(found),
                "sound": found.sound,
                "word": found.word,
                "rules": [asdict(r) for r in rules],
                "rules_kept": not broken,
                "reports": _find_reports(folder),
            }
        )
    else:
        _report_verified(folder, found)
        if book:
            say()
            say(f"rulebook {book.name}: {book.title}")
            say(rulebooks.results_text(rules))
            say(f"{folder}: rules {'kept' if not broken else 'BROKEN'}")
    if not found.sound or broken:
        raise typer.Exit(1)


def _find_reports(folder: Path) -> dict[str, str]:
    """Where the reports of a release are; the public folder alone has the external one."""
    public = folder / "public" if (folder / "public").is_dir() else folder
    places = {
        "internal": folder / "internal" / "report.html",
        "internal_json": folder / "internal" / "report.json",
        "external": public / "report.html",
        "external_json": public / "report.json",
        "codebook": public / "codebook.html",
    }
    return {name: str(path) for name, path in places.items() if path.is_file()}


def name_column_sets(sets: Iterable[Sequence[str]]) -> dict[tuple[str, ...], str]:
    """Sets of columns, each with the name that a table has for it: how many they are, and which of several."""
    apart = dict.fromkeys(map(tuple, sets))
    counts = [f"{len(columns)} column{'s'[: len(columns) != 1]}" for columns in apart]
    return {
        columns: count if counts.count(count) == 1 else f"{count}, set {counts[:place].count(count) + 1}"
        for place, (columns, count) in enumerate(zip(apart, counts, strict=True))
    }


def _report_verified(folder: Path, found: Verification) -> None:
    from crypsis.text import over_all_text, unknown_to_attackers_text

    if found.verdicts:
        names = name_column_sets(v.columns for v in found.verdicts)
        for columns, name in names.items():
            say(fill(f"{name}: {', '.join(columns)}", count_characters_of_line(), subsequent_indent="  "))
        say()
        rows = [
            (
                v.model,
                names[tuple(v.columns)] + (f" (scenario {v.scenario})" if v.scenario else ""),
                f"{v.sense} {figure(v.required)}",
                figure(v.attained),
                "holds" if v.holds else "FAILS",
            )
            for v in found.verdicts
        ]
        say(table(("model", "over", "required", "attained", "verdict"), rows, right=[3]))
        for remark in dict.fromkeys(v.remark for v in found.verdicts if v.remark):
            say(f"   {remark}")
        say()
    say(over_all_text(found.smallest_class, found.family, [v.columns for v in found.verdicts]))
    if found.singled_out:
        say(found.singled_out)
    if found.assumed:
        say(unknown_to_attackers_text(found.assumed))
    for sentence in found.statements:
        say(sentence)
    for problem in found.problems:
        say(f"✗ {problem}")
    for note in found.notes:
        say(f"note: {note}")
    readers = {"internal": "to sign; internal, never published", "external": "published with the data"}
    for name, path in _find_reports(folder).items():
        if name in readers:
            say(f"{name} report: {path} ({readers[name]})")
        elif name == "codebook":
            say(f"codebook: {path} (what columns and labels mean; published with the data)")
    signed = {"trusted": "signed with the key given", "unsigned": "unsigned"}.get(found.signature, "signer unknown")
    say(f"{folder}: {found.word}; {found.files} files checked; {signed}")
