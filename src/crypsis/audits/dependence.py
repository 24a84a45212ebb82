"""Dependence: masked cells that other published columns, up to three together, restore.

A region that was recoded stands in the file again if a sampling weight computed by region is published beside it; an
age is known from the year of birth. The key of a record is what stands in published columns; its masked cell is
*restored* if every record with that key holds one and the same value. Which values go together is taken from the
original, as if it were public knowledge, or from the published cells where no original is at hand.

A key has at least one column that is no quasi-identifier; quasi-identifiers, and the masked column itself, can take
part with what is published of them. A key held by one record restores everything, and small groups of a column that is
nearly constant agree by chance: keys of several columns count from three records on, those of one from two, and what a
random order of the values restores, among records that are alike in the quasi-identifiers of the key, is subtracted.
Of a number that was averaged, nobody knows for sure what goes with it: it counts where it determines most of what
chance leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.audits.published import Codes, Finding, FindingKind, Flags, Published, collected_codes
from crypsis.kernels.classes import ClassMembers, agree_in_classes, list_class_members
from crypsis.masking.calibration import calibration_means
from crypsis.measures.utility.associations import rank_for_association
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
UNLIKELY = 1e-5
"""Probability below which chance does not explain how many groups of a key agree; many keys are tried."""
SAME_ORDER = 0.99
"""Rank correlation from which on one number restores another."""
FEWEST_RANKS = 20
"""Different values below which an order says little."""
SHARED = 3
"""Records with the same key from which on their common value is no accident."""
PAIR = 2
"""The same for one column as collected, such as an amount that two people of a household share."""
MOSTLY = 0.5
"""Share of the cells of a key that stand there as collected; share of what chance leaves open that an average names."""
TOGETHER = 3
"""Columns of a key at most."""
WORK = 200_000_000
"""Cells that are looked at, about; keys of few columns come first."""


def dependence(
    seen: Published, most: float = MOST_RESTORED, work: int = WORK, together: int = TOGETHER, about: str = ""
) -> list[Finding]:
    """Every published column that restores masked cells of others, and two or three where fewer do not.

    `together`: columns of a key at most; `about`: the only column about which findings are wanted, which saves the
    largest keys without it.
    """
    targets = {
        name: target_codes(seen, name) for name in seen.columns if seen.masked_cells.get(name, np.zeros(1)).any()
    }
    columns = {name: _key(seen, name) for name in seen.columns if seen.role(name) is not Role.QUASI_IDENTIFIER}
    restored = dict[tuple[str, ...], dict[str, int]]()
    for key in _keys(seen, columns, targets, together):
        if about and about not in key.names and len(key.names) == together:
            continue
        open_ = [target for target in targets if _worth_trying(key, target, restored)]
        if work < len(seen.table) or not open_:
            continue
        work -= len(seen.table) * (len(key.names) + len(open_))
        restores = Restoring.by(seen, key, columns)
        if restores is None:
            continue
        for target in open_:
            count = restores.count(target, targets[target], most)
            if not count and len(key.names) == 1:
                count = _in_the_same_order(seen, key.names[0], target)
            if count > most * seen.masked_cells[target].sum():
                restored.setdefault(key.names, {})[target] = count
    return [dependence_finding(seen, key, found) for key, found in restored.items()]


def dependence_on_column(seen: Published, name: str) -> dict[str, float]:
    """Share of the masked cells of every other column, 0 to 1, that one published column restores beyond chance."""
    columns, found = {name: _key(seen, name)}, dict[str, float]()
    restores = Restoring.by(seen, _Key((name,)), columns)
    for target in seen.columns:
        masked = seen.masked_cells.get(target, np.zeros(1))
        if target == name or not masked.any():
            continue
        count = 0 if restores is None else restores.count(target, target_codes(seen, target), 0.0)
        count = count or _in_the_same_order(seen, name, target)
        found[target] = float(count / masked.sum())
    return found


@dataclass(frozen=True)
class _Key:
    """Columns by which an intruder looks a record up."""

    names: tuple[str, ...]  # those that are no quasi-identifiers first
    within: int = 0  # how many of the last ones are quasi-identifiers or the masked column itself


def _keys(seen: Published, columns: dict[str, Codes], targets: dict[str, Codes], together: int) -> Iterator[_Key]:
    """Keys of one and more columns, the fewest first."""
    values = {name: len(np.unique(columns.get(name, seen.codes(name)))) for name in seen.columns}
    outside = [name for name in columns if values[name] > 1]
    few = [name for name in outside if values[name] < len(seen.table) / 2]
    inside = [name for name in seen.columns if values[name] > 1 and (name not in columns or name in targets)]
    yield from (_Key((name,)) for name in outside)
    for size in range(2, together + 1):
        for within in range(size):
            for own in combinations(few, size - within):
                partners = [name for name in inside if name not in own]
                yield from (_Key((*own, *others), within) for others in combinations(partners, within))


def _worth_trying(key: _Key, target: str, restored: dict[tuple[str, ...], dict[str, int]]) -> bool:
    """Whether a key may restore a column that no part of it restores already."""
    own = key.names[: len(key.names) - key.within]
    if target in own:
        return False
    parts = (part for size in range(1, len(key.names)) for part in combinations(key.names, size))
    return not any(target in restored.get(part, {}) for part in parts)


@dataclass(frozen=True, eq=False)
class Restoring:
    """A key and its classes."""

    seen: Published
    classes: EquivalenceClasses
    strata: Codes  # which records are alike in the quasi-identifiers of the key
    known: Flags  # bool[n]: records that have the key
    size: int
    averaged: bool  # whether one of its columns holds averages

    @classmethod
    def by(cls, seen: Published, key: _Key, columns: dict[str, Codes]) -> Restoring | None:
        """The classes of a key; None if hardly any has enough records."""
        places = len(key.names) - key.within
        codes = [columns[name] for name in key.names[:places]] + [seen.codes(name) for name in key.names[places:]]
        classes = equivalence_classes(np.stack(codes).T)
        if len(key.names) > 1 and classes.count >= len(seen.table) / 2:
            return None
        known = np.logical_and.reduce([each != MISSING for each in codes[:places]])
        strata = np.zeros(len(seen.table), dtype=np.int32)
        if key.within:
            strata = equivalence_classes(np.stack(codes[places:]).T).of.astype(np.int32)
        averaged = any(not _mostly_collected(seen, name) for name in key.names[:places])
        return cls(seen, classes, strata, known, len(key.names), averaged)

    @classmethod
    def by_codes(cls, seen: Published, codes: Codes) -> Restoring:
        """The classes of a part of a column, which three records share."""
        classes, alike = equivalence_classes(codes[:, None]), np.zeros(len(seen.table), dtype=np.int32)
        return cls(seen, classes, alike, codes != MISSING, size=TOGETHER, averaged=False)

    @property
    def fewest(self) -> int:
        """Records with the same key from which on their common value is no accident."""
        return SHARED if self.size > 1 or self.averaged else PAIR

    @property
    def _fewest_known(self) -> int:
        """Known values of a class from which on their being one is no accident; 1 where all rows of it are meant.

        Without an original what is masked in a row tells nothing of what goes with the key.
        """
        return self.fewest if self.seen.original is None else 1

    @cached_property
    def _members(self) -> ClassMembers:
        """The records that have the key and share it with enough others, class by class."""
        sizes = self.classes.sizes
        return list_class_members(self.classes.of, sizes, self.known[self.classes.first] & (sizes >= self.fewest))

    def count(self, target: str, values: Codes, most: float) -> int:
        """Masked cells of a column that the key restores, beyond chance."""
        masked = self.seen.masked_cells[target]
        least = max(FEWEST, most * np.count_nonzero(masked))
        named = agree_in_classes(self._members, values, masked, self._fewest_known)
        if named <= least:
            return 0
        chance = _chance(self._members, values, masked, self.strata, self._fewest_known)
        if self.averaged and named - chance < MOSTLY * (self._count_held(masked, values) - chance):
            return 0
        return round(named - chance) if named - chance > FEWEST and unlikely(named, chance, self.fewest) else 0

    def _count_held(self, masked: Flags, values: Codes) -> int:
        """Masked cells of the records that have the key and share it with enough others."""
        rows, of = self._members.rows, self.classes.of
        known = np.bincount(of[rows[values[rows] != MISSING]], minlength=self.classes.count)
        enough = known >= (self.fewest if self.seen.original is None else 0)
        return int(np.count_nonzero(masked[rows] & enough[of[rows]]))


def unlikely(named: int, chance: float, fewest: int) -> bool:
    """Whether so many cells hardly agree by chance, the number of agreeing groups being that of rare events
    (Poisson).
    """
    return bool(scipy.special.gammainc(named / fewest, chance / fewest + 1 / SHUFFLES) < UNLIKELY)


def find_determining_dependence(table: Table, most: float = 0.01) -> dict[str, list[str]]:
    """Dependence in a raw file: columns that determine a quasi-identifier, e.g. a year of birth the age."""
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
            there = (classes.sizes >= SHARED) & (seen.codes(name) != MISSING)[classes.first]
            counted, members = there[classes.of] & known, list_class_members(classes.of, classes.sizes, there)
            if counted.sum() < 0.5 * known.sum():
                same = _correlation(table, table, name, target, records)
                if same >= SAME_ORDER:
                    found.setdefault(name, []).append(target)
                continue
            named = agree_in_classes(members, values, counted, 1)
            by_chance = _chance(members, values, counted, np.zeros(len(table), dtype=np.int32), 1)
            if counted.sum() - named <= most * counted.sum() and named - by_chance > 0.5 * counted.sum():
                found.setdefault(name, []).append(target)
    return found


def dependence_finding(seen: Published, key: tuple[str, ...], targets: dict[str, int], times: float = 1.0) -> Finding:
    """The finding of dependence on a key, columns that restore masked cells of another."""
    worst = max(targets, key=lambda name: targets[name] / max(int(seen.masked_cells[name].sum()), 1))
    share = targets[worst] / max(int(seen.masked_cells[worst].sum()), 1)
    named = (worst, *(name for name in targets if name != worst))
    return Finding(FindingKind.DEPENDENCE, (*key, *named), round(times * targets[worst]), share, by=len(key))


def _mostly_collected(seen: Published, name: str) -> bool:
    """Whether a column stands there as collected, so that its values mean what they mean elsewhere."""
    return bool(seen.as_collected[name].sum() >= max(1, MOSTLY * len(seen.table)))


def _key(seen: Published, name: str) -> Codes:
    """The value by which an intruder looks a record up: as collected where that is published, else what is."""
    if seen.original is not None and name in seen.original.names and _mostly_collected(seen, name):
        return collected_codes(seen.original, name)
    return seen.codes(name)


def target_codes(seen: Published, name: str) -> Codes:
    """What may be restored: the collected values, or without an original the published ones."""
    return collected_codes(seen.original, name) if seen.original is not None else seen.codes(name)


def _chance(members: ClassMembers, values: Codes, counted: Flags, strata: Codes, fewest: int) -> float:
    """Cells that agree, on average, when the known values of each stratum stand in a random order."""
    known = np.flatnonzero(values != MISSING)
    several = strata[known].astype(np.min_scalar_type(int(strata.max(initial=0))))  # small integers are sorted fastest
    ordered = known[np.argsort(several, kind="stable")]
    found = list[int]()
    for seed in range(SHUFFLES):
        mixed = _random_order(seed, len(known))
        mixed = known[mixed[np.argsort(several[mixed], kind="stable")]]
        shuffled = values.copy()
        shuffled[ordered] = values[mixed]
        found.append(agree_in_classes(members, shuffled, counted, fewest))
    return float(np.mean(found))


@lru_cache(maxsize=2 * SHUFFLES)
def _random_order(seed: int, size: int) -> NDArray[np.intp]:
    """int[size]: the random order that belongs to a seed, made once for all keys and columns."""
    drawn = np.random.default_rng(seed).random(size)
    order = np.argsort(drawn)
    tied = (np.diff(drawn[order]) == 0).any()  # else every way of sorting gives the same, and this one is the fastest
    return np.argsort(drawn, kind="stable") if tied else order


def _in_the_same_order(seen: Published, name: str, target: str) -> int:
    """Masked cells of a number that another published number, which it follows, shows better than they do."""
    if seen.original is None:
        return 0
    shown = seen.codes(name) != MISSING
    masked = seen.masked_cells[target] & shown
    if masked.sum() < FEWEST or _correlation(seen.table, seen.original, name, target, shown) < SAME_ORDER:
        return 0
    if not seen.table.holds_numbers(target):
        return int(masked.sum())
    collected, published = seen.original.column(target), seen.table.column(target)
    known = shown & ~np.isnan(collected)
    averages, _ = calibration_means(collected[known], seen.codes(name)[known], int(seen.codes(name).max()) + 1)
    off = np.abs(averages[seen.codes(name)] - collected)
    return int(np.sum(masked & (np.isnan(published) | (off < np.abs(published - collected) / 2))))


def _correlation(left: Table, right: Table, name: str, target: str, rows: Flags) -> float:
    """Absolute rank correlation of two numbers with many different values, over the records that hold both."""
    if not (left.holds_numbers(name) and right.holds_numbers(target)):
        return 0.0
    x, y = left.column(name), right.column(target)
    both = rows & ~np.isnan(x) & ~np.isnan(y)
    if min(len(np.unique(each[both])) for each in (x, y)) < FEWEST_RANKS:
        return 0.0
    return float(abs(np.corrcoef(rank_for_association(x[both]), rank_for_association(y[both]))[0, 1]))


# -- Cuts: masked cells that follow from which interval a published number lies in.
#
# Whether a child was born with a low weight is known from the weight: below 2 500 g it was. Hardly two records share a
# weight, so that no key of equal values tells it, and a category has no order to be compared. The intervals are taken
# as public knowledge: a cell is restored if the records next to it by the number hold its own collected value.

BESIDE = 2
"""Records on either side by which a cell is restored."""
