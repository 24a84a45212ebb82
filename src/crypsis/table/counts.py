"""Distinct tuples of a table with the number of records of each; a lattice needs nothing else of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, listing
from crypsis.table.attribute import Attribute
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table

COMMON = 10
"""A value of at least this many records may be named in a message."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Distinct tuples of some columns of a table.

    An attribute with a hierarchy is coded by the leaves of the hierarchy, any other by its categories, and a number
    without a hierarchy by the rank of its value. A missing value is −1, a value of its own.

    Attributes
    ----------
    attributes : tuple of Attribute
    codes : int32[tuples, attributes]
    records : int64[tuples]
        Number of records of each tuple.
    """

    attributes: tuple[Attribute, ...]
    codes: NDArray[np.int32]
    records: NDArray[np.int64]

    @property
    def total(self) -> int:
        """Number of records."""
        return int(self.records.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(attribute.name for attribute in self.attributes)

    def place(self, name: str) -> int:
        """Position of a column."""
        return self.names.index(name)


def count_distinct(table: Table, names: Sequence[str]) -> Counts:
    """Count the distinct tuples of some columns over the kept records.

    Parameters
    ----------
    table : Table
    names : sequence of str

    Returns
    -------
    Counts
        In lexicographic order of the codes.

    Raises
    ------
    TableError
        If a value is not in the hierarchy of its column.
    """
    codes = _all_coded(table, names)
    classes = equivalence_classes(codes, table.kept)
    return Counts(tuple(table.attribute(name) for name in names), codes[classes.first], classes.sizes)


def count_weighted(table: Table, names: Sequence[str], weights: NDArray[np.int64]) -> Counts:
    """Count the distinct tuples of a table whose rows stand for several records each.

    Parameters
    ----------
    table : Table
        One row per tuple that an engine has counted.
    names : sequence of str
    weights : int64[n]
        Records of each row.

    Returns
    -------
    Counts

    Raises
    ------
    TableError
        As for `count_distinct`.
    """
    codes = _all_coded(table, names)
    classes = equivalence_classes(codes)
    return Counts(tuple(table.attribute(name) for name in names), codes[classes.first], classes.totals(weights))


def _all_coded(table: Table, names: Sequence[str]) -> NDArray[np.int32]:
    """int32[n, p]: codes of the named columns."""
    columns = [_coded(table, name) for name in names]
    return np.stack(columns, axis=1) if columns else np.empty((table.rows, 0), dtype=np.int32)


def _coded(table: Table, name: str) -> NDArray[np.int32]:
    attribute = table.attribute(name)
    if attribute.hierarchy is None or table.level(name) != 0:
        return table.codes([name])[:, 0]
    if not attribute.numeric:
        _refuse_unlisted(table, name, attribute.hierarchy)
    return table.leaf_codes(name)


def _refuse_unlisted(table: Table, name: str, hierarchy: Hierarchy) -> None:
    """Refuse values that a hierarchy lacks: their number, and those that many records have by name."""
    attribute = table.attribute(name)
    known = set(hierarchy.labels[0])
    unlisted = [code for code, label in enumerate(attribute.categories) if label not in known]
    if not unlisted:
        return
    column = table.column(name)
    shared = np.bincount(column[column >= 0], minlength=len(attribute.categories))
    common = [repr(attribute.categories[code]) for code in unlisted if shared[code] >= COMMON]
    named = f" ({listing(common)}{', and rare ones' if len(common) < len(unlisted) else ''})" if common else ""
    raise TableError(
        f"column {name!r}: {len(unlisted)} of its {len(attribute.categories)} values{named} are absent from its "
        f"hierarchy, which lists {hierarchy.size}; add a row for each to the hierarchy"
    )
