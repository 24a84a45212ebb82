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

from crypsis.kernels.annealing import REJECTED_ABOVE, accept, draw, integer_below
from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints, Words
from crypsis.kernels.compile import kernel

SLACK = 1e-12
"""Distances that differ by no more than rounding are ties, as in record linkage."""


class ExchangeFile(NamedTuple):
    """Records as collected and as published, in coordinates, and the attacks on them."""

    known: Floats  # float64[q, b];  nominal  bool[q]: the coordinate is a code, equal or not
    published: Floats
    nominal: Flags
    # float64[q]: what a published coordinate costs for what it loses: a squared unit, or another category
    charge: Floats
    spent: Floats  # float64[q]: what it costs in all records, and may
    caps: Floats
    starts: Int32s  # int32[u + 1], int32[…]: coordinates that are exchanged together, unit by unit
    coords: Int32s
    unit_of: Int32s  # int32[q]: the unit of a coordinate, −1 if it is never exchanged
    donors: Int32s  # int32[b, u]: whose values a record publishes;  strata  int32[u, b]: only equal ones exchange
    strata: Int32s
    # int32[A + 1], int32[…], float64[…]: coordinates each attack sees, ascending, and what a squared gap in each
    # counts for
    bounds: Int32s
    seen: Int32s
    weights: Floats
    touched: Flags  # bool[u, A]: whether an attack sees a unit
    limits: Floats  # float64[A]: share of records an attack may find, per cent


class LinkCounts(NamedTuple):
    """What every attack counts for every record."""

    near: Int32s  # int32[A, b]: published records that lie nearer than its own, and as near, its own among them
    ties: Int32s
    low: Floats  # float64[A, b]: squared distances below the first are nearer, up to the second as near
    high: Floats
    found: Floats  # float64[A]: records that are found, expected


class ExchangeWorkspace(NamedTuple):
    """Buffers, and the counts that were overwritten, so that they can be put back."""

    gaps: Floats  # float64[2, q, b];  sums  float64[2, b];  fresh, held  float64[q]: values to be published, and before
    sums: Floats
    fresh: Floats
    held: Floats
    spent: Floats  # float64[q], float64[A]: as before
    found: Floats
    log: Int32s  # int32[L, 4]: attack, record, near, ties;  edges  float64[L, 2]: low, high;  length  int64[1]
    edges: Floats
    length: Ints


def _coordinate_distance(nominal: bool, one: float, other: float) -> float:
    """How far two values of a coordinate lie apart: the distance, or 1 for two categories."""
    if nominal:
        return 1.0 if one != other else 0.0
    return abs(one - other)


coordinate_distance = kernel(_coordinate_distance)


def _coordinate_loss(nominal: bool, known: float, published: float) -> float:
    """What a published coordinate loses: the squared distance, or 1 for another category."""
    if nominal:
        return 1.0 if known != published else 0.0
    return (known - published) * (known - published)


coordinate_loss = kernel(_coordinate_loss)


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


def _log_counts(counts: LinkCounts, workspace: ExchangeWorkspace, a: int, m: int) -> None:
    """Remember what an attack counts for a record, before it changes."""
    at = workspace.length[0]
    workspace.log[at, 0], workspace.log[at, 1] = a, m
    workspace.log[at, 2], workspace.log[at, 3] = counts.near[a, m], counts.ties[a, m]
    workspace.edges[at, 0], workspace.edges[at, 1] = counts.low[a, m], counts.high[a, m]
    workspace.length[0] = at + 1


log_counts = kernel(_log_counts)


def _restore_counts(counts: LinkCounts, workspace: ExchangeWorkspace) -> None:
    """Put back every count that was noted."""
    for at in range(workspace.length[0] - 1, -1, -1):
        a, m = workspace.log[at, 0], workspace.log[at, 1]
        counts.near[a, m], counts.ties[a, m] = workspace.log[at, 2], workspace.log[at, 3]
        counts.low[a, m], counts.high[a, m] = workspace.edges[at, 0], workspace.edges[at, 1]
    workspace.length[0] = 0


restore_counts = kernel(_restore_counts)


