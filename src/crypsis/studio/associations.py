"""The association between every two columns before and after masking: Cramér's V of a few groups of each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from crypsis.table.attribute import Role
from crypsis.table.table import Table

BINS = 8
"""Groups of a column for the association between columns."""
MOST_COLUMNS = 9
"""Columns whose associations are looked at."""


@dataclass(frozen=True)
class Association:
    """Cramér's V of two columns, 0 to 1, in the original and in a solution."""

    a: str
    b: str
    before: float
    after: float

    @property
    def moved(self) -> float:
        """How far it changed."""
        return abs(self.after - self.before)


def associate(original: Table, masked: Table, a: str, b: str) -> Association:
    """The association between two columns, before and after."""
    return _associate_columns(original, masked, [a, b])[0]


def most_changed_association(original: Table, masked: Table) -> Association | None:
    """The two masked or confidential columns whose association changed most; None where there are no two."""
    names = original.names_by_role(Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)[:MOST_COLUMNS]
    return max(_associate_columns(original, masked, names), key=lambda each: each.moved, default=None)


def _associate_columns(original: Table, masked: Table, names: list[str]) -> list[Association]:
    """Every two of some columns."""
    before = {name: _cut(original, original, name) for name in names}
    after = {name: _cut(original, masked, name)[masked.kept] for name in names}
    return [
        Association(a, b, cramers_v(before[a], before[b]), cramers_v(after[a], after[b]))
        for a, b in combinations(names, 2)
    ]


def cramers_v(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """Bias-corrected Cramér's V of two coded columns; 0 if one is constant."""
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
