"""Two releases of the same people: a person who is in both is in the intersection of two equivalence classes.

Ganta, Kasiviswanathan and Smith (2008), "Composition attacks and auxiliary information in data privacy".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crypsis.attacks.attack_context import AttackContext, Numbers, learnt, nearest_sets
from crypsis.attacks.outcome import Outcome, Rate, Untried
from crypsis.table.table import Table

ATTACK = "intersection of two releases"


@dataclass(frozen=True)
class Common:
    """What the two releases disclose about each person.

    Attributes
    ----------
    right : bool[people]
        Exactly one value is in both classes, and it is the person's.
    alone : pair of bool[people]
        One release alone discloses it.
    left : int64[people]
        Records that the two classes can have in common.
    classes : int64[people]
        Size of the smaller class.
    """

    right: NDArray[np.bool_]
    alone: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    left: Numbers
    classes: Numbers


def intersection(context: AttackContext, second: Table) -> Outcome | Untried:
    """Intersect the equivalence classes of every person in two releases.

    Parameters
    ----------
    context : AttackContext
        What the attack starts from.
    second : Table
        The other release, in the original's columns and codes.

    Returns
    -------
    Outcome or Untried
    """
    other = replace(context, release=second)
    names = [name for name in context.learns if name in other.learns]
    if not names:
        return Untried(ATTACK, "the two releases have no common column that both publish as collected")
    outsiders = [] if context.control is None else [context.control]
    keys = learnt(names, [context.release, second, context.original, *outsiders], context.original)
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
    first = [row for _, near in nearest_sets(one.meet(people, one.knows)) for row in _held(near, keys[0])]
    second = [row for _, near in nearest_sets(other.meet(people, other.knows)) for row in _held(near, keys[1])]
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


def _held(near: NDArray[np.bool_], keys: Numbers) -> list[tuple[Numbers, Numbers]]:
    """For each person the values in the class, and how often each occurs."""
    return [np.unique(keys[row], return_counts=True) for row in near]
