"""Partitions of large tables: MDAV within blocks, then exchanges between near groups across ever new blocks.

No survey of the neighbours is needed and the work is done block by block, so that its time grows as the table does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crypsis.masking.blocks import QUICK_BLOCK, Blocks, Border, GroupLayout, mend
from crypsis.searches.partitions.lineages import Labels, Lineage, Memory, Refinement
from crypsis.searches.partitions.space import PartitionSpace

BLOCKS = 4
"""Blocks mended in a quantum."""

Mended = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows, and the group of each."""


@dataclass(frozen=True)
class Mending(Refinement):
    """A refinement in which records of near groups change places, in blocks of whole groups cut anew for each round.

    Memory: `labels` int32[n], the partition so far; `groups` int64[g] and `offsets` int64[b + 1], which groups the
    blocks of this round hold; `place` int64[2], the round, and the next block of it; `seed` int64[1].
    """

    name: str = "mend"

    def begin(self, space: PartitionSpace, k: int, seed: int, first: Labels | None = None) -> Lineage:
        blocks = Blocks(size=QUICK_BLOCK, mending=0)
        labels = blocks.partition(space.points, k, np.random.default_rng(seed)) if first is None else first
        return Lineage(k, labels, _memory(labels, [], -1, seed))

    def tasks(self, space: PartitionSpace, lineage: Lineage) -> Sequence[tuple[int, Border] | None]:
        memory = lineage.memory
        if int(memory["place"][0]) < 0:  # a quantum of its own cuts the first blocks
            return [None]
        layout, first = GroupLayout(space.points, memory["labels"], space.middle), int(memory["place"][1])
        bounds = [*pairwise(memory["offsets"].tolist())][first : first + BLOCKS]
        return [(lineage.k, layout.border(memory["groups"][begin:end])) for begin, end in bounds]

    def work(self, space: PartitionSpace, task: tuple[int, Border] | None) -> Mended:
        if task is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        k, border = task
        return border.rows, border.groups[mend((k, 1), border)]

    def absorb(self, space: PartitionSpace, lineage: Lineage, results: Sequence[Mended]) -> Lineage:
        memory = lineage.memory
        labels = memory["labels"].copy()
        for rows, groups in results:
            labels[rows] = groups
        number, block = memory["place"].tolist()
        if block + len(results) >= len(memory["offsets"]) - 1:
            after = self._round(space, lineage.k, labels, number + 1, int(memory["seed"][0]))
        else:
            after = {**memory, "labels": labels, "place": np.array([number, block + len(results)])}
        return Lineage(lineage.k, labels, after)

    @staticmethod
    def _round(space: PartitionSpace, k: int, labels: Labels, number: int, seed: int) -> Memory:
        """What a lineage carries when a round begins."""
        most = max(max(QUICK_BLOCK, 4 * k) // k, 4)
        layout = GroupLayout(space.points, labels, space.middle)
        return _memory(labels, layout.blocks(most, np.random.default_rng([seed, number])), number, seed)


def _memory(labels: Labels, blocks: Sequence[NDArray[np.int64]], number: int, seed: int) -> Memory:
    """What a lineage carries when a round begins; the round −1 has no blocks."""
    return {
        "labels": labels,
        "groups": np.concatenate(blocks) if blocks else np.empty(0, np.int64),
        "offsets": np.cumsum([0, *map(len, blocks)]),
        "place": np.array([number, 0]),
        "seed": np.array([seed]),
    }
