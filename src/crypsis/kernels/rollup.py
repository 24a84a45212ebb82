"""Every node of a generalisation lattice by roll-up.

Rows are distinct tuples in lexicographic order, their leaves numbered in tree order, so that a group of any
level is a stretch of neighbouring codes. A class needs no key: a representative row and the first attribute
in which it differs from the class before it say all, however many attributes there are. The lattice of the
first attributes (the head) is walked depth first, every node merged from the node one level lower in the
attribute raised last. The last few small attributes (the tail) are a dense block of cells in every class,
added up for each of their own nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Int32s, Ints, Words
from crypsis.kernels.compile import kernel
from crypsis.kernels.nodes import CellBlock, JudgedNode, Leaves, NodeDemand, NodeReadings, TailNodes, add_up, judge

_SHORT = 32
_NODE = 100
"""What a node costs beside its classes, in classes."""
PIECE = 10_000_000
"""Classes merged or judged in one piece."""


class Classes(NamedTuple):
    """Classes of the head in lexicographic order, each with its cells. Counts are int32 or int64.

    row      int32[c]: a tuple of the class
    differs  int32[c]: first attribute in which the class differs from the one before it
    size     [cells, c]: records
    present  uint64[cells · words, c]: one bit per confidential value that occurs
    tally    [cells · (v + u), c]: records per confidential value (v columns, or none), then per label
    """

    row: Int32s
    differs: Int32s
    size: NDArray[Any]
    present: Words
    tally: NDArray[Any]


def _sort_runs(order: Ints, n: int, spare: Ints, rank: Int32s, row: Int32s) -> None:
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
        for to in range(n):
            order[to] = spare[to]
        if merges == 1:
            return


sort_runs = kernel(_sort_runs)


def _merge_raised(
    arena: Classes, begin: int, end: int, free: int, leaves: Leaves, attribute: int, first: int, into: Int32s
) -> int:
    """Raise an attribute for the classes begin … end; write the result from `free`; → how many there are.

    first  where its groups of the new level begin in `leaves.group`
    into   int32[end − begin]: told which new class each of them became

    A stretch shares what precedes the attribute and the new group; inside it one ascending run per old
    group, which are merged by what follows the attribute.
    """
    row, differs, size, present, tally = arena.row, arena.differs, arena.size, arena.present, arena.tally
    cells, words, columns = size.shape[0], present.shape[0], tally.shape[0]
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
        for c in range(classes.size.shape[0]):
            size += classes.size[c, place]
    small += size if size < demand.prune else 0
    return small > demand.allowance


hopeless = kernel(_hopeless)


def _enlarged(classes: Classes, used: int, capacity: int) -> Classes:
    """The first `used` classes in arrays of a larger capacity."""
    cells, words, columns = classes.size.shape[0], classes.present.shape[0], classes.tally.shape[0]
    larger = Classes(
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int32),
        np.empty((cells, capacity), dtype=classes.size.dtype),
        np.empty((words, capacity), dtype=np.uint64),
        np.empty((columns, capacity), dtype=classes.tally.dtype),
    )
    for i in range(used):
        larger.row[i], larger.differs[i] = classes.row[i], classes.differs[i]
    for c in range(cells):
        for i in range(used):
            larger.size[c, i] = classes.size[c, i]
    for c in range(words):
        for i in range(used):
            larger.present[c, i] = classes.present[c, i]
    for c in range(columns):
        for i in range(used):
            larger.tally[c, i] = classes.tally[c, i]
    return larger


enlarged = kernel(_enlarged)


class LatticeJudging(NamedTuple):
    """What stays the same while the nodes of a lattice are judged.

    room  for the cells of all nodes of the tail but the lowest
    out   filled at the number of each node
    """

    leaves: Leaves
    tail: TailNodes
    demand: NodeDemand
    out: NodeReadings
    room: CellBlock


def _judge_tail(block: CellBlock, node: JudgedNode, judging: LatticeJudging) -> None:
    """Judge one node of the head at every node of the tail."""
    tail, room = judging.tail, judging.room
    n, at = block.end - block.begin, block
    for t in range(tail.below.shape[0]):
        if t:
            source, below = block, tail.below[t]
            if below:
                width, first = tail.width[below], tail.first[below]
                source = CellBlock(room.size, room.present, room.tally, first, width, 0, n)
            at = CellBlock(room.size, room.present, room.tally, tail.first[t], tail.width[t], 0, n)
            add_up(source, tail.step, t, at)
        named = JudgedNode(node.rows, node.begin, node.levels, t, node.number + tail.place[t], node.of)
        judge(at, named, judging.leaves, tail, judging.demand, judging.out)


judge_tail = kernel(_judge_tail)


def _judge_classes(arena: Classes, begin: int, end: int, node: JudgedNode, judging: LatticeJudging) -> None:
    """Judge a stretch of classes at every node of the tail, unless none of them can succeed."""
    if not hopeless(arena, begin, end, judging.leaves.place.shape[0], judging.demand):
        block = CellBlock(arena.size, arena.present, arena.tally, 0, arena.size.shape[0], begin, end)
        judge_tail(block, node, judging)


judge_classes = kernel(_judge_classes)


class LatticeWalk(NamedTuple):
    """The stack of a depth-first walk over the lattice; d: its height and one more.

    begin, end        int64[d]: where the classes of a node stand in the arena
    raised, upcoming  int64[d]: the attribute raised last and the next to try
    levels            int64[h]
    of                int32[d, m]: class of each distinct tuple where something is listed; m is 0 if nothing is
    into              int32[m]: room
    at                int64[3]: place in the stack, −1 at the end; number of the node; 0 before the lowest is judged
    """

    begin: Ints
    end: Ints
    raised: Ints
    upcoming: Ints
    levels: Ints
    of: Int32s
    into: Int32s
    at: Ints


def _visit(arena: Classes, walk: LatticeWalk, judging: LatticeJudging, most: int) -> Classes:
    """Walk on through the lattice as `roll_up` says, until about so many classes are merged or judged.

    arena   the stack of tables
    →       the arena, which grows
    """
    leaves, demand = judging.leaves, judging.demand
    begin, end, raised, upcoming, levels, of, into, at = walk
    attributes, tail_nodes, top, number, work = leaves.place.shape[0], judging.tail.below.shape[0], at[0], at[1], 0
    if at[2] == 0:
        at[2] = 1
        judge_classes(arena, 0, end[0], JudgedNode(arena.row, 0, levels, 0, number, of[0]), judging)
    while top >= 0 and work < most:
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
        if free + size > arena.row.shape[0]:
            arena = enlarged(arena, free, 2 * (free + size))
        first = leaves.start[attribute, levels[attribute] + 1]
        found = merge_raised(arena, begin[top], end[top], free, leaves, attribute, first, into)
        for t in range(of.shape[1]):
            of[top + 1, t] = into[of[top, t]]
        top += 1
        begin[top], end[top], raised[top], upcoming[top] = free, free + found, attribute, attribute
        levels[attribute] += 1
        number += leaves.place[attribute]
        node = JudgedNode(arena.row, free, levels, 0, number, of[top])
        judge_classes(arena, free, free + found, node, judging)
        work += size + found * tail_nodes + _NODE
    at[0], at[1] = top, number
    return arena


visit = kernel(_visit)


def roll_up(
    classes: Classes, leaves: Leaves, tail: TailNodes, demand: NodeDemand, out: NodeReadings, most: int = PIECE
) -> Iterator[bool]:
    """Judge every node of the lattice that can succeed, depth first, each merged from the one below it, in pieces.

    classes  the distinct tuples themselves
    out      filled at the number of each node; pruned nodes keep what they hold
    most     classes merged or judged in one piece
    →        True after each piece
    """
    depth, m = int(leaves.height.sum()) + 1, len(classes.row)
    listed = len(leaves.values.row) > 0 or len(leaves.labels.row) > 0
    of = np.zeros((depth, m if listed else 0), dtype=np.int32)
    of[0] = np.arange(of.shape[1])
    ends = np.zeros(depth, dtype=np.int64)
    ends[0] = m
    stack = [np.zeros(depth, dtype=np.int64) for _ in range(3)]
    levels, into = np.zeros(len(leaves.place), dtype=np.int64), np.empty(m, dtype=np.int32)
    cells, rows = len(classes.size), int(tail.width[1:].sum())
    room = CellBlock(
        np.empty((rows, m), dtype=classes.size.dtype),
        np.empty((rows * (len(classes.present) // cells), m), dtype=np.uint64),
        np.empty((rows * (len(classes.tally) // cells), m), dtype=classes.tally.dtype),
        0,
        rows,
        0,
        0,
    )
    walk = LatticeWalk(stack[0], ends, stack[1], stack[2], levels, of, into, np.zeros(3, dtype=np.int64))
    arena, judging = enlarged(classes, m, 3 * m + 16), LatticeJudging(leaves, tail, demand, out, room)
    while walk.at[0] >= 0:
        arena = visit(arena, walk, judging, most)
        yield True
