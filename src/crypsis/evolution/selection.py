"""Fitness functions, orders and selections of rows of scores; everything is minimised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.kernels import dominance
from crypsis.kernels.arrays import Floats
from crypsis.kernels.mutations import fitness

FitnessFunction = Callable[[Floats], Floats]
"""float64[n, m] → float64[n]: a number per row that does not depend on the other rows."""
Order = Callable[[Floats], Floats]
"""float64[n, m] → float64[n]: a number per row that may depend on the whole pool."""


@dataclass(frozen=True)
class WeightedMean:
    """The weighted mean of a row of scores."""

    weights: tuple[float, ...] = ()  # one weight per score; equal weights by default

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
            order[rows] += 0.5 - 0.5 * _crowding_distance(scores[rows])
        return order


@dataclass(frozen=True)
class StrengthOrder:
    """The fitness of PBG-EA: the sum over the rows that dominate a row of how many rows each dominates."""

    def __call__(self, scores: Floats) -> Floats:
        return dominance.strengths(np.ascontiguousarray(scores))


def _crowding_distance(scores: Floats) -> Floats:
    """Crowding distance of each row of one front, from 0 (a clone between clones) to 1 (an end of the front).

    `scores` float64[n, m]; returns float64[n].
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

    `order` float64[n].
    """
    return np.argsort(order, kind="stable")[:size].astype(np.int64)


def tournament(order: Floats, rounds: int, rng: Generator, contestants: int = 2) -> NDArray[np.int64]:
    """Winners of tournaments among randomly drawn rows; of equal rows the first drawn.

    `order` float64[n]; returns int64[rounds].
    """
    rows = rng.integers(len(order), size=(rounds, contestants))
    return np.asarray(rows[np.arange(rounds), np.argmin(order[rows], axis=1)], dtype=np.int64)


def roulette(weights: Floats, draws: int, rng: Generator) -> NDArray[np.int64]:
    """Rows drawn with replacement in proportion to their weight; uniformly if no weight is positive.

    `weights` float64[n]; returns int64[draws].
    """
    sums = np.cumsum(np.maximum(weights, 0.0))
    if not sums[-1] > 0:
        return rng.integers(len(weights), size=draws)
    spins = rng.random(draws) * sums[-1]
    return np.asarray(np.minimum(np.searchsorted(sums, spins, side="right"), len(weights) - 1), dtype=np.int64)


def roulette_weights(fitness: Floats) -> Floats:
    """Weights for a roulette from fitness that is minimised.

    `fitness` float64[n].
    """
    return np.asarray(fitness.max() + fitness.min() - fitness)


def leaders(order: Floats, count: int) -> NDArray[np.int64]:
    """Positions of the best rows, at least one.

    `order` float64[n].
    """
    return truncation(order, max(1, count))


def select_parents(weights: Floats, best: NDArray[np.int64], rng: Generator) -> tuple[int, int]:
    """Selection of the two parents of a crossover: one of the best rows of scores, another by roulette."""
    first = int(best[rng.integers(len(best))])
    rest = weights.copy()
    rest[first] = 0.0
    second = int(roulette(rest, 1, rng)[0])
    return first, second if second != first else (first + 1) % len(weights)


def select_best_on_rays(pairs: Floats, goals: Floats) -> NDArray[np.int64]:
    """Select the row of scores that is fittest for each ray, in order of the rays.

    `pairs` float64[N, 2]; `goals` float64[N, 4]; returns int64[N].
    """
    chosen, pairs = np.arange(len(pairs)), pairs.copy()
    for place, goal in enumerate(goals):
        fitnesses = [fitness(loss, risk, goal) for loss, risk in pairs]
        best = int(np.argmin(fitnesses))
        if fitnesses[best] < fitnesses[place]:
            chosen[place], pairs[place] = chosen[best], pairs[best]
    return chosen


def has_better_scores(child: NDArray[np.float64], parent: NDArray[np.float64]) -> bool:
    """Whether selection replaces a parent by its child: a lower first score, or as low and lower in the next."""
    return tuple(child.tolist()) < tuple(parent.tolist())
