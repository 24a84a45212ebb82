"""Operators on nodes of a lattice: random nodes, one-point crossover, steps of one level, exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from crypsis.evolution import Genome, Operator
from crypsis.table.lattice import Lattice


def draw_nodes(lattice: Lattice, rng: Generator, size: int) -> list[Genome]:
    """Random nodes."""
    heights = np.array(lattice.heights)
    return [rng.integers(0, heights + 1).astype(np.int16) for _ in range(size)]


def first_nodes(lattice: Lattice, rng: Generator, size: int) -> tuple[Genome, ...]:
    """Random nodes with the fully special and the fully general one among them."""
    ends = [np.array(lattice.bottom, dtype=np.int16), np.array(lattice.top, dtype=np.int16)]
    return (*ends, *draw_nodes(lattice, rng, max(size - 2, 0)))


@dataclass(frozen=True)
class OnePoint(Operator):
    """Swap what follows a random cut."""

    name: str = "crossover"
    arity: int = 2

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        first, second = parents
        if len(first) < 2:
            return [first.copy(), second.copy()]
        cut = int(rng.integers(1, len(first)))
        return [np.concatenate([first[:cut], second[cut:]]), np.concatenate([second[:cut], first[cut:]])]


@dataclass(frozen=True)
class LevelStep(Operator):
    """Each level goes one up or one down with probability `rate`, kept inside its hierarchy."""

    heights: tuple[int, ...]
    rate: float
    name: str = "step"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        (node,) = parents
        moves = (rng.random(len(node)) < self.rate) * rng.choice((-1, 1), size=len(node))
        return [np.clip(node + moves, 0, self.heights).astype(np.int16)]


@dataclass(frozen=True)
class Exchange(Operator):
    """One attribute up and another down: the same privacy paid for elsewhere."""

    heights: tuple[int, ...]
    name: str = "exchange"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        up = np.flatnonzero(child < np.array(self.heights))
        down = np.flatnonzero(child > 0)
        if len(up) and len(down):
            child[rng.choice(down)] -= rng.integers(1, 3)
            child[rng.choice(up)] += rng.integers(1, 3)
        return [np.clip(child, 0, self.heights).astype(np.int16)]
