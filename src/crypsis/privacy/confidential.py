"""Models about what a class gives away: the worst confidential column decides."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from pydantic import Field

from crypsis.errors import TableError, listing, unknown_column
from crypsis.privacy.model import PrivacyModel, models
from crypsis.privacy.properties import Floats
from crypsis.table.equivalence_classes import ClassContents, EquivalenceClasses, classes_of
from crypsis.table.table import Table


class ConfidentialModel(PrivacyModel):
    """A model that looks at the confidential values of every equivalence class."""

    confidential: tuple[str, ...] = Field(
        default=(), description="columns not to be learnt; empty means every confidential one, the worst counts"
    )

    @abstractmethod
    def class_levels(self, table: Table, column: str, classes: EquivalenceClasses, contents: ClassContents) -> Floats:
        """float64[classes]: the property of each class under one confidential column."""

    def hidden(self, table: Table) -> tuple[str, ...]:
        """The columns that must not be learnt: those named, or all with that role."""
        return self.confidential or tuple(table.confidential)

    def levels(self, table: Table) -> Floats:
        """The property of each record's class, under the worst confidential column."""
        classes = classes_of(table, self.known(table))
        pick = np.minimum if self.sense == "at least" else np.maximum
        found: Floats | None = None
        for column in self.hidden(table):
            here = self.class_levels(table, column, classes, classes.contents(table.codes([column])[:, 0]))
            found = here if found is None else pick(found, here)
        if found is None:
            raise TableError(self.obstacle(table) or "no confidential column was named")
        return classes.spread_out(found)

    def obstacle(self, table: Table) -> str:
        name = models.name_of(self)
        unknown = unknown_column((*self.quasi_identifiers, *self.confidential), table.names)
        found = f"{name}: {unknown}" if unknown else super().obstacle(table)
        if found:
            return found
        hidden = self.hidden(table)
        if not hidden:
            return (
                f"{name}: the table has no confidential attribute; give the column to protect the role 'confidential'"
            )
        both = sorted(set(self.known(table)) & set(hidden))
        if both:
            return (
                f"{name}: {listing(map(repr, both))} would be quasi-identifier and confidential at once; give each "
                f"column one of the two"
            )
        return ""
