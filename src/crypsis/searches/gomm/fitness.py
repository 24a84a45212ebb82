"""How good a grouping is: information loss, interval disclosure and distance linkage, from cached partitions.

The partition of a group of attributes, its SSE and its disclosed cells depend on that group alone, and
squared distances add over groups. So a group is worked out once, kept by its attribute set, and a grouping
costs only the groups nobody has seen before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Genome
from crypsis.encodings.grouping import groups_of
from crypsis.encodings.partition import genome_of_listed_groups
from crypsis.engines import Engine
from crypsis.errors import SearchError, TableError
from crypsis.evolution import Child, Scores, State
from crypsis.kernels import groupings as kernels
from crypsis.kernels import partitions
from crypsis.masking.calibration import calibration_means
from crypsis.masking.partitioning import Partitioner
from crypsis.masking.scaling import FAR, scale_to_z_scores
from crypsis.measures.interval_disclosure import disclosure_interval_ranks
from crypsis.measures.record_linkage import tree_linkage
from crypsis.table.precision import Scales

Floats = NDArray[np.float64]

ENDINGS = {"generic": partitions.GENERIC, "hybrid": partitions.HYBRID, "gomm": partitions.GOMM}
METRICS = {"euclidean": partitions.EUCLIDEAN, "manhattan": partitions.MANHATTAN}


@dataclass(frozen=True)
class Convention:
    """What exactly is scaled, clustered and counted."""

    # "z": mean 0, population deviation 1; "range": smallest 0, largest 1; constant columns become 0
    scaling: Literal["z", "range"] = "z"
    ending: Literal["generic", "hybrid", "gomm"] = "generic"  # MDAV's last clusters and its distance
    metric: Literal["euclidean", "manhattan"] = "euclidean"
    # protected value ± w % of: "deviation" the attribute's standard deviation, "value" the scaled protected value
    # itself, "rank" the number of records, in ranks
    interval: Literal["rank", "deviation", "value"] = "rank"
    partitioner: Partitioner | None = None  # None: MDAV with this ending and metric
    loss_weight: float = 0.5  # weight of the loss in the score; the risk has the rest
    interval_weight: float = 0.5  # weight of interval disclosure in the risk; linkage has the rest

    def scale(self, values: Floats) -> Floats:
        """Columns on a common scale; a constant column becomes 0."""
        if self.scaling == "z":
            return scale_to_z_scores(values)
        return np.ascontiguousarray(Scales.of(values).in_unit_interval(values))


PAPER = Convention(scaling="range", ending="gomm", metric="manhattan", interval="value")
"""The convention that gives the tables of the GOMM paper (not the one of its text)."""


class Fitness(NamedTuple):
    """Loss and risk of a grouping, per cent, all to be minimised."""

    IL: float  # information loss
    ID: float  # interval disclosure
    DLD: float  # Distance-based linkage
    score: float  # (IL + DR) / 2 with DR = (ID + DLD) / 2 under equal weights


class Anonymity(NamedTuple):
    """What splitting attributes leaves of k: smallest class over all attributes, share of unique records in %."""

    effective_k: int
    unique: float


def _as_numbers(values: Any) -> Floats:
    """float64[n, p], or a refusal that names the attributes (never their values) that hold anything else."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        cells = np.asarray(values, dtype=object)
    columns = cells.T if cells.ndim == 2 else ()
    words = [place for place, column in enumerate(columns) if not all(map(_is_number, column))]
    raise TableError(
        f"attributes {words or '(all)'} (numbered from 0) do not hold numbers and microaggregation averages; leave "
        f"them out, and protect them by generalisation or masking"
    )


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _check_numbers(values: Floats) -> None:
    """Refuse what cannot be microaggregated."""
    if values.ndim != 2 or not values.size:
        raise TableError(f"a table of records by attributes is needed, but the values have shape {values.shape}")
    unusable = np.flatnonzero(~np.isfinite(values).all(axis=0)).tolist()
    if unusable:
        raise TableError(
            f"attributes {unusable} (numbered from 0) have missing or infinite values and distances need numbers; "
            f"drop those records, fill them in, or leave those attributes out"
        )


def _check_size(records: int, k: int) -> None:
    """Refuse fewer records than a cluster needs."""
    if records < k:
        raise TableError(
            f"{records} records cannot form a cluster of {k}; give at least k records or choose a smaller k"
        )


# -- How good a grouping is: information loss, interval disclosure and distance linkage, from cached partitions.
#
# The partition of a group of attributes, its SSE and its disclosed cells depend on that group alone, and
# squared distances add over groups. So a group is worked out once, kept by its attribute set, and a grouping
# costs only the groups nobody has seen before.

