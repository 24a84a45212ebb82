"""Singling out: records that are alone with what they hold, in one column or in a few together.

The quasi-identifiers are a choice of the custodian; what an intruder knows is not. Whoever knows a value that one
record alone holds finds that record, whatever the classes of the quasi-identifiers promise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.household_inference import FEWEST_UNITS, columns_for_household_inference
from crypsis.audits.published import Codes, Finding, FindingKind, Flags, Published
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import count_conservative_class, count_own_class, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.profile import LARGEST_SHARE

FEW = 3
"""Columns an intruder knows at most where several are looked at together."""
WORK = 400_000_000
"""Cells that are looked at for combinations, about; the combinations with most values come first."""


def mark_exposed_records(codes: Codes) -> Flags:
    """Audit of exposure: mark records that are alone with their value in one column; missing is no value.

    `codes` int32[n].

    >>> mark_exposed_records(np.array([0, 1, 1, 2, -1])).tolist()
    [True, False, False, True, False]
    """
    held = np.bincount(codes[codes != MISSING], minlength=1)
    return np.append(held == 1, False)[codes]


def singling_out(seen: Published) -> list[Finding]:
    """Every column that singles out somebody by itself."""
    exposure = Exposure(len(seen.table), seen.allowed, seen.unstated)
    found: list[Finding] = []
    for name in seen.columns:
        single = int(np.sum(mark_exposed_records(seen.codes(name)) & seen.recognisable(name)))
        found += exposure.judge(name, seen.role(name), single)
    return found


@dataclass(frozen=True)
class Exposure:
    """How many people one column may single out before somebody has to decide about it."""

    records: int  # all records
    allowed: int = 0  # people whom a column may single out that nothing masks and nobody spoke of
    # confidential columns of which nobody said that no one outside knows their values
    unstated: Collection[str] = frozenset()

    def judge(self, name: str, role: Role, single: int) -> list[Finding]:
        """The finding on one column."""
        share = single / max(self.records, 1)
        if not single or (role is Role.UNDECIDED and share <= LARGEST_SHARE):
            return []
        spoken = role is Role.QUASI_IDENTIFIER or (role is Role.CONFIDENTIAL and name not in self.unstated)
        refuses = share > LARGEST_SHARE if spoken else single > self.allowed
        return [Finding(FindingKind.SINGLING_OUT, (name,), single, share, refuses)]


@dataclass(frozen=True)
class Combinations:
    """What was found in combinations of columns, and how many were looked at."""

    # at most one per column that no masking covers, and kind: its worst combination, however few people it finds
    findings: tuple[Finding, ...]
    looked: int  # combinations that were counted or cannot single out many, and all there are
    all: int


def few_together(
    seen: Published,
    without: Iterable[str] = (),
    most: float = LARGEST_SHARE,
    work: int = WORK,
    least: float = 0.0,
) -> Combinations:
    """The worst combination of two or three columns for every column that is not a quasi-identifier.

    Combinations of quasi-identifiers alone are what k-anonymity speaks of. Where somebody stated that nobody outside
    knows a confidential column, a combination with it is an assumption, which is reported; where nobody did, it stops
    a release. A combination cannot single out more records than it has different values: one that cannot be the worst
    of its column is not counted.
    """
    records = len(seen.table)
    values = {name: int(seen.codes(name).max(initial=MISSING)) + 2 for name in seen.columns}
    several = [name for name in seen.columns if len(seen.codes(name)) and np.ptp(seen.codes(name)) > 0]
    varied = [name for name in several if name not in set(without)]
    outside = [name for name in varied if seen.role(name) is not Role.QUASI_IDENTIFIER]
    tried = [s for size in range(2, FEW + 1) for s in combinations(varied, size) if set(s) & set(outside)]
    tried.sort(key=lambda names: -prod(values[name] for name in names))
    worst: dict[tuple[str, FindingKind, bool], tuple[int, tuple[str, ...]]] = {}
    looked = 0
    for names in tried:
        keys, different = list(_answerable(seen, names, values)), prod(values[name] for name in names)
        if different > least * records and any(different > worst.get(key, (0, ()))[0] for key in keys):
            if work < records:
                continue
            work -= records * len(names)
            single = _single(seen, names)
            for key in keys:
                if single > worst.get(key, (0, ()))[0]:
                    worst[key] = (single, names)
        looked += 1
    findings = []
    for (name, kind, refuses), (single, names) in worst.items():
        if single > least * records:
            others = tuple(other for other in names if other != name)
            stops = refuses and single > most * records
            findings.append(Finding(kind, (name, *others), single, single / max(records, 1), stops))
    findings.sort(key=lambda each: (seen.columns.index(each.columns[0]), not each.refuses, -each.records))
    findings = list({(each.columns[0], each.kind, each.share > most): each for each in reversed(findings)}.values())[
        ::-1
    ]
    return Combinations(tuple(findings), looked, len(tried))


def _answerable(
    seen: Published, names: tuple[str, ...], values: Mapping[str, int]
) -> Iterator[tuple[str, FindingKind, bool]]:
    """The columns of a combination to decide about, the kind of finding, and whether it stops a release.

    A combination nobody can know, because one of its columns is stated to be unknown, is answered by that column;
    otherwise by the confidential column with most values, or by every column that nothing masks.
    """
    confidential = [name for name in names if seen.role(name) is Role.CONFIDENTIAL]
    stated = [name for name in confidential if name not in seen.unstated]
    if confidential:
        yield max(stated or confidential, key=lambda name: values[name]), FindingKind.ASSUMPTION, not stated
        return
    for name in names:
        if seen.role(name) is not Role.QUASI_IDENTIFIER:
            yield name, FindingKind.COMBINATION, True


def _single(seen: Published, names: tuple[str, ...]) -> int:
    """How many records are alone with their values; of a perturbed table, those all of whose values are true.

    That somebody has no value, such as no illness or no second job, may be known like a value, unless missing cells are
    read as anything. A record without any value says nothing.
    """
    codes = np.stack([seen.codes(name) for name in names]).T
    told = codes != MISSING
    inside = told.any(axis=1) if seen.missing == "own" else told.all(axis=1)
    if seen.perturbed:
        for name in names:
            inside &= seen.as_collected[name]
    # A record without missing cells has the same count under every reading but `own`.
    counts = count_own_class(codes) if seen.missing == "own" else count_conservative_class(codes)
    return int(np.sum((counts == 1) & inside))


# -- Homogeneity: classes whose records all hold one value of a confidential column.
#
# Whoever finds the class of a person then knows the value, without finding the record (Machanavajjhala et al. 2006).
# k-anonymity does not speak of it; l-diversity does.


def homogeneous(seen: Published, most: float = LARGEST_SHARE) -> list[Finding]:
    """Confidential columns that many people share with all of their class.

    >>> columns = {"town": list("aabb"), "ill": list("xxxy")}
    >>> people = crypsis.Table.from_columns(columns, {"town": "quasi", "ill": "confidential"})
    >>> [(each.columns, each.records) for each in homogeneous(Published(people))]
    [(('ill',), 2)]
    """
    quasi = [name for name in seen.columns if seen.role(name) is Role.QUASI_IDENTIFIER]
    if seen.perturbed or not quasi or not len(seen.table):
        return []
    classes = equivalence_classes(np.stack([seen.codes(name) for name in quasi], axis=1))
    found = []
    for name in seen.columns:
        codes = seen.codes(name)
        if seen.role(name) is not Role.CONFIDENTIAL or np.ptp(codes) == 0:
            continue
        least, greatest = np.full(classes.count, np.iinfo(np.int32).max), np.full(classes.count, MISSING - 1)
        np.minimum.at(least, classes.of, codes)
        np.maximum.at(greatest, classes.of, codes)
        alike = (least == greatest) & (least != MISSING) & (classes.sizes > 1)
        count = int(alike[classes.of].sum())
        if count > most * len(codes):
            found.append(Finding(FindingKind.HOMOGENEOUS, (name,), count, count / len(codes), refuses=False))
    return found


def find_exposed_units(seen: Published, most: float = LARGEST_SHARE) -> list[Finding]:
    """Exposure by singling out: columns by which many records are in a class of fewer than three units."""
    before = seen.original
    quasi = [name for name in seen.columns if seen.role(name) is Role.QUASI_IDENTIFIER]
    if before is None or seen.perturbed or not quasi or not len(seen.table):
        return []
    classes = equivalence_classes(np.stack([seen.codes(name) for name in quasi], axis=1))
    found = []
    for name in columns_for_household_inference(before):
        units = before.codes([name])[:, 0]
        few = int(np.sum(count_exposed_units(units, classes.of)[classes.of] < FEWEST_UNITS))
        if few > most * len(units):
            found.append(Finding(FindingKind.FEW_UNITS, (name,), few, few / len(units)))
    return found


def count_exposed_units(units: Codes, labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """For exposure by singling out, how many different units each class has; a record without one is its own.

    `units` int32[n].

    >>> count_exposed_units(np.array([0, 0, 1, -1, -1], dtype=np.int32), np.array([0, 0, 0, 1, 1])).tolist()
    [2, 2]
    """
    own = np.where(units == MISSING, units.max(initial=0) + 1 + np.arange(len(units)), units)
    pairs = np.unique(np.stack([labels, own], axis=1), axis=0)
    return np.bincount(pairs[:, 0])
