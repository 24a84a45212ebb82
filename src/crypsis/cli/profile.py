"""`crypsis profile`: suggested roles and kinds of a file, and how exposed it is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from crypsis.cli import inputs
from crypsis.cli.output import figure, say, say_json, table, warn, working

if TYPE_CHECKING:
    from crypsis.table.profile import Profile


def profile(file: inputs.File, json: inputs.Json = False) -> None:
    """Suggest a role and kind for every column, with the reason, and show how exposed the raw table is."""
    from crypsis.table.files import read_table
    from crypsis.table.profile import profile as profile_table
    from crypsis.text import reason_text

    with working(f"reading {file}"):
        read = read_table(file)
        seen = profile_table(read)
    for note in read.notes:
        warn(note)
    if json:
        columns = [{**asdict(column), "reason": reason_text(column.reasons)} for column in seen.columns]
        say_json({**asdict(seen), "columns": columns})
        return
    say(f"{file}: {seen.rows} records, {len(seen.columns)} columns")
    say()
    rows = [
        (c.name, c.role, c.kind, str(c.distinct), str(c.missing), str(c.rare), reason_text(c.reasons))
        for c in seen.columns
    ]
    say(table(("column", "role", "kind", "distinct", "missing", "rare", "why"), rows, right=[3, 4, 5]))
    say()
    say(_exposure(seen))
    say(f"Next: crypsis init {file}")


def _exposure(seen: Profile) -> str:
    if not seen.quasi_identifiers:
        return "No quasi-identifier is suggested: nothing here looks like something an intruder could know."
    known = ", ".join(seen.quasi_identifiers)
    return (
        f"On the suggested quasi-identifiers ({known}) {figure(100 * seen.unique_share)} % of the records are unique; "
        f"the raw table is {seen.k}-anonymous."
    )
