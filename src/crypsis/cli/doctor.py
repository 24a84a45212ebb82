"""`crypsis doctor`: check the installation."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options
from crypsis.cli.output import say, say_json, show_spinner
from crypsis.small_tables import table

NEEDED = (
    "numpy",
    "scipy",
    "numba",
    "polars",
    "narwhals",
    "pydantic",
    "jinja2",
    "joblib",
    "filelock",
)
HELPFUL = {
    "starlette": "the studio, from the extra studio",
    "vl_convert": "charts as pictures, from the extra pictures",
    "pyarrow": "tables larger than memory, from the extra large",
    "pandas": "pandas frames in and out",
    "dask": "a cluster as engine, from the extra dask",
}


def doctor(
    json: options.Json = False,
    compile: Annotated[
        bool,
        typer.Option("--compile", help="compile the kernels of the usual searches for later runs"),
    ] = False,
) -> None:
    """Check the installation.

    Libraries, compiled kernels, a writable cache and the number of cores.
    """
    checks = [("python", True, f"{platform.python_version()} at {sys.prefix}")]
    checks += [(name, *_library(name)) for name in NEEDED]
    checks += [(f"{name} (optional)", True, f"{_library(name)[1]} — {why}") for name, why in HELPFUL.items()]
    checks += [("compiled kernels", *_kernels()), ("kernel cache", *_cache()), ("temporary folder", *_temporary())]
    checks.append(("cores", True, str(os.cpu_count())))
    if compile:
        with show_spinner("compiling the kernels of the usual searches"):
            checks.append(("compiled for", True, _warmed_up()))
    if json:
        say_json([{"check": name, "ok": ok, "found": found} for name, ok, found in checks])
    else:
        say(table(("check", "", "found"), [(name, "ok" if ok else "PROBLEM", found) for name, ok, found in checks]))
    if not all(ok for _, ok, _ in checks):
        raise typer.Exit(1)


def _library(name: str) -> tuple[bool, str]:
    try:
        importlib.import_module(name)
        return True, importlib.metadata.version({"vl_convert": "vl-convert-python"}.get(name, name))
    except ImportError as error:
        return False, f"not installed ({error})"


def _kernels() -> tuple[bool, str]:
    import numpy as np

    from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav

    labels = mdav(np.array([[0.0], [0.1], [5.0], [5.1]]), 2, GENERIC, EUCLIDEAN)
    right = labels[0] == labels[1] != labels[2] == labels[3]
    return bool(right), "compile and give the right answer" if right else "give a wrong answer; reinstall numba"


def _warmed_up() -> str:
    from crypsis.run.warm_up import warm_up

    return ", ".join(warm_up())


def _cache() -> tuple[bool, str]:
    from crypsis.kernels.compile import PLAIN

    if PLAIN:
        return True, "none: numba compiles the kernels its own way, anew in every process"
    folder = Path(importlib.import_module("crypsis.kernels").__file__ or ".").parent
    writable = os.access(folder, os.W_OK)
    return True, "beside the kernels" if writable else "in the user's cache folder or none: slower first call"


def _temporary() -> tuple[bool, str]:
    try:
        with tempfile.NamedTemporaryFile():
            return True, "writable"
    except OSError as error:
        return False, f"cannot be written ({error.strerror}); set TMPDIR"
