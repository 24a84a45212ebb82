"""Simulated annealing of groups on cell loss itself: records move and are swapped, groups split and dissolve.

Groups are doubly linked lists of records in slots 0 … used − 1, so that no size is foreseen. Of every group the cost
of each column is kept; a change is judged by working out anew the columns that it touches: a column in which a group
loses nothing stays so when a record leaves, and when one enters that has the common value. Work is counted in cells
that were read: annealing ends after so many, whatever the sizes of the groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.annealing import REJECTED_ABOVE, accept, draw, draw_threshold, integer_below
from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints, Words
from crypsis.kernels.classes import ContentDemands, ContentRoom, group_shortfall
from crypsis.kernels.compile import kernel
from crypsis.kernels.quickselect import select_between

MEDIAN, MEAN, MODE, ANCESTOR, CHEAPEST, UNANIMOUS, FREE = 0, 1, 2, 3, 4, 5, 6
"""What a group publishes: the middle value; the mean; the most frequent value; the lowest common ancestor; the cheaper
of ancestor and most frequent value; the value all share, else nothing;
whatever it likes at no cost."""


STEP = 0.1
"""Share of its cells that a group is charged for demands it misses, however narrowly."""


class Cells(NamedTuple):
    """The columns of the records."""

    codes: Int32s  # int32[n, p]: leaf of the hierarchy, or any code of the value; −1 is missing
    # float64[n, p], not negative: number from the least over the standard deviation, rank; without an order, any in
    # which near values of the hierarchy follow each other
    values: Floats
    blanks: Floats  # float64[n, p]: what a record loses of which nothing is published
    numbers: Flags  # bool[p]: whether a squared distance of values is lost, not a whole cell wherever values differ
    wrong: Floats  # float64[p]: what a false category loses
    rules: Ints  # int64[p]: what a group publishes
    weights: Floats  # float64[p]: what a lost cell counts for
    heights: Ints  # int64[p]: the highest level of the hierarchy; −1 without one
    starts: Ints  # int64[p, levels]: where the groups of a level begin in the two arrays below, leaf by leaf
    above: Int32s  # int32[…]: group of each leaf at each level
    widths: Floats  # float64[…]: what a record of that leaf loses, generalised to its group


class Charges(NamedTuple):
    """What groups must hold, and what they are charged where they do not."""

    demands: ContentDemands  # what is demanded of their confidential values, and buffers for that
    contents: ContentRoom
    price: Floats  # float64[1]: what a group that meets no demand is charged, as a share of its cells


class Workspace(NamedTuple):
    """Buffers, and how many cells were read."""

    rows: Ints  # int64[2, n]: members of two groups;  line  float64[n]: values of one column
    line: Floats
    tally: Ints  # int64[codes]: zero between uses;  work  int64[1]
    work: Ints
    saved: Floats  # float64[m, p + 2]: costs of groups that a change may have to give back
    temperature: Floats  # float64[2]: temperature, and price of a group


class Costing(NamedTuple):
    """What groups cost: of which cells, with which charges for demands that are missed, in which buffers."""

    charges: Charges | None
    cells: Cells
    workspace: Workspace


def _lower_median(line: Floats, m: int) -> float:
    """The lower middle of the first m values, which are rearranged."""
    select_between(line, None, 0, m, (m - 1) // 2)
    return float(line[(m - 1) // 2])


lower_median = kernel(_lower_median)


def _line_cost(cells: Cells, a: int, rows: Ints, m: int, mean: bool, workspace: Workspace) -> float:
    """Sum of squared distances from the mean or the median; of categories, what those lose that are not the median."""
    line, centre = workspace.line, 0.0
    for t in range(m):
        line[t] = cells.values[rows[t], a]
        centre += line[t]
    centre = centre / m if mean else lower_median(line, m)
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


def _mode_cost(cells: Cells, a: int, rows: Ints, m: int, workspace: Workspace) -> float:
    """What records lose with another value than the most frequent one."""
    most = 0
    for t in range(m):
        code = cells.codes[rows[t], a]
        workspace.tally[code] += 1
        if workspace.tally[code] > most:
            most = workspace.tally[code]
    for t in range(m):
        workspace.tally[cells.codes[rows[t], a]] = 0
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


def _column_cost(cells: Cells, a: int, rows: Ints, m: int, workspace: Workspace) -> float:
    """Cells that the first m of the rows lose in a column as a group, times the weight of the column."""
    rule, first = cells.rules[a], cells.codes[rows[0], a]
    if rule == FREE or cells.weights[a] == 0.0:
        return 0.0
    workspace.work[0] += m
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
        cost = line_cost(cells, a, rows, m, rule == MEAN, workspace)
    elif rule in (MODE, CHEAPEST):
        cost = min(cost, mode_cost(cells, a, rows, m, workspace))
    return float(cells.weights[a] * cost)


column_cost = kernel(_column_cost)


def _total_cost(cells: Cells, order: Ints, bounds: Ints, workspace: Workspace) -> float:
    """Cells that all groups lose, the rows of group g being order[bounds[g] : bounds[g + 1]]."""
    total = 0.0
    for g in range(bounds.size - 1):
        rows, m = order[bounds[g] :], bounds[g + 1] - bounds[g]
        for a in range(cells.codes.shape[1]):
            total += column_cost(cells, a, rows, m, workspace)
    return total


total_cost = kernel(_total_cost)


def _charge(charges: Charges | None, cells: Cells, rows: Ints, m: int, workspace: Workspace) -> float:
    """What the first m of the rows are charged as a group for the demands they miss, in cells; nothing for None.

    Without demands nothing of them is compiled: the type None decides, not a value.
    """
    if charges is None:
        return 0.0
    workspace.work[0] += m
    missed = group_shortfall(charges.demands, charges.contents, rows, m)
    if missed == 0.0:
        return 0.0
    whole = 0.0
    for a in range(cells.weights.size):
        whole += cells.weights[a]
    return float(charges.price[0] * whole * m * (STEP + missed))


charge = kernel(_charge)


def _dissimilarity(cells: Cells, i: int, j: int) -> float:
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


dissimilarity = kernel(_dissimilarity)

# -- The changes: a record moves, two are swapped, a group splits; each judged by the columns that it touches.

_32, _LOW = np.uint64(32), np.uint64(2**32 - 1)

NONE = -1


class CompositeContext(NamedTuple):
    """Where annealing looks for other groups."""

    near: Int32s  # int32[n, r]: records near each one, the nearest first; its own row where fewer were found
    strata: Int32s  # int32[n]: only records of one stratum share a group


class CompositeGroups(NamedTuple):
    """A partition that can be changed in place."""

    # int32[n];  head  int32[slots]: any member;  after, before  int32[n]: its neighbours in the ring of its group
    labels: Int32s
    head: Int32s
    after: Int32s
    before: Int32s
    # int32[slots];  costs  float64[slots, p + 2]: of each column, for demands that are missed, and in all
    sizes: Int32s
    costs: Floats
    fresh: Floats  # float64[2, p + 2]: costs of the two groups of a change that is judged
    used: Ints  # int64[1]: slots in use


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


def _compute_costs(
    charges: Charges | None, cells: Cells, rows: Ints, m: int, workspace: Workspace, costs: Floats
) -> None:
    """Write into `costs` what each column, missed demands and all cost, for the first m of the rows as a group."""
    p, total = cells.codes.shape[1], 0.0
    for a in range(p):
        costs[a] = column_cost(cells, a, rows, m, workspace)
        total += costs[a]
    costs[p] = charge(charges, cells, rows, m, workspace)
    costs[p + 1] = total + costs[p]


compute_costs = kernel(_compute_costs)


def _arrange_groups(
    groups: CompositeGroups, charges: Charges | None, cells: Cells, labels: Int32s, workspace: Workspace
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
        m = gather_rows(groups, g, NONE, workspace.rows[0])
        compute_costs(charges, cells, workspace.rows[0], m, workspace, groups.costs[g])
        total += groups.costs[g, cells.codes.shape[1] + 1]
    return total


arrange_groups = kernel(_arrange_groups)


def _keep_costs(groups: CompositeGroups, g: int, h: int) -> None:
    """The costs judged for both sides of a change become those of its two groups."""
    for a in range(groups.fresh.shape[1]):
        groups.costs[g, a], groups.costs[h, a] = groups.fresh[0, a], groups.fresh[1, a]


keep_costs = kernel(_keep_costs)


def _add_charges(
    groups: CompositeGroups,
    charges: Charges | None,
    cells: Cells,
    workspace: Workspace,
    g: int,
    h: int,
    first: int,
    second: int,
) -> float:
    """Complete the fresh costs of two groups of so many rows by what they are charged; by how much they cost more."""
    p, rise = (
        cells.codes.shape[1],
        -groups.costs[g, cells.codes.shape[1] + 1] - groups.costs[h, cells.codes.shape[1] + 1],
    )
    for side in range(2):
        total = charge(charges, cells, workspace.rows[side], first if side == 0 else second, workspace)
        groups.fresh[side, p] = total
        for a in range(p):
            total += groups.fresh[side, a]
        groups.fresh[side, p + 1] = total
        rise += total
    return float(rise)


add_charges = kernel(_add_charges)


def _move_record(
    groups: CompositeGroups,
    charges: Charges | None,
    cells: Cells,
    workspace: Workspace,
    i: int,
    h: int,
    random_state: Words,
) -> float:
    """Move a record to another group if the rise is accepted; the change of cost, 0 if it is not.

    What the other group loses is counted first: it is given up once all that its own group costs could not make up.
    """
    g, p, limit = groups.labels[i], cells.codes.shape[1], draw_threshold(workspace.temperature[0], random_state)
    few, many = gather_rows(groups, g, i, workspace.rows[0]), gather_rows(groups, h, NONE, workspace.rows[1])
    workspace.rows[1, many] = i
    workspace.work[0] += few + many
    rise, spare = 0.0, groups.costs[g, p + 1] + groups.costs[h, p]
    for a in range(p):
        joined = 0.0
        if groups.costs[h, a] > 0.0 or cells.codes[i, a] != cells.codes[groups.head[h], a]:
            joined = column_cost(cells, a, workspace.rows[1], many + 1, workspace)
        groups.fresh[1, a] = joined
        rise += joined - groups.costs[h, a]
        if rise - spare >= limit:
            return 0.0
    for a in range(p):
        kept = 0.0
        if groups.costs[g, a] > 0.0:
            kept = column_cost(cells, a, workspace.rows[0], few, workspace)
        groups.fresh[0, a] = kept
        rise += kept - groups.costs[g, a]
        spare -= groups.costs[g, a]
        if rise - spare >= limit:
            return 0.0
    rise = add_charges(groups, charges, cells, workspace, g, h, few, many + 1)
    if rise >= limit:
        return 0.0
    leave_ring(groups, i)
    join_ring(groups, i, h)
    keep_costs(groups, g, h)
    return float(rise)


move_record = kernel(_move_record)


def _swap_records(
    groups: CompositeGroups,
    charges: Charges | None,
    cells: Cells,
    workspace: Workspace,
    i: int,
    j: int,
    random_state: Words,
) -> float:
    """Swap two records of different groups if the rise is accepted; the change of cost.

    It is given up once all that the columns still to be counted cost could not make up for those that were.
    """
    g, h, p, limit = (
        groups.labels[i],
        groups.labels[j],
        cells.codes.shape[1],
        draw_threshold(workspace.temperature[0], random_state),
    )
    mine, theirs = gather_rows(groups, g, i, workspace.rows[0]), gather_rows(groups, h, j, workspace.rows[1])
    workspace.rows[0, mine], workspace.rows[1, theirs] = j, i
    workspace.work[0] += mine + theirs
    rise, spare = 0.0, groups.costs[g, p] + groups.costs[h, p]
    for a in range(p):
        if cells.codes[i, a] != cells.codes[j, a]:
            spare += groups.costs[g, a] + groups.costs[h, a]
    for a in range(p):
        before = groups.costs[g, a] + groups.costs[h, a]
        if cells.codes[i, a] == cells.codes[j, a]:
            groups.fresh[0, a], groups.fresh[1, a] = groups.costs[g, a], groups.costs[h, a]
            continue
        groups.fresh[0, a] = column_cost(cells, a, workspace.rows[0], mine + 1, workspace)
        groups.fresh[1, a] = column_cost(cells, a, workspace.rows[1], theirs + 1, workspace)
        rise += groups.fresh[0, a] + groups.fresh[1, a] - before
        spare -= before
        if rise - spare >= limit:
            return 0.0
    rise = add_charges(groups, charges, cells, workspace, g, h, mine + 1, theirs + 1)
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
    groups: CompositeGroups,
    charges: Charges | None,
    cells: Cells,
    workspace: Workspace,
    i: int,
    least: int,
    random_state: Words,
) -> float:
    """Divide the group of a record into those nearest to it, at least k, and the others, if the rise is accepted."""
    g, p, part = groups.labels[i], cells.codes.shape[1], workspace.rows
    m = gather_rows(groups, g, NONE, part[1])
    wanted = least + integer_below(draw(random_state) >> _32, m - 2 * least + 1)
    workspace.work[0] += m * (p + wanted // 8)
    for t in range(m):
        workspace.line[t] = dissimilarity(cells, i, part[1, t])
    # The nearest go to the front, one after another: a selection sort that ends early.
    for t in range(wanted):
        best = t
        for u in range(t + 1, m):
            if workspace.line[u] < workspace.line[best]:
                best = u
        workspace.line[t], workspace.line[best] = workspace.line[best], workspace.line[t]
        part[1, t], part[1, best] = part[1, best], part[1, t]
    for t in range(wanted, m):
        part[0, t - wanted] = part[1, t]
    compute_costs(charges, cells, part[0], m - wanted, workspace, groups.fresh[0])
    compute_costs(charges, cells, part[1], wanted, workspace, groups.fresh[1])
    rise = groups.fresh[0, p + 1] + groups.fresh[1, p + 1] - groups.costs[g, p + 1] + workspace.temperature[1]
    if not accept(rise, workspace.temperature[0], random_state):
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


def _draw_near_record(context: CompositeContext, i: int, anywhere: np.uint64, random_state: Words) -> int:
    """A record near another one, nearer ones more often; or any record, with a probability of `anywhere` in 2³²."""
    bits = draw(random_state)
    n, reach = context.near.shape
    if bits & _LOW < anywhere:
        return integer_below(bits >> _32, n)
    bits = draw(random_state)
    return int(context.near[i, integer_below(bits & _LOW, 1 + integer_below(bits >> _32, reach))])


draw_near_record = kernel(_draw_near_record)

# -- Annealing over composite groups: which change is tried next, and when it ends.

TRIES = 8
"""Near records looked at for one of another group."""


class AnnealingSettings(NamedTuple):
    """Settings of an annealing run."""

    # smallest group;  limit  cells that may be read;  hot, cold  temperatures at its beginning and end, in cells
    least: int
    limit: int
    hot: float
    cold: float
    dissolving: float  # probability of that change;  anywhere  probability that a far record is looked at
    anywhere: float
    price: float  # what every group costs beside what it loses, in cells: the dearer, the fewer there are


def _draw_neighbouring_group(
    groups: CompositeGroups, context: CompositeContext, i: int, anywhere: np.uint64, random_state: Words
) -> int:
    """The slot of another group in which a near record of the same stratum is; −1 if a few tries find none."""
    for _ in range(TRIES):
        j = draw_near_record(context, i, anywhere, random_state)
        if groups.labels[j] != groups.labels[i] and context.strata[j] == context.strata[i]:
            return int(groups.labels[j])
    return NONE


draw_neighbouring_group = kernel(_draw_neighbouring_group)


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
    groups: CompositeGroups,
    costing: Costing,
    context: CompositeContext,
    seed: int,
    anywhere: np.uint64,
    random_state: Words,
) -> None:
    """Send every member of a record's group to a near group, if the rise is accepted; else all is as it was."""
    charges, cells, workspace = costing
    g, p, rise = groups.labels[seed], cells.codes.shape[1], 0.0
    m = gather_rows(groups, g, NONE, workspace.rows[0])
    rise -= groups.costs[g, p + 1] + workspace.temperature[1]
    done = 0
    while done < m and rise < REJECTED_ABOVE * workspace.temperature[0]:
        i = workspace.rows[0, done]
        h = draw_neighbouring_group(groups, context, i, anywhere, random_state)
        if h == NONE:
            rise = np.inf
            break
        many = gather_rows(groups, h, NONE, workspace.rows[1])
        workspace.rows[1, many] = i
        compute_costs(charges, cells, workspace.rows[1], many + 1, workspace, groups.fresh[1])
        rise += groups.fresh[1, p + 1] - groups.costs[h, p + 1]
        for a in range(p + 2):
            workspace.saved[done, a], groups.costs[h, a] = groups.costs[h, a], groups.fresh[1, a]
        leave_ring(groups, i)
        join_ring(groups, i, h)
        done += 1
    if done == m and accept(rise, workspace.temperature[0], random_state):
        close_slot(groups, g)
        return
    while done > 0:
        done -= 1
        i = workspace.rows[0, done]
        h = groups.labels[i]
        leave_ring(groups, i)
        join_ring(groups, i, g)
        for a in range(p + 2):
            groups.costs[h, a] = workspace.saved[done, a]


