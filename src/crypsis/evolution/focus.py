"""The focus of a search: a box of loss and risk in which solutions are wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Floats


@dataclass(frozen=True)
class Focus:
    """Least and largest loss and risk, per cent, of the solutions that are wanted.

    >>> Focus((20.0, 40.0), (0.0, 10.0)).distances(np.array([[30.0, 5.0], [50.0, 10.0], [17.0, 14.0]])).tolist()
    [0.0, 10.0, 5.0]
    """

    loss: tuple[float, float]
    risk: tuple[float, float]

    def distances(self, scores: Floats, *, by_risk: bool = False) -> Floats:
        """How far each row of scores is from the box; 0 inside.

        `scores` float64[n, m]: loss and risk first; `by_risk`: the risk alone counts, where the loss is another figure
        than the one that is measured; returns float64[n].
        """
        sides = np.array([self.loss, self.risk])
        beyond = np.maximum(np.maximum(sides[:, 0] - scores[:, :2], scores[:, :2] - sides[:, 1]), 0.0)
        return np.asarray(beyond[:, 1] if by_risk else np.hypot(beyond[:, 0], beyond[:, 1]))

    def meets(self, low: Floats, high: Floats) -> bool:
        """Whether the box has a point in common with another one.

        `low`, `high` float64[m]: least and largest loss and risk of the other.
        """
        sides = np.array([self.loss, self.risk])
        return bool(((low[:2] <= sides[:, 1]) & (high[:2] >= sides[:, 0])).all())

    def find_near(self, scores: Floats, least: int, *, by_risk: bool = False) -> NDArray[np.int64]:
        """Positions of the rows inside the box, in their order; where these are too few, with the nearest others.

        `scores` float64[n, m]; `least`: how many are wanted at least; returns int64[l].

        >>> Focus((20.0, 40.0), (0.0, 10.0)).find_near(np.array([[50.0, 10.0], [30.0, 5.0], [17.0, 14.0]]), 2).tolist()
        [1, 2]
        """
        far = self.distances(scores, by_risk=by_risk)
        return np.sort(np.argsort(far, kind="stable")[: max(least, int((far == 0.0).sum()))])


def find_focused(focus: Focus | None, scores: Floats, least: int, *, by_risk: bool = False) -> NDArray[np.int64]:
    """Positions of the members that a search works on: all, or under a focus those in the box or next to it.

    `scores` float64[n, m]; returns int64[l].
    """
    if focus is None or not len(scores):
        return np.arange(len(scores))
    return focus.find_near(scores, least, by_risk=by_risk)
