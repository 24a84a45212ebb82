"""What a published weight restores of the masked columns, as collected and as it is published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crypsis.audits.dependence import dependence_on_column
from crypsis.audits.published import Published
from crypsis.table.population import weight_column
from crypsis.table.table import Table


@dataclass(frozen=True)
class WeightRestoring:
    """Share of the masked cells of a column that a weight restores beyond chance, 0 to 1.

    Attributes
    ----------
    column : str
        A masked column.
    collected, published : float
        By the weight as collected, and as it is published.

    Examples
    --------
    >>> WeightRestoring("region", 0.9, 0.0).published
    0.0
    """

    column: str
    collected: float
    published: float


def weight_restoring(masked: Table, original: Table) -> tuple[WeightRestoring, ...]:
    """What the weight restores of every masked column, if it were published as collected and as it is.

    Parameters
    ----------
    masked, original : Table
        Row by row the same records.

    Returns
    -------
    tuple of WeightRestoring
        The most restored first; empty where no single column has the role weight.

    Examples
    --------
    >>> weight = np.repeat([10.5, 20.5, 30.5], 40)
    >>> columns = {"town": np.repeat(list("abc"), 40), "w": weight}
    >>> people = crypsis.Table.from_columns(columns, {"town": "quasi", "w": "weight"})
    >>> mixed = people.with_columns({"town": np.roll(people.column("town"), 40)})
    >>> flat = mixed.with_columns({"w": np.full(120, 20.0)})
    >>> [(each.column, each.collected, each.published) for each in crypsis.weight_restoring(flat, people)]
    [('town', 1.0, 0.0)]
    """
    name = weight_column(original)
    if not name or name not in masked.names:
        return ()
    rows = np.flatnonzero(masked.kept)
    before, after = original.take(rows), masked.take(rows)
    collected = after.with_columns(
        {name: before.column(name)}, {name: before.level(name)}, {name: before.attribute(name)}
    )
    shares = [dependence_on_column(Published(table, before).without_recomputed, name) for table in (collected, after)]
    found = [WeightRestoring(each, shares[0].get(each, 0.0), shares[1].get(each, 0.0)) for each in shares[1]]
    return tuple(sorted(found, key=lambda each: (-each.collected, -each.published, each.column)))