_NO_BLOCK = np.empty(0)
FEW_VALUES = 5
"""A column with fewer values than this has its links found by a tree."""


class GroupPartition(NamedTuple):
    """One group of attributes, microaggregated."""

    labels: NDArray[np.int32]  # cluster of every record
    clusters: int  # how many there are
    sse: float  # sum of squared errors
    disclosed: int  # disclosed cells
    apart: float  # how far apart the clusters lie: the sum of squares between them
    slot: int  # row of the evaluator's arena that holds the distances of all records to the centroids; −1: none


@dataclass
class FitnessCounts:
    """Work done: groupings scored, attribute groups asked for, and how many of those had to be worked out."""

    evaluations: int = 0
    groups_asked: int = 0
    group_evaluations: int = 0

    @property
    def hits(self) -> int:
        """Attribute groups that were found in memory."""
        return self.groups_asked - self.group_evaluations

    def add(self, other: tuple[int, int, int]) -> None:
        """Count the work of another evaluator in."""
        self.evaluations += other[0]
        self.groups_asked += other[1]
        self.group_evaluations += other[2]


@dataclass
class Evaluator:
    """Scores groupings of the columns of one numeric table; pure in its values, quick by its memory."""

    values: Floats  # complete
    convention: Convention = field(default_factory=Convention)  # what exactly is scaled, clustered and counted
    megabytes: float = 64.0  # how much the kept groups may take (never less than one grouping needs); 0 forgets at once
    # records × clusters above which a group keeps no distances and a tree finds the links
    largest_block: int = 4_000_000
    # cells that are missing in truth; records that lack other values are kept far apart
    absent: NDArray[np.bool_] | None = None
    counts: FitnessCounts = field(default_factory=FitnessCounts)  # work done so far

    def __post_init__(self) -> None:
        _check_numbers(self.values)
        self.points = self.convention.scale(self.values)
        self.squares = ((self.points - self.points.mean(axis=0)) ** 2).sum(axis=0)
        self.sst = float(self.squares.sum())
        self.sorted = np.sort(self.values, axis=0)
        self.ranks = self._ranks(self.values, range(self.values.shape[1]))
        self._partitions: OrderedDict[tuple[bytes, int], GroupPartition] = OrderedDict()
        self._arena: Floats = np.empty((0, 0))
        self._clusters: NDArray[np.int32] = np.empty((0, len(self.points)), dtype=np.int32)
        self._free: list[int] = []

    def __getstate__(self) -> dict[str, Any]:
        # A copy sent to a worker starts with an empty memory, and equal evaluators have equal fingerprints.
        names = ("values", "convention", "megabytes", "largest_block", "absent")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __call__(self, genome: Genome) -> Scores:
        """(IL, DR): what the search minimises."""
        fitness = self.fitness(genome)
        return fitness.IL, self.risk(fitness)

    def risk(self, fitness: Fitness) -> float:
        """DR: the weighted mean of interval disclosure and linkage."""
        weight = self.convention.interval_weight
        return weight * fitness.ID + (1.0 - weight) * fitness.DLD

    def fitness(self, genome: Genome) -> Fitness:
        """From the partitions kept, working out those that are missing."""
        return self._judge(genome)[0]

    def anonymity(self, genome: Genome) -> Anonymity:
        """What the grouping leaves of k."""
        return self._judge(genome)[1]

    def _judge(self, genome: Genome) -> tuple[Fitness, Anonymity]:
        k, n = int(genome[-1]), len(self.points)
        _check_size(n, k)
        self._reserve(k)
        members, starts = kernels.by_group(genome[:-1])
        found = [self.partition(members[a:b], k) for a, b in pairwise(starts.tolist())]
        # Clusters far apart first, so that the linkage leaves a branch soonest.
        found.sort(key=lambda each: -each.apart)
        self.counts.evaluations += 1
        if found[0].slot >= 0:
            slots = np.array([each.slot for each in found], dtype=np.int64)
            widths = np.array([each.clusters for each in found], dtype=np.int64)
            credit, smallest, alone = kernels.links(self._arena, self._clusters, slots, widths)
        else:
            _, first, sizes = kernels.classes(np.stack([each.labels for each in found]))
            credit = tree_linkage(self.points, self._average(self.points, genome), first, sizes)
            smallest, alone = int(sizes.min()), int(np.sum(sizes == 1))
        sse, hits = sum(each.sse for each in found), sum(each.disclosed for each in found)
        if not self.megabytes:
            self._forget()
        return self._combine(sse, hits, credit), Anonymity(int(smallest), 100.0 * alone / n)

    def _reserve(self, k: int) -> None:
        """Make room for groups with clusters of k; all is forgotten when the blocks so far were smaller."""
        (n, p), size = self.points.shape, self._block_size(k)
        if size > self.largest_block or size <= self._arena.shape[1] or self._has_ties:
            return
        slots = max(p, int(self.megabytes * 1e6 / (8 * size + 4 * n)))
        self._arena, self._clusters = np.empty((slots, size)), np.empty((slots, n), dtype=np.int32)
        self._forget()

    @cached_property
    def _has_ties(self) -> bool:
        """Whether a column has so few values that most clusters share their centroid: no branch of links ends then."""
        return min(len(np.unique(column)) for column in self.values.T) < FEW_VALUES

    def _forget(self) -> None:
        self._partitions.clear()
        self._free = list(range(len(self._arena)))

    def _combine(self, sse: float, hits: int, credit: float) -> Fitness:
        n, p = self.points.shape
        loss = 100.0 * sse / self.sst if self.sst > 0 else 0.0
        fitness = Fitness(loss, 100.0 * hits / (kernels.WIDTHS * n * p), 100.0 * credit / n, 0.0)
        weight = self.convention.loss_weight
        return fitness._replace(score=weight * fitness.IL + (1.0 - weight) * self.risk(fitness))

    def partition(self, group: NDArray[np.int32], k: int) -> GroupPartition:
        """The partition by int32[·] attributes, ascending, from memory or worked out."""
        self.counts.groups_asked += 1
        key = group.tobytes(), k
        kept = self._partitions.get(key)
        if kept is not None:
            self._partitions.move_to_end(key)
            return kept
        self.counts.group_evaluations += 1
        each = self._partition_group(group, k, self._find_slot(k))
        self._partitions[key] = each
        return each

    def ready(self, candidates: Sequence[Genome], engine: Engine) -> bool:
        """Work out one group of attributes that is missing, where a whole grouping takes long; whether none is."""
        wanted = {(group, int(each[-1])) for each in candidates for group in groups_of(each)}
        large = any(self._block_size(k) > self.largest_block for _, k in wanted)
        if not engine.here or not large or len(wanted) * self.points.nbytes > self.megabytes * 1e6:
            return True  # small, or more than memory holds at once
        for group, k in sorted(wanted):
            columns = np.array(group, dtype=np.int32)
            if (columns.tobytes(), k) not in self._partitions:
                self._reserve(k)
                self.partition(columns, k)
                return False
        return True

    def _find_slot(self, k: int) -> int:
        """A free slot of the arena, or −1 for a group too large to have one."""
        if self._block_size(k) > self._arena.shape[1]:
            while len(self._partitions) * self.points.nbytes > self.megabytes * 1e6:
                self._forget_oldest()
            return -1
        while not self._free:
            self._forget_oldest()
        return self._free.pop()

    def _forget_oldest(self) -> None:
        slot = self._partitions.popitem(last=False)[1].slot
        if slot >= 0:
            self._free.append(slot)

    def _block_size(self, k: int) -> int:
        n = len(self.points)
        return n * (n // k + 2)

    def _partition_group(self, group: NDArray[np.int32], k: int, slot: int) -> GroupPartition:
        points = np.take(self.points, group, axis=1)
        labels = self.cluster(points, group, k)
        block = self._arena[slot] if slot >= 0 else _NO_BLOCK
        mode = kernels.RELATIVE if self.convention.interval == "value" else kernels.UNASKED
        clusters, sse, hits = kernels.survey(points, labels, mode, block)
        if mode == kernels.UNASKED:
            hits = self._count_disclosed(points, kernels.centroids(points, labels, clusters), labels, group)
        if slot >= 0:
            self._clusters[slot] = labels
            labels = self._clusters[slot]
        return GroupPartition(labels, clusters, sse, hits, float(self.squares[group].sum()) - sse, slot)

    def cluster(self, points: Floats, group: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Clusters of the records by one group of attributes."""
        convention, points = self.convention, self._separate_missing(points, group)
        if convention.partitioner is None:
            return partitions.mdav(points, k, ENDINGS[convention.ending], METRICS[convention.metric])
        # A stream of the group's own, so that a partitioner that draws still scores purely.
        return convention.partitioner.partition(points, k, np.random.default_rng([k, *group.tolist()]))

    def _separate_missing(self, points: Floats, group: NDArray[np.int32]) -> Floats:
        """The points with one coordinate more for each column that lacks values, as `masking.scaling` has it."""
        if self.absent is None or not self.absent[:, group].any():
            return points
        absent = self.absent[:, group]
        gaps = FAR * np.where(np.ptp(points, axis=0) > 0, np.ptp(points, axis=0), 1.0)
        if len(group) == 1:
            return np.ascontiguousarray(np.where(absent, points.max() + gaps, points))
        return np.ascontiguousarray(np.hstack([points, (absent * gaps)[:, absent.any(axis=0)]]))

    def _count_disclosed(
        self, points: Floats, centres: Floats, labels: NDArray[np.int32], group: NDArray[np.int32]
    ) -> int:
        if self.convention.interval == "value":
            return kernels.judge_grouping(points, centres, labels, kernels.RELATIVE)[1]
        if self.convention.interval == "rank":
            # Ranks of the published means themselves: scaling them could separate a mean from a value it equals.
            published = np.stack([calibration_means(self.values[:, j], labels, len(centres))[0] for j in group], axis=1)
            return kernels.judge_grouping(
                self.ranks[:, group], self._ranks(published, group), labels, kernels.ABSOLUTE
            )[1]
        spread = self.points[:, group].std(axis=0)
        unit = np.where(spread > 0, spread, 1.0)
        return kernels.judge_grouping(points / unit, centres / unit, labels, kernels.ABSOLUTE)[1]

    def _ranks(self, values: Floats, columns: Iterable[int]) -> Floats:
        """Where values of some columns stand among the originals, as a share of the records."""
        ranks = [disclosure_interval_ranks(values[:, place], self.sorted[:, j]) for place, j in enumerate(columns)]
        return np.stack(ranks, axis=1) / len(self.sorted)

    def facts(self, genome: Genome) -> dict[str, float | int | str]:
        """The paper's figures by name."""
        return {name: float(value) for name, value in self.fitness(genome)._asdict().items()}

    def clusters(self, genome: Genome) -> list[NDArray[np.int32]]:
        """The cluster of every record in each group of attributes, in the order of `groups_of`."""
        k = int(genome[-1])
        return [self.partition(np.array(group, dtype=np.int32), k).labels for group in groups_of(genome)]

    def _average(self, values: Floats, genome: Genome) -> Floats:
        result = np.empty_like(values)
        for attributes in groups_of(genome):
            group = np.array(attributes, dtype=np.int32)
            each = self.partition(group, int(genome[-1]))
            columns = np.take(values, group, axis=1)
            result[:, group] = kernels.centroids(columns, each.labels, each.clusters)[each.labels]
        return result

    def fitness_in_full(self, genome: Genome) -> Fitness:
        """The same fitness with nothing remembered and every pair of records compared: the check, and the yardstick."""
        k = int(genome[-1])
        masked, sse, hits = np.empty_like(self.points), 0.0, 0
        for attributes in groups_of(genome):
            group = np.array(attributes, dtype=np.int32)
            points = np.take(self.points, group, axis=1)
            labels = self.cluster(points, group, k)
            centres = kernels.centroids(points, labels, int(labels.max()) + 1)
            masked[:, group] = centres[labels]
            sse += kernels.judge_grouping(points, centres, labels, kernels.UNASKED)[0]
            hits += self._count_disclosed(points, centres, labels, group)
        return self._combine(sse, hits, kernels.links_in_full(self.points, masked))

    def assess(self, children: Sequence[Child], state: State, engine: Engine) -> list[Scores]:
        """A batch through the engine; the same scores as one by one, and all work counted here."""
        if engine.here:  # threads would share the arena
            return [self(child.genome) for child in children]
        found = engine.map(_count_scores, [child.genome for child in children], self)
        for _, work in found:
            self.counts.add(work)
        return [scores for scores, _ in found]


def _count_scores(evaluator: Evaluator, genome: Genome) -> tuple[Scores, tuple[int, int, int]]:
    counts = evaluator.counts
    before = (counts.evaluations, counts.groups_asked, counts.group_evaluations)
    scores = evaluator(genome)
    after = (counts.evaluations, counts.groups_asked, counts.group_evaluations)
    return scores, (after[0] - before[0], after[1] - before[1], after[2] - before[2])


def paper_fitness(values: Any, groups: Iterable[Iterable[int]], k: int) -> Fitness:
    """Loss and risk of a grouping of attributes, as the tables of the GOMM paper have them.

    >>> paper_fitness([[1.0, 9.0], [1.0, 9.0], [5.0, 2.0], [5.0, 2.0]], [(0, 1)], k=2).IL
    0.0
    """
    values = _as_numbers(values)
    evaluator = Evaluator(values, PAPER)
    if k < 1:
        raise SearchError(f"clusters of {k} records were asked for; k must be at least 1")
    return evaluator.fitness(genome_of_listed_groups(groups, values.shape[1], k))
