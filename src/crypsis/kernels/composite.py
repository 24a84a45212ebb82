"""Annealing of groups on cell loss itself: records move, trade places, groups split and dissolve.

Groups are doubly linked lists of records in slots 0 … used − 1, so that no size is foreseen. Of every group the cost
of each column is kept; a change is judged by working out anew the columns that it touches: a column in which a group
loses nothing stays so when a record leaves, and when one enters that has the common value. Work is counted in cells
that were read: a walk ends after so many, whatever the sizes of the groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.annealing import HOPELESS, bearable, bears, below, draw
from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints, Words
from crypsis.kernels.class_contents import ContentDemands, ContentRoom, group_shortfall
from crypsis.kernels.compile import kernel
from crypsis.kernels.quickselect import select_between

MEDIAN, MEAN, MODE, ANCESTOR, CHEAPEST, UNANIMOUS, FREE = 0, 1, 2, 3, 4, 5, 6
"""What a group publishes: the middle value; the mean; the most frequent value; the lowest common ancestor; the cheaper
of ancestor and most frequent value; the value all share, else nothing;
whatever it likes at no cost."""


STEP = 0.1
"""Share of its cells that a group is charged for demands it misses, however narrowly."""


class Cells(NamedTuple):
    """The columns of the records.

    codes    int32[n, p]: leaf of the hierarchy, or any code of the value; −1 is missing
    values   float64[n, p], not negative: number from the least over the standard deviation, rank; without an order, any
             in which near values of the hierarchy follow each other
    blanks   float64[n, p]: what a record loses of which nothing is published
    numbers  bool[p]: whether a squared distance of values is lost, not a whole cell wherever values differ
    wrong    float64[p]: what a false category loses
    rules    int64[p]: what a group publishes
    weights  float64[p]: what a lost cell counts for
    heights  int64[p]: the highest level of the hierarchy; −1 without one
    starts   int64[p, levels]: where the groups of a level begin in the two arrays below, leaf by leaf
    above    int32[…]: group of each leaf at each level
    widths   float64[…]: what a record of that leaf loses, generalised to its group
    """

    codes: Int32s
    values: Floats
    blanks: Floats
    numbers: Flags
    wrong: Floats
    rules: Ints
    weights: Floats
    heights: Ints
    starts: Ints
    above: Int32s
    widths: Floats


class Charges(NamedTuple):
    """What groups must hold, and what they are charged where they do not.

    demands, contents  what is demanded of their confidential values, and buffers for that
    price  float64[1]: what a group that meets no demand is charged, as a share of its cells
    """

    demands: ContentDemands
    contents: ContentRoom
    price: Floats


class Room(NamedTuple):
    """Buffers, and how many cells were read.

    rows   int64[2, n]: members of two groups;  line  float64[n]: values of one column
    tally  int64[codes]: zero between uses;  work  int64[1]
    saved  float64[m, p + 2]: costs of groups that a change may have to give back
    heat   float64[2]: temperature, and price of a group
    """

    rows: Ints
    line: Floats
    tally: Ints
    work: Ints
    saved: Floats
    heat: Floats


class Costing(NamedTuple):
    """What groups cost: of which cells, with which charges for demands that are missed, in which buffers."""

    charges: Charges | None
    cells: Cells
    room: Room


def _middle(line: Floats, m: int) -> float:
    """The lower middle of the first m values, which are rearranged."""
    select_between(line, None, 0, m, (m - 1) // 2)
    return float(line[(m - 1) // 2])


middle = kernel(_middle)


def _line_cost(cells: Cells, a: int, rows: Ints, m: int, mean: bool, room: Room) -> float:
    """Sum of squared distances from the mean or the median; of categories, what those lose that are not the median."""
    line, centre = room.line, 0.0
    for t in range(m):
        line[t] = cells.values[rows[t], a]
        centre += line[t]
    centre = centre / m if mean else middle(line, m)
    if not mean and cells.numbers[a] and m % 2 == 0:
        above = np.inf
        for t in range(m // 2, m):
            above = min(above, line[t])
        centre += (above - centre) / 2.0
    total = 0.0
    for t in range(m):
        if cells.numbers[a]:
            total += (line[t] - centre) * (line[t] - centre)
        elif line[t] != centre:
            total += cells.wrong[a]
    return total


line_cost = kernel(_line_cost)


def _mode_cost(cells: Cells, a: int, rows: Ints, m: int, room: Room) -> float:
    """What records lose with another value than the most frequent one."""
    most = 0
    for t in range(m):
        code = cells.codes[rows[t], a]
        room.tally[code] += 1
        if room.tally[code] > most:
            most = room.tally[code]
    for t in range(m):
        room.tally[cells.codes[rows[t], a]] = 0
    return float((m - most) * cells.wrong[a])


mode_cost = kernel(_mode_cost)


def _blank_cost(cells: Cells, a: int, rows: Ints, m: int) -> float:
    """What records lose of which nothing is published; nothing where there was nothing."""
    total = 0.0
    for t in range(m):
        if cells.codes[rows[t], a] >= 0:
            total += cells.blanks[rows[t], a]
    return total


blank_cost = kernel(_blank_cost)


def _ancestor_cost(cells: Cells, a: int, rows: Ints, m: int) -> float:
    """What records lose that are generalised to their lowest common ancestor, or blanked where there is none."""
    level, first = 0, cells.codes[rows[0], a]
    for t in range(1, m):
        code = cells.codes[rows[t], a]
        while level <= cells.heights[a]:
            start = cells.starts[a, level]
            if cells.above[start + code] == cells.above[start + first]:
                break
            level += 1
        if level > cells.heights[a]:
            return blank_cost(cells, a, rows, m)
    total = 0.0
    for t in range(m):
        total += cells.widths[cells.starts[a, level] + cells.codes[rows[t], a]]
    return total


ancestor_cost = kernel(_ancestor_cost)


def _column_cost(cells: Cells, a: int, rows: Ints, m: int, room: Room) -> float:
    """Cells that the first m of the rows lose in a column as a group, times the weight of the column."""
    rule, first = cells.rules[a], cells.codes[rows[0], a]
    if rule == FREE or cells.weights[a] == 0.0:
        return 0.0
    room.work[0] += m
    present, alike = 0, True
    for t in range(m):
        code = cells.codes[rows[t], a]
        present += code >= 0
        alike = alike and code == first
    if alike:
        return 0.0
    if present < m:
        return float(cells.weights[a] * blank_cost(cells, a, rows, m))
    cost = np.inf
    if rule in (ANCESTOR, CHEAPEST) and cells.heights[a] >= 0:
        cost = ancestor_cost(cells, a, rows, m)
    elif rule in (ANCESTOR, UNANIMOUS):
        cost = blank_cost(cells, a, rows, m)
    if rule in (MEDIAN, MEAN):
        cost = line_cost(cells, a, rows, m, rule == MEAN, room)
    elif rule in (MODE, CHEAPEST):
        cost = min(cost, mode_cost(cells, a, rows, m, room))
    return float(cells.weights[a] * cost)


column_cost = kernel(_column_cost)


def _total_cost(cells: Cells, order: Ints, bounds: Ints, room: Room) -> float:
    """Cells that all groups lose, the rows of group g being order[bounds[g] : bounds[g + 1]]."""
    total = 0.0
    for g in range(bounds.size - 1):
        rows, m = order[bounds[g] :], bounds[g + 1] - bounds[g]
        for a in range(cells.codes.shape[1]):
            total += column_cost(cells, a, rows, m, room)
    return total


total_cost = kernel(_total_cost)


def _charge(charges: Charges | None, cells: Cells, rows: Ints, m: int, room: Room) -> float:
    """What the first m of the rows are charged as a group for the demands they miss, in cells; nothing for None.

    Without demands nothing of them is compiled: the type None decides, not a value.
    """
    if charges is None:
        return 0.0
    room.work[0] += m
    missed = group_shortfall(charges.demands, charges.contents, rows, m)
    if missed == 0.0:
        return 0.0
    whole = 0.0
    for a in range(cells.weights.size):
        whole += cells.weights[a]
    return float(charges.price[0] * whole * m * (STEP + missed))


charge = kernel(_charge)


def _unlike(cells: Cells, i: int, j: int) -> float:
    """How much two records differ: what both lose as a group, column by column."""
    total = 0.0
    for a in range(cells.codes.shape[1]):
        one, other = cells.codes[i, a], cells.codes[j, a]
        if one == other:
            continue
        if one < 0 or other < 0:
            total += cells.weights[a] * (cells.blanks[i, a] if other < 0 else cells.blanks[j, a])
        elif cells.numbers[a]:
            apart = cells.values[i, a] - cells.values[j, a]
            total += cells.weights[a] * 0.5 * apart * apart
        else:
            total += cells.weights[a] * cells.wrong[a]
    return total


unlike = kernel(_unlike)

# -- Annealing of groups on cell loss itself: records move, trade places, groups split and dissolve.
#
# Groups are doubly linked lists of records in slots 0 … used − 1, so that no size is foreseen. Of every group the cost
# of each column is kept; a change is judged by working out anew the columns that it touches: a column in which a group
# loses nothing stays so when a record leaves, and when one enters that has the common value. Work is counted in cells
# that were read: a walk ends after so many, whatever the sizes of the groups.

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

# -- The walk over composite groups: which change is tried next, and when it ends.

TRIES = 8
"""Near records looked at for one of another group."""


class WalkSettings(NamedTuple):
    """How a walk goes.

    least  smallest group;  limit  cells that may be read;  hot, cold  temperatures at its beginning and end, in cells
    dissolving  probability of that change;  anywhere  probability that a far record is looked at
    price  what every group costs beside what it loses, in cells: the dearer, the fewer there are
    """

    least: int
    limit: int
    hot: float
    cold: float
    dissolving: float
    anywhere: float
    price: float


def _neighbouring_group(
    groups: CompositeGroups, around: Surroundings, i: int, anywhere: np.uint64, chance: Words
) -> int:
    """The slot of another group in which a near record of the same stratum is; −1 if a few tries find none."""
    for _ in range(TRIES):
        j = near_record(around, i, anywhere, chance)
        if groups.labels[j] != groups.labels[i] and around.strata[j] == around.strata[i]:
            return int(groups.labels[j])
    return NONE


neighbouring_group = kernel(_neighbouring_group)


def _close_slot(groups: CompositeGroups, g: int) -> None:
    """Give up an empty slot; the last one moves into the hole."""
    last = groups.used[0] - 1
    groups.used[0] = last
    if g != last:
        i = groups.head[last]
        for _ in range(groups.sizes[last]):
            groups.labels[i] = g
            i = groups.after[i]
        groups.head[g], groups.sizes[g] = groups.head[last], groups.sizes[last]
        for a in range(groups.costs.shape[1]):
            groups.costs[g, a] = groups.costs[last, a]


close_slot = kernel(_close_slot)


def _dissolve_group(
    groups: CompositeGroups, costing: Costing, around: Surroundings, seed: int, anywhere: np.uint64, chance: Words
) -> None:
    """Send every member of a record's group to a near group, if the rise is borne; else all is as it was."""
    charges, cells, room = costing
    g, p, rise = groups.labels[seed], cells.codes.shape[1], 0.0
    m = gather_rows(groups, g, NONE, room.rows[0])
    rise -= groups.costs[g, p + 1] + room.heat[1]
    done = 0
    while done < m and rise < HOPELESS * room.heat[0]:
        i = room.rows[0, done]
        h = neighbouring_group(groups, around, i, anywhere, chance)
        if h == NONE:
            rise = np.inf
            break
        many = gather_rows(groups, h, NONE, room.rows[1])
        room.rows[1, many] = i
        appraise(charges, cells, room.rows[1], many + 1, room, groups.fresh[1])
        rise += groups.fresh[1, p + 1] - groups.costs[h, p + 1]
        for a in range(p + 2):
            room.saved[done, a], groups.costs[h, a] = groups.costs[h, a], groups.fresh[1, a]
        leave_ring(groups, i)
        join_ring(groups, i, h)
        done += 1
    if done == m and bears(rise, room.heat[0], chance):
        close_slot(groups, g)
        return
    while done > 0:
        done -= 1
        i = room.rows[0, done]
        h = groups.labels[i]
        leave_ring(groups, i)
        join_ring(groups, i, g)
        for a in range(p + 2):
            groups.costs[h, a] = room.saved[done, a]


