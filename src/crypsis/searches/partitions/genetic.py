"""The genetic microaggregation of Solanas, Martínez-Ballesté, Mateo-Sanz and Domingo-Ferrer (2006).

Every record has a gene, every gene one of ⌊n/k⌋ letters; populations evolve by roulette, one-point crossover
and per-gene mutation towards fitness 1/(SSE + 1). Good up to about 50 records, hopeless from 100 on: for
larger tables the hybrids apply it to macrogroups. Here all of them are one refinement: a population for every
macrogroup, of which the plain algorithm has one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.partition import compact
from crypsis.evolution import Engine, State
from crypsis.kernels.arrays import Floats, Int32s
from crypsis.kernels.squares import sse
from crypsis.masking.heuristics import checked
from crypsis.masking.partition import partitioners
from crypsis.searches.partitions.evolving import EvolvingPartitioner, last
from crypsis.searches.partitions.macrogroups import MacrogroupEvolution, renumbered


@dataclass(frozen=True)
class GeneticResult:
    """The best k-partition of one run.

    Parameters
    ----------
    labels : ndarray of int32
        0, 1, … in order of first appearance.
    sse : float
        Its sum of squared errors.
    start_sse : float
        SSE of the k-partition evolution started from; NaN where it started from nothing.
    macrogroups : int
        Parts of the table that were evolved on their own.
    convergence_epoch : int
        The first epoch at which the last of them reached its best; 0 is the first population.
    """

    labels: Int32s
    sse: float
    start_sse: float
    macrogroups: int
    convergence_epoch: int


class GeneticPartitioner(EvolvingPartitioner):
    """Settings of the genetic algorithm; the defaults are those of the hybrid paper's Table 1."""

    population: int = Field(default=10, ge=2, le=1000, description="chromosomes kept in each generation")
    epochs: int = Field(default=10_000, ge=0, le=10_000_000, description="generations to evolve")
    crossover_rate: float = Field(default=0.5, ge=0, le=1, description="probability that a pair of parents is crossed")
    mutation_rate: float = Field(
        default=0.1, ge=0, le=1, description="probability that a gene is redrawn; near 0.1, lower for many records"
    )
    keep_best: bool = Field(
        default=True,
        description="give the best chromosome so far a place in every population, else it is only remembered. The "
        "paper does not say so, but its figures cannot be reached without",
    )

    def macrogroups(self, points: Floats, k: int, rng: Generator) -> tuple[Int32s, Int32s | None]:
        """Macrogroup 0, 1, … of each row, and a k-partition to start from that tears none, if there is one."""
        return np.zeros(len(points), dtype=np.int32), None

    def solves_exactly(self, records: int) -> bool:
        """Whether a macrogroup of so many records is solved by full search instead."""
        return False

    def refinement(self) -> MacrogroupEvolution:
        return MacrogroupEvolution(self)

    def run(
        self, points: Floats, k: int, rng: Generator, engine: Engine | None = None, least: float = -math.inf
    ) -> GeneticResult:
        """Evolve to the end of the epochs.

        points  ndarray of shape (n, p): finite and already scaled
        rng  the same one gives the same result
        engine  where macrogroups evolve; changes the time, not the result
        least  the SSE of an optimal partition of all records, if known: a run that reaches it ends, and returns what
            it would have returned
        """
        states = self.search(points, k, rng, engine=engine, refinement=MacrogroupEvolution(self, least))
        return self._result(checked(points, k), last(states))

    @staticmethod
    def _result(points: Floats, state: State) -> GeneticResult:
        labels = renumbered(compact(state.best))
        loss, parts = sse(points, labels), state.memory.get("0/epochs")
        if parts is None:
            return GeneticResult(labels, loss, loss, 1, 0)
        return GeneticResult(
            labels, loss, float(state.memory["0/start"][0]), len(parts), int(parts[:, 0].max(initial=0))
        )


@partitioners.add("genetic")
class Genetic(GeneticPartitioner):
    """Genetic search over whole k-partitions (Solanas et al. 2006): for tables of up to about 50 records.

    Notes
    -----
    - Formula: chromosome: one of ⌊n/k⌋ letters per record; fitness 1/(1 + SSE); roulette, one-point crossover,
      per-gene mutation
    - Paper: Solanas, Martínez-Ballesté, Mateo-Sanz and Domingo-Ferrer (2006)
    - Cost: O(epochs · population · n) generated genes; a k-partition among them costs O(n k) more
    - Departures: the best chromosome keeps a place (the paper's figures cannot be met without); an invalid one has
      fitness 1/(1 + SST)/1000

    Examples
    --------
    >>> from crypsis.searches.partitions import Genetic
    >>> Genetic(epochs=100).partition(np.array([[1.0], [1.1], [5.0], [5.2]]), 2, np.random.default_rng(0))
    array([0, 0, 1, 1], dtype=int32)
    """
