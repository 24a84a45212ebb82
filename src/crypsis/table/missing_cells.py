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

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.table.equivalence_classes import Codes, EquivalenceClasses, Flags, Floats, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

MissingReading = Literal["own", "conservative", "target", "wildcard"]
READINGS: tuple[MissingReading, ...] = get_args(MissingReading)
"""The readings, the strictest first."""
IN_WORDS: dict[MissingReading, str] = {
    "own": "a missing value counts as a value of its own",
    "conservative": "records count as alike only if they are, whatever the missing values of the person may be",
    "target": "a record counts as alike if none of its values contradicts the true values of the person",
    "wildcard": "a missing value counts as equal to every value",
}
"""What each reading takes as equal, for statements."""


def alike_records(table: Table, names: Sequence[str], reading: MissingReading, original: Table | None = None) -> Floats:
    """Count for every kept record of a table the kept records that are alike in some columns.

    Parameters
    ----------
    table : Table
        What is published.
    names : sequence of str
        Columns that are compared.
    reading : {"own", "conservative", "target", "wildcard"}
        How a missing cell is read.
    original : Table, optional
        The true values, row by row, for `target`; without them it is read as `conservative`, which counts no more.

    Returns
    -------
    float64[n]
        NaN for a suppressed record.

    Examples
    --------
    >>> people = Table.from_columns({"sex": ["f", "f", "f"], "town": ["a", None, "b"]}, {"sex": "quasi"})
    >>> {reading: alike_records(people, ["sex", "town"], reading).tolist() for reading in READINGS}["conservative"]
    [2.0, 1.0, 2.0]
    """
    codes, found = table.codes(names), np.full(len(table), np.nan)
    kept, shown = table.kept, codes[table.kept]
    if reading == "own":
        found[kept] = count_own(shown)
    elif reading == "wildcard":
        found[kept] = count_wildcard(shown)
    else:
        truth = codes if reading == "conservative" or original is None else true_codes(table, original, names)
        found[kept] = count_target(shown, truth[kept])
    return found


def true_codes(masked: Table, original: Table, names: Sequence[str]) -> NDArray[np.int32]:
    """What is published, with the true value wherever a cell was blanked, in the numbering of what is published.

    A true value is taken at the level at which its column is published. One that occurs nowhere in the published
    column, or whose column is published at several levels, has a code of its own: no published value is taken as
    equal to it, so that fewer records are counted, never more.

    Raises
    ------
    TableError
        If the tables have different numbers of rows.

    Examples
    --------
    >>> people = Table.from_columns({"town": ["a", "b", "b"]}, {"town": "quasi"})
    >>> true_codes(people.with_columns({"town": np.array([0, 1, -1], np.int32)}), people, ["town"]).ravel().tolist()
    [0, 1, 1]
    """
    if len(masked) != len(original):
        raise TableError(
            f"the original has {len(original)} rows and the masked table {len(masked)}; rows must correspond"
        )
    codes = masked.codes(names)
    for place, name in enumerate(names):
        blanked = codes[:, place] == MISSING
        if name in original.names:
            blanked &= original.codes([name])[:, 0] != MISSING
        if blanked.any() and name in original.names:
            codes[blanked, place] = _numbered(masked, original, name)[blanked]
    return codes


def _numbered(masked: Table, original: Table, name: str) -> NDArray[np.int32]:
    """int32[n]: the true values of a column in the numbering of what is published; beyond it where that has none."""
    level, hierarchy = masked.level(name), original.attribute(name).hierarchy
    if masked.holds_numbers(name) and original.holds_numbers(name):
        values = masked.column(name)
        shown, true = np.unique(values[~np.isnan(values)]), original.column(name)
        place = np.searchsorted(shown, true)
        same = np.append(shown, np.nan)[place] == true
        return np.where(same, place, len(shown)).astype(np.int32)
    if masked.holds_numbers(name) or original.level(name) != 0:
        return np.full(len(masked), np.iinfo(np.int32).max, dtype=np.int32)
    numbers = {label: code for code, label in enumerate(masked.labels(name))}
    if level > 0 and hierarchy is not None:
        codes, labels = hierarchy.lift(original.leaf_codes(name), level), hierarchy.labels[level]
    elif level == 0 and not original.holds_numbers(name):
        codes, labels = original.column(name), original.labels(name)
    else:
        return np.full(len(masked), len(numbers), dtype=np.int32)
    known = np.array([*(numbers.get(label, len(numbers)) for label in labels), len(numbers)], dtype=np.int32)
    return known[codes]


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
