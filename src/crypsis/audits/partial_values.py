"""Parts of codes and dates that restore masked cells: ``F-1975-031`` is nobody else's, its beginning is.

A column that differs from record to record is no key: no two records share a value. Its pieces, first letters, digits,
or year and month may be shared by all who have one sex or one year of birth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.dependence import MOST_RESTORED, Restoring, blank, dependence, find_cuts, finding_of, target_codes
from crypsis.audits.published import Codes, Finding, Published
from crypsis.audits.restatement import find_restated, texts_of
from crypsis.audits.tokens import parts_of
from crypsis.table.attribute import Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.table import Table

MOST_PARTS = 60
"""Parts of a column that are looked at."""


def restoring_parts(
    seen: Published, without: Collection[tuple[str, str]] = (), most: float = MOST_RESTORED
) -> list[Finding]:
    """Columns that are no quasi-identifiers and whose parts restore masked cells of others.

    Parameters
    ----------
    seen : Published
        The published table; without an original nobody knows what is masked.
    without : collection of (str, str)
        Columns and what they restore as a whole.
    most : float
        Share of the masked cells of a column that may be restored beyond chance.

    Returns
    -------
    list of Finding
        `columns` are the column and what its parts restore. A column of few different values is not looked at: a part
        says less than the whole, which is a key itself.
    """
    if seen.original is None or not len(seen.table):
        return []
    some = seen.sample
    targets = {name: target_codes(some, name) for name in some.columns if some.masked.get(name, np.zeros(1)).any()}
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
                if count > most * some.masked[target].sum():
                    counts[target] = max(count, counts.get(target, 0))
        if counts:
            found.append(finding_of(some, (name,), counts, len(seen.table) / len(some.table)))
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
    texts = texts_of(seen.table, name)
    if texts is None:
        return
    found = [parts_of(label) for label in texts[0]]
    places = list(dict.fromkeys(place for each in found for place in each))
    for place in places[:MOST_PARTS]:
        yield np.array([each.get(place, "") for each in found]), texts[1]


def find_restoring(table: Table) -> list[Finding]:
    """Columns, their parts and intervals, and texts that would say values of quasi-identifiers, were these all masked.

    table  as collected
    returns  for whole columns a finding however few values it is, if they are more than chance explains
    """
    seen = Published(blank(table), table)
    whole = dependence(seen, most=0.0, together=1)
    told = {(each.columns[0], name) for each in whole for name in each.columns[1:] if each.share > MOST_RESTORED}
    return [*whole, *restoring_parts(seen, told), *find_cuts(seen, told), *find_restated(seen)]
