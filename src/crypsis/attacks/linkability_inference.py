"""Linkability and inference: linking two files about a person through the release, and inferring confidential values.

Attacks and controls follow Giomi et al. (2023), "A unified framework for quantifying privacy risk in synthetic data",
Proceedings on Privacy Enhancing Technologies; a tie of t records counts 1/t.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis.attacks.attack_context import AttackContext, Flags, Numbers, nearest_sets
from crypsis.attacks.outcome import Outcome, Rate, Untried
from crypsis.measures.measure import alike_codes, finite_numbers
from crypsis.table.attribute import Role
from crypsis.table.precision import Scales
from crypsis.table.table import Table

Floats = NDArray[np.float64]


def linkability(context: AttackContext) -> Outcome | Untried:
    """Two parties know different columns of a person: does the release link what they know?

    context  what the attack starts from
    """
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
        baseline=Rate.known(100.0 / published),
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
    one, other = (nearest_sets(context.meet(people, names)) for names in sets)
    earned = np.zeros(len(people))
    for (part, left), (_, right) in zip(one, other, strict=True):
        both = (left & right).sum(axis=1)
        earned[part] = both / (left.sum(axis=1) * right.sum(axis=1))
    return earned


def inference(context: AttackContext) -> list[Outcome | Untried]:
    """Infer confidential values from the nearest published records: the most frequent category, the mean of numbers.

    context  what the attack starts from
    returns  one per confidential column
    """
    secrets = [n for n in context.original.named(Role.CONFIDENTIAL) if n in context.learns]
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
            baseline=Rate.known(_best_guess(context, name)),
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
    for part, near in nearest_sets(context.meet(people, context.knows)):
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
    scales = Scales.of(finite_numbers(context.original, name)[:, None])
    return float(context.intruder.tolerance / 100.0 * scales.deviation[0])


def _inferred_categories(context: AttackContext, people: Table, near: Flags, name: str) -> Floats:
    shown = alike_codes(context.original, context.release, name)[0]
    truth = alike_codes(context.original, people, name)[0]
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
