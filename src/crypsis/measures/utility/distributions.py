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

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats, Ints
from crypsis.measures.information_loss import ColumnInformation
from crypsis.measures.pairing import alike_codes, check_rows, finite_numbers, published_numbers
from crypsis.measures.spreading import Grid, binned
from crypsis.measures.utility.column_harm import ColumnHarm, Tail
from crypsis.measures.utility.distances import code_counts, kolmogorov, records_beyond, total_variation
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import LOCAL, Table

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
    """The distributions of one column before and after; names as in `ColumnHarm`.

    held, released  records of the original and of the released file that hold a number; 0 for a category
    """

    distance: float
    kolmogorov: float | None = None
    shifted: float | None = None
    values: int = 0
    vanished: int = 0
    vanished_records: int = 0
    merged: int = 0
    merged_records: int = 0
    tails: tuple[Tail, ...] = ()
    held: int = 0
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
        compared = self.compared(masked, name)
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

    def compared(self, masked: Table, name: str) -> ComparedColumn:
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
        check_rows(len(self.original), masked)
        if self.original.holds_numbers(name):
            return self._held(name).compared(masked)
        if masked.level(name) == LOCAL:
            return self._recoded(masked, name)
        before, after = _codes(self.original, masked, name)
        first, last = code_counts(before, after[masked.kept])
        gone = (first[1:] > 0) & (last[1:] == 0)
        values, lost = int((first[1:] > 0).sum()), int(first[1:][gone].sum())
        return ComparedColumn(
            total_variation(first, last),
            values=values,
            vanished=int(gone.sum()),
            vanished_records=lost,
            constant=values > 1 >= int((last[1:] > 0).sum()),
        )

    def listed(self, name: str) -> bool:
        """Whether the values of a number are looked at one by one: at most twenty, all whole.

        Parameters
        ----------
        name : str
            A column of numbers.

        Returns
        -------
        bool
        """
        return self._held(name).listed

    def _recoded(self, masked: Table, name: str) -> ComparedColumn:
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
    def counted(self) -> tuple[Floats, Ints]:
        """The different values, and the records that hold each."""
        return np.unique(self.ordered, return_counts=True)

    @cached_property
    def listed(self) -> bool:
        """Whether there are so few values, all whole, that each is looked at by itself."""
        values = self.counted[0]
        return len(values) <= FEW and bool((values == np.round(values)).all())

    @cached_property
    def edges(self) -> Floats:
        held = self.ordered
        return np.unique(np.quantile(held, np.linspace(0, 1, BINS + 1)[1:-1])) if held.size else np.empty(0)

    @cached_property
    def forgiven(self) -> float:
        """The shift that is forgiven."""
        low, high = np.quantile(self.ordered, [0.01, 0.99]) if self.ordered.size else (0.0, 0.0)
        return FORGIVEN * float(high - low)

    def compared(self, masked: Table) -> ComparedColumn:
        """Distances and tails of the released numbers."""
        after = published_numbers(masked, self.name)[masked.kept]
        held = np.sort(after[~np.isnan(after)])
        first, last = code_counts(binned(self.values, self.edges), binned(after, self.edges))
        values, counts = self.counted
        gone = (
            ~np.isin(values, held) if self.listed and masked.holds_numbers(self.name) else np.zeros(len(values), bool)
        )
        return ComparedColumn(
            total_variation(first, last),
            kolmogorov(self.ordered, held),
            kolmogorov(self.ordered, held, self.forgiven),
            len(values),
            int(gone.sum()),
            int(counts[gone].sum()),
            tails=self._tails(held),
            held=len(self.ordered),
            released=len(held),
            constant=len(values) > 1 and (not held.size or bool(held[0] == held[-1])),
            total_change=self._total_change(held, int(masked.kept.sum())),
        )

    def _total_change(self, held: Floats, records: int) -> float:
        """Change of the total of all published records, those that lack a number by the mean, per cent."""
        if not self.ordered.size:
            return 0.0
        n = len(self.values)
        before = n * float(self.ordered.mean())
        after = records * float(held.mean()) if held.size else 0.0
        scale = max(abs(before), NEGLIGIBLE * n * float(self.ordered.std()))
        return 100.0 * abs(after - before) / scale if scale > 0 else 0.0

    def _tails(self, held: Floats) -> tuple[Tail, ...]:
        if not self.ordered.size:
            return ()
        points = np.quantile(self.ordered, np.array(TAILS) / 100.0)
        return tuple(
            Tail(share, records_beyond(self.ordered, at, share), records_beyond(held, at, share))
            for share, at in zip(TAILS, points.tolist(), strict=True)
        )


def _codes(original: Table, masked: Table, name: str) -> tuple[Ints, Ints]:
    """Categories before and after in one numbering; a generalised column by the groups of its level."""
    level = masked.level(name)
    if level == 0:
        return original.column(name).astype(np.int64), alike_codes(original, masked, name)[0].astype(np.int64)
    hierarchy = masked.attribute(name).hierarchy
    if hierarchy is None:
        raise TableError(f"column {name!r} is generalised but has no hierarchy; give the one that was used")
    lifted = hierarchy.lift(original.leaf_codes(name), level)
    return lifted.astype(np.int64), masked.column(name).astype(np.int64)
