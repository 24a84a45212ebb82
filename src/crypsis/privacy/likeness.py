"""β-likeness (Cao and Karras 2012): no class makes a confidential value much likelier than the table does.

Unlike t-closeness it is relative: going from 1 to 3 % is a gain of 200 %, going from 50 to 52 % one of 4 %.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from crypsis.kernels.classes import BETA
from crypsis.privacy.demands import ConfidentialModel
from crypsis.privacy.model import TOLERANCE, Floats, Sense, models
from crypsis.table.equivalence_classes import ClassContents, EquivalenceClasses
from crypsis.table.table import Table


def largest_gain(classes: EquivalenceClasses, contents: ClassContents, enhanced: bool) -> Floats:
    """The largest (p - q)/q of each class, p its share of a value and q the table's; at least 0.

    Enhanced, a gain above -ln q is infinite: such a value is disclosed whatever β allows.
    """
    overall = contents.overall[contents.value]
    gain = contents.count / classes.sizes[contents.owner] / overall - 1.0
    if enhanced:
        gain = np.where(gain > -np.log(overall) + TOLERANCE, np.inf, gain)
    largest = np.zeros(classes.count)
    np.maximum.at(largest, contents.owner, gain)
    return largest


@models.add("beta-likeness")
class BetaLikeness(ConfidentialModel):
    """Seeing a class raises the chance of no confidential value by more than the factor 1 + β.

    Notes
    -----
    - Formula: (p − q)/q ≤ β (enhanced: min(β, −ln q)) for every value that became likelier, p in the class, q in the
      table
    - Paper: Cao and Karras (2012)
    - Cost: O(n)
    - Departures: none

    Examples
    --------
    >>> table, _ = crypsis.example_pair("categories")
    >>> crypsis.BetaLikeness(beta=1.0).judge(table).holds
    True
    """

    sense: ClassVar[Sense] = "at most"
    monotone_in_generalisation: ClassVar[bool] = True

    beta: float = Field(default=1.0, gt=0.0, le=1e6, description="largest relative gain (p - q)/q of any value allowed")
    kind: Literal["enhanced", "basic"] = Field(
        default="enhanced", description="basic bounds the gain by β alone; enhanced also by -ln q, for frequent values"
    )

    @property
    def required(self) -> float:
        return self.beta

    def class_levels(self, table: Table, column: str, classes: EquivalenceClasses, contents: ClassContents) -> Floats:
        # The largest relative gain in each class.
        return largest_gain(classes, contents, self.kind == "enhanced")

    def content_kind(self, table: Table, column: str) -> tuple[int, tuple[float, float, float]]:
        return BETA, (self.beta, float(self.kind == "enhanced"), 0.0)

    def statement(self) -> str:
        bound = f"β = {self.beta:g}" if self.kind == "basic" else f"min(β = {self.beta:g}, -ln of its share)"
        return (
            f"no class of records equal in {{columns}} raises the share of a {self.value_in_words()} by more than "
            f"{bound}, relatively"
        )
