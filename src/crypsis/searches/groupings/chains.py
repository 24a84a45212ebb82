"""Clusters of the records by one group of columns, made better step by step: what each partitioner does in a quantum.

A chain depends on its columns and k alone, never on the clock: the clusters after a certain effort are always the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.engines import Serial
from crypsis.masking.heuristics import trivial
from crypsis.masking.locking import within_strata
from crypsis.masking.partition import Partitioner
from crypsis.searches.composites.blocks import WHOLE
from crypsis.searches.composites.lineages import WORK, CompositeLineage, CompositeLineages, Seat, run_cells
from crypsis.searches.composites.space import CompositeSpace, Labels
from crypsis.searches.composites.starts import mended
from crypsis.searches.composites.treatments import Treatments
from crypsis.searches.partitions.evolving import EvolvingPartitioner
from crypsis.searches.partitions.lineages import Lineage
from crypsis.searches.partitions.space import PartitionSpace
from crypsis.searches.partitions.starts import AT_ONCE, comparisons, first_partition

SEED = 2014
"""Of the chance inside a chain."""
BEGINNING = 20
"""Times that every cell is read until the records are halved into clusters, about."""


@dataclass
class Chain(ABC):
    """Clusters by effort: the first are quick, later ones lose less.

    space  the records by the columns of the group, with strata and demands
    k  least size of a cluster
    done  int32[n] each: the clusters after effort 0, 1, …
    """

    space: CompositeSpace
    k: int
    done: list[Labels] = field(default_factory=list)

    @abstractmethod
    def step(self) -> int:
        """One quantum of work; the cells that were read, about."""

    def after(self, effort: int) -> Labels:
        """The clusters after an effort, worked out if they are not yet."""
        while len(self.done) <= effort:
            self.step()
        return self.done[effort]


@dataclass
class CompositeChain(Chain):
    """The walk over composite groups: effort is the number of its annealing runs."""

    lineage: CompositeLineage | None = None

    def step(self) -> int:
        """Halve the records; then look for near records; then a quantum of the next run."""
        walk = CompositeLineages(self.space, (Seat(self.k),), Treatments((), ()), brief=True)
        if self.lineage is None:
            self.lineage = walk.begun(0, SEED)
            self.done.append(self.lineage.best)
            return BEGINNING * len(self.space) * len(self.space.names)
        if not walk.divisible(self.k):
            self.done.append(self.done[-1])
            return 1
        if len(self.space) <= WHOLE and self.space.survey():
            return WORK
        cells = min(WORK, run_cells(self.space, self.k, int(self.lineage.place[0])))
        self.lineage = walk.work(0, self.lineage)
        if int(self.lineage.place[0]) == len(self.done):
            self.done.append(self.lineage.best)
        return cells


@dataclass
class EvolvingChain(Chain):
    """A partitioner that searches, on the columns as points: effort e has had half of 2 to the e quanta."""

    partitioner: EvolvingPartitioner = field(kw_only=True)
    points: NDArray[np.float64] = field(kw_only=True)
    quanta: int = 0
    lineage: Lineage | None = None

    def step(self) -> int:
        """The first groups; then look for near records; then a quantum of the partitioner."""
        refinement, only = self.partitioner.refinement_of(len(self.points)), trivial(self.points, self.k)
        if self.lineage is None or only is not None:
            first = None
            if only is None and refinement.begins_anywhere and comparisons(self.points, self.k) > AT_ONCE:
                first = first_partition(self._records, self.k, None)
            begun = refinement.begin(self._records, self.k, SEED, first) if only is None else Lineage(self.k, only)
            self.lineage = begun
            self.done.append(self._legal(begun.labels))
            return WORK
        if refinement.walks and not self._records.surveyed(Serial()):
            return WORK
        tasks = refinement.tasks(self._records, self.lineage)
        found = [refinement.work(self._records, task) for task in tasks]
        self.lineage = refinement.absorb(self._records, self.lineage, found) if tasks else self.lineage
        self.quanta += 1
        if self.quanta == 1 << len(self.done) - 1:
            self.done.append(self._legal(self.lineage.labels))
        return WORK

    @cached_property
    def _records(self) -> PartitionSpace:
        return PartitionSpace(self.points, (self.k,))

    def _legal(self, labels: Labels) -> Labels:
        return legal(self.space, self.points, labels, self.k)


@dataclass
class OnceChain(Chain):
    """A partitioner that gives its groups at once, on the columns as points; no effort changes them."""

    partitioner: Partitioner = field(kw_only=True)
    points: NDArray[np.float64] = field(kw_only=True)

    def step(self) -> int:
        """All groups."""
        if self.done:
            self.done.append(self.done[0])
            return 1
        labels = self.partitioner.partition(self.points, self.k, np.random.default_rng(SEED))
        self.done.append(legal(self.space, self.points, labels, self.k))
        return WORK


def legal(space: CompositeSpace, points: NDArray[np.float64], labels: Labels, k: int) -> Labels:
    """Clusters of points, cut so that none crosses a stratum and joined until each meets what is demanded."""
    found = labels if not space.strata.any() else within_strata(labels, space.strata, points, k)
    return mended(space, 0, k, found)
