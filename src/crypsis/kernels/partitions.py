"""Groups of at least k alike records: MDAV, V-MDAV and CBFS, with a kd-tree of the unassigned records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.quickselect import select_between

# Every kernel shifts the points by their column minima before it computes anything, so that a constant added
# to the data changes no group. The mean of the unassigned records is a compensated running sum, right to the
# last bit in practice: it does not depend on the order of the rows, and ties stay ties.

GENERIC, HYBRID, GOMM = 0, 1, 2
EUCLIDEAN, MANHATTAN = 0, 1

MEAN, LAST = -1, -2
"""Centres that are no record: the mean of the unassigned, and the one distances were last measured from."""
STRIP = 512
"""Records per strip of a distance pass: one strip of sums stays in the fastest cache."""


class RecordPool(NamedTuple):
    """The unassigned records, compact in the first `count` positions."""

    coordinates: Floats  # float64[p, n], one attribute per row so that a distance pass runs over neighbours in memory
    rows: Ints  # int64[n]: the table row at each position;  places  int64[n]: its inverse
    places: Ints
    distances: Floats  # float64[n]: of each position from the last centre measured
    totals: Floats  # float64[2, p]: sum of the unassigned records, and the compensation of its rounding
    centre: Floats  # float64[p]: the point distances were last measured from


def _fill_pool(points: Floats) -> RecordPool:
    """All rows of float64[n, p], unassigned, shifted by their column minima."""
    n, p = points.shape
    coordinates, rows, places = np.empty((p, n)), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    distances, totals, centre = np.empty(n), np.empty((2, p)), np.empty(p)
    for i in range(n):
        rows[i] = places[i] = i
    for j in range(p):
        least, total, rounding = np.inf, 0.0, 0.0
        for i in range(n):
            least = min(least, points[i, j])
        for i in range(n):
            value = points[i, j] - least
            coordinates[j, i] = value
            new = total + value
            part = new - total
            rounding += (total - (new - part)) + (value - part)
            total = new
        totals[0, j], totals[1, j] = total, rounding
    return RecordPool(coordinates, rows, places, distances, totals, centre)


def _measure_distances(pool: RecordPool, count: int, row: int, metric: int) -> None:
    """Distance of every unassigned record, squared if Euclidean, from one of them, from the MEAN or the LAST centre."""
    coordinates, distances, centre = pool.coordinates, pool.distances, pool.centre
    for j in range(centre.shape[0]):
        if row == MEAN:
            centre[j] = (pool.totals[0, j] + pool.totals[1, j]) / count
        elif row != LAST:
            centre[j] = coordinates[j, pool.places[row]]
    # Indices without a sign: the compiler need not ask whether they count from the end, and takes several at once.
    end, strip = np.uint64(count), np.uint64(STRIP)
    for start in range(np.uint64(0), end, strip):
        stop = min(start + strip, end)
        for i in range(start, stop):
            distances[i] = 0.0
        for j in range(centre.shape[0]):
            at = centre[j]
            if metric == EUCLIDEAN:
                for i in range(start, stop):
                    gap = coordinates[j, i] - at
                    distances[i] += gap * gap
            else:
                for i in range(start, stop):
                    distances[i] += abs(coordinates[j, i] - at)


def _find_outermost(pool: RecordPool, count: int) -> int:
    """Row of the unassigned record farthest from the centre; ties go to the lower row."""
    best, row = -1.0, -1
    for i in range(count):
        distance = pool.distances[i]
        if distance >= best and (distance > best or pool.rows[i] < row):
            best, row = distance, pool.rows[i]
    return row


def _gather_nearest(pool: RecordPool, count: int, seed: int, group: Ints, reach: Floats) -> None:
    """group ← seed and the nearest other unassigned rows as last measured, nearest first; reach ← their distances."""
    size = group.shape[0]
    group[0], reach[0] = seed, 0.0
    held = 1
    for i in range(count):
        distance, row = pool.distances[i], pool.rows[i]
        if row == seed:
            continue
        if held == size:
            if size == 1 or distance > reach[size - 1] or (distance == reach[size - 1] and row > group[size - 1]):
                continue
            place = size - 1
        else:
            place = held
            held += 1
        while place > 1 and (distance < reach[place - 1] or (distance == reach[place - 1] and row < group[place - 1])):
            reach[place], group[place] = reach[place - 1], group[place - 1]
            place -= 1
        reach[place], group[place] = distance, row


def _assign(pool: RecordPool, count: int, row: int, label: int, labels: Int32s) -> int:
    """Give a row its label and take it out of the pool, from the totals by Knuth's two-sum; → the new count."""
    coordinates, totals = pool.coordinates, pool.totals
    place, last = pool.places[row], count - 1
    labels[row] = label
    moved = pool.rows[last]
    for j in range(coordinates.shape[0]):
        value, old = -coordinates[j, place], totals[0, j]
        new = old + value
        part = new - old
        totals[0, j] = new
        totals[1, j] += (old - (new - part)) + (value - part)
        coordinates[j, place] = coordinates[j, last]
    pool.rows[place], pool.places[moved] = moved, place
    pool.rows[last], pool.places[row] = row, last
    return last


