"""What an intruder finds who knows a confidential value besides the quasi-identifiers, exactly, roughly or by guess.

Class sizes hold for who knows the quasi-identifiers alone. A confidential value that is published as it is tells the
records of a class apart to whoever knows it, and to some degree to whoever can predict it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import default_rng
from threadpoolctl import threadpool_limits

from crypsis.kernels.arrays import Flags, Floats, Ints
from crypsis.kernels.linkage import Likeness, link_most_alike
from crypsis.measures.boosted_trees import boost_classifier, boost_regressor
from crypsis.measures.class_risk import class_risk
from crypsis.table.equivalence_classes import EquivalenceClasses, classes_of, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

FAR_ABOVE = 3.0
"""Times the class risk from which on a known confidential value needs an answer."""
PARTS = 10
"""Parts of equal size of which a number is known roughly."""
MOST_LEARNED, FEWEST_LEARNED, FEWEST_BOOSTED = 4_000, 100, 2_000
"""People trees learn from at most, people in the file at least, and from whom on trees predict beside a regression."""
MOST_ASKED = 50_000
"""People whose value is predicted at most, drawn at random; they are sought among the records of all."""
NEAREST = 5
"""Like people of whom a value is taken."""
RIDGE = 1.0
"""Penalty of the regression on squared coefficients."""
MOST_VALUES = 20
"""Categories that are predicted; the rarer ones are one."""
TREES, LEAVES = 60, 15
"""Trees of a prediction, and leaves of each."""


@dataclass(frozen=True)
class ConfidentialKnowledge:
    """Per cent of the people found at most by who knows all quasi-identifiers and a confidential column besides."""

    column: str  # the confidential column
    class_risk: float  # found by who knows the quasi-identifiers alone
    exact: float  # found by who knows the value; its tenth of all values, for a category its value
    rough: float
    # found by who predicts the value from the quasi-identifiers; None where too few people are in the file
    predicted: float | None
    numeric: bool  # whether the column holds numbers
    asks: bool  # whether `exact` is far above the class risk and nobody demanded diversity or stated a reason


def confidential_knowledge(
    original: Table, masked: Table, answered: Collection[str] = (), seed: int = 0
) -> tuple[ConfidentialKnowledge, ...]:
    """What each confidential column of a file with classes adds for who knows or predicts it."""
    names = masked.quasi_identifiers
    classes = classes_of(masked, names)
    if not names or not classes.count:
        return ()
    found = []
    with threadpool_limits(limits=1):
        known = _predictors(original, names, classes, seed) if masked.confidential else None
        guessed = {c: _find_by_prediction(masked, c, known, seed) for c in masked.confidential if known is not None}
    for column in masked.confidential:
        risk, exact, rough = known_value(masked, column)
        predicted = guessed.get(column)
        asks = exact > FAR_ABOVE * risk and column not in answered
        numeric = masked.holds_numbers(column)
        found.append(ConfidentialKnowledge(column, risk, exact, rough, predicted, numeric, asks))
    return tuple(found)


def known_value(masked: Table, column: str) -> tuple[float, float, float]:
    """Per cent found by who knows the quasi-identifiers, besides them a value exactly, and roughly; from the file."""
    names = masked.quasi_identifiers
    exact = class_risk(masked, [*names, column])
    rough = _rough(masked, column, classes_of(masked, names)) if masked.holds_numbers(column) else exact
    return class_risk(masked, names), exact, rough


def _rough(masked: Table, column: str, classes: EquivalenceClasses) -> float:
    """Found by who knows the tenth of a number."""
    values, kept = masked.column(column), classes.of >= 0
    present = values[kept & ~np.isnan(values)]
    if not len(present):
        return 100.0 * classes.count / max(int(kept.sum()), 1)
    tenths = np.quantile(present, np.arange(1, PARTS) / PARTS)
    part = np.where(np.isnan(values), -1, np.searchsorted(tenths, values))
    pairs = equivalence_classes(np.stack([classes.of, part.astype(np.int64)], axis=1), kept)
    return 100.0 * pairs.count / int(kept.sum())


class _Predictors(NamedTuple):
    """What a value is predicted from."""

    people: Ints  # int64[n]: rows that are published;  at  int64[n]: their classes
    at: Ints
    asked: Ints  # int64[m]: places in `people` of those whose value is predicted;  half  int64[m]: 0 or 1
    half: Ints
    # float64[m, q]: the quasi-identifiers of a regression;  near  int64[m, NEAREST]: like people, other half
    design: Floats
    near: Ints
    features: Floats  # float64[m, p]: the quasi-identifiers of trees, empty where people are few


def _predictors(original: Table, names: Sequence[str], classes: EquivalenceClasses, seed: int) -> _Predictors | None:
    """What every value is predicted from; None where too few people are in the file."""
    people = np.flatnonzero(classes.of >= 0)
    if len(people) < FEWEST_LEARNED:
        return None
    rng = default_rng([seed, len(people)])
    half, asked = rng.permutation(len(people)) % 2, np.arange(len(people))
    if len(people) > MOST_ASKED:
        asked = np.sort(rng.choice(len(people), MOST_ASKED, replace=False))
    half, rows = half[asked], people[asked]
    lines, codes = _measure_columns(original, names)
    measured = _MeasuredColumns(lines[rows], codes[rows])
    near = np.zeros((len(rows), NEAREST), dtype=np.int64)
    for part in (0, 1):
        known, sought = _learned_rows(half != part), np.flatnonzero(half == part)
        near[sought] = known[link_most_alike(_likeness(measured, sought), _likeness(measured, known), NEAREST)]
    boosted = len(people) >= FEWEST_BOOSTED
    features = np.stack([_feature(original, name) for name in names], axis=1)[rows] if boosted else np.empty((0, 0))
    return _Predictors(people, classes.of[people], asked, half, _design(measured), near, features)


def _find_by_prediction(masked: Table, column: str, known: _Predictors, seed: int) -> float:
    """Found by who takes the record of the right class whose value is nearest to the best prediction of it."""
    if masked.holds_numbers(column):
        values = _on_log_scale(masked.column(column)[known.people])
        held = _list_numbers(known.at, values)
        guesses = _guess_numbers(values[known.asked], known, seed)
        return 100.0 * max(float(_nearest_numbers(held, each, known.asked).mean()) for each in guesses)
    codes = _frequent(masked.codes([column])[:, 0][known.people].astype(np.int64))
    counts = _count_categories(known.at, codes)[known.at[known.asked]]
    own = codes[known.asked]
    likely = _guess_categories(own, known, seed, counts.shape[1])
    return 100.0 * max(float(_likeliest(counts, own, each).mean()) for each in likely)


def _guess_numbers(values: Floats, known: _Predictors, seed: int) -> Iterator[Floats]:
    """float64[m]: numbers as regression, like people, and trees predict them."""
    present = ~np.isnan(values)
    usual = float(values[present].mean()) if present.any() else 0.0
    yield _cross_regress(known.design, np.where(present, values, usual)[:, None], present, known.half)[:, 0]
    beside = values[known.near]
    there = ~np.isnan(beside)
    yield np.where(
        there.any(axis=1), np.where(there, beside, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1), usual
    )
    if len(known.features):
        yield _cross_boost(known.features, values, present, known.half, seed)


def _guess_categories(codes: Ints, known: _Predictors, seed: int, values: int) -> Iterator[Floats]:
    """float64[m, values]: how likely each category is to regression, like people, and trees."""
    targets = np.eye(values)[codes]
    yield _cross_regress(known.design, targets, np.ones(len(codes), dtype=np.bool_), known.half)
    yield targets[known.near].mean(axis=1)
    if len(known.features):
        yield _cross_boost_categories(known.features, codes, known.half, seed, values)


class _MeasuredColumns(NamedTuple):
    """Quasi-identifiers: numbers float64[n, r] standardised, and frequent categories int64[n, c]."""

    lines: Floats
    codes: Ints


def _measure_columns(table: Table, names: Sequence[str]) -> _MeasuredColumns:
    """Numbers and their squares standardised, and whether one is missing; categories, all rarer ones as one."""
    lines, codes = list[Floats](), list[Ints]()
    for name in names:
        if table.holds_numbers(name):
            values = np.asarray(table.column(name), dtype=np.float64)
            present = np.isfinite(values)
            spread = float(values[present].std()) if present.any() else 0.0
            if spread > 0:
                scaled = np.where(present, (values - values[present].mean()) / spread, 0.0)
                lines += [scaled, scaled**2, ~present]
        else:
            codes.append(_frequent(table.codes([name])[:, 0].astype(np.int64)))
    return _MeasuredColumns(
        np.array(lines, dtype=np.float64).reshape(len(lines), table.rows).T,
        np.array(codes, dtype=np.int64).reshape(len(codes), table.rows).T,
    )


def _design(measured: _MeasuredColumns) -> Floats:
    """float64[n, q]: a constant, numbers and their squares, and the frequent categories as 0 and 1."""
    flags = [each[:, None] == np.arange(int(each.max(initial=0)) + 1) for each in measured.codes.T]
    constant = np.ones((len(measured.lines), 1))
    return np.concatenate([constant, measured.lines, *flags], axis=1, dtype=np.float64)


def _likeness(measured: _MeasuredColumns, rows: Ints) -> Likeness:
    """What makes some people alike: their distances are those of the design."""
    lines, codes = (np.ascontiguousarray(each[rows].T, dtype=np.float64) for each in measured)
    return Likeness(lines, codes)


def _cross_regress(design: Floats, targets: Floats, present: Flags, half: Ints) -> Floats:
    """float64[m, targets]: each target as a ridge regression on the people of the other half predicts it."""
    found = np.zeros(targets.shape)
    for part in (0, 1):
        rows = present & (half != part)
        own = design[rows]
        gram = own.T @ own + RIDGE * np.eye(own.shape[1])
        found[half == part] = design[half == part] @ np.linalg.solve(gram, own.T @ targets[rows])
    return found


def _feature(table: Table, name: str) -> Floats:
    """float64[n]: a quasi-identifier as a number, NaN where it is missing."""
    column = table.column(name)
    if table.holds_numbers(name):
        return column.astype(np.float64)
    return np.where(column == MISSING, np.nan, column.astype(np.float64))


def _on_log_scale(values: Floats) -> Floats:
    return np.sign(values) * np.log1p(np.abs(values))


def _frequent(codes: Ints) -> Ints:
    """int64[m]: the most frequent codes as 0, 1, …; all rarer ones as one more."""
    order = (np.cumsum(np.bincount(codes - MISSING) > 0) - 1)[codes - MISSING]
    rank = np.argsort(np.argsort(-np.bincount(order), kind="stable"))
    return np.asarray(np.minimum(rank[order], MOST_VALUES - 1))


def _learned_rows(usable: Flags) -> Ints:
    """Rows to learn from, evenly spaced where there are many."""
    rows = np.flatnonzero(usable)
    return rows if len(rows) <= MOST_LEARNED else rows[:: -(-len(rows) // MOST_LEARNED)]


def _cross_boost(features: Floats, values: Floats, present: Flags, half: Ints, seed: int) -> Floats:
    """float64[m]: each number as predicted from the people of the other half."""
    found = np.full(len(values), np.nanmean(values) if present.any() else 0.0)
    for part in (0, 1):
        rows = _learned_rows(present & (half != part))
        if not len(rows):
            continue
        model = boost_regressor(TREES, LEAVES, seed)
        found[half == part] = model.fit(features[rows], values[rows]).predict(features[half == part])
    return found


def _cross_boost_categories(features: Floats, codes: Ints, half: Ints, seed: int, values: int) -> Floats:
    """float64[m, values]: how likely each category is, as learned from the people of the other half."""
    found = np.zeros((len(codes), values))
    for part in (0, 1):
        rows = _learned_rows(half != part)
        if len(np.unique(codes[rows])) < 2:
            found[half == part, codes[rows[0]]] = 1.0
            continue
        model = boost_classifier(TREES // 2, LEAVES, seed)
        model.fit(features[rows], codes[rows])
        found[np.ix_(half == part, model.classes_)] = model.predict_proba(features[half == part])
    return found


class _NumbersHeld(NamedTuple):
    """The numbers that the records of each class hold."""

    line: Floats  # float64[v]: all numbers, ascending
    keys: Ints  # int64[k]: class · v + place on the line, ascending;  held  int64[k]: records
    held: Ints
    classes: Ints  # int64[n]: classes of all;  own  int64[n]: places in `keys`, −1 where a number is missing
    own: Ints


def _list_numbers(classes: Ints, values: Floats) -> _NumbersHeld:
    """What each class holds; a missing number is none."""
    present = ~np.isnan(values)
    line, rank = np.unique(values[present], return_inverse=True)
    own = np.full(len(values), -1)
    keys, own[present], held = np.unique(classes[present] * len(line) + rank, return_inverse=True, return_counts=True)
    return _NumbersHeld(line, keys, held, classes, own)


def _nearest_numbers(numbers: _NumbersHeld, guesses: Floats, asked: Ints) -> Floats:
    """float64[m]: 1/t where a person's value is that of the t records of the class nearest to the guess, else 0.

    `asked` int64[m]: the people.
    """
    line, keys, held, earned = numbers.line, numbers.keys, numbers.held, np.zeros(len(asked))
    present = numbers.own[asked] >= 0
    if not present.any():
        return earned
    guesses, at, own = guesses[present], numbers.classes[asked][present], numbers.own[asked][present]
    place = np.searchsorted(keys, at * len(line) + np.searchsorted(line, guesses))
    sides = [np.maximum(place - 1, 0), np.minimum(place, len(keys) - 1)]
    away = [np.where(keys[s] // len(line) == at, np.abs(line[keys[s] % len(line)] - guesses), np.inf) for s in sides]
    least = np.minimum(*away)
    tied = [np.isclose(each, least, rtol=1e-12, atol=0.0) for each in away]
    tied[1] &= sides[0] != sides[1]
    records = sum(np.where(t, held[s], 0) for t, s in zip(tied, sides, strict=True))
    right = (tied[0] & (sides[0] == own)) | (tied[1] & (sides[1] == own))
    earned[present] = np.where(right, 1.0 / np.maximum(records, 1), 0.0)
    return earned


def _count_categories(classes: Ints, codes: Ints) -> Ints:
    """int64[classes, values]: how many records of each class hold each category."""
    values = int(codes.max()) + 1
    counts = np.bincount(classes * values + codes, minlength=(int(classes.max()) + 1) * values)
    return counts.reshape(-1, values)


def _likeliest(held: Ints, codes: Ints, likely: Floats) -> Floats:
    """float64[m]: 1/t where a person's category is the likeliest among those of the class, held by t records.

    `held` int64[m, values]: records of the class of each person by category.
    """
    weight = np.where(held > 0, likely, -1.0)
    best = np.isclose(weight, weight.max(axis=1, keepdims=True), rtol=1e-12, atol=0.0)
    records = np.where(best, held, 0).sum(axis=1)
    return np.where(best[np.arange(len(codes)), codes], 1.0 / np.maximum(records, 1), 0.0)
