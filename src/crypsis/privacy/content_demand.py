"""One demand on the contents of a class, as a model states it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ContentDemand:
    """What every class must hold: its size, or the values of one confidential column.

    Attributes
    ----------
    kind : int
        One of the kinds of `crypsis.kernels.contents`.
    bound : tuple of three floats
        The threshold, then what the kind needs besides (c of recursive diversity, k of (α, k), both bounds of δ).
    column : str
        The column whose values count; empty where only the size does.
    codes : int32[n]
        A code per record of the table, equal for values that look alike, in their order; −1 where missing.
    tree : int32[levels, n], optional
        Group of each record's value at every level above the values.
    """

    kind: int
    bound: tuple[float, float, float]
    column: str = ""
    codes: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    tree: NDArray[np.int32] | None = None
