"""Ways to weigh score rows against each other, and ways to choose among them. Small is good throughout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.kernels import dominance

Floats = NDArray[np.float64]
FitnessFunction = Callable[[Floats], Floats]
"""float64[n, m] → float64[n]: a number per row that does not depend on the other rows."""
Order = Callable[[Floats], Floats]
"""float64[n, m] → float64[n]: a number per row that may depend on the whole pool."""


@dataclass(frozen=True)
class WeightedMean:
    """The mean of a row's scores, with weights; equal weights if none are given."""

    weights: tuple[float, ...] = ()

    def __call__(self, scores: Floats) -> Floats:
        weights = np.array(self.weights or (1.0,) * scores.shape[1])
        return np.asarray(scores @ (weights / weights.sum()))


@dataclass(frozen=True)
class Worst:
    """The largest of a row's scores: rewards balance."""

    def __call__(self, scores: Floats) -> Floats:
        return np.asarray(scores.max(axis=1))


@dataclass(frozen=True)
class DominanceOrder:
    """Rank by fronts and, within a front, loneliest first: the order of NSGA-II as one number per row."""

    def __call__(self, scores: Floats) -> Floats:
        front = dominance.fronts(np.ascontiguousarray(scores))
        order = front.astype(np.float64)
        for level in np.unique(front):
            rows = np.flatnonzero(front == level)
            order[rows] += 0.5 - 0.5 * crowding(scores[rows])
        return order


@dataclass(frozen=True)
class StrengthOrder:
    """Sum over a row's dominators of how many rows each dominates: the fitness of PBG-EA."""

    def __call__(self, scores: Floats) -> Floats:
        return dominance.strengths(np.ascontiguousarray(scores))


def crowding(scores: Floats) -> Floats:
    """How much room each row of one front has, from 0 (a clone between clones) to 1 (an end of the front)."""
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
    """Positions of the `size` best; of equals the earlier one."""
    return np.argsort(order, kind="stable")[:size].astype(np.int64)


def drawn(eligible: int, count: int, rng: Generator) -> list[int]:
    """`count` of the numbers 0 … eligible − 1, all different where there are enough of them."""
    if count == 1:
        return [int(rng.integers(eligible))]
    if count == 2 and eligible > 1:
        first, second = int(rng.integers(eligible)), int(rng.integers(eligible - 1))
        return [first, second + (second >= first)]
    return [int(place) for place in rng.choice(eligible, size=count, replace=eligible < count)]


def tournament(order: Floats, rounds: int, rng: Generator, contestants: int = 2) -> NDArray[np.int64]:
    """Winners of `rounds` tournaments among randomly drawn rows; of equals the first drawn."""
    rows = rng.integers(len(order), size=(rounds, contestants))
    return np.asarray(rows[np.arange(rounds), np.argmin(order[rows], axis=1)], dtype=np.int64)


def roulette(weights: Floats, draws: int, rng: Generator) -> NDArray[np.int64]:
    """Rows drawn with replacement, in proportion to their weight; uniformly if no weight is positive."""
    sums = np.cumsum(np.maximum(weights, 0.0))
    if not sums[-1] > 0:
        return rng.integers(len(weights), size=draws)
    spins = rng.random(draws) * sums[-1]
    return np.asarray(np.minimum(np.searchsorted(sums, spins, side="right"), len(weights) - 1), dtype=np.int64)


def turned(fitness: Floats) -> Floats:
    """Weights for a roulette from worths to be minimised: (largest + smallest) − worth."""
    return np.asarray(fitness.max() + fitness.min() - fitness)


def leaders(order: Floats, count: int) -> NDArray[np.int64]:
    """Positions of the `count` best (at least one)."""
    return truncation(order, max(1, count))


def couple(weights: Floats, best: NDArray[np.int64], rng: Generator) -> tuple[int, int]:
    """The parents of a crossover: one of the best, and another by roulette."""
    first = int(best[rng.integers(len(best))])
    rest = weights.copy()
    rest[first] = 0.0
    second = int(roulette(rest, 1, rng)[0])
    return first, second if second != first else (first + 1) % len(weights)


def few_of_each(keys: Sequence[bytes], places: NDArray[np.int64], copies: int) -> NDArray[np.int64]:
    """Those places whose key occurred fewer than `copies` times at earlier places."""
    seen: dict[bytes, int] = {}
    fresh = []
    for place in places.tolist():
        before = seen.get(keys[place], 0)
        if before < copies:
            seen[keys[place]] = before + 1
            fresh.append(place)
    return np.array(fresh, dtype=np.int64)
