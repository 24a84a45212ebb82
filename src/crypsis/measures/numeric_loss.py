"""Loss of numeric columns, cell by cell: SSE, SSE/SST and IL1s.

SSE and SST as in Domingo-Ferrer and Mateo-Sanz (2002); IL1s as in Yancey, Winkler and Creecy (2002), with the
sum and the division by the value itself that sdcMicro offers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.measures.measure import Aim, BoundMeasure, Measure, Reading, measures
from crypsis.measures.pairing import MISSING_NUMBERS, Numbers, numeric_names, numeric_obstacle
from crypsis.table.scaling import Scaling
from crypsis.table.table import Table

ColumnScale = Annotated[Scaling, Field(description="scale of each column: population deviation, range, or none")]
"""Setting of sums of squares."""
Score = tuple[float, Mapping[str, float]]
"""The number, and what it was made of."""


class NumericLoss(Measure):
    """A loss read from original and published numbers alone."""

    aim: ClassVar[Aim] = "loss"
    least_columns: ClassVar[int] = 1

    def obstacle(self, original: Table) -> str:
        return numeric_obstacle(self.columns, original, self.least_columns)

    def against(self, original: Table) -> BoundMeasure:
        numbers = Numbers.of(original, numeric_names(self.columns, original))
        return BoundNumeric(self, numbers, self.prepare(numbers))

    def prepare(self, numbers: Numbers) -> Any:
        """What never changes while maskings of one original are compared.

        Parameters
        ----------
        numbers : Numbers
            The numeric columns of the original.

        Returns
        -------
        object
            Given back to `score`.
        """
        return None

    @abstractmethod
    def score(self, numbers: Numbers, prepared: Any, published: NDArray[np.float64]) -> Score:
        """The loss of the published numbers.

        Parameters
        ----------
        numbers : Numbers
            The original columns.
        prepared : object
            What `prepare` gave.
        published : ndarray of shape (n, p)
            The published numbers.

        Returns
        -------
        tuple of float and mapping
            The loss, and what it was computed from.
        """


@dataclass(frozen=True)
class BoundNumeric(BoundMeasure):
    """A numeric loss bound to an original."""

    measure: NumericLoss
    numbers: Numbers
    prepared: Any

    def read(self, masked: Table) -> float:
        return self.measure.score(self.numbers, self.prepared, self.numbers.published(masked))[0]

    def explain(self, masked: Table) -> Reading:
        value, counts = self.measure.score(self.numbers, self.prepared, self.numbers.published(masked))
        counts = {**counts, "records": self.numbers.rows, "suppressed": int(np.sum(~masked.kept))}
        return self.measure.reading(value, self.numbers.names, MISSING_NUMBERS, counts)


def squared_error(numbers: Numbers, published: NDArray[np.float64], scaling: Scaling) -> float:
    """Sum over cells of the squared scaled difference."""
    difference = np.where(numbers.present, numbers.values - published, 0.0) * numbers.scales.inverse(scaling)
    return float(np.einsum("ij,ij->", difference, difference))


def total_squares(numbers: Numbers, scaling: Scaling) -> float:
    """Sum over cells of the squared scaled distance from the column mean."""
    centred = np.where(numbers.present, numbers.values - numbers.scales.mean, 0.0) * numbers.scales.inverse(scaling)
    return float(np.einsum("ij,ij->", centred, centred))


@measures.add("sse")
class SquaredError(NumericLoss):
    """Sum of squared errors: after mean microaggregation, the within-group SSE the literature minimises.

    Sum over cells of ((x - x') / s)², s the original column's population deviation (z), range, or 1 (none); a
    constant column takes no part; raw, grows with the number of records.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.SquaredError().against(original).read(masked), 2)
    0.5

    Notes
    -----
    - Formula: Σ ((x − x')/s)²
    - Paper: Domingo-Ferrer and Mateo-Sanz (2002)
    - Cost: O(n p)
    - Departures: s is the population deviation (decision 0004)
    """

    unit: ClassVar[str] = "squared scaled units"

    scaling: ColumnScale = "z"

    def score(self, numbers: Numbers, prepared: Any, published: NDArray[np.float64]) -> Score:
        return squared_error(numbers, published, self.scaling), {"cells": int(numbers.present.sum())}


@measures.add("sse-ratio")
class SquaredErrorRatio(NumericLoss):
    """100·SSE/SST: 0 for the original, 100 for a file whose every value is the column mean.

    100·SSE/SST on scaled columns: SSE sums squared differences between original and published cells, SST squared
    differences between original cells and their column mean; 0 where SST is 0; above 100 only if a masking is worse
    than publishing means.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.SquaredErrorRatio().against(original).read(masked), 2)
    3.33

    Notes
    -----
    - Formula: 100 · SSE / SST
    - Paper: Domingo-Ferrer and Mateo-Sanz (2002)
    - Cost: O(n p)
    - Departures: none
    """

    scaling: ColumnScale = "z"

    def prepare(self, numbers: Numbers) -> float:
        return total_squares(numbers, self.scaling)

    def score(self, numbers: Numbers, prepared: float, published: NDArray[np.float64]) -> Score:
        error = squared_error(numbers, published, self.scaling)
        return (100.0 * error / prepared if prepared > 0 else 0.0), {"SSE": error, "SST": prepared}


@measures.add("il1s")
class ScaledAbsoluteError(NumericLoss):
    """IL1s: mean absolute difference in units of √2 standard deviations.

    100 times the mean over cells of |x - x'| / (√2·S), S the original column's population deviation (constant
    columns skipped); with divisor 'value' it is |x - x'| / |x| (cells with x = 0 skipped); with summary 'sum' the
    plain sum as sdcMicro prints it; unbounded above.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.ScaledAbsoluteError().against(original).read(masked), 2)
    6.67

    Notes
    -----
    - Formula: 100 · mean |x − x'| / (√2 S)
    - Paper: Yancey, Winkler and Creecy (2002)
    - Cost: O(n p)
    - Departures: the mean over cells is the default; the plain sum is a setting
    """

    unit: ClassVar[str] = "% of √2 sd"

    summary: Literal["mean", "sum"] = Field(
        default="mean", description="mean over cells in per cent, or the plain sum (sdcMicro's present IL1s)"
    )
    divisor: Literal["deviation", "value"] = Field(
        default="deviation", description="divide by √2 standard deviations, or by the original value (sdcMicro's IL1)"
    )

    def score(self, numbers: Numbers, prepared: Any, published: NDArray[np.float64]) -> Score:
        if self.divisor == "deviation":
            below = np.broadcast_to(np.sqrt(2.0) * numbers.scales.deviation, numbers.values.shape)
        else:
            below = np.abs(numbers.values)
        counted = numbers.present & (below > 0)
        shares = np.abs(numbers.values - published)[counted] / below[counted]
        cells = int(counted.sum())
        if self.summary == "sum":
            return float(shares.sum()), {"cells": cells}
        return (100.0 * float(shares.sum()) / cells if cells else 0.0), {"cells": cells}

    def unit_in_words(self) -> str:
        if self.summary == "sum":
            return "sum of ratios"
        return self.unit if self.divisor == "deviation" else "% of the value"
