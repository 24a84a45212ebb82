"""What groups of records publish in each column, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crypsis.errors import listing

WORDS = {
    "mean": "the mean of {columns}",
    "median": "the median of {columns}",
    "spread": "the mean of {columns}, spread to keep the variance",
    "mode": "the most frequent value of {columns}",
    "typical": "the typical value of {columns}",
    "common-ancestor": "the lowest group of the hierarchy that holds all values of {columns}",
    "unanimous": "the value of {columns} where all records share it, else nothing",
    "marginal": "one of its values of {columns}, so chosen that the distribution is kept",
    "cheapest": "the common group or the typical value of {columns}, whichever loses less",
}


def treatments_text(columns: Mapping[str, Sequence[str]]) -> str:
    """What a group publishes, to be added to a sentence.

    Parameters
    ----------
    columns : mapping of str to sequence of str
        Columns by the name of their representative.

    Returns
    -------
    str

    Examples
    --------
    >>> treatments_text({"median": ["age"], "typical": ["sex", "town"]})
    'the median of age; the typical value of sex, town'
    """
    return "; ".join(WORDS[way].format(columns=listing(names)) for way, names in columns.items())
