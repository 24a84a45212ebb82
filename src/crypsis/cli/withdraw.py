"""`crypsis withdraw`: take a release back, and keep in the ledger that it existed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options
from crypsis.cli.output import say, say_json, show_spinner
from crypsis.errors import PlanError


def withdraw(
    folder: Annotated[Path, typer.Argument(help="the folder of a release", show_default=False)],
    received: Annotated[
        bool | None,
        typer.Option(
            "--received/--not-received",
            help="whether anybody outside may have received the file; must be said",
            show_default=False,
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="the ledger the release was entered in; by default the usual one", show_default=False),
    ] = None,
    json: options.Json = False,
) -> None:
    """Take a release back: its folder is deleted, and the ledger keeps that it existed.

    A file that somebody received cannot be taken back: with --received a private copy of its public part stays beside
    the ledger, and every later release of the source is judged together with it. With --not-received it is left out.
    """
    from crypsis.release import ReleaseLedger

    if received is None:
        raise PlanError(
            "say whether anybody outside may have received the file: --received (also if nobody knows), or "
            "--not-received if it never left this machine"
        )
    if not folder.is_dir():
        raise PlanError(f"{folder}: there is no such folder; name the folder of a release")
    with show_spinner(f"withdrawing {folder}"):
        ReleaseLedger.usual(file=ledger or "").withdraw(folder, received)
    if json:
        say_json({"withdrawn": str(folder), "received": received})
        return
    say(f"{folder} is withdrawn: its folder is deleted, and the ledger keeps that it existed")
    say(
        "later releases of the source are judged together with it, from a private copy of its public part"
        if received
        else "nobody received it, so that later releases of the source are judged without it"
    )
