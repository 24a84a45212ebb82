"""Declared uses: what an analyst will do with the file, and how far the results move in the released file.

A use reads the released file as a stranger does: suppressed records are not there, a generalised number is the
middle of its group, a generalised category stands evenly for the values it covers. Every loss lies between 0 (the
analysis gives what it gave) and 100 (nothing is left of it).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from crypsis.errors import TableError, unknown_column
from crypsis.kernels.arrays import Floats
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
from crypsis.measures.numeric_loss import Moments
from crypsis.measures.spreading import Grid
from crypsis.registry import ColumnName
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.population import weight_column
from crypsis.table.table import Table

Found = tuple[float, Mapping[str, float]]
"""The loss, and what it was made of."""

_ABSENT = "suppressed records are left out of the released side, as they are not in the file"
_BINS = Field(default=10, ge=2, le=1000, description="numbers are cut at this many quantiles of the original column")
UNWEIGHTED = "none"
"""What is written in place of a column where every record counts once although there is a weight."""
_WEIGHTS = Field(
    default="",
    description="numeric column of record weights; empty: the one with the role weight, where there is one; none: "
    "every record counts once",
)


class DeclaredUse(Measure):
    """A loss of one named analysis; it needs columns, so it never stands without settings."""

    aim: ClassVar[Aim] = "loss"
    row_wise: ClassVar[bool] = False
    missing: ClassVar[str]

    def scope(self) -> tuple[str, ...]:
        """Every column the analysis touches."""
        return self.columns

    def numeric(self) -> tuple[str, ...]:
        """Those that must hold numbers."""
        return ()

    def obstacle(self, original: Table) -> str:
        unknown = unknown_column(self.scope(), original.names)
        if unknown:
            return unknown
        for name in self.numeric():
            if not original.holds_numbers(name):
                return f"column {name!r} is {original.attribute(name).kind} and this use needs numbers; choose another"
        return "" if original.rows else NO_RECORDS

    def against(self, original: Table) -> BoundUse:
        return BoundUse(self, original.rows, self.prepare(original))

    @classmethod
    def first_settings(cls, numeric: Sequence[str], quasi_identifiers: Sequence[str]) -> dict[str, Any]:
        """Columns to begin with where a person has named none.

        Parameters
        ----------
        numeric : sequence of str
            Columns that hold numbers.
        quasi_identifiers : sequence of str
            Columns an intruder may know.

        Returns
        -------
        dict
            Settings by name.
        """
        return {"columns": list(numeric)}

    @abstractmethod
    def prepare(self, original: Table) -> Any:
        """The analysis of the original, and what is needed to repeat it on a released file.

        Parameters
        ----------
        original : Table
            The table, with its roles; nothing in it is changed.

        Returns
        -------
        object
            Given back to `compare`.
        """

    @abstractmethod
    def compare(self, prepared: Any, masked: Table) -> Found:
        """The same analysis on the released records, and how far its results moved.

        Parameters
        ----------
        prepared : object
            The result of `prepare`.
        masked : Table
            The released table.

        Returns
        -------
        tuple of float and mapping
            The loss from 0 to 100, and its parts.
        """


@dataclass(frozen=True)
class BoundUse(BoundMeasure):
    """A use bound to an original."""

    use: DeclaredUse
    rows: int
    """Records of the original."""
    prepared: Any

    def read(self, masked: Table) -> float:
        check_measured_rows(self.rows, masked)
        return self.use.compare(self.prepared, masked)[0]

    def explain(self, masked: Table) -> Reading:
        check_measured_rows(self.rows, masked)
        value, counts = self.use.compare(self.prepared, masked)
        released = {"records released": int(masked.kept.sum())}
        return self.use.make_reading(value, self.use.scope(), self.use.missing, {**counts, **released})


def named_weight(name: str) -> tuple[str, ...]:
    """The column that a declared use names to weigh records; none where it is the one with that role, or none."""
    return () if name in ("", UNWEIGHTED) else (name,)


def weight_for_uses(table: Table, name: str) -> str:
    """The column that weighs records in a declared use: the one named, or the only one with the role weight."""
    if name == UNWEIGHTED and name not in table.names:
        return ""
    found = weight_column(table, name)
    return found if name or (found and table.holds_numbers(found)) else ""


def weights_for_uses(table: Table, name: str) -> Floats:
    """Weights of records in every declared use: 1 unless a column gives them; 0 if missing or suppressed."""
    name = weight_for_uses(table, name)
    if not name:
        return table.kept.astype(np.float64)
    weights = np.nan_to_num(numbers_that_measures_read(table, name), nan=0.0)
    if bool((weights < 0).any()):
        raise TableError(f"column {name!r} holds negative numbers and cannot weigh records; choose another column")
    return weights


@dataclass(frozen=True)
class PreparedTable:
    """The cells of the original's table and their shares."""

    grid: Grid
    shares: Floats


