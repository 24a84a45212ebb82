"""How far the distributions of columns moved, as measures: distance, vanished values, tails."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from crypsis.measures.measure import NO_RECORDS, Aim, BoundMeasure, Measure, Reading, measures
from crypsis.measures.pairing import numeric_names, numeric_obstacle
from crypsis.measures.utility.distributions import ComparedColumn, Distributions
from crypsis.table.table import Table

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
        return BoundColumnWise(self, self.chosen(original), Distributions(original))


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
        return self.measure.reading(self._whole(found), self.names, _MISSING, found)

    def _by_column(self, masked: Table) -> dict[str, float]:
        records = len(self.distributions.original)
        return {name: self.measure.figure(self.distributions.compared(masked, name), records) for name in self.names}

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
        return numeric_obstacle(self.columns, original) if original.rows else NO_RECORDS

    def chosen(self, original: Table) -> tuple[str, ...]:
        return tuple(numeric_names(self.columns, original))

    def figure(self, compared: ComparedColumn, records: int) -> float:
        scale = compared.held / max(compared.released, 1)
        ends = [tail for tail in compared.tails if tail.point in ENDS and tail.before]
        return 100.0 * max((min(abs(scale * t.after / t.before - 1.0), 1.0) for t in ends), default=0.0)
