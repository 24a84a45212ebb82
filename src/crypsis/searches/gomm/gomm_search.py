"""GOMM and D-GOMM (Balasch-Masoliver, Muntés-Mulero and Nin 2014): which attributes are microaggregated together.

GOMM evolves the grouping of numeric attributes and D-GOMM switches useless operators off. Ours beside them: no clones,
a start from groupings by heuristics, local search around the best, and k as a gene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, model_validator

from crypsis.encodings.grouping import GroupingEncoding
from crypsis.encodings.partition import genome_of_listed_groups
from crypsis.errors import SearchError, TableError, listing
from crypsis.evolution import Application, Budget, Elitist, Genome, Muting, Operator, Problem
from crypsis.evolution.selection import DominanceOrder, WeightedMean
from crypsis.masking.method import Family
from crypsis.masking.microaggregation import explain_impossible_microaggregation
from crypsis.masking.partitioning import partitioners
from crypsis.measures.numeric_loss import fill_numeric_means
from crypsis.measures.objective import Objective
from crypsis.searches.gomm import operators
from crypsis.searches.gomm.fitness import Convention, Evaluator
from crypsis.searches.gomm.operators import GroupingCandidates, heuristic_gomm_groupings
from crypsis.searches.search import Idle, ObjectiveScores, Search, searches
from crypsis.table.table import Table

PAPER_CONVENTION = {"scaling": "range", "ending": "gomm", "metric": "manhattan", "interval": "value"}
_PAPER = {"convention": "paper", "copies": 0, "start": "random", "initial_groups": "uniform", "local_searches": 0}
RECIPES: dict[str, dict[str, Any]] = {
    "paper": _PAPER,
    "dynamic": {**_PAPER, "disable_operators": True, "disable_window": 20},
    "best": {},
    "pareto": {"select": "dominance", "local_searches": 0},
}
"""What each recipe sets; a setting given by hand always wins."""
BATCH_PAIRS = 10_000_000
"""Pairs of records that are compared in one quantum, about."""

Population = Annotated[int, Field(ge=2, le=100_000, description="members of the population")]
Crossovers = Annotated[int, Field(ge=0, le=10_000, description="crossovers per generation, two children each")]
GroupCreates = Annotated[int, Field(ge=0, le=10_000, description="new random groups per generation")]
GroupEliminates = Annotated[int, Field(ge=0, le=10_000, description="dissolved groups per generation")]
GroupSplits = Annotated[int, Field(ge=0, le=10_000, description="split groups per generation")]
ElementSwaps = Annotated[int, Field(ge=0, le=10_000, description="swaps of two attributes per generation")]
ElementMoves = Annotated[int, Field(ge=0, le=10_000, description="moves of one attribute per generation")]
KMutations = Annotated[int, Field(ge=0, le=10_000, description="changes of k per generation, where k may evolve")]
LocalSearches = Annotated[int, Field(ge=0, le=10_000, description="elites improved by local search per generation")]
Selection = Annotated[Literal["score", "dominance"], Field(description="survivors by score or by dominance")]


class GroupingSearch(Search):
    """What searches over groupings of columns share: k, the population, and how often each operator is applied."""

    family: ClassVar[Family] = Family.AGGREGATION

    k: int = Field(default=5, ge=2, description="least number of records in a cluster of each attribute group")
    largest_k: int = Field(default=0, ge=0, description="let k evolve between k and this; 0 keeps k as it is")
    loss_weight: float = Field(
        default=0.5, ge=0, le=1, description="weight of the loss in the score; the risk has the rest"
    )
    generations: int = Field(default=100, ge=1, description="generations, where no other budget is given")
    population: Population = 200
    initial_population: int = Field(
        default=0, ge=0, le=100_000, description="candidates to begin with; the best of them stay; 0: as the population"
    )
    crossovers: Crossovers = 25
    group_creates: GroupCreates = 10
    group_eliminates: GroupEliminates = 10
    group_splits: GroupSplits = 10
    element_swaps: ElementSwaps = 10
    element_moves: ElementMoves = 10
    k_mutations: KMutations = 10
    local_searches: LocalSearches = 10
    local_search_size: int = Field(default=10, ge=1, le=10_000, description="neighbours tried at each local search")
    elites: int = Field(default=5, ge=1, le=10_000, description="how many of the best are improved by local search")
    select: Selection = "score"
    copies: int = Field(
        default=1, ge=0, description="how often the same grouping may be in the population; 0: without limit"
    )
    start: Literal["heuristic", "random"] = Field(
        default="heuristic",
        description="heuristic: begin with the groupings people choose (all in one, each alone, by correlation), the "
        "rest at random; random: all at random, as in the paper",
    )
    initial_groups: Literal["uniform", "log-uniform"] = Field(
        default="log-uniform",
        description="random groupings: every attribute into one of as many groups as attributes, which makes many "
        "small groups, as in the paper (uniform), or into one of a random number of groups (log-uniform)",
    )
    disable_operators: bool = Field(
        default=False, description="disable operators that did no useful work, as D-GOMM does"
    )
    disable_after: int = Field(default=20, ge=1, description="generation from which operators may be disabled")
    disable_window: int = Field(default=10, ge=1, description="generations without useful work before disabling")
    memory: float = Field(default=64.0, ge=0, description="megabytes for attribute groups already worked out")

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        found: dict[str, Idle] = {}
        if self.largest_k <= self.k:
            found["k_mutations"] = Idle("while k is fixed", "set largest_k above k")
        if not self.local_searches:
            without = Idle("without local search", "set local_searches to 1 or more")
            found |= dict.fromkeys(("local_search_size", "elites"), without)
        if not self.disable_operators:
            without = Idle("without disable_operators", "set disable_operators = true")
            found |= dict.fromkeys(("disable_after", "disable_window"), without)
        if 0 < self.initial_population <= self.population:
            found["initial_population"] = Idle(f"up to a population of {self.population}", "begin with more")
        return found

    def budget(self) -> Budget:
        return Budget(generations=self.generations)

    def _k_obstacle(self, table: Table) -> str:
        """Why k cannot be kept on a table; empty if it can."""
        records, largest = int(table.kept.sum()), max(self.k, self.largest_k)
        if self.largest_k and self.largest_k < self.k:
            return f"k may not evolve from {self.k} to {self.largest_k}; give largest_k of at least k, or 0"
        if records < largest:
            return f"{records} records cannot form a cluster of {largest}; choose a smaller k or give more records"
        return ""

    def _strategy(self, k_mutation: Operator | None, *more: Application) -> Elitist:
        """Every operator as often as is set, the operator on k where k may evolve, and others."""
        listed: list[tuple[Operator, int]] = [
            (operators.Crossover(), self.crossovers),
            (operators.GroupCreate(), self.group_creates),
            (operators.GroupEliminate(), self.group_eliminates),
            (operators.GroupSplit(), self.group_splits),
            (operators.ElementSwap(), self.element_swaps),
            (operators.ElementMove(), self.element_moves),
        ]
        if k_mutation is not None:
            listed.append((k_mutation, self.k_mutations))
        applications = [Application(self._adapt(operator), times) for operator, times in listed if times]
        if self.local_searches:
            local = self._adapt(operators.LocalSearch(self.local_search_size))
            applications.append(Application(local, self.local_searches, self.elites))
        applications += more
        if not applications:
            raise SearchError(f"search {searches.name_of(self)!r}: every operator is set to 0; let at least one work")
        return Elitist(
            size=self.population,
            applications=tuple(applications),
            fitness=WeightedMean((self.loss_weight, 1.0 - self.loss_weight)),
            order=DominanceOrder() if self.select == "dominance" else None,
            copies=self.copies,
            muting=Muting(self.disable_after, self.disable_window) if self.disable_operators else None,
        )

    def _adapt(self, operator: Operator) -> Operator:
        """The operator on groupings as it works on the candidates of the search."""
        return operator


# -- GOMM and D-GOMM: groupings of numbers.


def _number_obstacle(table: Table, names: Sequence[str], missing: str) -> str:
    """Why columns cannot be averaged group by group; empty if they can."""
    words = [name for name in names if not table.holds_numbers(name)]
    values = table.numbers(tuple(name for name in names if name not in words))[table.kept]
    if words:
        return (
            f"{_cite(words, 'does', 'do')} not hold numbers and this search averages; take only numeric columns into "
            f"the grouping, or use the search 'mixed-grouping'"
        )
    if len(names) < 2:
        other = ", use the search 'mixed-grouping' for columns of any kind, or the masking method 'microaggregation'"
        return explain_impossible_microaggregation(names, "no numeric quasi-identifier is", other)
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


def _cite(names: list[str], one: str, several: str) -> str:
    """'column 'a' has', or 'columns 'a', 'b' have'."""
    return f"column{'s' if len(names) > 1 else ''} {listing(map(repr, names))} {several if len(names) > 1 else one}"


@dataclass(frozen=True)
class ClusterEncoder:
    """A grouping becomes a genome that holds its clusters, so that decoding only averages."""

    encoding: GroupingEncoding
    evaluator: Evaluator

    def __call__(self, candidate: Genome) -> Genome:
        return self.encoding.encode(candidate, self.evaluator.clusters(candidate))


@searches.add("gomm")
class GommSearch(GroupingSearch):
    """Which numeric attributes should be microaggregated together? Groups lose less than all in one, and can be linked.

    All in one group keeps k-anonymity and loses most. GOMM (2014) evolves the grouping; D-GOMM switches useless
    operators off on the way.

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
    >>> search = crypsis.GommSearch(k=3, population=10)
    >>> search.names(table)
    ('age', 'hours')
    >>> run = crypsis.evolve(table, search=search, budget="2 generations", seed=1)
    >>> {solution.title for solution in run.front if not solution.baseline}
    {'gomm'}
    """

    recipe: Literal["best", "paper", "dynamic", "pareto"] = Field(
        default="best",
        description="best: no clones, start by heuristics, elites improved by local search; paper: GOMM as published; "
        "dynamic: D-GOMM; pareto: selection by dominance over loss and risk. Sets what is not set by hand",
    )
    columns: tuple[str, ...] = Field(
        default=(), description="columns to group; empty means every numeric quasi-identifier"
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
    interval_weight: float = Field(
        default=0.5, ge=0, le=1, description="weight of interval disclosure in the risk; linkage has the rest"
    )
    missing: Literal["keep", "refuse", "mean"] = Field(
        default="keep",
        description="missing values: keep them missing and blank a column for a whole cluster that lacks some; refuse; "
        "or fill in the column's mean",
    )

    @model_validator(mode="before")
    @classmethod
    def _apply_recipe(cls, given: Any) -> Any:
        return cls._with_recipe(given) if isinstance(given, dict) else given

    @staticmethod
    def _with_recipe(given: dict[str, Any]) -> dict[str, Any]:
        """What was given, and what its recipe and convention set beside it."""
        recipe = given.get("recipe", "best")
        settings = {**(RECIPES.get(recipe, {}) if isinstance(recipe, str) else {}), **given}
        return {**(PAPER_CONVENTION if settings.get("convention") == "paper" else {}), **settings}

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        found = dict(super().idle(guided))
        if self.partitioner != "mdav":
            found |= dict.fromkeys(("ending", "metric"), Idle("without partitioner 'mdav'", "choose that one"))
        set_by_recipe = self._with_recipe({"recipe": self.recipe, "convention": self.convention})
        return {name: why for name, why in found.items() if set_by_recipe.get(name) != getattr(self, name)}

    def names(self, table: Table) -> tuple[str, ...]:
        """The columns to be grouped.

        Parameters
        ----------
        table : Table
            The table; only numeric columns can be grouped.

        Returns
        -------
        tuple of str
            Without those that are locked.
        """
        known = [name for name in table.quasi_identifiers if table.holds_numbers(name)]
        locked = [name for name in table.names if table.attribute(name).locked]
        return tuple(name for name in self.columns or known if name not in locked)

    def obstacle(self, table: Table) -> str:
        try:
            return _number_obstacle(table, self.names(table), self.missing) or self._k_obstacle(table)
        except TableError as error:
            return str(error)

    def encoding(self, table: Table) -> GroupingEncoding:
        names = self.names(table)
        values = table.numbers(names)[table.kept]
        return GroupingEncoding(table, names, fill_numeric_means(values) if self.missing == "mean" else values)

    def problem(self, encoding: GroupingEncoding, objective: Objective | None, rng: Generator) -> Problem:
        assert encoding.values is not None
        values = fill_numeric_means(encoding.values)
        evaluator = Evaluator(values, self.scoring_convention(), self.memory, absent=np.isnan(encoding.values))
        largest_k = max(self.k, self.largest_k)
        candidates = GroupingCandidates(len(encoding.names), self.k, largest_k, self.initial_groups)
        encode = ClusterEncoder(encoding, evaluator)
        return Problem(
            key=candidates.key,
            strategy=self._strategy(operators.KMutation(self.k, largest_k) if largest_k > self.k else None),
            start=self._start(candidates, values, rng),
            evaluate=evaluator if objective is None else ObjectiveScores(encoding, objective, encode),
            objectives=("loss", "risk"),
            assess=evaluator.assess if objective is None else None,
            express=encode,
            ready=evaluator.ready,
            together=max(1, BATCH_PAIRS // len(values) ** 2),
            facts=evaluator.facts,
            notes={"recipe": self.recipe, "columns": list(encoding.names), "generations": self.generations},
        )

    def scoring_convention(self) -> Convention:
        """What exactly is scaled, clustered and counted."""
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
        """The groupings by heuristics, one group and univariate first, if asked for; the rest at random."""
        p = candidates.attributes
        listed = heuristic_gomm_groupings(values) if self.start == "heuristic" else []
        size = max(self.initial_population, self.population)
        fixed = [genome_of_listed_groups(groups, p, self.k) for groups in listed[: max(2, size // 2)]]
        if candidates.largest_k > candidates.k:
            for genome in fixed[2:]:
                genome[-1] = candidates.draw_k(rng)
        return (*fixed, *candidates.draw(rng, max(0, size - len(fixed))))
