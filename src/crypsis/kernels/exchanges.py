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

import numpy as np

from crypsis.kernels.annealing import HOPELESS, bears, below, draw
from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints, Words
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

# -- The walk of values between records: which exchange is tried next, and whether it is kept.

NEAR, FAR, REPLACE, RESTORE = range(4)
"""Moves: exchange with a similar record, exchange with any, take another's category, take one's own value back."""
TRIES = 12
"""Records or cells looked at for one worth a change."""
IDLE = 40
"""Coordinates that a try costs which changes nothing."""

_32, _LOW = np.uint64(32), np.uint64(2**32 - 1)


class ExchangePace(NamedTuple):
    """How a walk goes.

    work  coordinates that may be read;  hot, cold  temperatures at its beginning and end
    price  what a record found beyond a limit costs, in per cent of loss for each per cent of records
    aimed  share of changes, of 2**32, at records that an attack finds too often
    """

    work: int
    hot: float
    cold: float
    price: float
    aimed: int


class ExchangeRules(NamedTuple):
    """Which combinations of values a record may publish.

    bounds, columns, units, strides  int32[R + 1], int32[…], int32[…], int64[…]: the columns of each rule by their row
        of codes, the unit of each (−1: as collected), and how far apart its codes lie in `allowed`
    codes  int32[C, n]: values of all donors;  allowed  bool[…];  starts  int64[R]: where a rule begins there
    exempt  bool[R, n]: records that break a rule as collected
    """

    bounds: Int32s
    columns: Int32s
    units: Int32s
    strides: Ints
    codes: Int32s
    allowed: Flags
    starts: Ints
    exempt: Flags


class ExchangeSurroundings(NamedTuple):
    """What a walk looks up.

    near  int32[b, m]: similar records;  free  bool[u]: units whose categories may be replaced
    rows  int32[b]: numbers of the records among all donors
    """

    near: Int32s
    free: Flags
    rows: Int32s
    rules: ExchangeRules


def _keeps_rules(file: ExchangeFile, around: ExchangeSurroundings, i: int, unit: int, donor: int) -> bool:
    """Whether record i keeps every rule if it publishes the values of a donor in a unit."""
    rules = around.rules
    for r in range(rules.starts.shape[0]):
        if rules.exempt[r, around.rows[i]]:
            continue
        at, asked = rules.starts[r], False
        for place in range(rules.bounds[r], rules.bounds[r + 1]):
            row = around.rows[i]
            if rules.units[place] == unit:
                row, asked = donor, True
            elif rules.units[place] >= 0:
                row = file.donors[i, rules.units[place]]
            at += rules.strides[place] * rules.codes[rules.columns[place], row]
        if asked and not rules.allowed[at]:
            return False
    return True


keeps_rules = kernel(_keeps_rules)


def _excess(file: ExchangeFile, counts: LinkCounts) -> float:
    """How many per cent of the records attacks find beyond their limits, in all."""
    total = 0.0
    for a in range(file.limits.shape[0]):
        total += max(0.0, 100.0 * counts.found[a] / file.known.shape[1] - file.limits[a])
    return total


excess = kernel(_excess)


def _loss(file: ExchangeFile) -> float:
    """What all cells have lost."""
    total = 0.0
    for c in range(file.spent.shape[0]):
        total += file.spent[c]
    return total


loss = kernel(_loss)


def _differ(file: ExchangeFile, i: int, j: int, unit: int, collected: bool) -> bool:
    """Whether record i publishes other values in a unit than record j, or than j as collected."""
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        if file.published[c, i] != (file.known[c, j] if collected else file.published[c, j]):
            return True
    return False


differ = kernel(_differ)


def _dearer(file: ExchangeFile, i: int, j: int, unit: int, exchange: bool) -> float:
    """How much more the cells lose if i and j exchange what they publish in a unit, or i takes what j collected."""
    rise = 0.0
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        nominal, one = file.nominal[c], file.published[c, i]
        two = file.published[c, j] if exchange else file.known[c, j]
        apart = lost(nominal, file.known[c, i], two) - lost(nominal, file.known[c, i], one)
        if exchange:
            apart += lost(nominal, file.known[c, j], one) - lost(nominal, file.known[c, j], two)
        rise += file.charge[c] * apart
    return rise


dearer = kernel(_dearer)


