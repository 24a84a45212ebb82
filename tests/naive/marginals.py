"""Categories of groups, by trying them all."""

from __future__ import annotations

from itertools import product


def categories(groups: list[list[int]], count: int, ordered: bool) -> tuple[float, float]:
    """The least Σ |records of a category after − before| over all choices of held values, and its least cost."""
    before = [sum(group.count(c) for group in groups) for c in range(count)]
    best = (float("inf"), float("inf"))
    for chosen in product(*(sorted(set(group)) for group in groups)):
        after = [sum(len(g) for g, c in zip(groups, chosen, strict=True) if c == each) for each in range(count)]
        moved = float(sum(abs(a - b) for a, b in zip(after, before, strict=True)))
        lost = sum(cost(group, c, count, ordered) for group, c in zip(groups, chosen, strict=True))
        best = min(best, (moved, lost))
    return best


def cost(group: list[int], category: int, count: int, ordered: bool) -> float:
    """What a group loses if all of it becomes one category."""
    if ordered:
        return sum(abs(each - category) for each in group) / max(count - 1, 1)
    return float(sum(each != category for each in group))


def ancestor(paths: list[list[str]]) -> tuple[int, str] | None:
    """The lowest level at which all leaves have one label, and that label; a path lists the labels from the leaf up."""
    for level in range(len(paths[0])):
        if len({path[level] for path in paths}) == 1:
            return level, paths[0][level]
    return None
