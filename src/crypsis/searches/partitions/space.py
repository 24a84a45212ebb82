"""The records to be partitioned, and what walks over their partitions need to know: surveyed once for every k."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.annealing import WalkContext
from crypsis.kernels.partitions import path_optimum
from crypsis.kernels.tsp import tour
from crypsis.searches.partitions.neighbourhoods import EXACT_UP_TO, Near, nearest, nearly_nearest

TEPID = 1e-3
"""Least warmth of a record, in medians: duplicates have no spacing, yet must be able to move."""
TOUR_UP_TO = 20_000
"""Records up to which a tour is worth its time."""


@dataclass(frozen=True, eq=False)
class PartitionSpace:
    """Scaled records and the group sizes they are partitioned into.

    Parameters
    ----------
    points : ndarray of shape (n, p)
        Finite and already scaled.
    ladder : tuple of int
        Every k a partition is wanted for.
    """

    points: NDArray[np.float64]
    ladder: tuple[int, ...]
    _contexts: dict[int, WalkContext] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {"points": self.points, "ladder": self.ladder, "_contexts": {}}  # a worker surveys for itself

    def __len__(self) -> int:
        return len(self.points)

    def context(self, k: int) -> WalkContext:
        """Neighbour lists and the local warmth, for walks at one k."""
        if k not in self._contexts:
            squares, rows = self._survey
            warmth = squares[:, : k - 1].mean(axis=1)
            floor = TEPID * float(np.median(warmth))
            self._contexts[k] = WalkContext(
                self._padded,
                np.ascontiguousarray(rows[:, : reach(k)]),
                np.maximum(warmth, floor if floor > 0 else max(float(warmth.mean()), 1.0)),
            )
        return self._contexts[k]

    def along_tour(self, k: int) -> NDArray[np.int32] | None:
        """The best groups of k … 2k − 1 records that follow each other on a short tour; None for very large tables."""
        if len(self) > TOUR_UP_TO:
            return None
        labels = np.empty(len(self), np.int32)
        labels[self._tour] = path_optimum(self.points[self._tour], k)
        return labels

    @cached_property
    def _tour(self) -> NDArray[np.int32]:
        """The records in the order of a short tour that begins at the outermost."""
        context = self.context(min(self.ladder))
        outermost = int(np.square(self.points - self.points.mean(axis=0)).sum(axis=1).argmax())
        return tour(context.points, context.neighbours, outermost)

    @cached_property
    def _survey(self) -> Near:
        """Who is near whom, as far as the largest k asks."""
        near = nearest if len(self) <= EXACT_UP_TO else nearly_nearest
        return near(self.points, min(len(self) - 1, reach(max(self.ladder))))

    @cached_property
    def _padded(self) -> NDArray[np.float64]:
        """The points, with zero columns up to a multiple of four."""
        n, p = self.points.shape
        padded = np.zeros((n, max(-(-p // 4) * 4, 4)))
        padded[:, :p] = self.points
        return padded

    @cached_property
    def total(self) -> float:
        """SST: what one group of all would lose."""
        return float(np.square(self.points - self.points.mean(axis=0)).sum())


def reach(k: int) -> int:
    """Neighbours listed for each record: 3k, but beyond sixty half of that, which finds groups as tight."""
    return max(10, min(3 * k, 60), 3 * k // 2)
