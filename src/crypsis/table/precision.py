"""Published numbers have the precision of the source: an age is a whole number, an amount has its two decimals."""

from __future__ import annotations

from math import floor, log10

import numpy as np
from numpy.typing import NDArray

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

    masked    the masked table
    original  as collected, row by row

    Examples
    --------
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

    seconds  float64[n]: as collected
    returns  in seconds

    Examples
    --------
    >>> moment_step(np.array([0.0, 86400.0, 172800.0])), moment_step(np.array([60.0, 180.0]))
    (86400.0, 60.0)
    """
    known = seconds[np.isfinite(seconds)]
    return next((step for step in (86_400.0, 3600.0, 60.0) if len(known) and not (known % step).any()), 1.0)


def decimals(values: NDArray[np.float64]) -> int:
    """The decimals a column of numbers is written with.

    values  float64[n]: as collected
    returns  the fewest that keep every value; where more than six are needed, so many that five significant digits of
        the standard deviation are kept: at most six, unless they are needed for two significant digits

    Examples
    --------
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
