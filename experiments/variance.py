"""The procedure of Solanas et al. (2006, section IV): which factors matter, which levels are best, which are fastest.

1 ANOVA on the result. 2 The best group of levels of each significant factor, by Tukey and by Scheffé. 3 ANOVA on how
soon the result was found, among the trials with levels in the best groups. 4 The tests of step 2 on these.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray
from trials import Results

from crypsis.errors import PlanError, SearchError

ALPHA = 0.05


@dataclass(frozen=True)
class Effect:
    """The main effect of one factor."""

    factor: str
    sum_of_squares: float  # its row of the table
    df: int
    mean_square: float
    F: float  # test statistic and p value
    p: float

    def significant(self, alpha: float = ALPHA) -> bool:
        """Whether p is below the significance level."""
        return self.p < alpha


@dataclass(frozen=True)
class Anova:
    """A table of main effects."""

    response: str
    effects: tuple[Effect, ...]
    residual_sum_of_squares: float  # what the effects leave unexplained
    residual_df: int

    @property
    def residual_mean_square(self) -> float:
        """Mean square of the error."""
        return self.residual_sum_of_squares / self.residual_df

    def effect(self, factor: str) -> Effect:
        """The effect of a factor."""
        return next(effect for effect in self.effects if effect.factor == factor)

    def share(self, factor: str) -> float:
        """Share of the total variation that a factor explains, in a balanced design."""
        total = self.residual_sum_of_squares + sum(effect.sum_of_squares for effect in self.effects)
        return 100.0 * self.effect(factor).sum_of_squares / total if total > 0 else 0.0


def anova(places: Mapping[str, NDArray[np.int64]], response: str, values: NDArray[np.float64]) -> Anova:
    """Analyse the variance of a response.

    `places` int64[n]; `values` float64[n].
    """
    varied = {name: place for name, place in places.items() if len(np.unique(place)) > 1}
    df = len(values) - 1 - sum(len(np.unique(place)) - 1 for place in varied.values())
    if df < 1:
        raise SearchError(
            f"{len(values)} trials leave no degree of freedom to judge {response!r} by; raise the replicates"
        )
    total = float(((values - values.mean()) ** 2).sum())
    # If every run found the optimum, responses are constant up to rounding and there is nothing to explain.
    if not varied or total <= 1e-24 * max(1.0, float((values**2).sum())):
        none = tuple(Effect(name, 0.0, len(np.unique(p)) - 1, 0.0, 0.0, 1.0) for name, p in varied.items())
        return Anova(response, none, total if not varied else 0.0, df)
    table = _fit_variance(varied, values)
    residual = float(table.loc["Residual", "sum_sq"])
    effects = []
    for number, name in enumerate(varied):
        line = table.loc[f"C(f{number})"]
        squares, freedom = float(line["sum_sq"]), int(line["df"])
        exact = residual <= 1e-12 * total  # there is no error
        F = float("inf") if exact and squares > 0 else float(line["F"])
        effects.append(Effect(name, squares, freedom, squares / freedom, F, 0.0 if exact else float(line["PR(>F)"])))
    return Anova(response, tuple(effects), residual, df)


def _fit_variance(places: Mapping[str, NDArray[np.int64]], values: NDArray[np.float64]) -> Any:
    """The table of statsmodels (type II; in a balanced design all types are equal)."""
    try:
        formula = importlib.import_module("statsmodels.formula.api")
        anova_lm = importlib.import_module("statsmodels.stats.anova").anova_lm
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise PlanError(
            'the analysis of variance needs the package "statsmodels", which is not installed; '
            "install it with: pip install statsmodels (the trials are kept)"
        ) from None
    columns = {f"f{number}": place for number, place in enumerate(places.values())}
    frame = pandas.DataFrame({"y": values, **columns})
    model = formula.ols("y ~ " + " + ".join(f"C({name})" for name in columns), data=frame).fit()
    with np.errstate(divide="ignore", invalid="ignore"):
        return anova_lm(model, typ=2)


# -- Which levels of a factor differ: Tukey's and Scheffé's tests on the residual mean square of the model.

Method = Literal["tukey", "scheffe"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Means of the levels of a factor, and the least significant difference between two of them."""

    factor: str  # what is compared
    response: str
    method: Method
    levels: tuple[Any, ...]  # in the order of the design
    means: NDArray[np.float64]  # float64[levels]: mean response of each level
    observations: int  # trials per level
    residual: tuple[float, int]  # mean square and degrees of freedom of the error
    alpha: float  # significance level
    critical_difference: float  # means that differ by more are significantly different

    @property
    def best(self) -> tuple[Any, ...]:
        """The levels that are not significantly different from the one with the lowest mean."""
        near = self.means - self.means.min() <= self.critical_difference
        return tuple(level for level, good in zip(self.levels, near, strict=True) if good)

    @property
    def groups(self) -> tuple[tuple[Any, ...], ...]:
        """The longest runs of levels by increasing mean without a significant difference; they may overlap."""
        order = np.argsort(self.means, kind="stable")
        means, found, last = self.means[order], [], -1
        for first in range(len(means)):
            end = int(np.flatnonzero(means - means[first] <= self.critical_difference)[-1])
            if end > last:
                found.append(tuple(self.levels[place] for place in order[first : end + 1]))
                last = end
        return tuple(found)

    def differ(self, one: Any, other: Any) -> bool:
        """Whether two levels are significantly different."""
        return self._gap(one, other) > self.critical_difference

    def p(self, one: Any, other: Any) -> float:
        """The p value of the difference between two levels."""
        mean_square, df = self.residual
        gap, count = self._gap(one, other), len(self.levels)
        if mean_square <= 0:
            return 0.0 if gap > 0 else 1.0
        if self.method == "tukey":
            return float(scipy.stats.studentized_range.sf(gap / np.sqrt(mean_square / self.observations), count, df))
        return float(scipy.stats.f.sf(gap**2 / ((count - 1) * 2 * mean_square / self.observations), count - 1, df))

    def _gap(self, one: Any, other: Any) -> float:
        return float(abs(self.means[self.levels.index(one)] - self.means[self.levels.index(other)]))


