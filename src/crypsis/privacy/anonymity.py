"""k-anonymity (Samarati 2001; Sweeney 2002): nobody stands in a class of fewer than k."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from crypsis.privacy.model import PrivacyModel, Verdict, models
from crypsis.privacy.properties import Floats, class_sizes
from crypsis.privacy.verdicts import columns_obstacle, judged, quasi_identifiers_of
from crypsis.table.table import Table


@models.add("k-anonymity")
class KAnonymity(PrivacyModel):
    """Every record shares its quasi-identifiers with at least k records, itself included."""

    monotone_in_generalisation: ClassVar[bool] = True

    k: int = Field(default=5, ge=2, le=1_000_000_000, description="smallest class of equal quasi-identifiers allowed")

    @property
    def required(self) -> float:
        return float(self.k)

    @property
    def least_class_size(self) -> int:
        return self.k

    def levels(self, table: Table) -> Floats:
        """The size of each record's class."""
        return class_sizes(table, quasi_identifiers_of(self, table))

    def judge(self, table: Table) -> Verdict:
        return judged(self, table, f"every record shares its quasi-identifiers with at least {self.k} records")

    def obstacle(self, table: Table) -> str:
        return columns_obstacle(self, table)
