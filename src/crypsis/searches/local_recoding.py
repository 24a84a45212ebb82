"""The search "local-recoding": different records at different levels, for a grid of k.

A candidate is int64[5]: k, l, how many lattice nodes are offered and how many comparisons are spent on moving records
(powers of two; 0 for none), and the number of a random stream. The stream decides which nodes are drawn where the
lattice has more, so that two tries at one k differ. On a large table the search begins with few nodes and without
moves; what costs more is worked out task by task. Stored are the classes found and the node each publishes
(`encodings.recoding`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.generalisation import RecodingEncoding
from crypsis.errors import name_hierarchy
from crypsis.evolution import Genome, Problem, Scores
from crypsis.kernels.classes import ContentDemands
from crypsis.masking.local_recoding import LocalClasses, LocalRecoding, Solving
from crypsis.masking.method import Family
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import BoundMeasure
from crypsis.measures.objective import Objective
from crypsis.privacy.demands import class_demands
from crypsis.privacy.diversity import LDiversity
from crypsis.searches.candidates import STREAMS, TOGETHER, GradualCandidates
from crypsis.searches.chains import KGridSearch
from crypsis.searches.search import searches
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table

LEAST_MOVES, MOST_MOVES = 20, 25
"""Powers of two of comparisons that are spent on moving records, where some are."""
AT_ONCE = 300_000_000
"""Cells of records times nodes above which the search begins with few nodes and without moves."""
TOGETHER_UP_TO = 20_000
"""Records up to which candidates are worked out side by side."""


@dataclass(frozen=True, eq=False)
class RecodingCandidates(GradualCandidates[LocalClasses]):
    """What the search varies: k, l, how many nodes are offered and which."""

    kept_genomes: ClassVar[int] = 16_000_000
    """Records: some 60 megabytes."""

    diversity: int  # confidential values that every class must have
    exponents: tuple[int, int]  # least and largest power of two of nodes that are offered
    # what every class must hold, where models ask for more than k
    contents: ContentDemands | None = field(default=None, repr=False)

    @property
    def genome_size(self) -> int:
        return len(self.encoding.table)

    @property
    def together(self) -> int:
        return TOGETHER if len(self.encoding.table) <= TOGETHER_UP_TO else 1

    def solve_tasks(self, candidate: Genome) -> Solving:
        k, diversity, exponent, moves, stream = (int(value) for value in candidate)
        nodes, effort = max(10, 1 << exponent), 1 << moves if moves else 0
        method = LocalRecoding(columns=self.encoding.names, k=k, l=diversity, nodes=nodes, effort=effort)
        return method.solve_tasks(self.encoding.table, np.random.default_rng([k, exponent, stream]), self.contents)

    def vary(self, candidate: Genome, rng: Generator) -> None:
        candidate[4] = rng.integers(STREAMS)
        if rng.random() < 0.5:
            candidate[0] = self.another_size(candidate[0], rng)
        if rng.random() < 0.5:
            candidate[2] = rng.integers(self.exponents[0], self.exponents[1] + 1)
        if rng.random() < 0.5:
            candidate[3] = rng.choice([0, *range(LEAST_MOVES, MOST_MOVES + 1)])


@dataclass(frozen=True)
class RecodingScores:
    """(cell loss, classes among records), per cent: what the search minimises by itself."""

    candidates: RecodingCandidates
    loss: BoundMeasure

    def __call__(self, candidate: Genome) -> Scores:
        encoding = self.candidates.encoding
        masked = encoding.decode(self.candidates.express(candidate))
        sizes = equivalence_class_sizes(masked, masked.quasi_identifiers or list(encoding.names))[masked.kept]
        return self.loss.read(masked), 100.0 * float((1.0 / sizes).mean())


@searches.add("local-recoding")
class LocalRecodingSearch(KGridSearch):
    """How far must each record be generalised? Records stay as fine as their class of k allows; none is suppressed.

    Notes
    -----
    - Formula: candidate: k, l, number of nodes offered, effort of moves, seed; local recoding for each
    - Paper: own, upon LeFevre, DeWitt and Ramakrishnan (2006)
    - Cost: one local recoding per candidate
    - Departures: own method

    Examples
    --------
    >>> search = crypsis.LocalRecodingSearch(k=3, k_values=2, nodes=64)
    >>> run = crypsis.evolve(crypsis.example(60), search=search, budget="1 generations", seed=1)
    >>> min(int(solution.figure("k")) for solution in run.front if solution.title == "local-recoding") >= 3
    True
    """

    family: ClassVar[Family] = Family.RECODING
    purpose: ClassVar[str] = "different records at different levels"
    pace: ClassVar[int] = 2

    k_values: int = Field(default=6, ge=1, le=100, description="number of class sizes in the first grid")
    l: int = Field(default=1, ge=1, description="least number of confidential values in a class")  # noqa: E741
    columns: tuple[str, ...] = Field(
        default=(), description="columns to recode; empty means every quasi-identifier, each of which needs a hierarchy"
    )
    nodes: int = Field(default=16_384, ge=16, le=10_000_000, description="most lattice nodes offered to the records")
    offspring: int = Field(default=4, ge=1, le=1000, description="recodings tried in one generation")
    generations: int = Field(default=20, ge=1, description="generations, where no other budget is given")

    @classmethod
    def drawback(cls, table: Table) -> str:
        return (
            "Its plain form is a baseline of every run, and beside composite it held no point of the front on fifteen "
            "tasks (docs/how-to/which-search.md); add it where records must be generalised and never averaged"
        )

    def obstacle(self, table: Table) -> str:
        bare = [name for name in self.open_names(table) if table.attribute(name).hierarchy is None]
        if bare:
            return (
                f"column {bare[0]!r} has no hierarchy and recoding needs one for each; give one, e.g. "
                f"{name_hierarchy(bare[0])}, or leave the column out"
            )
        if self.l > 1 and not table.confidential:
            return "l was demanded but no column is confidential; give one that role or leave l out"
        return super().obstacle(table)

    def class_contents(self, table: Table, names: tuple[str, ...]) -> ContentDemands | None:
        """What every class must hold; None where k and l of the settings say it all."""
        demands = class_demands(self.demanded_models, table, names)
        if demands.only_size:
            return None
        own = [LDiversity(l=self.l, confidential=tuple(table.confidential[:1]))] if self.l > 1 else []
        return class_demands([*self.demanded_models, *own], table, names).arrays

    def encoding(self, table: Table) -> RecodingEncoding:
        return RecodingEncoding(table, self.open_names(table))

    def problem(self, encoding: RecodingEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table, most = encoding.table, int(np.log2(self.nodes))
        k_grid, contents = self.k_grid(table), self.class_contents(table, encoding.names)
        candidates = RecodingCandidates(encoding, k_grid, self.l, (min(8, most), most), contents)
        quick = len(table) * len(encoding.names) * self.nodes > AT_ONCE
        nodes, moves = (min(8, most), 0) if quick else (most, MOST_MOVES)
        start = [np.array([k, self.l, nodes, moves, 0], dtype=np.int64) for k in candidates.k_grid]
        own = RecodingScores(candidates, InformationLoss(columns=encoding.names).against(table))
        return candidates.pose(
            start, own, objective, self.offspring, {"nodes": float(Lattice.of(table, encoding.names).size)}
        )
