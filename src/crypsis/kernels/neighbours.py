"""MDAV's own groups without its quadratic wall: a kd-tree of the unassigned records finds the far and the near.

Every node keeps the bounding box of the records still in it and their greatest distance from the middle, which
bounds the far ones far better than corners of boxes do. Both shrink as records are grouped, and the tree is built
anew when three tenths of it are gone. A node is skipped only when nothing in it can win or tie, rounding included, so
the groups are those of `partitions.mdav` to the last tie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.blocks import select_between
from crypsis.kernels.compile import kernel
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, finish_mdav

WIDTH = 16
"""Children of a node, and most records of a leaf: bounds and distances come a strip at a time."""
LAST_ROW = 2**63 - 1
"""Behind every row where distances tie."""
REBUILD = 0.7
"""Share of its records a tree may fall to before it is built anew."""


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

    coordinates: NDArray[np.float64]
    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    middle: NDArray[np.float64]
    strip: NDArray[np.float64]
    along: NDArray[np.float64]
    nodes: NDArray[np.int64]
    bounds: NDArray[np.float64]


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


def _halve(points: NDArray[np.float64], order: NDArray[np.int64], begins: NDArray[np.int64]) -> None:
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


def _occupy(
    tree: Tree, points: NDArray[np.float64], order: NDArray[np.int64], begins: NDArray[np.int64], metric: int
) -> None:
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


def grow_tree(points: NDArray[np.float64], order: NDArray[np.int64], metric: int) -> Tree:
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


def _scan(tree: Tree, leaf: int, centre: NDArray[np.float64], metric: int) -> int:
    """Distances of a leaf's records from the centre, into tree.strip; → how many."""
    count = tree.counts[leaf + tree.coordinates.shape[0]]
    strip, end = tree.strip, np.uint64(count)
    for i in range(end):
        strip[i] = 0.0
    for j in range(centre.shape[0]):
        at = centre[j]
        if metric == EUCLIDEAN:
            for i in range(end):
                gap = tree.coordinates[leaf, j, i] - at
                strip[i] += gap * gap
        else:
            for i in range(end):
                strip[i] += abs(tree.coordinates[leaf, j, i] - at)
    return int(count)


def _most(tree: Tree, brood: int, centre: NDArray[np.float64], metric: int) -> None:
    """No record below a node of the brood is farther than its place in tree.strip says.

    The lesser of two bounds: the box's farthest corner; and, with o the middle, b the greatest |x − o| and c the
    centre, |x − c|² = |x − o|² + |c − o|² − 2 (x − o)·(c − o) ≤ b² + |c − o|² − 2 (its least over the box).
    """
    p, away = centre.shape[0], 0.0
    corner, along, low, high = tree.strip, tree.along, tree.low, tree.high
    for i in range(WIDTH):
        corner[i] = along[i] = 0.0
    for j in range(p):
        at, middle = centre[j], tree.middle[j]
        pull = at - middle
        if metric == EUCLIDEAN:
            away += pull * pull
            for i in range(WIDTH):
                below, above = at - low[brood, j, i], high[brood, j, i] - at
                gap = below if below > above else above
                corner[i] += gap * gap
                along[i] += pull * ((low[brood, j, i] if pull > 0.0 else high[brood, j, i]) - middle)
        else:
            away += abs(pull)
            for i in range(WIDTH):
                below, above = at - low[brood, j, i], high[brood, j, i] - at
                corner[i] += below if below > above else above
    for i in range(WIDTH):
        radius = high[brood, p, i]
        rounding = 1e-14 * (p + 10) * (corner[i] + radius + away)
        corner[i] = min(corner[i], radius + away - 2.0 * along[i] + rounding)


def _least(tree: Tree, brood: int, centre: NDArray[np.float64], metric: int) -> None:
    """No record below a node of the brood is nearer than its place in tree.strip says."""
    strip, low, high = tree.strip, tree.low, tree.high
    for i in range(WIDTH):
        strip[i] = 0.0
    for j in range(centre.shape[0]):
        at = centre[j]
        for i in range(WIDTH):
            below, above = low[brood, j, i] - at, at - high[brood, j, i]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            strip[i] += gap * gap if metric == EUCLIDEAN else gap


def _push(tree: Tree, brood: int, depth: int, sign: float, limit: float) -> int:
    """Put the brood's nodes whose sign · bound is at most the limit on the stack, the least on top; → new depth."""
    bottom = depth
    for slot in range(WIDTH):
        node, bound = brood * WIDTH + slot, sign * tree.strip[slot]
        if tree.counts[node] == 0 or bound > limit:
            continue
        place = depth
        while place > bottom and tree.bounds[place - 1] < bound:
            tree.bounds[place], tree.nodes[place] = tree.bounds[place - 1], tree.nodes[place - 1]
            place -= 1
        tree.bounds[place], tree.nodes[place] = bound, node
        depth += 1
    return depth


shrink, scan = kernel(_shrink), kernel(_scan)
most, least, push = kernel(_most), kernel(_least), kernel(_push)


