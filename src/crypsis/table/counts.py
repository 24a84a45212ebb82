"""Distinct tuples with how many records share each: all that a lattice ever needs to know of a table."""

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
"""A value that at least this many records share may be named in a message."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Distinct tuples of some columns of a table. Missing is −1, a value of its own.

    An attribute with a hierarchy is coded by the hierarchy's leaves, any other by its categories (a
    number without a hierarchy by the rank of its value).
    """

    attributes: tuple[Attribute, ...]
    codes: NDArray[np.int32]
    """int32[tuples, attributes]"""
    records: NDArray[np.int64]
    """int64[tuples]: how many records share the tuple"""

    @property
    def total(self) -> int:
        """How many records there are."""
        return int(self.records.sum())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    def place(self, name: str) -> int:
        return self.names.index(name)


def count_distinct(table: Table, names: Sequence[str]) -> Counts:
    """The distinct tuples of the named columns over the kept records, in lexicographic order of their codes."""
    codes = _all_coded(table, names)
    classes = equivalence_classes(codes, table.kept)
    return Counts(tuple(table.attribute(name) for name in names), codes[classes.first], classes.sizes)


def count_weighted(table: Table, names: Sequence[str], weights: NDArray[np.int64]) -> Counts:
    """As `count_distinct` of a table whose row i stands for weights[i] records: what an engine has already counted."""
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
        _refuse_strangers(table, name, attribute.hierarchy)
    return table.leaf_codes(name)


def _refuse_strangers(table: Table, name: str, hierarchy: Hierarchy) -> None:
    """Say which values a hierarchy lacks: how many, and the names of those that many records share."""
    attribute = table.attribute(name)
    known = set(hierarchy.labels[0])
    strangers = [code for code, label in enumerate(attribute.categories) if label not in known]
    if not strangers:
        return
    column = table.column(name)
    shared = np.bincount(column[column >= 0], minlength=len(attribute.categories))
    common = [repr(attribute.categories[code]) for code in strangers if shared[code] >= COMMON]
    named = f" ({listing(common)}{', and rare ones' if len(common) < len(strangers) else ''})" if common else ""
    raise TableError(
        f"column {name!r}: {len(strangers)} of its {len(attribute.categories)} values{named} are absent from its "
        f"hierarchy, which lists {hierarchy.size}; add a row for each to the hierarchy"
    )