def compare(
    table: Anova,
    factor: str,
    levels: tuple[Any, ...],
    place: NDArray[np.int64],
    values: NDArray[np.float64],
    method: Method = "tukey",
    alpha: float = ALPHA,
) -> Comparison:
    """Compare the levels of one factor.

    `place` int64[n]; `values` float64[n].
    """
    counts = np.bincount(place, minlength=len(levels))
    if (counts != counts[0]).any():
        raise PlanError(
            f"the levels of {factor!r} were tried {counts.min()} to {counts.max()} times; the comparison needs a "
            f"balanced design: run all trials"
        )
    means = np.bincount(place, weights=values) / counts
    error = (table.residual_mean_square, table.residual_df)
    critical = critical_difference(method, len(levels), *error, int(counts[0]), alpha)
    return Comparison(factor, table.response, method, levels, means, int(counts[0]), error, alpha, critical)


def critical_difference(
    method: Method, levels: int, mean_square: float, df: int, observations: int, alpha: float = ALPHA
) -> float:
    """The least significant difference between two of several means.

    Tukey: q(α; a, df) · √(MSE / m). Scheffé: √((a − 1) · F(α; a − 1, df) · 2 MSE / m).
    """
    if levels < 2:
        return 0.0
    if method == "tukey":
        quantile = float(scipy.stats.studentized_range.ppf(1 - alpha, levels, df))
        return quantile * float(np.sqrt(mean_square / observations))
    quantile = float(scipy.stats.f.ppf(1 - alpha, levels - 1, df))
    return float(np.sqrt((levels - 1) * quantile * 2 * mean_square / observations))


# -- The procedure of Solanas et al. (2006, section IV): which factors matter, which levels are best, which are
#    fastest.
#
# 1 ANOVA on the result. 2 The best group of levels of each significant factor, by Tukey and by Scheffé. 3 ANOVA on how
# soon the result was found, among the trials with levels in the best groups. 4 The tests of step 2 on these.

METHODS: tuple[Method, ...] = ("tukey", "scheffe")


