"""Who dominates whom. Every score is minimised; a row dominates another if it is nowhere worse and somewhere better."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints
from crypsis.kernels.compile import kernel


def _dominates(first: Floats, i: int, second: Floats, j: int) -> bool:
    """Whether row i of `first` is nowhere worse and somewhere better than row j of `second`."""
    better = False
    for column in range(first.shape[1]):
        if first[i, column] > second[j, column]:
            return False
        if first[i, column] < second[j, column]:
            better = True
    return better


dominates = kernel(_dominates)


def _enter(scores: Floats, boxes: Floats, score: Floats, box: Floats, stay: Flags) -> bool:
    """Whether the newcomer (float64[1, m]) is let in as `update` says; members that leave are marked in `stay`."""
    enters = True
    for i in range(scores.shape[0]):
        equal = True
        for column in range(boxes.shape[1]):
            if boxes[i, column] != box[0, column]:
                equal = False
        if equal:
            if dominates(score, 0, scores, i):
                stay[i] = False
            else:
                enters = False
        elif dominates(box, 0, boxes, i):
            stay[i] = False
        elif dominates(boxes, i, box, 0):
            enters = False
    return enters


enter = kernel(_enter)


def admit(scores: Floats, boxes: Floats, score: Floats, box: Floats) -> tuple[Flags, bool]:
    """Kernel: one step of the archive: which members stay, and whether the newcomer is let in.

    →              bool[n] members that stay, True if the newcomer enters

    Box dominance: between different boxes the boxes decide, inside one box the scores decide. Boxes equal
    to the scores give plain dominance. The newcomer's own box is looked up after the members it dominates
    have left, so that a better solution takes over its box; otherwise the first in a box stays.

    `scores`, `boxes` float64[n, m].
    """
    stay, row = np.ones(len(scores), dtype=np.bool_), np.ascontiguousarray
    return stay, bool(enter(row(scores), row(boxes), row(score)[None], row(box)[None], stay))


def _place_in_fronts(rest: Floats, repeated: Flags, levels: Int32s) -> None:
    """levels int32[n] ← the front of each row, of rows in lexicographic order; as `fronts` says.

    `rest` float64[n, m − 1]: columns but the first, whose order is known; `repeated` bool[n]: equal to the row before.
    """
    n = rest.shape[0]
    newest, older = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    for row in range(n):
        newest[row] = -1
    for row in range(n):
        if repeated[row]:
            levels[row] = levels[row - 1]
            continue
        front, other, before = 0, newest[0], -1
        while other >= 0:
            better = True
            for column in range(rest.shape[1]):
                if rest[np.uint64(other), column] > rest[np.uint64(row), column]:
                    better = False
                    break
            if better:
                if before >= 0:  # who dominates one row soon dominates another: it is asked first from now on
                    older[before], older[other], newest[front] = older[other], newest[front], other
                front += 1
                other, before = newest[front], -1
            elif rest.shape[1] == 1:  # of two scores, the newest of a front has the least second one
                other = -1
            else:
                before, other = other, older[other]
        older[row], newest[front] = newest[front], row
        levels[row] = front


place_in_fronts = kernel(_place_in_fronts)


def fronts(scores: Floats) -> Int32s:
    """int32[n]: 0 for rows nobody dominates, 1 for rows only those dominate, and so on. NaN counts as infinity.

    Zhang, Tian, Cheng and Jin (2015): in lexicographic order whatever dominates a row stands before it, so a row
    belongs to the first front none of whose members dominates it. O(n² m) at worst.
    """
    rows = np.where(np.isnan(scores), np.inf, scores)
    n, m = rows.shape
    order = np.argsort(rows[:, 0]) if m else np.arange(n)
    repeated = np.zeros(n, dtype=np.bool_)
    if not m or (rows[order[1:], 0] == rows[order[:-1], 0]).any():
        order = np.lexsort(rows.T[::-1]) if m else order
        repeated[1:] = (rows[order[1:]] == rows[order[:-1]]).all(axis=1)
    sorted_levels, levels = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    place_in_fronts(np.ascontiguousarray(rows[order, 1:]), repeated, sorted_levels)
    levels[order] = sorted_levels
    return levels


def _strengths(scores: Floats) -> Floats:
    """float64[n]: for each row the sum, over the rows that dominate it, of how many rows those dominate.

    Zero for a row nobody dominates: the fitness of PBG-EA, after SPEA2. O(n² m).
    """
    n = scores.shape[0]
    counts, strength = np.empty(n), np.empty(n)
    for i in range(n):
        counts[i] = strength[i] = 0.0
        for j in range(n):
            if i != j and dominates(scores, i, scores, j):
                counts[i] += 1.0
    for i in range(n):
        for j in range(n):
            if i != j and dominates(scores, j, scores, i):
                strength[i] += counts[j]
    return strength


strengths = kernel(_strengths)


def _find_undominated(scores: Floats, order: Ints) -> Flags:
    """bool[n]: rows that no other row dominates; of equal rows the first in order alone.


    Only the rows kept so far are asked, the one that answered last at first. O(n log n) with the sort for two
    scores; for more, O(n · front) at worst.

    `order` int64[n]: the rows sorted by their first score, then the second and so on, so that whatever dominates a
    row stands before it.
    """
    n = order.shape[0]
    keep, kept, count = np.empty(n, dtype=np.bool_), np.empty(n, dtype=np.int64), 0
    for place in range(n):
        row = np.uint64(order[place])
        keep[row] = False
        at = count - 1
        while at >= 0:
            covered = True
            for j in range(scores.shape[1]):
                if scores[np.uint64(kept[at]), j] > scores[row, j]:
                    covered = False
                    break
            if covered:
                break
            at -= 1
        if at >= 0:
            kept[at], kept[count - 1] = kept[count - 1], kept[at]
        else:
            kept[count] = row
            count += 1
            keep[row] = True
    return keep


find_undominated = kernel(_find_undominated)
