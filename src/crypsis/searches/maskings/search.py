"""The search for masked categorical files as a plan names it: a population of many methods, bred cell by cell."""

from __future__ import annotations

from typing import ClassVar, Literal

from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.masked_file import MaskedFileEncoding
from crypsis.evolution import Budget, Problem
from crypsis.masking import BottomCoding, MaskingMethod, Microaggregation, RankSwapping, TopCoding
from crypsis.masking.method import Family
from crypsis.measures.categories import obstacle as no_categories
from crypsis.measures.categories import readable
from crypsis.measures.objective import Objective
from crypsis.searches.maskings.problem import pose_maskings
from crypsis.searches.maskings.settings import MaskingEvolution
from crypsis.searches.populations import PaperFamilies, build_population
from crypsis.searches.search import Search, searches
from crypsis.table.attribute import Kind
from crypsis.table.table import Table


@searches.add("masking")
class Masking(Search):
    """Which category should each record show? Files masked in many ways, bred and changed cell by cell.

    Marés and Torra (2012). The file shows false values, so class sizes say nothing about it: it is judged by
    linkage, and a plan releases it by a limit on a risk. Only categorical columns are masked.
    """

    family: ClassVar[Family] = Family.PERTURBATION

    columns: tuple[str, ...] = Field(
        default=(), description="categorical columns to mask; empty means every categorical quasi-identifier"
    )
    score: Literal["mean", "max"] = Field(default="max", description="mean or maximum of loss and risk decides")
    crossover_rate: float = Field(default=0.3, ge=0.0, le=1.0, description="chance that a breeding is a crossover")
    selection: Literal["turned", "inverse", "printed"] = Field(
        default="turned",
        description="chance of a file: largest + smallest − its score, 1 / score, or its score (printed Equation 3)",
    )
    leaders: float = Field(default=0.1, gt=0.0, le=1.0, description="best share of the files that lead crossovers")
    batch: int = Field(default=20, ge=1, le=10_000, description="breedings of a generation, none sharing a file")
    largest_k: int = Field(default=5, ge=2, le=100, description="microaggregations of the start: group sizes 2 to this")
    depths: int = Field(default=2, ge=0, le=20, description="codings and recodings of the start: depths 1 to this")
    swappings: int = Field(default=5, ge=0, le=20, description="rank swappings of the start, by 5, 10, … per cent")
    prams: int = Field(default=5, ge=0, le=9, description="invariant PRAMs of the start, θ = 0.1, 0.2, …")
    generations: int = Field(default=200, ge=1, description="generations, where no other budget is given")

    def obstacle(self, table: Table) -> str:
        if not bool(table.kept.all()):
            return "the table holds suppressed records, which cannot be bred; search before suppressing"
        return no_categories(table, self.columns)

    def encoding(self, table: Table) -> MaskedFileEncoding:
        return MaskedFileEncoding(table, tuple(readable(table, self.columns)))

    def problem(self, encoding: MaskedFileEncoding, objective: Objective | None, rng: Generator) -> Problem:
        """As `pose_maskings`; of the measures a user chose only the seven categorical ones can be followed."""
        table, names = encoding.table, list(encoding.names)
        population = build_population(table, self._start(table, names), rng)
        settings = MaskingEvolution(
            score=self.score,
            crossover_rate=self.crossover_rate,
            selection=self.selection,
            leaders=self.leaders,
            batch=min(self.batch, max(1, len(population) // 2)),
        )
        chosen = None if objective is None else list(objective.measures.values())
        return pose_maskings(table, population.files, settings, chosen, names)

    def _start(self, table: Table, names: list[str]) -> list[MaskingMethod]:
        """The paper's families, each for the columns it can treat: what needs an order gets the ordinal ones."""
        families = PaperFamilies(
            largest_k=min(self.largest_k, len(table)), depths=self.depths, swappings=self.swappings, prams=self.prams
        )
        ordered = tuple(name for name in names if table.attribute(name).kind is Kind.ORDINAL)
        made_by: list[MaskingMethod] = []
        for method in families.methods(names):
            if isinstance(method, (TopCoding, BottomCoding, RankSwapping)):
                if ordered:
                    made_by.append(method.model_copy(update={"columns": ordered}))
            elif isinstance(method, Microaggregation):
                unfit = method.aggregate == "median" and len(ordered) < len(names)
                changes = {"missing": "aggregate", "aggregate": "auto" if unfit else method.aggregate}
                made_by.append(method.model_copy(update=changes))
            else:
                made_by.append(method)
        return made_by

    def budget(self) -> Budget:
        return Budget(generations=self.generations)
