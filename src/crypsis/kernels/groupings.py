"""What microaggregating a group of attributes costs and reveals, and how the groups add up.

Squared distances add over attribute groups: a group leaves behind the distance of every original record to
each of its centroids, and the linkage of any grouping is found from those blocks alone.
"""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel

UNASKED, ABSOLUTE, RELATIVE = -1, 0, 1
"""Intervals: none, of ±w % of one unit, or of ±w % of the protected value."""
WIDTHS = 10
"""Intervals are taken for w = 1, 2, … 10 % and averaged."""
TOLERANCE = 1e-12
"""Squared distances closer than this are ties."""
STRIP = 64
"""Records measured together."""


def _renumber(labels: Int32s) -> Int32s:
    """Labels 0, 1, … by first appearance."""
    p = len(labels)
    place = np.full(np.max(labels) + 1, -1, dtype=np.int32)
    result = np.empty(p, dtype=np.int32)
    count = 0
    for j in range(p):
        if place[labels[j]] < 0:
            place[labels[j]] = count
            count += 1
        result[j] = place[labels[j]]
    return result


renumber = kernel(_renumber)


def _settle(genome: Int32s) -> Int32s:
    """The genome int32[p + 1] (labels, then k) with labels 0, 1, … in the order they have; empty groups vanish."""
    p = len(genome) - 1
    place = np.full(np.max(genome[:p]) + 1, -1, dtype=np.int32)
    for j in range(p):
        place[genome[j]] = 0
    count = 0
    for label in range(len(place)):
        if place[label] == 0:
            place[label] = count
            count += 1
    result = genome.copy()
    for j in range(p):
        result[j] = place[genome[j]]
    return result


settle = kernel(_settle)


def _inject(giver: Int32s, receiver: Int32s, low: int, high: int) -> Int32s:
    """Groups low … high − 1 of the giver with all their attributes; every other attribute as the receiver has it.

    Genomes int32[p + 1]. Group part: the injected groups, then what is left of the receiver's. k is the giver's.
    """
    p = len(giver) - 1
    child = giver.copy()
    for j in range(p):
        inside = low <= giver[j] < high
        child[j] = giver[j] - low if inside else receiver[j] + high - low
    return settle(child)


inject = kernel(_inject)


def _by_group(labels: Int32s) -> tuple[Int32s, Ints]:
    """Attributes group by group: int32[p] ascending inside a group, int64[g + 1] where each begins, and the end.

    The group of the lowest attribute comes first, whatever the labels, so that clones are worked out alike.
    """
    labels = renumber(labels)
    p = len(labels)
    groups = np.max(labels) + 1
    starts = np.zeros(groups + 1, dtype=np.int64)
    for j in range(p):
        starts[labels[j] + 1] += 1
    for g in range(groups):
        starts[g + 1] += starts[g]
    place = starts[:-1].copy()
    members = np.empty(p, dtype=np.int32)
    for j in range(p):
        members[place[labels[j]]] = j
        place[labels[j]] += 1
    return members, starts


by_group = kernel(_by_group)


def _centroids(points: Floats, labels: Int32s, groups: int) -> Floats:
    """float64[groups, p]: mean of each group."""
    n, p = points.shape
    centres = np.zeros((groups, p))
    sizes = np.zeros(groups)
    for i in range(n):
        sizes[labels[i]] += 1.0
        for j in range(p):
            centres[labels[i], j] += points[i, j]
    for g in range(groups):
        for j in range(p):
            centres[g, j] /= sizes[g]
    return centres


centroids = kernel(_centroids)


def _measure(points: Floats, centres: Floats, block: Floats) -> None:
    """block ← squared Euclidean distance of every record to every centre, and to the nearest of them.


    Records are taken a strip at a time, one attribute after the other, so that the innermost loop runs over
    neighbours in memory.

    `block` float64[≥ n (groups + 1)].
    """
    n, p = points.shape
    groups = centres.shape[0]
    strip, columns, nearest = np.empty(STRIP), np.zeros((p, STRIP)), np.empty(STRIP)
    for start in range(0, n, STRIP):
        size = min(STRIP, n - start)
        for i in range(size):
            for j in range(p):
                columns[j, i] = points[start + i, j]
        nearest[:] = np.inf
        for g in range(groups):
            strip[:] = 0.0
            for j in range(p):
                centre = centres[g, j]
                for i in range(STRIP):
                    gap = columns[j, i] - centre
                    strip[i] += gap * gap
            for i in range(size):
                block[(start + i) * (groups + 1) + g] = strip[i]
                nearest[i] = min(nearest[i], strip[i])
        for i in range(size):
            block[(start + i) * (groups + 1) + groups] = nearest[i]