dissolve_group = kernel(_dissolve_group)


def _anneal_groups(
    groups: CompositeGroups,
    costing: Costing,
    context: CompositeContext,
    settings: AnnealingSettings,
    random_state: Words,
) -> float:
    """Simulated annealing until so many cells were read, cooling geometrically; the cost of all groups.

    `random_state` uint64[1]: state of the generator: the same state gives the same changes.
    """
    charges, cells, workspace = costing
    n, p, start, steps = cells.codes.shape[0], cells.codes.shape[1], workspace.work[0], 0
    workspace.temperature[1] = settings.price
    rarely, anywhere = np.uint64(settings.dissolving * 2.0**32), np.uint64(settings.anywhere * 2.0**32)
    while workspace.work[0] - start < settings.limit:
        if steps & 63 == 0:
            workspace.temperature[0] = settings.hot * (settings.cold / settings.hot) ** (
                (workspace.work[0] - start) / settings.limit
            )
        steps += 1
        workspace.work[0] += 1
        bits = draw(random_state)
        i = integer_below(bits >> _32, n)
        g = groups.labels[i]
        if bits & _LOW < rarely:
            if groups.sizes[g] <= workspace.saved.shape[0] and groups.used[0] > 1:
                dissolve_group(groups, costing, context, i, anywhere, random_state)
            continue
        bits = draw(random_state)
        if groups.sizes[g] >= 2 * settings.least and bits >> _32 < np.uint64(1 << 30):
            split_group(groups, charges, cells, workspace, i, settings.least, random_state)
            continue
        j = draw_near_record(context, i, anywhere, random_state)
        h = groups.labels[j]
        if g == h or context.strata[i] != context.strata[j]:
            continue
        if groups.sizes[g] > settings.least and bits & np.uint64(1):
            move_record(groups, charges, cells, workspace, i, h, random_state)
            continue
        if bits & np.uint64(2):
            for _ in range(integer_below(draw(random_state) >> _32, groups.sizes[h])):
                j = groups.after[j]
        swap_records(groups, charges, cells, workspace, i, j, random_state)
    total = 0.0
    for g in range(groups.used[0]):
        total += groups.costs[g, p + 1]
    return total