@measures.add("table-use")
class TableUse(DeclaredUse):
    """A (weighted) table of counts over some columns.

    100 times the total variation distance between the weighted shares of the table's cells in the original and in
    the released file: half the sum over cells of |p − q|.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> round(crypsis.TableUse(columns=("town",)).against(original).read(masked), 2)
    20.0

    Notes
    -----
    - Formula: 100 · ½ Σ |p − q| over the cells of the table
    - Paper: own: a declared use
    - Cost: O(n)
    - Departures: own measure
    """

    missing: ClassVar[str] = f"a missing value is a category of its own; a missing weight counts 0; {_ABSENT}"

    columns: tuple[str, ...] = Field(min_length=1, description="columns that span the table")
    weights: ColumnName = _WEIGHTS
    bins: int = _BINS

    @classmethod
    def first_settings(cls, numeric: Sequence[str], quasi_identifiers: Sequence[str]) -> dict[str, Any]:
        return {"columns": list(quasi_identifiers[:2])}

    def scope(self) -> tuple[str, ...]:
        return (*self.columns, *named_weight(self.weights))

    def numeric(self) -> tuple[str, ...]:
        return named_weight(self.weights)

    def prepare(self, original: Table) -> PreparedTable:
        grid = Grid.of(original, self.columns, self.bins)
        return PreparedTable(grid, _shares(grid.own(weights_for_uses(original, self.weights)[:, None])[:, 0]))

    def compare(self, prepared: PreparedTable, masked: Table) -> Found:
        weights = weights_for_uses(masked, self.weights)
        total = float(weights.sum())
        if total <= 0:
            return 100.0, {"cells": len(prepared.shares)}
        released = prepared.grid.sum_released(masked, weights[:, None])[:, 0] / total
        # What does not fall into a cell of the original lies wholly outside its table.
        outside = max(1.0 - float(released.sum()), 0.0)
        distance = 0.5 * (float(np.abs(prepared.shares - released).sum()) + outside)
        return min(100.0 * distance, 100.0), {"cells": len(prepared.shares)}


def _shares(totals: Floats) -> Floats:
    whole = float(totals.sum())
    if whole <= 0:
        raise TableError("the weights of all records are 0 or missing, so there is no table; choose another weight")
    return totals / whole


@dataclass(frozen=True)
class PreparedMeans:
    """The groups of the original, their shares of the records, and their means, one column per number."""

    grid: Grid
    shares: Floats
    means: Floats


@measures.add("means-use")
class MeansUse(DeclaredUse):
    """Means of numeric columns by group.

    Mean over groups, weighted by their share of the original, of the relative change |m' − m| / |m| of the group's
    mean, at most 100 % each (also where m = 0 and m' is not, and where the group is not in the file); mean over the
    columns.

    Examples
    --------
    >>> values = {"town": ["a", "a", "b", "b"], "wage": [1, 3, 4, 6]}
    >>> original = crypsis.Table.from_columns(values)
    >>> masked = original.with_columns({"wage": np.array([2.0, 3.0, 4.0, 6.0])})
    >>> round(crypsis.MeansUse(columns=("wage",), by=("town",)).against(original).read(masked), 2)
    12.5

    Notes
    -----
    - Formula: Σ_g share(g) · min(|m'_g − m_g| / |m_g|, 1)
    - Paper: own: a declared use
    - Cost: O(n)
    - Departures: own measure
    """

    missing: ClassVar[str] = (
        f"a missing group is a group of its own; a missing number or weight takes no part in a mean; {_ABSENT}"
    )

    columns: tuple[str, ...] = Field(min_length=1, description="numeric columns whose means are wanted")
    by: tuple[str, ...] = Field(min_length=1, description="columns that form the groups")
    weights: ColumnName = _WEIGHTS
    bins: int = _BINS

    @classmethod
    def first_settings(cls, numeric: Sequence[str], quasi_identifiers: Sequence[str]) -> dict[str, Any]:
        return {"columns": list(numeric[-1:]), "by": list(quasi_identifiers[:1])}

    def scope(self) -> tuple[str, ...]:
        return (*self.columns, *self.by, *named_weight(self.weights))

    def numeric(self) -> tuple[str, ...]:
        return (*self.columns, *named_weight(self.weights))

    def prepare(self, original: Table) -> PreparedMeans:
        grid = Grid.of(original, self.by, self.bins)
        weights = weights_for_uses(original, self.weights)
        totals = grid.own(np.concatenate([weights[:, None], self._sums(original, weights)], axis=1))
        return PreparedMeans(grid, _shares(totals[:, 0]), _means(totals[:, 1:]))

    def _sums(self, table: Table, weights: Floats) -> Floats:
        """float64[n, 2 p]: weight of the cells that hold a number, then weight times number."""
        numbers = np.stack([numbers_that_measures_read(table, name) for name in self.columns], axis=1)
        held = np.where(np.isnan(numbers), 0.0, weights[:, None])
        return np.concatenate([held, held * np.nan_to_num(numbers, nan=0.0)], axis=1)

    def compare(self, prepared: PreparedMeans, masked: Table) -> Found:
        sums = self._sums(masked, weights_for_uses(masked, self.weights))
        after = _means(prepared.grid.sum_released(masked, sums))
        changes = [
            _relative(prepared.means[:, place], after[:, place], prepared.shares) for place in range(len(self.columns))
        ]
        named = {f"change of {name}, %": 100.0 * each for name, each in zip(self.columns, changes, strict=True)}
        return 100.0 * float(np.mean(changes)), {"groups": len(prepared.shares), **named}


