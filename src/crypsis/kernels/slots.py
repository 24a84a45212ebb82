"""A hash table of 64-bit keys in open addressing: which slot holds a key."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Ints, Words
from crypsis.kernels.compile import kernel

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
