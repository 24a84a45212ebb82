"""The search "grouping": which attributes are microaggregated together.

GOMM evolves the grouping and D-GOMM switches useless operators off (Balasch-Masoliver, Muntés-Mulero and Nin 2014).
Ours beside them: no clones, a start from customary groupings, local moves of the best, and k as a gene.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, model_validator

from crypsis.encodings.grouping import GroupingEncoding
from crypsis.errors import SearchError, TableError, listing
from crypsis.evolution import Application, Budget, Elitist, Genome, Muting, Operator, Problem
from crypsis.evolution.selection import DominanceOrder, WeightedMean
from crypsis.masking.method import Family
from crypsis.masking.partition import partitioners
from crypsis.measures.objective import Objective
from crypsis.searches.groupings import operators
from crypsis.searches.groupings.adhoc import customary
from crypsis.searches.groupings.candidates import GroupingCandidates, genome_of
from crypsis.searches.groupings.conventions import Convention
from crypsis.searches.groupings.fitness import Evaluator
from crypsis.searches.search import Idle, ObjectiveScores, Search, searches
from crypsis.table.table import Table

_PAPER_CONVENTION = {"scaling": "range", "ending": "gomm", "metric": "manhattan", "interval": "value"}
_PAPER = {"convention": "paper", "copies": 0, "start": "random", "spread": "uniform", "climbs": 0}
RECIPES: dict[str, dict[str, Any]] = {
    "paper": _PAPER,
    "dynamic": {**_PAPER, "muting": True},
    "best": {},
    "pareto": {"select": "dominance", "climbs": 0},
}
"""What each recipe sets; a setting given by hand always wins."""


@dataclass(frozen=True)
class Express:
    """A grouping worked out: its clusters beside it, so that decoding only averages."""

    encoding: GroupingEncoding
    evaluator: Evaluator

    def __call__(self, candidate: Genome) -> Genome:
        return self.encoding.encode(candidate, self.evaluator.clusters(candidate))


@searches.add("grouping")
class GroupingSearch(Search):
    """Which attributes should be microaggregated together?

    All together keeps k-anonymity and loses most; groups lose less and can be linked. GOMM (2014) evolves the grouping;
    D-GOMM switches useless operators off on the way.

    Notes
    -----
    - Formula: chromosome: the group of every attribute; score (IL + (ID + DLD)/2)/2
    - Paper: Balasch-Masoliver, Muntés-Mulero and Nin (2014): GOMM and D-GOMM
    - Cost: one microaggregation per changed group of attributes and its linkage, O(n²) at most
    - Departures: the text does not give the tables: range scaling, Manhattan distance and the interval rule of the
      tables are used in the paper's recipe; Equation 7 gets its missing 1 −

    Examples
    --------
    >>> table = crypsis.example(60)
    >>> search = crypsis.GroupingSearch(k=3, population=10)
    >>> search.names(table)
    ('age', 'hours')
    >>> run = crypsis.evolve(table, search=search, budget="2 generations", seed=1)
    >>> {solution.title for solution in run.front if not solution.baseline}
    {'grouping'}
    """

    family: ClassVar[Family] = Family.AGGREGATION
    purpose: ClassVar[str] = "which numeric columns are averaged together"
    pace: ClassVar[int] = 4

    recipe: Literal["best", "paper", "dynamic", "pareto"] = Field(
        default="best",
        description="best: no clones, customary start, elites improved by local moves; paper: GOMM as published; "
        "dynamic: D-GOMM; pareto: selection by dominance over loss and risk. Sets what is not set by hand",
    )
    k: int = Field(default=5, ge=2, description="least number of records in a cluster of each attribute group")
    largest_k: int = Field(default=0, ge=0, description="let k evolve between k and this; 0 keeps k as it is")
    columns: tuple[str, ...] = Field(
        default=(), description="numeric columns to group; empty means every numeric quasi-identifier"
    )
    convention: Literal["default", "paper"] = Field(
        default="default",
        description="default: z-scores, Euclidean, k-anonymous clusters, intervals by rank; paper: range, Manhattan, "
        "the paper's last cluster, intervals by value. Sets what is not set by hand",
    )
    scaling: Literal["z", "range"] = Field(default="z", description="common scale of the attributes")
    partitioner: str = Field(default="mdav", description="registered partitioner that clusters the records")
    ending: Literal["generic", "hybrid", "gomm"] = Field(default="generic", description="MDAV's last clusters")
    metric: Literal["euclidean", "manhattan"] = Field(default="euclidean", description="MDAV's distance")
    interval: Literal["rank", "deviation", "value"] = Field(
        default="rank", description="interval of the disclosure risk"
    )
    loss_weight: float = Field(
        default=0.5, ge=0, le=1, description="weight of the loss in the score; the risk has the rest"
    )
    interval_weight: float = Field(
        default=0.5, ge=0, le=1, description="weight of interval disclosure in the risk; linkage has the rest"
    )
    generations: int = Field(default=100, ge=1, description="generations, where no other budget is given")
    population: int = Field(default=200, ge=2, le=100_000, description="members of the population")
    first: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="candidates to begin with, of which the best stay; 0: as the population",
    )
    crossovers: int = Field(default=25, ge=0, le=10_000, description="crossovers per generation, two children each")
    group_creates: int = Field(default=10, ge=0, le=10_000, description="new random groups per generation")
    group_eliminates: int = Field(default=10, ge=0, le=10_000, description="dissolved groups per generation")
    group_splits: int = Field(default=10, ge=0, le=10_000, description="split groups per generation")
    element_swaps: int = Field(default=10, ge=0, le=10_000, description="swaps of two attributes per generation")
    element_moves: int = Field(default=10, ge=0, le=10_000, description="moves of one attribute per generation")
    resizes: int = Field(default=10, ge=0, le=10_000, description="changes of k per generation, where k may evolve")
    climbs: int = Field(default=10, ge=0, le=10_000, description="elites improved by local moves per generation")
    climb_breadth: int = Field(default=10, ge=1, le=10_000, description="neighbours tried at each improvement")
    elites: int = Field(default=5, ge=1, le=10_000, description="how many of the best are improved by local moves")
    select: Literal["score", "dominance"] = Field(default="score", description="survivors by score or by dominance")
    copies: int = Field(
        default=1, ge=0, description="how often the same grouping may be in the population; 0: without limit"
    )
    spread: Literal["uniform", "wide"] = Field(
        default="wide", description="random groupings with many small groups (uniform) or with any number (wide)"
    )
    start: Literal["customary", "random"] = Field(
        default="customary",
        description="customary: begin with the groupings people choose (all together, each alone, by correlation), the "
        "rest at random; random: all at random, as in the paper",
    )
    muting: bool = Field(default=False, description="switch operators off that did no useful work")
    muting_after: int = Field(default=20, ge=1, description="generation from which operators may be switched off")
    muting_window: int = Field(default=10, ge=1, description="generations without useful work before switching off")
    missing: Literal["keep", "refuse", "mean"] = Field(
        default="keep",
        description="missing values: keep them missing and blank a column for a whole cluster that lacks some; refuse; "
        "or fill in the column's mean",
    )
    memory: float = Field(default=64.0, ge=0, description="megabytes for attribute groups already worked out")

    @model_validator(mode="before")
    @classmethod
    def _follow_recipe(cls, given: Any) -> Any:
        return cls._followed(given) if isinstance(given, dict) else given

    @staticmethod
    def _followed(given: dict[str, Any]) -> dict[str, Any]:
        """What was given, and what its recipe and convention set beside it."""
        recipe = given.get("recipe", "best")
        settings = {**(RECIPES.get(recipe, {}) if isinstance(recipe, str) else {}), **given}
        return {**(_PAPER_CONVENTION if settings.get("convention") == "paper" else {}), **settings}

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        found: dict[str, Idle] = {}
        if self.largest_k <= self.k:
            found["resizes"] = Idle("while k is fixed", "set largest_k above k")
        if not self.climbs:
            found |= dict.fromkeys(("climb_breadth", "elites"), Idle("without climbs", "set climbs to 1 or more"))
        if not self.muting:
            found |= dict.fromkeys(("muting_after", "muting_window"), Idle("without muting", "set muting = true"))
        if self.partitioner != "mdav":
            found |= dict.fromkeys(("ending", "metric"), Idle("without partitioner 'mdav'", "choose that one"))
        if 0 < self.first <= self.population:
            found["first"] = Idle(f"up to a population of {self.population}", "begin with more")
        followed = self._followed({"recipe": self.recipe, "convention": self.convention})
        return {name: why for name, why in found.items() if followed.get(name) != getattr(self, name)}

    # -- a first plan --

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        chosen: dict[str, Any] = {"k": k}
        if len(table) > 20 * k:
            chosen["largest_k"] = 10 * k
        return chosen | ({"population": 30, "climbs": 2} if len(table) > 10_000 else {})

    @classmethod
    def drawback(cls, table: Table) -> str:
        untouched = [name for name in table.quasi_identifiers if not table.attribute(name).numeric]
        if not untouched:
            return ""
        return f"{listing(map(repr, untouched), most=1)} would stay as collected, so k could not hold"

    # -- posing --

    def names(self, table: Table) -> tuple[str, ...]:
        """The columns to be grouped.

        Parameters
        ----------
        table : Table
            The table; only numeric columns can be grouped.

        Returns
        -------
        tuple of str
        """
        return self.columns or tuple(name for name in table.quasi_identifiers if table.holds_numbers(name))

    def obstacle(self, table: Table) -> str:
        try:
            names = self.names(table)
            words = [name for name in names if not table.holds_numbers(name)]
            values = self._values(table, tuple(name for name in names if name not in words))
        except TableError as error:
            return str(error)
        if words:
            return (
                f"{_named(words, 'does', 'do')} not hold numbers and microaggregation averages; take only numeric "
                f"columns into the grouping and protect the others by generalisation or masking"
            )
        if len(names) < 2:
            found = f"only {names[0]!r} is" if names else "no numeric quasi-identifier is"
            return (
                f"{found} there to be grouped and a grouping needs at least two columns; give more columns the role "
                f"'quasi', or use the masking method 'microaggregation'"
            )
        gaps = [name for name, column in zip(names, values.T, strict=True) if np.isnan(column).any()]
        if gaps and self.missing == "refuse":
            return (
                f"{_named(gaps, 'has', 'have')} missing values and distances need numbers; drop those records, give "
                f'the column another role, or set missing = "keep"'
            )
        unusable = np.atleast_1d(np.isinf(values).any(axis=0) | np.isnan(values).all(axis=0))
        if unusable.any():
            broken = [name for name, bad in zip(names, unusable, strict=True) if bad]
            return (
                f"{_named(broken, 'holds', 'hold')} infinite values or nothing at all; mend the column or leave it out"
            )
        if len(values) < max(self.k, self.largest_k):
            return (
                f"{len(values)} records cannot form a cluster of {max(self.k, self.largest_k)}; choose a smaller k "
                f"or give more records"
            )
        if self.largest_k and self.largest_k < self.k:
            return f"k may not evolve from {self.k} to {self.largest_k}; give largest_k of at least k, or 0"
        return ""

    def encoding(self, table: Table) -> GroupingEncoding:
        names = self.names(table)
        values = self._values(table, names)
        return GroupingEncoding(table, names, filled(values) if self.missing == "mean" else values)

    def problem(self, encoding: GroupingEncoding, objective: Objective | None, rng: Generator) -> Problem:
        values = filled(encoding.values)
        evaluator = Evaluator(values, self._convention(), self.memory, absent=np.isnan(encoding.values))
        candidates = GroupingCandidates(len(encoding.names), self.k, max(self.k, self.largest_k), self.spread)
        express = Express(encoding, evaluator)
        return Problem(
            key=candidates.key,
            strategy=self._strategy(candidates),
            start=self._start(candidates, values, rng),
            evaluate=evaluator if objective is None else ObjectiveScores(encoding, objective, express),
            objectives=("loss", "risk"),
            assess=evaluator.assess if objective is None else None,
            express=express,
            facts=evaluator.facts,
            notes={"recipe": self.recipe, "columns": list(encoding.names), "generations": self.generations},
        )

    def budget(self) -> Budget:
        return Budget(generations=self.generations)

    def _convention(self) -> Convention:
        return Convention(
            self.scaling,
            self.ending,
            self.metric,
            self.interval,
            None if self.partitioner == "mdav" else partitioners.build(self.partitioner),
            self.loss_weight,
            self.interval_weight,
        )

    def _values(self, table: Table, names: tuple[str, ...]) -> NDArray[np.float64]:
        return table.numbers(names)[table.kept]

    def _start(self, candidates: GroupingCandidates, values: NDArray[np.float64], rng: Generator) -> tuple[Genome, ...]:
        """The customary groupings, all together and univariate first, if asked for; the rest at random."""
        p = candidates.attributes
        listed = customary(values) if self.start == "customary" else []
        size = max(self.first, self.population)
        fixed = [genome_of(groups, p, self.k) for groups in listed[: max(2, size // 2)]]
        if candidates.largest_k > candidates.k:
            for genome in fixed[2:]:
                genome[-1] = candidates.draw_k(rng)
        return (*fixed, *candidates.draw(rng, max(0, size - len(fixed))))

    def _strategy(self, candidates: GroupingCandidates) -> Elitist:
        listed: list[tuple[Operator, int]] = [
            (operators.Crossover(), self.crossovers),
            (operators.GroupCreate(), self.group_creates),
            (operators.GroupEliminate(), self.group_eliminates),
            (operators.GroupSplit(), self.group_splits),
            (operators.ElementSwap(), self.element_swaps),
            (operators.ElementMove(), self.element_moves),
        ]
        if candidates.largest_k > candidates.k:
            listed.append((operators.Resize(candidates.k, candidates.largest_k), self.resizes))
        applications = [Application(operator, times) for operator, times in listed if times]
        if self.climbs:
            applications.append(Application(operators.Climb(self.climb_breadth), self.climbs, self.elites))
        if not applications:
            raise SearchError("search 'grouping': every operator is set to 0; let at least one work")
        return Elitist(
            size=self.population,
            applications=tuple(applications),
            fitness=WeightedMean((self.loss_weight, 1.0 - self.loss_weight)),
            order=DominanceOrder() if self.select == "dominance" else None,
            copies=self.copies,
            muting=Muting(self.muting_after, self.muting_window) if self.muting else None,
        )


def filled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values with each column's mean where one is missing."""
    rows, columns = np.nonzero(np.isnan(values))
    if not len(rows):
        return values
    complete = values.copy()
    complete[rows, columns] = np.nanmean(values, axis=0)[columns]
    return complete


def _named(names: list[str], one: str, several: str) -> str:
    """'column 'a' has', or 'columns 'a', 'b' have'."""
    return f"column{'s' if len(names) > 1 else ''} {listing(map(repr, names))} {several if len(names) > 1 else one}"
