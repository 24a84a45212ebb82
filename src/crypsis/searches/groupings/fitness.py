"""How good a grouping is: information loss, interval disclosure and distance linkage, from cached parts.

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
from crypsis.engines import Engine
from crypsis.errors import SearchError, TableError
from crypsis.evolution import Child, Scores, State
from crypsis.kernels import groupings as kernels
from crypsis.kernels import partitions
from crypsis.masking.aggregates import means
from crypsis.masking.partitioning import Partitioner
from crypsis.masking.scaling import FAR
from crypsis.measures.interval_disclosure import middle_ranks
from crypsis.measures.record_linkage import tree_linkage
from crypsis.searches.groupings.operators import genome_of
from crypsis.table.precision import Scales, z_scores

Floats = NDArray[np.float64]

ENDINGS = {"generic": partitions.GENERIC, "hybrid": partitions.HYBRID, "gomm": partitions.GOMM}
METRICS = {"euclidean": partitions.EUCLIDEAN, "manhattan": partitions.MANHATTAN}


@dataclass(frozen=True)
class Convention:
    """What exactly is scaled, clustered and counted.

    Parameters
    ----------
    scaling : str
        "z": mean 0, population deviation 1; "range": smallest 0, largest 1; constant columns become 0.
    ending, metric : str
        MDAV's last clusters and its distance.
    interval : str
        Protected value ± w % of: "deviation" the attribute's standard deviation, "value" the scaled protected value
        itself, "rank" the number of records, in ranks.
    partitioner : Partitioner or None
        None: MDAV with this ending and metric.
    loss_weight : float
        Weight of the loss in the score; the risk has the rest.
    interval_weight : float
        Weight of interval disclosure in the risk; linkage has the rest.
    """

    scaling: Literal["z", "range"] = "z"
    ending: Literal["generic", "hybrid", "gomm"] = "generic"
    metric: Literal["euclidean", "manhattan"] = "euclidean"
    interval: Literal["rank", "deviation", "value"] = "rank"
    partitioner: Partitioner | None = None
    loss_weight: float = 0.5
    interval_weight: float = 0.5

    def scaled(self, values: Floats) -> Floats:
        """Columns on a common scale; a constant column becomes 0."""
        if self.scaling == "z":
            return z_scores(values)
        return np.ascontiguousarray(Scales.of(values).in_unit_interval(values))


PAPER = Convention(scaling="range", ending="gomm", metric="manhattan", interval="value")
"""The convention that gives the tables of the GOMM paper (not the one of its text)."""


class Fitness(NamedTuple):
    """Loss and risk of a grouping, per cent, all to be minimised.

    Parameters
    ----------
    IL : float
        Information loss.
    ID : float
        Interval disclosure.
    DLD : float
        Distance-based linkage.
    score : float
        (IL + DR) / 2 with DR = (ID + DLD) / 2 under equal weights.
    """

    IL: float
    ID: float
    DLD: float
    score: float


class Anonymity(NamedTuple):
    """What splitting attributes leaves of k: smallest class over all attributes, share of unique records in %."""

    effective_k: int
    unique: float


def as_numbers(values: Any) -> Floats:
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


def check_numbers(values: Floats) -> None:
    """Refuse what cannot be microaggregated."""
    if values.ndim != 2 or not values.size:
        raise TableError(f"a table of records by attributes is needed, but the values have shape {values.shape}")
    unusable = np.flatnonzero(~np.isfinite(values).all(axis=0)).tolist()
    if unusable:
        raise TableError(
            f"attributes {unusable} (numbered from 0) have missing or infinite values and distances need numbers; "
            f"drop those records, fill them in, or leave those attributes out"
        )


def check_size(records: int, k: int) -> None:
    """Refuse fewer records than a cluster needs."""
    if records < k:
        raise TableError(
            f"{records} records cannot form a cluster of {k}; give at least k records or choose a smaller k"
        )


# -- How good a grouping is: information loss, interval disclosure and distance linkage, from cached parts.
#
# The partition of a group of attributes, its SSE and its disclosed cells depend on that group alone, and
# squared distances add over groups. So a group is worked out once, kept by its attribute set, and a grouping
# costs only the groups nobody has seen before.

_NO_BLOCK = np.empty(0)
FEW_VALUES = 5
"""A column with fewer values than this has its links found by a tree."""


class Part(NamedTuple):
    """One group of attributes, microaggregated.

    Parameters
    ----------
    labels : ndarray of int32
        Cluster of every record.
    clusters : int
        How many there are.
    sse : float
        Sum of squared errors.
    disclosed : int
        Disclosed cells.
    apart : float
        How far apart the clusters lie: the sum of squares between them.
    slot : int
        Row of the evaluator's arena that holds the distances of all records to the centroids; −1: none.
    """

    labels: NDArray[np.int32]
    clusters: int
    sse: float
    disclosed: int
    apart: float
    slot: int


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
    """Scores groupings of the columns of one numeric table; pure in its values, quick by its memory.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Complete.
    convention : Convention
        What exactly is scaled, clustered and counted.
    megabytes : float
        How much the kept groups may take (never less than one grouping needs); 0 forgets at once.
    largest_block : int
        Records × clusters above which a group keeps no distances and a tree finds the links.
    absent : ndarray of bool or None
        Cells that are missing in truth; records that lack other values are kept far apart.
    counts : FitnessCounts
        Work done so far.
    """

    values: Floats
    convention: Convention = field(default_factory=Convention)
    megabytes: float = 64.0
    largest_block: int = 4_000_000
    absent: NDArray[np.bool_] | None = None
    counts: FitnessCounts = field(default_factory=FitnessCounts)

    def __post_init__(self) -> None:
        check_numbers(self.values)
        self.points = self.convention.scaled(self.values)
        self.squares = ((self.points - self.points.mean(axis=0)) ** 2).sum(axis=0)
        self.sst = float(self.squares.sum())
        self.sorted = np.sort(self.values, axis=0)
        self.ranks = self._ranks(self.values, range(self.values.shape[1]))
        self._parts: OrderedDict[tuple[bytes, int], Part] = OrderedDict()
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
        """From the parts kept, working out those that are missing."""
        return self._judge(genome)[0]

    def anonymity(self, genome: Genome) -> Anonymity:
        """What the grouping leaves of k."""
        return self._judge(genome)[1]

    def _judge(self, genome: Genome) -> tuple[Fitness, Anonymity]:
        k, n = int(genome[-1]), len(self.points)
        check_size(n, k)
        self._reserve(k)
        members, starts = kernels.by_group(genome[:-1])
        parts = [self.part(members[a:b], k) for a, b in pairwise(starts.tolist())]
        # Clusters far apart first, so that the linkage leaves a branch soonest.
        parts.sort(key=lambda part: -part.apart)
        self.counts.evaluations += 1
        if parts[0].slot >= 0:
            slots = np.array([part.slot for part in parts], dtype=np.int64)
            widths = np.array([part.clusters for part in parts], dtype=np.int64)
            credit, smallest, alone = kernels.links(self._arena, self._clusters, slots, widths)
        else:
            _, first, sizes = kernels.classes(np.stack([part.labels for part in parts]))
            credit = tree_linkage(self.points, self._averaged(self.points, genome), first, sizes)
            smallest, alone = int(sizes.min()), int(np.sum(sizes == 1))
        sse, hits = sum(part.sse for part in parts), sum(part.disclosed for part in parts)
        if not self.megabytes:
            self._forget()
        return self._total(sse, hits, credit), Anonymity(int(smallest), 100.0 * alone / n)

    def _reserve(self, k: int) -> None:
        """Make room for groups with clusters of k; all is forgotten when the blocks so far were smaller."""
        (n, p), size = self.points.shape, self._block_size(k)
        if size > self.largest_block or size <= self._arena.shape[1] or self._tied:
            return
        slots = max(p, int(self.megabytes * 1e6 / (8 * size + 4 * n)))
        self._arena, self._clusters = np.empty((slots, size)), np.empty((slots, n), dtype=np.int32)
        self._forget()

    @cached_property
    def _tied(self) -> bool:
        """Whether a column has so few values that most clusters share their centroid: no branch of links ends then."""
        return min(len(np.unique(column)) for column in self.values.T) < FEW_VALUES

    def _forget(self) -> None:
        self._parts.clear()
        self._free = list(range(len(self._arena)))

    def _total(self, sse: float, hits: int, credit: float) -> Fitness:
        n, p = self.points.shape
        loss = 100.0 * sse / self.sst if self.sst > 0 else 0.0
        fitness = Fitness(loss, 100.0 * hits / (kernels.WIDTHS * n * p), 100.0 * credit / n, 0.0)
        weight = self.convention.loss_weight
        return fitness._replace(score=weight * fitness.IL + (1.0 - weight) * self.risk(fitness))

    def part(self, group: NDArray[np.int32], k: int) -> Part:
        """The part of int32[·] attributes, ascending, from memory or worked out; the one longest unused makes room."""
        self.counts.groups_asked += 1
        key = group.tobytes(), k
        kept = self._parts.get(key)
        if kept is not None:
            self._parts.move_to_end(key)
            return kept
        self.counts.group_evaluations += 1
        part = self._work_out(group, k, self._room(k))
        self._parts[key] = part
        return part

    def ready(self, candidates: Sequence[Genome], engine: Engine) -> bool:
        """Work out one group of attributes that is missing, where a whole grouping takes long; whether none is.

        engine  in other processes they are worked out as they are scored
        """
        wanted = {(group, int(each[-1])) for each in candidates for group in groups_of(each)}
        large = any(self._block_size(k) > self.largest_block for _, k in wanted)
        if not engine.here or not large or len(wanted) * self.points.nbytes > self.megabytes * 1e6:
            return True  # small, or more than memory holds at once
        for group, k in sorted(wanted):
            columns = np.array(group, dtype=np.int32)
            if (columns.tobytes(), k) not in self._parts:
                self._reserve(k)
                self.part(columns, k)
                return False
        return True

    def _room(self, k: int) -> int:
        """A free slot of the arena, or −1 for a group too large to have one."""
        if self._block_size(k) > self._arena.shape[1]:
            while len(self._parts) * self.points.nbytes > self.megabytes * 1e6:
                self._forget_oldest()
            return -1
        while not self._free:
            self._forget_oldest()
        return self._free.pop()

    def _forget_oldest(self) -> None:
        slot = self._parts.popitem(last=False)[1].slot
        if slot >= 0:
            self._free.append(slot)

    def _block_size(self, k: int) -> int:
        n = len(self.points)
        return n * (n // k + 2)

    def _work_out(self, group: NDArray[np.int32], k: int, slot: int) -> Part:
        points = np.take(self.points, group, axis=1)
        labels = self.cluster(points, group, k)
        block = self._arena[slot] if slot >= 0 else _NO_BLOCK
        mode = kernels.RELATIVE if self.convention.interval == "value" else kernels.UNASKED
        clusters, sse, hits = kernels.survey(points, labels, mode, block)
        if mode == kernels.UNASKED:
            hits = self._disclosed(points, kernels.centroids(points, labels, clusters), labels, group)
        if slot >= 0:
            self._clusters[slot] = labels
            labels = self._clusters[slot]
        return Part(labels, clusters, sse, hits, float(self.squares[group].sum()) - sse, slot)

    def cluster(self, points: Floats, group: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Clusters of the records by one group of attributes."""
        convention, points = self.convention, self._apart(points, group)
        if convention.partitioner is None:
            return partitions.mdav(points, k, ENDINGS[convention.ending], METRICS[convention.metric])
        # A stream of the group's own, so that a partitioner that draws still scores purely.
        return convention.partitioner.partition(points, k, np.random.default_rng([k, *group.tolist()]))

    def _apart(self, points: Floats, group: NDArray[np.int32]) -> Floats:
        """The points with one coordinate more for each column that lacks values, as `masking.scaling` has it."""
        if self.absent is None or not self.absent[:, group].any():
            return points
        absent = self.absent[:, group]
        gaps = FAR * np.where(np.ptp(points, axis=0) > 0, np.ptp(points, axis=0), 1.0)
        if len(group) == 1:
            return np.ascontiguousarray(np.where(absent, points.max() + gaps, points))
        return np.ascontiguousarray(np.hstack([points, (absent * gaps)[:, absent.any(axis=0)]]))

    def _disclosed(self, points: Floats, centres: Floats, labels: NDArray[np.int32], group: NDArray[np.int32]) -> int:
        if self.convention.interval == "value":
            return kernels.judged(points, centres, labels, kernels.RELATIVE)[1]
        if self.convention.interval == "rank":
            # Ranks of the published means themselves: scaling them could part a mean from a value it equals.
            published = np.stack([means(self.values[:, j], labels, len(centres))[0] for j in group], axis=1)
            return kernels.judged(self.ranks[:, group], self._ranks(published, group), labels, kernels.ABSOLUTE)[1]
        spread = self.points[:, group].std(axis=0)
        unit = np.where(spread > 0, spread, 1.0)
        return kernels.judged(points / unit, centres / unit, labels, kernels.ABSOLUTE)[1]

    def _ranks(self, values: Floats, columns: Iterable[int]) -> Floats:
        """Where values of some columns stand among the originals, as a share of the records."""
        ranks = [middle_ranks(values[:, place], self.sorted[:, j]) for place, j in enumerate(columns)]
        return np.stack(ranks, axis=1) / len(self.sorted)

    def facts(self, genome: Genome) -> dict[str, float | int | str]:
        """The paper's figures by name."""
        return {name: float(value) for name, value in self.fitness(genome)._asdict().items()}

    def clusters(self, genome: Genome) -> list[NDArray[np.int32]]:
        """The cluster of every record in each group of attributes, in the order of `groups_of`."""
        k = int(genome[-1])
        return [self.part(np.array(group, dtype=np.int32), k).labels for group in groups_of(genome)]

    def _averaged(self, values: Floats, genome: Genome) -> Floats:
        result = np.empty_like(values)
        for attributes in groups_of(genome):
            group = np.array(attributes, dtype=np.int32)
            part = self.part(group, int(genome[-1]))
            columns = np.take(values, group, axis=1)
            result[:, group] = kernels.centroids(columns, part.labels, part.clusters)[part.labels]
        return result

    def in_full(self, genome: Genome) -> Fitness:
        """The same fitness with nothing remembered and every pair of records compared: the check, and the yardstick."""
        k = int(genome[-1])
        masked, sse, hits = np.empty_like(self.points), 0.0, 0
        for attributes in groups_of(genome):
            group = np.array(attributes, dtype=np.int32)
            points = np.take(self.points, group, axis=1)
            labels = self.cluster(points, group, k)
            centres = kernels.centroids(points, labels, int(labels.max()) + 1)
            masked[:, group] = centres[labels]
            sse += kernels.judged(points, centres, labels, kernels.UNASKED)[0]
            hits += self._disclosed(points, centres, labels, group)
        return self._total(sse, hits, kernels.links_in_full(self.points, masked))

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

    Parameters
    ----------
    values : array_like of shape (n, p)
        Complete and numeric.
    groups : iterable of iterables of int
        Attributes, numbered from 0, group by group; each occurs exactly once.
    k : int
        Least number of records in a cluster.

    Returns
    -------
    Fitness
        IL, ID, DLD and score.

    Raises
    ------
    SearchError
        If k is below 1 or the groups do not hold every attribute once.
    TableError
        If the values are not numbers, or there are fewer records than k.

    Examples
    --------
    >>> paper_fitness([[1.0, 9.0], [1.0, 9.0], [5.0, 2.0], [5.0, 2.0]], [(0, 1)], k=2).IL
    0.0
    """
    values = as_numbers(values)
    evaluator = Evaluator(values, PAPER)
    if k < 1:
        raise SearchError(f"clusters of {k} records were asked for; k must be at least 1")
    return evaluator.fitness(genome_of(groups, values.shape[1], k))
