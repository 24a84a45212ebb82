"""What published classes show to an intruder who knows the original: places on a line in every column.

A number lies on the column's range, an ordinal category at its rank, and any other leaf of a hierarchy where the groups
of its hierarchy lie together. A class then shows an interval of places, whether it publishes a value or a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crypsis.errors import TableError
from crypsis.kernels.arrays import Flags, Floats, Ints
from crypsis.kernels.one_to_one import EXCLUDED, ShownClasses
from crypsis.measures.pairing import alike_codes, check_rows, finite_numbers
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.scaling import Scales
from crypsis.table.table import LOCAL, Table


@dataclass(frozen=True, eq=False)
class PublishedClasses:
    """Records with equal published values over some columns, and the people who are looked for in them.

    known  float64[n, p]: places of the people, NaN where a value is missing
    shown  what the classes show
    sizes  int64[classes]
    own  int64[n]: class of each person, −1 where the record is suppressed
    """

    known: Floats
    shown: ShownClasses
    sizes: Ints
    own: Ints

    @classmethod
    def of(cls, original: Table, masked: Table, names: Sequence[str]) -> PublishedClasses:
        """The classes of a masked table over the columns an intruder knows."""
        check_rows(original.rows, masked)
        classes = classes_of(masked, names)
        columns = [_column(original, masked, name, classes.first) for name in names]
        known, low, high, wide = (
            np.ascontiguousarray(np.stack(part, axis=1))
            for part in zip(*((c.known, c.low, c.high, c.wide) for c in columns), strict=True)
        )
        shown = ShownClasses(
            low, high, wide,
            np.ascontiguousarray(np.stack([c.moves for c in columns], axis=1)),
            np.ascontiguousarray(np.stack([_covered(c) for c in columns], axis=1)),
            np.array([_blank(original, masked, name, c) for name, c in zip(names, columns, strict=True)]),
        )  # fmt: skip
        return cls(known, shown, classes.sizes, classes.of)


class _Column(NamedTuple):
    """One column on its line: known float64[n]; low, high, wide float64[classes]; moves bool[classes]."""

    known: Floats
    low: Floats
    high: Floats
    wide: Floats
    moves: Flags


def _column(original: Table, masked: Table, name: str, first: Ints) -> _Column:
    """first  int64[classes]: a record of each class"""
    if masked.level(name) != 0:
        return _generalised(original, masked, name, first)
    attribute = original.attribute(name)
    if attribute.numeric != masked.attribute(name).numeric:
        raise TableError(
            f"column {name!r} is {attribute.kind} in the original and {masked.attribute(name).kind} in the masked "
            f"table; read both files with the same kinds, or leave the column out"
        )
    if attribute.numeric:
        scales = Scales.of(finite_numbers(original, name)[:, None])
        known, shown = (
            scales.in_unit_interval(finite_numbers(each, name)[:, None])[:, 0] for each in (original, masked)
        )
        moves = True
    else:
        codes, same = alike_codes(original, masked, name)
        moves = attribute.kind is Kind.ORDINAL and same
        steps = max(len(attribute.categories) - 1, 1) if moves else 1
        known, shown = (_places(each / steps, each == MISSING) for each in (original.column(name), codes))
    at = shown[first]
    return _Column(known, at, at, np.zeros(len(at)), np.full(len(at), moves))


def _places(places: Floats, missing: Flags) -> Floats:
    return np.where(missing, np.nan, places)


def _generalised(original: Table, masked: Table, name: str, first: Ints) -> _Column:
    """Leaves against the groups that may contain them, at one level or at each record's own."""
    hierarchy, level = masked.attribute(name).hierarchy, masked.level(name)
    if hierarchy is None:
        raise TableError(f"column {name!r} is generalised but has no hierarchy; give the masked table the one used")
    attribute = original.attribute(name)
    leaf = original.with_columns({}, attributes={name: attribute.but(hierarchy=hierarchy)}).leaf_codes(name)
    at, ordered = _leaf_places(original, hierarchy, name)
    low, high = _spans(hierarchy, at)
    published = masked.column(name)[first]
    node = published + (0 if level == LOCAL else hierarchy.offsets[level])
    blank = published == MISSING
    numeric = attribute.numeric and ordered
    wide = high - low if numeric else (hierarchy.node_leaves - 1) / max(hierarchy.size - 1, 1)
    return _Column(
        _places(at[leaf], leaf == MISSING),
        _places(low[node], blank),
        _places(high[node], blank),
        np.where(blank, 0.0, np.minimum(wide, 1.0)[node]),
        (node < hierarchy.size) & ordered,
    )


def _leaf_places(original: Table, hierarchy: Hierarchy, name: str) -> tuple[Floats, bool]:
    """float64[leaves]: the place of each leaf, and whether places differ by as much as values do."""
    attribute = original.attribute(name)
    if attribute.numeric and hierarchy.values.size:
        return Scales.of(finite_numbers(original, name)[:, None]).in_unit_interval(hierarchy.values[:, None])[
            :, 0
        ], True
    if attribute.kind is Kind.ORDINAL:
        rank = {label: code for code, label in enumerate(attribute.categories)}
        ranks = np.array([rank.get(label, MISSING) for label in hierarchy.labels[0]])
        low, high = _spans(hierarchy, ranks.astype(np.float64))
        if (ranks != MISSING).all() and ((high - low + 1) == hierarchy.node_leaves).all():
            return ranks / max(len(attribute.categories) - 1, 1), True
    places = np.empty(hierarchy.size)
    places[np.lexsort(hierarchy.groups)] = np.arange(hierarchy.size)  # the coarsest level is the first key
    return places, False


def _spans(hierarchy: Hierarchy, at: Floats) -> tuple[Floats, Floats]:
    """float64[nodes]: the lowest and the highest place of the leaves of each node."""
    low, high = np.full(hierarchy.offsets[-1], np.inf), np.full(hierarchy.offsets[-1], -np.inf)
    for level in range(hierarchy.height + 1):
        node = hierarchy.groups[level] + hierarchy.offsets[level]
        np.minimum.at(low, node, at)
        np.maximum.at(high, node, at)
    return low, high


def _values(column: _Column) -> Floats:
    return np.unique(column.known[~np.isnan(column.known)])


def _covered(column: _Column) -> Floats:
    """float64[classes]: logarithm of the number of original values each class covers, at least one."""
    values = _values(column)
    covered = np.searchsorted(values, column.high, side="right") - np.searchsorted(values, column.low)
    return np.asarray(np.log(np.maximum(covered, 1)))


def _blank(original: Table, masked: Table, name: str, column: _Column) -> float:
    """Log-volume of a blank: any value where some were blanked, else only what is missing in the original too."""
    blanked = masked.missing(name)[masked.kept].sum() > original.missing(name).sum()
    return float(np.log(max(len(_values(column)), 1))) if blanked else EXCLUDED