measure = kernel(_measure)


def _judge_grouping(points: Floats, centres: Floats, labels: Int32s, mode: int) -> tuple[float, int]:
    """SSE of a grouping of records, and how many of the cells × 10 widths have the original value inside the interval
    around the protected one.
    """
    n, p = points.shape
    total, hits = 0.0, 0
    for i in range(n):
        for j in range(p):
            centre = centres[labels[i], j]
            gap = abs(points[i, j] - centre)
            total += gap * gap
            # Most cells lie beyond the widest interval, and are not worth ten questions.
            widest = WIDTHS / 100.0 * abs(centre) if mode == RELATIVE else WIDTHS / 100.0 + TOLERANCE
            if mode == UNASKED or gap > widest:
                continue
            for w in range(1, WIDTHS + 1):
                reach = w / 100.0 * centre if mode == RELATIVE else w / 100.0 + TOLERANCE
                if gap <= reach:
                    hits += WIDTHS + 1 - w
                    break
    return total, hits


judge_grouping = kernel(_judge_grouping)


def _survey(points: Floats, labels: Int32s, mode: int, block: Floats) -> tuple[int, float, int]:
    """Number of clusters, SSE and disclosed cells of one attribute group; its distances go to `block`.

    `block`: as for `measure`; empty: distances are not wanted.
    """
    count = int(np.max(labels)) + 1
    centres = centroids(points, labels, count)
    if len(block) > 0:
        measure(points, centres, block)
    sse, hits = judge_grouping(points, centres, labels, mode)
    return count, sse, hits


survey = kernel(_survey)


def _classes(labels: Int32s) -> tuple[Int32s, Int32s, Int32s]:
    """Distinct columns of int32[g, n]: class of each column, first column of each class, size of each class."""
    g, n = labels.shape
    slots = 1
    while slots < 2 * n:
        slots *= 2
    table = np.full(slots, -1, dtype=np.int32)
    classes = np.empty(n, dtype=np.int32)
    first = np.empty(n, dtype=np.int32)
    sizes = np.zeros(n, dtype=np.int32)
    codes = np.full(n, 1469598103934665603, dtype=np.uint64)
    for j in range(g):
        for i in range(n):
            codes[i] = (codes[i] ^ np.uint64(labels[j, i])) * np.uint64(1099511628211)
    count = 0
    for i in range(n):
        at = np.int64((codes[i] ^ (codes[i] >> np.uint64(29))) & np.uint64(slots - 1))
        while True:
            found = table[at]
            if found < 0:
                table[at] = count
                first[count] = i
                classes[i] = count
                sizes[count] = 1
                count += 1
                break
            same = True
            for j in range(g):
                if labels[j, first[found]] != labels[j, i]:
                    same = False
                    break
            if same:
                classes[i] = found
                sizes[found] += 1
                break
            at = (at + 1) & (slots - 1)
    return classes, first[:count].copy(), sizes[:count].copy()


classes = kernel(_classes)


def _sorted_classes(rows: Int32s, width: int) -> Ints:
    """Order of int32[c, g] rows of labels below `width`, first group first (counting sort from the last group)."""
    count, groups = rows.shape
    order = np.arange(count)
    for j in range(groups - 1, -1, -1):
        ends = np.zeros(width + 1, dtype=np.int64)
        for c in range(count):
            ends[rows[c, j] + 1] += 1
        for label in range(width):
            ends[label + 1] += ends[label]
        following = np.empty(count, dtype=np.int64)
        for place in range(count):
            c = order[place]
            following[ends[rows[c, j]]] = c
            ends[rows[c, j]] += 1
        order = following
    return order


sorted_classes = kernel(_sorted_classes)


