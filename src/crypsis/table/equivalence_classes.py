"""Equivalence classes: records with equal codes, how many there are of each, and what they hold.

This is the one place where rows of codes become classes. A missing value has the code −1 and is a value of its own;
`alike_records` counts equal records under other readings of a missing cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

Codes = NDArray[np.integer[Any]]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LARGEST_KEY = 1 << 62
"""A packed key stays below this."""
DENSE = 4
"""Keys below this many times the number of rows are ranked by counting, others by sorting."""


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The class of every row; classes are numbered from 0 in the lexicographic order of their codes."""

    of: Integers  # int64[n]: class of each row; −1 for a row that was left out
    count: int

    @cached_property
    def sizes(self) -> Integers:
        """int64[classes]: rows of each class."""
        return np.bincount(self.of[self.of >= 0], minlength=self.count)

    @cached_property
    def first(self) -> Integers:
        """int64[classes]: the first row of each class."""
        rows = np.flatnonzero(self.of >= 0)[::-1]
        first = np.empty(self.count, dtype=np.int64)
        first[self.of[rows]] = rows
        return first

    def spread_out(self, per_class: Floats) -> Floats:
        """One number per class as one number per row.

        `per_class` float64[classes]; returns float64[n].
        """
        return np.append(per_class, np.nan)[self.of]

    def totals(self, records: Integers) -> Integers:
        """Records of each class, for rows that stand for several records.

        `records` int64[n]; returns int64[classes].
        """
        inside = self.of >= 0
        found = np.zeros(self.count, dtype=np.int64)
        np.add.at(found, self.of[inside], records[inside])
        return found

    def contents(self, values: Codes) -> ClassContents:
        """Count the values of one column in every class.

        `values` int[n].

        >>> classes = equivalence_classes(np.array([[0], [0], [1], [0]]))
        >>> held = classes.contents(np.array([7, 5, 5, 7]))
        >>> held.owner.tolist(), held.value.tolist(), held.count.tolist()
        ([0, 0, 1], [0, 1, 0], [1, 2, 1])
        """
        known = equivalence_classes(values[:, None], self.of >= 0)
        pairs = equivalence_classes(np.stack([self.of, known.of], axis=1), self.of >= 0)
        owner, value = self.of[pairs.first], known.of[pairs.first]
        overall = known.sizes / max(int(known.sizes.sum()), 1)
        return ClassContents(owner, value, pairs.sizes, pairs.of, overall, self.count)


