"""The attacks that are measured on every file before it is released, and that no search is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from crypsis.measures.class_risk import class_risk
from crypsis.measures.learned_linkage import FEWEST_PEOPLE, learned_linkage
from crypsis.measures.measure import Reading
from crypsis.measures.one_to_one_linkage import OneToOneLinkage
from crypsis.measures.published_classes import PublishedClasses
from crypsis.table.provenance import PERTURBATION
from crypsis.table.table import Table


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
