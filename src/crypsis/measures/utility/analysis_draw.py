"""One analysis of a file, and the draw of different analyses that a table allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.random import Generator

from crypsis.kernels.arrays import Floats
from crypsis.measures.utility.analyst_columns import FEWEST, AnalystFile
from crypsis.measures.utility.interval_estimates import (
    Estimates,
    correlation_estimate,
    least_squares,
    logistic,
    mean_estimate,
    quantile_estimate,
)

AnalysisKind = Literal["mean", "share", "above zero", "total", "quantile", "correlation", "regression", "logistic"]
WEIGHTS: dict[AnalysisKind, float] = {
    "mean": 1, "share": 0.7, "above zero": 0.3, "total": 1, "quantile": 1, "correlation": 1,
    "regression": 3, "logistic": 1,
}  # fmt: skip
"""How often each kind is drawn, where the table allows it."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
REGRESSORS = (2, 5)
"""Fewest and most regressors."""
COMMON, RARE = 0.03, 0.01
"""A share of an event below which no model of it is drawn, and of amounts above 0 below which theirs is not."""
FLAT = 0.001
"""Least error of a quantile, as a part of the standard deviation."""


@dataclass(frozen=True)
class Analysis:
    """One analysis.

    target      the column that is analysed; with `level` the share or the event of that level
    by, inside  the group in which it is analysed, and its level; of a correlation the other number
    point       of a quantile
    regressors  of a model
    title       in words
    terms       what is estimated; a single estimate has no name
    """

    kind: AnalysisKind
    target: str
    title: str
    level: int = 0
    by: str = ""
    inside: int = 0
    point: float = 0.0
    regressors: tuple[str, ...] = ()
    terms: tuple[str, ...] = ("",)

    def estimate(self, file: AnalystFile, start: Floats | None = None) -> Estimates:
        """What a file answers.

        start  coefficients of a logistic regression on the original, the constant first
        """
        if self.kind in ("regression", "logistic"):
            return self._model(file, start)
        if self.kind == "share":
            here = file.codes(self.by) == self.inside
            return mean_estimate((file.codes(self.target)[here] == self.level).astype(np.float64))
        if self.kind == "correlation":
            return correlation_estimate(file.number(self.target), file.number(self.by))
        if self.kind == "mean":
            values = file.number(self.target)[file.codes(self.by) == self.inside]
            return mean_estimate(values[~np.isnan(values)])
        values = file.present(self.target)
        if self.kind == "above zero":
            return mean_estimate((values > 0).astype(np.float64))
        if self.kind == "quantile":
            return quantile_estimate(values, self.point, FLAT * file.columns.numbers[self.target].scale)
        mean, error = mean_estimate(values)
        return Estimates(file.records * mean, file.records * error)

    def _model(self, file: AnalystFile, start: Floats | None) -> Estimates:
        """A regression with a constant, which comes first, on the records that lack nothing."""
        linear = self.kind == "regression"
        target, here = file.design(self.target) if linear else file.event(self.target, self.level)
        parts = [file.design(name) for name in self.regressors]
        for _, present in parts:
            here = here & present
        design = np.concatenate([np.ones((len(here), 1)), *(columns for columns, _ in parts)], axis=1)
        target = target.reshape(-1)
        if not here.all():
            design, target = design[here], target[here]
        return least_squares(design, target) if linear else logistic(design, target, start)

    @property
    def models(self) -> bool:
        """Whether its first estimate is a constant that nobody asks for."""
        return self.kind in ("regression", "logistic")


def draw_analyses(file: AnalystFile, rng: Generator, tries: int) -> Iterator[Analysis]:
    """Different analyses that a table allows, by random numbers."""
    draw, seen = _Draw(file, rng), set[str]()
    kinds = [kind for kind in WEIGHTS if draw.possible(kind)]
    weights = np.array([WEIGHTS[kind] for kind in kinds])
    for _ in range(tries if kinds else 0):
        kind = kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))]
        analysis = getattr(draw, kind.replace(" ", "_"))()
        if analysis is not None and analysis.title not in seen:
            seen.add(analysis.title)
            yield analysis


