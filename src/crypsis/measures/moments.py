"""What a masking does to means, variances, covariances, correlations and their eigenvalues.

Discrepancies as in the ESSNet handbook: mean variation (mean of |a - a'|/|a|, cells with a = 0 left out),
mean absolute error and mean square error. Where values are missing, a covariance or correlation rests on the
records that hold both columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.measures.measure import measures
from crypsis.measures.numeric_loss import NumericLoss, Score
from crypsis.measures.pairing import Numbers, numeric_names
from crypsis.table.table import Table

Matrix = NDArray[np.float64]
Discrepancy = Literal["variation", "absolute", "square"]

DISCREPANCY = "mean variation |a - a'|/|a| in per cent, mean absolute error, or mean square error"
SMALLEST_EIGENVALUE = 1e-12
UNITS: dict[Discrepancy, str] = {
    "variation": "% of the original statistic",
    "absolute": "mean absolute error",
    "square": "mean square error",
}


def discrepancy(kind: Discrepancy, before: Matrix, after: Matrix) -> float:
    """How far two lists of statistics lie apart on average."""
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


def moments_of(numbers: Numbers, values: Matrix | None = None) -> Moments:
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
        return moments_of(numbers)

    def score(self, numbers: Numbers, prepared: Moments, published: Matrix) -> Score:
        after = moments_of(numbers, published)
        parts = {
            "means": discrepancy(self.discrepancy, prepared.mean, after.mean),
            "variances": discrepancy(self.discrepancy, np.diagonal(prepared.covariance), np.diagonal(after.covariance)),
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
        return moments_of(numbers).covariance

    def score(self, numbers: Numbers, prepared: Matrix, published: Matrix) -> Score:
        cells = np.triu_indices(len(prepared))
        after = moments_of(numbers, published).covariance
        return discrepancy(self.discrepancy, prepared[cells], after[cells]), {"statistics": len(cells[0])}


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
        return moments_of(numbers).correlation

    def score(self, numbers: Numbers, prepared: Matrix, published: Matrix) -> Score:
        cells = np.triu_indices(len(prepared), 1)
        after = moments_of(numbers, published).correlation
        value = discrepancy(self.discrepancy, prepared[cells], after[cells])
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
        return eigenvalues(moments_of(numbers).correlation)

    def score(self, numbers: Numbers, prepared: Matrix, published: Matrix) -> Score:
        after = eigenvalues(moments_of(numbers, published).correlation)
        counted = prepared >= SMALLEST_EIGENVALUE
        change = np.abs(prepared - after)[counted] / prepared[counted]
        return float(change.sum()), {"eigenvalues": int(counted.sum())}


def inverse_diagonal(correlation: Matrix) -> Matrix | None:
    """Diagonal of the inverse, or nothing where the matrix is singular."""
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
        numbers = Numbers.of(original, numeric_names(self.columns, original))
        if inverse_diagonal(moments_of(numbers).correlation) is None:
            return (
                "the original's correlation matrix is singular (a column is constant or determined by others), so its "
                "inverse does not exist; name columns without the redundant ones"
            )
        return ""

    def prepare(self, numbers: Numbers) -> Matrix:
        diagonal = inverse_diagonal(moments_of(numbers).correlation)
        if diagonal is None:
            raise TableError("the original's correlation matrix is singular; leave redundant columns out of 'gamma'")
        return diagonal / np.linalg.norm(diagonal)

    def score(self, numbers: Numbers, prepared: Matrix, published: Matrix) -> Score:
        after = inverse_diagonal(moments_of(numbers, published).correlation)
        if after is None:
            return 100.0, {"singular": 1}
        gap = prepared - after / np.linalg.norm(after)
        return float(100.0 * np.linalg.norm(gap) / np.sqrt(2.0)), {"singular": 0}
