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

and by the importance of the attribute: squared distances are multiplied by it.

A constant attribute becomes 0. A missing value lies at the attribute's mean, where it pulls nowhere. Where missing
values are `apart`, an attribute that lacks some has one coordinate more: missing or not, twice as far apart as its
farthest values are, so that groups of near records lack the same values. A single attribute with an order needs none:
its missing values lie on its own axis, beyond the largest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, listing
from crypsis.kernels.arrays import Floats
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.precision import Scales, Scaling
from crypsis.table.table import Column, Table

APART = 30.0
"""How much farther apart the values of a locked attribute are than those of another."""
FAR = 2.0
"""Distance of a missing value from those present, in spans of the attribute."""


def embed(table: Table, names: Iterable[str], scaling: Scaling, apart: bool = True) -> Floats:
    """float64[n, q], finite: the records as points; one coordinate per attribute, one per category if nominal.

    `apart`: whether a missing value is far from every value; otherwise it lies at the mean and pulls nowhere.
    """
    return Embedding.of(table, names, scaling, apart).points(table)


@dataclass(frozen=True, eq=False)
class Embedding:
    """The space of one table, so that records of another can be placed in it."""

    axes: tuple[_Axis, ...]

    @classmethod
    def of(cls, table: Table, names: Iterable[str], scaling: Scaling, apart: bool = True) -> Embedding:
        """The space in which the records of a table lie."""
        columns = [(table.attribute(name), table.column(name)) for name in names]
        axes = tuple(_Axis.of(attribute, column, scaling, apart) for attribute, column in columns)
        if len(axes) == 1 and axes[0].gap and columns[0][0].kind is not Kind.NOMINAL:
            largest = float(replace(axes[0], gap=0.0).place(columns[0][1]).max())
            axes = (replace(axes[0], beyond=largest + axes[0].gap),)
        return cls(axes)

    def points(self, table: Table) -> Floats:
        """float64[n, q]: records of a table with the same attributes, categories in the same order."""
        parts = [axis.weigh(table.column(axis.attribute.name)) for axis in self.axes]
        return np.hstack(parts) if parts else np.empty((table.rows, 0))


@dataclass(frozen=True, eq=False)
class _Axis:
    """One attribute of the space: its coordinates, centred and weighed."""

    attribute: Attribute
    scaling: Scaling
    scales: Scales
    """Of a numeric column; of no column otherwise."""
    centre: Floats
    deviation: float
    """What centred coordinates are divided by; 0 for a constant attribute, which is 0 everywhere."""
    gap: float = 0.0
    """How far a missing value lies from those present, in a coordinate of its own; 0: it lies at the centre."""
    beyond: float = 0.0
    """Where it lies instead on the axis of the values themselves; 0: it does not."""

    @classmethod
    def of(cls, attribute: Attribute, column: Column, scaling: Scaling, apart: bool) -> _Axis:
        """The axis of a column; a constant one, or one without a value, weighs nothing."""
        numbers = column[:, None] if attribute.numeric else np.empty((len(column), 0))
        bare = cls(attribute, scaling, Scales.of(numbers), np.zeros(0), 0.0)
        if attribute.kind is Kind.NOMINAL and 1 < len(attribute.categories) < len(column):
            return bare._of_categories(column, apart)
        part = bare._coordinates(column)
        held = part[~np.isnan(part[:, 0])] if part.shape[1] else part[:0]
        some = apart and 0 < len(held) < len(part)
        if not (held != held[:1]).any():
            return replace(bare, gap=FAR if some else 0.0)
        centre = held.mean(axis=0)
        variance = float(np.mean(np.sum((held - centre) ** 2, axis=1)))
        deviation = float(np.sqrt(variance)) if scaling == "z" else 1.0
        span = 1.0 if attribute.kind is Kind.NOMINAL else float(np.ptp(held))
        return replace(bare, centre=centre, deviation=deviation, gap=FAR * span / deviation if some else 0.0)

    def _of_categories(self, column: Column, apart: bool) -> _Axis:
        """The axis of a nominal column by the counts of its categories: the bits of what its coordinates give."""
        present = column[column >= 0]
        counts = np.bincount(present, minlength=len(self.attribute.categories))
        gap = FAR if apart and 0 < len(present) < len(column) else 0.0
        if np.count_nonzero(counts) < 2:
            return replace(self, gap=gap)
        side = 1.0 / np.sqrt(2.0)
        sums = np.append(0.0, np.cumsum(np.full(counts.max(), side)))  # one after the other, as rows are added up
        centre = sums[counts] / len(present)
        squares = np.sum((np.eye(len(counts)) * side - centre) ** 2, axis=1)
        deviation = float(np.sqrt(np.mean(squares[present]))) if self.scaling == "z" else 1.0
        return replace(self, centre=centre, deviation=deviation, gap=gap / deviation)

    def weigh(self, column: Column) -> Floats:
        """Coordinates of the records, weighed by the importance of the attribute; a locked one is far apart."""
        weight = APART**2 if self.attribute.locked else self.attribute.importance
        return np.asarray(self.place(column) * np.sqrt(weight))

    def place(self, column: Column) -> Floats:
        """Coordinates of the records; a missing value lies at the centre, and in a last coordinate far from it."""
        every = np.append(np.arange(len(self.attribute.categories)), -1)  # the last stands for a missing value
        if self.attribute.kind is Kind.NOMINAL and len(every) < len(column):
            return np.asarray(self._place(every)[column])
        return self._place(column)

    def _place(self, column: Column) -> Floats:
        part = self._coordinates(column)
        absent = np.isnan(part[:, :1]) if part.shape[1] else np.ones((len(part), 1), dtype=np.bool_)
        placed = np.where(absent, 0.0, part - self.centre) / self.deviation if self.deviation else np.zeros_like(part)
        if self.beyond:
            return np.where(absent, self.beyond, placed)
        return np.hstack([placed, absent * self.gap]) if self.gap else placed

    def _coordinates(self, column: Column) -> Floats:
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


