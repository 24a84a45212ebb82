"""`crypsis init`: write a commented plan from the profile of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options
from crypsis.cli.option_groups import Roles
from crypsis.cli.output import say
from crypsis.errors import TableError


def init(
    file: options.File,
    out: Annotated[Path, typer.Option("--out", "-o", help="plan to write; must not exist")] = Path("plan.toml"),
    k: options.SmallestClass = 5,
    quasi: options.Quasi = None,
    identifier: options.Identifier = None,
    confidential: options.Confidential = None,
    kind: options.Kinds = None,
) -> None:
    """Write a commented plan.toml for a file.

    The plan is drafted from the profile of the file; it can be checked and run as it is.
    """
    from crypsis.plan import draft
    from crypsis.table.files import write_atomically
    from crypsis.table.profile import profile as profile_table

    if out.exists():
        raise TableError(f"{out}: already exists; choose another name with --out, or remove it first")
    read = Roles(quasi, identifier, confidential, kind).read(file)
    text = draft(file, out, read, profile_table(read), k)
    write_atomically(out, text.encode())
    say(f"{out} written. Read it, correct the roles, then: crypsis check {out}, and crypsis run {out}")
