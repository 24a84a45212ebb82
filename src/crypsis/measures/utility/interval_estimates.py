"""Estimates with their standard errors: means, quantiles, correlations, least squares and logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.kernels.arrays import Floats

Flags = NDArray[np.bool_]

NORMAL = 1.96
"""Half the width of a 95 % interval, in standard errors."""
FEWEST_FOR_QUANTILE, FEWEST_FOR_CORRELATION = 30, 10
"""Records below which there is no such estimate."""
PER_TERM, FEWEST_EVENTS = 10, 5
"""Records of a regression for each of its terms, and records with and without the event."""
SINGULAR, LOADING, PERFECT = 1e-10, 1e-6, 1e-9
"""Relative eigenvalue of a direction that the data do not show, weight of a term in it, and a standard error of 0."""
NEWTON_STEPS, LONGEST_STEP, CONVERGED, CAP = 30, 3.0, 1e-8, 30.0
"""Steps of a logistic regression, its longest step, the relative change of the deviance at which it ends, and the
largest linear predictor."""
SEPARATED = 20.0
"""Error of a logistic coefficient beyond which the term decides the event for sure, so that it has no estimate."""


class Estimates(NamedTuple):
    """float64[terms]: estimates and their standard errors; NaN where the data give none."""

    value: Floats
    error: Floats

    @classmethod
    def none(cls, terms: int) -> Estimates:
        """No estimate of so many terms."""
        return cls(np.full(terms, np.nan), np.full(terms, np.nan))

    @classmethod
    def one(cls, value: float, error: float) -> Estimates:
        """One estimate."""
        return cls(np.array([value]), np.array([error]))


def mean_estimate(values: Floats) -> Estimates:
    """The mean of numbers of which none is missing."""
    if len(values) < 2:
        return Estimates.none(1)
    return Estimates.one(float(values.mean()), float(values.std(ddof=1)) / np.sqrt(len(values)))


def quantile_estimate(values: Floats, share: float, least: float) -> Estimates:
    """A quantile with the error that its binomial interval shows, at least `least`."""
    n = len(values)
    if n < FEWEST_FOR_QUANTILE:
        return Estimates.none(1)
    half = NORMAL * np.sqrt(n * share * (1 - share))
    places = [
        min(n - 1, int(n * share)), max(0, int(n * share - half)), min(n - 1, int(np.ceil(n * share + half)))
    ]  # fmt: skip
    ordered = np.partition(values, sorted(set(places)))
    point, low, high = (float(ordered[place]) for place in places)
    return Estimates.one(point, max((high - low) / (2 * NORMAL), least))


def correlation_estimate(first: Floats, second: Floats) -> Estimates:
    """Fisher's z of the correlation of two numbers, over the records that hold both."""
    both = ~np.isnan(first) & ~np.isnan(second)
    x, y = first[both], second[both]
    if len(x) < FEWEST_FOR_CORRELATION:
        return Estimates.none(1)
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    if size == 0:
        return Estimates.none(1)
    z = np.arctanh(np.clip(float(x @ y) / size, -0.999999, 0.999999))
    return Estimates.one(float(z), 1 / np.sqrt(len(x) - 3))


def least_squares(design: Floats, target: Floats) -> Estimates:
    """Coefficients of all columns of a design, float64[n, p], by least squares, with HC1 errors."""
    n, p = design.shape
    if n < PER_TERM * p:
        return Estimates.none(p)
    inverse, unseen, rank = _inverse(design.T @ design)
    coefficients = inverse @ (design.T @ target)
    residual = target - design @ coefficients
    spread = (design * (residual**2)[:, None]).T @ design
    variance = inverse @ spread @ inverse * (n / max(n - rank, 1))
    return _seen(coefficients, np.sqrt(np.maximum(np.diagonal(variance), 0.0)), unseen)


