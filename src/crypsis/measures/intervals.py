"""How far a rate can be trusted."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

NORMAL_95 = 1.959963984540054


def wilson_interval(hits: float, trials: float, outside: float = 0.05) -> tuple[float, float]:
    """How far a rate can be trusted: its Wilson (1927) interval in per cent; `hits` may be expected."""
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


def score_confidence_interval(
    scores: NDArray[np.float64],
    population: int | None = None,
    groups: NDArray[np.int64] | None = None,
    largest: float = 1.0,
) -> tuple[float, float]:
    """95 % confidence interval of a mean of scores between 0 and 1, in per cent.

    Wilson's interval with the number of trials that would vary as the scores do, p(1 - p)/v: v is the variance of the
    mean after one score 0 and the largest possible score were added, times 1 - m/n for a draw from n records, and at
    least that between groups. Scores of 1/t vary less than hits and misses of the same mean, so the interval is
    narrower; for hits and misses it is Wilson's. Where classes of ten bound a score by 1/10, a score of 1 would make
    the interval half as wide again, and it would hold the mean in all draws.

    `scores` float64[m]; `population`: records of the file the attempts were drawn from without replacement; no finite
    file unless given; `groups` int64[m].

    >>> third = np.repeat([1 / 3, 0.0], [80, 20])
    >>> [round(end, 2) for end in score_confidence_interval(third, population=3000)]
    [23.86, 29.68]
    >>> [round(end, 2) for end in wilson_interval(float(third.sum()), 100)]
    [18.98, 36.08]
    """
    trials = len(scores)
    if not trials:
        return 0.0, 100.0
    left = 1.0 if population is None else max(1.0 - trials / population, 0.0)
    total, between = float(scores.sum()), 0.0
    if groups is not None:
        sums = np.bincount(np.unique(groups, return_inverse=True)[1], scores - total / trials)
        between = _between(float((sums**2).sum()), len(sums), trials)
    return _by_variance(total, float((scores**2).sum()), trials, left, between, largest)


def class_confidence_interval(sizes: NDArray[np.int64], records: int) -> tuple[float, float]:
    """How far a rate of linkage can be trusted where one person of every class is expected to be found, nobody else.

    `sizes` int64[classes].

    >>> scores, groups = np.array([0.5, 0.5, 1 / 3, 1 / 3, 1 / 3, 0, 0]), np.array([0, 0, 1, 1, 1, 2, 3])
    >>> expected = score_confidence_interval(scores, groups=groups, largest=1 / 2)
    >>> np.allclose(class_confidence_interval(np.array([2, 3]), 7), expected)
    True
    """
    total, alone = float(len(sizes)), records - int(sizes.sum())
    mean = total / max(records, 1)
    sums = float(((1.0 - sizes * mean) ** 2).sum()) + alone * mean**2
    between = _between(sums, len(sizes) + alone, records) if records else 0.0
    largest = 1.0 / float(sizes.min()) if len(sizes) else 1.0
    return _by_variance(total, float((1.0 / sizes).sum()), records, 1.0, between, largest)


def _between(squares: float, groups: int, trials: int) -> float:
    """Variance of a mean by the sums of its groups' deviations."""
    return squares / trials**2 * groups / max(groups - 1, 1)


def _by_variance(
    total: float, squares: float, trials: int, left: float, between: float, largest: float
) -> tuple[float, float]:
    """Wilson's interval with as many trials as vary like scores of this sum and sum of squares, two more added."""
    if not trials:
        return 0.0, 100.0
    mean, more = total / trials, trials + 2
    middle = (total + largest) / more
    variance = left * max((squares + largest**2 - more * middle**2) / (more - 1) / more, between)
    if variance <= 0:
        return 100.0 * mean, 100.0 * mean
    effective = middle * (1.0 - middle) / variance
    return wilson_interval(mean * effective, effective)
