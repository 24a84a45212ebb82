"""Nearest-record links, exactly and with ties, without a matrix of all pairs.

The squared distance of a record to a published one is the squared distance of their points plus one for every
code that differs. Published records are told apart by their codes first; each group of equal codes holds a
tree of boxes over its points. A coordinate may count only beside a code: the rank of a category that is published as
it is, where other records publish a group of it. An intruder's link to the right record is spoilt by a single nearer
one, so a search from the right record's distance ends at the first that is nearer, and has all ties when none is.
CodeGroups whose codes all match are found by bisection; the others are ranked only for a record that must look beyond
them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.quickselect import select_between

BUCKET = 64
"""Points in a leaf. Measured: small leaves are no faster in few dimensions and half as fast in twenty, where
this keeps pace with blocked matrix products and stays exact."""
SLACK = 1e-12


class CodeGroups(NamedTuple):
    """The distinct codes of published records, sorted by places, then by codes, the last column first in rank.

    codes   int32[groups, c]
    places  int32[groups, c]: which of a record's ancestors each code is held against
    starts  int64[patterns + 1]: where the groups of each distinct row of places begin; the last entry is groups
    """

    codes: Int32s
    places: Int32s
    starts: Ints


class Known(NamedTuple):
    """The records an intruder holds.

    points     float64[n, q]
    ancestors  int32[n, w]: the codes a published code is held against
    order      int64[n]: rows so that equal ancestors follow each other
    lines      int32[q, 2]: the column of codes beside which a coordinate counts and the place that code must have; it
               counts 0 beside any other place and beside a missing code; −1: it always counts
    """

    points: Floats
    ancestors: Int32s
    order: Ints
    lines: Int32s


class Forest(NamedTuple):
    """Distinct published records, one tree for each group of equal codes.

    points  float64[m, q], in the order of the leaves
    weight  int64[m]: how many published records are this one
    first   int64[m]: the lowest row among them
    low     float64[nodes, q]: the box of a node
    span    int64[nodes, 3]: first point, end, and left child (the right one follows it; −1 for a leaf)
    root    int64[groups]: the node each group starts at
    """

    points: Floats
    weight: Ints
    first: Ints
    low: Floats
    high: Floats
    span: Ints
    root: Ints


def _split(
    points: Floats, starts: Ints, bucket: int, order: Ints, low: Floats, high: Floats, span: Ints, root: Ints
) -> int:
    """Fill order, low, high, span and root of a `Forest` as `grow` says; → nodes used."""
    q, used, side = points.shape[1], 0, np.empty(points.shape[0])
    for group in range(root.shape[0]):
        root[group] = used
        span[used, 0], span[used, 1] = starts[group], starts[group + 1]
        done = used
        used += 1
        while done < used:
            begin, end = span[done, 0], span[done, 1]
            widest, width = -1, 0.0
            for j in range(q):
                least, most = np.inf, -np.inf
                for i in range(begin, end):
                    least = min(least, points[order[i], j])
                    most = max(most, points[order[i], j])
                low[done, j], high[done, j] = least, most
                if most - least > width:
                    widest, width = j, most - least
            span[done, 2] = -1
            if end - begin > bucket and widest >= 0:
                for i in range(begin, end):
                    side[i] = points[order[i], widest]
                middle = (begin + end) // 2
                select_between(side, order, begin, end, middle)
                span[done, 2] = used
                span[used, 0], span[used, 1] = begin, middle
                span[used + 1, 0], span[used + 1, 1] = middle, end
                used += 2
            done += 1
    return used


split = kernel(_split)


def grow(points: Floats, starts: Ints, bucket: int) -> tuple[NDArray[Any], ...]:
    """Split every group of points at the median of its widest side until at most `bucket` are left.

    points  float64[m, q], group by group
    starts  int64[groups + 1]: where each group begins; the last entry is m
    →       order int64[m] of the points, low, high, span, root as in `Forest`

    O(m log m) time, O(m q) memory.
    """
    m, q = points.shape
    # A split leaves at least (bucket + 1) // 2 points on either side.
    room = 2 * (m // ((bucket + 1) // 2) + len(starts) - 1)
    low, high, span = np.empty((room, q)), np.empty((room, q)), np.empty((room, 3), dtype=np.int64)
    order, root = np.arange(m), np.empty(len(starts) - 1, dtype=np.int64)
    used = split(points, starts, bucket, order, low, high, span, root)
    return order, low[:used].copy(), high[:used].copy(), span[:used].copy(), root


def _to_box(point: Floats, forest: Forest, node: int) -> float:
    """Squared distance of a point to a node's box."""
    total = 0.0
    for j in range(point.shape[0]):
        at = point[j]
        gap = max(forest.low[node, j] - at, at - forest.high[node, j], 0.0)
        total += gap * gap
    return total