def logistic(design: Floats, event: Floats, start: Floats | None = None, weights: Floats | None = None) -> Estimates:
    """Coefficients of all columns of a design, float64[n, p], by maximum likelihood; weighted: with linearised errors.

    event  0 or 1, or the chance of it
    start  coefficients of a file that is much alike
    weights  float64[n]: how much each record counts, on average 1
    """
    n, p = design.shape
    w = np.ones(n) if weights is None else weights
    if n < PER_TERM * p or not FEWEST_EVENTS <= float(event.sum()) <= n - FEWEST_EVENTS:
        return Estimates.none(p)
    share = float(np.average(event, weights=w))
    beta = np.zeros(p)
    beta[0] = np.log(share / (1 - share))
    if start is not None and np.isfinite(start).all():
        beta = start.copy()
    deviance = np.inf
    for _ in range(NEWTON_STEPS):
        predictor = np.clip(design @ beta, -CAP, CAP)
        fitted = 1 / (1 + np.exp(-predictor))
        inverse, unseen, _ = _inverse((design * (w * fitted * (1 - fitted))[:, None]).T @ design)
        before, deviance = deviance, -2 * float(w @ (event * predictor + np.log1p(-fitted)))
        residual = w * (event - fitted)
        beta = beta + np.clip(inverse @ (design.T @ residual), -LONGEST_STEP, LONGEST_STEP)
        if abs(before - deviance) < CONVERGED * (abs(deviance) + 0.1):
            if weights is not None:
                inverse = inverse @ ((design * (residual**2)[:, None]).T @ design) @ inverse
            error = np.sqrt(np.maximum(np.diagonal(inverse), 0.0))
            return _seen(beta, error, unseen | (error > SEPARATED))
    return Estimates.none(p)


def _inverse(gram: Floats) -> tuple[Floats, Flags, int]:
    """The inverse of a cross-product matrix, which terms it does not identify, and its rank."""
    size = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    size = np.where(size > 0, size, 1.0)
    values, directions = np.linalg.eigh(gram / np.outer(size, size))
    seen = values > SINGULAR * max(float(values[-1]), 1e-300)
    unseen = (np.abs(directions[:, ~seen]) > LOADING).any(axis=1)
    inverse = (directions[:, seen] / values[seen]) @ directions[:, seen].T
    return inverse / np.outer(size, size), unseen, int(seen.sum())


def _seen(value: Floats, error: Floats, unseen: Flags) -> Estimates:
    """Estimates without the terms that the data do not identify; an error that is rounding is 0."""
    error = np.where(error > PERFECT, error, 0.0)
    return Estimates(np.where(unseen, np.nan, value), np.where(unseen, np.nan, error))


def has_error(estimates: Estimates) -> Flags:
    """bool[terms]: which estimates have a sampling error, so that an interval can hold another estimate."""
    known = np.isfinite(estimates.value) & np.isfinite(estimates.error)
    return np.asarray(known & (np.nan_to_num(estimates.error) > PERFECT * np.abs(np.nan_to_num(estimates.value))))


def compare_intervals(before: Estimates, after: Estimates) -> tuple[Floats, Flags, Floats]:
    """Released estimates beside the original's 95 % intervals.

    returns  distance in standard errors of the original, whether it is inside the interval, overlap of both intervals:
             the common part as a share of each, averaged; infinite, False and 0 where there is no released estimate
    """
    known = np.isfinite(after.value) & np.isfinite(after.error)
    value, error = np.where(known, after.value, before.value), np.where(known, after.error, 0.0)
    off = np.where(known, np.abs(value - before.value) / before.error, np.inf)
    low, high = before.value - NORMAL * before.error, before.value + NORMAL * before.error
    inside = known & (low <= value) & (value <= high)
    common = np.minimum(high, value + NORMAL * error) - np.maximum(low, value - NORMAL * error)
    one, other = common / (high - low), common / np.maximum(2 * NORMAL * error, 1e-300)
    overlap = np.where(known & (common > 0), np.clip((one + other) / 2, 0.0, 1.0), 0.0)
    return off, inside, overlap


# -- Logistic regression by Newton's method, with a ridge so that files which can be told apart for sure have an end.

RIDGE = 1e-6
"""Penalty on the squared standardised coefficients: values of one file only would separate the files for ever."""
LARGEST_LOGIT = 30.0
"""Largest linear predictor, either way."""
STEPS = 50
MOST_BOUNDED_STEPS, BOUNDED_STEP = 200, 0.001
"""Most steps of fits that share a Hessian, and the share of a change below which they end."""


@dataclass(frozen=True)
class Logistic:
    """A fitted logistic regression: which columns vary, their means and deviations, and the coefficients."""

    varied: NDArray[np.bool_]
    mean: Floats
    scale: Floats
    coefficients: Floats

    def scores(self, design: Floats) -> Floats:
        """The probability of the label for each row of a design, float64[N]."""
        return _fitted_values(self._standardised(design) @ self.coefficients)

    def _standardised(self, design: Floats) -> Floats:
        x = (design[:, self.varied] - self.mean) / self.scale
        return np.concatenate([np.ones((len(x), 1)), x], axis=1)


