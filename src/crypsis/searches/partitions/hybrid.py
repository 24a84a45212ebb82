"""The hybrids of Martínez-Ballesté, Solanas, Domingo-Ferrer and Mateo-Sanz (2007): a heuristic, then evolution.

A fixed-size heuristic cuts the table into macrogroups of about K records; each is then partitioned by the
genetic algorithm, or exactly where it is small enough. *One-step* forms macrogroups of records; *two-step*
forms them of whole groups, so that none is torn, and evolves from those groups: never worse than the heuristic.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray
from pydantic import Field

from crypsis.engines import Engine, Serial
from crypsis.errors import PlanError
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.kernels.squares import sse
from crypsis.masking.heuristics import checked, trivial
from crypsis.masking.partition import Partitioner, partitioners
from crypsis.searches.exhaustive import MOST_RECORDS, optimal_partition
from crypsis.searches.partitions.genetic import Evolving, renumbered


@dataclass(frozen=True)
class Macrogroup:
    """One independent piece of work."""

    rows: NDArray[np.int64]
    start: NDArray[np.int32] | None
    """The k-partition these rows already have, with groups of k … 2k − 1."""
    seed: int


@dataclass(frozen=True)
class Terrain:
    """What all macrogroups share."""

    points: NDArray[np.float64]
    k: int
    settings: Hybrid


@dataclass(frozen=True)
class HybridResult:
    labels: NDArray[np.int32]
    sse: float
    start_sse: float
    """SSE of the k-partition evolution started from; NaN where it started from nothing."""
    macrogroups: int


def solve(terrain: Terrain, macrogroup: Macrogroup) -> NDArray[np.int32]:
    """The best k-partition found of one macrogroup: a pure function, its chance comes from its own seed."""
    points = np.ascontiguousarray(terrain.points[macrogroup.rows])
    if terrain.settings.solver == "exact" and len(points) <= MOST_RECORDS:
        return optimal_partition(points, terrain.k)[0]
    return terrain.settings.evolved(points, terrain.k, macrogroup.seed, macrogroup.start).labels


def refine(
    terrain: Terrain, macrolabels: NDArray[np.int32], start: NDArray[np.int32] | None, seed: int, engine: Engine
) -> HybridResult:
    """Partition every macrogroup on its own and put the pieces together.

    macrolabels  int32[n]: macrogroup 0, 1, … of each row
    start        int32[n]: a k-partition no group of which is torn by a macrogroup, or nothing
    Seeds are spawned by the macrogroup's number: neither order nor place of the work changes a bit.
    """
    count = int(macrolabels.max()) + 1
    members = np.split(np.argsort(macrolabels, kind="stable"), np.cumsum(np.bincount(macrolabels))[:-1])
    tasks = [
        Macrogroup(
            rows,
            None if start is None else renumbered(start[rows]),
            int(SeedSequence(seed, spawn_key=(number,)).generate_state(1, np.uint64)[0]),
        )
        for number, rows in enumerate(members)
    ]
    labels = np.empty(len(macrolabels), dtype=np.int32)
    used = 0
    for task, found in zip(tasks, engine.map(solve, tasks, terrain), strict=True):
        labels[task.rows] = found + used
        used += int(found.max()) + 1
    labels = renumbered(labels)
    before = float("nan") if start is None else sse(terrain.points, start)
    return HybridResult(labels, sse(terrain.points, labels), before, count)


def within_bounds(points: NDArray[np.float64], labels: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """The partition with every group of 2k or more split by MDAV, which never raises the SSE."""
    labels = renumbered(labels)
    sizes = np.bincount(labels)
    used = len(sizes)
    for group in np.flatnonzero(sizes >= 2 * k):
        rows = np.flatnonzero(labels == group)
        labels[rows] = used + mdav(np.ascontiguousarray(points[rows]), k, GENERIC, EUCLIDEAN)
        used = int(labels.max()) + 1
    return renumbered(labels)


def group_means(points: NDArray[np.float64], labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """float64[groups, p]: the average vector of each group."""
    sums = np.zeros((int(labels.max()) + 1, points.shape[1]))
    np.add.at(sums, labels, points)
    return sums / np.bincount(labels)[:, None]


class Hybrid(Evolving):
    """What the one-step and the two-step hybrid have in common."""

    heuristic: str = Field(default="mdav", description="registered partitioner that forms the macrogroups")
    macrogroup: int = Field(default=27, ge=2, le=1000, description="K, the records a macrogroup should have at least")
    solver: Literal["genetic", "exact"] = Field(
        default="genetic",
        description=f"how macrogroups are partitioned; 'exact' holds up to {MOST_RECORDS} records, larger ones evolve",
    )

    def run(self, points: NDArray[np.float64], k: int, rng: Generator, engine: Engine | None = None) -> HybridResult:
        """Macrogroups, each partitioned on its own through the engine (this process if none is given)."""
        points = checked(points, k)
        if self.macrogroup < k:
            raise PlanError(f"macrogroups of {self.macrogroup} records cannot hold groups of {k}; raise 'macrogroup'")
        seed = int(rng.integers(2**63))
        only = trivial(points, k)
        if only is not None:
            loss = sse(points, only)
            return HybridResult(only, loss, loss, 1)
        macrolabels, start = self.prepare(points, k, partitioners.build(self.heuristic), rng)
        terrain = Terrain(points, k, self)
        return refine(terrain, macrolabels, start, seed, engine or Serial())

    @abstractmethod
    def prepare(
        self, points: NDArray[np.float64], k: int, heuristic: Partitioner, rng: Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        """Macrogroup of each row, and the k-partition to start from if there is one."""

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        return self.run(points, k, rng).labels


@partitioners.add("one-step")
class OneStep(Hybrid):
    """Macrogroups of at least K records by the heuristic, each evolved from the heuristic's k-partition of it.

    Tears natural groups: often worse than the heuristic alone, better on clustered data. That the heuristic
    also starts one-step runs is not said in the paper, but its figures for Census fit only so.
    """

    seeded: bool = Field(
        default=True,
        description="put the heuristic's k-partition of each macrogroup into its first population, else all is random",
    )

    def prepare(
        self, points: NDArray[np.float64], k: int, heuristic: Partitioner, rng: Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        if len(points) < self.macrogroup:
            macrolabels = np.zeros(len(points), dtype=np.int32)
        else:
            macrolabels = renumbered(heuristic.partition(points, self.macrogroup, rng))
        if not self.seeded:
            return macrolabels, None
        start = np.empty(len(points), dtype=np.int32)
        used = 0
        for number in range(int(macrolabels.max()) + 1):
            rows = np.flatnonzero(macrolabels == number)
            inner = np.ascontiguousarray(points[rows])
            start[rows] = used + within_bounds(inner, heuristic.partition(inner, k, rng), k)
            used = int(start[rows].max()) + 1
        return macrolabels, start


@partitioners.add("two-step")
class TwoStep(Hybrid):
    """The heuristic's k-partition, its groups gathered into macrogroups of K/k by the heuristic again, then evolved.

    Never worse than the heuristic alone (Lemma 1). A K that is no multiple of k counts as the next lower one.
    """

    def prepare(
        self, points: NDArray[np.float64], k: int, heuristic: Partitioner, rng: Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        start = within_bounds(points, heuristic.partition(points, k, rng), k)
        means = group_means(points, start)
        together = self.macrogroup // k
        if len(means) < together:
            return np.zeros(len(points), dtype=np.int32), start
        return renumbered(heuristic.partition(means, together, rng))[start], start
