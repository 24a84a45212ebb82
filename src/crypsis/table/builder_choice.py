"""Which hierarchy builder suits a column."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crypsis.table.attribute import Attribute, Kind

LONGEST = 15
"""Places before or behind the point up to which a width is written out."""


class ColumnShape(Protocol):
    """What the choice looks at."""

    @property
    def whole(self) -> bool:
        """Whether all numbers are whole."""

    @property
    def digits(self) -> int:
        """Length of codes made of digits; 0 where they are not."""

    @property
    def distinct(self) -> int:
        """Number of different values."""


def builder_for(attribute: Attribute, column: NDArray[Any], shape: ColumnShape, kind: Kind) -> str:
    """A builder to start from, e.g. 'intervals:5,10,20,40'."""
    if attribute.dates:
        return "dates:month,quarter,year"
    if kind is Kind.NUMERIC:
        return _intervals(column, shape.whole)
    if shape.digits >= 3 and shape.distinct > 10:
        return f"prefixes:{','.join(str(length) for length in range(shape.digits - 1, 0, -1))}"
    sizes = [size for size in (32, 16, 8, 4, 2) if size < shape.distinct]
    return f"merge:{','.join(map(str, sizes or [1]))}"


def _intervals(numbers: NDArray[np.float64], whole: bool) -> str:
    """Widths that double, from about a twentieth of the range up, in round figures."""
    span = float(np.nanmax(numbers) - np.nanmin(numbers)) or 20.0  # a constant is one interval of any width
    power = int(np.floor(np.log10(span / 20)))
    if whole:
        power = max(power, 0)
    mantissa = next((m for m in (1, 2, 5) if m * 10.0**power >= span / 20), 10)
    widths = [mantissa * 2**step for step in range(4)]
    if abs(power) > LONGEST:
        return f"intervals:{','.join(f'{width}e{power}' for width in widths)}"
    if power >= 0:
        return f"intervals:{','.join(str(width * 10**power) for width in widths)}"
    return f"intervals:{','.join(f'{width * 10.0**power:.{-power}f}' for width in widths)}"
