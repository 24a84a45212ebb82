"""The strategy of the search over households: a chain for each k, annealed part by part.

A run of a chain goes through the parts of its work, one in a quantum. Of nested groups these are blocks of near
households, which are grouped anew, and then blocks of their records; of whole households, blocks of those of one size,
whose members are paired anew as well. What loses less in all than the best so far takes its place at the end of the
run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.households import HouseholdGenes
from crypsis.evolution import Engine, Genome, Problem, State
from crypsis.evolution.problem import Child, Streams
from crypsis.evolution.selection import has_better_scores
from crypsis.searches.chains import (
    AnnealingChain,
    ChainStrategy,
    add_chain,
    advance_chain,
    initial_chain_random_state,
    pack_chains,
    unpack_chains,
)
from crypsis.searches.composite.annealing import (
    BLOCK,
    COLD,
    HOT,
    LEAST_UNIT,
    CompositeAnnealer,
    cells_annealing_composites,
)
from crypsis.searches.composite.space import CompositeSpace
from crypsis.searches.households.space import HouseholdSpace, Ints, Labels, cost_of_household_groups
from crypsis.searches.partitions.space import cheaper_regions_in_space

MOST_WORK = 6_000_000
"""Cells that are read in a quantum at most: some quarter of a second."""
TOGETHER = (0.5, 0.0, 1.0, 0.25)
"""How much the members of households count, in turn, while households are grouped by their own columns."""
SHORT_RUN = 6
"""Quanta of a run for which the chains of other k wait."""
PAIRINGS = 2
"""How often the members of whole households are paired anew in a quantum."""


class Part(NamedTuple):
    """A part of a run."""

    what: str  # "households", "records" or "whole"
    size: int = 0  # members of whole households
    block: int = 0
    blocks: int = 1


@dataclass(frozen=True, eq=False)
class HouseholdChain(AnnealingChain):
    """A chain of one k: int32[2, kept], the group of each record's household and what is told apart inside it."""


