"""Macrogroups of records, each with a population of k-partitions that evolves on its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from crypsis.kernels import genetic
from crypsis.kernels.squares import sse
from crypsis.masking.heuristics import trivial
from crypsis.searches.exhaustive import optimal_partition
from crypsis.searches.partitions.lineages import Labels, Lineage, Memory, Refinement
from crypsis.searches.partitions.space import PartitionSpace

if TYPE_CHECKING:
    from crypsis.searches.partitions.genetic import GeneticPartitioner

QUANTUM = 4_000_000
"""Genes bred in a quantum: some 50 ms."""
EXACT_GENES = 50
"""Subsets an exact solution looks at in the time of one gene."""
NOTHING = np.empty(0, dtype=np.int32)


def renumbered(labels: NDArray[Any]) -> NDArray[np.int32]:
    """The same groups with labels 0, 1, … in order of first appearance."""
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

    def begin(self, space: PartitionSpace, k: int, seed: int, first: Labels | None = None) -> Lineage:
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
            if trivial(part, k) is not None:
                memory["epochs"][number, 1] = settings.epochs
                continue
            piece = self._piece(memory, number, rows, k, 0)
            brood, best = genetic.Brood(piece.genes, piece.sse), genetic.Best(*piece.best)
            genetic.found(part, k, NOTHING if start is None else renumbered(start[rows]), brood, best)
            _write(memory, piece)
        return Lineage(k, _labels(memory), memory)

    def tasks(self, space: PartitionSpace, lineage: Lineage) -> Sequence[Epochs]:
        """The next macrogroups in line, for as many epochs as a quantum has room for."""
        pieces, memory = list[Epochs](), lineage.memory
        members, room = _members(memory["macro"]), QUANTUM
        for number in np.flatnonzero(memory["epochs"][:, 1] < self.settings.epochs).tolist():
            rows = members[number]
            left = self.settings.epochs - int(memory["epochs"][number, 1])
            if self.settings.solves_exactly(len(rows)):
                spent, epochs = 3 ** len(rows) // EXACT_GENES, left
            else:
                epochs = min(left, max(1, room // (self.settings.population * len(rows))))
                spent = epochs * self.settings.population * len(rows)
            pieces.append(self._piece(memory, number, rows, lineage.k, epochs))
            room -= spent
            if room <= 0 or epochs < left:
                break
        return pieces

    def work(self, space: PartitionSpace, task: Epochs) -> Epochs:
        points = np.ascontiguousarray(space.points[task.rows])
        letters, least, epochs, word = (part.copy() for part in task.best)  # what an engine hands over may be read-only
        if self.settings.solves_exactly(len(points)):
            letters[:], least[0] = optimal_partition(points, task.k)
            epochs[1] += task.epochs
            return Epochs(task.number, task.rows, task.k, 0, task.genes, task.sse, (letters, least, epochs, word))
        brood = genetic.Brood(task.genes.copy(), task.sse.copy())
        best, settings = genetic.Best(letters, least, epochs, word), self.settings
        rates = (settings.crossover_rate, settings.mutation_rate)
        genetic.evolve(points, task.k, brood, best, (task.epochs, self.least), rates, settings.keep_best)
        return Epochs(task.number, task.rows, task.k, 0, brood.genes, brood.sse, tuple(best))

    def absorb(self, space: PartitionSpace, lineage: Lineage, results: Sequence[Epochs]) -> Lineage:
        after = {name: array.copy() for name, array in lineage.memory.items()}
        for piece in results:
            _write(after, piece)
        return Lineage(lineage.k, _labels(after), after)

    @staticmethod
    def _piece(memory: Memory, number: int, rows: NDArray[np.int64], k: int, epochs: int) -> Epochs:
        """What belongs to one macrogroup, copied."""
        best = (
            memory["letters"][rows],
            memory["least"][number : number + 1].copy(),
            memory["epochs"][number].copy(),
            memory["words"][number : number + 1].copy(),
        )
        genes = np.ascontiguousarray(memory["genes"][:, rows])
        return Epochs(number, rows, k, epochs, genes, memory["sse"][number].copy(), best)


def _write(memory: dict[str, NDArray[Any]], piece: Epochs) -> None:
    letters, least, epochs, word = piece.best
    memory["genes"][:, piece.rows] = piece.genes
    memory["sse"][piece.number] = piece.sse
    memory["letters"][piece.rows] = letters
    memory["least"][piece.number] = least[0]
    memory["epochs"][piece.number] = epochs
    memory["words"][piece.number] = word[0]


def _members(macro: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """Rows of each macrogroup, ascending."""
    return np.split(np.argsort(macro, kind="stable"), np.cumsum(np.bincount(macro))[:-1])


def _labels(memory: Memory) -> NDArray[np.int32]:
    """The best chromosomes put together."""
    return renumbered(memory["macro"].astype(np.int64) * len(memory["macro"]) + memory["letters"])
