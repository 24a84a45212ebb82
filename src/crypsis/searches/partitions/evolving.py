"""Partitioners that search: settings, a budget of their own, and the one loop."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Iterator

from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.partition import compact
from crypsis.errors import SearchError
from crypsis.evolution import Budget, Engine, Problem, State, evolve
from crypsis.kernels.arrays import Floats, Int32s
from crypsis.kernels.compile_time import seconds_compiling
from crypsis.masking.heuristics import checked
from crypsis.masking.partition import Partitioner
from crypsis.searches.partitions.lineages import Lineages, Refinement
from crypsis.searches.partitions.problem import SquaredErrors, partition_problem
from crypsis.searches.partitions.space import PartitionSpace


class EvolvingPartitioner(Partitioner):
    """A partitioner that advances by quanta of work: the same strategy a table's search over partitions uses."""

    seconds: float | None = Field(
        default=None,
        ge=0,
        le=1_000_000,
        description="wall-clock seconds after which the search ends, compiling not counted; not given: time is no "
        "limit. How far a search gets in a second is not the same twice, so neither are the groups",
    )

    @abstractmethod
    def refinement(self) -> Refinement:
        """How these settings make a partition tighter."""

    def refinement_of(self, records: int) -> Refinement:
        """How these settings make a partition of so many records tighter."""
        return self.refinement()

    def check(self, k: int) -> None:
        """Refuse a k that these settings cannot treat."""

    def limited(self) -> EvolvingPartitioner:
        """These settings, with a limit where they would let a search go on for ever."""
        return self

    def budget(self) -> Budget:
        """Until nothing is left to do, or the time is over."""
        return Budget(seconds=math.inf if self.seconds is None else self.seconds, idle=1)

    def problem(self, points: Floats, k: int, rng: Generator, refinement: Refinement | None = None) -> Problem:
        """What the loop needs to group scaled points by their SSE; a refinement in place of the settings' own."""
        self.check(k)
        space = PartitionSpace(checked(points, k), (k,))
        lineages = Lineages(space, refinement or self.refinement_of(len(space)))
        return partition_problem(lineages, SquaredErrors(space), ("SSE",), rng, {})

    def search(
        self,
        points: Floats,
        k: int,
        rng: Generator,
        budget: Budget | None = None,
        engine: Engine | None = None,
        refinement: Refinement | None = None,
    ) -> Iterator[State]:
        """The states of the loop: after the first partition, and after every quantum.

        points  ndarray of shape (n, p): finite and already scaled
        rng  decides everything; the same one gives the same states
        budget  when to stop; by default the settings' own
        engine  where independent pieces of a quantum are done; changes the time, not the result
        refinement  in place of the settings' own
        returns  its ``best`` holds the labels and k, its ``best_scores`` the SSE
        """
        began, settings = charged(), self.limited() if budget is None else self
        problem = settings.problem(points, k, rng, refinement)
        return evolve(problem, rng, budget or settings.budget(), engine, clock=charged, began=began)

    def partition(self, points: Floats, k: int, rng: Generator) -> Int32s:
        return compact(last(self.search(points, k, rng)).best)


def last(states: Iterator[State]) -> State:
    """The state a search ends with."""
    state = next(states)
    for later in states:
        state = later
    if not len(state.best):
        raise SearchError("no partition was finished in the time given; give more seconds")
    return state


def charged() -> float:
    """The time, without what was spent compiling kernels."""
    return time.monotonic() - seconds_compiling()