anneal_groups = kernel(_anneal_groups)

# -- Composite groups that are too small or miss a demand are put together with near ones, as far as that is possible.


def _find_best_partner(
    groups: CompositeGroups, costing: Costing, context: CompositeContext, g: int, stamp: Int32s, anybody: bool
) -> int:
    """The group with which another one costs least more, its costs in `fresh[1]`; −1 if there is none.

    `stamp` int32[slots]; `anybody`: whether all groups are looked at, else those of records near the members.
    """
    charges, cells, workspace = costing
    p, best, least = cells.codes.shape[1], NONE, np.inf
    m = gather_rows(groups, g, NONE, workspace.rows[0])
    for t in range(m):
        workspace.rows[1, t] = workspace.rows[0, t]
    stamp[-1] += 1
    stamp[g] = stamp[-1]
    stratum = context.strata[workspace.rows[0, 0]]
    for t in range(1 if anybody else m):
        for r in range(groups.used[0] if anybody else context.near.shape[1]):
            j = groups.head[r] if anybody else context.near[workspace.rows[0, t], r]
            h = groups.labels[j]
            if stamp[h] == stamp[-1] or context.strata[j] != stratum:
                continue
            stamp[h] = stamp[-1]
            many, i = m, groups.head[h]
            for _ in range(groups.sizes[h]):
                workspace.rows[1, many] = i
                many += 1
                i = groups.after[i]
            compute_costs(charges, cells, workspace.rows[1], many, workspace, groups.fresh[0])
            rise = groups.fresh[0, p + 1] - groups.costs[h, p + 1]
            if rise < least:
                best, least = h, rise
                for a in range(p + 2):
                    groups.fresh[1, a] = groups.fresh[0, a]
    return int(best)


find_best_partner = kernel(_find_best_partner)


def _merge_short_groups(
    groups: CompositeGroups, costing: Costing, context: CompositeContext, least: int, stamp: Int32s
) -> None:
    """Every group that is charged or smaller than `least` joins the one near it with which both cost least.

    `stamp` int32[slots + 1].
    """
    workspace, p, g, passed = costing.workspace, costing.cells.codes.shape[1], 0, 0
    while passed < groups.used[0]:
        g = g + 1 if g + 1 < groups.used[0] else 0
        passed += 1
        if groups.costs[g, p] == 0.0 and groups.sizes[g] >= least:
            continue
        h = find_best_partner(groups, costing, context, g, stamp, False)
        if h == NONE:
            h = find_best_partner(groups, costing, context, g, stamp, True)
        if h == NONE:
            continue
        m = gather_rows(groups, g, NONE, workspace.rows[0])
        for t in range(m):
            leave_ring(groups, workspace.rows[0, t])
            join_ring(groups, workspace.rows[0, t], h)
        for a in range(p + 2):
            groups.costs[h, a] = groups.fresh[1, a]
        close_slot(groups, g)
        passed = 0


merge_short_groups = kernel(_merge_short_groups)