def _means(sums: Floats) -> Floats:
    held, total = np.split(sums, 2, axis=1)
    return np.where(held > 0, total / np.where(held > 0, held, 1.0), np.nan)


def _relative(before: Floats, after: Floats, shares: Floats) -> float:
    """Mean relative change over the groups that have a mean, by their share."""
    counted = ~np.isnan(before) & (shares > 0)
    if not counted.any():
        return 0.0
    before, after, shares = before[counted], after[counted], shares[counted]
    size = np.abs(before)
    gap = np.abs(after - before)
    change = np.where(size > 0, gap / np.where(size > 0, size, 1.0), np.where(gap > 0, 1.0, 0.0))
    change = np.where(np.isnan(after), 1.0, np.minimum(change, 1.0))
    return float((shares * change).sum() / shares.sum())


@measures.add("correlation-use")
class CorrelationUse(DeclaredUse):
    """Correlations among numeric columns.

    Mean over pairs of columns of |r − r'|, r and r' the Pearson correlations in the original and in the released
    file, times 100 / 2 (a full reversal is 100); a constant column correlates 0 with everything.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.CorrelationUse(columns=("x", "y")).against(original).read(masked), 2)
    7.43

    Notes
    -----
    - Formula: 50 · mean |r − r'|
    - Paper: own: a declared use
    - Cost: O(n p²)
    - Departures: own measure
    """

    missing: ClassVar[str] = f"each pair rests on the records that hold both columns; {_ABSENT}"

    columns: tuple[str, ...] = Field(min_length=2, description="numeric columns, two or more")

    def numeric(self) -> tuple[str, ...]:
        return self.columns

    def prepare(self, original: Table) -> tuple[Floats, Floats]:
        values = np.stack([finite_numbers_of_frame(original, name) for name in self.columns], axis=1)
        present = ~np.isnan(values)
        held = np.maximum(present.sum(axis=0), 1)
        centre = np.asarray(np.where(present, values, 0.0).sum(axis=0) / held)
        return centre, self._pairs(values, centre)

    def _pairs(self, values: Floats, centre: Floats) -> Floats:
        correlation = Moments.of(values, ~np.isnan(values), centre).correlation
        return np.asarray(correlation[np.triu_indices(len(self.columns), 1)])

    def compare(self, prepared: tuple[Floats, Floats], masked: Table) -> Found:
        centre, before = prepared
        if not masked.kept.any():
            return 100.0, {"pairs": len(before)}
        values = np.stack([numbers_that_measures_read(masked, name) for name in self.columns], axis=1)
        gaps = np.abs(self._pairs(values, centre) - before)
        return 50.0 * float(gaps.mean()), {"pairs": len(before), "largest difference": float(gaps.max())}


def uses() -> dict[str, type[DeclaredUse]]:
    """The registered measures that are uses, by name."""
    return {name: cls for name in measures if issubclass(cls := measures[name], DeclaredUse)}
