"""Declared uses written from their definitions: one record at a time, one cell at a time."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy import stats

from crypsis.table.table import LOCAL, Table


def stands_for(masked: Table, name: str, row: int) -> dict[Any, float]:
    """Which labels a released cell stands for, and with which share; None is missing."""
    code = int(masked.column(name)[row])
    if code < 0:
        return {None: 1.0}
    level = masked.level(name)
    if level == 0:
        return {masked.labels(name)[code]: 1.0}
    hierarchy = masked.attribute(name).hierarchy
    assert hierarchy is not None
    if level == LOCAL:
        level = max(each for each in range(hierarchy.height + 1) if hierarchy.offsets[each] <= code)
        code -= int(hierarchy.offsets[level])
    covered = [label for leaf, label in enumerate(hierarchy.labels[0]) if hierarchy.groups[level][leaf] == code]
    return {label: 1 / len(covered) for label in covered}


def cells(table: Table, names: list[str], row: int) -> dict[tuple[Any, ...], float]:
    parts = [list(stands_for(table, name, row).items()) for name in names]
    return {tuple(label for label, _ in way): float(np.prod([s for _, s in way])) for way in product(*parts)}


def table_distance(original: Table, masked: Table, names: list[str], weights: list[float]) -> float:
    before: dict[Any, float] = defaultdict(float)
    after: dict[Any, float] = defaultdict(float)
    for row in range(len(original)):
        for cell, share in cells(original, names, row).items():
            before[cell] += share * weights[row] / sum(weights)
    total = sum(w for row, w in enumerate(weights) if masked.kept[row])
    if total == 0:
        return 100.0
    for row in range(len(masked)):
        if masked.kept[row]:
            for cell, share in cells(masked, names, row).items():
                after[cell] += share * weights[row] / total
    return 50 * sum(abs(before[cell] - after[cell]) for cell in set(before) | set(after))


def means_change(original: Table, masked: Table, number: str, by: list[str]) -> float:
    def means(table: Table) -> dict[Any, float]:
        held: dict[Any, float] = defaultdict(float)
        total: dict[Any, float] = defaultdict(float)
        for row in range(len(table)):
            value = float(table.column(number)[row])
            if table.kept[row] and value == value:
                for cell, share in cells(table, by, row).items():
                    held[cell] += share
                    total[cell] += share * value
        return {cell: total[cell] / held[cell] for cell in held}

    sizes: dict[Any, int] = defaultdict(int)
    for row in range(len(original)):
        sizes[next(iter(cells(original, by, row)))] += 1
    before, after = means(original), means(masked)
    change, weight = 0.0, 0
    for cell, m in before.items():
        if cell not in after:
            gone = 1.0
        elif m == 0:
            gone = float(after[cell] != 0)
        else:
            gone = min(abs(after[cell] - m) / abs(m), 1.0)
        change += sizes[cell] * gone
        weight += sizes[cell]
    return 100 * change / weight


def correlation_change(original: Table, masked: Table, names: list[str]) -> float:
    def correlate(table: Table, one: str, other: str) -> float:
        rows = [
            (float(table.column(one)[i]), float(table.column(other)[i])) for i in range(len(table)) if table.kept[i]
        ]
        rows = [(x, y) for x, y in rows if x == x and y == y]
        mx, my = sum(x for x, _ in rows) / len(rows), sum(y for _, y in rows) / len(rows)
        sxy = sum((x - mx) * (y - my) for x, y in rows)
        sxx, syy = sum((x - mx) ** 2 for x, _ in rows), sum((y - my) ** 2 for _, y in rows)
        return sxy / (sxx * syy) ** 0.5 if sxx > 1e-12 and syy > 1e-12 else 0.0

    gaps = [abs(correlate(original, a, b) - correlate(masked, a, b)) for a, b in combinations(names, 2)]
    return 50 * sum(gaps) / len(gaps)


def interval_loss(original: Table, masked: Table, target: str, regressors: list[str]) -> float:
    """By the textbook: (X'X)⁻¹ X'y and s² (X'X)⁻¹ of a design of full rank, numbers as they are."""
    commonest = {}
    for name in regressors:
        if not original.holds_numbers(name):
            counts = np.bincount(original.column(name)[original.column(name) >= 0])
            commonest[name] = original.labels(name)[int(np.argmax(counts))]

    def intervals(table: Table) -> list[tuple[float, float]]:
        rows, y = [], []
        for i in range(len(table)):
            row: list[float] = [1.0]
            whole = bool(table.kept[i]) and table.column(target)[i] == table.column(target)[i]
            for name in regressors:
                if original.holds_numbers(name):
                    row.append(float(table.column(name)[i]))
                    whole = whole and row[-1] == row[-1]
                else:
                    held = stands_for(table, name, i)
                    whole = whole and None not in held
                    row += [held.get(label, 0.0) for label in original.labels(name) if label != commonest[name]]
            if whole:
                rows.append(row)
                y.append(float(table.column(target)[i]))
        x = np.array(rows)
        inverse = np.linalg.inv(x.T @ x)
        b = inverse @ x.T @ np.array(y)
        freedom = len(y) - x.shape[1]
        variance = float(((np.array(y) - x @ b) ** 2).sum()) / freedom
        half = stats.t.ppf(0.975, freedom) * np.sqrt(variance * np.diag(inverse))
        return [(float(m - h), float(m + h)) for m, h in zip(b, half, strict=True)][1:]

    shares = []
    for (low, high), (lo, hi) in zip(intervals(original), intervals(masked), strict=True):
        shared = min(high, hi) - max(low, lo)
        shares.append(max((shared / (high - low) + shared / (hi - lo)) / 2, -1.0))
    return 50 * (1 - sum(shares) / len(shares))
