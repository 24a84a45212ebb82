"""`crypsis studio`: everything on local web pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options
from crypsis.cli.output import say
from crypsis.extras import import_extra


def studio(
    path: Annotated[
        Path | None,
        typer.Argument(help="a data file, a plan or a run folder; default: a built-in example", show_default=False),
    ] = None,
    form: options.FileForm = options.FileForm(),  # noqa: B008 - frozen
    port: Annotated[int, typer.Option(min=0, max=65535, help="port on this machine; 0: any free one")] = 0,
    browser: Annotated[bool, typer.Option(help="open the page in the browser")] = True,
    own_name: Annotated[
        bool,
        typer.Option(
            help="an address of its own that ends in .localhost; without it 127.0.0.1, whose cookies every server on "
            "this machine sees"
        ),
    ] = True,
) -> None:
    """Open the studio, a web application on this machine.

    Data, goal, front, comparison and release on local pages; Ctrl-C ends it.
    """
    for package in ("starlette", "uvicorn"):
        import_extra(package, "studio", "the studio")
    from crypsis.studio import serve_studio

    serve_studio(path, port, say, form.given_form(), browser=browser, own_name=own_name)
