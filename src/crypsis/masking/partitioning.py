"""Partitioners: points in, groups of at least k out; those that need no search, and blocks for large tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray
from pydantic import Field, model_validator

from crypsis.engines import Engine, Serial
from crypsis.errors import PlanError, TableError, listing
from crypsis.kernels import partitions
from crypsis.kernels.annealing import near_groups, swap_records
from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.halving import halve_until
from crypsis.kernels.optimal_partitions import path_optimum, univariate_optimum
from crypsis.kernels.partitions import mdav_by_tree
from crypsis.masking.scaling import project_on_first_component
from crypsis.registry import Registry, Settings
from crypsis.tasks import Tasks, complete

# -- The contract of a partitioner: points in, groups of at least k out.


class Partitioner(Settings):
    """A frozen settings object that groups rows of already scaled points into clusters of at least k.

    Examples
    --------
    >>> points = np.array([[1.0], [1.1], [5.0], [5.2]])
    >>> crypsis.partitioners.build("univariate").partition(points, 2, np.random.default_rng(0))
    array([0, 0, 1, 1], dtype=int32)
    """

    @abstractmethod
    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        """Label the rows by their groups.

        Parameters
        ----------
        points : ndarray of shape (n, p)
            Scaled records, float64 without missing values.
        k : int
            Smallest group size; 1 gives every row a group of its own, k ≤ n < 2k one group of all.
        rng : Generator
            Source of chance; a partitioner that draws nothing ignores it.

        Returns
        -------
        ndarray of int32
            Labels 0, 1, …, each used at least ``k`` times.

        Raises
        ------
        TableError
            There are fewer than ``k`` rows, or values that have no distance.
        """


partitioners: Registry[Partitioner] = Registry(
    "partitioner", built_in=("crypsis.masking", "crypsis.searches.partitions")
)
"""Every partitioner by its name, e.g. ``partitioners.build("mdav")``."""

# -- The partitioners that need no search: MDAV, V-MDAV, CBFS, and the optimum along one direction.

TREE_FROM = 20_000
"""Records from which a kd-tree finds MDAV's neighbours sooner than a pass over all of them."""

WIDEST = 1e150
"""Greatest span of an attribute whose squared distances are still numbers."""

ENDINGS = {"generic": partitions.GENERIC, "hybrid": partitions.HYBRID, "gomm": partitions.GOMM}
METRICS = {"euclidean": partitions.EUCLIDEAN, "manhattan": partitions.MANHATTAN}


