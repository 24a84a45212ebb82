"""Searches over a ladder of k: the same question for several class sizes at once, each a point of the front."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from crypsis.evolution import Budget
from crypsis.masking.locking import least_stratum, lock_obstacle
from crypsis.masking.method import Family
from crypsis.searches.search import Idle, Search
from crypsis.table.table import Table


class LadderSearch(Search):
    """A search whose candidates have a class size of their own, from k upwards; usually groups of records."""

    family: ClassVar[Family] = Family.AGGREGATION
    pace: ClassVar[int] = 3

    k: int = Field(default=5, ge=2, le=1_000_000, description="least class size: the lowest rung of the ladder")
    rungs: int = Field(default=8, ge=1, le=100, description="how many class sizes are tried")
    largest_k: int = Field(default=0, ge=0, description="highest rung; 0 means ten times k, or a tenth of the records")
    columns: tuple[str, ...] = Field(default=(), description="columns to mask; empty means every quasi-identifier")
    generations: int = Field(default=50, ge=1, description="generations, where no other budget is given")

    def names(self, table: Table) -> tuple[str, ...]:
        """The columns that are masked.

        Parameters
        ----------
        table : Table
            The table; its quasi-identifiers are taken unless the settings name columns.

        Returns
        -------
        tuple of str
        """
        return self.columns or tuple(table.quasi_identifiers)

    def open_names(self, table: Table) -> tuple[str, ...]:
        """The columns that are masked and not locked."""
        return tuple(name for name in self.names(table) if not table.attribute(name).locked)

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        return {"largest_k": Idle("with a single rung", "set rungs to 2 or more")} if self.rungs == 1 else {}

    def obstacle(self, table: Table) -> str:
        if not self.names(table):
            return "the table has no quasi-identifier to mask; give columns the role 'quasi' or name columns"
        if int(table.kept.sum()) < self.k:
            return f"{int(table.kept.sum())} records cannot form a class of {self.k}; choose a smaller k"
        if not self.open_names(table):
            return "every column that would be masked is locked; unlock one"
        if thin := lock_obstacle(table, self.names(table), self.k):
            return thin
        if self.largest_k and self.largest_k < self.k:
            return f"the ladder cannot go from {self.k} to {self.largest_k}; give largest_k of at least k, or 0"
        return ""

    def ladder(self, records: int) -> tuple[int, ...]:
        """Class sizes from k upwards, each about the same factor larger; none above half of the records.

        Parameters
        ----------
        records : int
            How many records are protected.

        Returns
        -------
        tuple of int
        """
        top = self.largest_k or max(self.k, min(10 * self.k, records // 10))
        top = max(self.k, min(top, max(records // 2, self.k)))
        sizes = np.geomspace(self.k, top, self.rungs) if self.rungs > 1 else np.array([self.k])
        return tuple(dict.fromkeys(round(float(size)) for size in sizes))

    def table_ladder(self, table: Table) -> tuple[int, ...]:
        """The ladder of a table, with the class size that keeps the limits of the plan.

        No class is larger than the smallest one of the locked columns.
        """
        records, most = int(table.kept.sum()), least_stratum(table, self.names(table))
        sizes = self.ladder(records)
        if self.rungs > 1 and self.k < self.safe_k <= records:
            sizes = tuple(sorted({*sizes, self.safe_k}))
        return tuple(dict.fromkeys(min(k, most) for k in sizes))

    def budget(self) -> Budget:
        return Budget(generations=self.generations)
