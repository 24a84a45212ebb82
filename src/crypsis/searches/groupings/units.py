"""Which columns must share a group: those one intruder knows, those a rule ties, and those linked to each other.

A demand on the classes of some columns holds where these columns are masked together. So a grouping whose groups are
unions of units keeps every demand, and one intruder after the other is answered by the group that holds their columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import listing
from crypsis.privacy.model import PrivacyModel
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table

Units = tuple[tuple[int, ...], ...]
"""Positions of columns by unit, sorted inside a unit, units sorted by their first column."""


def units(
    table: Table, names: Sequence[str], models: Sequence[PrivacyModel], ties: Sequence[Sequence[str]] = ()
) -> Units:
    """Columns that are always masked together.

    Parameters
    ----------
    table : Table
        The original, with its roles and links.
    names : sequence of str
        Columns that are masked.
    models : sequence of PrivacyModel
        What is demanded; the columns one of them looks at become one unit, and so do units that share a column.
    ties : sequence of sequences of str
        Columns that a rule ties together: masked apart, they would break it.

    Returns
    -------
    tuple of tuples of int

    Examples
    --------
    >>> from crypsis.privacy.anonymity import KAnonymity
    >>> people = Table.from_columns({"a": [1], "b": [2], "c": [3]}, dict.fromkeys("abc", "quasi"))
    >>> units(people, ["a", "b", "c"], [KAnonymity(k=2, quasi_identifiers=("a", "c"))])
    ((0, 2), (1,))
    """
    bonds = [{name, table.attribute(name).linked} for name in names]
    bonds += [set(model.known(table)) for model in models] + [set(tie) for tie in ties]
    unit = list(range(len(names)))
    for bond in bonds:
        joined = {unit[place] for place, name in enumerate(names) if name in bond}
        unit = [min(joined) if each in joined else each for each in unit]
    return tuple(
        tuple(place for place, each in enumerate(unit) if each == first) for first in dict.fromkeys(sorted(unit))
    )


def touching(table: Table, columns: Iterable[str], models: Sequence[PrivacyModel]) -> list[PrivacyModel]:
    """Models that look at one of some columns."""
    held = set(columns)
    return [model for model in models if held & set(model.known(table))]


def fixed_columns(table: Table, columns: Sequence[str], models: Sequence[PrivacyModel]) -> list[str]:
    """Columns known beside masked ones that stay as collected: only records equal in them may share a cluster.

    columns  masked together
    models  what is demanded
    """
    known = {name for model in touching(table, columns, models) for name in model.known(table)}
    return [name for name in table.names if name in known and name not in columns]


def fixed_obstacle(table: Table, names: Sequence[str], models: Sequence[PrivacyModel], k: int) -> str:
    """Why clusters of k cannot hold beside columns that stay as collected; empty if they can.

    names  columns that are masked
    """
    for unit in units(table, names, models):
        columns = [names[place] for place in unit]
        fixed, strata = fixed_columns(table, columns, models), fixed_strata(table, columns, models)
        sizes = np.bincount(strata)
        thin = int(sizes[sizes < k].sum())
        if thin:
            return (
                f"{listing(map(repr, fixed))} stays as collected and is known beside {listing(map(repr, columns))}, "
                f"and {thin} of {len(strata)} records share its values with fewer than {k} records; mask it too, or "
                f"lower k"
            )
    return ""


def fixed_strata(table: Table, columns: Sequence[str], models: Sequence[PrivacyModel]) -> NDArray[np.int32]:
    """int32[kept]: the class of every kept record by the columns that are known beside masked ones and stay."""
    fixed = fixed_columns(table, columns, models)
    if not fixed:
        return np.zeros(int(table.kept.sum()), np.int32)
    return equivalence_classes(table.codes(fixed)[table.kept]).of.astype(np.int32)
