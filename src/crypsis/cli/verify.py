"""`crypsis verify`: check a release from its files alone."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import options, rulebooks
from crypsis.cli.output import figure, say, say_json, table, working
from crypsis.errors import PlanError

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
    """
    from crypsis.release import check_release
    from crypsis.release import verify as verify_release
    from crypsis.rulebook import refusals

    book = rulebooks.book_of(rulebook)
    if waive and book is None:
        raise PlanError("--waive needs --rulebook: name the rulebook the rule stands in")
    with working(f"verifying {folder}"):
        found = verify_release(folder, key=key)
        rules = check_release(folder, book, rulebooks.rule_waivers(waive)) if book else []
    broken = refusals(rules)
    if json:
        say_json(
            {
                **asdict(found),
                "sound": found.sound,
                "word": found.word,
                "rules": [asdict(r) for r in rules],
                "rules_kept": not broken,
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


def _report_verified(folder: Path, found: Verification) -> None:
    from crypsis.text import over_all_text, unknown_text

    if found.verdicts:
        rows = [
            (
                v.model,
                ", ".join(v.columns) + (f" (scenario {v.scenario})" if v.scenario else ""),
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
        say(unknown_text(found.assumed))
    for sentence in found.statements:
        say(sentence)
    for problem in found.problems:
        say(f"✗ {problem}")
    for note in found.notes:
        say(f"note: {note}")
    signed = {"trusted": "signed with the key given", "unsigned": "unsigned"}.get(found.signature, "signer unknown")
    say(f"{folder}: {found.word}; {found.files} files checked; {signed}")
