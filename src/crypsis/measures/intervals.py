"""How far a rate can be trusted."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

NORMAL_95 = 1.959963984540054


def wilson(hits: float, trials: float, outside: float = 0.05) -> tuple[float, float]:
    """Wilson interval of a rate, in per cent; `hits` may be an expected number. Wilson (1927).

    outside  probability that the rate lies outside of the interval
    """
    if trials <= 0:
        return 0.0, 100.0
    normal = NORMAL_95 if outside == 0.05 else NormalDist().inv_cdf(1 - outside / 2)
    rate, square = hits / trials, normal**2
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    spread = rate * (1 - rate) / trials + square / (4 * trials**2)
    half = normal / (1 + square / trials) * math.sqrt(max(spread, 0.0))
    low = 0.0 if hits <= 0 else centre - half
    high = 1.0 if hits >= trials else centre + half
    return 100.0 * max(low, 0.0), 100.0 * min(high, 1.0)


def score_interval(
    scores: NDArray[np.float64], population: int | None = None, groups: NDArray[np.int64] | None = None
) -> tuple[float, float]:
    """95 % interval of a mean of scores between 0 and 1, in per cent.

    Parameters
    ----------
    scores : float64[m]
        What each attempt earned: 1 or 0, or 1/t where t records are tied.
    population : int, optional
        Records of the file the attempts were drawn from without replacement; no finite file unless given.
    groups : int64[m], optional
        Group of each record, where the records of a group share their fate.

    Returns
    -------
    pair of float

    Notes
    -----
    Wilson's interval with the number of trials that would vary as the scores do, p(1 - p)/v: v is the variance of the
    mean after one score 0 and one score 1 were added, times 1 - m/n for a draw from n records, and at least that
    between groups. Scores of 1/t vary less than hits and misses of the same mean, so the interval is narrower; for hits
    and misses it is Wilson's.

    Examples
    --------
    >>> third = np.repeat([1 / 3, 0.0], [80, 20])
    >>> [round(end, 2) for end in score_interval(third, population=3000)]
    [23.86, 29.68]
    >>> [round(end, 2) for end in wilson(float(third.sum()), 100)]
    [18.98, 36.08]
    """
    trials = len(scores)
    if not trials:
        return 0.0, 100.0
    left = 1.0 if population is None else max(1.0 - trials / population, 0.0)
    mean, padded = float(scores.mean()), np.append(scores, (0.0, 1.0))
    variance = left * float(padded.var(ddof=1)) / len(padded)
    if groups is not None:
        sums = np.bincount(np.unique(groups, return_inverse=True)[1], scores - mean)
        between = float((sums**2).sum()) / trials**2 * len(sums) / max(len(sums) - 1, 1)
        variance = max(variance, left * between)
    if variance <= 0:
        return 100.0 * mean, 100.0 * mean
    middle = float(padded.mean())
    effective = middle * (1 - middle) / variance
    return wilson(mean * effective, effective)
