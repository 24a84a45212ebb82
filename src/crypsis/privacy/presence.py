"""δ-presence (Nergiz, Atzori and Clifton 2007): whether a person of the population is in the file stays uncertain.

The table judged is the whole population, generalised; one column says who is in the file to be published. The
intruder knows the population and its quasi-identifiers, and believes that a person is in the file with the
probability that is the share of members in that person's class. A release writes the members alone, without the
column that tells who they are.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from crypsis.kernels.classes import PRESENCE
from crypsis.privacy.model import Assumption, ContentDemand, Floats, PrivacyModel, Sense, models
from crypsis.registry import ColumnName
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.population import find_members_of_population, population_member_obstacle
from crypsis.table.table import Table


@models.add("delta-presence")
class DeltaPresence(PrivacyModel):
    """The share of members in every class of the population lies between two bounds.

    Notes
    -----
    - Formula: δ_min ≤ members / population of every class ≤ δ_max
    - Paper: Nergiz, Atzori and Clifton (2007)
    - Cost: O(n)
    - Departures: none

    Examples
    --------
    >>> people = {"town": ["a", "a", "a", "b", "b"], "sampled": ["no", "yes", "no", "yes", "no"]}
    >>> table = crypsis.Table.from_columns(people, roles={"town": "quasi"})
    >>> crypsis.DeltaPresence(member="sampled", present="yes", least=0.2, most=0.6).judge(table).holds
    True
    """

    sense: ClassVar[Sense] = "at most"
    assumptions: ClassVar[tuple[Assumption, ...]] = (*PrivacyModel.assumptions, Assumption.POPULATION)
    monotone_in_generalisation: ClassVar[bool] = True

    member: ColumnName = Field(default="member", description="column that says who of the population is in the file")
    present: str = Field(default="yes", description="its value for those who are (of a numeric column, the number)")
    least: float = Field(default=0.0, ge=0.0, le=1.0, description="smallest share of members in a class allowed")
    most: float = Field(default=0.5, ge=0.0, le=1.0, description="largest share of members in a class allowed")

    @model_validator(mode="after")
    def _agree(self) -> DeltaPresence:
        if self.least > self.most:
            raise ValueError(f"least ({self.least:g}) must not be above most ({self.most:g})")
        return self

    @property
    def required(self) -> float:
        """How far beliefs may leave the bounds: not at all."""
        return 0.0

    @property
    def membership(self) -> str:
        return self.member

    @property
    def beyond_file(self) -> str:
        return "speaks of a population that is not in the file"

    def members(self, table: Table) -> NDArray[np.bool_]:
        return find_members_of_population(table, self.member, self.present)

    def beliefs(self, table: Table) -> Floats:
        """The share of members in each record's class.

        Parameters
        ----------
        table : Table
            The population, with the column of members.

        Returns
        -------
        ndarray of float64
            NaN for a suppressed record.
        """
        classes = classes_of(table, self.known_columns(table))
        members = np.bincount(classes.of[table.kept], weights=self.members(table)[table.kept], minlength=classes.count)
        return classes.spread_out(members / classes.sizes)

    def levels(self, table: Table) -> Floats:
        # How far the share of members in each record's class lies outside the bounds; 0 inside.
        beliefs = self.beliefs(table)
        outside: Floats = np.maximum(np.maximum(beliefs - self.most, self.least - beliefs), 0.0)
        return outside

    def content_demands(self, table: Table) -> tuple[ContentDemand, ...]:
        members = self.members(table).astype(np.int32)
        bound = (self.required, self.least, self.most)
        return (ContentDemand(PRESENCE, bound, column=f"members: {self.member}", codes=members),)

    def obstacle(self, table: Table) -> str:
        found = super().obstacle(table)
        if found:
            return found
        if self.member in self.known_columns(table):
            return f"delta-presence: column {self.member!r} cannot be a quasi-identifier as well; give it role 'other'"
        wrong = population_member_obstacle(table, self.member, self.present)
        return f"delta-presence: {wrong}" if wrong else ""

    def statement(self) -> str:
        return (
            f"in every class of the population equal in {{columns}} between {self.least:g} and {self.most:g} of the "
            f"people are in the file (the number is how far the worst class lies outside)"
        )
