"""Attacks written from their definitions, one person and one record at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from crypsis.measures.record_linkage import LinkagePair

Record = Sequence[float | str]


def distance(known: Record, shown: Record, deviation: Sequence[float]) -> float:
    """Numbers on the original's deviation; an unequal category adds 1 to the square."""
    square = 0.0
    for a, b, s in zip(known, shown, deviation, strict=True):
        if isinstance(a, str) or isinstance(b, str):
            square += a != b
        elif s > 0:
            square += ((a - b) / s) ** 2
    return math.sqrt(square)


def nearest(known: Record, published: Sequence[Record], deviation: Sequence[float]) -> list[int]:
    """Numbers of the published records at the smallest distance."""
    all_distances = [distance(known, record, deviation) for record in published]
    return [row for row, d in enumerate(all_distances) if d <= min(all_distances) + 1e-9]


def certain(candidates: Sequence[int], says: Sequence[object], truth: object) -> bool:
    """All candidates say the same, and it is true."""
    told = {says[row] for row in candidates}
    return told == {truth}


def meeting(one: Sequence[int], other: Sequence[int]) -> float:
    """The chance that two draws, one from each list, are the same record."""
    return sum(a == b for a in one for b in other) / (len(one) * len(other))


def usual(values: Sequence[object], truth: object) -> float:
    """What guessing the most frequent value is worth; equally frequent ones share."""
    counts = {value: values.count(value) for value in values}
    winners = [value for value, count in counts.items() if count == max(counts.values())]
    return 1 / len(winners) if truth in winners else 0.0


def rank_gap(known: float, shown: float, column: Sequence[float]) -> int:
    """Records of the published column one must pass to get from one value to another; 0 for equal ones."""
    if known == shown:
        return 0
    low, high = min(known, shown), max(known, shown)
    return sum(low < value < high for value in column) + 1


def between_means(known: float, means: Sequence[float]) -> set[float]:
    """The next published means below and above a known value, and one that equals it."""
    below = [mean for mean in means if mean < known]
    above = [mean for mean in means if mean > known]
    return {mean for mean in means if mean == known or mean in below[-1:] or mean in above[:1]}


def nearest_of_pair(pair: LinkagePair, person: int) -> list[int]:
    """Published records at the smallest distance from one person, of what a pair of files holds, cell by cell.

    A coordinate counts always, or only beside a code that shows the cell as a number; a code differs if the person's
    ancestor at its level is another one. A suppressed record is nobody's.
    """
    found = []
    for row, kept in enumerate(pair.kept):
        square = 0.0
        for place, (column, leaf) in enumerate(pair.lines):
            if column < 0 or (pair.places[row, column] == leaf and pair.codes[row, column] >= 0):
                square += float(pair.points[person, place] - pair.published[row, place]) ** 2
        for code, level in zip(pair.codes[row], pair.places[row], strict=True):
            square += float(pair.ancestors[person, level] != code)
        found.append(math.sqrt(square) if kept else math.inf)
    return [row for row, d in enumerate(found) if d <= min(found) + 1e-9]
