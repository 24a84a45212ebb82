"""The figures of the Compare page: class sizes, associations between columns, who bears the loss, one match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.measures.information_loss import information_losses
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.privacy.model import class_sizes
from crypsis.report.content import RecordHarm, Subgroup, hardest_groups
from crypsis.report.histograms import Histogram, class_size_histogram, distributions, node_levels, shown_level
from crypsis.table.attribute import Role
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.restoring import to_frame
from crypsis.table.table import LOCAL, Column, Table

BINS = 8
"""Groups of a column for the association between columns."""
MOST_COLUMNS = 9
SAMPLE = 50_000
"""Evenly spaced records of a larger table on which attacks and losses are measured."""


@dataclass(frozen=True)
class Match:
    """A person whom record linkage finds: known values and published values."""

    cells: tuple[tuple[str, str, str], ...]
    """Column, known value, published value."""
    found: float
    rest: float
    """Share of all people the attack finds, per cent."""


def sizes(original: Table, masked: Table) -> Histogram:
    """Records by how many share their quasi-identifiers."""
    names = original.quasi_identifiers
    return class_size_histogram(class_sizes(original, names), class_sizes(masked, names))


def association_changes(original: Table, masked: Table) -> tuple[list[str], list[tuple[str, str, float]]]:
    """The change of association between every two columns: |Cramér's V before − after|, 0 to 1."""
    roles = (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)
    names = original.named(*roles)[:MOST_COLUMNS]
    before = {name: _cut(original, original, name) for name in names}
    after = {name: _cut(original, masked, name)[masked.kept] for name in names}
    cells = []
    for a, b in combinations(names, 2):
        moved = abs(cramer(before[a], before[b]) - cramer(after[a], after[b]))
        cells += [(a, b, moved), (b, a, moved)]
    return names, cells


def cramer(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """Bias-corrected Cramér's V of two coded columns (Bergsma 2013); 0 if one of them is constant."""
    both = (a >= 0) & (b >= 0)
    n = int(both.sum())
    if n < 2:
        return 0.0
    _, left = np.unique(a[both], return_inverse=True)
    _, right = np.unique(b[both], return_inverse=True)
    r, c = int(left.max()) + 1, int(right.max()) + 1
    if r < 2 or c < 2:
        return 0.0
    counts = np.bincount(left * c + right, minlength=r * c).reshape(r, c)
    expected = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / n
    phi = float(((counts - expected) ** 2 / expected).sum()) / n
    corrected = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    room = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return float(np.sqrt(corrected / room)) if room > 0 else 0.0


def _cut(original: Table, table: Table, name: str) -> NDArray[np.int64]:
    """A column in a few groups: numbers by quantiles of the original, the most frequent categories and the rest."""
    if table.holds_numbers(name):
        numbers, known = table.column(name), original.column(name)
        edges = np.unique(np.nanquantile(known, np.linspace(0, 1, BINS + 1)[1:-1])) if len(known) else np.empty(0)
        return np.where(np.isnan(numbers), -1, np.searchsorted(edges, numbers, side="right")).astype(np.int64)
    codes = table.column(name).astype(np.int64)
    counts = np.bincount(codes[codes >= 0])
    rank = np.empty(len(counts) + 1, dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.minimum(np.arange(len(counts)), BINS + 3)
    rank[-1] = -1
    return rank[codes]


def sample_rows(original: Table, masked: Table) -> tuple[Table, Table]:
    """Both tables on the same evenly spaced rows, if they have many."""
    if len(original) <= SAMPLE:
        return original, masked
    rows = np.linspace(0, len(original) - 1, SAMPLE).astype(np.intp)
    return original.take(rows), masked.take(rows)


def record_harms(original: Table, masked: Table, most: int = 8) -> tuple[tuple[Subgroup, ...], NDArray[np.float64]]:
    """The groups that bear the greatest loss, and the credit of record linkage for each record."""
    names = original.quasi_identifiers
    lost = np.mean([information_losses(original, masked, name) for name in names], axis=0)
    earned = RecordLinkage(columns=tuple(names)).against(original).credits(masked)
    harm = RecordHarm(class_sizes(original, names) == 1, ~masked.kept, lost, np.asarray(earned))
    return hardest_groups(original, harm, names, most), np.asarray(earned)


def explained_match(original: Table, masked: Table, earned: NDArray[np.float64]) -> Match | None:
    """The person whom record linkage finds most surely; None if it finds nobody."""
    if not len(earned) or earned.max() <= 0:
        return None
    row = int(np.argmax(earned))
    names = original.quasi_identifiers
    known, published = (_texts(table, row, names) for table in (original, masked))
    cells = tuple(zip(names, known, published, strict=True))
    return Match(cells, float(100 * earned[row]), float(100 * earned.mean()))


def _texts(table: Table, row: int, names: Sequence[str]) -> list[str]:
    frame: Any = to_frame(table.take(np.array([row])).drop(n for n in table.names if n not in names))
    values = {name: frame[name][0] for name in frame.columns}
    return [_text(values[name]) for name in names]


def _text(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# -- Several solutions and the original in one chart over the same values.
#
# Solutions may publish a column at different levels of its hierarchy. All are then generalised to the coarsest of these
# levels, so that the chart shows what each file says and nothing is estimated. Of a column recoded record by record the
# finest level counts that nine tenths of the records reach; records in coarser groups are left out, and counted.

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


def overlays(original: Table, solutions: Mapping[int, Table]) -> list[Overlay]:
    """The quasi-identifiers that at least one solution publishes in common groups."""
    return [found for name in original.quasi_identifiers if (found := overlay(original, solutions, name)) is not None]


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
        found = distributions(_only(original, name), _only(_lift(original, table, name, common), name))
        if found:
            drawn[number] = replace(found[0], summary=found[0].summary + _left_out(table, name, common))
        else:
            absent[number] = "too few records share a value"
    if not drawn:
        return None
    return _merge_overlays(name, drawn, absent)


def merged_sizes(histograms: Mapping[int, Histogram]) -> Overlay | None:
    """Class sizes of all solutions in one chart."""
    if not histograms:
        return None
    found = _merge_overlays("class size", histograms, {})
    alone = {name: values[0] for name, values in found.series.items()}
    words = [f"{value:.0f} in {'the ' if name == ORIGINAL else ''}{name}" for name, value in alone.items()]
    return replace(found, message=(f"People unique in their quasi-identifiers: {', '.join(words)}.",))


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
    return shown_level(table, name) if table.level(name) == LOCAL else table.level(name)


def _left_out(table: Table, name: str, level: int) -> str:
    """How many records of a column recoded record by record are coarser than what is drawn."""
    hierarchy = table.attribute(name).hierarchy
    if table.level(name) != LOCAL or hierarchy is None:
        return ""
    coarser = node_levels(hierarchy, table.column(name)[table.kept]) > level
    return f" {100 * coarser.mean():.1f} % of the records, in coarser groups, are left out." if coarser.any() else ""


def _only(table: Table, name: str) -> Table:
    return table.drop(each for each in table.names if each != name)


def _lift(original: Table, table: Table, name: str, level: int) -> Table:
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
    leaves = np.where(node_levels(hierarchy, nodes) <= level, leaf[nodes], MISSING).astype(np.int32)
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
