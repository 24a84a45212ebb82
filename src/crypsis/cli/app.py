"""The commands, and where an error becomes a sentence and an exit code.

0 done or passed · 1 a check failed · 2 bad usage or input · 3 stopped, can be resumed · 70 an internal error
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from crypsis.cli import (
    assess,
    attack,
    audit,
    check,
    demo,
    doctor,
    front,
    generalise,
    init,
    keys,
    mask,
    profile,
    release,
    rulebooks,
    run,
    show,
    sign,
    steer,
    studio,
    verify,
    withdraw,
)
from crypsis.cli.options import flatten_groups
from crypsis.cli.run import OWN_PROCESS
from crypsis.errors import CrypsisError, EngineLost, Interrupted, ReleaseRefused, address

if TYPE_CHECKING:
    from crypsis.registry import Registry, Settings


def list_registry(title: str, package: str, registry: str) -> type[TyperCommand]:
    """A command whose help ends with the members of a registry; the package is imported when the help is asked for."""

    class Listing(TyperCommand):
        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            known: Registry[Any] = getattr(import_module(package), registry)
            with formatter.section(title):
                formatter.write_dl([(name, known[name].in_brief()) for name in sorted(known)])

    return Listing


def write_searches(formatter: Any, *, one_line: bool) -> None:
    """Write what each registered search looks for, and its paper; they are imported when the help is asked for."""
    known: Registry[Any] = import_module("crypsis.searches").searches
    width = formatter.width - max(map(len, known)) - 4 if one_line else 10_000
    title = "Searches of a plan (more: crypsis run --help)" if one_line else "Searches of a plan"
    with formatter.section(title):
        formatter.write_dl([(name, describe_search(known[name], width)) for name in known])


def describe_search(cls: type[Settings], width: int) -> str:
    """What a search looks for and its paper; only the paper and the question where that has to fit into a line."""
    said = f"{cls.in_brief()}. [{cls.paper()}]"
    if len(said) <= width:
        return said
    question = cls.in_brief().partition("?")[0]
    return shorten(f"{cite(cls.paper())}: {question[:1].lower()}{question[1:]}", width, placeholder=" …")


def cite(paper: str) -> str:
    """A paper as a text cites it: "Dewri et al. (2009)"; "own" where a search is our own."""
    names, year = re.match(r"([^(;:]*)(\(\d{4}\))?", paper).groups("")  # type: ignore[union-attr]
    first, *others = re.split(r", | and ", names.strip())
    if first == "own" or not year:
        return first
    return f"{names.strip() if len(others) < 2 else f'{first} et al.'} {year}"


class SearchListing(TyperCommand):
    """A command whose help ends with the searches."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the searches, in full."""
        write_searches(formatter, one_line=False)


class SearchListingGroup(TyperGroup):
    """The commands; their help ends with the searches, each in one line."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the searches, in one line each."""
        write_searches(formatter, one_line=True)


# -- The commands, and where an error becomes a sentence and an exit code.
#
# 0 done or passed · 1 a check failed · 2 bad usage or input · 3 stopped, can be resumed · 70 an internal error

app = typer.Typer(
    name="crypsis",
    cls=SearchListingGroup,
    help="Anonymise microdata by evolutionary search: protect, measure, release a file that proves its guarantees.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

COMMANDS = (
    demo.demo,
    profile.profile,
    init.init,
    check.check,
    run.run,
    run.resume,
    steer.steer,
    front.front,
    show.show,
    mask.mask,
    generalise.generalise,
    assess.assess,
    attack.attack,
    audit.audit,
    release.release,
    verify.verify,
    sign.sign,
    withdraw.withdraw,
    rulebooks.rulebooks,
    studio.studio,
    doctor.doctor,
)
"""The commands in the order of the help page, each named after its function."""

LISTINGS: dict[Any, type[TyperCommand]] = {
    run.run: SearchListing,
    mask.mask: list_registry("Methods", "crypsis.masking", "methods"),
    assess.assess: list_registry("Measures", "crypsis.measures", "measures"),
}
"""Commands whose help ends with what is registered."""

for command in COMMANDS:
    app.command(cls=LISTINGS.get(command))(flatten_groups(command))
app.add_typer(keys.keys, name="keys")


def _version(wanted: bool) -> None:
    if wanted:
        from crypsis.version import __version__

        typer.echo(f"crypsis {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Options before the command."""
    context.with_resource(address("command"))


def main(commands: typer.Typer = app) -> None:
    """Run a command line, this one unless another is given; expected problems end in one sentence on stderr."""
    try:
        OWN_PROCESS.set(True)
        for library in ("OPENBLAS", "MKL"):  # matrices are small: threads of theirs wait for each other, and for ours
            os.environ.setdefault(f"{library}_NUM_THREADS", "1")
        gc.set_threshold(50_000, 20, 20)  # imports make many objects and no garbage: a tenth of their time
        commands()
    except ReleaseRefused as refusal:
        with address("command"):
            _fail(str(refusal), 1)
    except (EngineLost, Interrupted) as lost:
        _fail(str(lost), 3)
    except CrypsisError as error:
        _fail(str(error), 2)
    except KeyboardInterrupt:
        _fail("stopped", 3)
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away (`| head`)
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{(error.strerror or str(error)).lower()}; make room or check the permissions, then try again", 2)
    except Exception as fault:  # the last line of a traceback may hold a value of the data
        if os.environ.get("CRYPSIS_TRACE"):
            raise
        _fail(
            f"internal error ({type(fault).__name__} at {_place(fault)}); nothing was released. Its message is "
            f"withheld because it may hold a value of the data: set CRYPSIS_TRACE=1 to see it yourself, and report the "
            f"place alone",
            70,
        )


LINEAR_ALGEBRA = "OPENBLAS_NUM_THREADS"
"""What the linear algebra reads when it is loaded. The matrices are narrow: its threads would wait for each other
longer than they work, and on a busy machine burn many times the seconds of the work."""


def program() -> None:
    """Run the command line as a process that ends with it: without taking every module and kernel apart first."""
    os.environ.setdefault(LINEAR_ALGEBRA, "1")
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # closed, or its reader went away
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def _place(fault: Exception) -> str:
    """The innermost line of Crypsis in a traceback."""
    frames = [frame for frame in traceback.extract_tb(fault.__traceback__) if "crypsis" in Path(frame.filename).parts]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown line"


def _fail(sentence: str, code: int) -> None:
    typer.echo(f"crypsis: {sentence}", err=True)
    sys.exit(code)
