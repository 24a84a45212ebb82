"""Equivalence classes of coded rows, and every node of a generalisation lattice by roll-up.

Rows are distinct tuples in lexicographic order, their leaves numbered in tree order, so that a group of any
level is a stretch of neighbouring codes. A class needs no key: a representative row and the first attribute
in which it differs from the class before it say all, however many attributes there are. The lattice is
walked depth first; every node is merged from the node one level lower in the attribute raised last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.compile import kernel

BY_SIZE, STRICTEST, DEMANDED = 0, 1, 2
"""Which classes are suppressed: the smallest within the limit; those below the strictest k and then l the
limit allows; those that fail a demanded k or l, whatever the limit."""

_DIRECT = 1024
_SHORT = 32


class Leaves(NamedTuple):
    """The distinct tuples and their hierarchies; never changed. s attributes, m tuples."""

    codes: NDArray[np.int32]
    """int32[s, m]: leaf in tree order"""
    suffix: NDArray[np.int32]
    """int32[s, m]: rank of the tuple's remainder after the attribute"""
    height: NDArray[np.int64]
    """int64[s]: highest level of each attribute"""
    start: NDArray[np.int64]
    """int64[s, levels]: where the leaves of an attribute at a level begin in `group` and `cell`"""
    group: NDArray[np.int32]
    """int32[…]: group of the leaf, ascending"""
    cell: NDArray[np.float64]
    """float64[…]: loss of one such cell"""
    marginal: NDArray[np.float64]
    """float64[s, levels]: loss of the whole column, nothing suppressed"""


class Classes(NamedTuple):
    """Classes in lexicographic order."""

    row: NDArray[np.int32]
    """int32[c]: a tuple of the class"""
    differs: NDArray[np.int32]
    """int32[c]: first attribute in which the class differs from the one before it"""
    size: NDArray[np.int64]
    """int64[c]: records"""
    present: NDArray[np.uint64]
    """uint64[c, words]: one bit per confidential value that occurs"""
    tally: NDArray[np.int32]
    """int32[c, v + u]: records per confidential value (v columns, or none), then per label"""


class Demand(NamedTuple):
    """What is asked of every node."""

    rule: int
    allowance: int
    """How many records may be suppressed."""
    k: int
    l: int  # noqa: E741 (the paper's letter)
    values: int
    """How many leading columns of `Classes.tally` belong to the confidential attribute."""
    prune: int
    """Leave out what cannot reach this k within the allowance; 0 looks at every node."""


class Readings(NamedTuple):
    """One entry per node."""

    k: NDArray[np.int64]
    l: NDArray[np.int64]  # noqa: E741
    suppressed: NDArray[np.int64]
    size_sum: NDArray[np.int64]
    """Σ class size over records; the suppressed are one class of their own"""
    value_sum: NDArray[np.int64]
    """Σ over records of how often their confidential value occurs in their class"""
    misfits: NDArray[np.int64]
    """Records suppressed or without the majority label of their class"""
    classes: NDArray[np.int64]
    """Surviving classes"""
    loss: NDArray[np.float64]
    """Σ of cell losses; a suppressed record loses every cell"""


def _copy_class(source: Classes, at: int, target: Classes, to: int) -> None:
    """Copy one class."""
    target.row[to], target.differs[to], target.size[to] = source.row[at], source.differs[at], source.size[at]
    for w in range(source.present.shape[1]):
        target.present[to, w] = source.present[at, w]
    for v in range(source.tally.shape[1]):
        target.tally[to, v] = source.tally[at, v]


copy_class = kernel(_copy_class)


