"""k-anonymity of persons who have several records: a class holds records of at least k different ones."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field, PrivateAttr

from crypsis.errors import TableError
from crypsis.kernels.classes import DISTINCT
from crypsis.privacy.model import Assumption, ContentDemand, Floats, PrivacyModel, Unit, models
from crypsis.registry import ColumnName
from crypsis.table.equivalence_classes import classes_of, equivalence_classes
from crypsis.table.households import household_column, household_obstacle, read_households
from crypsis.table.table import Table


@models.add("person-k-anonymity")
class PersonKAnonymity(PrivacyModel):
    """Every record shares its values with records of at least k different persons, itself included.

    Visits of a patient, years of a panel and members of a household are several records that belong together: a class
    of five records of one person protects nobody.

    Notes
    -----
    - Formula: min over records of #{persons with a record in class(record)} ≥ k
    - Paper: own, after Sweeney (2002)
    - Cost: O(n log n)
    - Departures: a record whose person is missing is one of its own; a person is found by one record, not by all of
      them together, of which `household-k-anonymity` speaks

    Examples
    --------
    >>> columns = {"sex": list("ffffmm"), "patient": [1, 1, 2, 2, 3, 3]}
    >>> visits = crypsis.Table.from_columns(columns, roles={"sex": "quasi", "patient": "household"})
    >>> verdict = crypsis.PersonKAnonymity(k=2).judge(visits)
    >>> verdict.attained, verdict.offending, verdict.unit
    (1.0, 2, 'person')
    """

    monotone_in_generalisation: ClassVar[bool] = True
    unit: ClassVar[Unit] = "person"
    assumptions: ClassVar[tuple[Assumption, ...]] = (Assumption.KNOWN_COLUMNS, Assumption.ONE_OF_SEVERAL)

    k: int = Field(default=3, ge=2, le=1_000_000_000, description="fewest different persons in a class")
    person: ColumnName = Field(
        default="", description="column that says whose record it is; empty: the one with the role household"
    )

    _truth: Table | None = PrivateAttr(default=None)

    @property
    def required(self) -> float:
        return float(self.k)

    @property
    def least_class_size(self) -> int:
        return self.k

    @property
    def beyond_file(self) -> str:
        return "counts persons, who are not in the file"

    def bind_original(self, original: Table) -> PersonKAnonymity:
        model = self.model_copy()
        model._truth = original
        return model

    def known_columns(self, table: Table) -> tuple[str, ...]:
        around = table if self._truth is None else self._truth
        return tuple(n for n in super().known_columns(table) if n != household_column(around, self.person))

    def levels(self, table: Table) -> Floats:
        # Different persons in the class of each record.
        persons = read_households(table if self._truth is None else self._truth, self.person)
        if len(persons) != len(table):
            raise TableError(
                f"the original has {len(persons)} rows and the masked table {len(table)}; rows must correspond"
            )
        classes = classes_of(table, self.known_columns(table))
        pairs = equivalence_classes(np.stack([classes.of, persons], axis=1), table.kept)
        held = np.bincount(classes.of[pairs.first], minlength=max(classes.count, 1)).astype(np.float64)
        return np.where(table.kept, held[classes.of], np.nan)

    def obstacle(self, table: Table) -> str:
        found = super().obstacle(table)
        wrong = household_obstacle(table if self._truth is None else self._truth, self.person)
        return found or (f"person-k-anonymity: {wrong}" if wrong else "")

    def content_demands(self, table: Table) -> tuple[ContentDemand, ...]:
        around = table if self._truth is None else self._truth
        codes = read_households(around, self.person).astype(np.int32)
        name = household_column(around, self.person)
        return (ContentDemand(DISTINCT, (float(self.k), 0.0, 0.0), column=name, codes=codes),)

    def statement(self) -> str:
        return (
            f"every record shares its values of {{columns}} with records of at least {self.k} different "
            f"persons or households"
        )
