"""Households whose members contradict each other after a masking."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.registry import ColumnName
from crypsis.table.households import (
    count_household_values,
    household_level_columns,
    household_obstacle,
    read_households,
)
from crypsis.table.table import Table

CONTRADICTIONS = "household-contradictions"


@measures.add(CONTRADICTIONS)
class HouseholdContradictions(Measure):
    """Share of the households that a masking makes contradict themselves.

    100 times the households whose published members have several values in a column in which all of them had one, over
    all households with a published member; a hidden cell beside a shown one is a contradiction.

    Notes
    -----
    - Formula: 100 · #{households with > 1 published value in a column of one value before} / households
    - Paper: own
    - Cost: O(n p)
    - Departures: own measure; without named columns it reads those with one value within every household

    Examples
    --------
    >>> columns = {"roof": list("ttss"), "home": [1, 1, 2, 2]}
    >>> original = crypsis.Table.from_columns(columns, roles={"roof": "quasi", "home": "household"})
    >>> masked = original.with_columns({"roof": np.array([0, 1, 1, 1], dtype=np.int32)})
    >>> crypsis.HouseholdContradictions(columns=("roof",)).against(original).read(masked)
    50.0
    """

    aim: ClassVar[Aim] = "loss"

    columns: tuple[str, ...] = Field(
        default=(), description="columns that are asked; empty: those with one value within every household"
    )
    household: ColumnName = Field(
        default="", description="column that says which records belong together; empty: the one with the role household"
    )

    def choose_columns(self, original: Table) -> tuple[str, ...]:
        return self.columns or household_level_columns(original)

    def obstacle(self, original: Table) -> str:
        wrong = household_obstacle(original, self.household)
        if wrong:
            return wrong
        if not self.columns and not household_level_columns(original):
            return "no quasi-identifier has one value within every household; name columns"
        return super().obstacle(original)

    def against(self, original: Table) -> BoundContradictions:
        return BoundContradictions.of(self, original)


class BoundContradictions(BoundColumns[HouseholdContradictions]):
    """`HouseholdContradictions` bound to an original."""

    def read(self, masked: Table) -> float:
        contradict, held = self._find_contradictions(masked)
        return 100.0 * float(contradict.any(axis=1).sum()) / max(held, 1)

    def explain(self, masked: Table) -> Reading:
        contradict, held = self._find_contradictions(masked)
        counts = {"contradicting": float(contradict.any(axis=1).sum()), "households": float(held)}
        counts |= {name: float(column.sum()) for name, column in zip(self.names, contradict.T, strict=True)}
        missing = "a missing value is a value: beside a shown one it contradicts"
        return self.measure.make_reading(self.read(masked), self.names, missing, counts)

    def _find_contradictions(self, masked: Table) -> tuple[NDArray[np.bool_], int]:
        """bool[households, columns]: which have one value before and several after; and how many are published."""
        check_measured_rows(self.original.rows, masked)
        kept = masked.kept
        home = np.unique(read_households(self.original, self.measure.household)[kept], return_inverse=True)[1]
        before, after = self.original.codes(self.names)[kept], masked.codes(self.names)[kept]
        found = [
            (count_household_values(home, one) == 1) & (count_household_values(home, other) > 1)
            for one, other in zip(before.T, after.T, strict=True)
        ]
        return np.stack(found, axis=1), int(home.max(initial=-1)) + 1
