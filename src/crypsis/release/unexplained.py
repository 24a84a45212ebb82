"""Changed cells that neither recoding nor aggregation explains: signs that a file of unknown origin was perturbed.

Where values were swapped or are noisy, equal values do not mean equal people, and class sizes guarantee nothing. A
table that Crypsis masked says so itself by its provenance; of a table from elsewhere it is read off the cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Flags
from crypsis.masking.aggregates import means, medians, modes
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import EquivalenceClasses, classes_of
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import LOCAL, Table

CLOSE = 1e-9
"""Relative difference at which a number is still taken for an average."""
MOST_DECIMALS = 6
"""Numbers with more decimals are not taken for rounded ones."""

Values = NDArray[Any]


def unexplained_cells(original: Table, masked: Table) -> dict[str, int]:
    """Count the changed cells of quasi-identifiers that neither recoding nor aggregation explains.

    A change is explained if the cell is blanked or has a label that the original lacks; if the column is coarsened as a
    whole, equal values to equal values and in their order; if the cell is the mean, median or mode of its class; or if
    it is the mean or median of the records that share its number, as where columns are averaged apart.

    original, masked  row by row the same records
    returns  columns with such cells, and how many they are

    Examples
    --------
    >>> original = Table.from_columns({"age": [20, 22, 40, 42]}, roles={"age": "quasi"})
    >>> unexplained_cells(original, original.with_columns({"age": np.array([21.0, 21, 41, 41])}))
    {}
    >>> unexplained_cells(original, original.with_columns({"age": np.array([22.0, 20, 42, 40])}))
    {'age': 4}
    """
    found = {}
    classes = classes_of(masked, masked.quasi_identifiers)
    for name in masked.quasi_identifiers:
        if name in original.names:
            count = int(_unexplained(original, masked, name, classes).sum())
            if count:
                found[name] = count
    return found


def _unexplained(original: Table, masked: Table, name: str, classes: EquivalenceClasses) -> Flags:
    """bool[n]: changed cells of one column that nothing explains."""
    level, numbers = masked.level(name), original.holds_numbers(name)
    nothing = np.zeros(len(masked), dtype=np.bool_)
    if level not in (0, LOCAL):
        return _misplaced(original, masked, name)
    if level == LOCAL or numbers != masked.holds_numbers(name) or original.level(name) != 0:
        return nothing  # published by labels of its own
    before, after, new = _comparable(original, masked, name)
    lacked, shown = original.missing(name), masked.kept & ~masked.missing(name) & ~new
    changed = shown & (lacked | (before != after))
    known = shown & ~lacked
    if not changed.any():
        return nothing
    ordered = original.attribute(name).kind is not Kind.NOMINAL
    if _coarsened(before[known], after[known], ordered):
        changed &= lacked
    explained = _averaged(classes, before, after, ~lacked, original.attribute(name).kind, _rounding(after, numbers))
    if numbers:
        apart = classes_of(masked, [name])
        close = 0.5 if masked.attribute(name).dates else 0.0
        explained |= _averaged(apart, before, after, ~lacked, None, close) & (apart.sizes > 1)[apart.of]
    return np.asarray(changed & ~explained)


def _comparable(original: Table, masked: Table, name: str) -> tuple[Values, Values, Flags]:
    """Both columns in one numbering, and which masked cells have a label that the original lacks."""
    before, after = original.column(name), masked.column(name)
    if original.holds_numbers(name):
        return before, after, np.zeros(len(after), dtype=np.bool_)
    place = {label: code for code, label in enumerate(original.labels(name))}
    codes = np.array([*(place.get(label, len(place)) for label in masked.labels(name)), MISSING], dtype=np.int32)
    return before, codes[after], codes[after] == len(place)


def _misplaced(original: Table, masked: Table, name: str) -> Flags:
    """Cells of a generalised column whose group does not hold the original value."""
    own, hierarchy = original.attribute(name), masked.attribute(name).hierarchy
    if hierarchy is None or original.level(name) != 0:
        return np.zeros(len(masked), dtype=np.bool_)
    leaf = original.with_columns({}, attributes={name: own.but(hierarchy=hierarchy)}).leaf_codes(name)
    column = masked.column(name)
    return np.asarray(masked.kept & (column != MISSING) & (hierarchy.lift(leaf, masked.level(name)) != column))


def _coarsened(before: Values, after: Values, ordered: bool) -> bool:
    """Whether equal values became equal ones and, where they have an order, kept it."""
    _, first, place = np.unique(before, return_index=True, return_inverse=True)
    shown = after[first]
    return bool((shown[place] == after).all() and not (ordered and (np.diff(shown) < 0).any()))


def _averaged(
    classes: EquivalenceClasses, before: Values, after: Values, known: Flags, kind: Kind | None, close: float
) -> Flags:
    """Cells that are an aggregate of the known values of their class; of `kind` None, a mean or median alone."""
    inside = known & (classes.of >= 0)
    values, labels, count = before[inside], classes.of[inside], classes.count
    aggregates = [modes(values, labels, count)] if kind is not None else []
    if kind is not Kind.NOMINAL:
        aggregates.append(medians(values, labels, count, lower=True))
    if kind is None or kind is Kind.NUMERIC:
        aggregates += [means(values, labels, count), medians(values, labels, count, lower=False)]
    found = np.zeros(len(after), dtype=np.bool_)
    room = close + (CLOSE * np.abs(after) if after.dtype == np.float64 else 0.0)
    for shared, there in aggregates:
        near = np.abs(np.append(shared.astype(np.float64), np.nan)[classes.of] - after) <= room
        found |= near & np.append(there, False)[classes.of]
    return found


def _rounding(column: Values, numbers: bool) -> float:
    """Half the last decimal of a column of rounded numbers; 0 for others."""
    values = column[~np.isnan(column)] if numbers else column[:0]
    for decimals in range(MOST_DECIMALS + 1) if numbers else ():
        if (np.round(values, decimals) == values).all():
            return 0.5 * 10.0**-decimals
    return 0.0
