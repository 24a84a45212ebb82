"""The hybrids of Martínez-Ballesté, Solanas, Domingo-Ferrer and Mateo-Sanz (2007): a heuristic, then evolution.

A fixed-size heuristic cuts the table into macrogroups of about K records; each is then partitioned by the
genetic algorithm, or exactly where it is small enough. *One-step* forms macrogroups of records; *two-step*
forms them of whole groups, so that none is torn, and evolves from those groups: never worse than the heuristic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, model_validator

from crypsis.errors import PlanError, listing
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.masking.partitioning import Partitioner, partitioner_comparisons, partitioners
from crypsis.searches.ga_microaggregation import (
    GeneticPartitioner,
    GeneticSettings,
    renumber_ga_microaggregation_groups,
)
from crypsis.searches.partitions.lower_bound import MOST_RECORDS
from crypsis.searches.partitions.microaggregation_search import MicroaggregationSearch
from crypsis.searches.partitions.space import BLOCK
from crypsis.searches.search import Idle, searches

GROUPS = 9
"""Groups of k that a macrogroup holds where its size is not given: K = 27 for k = 3, the paper's largest."""
AT_MOST = 3_000_000_000
"""Coordinates the heuristic may compare on the whole table: some seconds."""


def split_hybrid_groups(points: NDArray[np.float64], labels: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """The partition of a hybrid with every group of 2k or more split by MDAV, which never raises the SSE."""
    labels = renumber_ga_microaggregation_groups(labels)
    sizes = np.bincount(labels)
    used = len(sizes)
    for group in np.flatnonzero(sizes >= 2 * k):
        rows = np.flatnonzero(labels == group)
        labels[rows] = used + mdav(np.ascontiguousarray(points[rows]), k, GENERIC, EUCLIDEAN)
        used = int(labels.max()) + 1
    return renumber_ga_microaggregation_groups(labels)


def group_means_for_hybrid(points: NDArray[np.float64], labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """float64[groups, p]: the average vector of each group that the heuristic of a hybrid makes."""
    sums = np.zeros((int(labels.max()) + 1, points.shape[1]))
    np.add.at(sums, labels, points)
    return sums / np.bincount(labels)[:, None]


class HybridSettings(GeneticSettings):
    """Settings of both hybrids."""

    heuristic: str = Field(
        default="mdav", max_length=60, description="registered partitioner that forms the macrogroups"
    )
    macrogroup: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="K, the records a macrogroup should have at least; 0 means nine groups of k",
    )
    solver: Literal["genetic", "exact"] = Field(
        default="genetic",
        description=f"how macrogroups are partitioned; 'exact' holds up to {MOST_RECORDS} records, larger ones evolve",
    )

    @model_validator(mode="after")
    def _check_heuristic(self) -> Self:
        if self.heuristic not in partitioners:
            raise ValueError(f"heuristic: there is no partitioner {self.heuristic!r}; known: {listing(partitioners)}")
        return self


class Hybrid(HybridSettings, GeneticPartitioner):
    """What the one-step and the two-step hybrid have in common."""

    def heuristic_for(self, points: NDArray[np.float64], k: int) -> Partitioner:
        """The heuristic, within blocks of near records where on the whole it would take long."""
        whole = partitioners.build(self.heuristic)
        if partitioner_comparisons(points, k) <= AT_MOST or self.heuristic == "blocks":
            return whole
        return partitioners.build("blocks", inner=self.heuristic, size=max(BLOCK, 4 * k), mending=0)

    def check(self, k: int) -> None:
        if 0 < self.macrogroup < k:
            raise PlanError(
                f"macrogroups of {self.macrogroup} records cannot hold groups of {k}; raise it or leave it out"
            )

    def solves_exactly(self, records: int) -> bool:
        return self.solver == "exact" and records <= MOST_RECORDS


@partitioners.add("one-step")
class OneStep(Hybrid):
    """Macrogroups of at least K records by the heuristic, each evolved from the heuristic's k-partition of it.

    Tears natural groups: often worse than the heuristic alone, better on clustered data. That the heuristic
    also starts one-step runs is not said in the paper, but its figures for Census fit only so.

    Notes
    -----
    - Formula: macrogroups of K records by the heuristic, each evolved
    - Paper: Martínez-Ballesté, Solanas, Domingo-Ferrer and Mateo-Sanz (2007)
    - Cost: n/K genetic runs
    - Departures: runs start from the heuristic's partition; macrogroups may be solved exactly

    Examples
    --------
    >>> from crypsis.searches.partitions import OneStep
    >>> OneStep(epochs=100).partition(np.array([[1.0], [1.1], [5.0], [5.2]]), 2, np.random.default_rng(0))
    array([0, 0, 1, 1], dtype=int32)
    """

    seeded: bool = Field(
        default=True,
        description="put the heuristic's k-partition of each macrogroup into its first population, else all is random",
    )

    def macrogroups(
        self, points: NDArray[np.float64], k: int, rng: Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        size = self.macrogroup or GROUPS * k
        heuristic = self.heuristic_for(points, size)
        if len(points) < size:
            macrolabels = np.zeros(len(points), dtype=np.int32)
        else:
            macrolabels = renumber_ga_microaggregation_groups(heuristic.partition(points, size, rng))
        if not self.seeded:
            return macrolabels, None
        start = np.empty(len(points), dtype=np.int32)
        used = 0
        for number in range(int(macrolabels.max()) + 1):
            rows = np.flatnonzero(macrolabels == number)
            inner = np.ascontiguousarray(points[rows])
            start[rows] = used + split_hybrid_groups(inner, heuristic.partition(inner, k, rng), k)
            used = int(start[rows].max()) + 1
        return macrolabels, start


@partitioners.add("two-step")
class TwoStep(Hybrid):
    """The heuristic's k-partition, its groups gathered into macrogroups of K/k by the heuristic again, then evolved.

    Never worse than the heuristic alone (Lemma 1). A K that is no multiple of k counts as the next lower one.

    Notes
    -----
    - Formula: the heuristic's groups, gathered K/k at a time by the heuristic over their centroids, each gathering
      evolved
    - Paper: Martínez-Ballesté, Solanas, Domingo-Ferrer and Mateo-Sanz (2007)
    - Cost: n/K genetic runs
    - Departures: macrogroups may be solved exactly; Lemma 1 holds because the best chromosome is kept

    Examples
    --------
    >>> from crypsis.searches.partitions import TwoStep
    >>> TwoStep(epochs=100).partition(np.array([[1.0], [1.1], [5.0], [5.2]]), 2, np.random.default_rng(0))
    array([0, 0, 1, 1], dtype=int32)
    """

    def macrogroups(
        self, points: NDArray[np.float64], k: int, rng: Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
        size = self.macrogroup or GROUPS * k
        heuristic = self.heuristic_for(points, k)
        start = split_hybrid_groups(points, heuristic.partition(points, k, rng), k)
        means = group_means_for_hybrid(points, start)
        if len(means) < size // k:
            return np.zeros(len(points), dtype=np.int32), start
        return renumber_ga_microaggregation_groups(heuristic.partition(means, size // k, rng))[start], start


# -- The search over a table.


@searches.add("hybrid-microaggregation")
class HybridMicroaggregationSearch(HybridSettings, MicroaggregationSearch):
    """Which records should become alike? Macrogroups by a heuristic for a grid of k, each evolved genetically.

    Every solution keeps k-anonymity over the columns it masks.

    Notes
    -----
    - Formula: per k of a grid, macrogroups of K records (one-step) or of K/k groups (two-step) by the heuristic, each
      partitioned by the genetic algorithm; front of loss and risk
    - Paper: Martínez-Ballesté, Solanas, Domingo-Ferrer and Mateo-Sanz (2007)
    - Cost: n/K genetic runs for each k; a generation of the search is a fixed number of genes
    - Departures: those of the partitioners one-step and two-step; a grid of k in place of one

    Examples
    --------
    >>> search = crypsis.HybridMicroaggregationSearch(k=3, k_values=2, epochs=100)
    >>> run = crypsis.evolve(crypsis.example(60), search=search, budget="2 generations", seed=1)
    >>> min(int(solution.figure("k")) for solution in run.front if not solution.baseline)
    3
    """

    variant: Literal["one-step", "two-step"] = Field(
        default="two-step",
        description="one-step: macrogroups of records, which may tear groups; two-step: macrogroups of the heuristic's "
        "groups, never worse than the heuristic",
    )
    seeded: bool = Field(
        default=True,
        description="put the heuristic's k-partition of each macrogroup into its first population, else all is random",
    )

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        idle = dict(super().idle(guided))
        if self.variant == "two-step":
            idle["seeded"] = Idle("with the variant two-step", "set variant to one-step")
        return idle

    def partitioner(self) -> Hybrid:
        settings = {name: getattr(self, name) for name in HybridSettings.model_fields}
        return TwoStep(**settings) if self.variant == "two-step" else OneStep(**settings, seeded=self.seeded)
