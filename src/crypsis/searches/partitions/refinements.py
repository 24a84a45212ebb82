"""Refinements that any search over partitions may need: demands on what groups hold, and exchanges within blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.annealing import sse
from crypsis.kernels.classes import ORDERED, ContentGroups, load_groups, merge_short, walk_contents
from crypsis.masking.partitioning import QUICK_BLOCK, Blocks, Border, GroupLayout, mend_partition_border
from crypsis.privacy.demands import ClassDemands
from crypsis.searches.partitions.chains import Labels, Memory, PartitionChain, Refinement
from crypsis.searches.partitions.space import PartitionSpace

# -- Simulated annealing under demands on what every group holds.

ASKED = 40
"""Groups whose contents are looked at for one merge, the nearest first."""
CONTENT_MOVES = 40
"""Changes tried per record in a quantum, in tables of up to `MOST_MOVES` changes."""
MOST_MOVES = 200_000
PRICE = 30.0
"""Price of a record in a group that falls short in full, in mean squared distances of records from their groups."""
HOT, CONTENT_COLD = 0.5, 0.01
"""Temperatures of a quantum, in the same unit."""

Annealed = tuple[Labels, int]


@dataclass(frozen=True, eq=False)
class ContentRefinement(Refinement):
    """A refinement under demands on what every group holds.

    Memory: `seed` int64[1], of the next quantum.
    """

    start: Refinement  # makes the first partition, which need not meet the demands
    demands: ClassDemands = field(repr=False)
    name: str = "anneal"

    @property
    def needs_neighbours(self) -> bool:
        return True

    def begin(self, space: PartitionSpace, k: int, seed: int, first: Labels | None = None) -> PartitionChain:
        firsts = [self.start.begin(space, k, seed, first).labels, self._group_by_slices(space, k)]
        merged = [self._merge_groups(space, labels) for labels in firsts if labels is not None]
        best = min(merged, key=lambda labels: self._rank(space, labels))
        return PartitionChain(k, best, {"seed": np.array([seed], dtype=np.int64)})

    def tasks(self, space: PartitionSpace, chain: PartitionChain) -> Sequence[tuple[int, Labels, int]]:
        return [(chain.k, chain.labels, int(chain.memory["seed"][0]))]

    def work(self, space: PartitionSpace, task: tuple[int, Labels, int]) -> Annealed:
        k, labels, seed = task
        rng = np.random.default_rng([seed, k])
        groups, workspace = self._load_groups(space, labels), self.demands.room()
        context = space.context(k)
        unit = max(sse(space.points, labels) / max(len(labels), 1), 1e-12)
        moves = min(CONTENT_MOVES * len(labels), MOST_MOVES)
        settings = np.array([k, moves, HOT * unit * rng.random(), CONTENT_COLD * unit, PRICE * unit])
        random_state = rng.integers(1, 2**63, size=1).astype(np.uint64)
        near = np.empty(k, dtype=np.int64)
        walk_contents(
            groups, space.points, context.neighbours, settings, self.demands.arrays, workspace, random_state, near
        )
        merge_short(groups, space.points, ASKED, self.demands.arrays, workspace, np.empty(len(labels)))
        return _compact(groups.label), int(rng.integers(2**62))

    def absorb(self, space: PartitionSpace, chain: PartitionChain, results: Sequence[Annealed]) -> PartitionChain:
        ((labels, seed),) = results
        better = self._rank(space, labels) < self._rank(space, chain.labels)
        return PartitionChain(chain.k, labels if better else chain.labels, {"seed": np.array([seed], dtype=np.int64)})

    def _rank(self, space: PartitionSpace, labels: Labels) -> tuple[float, float]:
        """Shortfall first, then SSE."""
        sizes = np.bincount(labels)
        return float((self.demands.shortfalls(labels) * sizes).sum()), sse(space.points, labels)

    def _load_groups(self, space: PartitionSpace, labels: Labels) -> ContentGroups:
        n, p = space.points.shape
        label, after, before, head, size, members = (np.zeros(n, dtype=np.int64) for _ in range(6))
        groups = ContentGroups(label, after, before, head, size, np.zeros((n, p)), np.zeros(n), members)
        load_groups(groups, space.points, labels.astype(np.int32), self.demands.arrays, self.demands.room())
        return groups

    def _merge_groups(self, space: PartitionSpace, labels: Labels) -> Labels:
        groups = self._load_groups(space, labels)
        workspace, cost = self.demands.room(), np.empty(len(labels))
        merge_short(groups, space.points, ASKED, self.demands.arrays, workspace, cost)
        return _compact(groups.label)

    def _group_by_slices(self, space: PartitionSpace, k: int) -> Labels | None:
        """t-closeness first: every group takes one record from each of k′ slices of the ordered confidential values."""
        arrays = self.demands.arrays
        ordered = np.flatnonzero(arrays.kind == ORDERED)
        if not len(ordered):
            return None
        d = int(ordered[np.argmin(arrays.bound[ordered, 0])])
        codes, t = arrays.code[arrays.column[d]], float(arrays.bound[d, 0])
        n = len(codes)
        slices = max(k, int(np.ceil(n / (2 * (n - 1) * t + 1)))) if n > 1 else n
        return None if n < 2 * slices else refine_slice_groups(space.points, np.argsort(codes, kind="stable"), slices)


def refine_slice_groups(points: NDArray[np.float64], order: NDArray[np.int64], slices: int) -> Labels:
    """Refined groups, one record from each slice of an order: the farthest one left takes the nearest of each slice.

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


