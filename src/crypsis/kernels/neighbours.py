"""MDAV's own groups without its quadratic wall: a kd-tree of the unassigned records finds the far and the near.

Every node keeps the bounding box of the records still in it and their greatest distance from the middle, which
bounds the far ones far better than corners of boxes do. Both shrink as records are grouped, and the tree is built
anew when three tenths of it are gone. A node is skipped only when nothing in it can win or tie, rounding included, so
the groups are those of `partitions.mdav` to the last tie.
"""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, finish_mdav
from crypsis.kernels.record_tree import WIDTH, Tree, grow_tree, shrink

LAST_ROW = 2**63 - 1
"""Behind every row where distances tie."""
REBUILD = 0.7
"""Share of its records a tree may fall to before it is built anew."""


def _scan(tree: Tree, leaf: int, centre: Floats, metric: int) -> int:
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


def _most(tree: Tree, brood: int, centre: Floats, metric: int) -> None:
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


def _least(tree: Tree, brood: int, centre: Floats, metric: int) -> None:
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


scan = kernel(_scan)
most, least, push = kernel(_most), kernel(_least), kernel(_push)


def _farthest(tree: Tree, centre: Floats, metric: int) -> int:
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


def _nearest(tree: Tree, centre: Floats, metric: int, seed: int, group: Ints, reach: Floats) -> None:
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


def _peel(tree: Tree, points: Floats, labels: Int32s, totals: Floats, k: int, stop: int, metric: int) -> None:
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


def _add_up(points: Floats, totals: Floats) -> None:
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


def mdav_by_tree(points: Floats, k: int, ending: int, metric: int) -> Int32s:
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
