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


class Trades:
    """Records that may publish the values of other groups: what all lose, and how many each rank of nearness finds.

    lost, square  of every record and the values of every group: loss and squared distance
    sizes  records of each group before anybody trades
    """

    def __init__(
        self, lost: Sequence[Sequence[float]], square: Sequence[Sequence[float]], sizes: Sequence[int], k: int
    ) -> None:
        self.lost, self.k = lost, k
        self.ranks = [[sum(each < one - 1e-9 for each in squares) for one in squares] for squares in square]
        self.share = [
            1.0 / sum(size for size, rank in zip(sizes, ranks, strict=True) if rank == 0) for ranks in self.ranks
        ]

    def found(self, publishes: Sequence[int]) -> dict[int, float]:
        """How many records are found by who takes the values of each rank."""
        found: dict[int, float] = {}
        for i, g in enumerate(publishes):
            rank = self.ranks[i][g]
            found[rank] = found.get(rank, 0.0) + (self.share[i] if rank == 0 else 1.0 / self.k)
        return found

    def cost(self, publishes: Sequence[int], half: float) -> float:
        """What all lose, and half the price for the squares of what the ranks find."""
        lost = sum(self.lost[i][g] for i, g in enumerate(publishes))
        return lost + half * sum(each * each for each in self.found(publishes).values())

    def allowed(self, publishes: Sequence[int]) -> bool:
        """Whether every set of values has k records, and no rank finds more than the nearest."""
        found = self.found(publishes)
        enough = all(sum(each == g for each in publishes) >= self.k for g in set(publishes))
        return enough and all(each <= found.get(0, 0.0) + 1e-9 for each in found.values())

    def best(self, publishes: Sequence[int], half: float) -> float:
        """The most that one record saves by publishing the values of another group, or two by trading theirs."""
        now, saved, n = self.cost(publishes, half), 0.0, len(publishes)
        for i in range(n):
            for g in range(len(self.lost[0])):
                other = [*publishes[:i], g, *publishes[i + 1 :]]
                if publishes[i] in other and self.allowed(other):
                    saved = max(saved, now - self.cost(other, half))
            for j in range(i):
                other = list(publishes)
                other[i], other[j] = other[j], other[i]
                if self.allowed(other):
                    saved = max(saved, now - self.cost(other, half))
        return saved
