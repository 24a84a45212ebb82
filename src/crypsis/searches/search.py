"""The contract of a search, what it tells about a solution, and the registry of searches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from numpy.random import Generator

from crypsis.evolution import Budget, Genome, Problem, Space
from crypsis.masking.method import Family
from crypsis.measures.measure import Measure
from crypsis.registry import Registry, Settings
from crypsis.table.table import Table


@dataclass(frozen=True)
class Account:
    """A solution for people: one sentence, and figures by name (effective k, share of unique records, …)."""

    words: str
    facts: Mapping[str, float | int | str] = field(default_factory=dict)


class TableSpace(Space, Protocol):
    """A space whose genomes decode into masked tables and can be told in words."""

    def decode(self, genome: Genome) -> Table: ...

    def tell(self, genome: Genome) -> Account: ...


class Search(Settings):
    """A frozen settings object that poses a problem to the loop: encoding, operators, recipe.

    `Problem.space` is a `TableSpace`; the objectives are a loss and a risk (and, for some searches, more), all
    minimised, per cent unless stated.
    """

    family: ClassVar[Family] = Family.PERTURBATION
    """What its solutions do to values; the careful default makes no use of class sizes."""

    @abstractmethod
    def pose(self, table: Table, measures: Mapping[str, Measure], rng: Generator) -> Problem:
        """The problem for one table. Measures the user chose replace the search's own; none: its own.

        Chance enters only through `rng`. A table the search cannot treat is refused with the `obstacle`.
        """

    @abstractmethod
    def obstacle(self, table: Table) -> str:
        """Why the search cannot treat the table, in a sentence with the remedy; empty if it can."""

    def budget(self) -> Budget:
        """How long the recipe itself would run when nobody says otherwise."""
        return Budget(generations=100)


searches: Registry[Search] = Registry("search")
