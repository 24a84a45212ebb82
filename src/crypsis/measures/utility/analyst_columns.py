"""The columns of a file as an analyst reads them: numbers, and groups by their published labels.

A generalised number is the middle of its group, a generalised category has its published label, suppressed records are
not there. Which columns take part, their levels and their scales are those of the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats
from crypsis.measures.pairing import finite_numbers, published_numbers
from crypsis.measures.sampling import evenly
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

MOST_VALUES = 20
"""A column with more values forms no groups."""
FEWEST = 20
"""Records below which a value is no level: its name and its figures would be those of few people."""
MOST_LEVELS = 6
"""Levels of a group that take part, the commonest first."""
PRESENT = 0.5
"""A column of which a smaller share is present is left out."""
SAMPLE = 20_000
"""Records on which models are fitted; of a larger file so many at equal distances."""
SAME = 1e-6
"""Relative difference of two numbers that are the same value: what six printed digits show."""

ELSE, ABSENT = -1, -2
"""Codes of a value that is no level, and of none."""

D = TypeVar("D", np.float64, np.int8)
Codes = NDArray[np.int8]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class NumberColumn:
    """A number of the original: its mean and its standard deviation."""

    name: str
    centre: float
    scale: float


@dataclass(frozen=True)
class GroupColumn:
    """A column that forms groups: labels of its levels, the commonest first; their numbers where it holds numbers."""

    name: str
    labels: tuple[str, ...]
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class AnalystColumns:
    """The columns of an original that analyses can use.

    rows     records of the original
    numbers  by name
    groups   by name; a number of few values is among both
    """

    rows: int
    numbers: Mapping[str, NumberColumn]
    groups: Mapping[str, GroupColumn]

    @classmethod
    def of(cls, original: Table, names: Sequence[str]) -> AnalystColumns:
        """The usable ones of some columns: neither constant nor mostly missing."""
        numbers, groups = dict[str, NumberColumn](), dict[str, GroupColumn]()
        for name in names:
            if original.rows == 0 or float(original.missing(name).mean()) > 1 - PRESENT:
                continue
            if not original.holds_numbers(name):
                found = _category(original, name)
            else:
                values = finite_numbers(original, name)
                held = values[~np.isnan(values)]
                distinct, counts = np.unique(held, return_counts=True)
                if len(distinct) > 2:
                    numbers[name] = NumberColumn(name, float(held.mean()), float(held.std()))
                order = sorted(range(len(distinct)), key=lambda i: (-counts[i], distinct[i]))
                levels = [float(distinct[i]) for i in order if counts[i] >= FEWEST][:MOST_LEVELS]
                few = 1 < len(distinct) <= MOST_VALUES
                found = GroupColumn(name, tuple(f"{v:g}" for v in levels), tuple(levels)) if few else None
            if found is not None and len(found.labels) > 1:
                groups[name] = found
        return cls(original.rows, numbers, groups)


def published_columns(original: Table) -> tuple[str, ...]:
    """The columns that analysts get: no identifier, household or undecided column."""
    hidden = set(original.named(*UNPUBLISHED, Role.UNDECIDED))
    return tuple(name for name in original.names if name not in hidden)


def _category(original: Table, name: str) -> GroupColumn | None:
    codes, labels = original.column(name), original.labels(name)
    counts = np.bincount(codes[codes != MISSING], minlength=len(labels))
    if not 1 < int((counts > 0).sum()) <= MOST_VALUES:
        return None
    order = sorted(range(len(labels)), key=lambda code: (-counts[code], labels[code]))
    return GroupColumn(name, tuple(labels[code] for code in order if counts[code] >= FEWEST)[:MOST_LEVELS])


class AnalystFile:
    """One file with the columns of an original; each column is read when it is first asked for.

    columns  of the original
    table    the file, row by row the records of the original
    """

    def __init__(self, columns: AnalystColumns, table: Table) -> None:
        self.columns, self.table = columns, table
        self.kept: Rows = np.flatnonzero(table.kept)
        sample = evenly(columns.rows, SAMPLE)
        self._sample: Rows = np.flatnonzero(np.isin(self.kept, sample)) if columns.rows > SAMPLE else self.kept
        self._whole = columns.rows <= SAMPLE
        self._numbers: dict[str, Floats] = {}
        self._codes: dict[str, Codes] = {}
        self._designs: dict[str, tuple[Floats, NDArray[np.bool_]]] = {}

    @property
    def records(self) -> int:
        """Published records."""
        return len(self.kept)

    def number(self, name: str) -> Floats:
        """float64[published]: a column of numbers, NaN where it has none, or is not published as numbers."""
        if name not in self._numbers:
            try:
                read = published_numbers(self.table, name)[self.kept]
            except TableError:  # not published, or as categories without numbers
                read = np.full(self.records, np.nan)
            self._numbers[name] = read
        return self._numbers[name]

    def present(self, name: str) -> Floats:
        """The numbers of a column that are there."""
        values = self.number(name)
        return values[~np.isnan(values)]

    def codes(self, name: str) -> Codes:
        """int8[published]: place of the published value among the levels, `ELSE` or `ABSENT`."""
        if name not in self._codes:
            group = self.columns.groups[name]
            if name not in self.table.names:
                self._codes[name] = np.full(self.records, ABSENT, dtype=np.int8)
            elif self.table.holds_numbers(name):
                self._codes[name] = self._counted(group)
            else:
                place = {label: level for level, label in enumerate(group.labels)}
                known = [place.get(label, ELSE) for label in self.table.labels(name)]
                self._codes[name] = np.array([*known, ABSENT], dtype=np.int8)[self.table.column(name)[self.kept]]
        return self._codes[name]

    def _counted(self, group: GroupColumn) -> Codes:
        """Levels of a column of numbers."""
        values = finite_numbers(self.table, group.name)[self.kept]
        codes = np.where(np.isnan(values), ABSENT, ELSE).astype(np.int8)
        if not group.values:
            return codes
        for level, value in enumerate(group.values):
            codes[np.abs(values - value) <= SAME * max(abs(value), SAME)] = level
        return codes

    def design(self, name: str) -> tuple[Floats, NDArray[np.bool_]]:
        """Columns of a design on the sampled records, and which records have a value.

        A number is scaled by the original: float64[m, 1]; a group has a column for each level but the first.
        """
        if name not in self._designs:
            if name in self.columns.numbers:
                number = self.columns.numbers[name]
                values = (self._sampled(self.number(name)) - number.centre) / number.scale
                self._designs[name] = values[:, None], ~np.isnan(values)
            else:
                codes = self._sampled(self.codes(name))
                levels = np.arange(1, len(self.columns.groups[name].labels))
                self._designs[name] = (codes[:, None] == levels).astype(np.float64), codes != ABSENT
        return self._designs[name]

    def event(self, name: str, level: int) -> tuple[Floats, NDArray[np.bool_]]:
        """1 where a group has a level, on the sampled records, and which records have a value."""
        codes = self._sampled(self.codes(name))
        return (codes == level).astype(np.float64), codes != ABSENT

    def _sampled(self, values: NDArray[D]) -> NDArray[D]:
        return values if self._whole else values[self._sample]
