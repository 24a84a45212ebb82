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
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crypsis.table.attribute import Attribute, Kind
from crypsis.table.scaling import Scales, Scaling
from crypsis.table.table import Column, Table


def embed(table: Table, names: Iterable[str], scaling: Scaling) -> NDArray[np.float64]:
    """float64[n, q], finite: the records as points; one coordinate per attribute, one per category if nominal."""
    return Embedding.of(table, names, scaling).points(table)


@dataclass(frozen=True, eq=False)
class Embedding:
    """The space of one table, so that records of another can be placed in it."""

    axes: tuple[_Axis, ...]

    @classmethod
    def of(cls, table: Table, names: Iterable[str], scaling: Scaling) -> Embedding:
        """The space in which the records of a table lie."""
        return cls(tuple(_Axis.of(table.attribute(name), table.column(name), scaling) for name in names))

    def points(self, table: Table) -> NDArray[np.float64]:
        """float64[n, q]: records of a table with the same attributes, categories in the same order."""
        parts = [axis.place(table.column(axis.attribute.name)) for axis in self.axes]
        return np.hstack(parts) if parts else np.empty((table.rows, 0))


@dataclass(frozen=True, eq=False)
class _Axis:
    """One attribute of the space: its coordinates, centred and weighed."""

    attribute: Attribute
    scaling: Scaling
    scales: Scales
    """Of a numeric column; of no column otherwise."""
    centre: NDArray[np.float64]
    deviation: float
    """What centred coordinates are divided by; 0 for a constant attribute, which is 0 everywhere."""

    @classmethod
    def of(cls, attribute: Attribute, column: Column, scaling: Scaling) -> _Axis:
        """The axis of a column; a constant one, or one without a value, weighs nothing."""
        numbers = column[:, None] if attribute.numeric else np.empty((len(column), 0))
        bare = cls(attribute, scaling, Scales.of(numbers), np.zeros(0), 0.0)
        part = bare._coordinates(column)
        held = part[~np.isnan(part[:, 0])] if part.shape[1] else part[:0]
        if not (held != held[:1]).any():
            return bare
        centre = held.mean(axis=0)
        variance = float(np.mean(np.sum((held - centre) ** 2, axis=1)))
        return replace(bare, centre=centre, deviation=float(np.sqrt(variance)) if scaling == "z" else 1.0)

    def place(self, column: Column) -> NDArray[np.float64]:
        """Coordinates of the records; a missing value lies at the centre."""
        part = self._coordinates(column)
        if self.deviation == 0:
            return np.zeros_like(part)
        return np.where(np.isnan(part[:, :1]), 0.0, part - self.centre) / self.deviation

    def _coordinates(self, column: Column) -> NDArray[np.float64]:
        """Before centring and weighing; NaN where missing."""
        if self.attribute.kind is Kind.NUMERIC:
            numbers = column[:, None]
            return numbers - self.scales.low if self.scaling == "none" else self.scales.in_unit_interval(numbers)
        if self.attribute.kind is Kind.ORDINAL:
            steps = max(len(self.attribute.categories) - 1, 1)
            return np.where(column < 0, np.nan, column / steps)[:, None]
        part = (column[:, None] == np.arange(len(self.attribute.categories))) / np.sqrt(2.0)
        part[column < 0] = np.nan
        return np.asarray(part)
