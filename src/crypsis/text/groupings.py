"""Groupings of columns in words."""

from __future__ import annotations

from collections.abc import Sequence

REPRESENTATIVES = {
    "mean": "",
    "median": "numbers are medians",
    "mode": "the most frequent value stands for a group",
    "spread": "numbers are means moved apart so that the variance is kept",
    "calibrated": "values are calibrated so that distributions and moments are kept",
    "typical": "",
    "common-ancestor": "categories are generalised until they are true of the whole group",
    "unanimous": "categories are blanked where the group differs",
    "marginal": "categories are chosen so that their distribution is kept",
    "cheapest": "categories are generalised where that loses less than the typical one",
}
"""What stands for a group, where it is not the mean or the typical value."""


def representatives_text(numbers: str, categories: str) -> str:
    """What stands for a group, to be added to a sentence; empty for means and typical values.

    Parameters
    ----------
    numbers, categories : str
        Names of representatives; empty where there are no such columns.

    Returns
    -------
    str

    Examples
    --------
    >>> representatives_text("mean", "marginal")
    '; categories are chosen so that their distribution is kept'
    """
    words = dict.fromkeys(REPRESENTATIVES[name] for name in (numbers, categories) if name)
    return "".join(f"; {each}" for each in words if each)


def grouping_text(groups: Sequence[Sequence[str]], k: int, verb: str = "averaged") -> str:
    """Which columns are masked together, and the size of the clusters.

    Parameters
    ----------
    groups : sequence of sequences of str
        Columns by group.
    k : int
        Smallest cluster.
    verb : str
        What is done to them.

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
        parts.append(f"{', '.join(others)} and {last} {verb} together" if others else f"{last} alone")
    return f"{'; '.join(parts)}; clusters of at least {k} records"
