"""Budgets of a run as text: '60s', '10m', '500 evaluations', '50 generations'."""

from __future__ import annotations

import re

from crypsis.evolution import Budget

_UNITS = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0,
    "m": 60.0, "min": 60.0, "minute": 60.0, "minutes": 60.0,
    "h": 3600.0, "hour": 3600.0, "hours": 3600.0,
}  # fmt: skip
_FORM = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$", re.IGNORECASE)
LONGEST = 30 * 24 * 3600.0
"""Thirty days; a longer budget is a typing error."""
MOST = 100_000_000
"""Largest number of evaluations or generations of one search."""


def read_budget(text: str) -> Budget:
    """Read a budget.

    Time is for the whole run, which its searches share; evaluations and generations are for each search.

    Parameters
    ----------
    text : str
        For example "60s", "10m", "500 evaluations" or "50 generations".

    Returns
    -------
    Budget

    Raises
    ------
    ValueError
        If it is no budget.

    Examples
    --------
    >>> read_budget("10m").seconds
    600.0
    """
    found = _FORM.match(text)
    if not found:
        raise ValueError(f"{text!r} is not a budget; write 60s, 10m, 500 evaluations or 50 generations")
    number, unit = float(found[1]), found[2].lower()
    if number <= 0:
        raise ValueError(f"{text!r} is no budget; give one above zero")
    if unit in _UNITS:
        seconds = number * _UNITS[unit]
        if seconds > LONGEST:
            raise ValueError(f"{text!r} is longer than 30 days; give less and resume the run when it ends")
        return Budget(seconds=seconds)
    if number > MOST:
        raise ValueError(f"a budget has at most {MOST} {unit}; give fewer and resume the run when it ends")
    if number != int(number):
        raise ValueError(f"{text!r} is no whole number of {unit}; write 500 evaluations or 50 generations")
    if unit in ("evaluation", "evaluations", "evals"):
        return Budget(evaluations=number)
    if unit in ("generation", "generations"):
        return Budget(generations=number)
    raise ValueError(
        f"{text!r} has the unknown unit {unit!r}; units: s, m, h (for the whole run), evaluations, generations "
        f"(for each search)"
    )
