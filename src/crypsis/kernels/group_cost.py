"""What a group of records loses that publishes one value in each column, and what it is charged for missed demands.

Costs are those of the measure information loss, in cells: a group of m records that tells no more than the distribution
of a column loses about m in it. A group in which some records lack a value publishes none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.contents import ContentDemands, ContentRoom, group_shortfall
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
