"""Households by plain loops: who contradicts themselves, how many are alike, and whose records a class holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence


def contradicting(homes: Sequence[Hashable], before: Sequence[Hashable], after: Sequence[Hashable]) -> set[Hashable]:
    """Households whose members had one value and have several."""
    found = set[Hashable]()
    for home in set(homes):
        rows = [row for row, other in enumerate(homes) if other == home]
        if len({before[row] for row in rows}) == 1 and len({after[row] for row in rows}) > 1:
            found.add(home)
    return found


def household_k(homes: Sequence[Hashable], records: Sequence[Hashable]) -> int:
    """The fewest households with one multiset of members."""
    members = defaultdict[Hashable, list[Hashable]](list)
    for home, record in zip(homes, records, strict=True):
        members[home].append(record)
    patterns = Counter(frozenset(Counter(each).items()) for each in members.values())
    return min(patterns.values())


def persons_per_record(persons: Sequence[Hashable], records: Sequence[Hashable]) -> list[int]:
    """How many different persons have a record like each."""
    held = defaultdict[Hashable, set[Hashable]](set)
    for person, record in zip(persons, records, strict=True):
        held[record].add(person)
    return [len(held[record]) for record in records]