@dataclass(frozen=True, eq=False)
class HouseholdChains(ChainStrategy[HouseholdChain]):
    """A strategy with a chain for each k; a quantum advances a few of them by a part of a run."""

    operators: ClassVar[tuple[str, ...]] = ("anneal",)

    space: HouseholdSpace = field(repr=False)
    k_grid: tuple[int, ...]  # k of each chain, in the order in which they begin
    chains_per_generation: int = 1

    def first(self) -> tuple[Genome, ...]:
        """The first groups of the first chain."""
        return (self._genome(0, self.begin_chain(0, 1).best),)

    def prefer(self, child: NDArray[np.float64], parent: NDArray[np.float64]) -> bool:
        """Groups that lose less are preferred; of those that lose as much, those that are found less."""
        return has_better_scores(child, parent)

    def propose(self, problem: Problem, state: State, engine: Engine) -> tuple[State, list[Child]]:
        """One more chain begins; after that, those with the fewest runs are annealed.

        Of nested groups the chain of least k, which lose least, ends its first run before others begin, if it is short.
        """
        chains, streams = unpack_chains(HouseholdChain, state), Streams(state.rng)
        waiting = not self.space.whole and len(chains) == 1 and not chains[0].place[0]
        waiting = waiting and 0 < len(self._parts(0, chains[0])) <= SHORT_RUN
        if len(chains) < len(self.k_grid) and not waiting:
            chain = self.begin_chain(len(chains), int(streams["anneal"].integers(2**63)))
            return add_chain(problem, state, chain, self._genome(len(chains), chain.best), streams)
        able = [number for number in range(len(chains)) if self._parts(number, chains[number])]
        # a run is ended before those of other chains begin, so that something better is found soon
        turn = sorted(able, key=lambda number: (int(chains[number].place[0]), number))[: self.chains_per_generation]
        children: list[Child] = []
        tasks = [(number, chains[number]) for number in turn]
        for number, after in zip(turn, engine.map(advance_chain, tasks, self), strict=True):
            if after.improved[0]:
                genome = self._genome(number, after.best)
                children.append(Child(genome, "anneal", (number,), problem.key(genome)))
            chains[number] = after
        worked = replace(state, memory=pack_chains(chains), rng=streams.snapshot())
        if not children:
            return replace(worked, generation=state.generation + 1, idle=0 if turn else state.idle + 1), []
        return worked, children

    def _genome(self, number: int, labels: Labels) -> Genome:
        return HouseholdGenes.of(labels[0], labels[1], self.k_grid[number], self.space.profile).genome

    def begin_chain(self, number: int, seed: int) -> HouseholdChain:
        """A chain with its first groups."""
        k = self.k_grid[number]
        labels = _first_whole_groups(self.space, k) if self.space.whole else _first_nested_groups(self.space, k)
        random_state = initial_chain_random_state(seed)
        return HouseholdChain(labels, labels, random_state, np.zeros(2, np.int64), np.zeros(1, np.bool_))

    def _parts(self, number: int, chain: HouseholdChain) -> list[Part]:
        """The parts of a run; none where there is nothing to be grouped in another way."""
        k, run = self.k_grid[number], int(chain.place[0])
        if self.space.whole:
            sizes = published_household_sizes(self.space, chain.best[0])
            found = [(size, int(np.sum(sizes == size))) for size in np.unique(sizes[sizes > 0]).tolist()]
            return [
                Part("whole", size, block, blocks)
                for size, count in found
                if count >= 2 * k
                for blocks in [-(-count // BLOCK)]
                for block in range(blocks)
            ]
        if len(self.space.sizes) < 2 * k and len(self.space) < 2 * k:
            return []
        homes, records = -(-len(self.space.sizes) // BLOCK), -(-len(self.space) // BLOCK)
        # every other run leaves the households as they are and goes on with their records
        return [
            *(Part("households", 0, block, homes) for block in range(homes if run % 2 == 0 else 0)),
            *(Part("records", 0, block, records) for block in range(records)),
        ]

    def work(self, number: int, chain: HouseholdChain) -> HouseholdChain:
        """One part of a run; all is loaded from the labels of the chain alone, so that any worker may do it."""
        parts, (run, quantum) = self._parts(number, chain), chain.place.tolist()
        k, random_state, part = self.k_grid[number], chain.random_state.copy(), parts[quantum]
        anneal = Annealing(self.space, k, run, random_state)
        if part.what == "whole":
            current = anneal.anneal_whole(chain.current, part)
        elif part.what == "households":
            current = anneal.anneal_households(chain.current, part)
        else:
            again = quantum > 0 and parts[quantum - 1].what == "households"
            current = anneal.nest_records(chain.current) if again else chain.current
            current = anneal.anneal_records(current, part)
        no = np.zeros(1, np.bool_)
        if quantum + 1 < len(parts):
            place = np.array([run, quantum + 1])
            return replace(chain, current=current, random_state=random_state, place=place, improved=no)
        current = meet_household_demands(self.space, k, current)
        better = self.space.cost_of_groups(*current) < self.space.cost_of_groups(*chain.best) - 1e-9
        labels = current if better else chain.best
        return HouseholdChain(labels, labels, random_state, np.array([run + 1, 0]), np.array([better]))


# -- First groups, and groups merged until they meet what is demanded.


def _first_nested_groups(space: HouseholdSpace, k: int) -> Labels:
    """int32[2, kept]: households halved by their columns, and inside them their records."""
    homes = space.space_of_households(k, TOGETHER[0]).halve(0, k)[space.home]
    return meet_household_demands(space, k, Annealing(space, k, 0, np.ones(1, np.uint64)).nest_records(homes[None]))


def _first_whole_groups(space: HouseholdSpace, k: int) -> Labels:
    """int32[2, kept]: households of each size halved; records are told apart by their place in the household."""
    places, sizes = space.arrange_members(), space.trimmed_sizes(k)
    homes = np.full(len(space), -1, np.int32)
    published = places < sizes[space.home]
    for size in np.unique(sizes[sizes > 0]).tolist():
        rows = household_rows_by_place(space, places, published, np.flatnonzero(sizes == size))
        found = space.space_of_whole_households(rows, k).halve(0, k)
        homes[rows] = found[:, None] + int(homes.max()) + 1
    return meet_household_demands(space, k, np.stack([homes, np.where(published, places, 0)]).astype(np.int32))


def household_rows_by_place(
    space: HouseholdSpace, places: Labels, published: NDArray[np.bool_], households: Ints
) -> Ints:
    """int64[households, members]: the published records of households of one size, by their places."""
    chosen = np.zeros(len(space.sizes), np.bool_)
    chosen[households] = True
    rows = np.flatnonzero(published & chosen[space.home])
    order = np.lexsort((places[rows], space.home[rows]))
    return rows[order].reshape(len(households), -1).astype(np.int64)


def published_household_sizes(space: HouseholdSpace, homes: Labels) -> Ints:
    """int64[households]: members of each household that are not left out."""
    return np.bincount(space.home[homes >= 0], minlength=len(space.sizes))


def meet_household_demands(space: HouseholdSpace, k: int, labels: Labels) -> Labels:
    """Nested groups of which those of households are merged until all that is inside them meets the demands.

    Groups of records that miss a demand become one with the others inside their group of households; a group of
    households that misses one even so is merged with the next of its stratum and size.
    """
    demands = space.demand(k)
    homes, inside = labels[0].copy(), labels[1].copy()
    if demands.only_size:
        return labels
    kept = np.flatnonzero(homes >= 0)
    judged = replace(demands, arrays=demands.arrays._replace(code=np.ascontiguousarray(demands.arrays.code[:, kept])))

    def find_failing() -> NDArray[np.bool_]:
        pairs = homes[kept].astype(np.int64) * (int(inside.max(initial=0)) + 1) + inside[kept]
        of = np.unique(pairs, return_inverse=True)[1]
        failing = np.zeros(int(homes.max()) + 1, np.bool_)
        failing[homes[kept]] |= False
        np.logical_or.at(failing, homes[kept], (judged.shortfalls(of) > 0.0)[of])
        return failing

    failing = find_failing()
    if not space.whole and failing.any():
        inside[failing[np.maximum(homes, 0)] & (homes >= 0)] = 0
        failing = find_failing()
    sizes = published_household_sizes(space, homes)
    while failing.any():
        kinds = space.strata[space.home[kept]] * (int(sizes.max()) + 1)
        kinds = kinds + (sizes[space.home[kept]] if space.whole else 0)
        kind = np.full(int(homes.max()) + 1, -1, np.int64)
        kind[homes[kept]] = kinds
        group = int(np.flatnonzero(failing)[0])
        others = np.flatnonzero(kind == kind[group])
        others = others[others != group]
        if not len(others):
            break  # a stratum that misses a demand as a whole: the objective says so
        other = int(others[np.argmin(np.abs(others - group))])
        homes[homes == group] = other
        if not space.whole:
            inside[homes == other] = 0
        failing = find_failing()
    return np.stack([homes, inside])


# -- One part of a run.


@dataclass(frozen=True, eq=False)
class Annealing:
    """Annealing of parts of the groups of one k, with the generator of a chain."""

    space: HouseholdSpace
    k: int
    run: int
    random_state: NDArray[np.uint64]  # uint64[1]: changed by what is drawn

    def anneal(self, space: CompositeSpace, labels: Labels) -> Labels:
        """Groups 0, 1, … after one annealing run, region by region the cheaper of both."""
        if len(space) < 2 * self.k:
            return labels
        annealer = CompositeAnnealer(space, 0, self.k, self.random_state)
        before = annealer.load(labels)
        if before == 0.0:
            return labels
        kept, unit, hot = annealer.costs(), max(annealer.record_cost(), LEAST_UNIT), HOT[self.run % len(HOT)]
        work = min(cells_annealing_composites(space, self.k, self.run), MOST_WORK)
        annealer.anneal(work, hot * unit, COLD * unit)
        annealer.merge_short()
        found = annealer.labels()
        if not space.demands.only_size and (space.demands.shortfalls(found) > 0.0).any():
            return labels
        return cheaper_regions_in_space(labels, found, kept, annealer.costs())

    def _anneal_block(self, space: CompositeSpace, labels: Labels, part: Part) -> Labels:
        """Labels after one block of near rows was annealed; the blocks of every other run lie half a block further."""
        rows = _block_rows(space, labels, part, self.run)
        if not len(rows):
            return labels
        inner = space if len(rows) == len(space) else space.part(rows)
        local = np.unique(labels[rows], return_inverse=True)[1]
        found = self.anneal(inner, local.astype(np.int32))
        after = labels.copy()
        after[rows] = found + (int(labels.max()) + 1)
        return np.unique(after, return_inverse=True)[1].astype(np.int32)

    def anneal_households(self, current: Labels, part: Part) -> Labels:
        """Groups of near households, with less or more regard to their members from run to run."""
        space = self.space.space_of_households(self.k, TOGETHER[self.run // 2 % len(TOGETHER)])
        homes = self._anneal_block(space, current[0][self.space.first], part)
        return np.stack([homes[self.space.home], current[1]])

    def nest_records(self, current: Labels) -> Labels:
        """Records inside the groups of households: halved, or by their places in the household; the cheaper of each."""
        homes = current[0]
        space = self.space.space_of_records(homes, self.k)
        annealer = CompositeAnnealer(space, 0, self.k, self.random_state)
        best = _number_groups(meet_household_demands(self.space, self.k, np.stack([homes, space.halve(0, self.k)])))
        annealer.load(best)
        costs = annealer.costs()
        for places in self.space.places_in_groups(homes, self.k):
            found = _number_groups(meet_household_demands(self.space, self.k, np.stack([homes, places])))
            annealer.load(found)
            best = cheaper_regions_in_space(best, found, costs, annealer.costs())
            annealer.load(best)
            costs = annealer.costs()
        return np.stack([homes, best])

    def anneal_records(self, current: Labels, part: Part) -> Labels:
        """Groups of near records inside groups of households; blocks consist of whole groups of households."""
        current = meet_household_demands(self.space, self.k, current)
        space = self.space.space_of_records(current[0], self.k)
        return np.stack([current[0], self._anneal_block(space, _number_groups(current), part)])

    def anneal_whole(self, current: Labels, part: Part) -> Labels:
        """Groups of near households of one size, and their members paired anew."""
        homes, places = current
        sizes = published_household_sizes(self.space, homes)
        rows = household_rows_by_place(self.space, places, homes >= 0, np.flatnonzero(sizes == part.size))
        labels = np.unique(homes[rows[:, 0]], return_inverse=True)[1].astype(np.int32)
        rows = _improve(
            rows,
            lambda each: self.space.pair_members(each, labels),
            lambda each: cost_of_household_groups(self.space.whole_cells(each), labels),
        )
        found = self._anneal_block(self.space.space_of_whole_households(rows, self.k), labels, part)
        rows = _improve(
            rows,
            lambda each: self.space.pair_members(each, found),
            lambda each: cost_of_household_groups(self.space.whole_cells(each), found),
        )
        homes, places = homes.copy(), places.copy()
        homes[rows] = (found + int(homes.max()) + 1)[:, None]
        places[rows] = np.arange(part.size, dtype=np.int32)
        homes[homes >= 0] = np.unique(homes[homes >= 0], return_inverse=True)[1]
        return np.stack([homes, places])


def _number_groups(labels: Labels) -> Labels:
    """int32[kept]: the groups of records, 0, 1, … without gaps."""
    pairs = labels[0].astype(np.int64) * (int(labels[1].max(initial=0)) + 1) + labels[1]
    return np.unique(pairs, return_inverse=True)[1].astype(np.int32)


def _improve(rows: Ints, change: Callable[[Ints], Ints], cost: Callable[[Ints], float]) -> Ints:
    """Rows after changes that lower the cost, a few at most."""
    least = cost(rows)
    for _ in range(PAIRINGS if rows.shape[1] > 1 else 0):
        other = change(rows)
        lower = cost(other)
        if lower >= least:
            break
        rows, least = other, lower
    return rows


def _block_rows(space: CompositeSpace, labels: Labels, part: Part, run: int) -> Ints:
    """int64: rows of the groups of a block, which are near each other; all where there is one block."""
    if part.blocks == 1:
        return np.arange(len(space), dtype=np.int64)
    unit = np.unique(space.strata, return_inverse=True)[1] if part.what == "records" else labels
    place = space.place(run % 2)
    middle = np.bincount(unit, weights=place) / np.maximum(np.bincount(unit), 1)
    shift = run // 2 % 2 * BLOCK // 2
    inside = ((middle + shift) // BLOCK).astype(np.int64) % part.blocks == part.block
    return np.flatnonzero(inside[unit])


def within_household_suppression(space: HouseholdSpace, k_grid: Sequence[int], most: int) -> tuple[int, ...]:
    """Those values of k at which whole households leave out at most so many records; the least in any case."""
    able = [k for k in k_grid if len(space) - int(space.trimmed_sizes(k).sum()) <= most]
    return tuple(able) or tuple(k_grid[:1])
