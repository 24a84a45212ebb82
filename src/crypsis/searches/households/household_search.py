"""The search "households": groups of households, and inside them groups of records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.households import HouseholdEncoding
from crypsis.evolution import Genome, Problem, Scores
from crypsis.masking.representatives import Representative
from crypsis.masking.scaling import scaling_strata
from crypsis.measures.objective import Objective
from crypsis.privacy.households import HouseholdKAnonymity
from crypsis.privacy.model import PrivacyModel
from crypsis.privacy.persons import PersonKAnonymity
from crypsis.searches.chains import KGridSearch
from crypsis.searches.composite.space import true_representative_in_space
from crypsis.searches.households.annealing import HouseholdChains, within_household_suppression
from crypsis.searches.households.space import HouseholdSpace
from crypsis.searches.search import DecodedScores, Idle, ObjectiveScores, models_a_search_serves, searches
from crypsis.table.attribute import attribute_weights
from crypsis.table.households import household_level_columns, household_obstacle, read_households
from crypsis.table.suppression import allowed_records
from crypsis.table.table import Table


@searches.add("households")
class HouseholdSearch(KGridSearch):
    """Which households should become alike, and which of their records? Groups of at least k households, nested.

    Columns with one value within every household publish one value for a group of at least k households, so that no
    household contradicts itself; the others one for each group of records inside it, which are of at least k households
    too. With `whole` households of one size are grouped and their members paired: each shares the values of all its
    members with k. The same holds of persons with several records, such as visits.

    Notes
    -----
    - Formula: nested groups minimise the weighted information loss of their means and most frequent values; front of
      loss and class risk over a grid of k
    - Paper: own; annealing as in the search composite
    - Cost: anytime; a change costs O(k p), of whole households O(k p m) with m members
    - Departures: own method; where fewer than k households are as large, each leaves out a member

    Examples
    --------
    >>> home = np.repeat(np.arange(60), np.arange(60) % 3 + 1)
    >>> columns = {"rooms": (home * 7 % 5).astype(float), "age": (np.arange(len(home)) * 37 % 80) + 1.0, "home": home}
    >>> roles = {"rooms": "quasi", "age": "quasi", "home": "household"}
    >>> survey = crypsis.Table.from_columns(columns, roles=roles)
    >>> search = crypsis.HouseholdSearch(k=3, k_values=1, whole=True)
    >>> run = crypsis.evolve(survey, search=search, budget="4 generations", seed=1)
    >>> min(int(solution.facts["household_k"]) for solution in run.front if not solution.baseline)
    3
    """

    purpose: ClassVar[str] = "groups of at least k households, and of records inside them: none contradicts itself"
    leads: ClassVar[bool] = True
    keeps_households: ClassVar[bool] = True
    groups_households: ClassVar[bool] = True

    whole: bool = Field(
        default=False,
        description="whether households of one size are grouped with all their members, so that each shares the values "
        "of all members with k; a demand of household-k-anonymity sets it too",
    )
    truthful: bool = Field(
        default=False,
        description="publish nothing that is false of a record: common ancestors, or without a hierarchy the value "
        "that all records of a group share, else nothing",
    )
    suppression: float = Field(
        default=0.01,
        ge=0,
        le=1,
        description="share of the records that may be left out where fewer than k households are as large",
    )
    chains_per_generation: int = Field(default=2, ge=1, le=1000, description="group sizes advanced in one generation")
    generations: int = Field(default=200, ge=1, description="generations, where no other budget is given")

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        idle = dict(super().idle(guided))
        if self.k_values == 1:
            idle["chains_per_generation"] = Idle("with a single k", "set k_values to 2 or more")
        if not self.whole:
            idle["suppression"] = Idle("where households are not grouped whole", "set whole to true")
        return idle

    def obstacle(self, table: Table) -> str:
        wrong = household_obstacle(table, self._household())
        if wrong:
            return wrong
        names = self.names(table)
        for name in names:
            if table.level(name) != 0:
                return f"column {name!r} is already generalised and grouping needs values as collected; leave it out"
            column = table.column(name)
            if table.attribute(name).numeric and np.isinf(column[table.kept]).any():
                return f"column {name!r} has infinite values, which have no distance; correct them or leave it out"
        shared = household_level_columns(table, names, self._household())
        for name in names:
            if table.attribute(name).locked and name not in shared:
                return f"column {name!r} is locked and differs within households; unlock it or name other columns"
        households = len(np.unique(read_households(table, self._household())[table.kept]))
        if households < self.k:
            return f"{households} households cannot form a group of {self.k}; choose a smaller k"
        if not shared and not self._is_whole(self.demanded_models):
            return (
                "no column has one value within every household; name the search composite, or set whole to true to "
                "group households with all their members"
            )
        return super().obstacle(table)

    def _household(self) -> str:
        """The column that says which records belong together, where a demand names one."""
        named = [each.household for each in self.demanded_models if isinstance(each, HouseholdKAnonymity)]
        named += [each.person for each in self.demanded_models if isinstance(each, PersonKAnonymity)]
        return next(filter(None, named), "")

    def _is_whole(self, models: tuple[PrivacyModel, ...]) -> bool:
        return self.whole or any(isinstance(each, HouseholdKAnonymity) for each in models)

    def encoding(self, table: Table) -> HouseholdEncoding:
        names, named = self.open_names(table), self._household()
        home = np.unique(read_households(table, named)[table.kept], return_inverse=True)[1].astype(np.int64)
        return HouseholdEncoding(table, names, household_level_columns(table, names, named), home)

    def problem(self, encoding: HouseholdEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table, names = encoding.table, encoding.names
        models = self.demanded_models or (() if objective is None else models_a_search_serves(objective))
        attributes = [table.attribute(name) for name in names]
        locked = scaling_strata(table, self.names(table))
        first = np.unique(encoding.home, return_index=True)[1]
        space = HouseholdSpace(
            table=table,
            names=names,
            shared=encoding.shared,
            profile=tuple(
                true_representative_in_space(each) if self.truthful else Representative.CALIBRATED
                for each in attributes
            ),
            weights=attribute_weights(attributes),
            home=encoding.home,
            strata=np.zeros(len(first), np.int32) if locked is None else locked[first],
            models=tuple(each for each in models if not isinstance(each, (HouseholdKAnonymity, PersonKAnonymity))),
            whole=self._is_whole(models),
        )
        k_grid = self._grid_of_households(space, models)
        chains = HouseholdChains(space, k_grid, self.chains_per_generation)
        own: OwnHouseholdScores | DecodedScores = OwnHouseholdScores(encoding, space)
        scores = own if objective is None else ObjectiveScores(encoding, objective)
        return Problem(
            key=encoding.key,
            strategy=chains,
            start=chains.first,
            evaluate=scores.in_tasks(encoding.key, len(table)) if isinstance(scores, DecodedScores) else scores,
            objectives=("loss", "risk"),
            remember=20 * len(k_grid),
            notes={"k": list(k_grid), "columns": list(names), "household_columns": list(encoding.shared)},
        )

    def _grid_of_households(self, space: HouseholdSpace, models: tuple[PrivacyModel, ...]) -> tuple[int, ...]:
        """The values of k, of which none is below what is demanded or above the households of a stratum."""
        least = max([1, *(each.least_class_size for each in models)])
        least = max([least, *(each.k for each in models if isinstance(each, HouseholdKAnonymity))])
        most = int(np.bincount(space.strata).min())
        sizes = self.spaced_sizes(len(space.sizes))
        if self.k_values > 1 and self.k < self.safe_k <= len(space.sizes):
            sizes = tuple(sorted({*sizes, self.safe_k}))
        grid = tuple(dict.fromkeys(min(max(k, least), most) for k in sizes))
        if not space.whole:
            return grid
        return within_household_suppression(space, grid, allowed_records(self.suppression, len(space)))

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        return {"k": k}


@dataclass(frozen=True, eq=False)
class OwnHouseholdScores:
    """(information loss, classes among records), per cent, read from the groups alone: what the search minimises."""

    encoding: HouseholdEncoding
    space: HouseholdSpace = field(repr=False)

    def __call__(self, candidate: Genome) -> Scores:
        genes = self.encoding.genes(candidate)
        lost, records = self.space.cost_of_groups(genes.homes, genes.classes), len(genes.homes)
        kept = max(int((genes.homes >= 0).sum()), 1)
        classes = int(genes.classes.max(initial=-1)) + 1
        return 100.0 * lost / (records * sum(self.space.weights)), 100.0 * classes / kept
