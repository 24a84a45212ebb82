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


def given_up_text(values: Mapping[str, int], dominated: Sequence[str], everything: bool) -> str:
    """Which moments calibrated columns do not keep, to be added to a sentence; empty where all are kept.

    values      number of values by column, the rarest ones, for which there are too few records
    dominated   columns whose variance one record makes up
    everything  whether there are too few groups for any moment

    Examples
    --------
    >>> given_up_text({"town": 12}, ["pay"], False)
    '; moments are not kept of the 12 rarest values of town (too few records), of pay (one record decides them)'
    >>> given_up_text({}, [], True)
    '; there are too few groups for moments: only distributions are kept'
    """
    if everything:
        return "; there are too few groups for moments: only distributions are kept"
    parts = [
        f"of the {count} rarest values of {name} (too few records)" if count > 1 else f"of the rarest value of {name}"
        for name, count in values.items()
    ]
    parts += [f"of {name} (one record decides them)" for name in dominated]
    return f"; moments are not kept {', '.join(parts)}" if parts else ""


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
