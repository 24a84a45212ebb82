"""The procedure of Solanas et al. (2006, section IV): which factors matter, which levels are best, which are fastest.

1 ANOVA on the result. 2 The best group of levels of each significant factor, by Tukey and by Scheffé. 3 ANOVA on how
soon the result was found, among the trials with levels in the best groups. 4 The tests of step 2 on these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.sensitivity.comparison import Comparison, Method, compare
from crypsis.sensitivity.trials import Results
from crypsis.sensitivity.variance import ALPHA, Anova, anova

METHODS: tuple[Method, ...] = ("tukey", "scheffe")


@dataclass(frozen=True)
class Stage:
    """An analysis of variance and the comparisons of its factors.

    Attributes
    ----------
    anova : Anova
    comparisons : mapping of str to mapping of str to Comparison
        By factor and test.
    best : mapping of str to tuple
        By factor: the best group of levels if it is significant, else all levels.
    """

    anova: Anova
    comparisons: Mapping[str, Mapping[Method, Comparison]]
    best: Mapping[str, tuple[Any, ...]]

    def significant(self, alpha: float = ALPHA) -> tuple[str, ...]:
        """Names of the significant factors.

        Parameters
        ----------
        alpha : float
            Significance level.

        Returns
        -------
        tuple of str
        """
        return tuple(effect.factor for effect in self.anova.effects if effect.significant(alpha))


@dataclass(frozen=True)
class SensitivityFindings:
    """The results of the procedure.

    Attributes
    ----------
    result : Stage
        Steps 1 and 2.
    speed : Stage or None
        Steps 3 and 4, where runs report when they found their result.
    alpha : float
        Significance level.
    """

    result: Stage
    speed: Stage | None
    alpha: float

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

    Parameters
    ----------
    results : Results
    alpha : float
        Significance level.
    by : {"tukey", "scheffe"}
        The test whose best groups are used; Tukey's are never larger than Scheffé's.
    trials : bool[size], optional
        Use only these; they must be a factorial design.

    Returns
    -------
    SensitivityFindings
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
