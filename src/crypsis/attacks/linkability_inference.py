"""Attacks by likeness: linking two files about a person through the release, and inferring what is confidential.

Linkability, inference and their controls follow Giomi et al. (2023), "A unified framework for quantifying privacy
risk in synthetic data", Proceedings on Privacy Enhancing Technologies; ties are shared as everywhere in Crypsis.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis.attacks.attack_context import Flags, Numbers, Scene, nearest_sets
from crypsis.attacks.outcome import Outcome, Rate, Untried
from crypsis.measures.pairing import alike_codes, finite_numbers
from crypsis.table.attribute import Role
from crypsis.table.scaling import Scales
from crypsis.table.table import Table

Floats = NDArray[np.float64]


def linkability(scene: Scene) -> Outcome | Untried:
    """Two strangers know different columns of a person: does the release tell them that they know the same one?"""
    attack = "linkability"
    sets = scene.knows[::2], scene.knows[1::2]
    if not sets[1]:
        return Untried(attack, "the intruder knows one column only; two sets of columns are needed")
    people = scene.original.take(scene.sample(scene.original, attack))
    earned = _linked(scene, people, sets)
    control = None
    if scene.control is not None:
        strangers = scene.control.take(scene.sample(scene.control, attack))
        control = Rate.of(float(_linked(scene, strangers, sets).sum()), len(strangers))
    published = int(scene.release.kept.sum())
    return Outcome(
        attack=attack,
        rate=Rate.of(float(earned.sum()), len(people)),
        baseline=Rate.known(100.0 / published),
        control=control,
        margin=scene.intruder.margin,
        definition=(
            "how often two parties, each of whom knows one half of the columns and takes the nearest published record "
            "(one of t equally near by chance), take the same record; baseline: two records taken blindly"
        ),
        scope=scene.knows,
        remedy="coarsen the columns one half of which finds a record alone, or ask for larger classes",
        counts={
            "people": len(people),
            "columns known to one": len(sets[0]),
            "columns known to the other": len(sets[1]),
        },
    )


def _linked(scene: Scene, people: Table, sets: tuple[Sequence[str], Sequence[str]]) -> Floats:
    """The chance that both halves meet in one record, for each person."""
    one, other = (nearest_sets(scene.meet(people, names)) for names in sets)
    earned = np.zeros(len(people))
    for (part, left), (_, right) in zip(one, other, strict=True):
        both = (left & right).sum(axis=1)
        earned[part] = both / (left.sum(axis=1) * right.sum(axis=1))
    return earned


def inference(scene: Scene) -> list[Outcome | Untried]:
    """The nearest published records tell a confidential value: the usual one of categories, the mean of numbers."""
    secrets = [n for n in scene.original.named(Role.CONFIDENTIAL) if n in scene.learns]
    if not secrets:
        return [Untried("inference", "no confidential column is published as it was collected")]
    rows = scene.sample(scene.original, "inference")
    outsiders = None if scene.control is None else scene.sample(scene.control, "inference")
    right = _inferred(scene, scene.original.take(rows), secrets)
    false = None
    if scene.control is not None and outsiders is not None:
        false = _inferred(scene, scene.control.take(outsiders), secrets)
    return [
        Outcome(
            attack=f"inference of {name}",
            rate=Rate.of(float(right[name].sum()), len(right[name])),
            baseline=Rate.known(_best_guess(scene, name)),
            control=Rate.of(float(false[name].sum()), len(false[name])) if false is not None else None,
            margin=scene.intruder.margin,
            definition=(
                f"share of people whose value is told by the published records nearest in the known columns: the most "
                f"frequent category (t equally frequent: 1/t), or the mean of numbers within "
                f"{scene.intruder.tolerance:g} % of the column's deviation; baseline: the best single guess for "
                f"everybody; missing values are left out"
            ),
            scope=(*scene.knows, name),
            remedy="ask for l-diversity or t-closeness in this column, or for larger classes",
            counts={"people": len(right[name])},
        )
        for name in secrets
    ]


def _inferred(scene: Scene, people: Table, secrets: Sequence[str]) -> dict[str, Floats]:
    """What each guess is worth, for people whose value is known."""
    earned: dict[str, list[Floats]] = {name: [] for name in secrets}
    for part, near in nearest_sets(scene.meet(people, scene.knows)):
        for name in secrets:
            truth = people.take(np.arange(part.start, part.stop))
            judge = _numbers_told if scene.original.attribute(name).numeric else _categories_told
            earned[name].append(judge(scene, truth, near, name))
    return {name: np.concatenate(parts) for name, parts in earned.items()}


def _numbers_told(scene: Scene, people: Table, near: Flags, name: str) -> Floats:
    shown, truth = scene.release.column(name), people.column(name)
    present = ~np.isnan(shown)
    held = near & present
    mean = (held * np.where(present, shown, 0.0)).sum(axis=1) / np.maximum(held.sum(axis=1), 1)
    close = np.abs(mean - truth) <= _reach(scene, name)
    return np.asarray((close & held.any(axis=1))[~np.isnan(truth)], dtype=np.float64)


def _reach(scene: Scene, name: str) -> float:
    scales = Scales.of(finite_numbers(scene.original, name)[:, None])
    return float(scene.intruder.tolerance / 100.0 * scales.deviation[0])


def _categories_told(scene: Scene, people: Table, near: Flags, name: str) -> Floats:
    shown = alike_codes(scene.original, scene.release, name)[0]
    truth = alike_codes(scene.original, people, name)[0]
    size = int(max(shown.max(initial=0), truth.max(initial=0))) + 1
    counts = np.stack([(near & (shown == code)).sum(axis=1) for code in range(size)], axis=1)
    most = counts.max(axis=1, keepdims=True)
    winners = (counts == most) & (most > 0)
    known = truth >= 0
    won = winners[np.arange(len(truth)), np.maximum(truth, 0)] / np.maximum(winners.sum(axis=1), 1)
    return np.asarray(won[known], dtype=np.float64)


def _best_guess(scene: Scene, name: str) -> float:
    """How often the best single guess is right, in per cent."""
    column = scene.original.column(name)
    if not scene.original.attribute(name).numeric:
        codes: Numbers = column[column >= 0].astype(np.int64)
        return 100.0 * float(np.bincount(codes).max(initial=0)) / max(len(codes), 1)
    values = np.sort(column[~np.isnan(column)])
    inside = np.searchsorted(values, values + 2 * _reach(scene, name), side="right") - np.arange(len(values))
    return 100.0 * float(inside.max(initial=0)) / max(len(values), 1)