def fit_logistic(design: Floats, label: Floats, ridge: float = RIDGE) -> Logistic:
    """Fit a logistic regression with a constant.

    Parameters
    ----------
    design : float64[N, q]
        Columns; standardised here, and left out where they do not vary.
    label : float64[N]
        0 or 1.
    ridge : float
        Penalty.

    Returns
    -------
    Logistic

    Notes
    -----
    Minimises the negative log-likelihood plus `ridge` / 2 times the squared standardised coefficients; linear
    predictors are cut at ± `CAP`.
    """
    empty = _standardise_design(design)
    x = empty._standardised(design)
    penalty = np.full(x.shape[1], ridge)
    penalty[0] = 0.0
    share = float(label.mean())
    beta = np.zeros(x.shape[1])
    beta[0] = np.log(share / (1 - share)) if 0 < share < 1 else 0.0
    cost = _cost(x, label, beta, penalty)
    for _ in range(STEPS):
        fitted = _fitted_values(x @ beta)
        weight = np.maximum(fitted * (1 - fitted), 1e-12)
        hessian = (x * weight[:, None]).T @ x + np.diag(penalty + 1e-12)
        step = np.linalg.solve(hessian, x.T @ (label - fitted) - penalty * beta)
        size, better = 1.0, False
        while size > 1e-6 and not better:
            tried = beta + size * step
            new = _cost(x, label, tried, penalty)
            better = new < cost - 1e-12 * abs(cost)
            size /= 2
        if not better:
            break
        gain, beta, cost = cost - new, tried, new
        if gain < 1e-10 * max(cost, 1.0):
            break
    return Logistic(empty.varied, empty.mean, empty.scale, beta)


def fit_labellings(design: Floats, labels: Floats, ridge: float = RIDGE) -> Floats:
    """Fitted probabilities of regressions of many labels on the same rows, for labels that hardly depend on them.

    Parameters
    ----------
    design : float64[N, q]
        Columns, as in `fit_logistic`.
    labels : float64[N, m]
        m labellings, 0 or 1.
    ridge : float
        Penalty.

    Returns
    -------
    float64[N, m]

    Notes
    -----
    Newton's steps with the Hessian at probabilities of one half, which bounds every other (Böhning and Lindsay 1988):
    it is inverted once for all labels, no step raises the cost, and few are taken near probabilities of one half.
    Steps end once they move the probabilities by less than a thousandth of how far these are from their means.
    """
    empty = _standardise_design(design)
    x = empty._standardised(design)
    penalty = np.full(x.shape[1], ridge)
    penalty[0] = 0.0
    bound = scipy.linalg.cho_factor(0.25 * x.T @ x + np.diag(penalty + 1e-9))
    beta = np.zeros((x.shape[1], labels.shape[1]))
    fitted = _fitted_values(x @ beta)
    for _ in range(MOST_BOUNDED_STEPS):
        beta += scipy.linalg.cho_solve(bound, x.T @ (labels - fitted) - penalty[:, None] * beta)
        before, fitted = fitted, _fitted_values(x @ beta)
        if ((fitted - before).std(axis=0) <= BOUNDED_STEP * fitted.std(axis=0)).all():
            break
    return fitted


def logistic_scores(design: Floats, label: Floats) -> Floats:
    """Fitted probabilities of a logistic regression on its own rows.

    Parameters
    ----------
    design : float64[N, q]
        Its columns.
    label : float64[N]
        0 or 1.

    Returns
    -------
    float64[N]
    """
    return fit_logistic(design, label).scores(design)


def _standardise_design(design: Floats) -> Logistic:
    """No coefficients yet: how the columns of a design are standardised."""
    deviation = design.std(axis=0)
    varied = deviation > 1e-12
    return Logistic(varied, design[:, varied].mean(axis=0), deviation[varied], np.zeros(int(varied.sum()) + 1))


def _fitted_values(eta: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(eta, -LARGEST_LOGIT, LARGEST_LOGIT))))


def _cost(x: Floats, label: Floats, beta: Floats, penalty: Floats) -> float:
    eta = np.clip(x @ beta, -LARGEST_LOGIT, LARGEST_LOGIT)
    return float((np.logaddexp(0.0, eta) - label * eta).sum() + 0.5 * (penalty * beta**2).sum())
