"""Attacks that look for a person's own record: the nearest one, and what undoes microaggregation and rank swapping.

Each names candidates among the published records for every person the intruder knows. She is certain if all of them
say the same beyond what she knew, and right if it is true of the person. People outside the release cannot be found
in it: how often the attack is right about them is its control.

Undoing a method needs to know the method and nothing secret. Values that univariate microaggregation replaced lie
between the neighbouring means, so each column leaves two groups of candidates; several columns treated apart leave
whoever stands in all (Nin, Herranz and Torra 2008, Data & Knowledge Engineering 67). Rank swapping leaves the records
within a window of ranks in every column (Nin, Herranz and Torra 2008, Data & Knowledge Engineering 64).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis.attacks.attack_context import CELLS, SAME, Flags, Scene, certain, expected, nearest_sets
from crypsis.attacks.outcome import Outcome, Rate, Untried
from crypsis.attacks.reversal import Means, Ranks, treated_together
from crypsis.table.attribute import Kind
from crypsis.table.table import Table

Candidates = Callable[[Table], Iterator[tuple[slice, Flags]]]

CERTAIN = (
    "share of people for whom every candidate record says the same in the columns the intruder did not know, and says "
    "the truth; baseline: the most frequent record, guessed for everybody; control: the same on people outside"
)
UNKNOWN = "the release publishes nothing beyond what the intruder knows and its rows are not known to be the original's"


def nearest_record(scene: Scene) -> Outcome | Untried:
    """Look every person up by what is known of her and take the nearest published records."""
    remedy = "ask for larger classes, or for l-diversity"
    return _identify(
        scene,
        "nearest record",
        scene.knows,
        lambda people: nearest_sets(scene.meet(people, scene.knows)),
        remedy,
        "candidates: all published records at the smallest distance",
    )


def undo_microaggregation(scene: Scene) -> Outcome | Untried:
    """Candidates are the groups whose means lie next to what is known, column group by column group."""
    attack = "undo microaggregation"
    names = [name for name in scene.knows if scene.release.holds_numbers(name)]
    if not names:
        return Untried(attack, "no column the intruder knows is published as numbers")
    groups = treated_together(scene.release, names)
    ground = [Means.published(scene.release, group) for group in groups]

    def candidates(people: Table) -> Iterator[tuple[slice, Flags]]:
        for part in _parts(len(people), len(scene.release)):
            some = people.take(np.arange(part.start, part.stop))
            left = np.broadcast_to(scene.release.kept, (len(some), len(scene.release))).copy()
            for each in ground:
                left &= each.possible(some)
            yield part, left

    return _identify(
        scene,
        attack,
        tuple(names),
        candidates,
        "treat the columns together, or raise k",
        f"candidates: records whose mean is the next below or above the known value in every column treated alone, and "
        f"the nearest in columns treated together ({len(groups)} groups of columns)",
        {"groups of columns": len(groups)},
    )


def undo_rank_swapping(scene: Scene) -> Outcome | Untried:
    """Candidates are the records within a window of ranks in every ordered column."""
    attack = "undo rank swapping"
    names = [name for name in scene.knows if _ordered(scene, name)]
    if not names:
        return Untried(attack, "no column the intruder knows is published as ordered values")
    ranks = [Ranks.published(scene.release, name) for name in names]
    window = scene.intruder.window

    def candidates(people: Table) -> Iterator[tuple[slice, Flags]]:
        for part in _parts(len(people), len(scene.release)):
            some = people.take(np.arange(part.start, part.stop))
            yield part, nearest_in_rank([each.gaps(some) for each in ranks], scene.release.kept, window)

    known = "the smallest window of ranks that leaves any"
    if window is not None:
        known = f"{window:g} % of the ranks, and among these at the smallest sum of ranks,"
    return _identify(
        scene,
        attack,
        tuple(names),
        candidates,
        "swap over a wider window, or fewer columns",
        f"candidates: records within {known} in every ordered column",
    )


def nearest_in_rank(gaps: Sequence[NDArray[np.float64]], kept: Flags, window: float | None) -> Flags:
    """Records within the window in every column and nearest in all; with no window known, within the smallest.

    gaps  float64[people, published] for each column, as shares of the ranks
    """
    widest = np.maximum.reduce(gaps)
    widest[:, ~kept] = np.inf
    if window is None:
        return np.asarray(widest <= widest.min(axis=1, keepdims=True) + SAME)
    total = np.where(widest <= window / 100.0 + SAME, np.add.reduce(gaps), np.inf)
    return np.asarray((total <= total.min(axis=1, keepdims=True) + SAME) & np.isfinite(total))


def _identify(
    scene: Scene,
    attack: str,
    names: tuple[str, ...],
    candidates: Candidates,
    remedy: str,
    how: str,
    counts: dict[str, float] | None = None,
) -> Outcome | Untried:
    keys = scene.keys
    if keys is None:
        return Untried(attack, UNKNOWN)
    rows = scene.sample(scene.original, attack)
    sure, guessed = np.zeros(len(rows), dtype=np.bool_), np.zeros(len(rows))
    many = np.zeros(len(rows), dtype=np.int64)
    for part, left in candidates(scene.original.take(rows)):
        own = keys.people[rows[part]]
        sure[part], guessed[part] = certain(left, keys.published, own), expected(left, keys.published, own)
        many[part] = left.sum(axis=1)
    control = None
    if scene.control is not None and keys.outsiders is not None:
        strangers = scene.sample(scene.control, attack)
        false = 0
        for part, left in candidates(scene.control.take(strangers)):
            false += int(certain(left, keys.published, keys.outsiders[strangers[part]]).sum())
        control = Rate.of(false, len(strangers))
    return Outcome(
        attack=attack,
        rate=Rate.of(float(sure.sum()), len(rows)),
        baseline=Rate.known(keys.best_guess),
        control=control,
        margin=scene.intruder.margin,
        definition=f"{CERTAIN}; {how}",
        scope=names,
        remedy=remedy,
        counts={
            "people": len(rows),
            "candidates, median": float(np.median(many)),
            "right when one is drawn, %": 100.0 * float(guessed.mean()),
            **(counts or {}),
        },
    )


def _parts(people: int, published: int) -> Iterator[slice]:
    step = max(1, CELLS // max(published, 1))
    for begin in range(0, people, step):
        yield slice(begin, min(begin + step, people))


def _ordered(scene: Scene, name: str) -> bool:
    return scene.release.level(name) == 0 and scene.release.attribute(name).kind is not Kind.NOMINAL
