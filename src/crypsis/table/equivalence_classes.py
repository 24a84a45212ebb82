"""Equivalence classes: records with equal codes, how many there are of each, and what they hold.

This is the one place where rows of codes become classes. A missing value has the code −1 and is a value of its own;
`crypsis.table.missing_cells` counts equal records under other readings of a missing cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """The class of every row; classes are numbered from 0 in the lexicographic order of their codes.

    of  int64[n]: class of each row; −1 for a row that was left out
    """

    of: Integers
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

        Parameters
        ----------
        per_class : float64[classes]
            A number for each class.

        Returns
        -------
        float64[n]
            NaN for a row in no class.
        """
        return np.append(per_class, np.nan)[self.of]

    def totals(self, records: Integers) -> Integers:
        """Records of each class, for rows that stand for several records.

        Parameters
        ----------
        records : int64[n]
            Records of each row.

        Returns
        -------
        int64[classes]
        """
        inside = self.of >= 0
        found = np.zeros(self.count, dtype=np.int64)
        np.add.at(found, self.of[inside], records[inside])
        return found

    def contents(self, values: Codes) -> ClassContents:
        """Count the values of one column in every class.

        Parameters
        ----------
        values : int[n]
            A code per row; a missing value is −1, a value of its own.

        Returns
        -------
        ClassContents

        Examples
        --------
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
    """How often each value of a column occurs in each class: the pairs that occur, by class, then by value.

    Attributes
    ----------
    owner, value, count : int64[pairs]
        The class, the rank of the value among those that occur, and the rows that hold it there.
    pair : int64[n]
        The pair of each row; −1 for a row that was left out.
    overall : float64[values]
        Share of each value among all rows that belong to a class.
    classes : int
        Number of classes; one without rows holds nothing.
    """

    owner: Integers
    value: Integers
    count: Integers
    pair: Integers
    overall: Floats
    classes: int

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
    """Group equal rows of codes.

    Parameters
    ----------
    codes : int[n, p]
        Codes of any size and sign; all rows are equal if there are no columns.
    kept : bool[n], optional
        Rows that belong to a class; every row unless given.

    Returns
    -------
    EquivalenceClasses

    Examples
    --------
    >>> found = equivalence_classes(np.array([[1, 0], [0, -1], [1, 0]]))
    >>> found.of.tolist(), found.sizes.tolist(), found.first.tolist()
    ([1, 0, 1], [1, 2], [1, 0])
    """
    if kept is None or kept.all():
        return EquivalenceClasses(*_grouped(codes))
    inside, count = _grouped(codes[kept])
    of = np.full(len(codes), -1, dtype=np.int64)
    of[kept] = inside
    return EquivalenceClasses(of, count)


def classes_of(table: Table, names: Sequence[str]) -> EquivalenceClasses:
    """Equivalence classes of the kept records of a table.

    Parameters
    ----------
    table : Table
        The records; suppressed ones are in no class.
    names : sequence of str
        Columns on which the records of a class are equal.

    Returns
    -------
    EquivalenceClasses
    """
    return equivalence_classes(table.codes(names), table.kept)


# -- packing --


def columns_by_key(radices: Sequence[int]) -> list[list[int]]:
    """Positions of the columns that share a key: as few keys as `LARGEST_KEY` allows, columns in their order.

    Parameters
    ----------
    radices : sequence of int
        Number of codes of each column.

    Returns
    -------
    list of lists of int

    Examples
    --------
    >>> columns_by_key([1 << 40, 1 << 22, 2])
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


def pack(rows: int, columns: Iterable[Codes], radices: Sequence[int]) -> Integers:
    """Pack columns of codes into one integer per row, in lexicographic order.

    Parameters
    ----------
    rows : int
        Number of rows.
    columns : iterable of int[n]
        Codes with 0 ≤ code < radix.
    radices : sequence of int
        Number of codes of each column.

    Returns
    -------
    int64[n]

    Examples
    --------
    >>> pack(2, [np.array([0, 1]), np.array([2, 0])], [2, 3]).tolist()
    [2, 3]
    """
    key = np.zeros(rows, dtype=np.int64)
    for column, radix in zip(columns, radices, strict=True):
        key *= radix
        key += column
    return key


def _grouped(codes: Codes) -> tuple[Integers, int]:
    """The rank of every row among the distinct rows, and how many those are."""
    if not len(codes):
        return np.empty(0, dtype=np.int64), 0
    low = [int(column.min()) for column in codes.T]
    radices = [int(column.max()) - least + 1 for column, least in zip(codes.T, low, strict=True)]
    keys = []
    for places in columns_by_key(radices):
        columns = (np.subtract(codes[:, place], low[place], dtype=np.int64) for place in places)
        keys.append(pack(len(codes), columns, [radices[place] for place in places]))
    if len(keys) > 1:  # ranks are small, so that the next call packs at least two of them together
        return _grouped(np.stack([_ranked(key)[0] for key in keys], axis=1))
    return _ranked(keys[0])


def _ranked(key: Integers) -> tuple[Integers, int]:
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
