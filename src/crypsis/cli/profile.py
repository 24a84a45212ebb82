"""`crypsis profile` and `crypsis init`: look at a file, then write down what it is."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crypsis.cli import inputs
from crypsis.cli.output import figure, say, say_json, table, warn, working
from crypsis.errors import TableError

if TYPE_CHECKING:
    from crypsis.table.profile import Profile


def profile(file: inputs.File, json: inputs.Json = False) -> None:
    """Suggest a role and kind for every column, with the reason, and show how exposed the raw table is."""
    from crypsis.table.files import read_table
    from crypsis.table.profile import profile as profile_table

    with working(f"reading {file}"):
        read = read_table(file)
        seen = profile_table(read)
    for note in read.notes:
        warn(note)
    if json:
        say_json(asdict(seen))
        return
    say(f"{file}: {seen.rows} records, {len(seen.columns)} columns")
    say()
    rows = [(c.name, c.role, c.kind, str(c.distinct), str(c.missing), str(c.rare), c.reason) for c in seen.columns]
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


def init(
    file: inputs.File,
    out: Annotated[Path, typer.Option("--out", "-o", help="plan to write; must not exist")] = Path("plan.toml"),
    k: Annotated[int, typer.Option(min=2, help="smallest class that may be released")] = 5,
    quasi: inputs.Quasi = None,
    identifier: inputs.Identifier = None,
    confidential: inputs.Confidential = None,
    kind: inputs.Kinds = None,
) -> None:
    """Write a commented plan.toml from the profile of a file; it can be checked and run as it is."""
    from crypsis.plan import draft
    from crypsis.table.files import write_atomically
    from crypsis.table.profile import profile as profile_table

    if out.exists():
        raise TableError(f"{out}: exists already; choose another name with --out, or remove it first")
    read = inputs.load(file, None, quasi, identifier, confidential, kind)
    text = draft(file, out, read, profile_table(read), k)
    write_atomically(out, text.encode())
    say(f"{out} written. Read it, correct the roles, then: crypsis check {out}, and crypsis run {out}")
