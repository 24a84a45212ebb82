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

from crypsis.kernels.arrays import Floats, Int32s, Ints, Words
from crypsis.kernels.classes import RECURSIVE, SIZE, ContentDemands, ContentRoom, content_level, slots_for
from crypsis.kernels.compile import kernel
from crypsis.kernels.nodes import CellBlock, JudgedNode, Leaves, NodeDemand, NodeReadings, TailNodes, add_up, judge

_SHORT = 32
_NODE = 100
"""What a node costs beside its classes, in classes."""
TASK_CLASSES = 10_000_000
"""Classes merged or judged in one task."""


class Classes(NamedTuple):
    """Classes of the head in lexicographic order, each with its cells. Counts are int32 or int64."""

    row: Int32s  # int32[c]: a tuple of the class
    differs: Int32s  # int32[c]: first attribute in which the class differs from the one before it
    size: NDArray[Any]  # [cells, c]: records
    present: Words  # uint64[cells · words, c]: one bit per confidential value that occurs
    tally: NDArray[Any]  # [cells · (v + u), c]: records per confidential value (v columns, or none), then per label


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


    A stretch shares what precedes the attribute and the new group; inside it one ascending run per old
    group, which are merged by what follows the attribute.

    `into` int32[end − begin].
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


def _enlarge(classes: Classes, used: int, capacity: int) -> Classes:
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


enlarge = kernel(_enlarge)


class LatticeJudging(NamedTuple):
    """What stays the same while the nodes of a lattice are judged."""

    leaves: Leaves
    tail: TailNodes
    demand: NodeDemand
    out: NodeReadings  # filled at the number of each node
    room: CellBlock  # for the cells of all nodes of the tail but the lowest


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
    """The stack of a depth-first walk over the lattice; d: its height and one more."""

    begin: Ints  # int64[d]: where the classes of a node stand in the arena
    end: Ints
    raised: Ints  # int64[d]: the attribute raised last and the next to try
    upcoming: Ints
    levels: Ints  # int64[h]
    of: Int32s  # int32[d, m]: class of each distinct tuple where something is listed; m is 0 if nothing is
    into: Int32s  # int32[m]: room
    at: Ints  # int64[3]: place in the stack, −1 at the end; number of the node; 0 before the lowest is judged


def _visit(arena: Classes, walk: LatticeWalk, judging: LatticeJudging, most: int) -> Classes:
    """Walk on through the lattice as `roll_up` says, until about so many classes are merged or judged.

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
            arena = enlarge(arena, free, 2 * (free + size))
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
    classes: Classes, leaves: Leaves, tail: TailNodes, demand: NodeDemand, out: NodeReadings, most: int = TASK_CLASSES
) -> Iterator[bool]:
    """Judge every node of the lattice that can succeed, depth first, each merged from the one below it, in tasks.

    →        True after each task
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
    arena, judging = enlarge(classes, m, 3 * m + 16), LatticeJudging(leaves, tail, demand, out, room)
    while walk.at[0] >= 0:
        arena = visit(arena, walk, judging, most)
        yield True


# -- Classes of a lattice node with what they hold, raised level by level, and judged by demands on their contents.

_TOLERANCE = 1e-9


class RolledClasses(NamedTuple):
    """Classes of one node."""

    code: Int32s  # int32[c, s]: group of each attribute at its level
    records: Ints  # int64[c]: how many records it has
    tally: Int32s  # int32[c, values]: how many of them hold each confidential value


def _clear_slots(slots: Ints, count: int) -> int:
    """Empty as many slots as `count` classes need, a power of two; → the mask of their numbers."""
    mask = 15
    while mask + 1 < 2 * count:
        mask = 2 * mask + 1
    for slot in range(mask + 1):
        slots[slot] = -1
    return mask


clear_slots = kernel(_clear_slots)


def _find_slot(code: Int32s, row: int, a: int, group: int, width: int, found: Int32s, slots: Ints, mask: int) -> int:
    """The slot, in a hash table, of the class whose codes are those of a row with attribute `a` in `group`."""
    key = 0
    for b in range(width):
        value = group if b == a else code[row, b]
        key = (key ^ (value + 0x9E3779B9)) * 0x2545F491
        key ^= (key >> 15) & 0x1FFFFFFFFFF
    slot = key & mask
    while slots[slot] >= 0:
        same, other = True, slots[slot]
        for b in range(width):
            if found[other, b] != (group if b == a else code[row, b]):
                same = False
                break
        if same:
            return slot
        slot = (slot + 1) & mask
    return slot


