"""The memetic partitioner and its search: simulated annealing, re-solved regions, recombination with the best so far.

A chain begins with MDAV's partition, or with a cheaper one of a large table (`partitions.space`). Every annealing run
starts from the best partition and takes twice as long as the run before; what it finds is recombined with the best, and
quanta in between free regions of the best and solve them again: so more time is never worse, and where a search ends is
a matter of its budget alone. Where the number of moves is known, one long run that begins hotter follows a first short
one, since it finds more than several that grow. A run advances by quanta of so many moves, fixed by the table. Of very
large tables near groups exchange records instead (`BlockRefinement`), which needs no neighbour lists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from pydantic import Field

from crypsis.kernels.annealing import sse
from crypsis.masking.partitioning import LARGE, MDAV, QUICK_BLOCK, partitioners
from crypsis.registry import Settings
from crypsis.searches.partitions.chains import EvolvingPartitioner, Labels, PartitionChain, Refinement
from crypsis.searches.partitions.lower_bound import SOLVED_UP_TO, optimal_partition
from crypsis.searches.partitions.microaggregation_search import MicroaggregationSearch
from crypsis.searches.partitions.refinements import BlockRefinement
from crypsis.searches.partitions.space import (
    PartitionAnnealer,
    PartitionSpace,
    cheaper_regions_in_space,
    group_costs_in_space,
)
from crypsis.searches.search import Idle, idle_search_settings, searches
from crypsis.table.table import Table

MOVES = 100_000
"""Moves of a quantum: some 15 ms on a table of ordinary size."""
MOVES_TIMES_RECORDS = 250_000_000
"""Above so many, a quantum has fewer moves: on large tables a move takes longer, and loading the groups too."""
FIRST_RUN = 150
"""Moves per record of the first run; every later one is twice as long."""
SHORTEST_RUN, COORDINATES = 20, 500_000
"""Moves per record of the first run at least, and coordinates of all records above which it is shorter."""
LONGEST_RUN = 2500
"""Moves per record, and for 3000 more, beyond which no run grows."""
BETWEEN = 3
"""Every so many quanta, one goes on from the best partition instead of the run."""
HOT, COLD = 0.4, 0.06
"""Temperatures in units of the local spacing: at which a region is solved again, and where nothing is accepted."""
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
HOTTER = 2.0
"""How much hotter than others the long run begins."""
STEPS = 3000
"""Moves per record where neither moves nor seconds are given."""


ANNEALED_UP_TO = 100_000
"""Records up to which annealing is worth the search for neighbours."""


def moves_of_memetic_quantum(records: int) -> int:
    """Moves of simulated annealing in a quantum of the memetic partitioner."""
    return min(MOVES, FIRST_RUN * records, max(records, MOVES_TIMES_RECORDS // records))


@dataclass(frozen=True)
class Annealing(Refinement):
    """A refinement by annealing runs, with quanta in between that go on from the best partition alone.

    It ends after so many steps, moves per record, or never.
    Memory: `current` int32[n], the partition being annealed; `random_state` uint64[1], of the generator; `place`
    int64[3]: the run, the next quantum of it, and the quanta so far.
    """

    initial_temperature: float = 0.35
    region: int = 60
    steps: int | None = None
    name: str = "anneal"

    @property
    def needs_neighbours(self) -> bool:
        return True

    def begin(self, space: PartitionSpace, k: int, seed: int, first: Labels | None = None) -> PartitionChain:
        if len(space) <= SOLVED_UP_TO:
            return PartitionChain(k, optimal_partition(space.points, k)[0])
        labels = MDAV().partition(space.points, k, np.random.default_rng(seed)) if first is None else first
        random_state = SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
        return PartitionChain(
            k, labels, {"current": labels, "random_state": random_state, "place": np.zeros(3, np.int64)}
        )

    def tasks(self, space: PartitionSpace, chain: PartitionChain) -> Sequence[PartitionChain]:
        return [chain] if chain.memory and self._count_left(len(space), int(chain.memory["place"][2])) > 0 else []

    def work(self, space: PartitionSpace, task: PartitionChain) -> PartitionChain:
        """One quantum. All is loaded from the labels alone, so that it does not matter who did the one before."""
        run, quantum, passed = task.memory["place"].tolist()
        annealer = PartitionAnnealer(space.context(task.k), task.k, task.memory["random_state"].copy())
        turn = run if self.steps is None else max(run - 1, 0)
        annealer.set_evenness(EVENNESS[(turn + (annealer.unevenness() >= UNEVEN)) % 2])
        most = int(min(moves_of_memetic_quantum(len(space)), self._count_left(len(space), passed)))
        if self._refines(len(space), run, quantum, passed):
            return self._solve_regions(space, task, annealer, most)
        whole = quanta_of_memetic_run(len(space), run, self.steps, space.points.shape[1])
        hot = self.initial_temperature if not run or self.steps is None else HOTTER * self.initial_temperature
        fall = (COLD / hot) ** (1 / whole)
        annealer.load(task.memory["current"] if quantum else self._start(space, task) if not run else task.labels)
        annealer.anneal(most, hot * fall**quantum, hot * fall ** (quantum + 1))
        ended = quantum + 1 == whole
        labels = recombine_memetic_partitions(space.points, task.labels, annealer.labels()) if ended else task.labels
        place = np.array([run + 1, 0, passed + 1] if ended else [run, quantum + 1, passed + 1])
        return PartitionChain(
            task.k, labels, {"current": annealer.labels(), "random_state": annealer.random_state, "place": place}
        )

    def _refines(self, records: int, run: int, quantum: int, passed: int) -> bool:
        """Whether a quantum goes on from the best partition: in turn with runs, and where no run would end in time."""
        if self.steps is None:
            return run > 0 and passed % BETWEEN == 0
        late = not quantum and self._count_left(records, passed) <= (
            quanta_of_memetic_run(records, run, self.steps) - 1
        ) * moves_of_memetic_quantum(records)
        return run > 1 and (late or passed % BETWEEN == 0)

    def absorb(self, space: PartitionSpace, chain: PartitionChain, results: Sequence[PartitionChain]) -> PartitionChain:
        return results[0]

    def _count_left(self, records: int, passed: int) -> float:
        """Moves left after so many quanta."""
        return math.inf if self.steps is None else self.steps * records - passed * moves_of_memetic_quantum(records)

    @staticmethod
    def _start(space: PartitionSpace, task: PartitionChain) -> Labels:
        """The tighter of the first partition and the best one along a tour through the records."""
        along = space.group_along_tour(task.k)
        return along if along is not None and sse(space.points, along) < sse(space.points, task.labels) else task.labels

    def _solve_regions(
        self, space: PartitionSpace, task: PartitionChain, annealer: PartitionAnnealer, most: int
    ) -> PartitionChain:
        """A quantum of at most so many moves that frees regions of the best partition and solves them again."""
        annealer.load(task.labels)
        turn = int(task.memory["place"][2]) // BETWEEN
        freed = min(self.region << turn % 3, len(space))
        each = min(MOVES_PER_FREED * freed, most)
        annealer.resolve(max(1, most // each), freed, each, HOT, COLD)
        place = task.memory["place"] + np.array([0, 0, 1])
        return PartitionChain(
            task.k, annealer.labels(), {**task.memory, "random_state": annealer.random_state, "place": place}
        )


def quanta_of_memetic_run(records: int, run: int, steps: int | None = None, width: int = 1) -> int:
    """How many quanta of annealing a run of the memetic partitioner has; if steps are known, the second has most."""
    longest = LONGEST_RUN * (records + 3000)
    if steps is None:
        first = max(SHORTEST_RUN, min(FIRST_RUN, FIRST_RUN * COORDINATES // (records * width)))
        length = min(first * records << min(run, 40), longest)
    elif steps < SHORT * FIRST_RUN:
        length = steps * records
    else:
        length = FIRST_RUN * records if not run else min(int(LONG * (steps - FIRST_RUN) * records), longest)
    return max(1, round(length / moves_of_memetic_quantum(records)))


class MemeticSettings(Settings):
    """What the memetic partitioner and its search have in common."""

    initial_temperature: float = Field(
        default=0.35,
        ge=0.01,
        le=100,
        description="temperature an annealing run starts at, in units of the local squared spacing of the records",
    )
    region: int = Field(default=60, ge=10, le=10_000, description="records freed at a time when a region is re-solved")


@partitioners.add("memetic")
class Memetic(MemeticSettings, EvolvingPartitioner):
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

    def refinement(self) -> Annealing:
        return Annealing(self.initial_temperature, self.region, self.steps)

    def refinement_of(self, records: int) -> Refinement:
        return BlockRefinement() if records > ANNEALED_UP_TO and self.steps is None else self.refinement()

    def with_limit(self) -> Memetic:
        given = self.steps is not None or self.seconds is not None
        return self if given else self.model_copy(update={"steps": STEPS})


# -- The search over a table.

ANNEALED = ("steps", "initial_temperature", "region")
"""Settings that say how groups are annealed."""


@searches.add("memetic")
class MemeticSearch(MemeticSettings, MicroaggregationSearch):
    """Which records should become alike? Groups of at least k similar records for a grid of k, annealed and recombined.

    Every solution keeps k-anonymity over the columns it masks; a larger k loses more and links less.

    Notes
    -----
    - Formula: one partition per k of a grid, its SSE lowered by simulated annealing over relocate, swap, dissolve and
      create moves and by recombination with the best, kept by the objective; front of loss and risk
    - Paper: own; moves after Laszlo and Mukherjee (2015)
    - Cost: anytime; a generation is a fixed number of moves
    - Departures: own method

    Examples
    --------
    >>> search = crypsis.MemeticSearch(k=3, k_values=2)
    >>> run = crypsis.evolve(crypsis.example(60), search=search, budget="2 generations", seed=1)
    >>> min(int(solution.figure("k")) for solution in run.front if not solution.baseline)
    3
    """

    purpose: ClassVar[str] = "groups of at least k similar records"

    blocks: Literal["auto", "never", "always"] = Field(
        default="auto",
        description=f"never: groups are annealed over the whole table; always: they begin as MDAV's within blocks of "
        f"{QUICK_BLOCK} near records, and near groups exchange records across ever new blocks; auto: in blocks above "
        f"{LARGE} records",
    )
    steps: int | None = Field(
        default=None,
        ge=0,
        le=10_000_000,
        description="moves tried per record and group size, where the budget allows them; 0 leaves MDAV's groups, not "
        "given: as many as the budget allows",
    )

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        idle = dict(super().idle(guided))
        if self.steps is not None and self.steps < SHORT * FIRST_RUN:
            idle["region"] = Idle(f"with fewer than {SHORT * FIRST_RUN} steps, which are one run", "give more steps")
        if self.blocks == "always":
            idle |= dict.fromkeys(
                ANNEALED, Idle("in blocks, where near groups exchange records", "set blocks to auto or never")
            )
        return idle

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        return {"k": k} | ({"k_values": 4, "chains_per_generation": 2} if len(table) > LARGE else {})

    def obstacle(self, table: Table) -> str:
        if (found := super().obstacle(table)) or not self._in_blocks(int(table.kept.sum())):
            return found
        why = Idle(f"above {LARGE} records, which are partitioned in blocks", "set blocks to never")
        return idle_search_settings({name: why for name in ANNEALED if name in self.model_fields_set})

    def partitioner(self) -> Memetic:
        return Memetic(steps=self.steps, initial_temperature=self.initial_temperature, region=self.region)

    def refinement(self, records: int) -> Refinement:
        return BlockRefinement() if self._in_blocks(records) else super().refinement(records)

    def _in_blocks(self, records: int) -> bool:
        """Whether so many records are partitioned in blocks."""
        return self.blocks == "always" or (self.blocks == "auto" and records > LARGE)


def recombine_memetic_partitions(
    points: NDArray[np.float64], one: NDArray[np.int32], other: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Memetic recombination: the best partition that follows, component by component, one parent or the other.

    →           int32[n], never worse than the better parent

    Groups of the two parents that share a record are joined by an edge. Within a connected component both parents
    partition the same records, so the cheaper side may be taken there without touching anything else.

    `one`, `other` int32[n]: labels 0, 1, … without gaps.
    """
    return cheaper_regions_in_space(one, other, group_costs_in_space(points, one), group_costs_in_space(points, other))
