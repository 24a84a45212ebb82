"""Interval disclosure: how often a published number gives the true one away within a narrow interval.

Three intervals around the published value: by rank (w % of the records), by deviation (w % of a standard
deviation) and by value (w % of the value itself, on columns scaled to [0, 1] as in the attribute-grouping paper).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.measures.intervals import score_confidence_interval, wilson_interval
from crypsis.measures.measure import (
    Aim,
    BoundMeasure,
    Measure,
    Numbers,
    Reading,
    check_measured_rows,
    measures,
    numbers_that_measures_read,
)
from crypsis.measures.numeric_loss import names_for_numeric_loss, obstacle_to_numeric_loss
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table

Matrix = NDArray[np.float64]
Variant = Literal["rank", "deviation", "value"]

MISSING_INTERVALS = (
    "cells missing in the original are left out; a cell blanked by the masking, and every cell of a suppressed "
    "record, discloses nothing; a generalised number is read as the middle of its group"
)
ROUNDING = 1e-12


@measures.add("interval-disclosure")
class IntervalDisclosure(Measure):
    """Share of values that lie within a narrow interval around the published value.

    100 times the share of original values inside an interval around the published value, averaged over columns and
    over the widths width·1/steps, …, width (1 to 10 % by default); half width: w % of the records in ranks of the
    original column, w % of its population deviation, or w % of the published value on [0, 1]-scaled columns;
    counting records, all columns of a record must be inside.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.IntervalDisclosure().against(original).read(masked), 2)
    76.0

    Notes
    -----
    - Formula: 100 · share of original values within an interval around the published one
    - Paper: Domingo-Ferrer and Torra (2001); section 3.2.2 of the GOMM paper (2014)
    - Cost: O(n p log n)
    - Departures: the GOMM text does not give its tables: ten widths around the protected value on range-scaled
      columns do
    """

    aim: ClassVar[Aim] = "risk"

    variant: Variant = Field(
        default="rank", description="interval by rank, by standard deviation, or relative to the published value"
    )
    width: float = Field(default=10.0, gt=0.0, le=100.0, description="largest half width of the interval, in per cent")
    steps: int = Field(
        default=10, ge=1, le=100, description="average over this many equally spaced widths; 1 means the width alone"
    )
    count: Literal["cells", "records"] = Field(
        default="cells", description="count single values, or records whose every value is inside (as sdcMicro's dRisk)"
    )

    def against(self, original: Table) -> BoundMeasure:
        numbers = Numbers.of(original, names_for_numeric_loss(self.columns, original))
        ordered = tuple(np.sort(c[here]) for c, here in zip(numbers.values.T, numbers.present.T, strict=True))
        return BoundInterval(self, numbers, ordered)

    def obstacle(self, original: Table) -> str:
        return obstacle_to_numeric_loss(self.columns, original)


def disclosure_interval_ranks(values: Matrix, ordered: Matrix) -> Matrix:
    """Ranks for interval disclosure: places in a sorted column, midway between records below and those not above."""
    starts = (
        np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(ordered) else np.zeros(0, dtype=np.intp)
    )
    line, below = ordered[starts], np.append(starts, len(ordered))  # few different values are found soonest
    place = np.searchsorted(line, values)
    held = np.append(line, np.nan)[place] == values
    return np.where(held, (below[place] + below[np.minimum(place + 1, len(line))]) / 2.0, below[place])


@dataclass(frozen=True)
class BoundInterval(BoundMeasure):
    """Interval disclosure bound to an original."""

    measure: IntervalDisclosure
    numbers: Numbers
    ordered: tuple[Matrix, ...]

    def read(self, masked: Table) -> float:
        return self._share(self._read_published(masked))[0]

    def explain(self, masked: Table) -> Reading:
        value, units = self._share(self._read_published(masked))
        middles = [float(np.median(column)) if column.size else np.nan for column in self.ordered]
        guess = np.broadcast_to(np.array(middles), self.numbers.values.shape)
        return self.measure.make_reading(
            value,
            self.numbers.names,
            MISSING_INTERVALS,
            {self.measure.count: units, "suppressed": int(np.sum(~masked.kept))},
            interval=self._interval(masked, value / 100.0),
            baseline=self._share(guess)[0],
            warning=self._warn_of_scale(),
        )

    def scores(self, masked: Table) -> Matrix:
        """What is disclosed of each record: the share of its values, or of widths at which it is inside as a whole."""
        needed, present = self.needed_width(self._read_published(masked)), self.numbers.present
        widths = self.measure.width * np.arange(1, self.measure.steps + 1) / self.measure.steps * (1 + ROUNDING)
        if self.measure.count == "records":
            needed = np.where(present, needed, 0.0).max(axis=1, keepdims=True)
            present = np.any(present, axis=1, keepdims=True)
        inside = (len(widths) - np.searchsorted(widths, needed, side="left")) / len(widths) * present
        held = present.sum(axis=1)
        total = inside.sum() / max(int(held.sum()), 1)
        # Records with missing values count by the values they hold; those with all of them score their own share.
        return np.asarray(total + (inside.sum(axis=1) - total * held) / max(float(held.mean()), 1e-9))

    def _interval(self, masked: Table, value: float) -> tuple[float, float]:
        """Values of a record are not independent, nor are records of a class: both count once."""
        if not self.numbers.present.any():
            return wilson_interval(value * self.numbers.rows, self.numbers.rows)
        return score_confidence_interval(
            self.scores(masked), groups=equivalence_classes(masked.codes(self.numbers.names)).of
        )

    def _read_published(self, masked: Table) -> Matrix:
        check_measured_rows(self.numbers.rows, masked)
        return np.stack([numbers_that_measures_read(masked, name) for name in self.numbers.names], axis=1)

    def needed_width(self, published: Matrix) -> Matrix:
        """The width, in per cent, from which the interval holds the original; infinite where it never does."""
        gap, unit = self._gap_and_unit(published)
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = 100.0 * gap / unit
        needed = np.where(gap <= ROUNDING * np.maximum(unit, 1.0), 0.0, needed)
        return np.where(np.isnan(needed), np.inf, needed)

    def _rank(self, values: Matrix) -> Matrix:
        """Places of values in the sorted columns of the original."""
        ranks = [disclosure_interval_ranks(values[:, j], each) for j, each in enumerate(self.ordered)]
        return np.stack(ranks, axis=1)

    @cached_property
    def _ranks(self) -> Matrix:
        """Places of the original values."""
        return self._rank(self.numbers.values)

    def _gap_and_unit(self, published: Matrix) -> tuple[Matrix, Matrix]:
        numbers, shape = self.numbers, published.shape
        if self.measure.variant == "rank":
            known, shown = self._ranks, self._rank(published)
            held = np.array([float(len(column)) for column in self.ordered])
            gap = np.where(np.isnan(published), np.nan, np.abs(known - shown))
            return gap, np.broadcast_to(held, shape)
        inverse = numbers.scales.inverse("z" if self.measure.variant == "deviation" else "range")
        scale = np.where(inverse > 0, inverse, 1.0)
        gap = np.abs(numbers.values - published) * scale
        if self.measure.variant == "deviation":
            return gap, np.broadcast_to(np.where(inverse > 0, 1.0, 0.0), shape)
        return gap, np.abs((published - numbers.scales.low) * scale)

    def _share(self, published: Matrix) -> tuple[float, int]:
        """The share in per cent, and of how many cells or records."""
        needed, present = self.needed_width(published), self.numbers.present
        if self.measure.count == "records":
            whole = np.where(present, needed, 0.0).max(axis=1)
            units = whole[np.any(present, axis=1)]
        else:
            units = needed[present]
        if not units.size:
            return 0.0, 0
        widths = self.measure.width * np.arange(1, self.measure.steps + 1) / self.measure.steps
        inside = np.searchsorted(np.sort(units), widths * (1 + ROUNDING), side="right")
        return 100.0 * float(inside.mean()) / units.size, int(units.size)

    def _warn_of_scale(self) -> str:
        if self.measure.variant == "value":
            return "intervals relative to the value depend on where the column's scale begins"
        return ""
