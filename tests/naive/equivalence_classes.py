"""Equivalence classes by plain dictionaries, written from the definitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence


def group_by(rows: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    """Which records share a tuple."""
    classes: dict[Hashable, list[int]] = defaultdict(list)
    for record, row in enumerate(rows):
        classes[row].append(record)
    return dict(classes)


def by_size(classes: dict[Hashable, list[int]], limit: int) -> int:
    """k of the paper: E_1, E_2, … are suppressed while their union stays within the limit."""
    sizes = Counter()
    for members in classes.values():
        sizes[len(members)] += len(members)
    spent = 0
    for size in sorted(sizes):
        spent += sizes[size]
        if spent > limit:
            return size
    return max(sizes)


def known(values: Sequence[Hashable], members: Sequence[int]) -> set[Hashable]:
    """The different values of a class; a missing one, −1, is none."""
    return {values[record] for record in members if values[record] != -1}


def strictest_l(classes: dict[Hashable, list[int]], values: Sequence[Hashable], k: int, limit: int) -> int:
    """The largest l such that classes smaller than k or with fewer than l values hold at most `limit` records."""
    best = 0
    alive = [members for members in classes.values() if len(members) >= k]
    for candidate in range(1, max(len(known(values, members)) for members in alive) + 1):
        gone = sum(
            len(members) for members in classes.values() if len(members) < k or len(known(values, members)) < candidate
        )
        if gone <= limit:
            best = candidate
    if best == 0:
        best = min(len(known(values, members)) for members in alive)
    return best


def crossed(
    candidates: Sequence[Sequence[int]], own: int, k: int, columns: Sequence[Sequence[int]]
) -> tuple[bool, list[bool]]:
    """Whether fewer than k candidates are left by all releases though each alone leaves k, and which columns they fix.

    `candidates`: by release the keys of a person's candidates; `columns`: the value under each key.
    """
    left = Counter(candidates[0])
    for keys in candidates[1:]:
        left &= Counter(keys)
    if own not in left:
        return False, [False] * len(columns)
    few = left.total() < k and all(len(keys) >= k for keys in candidates)
    alone = [any(len({column[key] for key in keys}) == 1 for keys in candidates) for column in columns]
    sure = [{column[key] for key in left} == {column[own]} for column in columns]
    return few, [certain and not known for certain, known in zip(sure, alone, strict=True)]
