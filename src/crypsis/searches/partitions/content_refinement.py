"""Partitions whose groups must hold what models demand: merges until every group passes, then a walk that keeps it so.

Merging is that of Soria-Comas et al. (2015); the walk lets groups fall short for a while at a price, which is what
crosses the barriers between partitions that pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.content_walk import ContentGroups, load_groups, merge_short, walk_contents
from crypsis.kernels.contents import ORDERED
from crypsis.kernels.squares import sse
from crypsis.privacy.demands import ClassDemands
from crypsis.searches.partitions.lineages import Labels, Lineage, Refinement
from crypsis.searches.partitions.space import PartitionSpace

ASKED = 40
"""Groups whose contents are looked at for one merge, the nearest first."""
MOVES = 40
"""Changes tried per record in a quantum, in tables of up to `MOST_MOVES` changes."""
MOST_MOVES = 200_000
PRICE = 30.0
"""Price of a record in a group that falls short in full, in mean squared distances of records from their groups."""
HOT, COLD = 0.5, 0.01
"""Temperatures of a quantum, in the same unit."""

Walked = tuple[Labels, int]


@dataclass(frozen=True, eq=False)
class ContentRefinement(Refinement):
    """A refinement under demands on what every group holds.

    Memory: `seed` int64[1], of the next quantum.

    start  makes the first partition, which need not meet the demands
    """

    start: Refinement
    demands: ClassDemands = field(repr=False)
    name: str = "walk"

    @property
    def walks(self) -> bool:
        return True

    def begin(self, space: PartitionSpace, k: int, seed: int, first: Labels | None = None) -> Lineage:
        firsts = [self.start.begin(space, k, seed, first).labels, self._by_slices(space, k)]
        mended = [self._merged(space, labels) for labels in firsts if labels is not None]
        best = min(mended, key=lambda labels: self._rank(space, labels))
        return Lineage(k, best, {"seed": np.array([seed], dtype=np.int64)})

    def tasks(self, space: PartitionSpace, lineage: Lineage) -> Sequence[tuple[int, Labels, int]]:
        return [(lineage.k, lineage.labels, int(lineage.memory["seed"][0]))]

    def work(self, space: PartitionSpace, task: tuple[int, Labels, int]) -> Walked:
        k, labels, seed = task
        rng = np.random.default_rng([seed, k])
        groups, room = self._loaded(space, labels), self.demands.room()
        context = space.context(k)
        unit = max(sse(space.points, labels) / max(len(labels), 1), 1e-12)
        moves = min(MOVES * len(labels), MOST_MOVES)
        settings = np.array([k, moves, HOT * unit * rng.random(), COLD * unit, PRICE * unit])
        chance = rng.integers(1, 2**63, size=1).astype(np.uint64)
        near = np.empty(k, dtype=np.int64)
        walk_contents(groups, space.points, context.neighbours, settings, self.demands.arrays, room, chance, near)
        merge_short(groups, space.points, ASKED, self.demands.arrays, room, np.empty(len(labels)))
        return _compacted(groups.label), int(rng.integers(2**62))

    def absorb(self, space: PartitionSpace, lineage: Lineage, results: Sequence[Walked]) -> Lineage:
        ((labels, seed),) = results
        better = self._rank(space, labels) < self._rank(space, lineage.labels)
        return Lineage(lineage.k, labels if better else lineage.labels, {"seed": np.array([seed], dtype=np.int64)})

    def _rank(self, space: PartitionSpace, labels: Labels) -> tuple[float, float]:
        """Shortfall first, then SSE."""
        sizes = np.bincount(labels)
        return float((self.demands.shortfalls(labels) * sizes).sum()), sse(space.points, labels)

    def _loaded(self, space: PartitionSpace, labels: Labels) -> ContentGroups:
        n, p = space.points.shape
        label, after, before, head, size, members = (np.zeros(n, dtype=np.int64) for _ in range(6))
        groups = ContentGroups(label, after, before, head, size, np.zeros((n, p)), np.zeros(n), members)
        load_groups(groups, space.points, labels.astype(np.int32), self.demands.arrays, self.demands.room())
        return groups

    def _merged(self, space: PartitionSpace, labels: Labels) -> Labels:
        groups = self._loaded(space, labels)
        room, cost = self.demands.room(), np.empty(len(labels))
        merge_short(groups, space.points, ASKED, self.demands.arrays, room, cost)
        return _compacted(groups.label)

    def _by_slices(self, space: PartitionSpace, k: int) -> Labels | None:
        """t-closeness first: every group takes one record from each of k′ slices of the ordered confidential values."""
        arrays = self.demands.arrays
        ordered = np.flatnonzero(arrays.kind == ORDERED)
        if not len(ordered):
            return None
        d = int(ordered[np.argmin(arrays.bound[ordered, 0])])
        codes, t = arrays.code[arrays.column[d]], float(arrays.bound[d, 0])
        n = len(codes)
        slices = max(k, int(np.ceil(n / (2 * (n - 1) * t + 1)))) if n > 1 else n
        return None if n < 2 * slices else sliced(space.points, np.argsort(codes, kind="stable"), slices)


def sliced(points: NDArray[np.float64], order: NDArray[np.int64], slices: int) -> Labels:
    """Groups of one record from each slice of an order: the farthest record left takes the nearest of every slice.

    Where the slices differ in length, those in the middle are longer, and the last groups take what is left of them.
    """
    n = len(order)
    base, surplus = divmod(n, slices)
    lengths = np.full(slices, base)
    middle = (slices - surplus) // 2
    lengths[middle : middle + surplus] += 1
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    left = [order[begin:end].tolist() for begin, end in pairwise(bounds)]
    labels = np.full(n, -1, dtype=np.int32)
    centre = points.mean(axis=0)
    for group in range(base):
        remaining = np.flatnonzero(labels < 0)
        seed = remaining[int(((points[remaining] - centre) ** 2).sum(axis=1).argmax())]
        for part in left:
            near = int(((points[part] - points[seed]) ** 2).sum(axis=1).argmin())
            labels[part.pop(near)] = group
    for part in left:
        for row in part:  # one more record for the nearest group
            means = np.stack([points[labels == group].mean(axis=0) for group in range(base)])
            labels[row] = int(((means - points[row]) ** 2).sum(axis=1).argmin())
    return labels


def _compacted(labels: NDArray[np.int64]) -> Labels:
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)
