"""The search "cell-suppression": single cells hidden for a grid of k, (k,k)-anonymity (Gionis, Mazza and Tassa 2008).

A candidate is int64[3]: k, thousands of trials in which the greedy cover is improved, and the number of a random
stream, so that two tries at one k differ. Stored is which cells are hidden (`encodings.hidden_cells`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.hidden_cells import HiddenCellEncoding
from crypsis.engines import Engine
from crypsis.evolution import Application, Elitist, Genome, Operator, Problem, Scores
from crypsis.evolution.selection import DominanceOrder
from crypsis.masking.cell_suppression import CellReading, CellSuppression, Solving
from crypsis.masking.method import Family
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import BoundMeasure
from crypsis.measures.objective import Objective
from crypsis.searches.chains import KGridSearch
from crypsis.searches.search import ObjectiveScores, searches
from crypsis.table.equivalence_classes import alike_records
from crypsis.table.table import Table

STREAMS = 1 << 40
TOGETHER = 2
"""Candidates that are worked out side by side, unless there are more workers."""
KEPT_CELLS = 64_000_000
"""Cells of all genomes that are kept: some 8 megabytes, unless twelve genomes have more."""


@dataclass(frozen=True, eq=False)
class CellCandidates:
    """What the search varies: k, how long a cover is improved, and by which chance; and how it is worked out."""

    encoding: HiddenCellEncoding  # genome ⇄ table with hidden cells
    k_grid: tuple[int, ...]  # the search stays between the least and the largest
    effort: int  # most thousands of trials
    reading: CellReading
    _kept: dict[bytes, Genome] = field(default_factory=dict, repr=False)
    """The last few genomes worked out, oldest first."""
    _begun: dict[bytes, Solving] = field(default_factory=dict, repr=False)
    """Candidates that are being worked out."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": {}, "_begun": {}}

    @staticmethod
    def key(candidate: Genome) -> bytes:
        """Equal for equal candidates."""
        return np.asarray(candidate, dtype=np.int64).tobytes()

    def express(self, candidate: Genome) -> Genome:
        """The cells that are hidden."""
        key = self.key(candidate)
        while key not in self._kept:
            self.work_out(key, candidate)
        return self._kept[key]

    def ready(self, candidates: Sequence[Genome], engine: Engine) -> bool:
        """Work out a task of the first candidates that are not worked out yet; whether none is left."""
        if not engine.here:
            return True
        missing = {key: each for each in candidates if (key := self.key(each)) not in self._kept}
        engine.map(_work_out, [*missing.items()][: max(TOGETHER, engine.workers)], self)
        return all(key in self._kept for key in missing)

    def work_out(self, key: bytes, candidate: Genome) -> None:
        """One task of the work; the genome is kept after the last."""
        if key not in self._begun:
            k, effort, stream = (int(value) for value in candidate)
            method = CellSuppression(
                columns=self.encoding.names,
                k=k,
                missing=self.reading,
                solver="improved" if effort else "greedy",
                effort=max(effort, 1),
            )
            self._begun[key] = method.solve_tasks(self.encoding.table, np.random.default_rng([k, stream]))
        try:
            next(self._begun[key])
        except StopIteration as end:
            self._kept[key] = self.encoding.encode(end.value)
            self._begun.pop(key)
            cells = len(self.encoding.table) * len(self.encoding.names)
            for oldest in list(self._kept)[: -max(12, KEPT_CELLS // max(cells, 1))]:
                self._kept.pop(oldest, None)


def _work_out(candidates: CellCandidates, missing: tuple[bytes, Genome]) -> None:
    candidates.work_out(*missing)


def _demanded_size(candidate: Genome) -> dict[str, float | int | str]:
    """The number of records alike that was demanded."""
    return {"k": int(candidate[0])}


@dataclass(frozen=True)
class CellScores:
    """(information loss, mean of 1 / records alike), per cent: what the search minimises by itself."""

    candidates: CellCandidates
    loss: BoundMeasure

    def __call__(self, candidate: Genome) -> Scores:
        encoding = self.candidates.encoding
        masked = encoding.decode(self.candidates.express(candidate))
        names = list(dict.fromkeys((*encoding.names, *masked.quasi_identifiers)))
        alike = alike_records(masked, names, self.candidates.reading, encoding.table)[masked.kept]
        return self.loss.read(masked), 100.0 * float((1.0 / alike).mean())


@dataclass(frozen=True)
class Redraw(Operator):
    """Another stream, and as likely as not another k and more or fewer trials."""

    space: CellCandidates = field(repr=False)
    name: str = "redraw"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        child[2] = rng.integers(STREAMS)
        if rng.random() < 0.5:
            low, high = self.space.k_grid[0], self.space.k_grid[-1]
            child[0] = int(np.clip(round(float(child[0]) * float(np.exp(rng.normal(0.0, 0.3)))), low, high))
        if rng.random() < 0.5:
            child[1] = rng.integers(1, self.space.effort + 1)
        return [child]


@searches.add("cell-suppression")
class CellSuppressionSearch(KGridSearch):
    """Which single cells must be hidden? All others are published as collected; every person has k records alike.

    Under the reading `target` or `wildcard` of a hidden cell, and every record agrees with k persons. Models on
    confidential values do not steer it; they are judged afterwards.

    Notes
    -----
    - Formula: candidate: k, trials, seed; cell suppression for each
    - Paper: Gionis, Mazza and Tassa (2008)
    - Cost: one cell suppression per candidate
    - Departures: own method; a plan should require k-anonymity with the same reading, since by `own`, the strictest,
      no file with hidden cells keeps k; so first plans do not offer it

    Examples
    --------
    >>> search = crypsis.CellSuppressionSearch(k=3, k_values=2, effort=1)
    >>> run = crypsis.evolve(crypsis.example(60), search=search, budget="1 generations", seed=1)
    >>> min(int(solution.figure("k")) for solution in run.front if solution.title == "cell-suppression") >= 1
    True
    """

    family: ClassVar[Family] = Family.RECODING

    k_values: int = Field(default=6, ge=1, le=100, description="number of class sizes in the first grid")
    missing: CellReading = Field(
        default="target",
        description="which records are alike where cells are hidden; target: not contradicted by the true values of "
        "the person, which the intruder knows; wildcard: a hidden cell equals every value, which overstates protection",
    )
    columns: tuple[str, ...] = Field(
        default=(), description="columns whose cells may be hidden; empty means every quasi-identifier"
    )
    effort: int = Field(
        default=20, ge=1, le=1_000_000, description="most thousands of trials in which a greedy cover is improved"
    )
    offspring: int = Field(default=4, ge=1, le=1000, description="covers tried in one generation")
    generations: int = Field(default=20, ge=1, description="generations, where no other budget is given")

    def encoding(self, table: Table) -> HiddenCellEncoding:
        return HiddenCellEncoding(table, self.open_names(table))

    def problem(self, encoding: HiddenCellEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table = encoding.table
        candidates = CellCandidates(encoding, self.k_grid(table), self.effort, self.missing)
        start = tuple(np.array([k, self.effort, 0], dtype=np.int64) for k in candidates.k_grid)
        own = CellScores(candidates, InformationLoss(columns=encoding.names).against(table))
        size, redraw = max(len(start), 2), Application(Redraw(candidates), self.offspring)
        return Problem(
            key=candidates.key,
            strategy=Elitist(size, (redraw,), order=DominanceOrder()),
            start=start,
            evaluate=own if objective is None else ObjectiveScores(encoding, objective, candidates.express),
            objectives=("loss", "risk"),
            express=candidates.express,
            ready=candidates.ready,
            together=TOGETHER,
            facts=_demanded_size,
            notes={"k": list(candidates.k_grid), "columns": list(encoding.names), "missing": self.missing},
        )
