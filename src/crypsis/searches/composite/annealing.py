"""The strategy of the search over composite groups: a chain for each k and profile, annealed in ever longer runs.

A quantum reads so many cells. Chains take turns run by run, in the order of their goals; each begins when its turn
comes, so that the first point is there as soon as the first groups are. Once all have made a few runs, chains between
them begin: their groups have the smaller k and a price, so that there are as few of them as between the two values of k
but of more sizes, which loses less. At the end of a run the groups found are recombined with the best so far, and what
is better is scored, now and then also with another treatment of its columns. Beyond the grid of k, ever larger groups
are merged from those of smaller k.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.composite import CompositeGenes
from crypsis.evolution import Engine, Genome, Problem, State
from crypsis.evolution.focus import Focus
from crypsis.evolution.problem import Child, Streams
from crypsis.evolution.selection import has_better_scores
from crypsis.kernels.arrays import Ints, Words
from crypsis.kernels.composite import (
    AnnealingSettings,
    CompositeGroups,
    Costing,
    anneal_groups,
    arrange_groups,
    merge_short_groups,
)
from crypsis.masking.local_recoding import LocalRecoding
from crypsis.masking.partitioning import QUICK_BLOCK, Blocks
from crypsis.masking.scaling import embed
from crypsis.searches.chains import (
    AnnealingChain,
    ChainStrategy,
    add_chain,
    advance_chain,
    initial_chain_random_state,
    pack_chains,
    unpack_chains,
)
from crypsis.searches.composite.space import CompositeSpace, Labels, Treatments, halve_composite_space
from crypsis.searches.partitions.space import PartitionAnnealer, cheaper_regions_in_space
from crypsis.table.attribute import Kind
from crypsis.table.lattice import Lattice, datafly_steps_in_lattice
from crypsis.table.table import Table
from crypsis.tasks import Tasks, Underway, complete

DISSOLVING = 0.1
"""Probability that a change dissolves a group, times k; at most half of it."""
ANYWHERE = 0.05
"""Probability that a far record is looked at."""


class CompositeAnnealer:
    """Groups of one profile and k under simulated annealing, with their own generator."""

    def __init__(self, space: CompositeSpace, profile: int, k: int, random_state: NDArray[np.uint64]) -> None:
        self.cells, self.context, self.workspace = space.cells[profile], space.context(k), space.make_workspace(k)
        self.k, self.random_state, self.charges = k, random_state, space.charges()
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
        return arrange_groups(
            self.groups, self.charges, self.cells, np.ascontiguousarray(labels, np.int32), self.workspace
        )

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
        """Merge groups of fewer records than `least`, or that miss a demand, with near ones, where possible."""
        if least or self.charges is not None:
            stamp = np.zeros(len(self.groups.sizes) + 1, np.int32)
            merge_short_groups(
                self.groups, Costing(self.charges, self.cells, self.workspace), self.context, least, stamp
            )

    def anneal(self, work: int, hot: float, cold: float, price: float = 0.0) -> float:
        """Anneal until so many cells were read while the temperature falls from hot to cold; the cost reached."""
        settings = AnnealingSettings(self.k, work, hot, cold, min(DISSOLVING / self.k, DISSOLVING / 2), ANYWHERE, price)
        return anneal_groups(
            self.groups, Costing(self.charges, self.cells, self.workspace), self.context, settings, self.random_state
        )


# -- First groups of composite searches, and groups merged until they meet what is demanded of them.

Start = Literal["best", "halving", "mdav", "lattice", "local-recoding"]

NODES = 256
"""Lattice nodes offered to a local recoding that only begins a search."""
LITTLE = 2e8
"""Coordinates that MDAV compares in less than a quarter of a second."""
STEPS = 300
"""Moves of a record while first groups become compact."""
MOVED, QUANTA = 20_000_000, 4
"""Coordinates of the moves of one quantum, and how many quanta are spent at most."""
FIRST_HOT, FIRST_COLD = 0.35, 0.06
"""Temperatures of these moves, in the squared distance to the nearest records."""


RARE = 0.1
"""Share of the records that may be in classes of fewer than k at the node from which groups are made."""

FirstGroups = tuple[Labels, Labels]
"""The cheapest groups, and those that are annealed first."""


def first_groups_for_annealing(space: CompositeSpace, profile: int, k: int, start: Start) -> FirstGroups:
    """First composite groups of a chain for one k, from which annealing starts, and the cheapest of them.

    Labels are 0, 1, … without gaps. Annealing from the groups of MDAV, which are compact, ends better than from groups
    of halving, even where those cost less.
    """
    return complete(_first_groups_tasks(space, profile, k, start))


def _first_groups_tasks(space: CompositeSpace, profile: int, k: int, start: Start) -> Tasks[FirstGroups]:
    """`first_groups_for_annealing` in tasks."""
    ways: tuple[Start, ...] = (start,)
    if start == "best":
        ways = ("halving", "mdav") if _count_comparisons(space, k) <= LITTLE else ("halving",)
    found = list[Labels]()
    for way in ways:
        if way == "halving":
            groups = yield from space.halve_tasks(profile, k)
        elif way == "lattice":
            [groups] = yield [partial(_within_node, space, profile, k)]
        else:
            [groups] = yield [partial(_other, space, k, way)]
        found += yield [partial(merge_annealed_composites, space, profile, k, groups)]
    if len(found) == 1:
        return found[0], found[0]
    return min(found, key=lambda each: space.cost(profile, each)), found[-1]


def quanta_compacting_composites(space: CompositeSpace) -> int:
    """Quanta in which a chain's first composite groups become compact; none if long, or if more than k is demanded."""
    needed = -(-len(space) * _width(space) * STEPS // MOVED)
    return 0 if needed > QUANTA or space.strata.any() or not space.demands.only_size else int(needed)


def compact_composite_groups(
    space: CompositeSpace, k: int, labels: Labels, random_state: NDArray[np.uint64], quantum: int
) -> Labels:
    """Composite groups of a chain after one quantum of annealing on squared distances, each of at least k.

    Annealing on losses from compact groups ends better than from the groups that are given.
    """
    annealer = PartitionAnnealer(space.points.context(k), k, random_state)
    annealer.load(labels)
    quanta = quanta_compacting_composites(space)
    fall = (FIRST_COLD / FIRST_HOT) ** (1.0 / quanta)
    annealer.anneal(STEPS * len(space) // quanta, FIRST_HOT * fall**quantum, FIRST_HOT * fall ** (quantum + 1))
    return np.unique(annealer.labels(), return_inverse=True)[1].astype(np.int32)


def _within_node(space: CompositeSpace, profile: int, k: int) -> Labels:
    """Records that are alike at the first node of Datafly with few rare ones, halved; too small groups merged."""
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

    steps = datafly_steps_in_lattice(lattice)
    node = steps[min(bisect_left(steps, True, key=lambda levels: not rare(levels)), len(steps) - 1)]
    random_state = np.ones(1, np.uint64)
    halves = halve_composite_space(space.cells[profile], alike(node), k, 0.0, random_state, space.make_workspace(k))[0]
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


def merge_annealed_composites(space: CompositeSpace, profile: int, k: int, labels: Labels) -> Labels:
    """Annealing over composite groups: merge those of a chain with near ones until demands are met if possible."""
    if space.demands.only_size:
        return labels
    annealer = CompositeAnnealer(space, profile, k, np.ones(1, np.uint64))
    annealer.load(labels)
    annealer.merge_short()
    return annealer.labels()


def _merge_groups(space: CompositeSpace, profile: int, k: int, labels: Labels) -> Labels:
    """Groups of at least k, made of near smaller ones, or by another start where that costs less."""
    joined, other = (
        _join_small_groups(space, profile, k, labels),
        first_groups_for_annealing(space, profile, k, "best")[0],
    )
    return joined if space.cost(profile, joined) < space.cost(profile, other) else other


def _join_small_groups(space: CompositeSpace, profile: int, k: int, labels: Labels) -> Labels:
    """Groups with those of fewer than k records merged with near ones."""
    annealer = CompositeAnnealer(space, profile, max(int(np.bincount(labels).min()), 1), np.ones(1, np.uint64))
    annealer.load(labels)
    annealer.merge_short(k)
    return annealer.labels()


# -- Composite groups of large tables: blocks of near groups are annealed one after another, cut anew in every round.
#
# A quantum looks at one block alone, so that its time does not grow with the table.

WHOLE = 50_000
"""Records up to which groups are annealed over the whole table."""
BLOCK = 4_000
"""Records of a block, about."""


def count_composite_blocks(space: CompositeSpace) -> int:
    """How many blocks a round of a chain has in the search over composite groups."""
    return -(-len(space) // BLOCK) + 1


def rows_of_composite_block(space: CompositeSpace, labels: Labels, turn: int, block: int) -> Ints:
    """Records of the groups that a chain of composite groups anneals in a block: stretches of two orders in turn."""
    place = space.place(turn % 2)
    sizes = np.bincount(labels)
    middle = np.bincount(labels, weights=place) / np.maximum(sizes, 1)
    shift = turn // 2 % 2 * BLOCK // 2
    inside = ((middle + shift) // BLOCK).astype(np.int64) == block
    return np.flatnonzero(inside[labels])


def _anneal_block(
    space: CompositeSpace,
    profile: int,
    k: int,
    labels: Labels,
    rows: Ints,
    random_state: Words,
    settings: tuple[int, float, float],
) -> Labels:
    """The labels after some records were annealed for so many cells from hot to cold, if they lose less then."""
    held, local = np.unique(labels[rows], return_inverse=True)
    if len(held) < 2:
        return labels
    part = space.part(rows)
    annealer = CompositeAnnealer(part, profile, k, random_state)
    before = annealer.load(local.astype(np.int32))
    (work, hot, cold), unit = settings, annealer.record_cost()
    if before == 0.0 or annealer.anneal(work, hot * unit, cold * unit) >= before:
        return labels
    found = annealer.labels()
    if not part.demands.only_size and (part.demands.shortfalls(found) > 0.0).any():
        return labels
    many = int(found.max()) + 1
    fresh = np.arange(int(labels.max()) + 1, int(labels.max()) + 1 + max(0, many - len(held)))
    after = labels.copy()
    after[rows] = np.concatenate([held, fresh])[found]
    return after


# -- The chains: what each looks for, and in which order they are annealed.

WORK = 1_500_000
"""Cells read in a quantum of one chain: some 60 ms."""
FIRST_RUN, LONGEST_RUN = 10, 320
"""Work of the first run, in cells of all records times k; every later one is twice as long, up to the longest."""
HOT, COLD = (0.35, 0.6), 0.02
"""Temperatures at which runs begin, in turn, and end, in costs of a record of the groups that cost something: those of
a change do not grow with k."""
LEAST_UNIT = 2e-4
"""Of groups that lose next to nothing."""
FAR = 2
"""Runs of the first chain after which those beyond the grid of k begin."""
BEYOND = 2.0
"""Times the price between the last two values of k: for fewer groups than at the last one."""
BEHIND = 2
"""Runs that a chain between others makes less."""
PRICED = 0.8
"""Share of the risk of the larger k down to which a chain between two values of k may come."""
SCORED_BLOCKS = 32
"""Blocks of a large table after which its groups are scored again."""


class ChainGoal(NamedTuple):
    """What a chain looks for."""

    k: int  # least group size, and number of the way of publishing
    profile: int = 0
    after: int = 0  # runs that all chains of the grid of k, or the first one, must have made before it begins
    # goals of a smaller and a larger k: a group is priced at what one less costs from the first to the second
    between: tuple[int, int] | None = None
    price_factor: float = 1.0  # times that price
    # the goal of a smaller k whose groups are merged at first; None where others are found
    merged_from: int | None = None


@dataclass(frozen=True, eq=False)
class CompositeChain(AnnealingChain):
    """A chain of one k and profile, with the group of each record."""

    # float64[1]: unit of the temperature in this run, what a record of the best groups costs
    temperature_unit: NDArray[np.float64]
    price: NDArray[np.float64]  # float64[1]: what every group costs beside what it loses


@dataclass(frozen=True, eq=False)
class CompositeChains(ChainStrategy[CompositeChain]):
    """A strategy with a chain for each k and profile; a quantum advances a few of them."""

    operators: ClassVar[tuple[str, ...]] = ("anneal", "treat")
    """Annealing runs, and other treatments of the groups they find."""

    space: CompositeSpace = field(repr=False)  # records, profiles and the grid of k
    goals: tuple[ChainGoal, ...]  # k and profile of each chain, in the order in which they begin
    treatments: Treatments  # what columns may be published as instead
    start: Start = "best"  # how first groups are found
    chains_per_generation: int = 1  # chains advanced in one quantum
    # whether a run of few cells ends when it has read them; otherwise it goes on for a whole quantum
    brief: bool = False
    focus: Focus | None = None  # chains in it or next to it are annealed; all if None
    given: Mapping[int, Labels] = field(default_factory=dict, repr=False)  # k → groups from which its chain begins
    _sought: dict[int, Underway[FirstGroups]] = field(default_factory=dict, repr=False)
    """First groups that are being sought, by the number of the chain."""

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_sought": {}}

    def first(self) -> tuple[Genome, ...]:
        """The first groups of the first chain."""
        return (self._genome(0, self.begin_chain(0, 1).best),)

    def begin_from(self, genomes: Sequence[Genome]) -> CompositeChains:
        """The strategy whose chains begin from groups that were found before, of several the first, if they fit."""
        given: dict[int, Labels] = {}
        for genome in genomes:
            labels, k, _ = CompositeGenes.of(genome, len(self.space))
            groups = np.unique(labels, return_inverse=True)[1].astype(np.int32)
            if k not in given and len(groups) == len(self.space) and self._holds(groups, k):
                given[k] = groups
        return replace(self, given=given)

    def _holds(self, groups: Labels, k: int) -> bool:
        """Whether groups have at least k records, are of one stratum each, and keep what is demanded of them."""
        pairs = np.unique(np.stack([groups, self.space.strata]), axis=1).shape[1]
        large = int(np.bincount(groups).min()) >= k and pairs == int(groups.max()) + 1
        return large and (self.space.demands.only_size or not (self.space.demands.shortfalls(groups) > 0.0).any())

    def prefer(self, child: NDArray[np.float64], parent: NDArray[np.float64]) -> bool:
        """Groups that lose less are preferred; of those that lose as much, those that are found less."""
        return has_better_scores(child, parent)

    def propose(self, problem: Problem, state: State, engine: Engine) -> tuple[State, list[Child]]:
        """One more chain begins, or near records are looked for; after that, those whose turn it is are annealed."""
        chains = unpack_chains(CompositeChain, state)
        near = self._find_focused(state.scores)
        begins = self._next_may_begin(chains, near)
        looks = engine.here and len(self.space) <= WHOLE and not (begins and self.space.demands.only_size)
        if looks and (
            self.space.find_neighbours() or (self._compactions() and not self.space.points.find_neighbours(engine))
        ):
            return state, []
        if begins:
            return self._add_next_chain(problem, state, engine)
        turn = self._choose_chains(chains, near)
        streams = Streams(state.rng)
        children: list[Child] = []
        for number, after in zip(
            turn, engine.map(advance_chain, [(number, chains[number]) for number in turn], self), strict=True
        ):
            if after.improved[0]:
                children += self._children(problem, number, after, streams["treat"])
            chains[number] = after
        worked = replace(state, memory=pack_chains(chains), rng=streams.snapshot())
        if not children:
            return replace(worked, generation=state.generation + 1, idle=0 if turn else state.idle + 1), []
        return worked, children

    def _add_next_chain(self, problem: Problem, state: State, engine: Engine) -> tuple[State, list[Child]]:
        """The state with the next chain; as it is while the first groups of a large table are sought."""
        number, streams = len(state.genomes), Streams(state.rng)
        if len(self.space) > WHOLE and not self._seek_first_groups(number, engine):
            return replace(state, whole=False), []
        chain = self.begin_chain(number, int(streams["anneal"].integers(2**63)), unpack_chains(CompositeChain, state))
        return add_chain(problem, state, chain, self._genome(number, chain.best), streams)

    def _seek_first_groups(self, number: int, engine: Engine) -> bool:
        """Whether the first groups of a chain are found; if not, a task of the work is done."""
        k, profile, _, between, _, merged_from = self.goals[number]
        if between is not None or merged_from is not None or k in self.given or not engine.here:
            return True
        if number not in self._sought:
            self._sought[number] = Underway(_first_groups_tasks(self.space, profile, k, self.start))
        return self._sought[number].advance(engine, engine.workers)

    def _next_may_begin(self, chains: Sequence[CompositeChain], near: Sequence[int]) -> bool:
        """Whether there is a chain that has not begun and waits for nothing; it waits for those in focus alone."""
        if len(chains) == len(self.goals):
            return False
        grid = [each for each in range(len(chains)) if self.goals[each].merged_from is None]
        grid = [each for each in grid if self.divisible(self.goals[each].k)]
        runs = [int(chains[each].place[0]) for each in ([each for each in grid if each in near] or grid)]
        if self.goals[len(chains)].merged_from is not None:
            runs = runs[:1]
        return min(runs, default=0) >= self.goals[len(chains)].after

    def begin_chain(self, number: int, seed: int, others: Sequence[CompositeChain] = ()) -> CompositeChain:
        """A chain with its first groups; one that begins between others, with those of the larger k."""
        k, profile, _, between, price_factor, merged_from = self.goals[number]
        price = 0.0
        if merged_from is not None:
            labels = current = _merge_groups(self.space, profile, k, others[merged_from].best)
        elif between is None and k in self.given:
            labels = current = self.given[k]
        elif between is None:
            sought = self._sought.pop(number, None)
            found = None if sought is None else sought.result
            labels, current = first_groups_for_annealing(self.space, profile, k, self.start) if found is None else found
        else:
            many, labels = (others[place].best for place in between)
            current = labels
            saved = self.space.cost(profile, labels) - self.space.cost(profile, many)
            price = price_factor * max(saved, 0.0) / max(int(many.max()) - int(labels.max()), 1)
        random_state = initial_chain_random_state(seed)
        current = current if len(self.space) <= WHOLE else current[:0]  # on a large table every block has its own
        compact = self._compactions() if between is None and merged_from is None and k not in self.given else 0
        place, improved = np.array([0, -compact]), np.zeros(1, np.bool_)
        return CompositeChain(labels, current, random_state, place, improved, np.zeros(1), np.array([price]))

    def _genome(self, number: int, labels: Labels) -> Genome:
        k, profile = self.goals[number][:2]
        return CompositeGenes(labels, k, self.space.profiles[profile]).genome

    def _find_focused(self, scores: NDArray[np.float64]) -> list[int]:
        """Chains that lead into the box of the focus; all without one.

        Of those with a k of their own, the ones inside the box and a few on either side of them; of those between two
        such, the ones that pass through the box on the way from one to the other, or somewhat beyond, as prices leave
        fewer groups than there are between the two. `scores` float64[n, 2].
        """
        if self.focus is None or not len(scores):
            return list(range(len(scores)))
        own = [number for number in range(len(scores)) if self.goals[number].between is None]
        own.sort(key=lambda number: float(scores[number, 1]))
        far = self.focus.distances(scores[own])
        places = np.flatnonzero(far == far.min())
        near = own[max(0, places[0] - 1) : places[-1] + 3]
        for number in range(len(scores)):
            between = self.goals[number].between
            if between is not None and {*between} <= {*near} | {number}:
                ends = scores[[*between, number]]
                if self.focus.meets(ends.min(axis=0) * (1.0, PRICED), ends.max(axis=0)):
                    near.append(number)
        return near

    def _choose_chains(self, chains: Sequence[CompositeChain], near: Sequence[int]) -> list[int]:
        """The chains that are annealed in the next quantum: fewest runs first, then in their order.

        Chains that have others on both sides wait until those have made more runs, as what is between loses less; so do
        far ones. `near`: the chains in focus.
        """
        able = [number for number in range(len(chains)) if self.divisible(self.goals[number].k)]
        able = [number for number in able if number in near] or able
        begun = [goal.between for goal in self.goals[: len(chains)] if goal.between is not None]
        waits = {low for low, _ in begun} & {high for _, high in begun}

        def turn(number: int) -> tuple[int, int]:
            far = self.goals[number].merged_from is not None
            return int(chains[number].place[0]) + BEHIND * (far or number in waits), number

        return sorted(able, key=turn)[: self.chains_per_generation]

    def divisible(self, k: int) -> bool:
        """Whether the records can be in more than one group of k."""
        return bool((np.bincount(self.space.strata) >= 2 * k).any())

    def work(self, number: int, chain: CompositeChain) -> CompositeChain:
        """One quantum of a chain; all is loaded from its labels alone, so that any worker may do it."""
        if len(self.space) > WHOLE:
            return self._anneal_block(number, chain)
        k, profile = self.goals[number][:2]
        run, quantum = chain.place.tolist()
        if quantum < 0:
            return self._compact_chain(k, chain)
        size, price = self.size(number), float(chain.price[0])
        annealer = CompositeAnnealer(self.space, profile, k, chain.random_state.copy())
        whole, hot = _quanta_annealing_composites(self.space, size, run), HOT[run % len(HOT)]
        annealer.load(chain.current)
        unit = chain.temperature_unit if quantum else np.array([max(annealer.record_cost(), LEAST_UNIT)])
        fall, hot = (COLD / hot) ** (1.0 / whole), hot * float(unit[0])
        cells = min(WORK, cells_annealing_composites(self.space, size, run)) if self.brief else WORK
        annealer.anneal(cells, hot * fall**quantum, hot * fall ** (quantum + 1), price)
        found, no = annealer.labels(), np.zeros(1, np.bool_)
        if quantum + 1 < whole:
            place = np.array([run, quantum + 1])
            return replace(
                chain,
                current=found,
                random_state=annealer.random_state,
                place=place,
                improved=no,
                temperature_unit=unit,
            )
        annealer.merge_short()
        found = annealer.labels()
        costs = annealer.costs() + price + self.space.repair_costs(profile, found)
        annealer.load(chain.best)
        kept = annealer.costs() + price + self.space.repair_costs(profile, chain.best)
        joined = cheaper_regions_in_space(chain.best, found, kept, costs)
        annealer.load(joined)
        better = (annealer.costs() + price + self.space.repair_costs(profile, joined)).sum() < kept.sum() - 1e-9
        labels = joined if better else chain.best
        place, improved = np.array([run + 1, 0]), np.array([better])
        return CompositeChain(labels, labels, annealer.random_state, place, improved, unit, chain.price)

    def _compactions(self) -> int:
        """Quanta in which the first groups of a chain become compact."""
        return quanta_compacting_composites(self.space) if self.start == "best" and len(self.space) <= WHOLE else 0

    def _compact_chain(self, k: int, chain: CompositeChain) -> CompositeChain:
        """One of the quanta, numbered below 0, in which first groups become compact."""
        random_state, place = chain.random_state.copy(), chain.place + np.array([0, 1])
        current = compact_composite_groups(
            self.space, k, chain.current, random_state, quanta_compacting_composites(self.space) + int(chain.place[1])
        )
        return replace(chain, current=current, random_state=random_state, place=place, improved=np.zeros(1, np.bool_))

    def size(self, number: int) -> int:
        """About how large the groups of a chain become."""
        between = self.goals[number].between
        return min(self.goals[number].k if between is None else self.goals[between[1]].k, max(self.space.k_grid))

    def _anneal_block(self, number: int, chain: CompositeChain) -> CompositeChain:
        """One block of a chain of a large table."""
        k, profile = self.goals[number][:2]
        turn, block = chain.place.tolist()
        random_state, rows = chain.random_state.copy(), rows_of_composite_block(self.space, chain.best, turn, block)
        labels = chain.best
        if len(rows) >= 2 * k:
            labels = _anneal_block(
                self.space, profile, k, labels, rows, random_state, (WORK, HOT[turn % len(HOT)], COLD)
            )
        ended = block + 1 == count_composite_blocks(self.space)
        improved = np.array([ended or block % SCORED_BLOCKS == SCORED_BLOCKS - 1])
        place = np.array([turn + 1, 0] if ended else [turn, block + 1])
        return replace(chain, best=labels, random_state=random_state, place=place, improved=improved)

    def _children(self, problem: Problem, number: int, chain: CompositeChain, rng: Generator) -> list[Child]:
        """The groups a run found, as their profile publishes them and with another treatment."""
        genome = self._genome(number, chain.best)
        made = [Child(genome, "anneal", (number,), problem.key(genome))]
        k, profile = self.goals[number][:2]
        other = self.treatments.another(self.space.profiles[profile], int(chain.place[0]), rng)
        if other is not None:
            treated = CompositeGenes(chain.best, k, other).genome
            made.append(Child(treated, "treat", (number,), problem.key(treated)))
        return made


def cells_annealing_composites(space: CompositeSpace, k: int, run: int) -> int:
    """How many cells a run of annealing a chain of composite groups reads, about."""
    return min(FIRST_RUN << min(run, 20), LONGEST_RUN) * len(space) * len(space.names) * k


def _quanta_annealing_composites(space: CompositeSpace, k: int, run: int) -> int:
    """How many quanta of annealing a run of a chain over composite groups has."""
    return max(1, round(cells_annealing_composites(space, k, run) / WORK))
