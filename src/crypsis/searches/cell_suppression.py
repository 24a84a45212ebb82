"""The search "cell-suppression": single cells hidden for a grid of k, (k,k)-anonymity (Gionis, Mazza and Tassa 2008).

A candidate is int64[3]: k, thousands of trials in which the greedy cover is improved, and the number of a random
stream, so that two tries at one k differ. Stored is which cells are hidden (`encodings.hidden_cells`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.hidden_cells import HiddenCellEncoding
from crypsis.evolution import Genome, Problem, Scores
from crypsis.masking.cell_suppression import CellReading, CellSuppression, Flags, Solving
from crypsis.masking.method import Family
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import BoundMeasure
from crypsis.measures.objective import Objective
from crypsis.searches.candidates import STREAMS, GradualCandidates
from crypsis.searches.chains import KGridSearch
from crypsis.searches.search import searches
from crypsis.table.equivalence_classes import alike_records
from crypsis.table.table import Table


@dataclass(frozen=True, eq=False)
class CellCandidates(GradualCandidates[Flags]):
    """What the search varies: k, how long a cover is improved, and by which chance."""

    kept_genomes: ClassVar[int] = 64_000_000
    """Cells: some 8 megabytes."""

    effort: int  # most thousands of trials
    reading: CellReading

    @property
    def genome_size(self) -> int:
        return len(self.encoding.table) * len(self.encoding.names)

    def solve_tasks(self, candidate: Genome) -> Solving:
        k, effort, stream = (int(value) for value in candidate)
        method = CellSuppression(
            columns=self.encoding.names,
            k=k,
            missing=self.reading,
            solver="improved" if effort else "greedy",
            effort=max(effort, 1),
        )
        return method.solve_tasks(self.encoding.table, np.random.default_rng([k, stream]))

    def vary(self, candidate: Genome, rng: Generator) -> None:
        candidate[2] = rng.integers(STREAMS)
        if rng.random() < 0.5:
            candidate[0] = self.another_size(candidate[0], rng)
        if rng.random() < 0.5:
            candidate[1] = rng.integers(1, self.effort + 1)


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
        start = [np.array([k, self.effort, 0], dtype=np.int64) for k in candidates.k_grid]
        own = CellScores(candidates, InformationLoss(columns=encoding.names).against(table))
        return candidates.pose(start, own, objective, self.offspring, {"missing": self.missing})
