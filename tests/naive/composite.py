"""What a group of records loses in a column, from the definition: lists of values instead of codes and levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Value = float | str | None


def typical_cost(values: Sequence[float | str], places: dict[float | str, float] | None) -> float:
    """Distances from the best single value: places on a line, or equal or not."""
    if places is None:
        return len(values) - max(Counter(values).values())
    return min(sum(abs(places[v] - places[c]) for v in values) for c in values)


def mean_cost(values: Sequence[float | str], places: dict[float | str, float]) -> float:
    """Distances from the mean."""
    centre = sum(places[v] for v in values) / len(values)
    return sum(abs(places[v] - centre) for v in values)


def ancestor_cost(
    values: Sequence[float | str], levels: Sequence[dict[float | str, str]], width: dict[str, float]
) -> float:
    """Width of the lowest label that all values share, for each of them; 1 each where there is none.

    levels  label of each value at each level;  width  cell loss by label, told apart by level
    """
    for number, level in enumerate(levels):
        labels = {level[value] for value in values}
        if len(labels) == 1:
            return len(values) * width[f"{number}:{labels.pop()}"]
    return float(len(values))


def column_cost(
    values: Sequence[Value],
    rule: str,
    places: dict[float | str, float] | None = None,
    levels: Sequence[dict[float | str, str]] = (),
    width: dict[str, float] | None = None,
) -> float:
    """Cells that a group loses in a column; a group that lacks some values publishes none."""
    present = [value for value in values if value is not None]
    if len(set(values)) == 1:
        return 0.0
    if len(present) < len(values):
        return float(len(present))
    if rule == "unanimous":
        return float(len(present))
    if rule == "mean":
        assert places is not None
        return mean_cost(present, places)
    typical = typical_cost(present, places)
    if rule == "typical":
        return typical
    above = ancestor_cost(present, levels, width or {})
    return above if rule == "common-ancestor" else min(above, typical)


def near_records(unlike: Sequence[Sequence[float]], order: Sequence[int], reach: int, i: int) -> dict[int, float]:
    """Records at most `reach` places from i in an order, and how much each differs."""
    place = list(order).index(i)
    beside = [order[p] for p in range(max(0, place - reach), min(len(order), place + reach + 1)) if p != place]
    return {j: unlike[i][j] for j in beside}


def trade_costs(
    lost: Sequence[Sequence[float]], square: Sequence[Sequence[float]], sizes: Sequence[int], price: float
) -> list[list[float]]:
    """What each record costs if it publishes the values of each group: its loss, and a share of the price if nearest.

    sizes  records of each group before anybody trades
    """
    costs = []
    for losses, squares in zip(lost, square, strict=True):
        nearest = [g for g, each in enumerate(squares) if each <= min(squares) + 1e-9]
        share = 1.0 / sum(sizes[g] for g in nearest)
        costs.append([loss + (price * share if g in nearest else 0.0) for g, loss in enumerate(losses)])
    return costs


def best_trade(costs: Sequence[Sequence[float]], publishes: Sequence[int], k: int) -> float:
    """The most that one record saves by publishing the values of another group, or two by trading theirs."""
    saved, n = 0.0, len(publishes)
    for i in range(n):
        for g in range(len(costs[0])):
            if sum(each == publishes[i] for each in publishes) > k:
                saved = max(saved, costs[i][publishes[i]] - costs[i][g])
        for j in range(i):
            now = costs[i][publishes[i]] + costs[j][publishes[j]]
            saved = max(saved, now - costs[i][publishes[j]] - costs[j][publishes[i]])
    return saved
