"""`crypsis data`: the public data sets of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli.output import say, table, working

data = typer.Typer(help="List and download the public data sets of the papers.", no_args_is_help=True)


@data.command("list")
def list_() -> None:
    """List the data sets, their licences, and whether they are on this machine."""
    from crypsis.table.reference import ELSEWHERE, SOURCES, data_folder

    rows = [
        (name, source.file, "yes" if (data_folder() / source.file).is_file() else "no", source.url, source.licence)
        for name, source in SOURCES.items()
    ]
    say(table(("name", "file", "present", "from", "licence"), rows))
    for name, how in ELSEWHERE.items():
        say(f"{name}: {how}")


@data.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(help="water, adult, german or flare", show_default=False)],
    folder: Annotated[Path, typer.Option("--to", help="folder to put the file into")] = Path("data"),
    url: Annotated[str, typer.Option("--from", help="another address of the same content", show_default=False)] = "",
) -> None:
    """Download a data set from its public source and check it.

    Its digest must be that of the data the experiments use.
    """
    from crypsis.table.reference import SOURCES
    from crypsis.table.reference import fetch as download

    with working(f"fetching {name}"):
        path = download(name, folder, url)
    say(f"{path}: written and checked; licence: {SOURCES[name].licence}")
    say(f"use it with: export CRYPSIS_DATA={folder}")
