"""Singling out by one column: how many records hold a value that no other record of the file holds.

Whoever knows such a value finds the record, whatever the classes of the quasi-identifiers promise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.table.hierarchy import MISSING
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.table import Table

SINGLING_OUT: Literal["singling-out"] = "singling-out"


@dataclass(frozen=True)
class Finding:
    """Something a file reveals that nobody declared.

    Parameters
    ----------
    kind : {'singling-out'}
        What was found.
    columns : tuple of str
        In which columns.
    records : int
        How many records it concerns.
    share : float
        The same as a share of the published records, 0 to 1.
    """

    kind: Literal["singling-out"]
    columns: tuple[str, ...]
    records: int
    share: float

    @property
    def key(self) -> str:
        """Under which a waiver names it.

        Examples
        --------
        >>> Finding("singling-out", ("weight",), 9, 0.9).key
        'singling-out:weight'
        """
        return waiver_key(self.kind, ",".join(self.columns))


def waiver_key(kind: str, column: str) -> str:
    """Finding and column as one word, which no rule of a rulebook can be called."""
    return f"{kind}:{column}"


def alone(codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """bool[n]: whether no other record holds the value of a record; a missing cell holds none.

    Examples
    --------
    >>> alone(np.array([0, 1, 1, 2, -1]))
    array([ True, False, False,  True, False])
    """
    held = np.bincount(codes[codes != MISSING], minlength=1)
    return np.append(held == 1, False)[codes]


def singling_out(
    table: Table, as_collected: Mapping[str, NDArray[np.bool_]] | None = None, most: float = LARGEST_SHARE
) -> list[Finding]:
    """Every column that singles out more than a share of the kept records by itself.

    Parameters
    ----------
    table : Table
        As it is published.
    as_collected : mapping of str to bool[n], optional
        By column, the cells that still hold what was collected: a masked value leads to nobody. A column that is not
        there, or all of them without a mapping, counts as collected.
    most : float
        Share of the records a column may single out.

    Returns
    -------
    list of Finding
        In the order of the columns.
    """
    records = int(table.kept.sum())
    found: list[Finding] = []
    for name in table.names:
        single = alone(table.codes([name])[table.kept, 0])
        if as_collected is not None and name in as_collected:
            single &= as_collected[name][table.kept]
        found += finding(name, int(single.sum()), records, most)
    return found


def finding(name: str, single: int, records: int, most: float = LARGEST_SHARE) -> Iterable[Finding]:
    """The finding on one column, if so many of the records singled out are too many."""
    share = single / max(records, 1)
    return [Finding(SINGLING_OUT, (name,), single, share)] if share > most else []
