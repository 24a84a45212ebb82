"""Equivalence classes: the strictest k and l that suppression allows, and how many values a class holds."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Ints, Words
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

# -- A hash table of 64-bit keys in open addressing: which slot holds a key.

_STIR = np.uint64(0x9E3779B97F4A7C15)
_ONE, _ALL = np.uint64(1), np.uint64(2**64 - 1)


def _slots_for(count: int) -> int:
    """How many slots so many keys need: a power of two, at least twice as many."""
    size = 16
    while size < 2 * count:
        size *= 2
    return size


slots_for = kernel(_slots_for)


def _clear_slots(held: Ints, count: int) -> np.uint64:
    """Empty the slots that so many keys need; → the shift that brings a stirred key among them."""
    size, shift = slots_for(count), np.uint64(64)
    for slot in range(size):
        held[slot] = 0
    while size > 1:
        size //= 2
        shift -= _ONE
    return shift


clear_slots = kernel(_clear_slots)


def _find_slot(key: np.uint64, keys: Words, held: Ints, shift: np.uint64) -> int:
    """The slot that holds a key, or the empty one where it belongs."""
    slot, last = np.int64((key * _STIR) >> shift), np.int64(_ALL >> shift)
    while held[slot] and keys[slot] != key:
        slot = (slot + 1) & last
    return int(slot)


find_slot = kernel(_find_slot)
