"""A kd-tree of records that others are taken out of: boxes with sixteen children that shrink as records leave."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.partitions import EUCLIDEAN
from crypsis.kernels.quickselect import select_between

WIDTH = 16
"""Children of a node, and most records of a leaf: bounds and distances come a strip at a time."""


class Tree(NamedTuple):
    """Nodes with sixteen children: those of node i are 16 i, …, 16 i + 15, and lie side by side as brood i.

    Numbers are those of a complete binary tree (children 2 i and 2 i + 1) of which only every fourth level is kept,
    counted from the L leaves L, …, 2 L − 1 upwards; the search starts at brood 0. Places without a node count 0.

    coordinates  float64[L, p + 1, w]: up to w records of a leaf, one attribute per line; the last line is their
                 distance from the middle (squared if Euclidean)
    rows         int64[L, w]: their table rows;  places  int64[n]: leaf · w + slot of each row
    counts       int64[broods · 16]: unassigned records below each node
    low, high    float64[broods, p + 1, 16]: the box around them, and the range of their distances from the middle
    middle       float64[p]: the mean of the records when the tree was built
    strip, along float64[16]: bounds of one brood or distances of one leaf;  nodes, bounds: the stack of a descent
    """

    coordinates: Floats
    rows: Ints
    places: Ints
    counts: Ints
    low: Floats
    high: Floats
    middle: Floats
    strip: Floats
    along: Floats
    nodes: Ints
    bounds: Floats


def plant(n: int, p: int, m: int) -> Tree:
    """A tree with room for m of n records of p attributes, nothing in it yet."""
    leaves = 1
    while leaves * WIDTH < m:
        leaves *= 2
    width, broods = (m + leaves - 1) // leaves, 2 * leaves // WIDTH + 1
    return Tree(
        np.zeros((leaves, p + 1, width)),
        np.zeros((leaves, width), dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(broods * WIDTH, dtype=np.int64),
        np.full((broods, p + 1, WIDTH), np.inf),
        np.full((broods, p + 1, WIDTH), -np.inf),
        np.zeros(p),
        np.empty(WIDTH),
        np.empty(WIDTH),
        np.empty(256, dtype=np.int64),
        np.empty(256),
    )


def _halve(points: Floats, order: Ints, begins: Ints) -> None:
    """Rearrange rows so that each leaf's lie together, halving the widest side at its median.

    begins  int64[2 L]: told where each node begins; the leaves are L, …, 2 L − 1, and the last ends with `order`
    """
    m, leaves, line = order.shape[0], begins.shape[0] // 2, np.empty(order.shape[0])
    for node in range(1, leaves):
        begin = begins[node]
        end = begins[node + 1] if node & (node + 1) else m  # the last node of a level ends where all end
        widest, spread = 0, -1.0
        for j in range(points.shape[1]):
            low = high = points[order[begin], j]
            for i in range(begin, end):
                low = min(low, points[order[i], j])
                high = max(high, points[order[i], j])
            if high - low > spread:
                widest, spread = j, high - low
        for i in range(begin, end):
            line[i] = points[order[i], widest]
        half = begin + (end - begin) // 2
        select_between(line, order, begin, end, half)
        begins[2 * node], begins[2 * node + 1] = begin, half


def _box_leaf(tree: Tree, leaf: int) -> None:
    """Draw the box of a leaf around its records."""
    node = leaf + tree.coordinates.shape[0]
    for j in range(tree.coordinates.shape[1]):
        least, most = np.inf, -np.inf
        for i in range(tree.counts[node]):
            least = min(least, tree.coordinates[leaf, j, i])
            most = max(most, tree.coordinates[leaf, j, i])
        tree.low[node // WIDTH, j, node % WIDTH], tree.high[node // WIDTH, j, node % WIDTH] = least, most


def _box_node(tree: Tree, node: int) -> bool:
    """Draw the box of an inner node around its children's; → whether it changed."""
    brood, slot, changed = node // WIDTH, node % WIDTH, False
    for j in range(tree.low.shape[1]):
        least, most = np.inf, -np.inf
        for i in range(WIDTH):
            least = min(least, tree.low[node, j, i])
            most = max(most, tree.high[node, j, i])
        changed |= least != tree.low[brood, j, slot] or most != tree.high[brood, j, slot]
        tree.low[brood, j, slot], tree.high[brood, j, slot] = least, most
    return changed


halve = kernel(_halve)
box_leaf, box_node = kernel(_box_leaf), kernel(_box_node)


def _occupy(tree: Tree, points: Floats, order: Ints, begins: Ints, metric: int) -> None:
    """Put the rows, as `halve` arranged them, into the leaves of an empty tree and draw every box."""
    leaves, width = tree.rows.shape
    m, p = order.shape[0], points.shape[1]
    for i in range(m):
        for j in range(p):
            tree.middle[j] += points[order[i], j] / m
    for leaf in range(leaves):
        begin, end = begins[leaves + leaf], begins[leaves + leaf + 1] if leaf + 1 < leaves else m
        for slot in range(end - begin):
            row, outward = order[begin + slot], 0.0
            tree.rows[leaf, slot], tree.places[row] = row, leaf * width + slot
            for j in range(p):
                tree.coordinates[leaf, j, slot] = points[row, j]
                gap = points[row, j] - tree.middle[j]
                outward += gap * gap if metric == EUCLIDEAN else abs(gap)
            tree.coordinates[leaf, p, slot] = outward
        tree.counts[leaves + leaf] = end - begin
        box_leaf(tree, leaf)
    level = leaves // WIDTH
    while level > 0:
        for node in range(level, 2 * level):
            held = 0
            for child in range(node * WIDTH, (node + 1) * WIDTH):
                held += tree.counts[child]
            tree.counts[node] = held
            box_node(tree, node)
        level //= WIDTH


occupy = kernel(_occupy)


def grow_tree(points: Floats, order: Ints, metric: int) -> Tree:
    """A tree over the rows in `order` (which is rearranged)."""
    tree = plant(points.shape[0], points.shape[1], len(order))
    begins = np.zeros(2 * len(tree.rows), dtype=np.int64)
    halve(points, order, begins)
    occupy(tree, points, order, begins, metric)
    return tree


def _shrink(tree: Tree, row: int) -> None:
    """Take a row out of the tree and draw every box above it as tight as the records left allow."""
    leaves, lines, width = tree.coordinates.shape
    leaf, slot = tree.places[row] // width, tree.places[row] % width
    node = leaf + leaves
    last = tree.counts[node] - 1
    loose = False
    for j in range(lines):
        value = tree.coordinates[leaf, j, slot]
        loose |= value == tree.low[node // WIDTH, j, node % WIDTH] or value == tree.high[node // WIDTH, j, node % WIDTH]
        tree.coordinates[leaf, j, slot] = tree.coordinates[leaf, j, last]
    moved = tree.rows[leaf, last]
    tree.rows[leaf, slot], tree.places[moved] = moved, leaf * width + slot
    tree.counts[node] = last
    if loose:
        box_leaf(tree, leaf)
    while node >= WIDTH:
        node //= WIDTH
        tree.counts[node] -= 1
        if loose:
            loose = box_node(tree, node)


shrink = kernel(_shrink)
