"""k-anonymity of households: nobody's household is found by what is known of all its members."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field, PrivateAttr

from crypsis.errors import TableError
from crypsis.privacy.model import Assumption, Floats, PrivacyModel, Unit, models
from crypsis.registry import ColumnName
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.households import (
    HouseholdPatterns,
    group_alike_households,
    household_column,
    household_obstacle,
    read_households,
)
from crypsis.table.table import Table


@models.add("household-k-anonymity")
class HouseholdKAnonymity(PrivacyModel):
    """Every household shares the values of all its members with at least k households, itself included.

    Notes
    -----
    - Formula: min over households of #{households with the same multiset of members' values} ≥ k
    - Paper: Templ, Kowarik and Meindl (2015); own for multisets
    - Cost: O(n log n)
    - Departures: values that a household shares are part of every member's; of a household only published members
      count; k of records implies nothing about it

    Examples
    --------
    >>> columns = {"sex": list("fmfmf"), "home": [1, 1, 2, 2, 3]}
    >>> people = crypsis.Table.from_columns(columns, roles={"sex": "quasi", "home": "household"})
    >>> verdict = crypsis.HouseholdKAnonymity(k=2).judge(people)
    >>> verdict.attained, verdict.offending, verdict.unit
    (1.0, 1, 'household')
    """

    monotone_in_generalisation: ClassVar[bool] = True
    unit: ClassVar[Unit] = "household"
    assumptions: ClassVar[tuple[Assumption, ...]] = (Assumption.WHOLE_HOUSEHOLDS,)

    k: int = Field(default=3, ge=2, le=1_000_000_000, description="fewest households whose members are all alike")
    household: ColumnName = Field(
        default="", description="column that says which records belong together; empty: the one with the role household"
    )

    _truth: Table | None = PrivateAttr(default=None)

    @property
    def required(self) -> float:
        return float(self.k)

    @property
    def beyond_file(self) -> str:
        return "counts households, which are not in the file"

    def bind_original(self, original: Table) -> HouseholdKAnonymity:
        model = self.model_copy()
        model._truth = original
        return model

    def known_columns(self, table: Table) -> tuple[str, ...]:
        around = table if self._truth is None else self._truth
        return tuple(n for n in super().known_columns(table) if n != household_column(around, self.household))

    def patterns(self, table: Table) -> HouseholdPatterns:
        """The households of a table by the values of their members.

        Parameters
        ----------
        table : Table
            The judged table; its rows are those of the table that says which records belong together.

        Returns
        -------
        HouseholdPatterns
        """
        homes = read_households(table if self._truth is None else self._truth, self.household)
        if len(homes) != len(table):
            raise TableError(
                f"the original has {len(homes)} rows and the masked table {len(table)}; rows must correspond"
            )
        return group_alike_households(homes, classes_of(table, self.known_columns(table)).of)

    def levels(self, table: Table) -> Floats:
        # Households with the same pattern as that of each record.
        found = self.patterns(table)
        return np.where(table.kept, found.alike[found.of].astype(np.float64), np.nan)

    def obstacle(self, table: Table) -> str:
        found = super().obstacle(table)
        wrong = household_obstacle(table if self._truth is None else self._truth, self.household)
        return found or (f"household-k-anonymity: {wrong}" if wrong else "")

    def statement(self) -> str:
        return f"every household shares the values of {{columns}} of all its members with at least {self.k} households"