def _compact(labels: NDArray[np.int64]) -> Labels:
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


# -- Partitions of large tables: MDAV within blocks, then exchanges between near groups across ever new blocks.
#
# No neighbour lists are needed and the work is done block by block, so that its time grows as the table does.

BLOCKS = 4
"""Blocks in which records are exchanged in a quantum."""

Exchanged = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows, and the group of each."""


@dataclass(frozen=True)
class BlockRefinement(Refinement):
    """A refinement in which records of near groups are exchanged, in blocks of whole groups cut anew for each round.

    Memory: `labels` int32[n], the partition so far; `groups` int64[g] and `offsets` int64[b + 1], which groups the
    blocks of this round hold; `place` int64[2], the round, and the next block of it; `seed` int64[1].
    """

    name: str = "exchange"

    def begin(self, space: PartitionSpace, k: int, seed: int, first: Labels | None = None) -> PartitionChain:
        blocks = Blocks(size=QUICK_BLOCK, mending=0)
        labels = blocks.partition(space.points, k, np.random.default_rng(seed)) if first is None else first
        return PartitionChain(k, labels, _memory(labels, [], -1, seed))

    def tasks(self, space: PartitionSpace, chain: PartitionChain) -> Sequence[tuple[int, Border] | None]:
        memory = chain.memory
        if int(memory["place"][0]) < 0:  # a quantum of its own cuts the first blocks
            return [None]
        layout, first = GroupLayout(space.points, memory["labels"], space.middle), int(memory["place"][1])
        bounds = [*pairwise(memory["offsets"].tolist())][first : first + BLOCKS]
        return [(chain.k, layout.border(memory["groups"][begin:end])) for begin, end in bounds]

    def work(self, space: PartitionSpace, task: tuple[int, Border] | None) -> Exchanged:
        if task is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        k, border = task
        return border.rows, border.groups[mend_partition_border((k, 1), border)]

    def absorb(self, space: PartitionSpace, chain: PartitionChain, results: Sequence[Exchanged]) -> PartitionChain:
        memory = chain.memory
        labels = memory["labels"].copy()
        for rows, groups in results:
            labels[rows] = groups
        number, block = memory["place"].tolist()
        if block + len(results) >= len(memory["offsets"]) - 1:
            after = self._begin_round(space, chain.k, labels, number + 1, int(memory["seed"][0]))
        else:
            after = {**memory, "labels": labels, "place": np.array([number, block + len(results)])}
        return PartitionChain(chain.k, labels, after)

    @staticmethod
    def _begin_round(space: PartitionSpace, k: int, labels: Labels, number: int, seed: int) -> Memory:
        """What a chain carries when a round begins."""
        most = max(max(QUICK_BLOCK, 4 * k) // k, 4)
        layout = GroupLayout(space.points, labels, space.middle)
        return _memory(labels, layout.blocks(most, np.random.default_rng([seed, number])), number, seed)


def _memory(labels: Labels, blocks: Sequence[NDArray[np.int64]], number: int, seed: int) -> Memory:
    """What a chain carries when a round begins; the round −1 has no blocks."""
    return {
        "labels": labels,
        "groups": np.concatenate(blocks) if blocks else np.empty(0, np.int64),
        "offsets": np.cumsum([0, *map(len, blocks)]),
        "place": np.array([number, 0]),
        "seed": np.array([seed]),
    }
