"""Dates as days, however they are written."""

from __future__ import annotations

from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from crypsis.table.table import Table

FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y%m%d")
"""Ways to write a day that are tried on texts."""
PROBED = 20
"""Labels that are tried first."""
DAY = 86400
"""Seconds of a day."""
MOST = 0.9
"""Share of the labels of a column that are dates."""
_EPOCH = datetime(1970, 1, 1)

Floats = NDArray[np.float64]


def days_of(table: Table, name: str) -> Floats | None:
    """float64[n]: days since 1970 of a column of dates, NaN where it has none; None for any other column.

    Examples
    --------
    >>> days_of(crypsis.Table.from_columns({"seen": ["01.02.1970", "02.02.1970"]}), "seen").tolist()
    [31.0, 32.0]
    """
    if table.holds_numbers(name):
        dates = table.attribute(name).dates
        return table.column(name) / (1 if dates == "date" else DAY) if dates else None
    labels = table.labels(name)
    for form in FORMATS:
        if sum(_day(label, form) is not None for label in labels[:PROBED]) >= MOST * max(len(labels[:PROBED]), 1):
            days = [_day(label, form) for label in labels]
            if labels and sum(each is not None for each in days) >= MOST * len(days):
                return np.array([*(np.nan if each is None else each for each in days), np.nan])[table.column(name)]
    return None


def numbers_of(table: Table, name: str) -> Floats | None:
    """float64[n]: the numbers of a column, or the days of one that holds dates as texts; None for categories."""
    return table.column(name) if table.holds_numbers(name) else days_of(table, name)


def _day(label: str, form: str) -> float | None:
    try:
        return float((datetime.strptime(label.strip()[:10], form) - _EPOCH).days)
    except ValueError:
        return None
