"""k-anonymity (Samarati 2001; Sweeney 2002): nobody stands in a class of fewer than k."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field, PrivateAttr

from crypsis.kernels.class_contents import ALPHA, SIZE
from crypsis.privacy.demands import ConfidentialModel
from crypsis.privacy.model import ContentDemand, Floats, PrivacyModel, Sense, class_sizes, models, worst
from crypsis.table.equivalence_classes import IN_WORDS, ClassContents, EquivalenceClasses, MissingReading, alike_records
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table


@models.add("k-anonymity")
class KAnonymity(PrivacyModel):
    """Every record shares the values an intruder may know with at least k records, itself included.

    Notes
    -----
    - Formula: min over records of |class(record)| ≥ k
    - Paper: Samarati (2001); Sweeney (2002)
    - Cost: O(n)
    - Departures: a suppressed record belongs to no class (decision 0006); four readings of a missing cell (decision
      0005)

    Examples
    --------
    >>> table, _ = crypsis.example_pair("categories")
    >>> verdict = crypsis.KAnonymity(k=2).judge(table)
    >>> verdict.holds, verdict.attained
    (True, 2.0)
    """

    monotone_in_generalisation: ClassVar[bool] = True

    k: int = Field(default=5, ge=2, le=1_000_000_000, description="smallest class of equal quasi-identifiers allowed")
    missing: MissingReading = Field(
        default="own",
        description="which records are alike where cells are missing; own, the strictest: a missing value is a value "
        "of its own; conservative: alike whatever the missing values of a person may be; target: not contradicted by "
        "the true values of a person; wildcard: a missing value equals every value, which overstates protection",
    )

    _truth: Table | None = PrivateAttr(default=None)

    @property
    def required(self) -> float:
        return float(self.k)

    @property
    def least_class_size(self) -> int:
        return self.k

    def levels(self, table: Table) -> Floats:
        # How many records are alike with each one: by default the size of its class.
        return alike_records(table, self.known(table), self.missing, self._truth)

    def knowing(self, original: Table) -> KAnonymity:
        if self.missing != "target":
            return self
        model = self.model_copy()
        model._truth = original
        return model

    @property
    def beyond_file(self) -> str:
        return "was judged by true values that are not in the file" if self.missing == "target" else ""

    def remark(self, table: Table) -> str:
        names = self.known(table)
        if not (table.codes(names)[table.kept] == MISSING).any():
            return ""
        text = IN_WORDS[self.missing]
        if self.missing != "wildcard":
            return text
        stricter = worst(alike_records(table, names, "conservative"), "at least")
        return f"{text}; to an intruder who knows the missing values, with at least {stricter:g}"

    def content_demands(self, table: Table) -> tuple[ContentDemand, ...]:
        return (ContentDemand(SIZE, (float(self.k), 0.0, 0.0)),)

    def statement(self) -> str:
        return f"every record shares its values of {{columns}} with at least {self.k} records"


def missing_reading(models: Iterable[PrivacyModel]) -> MissingReading:
    """How missing cells are read where no demand is judged: as every demand on class sizes reads them, else `own`.

    Examples
    --------
    >>> missing_reading([KAnonymity(k=5, missing="target")]), missing_reading([])
    ('target', 'own')
    """
    readings = {model.missing for model in models if isinstance(model, KAnonymity)}
    return readings.pop() if len(readings) == 1 else "own"


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


# -- (α, k)-anonymity (Wong et al. 2006): classes of at least k, and no confidential value fills one.


def largest_share(classes: EquivalenceClasses, contents: ClassContents) -> Floats:
    """The share of the commonest confidential value in each class."""
    return contents.most / classes.sizes


@models.add("alpha-k-anonymity")
class AlphaKAnonymity(ConfidentialModel):
    """Every class has at least k records, and no confidential value makes up more than α of it.

    Notes
    -----
    - Formula: |class| ≥ k and share of every confidential value ≤ α
    - Paper: Wong, Li, Fu and Wang (2006)
    - Cost: O(n)
    - Departures: none

    Examples
    --------
    >>> table, _ = crypsis.example_pair("categories")
    >>> crypsis.AlphaKAnonymity(alpha=0.5, k=2).judge(table).offending
    3
    """

    sense: ClassVar[Sense] = "at most"
    monotone_in_generalisation: ClassVar[bool] = True

    alpha: float = Field(default=0.5, gt=0.0, lt=1.0, description="largest share of one confidential value in a class")
    k: int = Field(default=5, ge=2, le=1_000_000_000, description="smallest class allowed")

    @property
    def required(self) -> float:
        return self.alpha

    @property
    def least_class_size(self) -> int:
        return max(self.k, math.ceil(1.0 / self.alpha - 1e-9))

    def class_levels(self, table: Table, column: str, classes: EquivalenceClasses, contents: ClassContents) -> Floats:
        # The largest share in each class.
        return largest_share(classes, contents)

    def levels(self, table: Table) -> Floats:
        # The largest share in the class of each record; 1 where it has fewer than k records.
        shares = super().levels(table)
        return np.where(class_sizes(table, self.known(table)) < self.k, 1.0, shares)

    def content_kind(self, table: Table, column: str) -> tuple[int, tuple[float, float, float]]:
        return ALPHA, (self.alpha, float(self.k), 0.0)

    def statement(self) -> str:
        return (
            f"every class of records equal in {{columns}} has at least {self.k} records and no confidential value "
            f"makes up more than {self.alpha:g} of it (a smaller class counts as 1)"
        )
