"""Locked columns: quasi-identifiers that are published as collected."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from crypsis.table.attribute import Attribute
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table


def lock(table: Table, names: Iterable[str]) -> Table:
    """The same table with some columns locked: their hierarchies keep the values alone, so that nothing is coarser.

    Examples
    --------
    >>> table = lock(Table.from_columns({"sex": ["f", "m"]}, {"sex": "quasi"}), ["sex"])
    >>> table.attribute("sex").locked, table.attribute("sex").hierarchy
    (True, Hierarchy(2))
    """
    return table.with_columns({}, attributes={name: _locked(table, name) for name in names})


def _locked(table: Table, name: str) -> Attribute:
    attribute, column = table.attribute(name), table.column(name)
    whole = attribute.hierarchy
    if whole is None:
        values = np.unique(column[~np.isnan(column)]) if attribute.numeric else np.empty(0)
        labels = tuple(f"{value:g}" for value in values) if attribute.numeric else attribute.categories
        whole = Hierarchy((np.arange(len(labels), dtype=np.int32),), (labels,), values)
    return attribute.but(locked=True, hierarchy=Hierarchy(whole.groups[:1], whole.labels[:1], whole.values))
