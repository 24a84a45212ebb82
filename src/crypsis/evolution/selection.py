"""Fitness functions, orders and selections of rows of scores; everything is minimised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.kernels import dominance
from crypsis.kernels.arrays import Floats

FitnessFunction = Callable[[Floats], Floats]
"""float64[n, m] → float64[n]: a number per row that does not depend on the other rows."""
Order = Callable[[Floats], Floats]
"""float64[n, m] → float64[n]: a number per row that may depend on the whole pool."""


@dataclass(frozen=True)
class WeightedMean:
    """The weighted mean of a row of scores.

    Attributes
    ----------
    weights : tuple of float
        One weight per score; equal weights by default.
    """

    weights: tuple[float, ...] = ()

    def __call__(self, scores: Floats) -> Floats:
        weights = np.array(self.weights or (1.0,) * scores.shape[1])
        return np.asarray(scores @ (weights / weights.sum()))


@dataclass(frozen=True)
class Worst:
    """The largest score of a row, which rewards balance."""

    def __call__(self, scores: Floats) -> Floats:
        return np.asarray(scores.max(axis=1))


@dataclass(frozen=True)
class DominanceOrder:
    """The order of NSGA-II as one number per row: by front and, within a front, by crowding distance."""

    def __call__(self, scores: Floats) -> Floats:
        front = dominance.fronts(np.ascontiguousarray(scores))
        order = front.astype(np.float64)
        for level in np.unique(front):
            rows = np.flatnonzero(front == level)
            order[rows] += 0.5 - 0.5 * crowding_distance(scores[rows])
        return order


@dataclass(frozen=True)
class StrengthOrder:
    """The fitness of PBG-EA: the sum over the rows that dominate a row of how many rows each dominates."""

    def __call__(self, scores: Floats) -> Floats:
        return dominance.strengths(np.ascontiguousarray(scores))


def crowding_distance(scores: Floats) -> Floats:
    """Crowding distance of each row of one front, from 0 (a clone between clones) to 1 (an end of the front).

    Parameters
    ----------
    scores : float64[n, m]
        Scores, minimised.

    Returns
    -------
    float64[n]
    """
    n, m = scores.shape
    room = np.zeros(n)
    ends = np.zeros(n, dtype=np.bool_)
    for j in range(m):
        by = np.argsort(scores[:, j], kind="stable")
        spread = scores[by[-1], j] - scores[by[0], j]
        ends[by[[0, -1]]] = True
        if spread > 0 and n > 2:
            room[by[1:-1]] += (scores[by[2:], j] - scores[by[:-2], j]) / spread
    return np.where(ends, 1.0, room / (2.0 * m))


def truncation(order: Floats, size: int) -> NDArray[np.int64]:
    """Positions of the best rows; of equal rows the earlier one.

    order  float64[n]: a number per row
    """
    return np.argsort(order, kind="stable")[:size].astype(np.int64)


def draw_positions(eligible: int, count: int, rng: Generator) -> list[int]:
    """Random positions below a number, all different if there are enough of them.

    Parameters
    ----------
    eligible : int
        Positions are 0 … eligible − 1.
    count : int
        Number of positions.
    rng : Generator
        Random numbers.

    Returns
    -------
    list of int
    """
    if count == 1:
        return [int(rng.integers(eligible))]
    if count == 2 and eligible > 1:
        first, second = int(rng.integers(eligible)), int(rng.integers(eligible - 1))
        return [first, second + (second >= first)]
    return [int(place) for place in rng.choice(eligible, size=count, replace=eligible < count)]


def tournament(order: Floats, rounds: int, rng: Generator, contestants: int = 2) -> NDArray[np.int64]:
    """Winners of tournaments among randomly drawn rows; of equal rows the first drawn.

    Parameters
    ----------
    order : float64[n]
        A number per row.
    rounds : int
        Number of tournaments.
    rng : Generator
        Random numbers.
    contestants : int
        Rows in a tournament.

    Returns
    -------
    int64[rounds]
    """
    rows = rng.integers(len(order), size=(rounds, contestants))
    return np.asarray(rows[np.arange(rounds), np.argmin(order[rows], axis=1)], dtype=np.int64)


def roulette(weights: Floats, draws: int, rng: Generator) -> NDArray[np.int64]:
    """Rows drawn with replacement in proportion to their weight; uniformly if no weight is positive.

    Parameters
    ----------
    weights : float64[n]
        A weight per row.
    draws : int
        Number of rows.
    rng : Generator
        Random numbers.

    Returns
    -------
    int64[draws]
    """
    sums = np.cumsum(np.maximum(weights, 0.0))
    if not sums[-1] > 0:
        return rng.integers(len(weights), size=draws)
    spins = rng.random(draws) * sums[-1]
    return np.asarray(np.minimum(np.searchsorted(sums, spins, side="right"), len(weights) - 1), dtype=np.int64)


def roulette_weights(fitness: Floats) -> Floats:
    """Weights for a roulette from fitness that is minimised.

    fitness  float64[n]: fitness of each row
    returns  (largest + smallest) − fitness
    """
    return np.asarray(fitness.max() + fitness.min() - fitness)


def leaders(order: Floats, count: int) -> NDArray[np.int64]:
    """Positions of the best rows, at least one.

    order  float64[n]: a number per row
    """
    return truncation(order, max(1, count))


def couple(weights: Floats, best: NDArray[np.int64], rng: Generator) -> tuple[int, int]:
    """The parents of a crossover: one of the best, and another by roulette."""
    first = int(best[rng.integers(len(best))])
    rest = weights.copy()
    rest[first] = 0.0
    second = int(roulette(rest, 1, rng)[0])
    return first, second if second != first else (first + 1) % len(weights)


def few_of_each(keys: Sequence[bytes], places: NDArray[np.int64], copies: int) -> NDArray[np.int64]:
    """The positions whose key occurs fewer than a number of times at earlier positions.

    Parameters
    ----------
    keys : sequence of bytes
        Key of each row.
    places : int64[n]
        Positions in order.
    copies : int
        Largest number of rows with one key.

    Returns
    -------
    int64[m]
    """
    seen: dict[bytes, int] = {}
    fresh = []
    for place in places.tolist():
        before = seen.get(keys[place], 0)
        if before < copies:
            seen[keys[place]] = before + 1
            fresh.append(place)
    return np.array(fresh, dtype=np.int64)
