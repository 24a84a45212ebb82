"""What several releases of the same people reveal together: values and classes that none of them gives away alone.

The intruder knows the quasi-identifiers of a person. Each release leaves candidates; the person's record is among those
whose values in the columns that all releases publish as collected occur among the candidates of every release. Ganta,
Kasiviswanathan and Smith (2008), "Composition attacks and auxiliary information in data privacy".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crypsis.attacks.attack_context import (
    AttackContext,
    Intruder,
    Numbers,
    Outcome,
    Rate,
    Untried,
    number_intruder_knowledge,
)
from crypsis.attacks.linkage import link_nearest_alike, link_nearest_records
from crypsis.kernels.classes import CandidateSets, cross_candidates
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.table import Table

ATTEMPTS = 2000
"""People that are looked at, at most."""

CHANGED = 0.1
"""Share of values that another version of the source may hold and the original not."""

Held = tuple[Numbers, Numbers]
"""Keys among the candidates of a person, and how often each occurs."""


@dataclass(frozen=True)
class Together:
    """What releases reveal together and not alone.

    >>> Together(200, ("diagnosis",), 5, 3.0, {"diagnosis": 20.0}, 22.0).share
    0.11
    """

    people: int  # how many were looked at
    joined_by: tuple[str, ...]  # columns that all releases publish as collected, by which candidates are joined
    k: int  # the smallest class that any of the releases has
    below: float  # people left with fewer than k candidates though every release alone leaves at least k
    fixed: Mapping[str, float]  # column → people whose value is certain from all releases together and from none alone
    exposed: float  # people of either kind

    @property
    def share(self) -> float:
        """People of either kind as a share of those looked at."""
        return self.exposed / max(self.people, 1)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The records of one release among which each of the people looked at is, whatever it is compared with."""

    release: Table
    rows: Numbers  # int64[people]: whom of the original it is about
    collected: tuple[str, ...]  # columns that it publishes as collected and an intruder does not know
    ordered: Numbers  # int64[published]: the published rows, those that an intruder cannot tell apart together
    starts: Numbers  # int64[classes + 1]: where each class of them begins
    nearest: Numbers  # int64[…]: the nearest classes of all people, one after another
    begins: Numbers  # int64[people + 1]: where those of each person begin
    smallest: int  # records of the smallest equivalence class

    @classmethod
    def of(cls, original: Table, release: Table) -> Candidates:
        """The candidates that a release leaves for people of the original."""
        context = AttackContext(release, original, None, Intruder(attempts=ATTEMPTS))
        rows, kept = context.sample(original, "together"), _take_kept(release)
        collected = tuple(name for name in context.learns if _as_collected(original, kept, name))
        alike, nearest = link_nearest_alike(context.meet(original.take(rows), context.knows))
        smallest = int(classes_of(kept, kept.quasi_identifiers).sizes.min(initial=len(kept)))
        return cls(
            release, rows, collected, np.argsort(alike.of, kind="stable"), _count_up(alike.sizes),
            np.concatenate(nearest), _count_up([len(each) for each in nearest]), smallest,
        )  # fmt: skip


