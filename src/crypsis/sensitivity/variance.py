"""Analysis of variance of main effects: which factors change a response significantly.

y = μ + a_i + b_j + … + e with categorical factors; F = MS_factor / MS_error. Computed by statsmodels.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import PlanError, SearchError

ALPHA = 0.05


@dataclass(frozen=True)
class Effect:
    """The main effect of one factor.

    sum_of_squares, df, mean_square  its row of the table
    F, p  test statistic and p value
    """

    factor: str
    sum_of_squares: float
    df: int
    mean_square: float
    F: float
    p: float

    def significant(self, alpha: float = ALPHA) -> bool:
        """Whether p is below the significance level."""
        return self.p < alpha


@dataclass(frozen=True)
class Anova:
    """A table of main effects.

    residual_sum_of_squares, residual_df  what the effects leave unexplained
    """

    response: str
    effects: tuple[Effect, ...]
    residual_sum_of_squares: float
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

    Parameters
    ----------
    places : mapping of str to int64[n]
        Level of each trial by factor; a factor with one level is left out.
    response : str
        Name of the response.
    values : float64[n]
        Response of each trial.

    Returns
    -------
    Anova

    Raises
    ------
    SearchError
        If there are too few trials.
    PlanError
        If statsmodels is not installed.
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
    table = _fitted(varied, values)
    residual = float(table.loc["Residual", "sum_sq"])
    effects = []
    for number, name in enumerate(varied):
        line = table.loc[f"C(f{number})"]
        squares, freedom = float(line["sum_sq"]), int(line["df"])
        exact = residual <= 1e-12 * total  # there is no error
        F = float("inf") if exact and squares > 0 else float(line["F"])
        effects.append(Effect(name, squares, freedom, squares / freedom, F, 0.0 if exact else float(line["PR(>F)"])))
    return Anova(response, tuple(effects), residual, df)


def _fitted(places: Mapping[str, NDArray[np.int64]], values: NDArray[np.float64]) -> Any:
    """The table of statsmodels (type II; in a balanced design all types are equal)."""
    try:
        formula = importlib.import_module("statsmodels.formula.api")
        anova_lm = importlib.import_module("statsmodels.stats.anova").anova_lm
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise PlanError(
            'the analysis of variance needs the package "statsmodels", which is not installed; '
            'install it with: pip install "crypsis[sensitivity]" (the trials are kept)'
        ) from None
    columns = {f"f{number}": place for number, place in enumerate(places.values())}
    frame = pandas.DataFrame({"y": values, **columns})
    model = formula.ols("y ~ " + " + ".join(f"C({name})" for name in columns), data=frame).fit()
    with np.errstate(divide="ignore", invalid="ignore"):
        return anova_lm(model, typ=2)
