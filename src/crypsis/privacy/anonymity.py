"""k-anonymity (Samarati 2001; Sweeney 2002): nobody stands in a class of fewer than k."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field, PrivateAttr

from crypsis.kernels.classes import ALPHA, SIZE
from crypsis.privacy.demands import ConfidentialModel
from crypsis.privacy.diversity import largest_share_for_diversity
from crypsis.privacy.model import ContentDemand, Floats, PrivacyModel, Sense, models, worst_record_under_model
from crypsis.table.equivalence_classes import (
    HOW_READ,
    IN_WORDS,
    ClassContents,
    EquivalenceClasses,
    MissingReading,
    alike_on_both_sides,
    alike_records,
    equivalence_class_sizes,
)
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
      0005), of which `target` is the (k, k)-anonymity of Gionis, Mazza and Tassa (2008): both sides (decision 0026)

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
        description=HOW_READ,
    )

    _truth: Table | None = PrivateAttr(default=None)

    @property
    def required(self) -> float:
        return float(self.k)

    @property
    def least_class_size(self) -> int:
        return self.k

    def levels(self, table: Table) -> Floats:
        # How many records are alike with each one: by default the size of its class. By true values both sides count:
        # the records that may be a person's, and the persons whose a record may be; blank records alone are no cover.
        return alike_on_both_sides(table, self.known_columns(table), self.missing, self._truth)

    def bind_original(self, original: Table) -> KAnonymity:
        if self.missing != "target":
            return self
        model = self.model_copy()
        model._truth = original
        return model

    @property
    def beyond_file(self) -> str:
        return "is judged by true values that are not in the file" if self.missing == "target" else ""

    def remark(self, table: Table) -> str:
        names = self.known_columns(table)
        if not (table.codes(names)[table.kept] == MISSING).any():
            return ""
        text = IN_WORDS[self.missing]
        if self.missing == "target":
            return f"{text}, and as many persons are not contradicted by a record; the smaller number counts"
        if self.missing != "wildcard":
            return text
        stricter = worst_record_under_model(alike_records(table, names, "conservative"), "at least")
        return f"{text}; to an intruder who knows the missing values, with at least {stricter:g}"

    def content_demands(self, table: Table) -> tuple[ContentDemand, ...]:
        return (ContentDemand(SIZE, (float(self.k), 0.0, 0.0)),)

    def statement(self) -> str:
        return f"every record shares its values of {{columns}} with at least {self.k} records"


def missing_cells_in_anonymity(models: Iterable[PrivacyModel]) -> MissingReading:
    """How k-anonymity reads missing cells where no demand is judged: as all demands on class sizes do, else `own`.

    >>> missing_cells_in_anonymity([KAnonymity(k=5, missing="target")]), missing_cells_in_anonymity([])
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


def smallest_anonymity_class(table: Table) -> SmallestClass | None:
    """The k of k-anonymity over every quasi-identifier; None where no column has that role.

    >>> people = Table.from_columns({"sex": ["f", "f"], "zip": ["1", "2"]}, {"sex": "quasi", "zip": "quasi"})
    >>> smallest_anonymity_class(people)
    SmallestClass(columns=('sex', 'zip'), size=1)
    """
    names = table.quasi_identifiers
    return (
        SmallestClass(tuple(names), int(worst_record_under_model(equivalence_class_sizes(table, names), "at least")))
        if names
        else None
    )


# -- (α, k)-anonymity (Wong et al. 2006): classes of at least k, and no confidential value fills one.


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
        return largest_share_for_diversity(classes, contents)

    def levels(self, table: Table) -> Floats:
        # The largest share in the class of each record; 1 where it has fewer than k records.
        shares = super().levels(table)
        return np.where(equivalence_class_sizes(table, self.known_columns(table)) < self.k, 1.0, shares)

    def content_kind(self, table: Table, column: str) -> tuple[int, tuple[float, float, float]]:
        return ALPHA, (self.alpha, float(self.k), 0.0)

    def statement(self) -> str:
        return (
            f"every class of records equal in {{columns}} has at least {self.k} records and no {self.value_in_words()} "
            f"makes up more than {self.alpha:g} of it (a smaller class counts as 1)"
        )