to_box = kernel(_to_box)


def _probe(point: Floats, base: float, bounds: Floats, root: int, forest: Forest, found: Ints, stack: Ints) -> bool:
    """Look through one tree for records nearer than bounds[0]; tally those up to bounds[1] in `found`.

    base     what the codes already add to the squared distance
    bounds   float64[3]: squared distances below the first are nearer, up to the second are ties; where the third is
             not 0, the second is brought down to the least distance met: then it is the nearest that is wanted
    found    int64[2]: weight of the ties so far, and their lowest row (changed in place)
    →        True as soon as a nearer record is met; `found` means nothing then
    """
    top = 1
    stack[0] = root
    while top:
        top -= 1
        node = stack[top]
        if base + to_box(point, forest, node) > bounds[1]:
            continue
        child = forest.span[node, 2]
        if child >= 0:  # the nearer half on top
            nearer = to_box(point, forest, child + 1) < to_box(point, forest, child)
            stack[top], stack[top + 1] = (child, child + 1) if nearer else (child + 1, child)
            top += 2
            continue
        for i in range(forest.span[node, 0], forest.span[node, 1]):
            total = base
            for j in range(point.shape[0]):
                gap = point[j] - forest.points[i, j]
                total += gap * gap
                if total > bounds[1]:
                    break
            if total < bounds[0]:
                return True
            if total <= bounds[1]:
                found[0] += forest.weight[i]
                if found[1] < 0 or forest.first[i] < found[1]:
                    found[1] = forest.first[i]
                if bounds[2] != 0.0:
                    bounds[1] = total
    return False


probe = kernel(_probe)


def _matching_groups(ancestors: Int32s, row: int, groups: CodeGroups, matching: Ints) -> int:
    """Write the groups that differ from a record in no code into `matching`, and say how many they are."""
    count = 0
    for pattern in range(len(groups.starts) - 1):
        begin, end = groups.starts[pattern], groups.starts[pattern + 1]
        while begin < end:
            g = (begin + end) // 2
            j = groups.codes.shape[1] - 1
            while j >= 0 and groups.codes[g, j] == ancestors[row, groups.places[g, j]]:
                j -= 1
            if j < 0:
                matching[count] = g
                count += 1
                break
            if groups.codes[g, j] < ancestors[row, groups.places[g, j]]:
                begin = g + 1
            else:
                end = g
    return count


matching_groups = kernel(_matching_groups)


def _rank_groups(ancestors: Int32s, row: int, groups: CodeGroups, cost: Ints, ranking: Ints, tally: Ints) -> None:
    """Fill `cost` with the number of codes by which each group differs from a record, `ranking` by rising cost.

    tally  int64[c + 2]: room to count in
    """
    many, c = groups.codes.shape
    for j in range(c + 2):
        tally[j] = 0
    for g in range(many):
        differ = 0
        for j in range(c):
            if ancestors[row, groups.places[g, j]] != groups.codes[g, j]:
                differ += 1
        cost[g] = differ
        tally[differ + 1] += 1
    for j in range(1, c + 2):
        tally[j] += tally[j - 1]
    for g in range(many):
        ranking[tally[cost[g]]] = g
        tally[cost[g]] += 1


rank_groups = kernel(_rank_groups)


def _aimed(known: Known, row: int, groups: CodeGroups, g: int, aim: Floats) -> None:
    """aim float64[q] ← a record's point, with 0 for the coordinates that do not count beside the codes of a group."""
    for j in range(known.points.shape[1]):
        column = known.lines[j, 0]
        counts = column < 0 or (groups.places[g, column] == known.lines[j, 1] and groups.codes[g, column] >= 0)
        aim[j] = known.points[row, j] if counts else 0.0


aimed = kernel(_aimed)


