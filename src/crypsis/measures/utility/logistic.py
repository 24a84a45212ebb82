"""Logistic regression by Newton's method, with a ridge so that files which can be told apart for sure have an end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

RIDGE = 1e-6
"""Penalty on the squared standardised coefficients: values of one file only would separate the files for ever."""
CAP = 30.0
"""Largest linear predictor, either way."""
STEPS = 50
MOST_BOUNDED_STEPS, BOUNDED_STEP = 200, 0.001
"""Most steps of fits that share a Hessian, and the share of a change below which they end."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Logistic:
    """A fitted logistic regression: which columns vary, their means and deviations, and the coefficients."""

    varied: NDArray[np.bool_]
    mean: Floats
    scale: Floats
    coefficients: Floats

    def scores(self, design: Floats) -> Floats:
        """The probability of the label for each row of a design, float64[N]."""
        return _fitted(self._standardised(design) @ self.coefficients)

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
    empty = _standardising(design)
    x = empty._standardised(design)
    penalty = np.full(x.shape[1], ridge)
    penalty[0] = 0.0
    share = float(label.mean())
    beta = np.zeros(x.shape[1])
    beta[0] = np.log(share / (1 - share)) if 0 < share < 1 else 0.0
    cost = _cost(x, label, beta, penalty)
    for _ in range(STEPS):
        fitted = _fitted(x @ beta)
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
    empty = _standardising(design)
    x = empty._standardised(design)
    penalty = np.full(x.shape[1], ridge)
    penalty[0] = 0.0
    bound = scipy.linalg.cho_factor(0.25 * x.T @ x + np.diag(penalty + 1e-9))
    beta = np.zeros((x.shape[1], labels.shape[1]))
    fitted = _fitted(x @ beta)
    for _ in range(MOST_BOUNDED_STEPS):
        beta += scipy.linalg.cho_solve(bound, x.T @ (labels - fitted) - penalty[:, None] * beta)
        before, fitted = fitted, _fitted(x @ beta)
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


def _standardising(design: Floats) -> Logistic:
    """No coefficients yet: how the columns of a design are standardised."""
    deviation = design.std(axis=0)
    varied = deviation > 1e-12
    return Logistic(varied, design[:, varied].mean(axis=0), deviation[varied], np.zeros(int(varied.sum()) + 1))


def _fitted(eta: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(eta, -CAP, CAP))))


def _cost(x: Floats, label: Floats, beta: Floats, penalty: Floats) -> float:
    eta = np.clip(x @ beta, -CAP, CAP)
    return float((np.logaddexp(0.0, eta) - label * eta).sum() + 0.5 * (penalty * beta**2).sum())