fill_pool, measure_distances, find_outermost = kernel(_fill_pool), kernel(_measure_distances), kernel(_find_outermost)
gather_nearest, assign = kernel(_gather_nearest), kernel(_assign)


def _join_nearest(points: Floats, labels: Int32s, groups: int, metric: int) -> None:
    """Each row labelled −1 joins the group with the nearest centroid; ties go to the earlier group."""
    n, p = points.shape
    centroids, sizes = np.empty((groups, p)), np.empty(groups)
    for g in range(groups):
        sizes[g] = 0.0
        for j in range(p):
            centroids[g, j] = 0.0
    for i in range(n):
        if labels[i] >= 0:
            sizes[labels[i]] += 1.0
            for j in range(p):
                centroids[labels[i], j] += points[i, j] - points[0, j]
    for i in range(n):
        if labels[i] >= 0:
            continue
        best, chosen = np.inf, 0
        for g in range(groups):
            distance = 0.0
            for j in range(p):
                gap = points[i, j] - points[0, j] - centroids[g, j] / sizes[g]
                distance += gap * gap if metric == EUCLIDEAN else abs(gap)
            if distance < best:
                best, chosen = distance, g
        labels[i] = -2 - chosen
    for i in range(n):
        if labels[i] < -1:
            labels[i] = -2 - labels[i]


join_nearest = kernel(_join_nearest)


def _finish_mdav(points: Floats, labels: Int32s, k: int, ending: int, metric: int) -> None:
    """Label the rows still at −1 (fewer than 3k of them) as the ending says; in place."""
    n, p = points.shape
    rest, count, groups = np.empty(n, dtype=np.int64), 0, 0
    for i in range(n):
        groups = max(groups, int(labels[i]) + 1)
        if labels[i] == -1:
            rest[count] = i
            count += 1
    if count == 0:
        return
    if ending == HYBRID and count < k:
        join_nearest(points, labels, groups, metric)
        return
    if ending == GENERIC and count >= 2 * k:
        left, group, reach = np.empty((count, p)), np.empty(k, dtype=np.int64), np.empty(k)
        for i in range(count):
            for j in range(p):
                left[i, j] = points[rest[i], j]
        pool = fill_pool(left)
        measure_distances(pool, count, MEAN, metric)
        seed = find_outermost(pool, count)
        measure_distances(pool, count, seed, metric)
        gather_nearest(pool, count, seed, group, reach)
        for member in range(k):
            labels[rest[group[member]]] = groups
        groups += 1
    for i in range(count):
        if labels[rest[i]] == -1:
            labels[rest[i]] = groups


finish_mdav = kernel(_finish_mdav)


def _mdav(points: Floats, k: int, ending: int, metric: int) -> Int32s:
    """Group rows into clusters of k, two at a time, starting from the outermost.

    →       int32[n]: labels 0, 1, … in order of construction, sizes in [k, 2k−1] (GOMM may leave one smaller)

    Domingo-Ferrer and Torra (2005). Ties go to the lower row. O(n² p / k) time, O(n p) memory.

    `points` float64[n, p].
    """
    n = points.shape[0]
    labels = np.empty(n, dtype=np.int32)
    for i in range(n):
        labels[i] = i if k <= 1 else -1
    if k <= 1:
        return labels
    pool, count, label = fill_pool(points), n, 0
    group, reach = np.empty(k, dtype=np.int64), np.empty(k)
    while count >= (3 * k if ending == GENERIC else 2 * k):
        far = -1
        for side in range(2):
            if side == 0:
                measure_distances(pool, count, MEAN, metric)
                seed = find_outermost(pool, count)
            else:
                seed = far
            measure_distances(pool, count, seed, metric)
            if side == 0:
                far = find_outermost(pool, count)
            gather_nearest(pool, count, seed, group, reach)
            for member in range(k):
                count = assign(pool, count, group[member], label, labels)
            label += 1
            if side == 0 and labels[far] >= 0:  # only where distances tie: look again, still from the first record
                measure_distances(pool, count, LAST, metric)
                far = find_outermost(pool, count)
    finish_mdav(points, labels, k, ending, metric)
    return labels


