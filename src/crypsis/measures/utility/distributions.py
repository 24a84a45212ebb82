"""How far the distribution of a column moved: total variation, Kolmogorov distance, vanished values, tails, cells.

The released file is read as a stranger reads it: suppressed records are not there. A column recoded to one level is
compared at that level; a column recoded record by record is compared with each group spread evenly over its values; a
generalised number is the middle of its group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.measures.cell_loss import cell_losses
from crypsis.measures.pairing import alike_codes, check_rows, finite_numbers, published_numbers
from crypsis.measures.spreading import Grid, binned
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import LOCAL, Table

BINS = 10
"""Quantile bins in which numbers are compared."""
TAILS = (1.0, 5.0, 95.0, 99.0)
"""Points of the original, per cent, beyond which records are counted."""

FORGIVEN = 0.05
"""Shift of a number, as a part of its range, by which its distribution does not count as moved."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Tail:
    """Records beyond a point of the original: below it for a point under 50 %, above it otherwise.

    Attributes
    ----------
    point : float
        Per cent of the original.
    before, after : int
        Records strictly beyond it.
    """

    point: float
    before: int
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
        Values that no released record can hold, and original records that held them.
    merged : int
        Further values that are released only within groups of values.
    tails : tuple of Tail
        Of a number.
    filled, blanked, changed : int
        Released cells that have a value where the original has none, none where it has one, and another value.
    records : int
        Records of the original.

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
    tails: tuple[Tail, ...]
    filled: int
    blanked: int
    changed: int
    records: int

    @property
    def moved(self) -> float:
        """How far the distribution moved, per cent: `shifted` for a number, total variation for a category."""
        return self.distance if self.shifted is None else self.shifted

    @property
    def vanished_share(self) -> float:
        """Original records whose value vanished, per cent."""
        return 100.0 * self.vanished_records / max(self.records, 1)