def _count_up(sizes: Sequence[int] | Numbers) -> Numbers:
    """int64[sizes + 1]: where each of some parts begins, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def reveal_together(original: Table, releases: Sequence[Table | Candidates]) -> Together:
    """Intersect the candidates that each release leaves for the people of the original.

    `releases`: tables, or what was worked out of them before.

    Classes by town and classes by age cross in single people:

    >>> roles = {"town": "quasi", "age": "quasi", "ill": "confidential"}
    >>> people = Table.from_columns({"town": list("nnss"), "age": [3, 5, 3, 5], "ill": list("abcd")}, roles)
    >>> found = reveal_together(people, [people.drop(["age"]), people.drop(["town"])])
    >>> found.below, found.fixed
    (4.0, {'ill': 4.0})
    """
    sides = [each if isinstance(each, Candidates) else Candidates.of(original, each) for each in releases]
    tables, rows = [each.release for each in sides], sides[0].rows
    names = [name for name in sides[0].collected if all(name in each.collected for each in sides)]
    k = min(each.smallest for each in sides)
    if not names:
        return Together(len(rows), (), k, 0.0, {}, 0.0)
    keys = number_intruder_knowledge(names, [*tables, original], original)
    values = _values(names, [*tables, original], original, keys)
    told = [name for name in original.names_by_role(Role.CONFIDENTIAL) if name in names] or names
    below, fixed = np.zeros(len(rows), dtype=np.bool_), np.zeros((len(rows), len(told)), dtype=np.bool_)
    by_key = np.stack([values[name] for name in told])
    room = np.zeros((2, by_key.shape[1]), dtype=np.int64)
    cross_candidates(_join_candidates(sides, keys), keys[-1][rows], by_key, k, room, below, fixed)
    exposed = below | fixed.any(axis=1)
    shown = {name: float(fixed[:, place].sum()) for place, name in enumerate(told)}
    return Together(len(rows), tuple(names), k, float(below.sum()), shown, float(exposed.sum()))


def _join_candidates(sides: Sequence[Candidates], keys: Sequence[Numbers]) -> CandidateSets:
    """The candidates of several releases, by the keys of their records."""
    records = _count_up([len(each.ordered) for each in sides])
    classes, nearest = (_count_up([len(part) for part in parts]) for parts in (
        [each.starts[:-1] for each in sides], [each.nearest for each in sides]
    ))  # fmt: skip
    starts = [each.starts[:-1] + first for each, first in zip(sides, records, strict=False)]
    return CandidateSets(
        np.concatenate([published[each.ordered] for each, published in zip(sides, keys, strict=False)]),
        np.concatenate([*starts, records[-1:]]),
        np.concatenate([each.nearest + first for each, first in zip(sides, classes, strict=False)]),
        np.stack([each.begins + first for each, first in zip(sides, nearest, strict=False)]),
    )


def tuples_together(
    one: Table, other: Table, names: Sequence[str], records: tuple[Numbers, Numbers] | None = None
) -> Together:
    """Intersect the classes of two releases without their original.

    `records`: int64[n] of each release: how many records a row stands for; one unless given.

    >>> roles = {"town": "quasi", "ill": "confidential"}
    >>> one, other = (Table.from_columns({"town": list(t), "ill": list("abcd")}, roles) for t in ("nnss", "wewe"))
    >>> tuples_together(one, other, ["ill"]).fixed
    {'ill': 4.0}
    """
    counted = records or (np.ones(len(one), dtype=np.int64), np.ones(len(other), dtype=np.int64))
    counted = counted[0][one.kept], counted[1][other.kept]
    one, other = _take_kept(one), _take_kept(other)
    people = int(counted[0].sum())
    classes = [classes_of(each, each.quasi_identifiers) for each in (one, other)]
    sizes = [each.totals(held) for each, held in zip(classes, counted, strict=True)]
    k = min((int(each.min()) for each in sizes if each.size), default=0)
    if not names or not len(one) or not len(other):
        return Together(people, tuple(names), k, 0.0, {}, 0.0)
    keys = number_intruder_knowledge(names, [one, other], one)
    values = _values(names, [one, other], one, keys)
    told = [name for name in one.names_by_role(Role.CONFIDENTIAL) if name in names] or list(names)
    held = [_by_class(each.of, key, of) for each, key, of in zip(classes, keys, counted, strict=True)]
    # How often a class of the first and a class of the second hold the same key: each such pair may be one person.
    here, there = ({(c, k): n for c, (ks, ns) in side.items() for k, n in zip(ks.tolist(), ns.tolist(), strict=True)}
                   for side in held)  # fmt: skip
    total = np.bincount(keys[1], counted[1], minlength=int(max(key.max() for key in keys)) + 1)
    partners: dict[int, list[tuple[int, int]]] = {}
    for (class_, key), count in there.items():
        partners.setdefault(key, []).append((class_, count))
    below, exposed, fixed = 0.0, 0.0, np.zeros(len(told))
    for (class_, key), count in here.items():
        for partner, number in partners.get(key, []):
            few, sure = _cross_sets([held[0][class_], held[1][partner]], key, k, [values[name] for name in told])
            weight = count * number / total[key]
            below, exposed, fixed = (
                below + weight * few,
                exposed + weight * bool(few or sure.any()),
                fixed + weight * sure,
            )
    return Together(people, tuple(names), k, below, dict(zip(told, fixed.tolist(), strict=True)), exposed)


def _take_kept(table: Table) -> Table:
    return table.take(np.flatnonzero(table.kept))


def _as_collected(original: Table, kept: Table, name: str) -> bool:
    """Whether the kept records of a release hold hardly a value more often than the original does."""
    shown, held = number_intruder_knowledge([name], [kept, original], original)
    size = int(max(shown.max(initial=0), held.max(initial=0))) + 1
    excess = np.bincount(shown, minlength=size) - np.bincount(held, minlength=size)
    return bool(np.maximum(excess, 0).sum() <= CHANGED * max(len(shown), 1))


def _values(
    names: Sequence[str], tables: Sequence[Table], original: Table, keys: Sequence[Numbers]
) -> dict[str, Numbers]:
    """For each column its value under each key, as a number."""
    joint, found = np.concatenate(keys), {}
    for name in names:
        column = np.zeros(int(joint.max()) + 1, dtype=np.int64)
        column[joint] = np.concatenate(number_intruder_knowledge([name], tables, original))
        found[name] = column
    return found


def _by_class(of: Numbers, keys: Numbers, records: Numbers) -> dict[int, Held]:
    """Class → the keys in it, and how many records hold each."""
    order = np.lexsort((keys, of))
    of, keys, records = of[order], keys[order], records[order]
    first = np.flatnonzero(np.diff(of, prepend=-1) | np.diff(keys, prepend=-1))
    of, keys, records = of[first], keys[first], np.add.reduceat(records, first)
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    parts = zip(np.split(keys, starts[1:]), np.split(records, starts[1:]), strict=True)
    return dict(zip(of[starts].tolist(), parts, strict=True))


def _cross_sets(sets: Sequence[Held], own: int, k: int, values: Sequence[Numbers]) -> tuple[bool, NDArray[np.bool_]]:
    """Whether fewer than k candidates are left, and which values are certain, by all sets together and none alone."""
    shared, counts = sets[0]
    for keys, numbers in sets[1:]:
        shared, at, to = np.intersect1d(shared, keys, assume_unique=True, return_indices=True)
        counts = np.minimum(counts[at], numbers[to])
    sure = np.zeros(len(values), dtype=np.bool_)
    if own not in shared:
        return False, sure
    few = int(counts.sum()) < k and all(int(numbers.sum()) >= k for _, numbers in sets)
    for place, value in enumerate(values):
        alone = any(np.all(value[keys] == value[keys[0]]) for keys, _ in sets)
        sure[place] = not alone and bool(np.all(value[shared] == value[own]))
    return few, sure


# -- Two releases of the same people: a person who is in both is in the intersection of two equivalence classes.
#
# Ganta, Kasiviswanathan and Smith (2008), "Composition attacks and auxiliary information in data privacy".

ATTACK = "intersection of two releases"


@dataclass(frozen=True)
class Common:
    """What the two releases disclose about each person."""

    right: NDArray[np.bool_]  # bool[people]: exactly one value is in both classes, and it is the person's
    alone: tuple[NDArray[np.bool_], NDArray[np.bool_]]  # bool[people]: one release alone discloses it
    left: Numbers  # int64[people]: records that the two classes can have in common
    classes: Numbers  # int64[people]: size of the smaller class


def intersection(context: AttackContext, second: Table) -> Outcome | Untried:
    """Intersect the equivalence classes of every person in two releases."""
    other = replace(context, release=second)
    names = [name for name in context.learns if name in other.learns]
    if not names:
        return Untried(ATTACK, "the two releases have no common column that both publish as collected")
    outsiders = [] if context.control is None else [context.control]
    keys = number_intruder_knowledge(names, [context.release, second, context.original, *outsiders], context.original)
    rows = context.sample(context.original, ATTACK)
    found = _common(context, other, context.original.take(rows), (keys[0], keys[1], keys[2][rows]))
    control = None
    if context.control is not None:
        outside = context.sample(context.control, ATTACK)
        false = _common(context, other, context.control.take(outside), (keys[0], keys[1], keys[3][outside]))
        control = Rate.of(float(false.right.sum()), len(outside))
    better = max(found.alone, key=lambda right: int(right.sum()))
    return Outcome(
        attack=ATTACK,
        rate=Rate.of(float(found.right.sum()), len(rows)),
        baseline=Rate.of(float(better.sum()), len(rows)),
        control=control,
        margin=context.intruder.margin,
        definition=(
            "share of people whose classes in the two releases have exactly one combination of confidential values in "
            "common, and it is the person's; baseline: the release that alone discloses more"
        ),
        scope=tuple(dict.fromkeys((*context.knows, *other.knows))),
        remedy="withdraw one of the two, or publish the second with the classes of the first",
        counts={
            "people": len(rows),
            "smaller class, median": float(np.median(found.classes)),
            "left by both, median": float(np.median(found.left)),
            "left by both, least": float(found.left.min()),
        },
    )


def _common(one: AttackContext, other: AttackContext, people: Table, keys: tuple[Numbers, Numbers, Numbers]) -> Common:
    first = [
        row for _, near in link_nearest_records(one.meet(people, one.knows)) for row in _class_values(near, keys[0])
    ]
    second = [
        row for _, near in link_nearest_records(other.meet(people, other.knows)) for row in _class_values(near, keys[1])
    ]
    right, left = np.zeros(len(people), dtype=np.bool_), np.zeros(len(people), dtype=np.int64)
    for place, (here, there) in enumerate(zip(first, second, strict=True)):
        both, at, to = np.intersect1d(here[0], there[0], assume_unique=True, return_indices=True)
        left[place] = int(np.minimum(here[1][at], there[1][to]).sum())
        right[place] = len(both) == 1 and both[0] == keys[2][place]
    alone = [
        np.array([len(held) == 1 and held[0] == own for (held, _), own in zip(side, keys[2], strict=True)], dtype=bool)
        for side in (first, second)
    ]
    sizes = np.array([[int(count.sum()) for _, count in side] for side in (first, second)])
    return Common(right, (alone[0], alone[1]), left, sizes.min(axis=0))


def _class_values(near: NDArray[np.bool_], keys: Numbers) -> list[tuple[Numbers, Numbers]]:
    """For each person the values in the class, and how often each occurs."""
    return [np.unique(keys[row], return_counts=True) for row in near]
