"""Tables too large for one partition: balanced blocks of near records, and a partition in each.

Every block is an independent piece of work (`balanced_blocks` says which rows, `partition_block` does one), so that
whoever has more than one core, or more than one machine, may map the blocks elsewhere and join the labels here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray
from pydantic import Field, model_validator

from crypsis.errors import PlanError
from crypsis.kernels.blocks import halve_until
from crypsis.kernels.swaps import near_groups, swap_records
from crypsis.masking.heuristics import checked, trivial
from crypsis.masking.partition import Partitioner, partitioners

NEAR_GROUPS = 12
"""Nearest groups with which a record may change places."""
PASSES = 3
"""Times each record is tried in one round of mending."""


def balanced_blocks(
    points: NDArray[np.float64], size: int, multiple: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows in blocks of at most `size` near records: halved at the median of the attribute of greatest variance.

    points  float64[n, p], contiguous;  multiple: all blocks but the last hold a multiple of this many records
    →       order int64[n], offsets int64[blocks + 1]: block b is order[offsets[b] : offsets[b + 1]], rows ascending
    """
    if size < 2 * multiple:
        raise PlanError(
            f"blocks of {size} records cannot be halved into groups of {multiple}; choose {2 * multiple} or more"
        )
    order = np.arange(len(points), dtype=np.int64)
    offsets = halve_until(points, order, size, multiple)
    for begin, end in pairwise(offsets):
        order[begin:end].sort()
    return order, offsets


def partition_block(
    points: NDArray[np.float64], k: int, partitioner: Partitioner, seed: SeedSequence
) -> NDArray[np.int32]:
    """Labels of one block's records: a pure function of its arguments, to run anywhere and in any order."""
    return partitioner.partition(points, k, default_rng(seed))


def join_blocks(
    order: NDArray[np.int64], offsets: NDArray[np.int64], parts: Sequence[NDArray[np.int32]]
) -> NDArray[np.int32]:
    """One labelling of all rows from those of the blocks: labels of later blocks follow those of earlier ones."""
    labels, used = np.empty(len(order), dtype=np.int32), 0
    for (begin, end), part in zip(pairwise(offsets), parts, strict=True):
        labels[order[begin:end]] = part + used
        used += int(part.max()) + 1
    return labels


def mend_borders(
    points: NDArray[np.float64], labels: NDArray[np.int32], k: int, size: int, rng: Generator
) -> NDArray[np.int32]:
    """The same groups after exchanges of records between near ones, in blocks of whole groups cut in a new direction.

    A new random rotation cuts new borders, so that groups kept apart before lie in one block now. The SSE never rises.
    """
    sizes = np.bincount(labels)
    middle = points.mean(axis=0)
    sums = [np.bincount(labels, weights=points[:, j] - middle[j]) for j in range(points.shape[1])]
    centroids = np.ascontiguousarray((np.stack(sums) / sizes).T)
    rotation = np.linalg.qr(rng.standard_normal((points.shape[1], points.shape[1])))[0]
    groups, offsets = balanced_blocks(np.ascontiguousarray(centroids @ rotation), max(size // k, 4))
    by_group, begins = np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(sizes)])
    mended = labels.copy()
    for begin, end in pairwise(offsets):
        chosen = groups[begin:end]
        if len(chosen) < 2:
            continue
        rows = np.concatenate([by_group[begins[g] : begins[g + 1]] for g in chosen])
        local = np.repeat(np.arange(len(chosen), dtype=np.int32), sizes[chosen])
        near = near_groups(centroids[chosen], min(NEAR_GROUPS, len(chosen) - 1))
        swap_records(points[rows] - middle, local, near, k, PASSES)
        mended[rows] = chosen[local]
    return mended


@partitioners.add("blocks")
class Blocks(Partitioner):
    """Halve the records at medians until a block is small enough, partition each block, then mend the borders.

    The time grows with the number of blocks, not with its square. A partition that never crosses the borders of its
    blocks loses several per cent more than mdav on the whole; a few rounds of exchanges between near groups, in
    blocks cut anew each time, wins that back.
    """

    size: int = Field(
        default=20_000, ge=4, le=10_000_000, description="most records of a block (raised to 4k where that is more)"
    )
    inner: str = Field(default="mdav", description="partitioner inside each block; any but blocks itself")
    inner_settings: dict[str, Any] = Field(default_factory=dict, description="settings of the inner partitioner")
    mending: int = Field(
        default=4,
        ge=0,
        le=100,
        description="rounds of exchanges across the borders of blocks; 0 leaves them as they fell",
    )

    @model_validator(mode="after")
    def _sound(self) -> Blocks:
        if self.inner == "blocks":
            raise ValueError("inner: blocks inside blocks are only smaller blocks; lower size instead")
        self.chosen_inner()
        return self

    def chosen_inner(self) -> Partitioner:
        """The inner partitioner with its settings, or a sentence that says what is wrong with them."""
        return partitioners.build(self.inner, **self.inner_settings)

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        points = checked(points, k)
        only = trivial(points, k)
        if only is not None:
            return only
        size = max(self.size, 4 * k)
        order, offsets = balanced_blocks(points, size, k)
        seeds = SeedSequence(int(rng.integers(2**63))).spawn(len(offsets) - 1)
        inner = self.chosen_inner()
        parts = [
            partition_block(points[order[begin:end]], k, inner, seed)
            for (begin, end), seed in zip(pairwise(offsets), seeds, strict=True)
        ]
        labels = join_blocks(order, offsets, parts)
        for _ in range(self.mending):
            labels = mend_borders(points, labels, k, size, rng)
        return labels
