"""Rays of the plane of loss and risk: each file of a front is improved along a ray of its own."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.evolution.selection import roulette
from crypsis.kernels.trials import fitness

Floats = NDArray[np.float64]

NEIGHBOURS = 8
"""Files on nearby rays with which a file is crossed."""


REACH = 1.5
"""How far above the highest risk a ray may begin: its file moves towards the origin, and its risk falls."""
CANDIDATES = 180
"""Angles among which the steepest ray is chosen."""


def rays(pairs: Floats, highest_risk: float = 100.0) -> Floats:
    """Assign files to rays that are spread evenly from the axis of loss to the steepest ray, by their angle.

    Parameters
    ----------
    pairs : float64[N, 2]
        Loss and risk of each file.
    highest_risk : float
        Risk above which no file is wanted.

    Returns
    -------
    float64[N, 2]
        Slopes of loss and risk of the ray of each file.
    """
    angles = (np.arange(len(pairs)) + 0.5) / len(pairs) * steepest(pairs, highest_risk)
    slopes = np.empty_like(pairs)
    slopes[np.argsort(np.arctan2(pairs[:, 1], pairs[:, 0]), kind="stable")] = np.stack(
        [1.0 / np.cos(angles), 1.0 / np.sin(angles)], axis=1
    )
    return slopes


def steepest(pairs: Floats, highest_risk: float) -> float:
    """The largest angle at which the files come as low as `REACH` times the highest risk; where none does, the least.

    Parameters
    ----------
    pairs : float64[N, 2]
        Loss and risk of each file.
    highest_risk : float
        Risk above which no file is wanted; 100 wants all.
    """
    if highest_risk >= 100.0:
        return np.pi / 2
    angles = (np.arange(CANDIDATES) + 0.5) / CANDIDATES * (np.pi / 2)
    met = np.maximum(pairs[:, :1] / np.cos(angles), pairs[:, 1:] / np.sin(angles)).min(axis=0) * np.sin(angles)
    low = np.flatnonzero(met <= REACH * highest_risk)
    return float(angles[low[-1]] if len(low) else angles[0])


def neighbours(slopes: Floats, chance: Generator) -> tuple[int, int]:
    """Draw a file, and one of the files on nearby rays.

    Parameters
    ----------
    slopes : float64[N, 2]
        The rays of the files.
    chance : Generator
        Source of randomness.

    Returns
    -------
    first, second : int
    """
    first = int(roulette(np.ones(len(slopes)), 1, chance)[0])
    angles = np.arctan2(slopes[:, 0], slopes[:, 1])
    apart = np.abs(angles - angles[first])
    apart[first] = np.inf
    near = np.argsort(apart, kind="stable")[: min(NEIGHBOURS, len(slopes) - 1)]
    return first, int(near[chance.integers(len(near))])


def best_on_each(pairs: Floats, goals: Floats) -> NDArray[np.int64]:
    """Choose the best file for each ray, in order of the rays.

    Parameters
    ----------
    pairs : float64[N, 2]
        Loss and risk of each file.
    goals : float64[N, 4]
        What the file of each ray is held against; see `kernels.trials.fitness`.

    Returns
    -------
    int64[N]
        For each ray its own file, or one that is better there.
    """
    chosen, pairs = np.arange(len(pairs)), pairs.copy()
    for seat, goal in enumerate(goals):
        fitnesses = [fitness(loss, risk, goal) for loss, risk in pairs]
        best = int(np.argmin(fitnesses))
        if fitnesses[best] < fitnesses[seat]:
            chosen[seat], pairs[seat] = chosen[best], pairs[best]
    return chosen