mdav = kernel(_mdav)


def _cbfs(points: Floats, k: int) -> Int32s:
    """Group rows into clusters of k, one at a time, around the record farthest from the mean of those left.

    points float64[n, p], scaled, n ≥ k → int32[n]; sizes in [k, 2k−1]. Laszlo and Mukherjee (2005). O(n² p / k).
    """
    n = points.shape[0]
    labels = np.empty(n, dtype=np.int32)
    for i in range(n):
        labels[i] = i
    if k <= 1:
        return labels
    pool, count, label = fill_pool(points), n, 0
    group, reach = np.empty(k, dtype=np.int64), np.empty(k)
    while count >= 2 * k:
        measure_distances(pool, count, MEAN, EUCLIDEAN)
        seed = find_outermost(pool, count)
        measure_distances(pool, count, seed, EUCLIDEAN)
        gather_nearest(pool, count, seed, group, reach)
        for member in range(k):
            count = assign(pool, count, group[member], label, labels)
        label += 1
    for i in range(count):
        labels[pool.rows[i]] = label
    return labels


cbfs = kernel(_cbfs)


def _v_mdav(points: Floats, k: int, gamma: float) -> Int32s:
    """Group rows into clusters that grow beyond k where a near record is nearer to them than to its other neighbours.

    →       int32[n]: labels in order of construction, each used at least k times (left-overs may exceed 2k−1)

    Solanas and Martínez-Ballesté (2006), on distances, not their squares. O(n² p / k) time, O(n p) memory.

    `points` float64[n, p].
    """
    n = points.shape[0]
    labels, outward = np.empty(n, dtype=np.int32), np.empty(n)
    for i in range(n):
        labels[i] = i if k <= 1 else -1
    if k <= 1:
        return labels
    pool, count, label = fill_pool(points), n, 0
    measure_distances(pool, count, MEAN, EUCLIDEAN)
    for i in range(n):
        outward[i] = pool.distances[i]
    group, reach = np.empty(k, dtype=np.int64), np.empty(k)
    members = np.empty((2 * k, points.shape[1]))
    while count >= k:
        best, seed = -1.0, -1
        for i in range(count):
            row = pool.rows[i]
            if outward[row] >= best and (outward[row] > best or row < seed):
                best, seed = outward[row], row
        measure_distances(pool, count, seed, EUCLIDEAN)
        gather_nearest(pool, count, seed, group, reach)
        for size in range(k):
            for j in range(points.shape[1]):
                members[size, j] = pool.coordinates[j, pool.places[group[size]]]
            count = assign(pool, count, group[size], label, labels)
        if gamma > 0.0:
            count = extend_group(pool, count, members, label, labels, gamma)
        label += 1
    if count > 0:
        join_nearest(points, labels, label, EUCLIDEAN)
    return labels


def _extend_group(pool: RecordPool, count: int, members: Floats, label: int, labels: Int32s, gamma: float) -> int:
    """V-MDAV's extension of the group whose k members are the first rows of `members` (float64[2k, p]); → count."""
    p, size = members.shape[1], members.shape[0] // 2
    while size < members.shape[0] - 1 and count > 0:
        for j in range(p):
            pool.centre[j] = members[0, j]
        measure_distances(pool, count, LAST, EUCLIDEAN)
        radius = 0.0
        for member in range(1, size):
            spread = 0.0
            for j in range(p):
                spread += (members[member, j] - members[0, j]) ** 2
            radius = max(radius, spread)
        nearest, row, bound = np.inf, -1, np.inf
        for i in range(count):
            # no member is nearer than the distance from the first less the group's radius
            if pool.distances[i] > bound:
                continue
            for member in range(size):
                distance = 0.0
                for j in range(p):
                    distance += (pool.coordinates[j, i] - members[member, j]) ** 2
                if distance < nearest or (distance == nearest and pool.rows[i] < row):
                    nearest, row = distance, pool.rows[i]
            bound = (np.sqrt(nearest) + np.sqrt(radius)) ** 2 * (1.0 + 1e-9)
        measure_distances(pool, count, row, EUCLIDEAN)
        other = np.inf
        for i in range(count):
            if pool.distances[i] < other and pool.rows[i] != row:
                other = pool.distances[i]
        if not np.sqrt(nearest) < gamma * np.sqrt(other):
            break
        for j in range(p):
            members[size, j] = pool.centre[j]
        count = assign(pool, count, row, label, labels)
        size += 1
    return count


