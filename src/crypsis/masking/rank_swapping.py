"""Rank swapping: values trade places with values of nearly the same rank.

Moore (1996); parameter as in the masking paper (2012): per cent of the number of records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.kernels.randomisation import swap_partners
from crypsis.masking.method import Family, MaskingMethod, chosen_columns, methods
from crypsis.table.attribute import Kind
from crypsis.table.table import Column, Table


@methods.add("rank-swapping")
class RankSwapping(MaskingMethod):
    """Each column by itself: sort, ties in random order, swap values at most percent · n / 100 ranks apart.

    The values of a column are kept exactly; only who holds which changes. Missing values stay where they are.

    Notes
    -----
    - Formula: values at most percent · n / 100 ranks apart trade places
    - Paper: Moore (1996); parameter of Marés and Torra (2012)
    - Cost: O(n log n) per column
    - Departures: ties are ordered at random, so that equal values do not always trade with the same neighbours

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"age": [20, 30, 40, 50, 90]}, roles={"age": "quasi"})
    >>> masked = crypsis.RankSwapping(percent=50).mask(table, np.random.default_rng(0))
    >>> sorted(masked.column("age").tolist())
    [20.0, 30.0, 40.0, 50.0, 90.0]
    """

    family: ClassVar[Family] = Family.PERTURBATION
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC, Kind.ORDINAL})

    percent: float = Field(
        default=5.0, gt=0, le=100, description="largest difference of ranks, in per cent of the records"
    )

    def apply(self, table: Table, rng: Generator) -> Table:
        reason = "rank swapping needs an order; declare the column ordinal or choose PRAM"
        names = chosen_columns(table, self.columns, self.kinds, "rank swapping", reason)
        return table.with_columns({name: self._swap(table.column(name), rng) for name in names})

    @classmethod
    def list_strengths(cls, table: Table, columns: Sequence[str]) -> Iterator[Self]:
        # By 5, 10, … 100 per cent of the ranks.
        names = cls.treatable(table, columns)
        if names:
            yield from (cls(columns=names, percent=5.0 * step) for step in range(1, 21))

    def _swap(self, column: Column, rng: Generator) -> Column:
        present = np.flatnonzero(column >= 0 if column.dtype == np.int32 else ~np.isnan(column))
        n = len(present)
        shuffled = rng.permutation(present)
        ranked = shuffled[np.argsort(column[shuffled], kind="stable")]
        window = int(self.percent * n / 100)
        partner = swap_partners(n, window, rng.random(n))
        swapped = column.copy()
        swapped[ranked] = column[ranked[partner]]
        return swapped
