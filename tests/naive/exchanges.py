"""Linkage by several attacks from the definition: all distances, one after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.measures.linkage_attacks import LinkageAttack
from crypsis.table.table import Table
from naive.measures import linkage_credits


def gap(original: Table, name: str, one: float, other: float, distance: str) -> float:
    """Squared distance of a known value and a published one in one column; missing is NaN or −1."""
    attribute = original.attribute(name)

    def missing(value: float) -> bool:
        return value != value if attribute.numeric else value == -1

    column = [value for value in original.column(name).tolist() if not missing(value)]
    lost = [missing(one), missing(other)]
    if all(lost):
        return 0.0
    if attribute.kind.value == "nominal":
        return float(one != other)
    if distance == "agreement":
        return float(not all(lost) and (any(lost) or one != other))
    width = float(len(attribute.categories) - 1 or 1)
    if attribute.numeric:
        width = float(np.std(column)) if distance == "z" else max(column) - min(column)
    if width == 0:
        return float(lost[0] != lost[1])
    at = [float(np.mean(column)) if missing(value) else value for value in (one, other)]
    return ((at[0] - at[1]) / width) ** 2 + float(lost[0] != lost[1])


def credits(original: Table, masked: Table, attack: LinkageAttack) -> list[float]:
    """What the attack earns on each record."""
    n = len(original)
    weights = attack.weights or (1.0,) * len(attack.columns)
    apart: NDArray[np.float64] = np.zeros((n, n))
    for name, weight in zip(attack.columns, weights, strict=True):
        known, shown = original.column(name).tolist(), masked.column(name).tolist()
        for i in range(n):
            for j in range(n):
                apart[i, j] += weight * gap(original, name, known[i], shown[j], attack.distance)
    return linkage_credits(np.sqrt(apart), masked.kept)
