"""Rounding of numbers to a base: to the nearest multiple, by chance, or by chance with the total kept."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.masking.method import Family, MaskingMethod, chosen_columns, methods
from crypsis.table.attribute import Kind
from crypsis.table.table import Table

Floats = NDArray[np.float64]


@methods.add("number-rounding")
class NumberRounding(MaskingMethod):
    """Every number becomes a multiple of a base: the nearest, or one of the two next to it by chance.

    By chance a number is rounded up with the probability of its remainder, so that every mean is right on average;
    controlled, the number of those rounded up is fixed too, so that the total of the column moves by at most one base.
    Missing values stay missing.

    Notes
    -----
    - Formula: x' = base · round(x / base), or base · (⌊x / base⌋ + u) with P(u = 1) = x / base − ⌊x / base⌋
    - Paper: Hundepool et al. (2012), Statistical Disclosure Control; Cox (1987) for controlled rounding
    - Cost: O(n) per column
    - Departures: controlled for the total of a column, not for the margins of tables

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"age": [21, 34, 48]}, roles={"age": "quasi"})
    >>> crypsis.NumberRounding(base=10).mask(table, np.random.default_rng(0)).column("age").tolist()
    [20.0, 30.0, 50.0]
    """

    family: ClassVar[Family] = Family.PERTURBATION
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC})

    base: float = Field(default=10.0, gt=0, le=1e12, description="numbers become multiples of this")
    form: Literal["nearest", "random", "controlled"] = Field(
        default="nearest",
        description="nearest: to the nearest multiple; random: up or down, right on average; controlled: as random, "
        "and the total moves by at most one base",
    )

    def apply(self, table: Table, rng: Generator) -> Table:
        reason = "rounding needs numbers; choose global recoding for categories"
        names = chosen_columns(table, self.columns, self.kinds, "rounding", reason)
        return table.with_columns({name: self._round(table.column(name), rng) for name in names})

    def _round(self, column: Floats, rng: Generator) -> Floats:
        rounded = column.copy()
        present = ~np.isnan(column)
        scaled = column[present] / self.base
        if self.form == "nearest":
            rounded[present] = self.base * np.round(scaled)
            return rounded
        low = np.floor(scaled)
        up = _draw_by_chance(scaled - low, rng) if self.form == "controlled" else rng.random(len(low)) < scaled - low
        rounded[present] = self.base * (low + up)
        return rounded


def _draw_by_chance(chances: Floats, rng: Generator) -> NDArray[np.bool_]:
    """Draw each with its chance, and as many in all as the chances add up to, by systematic sampling in random order.

    `chances` float64[n]; returns bool[n].
    """
    order = rng.permutation(len(chances))
    ends = np.floor(np.cumsum(chances[order]) + rng.random())
    drawn = np.zeros(len(chances), dtype=np.bool_)
    drawn[order] = np.diff(np.concatenate([[0.0], ends])) > 0
    return drawn
