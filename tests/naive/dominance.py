"""Dominance from its definition, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[float]


def dominates(first: Row, second: Row) -> bool:
    return all(a <= b for a, b in zip(first, second, strict=True)) and tuple(first) != tuple(second)


def box_dominates(first: Row, second: Row, first_box: Row, second_box: Row) -> bool:
    if tuple(first_box) == tuple(second_box):
        return dominates(first, second)
    return dominates(first_box, second_box)


def minimal(rows: Sequence[Row]) -> list[int]:
    return [i for i, row in enumerate(rows) if not any(dominates(other, row) for other in rows)]


def fronts(rows: Sequence[Row]) -> list[int]:
    level, result = 0, [-1] * len(rows)
    while -1 in result:
        left = [i for i, at in enumerate(result) if at == -1]
        for i in left:
            if not any(dominates(rows[j], rows[i]) for j in left):
                result[i] = level if result[i] == -1 else result[i]
        level += 1
    return result


def strengths(rows: Sequence[Row]) -> list[float]:
    counts = [sum(dominates(row, other) for other in rows) for row in rows]
    return [float(sum(c for other, c in zip(rows, counts, strict=True) if dominates(other, row))) for row in rows]
