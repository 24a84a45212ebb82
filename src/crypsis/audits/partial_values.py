"""Parts of codes and dates that restore masked cells: ``F-1975-031`` is nobody else's, its beginning is.

A column that differs from record to record is no key: no two records share a value. Its pieces, first letters, digits,
or year and month may be shared by all who have one sex or one year of birth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.dependence import (
    BESIDE,
    FEWEST,
    MOST_RESTORED,
    MOSTLY,
    SHUFFLES,
    Restoring,
    dependence_finding,
    target_codes,
    unlikely,
)
from crypsis.audits.published import Codes, Finding, Flags, Published
from crypsis.audits.restatement import texts_for_restatement
from crypsis.audits.tokens import numbers_as_tokens, tokens_of_code
from crypsis.table.attribute import Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.profile import LARGEST_SHARE

MOST_PARTS = 60
"""Parts of a column that are looked at."""


def restoring_parts(
    seen: Published, without: Collection[tuple[str, str]] = (), most: float = MOST_RESTORED
) -> list[Finding]:
    """Columns that are no quasi-identifiers and whose parts restore masked cells of others."""
    if seen.original is None or not len(seen.table):
        return []
    some = seen.sample
    targets = {
        name: target_codes(some, name) for name in some.columns if some.masked_cells.get(name, np.zeros(1)).any()
    }
    found = []
    for name in some.columns:
        open_ = {each: codes for each, codes in targets.items() if each != name and (name, each) not in without}
        if some.role(name) is Role.QUASI_IDENTIFIER or not open_:
            continue
        counts = dict[str, int]()
        for part in parts(some, name):
            keyed = Restoring.by_codes(some, part)
            for target, values in open_.items():
                count = keyed.count(target, values, most)
                if count > most * some.masked_cells[target].sum():
                    counts[target] = max(count, counts.get(target, 0))
        if counts:
            found.append(dependence_finding(some, (name,), counts, len(seen.table) / len(some.table)))
    return found


def parts(seen: Published, name: str) -> Iterator[Codes]:
    """int32[n] each: a part of every value of a column of many values, as codes; −1 where a value has no such part."""
    values = int(seen.codes(name).max(initial=MISSING)) + 1
    if values <= LARGEST_SHARE * len(seen.table):
        return
    told = set[bytes]()
    for spelt, of in _spelt_parts(seen, name):
        _, codes = np.unique(spelt, return_inverse=True)
        part = np.where((of == MISSING) | (spelt[of] == ""), MISSING, codes[of]).astype(np.int32)
        different = len(np.unique(part[part != MISSING]))
        if 1 < different < values / 2 and part.tobytes() not in told:
            told.add(part.tobytes())
            yield part


def _spelt_parts(seen: Published, name: str) -> Iterator[tuple[NDArray[np.str_], NDArray[np.integer]]]:
    """A part of each different value, spelt, and the place of each record's value."""
    dates, column = seen.table.attribute(name).dates, seen.table.column(name)
    if dates and seen.table.holds_numbers(name):
        known = ~np.isnan(column)
        moments = np.full(len(column), np.datetime64("NaT"), dtype="datetime64[s]")
        moments[known] = np.round(column[known] * (86400 if dates == "date" else 1)).astype("datetime64[s]")
        days = moments.astype("datetime64[D]").astype(np.int64) + 3
        of = np.where(known, np.arange(len(column)), MISSING)
        spelt = moments.astype(str)
        yield from ((np.array([each[cut] for each in spelt]), of) for cut in (slice(4), slice(7), slice(5, 7)))
        yield np.where(known, days % 7, 0).astype(str), of
        return
    texts = texts_for_restatement(seen.table, name)
    if texts is None:
        return
    found = [tokens_of_code(label) for label in texts[0]]
    places = list(dict.fromkeys(place for each in found for place in each))
    for place in places[:MOST_PARTS]:
        yield np.array([each.get(place, "") for each in found]), texts[1]


NEARLY = 0.8
"""Share of what chance leaves open that a number must determine: a mere correlation determines less."""


def find_partial_numbers(
    seen: Published, without: Collection[tuple[str, str]] = (), most: float = MOST_RESTORED
) -> list[Finding]:
    """Parts of values, the intervals of numbers published as collected, that restore masked cells of other columns.

    >>> weight, low = 2000 + 10 * np.arange(100.0), np.where(np.arange(100) < 50, "yes", "no")
    >>> births = crypsis.Table.from_columns({"low": low, "weight": weight}, {"low": "quasi", "weight": "confidential"})
    >>> masked = births.with_columns({"low": np.roll(births.column("low"), 10)})
    >>> [each.columns for each in find_partial_numbers(Published(masked, births))]
    [('weight', 'low')]
    """
    if seen.original is None or seen.perturbed or not len(seen.table):
        return []
    some, found = seen.sample, []
    targets = {
        name: target_codes(some, name) for name in some.columns if some.masked_cells.get(name, np.zeros(1)).any()
    }
    for name in some.columns:
        if some.role(name) is Role.QUASI_IDENTIFIER or some.as_collected[name].mean() < MOSTLY:
            continue
        numbers = numbers_as_tokens(some.table, name)
        if numbers is None:
            continue
        counts = dict[str, int]()
        for target, values in targets.items():
            if target != name and (name, target) not in without:
                count = _count_restored(numbers, values, some.masked_cells[target])
                if count > most * some.masked_cells[target].sum():
                    counts[target] = count
        if counts:
            found.append(dependence_finding(some, (name,), counts, len(seen.table) / len(some.table)))
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
