"""Why columns cannot be grouped, in a sentence with the remedy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crypsis.errors import listing
from crypsis.table.table import Table


def number_obstacle(table: Table, names: Sequence[str], missing: str) -> str:
    """Why columns cannot be averaged group by group; empty if they can.

    missing  what is done with missing values: "keep", "refuse" or "mean"
    """
    words = [name for name in names if not table.holds_numbers(name)]
    values = table.numbers(tuple(name for name in names if name not in words))[table.kept]
    if words:
        return (
            f"{_named(words, 'does', 'do')} not hold numbers and this recipe averages; take only numeric columns into "
            f'the grouping, or set recipe = "mixed"'
        )
    if len(names) < 2:
        other = "set recipe = \"mixed\" to group columns of any kind, or use the masking method 'microaggregation'"
        return _too_few(names, "no numeric quasi-identifier is", f", {other}")
    gaps = [name for name, column in zip(names, values.T, strict=True) if np.isnan(column).any()]
    if gaps and missing == "refuse":
        return (
            f"{_named(gaps, 'has', 'have')} missing values and distances need numbers; drop those records, give "
            f'the column another role, or set missing = "keep"'
        )
    unusable = np.atleast_1d(np.isinf(values).any(axis=0) | np.isnan(values).all(axis=0))
    if unusable.any():
        broken = [name for name, bad in zip(names, unusable, strict=True) if bad]
        return f"{_named(broken, 'holds', 'hold')} infinite values or nothing at all; mend the column or leave it out"
    return ""


def column_obstacle(table: Table, names: Sequence[str]) -> str:
    """Why columns of any kind cannot be masked group by group; empty if they can."""
    for name in names:
        if table.level(name) != 0:
            return f"column {name!r} is already generalised and grouping needs values as collected; leave it out"
        if table.attribute(name).numeric and np.isinf(table.column(name)[table.kept]).any():
            return f"column {name!r} has infinite values, which have no distance; correct them or leave it out"
    return _too_few(names, "no quasi-identifier is", ", or use the search 'composite'") if len(names) < 2 else ""


def _too_few(names: Sequence[str], none: str, other: str) -> str:
    """Why one column or none is no grouping, with what to do instead."""
    found = f"only {names[0]!r} is" if names else none
    return (
        f"{found} there to be grouped and a grouping needs at least two columns; give more columns the role "
        f"'quasi'{other}"
    )


def _named(names: list[str], one: str, several: str) -> str:
    """'column 'a' has', or 'columns 'a', 'b' have'."""
    return f"column{'s' if len(names) > 1 else ''} {listing(map(repr, names))} {several if len(names) > 1 else one}"
