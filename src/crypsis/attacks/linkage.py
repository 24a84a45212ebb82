"""Attacks that link: the nearest record, two files about a person, inferred values, and those measured before
every release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from crypsis.attacks.attack_context import CELLS, SAME, AttackContext, Flags, Numbers, Outcome, Rate, Untried
from crypsis.kernels.linkage import PublishedRecords, Sought, mark_nearest
from crypsis.measures.categories import number_masked_categories
from crypsis.measures.class_risk import class_risk
from crypsis.measures.measure import Reading
from crypsis.measures.one_to_one_linkage import FEWEST_PEOPLE, OneToOneLinkage, PublishedClasses, learn_one_to_one
from crypsis.measures.record_linkage import LinkagePair
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import EquivalenceClasses, equivalence_classes
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.precision import Scales
from crypsis.table.table import PERTURBATION, Table

# -- Attacks that look for the record of a person: the nearest one, and those measured before every release.

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
    """Link every person to the nearest published records."""
    remedy = "demand larger classes, or l-diversity"
    return identify_by_linkage(
        context,
        "nearest record",
        context.knows,
        lambda people: link_nearest_records(context.meet(people, context.knows)),
        remedy,
        "candidates: all published records at the smallest distance",
    )


def identify_by_linkage(
    context: AttackContext,
    attack: str,
    names: tuple[str, ...],
    candidates: Candidates,
    remedy: str,
    how: str,
    counts: dict[str, float] | None = None,
) -> Outcome | Untried:
    """The outcome of an attack that links each person to candidates among the published records."""
    keys = context.keys
    if keys is None:
        return Untried(attack, UNKNOWN)
    rows = context.sample(context.original, attack)
    sure, guessed = np.zeros(len(rows), dtype=np.bool_), np.zeros(len(rows))
    many = np.zeros(len(rows), dtype=np.int64)
    for part, left in candidates(context.original.take(rows)):
        own = keys.people[rows[part]]
        sure[part], guessed[part] = (
            _is_certain_link(left, keys.published, own),
            _chance_of_success(left, keys.published, own),
        )
        many[part] = left.sum(axis=1)
    control = None if keys.names else Rate.make_exact(0.0)
    if context.control is not None and keys.outsiders is not None:
        outside = context.sample(context.control, attack)
        false = 0
        for part, left in candidates(context.control.take(outside)):
            false += int(_is_certain_link(left, keys.published, keys.outsiders[outside[part]]).sum())
        control = Rate.of(false, len(outside))
    return Outcome(
        attack=attack,
        rate=Rate.of(float(sure.sum()), len(rows)),
        baseline=Rate.make_exact(keys.best_guess),
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


def split_people_for_linkage(people: int, published: int) -> Iterator[slice]:
    """Split people for a linkage attack into parts whose pairs with all published records fit in memory."""
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
    """What one attacker finds in a released file."""

    attacker: Attacker
    intruder: str  # name of the scenario, and the columns that are known of everybody
    knows: tuple[str, ...]
    everything: bool  # whether these are all quasi-identifiers
    found: float | None  # per cent of the people, and its 95 % interval; None where the attack was not run
    interval: tuple[float, float] | None
    people: int  # how many were looked for, of how many: a draw weakens the attacker, who sees fewer rivals
    people_in_all: int
    # per cent that nobody should exceed who knows these columns alone; None where classes mean nothing
    class_risk: float | None
    skipped: str = ""  # why the attack was not run


def attack_by_linkage(
    original: Table, masked: Table, intruder: str, knows: Sequence[str], family: str, ready: Reading | None = None
) -> tuple[MeasuredAttack, MeasuredAttack]:
    """Attack a release by linkage as one intruder: one-to-one and learned, as measured attacks.

    `ready`: one-to-one linkage over the same columns, where it is measured already.
    """
    columns, everything = tuple(knows), set(knows) >= set(original.quasi_identifiers)
    limit = None if family == PERTURBATION else class_risk(masked, columns)
    published = PublishedClasses.of(original, masked, columns)
    reading = ready or OneToOneLinkage(columns=columns).against(original).explain_classes(published)
    learned = learn_one_to_one(published)
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


def choose_worst_linkage(attacks: Sequence[MeasuredAttack]) -> tuple[MeasuredAttack, ...]:
    """Choose, of the linkage attacks that were measured before, the one of each intruder that finds most."""
    worst: dict[str, MeasuredAttack] = {}
    for each in attacks:
        before = worst.get(each.intruder)
        if each.found is not None and (before is None or before.found is None or each.found > before.found):
            worst[each.intruder] = each
    return tuple(worst.values())


# -- Linkability and inference: linking two files about a person through the release, and inferring confidential
#    values.
#
# Attacks and controls follow Giomi et al. (2023), "A unified framework for quantifying privacy risk in synthetic data",
# Proceedings on Privacy Enhancing Technologies; a tie of t records counts 1/t.

Floats = NDArray[np.float64]


def linkability(context: AttackContext) -> Outcome | Untried:
    """Two parties know different columns of a person: does the release link what they know?"""
    attack = "linkability"
    sets = context.knows[::2], context.knows[1::2]
    if not sets[1]:
        return Untried(attack, "the intruder knows one column only; two sets of columns are needed")
    people = context.original.take(context.sample(context.original, attack))
    earned = _link_probabilities(context, people, sets)
    control = None
    if context.control is not None:
        outside = context.control.take(context.sample(context.control, attack))
        control = Rate.of(float(_link_probabilities(context, outside, sets).sum()), len(outside))
    published = int(context.release.kept.sum())
    return Outcome(
        attack=attack,
        rate=Rate.of(float(earned.sum()), len(people)),
        baseline=Rate.make_exact(100.0 / published),
        control=control,
        margin=context.intruder.margin,
        definition=(
            "how often two parties, each of whom knows one half of the columns and takes the nearest published record "
            "(a random one of t equally near), take the same record; baseline: two random records"
        ),
        scope=context.knows,
        remedy="generalise columns of which one half finds a record, or demand larger classes",
        counts={
            "people": len(people),
            "columns known to one": len(sets[0]),
            "columns known to the other": len(sets[1]),
        },
    )


def _link_probabilities(context: AttackContext, people: Table, sets: tuple[Sequence[str], Sequence[str]]) -> Floats:
    """Probability that both parties take the same record, for each person."""
    one, other = (link_nearest_records(context.meet(people, names)) for names in sets)
    earned = np.zeros(len(people))
    for (part, left), (_, right) in zip(one, other, strict=True):
        both = (left & right).sum(axis=1)
        earned[part] = both / (left.sum(axis=1) * right.sum(axis=1))
    return earned


def infer_by_linkage(context: AttackContext) -> list[Outcome | Untried]:
    """Attack by linkage: infer a person's confidential values from the nearest published records."""
    secrets = [n for n in context.original.names_by_role(Role.CONFIDENTIAL) if n in context.learns]
    if not secrets:
        return [Untried("inference", "no confidential column is published as collected")]
    rows = context.sample(context.original, "inference")
    outsiders = None if context.control is None else context.sample(context.control, "inference")
    right = _score_guesses(context, context.original.take(rows), secrets)
    false = None
    if context.control is not None and outsiders is not None:
        false = _score_guesses(context, context.control.take(outsiders), secrets)
    return [
        Outcome(
            attack=f"inference of {name}",
            rate=Rate.of(float(right[name].sum()), len(right[name])),
            baseline=Rate.make_exact(_best_guess(context, name)),
            control=Rate.of(float(false[name].sum()), len(false[name])) if false is not None else None,
            margin=context.intruder.margin,
            definition=(
                f"share of people whose value is inferred from the nearest published records: the most frequent "
                f"category (t equally frequent: 1/t), or the mean of numbers within {context.intruder.tolerance:g} % "
                f"of the column's deviation; baseline: the best single guess for everybody; missing values are left out"
            ),
            scope=(*context.knows, name),
            remedy="demand l-diversity or t-closeness in this column, or larger classes",
            counts={"people": len(right[name])},
        )
        for name in secrets
    ]


