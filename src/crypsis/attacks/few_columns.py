"""An intruder who knows one, two or three of the published columns, whatever their roles.

Which columns an intruder knows is not the custodian's choice. Every column is tried alone, then the pairs and triples
that leave most published records alone with their values; the worst set is reported, with intervals that allow for the
choice among all that were tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from crypsis.attacks.attack_context import AttackContext
from crypsis.attacks.identifying import nearest_record
from crypsis.attacks.linkability_inference import inference
from crypsis.attacks.outcome import Outcome, Untried
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import equivalence_classes

ATTACK = "few columns"
MOST = 3
"""Columns that are known together."""
WIDEST = 10
"""Columns of which pairs and triples are made."""
CELLS = 40_000_000
"""Pairs of a person and a published record that all sets together look at, about."""
FEWEST = 100
"""People on whom a set is tried at least."""

Columns = tuple[str, ...]


def few_columns(context: AttackContext) -> list[Outcome | Untried]:
    """The worst set of known columns for finding a record, and for inferring a confidential value.

    Parameters
    ----------
    context : AttackContext
        What the attack starts from; an intruder with named columns is held to these.

    Returns
    -------
    list of Outcome or Untried
    """
    if context.intruder.knows or not context.intruder.sets:
        return [Untried(ATTACK, "the columns that the intruder knows are given")]
    sets = known_sets(context)
    share = CELLS // max(len(sets) * len(context.release), 1)
    attempts = min(context.intruder.attempts, max(share, FEWEST))
    linked: list[Outcome] = []
    inferred: list[Outcome] = []
    for names in sets:
        known = context.intruder.model_copy(update={"knows": names, "attempts": attempts})
        sub = replace(context, intruder=known)
        linked += [each for each in [nearest_record(sub)] if isinstance(each, Outcome)]
        inferred += [each for each in inference(sub) if isinstance(each, Outcome)]
    found = [
        _worst(f"nearest record, {ATTACK}", linked, len(sets)),
        _worst(f"inference, {ATTACK}", inferred, len(sets)),
    ]
    return [each for each in found if each is not None] or [
        Untried(ATTACK, "no column is left to learn beside those that are known")
    ]


def _worst(attack: str, outcomes: Sequence[Outcome], sets: int) -> Outcome | None:
    """The outcome farthest above its reference."""
    if not outcomes:
        return None
    worst = max((each.one_of(len(outcomes)) for each in outcomes), key=lambda each: each.excess)
    return replace(
        worst,
        attack=attack,
        definition=f"{worst.attack} by the worst of {sets} sets of one to {MOST} published columns, here "
        f"{', '.join(worst.scope)}: {worst.definition}",
        remedy="mask these columns too, or leave one of them out",
        sets=sets,
    )


def known_sets(context: AttackContext) -> list[Columns]:
    """Sets of one to three published columns, the single ones first.

    context  what the attack starts from
    """
    release, original, most = context.release, context.original, context.intruder.sets
    people = [original] if context.control is None else [original, context.control]
    names = [
        name
        for name in release.names
        if all(name in each.names for each in people) and original.attribute(name).role is not Role.IDENTIFIER
    ]
    single = {(name,): _alone(context, (name,)) for name in names}
    names.sort(key=lambda name: -single[name,])
    # A column that finds most records by itself makes every set with it look alike.
    others = [name for name in names if single[name,] <= release.kept.sum() / 2][:WIDEST]
    sets = [set_ for size in range(2, MOST + 1) for set_ in combinations(others, size)]
    several = {set_: _alone(context, set_) for set_ in sets if set(set_) != set(context.knows)}
    ranked = sorted(several, key=lambda set_: (-several[set_], len(set_)))
    return [*((name,) for name in names), *ranked][:most]


def _alone(context: AttackContext, names: Columns) -> int:
    """Published records that are alone with their values in some columns."""
    rows = np.flatnonzero(context.release.kept)
    return int((equivalence_classes(context.release.take(rows).codes(names)).sizes == 1).sum())
