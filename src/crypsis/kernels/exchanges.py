"""Values exchanged between records, and the linkage of several attacks followed exactly through every exchange.

Record i as collected is linked rightly by an attack if no published record lies nearer to it than its own, and then
counts 1/t with the t that lie as near. For every attack and record the published records that lie nearer, and as near,
are counted. When published record r changes, they are counted again for r, and for every other record only whether r
was and is nearer: O(b) instead of O(b²) for b records. Distances are always summed in the same order, so that followed
and recounted numbers are equal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints
from crypsis.kernels.compile import kernel

SLACK = 1e-12
"""Distances that differ by no more than rounding are ties, as in record linkage."""


class ExchangeFile(NamedTuple):
    """Records as collected and as published, in coordinates, and the attacks on them.

    known, published  float64[q, b];  nominal  bool[q]: the coordinate is a code, equal or not
    charge  float64[q]: what a published coordinate costs for what it loses: a squared unit, or another category
    spent, caps  float64[q]: what it costs in all records, and may
    starts, coords  int32[u + 1], int32[…]: coordinates that are exchanged together, unit by unit
    unit_of  int32[q]: the unit of a coordinate, −1 if it is never exchanged
    donors  int32[b, u]: whose values a record publishes;  strata  int32[u, b]: only equal ones exchange
    bounds, seen, weights  int32[A + 1], int32[…], float64[…]: coordinates each attack sees, ascending, and what a
        squared gap in each counts for
    touched  bool[u, A]: whether an attack sees a unit
    limits  float64[A]: share of records an attack may find, per cent
    """

    known: Floats
    published: Floats
    nominal: Flags
    charge: Floats
    spent: Floats
    caps: Floats
    starts: Int32s
    coords: Int32s
    unit_of: Int32s
    donors: Int32s
    strata: Int32s
    bounds: Int32s
    seen: Int32s
    weights: Floats
    touched: Flags
    limits: Floats


class LinkCounts(NamedTuple):
    """What every attack counts for every record.

    near, ties  int32[A, b]: published records that lie nearer than its own, and as near, its own among them
    low, high  float64[A, b]: squared distances below the first are nearer, up to the second as near
    found  float64[A]: records that are found, expected
    """

    near: Int32s
    ties: Int32s
    low: Floats
    high: Floats
    found: Floats


class ExchangeRoom(NamedTuple):
    """Buffers, and the counts that were overwritten, so that they can be put back.

    gaps  float64[2, q, b];  sums  float64[2, b];  fresh, held  float64[q]: values to be published, and before
    spent, found  float64[q], float64[A]: as before
    log  int32[L, 4]: attack, record, near, ties;  edges  float64[L, 2]: low, high;  length  int64[1]
    """

    gaps: Floats
    sums: Floats
    fresh: Floats
    held: Floats
    spent: Floats
    found: Floats
    log: Int32s
    edges: Floats
    length: Ints


def _moved(nominal: bool, one: float, other: float) -> float:
    """How far two values of a coordinate lie apart: the distance, or 1 for two categories."""
    if nominal:
        return 1.0 if one != other else 0.0
    return abs(one - other)


moved = kernel(_moved)


def _lost(nominal: bool, known: float, published: float) -> float:
    """What a published coordinate loses: the squared distance, or 1 for another category."""
    if nominal:
        return 1.0 if known != published else 0.0
    return (known - published) * (known - published)


lost = kernel(_lost)


def _fill_gaps(side: Floats, c: int, at: float, nominal: bool, out: Floats) -> None:
    """out float64[b] ← squared distance of every record from a value in one coordinate."""
    b = side.shape[1]
    if nominal:
        for m in range(b):
            out[m] = 1.0 if side[c, m] != at else 0.0
    else:
        for m in range(b):
            gap = side[c, m] - at
            out[m] = gap * gap


fill_gaps = kernel(_fill_gaps)


def _note(counts: LinkCounts, room: ExchangeRoom, a: int, m: int) -> None:
    """Remember what an attack counts for a record, before it changes."""
    at = room.length[0]
    room.log[at, 0], room.log[at, 1] = a, m
    room.log[at, 2], room.log[at, 3] = counts.near[a, m], counts.ties[a, m]
    room.edges[at, 0], room.edges[at, 1] = counts.low[a, m], counts.high[a, m]
    room.length[0] = at + 1


note = kernel(_note)


def _take_back(counts: LinkCounts, room: ExchangeRoom) -> None:
    """Put back every count that was noted."""
    for at in range(room.length[0] - 1, -1, -1):
        a, m = room.log[at, 0], room.log[at, 1]
        counts.near[a, m], counts.ties[a, m] = room.log[at, 2], room.log[at, 3]
        counts.low[a, m], counts.high[a, m] = room.edges[at, 0], room.edges[at, 1]
    room.length[0] = 0


take_back = kernel(_take_back)


def _recount(file: ExchangeFile, counts: LinkCounts, room: ExchangeRoom, r: int, unit: int) -> None:
    """Count for record r, as somebody who is looked for, in the attacks that see a unit; −1: in all."""
    attacks, b = file.limits.shape[0], file.known.shape[1]
    gaps, total = room.gaps[0], room.sums[0]
    for c in range(file.known.shape[0]):
        fill_gaps(file.published, c, file.known[c, r], file.nominal[c], gaps[c])
    for a in range(attacks):
        if unit >= 0 and not file.touched[unit, a]:
            continue
        for m in range(b):
            total[m] = 0.0
        for place in range(file.bounds[a], file.bounds[a + 1]):
            c, weight = file.seen[place], file.weights[place]
            for m in range(b):
                total[m] += weight * gaps[c, m]
        away = math.sqrt(total[r])
        slack = SLACK * (1.0 + away)
        least = max(away - slack, 0.0)
        low, high = least * least, (away + slack) * (away + slack)
        near, ties = 0, 0
        for m in range(b):
            near += total[m] < low
            ties += total[m] <= high
        ties -= near
        if unit >= 0:
            note(counts, room, a, r)
        if counts.near[a, r] == 0:
            counts.found[a] -= 1.0 / counts.ties[a, r]
        if near == 0:
            counts.found[a] += 1.0 / ties
        counts.near[a, r], counts.ties[a, r], counts.low[a, r], counts.high[a, r] = near, ties, low, high


recount = kernel(_recount)


def _total_up(file: ExchangeFile, counts: LinkCounts) -> None:
    """What is found and spent in all, summed in the order of the records, whatever was followed before."""
    b = file.known.shape[1]
    for a in range(file.limits.shape[0]):
        counts.found[a] = 0.0
        for r in range(b):
            if counts.near[a, r] == 0:
                counts.found[a] += 1.0 / counts.ties[a, r]
    for c in range(file.known.shape[0]):
        file.spent[c] = 0.0
        for r in range(b):
            file.spent[c] += file.charge[c] * lost(file.nominal[c], file.known[c, r], file.published[c, r])


total_up = kernel(_total_up)


def _count_links(file: ExchangeFile, counts: LinkCounts, room: ExchangeRoom, people: Ints) -> None:
    """Count everything afresh for some records; O(b) for each.

    people  int64[…]: records that are looked for; others count as not found
    """
    for a in range(file.limits.shape[0]):
        for r in range(file.known.shape[1]):
            counts.near[a, r] = 1
    for place in range(people.shape[0]):
        recount(file, counts, room, people[place], -1)
    total_up(file, counts)


count_links = kernel(_count_links)


def _rewrite(file: ExchangeFile, counts: LinkCounts, room: ExchangeRoom, r: int, unit: int) -> int:
    """Published record r takes the values room.fresh in a unit; → coordinates that were read."""
    attacks, b, work = file.limits.shape[0], file.known.shape[1], 0
    before, after, old, new = room.gaps[0], room.gaps[1], room.sums[0], room.sums[1]
    for c in range(file.known.shape[0]):
        fill_gaps(file.known, c, file.published[c, r], file.nominal[c], before[c])
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        fill_gaps(file.known, c, room.fresh[c], file.nominal[c], after[c])
        here, there = file.published[c, r], room.fresh[c]
        file.spent[c] -= file.charge[c] * lost(file.nominal[c], file.known[c, r], here)
        file.spent[c] += file.charge[c] * lost(file.nominal[c], file.known[c, r], there)
        file.published[c, r] = room.fresh[c]
    for a in range(attacks):
        if not file.touched[unit, a]:
            continue
        for m in range(b):
            old[m], new[m] = 0.0, 0.0
        for place in range(file.bounds[a], file.bounds[a + 1]):
            c, weight = file.seen[place], file.weights[place]
            now = after[c] if file.unit_of[c] == unit else before[c]
            for m in range(b):
                old[m] += weight * before[c, m]
                new[m] += weight * now[m]
        work += 3 * (file.bounds[a + 1] - file.bounds[a])
        for m in range(b):
            high = counts.high[a, m]
            if (old[m] > high and new[m] > high) or m == r:
                continue
            low = counts.low[a, m]
            was, is_near = int(old[m] < low), int(new[m] < low)
            tied, ties = int(old[m] <= high) - was, int(new[m] <= high) - is_near
            if was == is_near and tied == ties:
                continue
            note(counts, room, a, m)
            if counts.near[a, m] == 0:
                counts.found[a] -= 1.0 / counts.ties[a, m]
            counts.near[a, m] += is_near - was
            counts.ties[a, m] += ties - tied
            if counts.near[a, m] == 0:
                counts.found[a] += 1.0 / counts.ties[a, m]
    recount(file, counts, room, r, unit)
    return int(work * b)


rewrite = kernel(_rewrite)
