"""Which levels of a factor differ: Tukey's and Scheffé's tests on the residual mean square of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.errors import PlanError
from crypsis.sensitivity.variance import ALPHA, Anova

Method = Literal["tukey", "scheffe"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Means of the levels of a factor, and the least significant difference between two of them.

    Attributes
    ----------
    factor, response : str
        What is compared.
    method : {"tukey", "scheffe"}
    levels : tuple
        In the order of the design.
    means : float64[levels]
        Mean response of each level.
    observations : int
        Trials per level.
    residual : (float, int)
        Mean square and degrees of freedom of the error.
    alpha : float
        Significance level.
    critical_difference : float
        Means that differ by more are significantly different.
    """

    factor: str
    response: str
    method: Method
    levels: tuple[Any, ...]
    means: NDArray[np.float64]
    observations: int
    residual: tuple[float, int]
    alpha: float
    critical_difference: float

    @property
    def best(self) -> tuple[Any, ...]:
        """The levels that are not significantly different from the one with the lowest mean."""
        near = self.means - self.means.min() <= self.critical_difference
        return tuple(level for level, good in zip(self.levels, near, strict=True) if good)

    @property
    def groups(self) -> tuple[tuple[Any, ...], ...]:
        """The longest runs of levels by increasing mean without a significant difference; they may overlap."""
        order = np.argsort(self.means, kind="stable")
        means, found, last = self.means[order], [], -1
        for first in range(len(means)):
            end = int(np.flatnonzero(means - means[first] <= self.critical_difference)[-1])
            if end > last:
                found.append(tuple(self.levels[place] for place in order[first : end + 1]))
                last = end
        return tuple(found)

    def differ(self, one: Any, other: Any) -> bool:
        """Whether two levels are significantly different."""
        return self._gap(one, other) > self.critical_difference

    def p(self, one: Any, other: Any) -> float:
        """The p value of the difference between two levels."""
        mean_square, df = self.residual
        gap, count = self._gap(one, other), len(self.levels)
        if mean_square <= 0:
            return 0.0 if gap > 0 else 1.0
        if self.method == "tukey":
            return float(scipy.stats.studentized_range.sf(gap / np.sqrt(mean_square / self.observations), count, df))
        return float(scipy.stats.f.sf(gap**2 / ((count - 1) * 2 * mean_square / self.observations), count - 1, df))

    def _gap(self, one: Any, other: Any) -> float:
        return float(abs(self.means[self.levels.index(one)] - self.means[self.levels.index(other)]))


def compare(
    table: Anova,
    factor: str,
    levels: tuple[Any, ...],
    place: NDArray[np.int64],
    values: NDArray[np.float64],
    method: Method = "tukey",
    alpha: float = ALPHA,
) -> Comparison:
    """Compare the levels of one factor.

    table  gives the error of the model
    place  int64[n]: level of each trial
    values  float64[n]: response of each trial
    method  {"tukey", "scheffe"}: the test

    Raises
    ------
    PlanError
        If the levels have different numbers of trials.
    """
    counts = np.bincount(place, minlength=len(levels))
    if (counts != counts[0]).any():
        raise PlanError(
            f"the levels of {factor!r} were tried {counts.min()} to {counts.max()} times; the comparison needs a "
            f"balanced design: run all trials"
        )
    means = np.bincount(place, weights=values) / counts
    error = (table.residual_mean_square, table.residual_df)
    critical = critical_difference(method, len(levels), *error, int(counts[0]), alpha)
    return Comparison(factor, table.response, method, levels, means, int(counts[0]), error, alpha, critical)


def critical_difference(
    method: Method, levels: int, mean_square: float, df: int, observations: int, alpha: float = ALPHA
) -> float:
    """The least significant difference between two of several means.

    Parameters
    ----------
    method : {"tukey", "scheffe"}
    levels : int
        Number of means a.
    mean_square, df : float, int
        Mean square and degrees of freedom of the error.
    observations : int
        Trials m per mean.
    alpha : float
        Significance level.

    Returns
    -------
    float

    Notes
    -----
    Tukey: q(α; a, df) · √(MSE / m). Scheffé: √((a − 1) · F(α; a − 1, df) · 2 MSE / m).
    """
    if levels < 2:
        return 0.0
    if method == "tukey":
        quantile = float(scipy.stats.studentized_range.ppf(1 - alpha, levels, df))
        return quantile * float(np.sqrt(mean_square / observations))
    quantile = float(scipy.stats.f.ppf(1 - alpha, levels - 1, df))
    return float(np.sqrt((levels - 1) * quantile * 2 * mean_square / observations))
