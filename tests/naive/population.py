"""Individual risk, Zayatz' estimate, household patterns and minimal sample uniques, as the definitions read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb


def individual_risk(f: int, people: float) -> float:
    """Σ over h ≥ f of 1/h · C(h − 1, f − 1) p^f q^(h − f), until nothing is added."""
    p = f / max(people, f)
    chance, total, h = p**f, 0.0, f
    while chance > 1e-30 or h < 3 * people:
        total += chance / h
        chance *= h / (h - f + 1) * (1 - p)  # C(h, f − 1)/C(h − 1, f − 1) = h/(h − f + 1)
        h += 1
    return total


def zayatz(sizes: Sequence[int], people: int) -> float:
    n, alone = sum(sizes), sum(size == 1 for size in sizes)
    fraction = Fraction(n, people)

    def once(size: int) -> Fraction:
        return Fraction(size * comb(people - size, n - 1), comb(people, n))

    if not alone:
        return 0.0
    share = alone * fraction / sum(once(size) for size in sizes)
    return float(alone * share / fraction / people)


def households_alike(household: Sequence[int], classes: Sequence[int]) -> dict[int, int]:
    """Households with the same members, by household; a member of class −1 is not published."""
    members: dict[int, list[int]] = {}
    for home, each in zip(household, classes, strict=True):
        if each >= 0:
            members.setdefault(home, []).append(each)
    patterns = {home: tuple(sorted(each)) for home, each in members.items()}
    held = Counter(patterns.values())
    return {home: held[pattern] for home, pattern in patterns.items()}


def minimal_uniques(rows: Sequence[Sequence[int]]) -> list[set[frozenset[int]]]:
    """The minimal sample uniques of every row: sets of columns, none of them missing."""
    columns, found = range(len(rows[0])), []
    for i, row in enumerate(rows):
        unique = [
            frozenset(chosen)
            for size in range(1, len(row) + 1)
            for chosen in combinations(columns, size)
            if all(row[c] != -1 for c in chosen)
            and not any(j != i and all(other[c] == row[c] for c in chosen) for j, other in enumerate(rows))
        ]
        found.append({each for each in unique if not any(other < each for other in unique)})
    return found
