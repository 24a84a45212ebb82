"""The annealing kernels with their arrays: load a partition, let it walk, read it back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels import annealing, regions

LURE = 0.8
"""How much more often a region is chosen around a lonely record: its warmth to this power."""


class Walk:
    """One partition on the move, with its own chance."""

    def __init__(self, context: annealing.WalkContext, k: int, chance: NDArray[np.uint64]) -> None:
        n, p = context.points.shape
        slots = n // k + 1
        self.context = context
        self.chance = chance
        self.upheaval = min(0.1 / k, 0.05)
        self.lots = np.cumsum(context.warmth**LURE)
        self.everyone = np.arange(n, dtype=np.int32)
        self.measured = context.warmth
        self.groups = annealing.WalkGroups(
            labels=np.zeros(n, np.int32),
            place=np.zeros(n, np.int32),
            members=np.zeros((slots, 2 * k - 1), np.int32),
            sizes=np.zeros(slots, np.int32),
            centroids=np.zeros((slots, p)),
            used=np.zeros(1, np.int64),
            free=np.ones(n, np.bool_),
            trail=np.zeros((2, 3 * k), np.int32),
        )

    def temper(self, evenness: float) -> None:
        """Let the temperature follow the local spacing less than in full: not at all at 1, its root at 0.5."""
        usual = np.exp(np.log(self.measured).mean())
        self.context = self.context._replace(warmth=self.measured ** (1 - evenness) * usual**evenness)

    def unevenness(self) -> float:
        """How much the local spacing differs over the table: the deviation of its logarithm."""
        return float(np.log(self.measured).std())

    def load(self, labels: NDArray[np.int32]) -> float:
        """Start from this partition; its SSE."""
        annealing.arrange(self.groups, labels)
        return annealing.settle(self.groups, self.context.points, self.everyone)

    def labels(self) -> NDArray[np.int32]:
        """The partition as it is now."""
        return self.groups.labels.copy()

    def anneal(self, steps: int, hot: float, cold: float) -> float:
        """Walk while the temperature falls from hot to cold; the SSE reached, recomputed from the members."""
        annealing.anneal(self.groups, self.context, self.everyone, steps, hot, cold, self.upheaval, self.chance)
        return annealing.settle(self.groups, self.context.points, self.everyone)

    def seed(self) -> int:
        """A record around which much can be gained more often than one of the crowd."""
        lot = float(annealing.draw(self.chance)) * 2.0**-64 * self.lots[-1]
        return min(int(np.searchsorted(self.lots, lot, side="right")), len(self.lots) - 1)

    def resolve(self, rounds: int, records: int, steps: int, hot: float, cold: float) -> float:
        """Large-neighbourhood search: free the groups around a random record, anneal them alone, keep what got better.

        Each round frees about so many records for so many steps. Returns the SSE, never above what it was.
        """
        groups, context = self.groups, self.context
        room = np.zeros(min(max(records, 2 * groups.members.shape[1]), len(self.everyone)), np.int32)
        saved = self.labels()
        for _ in range(rounds):
            pool = room[: regions.region(groups, context, self.seed(), room)]
            before = annealing.settle(groups, context.points, pool)
            annealing.anneal(groups, context, pool, steps, hot, cold, self.upheaval, self.chance)
            if annealing.settle(groups, context.points, pool) > before:
                self.load(saved)
            else:
                saved[:] = groups.labels
        groups.free[:] = True
        return annealing.settle(groups, context.points, self.everyone)
