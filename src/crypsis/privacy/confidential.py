"""Models about what a class gives away: the worst confidential column decides."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError, listing, unknown_column
from crypsis.privacy.content_demand import ContentDemand
from crypsis.privacy.model import Assumption, PrivacyModel, models
from crypsis.privacy.properties import Floats
from crypsis.table.equivalence_classes import ClassContents, EquivalenceClasses, classes_of
from crypsis.table.hierarchy import MISSING
from crypsis.table.lookalikes import folded_codes
from crypsis.table.table import Table


class ConfidentialModel(PrivacyModel):
    """A model that looks at the confidential values of every equivalence class.

    Values that only look different (`crypsis.table.lookalikes`) are one value. A missing value is none: shares are
    taken among the records that have one. A class in which nobody has a value has none to count and none to give away.
    """

    assumptions: ClassVar[tuple[Assumption, ...]] = (*PrivacyModel.assumptions, Assumption.CONFIDENTIAL_UNKNOWN)

    confidential: tuple[str, ...] = Field(
        default=(), description="columns not to be learnt; empty means every confidential one, the worst counts"
    )

    @abstractmethod
    def class_levels(self, table: Table, column: str, classes: EquivalenceClasses, contents: ClassContents) -> Floats:
        """float64[classes]: the property of each class under one confidential column.

        Parameters
        ----------
        table : Table
            The judged table.
        column : str
            The confidential column.
        classes : EquivalenceClasses
            Classes of equal quasi-identifiers.
        contents : ClassContents
            How often each value of the column occurs in each class.

        Returns
        -------
        ndarray of float64
            One number per class.
        """

    def hidden(self, table: Table) -> tuple[str, ...]:
        """The columns that must not be learnt: those named, or all with that role.

        Parameters
        ----------
        table : Table
            A table; its confidential columns are taken unless some are named.

        Returns
        -------
        tuple of str
        """
        return self.confidential or tuple(table.confidential)

    def levels(self, table: Table) -> Floats:
        # The property of each record's class, under the worst confidential column.
        classes = classes_of(table, self.known(table))
        pick = np.minimum if self.sense == "at least" else np.maximum
        found: Floats | None = None
        for column in self.hidden(table):
            here = self._known_levels(table, column, classes)
            found = here if found is None else pick(found, here)
        if found is None:
            raise TableError(self.obstacle(table) or "no confidential column was named")
        return classes.spread_out(found)

    @abstractmethod
    def content_kind(self, table: Table, column: str) -> tuple[int, tuple[float, float, float]]:
        """The kind of the demand on one column and its bounds; see `ContentDemand`."""

    def content_tree(self, table: Table, column: str) -> NDArray[np.int32] | None:
        """int32[levels, n]: groups of the values of a column, where the model looks at its hierarchy."""
        return None

    def content_demands(self, table: Table) -> tuple[ContentDemand, ...]:
        return tuple(
            ContentDemand(
                *self.content_kind(table, column),
                column=column,
                codes=folded_codes(table, column),
                tree=self.content_tree(table, column),
            )
            for column in self.hidden(table)
        )

    def _known_levels(self, table: Table, column: str, classes: EquivalenceClasses) -> Floats:
        """The property of each class among its records that have a value; 0 where none has."""
        codes = folded_codes(table, column)
        inside = np.where(codes == MISSING, -1, classes.of)
        held, renumbered = np.unique(inside[inside >= 0], return_inverse=True)
        of = np.full(len(codes), -1, dtype=np.int64)
        of[inside >= 0] = renumbered
        known, levels = EquivalenceClasses(of, len(held)), np.zeros(classes.count)
        if len(held):
            levels[held] = self.class_levels(table, column, known, known.contents(codes))
        return levels

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