def _sort_runs(
    order: NDArray[np.int64], n: int, spare: NDArray[np.int64], rank: NDArray[np.int32], row: NDArray[np.int32]
) -> None:
    """Sort the first n positions by the rank of their row, in place; made for a few ascending runs. Stable."""
    if n <= _SHORT:
        for i in range(1, n):
            moving = order[i]
            wanted = rank[row[moving]]
            j = i - 1
            while j >= 0 and rank[row[order[j]]] > wanted:
                order[j + 1] = order[j]
                j -= 1
            order[j + 1] = moving
        return
    while True:
        begin, merges = 0, 0
        while begin < n:
            middle = begin + 1
            while middle < n and rank[row[order[middle]]] >= rank[row[order[middle - 1]]]:
                middle += 1
            end = middle + 1
            while end < n and rank[row[order[end]]] >= rank[row[order[end - 1]]]:
                end += 1
            end = min(end, n)
            left, right = begin, middle
            for to in range(begin, end):
                if right >= end or (left < middle and rank[row[order[left]]] <= rank[row[order[right]]]):
                    spare[to] = order[left]
                    left += 1
                else:
                    spare[to] = order[right]
                    right += 1
            begin = end
            merges += 1
        order[:n] = spare[:n]
        if merges == 1:
            return


sort_runs = kernel(_sort_runs)


def _merge_last(arena: Classes, begin: int, end: int, free: int, leaves: Leaves, first: int) -> int:
    """Raise the last attribute: classes to be merged are neighbours. `first` is where its groups begin."""
    row, differs, size, present, tally = arena.row, arena.differs, arena.size, arena.present, arena.tally
    words, columns = present.shape[1], tally.shape[1]
    attribute = len(leaves.height) - 1
    codes, groups = leaves.codes[attribute], leaves.group[first:]
    to, previous = free - 1, -1
    for at in range(begin, end):
        group = groups[codes[row[at]]]
        if differs[at] == attribute and group == previous:
            size[to] += size[at]
            for w in range(words):
                present[to, w] |= present[at, w]
            for v in range(columns):
                tally[to, v] += tally[at, v]
        else:
            to += 1
            row[to], differs[to], size[to] = row[at], differs[at], size[at]
            for w in range(words):
                present[to, w] = present[at, w]
            for v in range(columns):
                tally[to, v] = tally[at, v]
        previous = group
    return to + 1 - free


merge_last = kernel(_merge_last)


def _merge_raised(arena: Classes, begin: int, end: int, free: int, leaves: Leaves, attribute: int, first: int) -> int:
    """Raise an attribute for the classes begin … end; write the result from `free`; → how many there are.

    first  where its groups of the new level begin in `leaves.group`

    A stretch shares what precedes the attribute and the new group; inside it one ascending run per old
    group, which are merged by what follows the attribute.
    """
    row, differs, size, present, tally = arena.row, arena.differs, arena.size, arena.present, arena.tally
    words, columns = present.shape[1], tally.shape[1]
    order, spare = np.empty(end - begin, dtype=np.int64), np.empty(end - begin, dtype=np.int64)
    codes, suffix, groups = leaves.codes[attribute], leaves.suffix[attribute], leaves.group[first:]
    to, at = free - 1, begin
    while at < end:
        group = groups[codes[row[at]]]
        stop, runs = at + 1, 1
        while stop < end and differs[stop] >= attribute:
            if differs[stop] == attribute:
                if groups[codes[row[stop]]] != group:
                    break
                runs += 1
            stop += 1
        for place in range(stop - at):
            order[place] = at + place
        if runs > 1:
            sort_runs(order, stop - at, spare, suffix, row)
        old, before = row[at], -1
        for position in range(stop - at):
            place = order[position]
            new = row[place]
            if suffix[new] == before:
                size[to] += size[place]
                for w in range(words):
                    present[to, w] |= present[place, w]
                for v in range(columns):
                    tally[to, v] += tally[place, v]
                continue
            to += 1
            row[to], size[to], differs[to] = new, size[place], differs[at]
            for w in range(words):
                present[to, w] = present[place, w]
            for v in range(columns):
                tally[to, v] = tally[place, v]
            if position:
                first_difference = attribute + 1
                while leaves.codes[first_difference, new] == leaves.codes[first_difference, old]:
                    first_difference += 1
                differs[to] = first_difference
            old, before = new, suffix[new]
        at = stop
    return to + 1 - free


