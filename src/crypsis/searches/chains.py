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
from crypsis.evolution.loop import conclude_generation
from crypsis.evolution.problem import SELECTION, Child, Streams
from crypsis.evolution.selection import FitnessFunction, WeightedMean
from crypsis.evolution.state import empty_search_state, extend_search_state
from crypsis.evolution.strategies import compete, find_unscored_children, score_strategy_children
from crypsis.masking.method import Family
from crypsis.masking.scaling import scaling_lock_obstacle
from crypsis.searches.partitions.lower_bound import bound_k_by_strata
from crypsis.searches.search import Idle, Search
from crypsis.table.table import Table

# -- Searches over a grid of k: the same question for several class sizes at once, each a point of the front.


class KGridSearch(Search):
    """A search whose candidates have a class size of their own, from k upwards; usually groups of records."""

    family: ClassVar[Family] = Family.AGGREGATION
    pace: ClassVar[int] = 3

    k: int = Field(default=5, ge=2, le=1_000_000, description="least class size: the smallest k of the grid")
    k_values: int = Field(default=8, ge=1, le=100, description="number of group sizes in the grid")
    largest_k: int = Field(
        default=0, ge=0, description="largest k of the grid; 0: ten times k, or a tenth of the records"
    )
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
        return {"largest_k": Idle("with a single k", "set k_values to 2 or more")} if self.k_values == 1 else {}

    def obstacle(self, table: Table) -> str:
        if not self.names(table):
            return "the table has no quasi-identifier to mask; give columns the role 'quasi' or name columns"
        if int(table.kept.sum()) < self.k:
            return f"{int(table.kept.sum())} records cannot form a class of {self.k}; choose a smaller k"
        if not self.open_names(table):
            return "every column that would be masked is locked; unlock one"
        if thin := scaling_lock_obstacle(table, self.names(table), self.k):
            return thin
        if self.largest_k and self.largest_k < self.k:
            return f"the grid of k cannot go from {self.k} to {self.largest_k}; give largest_k of at least k, or 0"
        return ""

    def k_grid(self, table: Table) -> tuple[int, ...]:
        """The class sizes of a table, with the one that keeps the limits of the plan.

        Parameters
        ----------
        table : Table
            The table; no class is larger than the smallest one of its locked columns.

        Returns
        -------
        tuple of int
        """
        records, most = int(table.kept.sum()), bound_k_by_strata(table, self.names(table))
        sizes = self.spaced_sizes(records)
        if self.k_values > 1 and self.k < self.safe_k <= records:
            sizes = tuple(sorted({*sizes, self.safe_k}))
        return tuple(dict.fromkeys(min(k, most) for k in sizes))

    def spaced_sizes(self, records: int) -> tuple[int, ...]:
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
        sizes = np.geomspace(self.k, top, self.k_values) if self.k_values > 1 else np.array([self.k])
        return tuple(dict.fromkeys(round(float(size)) for size in sizes))

    def budget(self) -> Budget:
        return Budget(generations=self.generations)


# -- Simulated annealing in chains: each is annealed in runs, and what it carries is kept in plain arrays.
#
# A chain never takes the place of another one, so that a front keeps its ends. The state of a strategy holds the arrays
# of every chain by its number and their names: a run that goes on from a checkpoint is the run that was never
# interrupted. What a chain proposes waits in the state too until it is scored, which may take several quanta.

WAITING = "waiting"
GENOMES, ORIGINS = f"{WAITING}/genomes", f"{WAITING}/origins"
"""Names in the memory while children wait for their scores: their genomes, and operator and parent of each."""


@dataclass(frozen=True, eq=False)
class AnnealingChain:
    """What one chain has found, and how far its annealing run is."""

    best: NDArray[np.int32]  # int32: what costs least so far, and what is being annealed, of one shape
    current: NDArray[np.int32]
    random_state: NDArray[np.uint64]  # uint64[1]: of its generator
    place: NDArray[np.int64]  # int64[2]: the annealing run, and the next quantum of it
    improved: NDArray[np.bool_]  # bool[1]: whether the best became better and is to be scored


AnyChain = TypeVar("AnyChain", bound=AnnealingChain)


