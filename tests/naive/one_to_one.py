"""One-to-one linkage from its definition: sets of values, full matrices, and lists of Python."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table

Value = float | str | None


def values_of(table: Table, name: str) -> list[Value]:
    """The original values of a column, None where missing."""
    attribute, column = table.attribute(name), table.column(name).tolist()
    if attribute.numeric:
        return [None if value != value else value for value in column]
    return [None if code < 0 else attribute.categories[code] for code in column]


def group_of(hierarchy: Hierarchy, level: int, code: int) -> tuple[bool, list[float | str]]:
    """Whether a published code is a leaf, and the leaves it stands for."""
    if level == LOCAL:
        level = 0
        while code >= len(hierarchy.labels[level]):
            code -= len(hierarchy.labels[level])
            level += 1
    leaves: list[float | str] = list(hierarchy.values.tolist()) if len(hierarchy.values) else list(hierarchy.labels[0])
    return level == 0, [leaf for place, leaf in enumerate(leaves) if hierarchy.groups[level][place] == code]


def costs_of(original: Table, masked: Table, name: str, rows: list[int]) -> tuple[list[list[float]], list[list[float]]]:
    """Cell loss and log-volume of each person and each class, shown by one of its records, in one column."""
    attribute, hierarchy, level = original.attribute(name), masked.attribute(name).hierarchy, masked.level(name)
    known, distinct = values_of(original, name), {v for v in values_of(original, name) if v is not None}
    shown = None if level else values_of(masked, name)
    numbers = [value for value in distinct if isinstance(value, float)]
    width = max(numbers) - min(numbers) if numbers else 0.0
    blanks = sum(bool(b) for b, kept in zip(masked.missing(name), masked.kept, strict=True) if kept)
    blanked = blanks > int(original.missing(name).sum())

    def apart(one: float | str, other: float | str) -> float:
        if isinstance(one, float) and isinstance(other, float):
            return min(abs(one - other) / width, 1.0) if width else 0.0
        if attribute.kind.value == "ordinal":
            steps = abs(attribute.categories.index(str(one)) - attribute.categories.index(str(other)))
            return steps / max(len(attribute.categories) - 1, 1)
        return float(one != other)

    cell, volume = [], []
    for value in known:
        losses, logs = [], []
        for row in rows:
            single, group = True, [] if shown is None or shown[row] is None else [shown[row]]
            if level and masked.column(name)[row] >= 0:
                assert hierarchy is not None
                single, group = group_of(hierarchy, level, int(masked.column(name)[row]))  # type: ignore[assignment]
            if not group:
                losses.append(float(value is not None))
                logs.append(0.0 if value is None else math.log(max(len(distinct), 1)) if blanked else 50.0)
                continue
            if value is None:
                losses.append(1.0)
                logs.append(50.0)
                continue
            ends = [v for v in group if isinstance(v, float)]
            inside = (single and width == 0 and bool(ends)) or value in group
            covered = [v for v in distinct if v in group or (ends and min(ends) <= v <= max(ends))]  # type: ignore[operator]
            if single:
                losses.append(0.0 if inside else apart(value, group[0]))  # type: ignore[arg-type]
            elif not inside:
                losses.append(1.0)
            elif ends:
                losses.append((max(ends) - min(ends)) / width if width else 0.0)
            else:
                assert hierarchy is not None
                losses.append((len(group) - 1) / max(hierarchy.size - 1, 1))
            logs.append(math.log(max(len(covered), 1)) + (0.0 if inside else 50.0))
        cell.append(losses)
        volume.append(logs)
    return cell, volume


def nearest(costs: NDArray[np.float64], most: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The classes of least cost of each person, ties by number."""
    order = np.argsort(costs, axis=1, kind="stable")[:, :most]
    return np.take_along_axis(costs, order, axis=1), order


def fill(weights: NDArray[np.float64], room: NDArray[np.float64], rounds: int) -> NDArray[np.float64]:
    """Scale rows of a full matrix to one and columns to their room, in turns; zeros where no class is listed."""
    for _ in range(rounds):
        weights = weights / weights.sum(axis=1, keepdims=True)
        sums = weights.sum(axis=0)
        weights = weights * np.where(sums > 0, room / np.where(sums > 0, sums, 1.0), 1.0)
    return weights


def earned(weights: NDArray[np.float64], sizes: list[int], own: list[int]) -> list[float]:
    """What guessing a record of the classes with the largest weight per record earns on each person."""
    found = []
    for row, right in zip(weights, own, strict=True):
        rates = [w / s for w, s in zip(row.tolist(), sizes, strict=True)]
        best = [g for g, rate in enumerate(rates) if rate >= max(rates) * (1 - 1e-7) and rate > 0]
        found.append(1 / sum(sizes[g] for g in best) if right in best else 0.0)
    return found
