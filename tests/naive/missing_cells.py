"""Records that cannot be told apart where cells are missing, all pairs compared as the definitions read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Cells = Sequence[int]
MISSING = -1


def counted(
    known: Sequence[Cells], published: Sequence[Cells], weights: Sequence[float], counts: Callable[[int, int], float]
) -> list[float]:
    return [
        sum(weight * counts(i, j) for j, weight in zip(range(len(published)), weights, strict=True))
        for i in range(len(known))
    ]


def own(rows: Sequence[Cells], weights: Sequence[float]) -> list[float]:
    return counted(rows, rows, weights, lambda i, j: rows[i] == rows[j])


def conservative(rows: Sequence[Cells], weights: Sequence[float]) -> list[float]:
    """No cell that i lacks, and equal to i in its own cells."""
    return target(rows, rows, weights)


def target(rows: Sequence[Cells], truth: Sequence[Cells], weights: Sequence[float]) -> list[float]:
    """Every published cell is the true one; a true cell nobody knows equals no published one."""

    def possible(i: int, j: int) -> bool:
        return all(shown in (MISSING, true) for shown, true in zip(rows[j], truth[i], strict=True))

    return counted(truth, rows, weights, possible)


def wildcard(rows: Sequence[Cells], alpha: float, weights: Sequence[float]) -> list[float]:
    def match(i: int, j: int) -> float:
        if rows[i] == rows[j]:
            return 1.0
        if any(MISSING not in (a, b) and a != b for a, b in zip(rows[i], rows[j], strict=True)):
            return 0.0
        return alpha if MISSING in rows[j] else 1.0

    return counted(rows, rows, weights, match)


def persons(rows: Sequence[Cells], truth: Sequence[Cells]) -> list[float]:
    """Persons whom each record contradicts in no cell."""

    def possible(i: int, j: int) -> bool:
        return all(shown in (MISSING, true) for shown, true in zip(rows[i], truth[j], strict=True))

    return counted(rows, truth, [1.0] * len(truth), possible)


def linked(
    known: Sequence[Sequence[float | None]],
    shown: Sequence[Sequence[float | None]],
    numbers: Sequence[bool],
    reading: str,
) -> list[float]:
    """What linkage by distance earns on each person: 1/t where the own record is among the t nearest.

    Numbers lie as far apart as they are, categories one unit; a missing number is read as 0, one unit aside.
    """

    def apart(value: float | None, other: float | None, number: bool) -> float:
        blank = other is None
        if reading != "own" and (blank or (reading == "wildcard" and value is None)):
            return 0.0
        if number:
            return ((value or 0.0) - (other or 0.0)) ** 2 + float((value is None) != blank)
        return float(value != other)

    def distance(i: int, j: int) -> float:
        person = list(known[i])
        if reading == "conservative":
            person = [None if own is None else cell for cell, own in zip(person, shown[i], strict=True)]
        return sum(apart(a, b, number) for a, b, number in zip(person, shown[j], numbers, strict=True))

    found = []
    for i in range(len(known)):
        away = [distance(i, j) for j in range(len(shown))]
        near = [j for j in range(len(shown)) if away[j] <= min(away) + 1e-9]
        found.append(1.0 / len(near) if i in near else 0.0)
    return found
