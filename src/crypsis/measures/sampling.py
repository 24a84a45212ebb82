"""Records that stand for all of a large table: taken at equal distances, so that the same file gives the same ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

MOST_RECORDS = 1_000_000


def evenly(records: int, most: int) -> NDArray[np.int64]:
    """Places of at most so many of the records, at equal distances.

    Examples
    --------
    >>> evenly(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.unique(np.linspace(0, records - 1, min(most, records)).round().astype(np.int64))


def sample_setting(least: int, tried: int) -> Any:
    """The setting of a measure that says how many records it looks at.

    least  fewest records that give a figure
    tried  another number, for the test that the setting matters
    """
    text = "largest number of records that are looked at, taken at equal distances"
    return Field(default=2000, ge=least, le=MOST_RECORDS, examples=[tried], description=text)
