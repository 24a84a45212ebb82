"""Slow, obvious versions of the privacy models: rows as tuples, classes as lists, plain counting."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

Row = Sequence[Hashable]


def class_of(rows: Sequence[Row], kept: Sequence[bool], row: int) -> list[int]:
    """All kept records with the same quasi-identifiers."""
    return [other for other in range(len(rows)) if kept[other] and tuple(rows[other]) == tuple(rows[row])]


def property_vector(rows: Sequence[Row], kept: Sequence[bool], of_class: Callable[[list[int]], float]) -> list[float]:
    return [of_class(class_of(rows, kept, row)) if kept[row] else math.nan for row in range(len(rows))]


def distinct(values: Sequence[Hashable]) -> float:
    return float(len(set(values)))


def effective(values: Sequence[Hashable]) -> float:
    shares = [count / len(values) for count in Counter(values).values()]
    return math.exp(-sum(share * math.log(share) for share in shares))


def recursive(values: Sequence[Hashable], c: float) -> float:
    counts = sorted(Counter(values).values(), reverse=True)
    depth = 0
    for l in range(1, len(counts) + 1):  # noqa: E741
        if counts[0] < c * sum(counts[l - 1 :]):
            depth = l
    return float(depth)


def equal_distance(values: Sequence[Hashable], everyone: Sequence[Hashable]) -> float:
    here, whole = Counter(values), Counter(everyone)
    return sum(abs(here[v] / len(values) - whole[v] / len(everyone)) for v in whole) / 2


def ordered_distance(values: Sequence[float], everyone: Sequence[float]) -> float:
    domain = sorted(set(everyone))
    if len(domain) < 2:
        return 0.0
    here, whole = Counter(values), Counter(everyone)
    moved, carried = 0.0, 0.0
    for value in domain:
        carried += here[value] / len(values) - whole[value] / len(everyone)
        moved += abs(carried)
    return moved / (len(domain) - 1)


def largest_share(values: Sequence[Hashable]) -> float:
    return max(Counter(values).values()) / len(values)


def largest_gain(values: Sequence[Hashable], everyone: Sequence[Hashable]) -> float:
    here, whole = Counter(values), Counter(everyone)
    gains = []
    for value in here:
        overall = whole[value] / len(everyone)
        gains.append((here[value] / len(values) - overall) / overall)
    return max(0.0, *gains)


def hierarchical_distance(values: Sequence[Hashable], everyone: Sequence[Hashable], tree: dict[Hashable, Row]) -> float:
    """`tree`: value → its groups from the level above it to the one group that holds all."""
    height = len(next(iter(tree.values())))
    paths = {value: (value, *tree[value]) for value in set(everyone)}
    here, whole = Counter(values), Counter(everyone)
    apart = {value: here[value] / len(values) - whole[value] / len(everyone) for value in paths}
    cost = 0.0
    for level in range(1, height + 1):
        for group in {path[level] for path in paths.values()}:
            parts: Counter[Hashable] = Counter()
            for value, path in paths.items():
                if path[level] == group:
                    parts[path[level - 1]] += apart[value]  # type: ignore[assignment]
            surplus = sum(part for part in parts.values() if part > 0)
            deficit = -sum(part for part in parts.values() if part < 0)
            cost += level / height * min(surplus, deficit)
    return cost
