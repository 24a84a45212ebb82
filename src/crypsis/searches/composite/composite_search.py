"""The search "composite": groups annealed on the information they lose, with calibrated representatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.composite import CompositeEncoding
from crypsis.evolution import Genome, Problem, Scores
from crypsis.kernels.composite import Cells, total_cost
from crypsis.masking.partitioning import LARGE
from crypsis.masking.representatives import Representative, published_by_column
from crypsis.masking.scaling import scaling_strata
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import BoundMeasure
from crypsis.measures.objective import Objective, excess_over_objective_limit, infeasible_objective_scores
from crypsis.privacy.demands import class_demands
from crypsis.searches.chains import KGridSearch
from crypsis.searches.composite.annealing import BEYOND, FAR, WHOLE, ChainGoal, CompositeChains, Start
from crypsis.searches.composite.space import (
    CompositeSpace,
    Profile,
    Treatments,
    cells_of_composite_space,
    true_representative_in_space,
)
from crypsis.searches.partitions.lower_bound import bound_k_by_strata
from crypsis.searches.search import DecodedScores, Idle, ObjectiveScores, models_a_search_serves, searches
from crypsis.table.attribute import Attribute, attribute_weights
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.table import Table
from crypsis.tasks import Tasks, complete

STEER, MOST = 2.0, 100.0
"""A column whose first groups lose more than it may counts the ratio of the two to this power, at most so much."""


@searches.add("composite")
class CompositeSearch(KGridSearch):
    """Which records should become alike, and what should they publish? Groups of at least k, annealed on their loss.

    Every group publishes one value in each column, calibrated: chosen over all groups so that the file keeps the
    distributions of its columns, and the moments of every two of them. With `truthful` it publishes nothing that is
    false of one of its records. Every solution keeps k-anonymity over the columns it masks.

    Notes
    -----
    - Formula: groups of at least k minimise the weighted information loss of their means and most frequent values,
      judged change by change from the columns that a change touches; front of loss and class risk over a grid of k
    - Paper: own; halving after LeFevre, DeWitt and Ramakrishnan (2006), recombination after Martínez-Ballesté et al.
      (2007)
    - Cost: anytime; a change costs O(k p), a generation reads a fixed number of cells
    - Departures: own method

    Examples
    --------
    >>> search = crypsis.CompositeSearch(k=3, k_values=2)
    >>> run = crypsis.evolve(crypsis.example(60), search=search, budget="4 generations", seed=1)
    >>> min(int(solution.figure("k")) for solution in run.front if not solution.baseline)
    3
    """

    purpose: ClassVar[str] = "groups of at least k records, each column published in the way that loses least"
    leads: ClassVar[bool] = True

    truthful: bool = Field(
        default=False,
        description="publish nothing that is false of a record: common ancestors, or without a hierarchy the value "
        "that all records of a group share, else nothing",
    )
    numbers: Literal["calibrated", "mean", "median"] = Field(
        default="calibrated",
        description="what the numbers of a group become: calibrated keeps distributions, totals and covariances; the "
        "mean keeps totals; the median is a value in the middle of the group",
    )
    categories: Literal["calibrated", "cheapest", "typical", "marginal"] = Field(
        default="calibrated",
        description="what the categories of a group become: a value of the group, calibrated so that counts and how "
        "columns go together are kept; the common ancestor or the most frequent value, whichever loses less; the "
        "typical value; or a value of the group, chosen so that each column keeps its distribution",
    )
    start: Start = Field(
        default="best",
        description="first groups: recursive halving of the records by the costliest column, MDAV, the better of "
        "both (halving above 10 000 records), the records that are alike at a node of the lattice, halved, or the "
        "classes of a quick local recoding; the last two need a hierarchy for each column",
    )
    try_ancestors: bool = Field(
        default=False,
        description="whether the groups are tried with common ancestors too, which are true of all records",
    )
    k_values: int = Field(
        default=8,
        ge=1,
        le=100,
        description="number of group sizes in the grid; later, groups of sizes between them too",
    )
    chains_per_generation: int = Field(default=2, ge=1, le=1000, description="group sizes advanced in one generation")
    generations: int = Field(default=200, ge=1, description="generations, where no other budget is given")

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        idle = dict(super().idle(guided))
        if self.k_values == 1:
            idle["chains_per_generation"] = Idle("with a single k", "set k_values to 2 or more")
        if self.truthful:
            false = Idle("where nothing false is published", "set truthful to false")
            idle |= dict.fromkeys(("numbers", "categories", "try_ancestors"), false)
        return idle

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        return {"k": k} | ({"k_values": 4} if len(table) > LARGE else {})

    def obstacle(self, table: Table) -> str:
        for name in self.names(table):
            if table.level(name) != 0:
                return f"column {name!r} is already generalised and grouping needs values as collected; leave it out"
            column = table.column(name)
            if table.attribute(name).numeric and np.isinf(column[table.kept]).any():
                return f"column {name!r} has infinite values, which have no distance; correct them or leave it out"
        bare = [name for name in self.names(table) if table.attribute(name).hierarchy is None]
        if bare and self.start in ("lattice", "local-recoding"):
            return (
                f"column {bare[0]!r} has no hierarchy and the start {self.start!r} needs one for each; give one, or "
                f"set start to halving"
            )
        return super().obstacle(table)

    def encoding(self, table: Table) -> CompositeEncoding:
        return CompositeEncoding(table, self.open_names(table))

    def problem(self, encoding: CompositeEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table, names = encoding.table, encoding.names
        attributes = [table.attribute(name) for name in names]
        models = self.demanded_models or (() if objective is None else models_a_search_serves(objective))
        demands, apart = class_demands(models, table, self.names(table)), scaling_strata(table, self.names(table))
        least, most = demands.least, bound_k_by_strata(table, self.names(table))
        k_grid = tuple(dict.fromkeys(min(max(k, least), most) for k in self.k_grid(table)))
        space = CompositeSpace(
            table=table,
            names=names,
            profiles=(self._profile(attributes),),
            k_grid=k_grid,
            weights=attribute_weights(attributes),
            strata=np.zeros(int(table.kept.sum()), np.int32) if apart is None else apart,
            demands=demands,
            rules=tuple(rule for rule in self.rules if set(rule.columns) & set(names)),
        )
        space = replace(space, weights=self._steer_weights(space, table))
        treatments = Treatments.of(attributes, space.profiles[0], self.truthful or not self.try_ancestors)
        chains = CompositeChains(
            space,
            make_composite_search_goals(k_grid, self.safe_k, self._far_sizes(k_grid[-1], most))[
                : None if len(space) <= WHOLE else len(k_grid)
            ],
            treatments,
            self.start,
            self.chains_per_generation,
        )
        limits = tuple(
            (limit.measure.against(table), limit.at_most)
            for limit in self.demanded_limits
            if limit.measure is not None and (len(space) <= WHOLE or isinstance(limit.measure, InformationLoss))
        )
        own: GroupScores | DecodedScores = GroupScores(encoding, space)
        if limits or space.rules:
            own = OwnScores(encoding, InformationLoss(columns=names).against(table), limits)
        scores = own if objective is None else ObjectiveScores(encoding, objective)
        return Problem(
            key=encoding.key,
            strategy=chains,
            start=chains.first,
            evaluate=scores.in_tasks(encoding.key, len(table)) if isinstance(scores, DecodedScores) else scores,
            objectives=("loss", "risk"),
            variants=treatments.variants(int(table.kept.sum())),
            remember=20 * len(k_grid),
            notes={"k": list(k_grid), "columns": list(names)},
        )

    def _far_sizes(self, last: int, most: int) -> tuple[int, ...]:
        """Group sizes beyond the grid, each twice as large, up to all records; none where the settings end it."""
        if self.largest_k or self.k_values == 1:
            return ()
        sizes = (last << doubled for doubled in range(1, max(most // last, 1).bit_length()))
        return tuple(dict.fromkeys([*(k for k in sizes if 2 * k <= most), *((most,) if most > last else ())]))

    def _steer_weights(self, space: CompositeSpace, table: Table) -> tuple[float, ...]:
        """What a lost cell of each column counts for in the annealing: more where a column loses more than it may."""
        caps = {
            limit.measure.columns[0]: limit.at_most
            for limit in self.demanded_limits
            if isinstance(limit.measure, InformationLoss) and len(limit.measure.columns) == 1 and limit.at_most > 0.0
        }
        if not caps.keys() & set(space.names) or len(space) > WHOLE:
            return space.weights
        ways = dict(zip(space.names, space.profiles[0], strict=True))
        first = published_by_column(table, ways, space.halve(0, space.k_grid[0]))
        lost = 100.0 * InformationLoss(columns=space.names).against(table).by_column(first)
        above = [max(1.0, each / caps.get(name, each or 1.0)) for name, each in zip(space.names, lost, strict=True)]
        return tuple(w * min(over**STEER, MOST) for w, over in zip(space.weights, above, strict=True))

    def _profile(self, attributes: list[Attribute]) -> Profile:
        """What is published in each column."""
        if self.truthful:
            return tuple(true_representative_in_space(each) for each in attributes)
        return tuple(Representative(self.numbers if each.numeric else self.categories) for each in attributes)


@dataclass(frozen=True, eq=False)
class GroupScores:
    """(information loss, classes among records), per cent, read from the groups alone: what the search minimises."""

    encoding: CompositeEncoding
    space: CompositeSpace = field(repr=False)

    def __call__(self, candidate: Genome) -> Scores:
        genes = self.encoding.genes(candidate)
        cells, order = self._cells(genes.treatments), np.argsort(genes.labels, kind="stable").astype(np.int64)
        bounds = np.append(np.flatnonzero(np.diff(genes.labels[order], prepend=-1)), len(order)).astype(np.int64)
        lost = float(total_cost(cells, order, bounds, self.space.make_workspace(2)))
        records = len(genes.labels)
        return 100.0 * lost / (records * sum(self.space.weights)), 100.0 * (len(bounds) - 1) / records

    def _cells(self, treatments: Profile) -> Cells:
        """The records for groups that are published in some way."""
        if treatments in self.space.profiles:
            return self.space.cells[self.space.profiles.index(treatments)]
        return cells_of_composite_space(self.space.table, self.space.names, treatments, self.space.weights)


@dataclass(frozen=True, eq=False)
class OwnScores(DecodedScores):
    """(information loss, classes among records), per cent, of the decoded table."""

    encoding: CompositeEncoding
    loss: BoundMeasure
    # measures and their largest readings: what keeps them all comes before what does not
    limits: tuple[tuple[BoundMeasure, float], ...] = ()

    def read(self, masked: Table) -> Scores:
        return complete(self.read_tasks(masked))

    def read_tasks(self, masked: Table) -> Tasks[Scores]:
        missed = list[float]()
        for measure, most in self.limits:
            missed.append(excess_over_objective_limit((yield from measure.read_tasks(masked)), most))
        if any(missed):
            far, _ = infeasible_objective_scores(float(np.mean(missed)))
            return far, far
        [classes, loss] = yield [partial(self._classes, masked), partial(self.loss.read, masked)]
        return loss, classes

    def _classes(self, masked: Table) -> float:
        """Classes among records, per cent."""
        sizes = equivalence_class_sizes(masked, masked.quasi_identifiers or list(self.encoding.names))[masked.kept]
        return 100.0 * float((1.0 / sizes).mean())


DENSER = (3, 4)
"""Runs of all chains after which others begin between neighbouring values of k, and between every other one."""


def make_composite_search_goals(
    k_grid: Sequence[int], first: int = 0, far: Sequence[int] = ()
) -> tuple[ChainGoal, ...]:
    """Goals of the search "composite" over a grid of k: that of `first`, far ones, those between, those across one.

    >>> goals = make_composite_search_goals((5, 10, 20), 10)
    >>> [goal.k for goal in goals]
    [10, 5, 20, 5, 10, 10, 5]
    >>> [goal.between for goal in goals]
    [None, None, None, (1, 0), (0, 2), (0, 2), (1, 2)]
    >>> [(goal.k, goal.merged_from) for goal in make_composite_search_goals((5, 10), far=(20, 40))[2:4]]
    [(20, 1), (40, 2)]
    """
    order = sorted(k_grid, key=lambda k: (k != first, k))
    places = [order.index(k) for k in sorted(k_grid)]
    goals = [ChainGoal(k) for k in order]
    near, wide = DENSER
    for step, k in enumerate(far):
        goals.append(ChainGoal(k, after=FAR, merged_from=len(order) + step - 1 if step else places[-1]))
    goals += [ChainGoal(order[low], after=near, between=(low, high)) for low, high in pairwise(places)]
    if places[1:]:
        low, high = places[-2:]
        goals.append(ChainGoal(order[low], after=near, between=(low, high), price_factor=BEYOND))
    across = zip(places, places[2:], strict=False)
    goals += [ChainGoal(order[low], after=wide, between=(low, high)) for low, high in across]
    return tuple(goals)
