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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.compile import kernel

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

    codes: NDArray[np.int32]
    places: NDArray[np.int32]
    starts: NDArray[np.int64]


class Known(NamedTuple):
    """The records an intruder holds.

    points     float64[n, q]
    ancestors  int32[n, w]: the codes a published code is held against
    order      int64[n]: rows so that equal ancestors follow each other
    lines      int32[q, 2]: the column of codes beside which a coordinate counts and the place that code must have; it
               counts 0 beside any other place and beside a missing code; −1: it always counts
    """

    points: NDArray[np.float64]
    ancestors: NDArray[np.int32]
    order: NDArray[np.int64]
    lines: NDArray[np.int32]


class Forest(NamedTuple):
    """Distinct published records, one tree for each group of equal codes.

    points  float64[m, q], in the order of the leaves
    weight  int64[m]: how many published records are this one
    first   int64[m]: the lowest row among them
    low     float64[nodes, q]: the box of a node
    span    int64[nodes, 3]: first point, end, and left child (the right one follows it; −1 for a leaf)
    root    int64[groups]: the node each group starts at
    """

    points: NDArray[np.float64]
    weight: NDArray[np.int64]
    first: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    span: NDArray[np.int64]
    root: NDArray[np.int64]


def _grow(points: NDArray[np.float64], starts: NDArray[np.int64], bucket: int) -> Any:
    """Split every group of points at the median of its widest side until at most `bucket` are left.

    points  float64[m, q], group by group
    starts  int64[groups + 1]: where each group begins; the last entry is m
    →       order int64[m] of the points, low, high, span, root as in `Forest`

    O(m log² m) time, O(m q) memory.
    """
    m, q = points.shape
    groups = len(starts) - 1
    # A split leaves at least (bucket + 1) // 2 points on either side.
    room = 2 * (m // ((bucket + 1) // 2) + groups)
    order = np.arange(m)
    low = np.empty((room, q))
    high = np.empty((room, q))
    span = np.empty((room, 3), dtype=np.int64)
    root = np.empty(groups, dtype=np.int64)
    used = 0
    for group in range(groups):
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
                side = np.empty(end - begin)
                for i in range(begin, end):
                    side[i - begin] = points[order[i], widest]
                order[begin:end] = order[begin:end][np.argsort(side)]
                middle = (begin + end) // 2
                span[done, 2] = used
                span[used, 0], span[used, 1] = begin, middle
                span[used + 1, 0], span[used + 1, 1] = middle, end
                used += 2
            done += 1
    return order, low[:used].copy(), high[:used].copy(), span[:used].copy(), root


grow = kernel(_grow)


def _to_box(point: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64], node: int) -> float:
    """Squared distance of a point to a node's box."""
    total = 0.0
    for j in range(len(point)):
        if point[j] < low[node, j]:
            total += (low[node, j] - point[j]) ** 2
        elif point[j] > high[node, j]:
            total += (point[j] - high[node, j]) ** 2
    return total


to_box = kernel(_to_box)


def _push_halves(point: NDArray[np.float64], child: int, forest: Forest, stack: NDArray[np.int64], top: int) -> None:
    """Put both halves of a node on the stack, the nearer one on top."""
    near, far = child, child + 1
    if to_box(point, forest.low, forest.high, far) < to_box(point, forest.low, forest.high, near):
        near, far = far, near
    stack[top], stack[top + 1] = far, near


push_halves = kernel(_push_halves)


def _probe(
    point: NDArray[np.float64], base: float, bounds: NDArray[np.float64], root: int, forest: Forest,
    found: NDArray[np.int64], stack: NDArray[np.int64], closing: bool,
) -> bool:  # fmt: skip
    """Look through one tree for records nearer than bounds[0]; tally those up to bounds[1] in `found`.

    base     what the codes already add to the squared distance
    bounds   float64[2]: squared distances below the first are nearer, up to the second are ties
    found    int64[2]: weight of the ties so far, and their lowest row (changed in place)
    closing  bring bounds[1] down to the least distance met: then it is the nearest that is wanted
    →        True as soon as a nearer record is met; `found` means nothing then
    """
    top = 1
    stack[0] = root
    while top:
        top -= 1
        node = stack[top]
        if base + to_box(point, forest.low, forest.high, node) > bounds[1]:
            continue
        child = forest.span[node, 2]
        if child >= 0:
            push_halves(point, child, forest, stack, top)
            top += 2
            continue
        for i in range(forest.span[node, 0], forest.span[node, 1]):
            total = base
            for j in range(len(point)):
                total += (point[j] - forest.points[i, j]) ** 2
                if total > bounds[1]:
                    break
            if total < bounds[0]:
                return True
            if total <= bounds[1]:
                found[0] += forest.weight[i]
                if found[1] < 0 or forest.first[i] < found[1]:
                    found[1] = forest.first[i]
                if closing:
                    bounds[1] = total
    return False