def _recount(file: ExchangeFile, counts: LinkCounts, workspace: ExchangeWorkspace, r: int, unit: int) -> None:
    """Count for record r, as somebody who is looked for, in the attacks that see a unit; −1: in all."""
    attacks, b = file.limits.shape[0], file.known.shape[1]
    gaps, total = workspace.gaps[0], workspace.sums[0]
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
            log_counts(counts, workspace, a, r)
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
            file.spent[c] += file.charge[c] * coordinate_loss(file.nominal[c], file.known[c, r], file.published[c, r])


total_up = kernel(_total_up)


def _count_links(file: ExchangeFile, counts: LinkCounts, workspace: ExchangeWorkspace, people: Ints) -> None:
    """Count everything afresh for some records; O(b) for each.

    `people` int64[…].
    """
    for a in range(file.limits.shape[0]):
        for r in range(file.known.shape[1]):
            counts.near[a, r] = 1
    for place in range(people.shape[0]):
        recount(file, counts, workspace, people[place], -1)
    total_up(file, counts)


count_links = kernel(_count_links)


def _rewrite(file: ExchangeFile, counts: LinkCounts, workspace: ExchangeWorkspace, r: int, unit: int) -> int:
    """Published record r takes the values workspace.fresh in a unit; → coordinates that were read."""
    attacks, b, work = file.limits.shape[0], file.known.shape[1], 0
    before, after, old, new = workspace.gaps[0], workspace.gaps[1], workspace.sums[0], workspace.sums[1]
    for c in range(file.known.shape[0]):
        fill_gaps(file.known, c, file.published[c, r], file.nominal[c], before[c])
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        fill_gaps(file.known, c, workspace.fresh[c], file.nominal[c], after[c])
        here, there = file.published[c, r], workspace.fresh[c]
        file.spent[c] -= file.charge[c] * coordinate_loss(file.nominal[c], file.known[c, r], here)
        file.spent[c] += file.charge[c] * coordinate_loss(file.nominal[c], file.known[c, r], there)
        file.published[c, r] = workspace.fresh[c]
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
            log_counts(counts, workspace, a, m)
            if counts.near[a, m] == 0:
                counts.found[a] -= 1.0 / counts.ties[a, m]
            counts.near[a, m] += is_near - was
            counts.ties[a, m] += ties - tied
            if counts.near[a, m] == 0:
                counts.found[a] += 1.0 / counts.ties[a, m]
    recount(file, counts, workspace, r, unit)
    return int(work * b)


rewrite = kernel(_rewrite)

# -- Annealing of exchanges: which exchange is tried next, and whether it is accepted.

NEAR, FAR, REPLACE, RESTORE = range(4)
"""Moves: exchange with a similar record, exchange with any, take another's category, take one's own value back."""
TRIES = 12
"""Records or cells looked at for one worth a change."""
IDLE = 40
"""Coordinates that a try costs which changes nothing."""

_32, _LOW = np.uint64(32), np.uint64(2**32 - 1)


class ExchangeSettings(NamedTuple):
    """Settings of an annealing run."""

    work: int  # coordinates that may be read;  hot, cold  temperatures at its beginning and end
    hot: float
    cold: float
    price: float  # what a record found beyond a limit costs, in per cent of loss for each per cent of records
    aimed: int  # share of changes, of 2**32, at records that an attack finds too often


class ExchangeRules(NamedTuple):
    """Which combinations of values a record may publish."""

    # int32[R + 1], int32[…], int32[…], int64[…]: the columns of each rule by their row of codes, the unit of each
    # (−1: as collected), and how far apart its codes lie in `allowed`
    bounds: Int32s
    columns: Int32s
    units: Int32s
    strides: Ints
    codes: Int32s  # int32[C, n]: values of all donors;  allowed  bool[…];  starts  int64[R]: where a rule begins there
    allowed: Flags
    starts: Ints
    exempt: Flags  # bool[R, n]: records that break a rule as collected


class ExchangeContext(NamedTuple):
    """What annealing looks up."""

    near: Int32s  # int32[b, m]: similar records;  free  bool[u]: units whose categories may be replaced
    free: Flags
    rows: Int32s  # int32[b]: numbers of the records among all donors
    rules: ExchangeRules


def _keeps_rules(file: ExchangeFile, context: ExchangeContext, i: int, unit: int, donor: int) -> bool:
    """Whether record i keeps every rule if it publishes the values of a donor in a unit."""
    rules = context.rules
    for r in range(rules.starts.shape[0]):
        if rules.exempt[r, context.rows[i]]:
            continue
        at, asked = rules.starts[r], False
        for place in range(rules.bounds[r], rules.bounds[r + 1]):
            row = context.rows[i]
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


