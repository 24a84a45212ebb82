"""(α, k)-anonymity (Wong et al. 2006): classes of at least k, and no confidential value fills one."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from crypsis.privacy.model import PrivacyModel, Verdict, models
from crypsis.privacy.properties import Floats
from crypsis.privacy.verdicts import columns_obstacle, judged, worst_over_columns
from crypsis.table.equivalence_classes import ClassContents, EquivalenceClasses
from crypsis.table.table import Table


def largest_share(classes: EquivalenceClasses, contents: ClassContents) -> Floats:
    """The share of the commonest confidential value in each class."""
    return contents.most / classes.sizes


@models.add("alpha-k-anonymity")
class AlphaKAnonymity(PrivacyModel):
    """Every class has at least k records, and no confidential value makes up more than α of it.

    Notes
    -----
    - Formula: |class| ≥ k and share of every confidential value ≤ α
    - Paper: Wong, Li, Fu and Wang (2006)
    - Cost: O(n)
    - Departures: none

    Examples
    --------
    >>> import crypsis
    >>> people = {"town": ["a", "a", "a", "b", "b"], "illness": ["flu", "flu", "cold", "flu", "cold"]}
    >>> table = crypsis.Table.from_columns(people, roles={"town": "quasi", "illness": "confidential"})
    >>> crypsis.AlphaKAnonymity(alpha=0.5, k=2).judge(table).offending
    3
    """

    sense: ClassVar[Literal["at least", "at most"]] = "at most"
    monotone_in_generalisation: ClassVar[bool] = True

    alpha: float = Field(default=0.5, gt=0.0, lt=1.0, description="largest share of one confidential value in a class")
    k: int = Field(default=5, ge=2, le=1_000_000_000, description="smallest class allowed")
    confidential: tuple[str, ...] = Field(
        default=(), description="columns not to be learnt; empty means every confidential one, the worst counts"
    )

    @property
    def required(self) -> float:
        return self.alpha

    @property
    def least_class_size(self) -> int:
        return max(self.k, math.ceil(1.0 / self.alpha - 1e-9))

    def levels(self, table: Table) -> Floats:
        """The largest share in each record's class; 1 where the class has fewer than k records."""

        def level(classes: EquivalenceClasses, contents: ClassContents, column: str) -> Floats:
            return np.where(classes.sizes < self.k, 1.0, largest_share(classes, contents))

        return worst_over_columns(self, table, self.confidential, level)

    def judge(self, table: Table) -> Verdict:
        return judged(
            self,
            table,
            f"every class of records equal in {{columns}} has at least {self.k} records and no confidential value "
            f"makes up more than {self.alpha:g} of it (a smaller class counts as 1)",
        )

    def obstacle(self, table: Table) -> str:
        return columns_obstacle(self, table, self.confidential)
