"""The contract of a search, and the registry of searches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.random import Generator

from crypsis.encodings.encoding import Encoding
from crypsis.errors import SearchError, TableError
from crypsis.evolution import Budget, Genome, Problem, Scores
from crypsis.masking.method import Family
from crypsis.measures.objective import Objective
from crypsis.registry import Registry, Settings
from crypsis.table.table import Table

WORST = (100.0, 100.0)
"""Loss and risk of a candidate that cannot be decoded, e.g. because it suppresses more than is allowed."""


class Search(Settings):
    """A frozen settings object that encodes the protections of a table and poses their search to the loop.

    Objectives are a loss and a risk (and, for some searches, more), all minimised, per cent unless stated.
    """

    family: ClassVar[Family] = Family.PERTURBATION
    """What its solutions do to values; the careful default makes no use of class sizes."""

    @abstractmethod
    def obstacle(self, table: Table) -> str:
        """Why the search cannot treat the table, in a sentence with the remedy; empty if it can."""

    @abstractmethod
    def encoding(self, table: Table) -> Encoding:
        """Genome ⇄ masked table: all that is needed to decode and describe a solution, in milliseconds."""

    @abstractmethod
    def problem(self, encoding: Any, objective: Objective | None, rng: Generator) -> Problem:
        """Operators, strategy and first population over an encoding of its own.

        Without an objective the search minimises figures of its own. Chance enters only through `rng`.
        """

    def pose(self, table: Table, objective: Objective | None, rng: Generator) -> Problem:
        """The problem of one table; a table the search cannot treat is refused with the `obstacle`."""
        obstacle = self.obstacle(table)
        if obstacle:
            raise SearchError(f"search {searches.name_of(self)!r}: {obstacle}")
        return self.problem(self.encoding(table), objective, rng)

    def budget(self) -> Budget:
        """How long the recipe itself runs when no budget is given."""
        return Budget(generations=100)


searches: Registry[Search] = Registry("search")


@dataclass(frozen=True)
class ObjectiveScores:
    """Scores of a candidate by an objective, read from the table it decodes into."""

    encoding: Encoding
    objective: Objective
    express: Callable[[Genome], Genome] | None = None

    def __call__(self, candidate: Genome) -> Scores:
        try:
            masked = self.encoding.decode(candidate if self.express is None else self.express(candidate))
        except TableError:
            return WORST
        return self.objective.score(masked)
