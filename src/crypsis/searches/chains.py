"""Searches over a grid of k: a chain for each k, annealed in runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray
from pydantic import Field

from crypsis.evolution import Budget, Engine, Genome, Problem, State
from crypsis.evolution.problem import SELECTION, Child, Streams
from crypsis.evolution.selection import FitnessFunction, WeightedMean
from crypsis.evolution.strategies import compete, conclude_generation, empty_state, find_unscored, score, with_first
from crypsis.masking.locking import least_stratum, lock_obstacle
from crypsis.masking.method import Family
from crypsis.searches.search import Idle, Search
from crypsis.table.table import Table

# -- Searches over a ladder of k: the same question for several class sizes at once, each a point of the front.


class LadderSearch(Search):
    """A search whose candidates have a class size of their own, from k upwards; usually groups of records."""

    family: ClassVar[Family] = Family.AGGREGATION
    pace: ClassVar[int] = 3

    k: int = Field(default=5, ge=2, le=1_000_000, description="least class size: the lowest rung of the ladder")
    rungs: int = Field(default=8, ge=1, le=100, description="how many class sizes are tried")
    largest_k: int = Field(default=0, ge=0, description="highest rung; 0 means ten times k, or a tenth of the records")
    columns: tuple[str, ...] = Field(default=(), description="columns to mask; empty means every quasi-identifier")
    generations: int = Field(default=50, ge=1, description="generations, where no other budget is given")

    def names(self, table: Table) -> tuple[str, ...]:
        """The columns that are masked.

        Parameters
        ----------
        table : Table
            The table; its quasi-identifiers are taken unless the settings name columns.

        Returns
        -------
        tuple of str
        """
        return self.columns or tuple(table.quasi_identifiers)

    def open_names(self, table: Table) -> tuple[str, ...]:
        """The columns that are masked and not locked."""
        return tuple(name for name in self.names(table) if not table.attribute(name).locked)

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        return {"largest_k": Idle("with a single rung", "set rungs to 2 or more")} if self.rungs == 1 else {}

    def obstacle(self, table: Table) -> str:
        if not self.names(table):
            return "the table has no quasi-identifier to mask; give columns the role 'quasi' or name columns"
        if int(table.kept.sum()) < self.k:
            return f"{int(table.kept.sum())} records cannot form a class of {self.k}; choose a smaller k"
        if not self.open_names(table):
            return "every column that would be masked is locked; unlock one"
        if thin := lock_obstacle(table, self.names(table), self.k):
            return thin
        if self.largest_k and self.largest_k < self.k:
            return f"the ladder cannot go from {self.k} to {self.largest_k}; give largest_k of at least k, or 0"
        return ""

    def ladder(self, records: int) -> tuple[int, ...]:
        """Class sizes from k upwards, each about the same factor larger; none above half of the records.

        Parameters
        ----------
        records : int
            How many records are protected.

        Returns
        -------
        tuple of int
        """
        top = self.largest_k or max(self.k, min(10 * self.k, records // 10))
        top = max(self.k, min(top, max(records // 2, self.k)))
        sizes = np.geomspace(self.k, top, self.rungs) if self.rungs > 1 else np.array([self.k])
        return tuple(dict.fromkeys(round(float(size)) for size in sizes))

    def table_ladder(self, table: Table) -> tuple[int, ...]:
        """The ladder of a table, with the class size that keeps the limits of the plan.

        No class is larger than the smallest one of the locked columns.
        """
        records, most = int(table.kept.sum()), least_stratum(table, self.names(table))
        sizes = self.ladder(records)
        if self.rungs > 1 and self.k < self.safe_k <= records:
            sizes = tuple(sorted({*sizes, self.safe_k}))
        return tuple(dict.fromkeys(min(k, most) for k in sizes))

    def budget(self) -> Budget:
        return Budget(generations=self.generations)


# -- Lineages that walk: one for each seat of a strategy, annealed in runs, with what each carries in plain arrays.
#
# A lineage never takes another one's seat, so that a front keeps its ends. The state of a strategy holds the arrays of
# every lineage by seat and name: a run that goes on from a checkpoint is the run that was never interrupted. What a
# lineage proposes waits in the state too until it is scored, which may take several quanta.

WAITING = "waiting"
GENOMES, ORIGINS = f"{WAITING}/genomes", f"{WAITING}/origins"
"""Names in the memory while children wait for their scores: their genomes, and operator and parent of each."""


@dataclass(frozen=True, eq=False)
class WalkingLineage:
    """What one seat has found, and where its walk is.

    best, walk  int32: what costs least so far, and what is on the move, of one shape
    chance  uint64[1]: state of the walk's generator
    place  int64[2]: the run, and the next quantum of it
    due  bool[1]: whether the best became better and is to be scored
    """

    best: NDArray[np.int32]
    walk: NDArray[np.int32]
    chance: NDArray[np.uint64]
    place: NDArray[np.int64]
    due: NDArray[np.bool_]


Walking = TypeVar("Walking", bound=WalkingLineage)


def first_chance(seed: int) -> NDArray[np.uint64]:
    """The state of a walk's generator at its beginning."""
    return SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)


