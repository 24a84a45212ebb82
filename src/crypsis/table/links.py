"""Columns that say the same: one determines the other, as a country its code or a town its region.

Masked apart they contradict each other. Linked, one leads and the other follows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

EVIDENCE = 30.0
"""Bits of surprise that a dependence must hold, were the columns independent, before it is taken to be meant."""


@dataclass(frozen=True)
class Link:
    """A column that another one determines.

    >>> Link("code", "country").lead
    'country'
    """

    name: str  # the column
    lead: str  # the one that determines it


def links(table: Table, names: Sequence[str], leading: Collection[str] | None = None) -> tuple[Link, ...]:
    """Find columns that another one determines in every record, more often than chance would.

    Returns at most one for a column; a column that leads does not follow.

    >>> table = Table.from_columns({"country": ["fi", "ee", "lv"] * 20, "prefix": [358, 372, 371] * 20})
    >>> links(table, table.names)
    (Link(name='prefix', lead='country'),)
    """
    if leading is None:
        leading = {name for name in names if not table.attribute(name).numeric}
    codes = {name: table.codes([name])[:, 0] for name in names}
    found: dict[str, Link] = {}
    leads: set[str] = set()
    # A column of many values determines more than one of few: it is asked first, an earlier column before a later one.
    order = sorted(names, key=lambda name: -len(np.unique(codes[name])))
    for lead in order:
        if lead in found or lead not in leading:
            continue
        for name in order:
            if name == lead or name in found or name in leads or not _determines(codes[lead], codes[name]):
                continue
            found[name] = Link(name, lead)
            leads.add(lead)
    return tuple(found[name] for name in names if name in found)


def _determines(lead: NDArray[np.int32], follower: NDArray[np.int32]) -> bool:
    """Whether a column is a function of another and independent ones would hardly be."""
    known = (lead != MISSING) & (follower != MISSING)
    values, counts = np.unique(follower[known], return_counts=True)
    distinct = len(np.unique(lead[known]))
    if len(values) < 2 or distinct < 2 or not _function(lead, follower):
        return False
    agreeing = float(((counts / counts.sum()) ** 2).sum())
    return (int(known.sum()) - distinct) * log2(1 / agreeing) >= EVIDENCE


def _function(lead: NDArray[np.int32], follower: NDArray[np.int32]) -> bool:
    """Whether equal values of one column have equal values of the other, where both are known."""
    known = (lead != MISSING) & (follower != MISSING)
    pairs = equivalence_classes(np.stack([lead[known], follower[known]], axis=1)).count
    return pairs == len(np.unique(lead[known]))


def follow_linked_lead(table: Table, name: str, lead: str) -> NDArray[np.int32]:
    """int32[categories of the lead]: a record with the value that goes with each, −1 where none has one."""
    if lead not in table.names:
        raise TableError(f"column {name!r} is linked to {lead!r}, and the table has no such column")
    if table.attribute(lead).numeric:
        raise TableError(
            f"column {name!r} is linked to {lead!r}, which holds numbers; link {lead!r} to {name!r}, or declare "
            f"{lead!r} nominal"
        )
    leading, own = table.column(lead), table.codes([name])[:, 0]
    known = np.flatnonzero((leading != MISSING) & (own != MISSING))
    record = np.full(len(table.attribute(lead).categories), -1, dtype=np.int32)
    record[leading[known][::-1]] = known[::-1]
    torn = int((own[record[leading[known]]] != own[known]).sum())
    if torn:
        raise TableError(
            f"column {name!r} is linked to {lead!r}, and {torn} records hold another value of {name!r} than others "
            f"with their value of {lead!r}; mend them, or leave linked out"
        )
    return record
