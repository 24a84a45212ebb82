"""The search "partition": groups of similar records for a ladder of k, each made tighter quantum by quantum.

A candidate is int32[n + 2]: the group of every kept record, which of the ways of publishing it has, and k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from numpy.random import Generator
from pydantic import Field, model_validator

from crypsis.encodings.partition import PartitionEncoding
from crypsis.errors import PlanError, TableError
from crypsis.evolution import Problem
from crypsis.masking.microaggregation import Microaggregation, Missing
from crypsis.masking.partitioning import LARGE, QUICK_BLOCK, partitioners
from crypsis.masking.representatives import Representative, Representatives
from crypsis.measures.objective import Objective
from crypsis.privacy.demands import class_demands
from crypsis.searches.chains import LadderSearch
from crypsis.searches.partitions.chains import (
    EvolvingPartitioner,
    Lineages,
    QuickScores,
    Refinement,
    Styles,
    partition_problem,
)
from crypsis.searches.partitions.memetic import ContentRefinement, Mending
from crypsis.searches.partitions.space import PartitionSpace
from crypsis.searches.search import Idle, ObjectiveScores, idle_sentence, searches
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
BUDGETS = {"seconds": "a budget, e.g. budget = '10s'", "steps": "steps"}
"""Settings of a method that say when to stop, and what a search over a table has in their place."""
METHOD = ("method", "method_settings", "steps")
"""Settings that say how the method searches."""


@searches.add("partition")
class PartitionSearch(LadderSearch):
    """Which records should become alike? Groups of at least k similar records for a ladder of k, made ever tighter.

    Every solution keeps k-anonymity over the columns it masks; a larger k loses more and links less.

    Notes
    -----
    - Formula: one partition per k of a ladder, made tighter by the method's SSE and kept by the objective; front of
      loss and risk
    - Paper: that of the method; the ladder is our own, upon Martínez-Ballesté et al. (2007)
    - Cost: anytime; a generation is a fixed number of moves or genes
    - Departures: those of the method

    Examples
    --------
    >>> run = crypsis.evolve(crypsis.example(60), search=PartitionSearch(k=3, rungs=2), budget="2 generations", seed=1)
    >>> min(int(solution.figure("k")) for solution in run.front if not solution.baseline)
    3
    """

    purpose: ClassVar[str] = "groups of at least k similar records"

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
    method: str = Field(
        default="memetic",
        max_length=60,
        description="how groups are made tighter: the name of a partitioner that searches, e.g. memetic, genetic or "
        "two-step",
    )
    method_settings: dict[str, Any] = Field(
        default_factory=dict, description="settings of the method, e.g. {region = 100} for memetic"
    )
    blocks: Literal["auto", "never", "always"] = Field(
        default="auto",
        description=f"never: groups are found by the method over the whole table; always: they begin as MDAV's within "
        f"blocks of {QUICK_BLOCK} near records, and near groups change records across ever new blocks; auto: in blocks "
        f"above {LARGE} records",
    )
    steps: int | None = Field(
        default=None,
        ge=0,
        le=10_000_000,
        description="moves tried per record and group size by the method memetic, where the budget allows them; 0 "
        "leaves MDAV's groups, not given: as many as the budget allows",
    )
    breedings: int = Field(default=4, ge=1, le=1000, description="group sizes made tighter in one generation")

    @model_validator(mode="after")
    def _searching(self) -> PartitionSearch:
        try:
            self.chosen_method()
        except PlanError as error:
            raise ValueError(str(error)) from None
        return self

    def chosen_method(self) -> EvolvingPartitioner:
        """The partitioner that searches, with its settings, or a sentence that says what is wrong with them."""
        for name in self.method_settings:
            if name in BUDGETS:
                raise PlanError(f"method_settings: leave {name} out and give the search {BUDGETS[name]}")
        limit = {} if self.steps is None or not self._moves_records() else {"steps": self.steps}
        chosen = partitioners.build(self.method, **self.method_settings, **limit)
        if not isinstance(chosen, EvolvingPartitioner):
            known = [name for name in partitioners if issubclass(partitioners[name], EvolvingPartitioner)]
            raise PlanError(f"method {self.method!r} does not search; choose one of {', '.join(known)}")
        return chosen

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        idle = dict(super().idle(guided))
        if self.blocks == "always":
            in_blocks = Idle("in blocks, where near groups change records", "set blocks to auto or never")
            return idle | dict.fromkeys(METHOD, in_blocks)
        if not self._moves_records():
            idle["steps"] = Idle(f"with the method {self.method}", "set method to memetic")
        return idle

    def _in_blocks(self, records: int) -> bool:
        """Whether so many records are partitioned in blocks."""
        return self.blocks == "always" or (self.blocks == "auto" and records > LARGE)

    def _moves_records(self) -> bool:
        """Whether the method tries moves that can be counted."""
        return self.method in partitioners and "steps" in partitioners[self.method].model_fields

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        return {"k": k} | ({"rungs": 4, "breedings": 2} if len(table) > LARGE else {})

    def obstacle(self, table: Table) -> str:
        try:
            self._microaggregation().check(table, self.names(table))
            self.chosen_method().check(max(self.table_ladder(table)))
        except (TableError, PlanError) as error:
            return str(error)
        if self._in_blocks(int(table.kept.sum())):
            why = Idle(f"above {LARGE} records, which are partitioned in blocks", "set blocks to never")
            idle = {name: why for name in METHOD if name in self.model_fields_set}
            return idle_sentence(idle) or super().obstacle(table)
        return super().obstacle(table)

    def encoding(self, table: Table) -> PartitionEncoding:
        return PartitionEncoding(table, self.names(table), self._microaggregation())

    def problem(self, encoding: PartitionEncoding, objective: Objective | None, rng: Generator) -> Problem:
        space = PartitionSpace(encoding.points, self.table_ladder(encoding.table))
        styles = Styles(self.styles([encoding.table.attribute(name) for name in encoding.names]))
        scored = 1 if objective is None else len(styles.chosen)
        refinement: Refinement = Mending() if self._in_blocks(len(space)) else self.chosen_method().refinement()
        demands = class_demands(self.demanded, encoding.table, encoding.names)
        if not demands.only_size:
            refinement = ContentRefinement(refinement, demands)
        return partition_problem(
            Lineages(space, refinement, min(self.breedings, len(space.ladder)), scored),
            QuickScores(space).piecewise()
            if objective is None
            else ObjectiveScores(encoding, objective, styles.express),
            ("loss", "risk"),
            rng,
            {"ladder": list(space.ladder), "columns": list(encoding.names)},
            styles,
        )

    def styles(self, attributes: Sequence[Attribute]) -> tuple[Representatives, ...]:
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
        for style in USUAL:
            chosen = Representatives(
                style.numbers if self.numbers == "vary" and numbers else Representative(_set(self.numbers, "mean")),
                style.categories
                if self.categories == "vary" and categories and (trees or not style.categories.ancestral)
                else Representative(_set(self.categories, "typical")),
            )
            found.append(chosen)
        return tuple(dict.fromkeys(found))

    def _microaggregation(self) -> Microaggregation:
        return Microaggregation(k=self.k, scaling=self.scaling, missing=self.missing)


def _set(given: str, usual: str) -> str:
    """A setting; the usual value where it may vary."""
    return usual if given == "vary" else given