@dataclass(frozen=True)
class _Compared:
    """Distance and vanished values of one column."""

    distance: float
    kolmogorov: float | None = None
    shifted: float | None = None
    values: int = 0
    vanished: int = 0
    vanished_records: int = 0
    merged: int = 0
    tails: tuple[Tail, ...] = ()


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
        """Loss, distance and vanished share of some columns, per cent: what `Usefulness` judges.

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
        return {
            harm.name: {"loss": harm.loss, "distance": harm.moved, "vanished": harm.vanished_share}
            for harm in self.harms(masked, names)
        }

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
        check_rows(len(self.original), masked)
        compared = self._compared(masked, name)
        lost = cell_losses(self.original, masked, name)
        kept = masked.kept
        before, after = self.original.missing(name)[kept], masked.missing(name)[kept]
        return ColumnHarm(
            name,
            100.0 * float(np.where(kept, lost, 1.0).mean()) if len(lost) else 0.0,
            compared.distance,
            compared.kolmogorov,
            compared.shifted,
            compared.values,
            compared.vanished,
            compared.vanished_records,
            compared.merged,
            compared.tails,
            filled=int((before & ~after).sum()),
            blanked=int((after & ~before).sum()),
            changed=int(((lost[kept] > 0) & ~before & ~after).sum()),
            records=len(self.original),
        )

    def _compared(self, masked: Table, name: str) -> _Compared:
        if self.original.holds_numbers(name):
            return self._held(name).compared(masked)
        if masked.level(name) == LOCAL:
            return self._recoded(masked, name)
        before, after = _codes(self.original, masked, name)
        first, last = _counts(before, after[masked.kept])
        gone = (first[1:] > 0) & (last[1:] == 0)
        values, lost = int((first[1:] > 0).sum()), int(first[1:][gone].sum())
        return _Compared(_variation(first, last), values=values, vanished=int(gone.sum()), vanished_records=lost)

    def _recoded(self, masked: Table, name: str) -> _Compared:
        """A column recoded record by record, spread over the values that its groups cover."""
        grid = self._grids.setdefault(name, Grid.of(self.original, (name,), BINS))
        ones = np.ones((len(self.original), 1))
        first = grid.own(ones)[:, 0]
        last = grid.released(masked, masked.kept.astype(np.float64)[:, None])[:, 0]
        real = grid.cells[:, 0] != MISSING
        gone = real & (last <= 0)
        hierarchy = masked.attribute(name).hierarchy
        column = masked.column(name)[masked.kept]
        own = set() if hierarchy is None else set(np.unique(column[(column >= 0) & (column < hierarchy.size)]).tolist())
        leaves = self.original.leaf_codes(name) if hierarchy is not None else self.original.column(name)
        leaf = leaves[np.unique(grid.owner, return_index=True)[1]]
        merged = real & ~gone & np.array([int(each) not in own for each in leaf])
        outside = max(float(masked.kept.sum()) - float(last.sum()), 0.0)
        distance = _variation(np.append(first, 0.0), np.append(last, outside))
        return _Compared(
            distance,
            values=int(real.sum()),
            vanished=int(gone.sum()),
            vanished_records=int(first[gone].sum()),
            merged=int(merged.sum()),
        )

    def _held(self, name: str) -> _Numbers:
        if name not in self._numbers:
            self._numbers[name] = _Numbers(name, finite_numbers(self.original, name))
        return self._numbers[name]


@dataclass(frozen=True, eq=False)
class _Numbers:
    """A column of numbers of the original."""

    name: str
    values: Floats

    @cached_property
    def ordered(self) -> Floats:
        return np.sort(self.values[~np.isnan(self.values)])

    @cached_property
    def edges(self) -> Floats:
        held = self.ordered
        return np.unique(np.quantile(held, np.linspace(0, 1, BINS + 1)[1:-1])) if held.size else np.empty(0)

    @cached_property
    def forgiven(self) -> float:
        """The shift that is forgiven."""
        low, high = np.quantile(self.ordered, [0.01, 0.99]) if self.ordered.size else (0.0, 0.0)
        return FORGIVEN * float(high - low)

    def compared(self, masked: Table) -> _Compared:
        """Distances and tails of the released numbers."""
        after = published_numbers(masked, self.name)[masked.kept]
        held = np.sort(after[~np.isnan(after)])
        first, last = _counts(binned(self.values, self.edges), binned(after, self.edges))
        values = len(np.unique(self.ordered))
        return _Compared(
            _variation(first, last),
            _kolmogorov(self.ordered, held),
            _kolmogorov(self.ordered, held, self.forgiven),
            values,
            tails=self._tails(held),
        )

    def _tails(self, held: Floats) -> tuple[Tail, ...]:
        if not self.ordered.size:
            return ()
        points = np.quantile(self.ordered, np.array(TAILS) / 100.0)
        return tuple(
            Tail(share, _beyond(self.ordered, at, share), _beyond(held, at, share))
            for share, at in zip(TAILS, points.tolist(), strict=True)
        )


def _beyond(ordered: Floats, at: float, share: float) -> int:
    low = int(np.searchsorted(ordered, at, side="left"))
    return low if share < 50 else len(ordered) - int(np.searchsorted(ordered, at, side="right"))


def _codes(original: Table, masked: Table, name: str) -> tuple[Integers, Integers]:
    """Categories before and after in one numbering; a generalised column by the groups of its level."""
    level = masked.level(name)
    if level == 0:
        return original.column(name).astype(np.int64), alike_codes(original, masked, name)[0].astype(np.int64)
    hierarchy = masked.attribute(name).hierarchy
    if hierarchy is None:
        raise TableError(f"column {name!r} is generalised but has no hierarchy; give the one that was used")
    lifted = hierarchy.lift(original.leaf_codes(name), level)
    return lifted.astype(np.int64), masked.column(name).astype(np.int64)


def _counts(before: Integers, after: Integers) -> tuple[Floats, Floats]:
    """Records by code in both files; the first entry is of missing cells."""
    size = max(int(before.max(initial=MISSING)), int(after.max(initial=MISSING))) + 2
    first, last = np.bincount(before + 1, minlength=size), np.bincount(after + 1, minlength=size)
    return first.astype(np.float64), last.astype(np.float64)


def _variation(first: Floats, last: Floats) -> float:
    """Total variation distance of two tables of counts, per cent; 100 where one of them is empty."""
    if first.sum() <= 0 or last.sum() <= 0:
        return 0.0 if first.sum() == last.sum() else 100.0
    distance = 50.0 * float(np.abs(first / first.sum() - last / last.sum()).sum())
    return 0.0 if distance < 1e-9 else min(distance, 100.0)


def _kolmogorov(before: Floats, after: Floats, forgiven: float = 0.0) -> float:
    """Largest difference of two distribution functions, per cent; 100 where one of them is empty.

    forgiven  the first function may be read so far to the left or right, whichever is nearer
    """
    if not before.size or not after.size:
        return 0.0 if before.size == after.size else 100.0
    points = np.concatenate([before - forgiven, before + forgiven, after])
    last = np.searchsorted(after, points, side="right") / after.size
    low = np.searchsorted(before, points - forgiven, side="right") / before.size
    high = np.searchsorted(before, points + forgiven, side="right") / before.size
    return 100.0 * max(float(np.maximum(low - last, last - high).max()), 0.0)
