"""One node of a generalisation lattice under judgement: which classes are suppressed, what is kept and lost."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints, Words
from crypsis.kernels.classes import attainable_diversity, attainable_size, bits
from crypsis.kernels.compile import kernel
from crypsis.kernels.ledger import Held, Listed, count_listed, squares_together

BY_SIZE, STRICTEST, DEMANDED = 0, 1, 2
"""Which classes are suppressed: the smallest within the limit; those below the strictest k and then l the
limit allows; those that fail a demanded k or l, whatever the limit."""

_HUGE = 1 << 62


class Leaves(NamedTuple):
    """The distinct head tuples and their hierarchies; never changed. h attributes, m tuples."""

    codes: Int32s  # int32[h, m]: leaf in tree order
    suffix: Int32s  # int32[h, m]: rank of the tuple's remainder after the attribute
    height: Ints  # int64[h]: highest level of each attribute
    start: Ints  # int64[h, levels]: where the leaves of an attribute at a level begin in `group`, `mark` and `cell`
    group: Int32s  # int32[…]: group of the leaf, ascending
    mark: Words  # uint64[…]: a random word per group
    cell: Floats  # float64[…]: 1 less what one such cell loses more by suppression
    marginal: Floats  # float64[h, levels]: loss of the whole column, nothing suppressed
    place: Ints  # int64[h]: weight of the attribute's level in the number of a node
    values: Listed  # the confidential attribute, if it has too many values to tally
    labels: Listed  # the label, if it has too many values and is not the confidential attribute


class TailNodes(NamedTuple):
    """The nodes over the tail; the first is the lowest, each other is added up from an earlier one."""

    below: Ints  # int64[t]: the node it is added up from
    step: Ints  # int64[t, cells]: where each cell of that node goes
    width: Ints  # int64[t]: cells of the node
    spared: Floats  # float64[t, cells]: what a record of the cell loses by suppression beyond its tail's generalisation
    marginal: Floats  # float64[t]: loss of the tail columns, nothing suppressed
    place: Ints  # int64[t]: what the node adds to the number of a node
    final: Ints  # int64[t, cells]: where each cell of the lowest node goes
    first: Ints  # int64[t]: where the cells of the node begin among those of all nodes but the lowest


class NodeDemand(NamedTuple):
    """What is asked of every node."""

    rule: int
    allowance: int  # how many records may be suppressed
    k: int
    l: int  # noqa: E741 (the paper's letter)
    values: int  # v: leading columns of a cell's tally that belong to the confidential attribute
    prune: int  # leave out what cannot reach this k within the allowance; 0 looks at every node
    strict: int  # 1: a node that suppresses more than the allowance loses infinitely much, uncounted; 0: what it loses


class NodeReadings(NamedTuple):
    """One entry per node."""

    k: Ints
    l: Ints  # noqa: E741
    suppressed: Ints
    size_sum: Ints  # Σ class size over records; the suppressed are one class of their own
    value_sum: Ints  # Σ over records of how often their confidential value occurs in their class
    misfits: Ints  # records suppressed or without the majority label of their class
    classes: Ints  # surviving classes; left as it was where a node was pruned
    loss: Floats  # Σ of cell losses; a suppressed record loses every cell


class CellBlock(NamedTuple):
    """The cells of consecutive classes."""

    size: NDArray[Any]  # […, c]: records, one row per cell
    present: Words  # uint64[… · words, c]: one bit per confidential value that occurs
    tally: NDArray[Any]  # [… · (v + u), c]: records per confidential value, then per label
    first: int  # the cells are the rows first … first + cells − 1 of `size`
    cells: int
    begin: int  # the classes are the columns begin … end − 1
    end: int


def _add_rows(target: NDArray[Any], to: int, source: NDArray[Any], row: int, begin: int, classes: int) -> None:
    """target[to, i] += source[row, begin + i] for every class i."""
    n, offset = np.uint64(classes), np.uint64(begin)
    for i in range(n):
        target[to, i] += source[row, offset + i]


add_rows = kernel(_add_rows)


def _unite_rows(target: Words, to: int, source: Words, row: int, begin: int, classes: int) -> None:
    """target[to, i] |= source[row, begin + i] for every class i."""
    n, offset = np.uint64(classes), np.uint64(begin)
    for i in range(n):
        target[to, i] |= source[row, offset + i]


unite_rows = kernel(_unite_rows)


def _add_up(block: CellBlock, step: Ints, t: int, target: CellBlock) -> None:
    """Add the cells of every class up into those of the target; step[t, c] is where cell c goes."""
    n, rows = block.end - block.begin, block.size.shape[0]
    words, columns = block.present.shape[0] // rows, block.tally.shape[0] // rows
    for i in range(n):
        for c in range(target.first, target.first + target.cells):
            target.size[c, i] = 0
        for c in range(target.first * words, (target.first + target.cells) * words):
            target.present[c, i] = 0
        for c in range(target.first * columns, (target.first + target.cells) * columns):
            target.tally[c, i] = 0
    for c in range(block.cells):
        here, there = block.first + c, target.first + step[t, c]
        add_rows(target.size, there, block.size, here, block.begin, n)
        for w in range(words):
            unite_rows(target.present, there * words + w, block.present, here * words + w, block.begin, n)
        for v in range(columns):
            add_rows(target.tally, there * columns + v, block.tally, here * columns + v, block.begin, n)


add_up = kernel(_add_up)


def _count_cells(block: CellBlock, values: int, sizes: Ints, distinct: Ints, most: Ints) -> tuple[int, int]:
    """sizes, distinct int64[cells · classes] ← records and confidential values of every cell, cell by cell.

    →     records without the majority label of their cell; Σ over records of how often their confidential value
          occurs in their cell

    `most` int64[classes].
    """
    rows, n, begin = block.size.shape[0], np.uint64(block.end - block.begin), np.uint64(block.begin)
    words, columns = block.present.shape[0] // rows, block.tally.shape[0] // rows
    misfits = squares = 0
    for c in range(block.cells):
        cell, here = block.first + c, np.uint64(c) * n
        for i in range(n):
            sizes[here + i] = block.size[cell, begin + i]
            distinct[here + i] = 0
            most[i] = 0
        for w in range(cell * words, (cell + 1) * words):
            for i in range(n):
                distinct[here + i] += np.int64(bits(block.present[w, begin + i]))
        for v in range(columns):
            row = cell * columns + v
            if v < values:
                for i in range(n):
                    count = np.int64(block.tally[row, begin + i])
                    distinct[here + i] += min(count, 1)
                    squares += int(count * count)
            else:
                for i in range(n):
                    most[i] = max(most[i], np.int64(block.tally[row, begin + i]))
        for i in range(n):
            misfits += sizes[here + i] - most[i]
    return misfits, squares


count_cells = kernel(_count_cells)


def _suppressed_loss(row: int, levels: Ints, leaves: Leaves) -> float:
    """What a record loses by suppression beyond what its generalised head cells already lost."""
    lost = 0.0
    for attribute in range(levels.shape[0]):
        lost += 1.0 - leaves.cell[leaves.start[attribute, levels[attribute]] + leaves.codes[attribute, row]]
    return lost


suppressed_loss = kernel(_suppressed_loss)


class JudgedNode(NamedTuple):
    """A node under judgement."""

    rows: Int32s  # int32[…]: a tuple of each class, from `begin` on
    begin: int
    levels: Ints  # levels of the head
    tail: int  # node of the tail
    number: int
    of: Int32s  # class of each distinct tuple where something is listed, else empty; then there is no tail


class Counted(NamedTuple):
    """What is known of the classes of a node before it is judged, cell by cell."""

    sizes: Ints  # int64[cells · classes]: records and confidential values
    distinct: Ints
    majority: Ints  # int64[classes]: records with the commonest label, where labels are listed; else 0
    squares: Ints  # int64[classes]: Σ over records of how often their listed value occurs in the class; else 0
    held: Held  # of each class, where something is listed
    lost: Ints  # int64[v]: suppressed records of each value; bool[classes]: whether it is suppressed
    fails: Flags


def _count_node(
    block: CellBlock, node: JudgedNode, leaves: Leaves, demand: NodeDemand, counted: Counted
) -> tuple[int, int]:
    """Fill what is counted of a node; → misfits and value squares over all its classes, as if none were suppressed."""
    n, tallied = block.end - block.begin, block.tally.shape[0] // block.size.shape[0] > demand.values
    misfits, squares = count_cells(block, demand.values, counted.sizes, counted.distinct, counted.majority)
    for i in range(n):
        counted.majority[i] = counted.squares[i] = 0
    if node.of.shape[0]:
        held = counted.held
        count_listed(leaves.values, node.of, n, held)
        for i in range(n):
            counted.distinct[i] += held.distinct[i]
            counted.squares[i] = held.squares[i]
            squares += held.squares[i]
        if leaves.labels.row.shape[0]:
            count_listed(leaves.labels, node.of, n, held)
        for i in range(0 if tallied else n):
            counted.majority[i] = held.most[i]
            misfits -= held.most[i]
    return misfits, squares


count_node = kernel(_count_node)


def _take_back(
    block: CellBlock,
    node: JudgedNode,
    leaves: Leaves,
    tail: TailNodes,
    demand: NodeDemand,
    counted: Counted,
    limits: tuple[int, int],
) -> tuple[int, int, int, float]:
    """What the suppressed classes change in the sums over all: Σ size², misfits, value squares and loss."""
    n, columns = block.end - block.begin, block.tally.shape[0] // block.size.shape[0]
    least, fewest = limits
    lost, fails = counted.lost, counted.fails
    for v in range(demand.values):
        lost[v] = 0
    for i in range(n):
        fails[i] = False
    size_squares, misfits, squares, loss = 0, 0, 0, 0.0
    for place in range(block.cells * n):
        size = counted.sizes[place]
        if size == 0 or (size >= least and counted.distinct[place] >= fewest):
            continue
        c, i = place // n, place % n
        beyond = suppressed_loss(node.rows[node.begin + i], node.levels, leaves) + tail.spared[node.tail, c]
        loss += size * beyond
        size_squares += size * size
        squares -= counted.squares[i]
        most, fails[i] = counted.majority[i], True
        for v in range(columns):
            count = np.int64(block.tally[(block.first + c) * columns + v, block.begin + i])
            if v < demand.values:
                lost[v] += count
                squares -= count * count
            else:
                most = max(most, count)
        misfits += most
    for v in range(demand.values):
        squares += lost[v] * lost[v]
    if node.of.shape[0]:
        squares += squares_together(leaves.values, node.of, fails)
    return size_squares, misfits, squares, loss


take_back = kernel(_take_back)


def _judge_counted(
    block: CellBlock,
    node: JudgedNode,
    leaves: Leaves,
    tail: TailNodes,
    demand: NodeDemand,
    counted: Counted,
    out: NodeReadings,
) -> None:
    """Judge a node as `judge` says. Everything is summed over all classes first; what is suppressed is taken back."""
    sizes, distinct, total = counted.sizes, counted.distinct, counted.sizes.shape[0]
    misfits, value_squares = count_node(block, node, leaves, demand, counted)
    least, fewest = demand.k, demand.l
    if demand.rule != DEMANDED:
        least, fewest = attainable_size(sizes, demand.allowance), 0
        if demand.rule == STRICTEST:
            fewest = attainable_diversity(sizes, distinct, least, demand.allowance)
    squares, survivors, gone, smallest, lowest = 0, 0, 0, _HUGE, _HUGE
    at_least = max(least, 1)
    for place in range(total):
        size, diversity = sizes[place], distinct[place]
        good = (size >= at_least) & (diversity >= fewest)
        squares += size * size
        survivors += good
        smallest = min(smallest, size if good else _HUGE)
        lowest = min(lowest, diversity if good else _HUGE)
        gone += size * (1 - good)
    loss = tail.marginal[node.tail]
    for attribute in range(node.levels.shape[0]):
        loss += leaves.marginal[attribute, node.levels[attribute]]
    if demand.strict and gone > demand.allowance:
        loss = np.inf
    elif gone:
        back = take_back(block, node, leaves, tail, demand, counted, (least, fewest))
        squares, misfits, value_squares, loss = (
            squares - back[0], misfits + back[1], value_squares + back[2], loss + back[3],
        )  # fmt: skip
    number = node.number
    out.k[number] = smallest if survivors else 0
    out.l[number] = lowest if survivors else 0
    out.suppressed[number], out.classes[number] = gone, survivors
    out.size_sum[number] = squares + gone * gone
    out.value_sum[number], out.misfits[number], out.loss[number] = value_squares, misfits, loss


judge_counted = kernel(_judge_counted)


def _judge(
    block: CellBlock, node: JudgedNode, leaves: Leaves, tail: TailNodes, demand: NodeDemand, out: NodeReadings
) -> None:
    """Judge the classes of one node, its tail already added up, and enter the result: room is made here, once."""
    n = block.end - block.begin
    total, listed = block.cells * n, n if node.of.shape[0] else 0
    cells, classes, lists = np.empty((2, total), np.int64), np.empty((2, n), np.int64), np.empty((5, listed), np.int64)
    counted = Counted(
        cells[0],
        cells[1],
        classes[0],
        classes[1],
        Held(lists[0], lists[1], lists[2], lists[3], lists[4]),
        np.empty(demand.values, dtype=np.int64),
        np.empty(n, dtype=np.bool_),
    )
    judge_counted(block, node, leaves, tail, demand, counted, out)


judge = kernel(_judge)