def check_points(points: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The points as a contiguous float64[n, p], or a sentence that says why no partition of them can exist."""
    settled = np.ascontiguousarray(points, dtype=np.float64)
    if settled.ndim != 2 or not settled.shape[1]:
        raise TableError(
            f"points must be a matrix of records by at least one attribute; found the shape {settled.shape}"
        )
    if k < 1:
        raise TableError(f"a group needs at least 1 record and k = {k} was asked; choose k of 2 or more")
    if len(settled) < k:
        raise TableError(
            f"{len(settled)} records cannot form one group of k = {k}; "
            f"choose k of at most {len(settled)} or add records"
        )
    bad = np.flatnonzero(~np.isfinite(settled).all(axis=0))
    if len(bad):
        raise TableError(
            f"missing or infinite numbers in column position {listing(str(place) for place in bad)} "
            f"(counted from 0), where only finite ones can be grouped; fill them in or leave the columns out"
        )
    wide = np.flatnonzero(settled.max(axis=0) / 2 - settled.min(axis=0) / 2 > WIDEST / 2)
    if len(wide):
        raise TableError(
            f"numbers in column position {listing(str(place) for place in wide)} (counted from 0) span more than "
            f"{WIDEST:g}, beyond which squared distances overflow; scale them first"
        )
    return settled


def partition_trivially(points: NDArray[np.float64], k: int) -> NDArray[np.int32] | None:
    """The one partition that every partitioner gives for k = 1 or fewer than 2k points; None otherwise."""
    if k == 1:
        return np.arange(len(points), dtype=np.int32)
    return np.zeros(len(points), dtype=np.int32) if len(points) < 2 * k else None


@partitioners.add("mdav")
class MDAV(Partitioner):
    """Maximum distance to average vector: groups of k, two at a time, from the outside in.

    Exact for any number of records; from some twenty thousand on a kd-tree finds the same groups sooner.

    Notes
    -----
    - Formula: repeat: r farthest from the mean, s farthest from r; each with its k − 1 nearest is a group
    - Paper: Domingo-Ferrer and Torra (2005); Algorithm 1 of Martínez-Ballesté et al. (2007)
    - Cost: O(n² p / k); from some twenty thousand records on a kd-tree gives the same groups sooner
    - Departures: `while RR < 2k − 1` of the 2007 paper is read as RR ≥ 2k; three endings (`generic`, `hybrid`,
      `gomm`); the last may leave a group below k and serves reproduction only

    Examples
    --------
    >>> from crypsis.masking import MDAV
    >>> MDAV().partition(np.array([[1.0], [1.1], [5.0], [5.2]]), 2, np.random.default_rng(0))
    array([1, 1, 0, 0], dtype=int32)
    """

    ending: Literal["generic", "hybrid", "gomm"] = Field(
        default="generic",
        description="what happens to the last records: generic (μ-Argus) makes one or two last groups; hybrid sends "
        "fewer than k to the nearest centroids; gomm leaves them as a group that may be smaller than k",
    )
    metric: Literal["euclidean", "manhattan"] = Field(
        default="euclidean", description="distance by which far and near are judged"
    )

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        points = check_points(points, k)
        group = mdav_by_tree if len(points) >= TREE_FROM or points.shape[1] == 1 else partitions.mdav
        only = partition_trivially(points, k)
        return group(points, k, ENDINGS[self.ending], METRICS[self.metric]) if only is None else only


@partitioners.add("v-mdav")
class VMDAV(Partitioner):
    """Variable-size MDAV: a group of k grows by records nearer to it than to anything else left.

    Notes
    -----
    - Formula: a group of k grows while its nearest outsider is nearer to it than `gamma` times to anything else
    - Paper: Solanas and Martínez-Ballesté (2006)
    - Cost: O(n² p)
    - Departures: none

    Examples
    --------
    >>> from crypsis.masking import VMDAV
    >>> VMDAV(gamma=0.2).partition(np.array([[1.0], [1.1], [5.0], [5.2]]), 2, np.random.default_rng(0))
    array([1, 1, 0, 0], dtype=int32)
    """

    gamma: float = Field(
        default=0.2,
        ge=0,
        le=100,
        description="how readily a group grows: 0 never, 0.2 suits scattered data, 1.1 clustered data",
    )

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        points = check_points(points, k)
        only = partition_trivially(points, k)
        return partitions.v_mdav(points, k, self.gamma) if only is None else only


@partitioners.add("cbfs")
class CBFS(Partitioner):
    """Centroid-based fixed size: groups of k, one at a time, around the record farthest from the mean of those left.

    Notes
    -----
    - Formula: repeat: the record farthest from the mean of those left, with its k − 1 nearest
    - Paper: Laszlo and Mukherjee (2005)
    - Cost: O(n² p / k)
    - Departures: none

    Examples
    --------
    >>> from crypsis.masking import CBFS
    >>> CBFS().partition(np.array([[1.0], [1.1], [5.0], [5.2]]), 2, np.random.default_rng(0))
    array([1, 1, 0, 0], dtype=int32)
    """

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        points = check_points(points, k)
        only = partition_trivially(points, k)
        return partitions.cbfs(points, k) if only is None else only


@partitioners.add("univariate")
class Univariate(Partitioner):
    """The optimal partition of one attribute; of several, the best one along their first principal component.

    With one attribute the result has the least SSE of all partitions (Hansen and Mukherjee 2003). With more, records
    are put in order of their projection on the direction of greatest variance and cut where the SSE over all
    attributes is least: quick at any size, but no match for MDAV unless one direction says nearly all.

    Notes
    -----
    - Formula: shortest path over the sorted values, arcs of k … 2k − 1 records costing their SSE
    - Paper: Hansen and Mukherjee (2003)
    - Cost: O(n log n + n k)
    - Departures: more than one column: optimal along the first principal component only

    Examples
    --------
    >>> from crypsis.masking import Univariate
    >>> points = np.array([[1.0], [1.1], [5.0], [5.2]])
    >>> Univariate().partition(points, 2, np.random.default_rng(0))
    array([0, 0, 1, 1], dtype=int32)
    """

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        points = check_points(points, k)
        only = partition_trivially(points, k)
        if only is not None:
            return only
        labels = np.empty(len(points), dtype=np.int32)
        if points.shape[1] == 1:
            order = np.argsort(points[:, 0], kind="stable")
            labels[order] = univariate_optimum(points[order, 0], k)
        else:
            order = np.argsort(project_on_first_component(points), kind="stable")
            labels[order] = path_optimum(points[order], k)
        return labels


# -- Tables too large for one partition: balanced blocks of near records, and a partition in each.
#
# Every block is an independent task with a seed of its own, and so is every block of groups whose borders are
# mended: an engine may do them anywhere and in any order, and the labels are joined here. A block travels with its
# work, so that no worker ever holds more than the blocks it is at.

NEAR_GROUPS = 12
"""Nearest groups with which a record may change places."""
PASSES = 3
"""Times each record is tried in one round of mending."""
LARGE = 200_000
"""Records above which nobody waits for one partition of the whole where a quick answer is wanted."""
QUICK_BLOCK = 10_000
"""Records of a block then."""
TASKS_PER_WORKER = 8
"""Blocks handed out per worker at a time."""


@dataclass(frozen=True)
class Block:
    """The records of one block, and its chance."""

    points: Floats
    seed: SeedSequence


@dataclass(frozen=True)
class Border:
    """Whole groups of near records between which records may change places."""

    rows: Ints
    """int64[n]: their rows in the table."""
    groups: Ints
    points: Floats
    labels: Int32s
    centroids: Floats


def _partition_block(shared: tuple[int, Partitioner], block: Block) -> Int32s:
    k, partitioner = shared
    return partition_block(block.points, k, partitioner, block.seed)


def mend_partition_border(shared: tuple[int, int], border: Border) -> Int32s:
    """Labels of records at a border between blocks of a large table, after exchanges; k and passes are shared."""
    k, passes = shared
    local = border.labels.copy()  # what an engine hands over may be read-only
    near = near_groups(border.centroids, min(NEAR_GROUPS, len(border.centroids) - 1))
    swap_records(border.points, local, near, k, passes)
    return local


def partition_into_blocks(points: Floats, size: int, multiple: int = 1) -> tuple[Ints, Ints]:
    """Rows of a large table in blocks of at most `size` near records, halved at the median of greatest variance.

    →       order int64[n], offsets int64[blocks + 1]: block b is order[offsets[b] : offsets[b + 1]], rows ascending

    `points` float64[n, p].
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


def partition_block(points: Floats, k: int, partitioner: Partitioner, seed: SeedSequence) -> Int32s:
    """Labels that a partitioner gives to one block of a large table: a pure function, to run anywhere in any order."""
    return partitioner.partition(points, k, default_rng(seed))


def join_partitioned_blocks(order: Ints, offsets: Ints, parts: Sequence[Int32s]) -> Int32s:
    """One labelling of all rows from the partitions of blocks: labels of later blocks follow those of earlier ones."""
    labels, used = np.empty(len(order), dtype=np.int32), 0
    for (begin, end), part in zip(pairwise(offsets), parts, strict=True):
        labels[order[begin:end]] = part + used
        used += int(part.max()) + 1
    return labels


def mend_partition_borders(
    points: Floats,
    labels: Int32s,
    k: int,
    size: int,
    rng: Generator,
    engine: Engine | None = None,
    passes: int = PASSES,
) -> Int32s:
    """Groups of a large table's blocks after exchanges between near ones, in blocks cut in a new direction.

    A new random rotation cuts new borders, so that groups kept apart before lie in one block now. The SSE never rises.
    """
    layout = GroupLayout(points, labels)
    mended = labels.copy()
    for some in _batches(layout.blocks(max(size // k, 4), rng), engine):
        borders = [layout.border(groups) for groups in some]
        for border, local in zip(
            borders, (engine or Serial()).map(mend_partition_border, borders, (k, passes)), strict=True
        ):
            mended[border.rows] = border.groups[local]
    return mended


class GroupLayout:
    """Where the groups of a partition lie, and whole groups cut out of it in blocks."""

    def __init__(self, points: Floats, labels: Int32s, middle: Floats | None = None) -> None:
        self.points, self.labels, self.sizes = points, labels, np.bincount(labels)
        self.middle = points.mean(axis=0) if middle is None else middle
        self.by_group = np.argsort(labels, kind="stable")
        self.begins = np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def centroids(self) -> Floats:
        """float64[groups, p]: means of the groups, from the middle of all records."""
        return _means(self.points - self.middle, self.labels, self.sizes)

    def blocks(self, most: int, rng: Generator) -> list[Ints]:
        """Near groups, up to so many together, cut along random directions; groups left alone are left out."""
        p = self.points.shape[1]
        rotation = np.linalg.qr(rng.standard_normal((p, p)))[0]
        groups, offsets = partition_into_blocks(np.ascontiguousarray(self.centroids @ rotation), most)
        return [groups[begin:end] for begin, end in pairwise(offsets) if end - begin > 1]

    def border(self, groups: Ints) -> Border:
        """Some groups with their records."""
        rows = np.concatenate([self.by_group[self.begins[g] : self.begins[g + 1]] for g in groups])
        local = np.repeat(np.arange(len(groups), dtype=np.int32), self.sizes[groups])
        points = self.points[rows] - self.middle
        return Border(rows, groups, points, local, _means(points, local, self.sizes[groups]))


def _means(points: Floats, labels: Int32s, sizes: Ints) -> Floats:
    """float64[groups, p]: mean of each group, records added up in their order."""
    sums = [np.bincount(labels, weights=column, minlength=len(sizes)) for column in points.T]
    return np.ascontiguousarray((np.stack(sums) / sizes).T)


def _batches(items: Sequence[Any], engine: Engine | None) -> list[Sequence[Any]]:
    """A few tasks per worker at a time, so that the copies on their way stay a small part of the table."""
    step = max(1, TASKS_PER_WORKER * getattr(engine, "workers", 1)) if engine is not None else 1
    return [items[begin : begin + step] for begin in range(0, len(items), step)]


@partitioners.add("blocks")
class Blocks(Partitioner):
    """Halve the records at medians until a block is small enough, partition each block, then mend the borders.

    The time grows with the number of blocks, not with its square. A partition that never crosses the borders of its
    blocks loses several per cent more than mdav on the whole; a few rounds of exchanges between near groups, in
    blocks cut anew each time, wins that back.

    Notes
    -----
    - Formula: halve at medians to blocks, partition each, exchange records across borders
    - Paper: own
    - Cost: number of blocks × that of the partitioner inside, spread over engines
    - Departures: own method: loses a few per cent against MDAV on the whole table

    Examples
    --------
    >>> from crypsis.masking import Blocks
    >>> points = np.random.default_rng(1).standard_normal((200, 2))
    >>> labels = Blocks(size=50).partition(points, 3, np.random.default_rng(0))
    >>> int(np.bincount(labels).min())
    3
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

    def partition(self, points: Floats, k: int, rng: Generator) -> Int32s:
        return complete(self.run_tasks(points, k, rng))

    def run(self, points: Floats, k: int, rng: Generator, engine: Engine | None = None) -> Int32s:
        """As `partition`, the blocks through an engine (this process if none is given): the same bits on any."""
        return complete(self.run_tasks(points, k, rng, engine))

    def run_tasks(self, points: Floats, k: int, rng: Generator, engine: Engine | None = None) -> Tasks[Int32s]:
        """`run` in tasks: a few blocks at a time."""
        points = check_points(points, k)
        only = partition_trivially(points, k)
        if only is not None:
            return only
        size = max(self.size, 4 * k)
        [(order, offsets)] = yield [partial(partition_into_blocks, points, size, k)]
        seeds = SeedSequence(int(rng.integers(2**63))).spawn(len(offsets) - 1)
        shared, mapper = (k, self.chosen_inner()), engine or Serial()

        def partition_blocks(some: Sequence[tuple[tuple[int, int], SeedSequence]]) -> list[Int32s]:
            blocks = [Block(points[order[begin:end]], seed) for (begin, end), seed in some]
            return mapper.map(_partition_block, blocks, shared)

        batches = _batches([*zip(pairwise(offsets), seeds, strict=True)], engine)
        parts = yield [partial(partition_blocks, some) for some in batches]
        labels = join_partitioned_blocks(order, offsets, [part for some in parts for part in some])
        for _ in range(self.mending):
            [labels] = yield [partial(mend_partition_borders, points, labels, k, size, rng, engine)]
        return labels


def partitioner_comparisons(points: NDArray[np.float64], k: int) -> float:
    """Coordinates that the partitioner MDAV compares on a whole table.

    >>> partitioner_comparisons(np.zeros((1000, 10)), 5)
    2000000.0
    """
    return len(points) * points.size / k
