"""What one recoded cell lost, from the definition: sets of leaves instead of codes."""

from __future__ import annotations

from collections.abc import Sequence

from crypsis.table.hierarchy import Hierarchy


class Scale:
    """How far two values of a column are apart, 0 to 1."""

    def __init__(self, kind: str, values: Sequence[float | str | None], categories: Sequence[str] = ()) -> None:
        self.kind, self.categories = kind, list(categories)
        numbers = [value for value in values if isinstance(value, float)]
        self.range = max(numbers) - min(numbers) if numbers else 0.0

    def distance(self, one: float | str, other: float | str) -> float:
        if one == other:
            return 0.0
        if isinstance(one, float) and isinstance(other, float):
            return min(abs(one - other) / self.range, 1.0) if self.range else 1.0
        if self.kind == "ordinal" and one in self.categories and other in self.categories:
            steps = abs(self.categories.index(str(one)) - self.categories.index(str(other)))
            return steps / (len(self.categories) - 1)
        return 1.0


def node_of(hierarchy: Hierarchy, number: int) -> tuple[int, int]:
    """Level and group of a node, counted off."""
    level = 0
    while number >= len(hierarchy.labels[level]):
        number -= len(hierarchy.labels[level])
        level += 1
    return level, number


def recoded_cell(hierarchy: Hierarchy, node: tuple[int, int] | None, value: float | str | None, scale: Scale) -> float:
    """node   level and group the cell is published as; None if it is blank
    value  the original number or label; None if it is missing
    """
    if value is None or node is None:
        return float((value is None) != (node is None))
    leaves: list[float | str] = list(hierarchy.values.tolist()) if len(hierarchy.values) else list(hierarchy.labels[0])
    level, group = node
    held = [leaf for place, leaf in enumerate(leaves) if hierarchy.groups[level][place] == group]
    if level == 0:
        return scale.distance(value, held[0])
    if value not in held:
        return 1.0
    if len(hierarchy.values) > 1:
        numbers = hierarchy.values.tolist()
        spread = [number for number in numbers if number in held]
        return (max(spread) - min(spread)) / (max(numbers) - min(numbers))
    return (len(held) - 1) / max(len(leaves) - 1, 1)