def _holder(file: ExchangeFile, i: int, unit: int, start: int) -> int:
    """A record that publishes the value of record i in a unit in place of its own; −1 if there is none."""
    b = file.known.shape[1]
    for step in range(b):
        h = (start + step) % b
        open_to = h != i and file.strata[unit, h] == file.strata[unit, i]
        if open_to and not differ(file, h, i, unit, True) and differ(file, h, h, unit, True):
            return int(h)
    return -1


holder = kernel(_holder)


def _worst_attack(file: ExchangeFile, counts: LinkCounts, start: int) -> int:
    """An attack that finds more than it may, from a place on; −1 if none does."""
    attacks = file.limits.shape[0]
    for step in range(attacks):
        a = (start + step) % attacks
        if 100.0 * counts.found[a] / file.known.shape[1] > file.limits[a]:
            return int(a)
    return -1


worst_attack = kernel(_worst_attack)


def _publish(
    file: ExchangeFile, counts: LinkCounts, room: ExchangeRoom, i: int, j: int, unit: int, exchange: bool
) -> int:
    """Records i and j exchange what they publish in a unit, or i takes what was collected of j; → work."""
    for c in range(file.spent.shape[0]):
        room.spent[c] = file.spent[c]
    for a in range(file.limits.shape[0]):
        room.found[a] = counts.found[a]
    room.length[0] = 0
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        room.fresh[c] = file.published[c, j] if exchange else file.known[c, j]
        room.held[c] = file.published[c, i]
    work = rewrite(file, counts, room, i, unit)
    if exchange:
        for place in range(file.starts[unit], file.starts[unit + 1]):
            c = file.coords[place]
            room.fresh[c] = room.held[c]
        work += rewrite(file, counts, room, j, unit)
    return work


publish = kernel(_publish)


def _put_back(
    file: ExchangeFile, counts: LinkCounts, room: ExchangeRoom, i: int, j: int, unit: int, exchange: bool
) -> None:
    """Undo the last `publish`: values, counts and what they cost."""
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        if exchange:
            file.published[c, j] = file.published[c, i]
        file.published[c, i] = room.held[c]
        file.spent[c] = room.spent[c]
    for a in range(file.limits.shape[0]):
        counts.found[a] = room.found[a]
    take_back(counts, room)


put_back = kernel(_put_back)


def _keeps_caps(file: ExchangeFile, room: ExchangeRoom, unit: int) -> bool:
    """Whether no column of a unit loses more than it may, or more than before."""
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        if file.spent[c] > file.caps[c] and file.spent[c] > room.spent[c]:
            return False
    return True


keeps_caps = kernel(_keeps_caps)


def _hides(
    file: ExchangeFile, counts: LinkCounts, room: ExchangeRoom, i: int, j: int, unit: int, exchange: bool, a: int
) -> bool:
    """Whether an attack that finds record i would find it less surely after a change of its values in a unit."""
    b, total = file.known.shape[1], room.sums[0]
    for m in range(b):
        total[m] = 0.0
    own, other = 0.0, 0.0
    for place in range(file.bounds[a], file.bounds[a + 1]):
        c, weight = file.seen[place], file.weights[place]
        at, row = file.known[c, i], room.gaps[0, c]
        fill_gaps(file.published, c, at, file.nominal[c], row)
        for m in range(b):
            total[m] += weight * row[m]
        taken = (file.published[c, j] if exchange else file.known[c, j]) if file.unit_of[c] == unit else at
        if file.unit_of[c] == unit:
            gap = moved(file.nominal[c], taken, at)
            own += weight * gap * gap
            other += weight * row[i]
        else:
            own += weight * row[i]
            other += weight * row[j]
    total[i] = np.inf
    if exchange:
        total[j] = other
    near, ties = 0, 1
    for m in range(b):
        near += total[m] < own
        ties += total[m] == own
    return near > 0 or ties > counts.ties[a, i]


hides = kernel(_hides)


