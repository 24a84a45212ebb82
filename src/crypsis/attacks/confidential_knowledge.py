"""What an intruder finds who knows a confidential value besides the quasi-identifiers, exactly, roughly or by guess.

Class sizes hold for who knows the quasi-identifiers alone. A confidential value that is published as it is tells the
records of a class apart to whoever knows it, and to some degree to whoever can predict it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng

from crypsis.kernels.arrays import Flags, Floats, Ints
from crypsis.measures.class_risk import class_risk
from crypsis.table.equivalence_classes import EquivalenceClasses, classes_of, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

FAR_ABOVE = 3.0
"""Times the class risk from which on a known confidential value needs an answer."""
PARTS = 10
"""Parts of equal size of which a number is known roughly."""
MOST_LEARNED, FEWEST_LEARNED = 20_000, 100
"""People a prediction is learned from at most, and people in the file at least."""
MOST_VALUES = 20
"""Categories that are predicted; the rarer ones are one."""
TREES, LEAVES = 60, 15
"""Trees of a prediction, and leaves of each."""


@dataclass(frozen=True)
class ConfidentialKnowledge:
    """Per cent of the people found at most by who knows all quasi-identifiers and a confidential column besides.

    column  the confidential column
    class_risk  found by who knows the quasi-identifiers alone
    exact, rough  found by who knows the value; its tenth of all values, for a category its value
    predicted  found by who predicts the value from the quasi-identifiers; None where too few people are in the file
    numeric  whether the column holds numbers
    asks  whether `exact` is far above the class risk and nobody demanded diversity or stated a reason
    """

    column: str
    class_risk: float
    exact: float
    rough: float
    predicted: float | None
    numeric: bool
    asks: bool


def confidential_knowledge(
    original: Table, masked: Table, answered: Collection[str] = (), seed: int = 0
) -> tuple[ConfidentialKnowledge, ...]:
    """What each confidential column of a file with classes adds for who knows or predicts it.

    answered  columns for which diversity is demanded or a reason is stated
    seed  of the halves of a prediction
    """
    names = masked.quasi_identifiers
    classes = classes_of(masked, names)
    if not names or not classes.count:
        return ()
    found = []
    for column in masked.confidential:
        risk, exact, rough = known_value(masked, column)
        predicted = _find_by_prediction(original, masked, names, column, classes, seed)
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


def _find_by_prediction(
    original: Table, masked: Table, names: Sequence[str], column: str, classes: EquivalenceClasses, seed: int
) -> float | None:
    """Found by who takes the record of the right class whose value is nearest to a prediction of it."""
    people = np.flatnonzero(classes.of >= 0)
    if len(people) < FEWEST_LEARNED:
        return None
    features = np.stack([_feature(original, name) for name in names], axis=1)[people]
    half = default_rng([seed, len(people)]).permutation(len(people)) % 2
    at = classes.of[people]
    if masked.holds_numbers(column):
        values = _on_log_scale(masked.column(column)[people])
        earned = _nearest_numbers(at, values, _cross_fit(features, values, ~np.isnan(values), half, seed))
    else:
        codes = _frequent(masked.codes([column])[:, 0][people].astype(np.int64))
        earned = _likeliest(at, codes, _cross_fit_categories(features, codes, half, seed))
    return 100.0 * float(earned.mean())


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
    order = np.unique(codes, return_inverse=True)[1]
    rank = np.argsort(np.argsort(-np.bincount(order), kind="stable"))
    return np.minimum(rank[order], MOST_VALUES - 1)


def _learned_rows(usable: Flags) -> Ints:
    """Rows to learn from, evenly spaced where there are many."""
    rows = np.flatnonzero(usable)
    return rows if len(rows) <= MOST_LEARNED else rows[:: -(-len(rows) // MOST_LEARNED)]


def _cross_fit(features: Floats, values: Floats, present: Flags, half: Ints, seed: int) -> Floats:
    """float64[m]: each number as predicted from the people of the other half."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    found = np.full(len(values), np.nanmean(values) if present.any() else 0.0)
    for part in (0, 1):
        rows = _learned_rows(present & (half != part))
        if not len(rows):
            continue
        model = HistGradientBoostingRegressor(
            max_iter=TREES, max_leaf_nodes=LEAVES, early_stopping=False, random_state=seed
        )
        with threadpool_limits(limits=1):
            found[half == part] = model.fit(features[rows], values[rows]).predict(features[half == part])
    return found


def _cross_fit_categories(features: Floats, codes: Ints, half: Ints, seed: int) -> Floats:
    """float64[m, values]: how likely each category is, as learned from the people of the other half."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    found = np.zeros((len(codes), int(codes.max()) + 1))
    for part in (0, 1):
        rows = _learned_rows(half != part)
        if len(np.unique(codes[rows])) < 2:
            found[half == part, codes[rows[0]]] = 1.0
            continue
        model = HistGradientBoostingClassifier(
            max_iter=TREES // 2, max_leaf_nodes=LEAVES, early_stopping=False, random_state=seed
        )
        with threadpool_limits(limits=1):
            model.fit(features[rows], codes[rows])
            found[np.ix_(half == part, model.classes_)] = model.predict_proba(features[half == part])
    return found


def _nearest_numbers(classes: Ints, values: Floats, guesses: Floats) -> Floats:
    """float64[m]: 1/t where a person's value is that of the t records of the class nearest to the guess, else 0."""
    present = ~np.isnan(values)
    earned = np.zeros(len(values))
    if not present.any():
        return earned
    line, rank = np.unique(values[present], return_inverse=True)
    keys, own, held = np.unique(classes[present] * len(line) + rank, return_inverse=True, return_counts=True)
    place = np.searchsorted(keys, classes[present] * len(line) + np.searchsorted(line, guesses[present]))
    sides = [np.maximum(place - 1, 0), np.minimum(place, len(keys) - 1)]
    away = [
        np.where(keys[s] // len(line) == classes[present], np.abs(line[keys[s] % len(line)] - guesses[present]), np.inf)
        for s in sides
    ]
    least = np.minimum(*away)
    tied = [np.isclose(each, least, rtol=1e-12, atol=0.0) for each in away]
    tied[1] &= sides[0] != sides[1]
    records = sum(np.where(t, held[s], 0) for t, s in zip(tied, sides, strict=True))
    right = (tied[0] & (sides[0] == own)) | (tied[1] & (sides[1] == own))
    earned[present] = np.where(right, 1.0 / np.maximum(records, 1), 0.0)
    return earned


def _likeliest(classes: Ints, codes: Ints, likely: Floats) -> Floats:
    """float64[m]: 1/t where a person's category is the likeliest among those of the class, held by t records."""
    held = np.zeros((int(classes.max()) + 1, likely.shape[1]), dtype=np.int64)
    np.add.at(held, (classes, codes), 1)
    there = held[classes] > 0
    weight = np.where(there, likely, -1.0)
    best = np.isclose(weight, weight.max(axis=1, keepdims=True), rtol=1e-12, atol=0.0)
    records = np.where(best, held[classes], 0).sum(axis=1)
    return np.where(best[np.arange(len(codes)), codes], 1.0 / np.maximum(records, 1), 0.0)
