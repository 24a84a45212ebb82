"""What a group of records loses in a column, from the definition: lists of values instead of codes and levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median, pvariance

Value = float | str | None


def column_cost(
    values: Sequence[Value],
    rule: str,
    population: Sequence[Value],
    levels: Sequence[dict[Value, str]] = (),
    ranks: Sequence[Value] = (),
) -> float:
    """Cells of information that a group loses in a column; a group that lacks some values publishes none.

    population  the values of the whole column
    levels  label of each value at each level of its hierarchy;  ranks  the values in their order, if they have one
    """
    known = [value for value in population if value is not None]
    present = [value for value in values if value is not None]
    if len(set(values)) == 1:
        return 0.0
    if len(present) < len(values) or rule == "unanimous":
        return sum(covered_loss(value, known, known) for value in present)
    if rule in ("mean", "median"):
        centre = fmean(present) if rule == "mean" else median(present)
        return sum((value - centre) ** 2 for value in present) / pvariance(known)
    single = {value: sum(covered_loss(other, [value], known) for other in present) for value in present}
    if rule == "typical":
        middle = sorted(present, key=ranks.index)[(len(present) - 1) // 2] if ranks else None
        return single[middle] if ranks else min(single.values())
    above = sum(covered_loss(value, known, known) for value in present)
    for level in levels:
        if len({level[value] for value in present}) == 1:
            inside = [other for other in known if level[other] == level[present[0]]]
            above = sum(covered_loss(value, inside, known) for value in present)
            break
    return above if rule == "common-ancestor" else min(above, *single.values())


def covered_loss(value: float | str, inside: Sequence[Value], known: Sequence[Value]) -> float:
    """What a cell loses that is published as some values of the column: a draw, of numbers their mean."""
    if isinstance(value, float):
        return (value - fmean(inside)) ** 2 / pvariance(known)
    shares = [count / len(known) for count in Counter(known).values()]
    right = Counter(inside)[value] / len(inside)
    return (1.0 - right) / (1.0 - sum(share**2 for share in shares))


def near_records(unlike: Sequence[Sequence[float]], order: Sequence[int], reach: int, i: int) -> dict[int, float]:
    """Records at most `reach` places from i in an order, and how much each differs."""
    place = list(order).index(i)
    beside = [order[p] for p in range(max(0, place - reach), min(len(order), place + reach + 1)) if p != place]
    return {j: unlike[i][j] for j in beside}
