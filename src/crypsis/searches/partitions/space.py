"""The records to be partitioned, their nearest neighbours, first partitions, and annealing over partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.engines import Engine, Serial
from crypsis.kernels import annealing
from crypsis.kernels.annealing import AnnealingContext
from crypsis.kernels.optimal_partitions import path_optimum
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.kernels.tsp import build_tour
from crypsis.masking.partitioning import partition_into_blocks, partition_trivially
from crypsis.tasks import Tasks, Underway

EXACT_UP_TO = 12_000
"""Records up to which neighbour lists are exact; above, a kd-tree in ten dimensions would take the whole budget."""
LEAF, SPLITS = 800, 3
TASK_COORDINATES = 40_000_000
"""Coordinates compared in one task of a search for neighbours: some 50 ms."""
MERGED, MERGED_AT_A_TIME = 1500, 4
"""Records whose lists are merged together, and how many such blocks in one task."""

Near = tuple[NDArray[np.float64], NDArray[np.int32]]


class Located(Protocol):
    """Records and where they lie."""

    @property
    def points(self) -> NDArray[np.float64]:
        """float64[n, p]: the records."""

    @property
    def near(self) -> NDArray[np.float64]:
        """float64[n, d]: the records on their directions of greatest variance."""


def nearest_neighbours_to_partition(points: NDArray[np.float64], count: int) -> Near:
    """Nearest neighbours of the records to be partitioned, with squared distances: [n, count] each, nearest first."""
    return _query((scipy.spatial.cKDTree(points), points, count), np.arange(len(points)))


def _query(tree: tuple[scipy.spatial.cKDTree, NDArray[np.float64], int], rows: NDArray[np.int64]) -> Near:
    """What `nearest_neighbours_to_partition` gives for some records."""
    kd, points, count = tree
    found = kd.query(points[rows], np.arange(1, count + 2))
    distances, others = np.asarray(found[0]), np.asarray(found[1])
    own = others == rows[:, None]
    own[~own.any(axis=1), -1] = True
    keep = (~own).nonzero()
    shape = len(rows), count
    return np.square(distances[keep].reshape(shape)), others[keep].reshape(shape).astype(np.int32)


@dataclass
class NeighbourSearch:
    """Neighbour lists of all records: exact by rows, or merged from the leaves of a few random splittings."""

    points: NDArray[np.float64]  # the records in the space that is searched
    count: int  # neighbours wanted
    stretch: float = 1.0  # by what the squared distances are multiplied: what the space leaves out of the variance
    exact: bool = True  # whether all records are looked at; otherwise only those that share a leaf
    _tasks: list[NDArray[np.int64]] | None = field(default=None, repr=False)
    _splits: list[Near] = field(default_factory=list, repr=False)
    _blocks: list[Near] = field(default_factory=list, repr=False)
    _done: int = 0
    _near: Near | None = field(default=None, repr=False)

    @classmethod
    def of(cls, located: Located, count: int) -> NeighbourSearch:
        """The search among some records: exact in the full space, or nearly so on the directions of most variance."""
        if len(located.points) <= EXACT_UP_TO:
            return cls(located.points, count)
        shown, whole = float(np.square(located.near).sum()), float(located.points.var(axis=0).sum()) * len(located.near)
        return cls(located.near, count, whole / shown if shown > 0 else 1.0, exact=False)

    def complete(self) -> Near:
        """The neighbour lists: squared distances and rows, [n, count] each, nearest first."""
        while not self.more(Serial()):
            pass
        if self._near is None:
            raise AssertionError("a search that is done has its lists")
        return self._near

    def more(self, engine: Engine) -> bool:
        """Do the next task, if any is left; whether nothing is left."""
        if self._near is not None:
            return True
        n = len(self.points)
        if self._tasks is None:
            empty = (np.full((n, self.count), np.inf), np.zeros((n, self.count), np.int32))
            self._splits = [(empty[0].copy(), empty[1].copy()) for _ in range(1 if self.exact else SPLITS)]
            self._tasks = self._rows() if self.exact else self._leaves()
        if self._done < len(self._tasks):
            self._compare(self._tasks[self._done : self._done + self._at_a_time()], engine)
        elif not self.exact:
            self._merge(engine)
        if self.exact and self._done == len(self._tasks):
            self._near = self._splits[0]
        if self._near is not None:
            self._splits, self._tasks, self._blocks = [], [], []
        return self._near is not None

    def _compare(self, some: list[NDArray[np.int64]], engine: Engine) -> None:
        """The nearest others of the records of some tasks."""
        shared = (self._tree, self.points, self.count)
        tasks = len(self._tasks or some)
        for place, (rows, (squares, others)) in enumerate(zip(some, engine.map(_near_of, some, shared), strict=True)):
            split = self._splits[(self._done + place) * len(self._splits) // tasks]
            split[0][rows], split[1][rows] = squares, others
        self._done += len(some)

    @cached_property
    def _tree(self) -> scipy.spatial.cKDTree | None:
        return scipy.spatial.cKDTree(self.points) if self.exact else None

    def _merge(self, engine: Engine) -> None:
        """The nearest of all splittings for the next blocks of records; the lists are done after the last."""
        n = len(self.points)
        first = MERGED * len(self._blocks)
        some = [slice(at, at + MERGED) for at in range(first, n, MERGED)][:MERGED_AT_A_TIME]
        self._blocks += engine.map(_merge_nearest, some, (self._splits, self.stretch, self.count))
        if MERGED * len(self._blocks) >= n:
            squares, rows = zip(*self._blocks, strict=True)
            self._near = np.concatenate(squares), np.concatenate(rows)

    def _at_a_time(self) -> int:
        """Tasks of one quantum."""
        n, p = self.points.shape
        each = n * n * p // (8 * len(self._tasks or [0])) if self.exact else LEAF * LEAF * p
        return int(max(1, TASK_COORDINATES // max(each, 1)))

    def _rows(self) -> list[NDArray[np.int64]]:
        """All records, a thousand at a time."""
        return np.array_split(np.arange(len(self.points)), -(-len(self.points) // 1000))

    def _leaves(self) -> list[NDArray[np.int64]]:
        """The leaves of all splittings: each halves the records again and again along a random direction.

        The directions are always the same ones, so that the same points have the same neighbours.
        """
        rng, leaves = np.random.default_rng(20061), list[NDArray[np.int64]]()
        for _ in range(SPLITS):
            waiting = [np.arange(len(self.points))]
            while waiting:
                part = waiting.pop()
                if len(part) > max(LEAF, 3 * (self.count + 1)):
                    along = np.einsum("ij,j", self.points[part], rng.standard_normal(self.points.shape[1]))
                    order = part[np.argsort(along, kind="stable")]
                    waiting += [order[: len(part) // 2], order[len(part) // 2 :]]
                else:
                    leaves.append(part)
        return leaves


def _merge_nearest(shared: tuple[list[Near], float, int], block: slice) -> Near:
    """The nearest of all splittings, each record once, for a block of records."""
    splits, stretch, count = shared
    squares = np.concatenate([one[0][block] for one in splits], axis=1) * stretch
    rows = np.concatenate([one[1][block] for one in splits], axis=1)
    by_row = np.argsort(rows, axis=1, kind="stable")
    squares, rows = np.take_along_axis(squares, by_row, 1), np.take_along_axis(rows, by_row, 1)
    squares[:, 1:][rows[:, 1:] == rows[:, :-1]] = np.inf
    by_distance = np.argsort(squares, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(squares, by_distance, 1), np.take_along_axis(rows, by_distance, 1)


def _near_of(shared: tuple[scipy.spatial.cKDTree | None, NDArray[np.float64], int], part: NDArray[np.int64]) -> Near:
    """The nearest others of some records: of all, or among themselves."""
    tree, points, count = shared
    if tree is not None:
        return _query((tree, points, count), part)
    # Not by a matrix product: its threads would wait for each other on a busy machine.
    apart = scipy.spatial.distance.cdist(points[part], points[part], "sqeuclidean")
    np.fill_diagonal(apart, np.inf)
    near = np.argpartition(apart, count - 1, axis=1)[:, :count]
    return np.take_along_axis(apart, near, 1), part[near].astype(np.int32)


# -- The records to be partitioned; neighbours are found once for every k.

LEAST_UNIT = 1e-3
"""Least unit of the temperature at a record, in medians: duplicates have no spacing, yet must be able to move."""
TOUR_UP_TO = 100_000
"""Coordinates of all records up to which a tour is worth its time."""
WIDE = 200
"""Coordinates of greatest variance among which directions are looked for."""
COMPONENTS = 24
"""Directions of greatest variance by which records are near or far at first."""
SPACED = 5000
"""Records from which these directions are found."""
LOCATED = 40_000_000
"""Products of coordinates that one task of locating the records takes."""
AT_ONCE = 20_000
"""Records of all tasks of one quantum, unless one task for each worker has more."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PartitionSpace:
    """Scaled records and the group sizes they are partitioned into."""

    points: NDArray[np.float64]  # finite and already scaled
    k_grid: tuple[int, ...]  # every k a partition is wanted for
    _remembered: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {"points": self.points, "k_grid": self.k_grid, "_remembered": {}}  # a worker works the rest out itself

    def remember(self, name: Any, make: Callable[[], T]) -> T:
        """What follows from the points alone, made once."""
        if name not in self._remembered:
            self._remembered[name] = make()
        return self._remembered[name]  # type: ignore[no-any-return]

    @cached_property
    def near(self) -> NDArray[np.float64]:
        """float64[n, d]: the records on their directions of greatest variance, the greatest first.

        The directions are those of evenly spaced records, and no matrix product is used: its threads would make the
        last bits differ from worker to worker.
        """
        while not self.locate(Serial()):
            pass
        found: NDArray[np.float64] | None = self._location_work.result
        if found is None:
            raise AssertionError("records that are located have their places")
        return found

    def locate(self, engine: Engine) -> bool:
        """Whether `near` is known; if not, a task of it is worked out."""
        left = max(1, AT_ONCE // len(self.points))
        while not self._location_work.done and left > 0:
            self._location_work.advance(engine if engine.here else Serial(), engine.workers)
            left -= 1
        return self._location_work.done

    @property
    def _location_work(self) -> Underway[NDArray[np.float64]]:
        return self.remember("locating", lambda: Underway(self._project_records()))

    def _project_records(self) -> Tasks[NDArray[np.float64]]:
        """`near` in tasks: the directions, then a stretch of records at a time."""
        [(chosen, middle, directions)] = yield [self._directions]
        step = max(1, LOCATED // max(directions.size, 1))
        parts = yield [
            partial(_project, self.points[at : at + step], chosen, middle, directions)
            for at in range(0, len(self.points), step)
        ]
        return np.concatenate(parts)

    def _directions(self) -> tuple[NDArray[np.int64] | None, NDArray[np.float64], NDArray[np.float64]]:
        """Coordinates that count (all if None), the mean, and the directions of greatest variance."""
        middle, chosen = self.middle, None
        some = self.points[:: max(1, len(self.points) // SPACED)] - middle
        if len(middle) > WIDE:  # columns of many categories, most of which hardly anybody holds
            spread = np.square(self.points - middle).mean(axis=0)
            chosen = np.sort(np.argsort(-spread, kind="stable")[:WIDE])
            some, middle = np.ascontiguousarray(some[:, chosen]), middle[chosen]
        directions = np.linalg.eigh(np.einsum("ij,ik->jk", some, some))[1][:, ::-1][:, :COMPONENTS]
        heaviest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
        return chosen, middle, np.round(directions * np.where(heaviest < 0, -1.0, 1.0), 6)

    @cached_property
    def middle(self) -> NDArray[np.float64]:
        """float64[p]: the mean of the records."""
        return np.asarray(self.points.mean(axis=0))

    def __len__(self) -> int:
        return len(self.points)

    def context(self, k: int) -> AnnealingContext:
        """Neighbour lists and the local unit of the temperature, for annealing at one k."""
        return self.remember(k, lambda: self._context(k))

    def _context(self, k: int) -> AnnealingContext:
        squares, rows = self._neighbours.complete()
        spacing = squares[:, : k - 1].mean(axis=1)
        floor = LEAST_UNIT * float(np.median(spacing))
        return AnnealingContext(
            self._padded_points,
            np.ascontiguousarray(rows[:, : _neighbour_reach_of_partition(k)]),
            np.maximum(spacing, floor if floor > 0 else max(float(spacing.mean()), 1.0)),
        )

    def find_neighbours(self, engine: Engine) -> bool:
        """Whether the neighbours of all records are known; if not, a task of the search for them is done."""
        return self._neighbours.more(engine)

    def group_along_tour(self, k: int) -> NDArray[np.int32] | None:
        """The best groups of k … 2k − 1 records that follow each other on a short tour; None for very large tables."""
        if self.points.size > TOUR_UP_TO:
            return None
        labels = np.empty(len(self), np.int32)
        labels[self._tour] = path_optimum(self.points[self._tour], k)
        return labels

    @cached_property
    def _tour(self) -> NDArray[np.int32]:
        """The records in the order of a short tour that begins at the outermost."""
        context = self.context(min(self.k_grid))
        outermost = int(np.square(self.points - self.points.mean(axis=0)).sum(axis=1).argmax())
        return build_tour(context.points, context.neighbours, outermost)

    @cached_property
    def _neighbours(self) -> NeighbourSearch:
        """The nearest neighbours of all records, as many as the largest k asks for."""
        return NeighbourSearch.of(self, min(len(self) - 1, _neighbour_reach_of_partition(max(self.k_grid))))

    @cached_property
    def _padded_points(self) -> NDArray[np.float64]:
        """The points, with zero columns up to a multiple of four."""
        n, p = self.points.shape
        padded = np.zeros((n, max(-(-p // 4) * 4, 4)))
        padded[:, :p] = self.points
        return padded

    @cached_property
    def total(self) -> float:
        """SST: what one group of all would lose."""
        apart = self.points - self.middle
        return float(np.square(apart, out=apart).sum())


def _project(
    points: NDArray[np.float64],
    chosen: NDArray[np.int64] | None,
    middle: NDArray[np.float64],
    directions: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Records on their directions."""
    some = points if chosen is None else np.ascontiguousarray(points[:, chosen])
    return np.ascontiguousarray(np.einsum("ij,jk->ik", some - middle, directions))


def _neighbour_reach_of_partition(k: int) -> int:
    """Nearest neighbours listed for each record to be partitioned: 3k, but beyond sixty half of that."""
    return max(10, min(3 * k, 60), 3 * k // 2)


# -- The annealing kernels with their arrays: load a partition, anneal it, read it back.

SPARSE = 0.8
"""How much more often a region is chosen where records are sparse: the local spacing to this power."""


class PartitionAnnealer:
    """One partition under simulated annealing, with its own generator."""

    def __init__(self, context: annealing.AnnealingContext, k: int, random_state: NDArray[np.uint64]) -> None:
        n, p = context.points.shape
        slots = n // k + 1
        self.context = context
        self.random_state = random_state
        self.regroup_rate = min(0.1 / k, 0.05)
        self.seed_weights = np.cumsum(context.temperature_unit**SPARSE)
        self.all_records = np.arange(n, dtype=np.int32)
        self.spacing = context.temperature_unit
        self.groups = annealing.AnnealingGroups(
            labels=np.zeros(n, np.int32),
            place=np.zeros(n, np.int32),
            members=np.zeros((slots, 2 * k - 1), np.int32),
            sizes=np.zeros(slots, np.int32),
            centroids=np.zeros((slots, p)),
            used=np.zeros(1, np.int64),
            free=np.ones(n, np.bool_),
            undo=np.zeros((2, 3 * k), np.int32),
        )

    def set_evenness(self, evenness: float) -> None:
        """Let the temperature follow the local spacing less than in full: not at all at 1, its root at 0.5."""
        usual = np.exp(np.log(self.spacing).mean())
        self.context = self.context._replace(temperature_unit=self.spacing ** (1 - evenness) * usual**evenness)

    def unevenness(self) -> float:
        """How much the local spacing differs over the table: the deviation of its logarithm."""
        return float(np.log(self.spacing).std())

    def load(self, labels: NDArray[np.int32]) -> float:
        """Start from this partition; its SSE."""
        annealing.load_labels(self.groups, labels)
        return annealing.recompute_centroids(self.groups, self.context.points, self.all_records)

    def labels(self) -> NDArray[np.int32]:
        """The partition as it is now."""
        return self.groups.labels.copy()

    def anneal(self, steps: int, hot: float, cold: float) -> float:
        """Try so many moves while the temperature falls from hot to cold; the SSE reached, recomputed from members."""
        annealing.anneal(
            self.groups, self.context, self.all_records, steps, hot, cold, self.regroup_rate, self.random_state
        )
        return annealing.recompute_centroids(self.groups, self.context.points, self.all_records)

    def draw_seed(self) -> int:
        """A record at random, one where records are sparse more often: more can be gained there."""
        drawn = float(annealing.draw(self.random_state)) * 2.0**-64 * self.seed_weights[-1]
        return min(int(np.searchsorted(self.seed_weights, drawn, side="right")), len(self.seed_weights) - 1)

    def resolve(self, rounds: int, records: int, steps: int, hot: float, cold: float) -> float:
        """Large-neighbourhood search: free the groups around a random record, anneal them alone, keep what got better.

        Each round frees about so many records for so many steps. Returns the SSE, never above what it was.
        """
        groups, context = self.groups, self.context
        freed = np.zeros(min(max(records, 2 * groups.members.shape[1]), len(self.all_records)), np.int32)
        saved = self.labels()
        for _ in range(rounds):
            pool = freed[: annealing.free_region(groups, context, self.draw_seed(), freed)]
            before = annealing.recompute_centroids(groups, context.points, pool)
            annealing.anneal(groups, context, pool, steps, hot, cold, self.regroup_rate, self.random_state)
            if annealing.recompute_centroids(groups, context.points, pool) > before:
                self.load(saved)
            else:
                saved[:] = groups.labels
        groups.free[:] = True
        return annealing.recompute_centroids(groups, context.points, self.all_records)


# -- Cheap first partitions for a grid of k: groups within blocks of near records on a few principal components.
#
# Where MDAV on the whole takes long, records are halved at medians into blocks of near ones and each block is grouped
# by MDAV, both on the directions of greatest variance. A larger k groups the groups of the smallest one where sizes
# fit. The work of one k is cut into tasks of a few blocks, which do not depend on each other.

START_AT_ONCE = 150_000_000
"""Coordinates MDAV may compare on the whole table for its groups to be the first: some 50 ms."""
BLOCK = 2000
"""Records of a block."""
HALVED_ALONG = 8
"""Components of greatest variance along which records are halved into blocks."""
START_TASK = 40_000
"""Records of the blocks that are grouped in one quantum."""
FITTING = 1.1
"""Groups of groups are taken where they hold at most so many times k records."""


@dataclass(frozen=True, eq=False)
class Blocking:
    """What is grouped for one k: points in blocks, and for groups of groups which group each record is in."""

    points: NDArray[np.float64]  # float64[m, d]: records, or centroids of groups
    size: int  # least number of points in a group
    order: NDArray[np.int64]  # block b is order[offsets[b] : offsets[b + 1]]
    offsets: NDArray[np.int64]
    # int32[n]: the group of each record, where points are centroids; None where they are records
    within: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, space: PartitionSpace, k: int, least: NDArray[np.int32] | None) -> Blocking:
        """The blocks for one k."""
        if least is not None:
            times = -(-k // min(space.k_grid))
            if times > 1 and times * min(space.k_grid) <= FITTING * k:
                return cls._cut_blocks(_centroids(space.near, least), times, least)
        return cls._cut_blocks(space.near, k, None)

    @classmethod
    def _cut_blocks(cls, points: NDArray[np.float64], size: int, within: NDArray[np.int32] | None) -> Blocking:
        along = np.ascontiguousarray(points[:, :HALVED_ALONG])
        order, offsets = partition_into_blocks(along, max(BLOCK, 4 * size), size)
        return cls(points, size, order, offsets, within)

    def choose_blocks(self, first: int) -> list[int]:
        """Blocks from a given one on that are grouped in one quantum."""
        last = first
        while last < len(self.offsets) - 1 and self.offsets[last + 1] - self.offsets[first] <= START_TASK:
            last += 1
        return list(range(first, max(last, first + 1)))

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self.offsets) - 1

    def group_block(self, block: int) -> NDArray[np.int32]:
        """Groups 0, 1, … of the points of a block."""
        points = np.ascontiguousarray(self.points[self.order[self.offsets[block] : self.offsets[block + 1]]])
        only = partition_trivially(points, self.size)
        return mdav(points, self.size, GENERIC, EUCLIDEAN) if only is None else only

    def fill(self, labels: NDArray[np.int32], block: int, groups: NDArray[np.int32]) -> None:
        """Write the groups of a block into the labels of all points, numbered after the first of its points."""
        begin, end = int(self.offsets[block]), int(self.offsets[block + 1])
        labels[self.order[begin:end]] = begin + groups

    def expand(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """The partition of the records: groups without gaps."""
        whole = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        return whole if self.within is None else whole[self.within]


def _centroids(points: NDArray[np.float64], labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """float64[groups, d]: mean of each group."""
    sizes = np.bincount(labels)
    means = [np.bincount(labels, weights=column) / sizes for column in points.T]
    return np.ascontiguousarray(np.stack(means, axis=1))


def split_large_space_groups(space: PartitionSpace, labels: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """Partition space: split every group of 2k or more records to be partitioned by MDAV."""
    sizes = np.bincount(labels)
    order, ends = np.argsort(labels, kind="stable"), np.cumsum(sizes)
    used, found = len(sizes), labels.copy()
    for group in np.flatnonzero(sizes >= 2 * k):
        rows = order[ends[group] - sizes[group] : ends[group]]
        parts = mdav(np.ascontiguousarray(space.near[rows]), k, GENERIC, EUCLIDEAN)
        found[rows] = np.where(parts == 0, group, used - 1 + parts)
        used += int(parts.max())
    return found


def first_partition_of_space(
    space: PartitionSpace, k: int, least: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """Partition space: the cheap first partition of its records for one k, before any annealing."""
    blocking = Blocking.of(space, k, least)
    labels = np.zeros(len(blocking.points), np.int32)
    for block in range(blocking.blocks):
        blocking.fill(labels, block, blocking.group_block(block))
    return split_large_space_groups(space, blocking.expand(labels), k)


# -- Two good partitions make a better one: what they share stays, where they differ the cheaper side is taken.


def group_costs_in_space(points: NDArray[np.float64], labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """Partition space: the SSE of every group of the records to be partitioned."""
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    centroids = np.add.reduceat(points[order], starts, axis=0) / sizes[:, None]
    return np.add.reduceat(np.square(points[order] - centroids[labels[order]]).sum(axis=1), starts)


def cheaper_regions_in_space(
    one: NDArray[np.int32], other: NDArray[np.int32], costs: NDArray[np.float64], other_costs: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Partition space: the cheapest mix of two partitions of its records, region by region, by group costs."""
    left, right = int(one.max()) + 1, int(other.max()) + 1
    overlap = scipy.sparse.coo_array(
        (np.ones(len(one), np.int8), (one, other + left)), shape=(left + right, left + right)
    )
    count, component = scipy.sparse.csgraph.connected_components(overlap, directed=False)
    cost_one = np.bincount(component[:left], costs, minlength=count)
    cost_other = np.bincount(component[left:], other_costs, minlength=count)
    chosen = np.where((cost_other < cost_one)[component[one]], other + left, one)
    return np.unique(chosen, return_inverse=True)[1].astype(np.int32)


GRID_SIZE = 8
"""Values that k may have: clusters of a size are worked out once for all groupings that hold the columns together."""


def partition_k_grid(k: int, largest: int) -> tuple[int, ...]:
    """The values of k for partitions of so many records, each about the same factor larger.

    >>> partition_k_grid(5, 5), partition_k_grid(5, 50)
    ((5,), (5, 7, 10, 13, 19, 26, 36, 50))
    """
    sizes = np.geomspace(k, max(k, largest), GRID_SIZE if largest > k else 1)
    return tuple(dict.fromkeys(round(float(size)) for size in sizes))
