"""The list of commands, and the one place where an error becomes a sentence and an exit code.

0 done or passed · 1 a gate failed · 2 bad usage or input · 3 stopped, can be resumed · 70 a fault of Crypsis itself
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import (
    assess,
    attack,
    check,
    compare,
    data,
    demo,
    doctor,
    experiment,
    front,
    generalise,
    init,
    mask,
    profile,
    release,
    resume,
    rulebooks,
    run,
    schema,
    sensitivity,
    show,
    studio,
)
from crypsis.cli.listing import listing
from crypsis.errors import CrypsisError, EngineLost, Interrupted, ReleaseRefused

app = typer.Typer(
    name="crypsis",
    help="Anonymise microdata by evolution: protect, measure, release a file that proves itself.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

app.command("demo")(demo.demo)
app.command("profile")(profile.profile)
app.command("init")(init.init)
app.command("check")(check.check)
app.command("schema")(schema.schema)
app.command("run")(run.run)
app.command("resume")(resume.resume)
app.command("front")(front.front)
app.command("show")(show.show)
app.command("compare")(compare.compare)
app.command("mask", cls=listing("Methods", "crypsis.masking", "methods"))(mask.mask)
app.command("generalise")(generalise.generalise)
app.command("assess", cls=listing("Measures", "crypsis.measures", "measures"))(assess.assess)
app.command("attack")(attack.attack)
app.command("release")(release.release)
app.command("verify")(release.verify)
app.command("report")(release.report)
app.command("diff-release")(release.diff_release)
app.command("rulebooks")(rulebooks.rulebooks)
app.command("studio")(studio.studio)
app.command("experiment")(experiment.experiment)
app.add_typer(data.data, name="data")
app.command("sensitivity")(sensitivity.sensitivity)
app.command("doctor")(doctor.doctor)


def _version(wanted: bool) -> None:
    if wanted:
        from crypsis.version import __version__

        typer.echo(f"crypsis {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="show the version")
    ] = False,
) -> None:
    """Options that come before the command."""


def main() -> None:
    """Run the command line; every expected problem ends in one sentence on stderr."""
    try:
        app()
    except ReleaseRefused as refusal:
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
    except Exception as fault:  # a traceback's last line may hold a person's value
        if os.environ.get("CRYPSIS_TRACE"):
            raise
        _fail(
            f"a fault inside Crypsis ({type(fault).__name__} at {_place(fault)}); nothing was released. What it says "
            f"is withheld because it may name a person: set CRYPSIS_TRACE=1 to see all of it yourself, and report the "
            f"place alone",
            70,
        )


def _place(fault: Exception) -> str:
    """The innermost line of Crypsis on the way to a fault."""
    frames = [frame for frame in traceback.extract_tb(fault.__traceback__) if "crypsis" in Path(frame.filename).parts]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown line"


def _fail(sentence: str, code: int) -> None:
    typer.echo(f"crypsis: {sentence}", err=True)
    sys.exit(code)
