"""The genetic microaggregation of Solanas, Martínez-Ballesté, Mateo-Sanz and Domingo-Ferrer (2006).

Every record has a gene, every gene one of ⌊n/k⌋ letters; populations evolve by roulette, one-point crossover
and per-gene mutation towards fitness 1/(SSE + 1). Good up to about 50 records, hopeless from 100 on: for
larger tables the hybrids apply it to macrogroups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import SearchError
from crypsis.kernels.genetic import evolve
from crypsis.kernels.squares import sse as sum_of_squares
from crypsis.masking.heuristics import checked, trivial
from crypsis.masking.partition import Partitioner, partitioners

NO_START = np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class GeneticResult:
    """The best chromosome of one run."""

    labels: NDArray[np.int32]
    """int32[n]: 0, 1, … in order of first appearance."""
    sse: float
    convergence_epoch: int
    """The first epoch at which this SSE was reached; 0 is the initial population."""
    history: NDArray[np.float64]
    """float64[epochs + 1]: the best SSE so far after each epoch."""


def run_genetic(
    points: NDArray[np.float64],
    k: int,
    *,
    population: int,
    epochs: int,
    crossover_rate: float,
    mutation_rate: float,
    seed: int,
    start: NDArray[np.int32] | None = None,
    keep_best: bool = True,
    least: float = -math.inf,
) -> GeneticResult:
    """Evolve k-partitions of standardised points; the same seed gives the same result.

    start      a k-partition with groups of k … 2k − 1 that joins the first population: the result is never worse
    keep_best  give the best chromosome so far a place in every population. The paper does not say so, but its
               figures cannot be reached without; if false, the best is only remembered.
    least      the SSE of an optimal partition, if known: a run that reaches it ends, and returns what it would have
    """
    points = checked(points, k)
    n = len(points)
    only = trivial(points, k)
    if only is not None:
        sse = sum_of_squares(points, only)
        return GeneticResult(only, sse, 0, np.full(epochs + 1, sse))
    first = NO_START if start is None else _start(start, n, k)
    rates = (float(crossover_rate), float(mutation_rate))
    best, sse, convergence_epoch, history = evolve(
        points, k, first, population, (epochs, float(least)), rates, keep_best, np.uint64(seed)
    )
    return GeneticResult(renumbered(best), float(sse), int(convergence_epoch), history)


def renumbered(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same groups with labels 0, 1, … in order of first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int32)
    order[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return order[inverse]


def _start(start: NDArray[np.int32], n: int, k: int) -> NDArray[np.int32]:
    start = np.asarray(start)
    if start.shape != (n,):
        raise SearchError(f"the start partition labels {start.size} records, not all {n}; give one label for each")
    letters = renumbered(start)
    sizes = np.bincount(letters)
    if sizes.min() < k or sizes.max() >= 2 * k:
        raise SearchError(
            f"the start partition has groups of {sizes.min()} to {sizes.max()} records; "
            f"only groups of {k} to {2 * k - 1} can join the population: split or merge the others first"
        )
    return letters


class Evolving(Partitioner):
    """Settings of the genetic algorithm; the defaults are those of the hybrid paper's Table 1."""

    population: int = Field(default=10, ge=2, le=1000, description="chromosomes kept in each generation")
    epochs: int = Field(default=10_000, ge=0, le=10_000_000, description="generations to evolve")
    crossover_rate: float = Field(default=0.5, ge=0, le=1, description="probability that a pair of parents is crossed")
    mutation_rate: float = Field(
        default=0.1, ge=0, le=1, description="probability that a gene is redrawn; near 0.1, lower for many records"
    )

    def evolved(
        self,
        points: NDArray[np.float64],
        k: int,
        seed: int,
        start: NDArray[np.int32] | None = None,
        least: float = -math.inf,
    ) -> GeneticResult:
        """One run with these settings."""
        return run_genetic(
            points,
            k,
            population=self.population,
            epochs=self.epochs,
            crossover_rate=self.crossover_rate,
            mutation_rate=self.mutation_rate,
            seed=seed,
            start=start,
            least=least,
        )


@partitioners.add("genetic")
class Genetic(Evolving):
    """Genetic search over whole k-partitions (Solanas et al. 2006): for tables of up to about 50 records."""

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        return self.evolved(points, k, int(rng.integers(2**63))).labels