def initial_chain_random_state(seed: int) -> NDArray[np.uint64]:
    """uint64[1]: the random state at the beginning of a chain over a grid of k."""
    return SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)


def pack_chains(chains: Sequence[AnnealingChain], first: int = 0) -> dict[str, NDArray[np.generic]]:
    """The chains as plain arrays, numbered from `first` on."""
    return {
        f"{number}/{each.name}": getattr(chain, each.name)
        for number, chain in enumerate(chains, first)
        for each in fields(chain)
    }


def unpack_chains(kind: type[AnyChain], state: State) -> list[AnyChain]:
    """The chains of a state."""
    names = [each.name for each in fields(kind)]
    return [kind(*(state.memory[f"{number}/{name}"] for name in names)) for number in range(len(state.genomes))]


@dataclass(frozen=True, eq=False)
class ChainStrategy(ABC, Generic[AnyChain]):
    """A strategy whose chains begin one after another and are annealed in turn."""

    operators: ClassVar[tuple[str, ...]]
    """Names of what changes a chain."""

    fitness: FitnessFunction = field(default=WeightedMean(), kw_only=True)

    @abstractmethod
    def propose(self, problem: Problem, state: State, engine: Engine) -> tuple[State, list[Child]]:
        """The state after one more quantum of annealing, and children to be scored.

        The first groups of a chain are a child without parents; its arrays follow those of the others then.
        """

    @abstractmethod
    def prefer(self, child: NDArray[np.float64], parent: NDArray[np.float64]) -> bool:
        """Whether scores of a child are preferred to those of its parent."""

    @abstractmethod
    def work(self, number: int, chain: AnyChain) -> AnyChain:
        """One quantum of a chain; all is loaded from its arrays alone, so that any worker may do it."""

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """The first chain, scored, or as far as one quantum gets."""
        return self.advance(
            problem, empty_search_state(problem, Streams.spawn(rng, (SELECTION, *self.operators))), engine
        )

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """A quantum of annealing, or of the scores of what was proposed; a child that is preferred replaces its parent.

        A child without parents begins a chain.
        """
        children = _unpack_children(problem, self.operators, state)
        before = replace(state, memory=_drop_children(state), whole=True)
        if not children:
            before, children = self.propose(problem, state, engine)
        if not children:
            return before
        fresh = [children[place].genome for place in find_unscored_children(before, children)]
        if not problem.scorable(fresh, engine):
            return replace(before, memory={**before.memory, **_pack_children(self.operators, children)}, whole=False)
        scores, known, places = score_strategy_children(problem, before, children, engine)
        if children[0].parents:
            after = compete(before, children, scores, self.prefer, self.fitness)
        else:
            number = before.generation + bool(before.genomes)
            after = replace(extend_search_state(before, children, scores), generation=number)
        after = replace(conclude_generation(problem, after, before, children, scores, known, places), idle=0)
        return replace(after, whole=True)


def advance_chain(strategy: ChainStrategy[AnyChain], task: tuple[int, AnyChain]) -> AnyChain:
    """One quantum of a chain, for an engine to map."""
    return strategy.work(*task)


def add_chain(
    problem: Problem, state: State, chain: AnnealingChain, genome: Genome, streams: Streams
) -> tuple[State, list[Child]]:
    """The state with the arrays of one more chain, and its first genome to be scored."""
    memory = {**state.memory, **pack_chains([chain], len(state.genomes))}
    return replace(state, memory=memory, rng=streams.snapshot()), [Child(genome, "", (), problem.key(genome))]


def _pack_children(operators: Sequence[str], children: Sequence[Child]) -> dict[str, NDArray[np.generic]]:
    """Children as plain arrays."""
    origins = [(operators.index(each.operator), each.parents[0]) if each.parents else (-1, -1) for each in children]
    return {GENOMES: np.stack([each.genome for each in children]), ORIGINS: np.array(origins, np.int64)}


def _unpack_children(problem: Problem, operators: Sequence[str], state: State) -> list[Child]:
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


def _drop_children(state: State) -> dict[str, NDArray[np.generic]]:
    return {name: array for name, array in state.memory.items() if not name.startswith(WAITING)}
