"""Attacks that look for the record of a person: the nearest one, and those measured before every release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from crypsis.attacks.attack_context import CELLS, AttackContext, Flags, certain, chance_of_success, nearest_sets
from crypsis.attacks.outcome import Outcome, Rate, Untried
from crypsis.measures.class_risk import class_risk
from crypsis.measures.measure import Reading
from crypsis.measures.one_to_one_linkage import FEWEST_PEOPLE, OneToOneLinkage, PublishedClasses, learned_linkage
from crypsis.table.provenance import PERTURBATION
from crypsis.table.table import Table

# -- Attacks that look for the record of a person.
#
# Each attack finds candidates among the published records for every person the intruder knows. The intruder is certain
# if all candidates have the same values in the unknown columns, and right if these are the person's. The rate on
# people outside the release is the control.

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
    return identify(
        context,
        "nearest record",
        context.knows,
        lambda people: nearest_sets(context.meet(people, context.knows)),
        remedy,
        "candidates: all published records at the smallest distance",
    )


def identify(
    context: AttackContext,
    attack: str,
    names: tuple[str, ...],
    candidates: Candidates,
    remedy: str,
    how: str,
    counts: dict[str, float] | None = None,
) -> Outcome | Untried:
    """The outcome of an attack that finds candidates for each person.

    names       columns that the attack uses
    candidates  people → parts of them with their candidates
    how         the rule of the candidates, for the definition
    """
    keys = context.keys
    if keys is None:
        return Untried(attack, UNKNOWN)
    rows = context.sample(context.original, attack)
    sure, guessed = np.zeros(len(rows), dtype=np.bool_), np.zeros(len(rows))
    many = np.zeros(len(rows), dtype=np.int64)
    for part, left in candidates(context.original.take(rows)):
        own = keys.people[rows[part]]
        sure[part], guessed[part] = certain(left, keys.published, own), chance_of_success(left, keys.published, own)
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


def parts(people: int, published: int) -> Iterator[slice]:
    """People in parts whose pairs with all published records fit in memory."""
    step = max(1, CELLS // max(published, 1))
    for begin in range(0, people, step):
        yield slice(begin, min(begin + step, people))


# -- The attacks that are measured on every file before it is released, and that no search is fitted to.


class Attacker(StrEnum):
    """How an intruder looks for people who are known by some columns."""

    ONE_TO_ONE = "one-to-one"
    LEARNED = "learned"


@dataclass(frozen=True)
class MeasuredAttack:
    """What one attacker finds in a released file.

    intruder, knows  name of the scenario, and the columns that are known of everybody
    everything  whether these are all quasi-identifiers
    found, interval  per cent of the people, and its 95 % interval; None where the attack was not run
    people, people_in_all  how many were looked for, of how many: a draw weakens the attacker, who sees fewer rivals
    class_risk  per cent that nobody should exceed who knows these columns alone; None where classes mean nothing
    skipped  why the attack was not run
    """

    attacker: Attacker
    intruder: str
    knows: tuple[str, ...]
    everything: bool
    found: float | None
    interval: tuple[float, float] | None
    people: int
    people_in_all: int
    class_risk: float | None
    skipped: str = ""


def measure_attacks(
    original: Table, masked: Table, intruder: str, knows: Sequence[str], family: str, ready: Reading | None = None
) -> tuple[MeasuredAttack, MeasuredAttack]:
    """Both attacks by one intruder on a file that was masked by some family of methods.

    ready  one-to-one linkage over the same columns, where it is measured already
    """
    columns, everything = tuple(knows), set(knows) >= set(original.quasi_identifiers)
    limit = None if family == PERTURBATION else class_risk(masked, columns)
    published = PublishedClasses.of(original, masked, columns)
    reading = ready or OneToOneLinkage(columns=columns).against(original).explain_classes(published)
    learned = learned_linkage(published)
    assigned = MeasuredAttack(
        Attacker.ONE_TO_ONE, intruder, columns, everything, reading.value, reading.interval,
        int(reading.counts["people"]), original.rows, limit,
    )  # fmt: skip
    if learned is None:
        why = f"fewer than {FEWEST_PEOPLE} people are too few to learn from"
        return assigned, replace(assigned, attacker=Attacker.LEARNED, found=None, interval=None, people=0, skipped=why)
    return assigned, replace(
        assigned, attacker=Attacker.LEARNED, found=learned.found, interval=learned.interval, people=learned.people
    )


def worst_attacks(attacks: Sequence[MeasuredAttack]) -> tuple[MeasuredAttack, ...]:
    """The attack of each intruder that finds most."""
    worst: dict[str, MeasuredAttack] = {}
    for each in attacks:
        before = worst.get(each.intruder)
        if each.found is not None and (before is None or before.found is None or each.found > before.found):
            worst[each.intruder] = each
    return tuple(worst.values())
