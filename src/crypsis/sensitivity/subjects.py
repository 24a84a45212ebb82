"""Subjects of a sensitivity analysis: a partitioner on points, or a search on a table."""

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
    """Something with settings whose runs are compared; a run is determined by settings and seed."""

    @property
    def responses(self) -> tuple[str, ...]:
        """Names of the numbers of a run, minimised: first the result, then how soon it was found."""
        ...

    def check(self, combinations: Iterable[Mapping[str, Any]]) -> None:
        """Refuse impossible settings before the first run.

        Parameters
        ----------
        combinations : iterable of mapping
            Settings of all runs.

        Raises
        ------
        PlanError
            If settings are impossible.
        """
        ...

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        """Run once.

        Parameters
        ----------
        settings : mapping
            Settings of the run.
        seed : int
            Seed of the run.

        Returns
        -------
        tuple of float
            One number per response.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """What identifies the subject: a file of trials is continued only by the same one."""
        ...


@dataclass(frozen=True, eq=False)
class PartitionerSubject:
    """A registered partitioner on scaled points; responses are the SSE and, for "genetic", the convergence epoch.

    points  float64[n, p]: scaled points
    fixed  settings that do not vary
    least  SSE of an optimal partition, if known: genetic runs that reach it stop, with the same numbers
    """

    name: str
    points: NDArray[np.float64]
    k: int
    fixed: Mapping[str, Any] = field(default_factory=dict)
    least: float = -math.inf

    @property
    def responses(self) -> tuple[str, ...]:
        """Names of the numbers of a run."""
        return ("SSE", "convergence epoch") if partitioners[self.name] is Genetic else ("SSE",)

    def check(self, combinations: Iterable[Mapping[str, Any]]) -> None:
        """Refuse impossible settings; see `Subject.check`."""
        for settings in combinations:
            partitioners.build(self.name, **{**self.fixed, **settings})

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        """Run once; see `Subject.run`."""
        chosen = partitioners.build(self.name, **{**self.fixed, **settings})
        if isinstance(chosen, Genetic):
            found = chosen.run(self.points, self.k, np.random.default_rng(seed), least=self.least)
            return found.sse, float(found.convergence_epoch)
        return (sse(self.points, chosen.partition(self.points, self.k, np.random.default_rng(seed))),)

    def describe(self) -> dict[str, Any]:
        """What identifies the subject; see `Subject.describe`."""
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
    """A registered search on a table; responses are the best fitness and the evaluation that found it.

    Attributes
    ----------
    name : str
    table : Table
    fixed : mapping
        Settings that do not vary.
    generations : int
        Generations of a run; 0 for the budget of the search.
    """

    name: str
    table: Table
    fixed: Mapping[str, Any] = field(default_factory=dict)
    generations: int = 0

    @property
    def responses(self) -> tuple[str, ...]:
        """Names of the numbers of a run."""
        return ("score", "found at evaluation")

    def check(self, combinations: Iterable[Mapping[str, Any]]) -> None:
        """Refuse impossible settings; see `Subject.check`."""
        for settings in combinations:
            searches.build(self.name, **{**self.fixed, **settings})

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        """Run once; see `Subject.run`."""
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
        """What identifies the subject; see `Subject.describe`."""
        return {
            "search": self.name,
            "fixed": dict(self.fixed),
            "generations": self.generations,
            "data": self.table.fingerprint(),
        }
