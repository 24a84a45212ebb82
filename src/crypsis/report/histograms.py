"""Distributions before and after masking, over the same bins, each with a sentence; rare values are not shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Floats
from crypsis.table.hierarchy import Hierarchy, hierarchy_node_levels
from crypsis.table.table import LOCAL, Table
from crypsis.text.reports import value_text

FEW = 10
"""A value of fewer original records is never shown by itself, not even in the internal report."""

SHOWN = 0.9
"""Share of the records of a locally recoded column that are published at the shown level or finer."""
MOST_GROUPS = 4
"""Groups of a shown level, as a multiple of the bars: rarer ones share a bar."""
COARSER = 3
"""Coarser groups of a locally recoded column with bars of their own."""


@dataclass(frozen=True)
class Histogram:
    """Records by value, of the original and of the released file."""

    name: str  # column, and title of the chart
    title: str
    labels: tuple[str, ...]  # bins
    before: tuple[float, ...]  # records in each bin
    after: tuple[float, ...]
    summary: str  # one sentence


def class_size_histogram(before: Floats, after: Floats) -> Histogram:
    """A histogram of records by the size of their equivalence class.

    `before`, `after` float64[n]: class size of each record; NaN for a suppressed one.
    """
    edges: Sequence[float] = (1, 2, 3, 5, 10, 20, 50, 100, float("inf"))
    labels = ("1", "2", "3–4", "5–9", "10–19", "20–49", "50–99", "100+")
    counts = []
    for sizes in (before, after):
        held = sizes[~np.isnan(sizes)]
        counts.append(tuple(float(np.sum((held >= lo) & (held < hi))) for lo, hi in pairwise(edges)))
    smallest = f"{np.nanmin(after):.0f}" if not np.isnan(after).all() else "–"
    summary = (
        f"In the original, {counts[0][0]:.0f} records are unique on the quasi-identifiers; in the released file "
        f"{counts[1][0]:.0f} are, and the smallest equivalence class has {smallest} records."
    )
    return Histogram("class size", "Records by size of their equivalence class", labels, counts[0], counts[1], summary)


def histograms_of_distributions(original: Table, masked: Table, most: int = 12) -> tuple[Histogram, ...]:
    """Distributions of quasi-identifiers before and after, over the same bins; generalised ones by published groups.

    A column recoded record by record is shown at the finest level that nine tenths of its records reach; records in
    coarser groups are shown under the names of these.

    `original`, `masked`: row by row the same records.
    """
    drawn = []
    for name in masked.names:
        if original.attribute(name).role.value != "quasi":
            continue
        if masked.level(name) == LOCAL:
            drawn.append(_local_groups(original, masked, name, most))
        elif masked.level(name) > 0:
            drawn.append(_groups(original, masked, name, most))
        elif original.holds_numbers(name):
            drawn.append(_numbers(original, masked, name, most))
        else:
            before = _count_labels(original.column(name), original.labels(name))
            drawn.append(_codes(name, before, _count_published(masked, name), most))
    return tuple(each for each in drawn if each is not None)


def _numbers(original: Table, masked: Table, name: str, most: int) -> Histogram | None:
    before, after = original.column(name), masked.column(name)[masked.kept]
    before, after = before[~np.isnan(before)], after[~np.isnan(after)]
    if not before.size:
        return None
    # Rounded bin edges between the 1st and 99th percentile: extreme values are not shown.
    low, high = np.percentile(before, [1, 99])
    step = _round_step((high - low) / max(most - 2, 1))
    step = max(step, 1.0) if step and np.all(before == np.round(before)) else step
    edges = np.unique(np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step) if step else np.array([low])
    bins = np.concatenate([[-np.inf], edges, [np.inf]])
    dates = original.attribute(name).dates
    inner = [value_text(edge, dates) for edge in edges]
    labels = (
        f"under {inner[0]}",
        *(f"{a}–{b}" for a, b in pairwise(inner)),
        f"{inner[-1]} or more",
    )
    counts = [np.histogram(x, bins)[0].astype(float) for x in (before, after)]
    labels, counts = _without_thin_ends(labels, counts)
    summary = "No record of this column is released."
    if after.size:
        summary = f"The mean goes from {value_text(before.mean(), dates)} to {value_text(after.mean(), dates)}"
        summary += "." if dates else f", the standard deviation from {before.std():.4g} to {after.std():.4g}."
    return Histogram(name, name, labels, tuple(counts[0]), tuple(counts[1]), summary)


def _without_thin_ends(labels: tuple[str, ...], counts: list[Floats]) -> tuple[tuple[str, ...], list[Floats]]:
    """Merge outer bins of fewer than FEW original records with their neighbours, so that no tail shows a record."""
    names, before, after = list(labels), list(counts[0]), list(counts[1])
    while len(names) > 2 and before[0] < FEW:
        names[1] = "under " + names[1].split("–")[-1]
        before[1], after[1] = before[0] + before[1], after[0] + after[1]
        names, before, after = names[1:], before[1:], after[1:]
    while len(names) > 2 and before[-1] < FEW:
        names[-2] = names[-2].split("–")[0] + " or more"
        before[-2], after[-2] = before[-1] + before[-2], after[-1] + after[-2]
        names, before, after = names[:-1], before[:-1], after[:-1]
    return tuple(names), [np.array(before), np.array(after)]


def _round_step(width: float) -> float:
    """The nearest 1, 2 or 5 times a power of ten."""
    if width <= 0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(width))
    return float(power * min((1, 2, 5, 10), key=lambda each: abs(each - width / power)))


def _count_labels(codes: NDArray[np.integer[Any]], labels: Sequence[str]) -> Counter[str]:
    """How many records hold each label, in the order in which labels first occur."""
    codes, found = codes[codes >= 0], Counter[str]()
    counts, first = np.bincount(codes, minlength=len(labels)), np.zeros(len(labels), dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    held = np.flatnonzero(counts)
    for code in held[np.argsort(first[held])].tolist():
        found[labels[code]] += int(counts[code])
    return found


def _count_published(masked: Table, name: str) -> Counter[str]:
    """How many published records hold each label."""
    return _count_labels(masked.column(name)[masked.kept], masked.labels(name))


def _groups(original: Table, masked: Table, name: str, most: int) -> Histogram | None:
    """A generalised column: the original lifted to the same groups."""
    hierarchy, level = masked.attribute(name).hierarchy, masked.level(name)
    if hierarchy is None or len(hierarchy.labels[level]) < 2:
        return None
    before = _count_labels(hierarchy.lift(original.leaf_codes(name), level), hierarchy.labels[level])
    order = list(hierarchy.labels[level]) if original.attribute(name).numeric else None
    return _codes(name, before, _count_published(masked, name), most, order)


def _local_groups(original: Table, masked: Table, name: str, most: int) -> Histogram | None:
    """A column recoded record by record: both files at one level, coarser records under the name of their group."""
    hierarchy = masked.attribute(name).hierarchy
    if hierarchy is None:
        return None
    published = masked.column(name)[masked.kept]
    published = published[published >= 0]
    level_of, level = hierarchy_node_levels(hierarchy, published), level_for_histogram(masked, name, most)
    before = _count_labels(hierarchy.lift(original.leaf_codes(name), level), hierarchy.labels[level])
    nodes, first, place = np.unique(published, return_index=True, return_inverse=True)
    names = [_label_at(hierarchy, int(node), int(at), level) for node, at in zip(nodes, level_of[first], strict=True)]
    after = _count_labels(place, names)
    order = list(hierarchy.labels[level]) if original.attribute(name).numeric else None
    made = _codes(name, before, after, most, order, coarser=set(after) - set(before))
    if made is None:
        return None
    coarser = float(np.mean(level_of > level)) if len(level_of) else 0.0
    note = f" {100 * coarser:.1f} % of the records are published in coarser groups." if coarser else ""
    return replace(made, summary=f"Compared at level {level} of {hierarchy.height} of its hierarchy.{note}")


def level_for_histogram(masked: Table, name: str, most: int = 12) -> int:
    """The level at which the distribution of a locally recoded column is compared with its original."""
    hierarchy = masked.attribute(name).hierarchy
    assert hierarchy is not None
    nodes = masked.column(name)[masked.kept]
    counts = np.bincount(hierarchy_node_levels(hierarchy, nodes[nodes >= 0]), minlength=hierarchy.height + 1)
    reached = np.cumsum(counts) / max(int(counts.sum()), 1)
    for level in range(hierarchy.height):
        if reached[level] >= SHOWN and len(hierarchy.labels[level]) <= MOST_GROUPS * most:
            return level
    return max(hierarchy.height - 1, 0)


def _label_at(hierarchy: Hierarchy, node: int, at: int, level: int) -> str:
    """The group of a published node at a level; its own label where it is coarser."""
    if at >= level:
        return hierarchy.labels[at][node - int(hierarchy.offsets[at])]
    leaf = int(np.flatnonzero(hierarchy.groups[at] == node - int(hierarchy.offsets[at]))[0])
    return hierarchy.labels[level][int(hierarchy.groups[level][leaf])]


def _codes(
    name: str,
    counts: Counter[str],
    later: Counter[str],
    most: int,
    order: list[str] | None = None,
    coarser: Collection[str] = (),
) -> Histogram | None:
    """coarser  groups that only the released file has, shown by their names after the others"""
    common = sorted((label for label, count in counts.items() if count >= FEW), key=lambda label: -counts[label])
    common = common[: most - 1]
    if not common:
        return None
    if order:
        common.sort(key=order.index)
    common += sorted((label for label in coarser if later[label] >= FEW), key=lambda label: -later[label])[:COARSER]
    there = {label: later[label] for label in common}
    rest = counts.total() - sum(counts[label] for label in common), later.total() - sum(there.values())
    labels = [*common, *(["all others"] if any(rest) else [])]
    values = [[float(counts[label]) for label in common], [float(there[label]) for label in common]]
    for column, left in zip(values, rest, strict=True):
        column.extend([float(left)] if any(rest) else [])
    return Histogram(name, name, tuple(labels), tuple(values[0]), tuple(values[1]), _largest_move(labels, values))


def _largest_move(labels: list[str], values: list[list[float]]) -> str:
    shares = [[100 * value / max(sum(column), 1) for value in column] for column in values]
    moves = [after - before for before, after in zip(*shares, strict=True)]
    place = max(range(len(moves)), key=lambda each: abs(moves[each]))
    if abs(moves[place]) < 0.05:
        return "The shares are as in the original."
    before, after = shares[0][place], shares[1][place]
    return f"The largest change: {labels[place]} goes from {before:.1f} % to {after:.1f} % of the records."
