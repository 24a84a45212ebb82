"""A measure that is ready to read masked tables, for whoever may know what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from crypsis.measures.measure import BoundMeasure, Measure
from crypsis.pieces import Pieces
from crypsis.table.table import Table


@dataclass(frozen=True)
class BoundReader:
    """A measure bound to the original: once, or once for each intruder.

    title    name of the figure
    measure  the settings
    bound    intruder (or '') → bound measure
    """

    title: str
    measure: Measure
    bound: Mapping[str, BoundMeasure]

    def scoring(self, masked: Table) -> Pieces[dict[str, float]]:
        """The reading for every intruder, small where it is good, in pieces."""
        found = dict[str, float]()
        for intruder, bound in self.bound.items():
            found[intruder] = self.measure.signed((yield from bound.scoring(masked)))
        return found
