"""Demands as a constraint: what meets them all comes before what does not, and that by how much is missed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from crypsis.measures.measure import Measure
from crypsis.table.table import Table

TOLERANCE = 1e-9
FAR = 1000.0
"""Beyond any loss or risk in per cent."""


class Model(Protocol):
    """A privacy model, as far as an objective needs it."""

    def obstacle(self, table: Table) -> str:
        """Why the model cannot judge the table; empty if it can."""

    def judge(self, table: Table) -> Any:
        """The verdict on the table."""

    def knowing(self, original: Table) -> Model:
        """The same demand, judged by the true values where it reads missing cells by them."""

    def shortfall(self, table: Table) -> float:
        """How far the table falls short, 0 … 1; 0 exactly where the model holds."""


@dataclass(frozen=True)
class UseDemand:
    """A use the released file must still serve: its measure, and how much that may change."""

    title: str
    measure: Measure
    tolerance: float
    weight: float = 1.0
    treated_as: Literal["objective", "limit", "report"] = "limit"


@dataclass(frozen=True)
class LimitDemand:
    """A largest reading, of a measure or (measure None) of a figure every table has: loss, risk, suppressed."""

    title: str
    at_most: float
    measure: Measure | None = None


def beyond(shortfall: float) -> tuple[float, float]:
    """Loss and risk of a candidate that misses a demand, for orders that minimise both.

    Every candidate that meets the demands dominates it, and of two that miss them the one that misses less dominates
    the other. So dominance, weighted means and archives keep feasible candidates first without knowing of demands.

    Parameters
    ----------
    shortfall : float
        0 … 1.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> beyond(0.25)
    (1250.0, 1250.0)
    """
    return FAR * (1.0 + shortfall), FAR * (1.0 + shortfall)


def within(value: float, limit: float, better: str = "low") -> bool:
    """Whether a reading keeps its limit, apart from the last digits of its sum.

    Parameters
    ----------
    value, limit : float
        The reading, and what it may be at most (better "low") or at least ("high").
    better : str
        Which readings are good.

    Returns
    -------
    bool

    Examples
    --------
    >>> within(10.000000000000004, 10.0), within(10.1, 10.0), within(10.1, 10.0, "high")
    (True, False, True)
    """
    return bool(value <= limit + TOLERANCE if better == "low" else value >= limit - TOLERANCE)


def excess(value: float, at_most: float) -> float:
    """How far a reading exceeds its limit, relative to it.

    Parameters
    ----------
    value, at_most : float
        The reading, infinite where it cannot be taken, and the limit.

    Returns
    -------
    float
        0 … 1; 0 where the limit is kept.

    Examples
    --------
    >>> excess(5.0, 5.0), excess(20.0, 5.0)
    (0.0, 0.75)
    """
    if within(value, at_most):
        return 0.0
    return 1.0 if math.isinf(value) else (value - at_most) / (value - at_most + (at_most if at_most > 0 else 1.0))
