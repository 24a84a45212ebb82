"""Recursive halving of records by the column that costs most: first groups, and orders in which near ones follow.

After LeFevre, DeWitt and Ramakrishnan (2006), Mondrian multidimensional k-anonymity.
"""

from __future__ import annotations

import numpy as np

from crypsis.kernels.annealing import draw
from crypsis.kernels.arrays import Floats, Int32s, Ints, Words
from crypsis.kernels.compile import kernel
from crypsis.kernels.composite import Cells, Workspace, column_cost, dissimilarity
from crypsis.kernels.quickselect import select_between

_11, _UNIT = np.uint64(11), 2.0**-53


def _sort_by_line(rows: Ints, line: Floats, m: int) -> None:
    """Sort the first m rows by their keys, which go with them: Shell's sort; equal keys by row."""
    gap = 1
    while gap < m // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for t in range(gap, m):
            row, key, u = rows[t], line[t], t
            while u >= gap and (line[u - gap] > key or (line[u - gap] == key and rows[u - gap] > row)):
                rows[u], line[u] = rows[u - gap], line[u - gap]
                u -= gap
            rows[u], line[u] = row, key
        gap //= 3


sort_by_line = kernel(_sort_by_line)


def _find_cut(line: Floats, m: int, least: int) -> int:
    """Where sorted keys are cut in two: between unequal ones, as near to the middle as `least` on either side allow."""
    half = m // 2
    for away in range(half - least + 1):
        if line[half - away - 1] != line[half - away]:
            return half - away
        if half + away <= m - least and line[half + away - 1] != line[half + away]:
            return half + away
    return half


find_cut = kernel(_find_cut)


def _halve_records(
    cells: Cells,
    least: int,
    spread: float,
    workspace: Workspace,
    random_state: Words,
    order: Ints,
    ends: Ints,
    labels: Int32s,
) -> int:
    """Rearrange the rows of `order` so that groups of k to 2k − 1 near records follow each other; how many groups.

    `ends` int64[n // k + parts + 4]; `labels` int32[n].
    """
    p, work, begin, found, most, top = cells.codes.shape[1], 0, ends[-4], ends[-3], ends[-2], ends[-1]
    while top > 0 and work < most:
        end = ends[top - 1]
        m, rows = end - begin, order[begin:]
        if m < 2 * least:
            for t in range(m):
                labels[rows[t]] = found
            found, begin, top = found + 1, end, top - 1
            continue
        chosen, highest = 0, -1.0
        for a in range(p):
            factor = (
                1.0 + spread * ((np.float64(draw(random_state) >> _11) + 0.5) * _UNIT - 0.5) if spread > 0.0 else 1.0
            )
            score = factor * column_cost(cells, a, rows, m, workspace)
            if score > highest:
                chosen, highest = a, score
        for t in range(m):
            missing = cells.codes[rows[t], chosen] < 0
            workspace.line[t] = -1.0 if missing else cells.values[rows[t], chosen]
        sort_by_line(rows, workspace.line, m)
        ends[top] = begin + find_cut(workspace.line, m, least)
        top, work = top + 1, work + m
    ends[-4], ends[-3], ends[-1] = begin, found, top
    return int(found)


halve_records = kernel(_halve_records)


def _insert_neighbour(near: Int32s, apart: Floats, i: int, j: int, gap: float) -> None:
    """Enter a record into the list of those near another one, unless it is known or farther than all of them."""
    r = near.shape[1]
    if gap >= apart[i, r - 1]:
        return
    for u in range(r):
        if near[i, u] == j:
            return
    u = r - 1
    while u > 0 and apart[i, u - 1] > gap:
        near[i, u], apart[i, u] = near[i, u - 1], apart[i, u - 1]
        u -= 1
    near[i, u], apart[i, u] = j, gap


insert_neighbour = kernel(_insert_neighbour)


def _add_neighbours_in_order(
    cells: Cells, order: Ints, strata: Int32s, reach: int, near: Int32s, apart: Floats
) -> None:
    """Enter into the lists of near records those that stand near each one in an order and are of its stratum.

    `near` int32[n, r]: sorted by distance, filled up with the record itself; `apart` float64[n, r].
    """
    n = near.shape[0]
    for place in range(n):
        i = order[place]
        for step in range(1, reach + 1):
            for other in (place - step, place + step):
                if other >= 0 and other < n and strata[order[other]] == strata[i]:
                    insert_neighbour(near, apart, i, order[other], dissimilarity(cells, i, order[other]))


add_neighbours_in_order = kernel(_add_neighbours_in_order)


def _add_neighbours_of_neighbours(cells: Cells, first: int, last: int, reach: int, near: Int32s, apart: Floats) -> None:
    """Enter into the lists of the records first … last − 1 those near the ones that are near them."""
    reach = min(reach, near.shape[1])
    for i in range(first, last):
        for u in range(reach):
            if apart[i, u] == np.inf:
                break
            j = near[i, u]
            for v in range(reach):
                other = near[j, v]
                if apart[j, v] == np.inf:
                    break
                if other != i:
                    insert_neighbour(near, apart, i, other, dissimilarity(cells, i, other))


add_neighbours_of_neighbours = kernel(_add_neighbours_of_neighbours)

# -- Recursive halving of records at medians: the inner loop of balanced blocks.


def _find_widest(points: Floats, order: Ints, begin: int, end: int) -> int:
    """The attribute of greatest variance among the rows begin … end − 1 of `order`; ties go to the first."""
    best, chosen = -1.0, 0
    for j in range(points.shape[1]):
        origin, total, squares = points[order[begin], j], 0.0, 0.0
        for place in range(np.uint64(begin), np.uint64(end)):
            gap = points[np.uint64(order[place]), j] - origin
            total += gap
            squares += gap * gap
        variance = squares - total * total / (end - begin)
        if variance > best:
            best, chosen = variance, j
    return chosen


find_widest = kernel(_find_widest)


def _halve_until(points: Floats, order: Ints, size: int, multiple: int, begins: Ints) -> int:
    """Rearrange the rows in `order` into blocks of at most `size`, each half cut at a median of its widest attribute.

    →       how many blocks there are. Blocks hold more than size / 2 − multiple records.

    `points` float64[n, p]; `begins` int64[n + 1].
    """
    n = order.shape[0]
    stack, line = np.empty((128, 2), dtype=np.int64), np.empty(n)
    stack[0, 0], stack[0, 1], depth = 0, n, 1
    blocks = 0
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        if end - begin <= size:
            begins[blocks] = begin
            blocks += 1
            continue
        half = begin + (end - begin) // (2 * multiple) * multiple
        attribute = find_widest(points, order, begin, end)
        for place in range(begin, end):
            line[place] = points[order[place], attribute]
        select_between(line, order, begin, end, half)
        # the left half goes on top, so that blocks come out from left to right
        stack[depth, 0], stack[depth, 1] = half, end
        stack[depth + 1, 0], stack[depth + 1, 1] = begin, half
        depth += 2
    begins[blocks] = n
    return blocks


halve_until_into = kernel(_halve_until)


def halve_until(points: Floats, order: Ints, size: int, multiple: int) -> Ints:
    """Rearrange the rows in `order` into blocks of at most `size`; → int64[blocks + 1]: where each begins, and n."""
    begins = np.empty(len(order) + 1, dtype=np.int64)
    return begins[: halve_until_into(points, order, size, multiple, begins) + 1].copy()
