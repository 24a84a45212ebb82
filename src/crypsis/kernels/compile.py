"""The one way a kernel is compiled.

Write the plain function as ``_name`` and ``name = kernel(_name)`` below it: the plain one stays testable
and coverable (``NUMBA_DISABLE_JIT=1``), the compiled one is what the library calls. A kernel calls only
kernels of its own file, because numba's cache does not notice changes in another file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile without the interpreter lock, cached on disk where the disk lets us."""
    try:
        compiled = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        # Neither beside the source nor in the user's cache folder may a file be written (a read-only
        # install without a home): compile in every process, correct if slower to start.
        compiled = numba.njit(nogil=True)(function)
    return cast(Callable[P, R], compiled)
