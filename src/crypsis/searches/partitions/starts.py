"""First partitions of a ladder of k, cheap ones: groups within blocks of near records on a few principal components.

Where MDAV on the whole takes long, records are halved at medians into blocks of near ones and each block is grouped by
MDAV, both on the directions of greatest variance. A larger k groups the groups of the smallest one where sizes fit.
The work of a rung is cut into pieces of a few blocks, which do not depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.masking.blocks import balanced_blocks
from crypsis.masking.heuristics import trivial
from crypsis.searches.partitions.space import PartitionSpace

AT_ONCE = 150_000_000
"""Coordinates MDAV may compare on the whole table for its groups to be the first: some 50 ms."""
BLOCK = 2000
"""Records of a block."""
HALVED_ALONG = 8
"""Components of greatest variance along which records are halved into blocks."""
PIECE = 40_000
"""Records of the blocks that are grouped in one quantum."""
FITTING = 1.1
"""Groups of groups are taken where they hold at most so many times k records."""


def comparisons(points: NDArray[np.float64], k: int) -> float:
    """Coordinates that MDAV compares on a whole table.

    Examples
    --------
    >>> comparisons(np.zeros((1000, 10)), 5) <= AT_ONCE < comparisons(np.zeros((30_000, 110)), 5)
    True
    """
    return len(points) * points.size / k


@dataclass(frozen=True, eq=False)
class Blocking:
    """What is grouped for one k: points in blocks, and for groups of groups which group each record is in.

    points  float64[m, d]: records, or centroids of groups
    size  least number of points in a group
    order, offsets  block b is order[offsets[b] : offsets[b + 1]]
    within  int32[n]: the group of each record, where points are centroids; None where they are records
    """

    points: NDArray[np.float64]
    size: int
    order: NDArray[np.int64]
    offsets: NDArray[np.int64]
    within: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, space: PartitionSpace, k: int, least: NDArray[np.int32] | None) -> Blocking:
        """The blocks for one k.

        least  the partition of the smallest k, if there is one
        """
        if least is not None:
            times = -(-k // min(space.ladder))
            if times > 1 and times * min(space.ladder) <= FITTING * k:
                return cls._blocked(_centroids(space.near, least), times, least)
        return cls._blocked(space.near, k, None)

    @classmethod
    def _blocked(cls, points: NDArray[np.float64], size: int, within: NDArray[np.int32] | None) -> Blocking:
        along = np.ascontiguousarray(points[:, :HALVED_ALONG])
        order, offsets = balanced_blocks(along, max(BLOCK, 4 * size), size)
        return cls(points, size, order, offsets, within)

    def piece(self, first: int) -> list[int]:
        """Blocks from a given one on that are grouped in one quantum."""
        last = first
        while last < len(self.offsets) - 1 and self.offsets[last + 1] - self.offsets[first] <= PIECE:
            last += 1
        return list(range(first, max(last, first + 1)))

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self.offsets) - 1

    def grouped(self, block: int) -> NDArray[np.int32]:
        """Groups 0, 1, … of the points of a block."""
        points = np.ascontiguousarray(self.points[self.order[self.offsets[block] : self.offsets[block + 1]]])
        only = trivial(points, self.size)
        return mdav(points, self.size, GENERIC, EUCLIDEAN) if only is None else only

    def fill(self, labels: NDArray[np.int32], block: int, groups: NDArray[np.int32]) -> None:
        """Write the groups of a block into the labels of all points, numbered after the first of its points."""
        begin, end = int(self.offsets[block]), int(self.offsets[block + 1])
        labels[self.order[begin:end]] = begin + groups

    def whole(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """The partition of the records: groups without gaps."""
        whole = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        return whole if self.within is None else whole[self.within]


def _centroids(points: NDArray[np.float64], labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """float64[groups, d]: mean of each group."""
    sizes = np.bincount(labels)
    means = [np.bincount(labels, weights=column) / sizes for column in points.T]
    return np.ascontiguousarray(np.stack(means, axis=1))


def bounded(space: PartitionSpace, labels: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """The partition with every group of 2k records or more divided by MDAV."""
    sizes = np.bincount(labels)
    order, ends = np.argsort(labels, kind="stable"), np.cumsum(sizes)
    used, found = len(sizes), labels.copy()
    for group in np.flatnonzero(sizes >= 2 * k):
        rows = order[ends[group] - sizes[group] : ends[group]]
        parts = mdav(np.ascontiguousarray(space.near[rows]), k, GENERIC, EUCLIDEAN)
        found[rows] = np.where(parts == 0, group, used - 1 + parts)
        used += int(parts.max())
    return found


def first_partition(space: PartitionSpace, k: int, least: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
    """The cheap first partition of one k, made at once; least: the partition of the smallest k, if there is one."""
    blocking = Blocking.of(space, k, least)
    labels = np.zeros(len(blocking.points), np.int32)
    for block in range(blocking.blocks):
        blocking.fill(labels, block, blocking.grouped(block))
    return bounded(space, blocking.whole(labels), k)
