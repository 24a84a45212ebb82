"""Which searches are worth a try on a table, and what each needs to be set: for a first plan, and to compile ahead."""

from __future__ import annotations

from typing import Any, NamedTuple

from crypsis.errors import PlanError
from crypsis.masking.blocks import LARGE
from crypsis.searches.search import searches
from crypsis.table.table import Table


class SearchOffer(NamedTuple):
    """A search that can treat a table.

    Parameters
    ----------
    name : str
        Registered name.
    purpose : str
        What the search looks for, in a few words.
    settings : dict
        What differs from the defaults.
    drawback : str
        Why it should be left out all the same; empty if it should not.
    """

    name: str
    purpose: str
    settings: dict[str, Any]
    drawback: str


def offers(table: Table, k: int) -> list[SearchOffer]:
    """The searches that state a purpose and can treat a table.

    table  the table to protect, with its roles
    returns  those that lead, then on a large table the quickest first, so that there is soon something to see
    """
    stated = [name for name in searches if searches[name].purpose]
    found, sign = [], -1 if len(table) <= LARGE else 1
    for name in sorted(stated, key=lambda name: (not searches[name].leads, sign * searches[name].pace)):
        cls = searches[name]
        settings = cls.first_settings(table, k)
        if _can_treat(name, settings, table):
            found.append(SearchOffer(name, cls.purpose, settings, cls.drawback(table)))
    return found


def _can_treat(name: str, settings: dict[str, Any], table: Table) -> bool:
    try:
        return not searches.build(name, **settings).obstacle(table)
    except PlanError:
        return False