def _differs(ancestors: Int32s, row: int, previous: int) -> bool:
    """Whether a record has other codes than the one before it (−1: there was none)."""
    other = previous < 0
    for j in range(ancestors.shape[1]):
        other = other or ancestors[row, j] != ancestors[previous, j]
    return other


differs = kernel(_differs)


class Links(NamedTuple):
    """What `linked` finds, and room to look for it.

    ties, lowest, reach   of each record
    matching, ranking     int64[…]: groups with the codes of a record, and all in order of what their codes cost
    cost, tally           int64[…]: of each group; groups of each cost
    bounds, found, stack  of `probe`
    aim                   float64[q]: the point looked for
    """

    ties: Ints
    lowest: Ints
    reach: Floats
    matching: Ints
    ranking: Ints
    cost: Ints
    tally: Ints
    bounds: Floats
    found: Ints
    stack: Ints
    aim: Floats


def _link_records(known: Known, distance: Floats, groups: CodeGroups, forest: Forest, links: Links) -> None:
    """Fill ties, lowest and reach as `linked` says."""
    ties, lowest, reach, matching, ranking, cost, tally, bounds, found, stack, aim = links
    many, previous, matches, ranked = groups.codes.shape[0], -1, 0, False
    for place in range(known.order.shape[0]):
        row = known.order[place]
        away = distance[row]
        if away != away:
            continue
        if differs(known.ancestors, row, previous):
            matches, ranked = matching_groups(known.ancestors, row, groups, matching), False
            previous = row
        asked = away == np.inf
        slack = 0.0 if asked else SLACK * (1.0 + away)
        nearest = 0.0 if asked else max(away - slack, 0.0)
        bounds[0], bounds[1], bounds[2] = nearest * nearest, (away + slack) * (away + slack), 1.0 if asked else 0.0
        found[0], found[1] = 0, -1
        nearer, at = False, 0
        while at < matches and not nearer:
            aimed(known, row, groups, matching[at], aim)
            nearer = probe(aim, 0.0, bounds, forest.root[matching[at]], forest, found, stack)
            at += 1
        if not nearer and bounds[1] >= 1.0:
            if not ranked:
                rank_groups(known.ancestors, row, groups, cost, ranking, tally)
                ranked = True
            at = matches
            while at < many and not nearer and cost[ranking[at]] <= bounds[1]:
                g = ranking[at]
                aimed(known, row, groups, g, aim)
                nearer = probe(aim, float(cost[g]), bounds, forest.root[g], forest, found, stack)
                at += 1
        if asked:
            reach[row] = math.sqrt(bounds[1])
        elif not nearer:
            ties[row], lowest[row] = found[0], found[1]


link_records = kernel(_link_records)


def link(
    known: Known, distance: Floats, groups: CodeGroups, forest: Forest, ties: Ints, lowest: Ints, reach: Floats
) -> None:
    """Fill ties, lowest and reach as `linked` says."""
    many = len(groups.codes)
    matching, ranking = np.empty(len(groups.starts), dtype=np.int64), np.empty(many, dtype=np.int64)
    cost, tally = np.empty(many, dtype=np.int64), np.empty(groups.codes.shape[1] + 2, dtype=np.int64)
    bounds, found, stack = np.empty(3), np.empty(2, dtype=np.int64), np.empty(256, dtype=np.int64)
    aim = np.empty(known.points.shape[1])
    links = Links(ties, lowest, reach, matching, ranking, cost, tally, bounds, found, stack, aim)
    link_records(known, distance, groups, forest, links)


def unlinked(n: int) -> tuple[Ints, Ints, Floats]:
    """Ties, lowest and reach of `linked` before any of n records is looked for; `link` fills them record by record."""
    return np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64), np.full(n, np.nan)


def linked(known: Known, distance: Floats, groups: CodeGroups, forest: Forest) -> tuple[Ints, Ints, Floats]:
    """For each record, how many published records lie exactly at a given distance, none being nearer.

    distance  float64[n]; NaN for a record that cannot be linked, infinite to ask for the nearest
    →         ties int64[n] (0: a nearer one exists, or none at this distance), lowest tied row int64[n] (−1), and
              float64[n]: the distance of the nearest where it was asked for
    """
    ties, lowest, reach = unlinked(len(known.points))
    link(known, distance, groups, forest, ties, lowest, reach)
    return ties, lowest, reach
