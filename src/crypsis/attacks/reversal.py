"""Reversal of microaggregation and rank swapping: which published records a person may have become.

Reversal of a method uses the method and nothing secret. A value replaced by univariate microaggregation lies between
neighbouring means, so each column leaves two groups of candidates, and several columns treated separately leave the
intersection (Nin, Herranz and Torra 2008, Data & Knowledge Engineering 67). Rank swapping leaves the records within a
window of ranks in every column (Nin, Herranz and Torra 2008, Data & Knowledge Engineering 64).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.attacks.attack_context import SAME, AttackContext, Outcome, Untried
from crypsis.attacks.linkage import identify_by_linkage, split_people_for_linkage
from crypsis.measures.categories import number_masked_categories
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.precision import Scales
from crypsis.table.table import Table

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ALIKE = 1.25
"""Largest number of pairs of values per value for which two columns count as treated together."""


def undo_microaggregation(context: AttackContext) -> Outcome | Untried:
    """Reverse microaggregation: candidates are the groups with means next to the known values."""
    attack = "undo microaggregation"
    names = [name for name in context.knows if context.release.holds_numbers(name)]
    if not names:
        return Untried(attack, "no column the intruder knows is published as numbers")
    groups = group_reversible_columns(context.release, names)
    groups_means = [Means.read_release(context.release, group) for group in groups]

    def candidates(people: Table) -> Iterator[tuple[slice, Flags]]:
        for part in split_people_for_linkage(len(people), len(context.release)):
            some = people.take(np.arange(part.start, part.stop))
            left = np.broadcast_to(context.release.kept, (len(some), len(context.release))).copy()
            for each in groups_means:
                left &= each.possible(some)
            yield part, left

    return identify_by_linkage(
        context,
        attack,
        tuple(names),
        candidates,
        "treat the columns together, or raise k",
        f"candidates: records whose mean is next to the known value in every column treated separately, and nearest in "
        f"columns treated together ({len(groups)} groups of columns)",
        {"groups of columns": len(groups)},
    )


def undo_rank_swapping(context: AttackContext) -> Outcome | Untried:
    """Reverse rank swapping: candidates are the records within a window of ranks in every ordered column."""
    attack = "undo rank swapping"
    names = [name for name in context.knows if _is_ordered(context, name)]
    if not names:
        return Untried(attack, "no column the intruder knows is published as ordered values")
    ranks = [Ranks.read_release(context.release, name) for name in names]
    window = context.intruder.window

    def candidates(people: Table) -> Iterator[tuple[slice, Flags]]:
        for part in split_people_for_linkage(len(people), len(context.release)):
            some = people.take(np.arange(part.start, part.stop))
            yield part, reverse_swapping_by_ranks([each.gaps(some) for each in ranks], context.release.kept, window)

    known = "the smallest window of ranks that leaves any"
    if window is not None:
        known = f"{window:g} % of the ranks, and among these at the smallest sum of ranks,"
    return identify_by_linkage(
        context,
        attack,
        tuple(names),
        candidates,
        "swap over a wider window, or fewer columns",
        f"candidates: records within {known} in every ordered column",
    )


def reverse_swapping_by_ranks(gaps: Sequence[NDArray[np.float64]], kept: Flags, window: float | None) -> Flags:
    """Reversal of rank swapping: mark the published records that each person may have become, by ranks.

    `gaps` float64[people, published]; `kept` bool[published]; `window`: window in per cent; the smallest with a
    candidate if it is not known; returns bool[people, published].
    """
    widest = np.maximum.reduce(gaps)
    widest[:, ~kept] = np.inf
    if window is None:
        return np.asarray(widest <= widest.min(axis=1, keepdims=True) + SAME)
    total = np.where(widest <= window / 100.0 + SAME, np.add.reduce(gaps), np.inf)
    return np.asarray((total <= total.min(axis=1, keepdims=True) + SAME) & np.isfinite(total))


def _is_ordered(context: AttackContext, name: str) -> bool:
    return context.release.level(name) == 0 and context.release.attribute(name).kind is not Kind.NOMINAL


def group_reversible_columns(release: Table, names: Sequence[str]) -> list[tuple[str, ...]]:
    """For the reversal of microaggregation, group the columns that one partition masked, by their equal values.

    Two columns of one partition have hardly more pairs of values than values, since two groups rarely share a mean; two
    columns treated separately have many more.
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
    """The distinct published values of columns treated together."""

    names: tuple[str, ...]
    values: Floats  # float64[means, columns]: in lexicographic order; records with a missing cell are left out
    place: Integers  # int64[published]: row of `values` of each published record, or −1

    @classmethod
    def read_release(cls, release: Table, names: Sequence[str]) -> Means:
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
        points = [scales.scale(numbers, "z") for numbers in (known, self.values)]
        at: Integers = scipy.spatial.distance.cdist(points[0], points[1], "sqeuclidean").argmin(axis=1)
        return at[:, None]


@dataclass(frozen=True)
class Ranks:
    """An ordered published column and the ranks of its records."""

    name: str
    release: Table
    ordered: Floats  # float64[n]: values that are present, sorted
    # int64[published]: ranks `begin` ≤ rank < `end` have the record's value; both −1 where it is missing
    begin: Integers
    end: Integers

    @classmethod
    def read_release(cls, release: Table, name: str) -> Ranks:
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
    codes = number_masked_categories(release, table, name)[0]
    return np.where(codes == MISSING, np.nan, codes.astype(np.float64))


def _span(values: Floats, ordered: Floats) -> tuple[Integers, Integers]:
    lost = np.isnan(values)
    begin = np.searchsorted(ordered, values, side="left")
    end = np.searchsorted(ordered, values, side="right")
    return np.where(lost, -1, begin).astype(np.int64), np.where(lost, -1, end).astype(np.int64)
