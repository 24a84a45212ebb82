"""A column of the original and of some solutions over the same values.

Solutions may publish a column at different levels of its hierarchy. All are then generalised to the coarsest of these
levels, so that the picture shows what each file says and nothing is estimated. Of a column recoded record by record the
finest level counts that nine tenths of the records reach; records in coarser groups are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crypsis.report.histograms import Histogram, histograms_of_distributions, level_for_histogram
from crypsis.table.hierarchy import MISSING, Hierarchy, hierarchy_node_levels
from crypsis.table.table import LOCAL, Column, Table

ORIGINAL = "original"


@dataclass(frozen=True)
class Overlay:
    """Records by value, in the original and in each solution that can be drawn."""

    name: str
    title: str
    labels: tuple[str, ...]
    series: dict[str, tuple[float, ...]]
    message: tuple[str, ...]
    """The greatest change of each drawn solution, one sentence each."""
    absent: dict[int, str]
    """Why a solution is not drawn."""


def overlay(original: Table, solutions: Mapping[int, Table], name: str) -> Overlay | None:
    """One column in all files; None if no solution can be drawn."""
    drawn: dict[int, Histogram] = {}
    absent: dict[int, str] = {}
    levels = {number: _level(table, name) for number, table in solutions.items() if _says_something(table, name)}
    common = max(levels.values(), default=0)
    for number, table in solutions.items():
        if number not in levels:
            absent[number] = "suppressed"
            continue
        found = histograms_of_distributions(
            _only(original, name), _only(lift_column(original, table, name, common), name)
        )
        if found:
            drawn[number] = replace(found[0], summary=found[0].summary + _left_out(table, name, common))
        else:
            absent[number] = "too few records share a value"
    if not drawn:
        return None
    return _merge_overlays(name, drawn, absent)


def _merge_overlays(name: str, drawn: Mapping[int, Histogram], absent: Mapping[int, str]) -> Overlay:
    """Histograms of one original have the same values, except for a rest that one of them may lack."""
    labels = max((each.labels for each in drawn.values()), key=len)
    first = next(iter(drawn.values()))
    series = {ORIGINAL: _pad(first.before, len(labels))}
    series |= {f"solution {number}": _pad(each.after, len(labels)) for number, each in drawn.items()}
    message = {number: f"{number}: {each.summary[:1].lower()}{each.summary[1:]}" for number, each in drawn.items()}
    return Overlay(name, first.title, labels, series, tuple(message.values()), dict(absent))


def _pad(values: tuple[float, ...], length: int) -> tuple[float, ...]:
    return values + (0.0,) * (length - len(values))


def _says_something(table: Table, name: str) -> bool:
    level, hierarchy = table.level(name), table.attribute(name).hierarchy
    return level == 0 or (hierarchy is not None and len(hierarchy.labels[_level(table, name)]) > 1)


def _level(table: Table, name: str) -> int:
    """The level at which a file can be drawn."""
    return level_for_histogram(table, name) if table.level(name) == LOCAL else table.level(name)


def _left_out(table: Table, name: str, level: int) -> str:
    """How many records of a column recoded record by record are coarser than what is drawn."""
    hierarchy = table.attribute(name).hierarchy
    if table.level(name) != LOCAL or hierarchy is None:
        return ""
    coarser = hierarchy_node_levels(hierarchy, table.column(name)[table.kept]) > level
    return f" {100 * coarser.mean():.1f} % of the records, in coarser groups, are left out." if coarser.any() else ""


def _only(table: Table, name: str) -> Table:
    return table.drop(each for each in table.names if each != name)


def lift_column(original: Table, table: Table, name: str, level: int) -> Table:
    """The table with the column at a level not below its own."""
    hierarchy, own = original.attribute(name).hierarchy, table.level(name)
    if own == level or hierarchy is None:
        return table
    if own == LOCAL:
        return _from_nodes(original, table, name, level)
    leaves = _leaves(table, name, hierarchy) if own == 0 else _some_leaf(hierarchy, own)[table.column(name)]
    codes = hierarchy.lift(leaves, level)
    return table.with_columns({name: codes}, levels={name: level}, attributes={name: original.attribute(name)})


def _from_nodes(original: Table, table: Table, name: str, level: int) -> Table:
    """A column recoded record by record at one level; coarser cells are missing."""
    attribute = original.attribute(name)
    hierarchy = attribute.hierarchy
    assert hierarchy is not None
    leaf = np.concatenate([*(_some_leaf(hierarchy, each)[:-1] for each in range(hierarchy.height + 1)), [MISSING]])
    nodes = table.column(name)
    leaves = np.where(hierarchy_node_levels(hierarchy, nodes) <= level, leaf[nodes], MISSING).astype(np.int32)
    if level > 0:
        return table.with_columns(
            {name: hierarchy.lift(leaves, level)}, levels={name: level}, attributes={name: attribute}
        )
    if attribute.numeric:
        column: Column = np.append(hierarchy.values, np.nan)[leaves]
    else:
        place = {label: code for code, label in enumerate(attribute.categories)}
        codes = [*(place.get(label, MISSING) for label in hierarchy.labels[0]), MISSING]
        column = np.array(codes, dtype=np.int32)[leaves]
    return table.with_columns({name: column}, levels={name: 0}, attributes={name: attribute})


def _leaves(table: Table, name: str, hierarchy: Hierarchy) -> NDArray[np.int32]:
    """Leaves of a column that is not generalised; an averaged number takes the nearest leaf."""
    if not table.attribute(name).numeric:
        place = {label: code for code, label in enumerate(hierarchy.labels[0])}
        codes = [*(place.get(label, MISSING) for label in table.labels(name)), MISSING]
        return np.array(codes, dtype=np.int32)[table.column(name)]
    numbers, values = table.column(name), hierarchy.values
    known = np.nan_to_num(numbers)
    right = np.clip(np.searchsorted(values, known), 1, max(len(values) - 1, 1))
    right = np.minimum(right, len(values) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(known - values[left] <= values[right] - known, left, right)
    return np.where(np.isnan(numbers), MISSING, nearest).astype(np.int32)


def _some_leaf(hierarchy: Hierarchy, level: int) -> NDArray[np.int32]:
    """Any leaf of each group of a level, since all are in one group further up; the last is for missing values."""
    leaf = np.full(len(hierarchy.labels[level]) + 1, MISSING, dtype=np.int32)
    leaf[hierarchy.groups[level]] = np.arange(hierarchy.size, dtype=np.int32)
    leaf[-1] = MISSING
    return leaf
