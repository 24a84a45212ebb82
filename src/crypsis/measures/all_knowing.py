"""The intruder who knows every quasi-identifier: measured beside the intruders of a plan that know fewer columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crypsis.errors import TableError
from crypsis.measures.measure import BoundMeasure, Measure
from crypsis.table.table import Table

ALL_KNOWING = "all-knowing"
"""Figure of every solution where no intruder of the plan knows every quasi-identifier: the risk to one who does."""
KNOWN_CLASS = "k.scenarios"
"""Figure beside it: the smallest class over what each intruder of the plan knows."""


@dataclass(frozen=True)
class AllKnowing:
    """Risks by every quasi-identifier, bound to the original once."""

    bound: tuple[tuple[Measure, BoundMeasure], ...]

    @classmethod
    def of(cls, original: Table, risks: Sequence[Measure]) -> AllKnowing:
        """Risks, each by those quasi-identifiers that it can read, or by columns of its own."""
        found = []
        for risk in risks:
            names = risk.columns or readable(risk, original, original.quasi_identifiers)
            measure = risk.model_copy(update={"columns": names})
            found.append((measure, measure.against(original)))
        return cls(tuple(found))

    def risk(self, masked: Table, family: str) -> float | None:
        """Mean of the risks; None where one has no meaning after a family of masking."""
        if not all(family in measure.valid_for for measure, _ in self.bound):
            return None
        try:
            return float(np.mean([bound.read(masked) for _, bound in self.bound]))
        except TableError:
            return None


def readable(measure: Measure, table: Table, knows: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns the measure can read."""
    if not measure.model_copy(update={"columns": tuple(knows)}).obstacle(table):
        return tuple(knows)
    return tuple(name for name in knows if not measure.model_copy(update={"columns": (name,)}).obstacle(table))