def _farthest(tree: Tree, centre: NDArray[np.float64], metric: int) -> int:
    """Row of the record farthest from the centre; ties go to the lower row."""
    leaves, best, row = tree.rows.shape[0], -1.0, -1
    most(tree, 0, centre, metric)
    depth = push(tree, 0, 0, -1.0, np.inf)
    while depth > 0:
        depth -= 1
        node = tree.nodes[depth]
        if -tree.bounds[depth] < best:
            continue
        if node < leaves:
            most(tree, node, centre, metric)
            depth = push(tree, node, depth, -1.0, -best)
            continue
        for i in range(scan(tree, node - leaves, centre, metric)):
            distance = tree.strip[i]
            if distance >= best and (distance > best or tree.rows[node - leaves, i] < row):
                best, row = distance, tree.rows[node - leaves, i]
    return row


def _nearest(
    tree: Tree,
    centre: NDArray[np.float64],
    metric: int,
    seed: int,
    group: NDArray[np.int64],
    reach: NDArray[np.float64],
) -> None:
    """group ← seed and the nearest other rows, nearest first, ties to the lower row; reach ← their distances."""
    leaves, last = tree.rows.shape[0], group.shape[0] - 1
    for i in range(last + 1):
        group[i], reach[i] = LAST_ROW, np.inf
    group[0], reach[0] = seed, 0.0
    least(tree, 0, centre, metric)
    depth = push(tree, 0, 0, 1.0, np.inf)
    while depth > 0:
        depth -= 1
        node = tree.nodes[depth]
        if tree.bounds[depth] > reach[last]:
            continue
        if node < leaves:
            least(tree, node, centre, metric)
            depth = push(tree, node, depth, 1.0, reach[last])
            continue
        for i in range(scan(tree, node - leaves, centre, metric)):
            distance, row = tree.strip[i], tree.rows[node - leaves, i]
            if distance > reach[last] or row == seed or (distance == reach[last] and row > group[last]):
                continue
            place = last
            while place > 1 and (
                distance < reach[place - 1] or (distance == reach[place - 1] and row < group[place - 1])
            ):
                reach[place], group[place] = reach[place - 1], group[place - 1]
                place -= 1
            reach[place], group[place] = distance, row


farthest, nearest = kernel(_farthest), kernel(_nearest)


def _peel(
    tree: Tree,
    points: NDArray[np.float64],
    labels: NDArray[np.int32],
    totals: NDArray[np.float64],
    k: int,
    stop: int,
    metric: int,
) -> None:
    """MDAV's pairs of groups while at least `stop` (≥ 2k) of the rows in the tree are left; the next labels in place.

    labels  int32[n]: −1 for the rows in the tree;  totals  float64[2, p]: their sum and the compensation of its
            rounding, by the very two-sum of `partitions.mdav`
    """
    p, count, label = points.shape[1], 0, 0
    group, reach, centre = np.empty(k, dtype=np.int64), np.empty(k), np.empty(p)
    for i in range(labels.shape[0]):
        count += labels[i] < 0
        label = max(label, int(labels[i]) + 1)
    while count >= stop:
        for j in range(p):
            centre[j] = (totals[0, j] + totals[1, j]) / count
        far = farthest(tree, centre, metric)
        for side in range(2):
            seed = far
            for j in range(p):
                centre[j] = points[seed, j]
            if side == 0:
                far = farthest(tree, centre, metric)
            nearest(tree, centre, metric, seed, group, reach)
            for i in range(k):
                row = group[i]
                labels[row] = label
                for j in range(p):
                    value, old = -points[row, j], totals[0, j]
                    new = old + value
                    part = new - old
                    totals[0, j] = new
                    totals[1, j] += (old - (new - part)) + (value - part)
                shrink(tree, row)
            if side == 0 and labels[far] >= 0:  # only where distances tie: look again, still from the first record
                far = farthest(tree, centre, metric)
            count, label = count - k, label + 1


peel = kernel(_peel)


def _add_up(points: NDArray[np.float64], totals: NDArray[np.float64]) -> None:
    """totals float64[2, p] ← the sum of the points and the compensation of its rounding."""
    for j in range(points.shape[1]):
        totals[0, j] = totals[1, j] = 0.0
        for i in range(points.shape[0]):
            value, old = points[i, j], totals[0, j]
            new = old + value
            part = new - old
            totals[0, j] = new
            totals[1, j] += (old - (new - part)) + (value - part)


add_up = kernel(_add_up)


def mdav_by_tree(points: NDArray[np.float64], k: int, ending: int, metric: int) -> NDArray[np.int32]:
    """The same labels as `partitions.mdav`, sooner where records are many and attributes few (up to about 15).

    points float64[n, p], contiguous, scaled, n ≥ k → int32[n]. O(n p) memory; time grows about as n^1.5 at p = 10.
    """
    n = len(points)
    if k <= 1 or n < 2 * k:
        return (np.arange(n) if k <= 1 else np.zeros(n)).astype(np.int32)
    shifted = np.ascontiguousarray(points - points.min(axis=0))
    labels, totals = np.full(n, -1, dtype=np.int32), np.empty((2, points.shape[1]))
    add_up(shifted, totals)
    stop = 3 * k if ending == GENERIC else 2 * k
    left = np.arange(n)
    while len(left) >= stop:  # the tree is built anew as soon as so many are gone
        built = len(left)
        pause = max(stop, int(np.ceil(REBUILD * built)))
        peel(grow_tree(shifted, left, metric), shifted, labels, totals, k, pause, metric)
        left = np.flatnonzero(labels < 0)
    finish_mdav(points, labels, k, ending, metric)
    return labels