dissolve_group = kernel(_dissolve_group)


def _walk_groups(
    groups: CompositeGroups, costing: Costing, around: Surroundings, pace: WalkSettings, chance: Words
) -> float:
    """Try changes until so many cells were read while the temperature falls geometrically; the cost of all groups.

    chance  uint64[1], the generator's state: the same state gives the same walk
    """
    charges, cells, room = costing
    n, p, start, steps = cells.codes.shape[0], cells.codes.shape[1], room.work[0], 0
    room.heat[1] = pace.price
    rarely, anywhere = np.uint64(pace.dissolving * 2.0**32), np.uint64(pace.anywhere * 2.0**32)
    while room.work[0] - start < pace.limit:
        if steps & 63 == 0:
            room.heat[0] = pace.hot * (pace.cold / pace.hot) ** ((room.work[0] - start) / pace.limit)
        steps += 1
        room.work[0] += 1
        bits = draw(chance)
        i = below(bits >> _32, n)
        g = groups.labels[i]
        if bits & _LOW < rarely:
            if groups.sizes[g] <= room.saved.shape[0] and groups.used[0] > 1:
                dissolve_group(groups, costing, around, i, anywhere, chance)
            continue
        bits = draw(chance)
        if groups.sizes[g] >= 2 * pace.least and bits >> _32 < np.uint64(1 << 30):
            split_group(groups, charges, cells, room, i, pace.least, chance)
            continue
        j = near_record(around, i, anywhere, chance)
        h = groups.labels[j]
        if g == h or around.strata[i] != around.strata[j]:
            continue
        if groups.sizes[g] > pace.least and bits & np.uint64(1):
            move_record(groups, charges, cells, room, i, h, chance)
            continue
        if bits & np.uint64(2):
            for _ in range(below(draw(chance) >> _32, groups.sizes[h])):
                j = groups.after[j]
        swap_records(groups, charges, cells, room, i, j, chance)
    total = 0.0
    for g in range(groups.used[0]):
        total += groups.costs[g, p + 1]
    return total


