"""Probabilistic information loss: is a published statistic further off than sampling alone would make it?

Mateo-Sanz, Domingo-Ferrer and Sebé (2005). For a statistic with value t on the original and t' on the masked
file, PIL = 100·(2Φ(|t' - t|/√Var t) - 1): the chance that another sample would have come nearer.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray
from pydantic import Field

from crypsis.measures.measure import measures
from crypsis.measures.moments import Moments, moments_of
from crypsis.measures.numeric_loss import NumericLoss, Score
from crypsis.measures.pairing import Numbers, numeric_obstacle
from crypsis.table.table import Table

Matrix = NDArray[np.float64]
QUANTILES = np.arange(1, 20) / 20.0
PARTS = ("means", "quantiles", "variances", "covariances", "correlations")


@dataclass(frozen=True)
class Sampling:
    """Statistics of the original and the sampling variance of each, by name of the part."""

    value: dict[str, Matrix]
    variance: dict[str, Matrix]


def density(values: Matrix, at: Matrix) -> Matrix:
    """Gaussian kernel density with Silverman's width, at a few points; infinite where all values are one."""
    n = len(values)
    low, high = np.quantile(values, [0.25, 0.75])
    deviation = float(values.std())
    narrow = min(deviation, (high - low) / 1.349) if high > low else deviation
    width = 0.9 * narrow * n**-0.2
    if width <= 0:
        return np.full(len(at), np.inf)
    bells = [float(np.exp(-0.5 * ((values - point) / width) ** 2).mean()) for point in at]
    return np.array(bells, dtype=np.float64) / float(width * np.sqrt(2.0 * np.pi))


def quantiles_of(values: Matrix, present: NDArray[np.bool_]) -> Matrix:
    """float64[p, 19]: the 5, 10, …, 95 % quantiles of each column (linear interpolation)."""
    columns = [column[held] for column, held in zip(values.T, present.T, strict=True)]
    return np.array([np.quantile(c, QUANTILES) if c.size else np.zeros(len(QUANTILES)) for c in columns])


def pair_variances(first: Matrix, second: Matrix) -> tuple[float, float]:
    """Sampling variances of the covariance and of the correlation of two columns without missing values."""
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


def sampling_of(numbers: Numbers) -> Sampling:
    """Statistics of the original with their sampling variances. O(n p²)."""
    away = np.where(numbers.present, numbers.values - numbers.scales.mean, np.nan)
    moments = moments_of(numbers)
    held = np.maximum(numbers.present.sum(axis=0), 1)
    second = np.where(numbers.present, away**2, 0.0).sum(axis=0) / held
    fourth = np.where(numbers.present, away**4, 0.0).sum(axis=0) / held
    spots = quantiles_of(away, numbers.present)
    heights = np.array(
        [
            density(column[here], at) if here.any() else np.full(len(at), np.inf)
            for column, here, at in zip(away.T, numbers.present.T, spots, strict=True)
        ]
    )
    bell = QUANTILES * (1 - QUANTILES)
    with np.errstate(divide="ignore"):  # where no value is near, a quantile may be anywhere
        of_quantiles = bell / (held[:, None] * heights**2)
    pairs = list(combinations(range(len(numbers.names)), 2))
    both = [numbers.present[:, j] & numbers.present[:, k] for j, k in pairs]
    spread = [pair_variances(away[rows, j], away[rows, k]) for (j, k), rows in zip(pairs, both, strict=True)]
    of_pairs = np.array(spread).reshape(-1, 2)
    variance = {
        "means": second / held,
        "quantiles": of_quantiles.ravel(),
        "variances": np.maximum(fourth - second**2, 0.0) / held,
        "covariances": of_pairs[:, 0],
        "correlations": of_pairs[:, 1],
    }
    return Sampling(statistics_of(numbers, moments, spots), variance)


def statistics_of(numbers: Numbers, moments: Moments, spots: Matrix) -> dict[str, Matrix]:
    """The five lists of statistics, measured from the original's means."""
    above = np.triu_indices(len(numbers.names), 1)
    return {
        "means": moments.mean - numbers.scales.mean,
        "quantiles": spots.ravel(),
        "variances": np.diagonal(moments.covariance),
        "covariances": moments.covariance[above],
        "correlations": moments.correlation[above],
    }


def probability(before: Matrix, after: Matrix, variance: Matrix) -> Matrix:
    """PIL of each statistic; one that cannot vary loses all (100) as soon as it moves."""
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
        return numeric_obstacle(self.columns, original, 2 if pairs else 1)

    def prepare(self, numbers: Numbers) -> Sampling:
        return sampling_of(numbers)

    def score(self, numbers: Numbers, prepared: Sampling, published: Matrix) -> Score:
        spots = quantiles_of(published - numbers.scales.mean, numbers.present)
        after = statistics_of(numbers, moments_of(numbers, published), spots)
        parts = {
            part: float(probability(prepared.value[part], after[part], prepared.variance[part]).mean())
            for part in PARTS
            if after[part].size
        }
        value = float(np.mean(list(parts.values()))) if self.statistic == "average" else parts[self.statistic]
        return value, parts
