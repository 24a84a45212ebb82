"""The search for masked categorical files as a plan names it: a population of many methods, bred cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.masked_file import MaskedFileEncoding
from crypsis.errors import SearchError
from crypsis.evolution import Budget, Problem
from crypsis.masking.method import Family
from crypsis.measures.categories import obstacle as no_categories
from crypsis.measures.categories import readable
from crypsis.measures.objective import Objective
from crypsis.searches.maskings.constraints import Constraints, misfit
from crypsis.searches.maskings.first_files import MethodFiles
from crypsis.searches.maskings.posing import pose
from crypsis.searches.populations import Coded, PaperFamilies, SwapStep, with_others
from crypsis.searches.search import Idle, Search, searches
from crypsis.table.table import Table

STARTS = ("largest_k", "depths", "coded", "swappings", "swap_step", "prams")
"""Settings of the search that say which files it starts from."""


@searches.add("masking")
class MaskingSearch(Search):
    """Which category should each record show? Files masked in many ways, bred and changed cell by cell.

    Marés and Torra (2012). The file shows false values, so class sizes say nothing about it: it is judged by
    linkage, and a plan releases it by a limit on a risk. Only categorical columns are masked. With strokes = 1,
    aimed = 0 and batch = 1 this is the paper's algorithm; its number of generations and of leaders is not printed.

    Notes
    -----
    - Formula: individual: a masked file; score mean or max of (IL, DR); child against its own parent
    - Paper: Marés and Torra (2012)
    - Cost: O(1) amortised per changed cell for tallies, O(n) for linkage
    - Departures: Equation 3 as printed favours bad files; selection is proportional to max + min − score, as the text
      says

    Examples
    --------
    >>> search = crypsis.MaskingSearch(largest_k=3, depths=1, swappings=1, prams=1, batch=4)
    >>> run = crypsis.evolve(crypsis.example(60), search=search, budget="2 generations", seed=1)
    >>> {str(solution.family) for solution in run.front if not solution.baseline}
    {'perturbation'}
    """

    family: ClassVar[Family] = Family.PERTURBATION

    columns: tuple[str, ...] = Field(
        default=(), description="categorical columns to mask; empty means every categorical quasi-identifier"
    )
    score: Literal["mean", "max", "front"] = Field(
        default="max",
        description="mean or maximum of loss and risk; front: each file follows its own ray towards none of both",
    )
    highest_risk: float = Field(
        default=100.0, gt=0.0, le=100.0, description="with score front: files of about this risk and less are bred"
    )
    crossover_rate: float = Field(default=0.3, ge=0.0, le=1.0, description="chance that a breeding is a crossover")
    selection: Literal["turned", "inverse", "printed"] = Field(
        default="turned",
        description="chance of a file: largest + smallest − its score, 1 / score, or its score (printed Equation 3)",
    )
    leaders: float = Field(
        default=0.1, gt=0.0, le=1.0, description="best share of the files, at least two, that lead crossovers"
    )
    strokes: int = Field(default=1, ge=1, le=100_000, description="one-cell changes tried in turn in one mutation")
    aimed: float = Field(
        default=0.0, ge=0.0, le=1.0, description="share of changes aimed at records that carry the risk or the loss"
    )
    neutral: bool = Field(
        default=False,
        description="a child of the same score replaces its parent if the sum of loss and risk is no greater",
    )
    batch: int = Field(default=20, ge=1, le=10_000, description="breedings of a generation, none sharing a file")
    longest: float = Field(
        default=1.0, gt=0.0, le=1.0, description="longest stretch a crossover exchanges, as a share of the file"
    )
    forbidden: tuple[dict[str, str], ...] = Field(
        default=(), description="combinations of categories, column by column, that no masked record may have"
    )
    largest_k: int = Field(default=5, ge=2, le=100, description="microaggregations of the start: group sizes 2 to this")
    depths: int = Field(default=2, ge=0, le=20, description="codings and recodings of the start: depths 1 to this")
    coded: Coded = "depth"
    swappings: int = Field(default=5, ge=0, le=20, description="rank swappings of the start: so many steps")
    swap_step: SwapStep = 5.0
    prams: int = Field(default=5, ge=0, le=9, description="invariant PRAMs of the start, θ = 0.1, 0.2, …")
    generations: int = Field(default=200, ge=1, description="generations, where no other budget is given")

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        return {"score": "front", "strokes": 400, "aimed": 0.7, "neutral": True, "batch": 8}

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        found: dict[str, Idle] = {}
        if self.score == "front":
            found |= dict.fromkeys(("selection", "leaders"), Idle("with score 'front'", "choose 'mean' or 'max'"))
        else:
            found["highest_risk"] = Idle("with score 'mean' or 'max'", "choose 'front'")
        if not self.depths:
            found["coded"] = Idle("without codings", "set depths to 1 or more")
        if not self.swappings:
            found["swap_step"] = Idle("without rank swappings", "set swappings to 1 or more")
        if not self.crossover_rate:
            found |= dict.fromkeys(("leaders", "longest"), Idle("without crossovers", "set crossover_rate above 0"))
        return found

    def obstacle(self, table: Table) -> str:
        if not bool(table.kept.all()):
            return "the table holds suppressed records, which cannot be bred; search before suppressing"
        lacking = no_categories(table, self.columns)
        return lacking or next(filter(None, (misfit(rule, self.encoding(table)) for rule in self.forbidden)), "")

    def encoding(self, table: Table) -> MaskedFileEncoding:
        return MaskedFileEncoding(table, tuple(readable(table, self.columns)))

    def problem(self, encoding: MaskedFileEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table, names = encoding.table, encoding.context.names
        families = PaperFamilies(**{name: getattr(self, name) for name in STARTS})
        constraints = Constraints.of(encoding, self.forbidden)
        first = MethodFiles(constraints, with_others(families, table, names))
        if not len(first):
            raise SearchError("no method makes a first file of this table; allow some codings, swappings or prams")
        return pose(self, encoding.context.pair(table), constraints, first, objective, rng)

    def budget(self) -> Budget:
        return Budget(generations=self.generations)


PAPER = MaskingSearch(generations=2000, crossover_rate=0.5, batch=1)
"""The paper's own way, with the budget it does not print."""

SWIFT = MaskingSearch(generations=600, strokes=200, aimed=0.7, batch=4, neutral=True)
"""Many aimed changes per breeding."""
