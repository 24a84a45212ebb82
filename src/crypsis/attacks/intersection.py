"""Two releases about the same people: whoever is looked up in both must be in what the two classes have in common.

Ganta, Kasiviswanathan and Smith (2008), "Composition attacks and auxiliary information in data privacy".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crypsis.attacks.attack_context import Numbers, Scene, learnt, nearest_sets
from crypsis.attacks.outcome import Outcome, Rate, Untried
from crypsis.table.table import Table

ATTACK = "intersection of two releases"


@dataclass(frozen=True)
class Common:
    """What both releases leave of each person, and what each leaves alone."""

    right: NDArray[np.bool_]
    """One record in common says what is true of the person."""
    alone: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    """One release by itself says it."""
    left: Numbers
    """Records the two classes can have in common."""
    classes: Numbers
    """Size of the smaller of the two classes."""


def intersection(scene: Scene, second: Table) -> Outcome | Untried:
    """Look every person up in both releases and keep what both classes say.

    second  the other release, in the original's terms
    """
    other = replace(scene, release=second)
    names = [name for name in scene.learns if name in other.learns]
    if not names:
        return Untried(ATTACK, "the two releases have no column in common that both publish as it was collected")
    outsiders = [] if scene.control is None else [scene.control]
    keys = learnt(names, [scene.release, second, scene.original, *outsiders], scene.original)
    rows = scene.sample(scene.original, ATTACK)
    found = _common(scene, other, scene.original.take(rows), (keys[0], keys[1], keys[2][rows]))
    control = None
    if scene.control is not None:
        strangers = scene.sample(scene.control, ATTACK)
        false = _common(scene, other, scene.control.take(strangers), (keys[0], keys[1], keys[3][strangers]))
        control = Rate.of(float(false.right.sum()), len(strangers))
    better = max(found.alone, key=lambda right: int(right.sum()))
    return Outcome(
        attack=ATTACK,
        rate=Rate.of(float(found.right.sum()), len(rows)),
        baseline=Rate.of(float(better.sum()), len(rows)),
        control=control,
        margin=scene.intruder.margin,
        definition=(
            "share of people for whom the classes she falls into in the two releases have exactly one record of "
            "confidential values in common, and it is hers; baseline: the release that alone tells more of them"
        ),
        scope=tuple(dict.fromkeys((*scene.knows, *other.knows))),
        remedy="withdraw one of the two, or publish the second by the classes of the first",
        counts={
            "people": len(rows),
            "smaller class, median": float(np.median(found.classes)),
            "left by both, median": float(np.median(found.left)),
            "left by both, least": float(found.left.min()),
        },
    )


def _common(one: Scene, other: Scene, people: Table, keys: tuple[Numbers, Numbers, Numbers]) -> Common:
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
    """For each person, what her class says and how often."""
    return [np.unique(keys[row], return_counts=True) for row in near]
