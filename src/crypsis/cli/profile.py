"""`crypsis profile`: suggested roles and kinds of the columns of a file, and how many records are unique."""

from __future__ import annotations

from dataclasses import asdict

from crypsis.cli import options
from crypsis.cli.output import say, say_json, show_spinner, warn
from crypsis.small_tables import table


def profile(file: options.File, form: options.FileForm, json: options.Json = False) -> None:
    """Suggest a role and a kind for every column.

    Each with its reason; also how many records are unique in the raw table, and how many by each column.
    """
    from crypsis.table.files import read_table
    from crypsis.table.profile import profile as profile_table
    from crypsis.text import role_reason_text

    with show_spinner(f"reading {file}"):
        read = read_table(file, **form.given_form())
        seen = profile_table(read)
    for note in read.notes:
        warn(note)
    if json:
        columns = [{**asdict(column), "reason": role_reason_text(column.reasons)} for column in seen.columns]
        say_json({**asdict(seen), "columns": columns})
        return
    say(f"{file}: {seen.rows} records, {len(seen.columns)} columns")
    say()
    rows = [
        (
            c.name,
            c.role,
            c.kind,
            str(c.distinct),
            str(c.missing),
            str(c.rare),
            "" if c.adds is None else str(c.adds),
            role_reason_text(c.reasons),
        )
        for c in seen.columns
    ]
    say(table(("column", "role", "kind", "distinct", "missing", "rare", "adds", "why"), rows, right=[3, 4, 5, 6]))
    say()
    if any(c.adds is not None for c in seen.columns):
        say("adds: records unique with it beside the quasi-identifiers that names and values show, and not without it.")
    say(seen.exposure)
    say(f"Next: crypsis init {file}")
