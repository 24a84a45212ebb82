"""`crypsis audit`: what a file or a release reveals, whatever a plan declares; what two releases reveal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options, rulebooks
from crypsis.cli.options import Roles
from crypsis.cli.output import figure, say, say_json, show_spinner
from crypsis.errors import PlanError, TableError
from crypsis.small_tables import table

if TYPE_CHECKING:
    from crypsis.audits import Audit
    from crypsis.release import Differences
    from crypsis.release.differences import Change, Pair
    from crypsis.table.table import Table


def audit(
    file: Annotated[Path, typer.Argument(help="file or release folder to look at", show_default=False)],
    columns: Roles,
    original: Annotated[
        Path | None,
        typer.Option(
            help="the file as it was collected; rows in the same order, but for a release", show_default=False
        ),
    ] = None,
    later: Annotated[
        Path | None,
        typer.Option(
            "--with",
            help="a later release of the same people: print what changed and what both together reveal",
            show_default=False,
        ),
    ] = None,
    waive: options.Waive = None,
    json: options.Json = False,
) -> None:
    """Look for everything a file reveals: singling out, restored cells, invented values, leftovers in the file.

    Exit 1 if something stops a release and is not waived. For a raw file: what must be decided before a release.

    With a later release: what changed, and whether both together reveal more than each alone; exit 1 if they do.
    """
    if later is None:
        _audit_file(file, columns, original, waive, json)
        return
    if waive:
        raise PlanError("--waive cannot be given beside --with, which waives nothing; leave one of them out")
    _audit_pair(file, later, columns.read(original) if original else None, json)


def _audit_file(file: Path, columns: Roles, original: Path | None, waive: Sequence[str] | None, json: bool) -> None:
    """Print what one file or release reveals; exit 1 if that stops a release."""
    from crypsis.audits import audit as look
    from crypsis.audits.restatement import find_restating_metadata
    from crypsis.privacy.anonymity import missing_cells_in_anonymity
    from crypsis.release.evidence import data_file_as_evidence, manifest_as_evidence, row_order_as_evidence
    from crypsis.release.verification import missing_reading_for_verification
    from crypsis.table.aligning import read_beside

    with show_spinner(f"auditing {file}"):
        path = data_file_as_evidence(file) if file.is_dir() else file
        alone = file.is_dir() or original is None
        published = _read_published(file, columns) if alone else None
        before, shuffled = None, file.is_dir() and row_order_as_evidence(file) == "shuffled"
        if original is not None and published is not None:
            before = _as_published(columns.read(original), published)
            published = published if shuffled else _beside(before, published, file)
        elif original is not None:  # the options describe the file as collected; the published one is read by itself
            before = columns.read(original)
            published = _beside(before, read_beside(before, file), file)
        assert published is not None
        document = options.read_plan(columns.plan)
        said = {**(document.waivers() if document is not None else {}), **rulebooks.waivers_of(waive)}
        unstated = document.list_unstated() if document is not None and not file.is_dir() else ()
        demands = document.models() if document is not None else []
        missing = (
            missing_reading_for_verification(manifest_as_evidence(file))
            if file.is_dir()
            else missing_cells_in_anonymity(demands)
        )
        found = look(
            published,
            before,
            waivers=said,
            beside=find_restating_metadata(path),
            shuffled=shuffled,
            missing=missing,
            unstated=unstated,
        )
    if json:
        say_json(_content(found))
    else:
        _report(file, found, before is not None)
    if not found.sound:
        raise typer.Exit(1)


def _read_published(file: Path, columns: Roles) -> Table:
    """A release by its own schema, or a file by the plan and the options."""
    from crypsis.release.evidence import published_table_as_evidence

    if file.is_dir():
        return published_table_as_evidence(file)
    return columns.read(file, masked=columns.plan is not None)


def _as_published(original: Table, published: Table) -> Table:
    """The original with the roles its columns have in a release."""
    known = set(published.names) & set(original.names)
    return original.with_roles({name: published.attribute(name).role for name in known})


def _beside(original: Table, published: Table, file: Path) -> Table:
    """The published table in the original's terms."""
    from crypsis.table.aligning import in_terms_of, refuse_unaligned_rows

    if len(original) != len(published):
        raise TableError(
            f"{file}: it has {len(published)} records and the original {len(original)}, so rows do not correspond; "
            f"leave --original out, or audit the release by the run it comes from"
        )
    aligned = in_terms_of(original, published, str(file))
    refuse_unaligned_rows(
        original.drop([name for name in original.names if name not in aligned.names]), aligned, str(file)
    )
    return aligned


