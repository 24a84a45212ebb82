"""Reversal of masking methods: which published values a known value may have become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from crypsis.measures.pairing import alike_codes
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.scaling import Scales
from crypsis.table.table import Table

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ALIKE = 1.25
"""Largest number of pairs of values per value for which two columns count as treated together."""


def treated_together(release: Table, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Group columns that were microaggregated by one partition: their equal values are on nearly the same records.

    Two columns of one partition have hardly more pairs of values than values, since two groups rarely share a mean; two
    columns treated separately have many more.

    Parameters
    ----------
    release : Table
    names : sequence of str

    Returns
    -------
    list of tuples of str
    """
    groups: list[list[str]] = []
    values = {name: _distinct(release, [name]) for name in names}
    for name in names:
        for members in groups:
            if _distinct(release, [name, members[0]]) <= ALIKE * max(values[name], values[members[0]]):
                members.append(name)
                break
        else:
            groups.append([name])
    return [tuple(members) for members in groups]


def _distinct(release: Table, names: Sequence[str]) -> int:
    return equivalence_classes(release.codes(names)).count


@dataclass(frozen=True)
class Means:
    """The distinct published values of columns treated together.

    values  float64[means, columns]: in lexicographic order; records with a missing cell are left out
    place  int64[published]: row of `values` of each published record, or −1
    """

    names: tuple[str, ...]
    values: Floats
    place: Integers

    @classmethod
    def published(cls, release: Table, names: Sequence[str]) -> Means:
        """Read the means of some columns of a release."""
        cells = release.numbers(names)
        whole: Flags = np.asarray(~np.isnan(cells).any(axis=1))
        classes = equivalence_classes(release.codes(names), whole)
        return cls(tuple(names), cells[classes.first], classes.of)

    def possible(self, people: Table) -> Flags:
        """Records whose group a person may belong to; every record where a value is not known.

        In one column groups are consecutive values, so the person is in the group with the next mean below or above, or
        with an equal mean. In several columns the person is in the group with the nearest mean, on the scale of the
        published columns.
        """
        known = people.numbers(self.names)
        lost: Flags = np.asarray(np.isnan(known).any(axis=1))
        if not len(self.values):
            return np.repeat(lost[:, None], len(self.place), axis=1)
        if len(self.names) == 1:
            near = self._neighbours(known[:, 0])
        else:
            near = self._nearest(np.where(np.isnan(known), 0.0, known))
        held = np.zeros((len(people), len(self.place)), dtype=np.bool_)
        for each in near.T:
            held |= self.place == each[:, None]
        held[lost] = True
        return held

    def _neighbours(self, known: Floats) -> Integers:
        means = self.values[:, 0]
        at, last = np.searchsorted(means, known, side="left"), len(means) - 1
        above = np.searchsorted(means, known, side="right")
        return np.clip(np.stack([at - 1, at, above], axis=1), 0, last)

    def _nearest(self, known: Floats) -> Integers:
        scales = Scales.of(self.values[self.place[self.place >= 0]])
        points = [scales.scaled(numbers, "z") for numbers in (known, self.values)]
        at: Integers = cdist(points[0], points[1], "sqeuclidean").argmin(axis=1)
        return at[:, None]


@dataclass(frozen=True)
class Ranks:
    """An ordered published column and the ranks of its records.

    ordered  float64[n]: values that are present, sorted
    begin, end  int64[published]: ranks `begin` ≤ rank < `end` have the record's value; both −1 where it is missing
    """

    name: str
    release: Table
    ordered: Floats
    begin: Integers
    end: Integers

    @classmethod
    def published(cls, release: Table, name: str) -> Ranks:
        """Read the ranks of a column of a release."""
        values = _values(release, release, name)
        ordered = np.sort(values[~np.isnan(values)])
        begin, end = _span(values, ordered)
        return cls(name, release, ordered, begin, end)

    def gaps(self, people: Table) -> Floats:
        """Difference of ranks between known and published values, as a share of the ranks.

        Equal values differ by 0. Missing values are not swapped: they differ by 0 from each other and by 1 from any
        other value.
        """
        begin, end = _span(_values(self.release, people, self.name), self.ordered)
        gap = np.maximum(self.begin - end[:, None], begin[:, None] - self.end) + 1
        share = np.maximum(gap, 0) / max(len(self.ordered), 1)
        absent, missing = begin < 0, self.begin < 0
        return np.where(absent[:, None] == missing, np.where(missing, 0.0, share), 1.0)


def _values(release: Table, table: Table, name: str) -> Floats:
    """Numbers, or ranks of ordinal categories, of a column; a label that the release lacks ranks above all."""
    if release.attribute(name).numeric:
        return np.asarray(table.column(name), dtype=np.float64)
    codes = alike_codes(release, table, name)[0]
    return np.where(codes == MISSING, np.nan, codes.astype(np.float64))


def _span(values: Floats, ordered: Floats) -> tuple[Integers, Integers]:
    lost = np.isnan(values)
    begin = np.searchsorted(ordered, values, side="left")
    end = np.searchsorted(ordered, values, side="right")
    return np.where(lost, -1, begin).astype(np.int64), np.where(lost, -1, end).astype(np.int64)