def _loss_rise(file: ExchangeFile, i: int, j: int, unit: int, exchange: bool) -> float:
    """How much more the cells lose if i and j exchange what they publish in a unit, or i takes what j collected."""
    rise = 0.0
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        nominal, one = file.nominal[c], file.published[c, i]
        two = file.published[c, j] if exchange else file.known[c, j]
        apart = coordinate_loss(nominal, file.known[c, i], two) - coordinate_loss(nominal, file.known[c, i], one)
        if exchange:
            apart += coordinate_loss(nominal, file.known[c, j], one) - coordinate_loss(nominal, file.known[c, j], two)
        rise += file.charge[c] * apart
    return rise


loss_rise = kernel(_loss_rise)


def _find_holder(file: ExchangeFile, i: int, unit: int, start: int) -> int:
    """A record that publishes the value of record i in a unit in place of its own; −1 if there is none."""
    b = file.known.shape[1]
    for step in range(b):
        h = (start + step) % b
        open_to = h != i and file.strata[unit, h] == file.strata[unit, i]
        if open_to and not differ(file, h, i, unit, True) and differ(file, h, h, unit, True):
            return int(h)
    return -1


find_holder = kernel(_find_holder)


def _find_exceeding_attack(file: ExchangeFile, counts: LinkCounts, start: int) -> int:
    """An attack that finds more than it may, from a place on; −1 if none does."""
    attacks = file.limits.shape[0]
    for step in range(attacks):
        a = (start + step) % attacks
        if 100.0 * counts.found[a] / file.known.shape[1] > file.limits[a]:
            return int(a)
    return -1


find_exceeding_attack = kernel(_find_exceeding_attack)


def _publish(
    file: ExchangeFile, counts: LinkCounts, workspace: ExchangeWorkspace, i: int, j: int, unit: int, exchange: bool
) -> int:
    """Records i and j exchange what they publish in a unit, or i takes what was collected of j; → work."""
    for c in range(file.spent.shape[0]):
        workspace.spent[c] = file.spent[c]
    for a in range(file.limits.shape[0]):
        workspace.found[a] = counts.found[a]
    workspace.length[0] = 0
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        workspace.fresh[c] = file.published[c, j] if exchange else file.known[c, j]
        workspace.held[c] = file.published[c, i]
    work = rewrite(file, counts, workspace, i, unit)
    if exchange:
        for place in range(file.starts[unit], file.starts[unit + 1]):
            c = file.coords[place]
            workspace.fresh[c] = workspace.held[c]
        work += rewrite(file, counts, workspace, j, unit)
    return work


publish = kernel(_publish)


def _undo_publish(
    file: ExchangeFile, counts: LinkCounts, workspace: ExchangeWorkspace, i: int, j: int, unit: int, exchange: bool
) -> None:
    """Undo the last `publish`: values, counts and what they cost."""
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        if exchange:
            file.published[c, j] = file.published[c, i]
        file.published[c, i] = workspace.held[c]
        file.spent[c] = workspace.spent[c]
    for a in range(file.limits.shape[0]):
        counts.found[a] = workspace.found[a]
    restore_counts(counts, workspace)


undo_publish = kernel(_undo_publish)


def _keeps_caps(file: ExchangeFile, workspace: ExchangeWorkspace, unit: int) -> bool:
    """Whether no column of a unit loses more than it may, or more than before."""
    for place in range(file.starts[unit], file.starts[unit + 1]):
        c = file.coords[place]
        if file.spent[c] > file.caps[c] and file.spent[c] > workspace.spent[c]:
            return False
    return True


keeps_caps = kernel(_keeps_caps)


