"""`crypsis sign`: sign a release that was published without a signature."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options
from crypsis.cli.output import say, say_json, show_spinner
from crypsis.errors import PlanError


def sign(
    folder: Annotated[Path, typer.Argument(help="the folder of a release", show_default=False)],
    key: Annotated[Path, typer.Option(help="private key that signs it: see crypsis keys new", show_default=False)],
    ledger: Annotated[
        Path | None,
        typer.Option(help="the ledger the release was entered in; by default the usual one", show_default=False),
    ] = None,
    json: options.Json = False,
) -> None:
    """Sign a release that was published without a signature.

    Reports and manifests name the key from then on and are verified before they take their place; the data, schema and
    codebook stay byte by byte. A release that is not sound, or signed already, is refused.
    """
    from crypsis.release import ReleaseLedger
    from crypsis.release.later_signature import sign_release

    if not folder.is_dir():
        raise PlanError(f"{folder}: there is no such folder; name the folder of a release")
    with show_spinner(f"verifying and signing {folder}"):
        public = sign_release(folder, key, ReleaseLedger.usual(file=ledger or ""))
    if json:
        say_json({"release": str(folder), "signed_by": public})
        return
    say(f"{folder} is signed with the key {public}")
    say(f"check with: crypsis verify {folder} --key {key}.pub")
