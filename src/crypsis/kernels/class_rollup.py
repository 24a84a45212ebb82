"""Classes of a lattice node with what they hold, raised level by level, and judged by demands on their contents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.contents import RECURSIVE, SIZE, ContentDemands, ContentRoom, content_level

_TOLERANCE = 1e-9


class RolledClasses(NamedTuple):
    """Classes of one node.

    code     int32[c, s]: group of each attribute at its level
    records  int64[c]: how many records it has
    tally    int32[c, values]: how many of them hold each confidential value
    """

    code: Int32s
    records: Ints
    tally: Int32s


def _clear_seats(seat: Ints, count: int) -> int:
    """Empty as many seats as `count` classes need, a power of two; → the mask of their places."""
    mask = 15
    while mask + 1 < 2 * count:
        mask = 2 * mask + 1
    for slot in range(mask + 1):
        seat[slot] = -1
    return mask


clear_seats = kernel(_clear_seats)


def _find_seat(code: Int32s, row: int, a: int, group: int, width: int, found: Int32s, seat: Ints, mask: int) -> int:
    """The place in a table of seats of the class whose codes are those of a row with attribute `a` in `group`.

    width  how many of the attributes count
    found  codes of the classes that have a seat
    """
    key = 0
    for b in range(width):
        value = group if b == a else code[row, b]
        key = (key ^ (value + 0x9E3779B9)) * 0x2545F491
        key ^= (key >> 15) & 0x1FFFFFFFFFF
    slot = key & mask
    while seat[slot] >= 0:
        same, other = True, seat[slot]
        for b in range(width):
            if found[other, b] != (group if b == a else code[row, b]):
                same = False
                break
        if same:
            return slot
        slot = (slot + 1) & mask
    return slot


find_seat = kernel(_find_seat)


def _copy_codes(code: Int32s, row: int, width: int, found: Int32s, to: int) -> None:
    """Give a new class the codes of a row."""
    for b in range(width):
        found[to, b] = code[row, b]


copy_codes = kernel(_copy_codes)


def _raise_classes(old: RolledClasses, count: int, a: int, up: Int32s, new: RolledClasses, seat: Ints) -> int:
    """Raise attribute `a` by one level; → how many classes there are.

    up    int32[groups]: group one level higher
    new   room for as many classes as before
    seat  int64[2^b]: room for a hash table, at least twice as many as classes
    """
    width, values = old.code.shape[1], old.tally.shape[1]
    mask, made = clear_seats(seat, count), 0
    for row in range(count):
        group = up[old.code[row, a]]
        slot = find_seat(old.code, row, a, group, width, new.code, seat, mask)
        to = seat[slot]
        if to < 0:
            to, seat[slot] = made, made
            made += 1
            copy_codes(old.code, row, width, new.code, to)
            new.code[to, a] = group
            new.records[to] = 0
            for v in range(values):
                new.tally[to, v] = 0
        new.records[to] += old.records[row]
        for v in range(values):
            new.tally[to, v] += old.tally[row, v]
    return made


raise_classes = kernel(_raise_classes)


def _records_below(held: RolledClasses, count: int, width: int, least: int, spare: RolledClasses, seat: Ints) -> int:
    """Records in classes smaller than `least` if only the first `width` attributes are published."""
    mask, made = clear_seats(seat, count), 0
    for row in range(count):
        slot = find_seat(held.code, row, -1, 0, width, spare.code, seat, mask)
        to = seat[slot]
        if to < 0:
            to, seat[slot] = made, made
            made += 1
            copy_codes(held.code, row, width, spare.code, to)
            spare.records[to] = 0
        spare.records[to] += held.records[row]
    small = 0
    for to in range(made):
        small += spare.records[to] if spare.records[to] < least else 0
    return small


records_below = kernel(_records_below)


def _tally_passes(demands: ContentDemands, room: ContentRoom, tally: Int32s, records: int) -> bool:
    """Whether a class meets every demand, given how many of its records hold each value."""
    for d in range(len(demands.kind)):
        kind, c, bound = demands.kind[d], demands.column[d], demands.bound[d, 0]
        m, total = 0, 0
        level = float(records)
        if kind != SIZE:
            for value in range(demands.first[c], demands.first[c + 1]):
                if tally[value] > 0:
                    room.held[0, m] = value
                    room.times[value] = tally[value]
                    total += tally[value]
                    m += 1
            level = content_level(demands, room, d, m, total, records)
            for i in range(m):
                room.times[room.held[0, i]] = 0
        allowed = _TOLERANCE * max(1.0, abs(bound))
        if (kind <= RECURSIVE and level < bound - allowed) or (kind > RECURSIVE and level > bound + allowed):
            return False
    return True


tally_passes = kernel(_tally_passes)


def _judge_classes(
    held: RolledClasses, count: int, cell: Floats, demands: ContentDemands, room: ContentRoom, limits: Ints, out: Floats
) -> None:
    """Judge one node: every class that fails is suppressed.

    cell    float64[s, groups]: loss of a cell in each group at the node's levels
    limits  int64[2]: no class below the first can pass; records that may be suppressed
    out     float64[4]: records suppressed, loss summed over records, smallest class left (0: none), classes left
    """
    width = held.code.shape[1]
    small = 0
    for row in range(count):
        small += held.records[row] if held.records[row] < limits[0] else 0
    out[0], out[1], out[2], out[3] = small, np.inf, 0.0, 0.0
    if small > limits[1]:
        return
    lost, least, left = 0.0, 0, 0
    for row in range(count):
        if held.records[row] >= limits[0] and tally_passes(demands, room, held.tally[row], held.records[row]):
            each = 0.0
            for b in range(width):
                each += cell[b, held.code[row, b]]
            lost += each * held.records[row]
            left += 1
            if least == 0 or held.records[row] < least:
                least = held.records[row]
        else:
            if held.records[row] >= limits[0]:
                small += held.records[row]
                if small > limits[1]:
                    out[0] = small
                    return
            lost += width * held.records[row]
    out[0], out[1], out[2], out[3] = small, lost, least, left


judge_classes = kernel(_judge_classes)