# -- Locked columns: quasi-identifiers published as collected, so that only records equal in them may share a group.

Labels = NDArray[np.int32]


def _locked_names(table: Table, names: Iterable[str]) -> list[str]:
    """Columns among some that are published as collected."""
    return [name for name in names if table.attribute(name).locked]


def scaling_strata(table: Table, names: Iterable[str]) -> Labels | None:
    """int32[kept records]: the class of every kept record by its locked columns; None where no column is locked."""
    locked = _locked_names(table, names)
    return equivalence_classes(table.codes(locked)[table.kept]).of.astype(np.int32) if locked else None


def scaling_lock_obstacle(table: Table, names: Iterable[str], k: int) -> str:
    """Why k alike records cannot be grouped within the classes of locked columns as collected; empty if they can."""
    names = list(names)
    found = scaling_strata(table, names)
    if found is None:
        return ""
    sizes = np.bincount(found)
    thin = int(sizes[sizes < k].sum())
    if not thin:
        return ""
    locked = listing(map(repr, _locked_names(table, names)))
    return (
        f"{locked} would stay as collected, and {thin} of {len(found)} records share their values there with fewer "
        f"than {k} records; unlock a column or lower k"
    )


def cut_scaled_groups(labels: Labels, of: Labels, points: NDArray[np.float64], k: int) -> Labels:
    """After scaling: cut groups of scaled records at strata of locked columns, and join small parts.

    `labels`, `of` int32[n]; `points` float64[n, q]; returns int32[n]: 0, 1, … without gaps, every group within one
    stratum and of at least k records.
    """
    if np.bincount(of).min(initial=k) < k:
        raise TableError(f"a class of the locked columns has fewer than {k} records; unlock a column or lower k")
    parts = equivalence_classes(np.stack([of, labels], axis=1))
    part, count = parts.of.copy(), parts.count
    sizes = np.bincount(part, minlength=count)
    sums = np.stack([np.bincount(part, weights=axis, minlength=count) for axis in points.T], axis=1)
    home = of[parts.first]
    for stratum in np.unique(home[sizes < k]):
        inside = np.flatnonzero(home == stratum)
        while len(inside) > 1:
            least = int(np.argmin(sizes[inside]))
            if sizes[inside[least]] >= k:
                break
            small, others = inside[least], np.delete(inside, least)
            centres = sums[others] / sizes[others, None]
            near = others[int(np.argmin(((centres - sums[small] / sizes[small]) ** 2).sum(axis=1)))]
            part[part == small] = near
            sizes[near], sums[near] = sizes[near] + sizes[small], sums[near] + sums[small]
            inside = others
    return np.unique(part, return_inverse=True)[1].astype(np.int32)


def project_on_first_component(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Projection of scaled records on the direction of greatest variance; its largest loading counts as positive."""
    shifted = points - points.min(axis=0)
    centred = shifted - shifted.mean(axis=0)
    direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    heaviest = int(np.argmax(np.abs(direction)))
    return np.asarray(centred @ (direction * np.sign(direction[heaviest])))


def scale_to_z_scores(values: Floats) -> Floats:
    """Columns scaled to mean 0 and population deviation 1; a constant column becomes 0 and weighs nothing.

    >>> scale_to_z_scores(np.array([[1.0, 7.0], [3.0, 7.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    return np.ascontiguousarray(Scales.of(values).scale(values, "z"))