def _hides(
    file: ExchangeFile,
    counts: LinkCounts,
    workspace: ExchangeWorkspace,
    i: int,
    j: int,
    unit: int,
    exchange: bool,
    a: int,
) -> bool:
    """Whether an attack that finds record i would find it less surely after a change of its values in a unit."""
    b, total = file.known.shape[1], workspace.sums[0]
    for m in range(b):
        total[m] = 0.0
    own, other = 0.0, 0.0
    for place in range(file.bounds[a], file.bounds[a + 1]):
        c, weight = file.seen[place], file.weights[place]
        at, row = file.known[c, i], workspace.gaps[0, c]
        fill_gaps(file.published, c, at, file.nominal[c], row)
        for m in range(b):
            total[m] += weight * row[m]
        taken = (file.published[c, j] if exchange else file.known[c, j]) if file.unit_of[c] == unit else at
        if file.unit_of[c] == unit:
            gap = coordinate_distance(file.nominal[c], taken, at)
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
    random_state: Words,
    move: Ints,
) -> bool:
    """move int64[3] ← record, other record and unit of a change of one kind; whether one was found."""
    b, units = file.known.shape[1], file.starts.shape[0] - 1
    for _ in range(TRIES):
        bits = draw(random_state)
        i, unit = integer_below(bits & _LOW, b), integer_below(bits >> _32, units)
        bits = draw(random_state)
        if kind == RESTORE:
            if not differ(file, i, i, unit, True):
                continue
            j = i if free[unit] else find_holder(file, i, unit, integer_below(bits >> _32, b))
            if j < 0:
                return False
        else:
            if attack >= 0 and (counts.near[attack, i] > 0 or not file.touched[unit, attack]):
                continue
            j = integer_below(bits >> _32, b)
            if kind == NEAR:
                j = int(neighbours[i, integer_below(bits >> _32, neighbours.shape[1])])
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


def _anneal_exchanges(
    file: ExchangeFile,
    counts: LinkCounts,
    workspace: ExchangeWorkspace,
    context: ExchangeContext,
    rates: Floats,
    settings: ExchangeSettings,
    random_state: Words,
    tally: Floats,
) -> float:
    """Simulated annealing until so many coordinates were read; → what the file costs then.

    `rates` float64[4]; `tally` float64[4, 2].
    """
    neighbours, free, rows = context.near, context.free, context.rows
    move, done = np.zeros(3, np.int64), 0
    cost = loss(file) + settings.price * excess(file, counts)
    while done < settings.work:
        temperature = settings.hot * (settings.cold / settings.hot) ** (done / settings.work)
        bits = draw(random_state)
        at, kind = float(bits >> _32) / 2.0**32, 0
        while kind < RESTORE and at >= rates[kind]:
            kind += 1
        attack = -1
        if kind != RESTORE and (bits & _LOW) < settings.aimed:
            attack = find_exceeding_attack(file, counts, integer_below(draw(random_state) & _LOW, file.limits.shape[0]))
        done += IDLE
        if not propose(file, counts, neighbours, free, kind, attack, random_state, move):
            continue
        i, j, unit = move[0], move[1], move[2]
        exchange = kind != REPLACE and not (kind == RESTORE and free[unit])
        kept = keeps_rules(file, context, i, unit, file.donors[j, unit] if exchange else rows[j])
        if not kept or (exchange and not keeps_rules(file, context, j, unit, file.donors[i, unit])):
            continue
        if loss_rise(file, i, j, unit, exchange) - settings.price * excess(file, counts) > REJECTED_ABOVE * temperature:
            continue
        if attack >= 0:
            done += (file.bounds[attack + 1] - file.bounds[attack]) * file.known.shape[1]
            if not hides(file, counts, workspace, i, j, unit, exchange, attack):
                continue
        done += publish(file, counts, workspace, i, j, unit, exchange)
        after = loss(file) + settings.price * excess(file, counts)
        tally[kind, 0] += 1.0
        if keeps_caps(file, workspace, unit) and accept(after - cost, temperature, random_state):
            tally[kind, 1] += after < cost
            cost = after
            if exchange:
                held = file.donors[i, unit]
                file.donors[i, unit] = file.donors[j, unit]
                file.donors[j, unit] = held
            else:
                file.donors[i, unit] = rows[j]
        else:
            undo_publish(file, counts, workspace, i, j, unit, exchange)
    return cost


anneal_exchanges = kernel(_anneal_exchanges)


def _find_near_records(file: ExchangeFile, workspace: ExchangeWorkspace, found: Int32s, apart: Floats) -> None:
    """found int32[b, m] ← the nearest other records as collected, by the first attack; apart float64[m] is a buffer."""
    b, most = found.shape
    total, row = workspace.sums[0], workspace.sums[1]
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


find_near_records = kernel(_find_near_records)
