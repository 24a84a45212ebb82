"""The last step of every masking: numbers at the precision of the source, and rules that were broken mended."""

from __future__ import annotations

from dataclasses import dataclass, field

from crypsis.masking.repairing import repaired
from crypsis.table.precision import at_source_precision
from crypsis.table.provenance import PERTURBATION
from crypsis.table.rules import EditRule
from crypsis.table.table import Table


@dataclass(frozen=True)
class Finishing:
    """Makes decoded tables what they are when they are published, so that they are measured as such.

    original  as collected
    rules  what must hold
    """

    original: Table = field(repr=False)
    rules: tuple[EditRule, ...] = ()

    def __call__(self, masked: Table, family: str) -> Table:
        """The finished table; what perturbation broke is counted, as it has no classes that could be kept."""
        rounded = at_source_precision(masked, self.original)
        return rounded if family == PERTURBATION else repaired(rounded, self.original, self.rules)