def packed(lineages: Sequence[WalkingLineage], first: int = 0) -> dict[str, NDArray[np.generic]]:
    """The lineages as plain arrays, from seat `first` on."""
    return {
        f"{seat}/{each.name}": getattr(lineage, each.name)
        for seat, lineage in enumerate(lineages, first)
        for each in fields(lineage)
    }


def unpacked(kind: type[Walking], state: State) -> list[Walking]:
    """The lineages of a state."""
    names = [each.name for each in fields(kind)]
    return [kind(*(state.memory[f"{seat}/{name}"] for name in names)) for seat in range(len(state.genomes))]


@dataclass(frozen=True, eq=False)
class WalkingStrategy(ABC, Generic[Walking]):
    """A strategy whose lineages take their seats one after another and walk in turn."""

    operators: ClassVar[tuple[str, ...]]
    """Names of what changes a lineage."""

    fitness: FitnessFunction = field(default=WeightedMean(), kw_only=True)

    @abstractmethod
    def propose(self, problem: Problem, state: State, engine: Engine) -> tuple[State, list[Child]]:
        """The state after one more quantum of walking, and children to be scored.

        The first groups of a lineage are a child without parents; its arrays are on the next seat then.
        """

    @abstractmethod
    def prefer(self, child: NDArray[np.float64], parent: NDArray[np.float64]) -> bool:
        """Whether scores of a child are preferred to those of its parent."""

    @abstractmethod
    def work(self, seat: int, lineage: Walking) -> Walking:
        """One quantum of a lineage; all is loaded from its arrays alone, so that any worker may do it."""

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """The first lineage on its seat, scored, or as far as one quantum gets."""
        return self.advance(problem, empty_state(problem, Streams.seeded(rng, (SELECTION, *self.operators))), engine)

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """A quantum of walking, or of the scores of what was proposed; each child takes its parent's seat if preferred.

        A child without parents takes the next seat.
        """
        children = _waiting(problem, self.operators, state)
        before = replace(state, memory=_without_waiting(state), whole=True)
        if not children:
            before, children = self.propose(problem, state, engine)
        if not children:
            return before
        fresh = [children[place].genome for place in find_unscored(before, children)]
        if not problem.scorable(fresh, engine):
            return replace(before, memory={**before.memory, **_held(self.operators, children)}, whole=False)
        scores, known, places = score(problem, before, children, engine)
        if children[0].parents:
            after = compete(before, children, scores, self.prefer, self.fitness)
        else:
            number = before.generation + bool(before.genomes)
            after = replace(with_first(before, children, scores), generation=number)
        after = replace(conclude_generation(problem, after, before, children, scores, known, places), idle=0)
        return replace(after, whole=True)


def walked(strategy: WalkingStrategy[Walking], task: tuple[int, Walking]) -> Walking:
    """One quantum of a seat's lineage, for an engine to map."""
    return strategy.work(*task)


def seated(
    problem: Problem, state: State, lineage: WalkingLineage, genome: Genome, streams: Streams
) -> tuple[State, list[Child]]:
    """The state with the arrays of one more lineage on the next seat, and its first genome to be scored."""
    memory = {**state.memory, **packed([lineage], len(state.genomes))}
    return replace(state, memory=memory, rng=streams.snapshot()), [Child(genome, "", (), problem.key(genome))]


def _held(operators: Sequence[str], children: Sequence[Child]) -> dict[str, NDArray[np.generic]]:
    """Children as plain arrays."""
    origins = [(operators.index(each.operator), each.parents[0]) if each.parents else (-1, -1) for each in children]
    return {GENOMES: np.stack([each.genome for each in children]), ORIGINS: np.array(origins, np.int64)}


def _waiting(problem: Problem, operators: Sequence[str], state: State) -> list[Child]:
    """Children that wait for their scores."""
    if GENOMES not in state.memory:
        return []
    genomes, origins = list(state.memory[GENOMES]), state.memory[ORIGINS].tolist()
    return [
        Child(genome, operators[operator], (parent,), problem.key(genome))
        if parent >= 0
        else Child(genome, "", (), problem.key(genome))
        for genome, (operator, parent) in zip(genomes, origins, strict=True)
    ]


def _without_waiting(state: State) -> dict[str, NDArray[np.generic]]:
    return {name: array for name, array in state.memory.items() if not name.startswith(WAITING)}
