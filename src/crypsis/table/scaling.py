"""Where a column of numbers lies and how wide it is, so that columns of different units weigh the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from crypsis.kernels.arrays import Floats

Scaling = Literal["z", "range", "none"]
"""By the population deviation, by the range, or in the column's own unit."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Mean, width and least value of each column; missing cells take no part.

    Attributes
    ----------
    mean, low : float64[p]
        0 for a column without numbers.
    deviation : float64[p]
        Population deviation; exactly 0 for a constant column.
    half_range : float64[p]
        Half of largest minus smallest value, because the whole may exceed the largest float.
    """

    mean: Floats
    low: Floats
    deviation: Floats
    half_range: Floats

    @classmethod
    def of(cls, values: Floats) -> Scales:
        """Scales of the columns of float64[n, p], NaN where a cell is missing.

        Notes
        -----
        Distances from the smallest value are averaged, in units of a power of two: a column far from zero keeps its
        digits, squares of very large numbers do not overflow, and no rounding is added.

        Examples
        --------
        >>> scales = Scales.of(np.array([[1.0, 7.0], [np.nan, 7.0], [3.0, 7.0]]))
        >>> scales.mean.tolist(), scales.deviation.tolist()
        ([2.0, 7.0], [1.0, 0.0])
        """
        present = ~np.isnan(values)
        some, held = present.any(axis=0), np.maximum(present.sum(axis=0), 1)
        low = np.where(some, np.min(values, axis=0, where=present, initial=np.inf), 0.0)
        high = np.where(some, np.max(values, axis=0, where=present, initial=-np.inf), 0.0)
        half_range = high / 2 - low / 2
        exponent = np.frexp(half_range)[1]
        away = np.where(present, np.ldexp(values / 2 - low / 2, -exponent), 0.0)
        average = away.sum(axis=0) / held
        square = np.where(present, away - average, 0.0) ** 2
        root = np.where(half_range > 0, np.sqrt(square.sum(axis=0) / held), 0.0)
        mean = 2 * (low / 2 + np.ldexp(average, exponent))
        return cls(mean, low, 2 * np.ldexp(root, exponent), half_range)

    def inverse(self, scaling: Scaling) -> Floats:
        """float64[p]: what a difference is multiplied by; 0 for a constant column, which then takes no part."""
        if scaling == "none":
            return np.ones(len(self.mean))
        width = self.deviation if scaling == "z" else 2 * self.half_range
        return np.where(width > 0, 1.0 / np.where(width > 0, width, 1.0), 0.0)

    def scaled(self, values: Floats, scaling: Scaling) -> Floats:
        """Values from the mean on and over the width; 0 in a constant column, NaN where missing."""
        if scaling == "none":
            return values - self.mean
        width = self.deviation / 2 if scaling == "z" else self.half_range
        return _over(values / 2 - self.mean / 2, width)

    def in_unit_interval(self, values: Floats) -> Floats:
        """Values from the smallest (0) to the largest (1); 0 in a constant column, NaN where missing."""
        return _over(values / 2 - self.low / 2, self.half_range)


def _over(values: Floats, width: Floats) -> Floats:
    """Quotients; 0 where the width is."""
    return np.where(width > 0, values / np.where(width > 0, width, 1.0), values * 0.0)


def z_scores(values: Floats) -> Floats:
    """Columns with mean 0 and population deviation 1; a constant column becomes 0 and weighs nothing.

    Examples
    --------
    >>> z_scores(np.array([[1.0, 7.0], [3.0, 7.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    return np.ascontiguousarray(Scales.of(values).scaled(values, "z"))


def mean_filled(values: Floats) -> Floats:
    """The values with each column's mean where one is missing."""
    rows, columns = np.nonzero(np.isnan(values))
    if not len(rows):
        return values
    complete = values.copy()
    complete[rows, columns] = np.nanmean(values, axis=0)[columns]
    return complete