@dataclass(frozen=True, eq=False)
class ClassContents:
    """How often each value of a column occurs in each class: the pairs that occur, by class, then by value."""

    # int64[pairs]: the class, the rank of the value among those that occur, and the rows that hold it there
    owner: Integers
    value: Integers
    count: Integers
    pair: Integers  # int64[n]: the pair of each row; −1 for a row that was left out
    overall: Floats  # float64[values]: share of each value among all rows that belong to a class
    classes: int  # number of classes; one without rows holds nothing

    @property
    def values(self) -> int:
        """Number of different values over all classes."""
        return len(self.overall)

    @cached_property
    def distinct(self) -> Integers:
        """int64[classes]: number of different values in each class."""
        return np.bincount(self.owner, minlength=self.classes)

    @cached_property
    def most(self) -> Integers:
        """int64[classes]: rows that hold the commonest value of each class."""
        most = np.zeros(len(self.distinct), dtype=np.int64)
        np.maximum.at(most, self.owner, self.count)
        return most

    @cached_property
    def bitsets(self) -> NDArray[np.uint64]:
        """uint64[classes, words]: one bit per value, set where the class holds it."""
        held = np.zeros((len(self.distinct), (self.values + 63) // 64), dtype=np.uint64)
        bits = np.left_shift(np.uint64(1), (self.value % 64).astype(np.uint64))
        np.bitwise_or.at(held, (self.owner, self.value // 64), bits)
        return held


def equivalence_classes(codes: Codes, kept: Flags | None = None) -> EquivalenceClasses:
    """Equivalence classes of rows with equal codes.

    `codes` int[n, p]; `kept` bool[n]: rows that belong to a class; every row unless given.

    >>> found = equivalence_classes(np.array([[1, 0], [0, -1], [1, 0]]))
    >>> found.of.tolist(), found.sizes.tolist(), found.first.tolist()
    ([1, 0, 1], [1, 2], [1, 0])
    """
    if kept is None or kept.all():
        return EquivalenceClasses(*_rank_rows(codes))
    inside, count = _rank_rows(codes[kept])
    of = np.full(len(codes), -1, dtype=np.int64)
    of[kept] = inside
    return EquivalenceClasses(of, count)


def classes_of(table: Table, names: Sequence[str]) -> EquivalenceClasses:
    """Equivalence classes of the kept records of a table, made once for the columns asked for last."""
    known, key = _known.setdefault(table, {}), tuple(names)
    found = known.get(key)
    if found is None:
        found = equivalence_classes(table.codes(key), table.kept)
        found.of.flags.writeable = False
        for old in list(known)[: max(0, len(known) + 1 - REMEMBERED)]:
            known.pop(old, None)
        known[key] = found
    return found


REMEMBERED = 4
"""Sets of columns of one table whose classes are kept while the table lives."""
_known: WeakKeyDictionary[Table, dict[tuple[str, ...], EquivalenceClasses]] = WeakKeyDictionary()


# -- packing --


def class_columns_by_key(radices: Sequence[int]) -> list[list[int]]:
    """Columns that share a key in finding equivalence classes: few keys, as `LARGEST_KEY` allows, in their order.

    >>> class_columns_by_key([1 << 40, 1 << 22, 2])
    [[0, 1], [2]]
    """
    parts: list[list[int]] = [[]]
    span = 1
    for place, radix in enumerate(radices):
        if parts[-1] and span * radix > LARGEST_KEY:
            parts.append([])
            span = 1
        parts[-1].append(place)
        span *= radix
    return parts


def pack_class_codes(rows: int, columns: Iterable[Codes], radices: Sequence[int]) -> Integers:
    """Pack a record's codes into one integer, so that a table's equivalence classes are found by sorting.

    `columns` int[n]; returns int64[n].

    >>> pack_class_codes(2, [np.array([0, 1]), np.array([2, 0])], [2, 3]).tolist()
    [2, 3]
    """
    key = np.zeros(rows, dtype=np.int64)
    for column, radix in zip(columns, radices, strict=True):
        key *= radix
        key += column
    return key


def _rank_rows(codes: Codes) -> tuple[Integers, int]:
    """The rank of every row among the distinct rows, and how many those are."""
    if not len(codes):
        return np.empty(0, dtype=np.int64), 0
    low = [int(column.min()) for column in codes.T]
    radices = [int(column.max()) - least + 1 for column, least in zip(codes.T, low, strict=True)]
    keys = []
    for places in class_columns_by_key(radices):
        columns = (np.subtract(codes[:, place], low[place], dtype=np.int64) for place in places)
        keys.append(pack_class_codes(len(codes), columns, [radices[place] for place in places]))
    if len(keys) > 1:  # ranks are small, so that the next call packs at least two of them together
        return _rank_rows(np.stack([_rank_keys(key)[0] for key in keys], axis=1))
    return _rank_keys(keys[0])


def _rank_keys(key: Integers) -> tuple[Integers, int]:
    """Keys replaced by their rank among the distinct ones, and how many there are."""
    top = int(key.max()) + 1
    if top <= DENSE * len(key):
        ranks = np.cumsum(np.bincount(key, minlength=top) > 0) - 1
        return ranks[key], int(ranks[-1]) + 1
    order = np.argsort(key)
    ascending = key[order]
    risen = np.cumsum(np.concatenate([[False], ascending[1:] != ascending[:-1]]))
    ranks = np.empty(len(key), dtype=np.int64)
    ranks[order] = risen
    return ranks, int(risen[-1]) + 1


# -- Equal records where cells are missing or suppressed: four readings of such a cell.
#
# own           a missing cell is a value of its own: the size of the equivalence class
# conservative  for cells missing from the start: records that match whatever the missing cell may be
# target        for cells that the custodian suppressed: records that match the true record, which the intruder knows
# wildcard      a missing cell matches every value (the convention of sdcMicro)
#
# For every record own ≤ conservative ≤ target ≤ wildcard with α = 1, and without missing cells all are equal. The
# relations behind the last three are not transitive: there are counts but no classes. Codes are int[n, p] with −1 for a
# missing cell. With `weights`, records are counted by their weight.
#
# The cost is that of grouping the distinct rows once per pattern of missing cells (once per pair of patterns for
# wildcard), never of comparing all pairs of records.

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
HOW_READ = (
    "which records are alike where cells are missing; own, the strictest: a missing value is a value of its own; "
    "conservative: alike whatever the missing values of a person may be; target: not contradicted by the true values "
    "of a person; wildcard: a missing value equals every value, which overstates protection"
)
"""Description of the setting that names a reading."""


def alike_records(
    table: Table,
    names: Sequence[str],
    reading: MissingReading,
    original: Table | None = None,
    weights: Floats | None = None,
) -> Floats:
    """Count for every kept record of a table the kept records that are alike in some columns.

    `original`: the true values, for `target`; `weights` float64[n]; returns float64[n], NaN for a record not kept.

    >>> people = Table.from_columns({"sex": ["f", "f", "f"], "town": ["a", None, "b"]}, {"sex": "quasi"})
    >>> {reading: alike_records(people, ["sex", "town"], reading).tolist() for reading in READINGS}["conservative"]
    [2.0, 1.0, 2.0]
    """
    kept = table.kept
    each = None if weights is None else weights[kept]
    if reading == "own":
        classes = classes_of(table, names)
        inside = classes.of[kept]
        return classes.spread_out(np.bincount(inside, each, minlength=classes.count).astype(np.float64))
    codes, found = table.codes(names), np.full(len(table), np.nan)
    if reading == "wildcard":
        found[kept] = count_wildcard_class(codes[kept], weights=each)
    else:
        truth = (
            codes if reading == "conservative" or original is None else true_codes_in_classes(table, original, names)
        )
        found[kept] = count_target_class(codes[kept], truth[kept], each)
    return found


def count_persons_alike(masked: Table, names: Sequence[str], original: Table | None = None) -> Floats:
    """For every kept record, the other side of its class: how many kept persons it contradicts in no cell.

    A true value that is missing too is read conservatively: a published value contradicts it. Without the original the
    published cells stand for the true ones, which counts fewer persons, never more.

    Returns float64[n], NaN for a record not kept.

    >>> people = Table.from_columns({"sex": ["f", "f", "m"], "town": ["a", "b", "b"]}, {"sex": "quasi"})
    >>> masked = people.with_columns({"town": np.array([-1, 1, 1], np.int32)})
    >>> count_persons_alike(masked, ["sex", "town"], people).tolist()
    [2.0, 1.0, 1.0]
    """
    kept, shown = masked.kept, masked.codes(names)
    truth = shown if original is None else true_codes_in_classes(masked, original, names)
    records, persons = equivalence_classes(shown[kept]), equivalence_classes(truth[kept])
    rows, known, amounts = shown[kept][records.first], truth[kept][persons.first], _amounts(persons, None)
    alike = np.zeros(records.count)
    for present, members in _patterns(rows):
        alike[members] = _equal(known[:, present], amounts, rows[members][:, present])
    found = np.full(len(masked), np.nan)
    found[kept] = alike[records.of]
    return found


def alike_on_both_sides(
    table: Table, names: Sequence[str], reading: MissingReading, original: Table | None = None
) -> Floats:
    """What k-anonymity counts for every kept record of a class: `alike_records`, by true values both sides.

    Under `target` the smaller of two numbers: the records that may be a person's, and the persons whose a record may
    be, as (k, k)-anonymity demands (Gionis, Mazza and Tassa 2008). Under the other readings both sides agree or the
    first is the smaller.
    """
    found = alike_records(table, names, reading, original)
    return found if reading != "target" else np.minimum(found, count_persons_alike(table, names, original))


def missing_in_class_columns(table: Table, names: Sequence[str]) -> bool:
    """Whether records lack values in columns, so that equivalence classes depend on how missing is read."""
    return bool((table.codes(names)[table.kept] == MISSING).any())


@dataclass(frozen=True)
class ReadingCount:
    """How many records are alike in a table under one reading of missing cells."""

    smallest: int  # fewest records alike with one
    alone: int  # records with which no other is alike


def count_class_readings(
    table: Table, names: Sequence[str], original: Table | None = None
) -> dict[MissingReading, ReadingCount]:
    """Equivalence classes of a table counted under every reading of missing values, where the counts differ.

    Without the original `target`, which needs the true values, is left out.

    >>> people = Table.from_columns({"sex": ["f", "f", "m"], "town": ["a", None, "b"]}, {"sex": "quasi"})
    >>> {reading: count.alone for reading, count in count_class_readings(people, ["sex", "town"]).items()}
    {'own': 3, 'conservative': 2, 'wildcard': 1}
    """
    if not names or not missing_in_class_columns(table, names):
        return {}
    found = {
        reading: alike_records(table, names, reading, original)[table.kept]
        for reading in READINGS
        if reading != "target" or original is not None
    }
    first = found["own"]
    if all(np.array_equal(first, counts) for counts in found.values()):
        return {}
    return {reading: ReadingCount(int(counts.min()), int((counts == 1).sum())) for reading, counts in found.items()}


def true_codes_in_classes(masked: Table, original: Table, names: Sequence[str]) -> NDArray[np.int32]:
    """Codes for equivalence with the true value wherever a cell was blanked, in the numbering of what is published.

    A true value is taken at the level at which its column is published. One that occurs nowhere in the published
    column, or whose column is published at several levels, has a code of its own: no published value is taken as
    equal to it, so that fewer records are counted, never more.

    >>> people = Table.from_columns({"town": ["a", "b", "b"]}, {"town": "quasi"})
    >>> blanked = people.with_columns({"town": np.array([0, 1, -1], np.int32)})
    >>> true_codes_in_classes(blanked, people, ["town"]).ravel().tolist()
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
            codes[blanked, place] = _number_values(masked, original, name)[blanked]
    return codes


def _number_values(masked: Table, original: Table, name: str) -> NDArray[np.int32]:
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


def count_own_class(codes: Codes, weights: Floats | None = None) -> Floats:
    """Size of every record's equivalence class by equal cells; a missing cell equals a missing cell only.

    `codes` int[n, p]; `weights` float64[n].

    >>> count_own_class(np.array([[0, 1], [0, -1], [0, 1]])).tolist()
    [2.0, 1.0, 2.0]
    """
    classes = equivalence_classes(codes)
    return _amounts(classes, weights)[classes.of]


def count_conservative_class(codes: Codes, weights: Floats | None = None) -> Floats:
    """Equivalence with missing cells: for every record, those that match it whatever its missing cells may be.

    A record matches if it has no cell that the other lacks, and equals it in its own cells.

    `codes` int[n, p]; `weights` float64[n].

    >>> count_conservative_class(np.array([[0, 1], [0, -1], [0, 1]])).tolist()
    [3.0, 1.0, 3.0]
    """
    return count_target_class(codes, codes, weights)


def count_target_class(codes: Codes, truth: Codes, weights: Floats | None = None) -> Floats:
    """Size, for every true record, of the published equivalence classes whose codes do not rule it out.

    `codes` int[n, p]; `truth` int[m, p]: what the intruder knows, in the same numbering. A cell missing here is read
    conservatively: a published value in its place rules a record out; `weights` float64[n]; returns float64[m].

    >>> count_target_class(np.array([[0, 1], [0, -1], [0, 1]]), np.array([[0, 1], [0, 2], [0, 1]])).tolist()
    [3.0, 1.0, 3.0]
    """
    classes, known = equivalence_classes(codes), equivalence_classes(truth)
    rows, amounts, wanted = codes[classes.first], _amounts(classes, weights), truth[known.first]
    found = np.zeros(known.count)
    for present, members in _patterns(rows):
        able = (wanted[:, present] != MISSING).all(axis=1)
        found[able] += _equal(rows[members][:, present], amounts[members], wanted[able][:, present])
    return found[known.of]


def count_wildcard_class(codes: Codes, alpha: float = 1.0, weights: Floats | None = None) -> Floats:
    """Equivalence with missing cells: for every record, those that differ from it in no cell present in both.

    With α = 0 a record with missing cells still counts every complete record that it matches, so that this differs
    from `count_own_class`.

    `codes` int[n, p]; `weights` float64[n]; returns float64[n].

    >>> count_wildcard_class(np.array([[0, 1], [0, -1], [0, 2]]), alpha=0.5).tolist()
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


def equivalence_class_sizes(table: Table, quasi_identifiers: Sequence[str]) -> Floats:
    """Sizes of equivalence classes: how many records share each record's quasi-identifiers."""
    classes = classes_of(table, quasi_identifiers)
    return classes.spread_out(classes.sizes.astype(np.float64))