merge_raised = kernel(_merge_raised)


def _attainable_size(sizes: NDArray[np.int64], allowance: int) -> int:
    """The largest k such that no more than `allowance` records stand in classes smaller than k.

    The largest class always survives. Sizes below `_DIRECT` are tallied, the few larger ones sorted.
    """
    tally = np.zeros(_DIRECT, dtype=np.int64)
    for size in sizes:
        tally[min(size, _DIRECT - 1)] += size
    spent, smallest = 0, 0
    for size in range(1, _DIRECT - 1):
        if tally[size]:
            smallest = size
            spent += tally[size]
            if spent > allowance:
                return size
    rest = np.sort(sizes[sizes >= _DIRECT - 1])
    for size in rest:
        spent += size
        if spent > allowance:
            return size
    return int(rest[-1]) if len(rest) else smallest


attainable_size = kernel(_attainable_size)


def _attainable_diversity(sizes: NDArray[np.int64], distinct: NDArray[np.int64], k: int, allowance: int) -> int:
    """The largest l within `allowance`, records in classes smaller than k being already suppressed."""
    tally = np.zeros(distinct.max() + 1, dtype=np.int64)
    spent, highest = 0, 0
    for place in range(len(sizes)):
        if sizes[place] < k:
            spent += sizes[place]
        else:
            tally[distinct[place]] += sizes[place]
            highest = max(highest, distinct[place])
    for diversity in range(highest):
        spent += tally[diversity]
        if spent > allowance:
            return diversity
    return highest


attainable_diversity = kernel(_attainable_diversity)


def _distinct_values(classes: Classes, begin: int, count: int, values: int) -> NDArray[np.int64]:
    """How many confidential values occur in each class."""
    distinct = np.zeros(count, dtype=np.int64)
    words = classes.present.shape[1]
    for place in range(count):
        if words:
            for w in range(words):
                x = classes.present[begin + place, w]
                x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
                x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
                x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                distinct[place] += np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
        else:
            for v in range(values):
                distinct[place] += classes.tally[begin + place, v] > 0
    return distinct


distinct_values = kernel(_distinct_values)


def _suppressed_loss(row: int, levels: NDArray[np.int64], leaves: Leaves) -> float:
    """What a record loses by suppression beyond what its generalised cells already lost."""
    lost = 0.0
    for attribute in range(len(levels)):
        lost += 1.0 - leaves.cell[leaves.start[attribute, levels[attribute]] + leaves.codes[attribute, row]]
    return lost


suppressed_loss = kernel(_suppressed_loss)


def _read_node(
    classes: Classes,
    span: tuple[int, int],
    levels: NDArray[np.int64],
    leaves: Leaves,
    demand: Demand,
    out: Readings,
    node: int,
) -> None:
    """Judge one node's classes, span[0] … span[1], and enter the result at `node`."""
    begin, end = span
    sizes = classes.size[begin:end]
    values, columns = demand.values, classes.tally.shape[1]
    distinct = distinct_values(classes, begin, end - begin, values)
    least, diversity = demand.k, demand.l
    if demand.rule != DEMANDED:
        least, diversity = attainable_size(sizes, demand.allowance), 0
        if demand.rule == STRICTEST:
            diversity = attainable_diversity(sizes, distinct, least, demand.allowance)
    loss = 0.0
    for attribute in range(len(levels)):
        loss += leaves.marginal[attribute, levels[attribute]]
    gone, survivors, squares, value_squares, misfits = 0, 0, 0, 0, 0
    smallest, fewest = 1 << 62, 1 << 62
    lost = np.zeros(values, dtype=np.int64)
    for place in range(end - begin):
        size = sizes[place]
        if size < least or distinct[place] < diversity:
            gone += size
            loss += size * suppressed_loss(classes.row[begin + place], levels, leaves)
            for v in range(values):
                lost[v] += classes.tally[begin + place, v]
            continue
        survivors += 1
        squares += size * size
        smallest = min(smallest, size)
        fewest = min(fewest, distinct[place])
        most = np.int32(0)
        for v in range(values):
            share = np.int64(classes.tally[begin + place, v])
            value_squares += share * share
        for v in range(values, columns):
            most = max(most, classes.tally[begin + place, v])
        misfits += size - most
    for v in range(values):
        value_squares += lost[v] * lost[v]
    out.k[node] = smallest if survivors else 0
    out.l[node] = fewest if survivors else 0
    out.suppressed[node], out.classes[node] = gone, survivors
    out.size_sum[node], out.value_sum[node] = squares + gone * gone, value_squares
    out.misfits[node], out.loss[node] = misfits + gone, loss