find_slot = kernel(_find_slot)


def _copy_codes(code: Int32s, row: int, width: int, found: Int32s, to: int) -> None:
    """Give a new class the codes of a row."""
    for b in range(width):
        found[to, b] = code[row, b]


copy_codes = kernel(_copy_codes)


def _raise_classes(old: RolledClasses, count: int, a: int, up: Int32s, new: RolledClasses, slots: Ints) -> int:
    """Raise attribute `a` by one level; → how many classes there are.

    `up` int32[groups]; `slots` int64[2^b]: room for a hash table, at least twice as many as classes.
    """
    width, values = old.code.shape[1], old.tally.shape[1]
    mask, made = clear_slots(slots, count), 0
    for row in range(count):
        group = up[old.code[row, a]]
        slot = find_slot(old.code, row, a, group, width, new.code, slots, mask)
        to = slots[slot]
        if to < 0:
            to, slots[slot] = made, made
            made += 1
            copy_codes(old.code, row, width, new.code, to)
            new.code[to, a] = group
            new.records[to] = 0
            for v in range(values):
                new.tally[to, v] = 0
        new.records[to] += old.records[row]
        for v in range(values):
            new.tally[to, v] += old.tally[row, v]
    return made


raise_classes = kernel(_raise_classes)


def _records_below(held: RolledClasses, count: int, width: int, least: int, spare: RolledClasses, slots: Ints) -> int:
    """Records in classes smaller than `least` if only the first `width` attributes are published."""
    mask, made = clear_slots(slots, count), 0
    for row in range(count):
        slot = find_slot(held.code, row, -1, 0, width, spare.code, slots, mask)
        to = slots[slot]
        if to < 0:
            to, slots[slot] = made, made
            made += 1
            copy_codes(held.code, row, width, spare.code, to)
            spare.records[to] = 0
        spare.records[to] += held.records[row]
    small = 0
    for to in range(made):
        small += spare.records[to] if spare.records[to] < least else 0
    return small


records_below = kernel(_records_below)


def _tally_passes(demands: ContentDemands, room: ContentRoom, tally: Int32s, records: int) -> bool:
    """Whether a class meets every demand, given how many of its records hold each value."""
    for d in range(len(demands.kind)):
        kind, c, bound = demands.kind[d], demands.column[d], demands.bound[d, 0]
        m, total = 0, 0
        level = float(records)
        if kind != SIZE:
            for value in range(demands.first[c], demands.first[c + 1]):
                if tally[value] > 0:
                    room.held[0, m] = value
                    room.times[value] = tally[value]
                    total += tally[value]
                    m += 1
            level = content_level(demands, room, d, m, total, records)
            for i in range(m):
                room.times[room.held[0, i]] = 0
        allowed = _TOLERANCE * max(1.0, abs(bound))
        if (kind <= RECURSIVE and level < bound - allowed) or (kind > RECURSIVE and level > bound + allowed):
            return False
    return True


tally_passes = kernel(_tally_passes)


def _judge_class_contents(
    held: RolledClasses, count: int, cell: Floats, demands: ContentDemands, room: ContentRoom, limits: Ints, out: Floats
) -> None:
    """Judge one node: every class that fails is suppressed.

    `cell` float64[s, groups]; `limits` int64[2]; `out` float64[4].
    """
    width = held.code.shape[1]
    small = 0
    for row in range(count):
        small += held.records[row] if held.records[row] < limits[0] else 0
    out[0], out[1], out[2], out[3] = small, np.inf, 0.0, 0.0
    if small > limits[1]:
        return
    lost, least, left = 0.0, 0, 0
    for row in range(count):
        if held.records[row] >= limits[0] and tally_passes(demands, room, held.tally[row], held.records[row]):
            each = 0.0
            for b in range(width):
                each += cell[b, held.code[row, b]]
            lost += each * held.records[row]
            left += 1
            if least == 0 or held.records[row] < least:
                least = held.records[row]
        else:
            if held.records[row] >= limits[0]:
                small += held.records[row]
                if small > limits[1]:
                    out[0] = small
                    return
            lost += width * held.records[row]
    out[0], out[1], out[2], out[3] = small, lost, least, left


judge_class_contents = kernel(_judge_class_contents)

