"""Who dominates whom. Every score is minimised; a row dominates another if it is nowhere worse and somewhere better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.compile import kernel

Floats = NDArray[np.float64]


def _dominates(first: Floats, second: Floats) -> bool:
    """Whether `first` is nowhere worse and somewhere better than `second`."""
    better = False
    for j in range(len(first)):
        if first[j] > second[j]:
            return False
        if first[j] < second[j]:
            better = True
    return better


dominates = kernel(_dominates)


def _equal(first: Floats, second: Floats) -> bool:
    for j in range(len(first)):  # noqa: SIM110 - a generator does not compile
        if first[j] != second[j]:
            return False
    return True


equal = kernel(_equal)


def _update(scores: Floats, boxes: Floats, score: Floats, box: Floats) -> tuple[NDArray[np.bool_], bool]:
    """One step of the archive: which members stay, and whether the newcomer is let in.

    scores, boxes  float64[n, m] of the members; score, box  float64[m] of the newcomer
    →              bool[n] members that stay, True if the newcomer enters

    Box dominance: between different boxes the boxes decide, inside one box the scores decide. Boxes equal
    to the scores give plain dominance. The newcomer's own box is looked up after the members it dominates
    have left, so that a better solution takes over its box; otherwise the first in a box stays.
    """
    n = scores.shape[0]
    stay = np.ones(n, dtype=np.bool_)
    enters = True
    for i in range(n):
        if equal(boxes[i], box):
            if dominates(score, scores[i]):
                stay[i] = False
            else:
                enters = False
        elif dominates(box, boxes[i]):
            stay[i] = False
        elif dominates(boxes[i], box):
            enters = False
    return stay, enters


update = kernel(_update)


def _fronts(scores: Floats) -> NDArray[np.int32]:
    """int32[n]: 0 for rows nobody dominates, 1 for rows only those dominate, and so on. NaN counts as infinity.

    Zhang, Tian, Cheng and Jin (2015): in lexicographic order whatever dominates a row stands before it, so a row
    belongs to the first front none of whose members dominates it, asked from the newest on. O(n² m) at worst.
    """
    n, m = scores.shape
    rows, order = np.where(np.isnan(scores), np.inf, scores), np.arange(n)
    for j in range(m - 1, -1, -1):
        order = order[np.argsort(rows[order, j], kind="mergesort")]
    rows = rows[order]
    newest, older = np.full(n, -1), np.empty(n, dtype=np.int64)
    level = np.empty(n, dtype=np.int32)
    for row in range(n):
        mine, front, other = rows[row], 0, newest[0]
        while other >= 0:
            if dominates(rows[other], mine):
                front += 1
                other = newest[front]
            else:
                other = older[other]
        older[row], newest[front] = newest[front], row
        level[order[row]] = front
    return level


fronts = kernel(_fronts)


def _strengths(scores: Floats) -> NDArray[np.float64]:
    """float64[n]: for each row the sum, over the rows that dominate it, of how many rows those dominate.

    Zero for a row nobody dominates: the fitness of PBG-EA, after SPEA2. O(n² m).
    """
    n = scores.shape[0]
    counts = np.zeros(n)
    for i in range(n):
        for j in range(n):
            if i != j and dominates(scores[i], scores[j]):
                counts[i] += 1.0
    strength = np.zeros(n)
    for i in range(n):
        for j in range(n):
            if i != j and dominates(scores[j], scores[i]):
                strength[i] += counts[j]
    return strength


strengths = kernel(_strengths)


def _undominated(scores: Floats, order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """bool[n]: rows that no other row dominates; of equal rows the first in order alone.

    order  int64[n]: the rows sorted by their first score, then the second and so on, so that whatever dominates a
           row stands before it

    Only the rows kept so far are asked, the one that answered last at first. O(n log n) with the sort for two
    scores; for more, O(n · front) at worst.
    """
    keep = np.zeros(len(order), dtype=np.bool_)
    kept, count = np.empty(len(order), dtype=np.int64), 0
    for row in order:
        at = count - 1
        while at >= 0:
            covered = True
            for j in range(scores.shape[1]):
                if scores[kept[at], j] > scores[row, j]:
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


undominated = kernel(_undominated)
