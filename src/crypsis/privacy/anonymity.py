"""k-anonymity (Samarati 2001; Sweeney 2002): nobody stands in a class of fewer than k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from crypsis.kernels.contents import SIZE
from crypsis.privacy.content_demand import ContentDemand
from crypsis.privacy.model import PrivacyModel, models
from crypsis.privacy.properties import Floats, class_sizes, worst
from crypsis.table.table import Table


@models.add("k-anonymity")
class KAnonymity(PrivacyModel):
    """Every record shares the values an intruder may know with at least k records, itself included.

    Notes
    -----
    - Formula: min over records of |class(record)| ≥ k
    - Paper: Samarati (2001); Sweeney (2002)
    - Cost: O(n)
    - Departures: a suppressed record belongs to no class (decision 0006)

    Examples
    --------
    >>> table, _ = crypsis.example_pair("categories")
    >>> verdict = crypsis.KAnonymity(k=2).judge(table)
    >>> verdict.holds, verdict.attained
    (True, 2.0)
    """

    monotone_in_generalisation: ClassVar[bool] = True

    k: int = Field(default=5, ge=2, le=1_000_000_000, description="smallest class of equal quasi-identifiers allowed")

    @property
    def required(self) -> float:
        return float(self.k)

    @property
    def least_class_size(self) -> int:
        return self.k

    def levels(self, table: Table) -> Floats:
        # The size of each record's class.
        return class_sizes(table, self.known(table))

    def content_demands(self, table: Table) -> tuple[ContentDemand, ...]:
        return (ContentDemand(SIZE, (float(self.k), 0.0, 0.0)),)

    def statement(self) -> str:
        return f"every record shares its values of {{columns}} with at least {self.k} records"


@dataclass(frozen=True)
class SmallestClass:
    """k over every quasi-identifier of a table, whatever columns a demand names."""

    columns: tuple[str, ...]
    size: int
    """Records of the smallest class; 0 where no record is left."""


def smallest_class(table: Table) -> SmallestClass | None:
    """k over every quasi-identifier; None where no column has that role.

    Examples
    --------
    >>> people = Table.from_columns({"sex": ["f", "f"], "zip": ["1", "2"]}, {"sex": "quasi", "zip": "quasi"})
    >>> smallest_class(people)
    SmallestClass(columns=('sex', 'zip'), size=1)
    """
    names = table.quasi_identifiers
    return SmallestClass(tuple(names), int(worst(class_sizes(table, names), "at least"))) if names else None