def _content(found: Audit) -> dict[str, Any]:
    from crypsis.text import attack_finding_text

    listed = [
        {**asdict(each), "key": each.key, "text": attack_finding_text(each), "waived": found.reason(each)}
        for each in found.findings
    ]
    return {**asdict(found), "findings": listed, "sound": found.sound}


def _report(file: Path, found: Audit, beside: bool) -> None:
    from crypsis.text import attack_finding_text, attack_remedies

    def describe_standing(each: Any) -> str:
        if not each.refuses:
            return "reported"
        return f"waived: {found.reason(each)}" if found.reason(each) else "stops a release"

    say(
        f"{file}: {found.records} records, {found.columns} columns, {found.combinations} of {found.all_combinations} "
        f"combinations of two or three columns looked at"
    )
    if found.findings:
        say()
        say(
            table(
                ("finding", "standing"),
                [(attack_finding_text(each), describe_standing(each)) for each in found.findings],
            )
        )
    if not found.compared and beside:
        say("note: the release is shuffled, so values are compared with the original and not records; which cells are")
        say("masked was known when it was released: see its internal report")
    elif not found.compared:
        say("note: without --original nobody knows which cells are masked, so only missing ones count as masked")
    if found.open:
        say()
        for kind in dict.fromkeys(each.kind for each in found.open):
            first = next(each for each in found.open if each.kind is kind)
            for line in attack_remedies(first):
                say(f"{kind}: {line}")
    say()
    say(f"{file}: {'nothing stops a release' if found.sound else f'{len(found.open)} findings stop a release'}")


# -- Two releases: what changed between them, and what both together reveal.


def _audit_pair(old: Path, new: Path, original: Table | None, json: bool) -> None:
    """Print what changed from one release to another and what both reveal; exit 1 if that is more than each alone."""
    from crypsis.release import compare_releases

    with show_spinner(f"comparing {old} and {new}"):
        found = compare_releases(old, new, original)
    if json:
        say_json({**asdict(found), "reveals_more": found.reveals_more})
    else:
        _report_differences(found)
    if found.reveals_more:
        raise typer.Exit(1)


def _report_differences(found: Differences) -> None:
    """Print columns, figures, distributions, and what the pair reveals."""
    if found.same_data:
        say("Both releases hold the same data.")
    for label, names in (("new columns", found.columns_added), ("columns gone", found.columns_removed)):
        if names:
            say(f"{label}: {', '.join(names)}")
    for name, change in found.columns_changed.items():
        say(f"column {name}: {change}")
    moved = [found.rows, found.suppressed, *found.verdicts, *found.losses]
    changed = [change for change in moved if change.old != change.new]
    say()
    if changed:
        say(_changes_table(changed))
    else:
        say("Records, guarantees and losses are the same.")
    shifted = sorted((c for c in found.distributions if c.new), key=lambda c: -(c.new or 0.0))
    if shifted:
        say()
        rows = [(c.name, figure(c.new)) for c in shifted]
        say(table(("column", "distance of the distributions, %"), rows, right=[1]))
    say()
    _report_pair(found.pair)
    _report_together(found)
    say("Not known from the files: " + "; ".join(found.unknown) + ".")


def _changes_table(changes: Sequence[Change]) -> str:
    return table(("", "old", "new"), [(c.name, figure(c.old), figure(c.new)) for c in changes], right=[1, 2])


def _report_pair(pair: Pair) -> None:
    if not pair.joined_by:
        say("Together: no column is left unmasked by both, so their records cannot be joined by equal values.")
        return
    least = min(pair.smallest_class)
    say(
        f"Together: {pair.linked} records can be joined by {', '.join(pair.joined_by)}; {pair.alone} of them are "
        f"unique in the pair and {pair.below} share both their classes with fewer than {least} records "
        f"(smallest class: {pair.smallest_class[0]} old, {pair.smallest_class[1]} new)."
    )


def _report_together(found: Differences) -> None:
    """Print what both reveal and neither alone."""
    both = found.together
    for name, number in both.fixed.items():
        say(f"Together they fix the {name} of {_share_text(number, both.people)}, which neither fixes alone.")
    say(
        f"Together they leave {_share_text(both.below, both.people)} with fewer than {both.k} records, which neither "
        f"does alone."
    )
    say(
        "Together they reveal MORE than each alone: withdraw the old file, or publish the new one by the same classes."
        if found.reveals_more
        else "Together they reveal no more than the weaker of them, as far as their values show."
    )


def _share_text(number: float, people: int) -> str:
    return f"{100 * number / max(people, 1):.1f} % of the people ({number:.0f} of {people})"
