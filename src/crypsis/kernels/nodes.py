"""One node of a generalisation lattice under judgement: which classes are suppressed, what is kept and lost."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.classes import attainable_diversity, attainable_size, bits
from crypsis.kernels.compile import kernel
from crypsis.kernels.value_lists import Held, Listed, count_listed, squares_together

BY_SIZE, STRICTEST, DEMANDED = 0, 1, 2
"""Which classes are suppressed: the smallest within the limit; those below the strictest k and then l the
limit allows; those that fail a demanded k or l, whatever the limit."""

_HUGE = 1 << 62


class Leaves(NamedTuple):
    """The distinct head tuples and their hierarchies; never changed. h attributes, m tuples.

    codes     int32[h, m]: leaf in tree order
    suffix    int32[h, m]: rank of the tuple's remainder after the attribute
    height    int64[h]: highest level of each attribute
    start     int64[h, levels]: where the leaves of an attribute at a level begin in `group` and `cell`
    group     int32[…]: group of the leaf, ascending
    cell      float64[…]: loss of one such cell
    marginal  float64[h, levels]: loss of the whole column, nothing suppressed
    place     int64[h]: weight of the attribute's level in the number of a node
    values    The confidential attribute, if it has too many values to tally
    labels    The label, if it has too many values and is not the confidential attribute
    """

    codes: NDArray[np.int32]
    suffix: NDArray[np.int32]
    height: NDArray[np.int64]
    start: NDArray[np.int64]
    group: NDArray[np.int32]
    cell: NDArray[np.float64]
    marginal: NDArray[np.float64]
    place: NDArray[np.int64]
    values: Listed
    labels: Listed


class Tail(NamedTuple):
    """The nodes over the tail; the first is the lowest, each other is added up from an earlier one.

    below     int64[t]: the node it is added up from
    step      int64[t, cells]: where each cell of that node goes
    width     int64[t]: cells of the node
    spared    float64[t, cells]: what a record of the cell loses by suppression beyond its tail's generalisation
    marginal  float64[t]: loss of the tail columns, nothing suppressed
    place     int64[t]: what the node adds to the number of a node
    """

    below: NDArray[np.int64]
    step: NDArray[np.int64]
    width: NDArray[np.int64]
    spared: NDArray[np.float64]
    marginal: NDArray[np.float64]
    place: NDArray[np.int64]


class NodeDemand(NamedTuple):
    """What is asked of every node.

    allowance  How many records may be suppressed.
    values     v: leading columns of a cell's tally that belong to the confidential attribute
    prune      Leave out what cannot reach this k within the allowance; 0 looks at every node.
    """

    rule: int
    allowance: int
    k: int
    l: int  # noqa: E741 (the paper's letter)
    values: int
    prune: int


class NodeReadings(NamedTuple):
    """One entry per node.

    size_sum   Σ class size over records; the suppressed are one class of their own
    value_sum  Σ over records of how often their confidential value occurs in their class
    misfits    Records suppressed or without the majority label of their class
    classes    Surviving classes; left as it was where a node was pruned
    loss       Σ of cell losses; a suppressed record loses every cell
    """

    k: NDArray[np.int64]
    l: NDArray[np.int64]  # noqa: E741
    suppressed: NDArray[np.int64]
    size_sum: NDArray[np.int64]
    value_sum: NDArray[np.int64]
    misfits: NDArray[np.int64]
    classes: NDArray[np.int64]
    loss: NDArray[np.float64]


class CellBlock(NamedTuple):
    """The cells of consecutive classes, from `begin` up to `end`."""

    size: NDArray[Any]
    present: NDArray[np.uint64]
    tally: NDArray[Any]
    begin: int
    end: int


def _add(target: NDArray[Any], source: NDArray[Any]) -> None:
    """target += source, element by element."""
    for i in range(len(target)):
        target[i] += source[i]


add = kernel(_add)


def _unite(target: NDArray[np.uint64], source: NDArray[np.uint64]) -> None:
    """target |= source, element by element."""
    for i in range(len(target)):
        target[i] |= source[i]


unite = kernel(_unite)


def _added_up(block: CellBlock, step: NDArray[np.int64], width: int) -> CellBlock:
    """The cells of every class added up into `width` cells; step[c] is where cell c goes."""
    cells, begin, end = len(block.size), block.begin, block.end
    words, columns = len(block.present) // cells, len(block.tally) // cells
    size = np.zeros((width, end - begin), dtype=block.size.dtype)
    present = np.zeros((width * words, end - begin), dtype=np.uint64)
    tally = np.zeros((width * columns, end - begin), dtype=block.tally.dtype)
    for c in range(cells):
        add(size[step[c]], block.size[c, begin:end])
        for w in range(words):
            unite(present[step[c] * words + w], block.present[c * words + w, begin:end])
        for v in range(columns):
            add(tally[step[c] * columns + v], block.tally[c * columns + v, begin:end])
    return CellBlock(size, present, tally, 0, end - begin)


added_up = kernel(_added_up)


def _diversity(block: CellBlock, values: int) -> NDArray[np.int64]:
    """int64[cells · classes]: confidential values in every cell, cell by cell."""
    cells, n, begin, end = len(block.size), block.end - block.begin, block.begin, block.end
    words, columns = len(block.present) // cells, len(block.tally) // cells
    distinct = np.zeros(cells * n, dtype=np.int64)
    for c in range(cells):
        here = distinct[c * n : (c + 1) * n]
        for w in range(words):
            word = block.present[c * words + w, begin:end]
            for i in range(n):
                here[i] += np.int64(bits(word[i]))
        for v in range(values):
            count = block.tally[c * columns + v, begin:end]
            for i in range(n):
                here[i] += min(count[i], 1)
    return distinct


diversity_of = kernel(_diversity)


def _misfits(block: CellBlock, values: int) -> int:
    """Records without the majority label of their cell."""
    cells, n, begin, end = len(block.size), block.end - block.begin, block.begin, block.end
    columns, total = len(block.tally) // cells, 0
    most = np.zeros(n, dtype=block.tally.dtype)
    for c in range(cells):
        most[:] = 0
        for v in range(c * columns + values, (c + 1) * columns):
            count = block.tally[v, begin:end]
            for i in range(n):
                most[i] = max(most[i], count[i])
        size = block.size[c, begin:end]
        for i in range(n):
            total += size[i] - most[i]
    return total


misfits_of = kernel(_misfits)


def _value_squares(block: CellBlock, values: int) -> int:
    """Σ over records of how often their confidential value occurs in their cell."""
    cells, total = len(block.size), np.int64(0)
    columns = len(block.tally) // cells
    for c in range(cells):
        for v in range(c * columns, c * columns + values):
            count = block.tally[v, block.begin : block.end]
            for i in range(len(count)):
                total += np.int64(count[i]) * np.int64(count[i])
    return int(total)


value_squares_of = kernel(_value_squares)


def _suppressed_loss(row: int, levels: NDArray[np.int64], leaves: Leaves) -> float:
    """What a record loses by suppression beyond what its generalised head cells already lost."""
    lost = 0.0
    for attribute in range(len(levels)):
        lost += 1.0 - leaves.cell[leaves.start[attribute, levels[attribute]] + leaves.codes[attribute, row]]
    return lost


suppressed_loss = kernel(_suppressed_loss)


class JudgedNode(NamedTuple):
    """A node under judgement.

    rows    A tuple of each class
    levels  Levels of the head
    tail    JudgedNode of the tail
    of      Class of each distinct tuple where something is listed, else empty; then there is no tail
    """

    rows: NDArray[np.int32]
    levels: NDArray[np.int64]
    tail: int
    number: int
    of: NDArray[np.int32]


def _listed_in(node: JudgedNode, leaves: Leaves, tallied: bool) -> tuple[Held, NDArray[np.int64]]:
    """What the classes hold of the listed values, and of the commonest label where labels are not tallied.

    Empty if nothing is listed.
    """
    n = len(node.rows) if len(node.of) else 0
    held = count_listed(leaves.values, node.of, n)
    if tallied:
        return held, np.zeros(n, dtype=np.int64)
    return held, count_listed(leaves.labels, node.of, n).most if len(leaves.labels.row) else held.most


listed_in = kernel(_listed_in)


def _judge(
    block: CellBlock, node: JudgedNode, leaves: Leaves, tail: Tail, demand: NodeDemand, out: NodeReadings
) -> None:
    """Judge the classes of one node, its tail already added up, and enter the result.

    Everything is summed over all classes first; what is suppressed is taken back.
    """
    cells, n, values, columns = len(block.size), len(node.rows), demand.values, len(block.tally) // len(block.size)
    sizes = np.empty(cells * n, dtype=np.int64)
    for c in range(cells):
        sizes[c * n : (c + 1) * n] = block.size[c, block.begin : block.end]
    distinct = diversity_of(block, values)
    held, majority = listed_in(node, leaves, columns > values)
    if len(node.of):
        distinct += held.distinct
    least, fewest = demand.k, demand.l
    if demand.rule != DEMANDED:
        least, fewest = attainable_size(sizes, demand.allowance), 0
        if demand.rule == STRICTEST:
            fewest = attainable_diversity(sizes, distinct, least, demand.allowance)
    loss = tail.marginal[node.tail]
    for attribute in range(len(node.levels)):
        loss += leaves.marginal[attribute, node.levels[attribute]]
    misfits = misfits_of(block, values) - majority.sum()
    value_squares = value_squares_of(block, values) + held.squares.sum()
    squares, survivors, gone, smallest, lowest = 0, 0, 0, _HUGE, _HUGE
    at_least = max(least, 1)
    for place in range(cells * n):
        size, diversity = sizes[place], distinct[place]
        good = (size >= at_least) & (diversity >= fewest)
        squares += size * size
        survivors += good
        smallest = min(smallest, size if good else _HUGE)
        lowest = min(lowest, diversity if good else _HUGE)
        gone += size * (1 - good)
    lost, fails = np.zeros(values, dtype=np.int64), np.zeros(len(majority), dtype=np.bool_)
    for place in range(cells * n if gone else 0):
        size = sizes[place]
        if size == 0 or (size >= least and distinct[place] >= fewest):
            continue
        c, i = place // n, place % n
        beyond = suppressed_loss(node.rows[i], node.levels, leaves) + tail.spared[node.tail, c]
        loss += size * beyond
        squares -= size * size
        most = 0
        if len(fails):
            value_squares -= held.squares[i]
            most, fails[i] = majority[i], True
        for v in range(columns):
            count = int(block.tally[c * columns + v, block.begin + i])
            if v < values:
                lost[v] += count
                value_squares -= count * count
            else:
                most = max(most, count)
        misfits += most
    out.k[node.number] = smallest if survivors else 0
    out.l[node.number] = lowest if survivors else 0
    out.suppressed[node.number], out.classes[node.number] = gone, survivors
    out.size_sum[node.number] = squares + gone * gone
    together = squares_together(leaves.values, node.of, fails)
    out.value_sum[node.number] = value_squares + (lost * lost).sum() + together
    out.misfits[node.number], out.loss[node.number] = misfits, loss


judge = kernel(_judge)


def _judge_tail(
    block: CellBlock, node: JudgedNode, leaves: Leaves, tail: Tail, demand: NodeDemand, out: NodeReadings
) -> None:
    """Judge one node of the head at every node of the tail."""
    blocks = [block]
    for t in range(len(tail.below)):
        if t:
            blocks.append(added_up(blocks[tail.below[t]], tail.step[t], tail.width[t]))
        at = JudgedNode(node.rows, node.levels, t, node.number + tail.place[t], node.of)
        judge(blocks[t], at, leaves, tail, demand, out)


judge_tail = kernel(_judge_tail)