@dataclass(frozen=True)
class Stage:
    """An analysis of variance and the comparisons of its factors."""

    anova: Anova
    comparisons: Mapping[str, Mapping[Method, Comparison]]  # by factor and test
    best: Mapping[str, tuple[Any, ...]]  # by factor: the best group of levels if it is significant, else all levels

    def significant(self, alpha: float = ALPHA) -> tuple[str, ...]:
        """Names of the significant factors."""
        return tuple(effect.factor for effect in self.anova.effects if effect.significant(alpha))


@dataclass(frozen=True)
class SensitivityFindings:
    """The results of the procedure."""

    result: Stage  # steps 1 and 2
    speed: Stage | None  # steps 3 and 4, where runs report when they found their result
    alpha: float  # significance level

    @property
    def best(self) -> Mapping[str, tuple[Any, ...]]:
        """Values to use: the best by the result and, among these, the fastest."""
        return (self.speed or self.result).best

    def to_dict(self) -> dict[str, Any]:
        """The results as plain data."""
        stages = [stage for stage in (self.result, self.speed) if stage is not None]
        return {
            "alpha": self.alpha,
            "stages": [_stage_dict(stage) for stage in stages],
            "best": {k: list(v) for k, v in self.best.items()},
        }


def analyse(
    results: Results, alpha: float = ALPHA, by: Method = "tukey", trials: NDArray[np.bool_] | None = None
) -> SensitivityFindings:
    """Apply the procedure to finished trials.

    `trials` bool[size]: use only these; they must be a factorial design.
    """
    design = results.design
    levels = {factor.name: factor.levels for factor in design.factors}
    places = {factor.name: design.places[:, number] for number, factor in enumerate(design.factors)}
    chosen = np.ones(design.size, dtype=bool) if trials is None else trials
    first = _stage(levels, places, results, results.responses[0], chosen, alpha, by)
    if len(results.responses) < 2:
        return SensitivityFindings(first, None, alpha)
    for name, best in first.best.items():
        among = np.array([level in best for level in levels[name]])
        chosen = chosen & among[places[name]]
    return SensitivityFindings(first, _stage(levels, places, results, results.responses[1], chosen, alpha, by), alpha)


def _stage(
    levels: Mapping[str, tuple[Any, ...]],
    places: Mapping[str, NDArray[np.int64]],
    results: Results,
    response: str,
    chosen: NDArray[np.bool_],
    alpha: float,
    by: Method,
) -> Stage:
    values = results.response(response)[chosen]
    kept, here = {}, {}
    for name, place in places.items():
        present, here[name] = np.unique(place[chosen], return_inverse=True)
        kept[name] = tuple(levels[name][which] for which in present)
    table = anova(here, response, values)
    comparisons = {
        effect.factor: {
            method: compare(table, effect.factor, kept[effect.factor], here[effect.factor], values, method, alpha)
            for method in METHODS
        }
        for effect in table.effects
    }
    significant = {effect.factor for effect in table.effects if effect.significant(alpha)}
    best = {name: comparisons[name][by].best if name in significant else kept[name] for name in levels}
    return Stage(table, comparisons, best)


def _stage_dict(stage: Stage) -> dict[str, Any]:
    table = stage.anova
    return {
        "response": table.response,
        "residual": {
            "sum of squares": table.residual_sum_of_squares,
            "df": table.residual_df,
            "mean square": table.residual_mean_square,
        },
        "factors": {
            effect.factor: {
                "sum of squares": effect.sum_of_squares,
                "df": effect.df,
                "mean square": effect.mean_square,
                "F": effect.F if np.isfinite(effect.F) else None,
                "p": effect.p,
                "share of variation %": table.share(effect.factor),
                "levels": list(stage.comparisons[effect.factor]["tukey"].levels),
                "means": stage.comparisons[effect.factor]["tukey"].means.tolist(),
                "tests": {
                    method: {
                        "critical difference": comparison.critical_difference,
                        "best": list(comparison.best),
                        "groups": [list(group) for group in comparison.groups],
                    }
                    for method, comparison in stage.comparisons[effect.factor].items()
                },
            }
            for effect in table.effects
        },
        "best": {name: list(values) for name, values in stage.best.items()},
    }
