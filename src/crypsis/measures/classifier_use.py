"""Declared use: a classifier trained on the released file, tested on original records that it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats, Ints
from crypsis.measures.categories import number_masked_categories
from crypsis.measures.estimate_use import Regressor
from crypsis.measures.measure import measures, sample_records_to_measure, sample_setting
from crypsis.measures.uses import DeclaredUse, Found
from crypsis.measures.utility.estimates import Logistic, fit_logistic_estimates
from crypsis.registry import ColumnName
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

FOLDS = 3
"""Parts of the records, each held out once."""
RIDGE = 1.0
"""Penalty on the squared standardised coefficients of the classifier."""
CLASSES = 10
"""Values of the target that are told apart: the commonest."""
FEWEST = 10
"""Records that a class needs."""
LEVELS = 20
"""Values of a category that enter the classifier by themselves."""
CHANCE = 0.5
"""Area under the curve of a guess."""
LEAST_POWER = 0.05
"""The drop of the area is read as a part of what was above chance, of at least so much."""
SEED = 0x636C6173
"""Seed of the folds, which are part of the definition."""


def score_classifier_by_auc(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """Score a classifier of a declared use on its test records: area under the ROC curve, ties half.

    `scores` float64[n]; `positive` bool[n].

    >>> score_classifier_by_auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.75
    """
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    some = int(positive.sum())
    return float((middle[place][positive].sum() - some * (some + 1) / 2) / (some * (len(positive) - some)))


@dataclass(frozen=True)
class Performance:
    """How well held-out original records are classified."""

    area: float  # area under the ROC curve, one class against the others, weighed by the records of the classes
    accuracy: float  # share of the records whose most probable class is theirs


@dataclass(frozen=True)
class PreparedClassifier:
    """The held-out records as numbers, their classes and folds, and how well the original's classifier does."""

    original: Table
    rows: Ints
    regressors: tuple[Regressor, ...]
    design: Floats
    filling: Floats
    classes: Ints
    label: Ints
    fold: Ints
    before: Performance

    def cross_validate(self, design: Floats, label: Ints, usable: NDArray[np.bool_]) -> Performance:
        """Train on the given side without each fold in turn, test on the original records of that fold."""
        scores = np.zeros((len(self.label), len(self.classes)))
        for fold in range(FOLDS):
            train = usable & (self.fold != fold)
            test = self.fold == fold
            for place in range(len(self.classes)):
                wanted = (label[train] == place).astype(np.float64)
                if 0.0 < wanted.sum() < len(wanted):
                    model: Logistic = fit_logistic_estimates(design[train], wanted, RIDGE)
                    scores[test, place] = model.scores(self.design[test])
        shares = np.bincount(self.label, minlength=len(self.classes)) / len(self.label)
        areas = [score_classifier_by_auc(scores[:, c], self.label == c) for c in range(len(self.classes))]
        return Performance(float(shares @ np.array(areas)), float((scores.argmax(axis=1) == self.label).mean()))


