"""The search "grouping": which attributes are microaggregated together.

GOMM evolves the grouping and D-GOMM switches useless operators off (Balasch-Masoliver, Muntés-Mulero and Nin 2014).
Ours beside them: no clones, a start from customary groupings, local moves of the best, k as a gene, and with the recipe
`mixed` columns of any kind, in groups that keep what is demanded of the columns an intruder knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from crypsis.masking.partitioning import partitioners
from crypsis.masking.representatives import Representative
from crypsis.measures.objective import Objective
from crypsis.searches.composites.space import Profile, Treatments, truthful
from crypsis.searches.groupings import operators
from crypsis.searches.groupings.fitness import Convention, Evaluator
from crypsis.searches.groupings.mixed import (
    COMPOSITE,
    LossAndLinkage,
    MixedCandidates,
    Parts,
    fixed_obstacle,
    rungs,
    together,
    units,
)
from crypsis.searches.groupings.operators import GroupingCandidates, customary, genome_of
from crypsis.searches.search import Idle, ObjectiveScores, Search, privacy_models, searches
from crypsis.table.attribute import Attribute
from crypsis.table.precision import mean_filled
from crypsis.table.table import Table

PAPER_CONVENTION = {"scaling": "range", "ending": "gomm", "metric": "manhattan", "interval": "value"}
_PAPER = {"convention": "paper", "copies": 0, "start": "random", "spread": "uniform", "climbs": 0}
RECIPES: dict[str, dict[str, Any]] = {
    "paper": _PAPER,
    "dynamic": {**_PAPER, "muting": True, "muting_window": 20},
    "best": {},
    "pareto": {"select": "dominance", "climbs": 0},
    "mixed": {
        "partitioner": COMPOSITE,
        "select": "dominance",
        "population": 30,
        "crossovers": 2,
        "group_creates": 1,
        "group_eliminates": 1,
        "group_splits": 1,
        "element_swaps": 1,
        "element_moves": 2,
        "resizes": 3,
        "climbs": 0,
    },
}
"""What each recipe sets; a setting given by hand always wins."""
OF_NUMBERS = ("convention", "scaling", "ending", "metric", "interval", "interval_weight", "missing")
OF_ANY_KIND = ("truthful", "numbers", "categories", "refinements")
"""Settings that only recipes of numbers, and only the recipe of columns of any kind have a use for."""
EXPLORING, MOST_EFFORT = 2, 12
"""Effort with which a new grouping is judged at most, and the largest there is."""
WORK_TOGETHER = 10_000_000
"""Pairs of records that are compared in one quantum, about, where numbers are grouped."""

# -- Why columns cannot be grouped, in a sentence with the remedy.


def number_obstacle(table: Table, names: Sequence[str], missing: str) -> str:
    """Why columns cannot be averaged group by group; empty if they can.

    missing  what is done with missing values: "keep", "refuse" or "mean"
    """
    words = [name for name in names if not table.holds_numbers(name)]
    values = table.numbers(tuple(name for name in names if name not in words))[table.kept]
    if words:
        return (
            f"{_cite(words, 'does', 'do')} not hold numbers and this recipe averages; take only numeric columns into "
            f'the grouping, or set recipe = "mixed"'
        )
    if len(names) < 2:
        other = "set recipe = \"mixed\" to group columns of any kind, or use the masking method 'microaggregation'"
        return _too_few(names, "no numeric quasi-identifier is", f", {other}")
    gaps = [name for name, column in zip(names, values.T, strict=True) if np.isnan(column).any()]
    if gaps and missing == "refuse":
        return (
            f"{_cite(gaps, 'has', 'have')} missing values and distances need numbers; drop those records, give "
            f'the column another role, or set missing = "keep"'
        )
    unusable = np.atleast_1d(np.isinf(values).any(axis=0) | np.isnan(values).all(axis=0))
    if unusable.any():
        broken = [name for name, bad in zip(names, unusable, strict=True) if bad]
        return f"{_cite(broken, 'holds', 'hold')} infinite values or nothing at all; mend the column or leave it out"
    return ""


def column_obstacle(table: Table, names: Sequence[str]) -> str:
    """Why columns of any kind cannot be masked group by group; empty if they can."""
    for name in names:
        if table.level(name) != 0:
            return f"column {name!r} is already generalised and grouping needs values as collected; leave it out"
        if table.attribute(name).numeric and np.isinf(table.column(name)[table.kept]).any():
            return f"column {name!r} has infinite values, which have no distance; correct them or leave it out"
    return _too_few(names, "no quasi-identifier is", ", or use the search 'composite'") if len(names) < 2 else ""


def _too_few(names: Sequence[str], none: str, other: str) -> str:
    """Why one column or none is no grouping, with what to do instead."""
    found = f"only {names[0]!r} is" if names else none
    return (
        f"{found} there to be grouped and a grouping needs at least two columns; give more columns the role "
        f"'quasi'{other}"
    )


def _cite(names: list[str], one: str, several: str) -> str:
    """'column 'a' has', or 'columns 'a', 'b' have'."""
    return f"column{'s' if len(names) > 1 else ''} {listing(map(repr, names))} {several if len(names) > 1 else one}"


# -- The search "grouping": which attributes are microaggregated together.
#
# GOMM evolves the grouping and D-GOMM switches useless operators off (Balasch-Masoliver, Muntés-Mulero and Nin 2014).
# Ours beside them: no clones, a start from customary groupings, local moves of the best, k as a gene, and with the
# recipe `mixed` columns of any kind, in groups that keep what is demanded of the columns an intruder knows.


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
    purpose: ClassVar[str] = "which columns are masked together"
    pace: ClassVar[int] = 4

    recipe: Literal["best", "paper", "dynamic", "pareto", "mixed"] = Field(
        default="best",
        description="best: no clones, customary start, elites improved by local moves; paper: GOMM as published; "
        "dynamic: D-GOMM; pareto: selection by dominance over loss and risk; mixed: columns of any kind, those an "
        "intruder knows in one group. Sets what is not set by hand",
    )
    k: int = Field(default=5, ge=2, description="least number of records in a cluster of each attribute group")
    largest_k: int = Field(default=0, ge=0, description="let k evolve between k and this; 0 keeps k as it is")
    columns: tuple[str, ...] = Field(
        default=(),
        description="columns to group; empty means every numeric quasi-identifier, or with the recipe mixed every one",
    )
    convention: Literal["default", "paper"] = Field(
        default="default",
        description="default: z-scores, Euclidean, k-anonymous clusters, intervals by rank; paper: range, Manhattan, "
        "the paper's last cluster, intervals by value. Sets what is not set by hand",
    )
    scaling: Literal["z", "range"] = Field(default="z", description="common scale of the attributes")
    partitioner: str = Field(
        default="mdav",
        description="registered partitioner that clusters the records; with the recipe mixed also composite, which "
        "anneals on cell loss itself",
    )
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
        default=0, ge=0, le=100_000, description="candidates to begin with; the best of them stay; 0: as the population"
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
    truthful: bool = Field(
        default=False, description="with the recipe mixed: publish nothing that is false of a record"
    )
    numbers: Literal["calibrated", "mean", "median"] = Field(
        default="calibrated",
        description="with the recipe mixed: what the numbers of a cluster become; calibrated keeps distributions, "
        "totals and covariances",
    )
    categories: Literal["calibrated", "cheapest", "typical", "marginal"] = Field(
        default="calibrated",
        description="with the recipe mixed: what the categories of a cluster become: a value of the cluster that keeps "
        "counts and how columns go together; the common ancestor or the most frequent value, whichever loses less; the "
        "typical value; or one that keeps the distribution",
    )
    refinements: int = Field(
        default=6,
        ge=0,
        le=10_000,
        description="with the recipe mixed: groupings whose clusters are made better, per generation",
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
        return {**(PAPER_CONVENTION if settings.get("convention") == "paper" else {}), **settings}

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        found: dict[str, Idle] = {}
        if self.largest_k <= self.k:
            found["resizes"] = Idle("while k is fixed", "set largest_k above k")
        if not self.climbs:
            found |= dict.fromkeys(("climb_breadth", "elites"), Idle("without climbs", "set climbs to 1 or more"))
        if not self.muting:
            found |= dict.fromkeys(("muting_after", "muting_window"), Idle("without muting", "set muting = true"))
        if self.mixed:
            found |= dict.fromkeys(OF_NUMBERS, Idle("with the recipe 'mixed'", "choose another recipe"))
            if self.truthful:
                found["numbers"] = found["categories"] = Idle("with truthful", "set truthful to false")
        else:
            found |= dict.fromkeys(OF_ANY_KIND, Idle("without the recipe 'mixed'", "choose that recipe"))
        if self.partitioner != "mdav" and not self.mixed:
            found |= dict.fromkeys(("ending", "metric"), Idle("without partitioner 'mdav'", "choose that one"))
        if 0 < self.first <= self.population:
            found["first"] = Idle(f"up to a population of {self.population}", "begin with more")
        followed = self._followed({"recipe": self.recipe} | ({} if self.mixed else {"convention": self.convention}))
        return {name: why for name, why in found.items() if followed.get(name) != getattr(self, name)}

    # -- a first plan --

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        records = int(table.kept.sum())
        return {"recipe": "mixed", "k": k} | ({"largest_k": min(10 * k, records // 2)} if records >= 4 * k else {})

    @classmethod
    def drawback(cls, table: Table) -> str:
        return (
            "k over all quasi-identifiers leaves all columns in one group; see the two forms above that let it mask "
            "columns apart"
        )

    # -- posing --

    @property
    def mixed(self) -> bool:
        """Whether columns of any kind are grouped."""
        return self.recipe == "mixed"

    def names(self, table: Table) -> tuple[str, ...]:
        """The columns to be grouped.

        Parameters
        ----------
        table : Table
            The table; only numeric columns can be grouped, with the recipe mixed columns of any kind.

        Returns
        -------
        tuple of str
            Without those that are locked.
        """
        known = [name for name in table.quasi_identifiers if self.mixed or table.holds_numbers(name)]
        locked = [name for name in table.names if table.attribute(name).locked]
        return tuple(name for name in self.columns or known if name not in locked)

    def obstacle(self, table: Table) -> str:
        records = int(table.kept.sum())
        if self.largest_k and self.largest_k < self.k:
            return f"k may not evolve from {self.k} to {self.largest_k}; give largest_k of at least k, or 0"
        if self.partitioner == COMPOSITE and not self.mixed:
            return "the partitioner composite needs columns of any kind; set recipe to mixed"
        try:
            names = self.names(table)
            found = column_obstacle(table, names) if self.mixed else number_obstacle(table, names, self.missing)
        except TableError as error:
            return str(error)
        if found:
            return found
        if records < max(self.k, self.largest_k):
            return (
                f"{records} records cannot form a cluster of {max(self.k, self.largest_k)}; choose a smaller k "
                f"or give more records"
            )
        least = max((model.least_class_size for model in self.demanded), default=self.k)
        return fixed_obstacle(table, names, self.demanded, max(self.k, least)) if self.mixed else ""

    def encoding(self, table: Table) -> GroupingEncoding:
        names = self.names(table)
        if self.mixed:
            return GroupingEncoding(table, names)
        values = table.numbers(names)[table.kept]
        return GroupingEncoding(table, names, mean_filled(values) if self.missing == "mean" else values)

    def problem(self, encoding: GroupingEncoding, objective: Objective | None, rng: Generator) -> Problem:
        if encoding.values is None:
            return self._mixed_problem(encoding, objective, rng)
        values = mean_filled(encoding.values)
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
            ready=evaluator.ready,
            together=max(1, WORK_TOGETHER // len(values) ** 2),
            facts=evaluator.facts,
            notes={"recipe": self.recipe, "columns": list(encoding.names), "generations": self.generations},
        )

    def _mixed_problem(self, encoding: GroupingEncoding, objective: Objective | None, rng: Generator) -> Problem:
        """Columns of any kind: the units that demands leave are grouped, and clusters are worked out by quanta."""
        table, names = encoding.table, encoding.names
        attributes = [table.attribute(name) for name in names]
        models = self.demanded or (() if objective is None else privacy_models(objective))
        bound = units(table, names, models, [rule.columns for rule in self.rules])
        profile = self._profile(attributes)
        treatments = tuple(dict.fromkeys((profile, *Treatments.of(attributes, profile, self.truthful).wholes)))
        sizes = rungs(self.k, self.largest_k)
        candidates = MixedCandidates(
            encoding,
            Parts(table, names, bound, tuple(models), treatments[0], self.partitioner, sizes, self.memory),
            GroupingCandidates(len(bound), self.k, sizes[-1], self.spread, sizes),
            treatments,
        )
        size = max(self.first, self.population)
        own = LossAndLinkage.of(candidates, self.intruders)
        return Problem(
            key=candidates.key,
            strategy=self._strategy(candidates.groupings),
            start=candidates.first(size, self.start == "customary", rng),
            evaluate=own if objective is None else ObjectiveScores(encoding, objective, candidates.express),
            objectives=("loss", "risk"),
            express=candidates.express,
            variants=candidates.variants if len(treatments) > 1 else None,
            ready=candidates.ready,
            facts=candidates.facts,
            together=together(table, len(names)),
            notes={
                "recipe": self.recipe,
                "columns": list(names),
                "units": [[names[j] for j in unit] for unit in bound],
            },
        )

    def _profile(self, attributes: Sequence[Attribute]) -> Profile:
        """What a cluster publishes in each column."""
        if self.truthful:
            return tuple(truthful(each) for each in attributes)
        return tuple(Representative(self.numbers if each.numeric else self.categories) for each in attributes)

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
            resize = operators.resize_operator(candidates.k, candidates.largest_k, candidates.rungs)
            listed.append((resize, self.resizes))
        applications = [Application(self._carried(operator), times) for operator, times in listed if times]
        if self.climbs:
            climb = self._carried(operators.Climb(self.climb_breadth))
            applications.append(Application(climb, self.climbs, self.elites))
        if self.mixed and self.refinements:
            applications.append(Application(operators.Refine(MOST_EFFORT), self.refinements))
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

    def _carried(self, operator: Operator) -> Operator:
        """The operator on the candidates of the recipe."""
        return operators.Carried(operator, EXPLORING) if self.mixed else operator
