"""Attacks that look for a person's record: nearest record, and reversal of microaggregation and rank swapping.

Each attack finds candidates among the published records for every person the intruder knows. The intruder is certain if
all candidates have the same values in the unknown columns, and right if these are the person's. The rate on people
outside the release is the control.

Reversal of a method uses the method and nothing secret. A value replaced by univariate microaggregation lies between
neighbouring means, so each column leaves two groups of candidates, and several columns treated separately leave the
intersection (Nin, Herranz and Torra 2008, Data & Knowledge Engineering 67). Rank swapping leaves the records within a
window of ranks in every column (Nin, Herranz and Torra 2008, Data & Knowledge Engineering 64).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis.attacks.attack_context import CELLS, SAME, AttackContext, Flags, certain, expected, nearest_sets
from crypsis.attacks.outcome import Outcome, Rate, Untried
from crypsis.attacks.reversal import Means, Ranks, treated_together
from crypsis.table.attribute import Kind
from crypsis.table.table import Table

Candidates = Callable[[Table], Iterator[tuple[slice, Flags]]]

CERTAIN = (
    "share of people for whom every candidate record has the same values in the columns the intruder does not know, "
    "and these are the person's; baseline: the most frequent record, guessed for everybody; control: the same on "
    "people outside, 0 where the row itself is looked for"
)
UNKNOWN = "the release has no column that the intruder does not know, and its rows are not known to correspond"


def nearest_record(context: AttackContext) -> Outcome | Untried:
    """Link every person to the nearest published records.

    context  what the attack starts from
    """
    remedy = "demand larger classes, or l-diversity"
    return _identify(
        context,
        "nearest record",
        context.knows,
        lambda people: nearest_sets(context.meet(people, context.knows)),
        remedy,
        "candidates: all published records at the smallest distance",
    )


def undo_microaggregation(context: AttackContext) -> Outcome | Untried:
    """Reverse microaggregation: candidates are the groups with means next to the known values.

    context  what the attack starts from
    """
    attack = "undo microaggregation"
    names = [name for name in context.knows if context.release.holds_numbers(name)]
    if not names:
        return Untried(attack, "no column the intruder knows is published as numbers")
    groups = treated_together(context.release, names)
    ground = [Means.published(context.release, group) for group in groups]

    def candidates(people: Table) -> Iterator[tuple[slice, Flags]]:
        for part in _parts(len(people), len(context.release)):
            some = people.take(np.arange(part.start, part.stop))
            left = np.broadcast_to(context.release.kept, (len(some), len(context.release))).copy()
            for each in ground:
                left &= each.possible(some)
            yield part, left

    return _identify(
        context,
        attack,
        tuple(names),
        candidates,
        "treat the columns together, or raise k",
        f"candidates: records whose mean is next to the known value in every column treated separately, and nearest in "
        f"columns treated together ({len(groups)} groups of columns)",
        {"groups of columns": len(groups)},
    )


def undo_rank_swapping(context: AttackContext) -> Outcome | Untried:
    """Reverse rank swapping: candidates are the records within a window of ranks in every ordered column.

    Parameters
    ----------
    context : AttackContext
        What the attack starts from.

    Returns
    -------
    Outcome or Untried
    """
    attack = "undo rank swapping"
    names = [name for name in context.knows if _ordered(context, name)]
    if not names:
        return Untried(attack, "no column the intruder knows is published as ordered values")
    ranks = [Ranks.published(context.release, name) for name in names]
    window = context.intruder.window

    def candidates(people: Table) -> Iterator[tuple[slice, Flags]]:
        for part in _parts(len(people), len(context.release)):
            some = people.take(np.arange(part.start, part.stop))
            yield part, nearest_in_rank([each.gaps(some) for each in ranks], context.release.kept, window)

    known = "the smallest window of ranks that leaves any"
    if window is not None:
        known = f"{window:g} % of the ranks, and among these at the smallest sum of ranks,"
    return _identify(
        context,
        attack,
        tuple(names),
        candidates,
        "swap over a wider window, or fewer columns",
        f"candidates: records within {known} in every ordered column",
    )


def nearest_in_rank(gaps: Sequence[NDArray[np.float64]], kept: Flags, window: float | None) -> Flags:
    """Candidates of each person by ranks.

    Parameters
    ----------
    gaps : sequence of float64[people, published]
        Differences of ranks in each column, as shares of the ranks.
    kept : bool[published]
        Published records.
    window : float or None
        Window in per cent; the smallest with a candidate if it is not known.

    Returns
    -------
    bool[people, published]
        Records within the window in every column, with the smallest sum of differences.
    """
    widest = np.maximum.reduce(gaps)
    widest[:, ~kept] = np.inf
    if window is None:
        return np.asarray(widest <= widest.min(axis=1, keepdims=True) + SAME)
    total = np.where(widest <= window / 100.0 + SAME, np.add.reduce(gaps), np.inf)
    return np.asarray((total <= total.min(axis=1, keepdims=True) + SAME) & np.isfinite(total))


def _identify(
    context: AttackContext,
    attack: str,
    names: tuple[str, ...],
    candidates: Candidates,
    remedy: str,
    how: str,
    counts: dict[str, float] | None = None,
) -> Outcome | Untried:
    keys = context.keys
    if keys is None:
        return Untried(attack, UNKNOWN)
    rows = context.sample(context.original, attack)
    sure, guessed = np.zeros(len(rows), dtype=np.bool_), np.zeros(len(rows))
    many = np.zeros(len(rows), dtype=np.int64)
    for part, left in candidates(context.original.take(rows)):
        own = keys.people[rows[part]]
        sure[part], guessed[part] = certain(left, keys.published, own), expected(left, keys.published, own)
        many[part] = left.sum(axis=1)
    control = None if keys.names else Rate.known(0.0)
    if context.control is not None and keys.outsiders is not None:
        outside = context.sample(context.control, attack)
        false = 0
        for part, left in candidates(context.control.take(outside)):
            false += int(certain(left, keys.published, keys.outsiders[outside[part]]).sum())
        control = Rate.of(false, len(outside))
    return Outcome(
        attack=attack,
        rate=Rate.of(float(sure.sum()), len(rows)),
        baseline=Rate.known(keys.best_guess),
        control=control,
        margin=context.intruder.margin,
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


def _ordered(context: AttackContext, name: str) -> bool:
    return context.release.level(name) == 0 and context.release.attribute(name).kind is not Kind.NOMINAL
