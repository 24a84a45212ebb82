"""What searches over partitions have in common: the search of a partitioner over a grid of k.

A candidate is int32[n + 2]: the group of every kept record, which of the ways of publishing it has, and k.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

from numpy.random import Generator
from pydantic import Field

from crypsis.encodings.partition import PartitionEncoding
from crypsis.errors import PlanError, TableError
from crypsis.evolution import Problem
from crypsis.masking.microaggregation import Microaggregation, Missing
from crypsis.masking.representatives import Representative, Representatives
from crypsis.measures.objective import Objective
from crypsis.privacy.demands import class_demands
from crypsis.searches.chains import KGridSearch
from crypsis.searches.partitions.chains import (
    EvolvingPartitioner,
    PartitionChains,
    QuickScores,
    Refinement,
    RepresentativeChoices,
    problem_of_partition_chains,
)
from crypsis.searches.partitions.refinements import ContentRefinement
from crypsis.searches.partitions.space import PartitionSpace
from crypsis.searches.search import ObjectiveScores
from crypsis.table.attribute import Attribute
from crypsis.table.precision import Scaling
from crypsis.table.table import Table

USUAL = (
    Representatives(),
    Representatives(categories=Representative.CHEAPEST),
    Representatives(categories=Representative.COMMON_ANCESTOR),
    Representatives(Representative.SPREAD, Representative.MARGINAL),
)
"""Ways of publishing groups that a search tries where they may vary."""


class MicroaggregationSearch(KGridSearch):
    """A search for groups of at least k similar records for a grid of k, each improved by a partitioner that searches.

    Every solution keeps k-anonymity over the columns it masks; a larger k loses more and links less. A subclass gives
    the partitioner, with settings of its own, and is registered.

    Examples
    --------
    >>> from crypsis.searches.partitions import Memetic, MicroaggregationSearch
    >>> class BriefSearch(MicroaggregationSearch):
    ...     def partitioner(self):
    ...         return Memetic(steps=10)
    >>> len(BriefSearch(k=3, k_values=2).pose(crypsis.example(60), None, np.random.default_rng(0)).start())
    2
    """

    scaling: Scaling = Field(
        default="z",
        description="weight of the columns: z, by deviation, as information loss weighs them; range; or none",
    )
    missing: Missing = "keep"
    numbers: Literal["calibrated", "vary", "mean", "median", "mode", "spread"] = Field(
        default="calibrated",
        description="what the numbers of a group become: see microaggregation; vary: means, and means moved apart so "
        "that the variance is kept",
    )
    categories: Literal[
        "calibrated", "vary", "typical", "mode", "common-ancestor", "unanimous", "marginal", "cheapest"
    ] = Field(
        default="calibrated",
        description="what the categories of a group become: see microaggregation; vary: solutions with typical values, "
        "with common ancestors, with the cheaper of both, and with values that keep the distribution",
    )
    chains_per_generation: int = Field(default=4, ge=1, le=1000, description="group sizes improved in one generation")

    @abstractmethod
    def partitioner(self) -> EvolvingPartitioner:
        """The partitioner whose refinement improves the groups.

        Returns
        -------
        EvolvingPartitioner
            With its settings; how long it runs is a matter of the search's budget.
        """

    def refinement(self, records: int) -> Refinement:
        """How groups of so many records are improved."""
        return self.partitioner().refinement()

    def obstacle(self, table: Table) -> str:
        try:
            self._microaggregation().check(table, self.names(table))
            self.partitioner().check(max(self.k_grid(table)))
        except (TableError, PlanError) as error:
            return str(error)
        return super().obstacle(table)

    def encoding(self, table: Table) -> PartitionEncoding:
        return PartitionEncoding(table, self.names(table), self._microaggregation())

    def problem(self, encoding: PartitionEncoding, objective: Objective | None, rng: Generator) -> Problem:
        space = PartitionSpace(encoding.points, self.k_grid(encoding.table))
        attributes = [encoding.table.attribute(name) for name in encoding.names]
        published = RepresentativeChoices(self.representatives(attributes))
        scored = 1 if objective is None else len(published.choices)
        refinement = self.refinement(len(space))
        demands = class_demands(self.demanded_models, encoding.table, encoding.names)
        if not demands.only_size:
            refinement = ContentRefinement(refinement, demands)
        return problem_of_partition_chains(
            PartitionChains(space, refinement, min(self.chains_per_generation, len(space.k_grid)), scored),
            QuickScores(space).in_tasks()
            if objective is None
            else ObjectiveScores(encoding, objective, published.express),
            ("loss", "risk"),
            rng,
            {"k": list(space.k_grid), "columns": list(encoding.names)},
            published,
        )

    def representatives(self, attributes: Sequence[Attribute]) -> tuple[Representatives, ...]:
        """The ways in which groups are published: those set, or several where they may vary.

        Parameters
        ----------
        attributes : sequence of Attribute
            The columns that are masked.

        Returns
        -------
        tuple of Representatives
            Different ones, the usual one first.
        """
        numbers = any(attribute.numeric for attribute in attributes)
        categories = any(not attribute.numeric for attribute in attributes)
        trees = any(not attribute.numeric and attribute.hierarchy is not None for attribute in attributes)
        found = []
        for usual in USUAL:
            chosen = Representatives(
                usual.numbers if self.numbers == "vary" and numbers else Representative(_set(self.numbers, "mean")),
                usual.categories
                if self.categories == "vary" and categories and (trees or not usual.categories.ancestral)
                else Representative(_set(self.categories, "typical")),
            )
            found.append(chosen)
        return tuple(dict.fromkeys(found))

    def _microaggregation(self) -> Microaggregation:
        return Microaggregation(k=self.k, scaling=self.scaling, missing=self.missing)


def _set(given: str, usual: str) -> str:
    """A setting; the usual value where it may vary."""
    return usual if given == "vary" else given