read_node = kernel(_read_node)


def _hopeless(classes: Classes, begin: int, end: int, attribute: int, demand: Demand) -> bool:
    """Whether hiding this and all later attributes still leaves too many records in classes that are too small."""
    if demand.prune == 0 or attribute == 0:
        return False
    small, size = 0, 0
    for place in range(begin, end):
        if classes.differs[place] < attribute:
            small += size if size < demand.prune else 0
            size = 0
        size += classes.size[place]
    small += size if size < demand.prune else 0
    return small > demand.allowance


hopeless = kernel(_hopeless)


def _enlarged(classes: Classes, used: int, capacity: int) -> Classes:
    """The first `used` classes in arrays of a larger capacity."""
    larger = Classes(
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int64),
        np.empty((capacity, classes.present.shape[1]), dtype=np.uint64),
        np.empty((capacity, classes.tally.shape[1]), dtype=np.int32),
    )
    for place in range(used):
        copy_class(classes, place, larger, place)
    return larger


enlarged = kernel(_enlarged)


def _roll_up(classes: Classes, leaves: Leaves, place: NDArray[np.int64], demand: Demand, out: Readings) -> None:
    """Judge every node of the lattice that can succeed, depth first, each merged from the one below it.

    classes  the distinct tuples themselves
    place    int64[s]: weight of each attribute's level in a node's number
    out      filled at the number of each node; pruned nodes keep what they hold

    The stack of tables lies in one arena that grows; a frame begins where the one below it ends.
    """
    depth = leaves.height.sum() + 1
    begin, end = np.zeros(depth, dtype=np.int64), np.zeros(depth, dtype=np.int64)
    raised, upcoming = np.zeros(depth, dtype=np.int64), np.zeros(depth, dtype=np.int64)
    levels = np.zeros(len(place), dtype=np.int64)
    end[0] = len(classes.size)
    arena = enlarged(classes, end[0], 3 * end[0] + 16)
    read_node(arena, (0, end[0]), levels, leaves, demand, out, 0)
    top, node = 0, 0
    while top >= 0:
        attribute = upcoming[top]
        if (
            attribute < len(place)
            and attribute > raised[top]
            and hopeless(arena, begin[top], end[top], attribute, demand)
        ):
            attribute = len(place)  # what is in vain here is in vain for every later attribute
        if attribute == len(place):
            levels[raised[top]] -= top > 0
            node -= place[raised[top]] * (top > 0)
            top -= 1
            continue
        upcoming[top] += 1
        if levels[attribute] == leaves.height[attribute]:
            continue
        free, size = end[top], end[top] - begin[top]
        if free + size > len(arena.size):
            arena = enlarged(arena, free, 2 * (free + size))
        first = leaves.start[attribute, levels[attribute] + 1]
        if attribute + 1 == len(place):
            found = merge_last(arena, begin[top], end[top], free, leaves, first)
        else:
            found = merge_raised(arena, begin[top], end[top], free, leaves, attribute, first)
        top += 1
        begin[top], end[top], raised[top], upcoming[top] = free, free + found, attribute, attribute
        levels[attribute] += 1
        node += place[attribute]
        read_node(arena, (free, free + found), levels, leaves, demand, out, node)


roll_up = kernel(_roll_up)
