"""The strategy of the search over composite groups: a lineage for each k and profile, annealed in ever longer runs.

A quantum reads so many cells. Lineages take turns run by run, the smallest k first; each begins when its turn comes, so
that the first point is there as soon as the first groups are. At the end of a run the groups found are recombined with
the best so far, and what is better is scored, now and then also with another treatment of its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.composite import CompositeGenes
from crypsis.evolution import Engine, Genome, Problem, State
from crypsis.evolution.problem import Child, Streams
from crypsis.searches.composites.blocks import WHOLE, block_count, block_rows, walked_block
from crypsis.searches.composites.space import CompositeSpace, Labels
from crypsis.searches.composites.starts import Start, first_groups, mended
from crypsis.searches.composites.treatments import Treatments
from crypsis.searches.composites.walk import CompositeWalk
from crypsis.searches.lineages import WalkingLineage, WalkingStrategy, first_chance, packed, seated, unpacked, walked
from crypsis.searches.partitions.lineages import tighter
from crypsis.searches.partitions.recombination import cheaper_regions

WORK = 1_500_000
"""Cells read in a quantum of one lineage: some 60 ms."""
FIRST_RUN, LONGEST_RUN = 10, 2560
"""Work of the first run, in cells of all records times k; every later one is twice as long, up to the longest."""
HOT, COLD = (0.08, 0.14), 0.01
"""Temperatures at which runs begin, in turn, and end, in costs of a group."""
LEAST_WARMTH = 1e-3
"""Of groups that lose next to nothing."""
SCORED_BLOCKS = 32
"""Blocks of a large table after which its groups are scored again."""


@dataclass(frozen=True, eq=False)
class CompositeLineage(WalkingLineage):
    """One k and profile on its way, with the group of each record.

    warmth  float64[1]: the temperature's unit, what one of the best groups costs
    """

    warmth: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CompositeLineages(WalkingStrategy[CompositeLineage]):
    """A strategy with a seat for each k and profile; a quantum advances a few of them.

    space  records, profiles and the ladder of k
    seats  k and profile of each lineage
    treatments  what columns may be published as instead
    start  how first groups are found
    breedings  lineages advanced in one quantum
    brief  whether a run of few cells ends when it has read them; otherwise it goes on for a whole quantum
    """

    operators: ClassVar[tuple[str, ...]] = ("anneal", "treat")
    """Annealing runs, and other treatments of the groups they find."""

    space: CompositeSpace = field(repr=False)
    seats: tuple[tuple[int, int], ...]
    treatments: Treatments
    start: Start = "halving"
    breedings: int = 1
    brief: bool = False

    def first(self) -> tuple[Genome, ...]:
        """The first groups of the first lineage."""
        return (self._genome(0, self.begun(0, 1).best),)

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """One more lineage begins, and near records are looked for; after that, those whose turn it is walk on."""
        surveying = len(self.space) <= WHOLE and state.generation < self.space.surveys
        if surveying:
            self.space.survey()
        if len(state.genomes) < len(self.seats):
            return replace(self.seat_next(problem, state, engine), generation=state.generation + 1)
        if surveying:
            return replace(state, generation=state.generation + 1, idle=0)
        lineages = unpacked(CompositeLineage, state)
        turn = self._turn(lineages)
        streams = Streams(state.rng)
        children: list[Child] = []
        for seat, after in zip(turn, engine.map(walked, [(seat, lineages[seat]) for seat in turn], self), strict=True):
            if after.due[0]:
                children += self._children(problem, seat, after, streams["treat"])
            lineages[seat] = after
        worked = replace(state, memory=packed(lineages), rng=streams.snapshot())
        if not children:
            return replace(worked, generation=state.generation + 1, idle=0 if turn else state.idle + 1)
        return self.scored(problem, worked, children, engine, tighter)

    def seat_next(self, problem: Problem, state: State, engine: Engine) -> State:
        """The state with the next lineage on its seat."""
        seat, streams = len(state.genomes), Streams(state.rng)
        lineage = self.begun(seat, int(streams["anneal"].integers(2**63)))
        return seated(problem, state, engine, lineage, self._genome(seat, lineage.best), streams)

    def begun(self, seat: int, seed: int) -> CompositeLineage:
        """A lineage with its first groups."""
        k, profile = self.seats[seat]
        labels = mended(self.space, profile, first_groups(self.space, profile, k, self.start))
        chance = first_chance(seed)
        walk, warmth = labels[:0], 0.0  # on a large table every block has its own
        if len(self.space) <= WHOLE:
            walk, warmth = labels, self.space.cost(profile, labels) / (int(labels.max()) + 1)
        return CompositeLineage(labels, walk, chance, np.zeros(2, np.int64), np.zeros(1, np.bool_), np.array([warmth]))

    def _genome(self, seat: int, labels: Labels) -> Genome:
        k, profile = self.seats[seat]
        return CompositeGenes(labels, k, self.space.profiles[profile]).genome

    def _turn(self, lineages: Sequence[CompositeLineage]) -> list[int]:
        """The seats that walk in the next quantum: fewest runs first, then the smallest k."""
        able = [seat for seat in range(len(lineages)) if self.divisible(self.seats[seat][0])]
        return sorted(able, key=lambda seat: (int(lineages[seat].place[0]), seat))[: self.breedings]

    def divisible(self, k: int) -> bool:
        """Whether the records can be in more than one group of k."""
        return bool((np.bincount(self.space.strata) >= 2 * k).any())

    def work(self, seat: int, lineage: CompositeLineage) -> CompositeLineage:
        """One quantum of a lineage; all is loaded from its labels alone, so that any worker may do it."""
        if len(self.space) > WHOLE:
            return self._walked_block(seat, lineage)
        k, profile = self.seats[seat]
        run, quantum = lineage.place.tolist()
        walk = CompositeWalk(self.space, profile, k, lineage.chance.copy())
        whole, hot = quanta(self.space, k, run), HOT[run % len(HOT)]
        fall, hot = (COLD / hot) ** (1.0 / whole), hot * max(float(lineage.warmth[0]), LEAST_WARMTH)
        walk.load(lineage.walk)
        cells = min(WORK, run_cells(self.space, k, run)) if self.brief else WORK
        walk.anneal(cells, hot * fall**quantum, hot * fall ** (quantum + 1))
        found, no = walk.labels(), np.zeros(1, np.bool_)
        if quantum + 1 < whole:
            return replace(lineage, walk=found, chance=walk.chance, place=np.array([run, quantum + 1]), due=no)
        found = mended(self.space, profile, found)
        walk.load(found)
        costs, best = walk.costs(), walk.load(lineage.best)
        joined = cheaper_regions(lineage.best, found, walk.costs(), costs)
        cost = walk.load(joined)
        better = cost < best - 1e-9
        labels, warmth = (joined if better else lineage.best), np.array([min(cost, best)]) / len(walk.costs())
        return CompositeLineage(labels, labels, walk.chance, np.array([run + 1, 0]), np.array([better]), warmth)

    def _walked_block(self, seat: int, lineage: CompositeLineage) -> CompositeLineage:
        """One block of a lineage of a large table."""
        k, profile = self.seats[seat]
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
        k, profile = self.seats[seat]
        other = self.treatments.another(self.space.profiles[profile], int(lineage.place[0]), rng)
        if other is not None:
            treated = CompositeGenes(lineage.best, k, other).genome
            made.append(Child(treated, "treat", (seat,), problem.key(treated)))
        return made


def run_cells(space: CompositeSpace, k: int, run: int) -> int:
    """How many cells a run reads, about."""
    return min(FIRST_RUN << min(run, 20), LONGEST_RUN) * len(space) * len(space.names) * k


def quanta(space: CompositeSpace, k: int, run: int) -> int:
    """How many quanta a run has."""
    return max(1, round(run_cells(space, k, run) / WORK))
