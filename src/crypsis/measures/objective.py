"""The one scorer of candidates: mean loss and mean risk of a masked table, bound to the original once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crypsis.errors import SearchError, listing
from crypsis.measures.measure import BoundMeasure, Measure
from crypsis.table.table import Table


class Objective:
    """Losses and risks of a user's choice, bound to the original once and asked many times.

    Parameters
    ----------
    original : Table
        The table before masking.
    measures : mapping of str to Measure
        At least one loss and one risk, by name.

    Raises
    ------
    SearchError
        If no loss or no risk is among them, or a measure cannot read the table.
    """

    def __init__(self, original: Table, measures: Mapping[str, Measure]) -> None:
        self.original, self.measures = original, dict(measures)
        if not {"loss", "risk"} <= {measure.aim for measure in measures.values()}:
            raise SearchError(
                f"a search weighs a loss against a risk, and the measures chosen are {listing(sorted(measures))}; "
                f"name at least one of each, or none to use the search's own"
            )
        for name, measure in measures.items():
            obstacle = measure.obstacle(original)
            if obstacle:
                raise SearchError(f"measure {name!r} cannot be read: {obstacle}")
        self._bound: dict[str, BoundMeasure] = {name: m.against(original) for name, m in measures.items()}

    def __getstate__(self) -> dict[str, object]:
        return {"original": self.original, "measures": self.measures}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def score(self, masked: Table) -> tuple[float, float]:
        """Mean loss and mean risk, both to be minimised."""
        return self._mean("loss", masked), self._mean("risk", masked)

    def _mean(self, aim: str, masked: Table) -> float:
        readings = [
            bound.read(masked) * (1.0 if self.measures[name].better == "low" else -1.0)
            for name, bound in self._bound.items()
            if self.measures[name].aim == aim
        ]
        return float(np.mean(readings))
