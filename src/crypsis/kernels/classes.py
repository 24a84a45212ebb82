"""Equivalence classes: the strictest k and l that suppression allows, and how many values a class holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.compile import kernel

_DIRECT = 1024


def _attainable_size(sizes: NDArray[np.int64], allowance: int) -> int:
    """The largest k such that no more than `allowance` records stand in classes smaller than k.

    The largest class always survives. Sizes below `_DIRECT` are tallied, the few larger ones sorted; size 0
    is no class.
    """
    tally = np.zeros(_DIRECT, dtype=np.int64)
    for size in sizes:
        tally[min(size, _DIRECT - 1)] += size
    spent, smallest = 0, 0
    for size in range(1, _DIRECT - 1):
        if tally[size]:
            smallest = size
            spent += tally[size]
            if spent > allowance:
                return size
    rest = np.sort(sizes[sizes >= _DIRECT - 1])
    for size in rest:
        spent += size
        if spent > allowance:
            return int(size)
    return int(rest[-1]) if len(rest) else smallest


attainable_size = kernel(_attainable_size)


def _attainable_diversity(sizes: NDArray[np.int64], distinct: NDArray[np.int64], k: int, allowance: int) -> int:
    """The largest l within `allowance`, records in classes smaller than k being already suppressed."""
    tally = np.zeros(distinct.max() + 1, dtype=np.int64)
    spent, highest = 0, 0
    for place in range(len(sizes)):
        if sizes[place] < k:
            spent += sizes[place]
        else:
            tally[distinct[place]] += sizes[place]
            highest = max(highest, distinct[place])
    for diversity in range(highest):
        spent += tally[diversity]
        if spent > allowance:
            return diversity
    return highest


attainable_diversity = kernel(_attainable_diversity)


def _bits(word: np.uint64) -> np.uint64:
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


bits = kernel(_bits)