def _propose(
    file: ExchangeFile,
    counts: LinkCounts,
    neighbours: Int32s,
    free: Flags,
    kind: int,
    attack: int,
    chance: Words,
    move: Ints,
) -> bool:
    """move int64[3] ← record, other record and unit of a change of one kind; whether one was found.

    attack  one that finds too much, at whose records the change is aimed; −1: anywhere
    """
    b, units = file.known.shape[1], file.starts.shape[0] - 1
    for _ in range(TRIES):
        bits = draw(chance)
        i, unit = below(bits & _LOW, b), below(bits >> _32, units)
        bits = draw(chance)
        if kind == RESTORE:
            if not differ(file, i, i, unit, True):
                continue
            j = i if free[unit] else holder(file, i, unit, below(bits >> _32, b))
            if j < 0:
                return False
        else:
            if attack >= 0 and (counts.near[attack, i] > 0 or not file.touched[unit, attack]):
                continue
            j = below(bits >> _32, b)
            if kind == NEAR:
                j = int(neighbours[i, below(bits >> _32, neighbours.shape[1])])
            if kind == REPLACE and not free[unit]:
                continue
            if i == j or file.strata[unit, i] != file.strata[unit, j]:
                continue
            if not differ(file, i, j, unit, kind == REPLACE):
                continue
        move[0], move[1], move[2] = i, j, unit
        return True
    return False


propose = kernel(_propose)


def _walk_exchanges(
    file: ExchangeFile,
    counts: LinkCounts,
    room: ExchangeRoom,
    around: ExchangeSurroundings,
    rates: Floats,
    pace: ExchangePace,
    chance: Words,
    tally: Floats,
) -> float:
    """Try changes until so many coordinates were read, while the temperature falls; → what the file costs then.

    rates   float64[4]: how often each kind of move is tried, rising to 1
    tally   float64[4, 2]: tries and improvements of each kind, added to
    """
    neighbours, free, rows = around.near, around.free, around.rows
    move, done = np.zeros(3, np.int64), 0
    cost = loss(file) + pace.price * excess(file, counts)
    while done < pace.work:
        heat = pace.hot * (pace.cold / pace.hot) ** (done / pace.work)
        bits = draw(chance)
        at, kind = float(bits >> _32) / 2.0**32, 0
        while kind < RESTORE and at >= rates[kind]:
            kind += 1
        attack = -1
        if kind != RESTORE and (bits & _LOW) < pace.aimed:
            attack = worst_attack(file, counts, below(draw(chance) & _LOW, file.limits.shape[0]))
        done += IDLE
        if not propose(file, counts, neighbours, free, kind, attack, chance, move):
            continue
        i, j, unit = move[0], move[1], move[2]
        exchange = kind != REPLACE and not (kind == RESTORE and free[unit])
        kept = keeps_rules(file, around, i, unit, file.donors[j, unit] if exchange else rows[j])
        if not kept or (exchange and not keeps_rules(file, around, j, unit, file.donors[i, unit])):
            continue
        if dearer(file, i, j, unit, exchange) - pace.price * excess(file, counts) > HOPELESS * heat:
            continue
        if attack >= 0:
            done += (file.bounds[attack + 1] - file.bounds[attack]) * file.known.shape[1]
            if not hides(file, counts, room, i, j, unit, exchange, attack):
                continue
        done += publish(file, counts, room, i, j, unit, exchange)
        after = loss(file) + pace.price * excess(file, counts)
        tally[kind, 0] += 1.0
        if keeps_caps(file, room, unit) and bears(after - cost, heat, chance):
            tally[kind, 1] += after < cost
            cost = after
            if exchange:
                held = file.donors[i, unit]
                file.donors[i, unit] = file.donors[j, unit]
                file.donors[j, unit] = held
            else:
                file.donors[i, unit] = rows[j]
        else:
            put_back(file, counts, room, i, j, unit, exchange)
    return cost


walk_exchanges = kernel(_walk_exchanges)


def _near_records(file: ExchangeFile, room: ExchangeRoom, found: Int32s, apart: Floats) -> None:
    """found int32[b, m] ← the nearest other records as collected, by the first attack; apart float64[m] is a buffer."""
    b, most = found.shape
    total, row = room.sums[0], room.sums[1]
    for r in range(b):
        for m in range(b):
            total[m] = 0.0
        for place in range(file.bounds[0], file.bounds[1]):
            c, weight = file.seen[place], file.weights[place]
            fill_gaps(file.known, c, file.known[c, r], file.nominal[c], row)
            for m in range(b):
                total[m] += weight * row[m]
        held = 0
        for m in range(b):
            if m == r or (held == most and total[m] >= apart[most - 1]):
                continue
            at = held if held < most else most - 1
            while at > 0 and apart[at - 1] > total[m]:
                apart[at], found[r, at] = apart[at - 1], found[r, at - 1]
                at -= 1
            apart[at], found[r, at] = total[m], m
            held = min(held + 1, most)


near_records = kernel(_near_records)
