"""Households: which records belong together, and households that are alike in all of their members.

A household is found by what is known of all its members at once. Its pattern is the multiset of the values of its
members: two households are alike if their members can be paired so that each pair is alike. Values that a whole
household shares are part of every member's, so that they count too; the number of members is implied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, unknown_column
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]


def household_column(table: Table, named: str = "") -> str:
    """The column that says which records belong together: the one named, or the first with that role; else empty."""
    found = table.names_by_role(Role.HOUSEHOLD)
    return named or (found[0] if found else "")


def household_obstacle(table: Table, named: str = "") -> str:
    """Why a table does not say which records belong together, in a sentence; empty if it does."""
    unknown = unknown_column([named] if named else [], table.names)
    if unknown:
        return unknown
    if household_column(table, named):
        return ""
    return "no column says which records belong together; give it the role 'household' or name it with 'household'"


def read_households(table: Table, named: str = "") -> Integers:
    """int64[n]: the household of each record, from 0; a record whose household is missing is one of its own."""
    obstacle = household_obstacle(table, named)
    if obstacle:
        raise TableError(obstacle)
    codes = table.codes([household_column(table, named)])[:, 0].astype(np.int64)
    lone = np.flatnonzero(codes == MISSING)
    codes[lone] = int(codes.max(initial=-1)) + 1 + np.arange(len(lone))
    return equivalence_classes(codes[:, None]).of


CHANCE = 1e-6
"""Probability below which the members of households do not agree in a column by chance."""


def household_level_columns(table: Table, names: Sequence[str] = (), named: str = "") -> tuple[str, ...]:
    """Quasi-identifiers, or those of some columns, with one value within every household: declared, or beyond chance.

    A missing value is a value: where one member's is missing and another's is not, the column is one of persons. None
    where no column says which records belong together, or no two records do.

    >>> home = np.repeat(np.arange(30), 2)
    >>> columns = {"roof": np.array(list("abc"))[home % 3], "sex": list("fm") * 30, "home": home}
    >>> household_level_columns(Table.from_columns(columns, {"roof": "quasi", "sex": "quasi", "home": "household"}))
    ('roof',)
    """
    together = household_column(table, named)
    if not together or not table.kept.any():
        return ()
    home = read_households(table, named)[table.kept]
    fellows = len(home) - len(np.unique(home))
    found = list[str]()
    for name in names or table.quasi_identifiers:
        codes = table.codes([name])[table.kept, 0].astype(np.int64)
        if name == together or count_household_values(home, codes).max(initial=0) > 1:
            continue
        commonest = float(np.bincount(codes + 1).max()) / len(codes)
        if table.attribute(name).shared or fellows * np.log(commonest) < np.log(CHANCE):
            found.append(name)
    return tuple(found)


def refuse_household_column(table: Table, name: str) -> None:
    """Refuse a column that was declared to have one value within every household, where it has several."""
    home, codes = read_households(table), table.codes([name])[:, 0]
    several = int(np.sum(count_household_values(home, codes) > 1))
    if several:
        raise TableError(
            f"column {name!r} is declared as shared, and in {several} household{'s' * (several > 1)} its value "
            f"differs between members; correct the file or drop shared = true"
        )


def published_household_members(sizes: Integers, k: int) -> Integers:
    """int64[households]: members that are published, so that at least k households have as many.

    Where too few are as large, each leaves out a member, until enough are; those that are too few even so publish none.
    `sizes` int64[households].

    >>> published_household_members(np.array([1, 1, 2, 2, 2, 4]), 2).tolist()
    [1, 1, 2, 2, 2, 2]
    >>> published_household_members(np.array([1, 2, 2]), 2).tolist()
    [0, 2, 2]
    """
    published = sizes.copy()
    for size in range(int(sizes.max(initial=0)), 0, -1):
        here = published == size
        if 0 < here.sum() < k:
            published[here] = size - 1
    return published


def count_household_values(home: Integers, codes: NDArray[np.integer]) -> Integers:
    """int64[households]: how many different values the members of each household have.

    `home` int64[n]: household of each record, from 0; `codes` int[n]: its value.

    >>> count_household_values(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 7])).tolist()
    [1, 2]
    """
    pairs = equivalence_classes(np.stack([home, codes.astype(np.int64)], axis=1))
    return np.bincount(home[pairs.first], minlength=int(home.max(initial=-1)) + 1)


@dataclass(frozen=True, eq=False)
class HouseholdPatterns:
    """Households with at least one kept record, by their pattern."""

    pattern: Integers  # int64[households]: −1 where no record of the household is kept
    count: int
    of: Integers  # int64[n]: household of each record

    @property
    def sizes(self) -> Integers:
        """int64[patterns]: households of each pattern."""
        return np.bincount(self.pattern[self.pattern >= 0], minlength=self.count)

    @property
    def alike(self) -> Integers:
        """int64[households]: households with the same pattern; 0 where no record is kept."""
        return np.append(self.sizes, 0)[self.pattern]


def _mix_bits(numbers: Words) -> Words:
    """uint64[n]: numbers spread over all 64 bits (splitmix64)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def household_member_words(classes: Integers) -> Words:
    """uint64[n, 2]: 128 bits per household member, whose sums find households alike in all of their members."""
    first = _mix_bits(classes.astype(np.uint64))
    return np.stack([first, _mix_bits(first ^ np.uint64(0xD1B54A32D192ED03))], axis=1)


def group_alike_households(
    household: Integers, classes: Integers, words: Callable[[Integers], Words] = household_member_words
) -> HouseholdPatterns:
    """Which households of a table are alike in all of their members, as arrays by household and pattern.

    `household` int64[n]: household of each record, from 0; `classes` int64[n]: class of each record, −1 for one that is
    not kept. Households with equal sums of words are compared member by member.

    >>> found = group_alike_households(np.array([0, 0, 1, 1, 2]), np.array([4, 7, 7, 4, 4]))
    >>> found.pattern.tolist(), found.sizes.tolist()
    ([1, 1, 0], [1, 2])
    """
    count = int(household.max(initial=-1)) + 1
    kept = np.flatnonzero(classes >= 0)
    order = kept[np.lexsort((classes[kept], household[kept]))]
    home, member = household[order], classes[order]
    members = np.bincount(home, minlength=count)
    sums = np.zeros((count, 2), dtype=np.uint64)
    np.add.at(sums, home, words(member))
    present = members > 0
    ranks = np.full((count, 3), -1, dtype=np.int64)
    ranks[:, 0] = members
    for place in range(2):
        ranks[present, 1 + place] = np.unique(sums[present, place], return_inverse=True)[1]
    found = equivalence_classes(ranks, present)
    start = np.concatenate([[0], np.cumsum(members)[:-1]]).astype(np.int64)
    inside = np.arange(len(home)) - start[home]
    like = member[start[found.first[found.of[home]]] + inside] if len(home) else member
    if not np.array_equal(like, member):  # equal sums of different members
        found = equivalence_classes(_refine(home, member, members, inside)[:, None], present)
    return HouseholdPatterns(found.of, found.count, household)


def _refine(home: Integers, member: Integers, members: Integers, inside: Integers) -> Integers:
    """int64[households]: a label of each household by its members one after the other, the least class first."""
    label = members.copy()
    for place in range(int(members.max(initial=0))):
        here = inside == place
        pairs = equivalence_classes(np.stack([label[home[here]], member[here]], axis=1))
        label[home[here]] = int(label.max()) + 1 + pairs.of
    return label
