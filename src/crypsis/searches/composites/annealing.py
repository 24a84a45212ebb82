"""The strategy of the search over composite groups: a lineage for each k and profile, annealed in ever longer runs.

A quantum reads so many cells. Lineages take turns run by run, in the order of their seats; each begins when its turn
comes, so that the first point is there as soon as the first groups are. Once all have made a few runs, lineages between
them begin: their groups have the smaller k and a price, so that there are as few of them as between the two rungs but
of more sizes, which loses less. At the end of a run the groups found are recombined with the best so far, and what is
better is scored, now and then also with another treatment of its columns. Beyond the ladder, ever larger groups are put
together from those below them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.composite import CompositeGenes
from crypsis.evolution import Engine, Genome, Problem, State
from crypsis.evolution.problem import Child, Streams
from crypsis.kernels.arrays import Ints, Words
from crypsis.kernels.composite import (
    CompositeGroups,
    Costing,
    WalkSettings,
    arrange_groups,
    merge_short_groups,
    walk_groups,
)
from crypsis.masking.generalisation import datafly_steps
from crypsis.masking.local_recoding import LocalRecoding
from crypsis.masking.partitioning import QUICK_BLOCK, Blocks
from crypsis.masking.scaling import embed
from crypsis.pieces import Pieces, Underway, complete
from crypsis.searches.chains import WalkingLineage, WalkingStrategy, first_chance, packed, seated, unpacked, walked
from crypsis.searches.composites.space import CompositeSpace, Labels, Treatments, halve_table
from crypsis.searches.partitions.chains import tighter
from crypsis.searches.partitions.recombination import cheaper_regions
from crypsis.searches.partitions.space import Walk
from crypsis.table.attribute import Kind
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table

DISSOLVING = 0.1
"""Probability that a change dissolves a group, times k; at most half of it."""
ANYWHERE = 0.05
"""Probability that a far record is looked at."""


class CompositeWalk:
    """Groups of one profile and k on the move, with their own chance."""

    def __init__(self, space: CompositeSpace, profile: int, k: int, chance: NDArray[np.uint64]) -> None:
        self.cells, self.around, self.room = space.cells[profile], space.around(k), space.room(k)
        self.k, self.chance, self.charges = k, chance, space.charges()
        n, p = self.cells.codes.shape
        slots = n // k + 1
        self.groups = CompositeGroups(
            labels=np.zeros(n, np.int32),
            head=np.zeros(slots, np.int32),
            after=np.zeros(n, np.int32),
            before=np.zeros(n, np.int32),
            sizes=np.zeros(slots, np.int32),
            costs=np.zeros((slots, p + 2)),
            fresh=np.zeros((2, p + 2)),
            used=np.zeros(1, np.int64),
        )

    def load(self, labels: Labels) -> float:
        """Start from groups 0, 1, … without gaps; their cost in cells."""
        return arrange_groups(self.groups, self.charges, self.cells, np.ascontiguousarray(labels, np.int32), self.room)

    def costs(self) -> NDArray[np.float64]:
        """What each group costs."""
        return self.groups.costs[: int(self.groups.used[0]), -1].copy()

    def record_cost(self) -> float:
        """What a record costs, weighed by what it costs: where most groups lose nothing, what those lose that do."""
        costs = self.costs()
        total = float(costs.sum())
        return float((costs**2 / self.groups.sizes[: len(costs)]).sum()) / total if total > 0.0 else 0.0

    def labels(self) -> Labels:
        """The groups as they are now."""
        return self.groups.labels.copy()

    def merge_short(self, least: int = 0) -> None:
        """Put groups of fewer records than `least`, or that miss a demand, together with near ones, where possible."""
        if least or self.charges is not None:
            stamp = np.zeros(len(self.groups.sizes) + 1, np.int32)
            merge_short_groups(self.groups, Costing(self.charges, self.cells, self.room), self.around, least, stamp)

    def anneal(self, work: int, hot: float, cold: float, price: float = 0.0) -> float:
        """Walk until so many cells were read while the temperature falls from hot to cold; the cost reached.

        price  what every group costs beside what it loses
        """
        pace = WalkSettings(self.k, work, hot, cold, min(DISSOLVING / self.k, DISSOLVING / 2), ANYWHERE, price)
        return walk_groups(self.groups, Costing(self.charges, self.cells, self.room), self.around, pace, self.chance)


# -- First groups of composite searches, and groups put together until they meet what is demanded of them.

Start = Literal["best", "halving", "mdav", "lattice", "local-recoding"]

NODES = 256
"""Lattice nodes offered to a local recoding that only begins a search."""
LITTLE = 2e8
"""Coordinates that MDAV compares in less than a quarter of a second."""
STEPS = 300
"""Moves of a record while first groups become compact."""
MOVED, QUANTA = 20_000_000, 4
"""Coordinates of the moves of one quantum, and how many quanta are spent at most."""
WARM, COOL = 0.35, 0.06
"""Temperatures of these moves, in the squared distance to the nearest records."""


RARE = 0.1
"""Share of the records that may be in classes of fewer than k at the node from which groups are made."""

FirstGroups = tuple[Labels, Labels]
"""The cheapest groups, and those to walk from."""


def first_groups(space: CompositeSpace, profile: int, k: int, start: Start) -> FirstGroups:
    """Groups of at least k records of one stratum that meet what is demanded: the cheapest, and those to walk from.

    Labels are 0, 1, … without gaps. A walk from the groups of MDAV, which are compact, ends better than one from
    groups of halving, even where those cost less.
    """
    return complete(grouping(space, profile, k, start))


def grouping(space: CompositeSpace, profile: int, k: int, start: Start) -> Pieces[FirstGroups]:
    """`first_groups` in pieces."""
    ways: tuple[Start, ...] = (start,)
    if start == "best":
        ways = ("halving", "mdav") if _count_comparisons(space, k) <= LITTLE else ("halving",)
    found = list[Labels]()
    for way in ways:
        if way == "halving":
            groups = yield from space.halving(profile, k)
        elif way == "lattice":
            [groups] = yield [partial(_within_node, space, profile, k)]
        else:
            [groups] = yield [partial(_other, space, k, way)]
        found += yield [partial(meet_demands, space, profile, k, groups)]
    if len(found) == 1:
        return found[0], found[0]
    return min(found, key=lambda each: space.cost(profile, each)), found[-1]


def compactions(space: CompositeSpace) -> int:
    """Quanta in which first groups become compact; none where that takes long or groups must meet more than k."""
    needed = -(-len(space) * _width(space) * STEPS // MOVED)
    return 0 if needed > QUANTA or space.strata.any() or not space.demands.only_size else int(needed)


def compact_groups(space: CompositeSpace, k: int, labels: Labels, chance: NDArray[np.uint64], quantum: int) -> Labels:
    """Groups of at least k after one quantum of a walk on squared distances.

    A walk on losses from compact groups ends better than one from the groups that this one begins with.

    chance  state of the generator, which goes on
    quantum  0, 1, … of the compactions
    """
    walk = Walk(space.points.context(k), k, chance)
    walk.load(labels)
    quanta = compactions(space)
    fall = (COOL / WARM) ** (1.0 / quanta)
    walk.anneal(STEPS * len(space) // quanta, WARM * fall**quantum, WARM * fall ** (quantum + 1))
    return np.unique(walk.labels(), return_inverse=True)[1].astype(np.int32)


def _within_node(space: CompositeSpace, profile: int, k: int) -> Labels:
    """Records that are alike at the first node of Datafly with few rare ones, halved; too small groups put together."""
    lattice = Lattice.of(space.table, space.names)
    kept = space.table.take(np.flatnonzero(space.table.kept))
    leaves = [kept.leaf_codes(name) for name in space.names]

    def alike(levels: Mapping[str, int]) -> Labels:
        trees = zip(space.names, lattice.hierarchies, leaves, strict=True)
        groups = [np.where(codes < 0, -1, tree.groups[levels[name]][codes]) for name, tree, codes in trees]
        return np.unique(np.stack([space.strata, *groups]), axis=1, return_inverse=True)[1].astype(np.int32)

    def rare(levels: Mapping[str, int]) -> bool:
        classes = alike(levels)
        return bool((np.bincount(classes)[classes] < k).mean() > RARE)

    steps = datafly_steps(lattice)
    node = steps[min(bisect_left(steps, True, key=lambda levels: not rare(levels)), len(steps) - 1)]
    chance = np.ones(1, np.uint64)
    halves = halve_table(space.cells[profile], alike(node), k, 0.0, chance, space.room(k))[0]
    return _join_small_groups(space, profile, k, halves)


def _other(space: CompositeSpace, k: int, start: Start) -> Labels:
    """Groups of at least k records of one stratum, by MDAV or by local recoding."""
    kept = space.table.take(np.flatnonzero(space.table.kept))
    labels = np.zeros(len(space), np.int32)
    for stratum in np.unique(space.strata):
        rows = np.flatnonzero(space.strata == stratum)
        labels[rows] = int(labels.max(initial=-1)) + 1 + _group_stratum(space, kept.take(rows), k, start)
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _count_comparisons(space: CompositeSpace, k: int) -> float:
    """About how many coordinates MDAV compares."""
    return len(space) * min(len(space), QUICK_BLOCK) * _width(space) / k


def _width(space: CompositeSpace) -> int:
    """Coordinates of a record: a category of a nominal column is one."""
    columns = [space.table.attribute(name) for name in space.names]
    return sum(len(each.categories) if each.kind is Kind.NOMINAL else 1 for each in columns)


def _group_stratum(space: CompositeSpace, part: Table, k: int, start: Start) -> Labels:
    """Groups of the records of one stratum."""
    rng = np.random.default_rng(0)
    if len(part) < 2 * k:
        return np.zeros(len(part), np.int32)
    if start == "mdav":
        points = np.ascontiguousarray(embed(part, space.names, "z"))
        return Blocks(size=QUICK_BLOCK, mending=0).partition(points, k, rng)
    return LocalRecoding(columns=space.names, k=k, nodes=NODES, effort=0).solve(part, rng).labels


def meet_demands(space: CompositeSpace, profile: int, k: int, labels: Labels) -> Labels:
    """Groups put together with near ones until all meet what is demanded, as far as that is possible."""
    if space.demands.only_size:
        return labels
    walk = CompositeWalk(space, profile, k, np.ones(1, np.uint64))
    walk.load(labels)
    walk.merge_short()
    return walk.labels()


def merge_groups(space: CompositeSpace, profile: int, k: int, labels: Labels) -> Labels:
    """Groups of at least k, made of near smaller ones, or by another start where that costs less."""
    joined, other = _join_small_groups(space, profile, k, labels), first_groups(space, profile, k, "best")[0]
    return joined if space.cost(profile, joined) < space.cost(profile, other) else other


def _join_small_groups(space: CompositeSpace, profile: int, k: int, labels: Labels) -> Labels:
    """Groups with those of fewer than k records put together with near ones."""
    walk = CompositeWalk(space, profile, max(int(np.bincount(labels).min()), 1), np.ones(1, np.uint64))
    walk.load(labels)
    walk.merge_short(k)
    return walk.labels()


# -- Composite groups of large tables: blocks of near groups walk one after another, cut anew in every round.
#
# A quantum looks at one block alone, so that its time does not grow with the table.

WHOLE = 50_000
"""Records up to which groups walk over the whole table."""
BLOCK = 4_000
"""Records of a block, about."""


def block_count(space: CompositeSpace) -> int:
    """How many blocks a round has."""
    return -(-len(space) // BLOCK) + 1


def block_rows(space: CompositeSpace, labels: Labels, turn: int, block: int) -> Ints:
    """Records of the groups whose middle lies in a block: stretches of two orders in turn, shifted every other time."""
    place = space.place(turn % 2)
    sizes = np.bincount(labels)
    middle = np.bincount(labels, weights=place) / np.maximum(sizes, 1)
    shift = turn // 2 % 2 * BLOCK // 2
    inside = ((middle + shift) // BLOCK).astype(np.int64) == block
    return np.flatnonzero(inside[labels])


def walked_block(
    space: CompositeSpace,
    profile: int,
    k: int,
    labels: Labels,
    rows: Ints,
    chance: Words,
    pace: tuple[int, float, float],
) -> Labels:
    """The labels after some records have walked for so many cells from hot to cold, if they lose less afterwards.

    rows  whole groups
    pace  cells read, temperatures at the beginning and the end in costs of a record
    """
    held, local = np.unique(labels[rows], return_inverse=True)
    if len(held) < 2:
        return labels
    part = space.part(rows)
    walk = CompositeWalk(part, profile, k, chance)
    before = walk.load(local.astype(np.int32))
    (work, hot, cold), warmth = pace, walk.record_cost()
    if before == 0.0 or walk.anneal(work, hot * warmth, cold * warmth) >= before:
        return labels
    found = walk.labels()
    if not part.demands.only_size and (part.demands.shortfalls(found) > 0.0).any():
        return labels
    many = int(found.max()) + 1
    fresh = np.arange(int(labels.max()) + 1, int(labels.max()) + 1 + max(0, many - len(held)))
    after = labels.copy()
    after[rows] = np.concatenate([held, fresh])[found]
    return after


# -- The strategy of the search over composite groups: a lineage for each k and profile, annealed in ever longer runs.
#
# A quantum reads so many cells. Lineages take turns run by run, in the order of their seats; each begins when its turn
# comes, so that the first point is there as soon as the first groups are. Once all have made a few runs, lineages
# between them begin: their groups have the smaller k and a price, so that there are as few of them as between the two
# rungs but of more sizes, which loses less. At the end of a run the groups found are recombined with the best so far,
# and what is better is scored, now and then also with another treatment of its columns. Beyond the ladder, ever larger
# groups are put together from those below them.

WORK = 1_500_000
"""Cells read in a quantum of one lineage: some 60 ms."""
FIRST_RUN, LONGEST_RUN = 10, 320
"""Work of the first run, in cells of all records times k; every later one is twice as long, up to the longest."""
HOT, COLD = (0.35, 0.6), 0.02
"""Temperatures at which runs begin, in turn, and end, in costs of a record of the groups that cost something: those of
a change do not grow with k."""
LEAST_WARMTH = 2e-4
"""Of groups that lose next to nothing."""
DENSER = (3, 4)
"""Runs of all lineages after which others begin between neighbouring rungs, and between every other rung."""
FAR = 2
"""Runs of the first lineage after which those beyond the ladder begin."""
BEYOND = 2.0
"""Times the price between the last two rungs: for fewer groups than at the last one."""
BEHIND = 2
"""Runs that a rung between others makes less."""
SCORED_BLOCKS = 32
"""Blocks of a large table after which its groups are scored again."""


class Seat(NamedTuple):
    """What a lineage looks for.

    k, profile  least group size, and number of the way of publishing
    after  runs that all lineages of the ladder, or the first one, must have made before it begins
    between  seats of a smaller and a larger k: a group is priced at what one less costs from the first to the second
    dearer  times that price
    below  the seat of a smaller k whose groups are put together at first; None where others are found
    """

    k: int
    profile: int = 0
    after: int = 0
    between: tuple[int, int] | None = None
    dearer: float = 1.0
    below: int | None = None


@dataclass(frozen=True, eq=False)
class CompositeLineage(WalkingLineage):
    """One k and profile on its way, with the group of each record.

    warmth  float64[1]: the temperature's unit in this run, what a record of the best groups costs
    price  float64[1]: what every group costs beside what it loses
    """

    warmth: NDArray[np.float64]
    price: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CompositeLineages(WalkingStrategy[CompositeLineage]):
    """A strategy with a seat for each k and profile; a quantum advances a few of them.

    space  records, profiles and the ladder of k
    seats  k and profile of each lineage, in the order in which they begin
    treatments  what columns may be published as instead
    start  how first groups are found
    breedings  lineages advanced in one quantum
    brief  whether a run of few cells ends when it has read them; otherwise it goes on for a whole quantum
    """

    operators: ClassVar[tuple[str, ...]] = ("anneal", "treat")
    """Annealing runs, and other treatments of the groups they find."""

    space: CompositeSpace = field(repr=False)
    seats: tuple[Seat, ...]
    treatments: Treatments
    start: Start = "best"
    breedings: int = 1
    brief: bool = False
    _sought: dict[int, Underway[FirstGroups]] = field(default_factory=dict, repr=False)
    """First groups that are being sought, by seat."""

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_sought": {}}

    def first(self) -> tuple[Genome, ...]:
        """The first groups of the first lineage."""
        return (self._genome(0, self.begun(0, 1).best),)

    def prefer(self, child: NDArray[np.float64], parent: NDArray[np.float64]) -> bool:
        """Groups that lose less take the seat; of those that lose as much, those that are found less."""
        return tighter(child, parent)

    def propose(self, problem: Problem, state: State, engine: Engine) -> tuple[State, list[Child]]:
        """One more lineage begins, or near records are looked for; after that, those whose turn it is walk on."""
        lineages = unpacked(CompositeLineage, state)
        begins = self._next_begins(lineages)
        looks = engine.here and len(self.space) <= WHOLE and not (begins and self.space.demands.only_size)
        if looks and (self.space.survey() or (self._compacts() and not self.space.points.surveyed(engine))):
            return state, []
        if begins:
            return self._next_seated(problem, state, engine)
        turn = self._turn(lineages)
        streams = Streams(state.rng)
        children: list[Child] = []
        for seat, after in zip(turn, engine.map(walked, [(seat, lineages[seat]) for seat in turn], self), strict=True):
            if after.due[0]:
                children += self._children(problem, seat, after, streams["treat"])
            lineages[seat] = after
        worked = replace(state, memory=packed(lineages), rng=streams.snapshot())
        if not children:
            return replace(worked, generation=state.generation + 1, idle=0 if turn else state.idle + 1), []
        return worked, children

    def _next_seated(self, problem: Problem, state: State, engine: Engine) -> tuple[State, list[Child]]:
        """The state with the next lineage on its seat; as it is while the first groups of a large table are sought."""
        seat, streams = len(state.genomes), Streams(state.rng)
        if len(self.space) > WHOLE and not self._grouped(seat, engine):
            return replace(state, whole=False), []
        lineage = self.begun(seat, int(streams["anneal"].integers(2**63)), unpacked(CompositeLineage, state))
        return seated(problem, state, lineage, self._genome(seat, lineage.best), streams)

    def _grouped(self, seat: int, engine: Engine) -> bool:
        """Whether the first groups of a seat are found; if not, a piece of the work is done."""
        k, profile, _, between, _, below = self.seats[seat]
        if between is not None or below is not None or not engine.here:
            return True
        if seat not in self._sought:
            self._sought[seat] = Underway(grouping(self.space, profile, k, self.start))
        return self._sought[seat].advance(engine, engine.workers)

    def _next_begins(self, lineages: Sequence[CompositeLineage]) -> bool:
        """Whether there is a lineage that has not begun and waits for nothing."""
        if len(lineages) == len(self.seats):
            return False
        begun = zip(lineages, self.seats, strict=False)
        runs = [int(each.place[0]) for each, seat in begun if seat.below is None and self.divisible(seat.k)]
        if self.seats[len(lineages)].below is not None:
            runs = runs[:1]
        return min(runs, default=0) >= self.seats[len(lineages)].after

    def begun(self, seat: int, seed: int, others: Sequence[CompositeLineage] = ()) -> CompositeLineage:
        """A lineage with its first groups; one that begins between others, with those of the larger k."""
        k, profile, _, between, dearer, below = self.seats[seat]
        price = 0.0
        if below is not None:
            labels = walk = merge_groups(self.space, profile, k, others[below].best)
        elif between is None:
            sought = self._sought.pop(seat, None)
            found = None if sought is None else sought.result
            labels, walk = first_groups(self.space, profile, k, self.start) if found is None else found
        else:
            many, labels = (others[place].best for place in between)
            walk = labels
            saved = self.space.cost(profile, labels) - self.space.cost(profile, many)
            price = dearer * max(saved, 0.0) / max(int(many.max()) - int(labels.max()), 1)
        chance = first_chance(seed)
        walk = walk if len(self.space) <= WHOLE else walk[:0]  # on a large table every block has its own
        compact = self._compacts() if between is None and below is None else 0
        place, due = np.array([0, -compact]), np.zeros(1, np.bool_)
        return CompositeLineage(labels, walk, chance, place, due, np.zeros(1), np.array([price]))

    def _genome(self, seat: int, labels: Labels) -> Genome:
        k, profile = self.seats[seat][:2]
        return CompositeGenes(labels, k, self.space.profiles[profile]).genome

    def _turn(self, lineages: Sequence[CompositeLineage]) -> list[int]:
        """The seats that walk in the next quantum: fewest runs first, then in their order.

        Rungs that have others on both sides wait until those have made more runs, as what is between loses less; so do
        far ones.
        """
        able = [seat for seat in range(len(lineages)) if self.divisible(self.seats[seat].k)]
        begun = [seat.between for seat in self.seats[: len(lineages)] if seat.between is not None]
        waits = {low for low, _ in begun} & {high for _, high in begun}

        def turn(seat: int) -> tuple[int, int]:
            far = self.seats[seat].below is not None
            return int(lineages[seat].place[0]) + BEHIND * (far or seat in waits), seat

        return sorted(able, key=turn)[: self.breedings]

    def divisible(self, k: int) -> bool:
        """Whether the records can be in more than one group of k."""
        return bool((np.bincount(self.space.strata) >= 2 * k).any())

    def work(self, seat: int, lineage: CompositeLineage) -> CompositeLineage:
        """One quantum of a lineage; all is loaded from its labels alone, so that any worker may do it."""
        if len(self.space) > WHOLE:
            return self._walked_block(seat, lineage)
        k, profile = self.seats[seat][:2]
        run, quantum = lineage.place.tolist()
        if quantum < 0:
            return self._compacted(k, lineage)
        size, price = self.size(seat), float(lineage.price[0])
        walk = CompositeWalk(self.space, profile, k, lineage.chance.copy())
        whole, hot = quanta(self.space, size, run), HOT[run % len(HOT)]
        walk.load(lineage.walk)
        warmth = lineage.warmth if quantum else np.array([max(walk.record_cost(), LEAST_WARMTH)])
        fall, hot = (COLD / hot) ** (1.0 / whole), hot * float(warmth[0])
        cells = min(WORK, run_cells(self.space, size, run)) if self.brief else WORK
        walk.anneal(cells, hot * fall**quantum, hot * fall ** (quantum + 1), price)
        found, no = walk.labels(), np.zeros(1, np.bool_)
        if quantum + 1 < whole:
            place = np.array([run, quantum + 1])
            return replace(lineage, walk=found, chance=walk.chance, place=place, due=no, warmth=warmth)
        walk.merge_short()
        found = walk.labels()
        costs = walk.costs() + price + self.space.mending(profile, found)
        walk.load(lineage.best)
        kept = walk.costs() + price + self.space.mending(profile, lineage.best)
        joined = cheaper_regions(lineage.best, found, kept, costs)
        walk.load(joined)
        better = (walk.costs() + price + self.space.mending(profile, joined)).sum() < kept.sum() - 1e-9
        labels = joined if better else lineage.best
        place, due = np.array([run + 1, 0]), np.array([better])
        return CompositeLineage(labels, labels, walk.chance, place, due, warmth, lineage.price)

    def _compacts(self) -> int:
        """Quanta in which the first groups of a lineage become compact."""
        return compactions(self.space) if self.start == "best" and len(self.space) <= WHOLE else 0

    def _compacted(self, k: int, lineage: CompositeLineage) -> CompositeLineage:
        """One of the quanta, numbered below 0, in which first groups become compact."""
        chance, place = lineage.chance.copy(), lineage.place + np.array([0, 1])
        walk = compact_groups(self.space, k, lineage.walk, chance, compactions(self.space) + int(lineage.place[1]))
        return replace(lineage, walk=walk, chance=chance, place=place, due=np.zeros(1, np.bool_))

    def size(self, seat: int) -> int:
        """About how large the groups of a seat become."""
        between = self.seats[seat].between
        return min(self.seats[seat].k if between is None else self.seats[between[1]].k, max(self.space.ladder))

    def _walked_block(self, seat: int, lineage: CompositeLineage) -> CompositeLineage:
        """One block of a lineage of a large table."""
        k, profile = self.seats[seat][:2]
        turn, block = lineage.place.tolist()
        chance, rows = lineage.chance.copy(), block_rows(self.space, lineage.best, turn, block)
        labels = lineage.best
        if len(rows) >= 2 * k:
            labels = walked_block(self.space, profile, k, labels, rows, chance, (WORK, HOT[turn % len(HOT)], COLD))
        ended = block + 1 == block_count(self.space)
        due = np.array([ended or block % SCORED_BLOCKS == SCORED_BLOCKS - 1])
        place = np.array([turn + 1, 0] if ended else [turn, block + 1])
        return replace(lineage, best=labels, chance=chance, place=place, due=due)

    def _children(self, problem: Problem, seat: int, lineage: CompositeLineage, rng: Generator) -> list[Child]:
        """The groups a run found, as their profile publishes them and with another treatment."""
        genome = self._genome(seat, lineage.best)
        made = [Child(genome, "anneal", (seat,), problem.key(genome))]
        k, profile = self.seats[seat][:2]
        other = self.treatments.another(self.space.profiles[profile], int(lineage.place[0]), rng)
        if other is not None:
            treated = CompositeGenes(lineage.best, k, other).genome
            made.append(Child(treated, "treat", (seat,), problem.key(treated)))
        return made


def seats_of(ladder: Sequence[int], first: int = 0, far: Sequence[int] = ()) -> tuple[Seat, ...]:
    """Seats of a ladder, the rung `first` before the others; far ones; between neighbours and beyond; across rungs.

    Examples
    --------
    >>> seats = seats_of((5, 10, 20), 10)
    >>> [seat.k for seat in seats]
    [10, 5, 20, 5, 10, 10, 5]
    >>> [seat.between for seat in seats]
    [None, None, None, (1, 0), (0, 2), (0, 2), (1, 2)]
    >>> [(seat.k, seat.below) for seat in seats_of((5, 10), far=(20, 40))[2:4]]
    [(20, 1), (40, 2)]
    """
    order = sorted(ladder, key=lambda k: (k != first, k))
    rungs = [order.index(k) for k in sorted(ladder)]
    seats = [Seat(k) for k in order]
    near, wide = DENSER
    for place, k in enumerate(far):
        seats.append(Seat(k, after=FAR, below=len(order) + place - 1 if place else rungs[-1]))
    seats += [Seat(order[low], after=near, between=(low, high)) for low, high in pairwise(rungs)]
    seats += [Seat(order[rungs[-2]], after=near, between=(rungs[-2], rungs[-1]), dearer=BEYOND)] if rungs[1:] else []
    seats += [Seat(order[low], after=wide, between=(low, high)) for low, high in zip(rungs, rungs[2:], strict=False)]
    return tuple(seats)


def run_cells(space: CompositeSpace, k: int, run: int) -> int:
    """How many cells a run reads, about."""
    return min(FIRST_RUN << min(run, 20), LONGEST_RUN) * len(space) * len(space.names) * k


def quanta(space: CompositeSpace, k: int, run: int) -> int:
    """How many quanta a run has."""
    return max(1, round(run_cells(space, k, run) / WORK))
