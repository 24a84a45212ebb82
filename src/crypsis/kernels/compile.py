"""The one way a kernel is compiled.

Write the plain function as ``_name`` and ``name = kernel(_name)`` below it: the plain one stays testable
and coverable (``NUMBA_DISABLE_JIT=1``), the compiled one is what the library calls.

numba's own cache looks at the file a kernel stands in and not at the kernels it calls from elsewhere, so a
change there would go unnoticed and stale code would run. Ours lies in a folder named after the content of the
file and of every kernel file it imports: whatever changes in one of them, nothing old is found.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")

_settings: Any = numba.config
_IMPORT = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_NAME = re.compile(r"\w+")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile without the interpreter lock, cached on disk where the disk lets us."""
    try:
        with _cached_in(cache_folder(Path(function.__code__.co_filename))):
            compiled = numba.njit(nogil=True, cache=True)(function)
    except (RuntimeError, OSError):
        # Neither beside the source nor in the user's cache folder may a file be written (a read-only
        # install without a home): compile in every process, correct if slower to start.
        compiled = numba.njit(nogil=True)(function)
    return cast(Callable[P, R], compiled)


@contextmanager
def _cached_in(folder: Path) -> Iterator[None]:
    """numba reads its setting when a function is wrapped; other packages keep theirs."""
    before = _settings.CACHE_DIR
    _settings.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _settings.CACHE_DIR = before


@cache
def cache_folder(source: Path) -> Path:
    """Where compiled kernels of exactly this source, and of the kernels it imports, are kept."""
    digest = hashlib.sha256()
    for path in sorted(_with_imports(source)):
        digest.update(path.read_bytes())
    home, beside = source.parent, source.parent / "__pycache__"
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        parent = Path(named)
    elif os.access(beside if beside.exists() else home, os.W_OK):
        parent = beside
    else:
        parent = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crypsis"
    return parent / f"{source.stem}-{digest.hexdigest()[:16]}"


def _with_imports(source: Path) -> set[Path]:
    """The file and every file of its folder that it imports, directly or not."""
    found, waiting = set(), [source]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        # Every process reads every kernel file once: to parse them all would take half a second.
        for module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
            waiting.extend(source.parent / f"{name}.py" for name in (module.rsplit(".", 1)[-1], *_NAME.findall(names)))
    return found
