"""Equivalence classes: the strictest k and l that suppression allows, and how many values a class holds."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Ints
from crypsis.kernels.compile import kernel

_DIRECT = 1024


def _attainable_size(sizes: Ints, allowance: int) -> int:
    """The largest k such that no more than `allowance` records stand in classes smaller than k.

    The largest class always survives. Sizes below `_DIRECT` are tallied, a larger answer is found by bisection; size 0
    is no class.
    """
    tally, largest, whole = np.empty(_DIRECT, dtype=np.int64), 0, 0
    for size in range(_DIRECT):
        tally[size] = 0
    for place in range(sizes.shape[0]):
        size = sizes[place]
        tally[min(size, _DIRECT - 1)] += size
        largest = max(largest, size)
        whole += size
    if whole <= allowance:
        return largest
    spent = 0
    for size in range(1, _DIRECT - 1):
        spent += tally[size]
        if spent > allowance:
            return size
    low, high = _DIRECT - 1, largest
    while low < high:
        middle, spent = (low + high) // 2, 0
        for place in range(sizes.shape[0]):
            spent += sizes[place] if sizes[place] <= middle else 0
        if spent > allowance:
            high = middle
        else:
            low = middle + 1
    return low


attainable_size = kernel(_attainable_size)


def _attainable_diversity(sizes: Ints, distinct: Ints, k: int, allowance: int) -> int:
    """The largest l within `allowance`, records in classes smaller than k being already suppressed."""
    spent, highest = 0, 0
    for place in range(sizes.shape[0]):
        if sizes[place] >= k:
            highest = max(highest, distinct[place])
    tally = np.empty(highest + 1, dtype=np.int64)
    for diversity in range(highest + 1):
        tally[diversity] = 0
    for place in range(sizes.shape[0]):
        if sizes[place] < k:
            spent += sizes[place]
        else:
            tally[distinct[place]] += sizes[place]
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
