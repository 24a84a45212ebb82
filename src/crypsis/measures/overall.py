"""Loss, risk and suppression of a whole objective, read as a measure is read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from crypsis.measures.measure import Aim, Reading
from crypsis.measures.objective import Objective
from crypsis.table.table import Table

Figure = Literal["loss", "risk", "suppressed"]

DEFINITIONS: dict[Figure, str] = {
    "loss": "mean of the losses of the plan",
    "risk": "mean of the risks of the plan to the intruder for whom it is greatest",
    "suppressed": "100 times the suppressed records over all records",
}


@dataclass(frozen=True, eq=False)
class OverallFigure:
    """A figure that every masked table has.

    Parameters
    ----------
    objective : Objective
        What is measured, bound to the original.
    figure : {'loss', 'risk', 'suppressed'}
        Which figure.
    family : str
        How the table was masked.

    Examples
    --------
    >>> table = crypsis.example(30)
    >>> objective = Objective(table, {"loss": crypsis.InformationLoss(), "risk": crypsis.ClassRisk()})
    >>> OverallFigure(objective, "loss", "recoding").explain(table).value
    0.0
    """

    objective: Objective = field(repr=False)
    figure: Figure
    family: str

    @property
    def aim(self) -> Aim:
        """Whether the figure is a risk; suppression is a loss."""
        return "risk" if self.figure == "risk" else "loss"

    def explain(self, masked: Table) -> Reading:
        """Read the figure.

        masked  row by row the records of the original
        returns  infinite if a measure that belongs to the figure cannot be read
        """
        value = self.objective.overall(self.figure, masked, self.family)
        value = math.inf if value is None else value
        return Reading(f"overall {self.figure}", value, "%", "low", self.aim, DEFINITIONS[self.figure])
