"""Raking from its definition: one margin and one total after the other, as arrays of numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def rake(
    weights: Floats,
    margins: Sequence[NDArray[np.int64]],
    totals: Sequence[Floats],
    numbers: Sequence[tuple[Floats, float, float]],
    cycles: int,
    close: float,
) -> Floats:
    """Weights with the given totals of all margins, and of numbers: values, total and steepest step."""
    for _ in range(cycles):
        worst = 0.0
        for codes, total in zip(margins, totals, strict=True):
            found = np.bincount(codes, weights=weights, minlength=len(total))
            factor = np.divide(total, found, out=np.ones_like(total), where=(found > 0) & (total > 0))
            worst = max(worst, float(np.abs(factor - 1).max(initial=0.0)))
            weights = weights * factor[codes]
        for values, wanted, steepest in numbers:
            weights, off = tilt(weights, values, wanted, steepest)
            worst = max(worst, off)
        if worst < close:
            break
    return weights


def tilt(weights: Floats, values: Floats, total: float, steepest: float) -> tuple[Floats, float]:
    """Weights times exp(λ values) with one total of the values, and how far off they were; their sum is kept."""
    whole = float(weights.sum())
    off = abs(float(weights @ values) - total) / max(abs(total), 1e-9 * whole)
    for _ in range(3):
        if abs(float(weights @ values) - total) <= 1e-9 * max(abs(total), 1e-9 * whole):
            break
        mean = float(weights @ values) / whole
        variance = float(weights @ (values - mean) ** 2) / whole
        if variance <= 0:
            break
        step = np.clip((total / whole - mean) / variance, -steepest, steepest)
        weights = weights * np.exp(step * (values - mean))
        weights = weights * (whole / float(weights.sum()))
    return weights, off
