"""A measure that is ready to read masked tables, for whoever may know what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from crypsis.measures.measure import BoundMeasure, Measure


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
