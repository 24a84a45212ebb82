"""Equal records where cells are missing or suppressed: four readings of such a cell.

own           a missing cell is a value of its own: the size of the equivalence class
conservative  for cells missing from the start: records that match whatever the missing cell may be
target        for cells that the custodian suppressed: records that match the true record, which the intruder knows
wildcard      a missing cell matches every value (the convention of sdcMicro)

For every record own ≤ conservative ≤ target ≤ wildcard with α = 1, and without missing cells all are equal. The
relations behind the last three are not transitive: there are counts but no classes. Codes are int[n, p] with −1 for a
missing cell. With `weights`, records are counted by their weight.

The cost is that of grouping the distinct rows once per pattern of missing cells (once per pair of patterns for
wildcard), never of comparing all pairs of records.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crypsis.table.equivalence_classes import Codes, EquivalenceClasses, Flags, Floats, equivalence_classes
from crypsis.table.hierarchy import MISSING


def count_own(codes: Codes, weights: Floats | None = None) -> Floats:
    """Count for every record the records with equal cells; a missing cell equals a missing cell only.

    codes  int[n, p]: what is published
    weights  float64[n], optional: how many records each counts for

    Examples
    --------
    >>> count_own(np.array([[0, 1], [0, -1], [0, 1]])).tolist()
    [2.0, 1.0, 2.0]
    """
    classes = equivalence_classes(codes)
    return _amounts(classes, weights)[classes.of]


def count_conservative(codes: Codes, weights: Floats | None = None) -> Floats:
    """Count for every record the records that match it whatever its missing cells may be.

    A record matches if it has no cell that the other lacks, and equals it in its own cells.

    codes  int[n, p]: what is published
    weights  float64[n], optional: weight of each record

    Examples
    --------
    >>> count_conservative(np.array([[0, 1], [0, -1], [0, 1]])).tolist()
    [3.0, 1.0, 3.0]
    """
    return count_target(codes, codes, weights)


def count_target(codes: Codes, truth: Codes, weights: Floats | None = None) -> Floats:
    """Count for every true record the published records an intruder who knows it cannot rule out.

    Parameters
    ----------
    codes : int[n, p]
        What is published; a missing cell may have any value.
    truth : int[m, p]
        What the intruder knows, in the same numbering. A cell missing here is read conservatively: a published value
        in its place rules a record out.
    weights : float64[n], optional
        Weight of each published record.

    Returns
    -------
    float64[m]

    Examples
    --------
    >>> count_target(np.array([[0, 1], [0, -1], [0, 1]]), np.array([[0, 1], [0, 2], [0, 1]])).tolist()
    [3.0, 1.0, 3.0]
    """
    classes, known = equivalence_classes(codes), equivalence_classes(truth)
    rows, amounts, wanted = codes[classes.first], _amounts(classes, weights), truth[known.first]
    found = np.zeros(known.count)
    for present, members in _patterns(rows):
        able = (wanted[:, present] != MISSING).all(axis=1)
        found[able] += _equal(rows[members][:, present], amounts[members], wanted[able][:, present])
    return found[known.of]


def count_wildcard(codes: Codes, alpha: float = 1.0, weights: Floats | None = None) -> Floats:
    """Count for every record the records that differ from it in no cell present in both.

    Parameters
    ----------
    codes : int[n, p]
        What is published.
    alpha : float
        Count of another record with a missing cell, 0 … 1; equal and complete records count 1.
    weights : float64[n], optional
        Weight of each record.

    Returns
    -------
    float64[n]

    Notes
    -----
    With α = 0 a record with missing cells still counts every complete record that it matches, so that this differs
    from `count_own`.

    Examples
    --------
    >>> count_wildcard(np.array([[0, 1], [0, -1], [0, 2]]), alpha=0.5).tolist()
    [1.5, 3.0, 1.5]
    """
    classes = equivalence_classes(codes)
    rows, amounts = codes[classes.first], _amounts(classes, weights)
    found, patterns = amounts.copy(), list(_patterns(rows))
    for theirs, others in patterns:
        counted = amounts[others] * (1.0 if theirs.all() else alpha)
        for ours, members in patterns:
            if ours is not theirs:  # rows of one pattern match only where they are equal
                both = ours & theirs
                found[members] += _equal(rows[others][:, both], counted, rows[members][:, both])
    return found[classes.of]


def _amounts(classes: EquivalenceClasses, weights: Floats | None) -> Floats:
    """float64[classes]: records of each class, or their weights added up."""
    return np.asarray(np.bincount(classes.of, weights, minlength=classes.count), dtype=np.float64)


def _patterns(rows: Codes) -> Iterator[tuple[Flags, Flags]]:
    """Every pattern of present cells that occurs: its columns, and which rows have it."""
    present = rows != MISSING
    classes = equivalence_classes(present.astype(np.int32))
    for number, row in enumerate(classes.first):
        yield present[row], classes.of == number


def _equal(rows: Codes, amounts: Floats, wanted: Codes) -> Floats:
    """For each wanted row the amounts of the rows equal to it."""
    both = equivalence_classes(np.concatenate([rows, wanted]))
    found: Floats = np.bincount(both.of[: len(rows)], weights=amounts, minlength=both.count).astype(np.float64)
    return found[both.of[len(rows) :]]
