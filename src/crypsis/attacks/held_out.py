"""A control without a second file: people of the original whom the release leaves out.

A release names nobody. Who is in it shows only where it publishes columns as collected that together are held by one
person each: then a record of the original whose values no published record holds is not in it. A file about other
people holds values that the original lacks, and gives no control.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.attacks.attack_context import AttackContext, Flags, Intruder
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table

FEWEST = 50
"""People a control has at least."""
AMBIGUOUS = 0.05
"""Largest share of people of whom it does not show whether they are in the release."""
UNLIKE = 0.01
"""Probability below which a difference between the people left out and the others is not chance."""

Rows = NDArray[np.int64]


def held_out(release: Table, original: Table, intruder: Intruder, rows_correspond: bool) -> tuple[Rows, Rows] | None:
    """People in the release and people whom it leaves out.

    Parameters
    ----------
    release, original : Table
        The published records in the original's terms, and all people.
    intruder : Intruder
        What is known.
    rows_correspond : bool
        Whether row i of the release is row i of the original.

    Returns
    -------
    pair of int64[n] or None
        Rows of the original; None where the two cannot be told apart, or those left out are too few or unlike the
        others, as suppressed outliers are.

    Examples
    --------
    >>> roles = {"sex": "quasi", "pay": "confidential"}
    >>> people = Table.from_columns({"sex": ["f", "m"] * 200, "pay": list(range(400))}, roles)
    >>> inside, outside = held_out(people.take(np.arange(300)), people, Intruder(), False)
    >>> len(inside), len(outside)
    (300, 100)
    """
    if rows_correspond and len(release) == len(original):
        inside, outside = release.kept, ~release.kept
    else:
        found = _by_values(AttackContext(release, original, None, intruder))
        if found is None:
            return None
        inside, outside = found
    if outside.sum() < FEWEST or inside.sum() < FEWEST or not _alike(original, inside, outside):
        return None
    return np.flatnonzero(inside).astype(np.int64), np.flatnonzero(outside).astype(np.int64)


def _by_values(context: AttackContext) -> tuple[Flags, Flags] | None:
    """Who is in the release and who is not, by what it publishes as collected."""
    keys = context.keys
    if keys is None or not keys.names or context.release.kept.sum() >= len(context.original):
        return None
    size = int(max(keys.published.max(), keys.people.max())) + 1
    shown = np.bincount(keys.published[context.release.kept], minlength=size)
    held = np.bincount(keys.people, minlength=size)
    if (shown > held).any():
        return None
    inside, outside = (shown == held)[keys.people], (shown == 0)[keys.people]
    return None if (~inside & ~outside).mean() > AMBIGUOUS else (inside, outside)


def _alike(original: Table, inside: Flags, outside: Flags) -> bool:
    """Whether those left out hold like values, in classes of like sizes, as far as a test can tell."""
    codes = original.codes(original.quasi_identifiers)
    classes = equivalence_classes(codes)
    looked = [*codes.T, classes.sizes[classes.of]]
    return all(scipy.stats.ks_2samp(each[inside], each[outside]).pvalue * len(looked) > UNLIKE for each in looked)
