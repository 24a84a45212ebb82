"""`crypsis init`: write a commented plan from the profile of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import inputs
from crypsis.cli.output import say
from crypsis.errors import TableError


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
