"""The kernels of composite groups with their arrays: load groups, let them walk, read them back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.composite import CompositeGroups, arrange_groups
from crypsis.kernels.composite_merges import merge_short_groups
from crypsis.kernels.composite_walk import WalkSettings, walk_groups
from crypsis.kernels.group_cost import Costing
from crypsis.searches.composites.space import CompositeSpace, Labels

DISSOLVING = 0.1
"""Probability that a change dissolves a group, times k; at most half of it."""
ANYWHERE = 0.05
"""Probability that a far record is looked at."""


class CompositeWalk:
    """Groups of one profile and k on the move, with their own chance."""

    def __init__(self, space: CompositeSpace, profile: int, k: int, chance: NDArray[np.uint64]) -> None:
        self.cells, self.around, self.room = space.cells[profile], space.around(k), space.room(k)
        self.k, self.chance, self.charges = k, chance, space.charges()
        n, p = self.cells.codes.shape
        slots = n // k + 1
        self.groups = CompositeGroups(
            labels=np.zeros(n, np.int32),
            head=np.zeros(slots, np.int32),
            after=np.zeros(n, np.int32),
            before=np.zeros(n, np.int32),
            sizes=np.zeros(slots, np.int32),
            costs=np.zeros((slots, p + 2)),
            fresh=np.zeros((2, p + 2)),
            used=np.zeros(1, np.int64),
        )

    def load(self, labels: Labels) -> float:
        """Start from groups 0, 1, … without gaps; their cost in cells."""
        return arrange_groups(self.groups, self.charges, self.cells, np.ascontiguousarray(labels, np.int32), self.room)

    def costs(self) -> NDArray[np.float64]:
        """What each group costs."""
        return self.groups.costs[: int(self.groups.used[0]), -1].copy()

    def record_cost(self) -> float:
        """What a record costs, weighed by what it costs: where most groups lose nothing, what those lose that do."""
        costs = self.costs()
        total = float(costs.sum())
        return float((costs**2 / self.groups.sizes[: len(costs)]).sum()) / total if total > 0.0 else 0.0

    def labels(self) -> Labels:
        """The groups as they are now."""
        return self.groups.labels.copy()

    def merge_short(self, least: int = 0) -> None:
        """Put groups of fewer records than `least`, or that miss a demand, together with near ones, where possible."""
        if least or self.charges is not None:
            stamp = np.zeros(len(self.groups.sizes) + 1, np.int32)
            merge_short_groups(self.groups, Costing(self.charges, self.cells, self.room), self.around, least, stamp)

    def anneal(self, work: int, hot: float, cold: float, price: float = 0.0) -> float:
        """Walk until so many cells were read while the temperature falls from hot to cold; the cost reached.

        price  what every group costs beside what it loses
        """
        pace = WalkSettings(self.k, work, hot, cold, min(DISSOLVING / self.k, DISSOLVING / 2), ANYWHERE, price)
        return walk_groups(self.groups, Costing(self.charges, self.cells, self.room), self.around, pace, self.chance)
