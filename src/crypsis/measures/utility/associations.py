"""How far the ties between columns moved: Pearson, Cramér's V and the correlation ratio, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats, Ints
from crypsis.measures.measure import (
    Aim,
    BoundColumns,
    Measure,
    Reading,
    check_measured_rows,
    measures,
    numbers_that_measures_read,
)
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.table import Table

Tie = Literal["pearson", "cramer", "ratio"]
_MISSING = "a pair rests on the records that hold both columns; suppressed records are left out of the released side"


@dataclass(frozen=True)
class AssociationChange:
    """The tie of two columns before and after masking.

    Attributes
    ----------
    first, second : str
        The columns.
    tie : {"pearson", "cramer", "ratio"}
        Pearson correlation of two numbers, Cramér's V of two categories (corrected for its bias), or correlation ratio
        of a number by a category.
    before, after : float
        Its size: −1 to 1 for Pearson, 0 to 1 otherwise.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> change = crypsis.association_changes(original, masked, ["x", "y"])[0]
    >>> change.tie, round(change.before, 2), round(change.after, 2)
    ('pearson', 0.8, 0.95)
    """

    first: str
    second: str
    tie: Tie
    before: float
    after: float

    @property
    def change(self) -> float:
        """How far it moved, at most 1."""
        return min(abs(self.after - self.before), 1.0)


def association_changes(original: Table, masked: Table, names: Sequence[str]) -> tuple[AssociationChange, ...]:
    """The ties of all pairs of columns before and after, the largest change first.

    Parameters
    ----------
    original, masked : Table
        Row by row the same records.
    names : sequence of str
        The columns; those that cannot be read as numbers or categories are left out.

    Returns
    -------
    tuple of AssociationChange

    Examples
    --------
    >>> people = crypsis.example(60)
    >>> {each.change for each in crypsis.association_changes(people, people, people.quasi_identifiers)}
    {0.0}
    """
    check_measured_rows(len(original), masked)
    sides = {}
    for name in names:
        try:
            sides[name] = (_Side.of(original, original, name), _Side.of(original, masked, name))
        except TableError:
            continue
    found = []
    for first, second in combinations(sides, 2):
        (a, b), (c, d) = sides[first], sides[second]
        found.append(AssociationChange(first, second, _tie_of(a, c), _size(a, c), _size(b, d)))
    return tuple(sorted(found, key=lambda each: (-each.change, each.first, each.second)))


@dataclass(frozen=True)
class _Side:
    """A column of one of the two files: numbers, or codes of categories; absent where missing or suppressed."""

    numeric: bool
    values: Floats
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, original: Table, table: Table, name: str) -> _Side:
        if original.holds_numbers(name):
            numbers = (
                finite_numbers_of_frame(table, name) if table is original else numbers_that_measures_read(table, name)
            )
            return cls(True, numbers, ~np.isnan(numbers) & table.kept)
        codes = table.column(name)
        return cls(False, codes.astype(np.float64), (codes >= 0) & table.kept)


def _tie_of(first: _Side, second: _Side) -> Tie:
    return "pearson" if first.numeric and second.numeric else "ratio" if first.numeric or second.numeric else "cramer"


def _size(first: _Side, second: _Side) -> float:
    here = first.present & second.present
    a, b = first.values[here], second.values[here]
    tie = _tie_of(first, second)
    if tie == "pearson":
        return pearson(a, b)
    if tie == "cramer":
        return measure_association_by_cramer(a.astype(np.int64), b.astype(np.int64))
    return correlation_ratio(a, b.astype(np.int64)) if first.numeric else correlation_ratio(b, a.astype(np.int64))


def pearson(a: Floats, b: Floats) -> float:
    """Pearson correlation; 0 where a column is constant."""
    if len(a) < 2:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip((a @ b) / scale, -1.0, 1.0)) if scale > 0 else 0.0


def measure_association_by_cramer(a: Ints, b: Ints) -> float:
    """The tie between two columns by Cramér's V, corrected for its bias (Bergsma 2013); 0 where one is constant."""
    records = len(a)
    if records < 2:
        return 0.0
    (a, r), (b, c) = _rank(a), _rank(b)
    if min(r, c) < 2:
        return 0.0
    counts = np.bincount(a * c + b, minlength=r * c).reshape(r, c).astype(np.float64)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / records
    square = float(((counts - expected) ** 2 / expected).sum()) / records
    square = max(square - (r - 1) * (c - 1) / (records - 1), 0.0)
    least = min(r - (r - 1) ** 2 / (records - 1), c - (c - 1) ** 2 / (records - 1)) - 1.0
    return float(min(np.sqrt(square / least), 1.0)) if least > 0 else 0.0


def _rank(codes: Ints) -> tuple[Ints, int]:
    """int64[n]: codes of at least 0 as 0, 1, … without gaps, and how many there are."""
    ranks = np.cumsum(np.bincount(codes) > 0) - 1
    return ranks[codes], int(ranks[-1]) + 1


def correlation_ratio(numbers: Floats, groups: Ints) -> float:
    """Square root of the share of the variance between groups; 0 where the numbers do not vary."""
    if len(numbers) < 2:
        return 0.0
    groups, _ = _rank(groups)
    centred = numbers - numbers.mean()
    total = float(centred @ centred)
    if total <= 0:
        return 0.0
    sums, sizes = np.bincount(groups, weights=centred), np.bincount(groups)
    return float(min(np.sqrt(float((sums**2 / sizes).sum()) / total), 1.0))


@measures.add("association-change")
class AssociationLoss(Measure):
    """How far the ties between pairs of columns moved.

    100 times the mean over pairs of columns of |tie after − tie before|, at most 1 each: the Pearson correlation of two
    numbers, Cramér's V of two categories, corrected for its bias, the correlation ratio of a number and a category; a
    constant column has no tie.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.AssociationLoss(columns=("x", "y")).against(original).read(masked), 2)
    14.87

    Notes
    -----
    - Formula: 100 · mean over pairs of min(|a' − a|, 1)
    - Paper: Cramér's V: Bergsma (2013); correlation ratio: Pearson (1905)
    - Cost: O(n p²)
    - Departures: own measure
    """

    aim: ClassVar[Aim] = "loss"
    row_wise: ClassVar[bool] = False

    def obstacle(self, original: Table) -> str:
        found = super().obstacle(original)
        if found or len(self.choose_columns(original)) > 1:
            return found
        return "one column has no tie to another; name two or more columns"

    def against(self, original: Table) -> BoundAssociations:
        return BoundAssociations.of(self, original)


class BoundAssociations(BoundColumns[AssociationLoss]):
    """Associations bound to an original."""

    def read(self, masked: Table) -> float:
        return _mean(association_changes(self.original, masked, self.names))

    def explain(self, masked: Table) -> Reading:
        changes = association_changes(self.original, masked, self.names)
        largest = {f"{each.first} and {each.second}": 100.0 * each.change for each in changes[:1]}
        return self.measure.make_reading(_mean(changes), self.names, _MISSING, {"pairs": len(changes), **largest})


def _mean(changes: Sequence[AssociationChange]) -> float:
    return 100.0 * float(np.mean([each.change for each in changes])) if changes else 0.0


def rank_for_association(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks of a column from 1 on, for the tie with another; equal values have the mean of theirs."""
    _, of, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2.0)[of])
