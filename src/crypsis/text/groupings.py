"""Groupings of columns in words."""

from __future__ import annotations

from collections.abc import Sequence


def grouping_text(groups: Sequence[Sequence[str]], k: int) -> str:
    """Which columns are averaged together, and the size of the clusters.

    Parameters
    ----------
    groups : sequence of sequences of str
        Columns by group.
    k : int
        Smallest cluster.

    Returns
    -------
    str

    Examples
    --------
    >>> grouping_text([["age", "income"], ["hours"]], 5)
    'age and income averaged together; hours alone; clusters of at least 5 records'
    """
    parts = []
    for group in groups:
        *others, last = group
        parts.append(f"{', '.join(others)} and {last} averaged together" if others else f"{last} alone")
    return f"{'; '.join(parts)}; clusters of at least {k} records"