@measures.add("classifier-use")
class ClassifierUse(DeclaredUse):
    """A classifier that predicts a column from others, trained on the released file.

    100 times the part of a classifier's power that is lost if it is trained on the released instead of the original
    records: its power is the area under the ROC curve above ½ on original records that it was not trained on; logistic
    regressions, one for each value of the target, in three folds. A classifier that does as well or better loses 0.

    Examples
    --------
    >>> people = crypsis.example(300)
    >>> use = crypsis.ClassifierUse(target="sex", columns=("hours", "occupation")).against(people)
    >>> use.read(people), use.read(people.without(np.arange(300) >= 0))
    (0.0, 100.0)

    Notes
    -----
    - Formula: 100 · (A − A') / max(A − ½, 0.05), A and A' areas under the ROC curve
    - Paper: own: a declared use
    - Cost: O(n q²) for each value of the target and fold, q columns of the design
    - Departures: own measure; needs no scikit-learn
    """

    row_wise: ClassVar[bool] = True
    missing: ClassVar[str] = (
        "records with a missing, rare or generalised target take no part in the training; a missing number is the "
        "mean; a generalised category enters as equal shares of the values it covers; suppressed records take no "
        "part"
    )

    columns: tuple[str, ...] = Field(min_length=1, description="predictors: numbers or categories")
    target: ColumnName = Field(min_length=1, description="column that is predicted, with few different values")
    sample: int = sample_setting(least=60, tried=61)

    @classmethod
    def first_settings(cls, numeric: Sequence[str], quasi_identifiers: Sequence[str]) -> dict[str, Any]:
        return {"target": quasi_identifiers[0] if quasi_identifiers else "", "columns": list(quasi_identifiers[1:])}

    def scope(self) -> tuple[str, ...]:
        return (self.target, *self.columns)

    def obstacle(self, original: Table) -> str:
        if self.target in self.columns:
            return f"column {self.target!r} cannot predict itself; leave it out of the predictors"
        return super().obstacle(original)

    def prepare(self, original: Table) -> PreparedClassifier:
        codes = _values(original, original, self.target)
        count = np.bincount(codes[codes != MISSING]) if (codes != MISSING).any() else np.zeros(1, dtype=np.int64)
        common = np.argsort(-count, kind="stable")[:CLASSES]
        classes = np.sort(common[count[common] >= FEWEST])
        if len(classes) < 2:
            raise TableError(
                f"column {self.target!r} has fewer than two values that {FEWEST} records hold, so nothing can be "
                f"predicted; name a target with few different values"
            )
        rows = np.flatnonzero(np.isin(codes, classes))
        rows = rows[sample_records_to_measure(len(rows), self.sample)]
        regressors = tuple(Regressor.of(original, name, LEVELS) for name in self.columns)
        design = _design(original, regressors, original)[rows]
        held = np.maximum((~np.isnan(design)).sum(axis=0), 1)
        filling = np.nansum(design, axis=0) / held
        label = np.searchsorted(classes, codes[rows])
        fold = np.random.default_rng(SEED).permutation(np.arange(len(rows)) % FOLDS)
        design = np.where(np.isnan(design), filling, design)
        nothing = Performance(CHANCE, 0.0)
        made = PreparedClassifier(original, rows, regressors, design, filling, classes, label, fold, nothing)
        return replace(made, before=made.cross_validate(design, label, np.ones(len(rows), dtype=np.bool_)))

    def compare(self, prepared: PreparedClassifier, masked: Table) -> Found:
        design = _design(prepared.original, prepared.regressors, masked)[prepared.rows]
        design = np.where(np.isnan(design), prepared.filling, design)
        codes = _values(prepared.original, masked, self.target)[prepared.rows]
        usable = masked.kept[prepared.rows] & np.isin(codes, prepared.classes)
        label = np.searchsorted(prepared.classes, np.where(usable, codes, prepared.classes[0]))
        before, after = prepared.before, prepared.cross_validate(design, label, usable)
        lost = (before.area - after.area) / max(before.area - CHANCE, LEAST_POWER)
        counts = {
            "area under the curve before": before.area,
            "area under the curve after": after.area,
            "accuracy before, %": 100.0 * before.accuracy,
            "accuracy after, %": 100.0 * after.accuracy,
            "commonest class, %": 100.0 * float(np.bincount(prepared.label).max()) / len(prepared.label),
            "classes": len(prepared.classes),
            "records": len(prepared.label),
        }
        return 100.0 * float(np.clip(lost, 0.0, 1.0)), counts


def _design(original: Table, regressors: Sequence[Regressor], table: Table) -> Floats:
    return np.concatenate([each.columns(original, table) for each in regressors], axis=1)


def _values(original: Table, table: Table, name: str) -> Ints:
    """The values of a column numbered as in the original; −1 where missing, generalised, or of another value."""
    if table.level(name) != 0:
        return np.full(table.rows, MISSING, dtype=np.int64)
    if not original.holds_numbers(name):
        codes = number_masked_categories(original, table, name)[0].astype(np.int64)
        return np.where(codes < len(original.attribute(name).categories), codes, MISSING)
    own, column = original.column(name), table.column(name)
    known = np.unique(own[~np.isnan(own)])
    if not len(known):
        return np.full(table.rows, MISSING, dtype=np.int64)
    place = np.minimum(np.searchsorted(known, column), len(known) - 1)
    return np.where(known[place] == column, place, MISSING).astype(np.int64)
