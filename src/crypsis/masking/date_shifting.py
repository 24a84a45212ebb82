"""Date shifting: all dates of a person move by the same random number of days."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.masking.method import Family, MaskingMethod, chosen_columns, methods
from crypsis.registry import ColumnName
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

SECONDS = 86_400
"""Of a day."""


@methods.add("date-shifting")
class DateShifting(MaskingMethod):
    """All dates of a person move by the same random number of days, never by none, so that their order and gaps stay.

    The person, or the household, is named by a column; records without it move by themselves. Without columns, every
    quasi-identifier of dates is shifted; a number that is named counts days. Missing dates stay missing.

    Notes
    -----
    - Formula: x' = x + s(person), s drawn from −days … days without 0
    - Paper: Hripcsak, Mirhaji, Low and Malin (2016), Preserving temporal relations in clinical data while maintaining
      privacy
    - Cost: O(n)
    - Departures: none; intervals between dates of a person are published as they are, and may be known to somebody

    Examples
    --------
    >>> visits = crypsis.Table.from_columns({"who": ["a", "a", "b"], "day": [10, 17, 12]}, roles={"day": "quasi"})
    >>> day = crypsis.DateShifting(columns=("day",), person="who").mask(visits, np.random.default_rng(0)).column("day")
    >>> float(day[1] - day[0])
    7.0
    """

    family: ClassVar[Family] = Family.PERTURBATION
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC})

    person: ColumnName = Field(
        default="",
        description="column that says whose record it is; empty: every record by itself",
        examples=["secret"],
    )
    days: int = Field(default=180, ge=1, le=36_500, description="largest number of days by which dates move")

    def apply(self, table: Table, rng: Generator) -> Table:
        dates = tuple(
            name for name in table.quasi_identifiers if table.attribute(name).dates and table.level(name) == 0
        )
        if not self.columns and not dates:
            raise TableError("date shifting: no quasi-identifier holds dates; name the columns to shift")
        reason = "date shifting needs dates; read the column as dates"
        names = chosen_columns(table, self.columns or dates, self.kinds, "date shifting", reason)
        if self.person in names:
            raise TableError(f"date shifting: column {self.person!r} says whose record it is; it is not shifted itself")
        shift = self._draw_shifts(table, rng)
        unit = {name: SECONDS if table.attribute(name).dates == "datetime" else 1 for name in names}
        return table.with_columns({name: table.column(name) + unit[name] * shift for name in names})

    def _draw_shifts(self, table: Table, rng: Generator) -> NDArray[np.int64]:
        """int64[n]: days by which each record moves."""
        whose = np.arange(len(table))
        if self.person:
            codes = table.codes([self.person])
            alone = codes[:, 0] == MISSING
            whose = np.where(alone, len(table) + whose, equivalence_classes(codes).of)
        people, of = np.unique(whose, return_inverse=True)
        drawn = rng.integers(1, self.days + 1, len(people)) * rng.choice([-1, 1], len(people))
        return np.asarray(drawn[of])
