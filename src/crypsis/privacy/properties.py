"""Properties: one number per record, seen through the class of records that share its quasi-identifiers.

A missing value is a value of its own, equal to other missing values of its column. Suppressed records belong
to no class and their property is NaN. Everything is O(n log n) for any number of columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.table.equivalence_classes import classes_of
from crypsis.table.lookalikes import known_contents
from crypsis.table.table import Table

Sense = Literal["at least", "at most"]
Floats = NDArray[np.float64]

TOLERANCE = 1e-9
"""Rounding allowed before a property counts as missing its threshold."""


# -- the two properties of the paper --


def class_sizes(table: Table, quasi_identifiers: Sequence[str]) -> Floats:
    """How many records share each record's quasi-identifiers."""
    classes = classes_of(table, quasi_identifiers)
    return classes.spread_out(classes.sizes.astype(np.float64))


def sensitive_counts(table: Table, quasi_identifiers: Sequence[str], confidential: str) -> Floats:
    """How often each record's confidential value occurs in its class (large is bad); a missing one never does."""
    classes = classes_of(table, quasi_identifiers)
    contents = known_contents(classes, table, confidential)[1]
    counts = np.append(contents.count.astype(np.float64), 0.0)[contents.pair]
    return np.where(classes.of < 0, np.nan, counts)


# -- quality indices of a property vector --


def worst(levels: Floats, sense: Sense) -> float:
    """The worst kept record; with no record left, as bad as can be."""
    judged = levels[~np.isnan(levels)]
    if not judged.size:
        return 0.0 if sense == "at least" else math.inf
    return float(judged.min() if sense == "at least" else judged.max())


def spread(levels: Floats) -> float:
    """The sum over kept records: for class sizes, the paper's S_k (sum of squared class sizes)."""
    return float(np.nansum(levels))


def failing(levels: Floats, required: float, sense: Sense) -> NDArray[np.bool_]:
    """Kept records that miss the threshold by more than rounding."""
    room = TOLERANCE * max(1.0, abs(required))
    return levels < required - room if sense == "at least" else levels > required + room


def shortness(levels: Floats, required: float, sense: Sense) -> Floats:
    """How far each level misses the threshold, relative to it: 0 where it is met, 1 at worst."""
    missed = failing(levels, required, sense)
    with np.errstate(invalid="ignore", divide="ignore"):
        if sense == "at least":
            short = (required - levels) / max(abs(required), TOLERANCE)
        else:
            excess = levels - required
            short = np.where(np.isinf(excess), 1.0, excess / (excess + (required if required > 0 else 1.0)))
    return np.where(missed, np.clip(short, 0.0, 1.0), 0.0)
