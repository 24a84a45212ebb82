"""Loss of numeric columns, cell by cell: SSE, SSE/SST and IL1s.

SSE and SST as in Domingo-Ferrer and Mateo-Sanz (2002); IL1s as in Yancey, Winkler and Creecy (2002), with the
sum and the division by the value itself that sdcMicro offers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import scipy
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError, unknown_column
from crypsis.kernels.arrays import Floats
from crypsis.measures.information_loss import total_information_squares
from crypsis.measures.measure import MISSING_NUMBERS, NO_RECORDS, Aim, BoundMeasure, Measure, Numbers, Reading, measures
from crypsis.table.precision import Scaling
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
        return obstacle_to_numeric_loss(self.columns, original, self.least_columns)

    def against(self, original: Table) -> BoundMeasure:
        numbers = Numbers.of(original, names_for_numeric_loss(self.columns, original))
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
        return self.measure.score(self.numbers, self.prepared, self.numbers.read_published(masked))[0]

    def explain(self, masked: Table) -> Reading:
        value, counts = self.measure.score(self.numbers, self.prepared, self.numbers.read_published(masked))
        counts = {**counts, "records": self.numbers.rows, "suppressed": int(np.sum(~masked.kept))}
        return self.measure.make_reading(value, self.numbers.names, MISSING_NUMBERS, counts)


def _squared_error(numbers: Numbers, published: NDArray[np.float64], scaling: Scaling) -> float:
    """Sum over cells of the squared scaled difference."""
    difference = np.where(numbers.present, numbers.values - published, 0.0) * numbers.scales.inverse(scaling)
    return float(np.einsum("ij,ij->", difference, difference))


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
        return _squared_error(numbers, published, self.scaling), {"cells": int(numbers.present.sum())}


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
        return total_information_squares(numbers, self.scaling)

    def score(self, numbers: Numbers, prepared: float, published: NDArray[np.float64]) -> Score:
        error = _squared_error(numbers, published, self.scaling)
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


# -- What a masking does to means, variances, covariances, correlations and their eigenvalues.
#
# Discrepancies as in the ESSNet handbook: mean variation (mean of |a - a'|/|a|, cells with a = 0 left out),
# mean absolute error and mean square error. Where values are missing, a covariance or correlation rests on the
# records that hold both columns.

Matrix = NDArray[np.float64]
Discrepancy = Literal["variation", "absolute", "square"]

DISCREPANCY = "mean variation |a - a'|/|a| in per cent, mean absolute error, or mean square error"
SMALLEST_EIGENVALUE = 1e-12
UNITS: dict[Discrepancy, str] = {
    "variation": "% of the original statistic",
    "absolute": "mean absolute error",
    "square": "mean square error",
}


def numeric_loss_discrepancy(kind: Discrepancy, before: Matrix, after: Matrix) -> float:
    """Loss of numeric columns: how far statistics of the original and masked numbers differ on average."""
    if kind == "variation":
        counted = before != 0
        before, after = before[counted], after[counted]
        return 100.0 * float(np.mean(np.abs(before - after) / np.abs(before))) if before.size else 0.0
    if not before.size:
        return 0.0
    gap = np.abs(before - after)
    return float(np.mean(gap if kind == "absolute" else gap**2))


@dataclass(frozen=True)
class Moments:
    """Means, covariances and correlations of a numeric matrix, pairwise complete."""

    mean: Matrix
    covariance: Matrix
    correlation: Matrix

    @classmethod
    def of(cls, values: Matrix, present: NDArray[np.bool_], centre: Matrix) -> Moments:
        """Population moments; `centre` is any point near the data, so that large offsets cost no digits."""
        held = present.astype(np.float64)
        away = np.where(present, values - centre, 0.0)
        both = np.maximum(held.T @ held, 1.0)
        # first[j, k]: mean of column j over the records that hold j and k.
        first = (away.T @ held) / both
        covariance = (away.T @ away) / both - first * first.T
        variance = ((away**2).T @ held) / both - first**2
        # What rounding leaves of a constant column is not a variance.
        scale = np.max(np.abs(away), axis=0)
        variance = np.where(variance > 1e-15 * scale[:, None] ** 2, variance, 0.0)
        product = np.sqrt(variance * variance.T)
        correlation = np.where(product > 0, covariance / np.where(product > 0, product, 1.0), 0.0)
        np.fill_diagonal(correlation, np.diagonal(variance) > 0)
        mean = centre + np.diagonal(first)
        return cls(mean, covariance, np.clip(correlation, -1.0, 1.0))


def _moments_of(numbers: Numbers, values: Matrix | None = None) -> Moments:
    """Moments of the original, or of published values beside it."""
    return Moments.of(numbers.values if values is None else values, numbers.present, numbers.scales.mean)


class DiscrepancyLoss(NumericLoss):
    """A loss by the discrepancy between statistics before and after masking."""

    unit: ClassVar[str] = UNITS["variation"]

    discrepancy: Discrepancy = Field(default="variation", description=DISCREPANCY)

    def unit_in_words(self) -> str:
        return UNITS[self.discrepancy]


@measures.add("moments")
class MomentLoss(DiscrepancyLoss):
    """How far means and variances move.

    Discrepancy between the columns' means and variances before and after masking, averaged over the two (or one of
    them); statistics that are 0 in the original are left out of a mean variation; unbounded above.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.MomentLoss().against(original).read(masked), 2)
    1.67

    Notes
    -----
    - Formula: mean |a − a'| / |a| over means and variances a
    - Paper: Hundepool et al., Handbook on Statistical Disclosure Control (ESSNet)
    - Cost: O(n p)
    - Departures: statistics that are 0 in the original are left out
    """

    statistic: Literal["both", "means", "variances"] = Field(
        default="both", description="compare means, variances, or the average of the two discrepancies"
    )

    def prepare(self, numbers: Numbers) -> Moments:
        return _moments_of(numbers)

    def score(self, numbers: Numbers, prepared: Moments, published: Matrix) -> Score:
        after = _moments_of(numbers, published)
        parts = {
            "means": numeric_loss_discrepancy(self.discrepancy, prepared.mean, after.mean),
            "variances": numeric_loss_discrepancy(
                self.discrepancy, np.diagonal(prepared.covariance), np.diagonal(after.covariance)
            ),
        }
        if self.statistic == "both":
            return (parts["means"] + parts["variances"]) / 2, parts
        return parts[self.statistic], parts


@measures.add("covariances")
class CovarianceLoss(DiscrepancyLoss):
    """How far the covariance matrix moves, its diagonal included.

    Discrepancy between the p(p+1)/2 population covariances (variances included) before and after masking;
    covariances that are 0 in the original are left out of a mean variation; unbounded above.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.CovarianceLoss().against(original).read(masked), 2)
    20.42

    Notes
    -----
    - Formula: discrepancy of the p(p + 1)/2 covariances
    - Paper: Hundepool et al., Handbook on Statistical Disclosure Control (ESSNet)
    - Cost: O(n p²)
    - Departures: statistics that are 0 in the original are left out
    """

    def prepare(self, numbers: Numbers) -> Matrix:
        return _moments_of(numbers).covariance

    def score(self, numbers: Numbers, prepared: Matrix, published: Matrix) -> Score:
        cells = np.triu_indices(len(prepared))
        after = _moments_of(numbers, published).covariance
        return numeric_loss_discrepancy(self.discrepancy, prepared[cells], after[cells]), {"statistics": len(cells[0])}


@measures.add("correlations")
class CorrelationLoss(DiscrepancyLoss):
    """How far the correlations move.

    Discrepancy between the p(p-1)/2 Pearson correlations before and after masking, by default 100 times the mean
    absolute error (0 to 200); a constant column correlates with nothing (0).

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.CorrelationLoss().against(original).read(masked), 2)
    14.96

    Notes
    -----
    - Formula: 100 · mean |r − r'|
    - Paper: Hundepool et al., Handbook on Statistical Disclosure Control (ESSNet)
    - Cost: O(n p²)
    - Departures: a constant column correlates 0 with everything
    """

    least_columns: ClassVar[int] = 2
    unit: ClassVar[str] = "hundredths of a correlation"

    discrepancy: Discrepancy = Field(
        default="absolute",
        description="100 times the mean absolute error, mean variation |r - r'|/|r| in per cent, or mean square error",
    )

    def prepare(self, numbers: Numbers) -> Matrix:
        return _moments_of(numbers).correlation

    def score(self, numbers: Numbers, prepared: Matrix, published: Matrix) -> Score:
        cells = np.triu_indices(len(prepared), 1)
        after = _moments_of(numbers, published).correlation
        value = numeric_loss_discrepancy(self.discrepancy, prepared[cells], after[cells])
        return (100.0 * value if self.discrepancy == "absolute" else value), {"statistics": len(cells[0])}

    def unit_in_words(self) -> str:
        return self.unit if self.discrepancy == "absolute" else super().unit_in_words()


def eigenvalues(correlation: Matrix) -> Matrix:
    """Eigenvalues of a symmetric matrix, largest first."""
    return np.asarray(np.linalg.eigvalsh(correlation)[::-1], dtype=np.float64)


@measures.add("eigenvalues")
class EigenvalueLoss(NumericLoss):
    """How far the shape of the cloud of records moves, seen by the eigenvalues of its correlation matrix.

    Sum over j of |λ_j - λ'_j| / λ_j, λ the sorted eigenvalues of the two correlation matrices; eigenvalues of the
    original below 1e-12 are skipped; unbounded above.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.EigenvalueLoss().against(original).read(masked), 2)
    0.97

    Notes
    -----
    - Formula: Σ_j |λ_j − λ'_j| / λ_j
    - Paper: Templ, Kowarik and Meindl (2015): sdcMicro
    - Cost: O(n p² + p³)
    - Departures: eigenvalues below 1e-12 are skipped
    """

    least_columns: ClassVar[int] = 2
    unit: ClassVar[str] = "sum of relative changes"

    def prepare(self, numbers: Numbers) -> Matrix:
        return eigenvalues(_moments_of(numbers).correlation)

    def score(self, numbers: Numbers, prepared: Matrix, published: Matrix) -> Score:
        after = eigenvalues(_moments_of(numbers, published).correlation)
        counted = prepared >= SMALLEST_EIGENVALUE
        change = np.abs(prepared - after)[counted] / prepared[counted]
        return float(change.sum()), {"eigenvalues": int(counted.sum())}


def _numeric_inverse_diagonal(correlation: Matrix) -> Matrix | None:
    """For losses of numeric columns, the diagonal of an inverse, or nothing where the matrix is singular."""
    if eigenvalues(correlation)[-1] < SMALLEST_EIGENVALUE * len(correlation):
        return None
    return np.diagonal(np.linalg.inv(correlation))


@measures.add("gamma")
class GammaLoss(NumericLoss):
    """Młodak's gamma: how much the dependence of each column on all others changes.

    100/√2 · ‖d/‖d‖ - d'/‖d'‖‖, d the diagonal of the inverse correlation matrix (the variance inflation of each
    column); 100 where the masked matrix is singular (Młodak 2020).

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.GammaLoss().against(original).read(masked), 2)
    14.42

    Notes
    -----
    - Formula: 100/√2 · ‖d/‖d‖ − d'/‖d'‖‖, d the diagonal of the inverse correlation matrix
    - Paper: Młodak (2020)
    - Cost: O(n p² + p³)
    - Departures: 100 where the masked matrix is singular
    """

    least_columns: ClassVar[int] = 2

    def obstacle(self, original: Table) -> str:
        found = super().obstacle(original)
        if found:
            return found
        numbers = Numbers.of(original, names_for_numeric_loss(self.columns, original))
        if _numeric_inverse_diagonal(_moments_of(numbers).correlation) is None:
            return (
                "the original's correlation matrix is singular (a column is constant or determined by others), so its "
                "inverse does not exist; name columns without the redundant ones"
            )
        return ""

    def prepare(self, numbers: Numbers) -> Matrix:
        diagonal = _numeric_inverse_diagonal(_moments_of(numbers).correlation)
        if diagonal is None:
            raise TableError("the original's correlation matrix is singular; leave redundant columns out of 'gamma'")
        return diagonal / np.linalg.norm(diagonal)

    def score(self, numbers: Numbers, prepared: Matrix, published: Matrix) -> Score:
        after = _numeric_inverse_diagonal(_moments_of(numbers, published).correlation)
        if after is None:
            return 100.0, {"singular": 1}
        gap = prepared - after / np.linalg.norm(after)
        return float(100.0 * np.linalg.norm(gap) / np.sqrt(2.0)), {"singular": 0}


# -- Probabilistic information loss: is a published statistic further off than sampling alone would make it?
#
# Mateo-Sanz, Domingo-Ferrer and Sebé (2005). For a statistic with value t on the original and t' on the masked
# file, PIL = 100·(2Φ(|t' - t|/√Var t) - 1): the chance that another sample would have come nearer.

QUANTILES = np.arange(1, 20) / 20.0
PARTS = ("means", "quantiles", "variances", "covariances", "correlations")


@dataclass(frozen=True)
class Sampling:
    """Statistics of the original and the sampling variance of each, by name of the part."""

    value: dict[str, Matrix]
    variance: dict[str, Matrix]


def numeric_density(values: Matrix, at: Matrix) -> Matrix:
    """Loss of numeric columns: Gaussian kernel density at a few points, for the variance of quantiles."""
    n = len(values)
    low, high = np.quantile(values, [0.25, 0.75])
    deviation = float(values.std())
    narrow = min(deviation, (high - low) / 1.349) if high > low else deviation
    width = 0.9 * narrow * n**-0.2
    if width <= 0:
        return np.full(len(at), np.inf)
    bells = [float(np.exp(-0.5 * ((values - point) / width) ** 2).mean()) for point in at]
    return np.array(bells, dtype=np.float64) / float(width * np.sqrt(2.0 * np.pi))


def _quantiles_of(values: Matrix, present: NDArray[np.bool_]) -> Matrix:
    """float64[p, 19]: the 5, 10, …, 95 % quantiles of each column (linear interpolation)."""
    columns = [column[held] for column, held in zip(values.T, present.T, strict=True)]
    return np.array([np.quantile(c, QUANTILES) if c.size else np.zeros(len(QUANTILES)) for c in columns])


def numeric_pair_variances(first: Matrix, second: Matrix) -> tuple[float, float]:
    """Loss of numeric columns: sampling variances of the covariance and the correlation of two of them."""
    n = len(first)
    if n < 2:
        return 0.0, 0.0
    a, b = first - first.mean(), second - second.mean()
    m11, m20, m02 = (a * b).mean(), (a * a).mean(), (b * b).mean()
    m22, m31, m13 = (a * a * b * b).mean(), (a**3 * b).mean(), (a * b**3).mean()
    m40, m04 = (a**4).mean(), (b**4).mean()
    of_covariance = max((m22 - m11**2) / n, 0.0)
    if m20 <= 0 or m02 <= 0:
        return of_covariance, 0.0
    # r²·(…) multiplied out by m11², so that a correlation of 0 keeps its variance m22/(m20·m02·n).
    spread = (
        m22 / (m20 * m02)
        + (m11**2 / (m20 * m02)) * (m40 / m20**2 + m04 / m02**2 + 2 * m22 / (m20 * m02)) / 4
        - (m11 / (m20 * m02)) * (m31 / m20 + m13 / m02)
    )
    return of_covariance, max(spread / n, 0.0)


def numeric_sampling_variances(numbers: Numbers) -> Sampling:
    """Loss of numeric columns: statistics of the original with their sampling variances."""
    away = np.where(numbers.present, numbers.values - numbers.scales.mean, np.nan)
    moments = _moments_of(numbers)
    held = np.maximum(numbers.present.sum(axis=0), 1)
    second = np.where(numbers.present, away**2, 0.0).sum(axis=0) / held
    fourth = np.where(numbers.present, away**4, 0.0).sum(axis=0) / held
    spots = _quantiles_of(away, numbers.present)
    heights = np.array(
        [
            numeric_density(column[here], at) if here.any() else np.full(len(at), np.inf)
            for column, here, at in zip(away.T, numbers.present.T, spots, strict=True)
        ]
    )
    bell = QUANTILES * (1 - QUANTILES)
    with np.errstate(divide="ignore"):  # where no value is near, a quantile may be anywhere
        of_quantiles = bell / (held[:, None] * heights**2)
    pairs = list(combinations(range(len(numbers.names)), 2))
    both = [numbers.present[:, j] & numbers.present[:, k] for j, k in pairs]
    spread = [numeric_pair_variances(away[rows, j], away[rows, k]) for (j, k), rows in zip(pairs, both, strict=True)]
    of_pairs = np.array(spread).reshape(-1, 2)
    variance = {
        "means": second / held,
        "quantiles": of_quantiles.ravel(),
        "variances": np.maximum(fourth - second**2, 0.0) / held,
        "covariances": of_pairs[:, 0],
        "correlations": of_pairs[:, 1],
    }
    return Sampling(numeric_loss_statistics(numbers, moments, spots), variance)


def numeric_loss_statistics(numbers: Numbers, moments: Moments, spots: Matrix) -> dict[str, Matrix]:
    """Loss of numeric columns: means, quantiles, variances, covariances and correlations in five lists."""
    above = np.triu_indices(len(numbers.names), 1)
    return {
        "means": moments.mean - numbers.scales.mean,
        "quantiles": spots.ravel(),
        "variances": np.diagonal(moments.covariance),
        "covariances": moments.covariance[above],
        "correlations": moments.correlation[above],
    }


def probabilistic_numeric_loss(before: Matrix, after: Matrix, variance: Matrix) -> Matrix:
    """Probabilistic loss (PIL) of each statistic of numeric columns; one that cannot vary loses all or none."""
    gap = np.abs(after - before)
    scale = np.sqrt(2.0 * variance)
    sure = np.where(gap <= 1e-12 * np.maximum(np.abs(before), np.abs(after)), 0.0, 100.0)
    return np.where(scale > 0, 100.0 * scipy.special.erf(gap / np.where(scale > 0, scale, 1.0)), sure)


@measures.add("pil")
class ProbabilisticLoss(NumericLoss):
    """Probabilistic information loss, 0–100: means, quantiles, variances, covariances, correlations.

    100·(2Φ(|t' - t|/√Var t) - 1) for each mean, quantile (5, 10, …, 95 %), variance, covariance and correlation t
    of the original and its value t' after masking, averaged within each kind; 'average' is the mean of the kinds;
    Var t from the original's moments, for quantiles from a Gaussian kernel density (Silverman's width).

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.ProbabilisticLoss().against(original).read(masked), 2)
    17.17

    Notes
    -----
    - Formula: 100 (2 Φ(|t' − t| / √Var t) − 1), averaged over statistics t
    - Paper: Mateo-Sanz, Domingo-Ferrer and Sebé (2005)
    - Cost: O(n p²)
    - Departures: Var of a quantile from a Gaussian kernel density with Silverman's width
    """

    statistic: Literal["average", "means", "quantiles", "variances", "covariances", "correlations"] = Field(
        default="average", description="which kind of statistic to report; 'average' is the mean over all kinds"
    )

    def obstacle(self, original: Table) -> str:
        pairs = self.statistic in ("covariances", "correlations")
        return obstacle_to_numeric_loss(self.columns, original, 2 if pairs else 1)

    def prepare(self, numbers: Numbers) -> Sampling:
        return numeric_sampling_variances(numbers)

    def score(self, numbers: Numbers, prepared: Sampling, published: Matrix) -> Score:
        spots = _quantiles_of(published - numbers.scales.mean, numbers.present)
        after = numeric_loss_statistics(numbers, _moments_of(numbers, published), spots)
        parts = {
            part: float(probabilistic_numeric_loss(prepared.value[part], after[part], prepared.variance[part]).mean())
            for part in PARTS
            if after[part].size
        }
        value = float(np.mean(list(parts.values()))) if self.statistic == "average" else parts[self.statistic]
        return value, parts


def obstacle_to_numeric_loss(columns: Sequence[str], original: Table, least: int = 1) -> str:
    """Why the numeric loss of fewer than `least` columns cannot be measured, in a sentence; empty if enough can."""
    unknown = unknown_column(columns, original.names)
    if unknown:
        return unknown
    for name in columns:
        if not original.holds_numbers(name):
            return (
                f"column {name!r} is {original.attribute(name).kind} and this measure compares numbers; "
                f"choose numeric columns or a measure for categories"
            )
    found = len(names_for_numeric_loss(columns, original))
    if found < least:
        return (
            f"{found} numeric quasi-identifiers were found and this measure needs at least {least}; "
            f"name numeric columns or give them the role 'quasi'"
        )
    return "" if original.rows else NO_RECORDS


def names_for_numeric_loss(columns: Sequence[str], original: Table) -> list[str]:
    """The columns chosen for a numeric loss, or every quasi-identifier that holds numbers."""
    return list(columns) or [name for name in original.quasi_identifiers if original.holds_numbers(name)]


def fill_numeric_means(values: Floats) -> Floats:
    """Numeric columns whose loss is measured, with each column's mean where a value is missing."""
    rows, columns = np.nonzero(np.isnan(values))
    if not len(rows):
        return values
    complete = values.copy()
    complete[rows, columns] = np.nanmean(values, axis=0)[columns]
    return complete