extend_group = kernel(_extend_group)
v_mdav = kernel(_v_mdav)

# -- A kd-tree of records that others are taken out of: boxes with sixteen children that shrink as records leave.

WIDTH = 16
"""Children of a node, and most records of a leaf: bounds and distances come a strip at a time."""


class Tree(NamedTuple):
    """Nodes with sixteen children: those of node i are 16 i, …, 16 i + 15, and lie side by side as family i.

    Numbers are those of a complete binary tree (children 2 i and 2 i + 1) of which only every fourth level is kept,
    counted from the L leaves L, …, 2 L − 1 upwards; the search starts at family 0. Places without a node count 0.

    strip, along float64[16]: bounds of one family or distances of one leaf;  nodes, bounds: the stack of a descent
    """

    # float64[L, p + 1, w]: up to w records of a leaf, one attribute per line; the last line is their distance from
    # the middle (squared if Euclidean)
    coordinates: Floats
    rows: Ints  # int64[L, w]: their table rows;  places  int64[n]: leaf · w + slot of each row
    places: Ints
    counts: Ints  # int64[families · 16]: unassigned records below each node
    low: Floats  # float64[families, p + 1, 16]: the box around them, and the range of their distances from the middle
    high: Floats
    middle: Floats  # float64[p]: the mean of the records when the tree was built
    strip: Floats
    along: Floats
    nodes: Ints
    bounds: Floats


