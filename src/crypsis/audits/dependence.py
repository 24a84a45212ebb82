"""Dependence: masked cells that another published column, or two together, restore.

A region that was recoded stands in the file again if a sampling weight computed by region is published beside it; an
age is known from the year of birth. The key of a record is its value in the published column; its masked cell is
*restored* if every record with that key holds one and the same value. Which values go together is taken from the
original, as if it were public knowledge, or from the published cells where no original is at hand.

A key held by one or two records restores everything by chance, and so do small groups of a column that is nearly
constant: keys of fewer than three records do not count, and what a random order of the values restores is subtracted.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from crypsis.audits.finding import Finding, FindingKind
from crypsis.audits.published import Codes, Flags, Published, collected_codes
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import EquivalenceClasses, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

MOST_RESTORED = 0.05
"""Share of the masked cells of a column that another may restore beyond chance."""
SHUFFLES = 5
"""Random orders of the values from which the part of chance is estimated."""
FEWEST = 5
"""Restored cells up to which nothing is said."""
SURELY = 4.0
"""Standard deviations by which what is restored exceeds chance; many keys are tried."""
SAME_ORDER = 0.99
"""Rank correlation from which on one number restores another."""
SHARED = 3
"""Records with the same key from which on their common value is no accident."""
MOSTLY = 0.5
"""Share of the cells of a key that stand there as collected."""
PAIRED = 40
"""Keys up to which pairs of them are tried as keys."""


def dependence(seen: Published, most: float = MOST_RESTORED) -> list[Finding]:
    """Every published column that restores masked cells of others, and pairs where neither does alone.

    Parameters
    ----------
    seen : Published
        The published table.
    most : float
        Share of the masked cells of a column that may be restored beyond chance.

    Returns
    -------
    list of Finding
        `columns` are the key, then what it restores; `records` the restored cells of the worst one, beyond chance.
    """
    targets = {name: _target(seen, name) for name in seen.columns if seen.masked.get(name, np.zeros(1)).any()}
    keys = {name: _key(seen, name) for name in seen.columns if _is_key(seen, name)}
    restored = dict[tuple[str, ...], dict[str, int]]()
    for name, key in keys.items():
        for target, values in targets.items():
            if target == name:
                continue
            count = _restored(seen, key, target, values, most) or _in_the_same_order(seen, name, target)
            if count > most * seen.masked[target].sum():
                restored.setdefault((name,), {})[target] = count
    for pair in _pairs(keys):
        key = equivalence_classes(np.stack([keys[name] for name in pair], axis=1)).of.astype(np.int32)
        if key.max(initial=0) >= len(key) / 2:
            continue
        for target, values in targets.items():
            if target in pair or any(target in restored.get((name,), {}) for name in pair):
                continue
            count = _restored(seen, key, target, values, most)
            if count > most * seen.masked[target].sum():
                restored.setdefault(pair, {})[target] = count
    return [_finding(seen, key, targets) for key, targets in restored.items()]


def determining(table: Table, most: float = 0.01) -> dict[str, list[str]]:
    """Columns that determine a quasi-identifier in a raw file, e.g. a year of birth the age.

    Parameters
    ----------
    table : Table
        As collected.
    most : float
        Share of the records for which the dependence may fail.

    Returns
    -------
    dict of str to list of str
        Column that is no quasi-identifier → quasi-identifiers that follow from it.
    """
    seen = Published(table)
    records = np.ones(len(table), dtype=np.bool_)
    found = dict[str, list[str]]()
    for name in seen.columns:
        if seen.role(name) is Role.QUASI_IDENTIFIER:
            continue
        for target in table.quasi_identifiers:
            values = seen.codes(target)
            known = values != MISSING
            if len(np.unique(values[known])) < 2:
                continue
            classes = equivalence_classes(seen.codes(name)[:, None])
            counted = (classes.sizes >= SHARED)[classes.of] & known & (seen.codes(name) != MISSING)
            if counted.sum() < 0.5 * known.sum():
                same = _correlation(table, table, name, target, records)
                if same >= SAME_ORDER:
                    found.setdefault(name, []).append(target)
                continue
            named = _named(classes, values)[classes.of] & counted
            by_chance = _chance(classes, values, counted)
            if counted.sum() - named.sum() <= most * counted.sum() and named.sum() - by_chance > 0.5 * counted.sum():
                found.setdefault(name, []).append(target)
    return found


def _finding(seen: Published, key: tuple[str, ...], targets: dict[str, int]) -> Finding:
    worst = max(targets, key=lambda name: targets[name] / max(int(seen.masked[name].sum()), 1))
    share = targets[worst] / max(int(seen.masked[worst].sum()), 1)
    named = (worst, *(name for name in targets if name != worst))
    return Finding(FindingKind.DEPENDENCE, (*key, *named), targets[worst], share)


def _is_key(seen: Published, name: str) -> bool:
    """Whether a column stands there as collected, and outside the classes that hide who holds a value."""
    return seen.role(name) is not Role.QUASI_IDENTIFIER and bool(
        seen.as_collected[name].sum() >= max(1, MOSTLY * len(seen.table))
    )


def _pairs(keys: dict[str, Codes]) -> Iterator[tuple[str, str]]:
    """Pairs of keys with few enough values."""
    few = [name for name, codes in keys.items() if len(np.unique(codes)) < len(codes) / 2]
    yield from combinations(few, 2) if len(few) <= PAIRED else ()


def _key(seen: Published, name: str) -> Codes:
    """The value by which an intruder looks a record up: as collected, since that is what is published there."""
    codes = collected_codes(seen.original, name) if seen.original is not None and name in seen.original.names else None
    return np.asarray(codes if codes is not None else seen.codes(name))


def _target(seen: Published, name: str) -> Codes:
    """What may be restored: the collected values, or without an original the published ones."""
    return collected_codes(seen.original, name) if seen.original is not None else seen.codes(name)


def _restored(seen: Published, key: Codes, target: str, values: Codes, most: float) -> int:
    """Masked cells of a column that a key restores, beyond chance."""
    classes = equivalence_classes(key[:, None])
    masked = seen.masked[target] & (key != MISSING)
    known = values != MISSING
    shown = known if seen.original is None else np.ones(len(known), dtype=np.bool_)
    holders = np.bincount(classes.of[shown], minlength=classes.count)
    counted = masked & (holders >= SHARED)[classes.of]
    named = int(np.sum(_named(classes, values)[classes.of] & counted))
    if named <= max(FEWEST, most * seen.masked[target].sum()):
        return 0
    chance = _chance(classes, values, counted)
    return round(named - chance) if named - chance > max(FEWEST, SURELY * np.sqrt(chance + 1)) else 0


def _named(classes: EquivalenceClasses, values: Codes) -> Flags:
    """bool[classes]: whether all known values of a class are one value."""
    known = values != MISSING
    top = np.iinfo(np.int64).max
    low, high = np.full(classes.count, top), np.full(classes.count, -1)
    np.minimum.at(low, classes.of[known], values[known])
    np.maximum.at(high, classes.of[known], values[known])
    return np.asarray(low == high)


def _chance(classes: EquivalenceClasses, values: Codes, counted: Flags) -> float:
    return float(np.mean([_once_by_chance(classes, values, counted, seed) for seed in range(SHUFFLES)]))


def _once_by_chance(classes: EquivalenceClasses, values: Codes, counted: Flags, seed: int) -> int:
    """Cells that are restored when the known values stand in a random order."""
    known = np.flatnonzero(values != MISSING)
    shuffled = values.copy()
    shuffled[known] = values[np.random.default_rng(seed).permutation(known)]
    return int(np.sum(_named(classes, shuffled)[classes.of] & counted))


def _in_the_same_order(seen: Published, name: str, target: str) -> int:
    """All masked cells of a number that another number follows; 0 if it does not."""
    if seen.original is None or name not in seen.original.names:
        return 0
    masked = seen.masked[target] & seen.as_collected[name]
    if masked.sum() < FEWEST:
        return 0
    same = _correlation(seen.original, seen.original, name, target, seen.as_collected[name])
    return int(masked.sum()) if same >= SAME_ORDER else 0


def _correlation(left: Table, right: Table, name: str, target: str, rows: Flags) -> float:
    """Absolute rank correlation of two numbers with many different values, over the records that hold both."""
    if not (left.holds_numbers(name) and right.holds_numbers(target)):
        return 0.0
    x, y = left.column(name), right.column(target)
    both = rows & ~np.isnan(x) & ~np.isnan(y)
    if min(len(np.unique(x[both])), len(np.unique(y[both]))) < 20:
        return 0.0
    return float(abs(np.corrcoef(rankdata(x[both]), rankdata(y[both]))[0, 1]))
