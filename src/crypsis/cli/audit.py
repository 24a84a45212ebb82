"""`crypsis audit`: what a file or a release reveals, whatever a plan declares."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options, rulebooks
from crypsis.cli.options import Roles
from crypsis.cli.output import say, say_json, table, working
from crypsis.errors import TableError

if TYPE_CHECKING:
    from crypsis.audits import Audit
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
    waive: options.Waive = None,
    json: options.Json = False,
) -> None:
    """Look for everything a file reveals: singling out, restored cells, invented values, leftovers in the file.

    Exit 1 if something stops a release and is not waived. For a raw file: what must be decided before a release.
    """
    from crypsis.audits import audit as look
    from crypsis.audits.restatement import metadata
    from crypsis.privacy.anonymity import missing_reading
    from crypsis.release.evidence import data_file, manifest_of, order_of, reading_of

    with working(f"auditing {file}"):
        path = data_file(file) if file.is_dir() else file
        published = _read_published(file, columns)
        before, shuffled = None, file.is_dir() and order_of(file) == "shuffled"
        if original is not None and file.is_dir():
            before = _as_published(columns.read(original), published)
            published = published if shuffled else _beside(before, published, file)
        elif original is not None:
            before = columns.read(original)
            published = _beside(before, published, file)
        document = options.read_plan(columns.plan)
        said = {**(document.waivers() if document is not None else {}), **rulebooks.waivers_of(waive)}
        unstated = document.unstated() if document is not None and not file.is_dir() else ()
        demands = document.models() if document is not None else []
        missing = reading_of(manifest_of(file)) if file.is_dir() else missing_reading(demands)
        found = look(
            published,
            before,
            waivers=said,
            beside=metadata(path),
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
    from crypsis.release.evidence import published_of

    if file.is_dir():
        return published_of(file)
    return columns.read(file, masked=columns.plan is not None)


def _as_published(original: Table, published: Table) -> Table:
    """The original with the roles its columns have in a release."""
    known = set(published.names) & set(original.names)
    return original.with_roles({name: published.attribute(name).role for name in known})


def _beside(original: Table, published: Table, file: Path) -> Table:
    """The published table in the original's terms."""
    from crypsis.table.aligning import in_terms_of, refuse_reordered

    if len(original) != len(published):
        raise TableError(
            f"{file}: it has {len(published)} records and the original {len(original)}, so rows do not correspond; "
            f"leave --original out, or audit the release by the run it comes from"
        )
    aligned = in_terms_of(original, published, str(file))
    refuse_reordered(original.drop([name for name in original.names if name not in aligned.names]), aligned, str(file))
    return aligned


def _content(found: Audit) -> dict[str, Any]:
    from crypsis.text import finding_text

    listed = [
        {**asdict(each), "key": each.key, "text": finding_text(each), "waived": found.reason(each)}
        for each in found.findings
    ]
    return {**asdict(found), "findings": listed, "sound": found.sound}


def _report(file: Path, found: Audit, beside: bool) -> None:
    from crypsis.text import finding_text, remedies

    def standing(each: Any) -> str:
        if not each.refuses:
            return "reported"
        return f"waived: {found.reason(each)}" if found.reason(each) else "stops a release"

    say(
        f"{file}: {found.records} records, {found.columns} columns, {found.combinations} of {found.all_combinations} "
        f"combinations of two or three columns looked at"
    )
    if found.findings:
        say()
        say(table(("finding", "standing"), [(finding_text(each), standing(each)) for each in found.findings]))
    if not found.compared and beside:
        say("note: the release is shuffled, so values are compared with the original and not records; which cells are")
        say("masked was known when it was released: see its internal report")
    elif not found.compared:
        say("note: without --original nobody knows which cells are masked, so only missing ones count as masked")
    if found.open:
        say()
        for kind in dict.fromkeys(each.kind for each in found.open):
            first = next(each for each in found.open if each.kind is kind)
            for line in remedies(first):
                say(f"{kind}: {line}")
    say()
    say(f"{file}: {'nothing stops a release' if found.sound else f'{len(found.open)} findings stop a release'}")