walk_groups = kernel(_walk_groups)

# -- Composite groups that are too small or miss a demand are put together with near ones, as far as that is possible.


def _best_partner(
    groups: CompositeGroups, costing: Costing, around: Surroundings, g: int, stamp: Int32s, anybody: bool
) -> int:
    """The group with which another one costs least more, its costs in `fresh[1]`; −1 if there is none.

    stamp  int32[slots]: the last group a slot was looked at for, by a number that grows
    anybody  whether all groups are looked at, else those of records near the members
    """
    charges, cells, room = costing
    p, best, least = cells.codes.shape[1], NONE, np.inf
    m = gather_rows(groups, g, NONE, room.rows[0])
    for t in range(m):
        room.rows[1, t] = room.rows[0, t]
    stamp[-1] += 1
    stamp[g] = stamp[-1]
    stratum = around.strata[room.rows[0, 0]]
    for t in range(1 if anybody else m):
        for r in range(groups.used[0] if anybody else around.near.shape[1]):
            j = groups.head[r] if anybody else around.near[room.rows[0, t], r]
            h = groups.labels[j]
            if stamp[h] == stamp[-1] or around.strata[j] != stratum:
                continue
            stamp[h] = stamp[-1]
            many, i = m, groups.head[h]
            for _ in range(groups.sizes[h]):
                room.rows[1, many] = i
                many += 1
                i = groups.after[i]
            appraise(charges, cells, room.rows[1], many, room, groups.fresh[0])
            rise = groups.fresh[0, p + 1] - groups.costs[h, p + 1]
            if rise < least:
                best, least = h, rise
                for a in range(p + 2):
                    groups.fresh[1, a] = groups.fresh[0, a]
    return int(best)


best_partner = kernel(_best_partner)


def _merge_short_groups(
    groups: CompositeGroups, costing: Costing, around: Surroundings, least: int, stamp: Int32s
) -> None:
    """Every group that is charged or smaller than `least` joins the one near it with which both cost least.

    stamp  int32[slots + 1], zero
    """
    room, p, g, passed = costing.room, costing.cells.codes.shape[1], 0, 0
    while passed < groups.used[0]:
        g = g + 1 if g + 1 < groups.used[0] else 0
        passed += 1
        if groups.costs[g, p] == 0.0 and groups.sizes[g] >= least:
            continue
        h = best_partner(groups, costing, around, g, stamp, False)
        if h == NONE:
            h = best_partner(groups, costing, around, g, stamp, True)
        if h == NONE:
            continue
        m = gather_rows(groups, g, NONE, room.rows[0])
        for t in range(m):
            leave_ring(groups, room.rows[0, t])
            join_ring(groups, room.rows[0, t], h)
        for a in range(p + 2):
            groups.costs[h, a] = groups.fresh[1, a]
        close_slot(groups, g)
        passed = 0


merge_short_groups = kernel(_merge_short_groups)
