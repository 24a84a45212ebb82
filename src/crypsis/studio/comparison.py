"""The figures of the Compare page: class sizes, associations between columns, who bears the loss, one match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.measures.information_loss import information_losses
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.privacy.properties import class_sizes
from crypsis.report.hardest import RecordHarm, Subgroup, hardest_groups
from crypsis.report.histograms import Histogram, class_size_histogram
from crypsis.table.attribute import Role
from crypsis.table.restoring import to_frame
from crypsis.table.table import Table

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


def sampled(original: Table, masked: Table) -> tuple[Table, Table]:
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
