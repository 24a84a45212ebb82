"""What is tried: a partitioner on points, or a search on a table; settings and a seed in, numbers out."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crypsis.evolution import Budget, evolve
from crypsis.kernels.squares import sse
from crypsis.masking.partition import partitioners
from crypsis.plan.catalogue import searches
from crypsis.searches.partitions.genetic import Genetic
from crypsis.table.table import Table


class Subject(Protocol):
    """Something with settings whose runs are worth comparing. Runs are pure: the seed decides everything."""

    @property
    def responses(self) -> tuple[str, ...]:
        """Names of what a run gives, all to be minimised: first how good the result is, then how soon it was found."""
        ...

    def check(self, combinations: Iterable[Mapping[str, Any]]) -> None:
        """Refuse settings that cannot be, before the first run."""
        ...

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        """One number per response."""
        ...

    def describe(self) -> dict[str, Any]:
        """What tells this subject from others: a file of trials is only continued by the same one."""
        ...


@dataclass(frozen=True, eq=False)
class PartitionerSubject:
    """A registered partitioner on points that are already scaled.

    fixed  settings that do not vary
    least  the SSE of an optimal partition, if known: genetic runs that reach it end there, with the same numbers
    → SSE and, for `genetic`, the convergence epoch: the first one at which the returned SSE was reached
    """

    name: str
    points: NDArray[np.float64]
    k: int
    fixed: Mapping[str, Any] = field(default_factory=dict)
    least: float = -math.inf

    @property
    def responses(self) -> tuple[str, ...]:
        return ("SSE", "convergence epoch") if partitioners[self.name] is Genetic else ("SSE",)

    def check(self, combinations: Iterable[Mapping[str, Any]]) -> None:
        for settings in combinations:
            partitioners.build(self.name, **{**self.fixed, **settings})

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        chosen = partitioners.build(self.name, **{**self.fixed, **settings})
        if isinstance(chosen, Genetic):
            found = chosen.evolved(self.points, self.k, seed, least=self.least)
            return found.sse, float(found.convergence_epoch)
        return (sse(self.points, chosen.partition(self.points, self.k, np.random.default_rng(seed))),)

    def describe(self) -> dict[str, Any]:
        digest = hashlib.sha256(np.ascontiguousarray(self.points).tobytes()).hexdigest()
        return {
            "partitioner": self.name,
            "k": self.k,
            "fixed": dict(self.fixed),
            "shape": list(self.points.shape),
            "data": digest,
        }


@dataclass(frozen=True, eq=False)
class SearchSubject:
    """A registered search on a table, with its own measures.

    generations  0: as many as the search's own recipe runs
    → the best score (the search's own worth) and the number of evaluations after which it was found
    """

    name: str
    table: Table
    fixed: Mapping[str, Any] = field(default_factory=dict)
    generations: int = 0

    @property
    def responses(self) -> tuple[str, ...]:
        return ("score", "found at evaluation")

    def check(self, combinations: Iterable[Mapping[str, Any]]) -> None:
        for settings in combinations:
            searches.build(self.name, **{**self.fixed, **settings})

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        search = searches.build(self.name, **{**self.fixed, **settings})
        rng = np.random.default_rng(seed)
        problem = search.pose(self.table, None, rng)
        budget = Budget(generations=self.generations) if self.generations else search.budget()
        best = (float("inf"), 0)
        for state in evolve(problem, rng, budget):
            if state.best_fitness < best[0]:
                best = (state.best_fitness, state.best_found)
        return best[0], float(best[1])

    def describe(self) -> dict[str, Any]:
        return {
            "search": self.name,
            "fixed": dict(self.fixed),
            "generations": self.generations,
            "data": self.table.fingerprint(),
        }
