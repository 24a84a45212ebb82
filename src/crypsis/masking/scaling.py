"""Where records lie when their likeness is judged: attributes of any kind as points of one Euclidean space.

Squared Euclidean distance in that space is the distance between records, so every partitioner works on every
mixture of kinds. Each attribute contributes, before weighing:

numeric   the number itself; dates are numbers
ordinal   the rank of the category over the domain, code / (|D| − 1): the whole domain is 1 apart
nominal   one indicator per category over √2: two unequal categories are 1 apart, in any pair

and is then weighed by the scaling:

z         every attribute has variance 1 (population), so each counts for n in SST; a nominal attribute of two
          categories counts exactly as the same attribute coded 0 and 1
range     a number is divided by its range; the others already span 1
none      as above, numbers in their own units

A constant attribute becomes 0. A missing value lies at the attribute's mean, where it pulls nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from crypsis.table.attribute import Kind
from crypsis.table.scaling import Scales, Scaling
from crypsis.table.table import Table


def embed(table: Table, names: Iterable[str], scaling: Scaling) -> NDArray[np.float64]:
    """float64[n, q], finite: the records as points; one coordinate per attribute, one per category if nominal."""
    parts = []
    for name in names:
        attribute, column = table.attribute(name), table.column(name)
        if attribute.kind is Kind.NUMERIC:
            scales = Scales.of(column[:, None])
            part = column[:, None] - scales.low if scaling == "none" else scales.in_unit_interval(column[:, None])
        elif attribute.kind is Kind.ORDINAL:
            steps = max(len(attribute.categories) - 1, 1)
            part = np.where(column < 0, np.nan, column / steps)[:, None]
        else:
            part = (column[:, None] == np.arange(len(attribute.categories))) / np.sqrt(2.0)
            part[column < 0] = np.nan
        parts.append(weighed(part, to_unit_variance=scaling == "z"))
    return np.hstack(parts) if parts else np.empty((table.rows, 0))


def weighed(part: NDArray[np.float64], to_unit_variance: bool) -> NDArray[np.float64]:
    """Centred coordinates of one attribute, missing ones at 0; of total variance 1 if asked and not constant."""
    present = ~np.isnan(part[:, 0]) if part.shape[1] else np.zeros(len(part), dtype=bool)
    if not (part[present] != part[present][:1]).any():
        return np.zeros_like(part)
    centred = np.where(present[:, None], part - part[present].mean(axis=0), 0.0)
    variance = float(np.mean(np.sum(centred[present] ** 2, axis=1)))
    return centred / np.sqrt(variance) if to_unit_variance else centred
