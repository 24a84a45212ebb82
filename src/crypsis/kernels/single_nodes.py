"""One node of a lattice without a walk to it, however many attributes and nodes there are.

Tuples are of one class if the random words of their groups add up to the same number. Of m tuples two may do so by
chance once in about 2⁶⁴ / m² nodes; what is released is judged again from its values.
"""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Int32s, Ints, Words
from crypsis.kernels.compile import kernel
from crypsis.kernels.nodes import CellBlock, JudgedNode, Leaves, NodeDemand, NodeReadings, TailNodes, judge
from crypsis.kernels.rollup import Classes
from crypsis.kernels.slots import slots_for

_STIR = np.uint64(0x9E3779B97F4A7C15)


def _class_tuples(
    leaves: Leaves, levels: Ints, of: Int32s, rows: Int32s, keys: Words, held: Words, seats: Int32s
) -> int:
    """of int32[m] ← the class of each distinct tuple, rows int32[m] ← a tuple of each class; → how many there are.

    keys, held  uint64[m]: room;  seats  int32[a power of two, at least 2 m]: room
    """
    m, size, shift = np.uint64(of.shape[0]), 1, np.uint64(64)
    while size < seats.shape[0]:
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
        seats[slot] = -1
    count, last = 0, np.uint64(size - 1)
    for t in range(m):
        slot = (keys[t] * _STIR) >> shift
        while seats[slot] >= 0 and held[seats[slot]] != keys[t]:
            slot = (slot + np.uint64(1)) & last
        if seats[slot] < 0:
            seats[slot] = count
            rows[count], held[count] = t, keys[t]
            count += 1
        of[t] = seats[slot]
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
