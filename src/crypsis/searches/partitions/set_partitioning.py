"""The best partition that can be put together from groups already seen: set partitioning, solved by HiGHS."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

NODES = 200
"""Branch-and-bound nodes allowed to one choice: with no clock involved the same pool gives the same answer."""


class Pool:
    """Distinct groups met in good partitions, each with its SSE; oldest given up first when full."""

    def __init__(self, points: NDArray[np.float64], most: int) -> None:
        self.points = points
        self.most = most
        self.costs: dict[bytes, float] = {}

    def __len__(self) -> int:
        return len(self.costs)

    def add(self, labels: NDArray[np.int32], costs: NDArray[np.float64]) -> None:
        """Remember the groups of a partition; `costs` are their SSE by label."""
        order = np.argsort(labels, kind="stable").astype(np.int32)
        ends = np.cumsum(np.bincount(labels))
        start = 0
        for end, cost in zip(ends.tolist(), costs.tolist(), strict=True):
            key = order[start:end].tobytes()
            self.costs.pop(key, None)
            self.costs[key] = cost
            start = end
        while len(self.costs) > self.most:
            del self.costs[next(iter(self.costs))]

    def choose(self, seconds: float | None) -> NDArray[np.int32] | None:
        """The cheapest partition out of the pool's groups that HiGHS finds within its limits, or None."""
        groups = [np.frombuffer(key, np.int32) for key in self.costs]
        sizes = np.array([len(group) for group in groups])
        starts = np.concatenate(([0], np.cumsum(sizes)))
        cover = csc_array((np.ones(starts[-1]), np.concatenate(groups), starts), shape=(len(self.points), len(groups)))
        found = milp(
            np.fromiter(self.costs.values(), np.float64),
            integrality=np.ones(len(groups), np.int64),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(cover, 1, 1),
            options={"node_limit": NODES, "mip_rel_gap": 1e-7, "time_limit": math.inf if seconds is None else seconds},
        )
        if found.x is None:
            return None
        labels = np.full(len(self.points), -1, np.int32)
        for label, place in enumerate(np.flatnonzero(found.x > 0.5)):
            labels[groups[place]] = label
        return labels if labels.min() >= 0 and int(sizes[found.x > 0.5].sum()) == len(labels) else None