def _score_guesses(context: AttackContext, people: Table, secrets: Sequence[str]) -> dict[str, Floats]:
    """Success of each guess, for people whose value is known."""
    earned: dict[str, list[Floats]] = {name: [] for name in secrets}
    for part, near in link_nearest_records(context.meet(people, context.knows)):
        for name in secrets:
            truth = people.take(np.arange(part.start, part.stop))
            judge = _inferred_numbers if context.original.attribute(name).numeric else _inferred_categories
            earned[name].append(judge(context, truth, near, name))
    return {name: np.concatenate(parts) for name, parts in earned.items()}


def _inferred_numbers(context: AttackContext, people: Table, near: Flags, name: str) -> Floats:
    shown, truth = context.release.column(name), people.column(name)
    present = ~np.isnan(shown)
    held = near & present
    mean = (held * np.where(present, shown, 0.0)).sum(axis=1) / np.maximum(held.sum(axis=1), 1)
    close = np.abs(mean - truth) <= _reach(context, name)
    return np.asarray((close & held.any(axis=1))[~np.isnan(truth)], dtype=np.float64)


def _reach(context: AttackContext, name: str) -> float:
    scales = Scales.of(finite_numbers_of_frame(context.original, name)[:, None])
    return float(context.intruder.tolerance / 100.0 * scales.deviation[0])


