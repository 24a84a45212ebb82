"""Household fellows: masked cells that other members of the household restore, although no household is published.

Which records belong together is never published, but members share what is true of the household: its dwelling, its
spending, its weight. Records that are alike in all such columns are taken for fellows; the masked cell of one is
*restored* if those fellows whose cell stands there as collected all hold one value, and it is the right one.
"""

from __future__ import annotations

import numpy as np

from crypsis.audits.dependence import FEWEST, MOST_RESTORED, SHUFFLES
from crypsis.audits.finding import Finding, FindingKind
from crypsis.audits.published import Codes, Published, collected_codes
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import EquivalenceClasses, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

CONSTANT = 0.99
"""Share of the households in which all members agree, from which on a column is one of the household."""
OFTEN = 0.9
"""The same for what is restored: a region that a few households give differently is still known from fellows."""

SURELY = 4.0
"""Standard deviations by which what is restored exceeds chance."""


def fellows(seen: Published, most: float = MOST_RESTORED) -> list[Finding]:
    """Masked cells that household fellows restore, if the original says who lives together.

    Parameters
    ----------
    seen : Published
        The published table and its original.
    most : float
        Share of the masked cells of a column that may be restored beyond chance.

    Returns
    -------
    list of Finding
        `columns` are those by which fellows are recognised, then what they restore.
    """
    before = seen.original
    homes = [a.name for a in before.attributes if a.role is Role.HOUSEHOLD] if before is not None else []
    if before is None or not homes:
        return []
    home = collected_codes(before, homes[0])
    shared = [
        name
        for name in seen.columns
        if name in before.names
        and seen.role(name) is not Role.QUASI_IDENTIFIER
        and _agrees(before, name, home) >= CONSTANT
    ]
    if not shared:
        return []
    classes = equivalence_classes(np.stack([seen.codes(name) for name in shared], axis=1))
    found = []
    for target in seen.columns:
        masked = seen.masked.get(target)
        if masked is None or not masked.any() or target in shared or _agrees(before, target, home) < OFTEN:
            continue
        count = _restored(seen, target, classes)
        if count > most * masked.sum():
            share = count / int(masked.sum())
            found.append(Finding(FindingKind.DEPENDENCE, (*shared, target), count, share, by=len(shared)))
    return found


def _agrees(before: Table, name: str, home: Codes) -> float:
    """Share of the households of several members that have one value."""
    several = home != MISSING
    pairs = equivalence_classes(np.stack([home[several], collected_codes(before, name)[several]], axis=1))
    values = np.bincount(home[several][pairs.first], minlength=1)
    members = np.bincount(home[several], minlength=1)
    return float(np.mean(values[members > 1] == 1)) if np.any(members > 1) else 0.0


def _restored(seen: Published, target: str, classes: EquivalenceClasses) -> int:
    """Masked cells whose recognised fellows all show the right value, beyond chance."""
    assert seen.original is not None
    values = collected_codes(seen.original, target)
    right = _right(seen, target, classes, values)
    by_chance = []
    for seed in range(SHUFFLES):
        known = np.flatnonzero(values != MISSING)
        mixed = values.copy()
        mixed[known] = values[np.random.default_rng(seed).permutation(known)]
        by_chance.append(_right(seen, target, classes, mixed))
    chance = float(np.mean(by_chance))
    return round(right - chance) if right - chance > max(FEWEST, SURELY * np.sqrt(chance + 1)) else 0


def _right(seen: Published, target: str, classes: EquivalenceClasses, values: Codes) -> int:
    shown = np.flatnonzero(seen.as_collected[target])
    top = np.iinfo(np.int64).max
    low, high = np.full(classes.count, top), np.full(classes.count, -1)
    np.minimum.at(low, classes.of[shown], values[shown])
    np.maximum.at(high, classes.of[shown], values[shown])
    one = (low == high)[classes.of] & (low[classes.of] == values)
    return int(np.sum(one & seen.masked[target]))
