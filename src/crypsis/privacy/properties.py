"""Properties: one number per record, seen through the class of records that share its quasi-identifiers.

A missing value is a value of its own, equal to other missing values of its column. Suppressed records belong
to no class: their label is −1 and their property NaN. Everything is O(n log n) for any number of columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.table.table import Table

Sense = Literal["at least", "at most"]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_KEY = 1 << 62
TOLERANCE = 1e-9
"""Rounding allowed before a property counts as missing its threshold."""


@dataclass(frozen=True)
class Classes:
    """labels[row] → class 0, 1, … (−1: suppressed); sizes[class] → records."""

    labels: Integers
    sizes: Integers

    def spread_out(self, per_class: Floats) -> Floats:
        """One number per class → one per record, NaN for suppressed records."""
        return np.append(per_class, np.nan)[self.labels]


def ranked(key: Integers) -> tuple[Integers, int]:
    """Keys replaced by their rank among the distinct ones, and how many there are."""
    if not key.size:
        return key, 0
    top = int(key.max()) + 1
    if top <= 4 * len(key):  # counting is linear where keys are small
        seen = np.bincount(key, minlength=top) > 0
        return (np.cumsum(seen) - 1)[key], int(seen.sum())
    distinct, ranks = np.unique(key, return_inverse=True)
    return ranks.astype(np.int64), len(distinct)


def group(codes: NDArray[np.int32]) -> tuple[Integers, int]:
    """int32[n, p] codes (−1 allowed) → class of each row and the number of classes; re-ranks before keys overflow."""
    key = np.zeros(len(codes), dtype=np.int64)
    size = 1
    for column in codes.T:
        width = int(column.max(initial=-1)) + 2
        if size * width >= LARGEST_KEY:
            key, size = ranked(key)
        key = key * width + (column.astype(np.int64) + 1)
        size *= width
    return ranked(key)


def classes_of(table: Table, quasi_identifiers: Sequence[str]) -> Classes:
    """Equivalence classes of the kept records by the named columns."""
    codes = table.codes(quasi_identifiers)[table.kept]
    inside, size = group(codes)
    labels = np.full(table.rows, -1, dtype=np.int64)
    labels[table.kept] = inside
    return Classes(labels, np.bincount(inside, minlength=size).astype(np.int64))


@dataclass(frozen=True)
class Contents:
    """How often each confidential value occurs in each class: only the pairs that occur, sorted by class, then value.

    `values` counts the distinct values among kept records (missing is one, and comes first), `overall` their shares.
    """

    owner: Integers
    value: Integers
    count: Integers
    pair: Integers
    """For every record the number of its (class, value) pair; −1 if suppressed."""
    overall: Floats

    @property
    def values(self) -> int:
        return len(self.overall)


def contents_of(table: Table, classes: Classes, confidential: str) -> Contents:
    """The confidential values of every class."""
    kept = table.kept
    value, values = ranked(table.codes([confidential])[kept, 0].astype(np.int64) + 1)
    key = classes.labels[kept] * max(values, 1) + value
    distinct, inverse, count = np.unique(key, return_inverse=True, return_counts=True)
    pair = np.full(table.rows, -1, dtype=np.int64)
    pair[kept] = inverse
    overall = np.bincount(value, minlength=values) / max(len(value), 1)
    return Contents(distinct // max(values, 1), distinct % max(values, 1), count, pair, overall)


# -- the two properties of the paper --


def class_sizes(table: Table, quasi_identifiers: Sequence[str]) -> Floats:
    """How many records share each record's quasi-identifiers."""
    classes = classes_of(table, quasi_identifiers)
    return classes.spread_out(classes.sizes.astype(np.float64))


def sensitive_counts(table: Table, quasi_identifiers: Sequence[str], confidential: str) -> Floats:
    """How often each record's confidential value occurs in its class (large is bad for diversity)."""
    contents = contents_of(table, classes_of(table, quasi_identifiers), confidential)
    return np.append(contents.count.astype(np.float64), np.nan)[contents.pair]


# -- quality indices of a property vector --


def worst(levels: Floats, sense: Sense) -> float:
    """The worst kept record; with no record left, as bad as can be."""
    judged = levels[~np.isnan(levels)]
    if not judged.size:
        return 0.0 if sense == "at least" else math.inf
    return float(judged.min() if sense == "at least" else judged.max())


def spread(levels: Floats) -> float:
    """The sum over kept records: for class sizes, the paper's S_k (sum of squared class sizes)."""
    return float(np.nansum(levels))


def failing(levels: Floats, required: float, sense: Sense) -> NDArray[np.bool_]:
    """Kept records that miss the threshold by more than rounding."""
    room = TOLERANCE * max(1.0, abs(required))
    return levels < required - room if sense == "at least" else levels > required + room