T = TypeVar("T")


class _Draw:
    """Draws an analysis of each kind; None where the draw is no analysis of the table."""

    def __init__(self, file: AnalystFile, rng: Generator) -> None:
        self.file, self.rng = file, rng
        self.numbers, self.groups = list(file.columns.numbers), list(file.columns.groups)
        self.regressors = self.numbers + [name for name in self.groups if name not in file.columns.numbers]

    def possible(self, kind: AnalysisKind) -> bool:
        """Whether the table has columns for a kind."""
        numbers, groups, both = len(self.numbers), len(self.groups), len(self.regressors)
        return {
            "mean": bool(numbers and groups),
            "share": groups > 1,
            "correlation": numbers > 1,
            "regression": bool(numbers) and both > REGRESSORS[0],
            "logistic": bool(groups) and both > REGRESSORS[0],
        }.get(kind, bool(numbers))

    def _pick(self, among: Sequence[T]) -> T:
        return among[int(self.rng.integers(len(among)))]

    def _level(self, name: str) -> tuple[int, str]:
        labels = self.file.columns.groups[name].labels
        level = int(self.rng.integers(len(labels)))
        return level, labels[level]

    def mean(self) -> Analysis | None:
        target, by = self._pick(self.numbers), self._pick(self.groups)
        inside, label = self._level(by)
        here = (self.file.codes(by) == inside) & ~np.isnan(self.file.number(target))
        if target == by or int(here.sum()) < FEWEST:
            return None
        return Analysis("mean", target, f"mean of {target} where {by} is {label}", by=by, inside=inside)

    def share(self) -> Analysis | None:
        target, by = self._pick(self.groups), self._pick(self.groups)
        (level, label), (inside, group) = self._level(target), self._level(by)
        title = f"share of {target} = {label} where {by} is {group}"
        return None if target == by else Analysis("share", target, title, level=level, by=by, inside=inside)

    def above_zero(self) -> Analysis | None:
        target = self._pick(self.numbers)
        share = float((self.file.present(target) > 0).mean())
        return Analysis("above zero", target, f"share of {target} above 0") if RARE < share < 1 - RARE else None

    def total(self) -> Analysis:
        target = self._pick(self.numbers)
        return Analysis("total", target, f"total of {target}")

    def quantile(self) -> Analysis:
        target, point = self._pick(self.numbers), self._pick(QUANTILES)
        return Analysis("quantile", target, f"{100 * point:g} % point of {target}", point=point)

    def correlation(self) -> Analysis:
        first, second = sorted(self.rng.choice(len(self.numbers), 2, replace=False).tolist())
        target, other = self.numbers[first], self.numbers[second]
        return Analysis("correlation", target, f"correlation of {target} and {other}", by=other)

    def regression(self) -> Analysis | None:
        target = self._pick(self.numbers)
        return self._model("regression", target, f"regression of {target}")

    def logistic(self) -> Analysis | None:
        target = self._pick(self.groups)
        level, label = self._level(target)
        share = float((self.file.codes(target) == level).mean())
        if not COMMON < share < 1 - COMMON:
            return None
        return self._model("logistic", target, f"logistic regression of {target} = {label}", level)

    def _model(self, kind: AnalysisKind, target: str, title: str, level: int = 0) -> Analysis | None:
        others = [name for name in self.regressors if name != target]
        if len(others) < REGRESSORS[0]:
            return None
        count = min(len(others), int(self.rng.integers(REGRESSORS[0], REGRESSORS[1] + 1)))
        chosen = tuple(others[place] for place in sorted(self.rng.choice(len(others), count, replace=False).tolist()))
        columns, terms = self.file.columns, list[str]()
        for name in chosen:
            several = name not in columns.numbers
            terms += [f"{name} = {label}" for label in columns.groups[name].labels[1:]] if several else [name]
        named = f"{title} on {', '.join(chosen)}"
        return Analysis(kind, target, named, level, regressors=chosen, terms=tuple(terms))
