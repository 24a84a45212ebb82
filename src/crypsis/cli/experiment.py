"""`crypsis experiment`: reproduce one of the five papers."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli.output import say
from crypsis.errors import PlanError, suggestion


def experiment(
    name: Annotated[str, typer.Argument(help="ga-2006, hybrid-2007, gomm-2014, masking-2012 or pbg-2009; or list")],
    quick: Annotated[bool, typer.Option("--quick", help="a few seconds: fewer runs and smaller data")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder for verdict and figures", show_default="./NAME-out")
    ] = None,
) -> None:
    """Reproduce the tables and figures of a paper.

    The verdict says for each cell whether it is the same, close or different, and why.
    """
    known = experiments()
    if name == "list":
        for each in known:
            say(each)
        return
    if name not in known:
        raise PlanError(f"there is no experiment {name!r}{suggestion(name, known)}; known: {', '.join(known)}")
    target = out or Path(f"{name}-out")
    script = known[name] / "reproduce.py"
    spec = importlib.util.spec_from_file_location(f"crypsis_experiment_{name.replace('-', '_')}", script)
    if spec is None or spec.loader is None:
        raise PlanError(f"{script}: cannot be run as a Python script")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    module.main([*(["--quick"] if quick else []), "--out", str(target)])


def experiments() -> dict[str, Path]:
    """Names and folders of the package's own experiments: inside it as installed, beside it in its source tree."""
    import crypsis

    package = Path(crypsis.__file__).resolve().parent
    places = [package]
    if package.parent.name == "src" and (package.parents[1] / "pyproject.toml").is_file():
        places.append(package.parents[1])
    for place in places:
        found = {path.parent.name: path.parent for path in sorted((place / "experiments").glob("*/reproduce.py"))}
        if found:
            return found
    raise PlanError("this package was installed without its experiments; install it again with `pip install crypsis`")
