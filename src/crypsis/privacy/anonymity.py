"""k-anonymity (Samarati 2001; Sweeney 2002): nobody stands in a class of fewer than k."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field, PrivateAttr

from crypsis.kernels.contents import SIZE
from crypsis.privacy.content_demand import ContentDemand
from crypsis.privacy.model import PrivacyModel, models
from crypsis.privacy.properties import Floats, class_sizes, worst
from crypsis.table.hierarchy import MISSING
from crypsis.table.missing_cells import IN_WORDS, MissingReading, alike_records
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
