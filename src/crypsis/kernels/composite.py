"""Annealing of groups on cell loss itself: records move, trade places, groups split and dissolve.

Groups are doubly linked lists of records in slots 0 … used − 1, so that no size is foreseen. Of every group the cost
of each column is kept; a change is judged by working out anew the columns that it touches: a column in which a group
loses nothing stays so when a record leaves, and when one enters that has the common value. Work is counted in cells
that were read: a walk ends after so many, whatever the sizes of the groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.annealing import bearable, bears, below, draw
from crypsis.kernels.arrays import Floats, Int32s, Ints, Words
from crypsis.kernels.compile import kernel
from crypsis.kernels.group_cost import Cells, Charges, Room, charge, column_cost, unlike

_32, _LOW = np.uint64(32), np.uint64(2**32 - 1)

NONE = -1


class Surroundings(NamedTuple):
    """Where a walk looks for other groups.

    near    int32[n, r]: records near each one, the nearest first; its own row where fewer were found
    strata  int32[n]: only records of one stratum share a group
    """

    near: Int32s
    strata: Int32s


class CompositeGroups(NamedTuple):
    """A partition that can be changed in place.

    labels  int32[n];  head  int32[slots]: any member;  after, before  int32[n]: its neighbours in the ring of its group
    sizes   int32[slots];  costs  float64[slots, p + 2]: of each column, for demands that are missed, and in all
    fresh   float64[2, p + 2]: costs of the two groups of a change that is judged
    used    int64[1]: slots in use
    """

    labels: Int32s
    head: Int32s
    after: Int32s
    before: Int32s
    sizes: Int32s
    costs: Floats
    fresh: Floats
    used: Ints


def _leave_ring(groups: CompositeGroups, i: int) -> None:
    """Take a record out of its group; its label stays until it joins another."""
    g, following, previous = groups.labels[i], groups.after[i], groups.before[i]
    groups.after[previous], groups.before[following] = following, previous
    groups.sizes[g] -= 1
    groups.head[g] = following if groups.sizes[g] > 0 else NONE


def _join_ring(groups: CompositeGroups, i: int, g: int) -> None:
    """Put a record that is in no group into one."""
    first = groups.head[g]
    if first == NONE:
        groups.head[g] = groups.after[i] = groups.before[i] = i
    else:
        last = groups.before[first]
        groups.after[last], groups.before[i] = i, last
        groups.after[i], groups.before[first] = first, i
    groups.labels[i] = g
    groups.sizes[g] += 1


leave_ring, join_ring = kernel(_leave_ring), kernel(_join_ring)


def _gather_rows(groups: CompositeGroups, g: int, without: int, rows: Ints) -> int:
    """Write the members of a group but one into `rows`; how many they are."""
    m, i = 0, groups.head[g]
    for _ in range(groups.sizes[g]):
        if i != without:
            rows[m] = i
            m += 1
        i = groups.after[i]
    return m


gather_rows = kernel(_gather_rows)


def _appraise(charges: Charges | None, cells: Cells, rows: Ints, m: int, room: Room, costs: Floats) -> None:
    """Write into `costs` what each column, missed demands and all cost, for the first m of the rows as a group."""
    p, total = cells.codes.shape[1], 0.0
    for a in range(p):
        costs[a] = column_cost(cells, a, rows, m, room)
        total += costs[a]
    costs[p] = charge(charges, cells, rows, m, room)
    costs[p + 1] = total + costs[p]


appraise = kernel(_appraise)


def _arrange_groups(
    groups: CompositeGroups, charges: Charges | None, cells: Cells, labels: Int32s, room: Room
) -> float:
    """Load labels 0 … G − 1; the cost of all groups."""
    many = 0
    for i in range(labels.size):
        many = max(many, labels[i] + 1)
    groups.used[0] = many
    for g in range(many):
        groups.sizes[g], groups.head[g] = 0, NONE
    for i in range(labels.size):
        join_ring(groups, i, labels[i])
    total = 0.0
    for g in range(many):
        m = gather_rows(groups, g, NONE, room.rows[0])
        appraise(charges, cells, room.rows[0], m, room, groups.costs[g])
        total += groups.costs[g, cells.codes.shape[1] + 1]
    return total


arrange_groups = kernel(_arrange_groups)


def _keep_costs(groups: CompositeGroups, g: int, h: int) -> None:
    """The costs judged for both sides of a change become those of its two groups."""
    for a in range(groups.fresh.shape[1]):
        groups.costs[g, a], groups.costs[h, a] = groups.fresh[0, a], groups.fresh[1, a]


keep_costs = kernel(_keep_costs)


def _charged(
    groups: CompositeGroups, charges: Charges | None, cells: Cells, room: Room, g: int, h: int, first: int, second: int
) -> float:
    """Complete the fresh costs of two groups of so many rows by what they are charged; by how much they cost more."""
    p, rise = (
        cells.codes.shape[1],
        -groups.costs[g, cells.codes.shape[1] + 1] - groups.costs[h, cells.codes.shape[1] + 1],
    )
    for side in range(2):
        total = charge(charges, cells, room.rows[side], first if side == 0 else second, room)
        groups.fresh[side, p] = total
        for a in range(p):
            total += groups.fresh[side, a]
        groups.fresh[side, p + 1] = total
        rise += total
    return float(rise)


charged = kernel(_charged)


def _move_record(
    groups: CompositeGroups, charges: Charges | None, cells: Cells, room: Room, i: int, h: int, chance: Words
) -> float:
    """Move a record to another group if the rise is borne; the change of cost, 0 if it is not.

    What the other group loses is counted first: it is given up once all that its own group costs could not make up.
    """
    g, p, limit = groups.labels[i], cells.codes.shape[1], bearable(room.heat[0], chance)
    few, many = gather_rows(groups, g, i, room.rows[0]), gather_rows(groups, h, NONE, room.rows[1])
    room.rows[1, many] = i
    room.work[0] += few + many
    rise, spare = 0.0, groups.costs[g, p + 1] + groups.costs[h, p]
    for a in range(p):
        joined = 0.0
        if groups.costs[h, a] > 0.0 or cells.codes[i, a] != cells.codes[groups.head[h], a]:
            joined = column_cost(cells, a, room.rows[1], many + 1, room)
        groups.fresh[1, a] = joined
        rise += joined - groups.costs[h, a]
        if rise - spare >= limit:
            return 0.0
    for a in range(p):
        kept = 0.0
        if groups.costs[g, a] > 0.0:
            kept = column_cost(cells, a, room.rows[0], few, room)
        groups.fresh[0, a] = kept
        rise += kept - groups.costs[g, a]
        spare -= groups.costs[g, a]
        if rise - spare >= limit:
            return 0.0
    rise = charged(groups, charges, cells, room, g, h, few, many + 1)
    if rise >= limit:
        return 0.0
    leave_ring(groups, i)
    join_ring(groups, i, h)
    keep_costs(groups, g, h)
    return float(rise)


move_record = kernel(_move_record)


def _swap_records(
    groups: CompositeGroups, charges: Charges | None, cells: Cells, room: Room, i: int, j: int, chance: Words
) -> float:
    """Let two records of different groups trade places if the rise is borne; the change of cost.

    It is given up once all that the columns still to be counted cost could not make up for those that were.
    """
    g, h, p, limit = groups.labels[i], groups.labels[j], cells.codes.shape[1], bearable(room.heat[0], chance)
    mine, theirs = gather_rows(groups, g, i, room.rows[0]), gather_rows(groups, h, j, room.rows[1])
    room.rows[0, mine], room.rows[1, theirs] = j, i
    room.work[0] += mine + theirs
    rise, spare = 0.0, groups.costs[g, p] + groups.costs[h, p]
    for a in range(p):
        if cells.codes[i, a] != cells.codes[j, a]:
            spare += groups.costs[g, a] + groups.costs[h, a]
    for a in range(p):
        before = groups.costs[g, a] + groups.costs[h, a]
        if cells.codes[i, a] == cells.codes[j, a]:
            groups.fresh[0, a], groups.fresh[1, a] = groups.costs[g, a], groups.costs[h, a]
            continue
        groups.fresh[0, a] = column_cost(cells, a, room.rows[0], mine + 1, room)
        groups.fresh[1, a] = column_cost(cells, a, room.rows[1], theirs + 1, room)
        rise += groups.fresh[0, a] + groups.fresh[1, a] - before
        spare -= before
        if rise - spare >= limit:
            return 0.0
    rise = charged(groups, charges, cells, room, g, h, mine + 1, theirs + 1)
    if rise >= limit:
        return 0.0
    leave_ring(groups, i)
    leave_ring(groups, j)
    join_ring(groups, i, h)
    join_ring(groups, j, g)
    keep_costs(groups, g, h)
    return float(rise)


swap_records = kernel(_swap_records)


def _split_group(
    groups: CompositeGroups, charges: Charges | None, cells: Cells, room: Room, i: int, least: int, chance: Words
) -> float:
    """Divide the group of a record into its nearest fellows, at least k, and the others, if the rise is borne."""
    g, p, part = groups.labels[i], cells.codes.shape[1], room.rows
    m = gather_rows(groups, g, NONE, part[1])
    wanted = least + below(draw(chance) >> _32, m - 2 * least + 1)
    room.work[0] += m * (p + wanted // 8)
    for t in range(m):
        room.line[t] = unlike(cells, i, part[1, t])
    # The nearest go to the front, one after another: a selection sort that ends early.
    for t in range(wanted):
        best = t
        for u in range(t + 1, m):
            if room.line[u] < room.line[best]:
                best = u
        room.line[t], room.line[best] = room.line[best], room.line[t]
        part[1, t], part[1, best] = part[1, best], part[1, t]
    for t in range(wanted, m):
        part[0, t - wanted] = part[1, t]
    appraise(charges, cells, part[0], m - wanted, room, groups.fresh[0])
    appraise(charges, cells, part[1], wanted, room, groups.fresh[1])
    rise = groups.fresh[0, p + 1] + groups.fresh[1, p + 1] - groups.costs[g, p + 1] + room.heat[1]
    if not bears(rise, room.heat[0], chance):
        return 0.0
    h = groups.used[0]
    groups.used[0] += 1
    groups.sizes[h], groups.head[h] = 0, NONE
    for t in range(wanted):
        leave_ring(groups, part[1, t])
        join_ring(groups, part[1, t], h)
    keep_costs(groups, g, h)
    return float(rise)


split_group = kernel(_split_group)


def _near_record(around: Surroundings, i: int, anywhere: np.uint64, chance: Words) -> int:
    """A record near another one, nearer ones more often; or any record, with a probability of `anywhere` in 2³²."""
    bits = draw(chance)
    n, reach = around.near.shape
    if bits & _LOW < anywhere:
        return below(bits >> _32, n)
    bits = draw(chance)
    return int(around.near[i, below(bits & _LOW, 1 + below(bits >> _32, reach))])


near_record = kernel(_near_record)
