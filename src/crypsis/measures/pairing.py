"""Which columns are compared, and how a published cell is read beside the original one.

A record that was suppressed, and a cell that was blanked, tells an analyst nothing but the column's mean:
in a loss it counts as fully generalised. A generalised number is read as the middle of its group. A cell
the original lacks cannot be compared and takes part in nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, unknown_column
from crypsis.measures.measure import NO_RECORDS
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.scaling import Scales
from crypsis.table.table import LOCAL, Table

MISSING_NUMBERS = (
    "cells missing in the original are left out; a cell blanked by the masking, and every cell of a suppressed "
    "record, is read as the original column mean; a generalised number is read as the middle of its group"
)


def numeric_names(columns: Sequence[str], original: Table) -> list[str]:
    """The columns chosen, or every quasi-identifier that holds numbers."""
    return list(columns) or [name for name in original.quasi_identifiers if original.holds_numbers(name)]


def numeric_obstacle(columns: Sequence[str], original: Table, least: int = 1) -> str:
    """Why fewer than `least` numeric columns can be compared, in a sentence; empty if enough can."""
    unknown = unknown_column(columns, original.names)
    if unknown:
        return unknown
    for name in columns:
        if not original.holds_numbers(name):
            return (
                f"column {name!r} is {original.attribute(name).kind} and this measure compares numbers; "
                f"choose numeric columns or a measure for categories"
            )
    found = len(numeric_names(columns, original))
    if found < least:
        return (
            f"{found} numeric quasi-identifiers were found and this measure needs at least {least}; "
            f"name numeric columns or give them the role 'quasi'"
        )
    return "" if original.rows else NO_RECORDS


def check_rows(original_rows: int, masked: Table) -> None:
    """Refuse a masked table whose rows cannot correspond to the original's."""
    if masked.rows != original_rows:
        raise TableError(
            f"the masked table has {masked.rows} rows and the original {original_rows}; row i must mask row i: "
            f"keep suppressed records in place, or compare files of equal length"
        )


def finite_numbers(table: Table, name: str) -> NDArray[np.float64]:
    """A column of numbers, or a sentence if some of them are infinite."""
    column: NDArray[np.float64] = table.numbers([name])[:, 0]
    endless = int(np.isinf(column).sum())
    if endless:
        raise TableError(
            f"column {name!r} holds {endless} infinite values, which no measure can compare; make them missing or "
            f"correct them"
        )
    return column


def middles(hierarchy: Hierarchy, level: int) -> NDArray[np.float64]:
    """The number a group is read as: the middle between its smallest and largest leaf; missing (last) is NaN."""
    levels = range(hierarchy.height + 1) if level == LOCAL else [level]
    middle = []
    for each in levels:
        size = len(hierarchy.labels[each])
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, hierarchy.groups[each], hierarchy.values)
        np.maximum.at(high, hierarchy.groups[each], hierarchy.values)
        middle.append((low + high) / 2)
    return np.concatenate([*middle, [np.nan]])


def published_numbers(masked: Table, name: str) -> NDArray[np.float64]:
    """A masked column as numbers, suppressed records as NaN."""
    if masked.holds_numbers(name):
        numbers = finite_numbers(masked, name)
    else:
        hierarchy = masked.attribute(name).hierarchy
        if hierarchy is None or not hierarchy.values.size:
            raise TableError(
                f"column {name!r} is numeric in the original but holds categories in the masked table; "
                f"give it a numeric hierarchy or compare it with a measure for categories"
            )
        numbers = middles(hierarchy, masked.level(name))[masked.column(name)]
    return np.where(masked.kept, numbers, np.nan)


@dataclass(frozen=True)
class Numbers:
    """The original side of a numeric comparison: float64[n, p], NaN where missing, and its scales."""

    names: tuple[str, ...]
    values: NDArray[np.float64]
    present: NDArray[np.bool_]
    scales: Scales

    @classmethod
    def of(cls, original: Table, names: Sequence[str]) -> Numbers:
        """Bind the numeric columns of an original."""
        values = np.stack([finite_numbers(original, name) for name in names], axis=1)
        return cls(tuple(names), values, ~np.isnan(values), Scales.of(values))

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self.values)

    def published(self, masked: Table) -> NDArray[np.float64]:
        """float64[n, p]: what an analyst reads in the masked table; NaN exactly where the original is missing."""
        check_rows(self.rows, masked)
        read = np.stack([published_numbers(masked, name) for name in self.names], axis=1)
        return np.where(self.present, np.where(np.isnan(read), self.scales.mean, read), np.nan)


def alike_codes(original: Table, masked: Table, name: str) -> tuple[NDArray[np.int32], bool]:
    """Masked level-0 codes in the original's numbering, matched by label; labels the original lacks get new codes.

    →   the codes, and whether every label was one of the original's
    """
    ours, theirs = original.attribute(name).categories, masked.attribute(name).categories
    codes = masked.column(name)
    if ours == theirs:
        return codes, True
    place = {label: code for code, label in enumerate(ours)}
    translate = [place.setdefault(label, len(place)) for label in theirs]
    return np.array([*translate, MISSING], dtype=np.int32)[codes], len(place) == len(ours)
