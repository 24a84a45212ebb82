"""Record swapping: risky records trade places with records of another stratum that look like them."""

from __future__ import annotations

from math import ceil
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.masking.method import Family, MaskingMethod, methods
from crypsis.table.equivalence_classes import equivalence_class_sizes, equivalence_classes
from crypsis.table.table import Table

TRIES = 30
"""Partners that are drawn before all of a group are looked through."""


@methods.add("record-swapping")
class RecordSwapping(MaskingMethod):
    """Pairs of records that agree in some columns exchange values of others, such as the region; risky ones first.

    Partners are equal in the columns of `matching` and differ in what is exchanged. Records in classes of fewer than k
    are exchanged before others, until the share is reached. Every combination of exchanged values stays as often as it
    was, within every combination of the matching columns. Without columns, every quasi-identifier that is not matched
    is exchanged.

    Notes
    -----
    - Formula: x_i[columns] ⇄ x_j[columns] where x_i[matching] = x_j[matching]
    - Paper: Dalenius and Reiss (1982); targeted: Shlomo, Tudor and Groom (2010)
    - Cost: O(n) draws; a group without partners is looked through once for each of its records
    - Departures: no hierarchy of regions; nearest regions are not preferred

    Examples
    --------
    >>> table = crypsis.Table.from_columns(
    ...     {"region": ["n", "s", "n", "s"], "sex": ["f", "f", "m", "m"]}, roles={"region": "quasi", "sex": "quasi"}
    ... )
    >>> method = crypsis.RecordSwapping(columns=("region",), matching=("sex",), percent=100)
    >>> method.mask(table, np.random.default_rng(0)).column("region").tolist()
    [1, 0, 1, 0]
    """

    family: ClassVar[Family] = Family.PERTURBATION

    matching: tuple[str, ...] = Field(
        default=(), description="columns in which partners are equal", examples=[("b",), ("sex",)]
    )
    percent: float = Field(default=5.0, gt=0, le=100, description="per cent of the records that are exchanged")
    k: int = Field(
        default=3, ge=1, description="records in classes of fewer than k are exchanged first; 1: all by chance alone"
    )

    def apply(self, table: Table, rng: Generator) -> Table:
        names = self.columns or tuple(name for name in table.quasi_identifiers if name not in self.matching)
        both = [name for name in names if name in self.matching]
        if both:
            raise TableError(f"record swapping: column {both[0]!r} is both exchanged and matched; leave it out of one")
        if not names:
            raise TableError("record swapping: no column is left to exchange; name columns or match fewer")
        donors = self._donors(table, names, rng)
        return table.with_columns({name: table.column(name)[donors] for name in names})

    def _donors(self, table: Table, names: tuple[str, ...], rng: Generator) -> NDArray[np.int64]:
        """int64[n]: whose values each record publishes."""
        group = equivalence_classes(table.codes(self.matching), table.kept).of if self.matching else _one(table.kept)
        value = equivalence_classes(table.codes(names)).of
        known = table.quasi_identifiers or list(names)
        risky = np.nan_to_num(equivalence_class_sizes(table, known), nan=np.inf) < self.k
        order = rng.permutation(np.flatnonzero(table.kept))
        order = np.concatenate([order[risky[order]], order[~risky[order]]])
        gathered = order[np.argsort(group[order], kind="stable")]
        members = np.split(gathered, np.cumsum(np.bincount(group[order]))[:-1])
        donors, left = np.arange(len(table)), ceil(self.percent * len(order) / 100)
        for row in order.tolist():
            if left <= 0:
                break
            if donors[row] == row:
                partner = _find_partner(row, members[group[row]], value, donors, rng)
                if partner >= 0:
                    donors[row], donors[partner] = partner, row
                    left -= 2
        return donors


def _one(kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """One group of all kept records; −1 for the others."""
    return np.where(kept, 0, -1)


def _find_partner(
    row: int, members: NDArray[np.int64], value: NDArray[np.int64], donors: NDArray[np.int64], rng: Generator
) -> int:
    """A record of the group that was not exchanged and has other values; −1 where there is none."""
    for place in rng.integers(0, len(members), TRIES).tolist():
        other = int(members[place])
        if donors[other] == other and value[other] != value[row]:
            return other
    able = members[(donors[members] == members) & (value[members] != value[row])]
    return int(able[rng.integers(len(able))]) if len(able) else -1
