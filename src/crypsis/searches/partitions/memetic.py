"""The memetic partitioner: annealing runs of growing length, re-solved regions, recombination with the best so far.

A lineage begins with MDAV's partition, or with a cheaper one of a large table (`starts`). Every run starts from the
best partition, is heated and annealed for twice as long as the run before, has its regions solved again, and is
recombined with the best: so more time is never worse, and where a search ends is a matter of its budget alone. Where
the number of moves is known, one long run that melts the partition follows a first short one, since it finds more than
several that grow. A run advances by quanta of so many moves, fixed by the table. Of very large tables near groups
exchange records instead (`mending`), which needs no survey of the neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from pydantic import Field

from crypsis.kernels.annealing import sse
from crypsis.kernels.class_contents import ORDERED, ContentGroups, load_groups, merge_short, walk_contents
from crypsis.masking.partitioning import MDAV, QUICK_BLOCK, Blocks, Border, GroupLayout, mend, partitioners
from crypsis.privacy.demands import ClassDemands
from crypsis.searches.exhaustive import optimal_partition
from crypsis.searches.partitions.chains import EvolvingPartitioner, Labels, Lineage, Memory, Refinement
from crypsis.searches.partitions.lower_bound import SOLVED_UP_TO
from crypsis.searches.partitions.recombination import recombine
from crypsis.searches.partitions.space import PartitionSpace, Walk

ASKED = 40
"""Groups whose contents are looked at for one merge, the nearest first."""
CONTENT_MOVES = 40
"""Changes tried per record in a quantum, in tables of up to `MOST_MOVES` changes."""
MOST_MOVES = 200_000
PRICE = 30.0
"""Price of a record in a group that falls short in full, in mean squared distances of records from their groups."""
HOT, CONTENT_COLD = 0.5, 0.01
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
        moves = min(CONTENT_MOVES * len(labels), MOST_MOVES)
        settings = np.array([k, moves, HOT * unit * rng.random(), CONTENT_COLD * unit, PRICE * unit])
        chance = rng.integers(1, 2**63, size=1).astype(np.uint64)
        near = np.empty(k, dtype=np.int64)
        walk_contents(groups, space.points, context.neighbours, settings, self.demands.arrays, room, chance, near)
        merge_short(groups, space.points, ASKED, self.demands.arrays, room, np.empty(len(labels)))
        return _compact(groups.label), int(rng.integers(2**62))

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
        return _compact(groups.label)

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
        return None if n < 2 * slices else slice_groups(space.points, np.argsort(codes, kind="stable"), slices)


def slice_groups(points: NDArray[np.float64], order: NDArray[np.int64], slices: int) -> Labels:
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


def _compact(labels: NDArray[np.int64]) -> Labels:
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


# -- Partitions of large tables: MDAV within blocks, then exchanges between near groups across ever new blocks.
#
# No survey of the neighbours is needed and the work is done block by block, so that its time grows as the table does.

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


# -- The memetic partitioner: annealing runs of growing length, re-solved regions, recombination with the best so far.
#
# A lineage begins with MDAV's partition, or with a cheaper one of a large table (`starts`). Every run starts from the
# best partition, is heated and annealed for twice as long as the run before, has its regions solved again, and is
# recombined with the best: so more time is never worse, and where a search ends is a matter of its budget alone. Where
# the number of moves is known, one long run that melts the partition follows a first short one, since it finds more
# than several that grow. A run advances by quanta of so many moves, fixed by the table. Of very large tables near
# groups exchange records instead (`mending`), which needs no survey of the neighbours.

MOVES = 100_000
"""Moves of a quantum: some 15 ms on a table of ordinary size."""
MOVES_TIMES_RECORDS = 250_000_000
"""Above so many, a quantum has fewer moves: on large tables a move takes longer, and reloading the walk too."""
FIRST_RUN = 150
"""Moves per record of the first run; every later one is twice as long."""
SHORTEST_RUN, COORDINATES = 20, 500_000
"""Moves per record of the first run at least, and coordinates of all records above which it is shorter."""
LONGEST_RUN = 2500
"""Moves per record, and for 3000 more, beyond which no run grows."""
BETWEEN = 3
"""Every so many quanta, one goes on from the best partition instead of the run."""
WARM, COLD = 0.4, 0.06
"""Temperatures in units of the local spacing: where a region melts, and where nothing moves."""
EVENNESS = (0.5, 0.0)
"""How much evener than the local spacing the temperature is made: the best depends on the table, so both are tried."""
UNEVEN = 2.0
"""Deviation of the logarithm of the local spacing from which on the temperature first follows it in full."""
MOVES_PER_FREED = 400
"""Moves per record of a region."""
SHORT = 4
"""First runs that fit into few steps: up to so many, there is one run alone."""
LONG = 0.8
"""Share of the steps after a first run that the long run has; the rest solves regions again."""
MELTING = 2.0
"""How much hotter than others the long run begins."""
STEPS = 3000
"""Moves per record where neither moves nor seconds are given."""


WALKED_UP_TO = 100_000
"""Records up to which a walk is worth the survey of the neighbours."""


def moves(records: int) -> int:
    """Moves of a quantum."""
    return min(MOVES, FIRST_RUN * records, max(records, MOVES_TIMES_RECORDS // records))


@dataclass(frozen=True)
class Annealing(Refinement):
    """A refinement by annealing runs, with quanta in between that go on from the best partition alone.

    It ends after so many steps, moves per record, or never.
    Memory: `walk` int32[n], the partition on the move; `chance` uint64[1], the generator's state; `place` int64[3]: the
    run, the next quantum of it, and the quanta so far.
    """

    heat: float = 0.35
    region: int = 60
    steps: int | None = None
    name: str = "anneal"

    @property
    def walks(self) -> bool:
        return True

    def begin(self, space: PartitionSpace, k: int, seed: int, first: Labels | None = None) -> Lineage:
        if len(space) <= SOLVED_UP_TO:
            return Lineage(k, optimal_partition(space.points, k)[0])
        labels = MDAV().partition(space.points, k, np.random.default_rng(seed)) if first is None else first
        chance = SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
        return Lineage(k, labels, {"walk": labels, "chance": chance, "place": np.zeros(3, np.int64)})

    def tasks(self, space: PartitionSpace, lineage: Lineage) -> Sequence[Lineage]:
        return [lineage] if lineage.memory and self._left(len(space), int(lineage.memory["place"][2])) > 0 else []

    def work(self, space: PartitionSpace, task: Lineage) -> Lineage:
        """One quantum. The walk is loaded from its labels alone, so that it does not matter who did the one before."""
        run, quantum, passed = task.memory["place"].tolist()
        walk = Walk(space.context(task.k), task.k, task.memory["chance"].copy())
        turn = run if self.steps is None else max(run - 1, 0)
        walk.temper(EVENNESS[(turn + (walk.unevenness() >= UNEVEN)) % 2])
        most = int(min(moves(len(space)), self._left(len(space), passed)))
        if self._refines(len(space), run, quantum, passed):
            return self._refined(space, task, walk, most)
        whole = quanta(len(space), run, self.steps, space.points.shape[1])
        hot = self.heat if not run or self.steps is None else MELTING * self.heat
        fall = (COLD / hot) ** (1 / whole)
        walk.load(task.memory["walk"] if quantum else self._start(space, task) if not run else task.labels)
        walk.anneal(most, hot * fall**quantum, hot * fall ** (quantum + 1))
        ended = quantum + 1 == whole
        labels = recombine(space.points, task.labels, walk.labels()) if ended else task.labels
        place = np.array([run + 1, 0, passed + 1] if ended else [run, quantum + 1, passed + 1])
        return Lineage(task.k, labels, {"walk": walk.labels(), "chance": walk.chance, "place": place})

    def _refines(self, records: int, run: int, quantum: int, passed: int) -> bool:
        """Whether a quantum goes on from the best partition: in turn with runs, and where no run would end in time."""
        if self.steps is None:
            return run > 0 and passed % BETWEEN == 0
        late = not quantum and self._left(records, passed) <= (quanta(records, run, self.steps) - 1) * moves(records)
        return run > 1 and (late or passed % BETWEEN == 0)

    def absorb(self, space: PartitionSpace, lineage: Lineage, results: Sequence[Lineage]) -> Lineage:
        return results[0]

    def _left(self, records: int, passed: int) -> float:
        """Moves left after so many quanta."""
        return math.inf if self.steps is None else self.steps * records - passed * moves(records)

    @staticmethod
    def _start(space: PartitionSpace, task: Lineage) -> Labels:
        """The tighter of the first partition and the best one along a tour through the records."""
        along = space.along_tour(task.k)
        return along if along is not None and sse(space.points, along) < sse(space.points, task.labels) else task.labels

    def _refined(self, space: PartitionSpace, task: Lineage, walk: Walk, most: int) -> Lineage:
        """A quantum of at most so many moves that frees regions of the best partition and solves them again."""
        walk.load(task.labels)
        turn = int(task.memory["place"][2]) // BETWEEN
        freed = min(self.region << turn % 3, len(space))
        each = min(MOVES_PER_FREED * freed, most)
        walk.resolve(max(1, most // each), freed, each, WARM, COLD)
        place = task.memory["place"] + np.array([0, 0, 1])
        return Lineage(task.k, walk.labels(), {**task.memory, "chance": walk.chance, "place": place})


def quanta(records: int, run: int, steps: int | None = None, width: int = 1) -> int:
    """How many quanta of annealing a run has; where the steps are known, the run after a first short one has most.

    width  coordinates of a record: where all records have many, the first run is shorter
    """
    longest = LONGEST_RUN * (records + 3000)
    if steps is None:
        first = max(SHORTEST_RUN, min(FIRST_RUN, FIRST_RUN * COORDINATES // (records * width)))
        length = min(first * records << min(run, 40), longest)
    elif steps < SHORT * FIRST_RUN:
        length = steps * records
    else:
        length = FIRST_RUN * records if not run else min(int(LONG * (steps - FIRST_RUN) * records), longest)
    return max(1, round(length / moves(records)))


@partitioners.add("memetic")
class Memetic(EvolvingPartitioner):
    """Anneals, re-solves and recombines, starting from MDAV's groups: the least loss known, by budget.

    Notes
    -----
    - Formula: annealing over relocate, swap, dissolve and create moves, each judged from centroids and sizes alone;
      runs start from the best partition and are recombined with it; each is twice as long as the one before, or, where
      the steps are known, a long one follows a short one
    - Paper: own; moves after Laszlo and Mukherjee (2015)
    - Cost: anytime: O(p) a move, as many as the budget buys
    - Departures: own method

    Examples
    --------
    >>> from crypsis.searches.partitions import Memetic
    >>> Memetic().partition(np.array([[1.0], [1.1], [5.0], [5.2]]), 2, np.random.default_rng(0))
    array([0, 0, 1, 1], dtype=int32)
    """

    steps: int | None = Field(
        default=None,
        ge=0,
        le=10_000_000,
        description=f"moves tried per record; 0 gives MDAV's partition. Not given: as many as the seconds allow, or "
        f"{STEPS} where no seconds are given. The same seed gives the same groups",
    )
    heat: float = Field(
        default=0.35,
        ge=0.01,
        le=100,
        description="temperature an annealing run starts at, in units of the local squared spacing of the records",
    )
    region: int = Field(default=60, ge=10, le=10_000, description="records freed at a time when a region is re-solved")

    def refinement(self) -> Annealing:
        return Annealing(self.heat, self.region, self.steps)

    def refinement_of(self, records: int) -> Refinement:
        return Mending() if records > WALKED_UP_TO and self.steps is None else self.refinement()

    def limited(self) -> Memetic:
        given = self.steps is not None or self.seconds is not None
        return self if given else self.model_copy(update={"steps": STEPS})
