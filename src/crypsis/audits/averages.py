"""Small averages: published numbers that are the mean or median of so few values that they give persons away.

The mean of one value is the value. The mean of two gives each of the two persons the number of the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Flags, Floats
from crypsis.masking.aggregates import means, medians
from crypsis.table.equivalence_classes import EquivalenceClasses, classes_of
from crypsis.table.precision import decimals
from crypsis.table.table import Table

CLOSE = 1e-9
"""Relative difference at which a published number is still taken for an average."""


def small_averages(published: Table, original: Table, rows: NDArray[np.intp], least: int = 3) -> dict[str, Flags]:
    """Mark the published numbers that are averages of too few values.

    A cell is marked if it equals the mean or the median of the known original values of its class, and these are
    fewer than `least`. Two classes are looked at: the records that are published alike in every quasi-identifier,
    unless the column differs within one of these classes, so that it was not averaged over them; and the records
    published with the same number in the column itself, which finds columns that were averaged apart from the others.
    Where the provenance says that some columns were masked together and apart from the others, their classes take the
    place of those of all. A column as collected is no average and is left out.

    Parameters
    ----------
    published : Table
        As anybody reads it.
    original : Table
        The table before masking.
    rows : int[n]
        The record of the original behind each published record.
    least : int
        Values that an average needs.

    Returns
    -------
    dict of str to bool[n]
        Marks of every masked column of numbers.

    Examples
    --------
    >>> original = Table.from_columns({"age": [20, 30, 40, 50, 60]}, roles={"age": "quasi"})
    >>> masked = original.with_columns({"age": np.array([25.0, 25, 50, 50, 50])})
    >>> small_averages(masked, original, np.arange(5))["age"].tolist()
    [True, True, False, False, False]
    """
    found: dict[str, Flags] = {}
    every = tuple(published.quasi_identifiers)
    known = {every: classes_of(published, every)}
    for name in published.names:
        if name not in original.names or not (published.holds_numbers(name) and original.holds_numbers(name)):
            continue
        collected, shown = original.column(name)[rows], published.column(name)
        if np.array_equal(collected, shown, equal_nan=True):
            continue
        digits = decimals(collected)
        written = digits if np.array_equal(np.round(shown, digits), shown, equal_nan=True) else None
        marks = np.zeros(len(shown), dtype=np.bool_)
        together = tuple(each for each in every if each in sharing(published, name)) or every
        if together not in known:
            known[together] = classes_of(published, together)
        alike = [known[together]] if _constant(known[together], shown) else []
        for classes in (*alike, classes_of(published, [name])):
            marks |= _few(classes, collected, shown, written, least)
        found[name] = marks
    return found


def sharing(published: Table, name: str) -> tuple[str, ...]:
    """Columns masked together with one and apart from the others, as the provenance says; empty where it says none."""
    return published.provenance.sharing(name) if published.provenance is not None else ()


def _constant(classes: EquivalenceClasses, shown: Floats) -> bool:
    """Whether no class has two different published values."""
    first = np.append(shown[classes.first], np.nan)[classes.of]
    return bool(np.all((shown == first) | (np.isnan(shown) & np.isnan(first)) | (classes.of < 0)))


def _few(classes: EquivalenceClasses, collected: Floats, shown: Floats, digits: int | None, least: int) -> Flags:
    """Cells that equal the mean or median of fewer than `least` known values of their class, rounded as they are."""
    known = ~np.isnan(collected) & (classes.of >= 0)
    values, labels = collected[known], classes.of[known]
    few = np.bincount(labels, minlength=classes.count) < least
    marks = np.zeros(len(shown), dtype=np.bool_)
    for averages, there in (means(values, labels, classes.count), medians(values, labels, classes.count, lower=False)):
        rounded = averages if digits is None else np.round(averages, digits)
        equal = np.abs(np.append(rounded, np.nan)[classes.of] - shown) <= CLOSE * np.abs(shown)
        marks |= equal & np.append(few & there, False)[classes.of]
    return marks
