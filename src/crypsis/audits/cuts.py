"""Cuts: masked cells that follow from which interval a published number lies in.

Whether a child was born with a low weight is known from the weight: below 2 500 g it was. Hardly two records share a
weight, so that no key of equal values tells it, and a category has no order to be compared. The intervals are taken as
public knowledge: a cell is restored if the records next to it by the number hold its own collected value.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.dates import numbers_of
from crypsis.audits.dependence import FEWEST, MOST_RESTORED, MOSTLY, SHUFFLES, finding_of, target_codes, unlikely
from crypsis.audits.finding import Finding
from crypsis.audits.published import Codes, Flags, Published
from crypsis.table.attribute import Role
from crypsis.table.hierarchy import MISSING

BESIDE = 2
"""Records on either side by which a cell is restored."""
NEARLY = 0.8
"""Share of what chance leaves open that a number must determine: a mere correlation determines less."""


def find_cuts(seen: Published, without: Collection[tuple[str, str]] = (), most: float = MOST_RESTORED) -> list[Finding]:
    """Numbers, published as collected, whose intervals determine masked cells of other columns.

    Parameters
    ----------
    seen : Published
        The published table; without an original nobody knows what is masked.
    without : collection of (str, str)
        Columns and what they restore by their values.
    most : float
        Share of the masked cells of a column that may be restored beyond chance.

    Returns
    -------
    list of Finding
        `columns` are the number and what it restores.

    Examples
    --------
    >>> weight, low = 2000 + 10 * np.arange(100.0), np.where(np.arange(100) < 50, "yes", "no")
    >>> births = crypsis.Table.from_columns({"low": low, "weight": weight}, {"low": "quasi", "weight": "confidential"})
    >>> masked = births.with_columns({"low": np.roll(births.column("low"), 10)})
    >>> [each.columns for each in find_cuts(Published(masked, births))]
    [('weight', 'low')]
    """
    if seen.original is None or seen.perturbed or not len(seen.table):
        return []
    some, found = seen.sample, []
    targets = {name: target_codes(some, name) for name in some.columns if some.masked.get(name, np.zeros(1)).any()}
    for name in some.columns:
        if some.role(name) is Role.QUASI_IDENTIFIER or some.as_collected[name].mean() < MOSTLY:
            continue
        numbers = numbers_of(some.table, name)
        if numbers is None:
            continue
        counts = dict[str, int]()
        for target, values in targets.items():
            if target != name and (name, target) not in without:
                count = _count_restored(numbers, values, some.masked[target])
                if count > most * some.masked[target].sum():
                    counts[target] = count
        if counts:
            found.append(finding_of(some, (name,), counts, len(seen.table) / len(some.table)))
    return found


def _count_restored(numbers: NDArray[np.float64], values: Codes, masked: Flags) -> int:
    """Masked cells that the intervals of a number restore, beyond chance; 0 unless it determines nearly all."""
    # Rows that share a number stand in a random order: the order of a file says nothing about them.
    known = np.random.default_rng(0).permutation(np.flatnonzero(~np.isnan(numbers) & (values != MISSING)))
    order = known[np.argsort(numbers[known], kind="stable")]
    told, hidden = values[order], masked[order]
    named = _match_neighbours(told)
    count = int(np.sum(named & hidden))
    if count <= FEWEST:
        return 0
    by_chance = [_match_neighbours(np.random.default_rng(seed).permutation(told)) for seed in range(SHUFFLES)]
    chance = float(np.mean([each.sum() for each in by_chance]))
    determined = int(named.sum())
    if determined - chance < NEARLY * (len(told) - chance) or not unlikely(determined, chance, 1 + 2 * BESIDE):
        return 0
    beyond = count - chance / len(told) * float(hidden.sum())
    return round(beyond) if beyond > FEWEST else 0


def _match_neighbours(told: Codes) -> Flags:
    """bool[n]: whether the records on either side hold the same value as a record; the ends have those of one side."""
    same = np.ones(len(told), dtype=np.bool_)
    for apart in range(1, BESIDE + 1):
        equal = told[apart:] == told[:-apart]
        same[apart:] &= equal
        same[:-apart] &= equal
    return same