def _inferred_categories(context: AttackContext, people: Table, near: Flags, name: str) -> Floats:
    shown = number_masked_categories(context.original, context.release, name)[0]
    truth = number_masked_categories(context.original, people, name)[0]
    size = int(max(shown.max(initial=0), truth.max(initial=0))) + 1
    counts = np.stack([(near & (shown == code)).sum(axis=1) for code in range(size)], axis=1)
    most = counts.max(axis=1, keepdims=True)
    winners = (counts == most) & (most > 0)
    known = truth >= 0
    won = winners[np.arange(len(truth)), np.maximum(truth, 0)] / np.maximum(winners.sum(axis=1), 1)
    return np.asarray(won[known], dtype=np.float64)


def _best_guess(context: AttackContext, name: str) -> float:
    """Per cent of people for whom the best single guess is right."""
    column = context.original.column(name)
    if not context.original.attribute(name).numeric:
        codes: Numbers = column[column >= 0].astype(np.int64)
        return 100.0 * float(np.bincount(codes).max(initial=0)) / max(len(codes), 1)
    values = np.sort(column[~np.isnan(column)])
    inside = np.searchsorted(values, values + 2 * _reach(context, name), side="right") - np.arange(len(values))
    return 100.0 * float(inside.max(initial=0)) / max(len(values), 1)


def link_nearest_records(pair: LinkagePair) -> Iterator[tuple[slice, Flags]]:
    """The nearest published records, to which an attack links each known person."""
    alike, distinct = _distinct_records(pair)
    for part, near in _mark_nearest_records(distinct, len(pair.kept)):
        yield part, near[:, alike.of]


def link_nearest_alike(pair: LinkagePair) -> tuple[EquivalenceClasses, list[Numbers]]:
    """The nearest published records of each known person, as classes of records that lie at one place.

    Returns the classes, and int64[nearest] for each person: the classes of the nearest records.
    """
    alike, distinct = _distinct_records(pair)
    return alike, [np.flatnonzero(row) for _, near in _mark_nearest_records(distinct, alike.count) for row in near]


def _distinct_records(pair: LinkagePair) -> tuple[EquivalenceClasses, LinkagePair]:
    """Which published records are alike in all that a distance reads, and the pair with one of each."""
    numbers = [np.unique(column, return_inverse=True)[1] for column in pair.published.T]
    alike = equivalence_classes(np.column_stack([*numbers, pair.codes, pair.places, pair.kept]).astype(np.int64))
    first = alike.first
    return alike, replace(
        pair, published=pair.published[first], codes=pair.codes[first], places=pair.places[first], kept=pair.kept[first]
    )


def _mark_nearest_records(pair: LinkagePair, published: int) -> Iterator[tuple[slice, Flags]]:
    """Whether an attack links each known person to each published record, some people at a time.

    `published`: records by which the people that are looked at in one part are counted.
    """
    people, step, counted = len(pair.points), max(1, CELLS // max(published, 1)), pair.flag_counted()
    first = pair.places[0] if len(pair.places) else np.zeros(pair.places.shape[1], dtype=np.int32)
    shown = PublishedRecords(
        np.ascontiguousarray(pair.published.T),
        np.ascontiguousarray(pair.codes.T),
        np.ascontiguousarray(pair.places.T),
        np.where((pair.places == first).all(axis=0), first, -1).astype(np.int64),
        np.ascontiguousarray(counted.T),
        np.asarray(counted.all(axis=0)),
        pair.kept,
    )
    for begin in range(0, people, step):
        part = slice(begin, min(begin + step, people))
        near = np.empty((part.stop - begin, len(pair.kept)), dtype=np.bool_)
        mark_nearest(Sought(pair.points[part], pair.ancestors[part]), shown, SAME, np.empty(len(pair.kept)), near)
        yield part, near


def _is_certain_link(candidates: Flags, published: Numbers, own: Numbers) -> Flags:
    """Whether all candidates that an attack links to a person say the same of the person, and it is true.

    `candidates` bool[people, published].
    """
    low = np.where(candidates, published, np.iinfo(np.int64).max).min(axis=1)
    high = np.where(candidates, published, -1).max(axis=1)
    return np.asarray((low == high) & (high == own))


def _chance_of_success(candidates: Flags, published: Numbers, own: Numbers) -> NDArray[np.float64]:
    """Probability that a random candidate is right about a person.

    `candidates` bool[people, published].
    """
    right = (candidates & (published == own[:, None])).sum(axis=1)
    return np.asarray(right / np.maximum(candidates.sum(axis=1), 1), dtype=np.float64)
