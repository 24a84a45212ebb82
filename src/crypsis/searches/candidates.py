"""Candidates that are short recipes: each is worked out task by task into a genome, and the last ones are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Generator as TaskGenerator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.random import Generator

from crypsis.encodings.encoding import Encoding
from crypsis.engines import Engine
from crypsis.evolution import Application, Elitist, Genome, Operator, Problem, Scores
from crypsis.evolution.selection import DominanceOrder
from crypsis.measures.objective import Objective
from crypsis.searches.search import ObjectiveScores
from crypsis.table.table import Table

STREAMS = 1 << 40
"""Random streams that a candidate may name."""
TOGETHER = 2
"""Candidates that are worked out side by side, unless there are more workers."""
LEAST_KEPT = 12
"""Genomes that are kept, however large they are."""

ScoreFunction = Callable[[Genome], Scores]
Found = TypeVar("Found")
Encoded = TypeVar("Encoded", contravariant=True)


class SolutionEncoding(Encoding, Protocol[Encoded]):
    """An encoding that makes a genome of what a masking method found."""

    @property
    def table(self) -> Table:
        """The table to be masked."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are masked."""

    def encode(self, found: Encoded, /) -> Genome:
        """Encode what was found."""


@dataclass(frozen=True, eq=False)
class GradualCandidates(ABC, Generic[Found]):
    """Candidates whose genomes are worked out in tasks."""

    kept_genomes: ClassVar[int]
    """Units of all genomes that are kept, in units of `genome_size`."""

    encoding: SolutionEncoding[Found]  # genome ⇄ masked table
    k_grid: tuple[int, ...]  # class sizes to begin with; the search stays between the least and the largest
    _kept: dict[bytes, Genome] = field(default_factory=dict, repr=False, kw_only=True)
    """The last few genomes worked out, oldest first: the questions that follow need not work them out again."""
    _begun: dict[bytes, TaskGenerator[None, None, Found]] = field(default_factory=dict, repr=False, kw_only=True)
    """Candidates that are being worked out."""

    @abstractmethod
    def solve_tasks(self, candidate: Genome) -> TaskGenerator[None, None, Found]:
        """Work out what a candidate asks for, task by task."""

    @abstractmethod
    def vary(self, candidate: Genome, rng: Generator) -> None:
        """Change a candidate in place: another random stream, and as likely as not another of its other numbers."""

    @property
    @abstractmethod
    def genome_size(self) -> int:
        """The size of one genome."""

    @property
    def together(self) -> int:
        """Candidates that are worked out side by side, unless there are more workers."""
        return TOGETHER

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": {}, "_begun": {}}

    @staticmethod
    def key(candidate: Genome) -> bytes:
        """Equal for equal candidates."""
        return np.asarray(candidate, dtype=np.int64).tobytes()

    def express(self, candidate: Genome) -> Genome:
        """The genome of a candidate."""
        key = self.key(candidate)
        while key not in self._kept:
            self.work_out(key, candidate)
        return self._kept[key]

    def ready(self, candidates: Sequence[Genome], engine: Engine) -> bool:
        """Work out a task of the first candidates that are not worked out yet; whether none is left."""
        if not engine.here:
            return True
        missing = {key: each for each in candidates if (key := self.key(each)) not in self._kept}
        engine.map(_work_out, [*missing.items()][: max(self.together, engine.workers)], self)
        return all(key in self._kept for key in missing)

    def work_out(self, key: bytes, candidate: Genome) -> None:
        """One task of the work; the genome is kept after the last."""
        if key not in self._begun:
            self._begun[key] = self.solve_tasks(candidate)
        try:
            next(self._begun[key])
        except StopIteration as end:
            self._kept[key] = self.encoding.encode(end.value)
            self._begun.pop(key)
            for oldest in list(self._kept)[: -max(LEAST_KEPT, self.kept_genomes // max(self.genome_size, 1))]:
                self._kept.pop(oldest, None)

    def another_size(self, k: int, rng: Generator) -> int:
        """A class size near k and within the grid."""
        return int(np.clip(round(float(k) * float(np.exp(rng.normal(0.0, 0.3)))), self.k_grid[0], self.k_grid[-1]))

    def pose(
        self,
        start: Sequence[Genome],
        own: ScoreFunction,
        objective: Objective | None,
        offspring: int,
        notes: Mapping[str, Any],
    ) -> Problem:
        """The problem of finding the best candidates: an elite of them, redrawn; `own` scores without an objective."""
        return Problem(
            key=self.key,
            strategy=Elitist(max(len(start), 2), (Application(Redraw(self), offspring),), order=DominanceOrder()),
            start=tuple(start),
            evaluate=own if objective is None else ObjectiveScores(self.encoding, objective, self.express),
            objectives=("loss", "risk"),
            express=self.express,
            ready=self.ready,
            together=TOGETHER,
            facts=_demanded_size,
            notes={"k": list(self.k_grid), "columns": list(self.encoding.names), **notes},
        )


def _work_out(candidates: GradualCandidates[Any], missing: tuple[bytes, Genome]) -> None:
    candidates.work_out(*missing)


def _demanded_size(candidate: Genome) -> dict[str, float | int | str]:
    """The class size that a candidate demands, its first number."""
    return {"k": int(candidate[0])}


@dataclass(frozen=True)
class Redraw(Operator):
    """A candidate varied."""

    space: GradualCandidates[Any] = field(repr=False)
    name: str = "redraw"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        self.space.vary(child, rng)
        return [child]
