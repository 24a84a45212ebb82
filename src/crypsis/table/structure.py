"""What the structure of a table says about a column: households, sampling weights, columns that follow from others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

MOST_MEMBERS = 20
"""Records of a household at most."""
FEWEST_HOUSEHOLDS = 20
"""Different values below which runs of equal ones say little."""
TOGETHER = 1.2
"""Records per household at least, on average."""
AGREE = 0.99
"""Share of the households whose members agree, from which on a column is one of the household."""
DIFFER = 0.5
"""Share of neighbouring households that must differ in such a column: otherwise the file is only sorted by it."""
CHANCE = 1e-6
"""Probability below which a column does not follow from another by chance."""
GROUP = 5
"""Records per value of a column of categories, on average, before something can follow from it."""
POPULATION = 10.0
"""Mean of weights from which on each record stands for a population."""
NORMALISED = 0.01
"""Distance of the mean of weights from 1 up to which they are scaled to the sample."""
SPREAD_OF_WEIGHTS = 200.0
"""Ratio of the largest to the smallest weight at most."""

FIRST = 1000
"""Records at the beginning of a table that may contradict before all of them are looked at."""

Codes = NDArray[np.int32]


def find_household_structure(table: Table, names: list[str]) -> str:
    """The structure of a table shows which named column holds households, by runs of equal values.

    Every value has 1 to 20 records that follow each other, values grow from household to household or are text, and
    at least one other column is the same for the members while neighbouring households differ in it.

    >>> home = np.repeat(np.arange(40), np.arange(40) % 3 + 1)
    >>> rooms = np.random.default_rng(0).integers(1, 6, 40)[home]
    >>> columns = {"x1": home, "x2": rooms, "x3": np.arange(len(home)) % 7}
    >>> find_household_structure(Table.from_columns(columns), ["x1", "x3"])
    'x1'
    """
    for name in names:
        if not _begins_with_runs(table.column(name)[:FIRST]):
            continue
        codes = table.codes([name])[:, 0]
        if not _are_runs(table, name, codes):
            continue
        starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
        if any(_is_shared(table.codes([other])[:, 0], codes, starts) for other in table.names if other != name):
            return name
    return ""


def _begins_with_runs(values: NDArray[Any]) -> bool:
    """Whether equal values follow each other in the first records, which is soon seen."""
    if not len(values):
        return False
    starts = int(np.sum(values[1:] != values[:-1])) + 1
    return starts == len(np.unique(values))


def _are_runs(table: Table, name: str, codes: Codes) -> bool:
    """Whether equal values follow each other, few at a time, and number households."""
    if not len(codes) or codes.min() == MISSING or table.attribute(name).dates:
        return False
    starts = int(np.sum(codes[1:] != codes[:-1])) + 1
    counts = np.bincount(codes)
    counts = counts[counts > 0]
    if starts != len(counts) or len(counts) < FEWEST_HOUSEHOLDS or counts.max() > MOST_MEMBERS:
        return False
    if len(codes) < TOGETHER * len(counts):
        return False
    if not table.holds_numbers(name):
        return True
    numbers = table.column(name)
    return bool(np.all(numbers == np.round(numbers)))


def _is_shared(other: Codes, codes: Codes, starts: NDArray[np.intp]) -> bool:
    """Whether members agree in a column and neighbouring households often do not."""
    inside = codes[1:] == codes[:-1]
    if not inside.any() or len(starts) < 2:
        return False
    same = other[1:] == other[:-1]
    return bool(np.mean(same[inside]) >= AGREE and np.mean(same[~inside]) <= DIFFER)


def are_weights(table: Table, name: str, home: str) -> bool:
    """Whether the numbers of a column are sampling weights by their structure.

    They are positive, hardly ever whole, and differ little. Either their mean is 1, as of weights scaled to the sample;
    or it is that of a population, few values are shared by many records, and all members of a household have one.

    >>> home = np.repeat(np.arange(60), 2)
    >>> table = Table.from_columns({"home": home, "w": np.array([504.57, 493.38, 557.1])[home % 3], "x": home * 1.5})
    >>> are_weights(table, "w", "home"), are_weights(table, "x", "home")
    (True, False)
    """
    numbers = table.column(name)
    if not table.holds_numbers(name) or np.isnan(numbers).any() or len(numbers) < FEWEST_HOUSEHOLDS:
        return False
    least, mean = float(numbers.min()), float(numbers.mean())
    broken = np.mean(numbers != np.round(numbers)) > DIFFER
    if least <= 0 or not broken or numbers.max() > SPREAD_OF_WEIGHTS * least or numbers.max() == least:
        return False
    if abs(mean - 1) <= NORMALISED:
        return True
    if not home or mean < POPULATION:
        return False
    codes, homes = table.codes([name])[:, 0], table.codes([home])[:, 0]
    inside = homes[1:] == homes[:-1]
    few = len(np.unique(codes)) * GROUP <= len(np.unique(homes))
    return bool(few and inside.any() and np.mean((codes[1:] == codes[:-1])[inside]) >= AGREE)


def follows_by_structure(table: Table, name: str, lead: str) -> bool:
    """The structure of a table: whether a column follows from another, as its logarithm, square or coarsening.

    >>> age = np.random.default_rng(0).integers(20, 60, 300)
    >>> noise = np.random.default_rng(1).integers(0, 2, 300)
    >>> table = Table.from_columns({"age": age, "square": age**2, "old": (age > 40) * 1, "noise": noise})
    >>> tuple(follows_by_structure(table, name, "age") for name in ("square", "old", "noise"))
    (True, True, False)
    """
    if not _may_follow(table.column(name)[:FIRST], table.column(lead)[:FIRST]):
        return False
    both = table.codes([lead, name])
    both = both[(both != MISSING).all(axis=1)]
    if len(both) < FEWEST_HOUSEHOLDS:
        return False
    leads, values = len(np.unique(both[:, 0])), len(np.unique(both[:, 1]))
    if values < 2 or values > leads or len(equivalence_classes(both).sizes) != leads:
        return False
    if table.holds_numbers(name) and table.holds_numbers(lead) and leads == values >= 3:
        return _is_monotone(table, name, lead)
    if leads * GROUP > len(both):
        return False
    common = np.bincount(both[:, 1]).max() / len(both)
    return bool((len(both) - leads) * np.log(common) < np.log(CHANCE))


def _may_follow(values: NDArray[Any], leads: NDArray[Any]) -> bool:
    """Whether the first records do not contradict it: equal leads have equal values, but for missing ones."""
    order = np.argsort(leads, kind="stable")
    equal = leads[order][1:] == leads[order][:-1]
    differ = values[order][1:] != values[order][:-1]
    missing = _is_missing(values[order])
    return not bool(np.any(equal & differ & ~missing[1:] & ~missing[:-1] & ~_is_missing(leads[order])[1:]))


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(np.isnan(values) if values.dtype.kind == "f" else values == MISSING)


def _is_monotone(table: Table, name: str, lead: str) -> bool:
    one, other = table.column(lead), table.column(name)
    known = ~(np.isnan(one) | np.isnan(other))
    steps = np.diff(other[known][np.argsort(one[known], kind="stable")])
    return bool(np.all(steps >= 0) or np.all(steps <= 0))


def count_unique_for_structure(table: Table, names: Sequence[str]) -> int:
    """The structure of a table: how many records are equal to no other on some columns together.

    >>> count_unique_for_structure(Table.from_columns({"age": [31, 31, 47]}), ["age"])
    1
    """
    if not names or not len(table):
        return 0
    return int(np.sum(equivalence_classes(table.codes(names)).sizes == 1))
