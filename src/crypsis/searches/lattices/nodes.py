"""Nodes of a lattice as genomes: int16 level vectors, one-point crossover, steps of one level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from crypsis.evolution import Genome
from crypsis.masking.generalisation import Generalisation, generalise
from crypsis.searches.search import Account
from crypsis.table.counts import distinct_rows
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of one table's lattice; decoding generalises the table and suppresses by the method's rule."""

    table: Table = field(repr=False)
    lattice: Lattice
    method: Generalisation

    def draw(self, rng: Generator, size: int) -> list[Genome]:
        heights = np.array(self.lattice.heights)
        return [rng.integers(0, heights + 1).astype(np.int16) for _ in range(size)]

    def start(self, rng: Generator, size: int) -> tuple[Genome, ...]:
        """Random nodes with the fully special and the fully general one among them."""
        ends = [np.array(self.lattice.bottom, dtype=np.int16), np.array(self.lattice.top, dtype=np.int16)]
        return (*ends, *self.draw(rng, max(size - 2, 0)))

    def key(self, genome: Genome) -> bytes:
        return np.asarray(genome, dtype=np.int16).tobytes()

    def decode(self, genome: Genome) -> Table:
        levels = {name: int(level) for name, level in zip(self.lattice.names, genome, strict=True)}
        return self.method.model_copy(update={"levels": levels}).mask(self.table, np.random.default_rng(0))

    def generalised(self, genome: Genome) -> Table:
        """The table at the node, nothing suppressed."""
        return generalise(self.table, self.lattice, tuple(int(level) for level in genome))

    def least_class(self, masked: Table) -> int:
        """Size of the smallest class; 0 if nothing is left."""
        return int(distinct_rows(masked.codes(self.lattice.names)[masked.kept])[2].min(initial=len(masked)))

    def tell(self, genome: Genome) -> Account:
        masked = self.decode(genome)
        gone = int((~masked.kept).sum() - (~self.table.kept).sum())
        words = self.lattice.words([int(level) for level in genome])
        if gone:
            which = "smallest classes first" if self.method.rule == "by-size" else "the classes that failed"
            words += f"; {gone} record{'s' * (gone > 1)} suppressed: {which} (rule {self.method.rule})"
        facts: dict[str, float | int | str] = {"suppressed": gone, "rule": self.method.rule}
        facts |= {f"level of {name}": int(level) for name, level in zip(self.lattice.names, genome, strict=True)}
        return Account(words, facts)


@dataclass(frozen=True)
class OnePoint:
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
class Step:
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
class Exchange:
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
