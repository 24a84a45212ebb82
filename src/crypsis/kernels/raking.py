"""Raking: weights of cells that have given margins and totals, fitted in turn (Deming and Stephan 1940)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Ints
from crypsis.kernels.compile import kernel


class Raking(NamedTuple):
    """What weights are fitted to: margins by columns of codes, and totals of numbers."""

    codes: Ints  # int64[margins, cells]
    totals: Floats  # float64[margins, codes]: what the weights of each code sum to
    values: Floats  # float64[numbers, cells]
    wanted: Floats  # float64[numbers]: the weighted total of each
    steepest: Floats  # float64[numbers]: how far a number tilts the weights in one step, at most


HELD = 1e-9
"""Relative distance from a total below which a number tilts the weights no more."""


def _tilt(weights: Floats, values: Floats, total: float, steepest: float) -> float:
    """Multiply the weights by exp(λ values) so that the values have one total; → how far off it was."""
    whole, found = 0.0, 0.0
    for c in range(len(weights)):
        whole += weights[c]
        found += weights[c] * values[c]
    off = abs(found - total) / max(abs(total), 1e-9 * whole)
    for _ in range(3):
        found, variance, summed = 0.0, 0.0, 0.0
        for c in range(len(weights)):
            found += weights[c] * values[c]
        if abs(found - total) <= HELD * max(abs(total), 1e-9 * whole):
            break
        mean = found / whole
        for c in range(len(weights)):
            variance += weights[c] * (values[c] - mean) ** 2
        variance /= whole
        if variance <= 0.0:
            break
        step = min(max((total / whole - mean) / variance, -steepest), steepest)
        for c in range(len(weights)):
            weights[c] *= math.exp(step * (values[c] - mean))
            summed += weights[c]
        for c in range(len(weights)):
            weights[c] *= whole / summed
    return off


tilt = kernel(_tilt)


def _rake(weights: Floats, raking: Raking, room: Floats, cycles: int, close: float) -> int:
    """Fit the weights of cells to all margins and totals in turn, until all hold or the cycles end; → cycles taken.

    `weights` float64[cells]: changed; `room` float64[codes].
    """
    for cycle in range(cycles):
        worst = 0.0
        for margin in range(raking.codes.shape[0]):
            codes, totals = raking.codes[margin], raking.totals[margin]
            for code in range(len(room)):
                room[code] = 0.0
            for c in range(len(weights)):
                room[codes[c]] += weights[c]
            for code in range(len(room)):
                room[code] = totals[code] / room[code] if room[code] > 0.0 and totals[code] > 0.0 else 1.0
                worst = max(worst, abs(room[code] - 1.0))
            for c in range(len(weights)):
                weights[c] *= room[codes[c]]
        for number in range(raking.values.shape[0]):
            off = tilt(weights, raking.values[number], raking.wanted[number], raking.steepest[number])
            worst = max(worst, off)
        if worst < close:
            return cycle + 1
    return cycles


rake_into = kernel(_rake)


def rake(weights: Floats, raking: Raking, cycles: int, close: float) -> Floats:
    """Kernel of raking: float64[cells], weights near the given ones with all margins and totals."""
    found = np.array(weights, dtype=np.float64)
    rake_into(found, raking, np.empty(raking.totals.shape[1]), cycles, close)
    return found
