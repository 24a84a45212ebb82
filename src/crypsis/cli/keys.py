"""`crypsis keys`: keys that sign releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options as shared
from crypsis.cli.output import say, say_json

keys = typer.Typer(help="Keys that sign releases.", no_args_is_help=True)


@keys.callback()
def options() -> None:
    """Keys that sign releases."""


@keys.command("new")
def new(
    to: Annotated[Path, typer.Option("--to", help="file of the private key; must not exist")] = Path("crypsis.key"),
    json: shared.Json = False,
) -> None:
    """Make an Ed25519 key pair: FILE signs releases and is kept secret, FILE.pub verifies them and may be published."""
    from crypsis.release.signing import new_keys

    private, public, key = new_keys(to)
    if json:
        say_json({"private": str(private), "public": str(public), "key": key})
        return
    say(f"private key: {private} (only you may read it; anybody who has it can sign in your name)")
    say(f"public key:  {public} (give it to those who receive your releases, by a way they trust)")
    say(f"key:         {key}")
    say(f"sign with:   crypsis release RUN --out RELEASE --sign {private}")
    say(f"check with:  crypsis verify RELEASE --key {public}")
