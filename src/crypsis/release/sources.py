"""Whether two tables are one source: the same records in another order, or mostly the same records.

A record is hashed over named columns, whatever their roles and kinds and in whatever order they stand. A table is known
by all its hashes, and by the smallest of them, a bottom-k sketch (Cohen and Kaplan 2007): of two tables hashed with one
salt, the share of the smallest hashes that are common estimates the share of the records that are.

A sketch with its salt says of at most `KEPT` records of the source, to somebody who guesses all their values in those
columns, that the guess is right; nothing else can be read from it. So both stay in a file that only its owner may read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.table.attribute import UNPUBLISHED
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

KEPT = 256
"""Hashes in a sketch."""
ENOUGH = 16
"""Common hashes below which two sketches say nothing."""
SAME = 0.5
"""Share of the records of the smaller table from which on two tables are one source; and share of different records
in a table below which equal records are no sign of a common source."""
LOST = np.uint64(0x9E3779B97F4A7C15)
"""Stands for a missing cell."""

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Sketch:
    """The smallest hashes of the records of a table.

    columns  what was hashed
    records  different records; 0 where too many are alike to tell a source by them
    smallest  at most `KEPT` hashes, ascending
    """

    columns: tuple[str, ...] = ()
    records: int = 0
    smallest: tuple[int, ...] = ()

    @classmethod
    def of(cls, table: Table, salt: str, columns: Sequence[str] | None = None) -> Sketch:
        """The sketch of a table over its published columns, or over those given.

        Parameters
        ----------
        table : Table
            As collected.
        salt : str
            Only sketches with the same one can be compared.
        columns : sequence of str, optional
            Columns to hash; one that the table has not makes the sketch empty.

        Returns
        -------
        Sketch
        """
        names = sorted(set(table.names) - set(table.named(*UNPUBLISHED))) if columns is None else list(columns)
        if not names or not set(names) <= set(table.names):
            return cls()
        different = np.unique(record_hashes(table, names, salt))
        records = len(different) if len(different) >= SAME * len(table) else 0
        return cls(tuple(names), records, tuple(map(int, different[:KEPT])) if records else ())

    def common(self, other: Sketch) -> float:
        """Share of the records of the smaller table that the other one has too, estimated; 0 where nobody knows.

        other  over the same columns, with the same salt
        """
        if not (self.records and other.records and self.columns == other.columns):
            return 0.0
        union = sorted({*self.smallest, *other.smallest})[:KEPT]
        both = len({*self.smallest} & {*other.smallest} & {*union})
        if both < ENOUGH:
            return 0.0
        alike = both / len(union)
        shared = alike * (self.records + other.records) / (1.0 + alike)
        return min(1.0, shared / min(self.records, other.records))


def source_digest(table: Table) -> str:
    """Digest of the records of a table, whatever their order and that of the columns, and whatever roles these have.

    Examples
    --------
    >>> one = Table.from_columns({"age": [3, 4]}, {"age": "quasi"})
    >>> other = Table.from_columns({"age": [4, 3]}, {"age": "confidential"})
    >>> source_digest(one) == source_digest(other)
    True
    """
    names = sorted(table.names)
    digest = hashlib.sha256("\0".join(names).encode())
    digest.update(np.sort(record_hashes(table, names, "")).tobytes())
    return digest.hexdigest()


def record_hashes(table: Table, names: Sequence[str], salt: str) -> Hashes:
    """uint64[n]: a hash of every record over some columns.

    table  a table
    names  the columns, in this order
    salt  another one gives other hashes
    """
    found = np.zeros(len(table), dtype=np.uint64)
    for name in names:
        found = _mixed(found ^ (_cells(table, name) + _hash(f"{salt}\0{name}")))
    return found


def _cells(table: Table, name: str) -> Hashes:
    """uint64[n]: the values of a column; a number is the same whether it is read as a number or as a category."""
    column = table.column(name)
    if table.holds_numbers(name):
        lost = np.isnan(column)
        return np.where(lost, LOST, _bits(np.where(lost, 0.0, column)))
    labels = [
        _bits(np.array([number]))[0] if (number := _number(text)) is not None else _hash(text)
        for text in table.labels(name)
    ]
    every = np.array([*labels, LOST], dtype=np.uint64)
    return every[np.where(column == MISSING, len(labels), column)]


def _bits(numbers: NDArray[np.float64]) -> Hashes:
    """The bits of numbers, those of 0 for −0."""
    return np.asarray(_mixed((numbers + 0.0).view(np.uint64)))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if np.isnan(number) else number


def _hash(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little"))


def _mixed(values: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit depends on every bit."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))
