"""Weighted figures of a survey and their variance by leaving out one unit after another, slowly and plainly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def gini(values: Sequence[float], weights: Sequence[float]) -> float:
    """Per cent: half the mean absolute difference of two people of the population, over the mean."""
    whole = sum(weights)
    mean = sum(w * y for w, y in zip(weights, values, strict=True)) / whole
    pairs = zip(weights, values, strict=True)
    apart = sum(w * v * abs(y - x) for w, y in pairs for v, x in zip(weights, values, strict=True))
    return 100 * apart / whole**2 / (2 * mean)


def median(values: Sequence[float], weights: Sequence[float]) -> float:
    whole, passed = sum(weights), 0.0
    ordered = sorted(zip(values, weights, strict=True))
    for place, (value, weight) in enumerate(ordered):
        passed += weight
        if abs(passed - whole / 2) < 1e-9 * whole:
            return (value + ordered[place + 1][0]) / 2
        if passed > whole / 2:
            return value
    raise AssertionError


def poverty(values: Sequence[float], weights: Sequence[float]) -> float:
    line = 0.6 * median(values, weights)
    return 100 * sum(w for y, w in zip(values, weights, strict=True) if y < line) / sum(weights)


def jackknife_error(
    figure: Callable[[Floats], float], weights: Floats, strata: Sequence[object], units: Sequence[object]
) -> float:
    """Standard error by leaving out each unit of each stratum and raising the weights of the others there."""
    strata, units = np.asarray(strata), np.asarray(units)
    whole, variance = figure(weights), 0.0
    for stratum in np.unique(strata):
        inside = strata == stratum
        drawn = np.unique(units[inside])
        m = len(drawn)
        for unit in drawn if m > 1 else ():
            left = np.where(inside, weights * m / (m - 1), weights)
            left[inside & (units == unit)] = 0.0
            variance += (m - 1) / m * (figure(left) - whole) ** 2
    return float(np.sqrt(variance))
