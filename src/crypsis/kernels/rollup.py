"""Every node of a generalisation lattice by roll-up.

Rows are distinct tuples in lexicographic order, their leaves numbered in tree order, so that a group of any
level is a stretch of neighbouring codes. A class needs no key: a representative row and the first attribute
in which it differs from the class before it say all, however many attributes there are. The lattice of the
first attributes (the head) is walked depth first, every node merged from the node one level lower in the
attribute raised last. The last few small attributes (the tail) are a dense block of cells in every class,
added up for each of their own nodes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.compile import kernel
from crypsis.kernels.nodes import (
    CellBlock,
    JudgedNode,
    Leaves,
    NodeDemand,
    NodeReadings,
    Tail,
    added_up,
    judge,
    judge_tail,
)

_SHORT = 32


class Classes(NamedTuple):
    """Classes of the head in lexicographic order, each with its cells. Counts are int32 or int64.

    row      int32[c]: a tuple of the class
    differs  int32[c]: first attribute in which the class differs from the one before it
    size     [cells, c]: records
    present  uint64[cells · words, c]: one bit per confidential value that occurs
    tally    [cells · (v + u), c]: records per confidential value (v columns, or none), then per label
    """

    row: NDArray[np.int32]
    differs: NDArray[np.int32]
    size: NDArray[Any]
    present: NDArray[np.uint64]
    tally: NDArray[Any]


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


def _merge_raised(
    arena: Classes,
    begin: int,
    end: int,
    free: int,
    leaves: Leaves,
    attribute: int,
    first: int,
    into: NDArray[np.int32],
) -> int:
    """Raise an attribute for the classes begin … end; write the result from `free`; → how many there are.

    first  where its groups of the new level begin in `leaves.group`
    into   int32[end − begin]: told which new class each of them became

    A stretch shares what precedes the attribute and the new group; inside it one ascending run per old
    group, which are merged by what follows the attribute.
    """
    row, differs, size, present, tally = arena.row, arena.differs, arena.size, arena.present, arena.tally
    cells, words, columns = len(size), len(present), len(tally)
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
                into[place - begin] = to - free
                for c in range(cells):
                    size[c, to] += size[c, place]
                for w in range(words):
                    present[w, to] |= present[w, place]
                for v in range(columns):
                    tally[v, to] += tally[v, place]
                continue
            to += 1
            into[place - begin] = to - free
            row[to], differs[to] = new, differs[at]
            for c in range(cells):
                size[c, to] = size[c, place]
            for w in range(words):
                present[w, to] = present[w, place]
            for v in range(columns):
                tally[v, to] = tally[v, place]
            if position:
                first_difference = attribute + 1
                while leaves.codes[first_difference, new] == leaves.codes[first_difference, old]:
                    first_difference += 1
                differs[to] = first_difference
            old, before = new, suffix[new]
        at = stop
    return to + 1 - free


merge_raised = kernel(_merge_raised)


def _hopeless(classes: Classes, begin: int, end: int, attribute: int, demand: NodeDemand) -> bool:
    """Whether hiding this and all later attributes still leaves too many records in classes that are too small."""
    if demand.prune == 0 or attribute == 0:
        return False
    small, size = 0, 0
    for place in range(begin, end):
        if classes.differs[place] < attribute:
            small += size if size < demand.prune else 0
            size = 0
        for c in range(len(classes.size)):
            size += classes.size[c, place]
    small += size if size < demand.prune else 0
    return small > demand.allowance


hopeless = kernel(_hopeless)


def _enlarged(classes: Classes, used: int, capacity: int) -> Classes:
    """The first `used` classes in arrays of a larger capacity."""
    larger = Classes(
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int32),
        np.empty((len(classes.size), capacity), dtype=classes.size.dtype),
        np.empty((len(classes.present), capacity), dtype=np.uint64),
        np.empty((len(classes.tally), capacity), dtype=classes.tally.dtype),
    )
    larger.row[:used], larger.differs[:used] = classes.row[:used], classes.differs[:used]
    larger.size[:, :used] = classes.size[:, :used]
    larger.present[:, :used] = classes.present[:, :used]
    larger.tally[:, :used] = classes.tally[:, :used]
    return larger


enlarged = kernel(_enlarged)


def _tuples_of(leaves: Leaves, depth: int) -> NDArray[np.int32]:
    """int32[depth, m]: room for the class of each tuple, every tuple its own at first; m is 0 if nothing is listed."""
    listed = len(leaves.values.row) > 0 or len(leaves.labels.row) > 0
    of = np.zeros((depth, leaves.codes.shape[1] if listed else 0), dtype=np.int32)
    for t in range(of.shape[1]):
        of[0, t] = t
    return of


tuples_of = kernel(_tuples_of)


def _roll_up(classes: Classes, leaves: Leaves, tail: Tail, demand: NodeDemand, out: NodeReadings) -> None:
    """Judge every node of the lattice that can succeed, depth first, each merged from the one below it.

    classes  the distinct tuples themselves
    out      filled at the number of each node; pruned nodes keep what they hold

    The stack of tables lies in one arena that grows; a frame begins where the one below it ends.
    """
    attributes = len(leaves.place)
    depth = leaves.height.sum() + 1
    of = tuples_of(leaves, depth)
    into = np.empty(len(classes.row), dtype=np.int32)
    begin, end = np.zeros(depth, dtype=np.int64), np.zeros(depth, dtype=np.int64)
    raised, upcoming = np.zeros(depth, dtype=np.int64), np.zeros(depth, dtype=np.int64)
    levels = np.zeros(attributes, dtype=np.int64)
    end[0] = len(classes.row)
    arena = enlarged(classes, end[0], 3 * end[0] + 16)
    top, number = 0, 0
    if not hopeless(arena, 0, end[0], attributes, demand):
        block = CellBlock(arena.size, arena.present, arena.tally, 0, end[0])
        judge_tail(block, JudgedNode(arena.row[: end[0]], levels, 0, number, of[0]), leaves, tail, demand, out)
    while top >= 0:
        attribute = upcoming[top]
        if raised[top] < attribute < attributes and hopeless(arena, begin[top], end[top], attribute, demand):
            attribute = attributes  # what is in vain here is in vain for every later attribute
        if attribute == attributes:
            levels[raised[top]] -= top > 0
            number -= leaves.place[raised[top]] * (top > 0)
            top -= 1
            continue
        upcoming[top] += 1
        if levels[attribute] == leaves.height[attribute]:
            continue
        free, size = end[top], end[top] - begin[top]
        if free + size > len(arena.row):
            arena = enlarged(arena, free, 2 * (free + size))
        first = leaves.start[attribute, levels[attribute] + 1]
        found = merge_raised(arena, begin[top], end[top], free, leaves, attribute, first, into)
        for t in range(of.shape[1]):
            of[top + 1, t] = into[of[top, t]]
        top += 1
        begin[top], end[top], raised[top], upcoming[top] = free, free + found, attribute, attribute
        levels[attribute] += 1
        number += leaves.place[attribute]
        if not hopeless(arena, free, free + found, attributes, demand):
            block = CellBlock(arena.size, arena.present, arena.tally, free, free + found)
            node = JudgedNode(arena.row[free : free + found], levels, 0, number, of[top])
            judge_tail(block, node, leaves, tail, demand, out)


roll_up = kernel(_roll_up)


def _read_one(
    classes: Classes,
    leaves: Leaves,
    tail: Tail,
    levels: NDArray[np.int64],
    node: int,
    demand: NodeDemand,
    out: NodeReadings,
) -> None:
    """Judge a single node: the head lifted straight to `levels`, the tail at its node; the result goes to entry 0."""
    count = len(classes.row)
    arena = enlarged(classes, count, 2 * count)
    begin, end, target = 0, count, count
    of, into = tuples_of(leaves, 1)[0], np.empty(count, dtype=np.int32)
    for attribute in range(len(levels)):
        if levels[attribute]:
            first = leaves.start[attribute, levels[attribute]]
            found = merge_raised(arena, begin, end, target, leaves, attribute, first, into)
            for t in range(len(of)):
                of[t] = into[of[t]]
            begin, end = target, target + found
            target = 0 if begin else count  # the two halves of the arena in turn
    block = CellBlock(arena.size, arena.present, arena.tally, begin, end)
    steps = np.empty(len(tail.below), dtype=np.int64)
    depth, at = 0, node
    while at:
        steps[depth] = at
        depth += 1
        at = tail.below[at]
    for position in range(depth - 1, -1, -1):
        at = steps[position]
        block = added_up(block, tail.step[at], tail.width[at])
    judge(block, JudgedNode(arena.row[begin:end], levels, node, 0, of), leaves, tail, demand, out)


read_one = kernel(_read_one)
