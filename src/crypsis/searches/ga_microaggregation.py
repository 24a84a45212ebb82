"""The genetic microaggregation of Solanas, Martínez-Ballesté, Mateo-Sanz and Domingo-Ferrer (2006).

Every record has a gene, every gene one of ⌊n/k⌋ letters; populations evolve by roulette, one-point crossover
and per-gene mutation towards fitness 1/(SSE + 1). Good up to about 50 records, hopeless from 100 on: for
larger tables the hybrids apply it to macrogroups. Here all of them are one refinement: a population for every
macrogroup, of which the plain algorithm has one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray
from pydantic import Field

from crypsis.encodings.partition import compact
from crypsis.evolution import Engine, State
from crypsis.kernels import genetic
from crypsis.kernels.annealing import sse
from crypsis.kernels.arrays import Floats, Int32s
from crypsis.masking.partitioning import check_points, partition_trivially, partitioners
from crypsis.registry import Settings
from crypsis.searches.partitions.chains import (
    EvolvingPartitioner,
    Labels,
    Memory,
    PartitionChain,
    Refinement,
    last_state_of_chains,
)
from crypsis.searches.partitions.lower_bound import optimal_partition
from crypsis.searches.partitions.microaggregation_search import MicroaggregationSearch
from crypsis.searches.partitions.space import PartitionSpace
from crypsis.searches.search import searches

QUANTUM = 4_000_000
"""Genes bred in a quantum: some 50 ms."""
EXACT_GENES = 50
"""Subsets an exact solution looks at in the time of one gene."""
NOTHING = np.empty(0, dtype=np.int32)


def renumber_ga_microaggregation_groups(labels: NDArray[Any]) -> NDArray[np.int32]:
    """GA microaggregation, the search: renumber the labels of its groups 0, 1, … by first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int32)
    order[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return order[inverse]


@dataclass(frozen=True)
class Epochs:
    """Some epochs of one macrogroup's population."""

    number: int
    rows: NDArray[np.int64]
    k: int
    epochs: int
    genes: NDArray[np.int32]
    sse: NDArray[np.float64]
    best: tuple[NDArray[Any], ...]
    """The fields of `genetic.Best`."""


@dataclass(frozen=True)
class MacrogroupEvolution(Refinement):
    """A refinement that evolves a population for each macrogroup, one after the other, and puts the best together.

    Memory: `macro` int32[n], the macrogroup of each row; `genes` int32[P, n], the chromosomes of all macrogroups side
    by side; `sse` float64[m, P]; `letters` int32[n], `least` float64[m], `epochs` int64[m, 2] and `words` uint64[m]:
    the best chromosome of each, its SSE, the epoch that met it and those passed, and the state of its generator.
    Seeds are spawned by the macrogroup's number: neither order nor place of the work changes a bit.
    """

    settings: GeneticPartitioner
    least: float = -math.inf
    name: str = "evolve"

    @property
    def begins_anywhere(self) -> bool:
        return False

    def begin(self, space: PartitionSpace, k: int, seed: int, first: Labels | None = None) -> PartitionChain:
        settings, points = self.settings, space.points
        macro, start = settings.macrogroups(points, k, np.random.default_rng(seed))
        count, n = int(macro.max()) + 1, len(points)
        memory: dict[str, NDArray[Any]] = {
            "macro": macro,
            "genes": np.zeros((settings.population, n), np.int32),
            "sse": np.zeros((count, settings.population)),
            "letters": np.zeros(n, np.int32),
            "least": np.zeros(count),
            "epochs": np.zeros((count, 2), np.int64),
            "words": np.array(
                [SeedSequence(seed, spawn_key=(m,)).generate_state(1, np.uint64)[0] for m in range(count)], np.uint64
            ),
            "start": np.array([math.nan if start is None else sse(points, start)]),
        }
        for number, rows in enumerate(_members(macro)):
            part = np.ascontiguousarray(points[rows])
            if partition_trivially(part, k) is not None:
                memory["epochs"][number, 1] = settings.epochs
                continue
            task = self._make_task(memory, number, rows, k, 0)
            population, best = genetic.Population(task.genes, task.sse), genetic.Best(*task.best)
            genetic.initialise_population(
                part,
                k,
                NOTHING if start is None else renumber_ga_microaggregation_groups(start[rows]),
                population,
                best,
            )
            _write(memory, task)
        return PartitionChain(k, _labels(memory), memory)

    def tasks(self, space: PartitionSpace, chain: PartitionChain) -> Sequence[Epochs]:
        """The next macrogroups in line, for as many epochs as fit into a quantum."""
        tasks, memory = list[Epochs](), chain.memory
        members, budget = _members(memory["macro"]), QUANTUM
        for number in np.flatnonzero(memory["epochs"][:, 1] < self.settings.epochs).tolist():
            rows = members[number]
            left = self.settings.epochs - int(memory["epochs"][number, 1])
            if self.settings.solves_exactly(len(rows)):
                spent, epochs = 3 ** len(rows) // EXACT_GENES, left
            else:
                epochs = min(left, max(1, budget // (self.settings.population * len(rows))))
                spent = epochs * self.settings.population * len(rows)
            tasks.append(self._make_task(memory, number, rows, chain.k, epochs))
            budget -= spent
            if budget <= 0 or epochs < left:
                break
        return tasks

    def work(self, space: PartitionSpace, task: Epochs) -> Epochs:
        points = np.ascontiguousarray(space.points[task.rows])
        letters, least, epochs, word = (part.copy() for part in task.best)  # what an engine hands over may be read-only
        if self.settings.solves_exactly(len(points)):
            letters[:], least[0] = optimal_partition(points, task.k)
            epochs[1] += task.epochs
            return Epochs(task.number, task.rows, task.k, 0, task.genes, task.sse, (letters, least, epochs, word))
        population = genetic.Population(task.genes.copy(), task.sse.copy())
        best, settings = genetic.Best(letters, least, epochs, word), self.settings
        rates = (settings.crossover_rate, settings.mutation_rate)
        genetic.evolve(points, task.k, population, best, (task.epochs, self.least), rates, settings.keep_best)
        return Epochs(task.number, task.rows, task.k, 0, population.genes, population.sse, tuple(best))

    def absorb(self, space: PartitionSpace, chain: PartitionChain, results: Sequence[Epochs]) -> PartitionChain:
        after = {name: array.copy() for name, array in chain.memory.items()}
        for task in results:
            _write(after, task)
        return PartitionChain(chain.k, _labels(after), after)

    @staticmethod
    def _make_task(memory: Memory, number: int, rows: NDArray[np.int64], k: int, epochs: int) -> Epochs:
        """What belongs to one macrogroup, copied."""
        best = (
            memory["letters"][rows],
            memory["least"][number : number + 1].copy(),
            memory["epochs"][number].copy(),
            memory["words"][number : number + 1].copy(),
        )
        genes = np.ascontiguousarray(memory["genes"][:, rows])
        return Epochs(number, rows, k, epochs, genes, memory["sse"][number].copy(), best)


def _write(memory: dict[str, NDArray[Any]], task: Epochs) -> None:
    letters, least, epochs, word = task.best
    memory["genes"][:, task.rows] = task.genes
    memory["sse"][task.number] = task.sse
    memory["letters"][task.rows] = letters
    memory["least"][task.number] = least[0]
    memory["epochs"][task.number] = epochs
    memory["words"][task.number] = word[0]


def _members(macro: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """Rows of each macrogroup, ascending."""
    return np.split(np.argsort(macro, kind="stable"), np.cumsum(np.bincount(macro))[:-1])


def _labels(memory: Memory) -> NDArray[np.int32]:
    """The best chromosomes put together."""
    return renumber_ga_microaggregation_groups(
        memory["macro"].astype(np.int64) * len(memory["macro"]) + memory["letters"]
    )


# -- The partitioner.


@dataclass(frozen=True)
class GeneticResult:
    """The best k-partition of one run."""

    labels: Int32s  # 0, 1, … in order of first appearance
    sse: float  # its sum of squared errors
    start_sse: float  # SSE of the k-partition evolution started from; NaN where it started from nothing
    macrogroups: int  # parts of the table that were evolved on their own
    convergence_epoch: int  # the first epoch at which the last of them reached its best; 0 is the first population


class GeneticSettings(Settings):
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


class GeneticPartitioner(GeneticSettings, EvolvingPartitioner):
    """A partitioner by the genetic algorithm, on the whole table or on macrogroups."""

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

        `rng`: the same one gives the same result.
        """
        states = self.search(points, k, rng, engine=engine, refinement=MacrogroupEvolution(self, least))
        return self._result(check_points(points, k), last_state_of_chains(states))

    @staticmethod
    def _result(points: Floats, state: State) -> GeneticResult:
        labels = renumber_ga_microaggregation_groups(compact(state.best))
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


# -- The search over a table.


@searches.add("ga-microaggregation")
class GaMicroaggregationSearch(GeneticSettings, MicroaggregationSearch):
    """Which records should become alike? Whole k-partitions for a grid of k, evolved by the genetic algorithm of 2006.

    Good for tables of up to about 50 records; for larger ones see hybrid-microaggregation and memetic. Every solution
    keeps k-anonymity over the columns it masks.

    Notes
    -----
    - Formula: chromosome: one of ⌊n/k⌋ letters per record; fitness 1/(1 + SSE); roulette, one-point crossover,
      per-gene mutation; one population per k of a grid; front of loss and risk
    - Paper: Solanas, Martínez-Ballesté, Mateo-Sanz and Domingo-Ferrer (2006)
    - Cost: O(epochs · population · n) generated genes for each k; a generation of the search is a fixed number of genes
    - Departures: those of the partitioner genetic; a grid of k in place of one

    Examples
    --------
    >>> search = crypsis.GaMicroaggregationSearch(k=3, k_values=2, epochs=100)
    >>> run = crypsis.evolve(crypsis.example(60), search=search, budget="2 generations", seed=1)
    >>> min(int(solution.figure("k")) for solution in run.front if not solution.baseline)
    3
    """

    def partitioner(self) -> Genetic:
        return Genetic(**{name: getattr(self, name) for name in GeneticSettings.model_fields})
