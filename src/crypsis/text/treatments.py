"""What groups of records publish in each column, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crypsis.errors import listing

WORDS = {
    "mean": "the mean of {columns}",
    "median": "the median of {columns}",
    "spread": "the mean of {columns}, spread to keep the variance",
    "calibrated": "a calibrated value of {columns}, so that distributions and moments are kept",
    "mode": "the most frequent value of {columns}",
    "typical": "the typical value of {columns}",
    "common-ancestor": "the lowest group of the hierarchy that holds all values of {columns}",
    "unanimous": "the value of {columns} where all records share it, else nothing",
    "marginal": "one of its values of {columns}, so chosen that the distribution is kept",
    "cheapest": "the common group or the typical value of {columns}, whichever loses less",
}


def treatments_text(columns: Mapping[str, Sequence[str]]) -> str:
    """What a group publishes, to be added to a sentence.

    columns  by the name of their representative

    Examples
    --------
    >>> treatments_text({"median": ["age"], "typical": ["sex", "town"]})
    'the median of age; the typical value of sex, town'
    """
    return "; ".join(WORDS[way].format(columns=listing(names)) for way, names in columns.items())


def exchange_text(changed: Mapping[str, float], kept: bool) -> str:
    """What an exchange of values between records did, and what it does not promise.

    Parameters
    ----------
    changed : mapping of str to float
        Per cent of the cells of each column that show another value.
    kept : bool
        Whether every column has the same values as before, in other records.

    Returns
    -------
    str

    Examples
    --------
    >>> exchange_text({"age": 31.0}, True)[:79]
    'values exchanged between similar records; cells that show another value: age 31'
    """
    shares = ", ".join(f"{name} {share:.0f} %" for name, share in changed.items())
    margins = "; every column keeps its values and their frequencies" if kept else ""
    return (
        f"values exchanged between similar records; cells that show another value: {shares}{margins}; a changed value "
        f"is that of another person, no class size is promised, and how many people are found is known for the "
        f"measured attacks only"
    )