probe = kernel(_probe)


def _matching_groups(ancestors: NDArray[np.int32], row: int, groups: CodeGroups, matching: NDArray[np.int64]) -> int:
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


def _rank_groups(
    ancestors: NDArray[np.int32], row: int, groups: CodeGroups, cost: NDArray[np.int64], ranking: NDArray[np.int64]
) -> None:
    """Fill `cost` with the number of codes by which each group differs from a record, `ranking` by rising cost."""
    many, c = groups.codes.shape
    tally = np.zeros(c + 2, dtype=np.int64)
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


def _aimed(known: Known, row: int, groups: CodeGroups, g: int, aim: NDArray[np.float64]) -> None:
    """Write a record's point into `aim`, with 0 for the coordinates that do not count beside the codes of a group."""
    for j in range(known.points.shape[1]):
        column = known.lines[j, 0]
        counts = column < 0 or (groups.places[g, column] == known.lines[j, 1] and groups.codes[g, column] >= 0)
        aim[j] = known.points[row, j] if counts else 0.0


aimed = kernel(_aimed)


def _differs(ancestors: NDArray[np.int32], row: int, previous: int) -> bool:
    """Whether a record has other codes than the one before it (−1: there was none)."""
    other = previous < 0
    for j in range(ancestors.shape[1]):
        other = other or ancestors[row, j] != ancestors[previous, j]
    return other


differs = kernel(_differs)


def _linked(
    known: Known, distance: NDArray[np.float64], groups: CodeGroups, forest: Forest
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """For each record, how many published records lie exactly at a given distance, none being nearer.

    distance  float64[n]; NaN for a record that cannot be linked, infinite to ask for the nearest
    →         ties int64[n] (0: a nearer one exists, or none at this distance), lowest tied row int64[n] (−1), and
              float64[n]: the distance of the nearest where it was asked for
    """
    n, many = len(known.points), len(groups.codes)
    ties = np.zeros(n, dtype=np.int64)
    lowest = np.full(n, -1, dtype=np.int64)
    reach = np.full(n, np.nan)
    matching = np.empty(len(groups.starts), dtype=np.int64)
    cost = np.zeros(many, dtype=np.int64)
    ranking = np.arange(many)
    bounds = np.empty(2)
    found = np.empty(2, dtype=np.int64)
    stack = np.empty(256, dtype=np.int64)
    aim = np.zeros(known.points.shape[1])
    previous, matches, ranked = -1, 0, False
    for row in known.order:
        if np.isnan(distance[row]):
            continue
        if differs(known.ancestors, row, previous):
            matches, ranked = matching_groups(known.ancestors, row, groups, matching), False
            previous = row
        asked = np.isinf(distance[row])
        slack = 0.0 if asked else SLACK * (1.0 + distance[row])
        bounds[0] = 0.0 if asked else max(distance[row] - slack, 0.0) ** 2
        bounds[1] = (distance[row] + slack) ** 2
        found[0], found[1] = 0, -1
        nearer = False
        for g in matching[:matches]:
            if nearer:
                break
            aimed(known, row, groups, g, aim)
            nearer = probe(aim, 0.0, bounds, forest.root[g], forest, found, stack, asked)
        if not nearer and bounds[1] >= 1.0:
            if not ranked:
                rank_groups(known.ancestors, row, groups, cost, ranking)
                ranked = True
            for g in ranking[matches:]:
                if nearer or cost[g] > bounds[1]:
                    break
                aimed(known, row, groups, g, aim)
                nearer = probe(aim, float(cost[g]), bounds, forest.root[g], forest, found, stack, asked)
        if asked:
            reach[row] = np.sqrt(bounds[1])
        elif not nearer:
            ties[row], lowest[row] = found[0], found[1]
    return ties, lowest, reach


linked = kernel(_linked)
