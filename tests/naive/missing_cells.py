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