def _make_tree(n: int, p: int, m: int) -> Tree:
    """An empty tree for m of n records of p attributes."""
    leaves = 1
    while leaves * WIDTH < m:
        leaves *= 2
    width, families = (m + leaves - 1) // leaves, 2 * leaves // WIDTH + 1
    return Tree(
        np.zeros((leaves, p + 1, width)),
        np.zeros((leaves, width), dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(families * WIDTH, dtype=np.int64),
        np.full((families, p + 1, WIDTH), np.inf),
        np.full((families, p + 1, WIDTH), -np.inf),
        np.zeros(p),
        np.empty(WIDTH),
        np.empty(WIDTH),
        np.empty(256, dtype=np.int64),
        np.empty(256),
    )


def _split_leaves(points: Floats, order: Ints, begins: Ints) -> None:
    """Rearrange rows so that each leaf's lie together, halving the widest side at its median.

    `begins` int64[2 L] ← where each node begins; the leaves are L, …, 2 L − 1, and the last ends with `order`.
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
    family, slot, changed = node // WIDTH, node % WIDTH, False
    for j in range(tree.low.shape[1]):
        least, most = np.inf, -np.inf
        for i in range(WIDTH):
            least = min(least, tree.low[node, j, i])
            most = max(most, tree.high[node, j, i])
        changed |= least != tree.low[family, j, slot] or most != tree.high[family, j, slot]
        tree.low[family, j, slot], tree.high[family, j, slot] = least, most
    return changed


split_leaves = kernel(_split_leaves)
box_leaf, box_node = kernel(_box_leaf), kernel(_box_node)


def _fill_leaves(tree: Tree, points: Floats, order: Ints, begins: Ints, metric: int) -> None:
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


fill_leaves = kernel(_fill_leaves)


def grow_partition_tree(points: Floats, order: Ints, metric: int) -> Tree:
    """Kernel: grow the kd-tree of unassigned records that MDAV partitions; `order` is rearranged."""
    tree = _make_tree(points.shape[0], points.shape[1], len(order))
    begins = np.zeros(2 * len(tree.rows), dtype=np.int64)
    split_leaves(points, order, begins)
    fill_leaves(tree, points, order, begins, metric)
    return tree


def _remove_row(tree: Tree, row: int) -> None:
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


remove_row = kernel(_remove_row)

# -- MDAV's own groups without its quadratic wall: a kd-tree of the unassigned records finds the far and the near.
#
# Every node keeps the bounding box of the records still in it and their greatest distance from the middle, which
# bounds the far ones far better than corners of boxes do. Both shrink as records are grouped, and the tree is built
# anew when three tenths of it are gone. A node is skipped only when nothing in it can win or tie, rounding included, so
# the groups are those of `partitions.mdav` to the last tie.

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


def _bound_farthest(tree: Tree, family: int, centre: Floats, metric: int) -> None:
    """No record below a node of the family is farther than its place in tree.strip says.

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
                below, above = at - low[family, j, i], high[family, j, i] - at
                gap = below if below > above else above
                corner[i] += gap * gap
                along[i] += pull * ((low[family, j, i] if pull > 0.0 else high[family, j, i]) - middle)
        else:
            away += abs(pull)
            for i in range(WIDTH):
                below, above = at - low[family, j, i], high[family, j, i] - at
                corner[i] += below if below > above else above
    for i in range(WIDTH):
        radius = high[family, p, i]
        rounding = 1e-14 * (p + 10) * (corner[i] + radius + away)
        corner[i] = min(corner[i], radius + away - 2.0 * along[i] + rounding)


def _bound_nearest(tree: Tree, family: int, centre: Floats, metric: int) -> None:
    """No record below a node of the family is nearer than its place in tree.strip says."""
    strip, low, high = tree.strip, tree.low, tree.high
    for i in range(WIDTH):
        strip[i] = 0.0
    for j in range(centre.shape[0]):
        at = centre[j]
        for i in range(WIDTH):
            below, above = low[family, j, i] - at, at - high[family, j, i]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            strip[i] += gap * gap if metric == EUCLIDEAN else gap


def _push(tree: Tree, family: int, depth: int, sign: float, limit: float) -> int:
    """Put the family's nodes whose sign · bound is at most the limit on the stack, the least on top; → new depth."""
    bottom = depth
    for slot in range(WIDTH):
        node, bound = family * WIDTH + slot, sign * tree.strip[slot]
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
bound_farthest, bound_nearest, push = kernel(_bound_farthest), kernel(_bound_nearest), kernel(_push)


def _find_farthest(tree: Tree, centre: Floats, metric: int) -> int:
    """Row of the record farthest from the centre; ties go to the lower row."""
    leaves, best, row = tree.rows.shape[0], -1.0, -1
    bound_farthest(tree, 0, centre, metric)
    depth = push(tree, 0, 0, -1.0, np.inf)
    while depth > 0:
        depth -= 1
        node = tree.nodes[depth]
        if -tree.bounds[depth] < best:
            continue
        if node < leaves:
            bound_farthest(tree, node, centre, metric)
            depth = push(tree, node, depth, -1.0, -best)
            continue
        for i in range(scan(tree, node - leaves, centre, metric)):
            distance = tree.strip[i]
            if distance >= best and (distance > best or tree.rows[node - leaves, i] < row):
                best, row = distance, tree.rows[node - leaves, i]
    return row


def _find_nearest(tree: Tree, centre: Floats, metric: int, seed: int, group: Ints, reach: Floats) -> None:
    """group ← seed and the nearest other rows, nearest first, ties to the lower row; reach ← their distances."""
    leaves, last = tree.rows.shape[0], group.shape[0] - 1
    for i in range(last + 1):
        group[i], reach[i] = LAST_ROW, np.inf
    group[0], reach[0] = seed, 0.0
    bound_nearest(tree, 0, centre, metric)
    depth = push(tree, 0, 0, 1.0, np.inf)
    while depth > 0:
        depth -= 1
        node = tree.nodes[depth]
        if tree.bounds[depth] > reach[last]:
            continue
        if node < leaves:
            bound_nearest(tree, node, centre, metric)
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


find_farthest, find_nearest = kernel(_find_farthest), kernel(_find_nearest)


def _form_group_pairs(
    tree: Tree, points: Floats, labels: Int32s, totals: Floats, k: int, stop: int, metric: int
) -> None:
    """MDAV's pairs of groups while at least `stop` (≥ 2k) of the rows in the tree are left; the next labels in place.

    `labels` int32[n].
    """
    p, count, label = points.shape[1], 0, 0
    group, reach, centre = np.empty(k, dtype=np.int64), np.empty(k), np.empty(p)
    for i in range(labels.shape[0]):
        count += labels[i] < 0
        label = max(label, int(labels[i]) + 1)
    while count >= stop:
        for j in range(p):
            centre[j] = (totals[0, j] + totals[1, j]) / count
        far = find_farthest(tree, centre, metric)
        for side in range(2):
            seed = far
            for j in range(p):
                centre[j] = points[seed, j]
            if side == 0:
                far = find_farthest(tree, centre, metric)
            find_nearest(tree, centre, metric, seed, group, reach)
            for i in range(k):
                row = group[i]
                labels[row] = label
                for j in range(p):
                    value, old = -points[row, j], totals[0, j]
                    new = old + value
                    part = new - old
                    totals[0, j] = new
                    totals[1, j] += (old - (new - part)) + (value - part)
                remove_row(tree, row)
            if side == 0 and labels[far] >= 0:  # only where distances tie: look again, still from the first record
                far = find_farthest(tree, centre, metric)
            count, label = count - k, label + 1


form_group_pairs = kernel(_form_group_pairs)


def _form_line_pairs(
    values: Floats, up: Ints, down: Ints, labels: Int32s, totals: Floats, k: int, stop: int, metric: int
) -> None:
    """MDAV's pairs of groups of one attribute: each is at an end of what is left of the sorted values.

    `values` float64[n]; `up`, `down` int64[n]: rows by ascending and by descending value, ties to the lower row;
    `labels` int32[n]: −1, changed in place.
    """
    count, label, low, high = labels.shape[0], 0, 0, 0
    while count >= stop:
        centre = (totals[0, 0] + totals[1, 0]) / count
        for _ in range(2):
            while labels[up[low]] >= 0:
                low += 1
            while labels[down[high]] >= 0:
                high += 1
            below, above = centre - values[up[low]], values[down[high]] - centre
            below, above = (below * below, above * above) if metric == EUCLIDEAN else (abs(below), abs(above))
            upper = above > below or (above == below and down[high] < up[low])
            order, at = (down, high) if upper else (up, low)
            centre, taken = values[order[at]], 0
            while taken < k:
                row, at = order[at], at + 1
                if labels[row] >= 0:
                    continue
                labels[row], taken = label, taken + 1
                value, old = -values[row], totals[0, 0]
                new = old + value
                part = new - old
                totals[0, 0] = new
                totals[1, 0] += (old - (new - part)) + (value - part)
            count, label = count - k, label + 1


form_line_pairs = kernel(_form_line_pairs)


def _sum_points(points: Floats, totals: Floats) -> None:
    """totals float64[2, p] ← the sum of the points and the compensation of its rounding."""
    for j in range(points.shape[1]):
        totals[0, j] = totals[1, j] = 0.0
        for i in range(points.shape[0]):
            value, old = points[i, j], totals[0, j]
            new = old + value
            part = new - old
            totals[0, j] = new
            totals[1, j] += (old - (new - part)) + (value - part)


sum_points = kernel(_sum_points)


def mdav_by_tree(points: Floats, k: int, ending: int, metric: int) -> Int32s:
    """MDAV with a kd-tree: the labels of `partitions.mdav`, sooner for many records and up to about 15 attributes.

    Of one attribute every group is at an end of the sorted values, and no tree is needed.

    points float64[n, p], contiguous, scaled, n ≥ k → int32[n]. O(n p) memory; time grows about as n^1.5 at p = 10.
    """
    n = len(points)
    if k <= 1 or n < 2 * k:
        return (np.arange(n) if k <= 1 else np.zeros(n)).astype(np.int32)
    shifted = np.ascontiguousarray(points - points.min(axis=0))
    labels, totals = np.full(n, -1, dtype=np.int32), np.empty((2, points.shape[1]))
    sum_points(shifted, totals)
    stop = 3 * k if ending == GENERIC else 2 * k
    if points.shape[1] == 1:
        up, down = (np.argsort(each, kind="stable") for each in (shifted[:, 0], -shifted[:, 0]))
        form_line_pairs(shifted[:, 0].copy(), up, down, labels, totals, k, stop, metric)
        finish_mdav(points, labels, k, ending, metric)
        return labels
    left = np.arange(n)
    while len(left) >= stop:  # the tree is built anew as soon as so many are gone
        built = len(left)
        pause = max(stop, int(np.ceil(REBUILD * built)))
        form_group_pairs(grow_partition_tree(shifted, left, metric), shifted, labels, totals, k, pause, metric)
        left = np.flatnonzero(labels < 0)
    finish_mdav(points, labels, k, ending, metric)
    return labels
