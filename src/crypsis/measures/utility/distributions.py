"""How far the distribution of a column moved: total variation, Kolmogorov distance, vanished values, tails, cells.

The released file is read as a stranger reads it: suppressed records are not there. A column recoded to one level is
compared at that level; a column recoded record by record is compared with each group spread evenly over its values; a
generalised number is the middle of its group.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats, Ints
from crypsis.measures.categories import number_masked_categories
from crypsis.measures.information_loss import ColumnInformation
from crypsis.measures.measure import (
    NO_RECORDS,
    Aim,
    BoundMeasure,
    Measure,
    Reading,
    check_measured_rows,
    measures,
    numbers_that_measures_read,
)
from crypsis.measures.numeric_loss import names_for_numeric_loss, obstacle_to_numeric_loss
from crypsis.measures.spreading import Grid, bin_numbers_for_spreading
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import LOCAL, Table


def _code_counts(before: Ints, after: Ints) -> tuple[Floats, Floats]:
    """Records by code in both files; the first entry is of missing cells."""
    size = max(int(before.max(initial=MISSING)), int(after.max(initial=MISSING))) + 2
    first, last = np.bincount(before + 1, minlength=size), np.bincount(after + 1, minlength=size)
    return first.astype(np.float64), last.astype(np.float64)


def total_variation(first: Floats, last: Floats) -> float:
    """Total variation distance of two tables of counts, per cent; 100 where one of them is empty."""
    if first.sum() <= 0 or last.sum() <= 0:
        return 0.0 if first.sum() == last.sum() else 100.0
    distance = 50.0 * float(np.abs(first / first.sum() - last / last.sum()).sum())
    return 0.0 if distance < 1e-9 else min(distance, 100.0)


def kolmogorov(before: Floats, after: Floats, forgiven: float = 0.0) -> float:
    """Largest difference of two distribution functions, per cent; 100 where one of them is empty."""
    if not before.size or not after.size:
        return 0.0 if before.size == after.size else 100.0
    values, published = _distinct(before), _distinct(after)
    points = np.concatenate([values - forgiven, values + forgiven, published])
    last = np.searchsorted(after, points, side="right") / after.size
    low = np.searchsorted(before, points - forgiven, side="right") / before.size
    high = np.searchsorted(before, points + forgiven, side="right") / before.size
    return 100.0 * max(float(np.maximum(low - last, last - high).max()), 0.0)


def _distinct(ordered: Floats) -> Floats:
    """The distinct values of sorted numbers."""
    return ordered[np.flatnonzero(np.diff(ordered, prepend=-np.inf) > 0)]


def _records_beyond(ordered: Floats, at: float, share: float) -> int:
    """Records strictly beyond a point: below it for a share under 50 %, above it otherwise."""
    low = int(np.searchsorted(ordered, at, side="left"))
    return low if share < 50 else len(ordered) - int(np.searchsorted(ordered, at, side="right"))


# -- What a masking did to one column, in counts and per cent.


@dataclass(frozen=True)
class Tail:
    """Records beyond a point of the original: below it for a point under 50 %, above it otherwise."""

    point: float  # per cent of the original
    before: int  # records strictly beyond it
    after: int


@dataclass(frozen=True)
class ColumnHarm:
    """What a masking did to one column, in counts and per cent; no value is named.

    Attributes
    ----------
    name : str
        The column.
    loss : float
        Mean cell loss over all records, per cent.
    distance : float
        Total variation distance of the distributions before and after, per cent; numbers in quantile bins.
    kolmogorov : float or None
        Largest difference of the distribution functions of a number, per cent.
    shifted : float or None
        The same where shifts of less than a twentieth of the range (1 to 99 % points) are forgiven.
    values : int
        Distinct values of the original (groups, where the column is recoded to one level).
    vanished, vanished_records : int
        Values that no released record can hold, and original records that held them; of a number only where it has at
        most twenty values, all whole.
    merged, merged_records : int
        Further values that are released only within groups of values, and original records that held them.
    tails : tuple of Tail
        Of a number.
    filled, blanked, changed : int
        Released cells that have a value where the original has none, none where it has one, and another value.
    records : int
        Records of the original.
    constant : bool
        Whether a column that varies in the original has one value in the released file, or none.
    total_change : float
        How far the total of a number moved, per cent of the total, or of a tenth of a standard deviation for each
        record where that is more; missing cells count as the mean. 0 for a category.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> harm = crypsis.Distributions(original).harm(masked, "town")
    >>> round(harm.distance, 1), harm.vanished
    (20.0, 0)
    """

    name: str
    loss: float
    distance: float
    kolmogorov: float | None
    shifted: float | None
    values: int
    vanished: int
    vanished_records: int
    merged: int
    merged_records: int
    tails: tuple[Tail, ...]
    filled: int
    blanked: int
    changed: int
    records: int
    constant: bool = False
    total_change: float = 0.0

    @property
    def moved(self) -> float:
        """How far the distribution moved, per cent: `shifted` for a number, total variation for a category."""
        return self.distance if self.shifted is None else self.shifted

    @property
    def lost_values(self) -> float:
        """Values that vanished or are released only within groups, per cent of the values."""
        return 100.0 * (self.vanished + self.merged) / max(self.values, 1)

    @property
    def emptied(self) -> Tail | None:
        """The end of a number, 5 or 95 %, that lost the greatest part of its records; None where none lost any."""
        ends = [tail for tail in self.tails if tail.point in (5.0, 95.0) and tail.after < tail.before]
        return min(ends, key=lambda tail: tail.after / tail.before, default=None)

    @property
    def vanished_share(self) -> float:
        """Original records whose value vanished, per cent."""
        return 100.0 * self.vanished_records / max(self.records, 1)

    @property
    def emptied_share(self) -> float:
        """Records that the end of a number lost, per cent of those it held; 0 where it held hardly any.

        An end of fewer than one record in a hundred is no end of the distribution but a few extreme values.
        """
        tail = self.emptied
        if tail is None or 100 * tail.before < self.records:
            return 0.0
        return 100.0 * (tail.before - tail.after) / tail.before

    @property
    def figures(self) -> dict[str, float]:
        """What `Usefulness` judges, per cent."""
        return {
            "loss": self.loss,
            "distance": self.moved,
            "vanished": self.vanished_share,
            "tail": self.emptied_share,
            "constant": 100.0 if self.constant else 0.0,
            "total": self.total_change,
        }


# -- How far the distribution of a column moved: total variation, Kolmogorov distance, vanished values, tails, cells.
#
# The released file is read as a stranger reads it: suppressed records are not there. A column recoded to one level is
# compared at that level; a column recoded record by record is compared with each group spread evenly over its values; a
# generalised number is the middle of its group.

BINS = 10
"""Quantile bins in which numbers are compared."""
TAILS = (1.0, 5.0, 95.0, 99.0)
"""Points of the original, per cent, beyond which records are counted."""
FEW = 20
"""A number with at most so many values, all whole, is looked at value by value: codes, ranks, small counts."""
NEGLIGIBLE = 0.1
"""Standard deviations for each record below which the total of a number is no scale for its change."""
FORGIVEN = 0.05
"""Shift of a number, as a part of its range, by which its distribution does not count as moved."""


@dataclass(frozen=True)
class ComparedColumn:
    """The distributions of one column before and after; names as in `ColumnHarm`."""

    distance: float
    kolmogorov: float | None = None
    shifted: float | None = None
    values: int = 0
    vanished: int = 0
    vanished_records: int = 0
    merged: int = 0
    merged_records: int = 0
    tails: tuple[Tail, ...] = ()
    held: int = 0  # records of the original and of the released file that hold a number; 0 for a category
    released: int = 0
    constant: bool = False
    total_change: float = 0.0


class Distributions:
    """The columns of an original, ready to be compared with masked versions.

    Parameters
    ----------
    original : Table
        The table before masking.

    Examples
    --------
    >>> people = crypsis.example(100)
    >>> crypsis.Distributions(people).harm(people, "district").distance
    0.0
    """

    def __init__(self, original: Table) -> None:
        self.original = original
        self._grids: dict[str, Grid] = {}
        self._numbers: dict[str, _Numbers] = {}

    def harms(self, masked: Table, names: Sequence[str]) -> tuple[ColumnHarm, ...]:
        """What became of some columns; one that cannot be compared is left out.

        Parameters
        ----------
        masked : Table
            Row by row the records of the original.
        names : sequence of str
            The columns.

        Returns
        -------
        tuple of ColumnHarm
        """
        found = []
        for name in names:
            try:
                found.append(self.harm(masked, name))
            except TableError:
                continue
        return tuple(found)

    def figures(self, masked: Table, names: Sequence[str]) -> dict[str, dict[str, float]]:
        """Loss, distance, vanished share and lost tail of some columns, per cent: what `Usefulness` judges.

        Parameters
        ----------
        masked : Table
            The masked records, in the order of the original.
        names : sequence of str
            Columns to read.

        Returns
        -------
        dict
            Column → figure → per cent.
        """
        return {harm.name: harm.figures for harm in self.harms(masked, names)}

    def harm(self, masked: Table, name: str) -> ColumnHarm:
        """What became of one column.

        Parameters
        ----------
        masked : Table
            A masked version of the original, row by row.
        name : str
            The column.

        Returns
        -------
        ColumnHarm

        Raises
        ------
        TableError
            If the column cannot be compared.
        """
        compared = self.compare_column(masked, name)
        content = ColumnInformation.of(self.original, name)
        lost = content.losses(masked)
        kept = masked.kept
        before, after = self.original.missing(name)[kept], masked.missing(name)[kept]
        return ColumnHarm(
            name,
            100.0 * content.share(masked, lost) if len(lost) else 0.0,
            compared.distance,
            compared.kolmogorov,
            compared.shifted,
            compared.values,
            compared.vanished,
            compared.vanished_records,
            compared.merged,
            compared.merged_records,
            compared.tails,
            filled=int((before & ~after).sum()),
            blanked=int((after & ~before).sum()),
            changed=int(((lost[kept] > 0) & ~before & ~after).sum()),
            records=len(self.original),
            constant=compared.constant,
            total_change=compared.total_change,
        )

    def compare_column(self, masked: Table, name: str) -> ComparedColumn:
        """The distributions of one column before and after, without its cells.

        Parameters
        ----------
        masked : Table
            As for `harm`.
        name : str
            One of its columns.

        Returns
        -------
        ComparedColumn
        """
        check_measured_rows(len(self.original), masked)
        if self.original.holds_numbers(name):
            return self._find_numbers(name).compare(masked)
        if masked.level(name) == LOCAL:
            return self._compare_recoded(masked, name)
        before, after = _codes(self.original, masked, name)
        first, last = _code_counts(before, after[masked.kept])
        gone = (first[1:] > 0) & (last[1:] == 0)
        values, lost = int((first[1:] > 0).sum()), int(first[1:][gone].sum())
        return ComparedColumn(
            total_variation(first, last),
            values=values,
            vanished=int(gone.sum()),
            vanished_records=lost,
            constant=values > 1 >= int((last[1:] > 0).sum()),
        )

    def is_listed(self, name: str) -> bool:
        """Whether the values of a number are looked at one by one: at most twenty, all whole.

        Parameters
        ----------
        name : str
            A column of numbers.

        Returns
        -------
        bool
        """
        return self._find_numbers(name).is_listed

    def _compare_recoded(self, masked: Table, name: str) -> ComparedColumn:
        """A column recoded record by record, spread over the values that its groups cover."""
        grid = self._grids.setdefault(name, Grid.of(self.original, (name,), BINS))
        ones = np.ones((len(self.original), 1))
        first = grid.own(ones)[:, 0]
        last = grid.sum_released(masked, masked.kept.astype(np.float64)[:, None])[:, 0]
        real = grid.cells[:, 0] != MISSING
        gone = real & (last <= 0)
        hierarchy = masked.attribute(name).hierarchy
        column = masked.column(name)[masked.kept]
        own = set() if hierarchy is None else set(np.unique(column[(column >= 0) & (column < hierarchy.size)]).tolist())
        leaves = self.original.leaf_codes(name) if hierarchy is not None else self.original.column(name)
        leaf = leaves[np.unique(grid.owner, return_index=True)[1]]
        merged = real & ~gone & np.array([int(each) not in own for each in leaf])
        outside = max(float(masked.kept.sum()) - float(last.sum()), 0.0)
        distance = total_variation(np.append(first, 0.0), np.append(last, outside))
        return ComparedColumn(
            distance,
            values=int(real.sum()),
            vanished=int(gone.sum()),
            vanished_records=int(first[gone].sum()),
            merged=int(merged.sum()),
            merged_records=int(first[merged].sum()),
            constant=int(real.sum()) > 1 >= len(np.unique(column[column != MISSING])),
        )

    def _find_numbers(self, name: str) -> _Numbers:
        if name not in self._numbers:
            self._numbers[name] = _Numbers(name, finite_numbers_of_frame(self.original, name))
        return self._numbers[name]


@dataclass(frozen=True, eq=False)
class _Numbers:
    """A column of numbers of the original."""

    name: str
    values: Floats

    @cached_property
    def ordered_values(self) -> Floats:
        return np.sort(self.values[~np.isnan(self.values)])

    @cached_property
    def value_counts(self) -> tuple[Floats, Ints]:
        """The different values, and the records that hold each."""
        return np.unique(self.ordered_values, return_counts=True)

    @cached_property
    def is_listed(self) -> bool:
        """Whether there are so few values, all whole, that each is looked at by itself."""
        values = self.value_counts[0]
        return len(values) <= FEW and bool((values == np.round(values)).all())

    @cached_property
    def edges(self) -> Floats:
        held = self.ordered_values
        return np.unique(np.quantile(held, np.linspace(0, 1, BINS + 1)[1:-1])) if held.size else np.empty(0)

    @cached_property
    def forgiven(self) -> float:
        """The shift that is forgiven."""
        low, high = np.quantile(self.ordered_values, [0.01, 0.99]) if self.ordered_values.size else (0.0, 0.0)
        return FORGIVEN * float(high - low)

    def compare(self, masked: Table) -> ComparedColumn:
        """Distances and tails of the released numbers."""
        after = numbers_that_measures_read(masked, self.name)[masked.kept]
        held = np.sort(after[~np.isnan(after)])
        first, last = _code_counts(
            bin_numbers_for_spreading(self.values, self.edges), bin_numbers_for_spreading(after, self.edges)
        )
        values, counts = self.value_counts
        gone = (
            ~np.isin(values, held)
            if self.is_listed and masked.holds_numbers(self.name)
            else np.zeros(len(values), bool)
        )
        return ComparedColumn(
            total_variation(first, last),
            kolmogorov(self.ordered_values, held),
            kolmogorov(self.ordered_values, held, self.forgiven),
            len(values),
            int(gone.sum()),
            int(counts[gone].sum()),
            tails=self._tails(held),
            held=len(self.ordered_values),
            released=len(held),
            constant=len(values) > 1 and (not held.size or bool(held[0] == held[-1])),
            total_change=self._total_change(held, int(masked.kept.sum())),
        )

    def _total_change(self, held: Floats, records: int) -> float:
        """Change of the total of all published records, those that lack a number by the mean, per cent."""
        if not self.ordered_values.size:
            return 0.0
        n = len(self.values)
        before = n * float(self.ordered_values.mean())
        after = records * float(held.mean()) if held.size else 0.0
        scale = max(abs(before), NEGLIGIBLE * n * float(self.ordered_values.std()))
        return 100.0 * abs(after - before) / scale if scale > 0 else 0.0

    def _tails(self, held: Floats) -> tuple[Tail, ...]:
        if not self.ordered_values.size:
            return ()
        points = np.quantile(self.ordered_values, np.array(TAILS) / 100.0)
        return tuple(
            Tail(share, _records_beyond(self.ordered_values, at, share), _records_beyond(held, at, share))
            for share, at in zip(TAILS, points.tolist(), strict=True)
        )


def _codes(original: Table, masked: Table, name: str) -> tuple[Ints, Ints]:
    """Categories before and after in one numbering; a generalised column by the groups of its level."""
    level = masked.level(name)
    if level == 0:
        return original.column(name).astype(np.int64), number_masked_categories(original, masked, name)[0].astype(
            np.int64
        )
    hierarchy = masked.attribute(name).hierarchy
    if hierarchy is None:
        raise TableError(f"column {name!r} is generalised but has no hierarchy; give the one that was used")
    lifted = hierarchy.lift(original.leaf_codes(name), level)
    return lifted.astype(np.int64), masked.column(name).astype(np.int64)


# -- How far the distributions of columns moved, as measures: distance, vanished values, tails.

_MISSING = (
    "missing is a value of its own; suppressed records are left out of the released side; a recoded column is compared "
    "at its level, groups are spread over their values"
)

ENDS = (5.0, 95.0)
"""Points of the original beyond which extreme records are counted, per cent."""


class ColumnWise(Measure):
    """A figure of every column, and what is made of them: the largest or the mean."""

    aim: ClassVar[Aim] = "loss"
    row_wise: ClassVar[bool] = False

    over: Literal["largest", "mean"] = Field(
        default="largest",
        description="what is read of several columns: the largest figure, which hides none, or the mean",
    )

    @abstractmethod
    def figure(self, compared: ComparedColumn, records: int) -> float:
        """The figure of one column.

        Parameters
        ----------
        compared : ComparedColumn
            Its distributions before and after.
        records : int
            Of the original.

        Returns
        -------
        float
            0 to 100.
        """

    def against(self, original: Table) -> BoundColumnWise:
        return BoundColumnWise(self, self.choose_columns(original), Distributions(original))


@dataclass(frozen=True, eq=False)
class BoundColumnWise(BoundMeasure):
    """Figures of columns bound to an original."""

    measure: ColumnWise
    names: tuple[str, ...]
    distributions: Distributions = field(repr=False)

    def read(self, masked: Table) -> float:
        return self._whole(self._by_column(masked))

    def explain(self, masked: Table) -> Reading:
        found = self._by_column(masked)
        return self.measure.make_reading(self._whole(found), self.names, _MISSING, found)

    def _by_column(self, masked: Table) -> dict[str, float]:
        records = len(self.distributions.original)
        return {
            name: self.measure.figure(self.distributions.compare_column(masked, name), records) for name in self.names
        }

    def _whole(self, found: dict[str, float]) -> float:
        figures = list(found.values())
        return float(np.max(figures) if self.measure.over == "largest" else np.mean(figures))


@measures.add("distribution-distance")
class DistributionDistance(ColumnWise):
    """How far the distribution of a column moved, for the column that moved most.

    100 times the total variation distance of the column before and after, half the sum over values of |f − f'|; numbers
    in ten bins between the quantiles of the original. Of several columns the largest, or their mean.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> bound = crypsis.DistributionDistance(columns=("town",)).against(original)
    >>> round(bound.read(masked), 2)
    20.0

    Notes
    -----
    - Formula: 100 · max over columns of ½ Σ |f − f'|
    - Paper: own, from the definition of total variation
    - Cost: O(n p)
    - Departures: none
    """

    def figure(self, compared: ComparedColumn, records: int) -> float:
        return compared.distance


@measures.add("vanished-values")
class VanishedValues(ColumnWise):
    """Share of the records whose value of a column no longer occurs in the released file.

    100 times the original records whose value no released record can hold, over all records: values of categories, and
    of numbers that have at most twenty values, all whole. Of several columns the largest, or their mean.

    Examples
    --------
    >>> original = crypsis.Table.from_columns({"town": ["a", "a", "a", "b"]}, roles={"town": "quasi"})
    >>> masked = original.with_columns({"town": original.column("town")[[0, 0, 0, 0]]})
    >>> crypsis.VanishedValues().against(original).read(masked)
    25.0

    Notes
    -----
    - Formula: 100 · max over columns of records with a vanished value / records
    - Paper: own
    - Cost: O(n p)
    - Departures: own measure
    """

    public: ClassVar[bool] = False

    def figure(self, compared: ComparedColumn, records: int) -> float:
        return 100.0 * compared.vanished_records / max(records, 1)


@measures.add("tail-change")
class TailChange(ColumnWise):
    """How many of the extreme records of a number are gone, or have been added.

    100 times |after − before| / before of the share of records beyond the 5 % and the 95 % point of the original, at
    most 100; of the two ends the larger, and of several columns the largest, or their mean.

    Examples
    --------
    >>> original = crypsis.Table.from_columns({"age": list(range(1, 101))}, roles={"age": "quasi"})
    >>> masked = original.with_columns({"age": np.minimum(original.column("age"), 80)})
    >>> crypsis.TailChange().against(original).read(masked)
    100.0

    Notes
    -----
    - Formula: 100 · max over columns and ends of min(|s' − s| / s, 1), s the share beyond the point
    - Paper: own
    - Cost: O(n log n) for each column
    - Departures: own measure
    """

    public: ClassVar[bool] = False

    def obstacle(self, original: Table) -> str:
        return obstacle_to_numeric_loss(self.columns, original) if original.rows else NO_RECORDS

    def choose_columns(self, original: Table) -> tuple[str, ...]:
        return tuple(names_for_numeric_loss(self.columns, original))

    def figure(self, compared: ComparedColumn, records: int) -> float:
        scale = compared.held / max(compared.released, 1)
        ends = [tail for tail in compared.tails if tail.point in ENDS and tail.before]
        return 100.0 * max((min(abs(scale * t.after / t.before - 1.0), 1.0) for t in ends), default=0.0)
