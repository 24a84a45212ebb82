"""The one way a kernel is compiled.

Write the plain function as ``_name`` and ``name = kernel(_name)`` below it: the plain one stays testable
and coverable (``NUMBA_DISABLE_JIT=1``), the compiled one is what the library calls.

`kernel_compiler` and `sealed_cache` compile and keep kernels with private parts of numba. Where one of these is
missing, or ``CRYPSIS_KERNELS=plain`` is set, numba compiles kernels its own way: anew in every process.
"""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core import event

PLAIN = os.environ.get("CRYPSIS_KERNELS") == "plain"
"""Whether numba compiles kernels its own way."""
if not PLAIN:
    try:
        from crypsis.kernels import kernel_compiler, sealed_cache
    except (ImportError, AttributeError) as error:
        PLAIN = True
        warnings.warn(
            f"numba {numba.__version__} lacks what keeps compiled kernels ({error}), so every process compiles anew; "
            "install the numba that Crypsis asks for",
            RuntimeWarning,
            stacklevel=2,
        )

P = ParamSpec("P")
R = TypeVar("R")


class _Stopwatch(event.Listener):
    """Wall time during which at least one kernel is being compiled; kernels compile the kernels they call."""

    def __init__(self) -> None:
        self.total, self.depth, self.begun = 0.0, 0, 0.0

    def on_start(self, event: event.Event) -> None:
        if self.depth == 0:
            self.begun = time.monotonic()
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.total += time.monotonic() - self.begun


_stopwatch = _Stopwatch()
event.register("numba:compile", _stopwatch)  # type: ignore[no-untyped-call]


def seconds_compiling() -> float:
    """Seconds of this process that the decorator `kernel` took to compile; a cache counts nothing."""
    running = time.monotonic() - _stopwatch.begun if _stopwatch.depth else 0.0
    return _stopwatch.total + running


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile without the interpreter lock, cached on disk where the disk lets us."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    made = numba.njit(nogil=True)(function) if PLAIN else kernel_compiler.compile_kernel(function)
    return cast(Callable[P, R], made)


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether a function that the decorator `kernel` returned has nothing to compile before it runs."""
    overloads = getattr(function, "overloads", None)
    if overloads is None or overloads:
        return True
    return not PLAIN and kernel_compiler.keeps_numba_kernel(cast(Any, function))


@cache
def locate_compile_mark() -> Path | None:
    """Locate the file that says that `kernel` need not compile the usual kernels again; None if not kept."""
    if PLAIN:
        return None
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return sealed_cache.kept_parent(Path(__file__)) / f"complete-{digest.hexdigest()[:16]}"