# -- One node of a lattice without a walk to it, however many attributes and nodes there are.
#
# Tuples are of one class if the random words of their groups add up to the same number. Of m tuples two may do so by
# chance once in about 2⁶⁴ / m² nodes; what is released is judged again from its values.

_STIR = np.uint64(0x9E3779B97F4A7C15)


def _class_tuples(
    leaves: Leaves, levels: Ints, of: Int32s, rows: Int32s, keys: Words, held: Words, slots: Int32s
) -> int:
    """of int32[m] ← the class of each distinct tuple, rows int32[m] ← a tuple of each class; → how many there are.

    `keys`, `held` uint64[m]: room;  slots  int32[a power of two, at least 2 m]: room.
    """
    m, size, shift = np.uint64(of.shape[0]), 1, np.uint64(64)
    while size < slots.shape[0]:
        size *= 2
        shift -= np.uint64(1)
    for t in range(m):
        keys[t] = 0
    for attribute in range(levels.shape[0]):
        base = np.uint64(leaves.start[attribute, levels[attribute]])
        end = leaves.start[attribute + 1, 0] if attribute + 1 < levels.shape[0] else leaves.group.shape[0]
        if levels[attribute] == leaves.height[attribute] and leaves.group[end - 1] == 0:
            continue  # one group holds every leaf
        for t in range(m):
            keys[t] += leaves.mark[base + np.uint64(leaves.codes[attribute, t])]
    for slot in range(size):
        slots[slot] = -1
    count, last = 0, np.uint64(size - 1)
    for t in range(m):
        slot = (keys[t] * _STIR) >> shift
        while slots[slot] >= 0 and held[slots[slot]] != keys[t]:
            slot = (slot + np.uint64(1)) & last
        if slots[slot] < 0:
            slots[slot] = count
            rows[count], held[count] = t, keys[t]
            count += 1
        of[t] = slots[slot]
    return count


class_tuples = kernel(_class_tuples)


def _merge_classes(classes: Classes, tail: TailNodes, node: int, of: Int32s, merged: CellBlock) -> None:
    """Add the distinct tuples up into the classes of one node, their cells into those of a node of the tail."""
    cells = classes.size.shape[0]
    words, columns = classes.present.shape[0] // cells, classes.tally.shape[0] // cells
    for i in range(merged.end):
        for c in range(merged.size.shape[0]):
            merged.size[c, i] = 0
        for c in range(merged.present.shape[0]):
            merged.present[c, i] = 0
        for c in range(merged.tally.shape[0]):
            merged.tally[c, i] = 0
    for c in range(cells):
        to = tail.final[node, c]
        for t in range(of.shape[0]):
            merged.size[to, of[t]] += classes.size[c, t]
        for w in range(words):
            for t in range(of.shape[0]):
                merged.present[to * words + w, of[t]] |= classes.present[c * words + w, t]
        for v in range(columns):
            for t in range(of.shape[0]):
                merged.tally[to * columns + v, of[t]] += classes.tally[c * columns + v, t]


merge_classes = kernel(_merge_classes)


def _read_one(
    classes: Classes, leaves: Leaves, tail: TailNodes, levels: Ints, node: int, demand: NodeDemand, out: NodeReadings
) -> None:
    """Judge a single node: the head lifted straight to `levels`, the tail at its node; the result goes to entry 0."""
    m, cells, width = classes.row.shape[0], classes.size.shape[0], tail.width[node]
    words, columns = classes.present.shape[0] // cells, classes.tally.shape[0] // cells
    of, rows, keys, held = np.empty(m, np.int32), np.empty(m, np.int32), np.empty(m, np.uint64), np.empty(m, np.uint64)
    n = class_tuples(leaves, levels, of, rows, keys, held, np.empty(slots_for(m), np.int32))
    merged = CellBlock(
        np.empty((width, n), dtype=classes.size.dtype),
        np.empty((width * words, n), dtype=np.uint64),
        np.empty((width * columns, n), dtype=classes.tally.dtype),
        0,
        width,
        0,
        n,
    )
    merge_classes(classes, tail, node, of, merged)
    listed = leaves.values.row.shape[0] > 0 or leaves.labels.row.shape[0] > 0
    judge(merged, JudgedNode(rows, 0, levels, node, 0, of[: m if listed else 0]), leaves, tail, demand, out)


read_one = kernel(_read_one)
