"""Published numbers have the precision of the source: an age is a whole number, an amount has its two decimals."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Floats
from crypsis.table.table import Table

MOST_DECIMALS = 6
"""Decimals up to which a source is taken to be rounded."""
SPREAD_DIGITS = 5
"""Significant digits of the standard deviation that are published of a source that is not."""
FEWEST_DIGITS = 2
"""The same where more than six decimals would be needed."""


def at_source_precision(masked: Table, original: Table) -> Table:
    """Round every masked number to the decimals of its column in the original.

    Rounding makes classes equal that were not and never splits one, so that class sizes only grow.

    >>> original = Table.from_columns({"age": [20, 21, 24], "pay": [10.5, 11.25, 12.0]})
    >>> masked = original.with_columns({"age": np.full(3, 65 / 3), "pay": np.full(3, 11.25)})
    >>> rounded = at_source_precision(masked, original)
    >>> rounded.column("age").tolist(), rounded.column("pay").tolist()
    ([22.0, 22.0, 22.0], [11.25, 11.25, 11.25])
    """
    rounded = {}
    for name in masked.names:
        if name in original.names and masked.holds_numbers(name) and original.holds_numbers(name):
            before, after = original.column(name), masked.column(name)
            if not np.array_equal(before, after, equal_nan=True):
                step = moment_step(before) if original.attribute(name).dates == "datetime" else 1.0
                rounded[name] = step * np.round(after / step, decimals(before / step))
    return masked.with_columns(rounded)


def moment_step(seconds: NDArray[np.float64]) -> float:
    """The step of a column of moments: whole days, hours or minutes where every one is, else seconds.

    `seconds` float64[n]; returns in seconds.

    >>> moment_step(np.array([0.0, 86400.0, 172800.0])), moment_step(np.array([60.0, 180.0]))
    (86400.0, 60.0)
    """
    known = seconds[np.isfinite(seconds)]
    return next((step for step in (86_400.0, 3600.0, 60.0) if len(known) and not (known % step).any()), 1.0)


def decimals(values: NDArray[np.float64]) -> int:
    """The decimals a column of numbers is written with.

    `values` float64[n]; returns the fewest that keep every value; where more than six are needed, so many that
    five significant digits of the standard deviation are kept: at most six, unless they are needed for two
    significant digits.

    >>> decimals(np.array([1.0, 2.0])), decimals(np.array([1.25, 3.5])), decimals(np.array([1 / 3, 2 / 3]))
    (0, 2, 5)
    """
    known = values[np.isfinite(values)]
    for digits in range(MOST_DECIMALS + 1):
        if np.array_equal(np.round(known, digits), known):
            return digits
    spread = float(np.std(known))
    if spread == 0:
        return MOST_DECIMALS
    last = -1 - floor(log10(spread))
    return max(0, min(SPREAD_DIGITS + last, max(FEWEST_DIGITS + last, MOST_DECIMALS)))


# -- Where a column of numbers lies and how wide it is, so that columns of different units weigh the same.

Scaling = Literal["z", "range", "none"]
"""By the population deviation, by the range, or in the column's own unit."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Mean, width and least value of each column; missing cells take no part."""

    mean: Floats  # float64[p]: 0 for a column without numbers
    low: Floats
    deviation: Floats  # float64[p]: population deviation; exactly 0 for a constant column
    # float64[p]: half of largest minus smallest value, because the whole may exceed the largest float
    half_range: Floats

    @classmethod
    def of(cls, values: Floats) -> Scales:
        """Scales of the columns of float64[n, p], NaN where a cell is missing.

        Distances from the smallest value are averaged, in units of a power of two: a column far from zero keeps its
        digits, squares of very large numbers do not overflow, and no rounding is added.

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

    def scale(self, values: Floats, scaling: Scaling) -> Floats:
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