def _branches(rows: Int32s) -> tuple[Int32s, Int32s]:
    """Sorted rows as a tree: how many labels each row shares with the one before, and where each branch ends.

    →  int32[c + 1] shared;  int32[c, g]: first later row that differs from row c within its first j + 1 labels
    """
    count, groups = rows.shape
    shared = np.zeros(count + 1, dtype=np.int32)
    for c in range(1, count):
        while shared[c] < groups and rows[c, shared[c]] == rows[c - 1, shared[c]]:
            shared[c] += 1
    leave = np.empty((count, groups), dtype=np.int32)
    for c in range(count - 1, -1, -1):
        for j in range(groups):
            leave[c, j] = leave[c + 1, j] if c + 1 < count and shared[c + 1] > j else c + 1
    return shared, leave


branches = kernel(_branches)


def _links(arena: Floats, clusters: Int32s, slots: Ints, widths: Ints) -> tuple[float, int, int]:
    """Nearest-record links of originals to protected records, from the blocks of all attribute groups.

    →       credit (a record whose own image is among t nearest ones counts 1/t), size of the smallest class
            of records with equal labels, number of records alone in their class

    The distinct protected records form a tree by groups. A record walks it from its own image on, shares the
    sums of common branches, leaves a branch as soon as it lies beyond the own image whatever the other groups
    add, and is given up as soon as somebody else's image is nearer.

    `arena` float64[·, ·]; `clusters` int32[·, n]: the cluster of each record, in the same rows; `slots` int64[g].
    """
    labels, flat, reach = clusters[slots], arena.ravel(), arena.shape[1]
    groups, n = labels.shape
    own_class, first, sizes = classes(labels)
    count, credit = len(first), 0.0
    unsorted = np.empty((count, groups), dtype=np.int32)
    for c in range(count):
        for j in range(groups):
            unsorted[c, j] = labels[j, first[c]]
    order = sorted_classes(unsorted, int(np.max(widths)))
    rows, weights = unsorted[order], sizes[order]
    shared, leave = branches(rows)
    place = np.empty(count, dtype=np.int64)
    for c in range(count):
        place[order[c]] = c
    near, near_weights = np.empty(count), np.empty(count, dtype=np.int64)
    rest, sums, row = np.zeros(groups + 1), np.zeros(groups + 1), np.empty(groups, dtype=np.int64)
    for i in range(n):
        start = place[own_class[i]]
        own = 0.0
        for j in range(groups):
            row[j] = slots[j] * reach + i * (widths[j] + 1)
            own += flat[row[j] + rows[start, j]]
        for j in range(groups - 1, -1, -1):
            rest[j] = rest[j + 1] + flat[row[j] + widths[j]]
        limit = own + 2.0 * TOLERANCE
        c, depth, found, turned, least = start, 0, 0, False, own
        while True:
            j = depth
            while j < groups:
                sums[j + 1] = sums[j] + flat[row[j] + rows[c, j]]
                if sums[j + 1] + rest[j + 1] > limit:
                    break
                j += 1
            if j == groups:
                total = float(sums[groups])
                if total < own - TOLERANCE:
                    found = 0
                    break
                least = min(least, total)
                near[found] = total
                near_weights[found] = weights[c]
                found += 1
                c += 1
            else:
                c = leave[c, j]
            depth = shared[c]
            if c == count:
                c, depth, turned = 0, 0, True
            if turned and c >= start:
                break
        ties = 0
        for m in range(found):
            if near[m] <= least + TOLERANCE:
                ties += near_weights[m]
        if ties > 0:
            credit += 1.0 / ties
    return credit, np.min(sizes), np.sum(sizes == 1)


links = kernel(_links)


def _links_in_full(points: Floats, masked: Floats) -> float:
    """Credit of linking float64[n, p] originals to masked records, all pairs, from the values themselves."""
    n, p = points.shape
    credit = 0.0
    sums = np.empty(n)
    for i in range(n):
        least = np.inf
        for r in range(n):
            far = 0.0
            for j in range(p):
                gap = points[i, j] - masked[r, j]
                far += gap * gap
            sums[r] = far
            least = min(least, far)
        if sums[i] <= least + TOLERANCE:
            ties = 0
            for r in range(n):
                if sums[r] <= least + TOLERANCE:
                    ties += 1
            credit += 1.0 / ties
    return credit


links_in_full = kernel(_links_in_full)
