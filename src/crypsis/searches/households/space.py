"""The records of a table by household, as the kernels of composite groups read them.

Households are grouped in one of two ways. *Nested*: households that are near in the columns of households, and inside a
group records that are near in those of persons. *Whole*: households of one size whose members are paired, so that a
group of households is one group of records for each place in the household.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from crypsis.kernels import composite
from crypsis.kernels.composite import Cells, total_cost
from crypsis.masking.representatives import Representative
from crypsis.privacy.demands import ClassDemands, class_demands
from crypsis.privacy.model import PrivacyModel
from crypsis.privacy.persons import PersonKAnonymity
from crypsis.searches.composite.space import (
    PART_ORDERS,
    CompositeSpace,
    cells_of_composite_space,
    make_composite_space_buffers,
)
from crypsis.table.households import published_household_members
from crypsis.table.table import Table

Labels = NDArray[np.int32]
Ints = NDArray[np.int64]

MADE = ("cells", "members", "sizes", "_nothing")
"""What a worker can work out for itself."""


@dataclass(frozen=True, eq=False)
class HouseholdSpace:
    """Kept records, the households they belong to, and the columns that both share in groups."""

    table: Table = field(repr=False)  # the original
    names: tuple[str, ...]  # columns in which a group publishes one value
    shared: tuple[str, ...]  # those of them that have one value within every household
    profile: tuple[Representative, ...]  # what is published in each column
    weights: tuple[float, ...]  # what a lost cell of each column counts for
    home: Ints = field(repr=False)  # int64[kept]: household of each record, 0, 1, … without gaps
    strata: Labels = field(repr=False)  # int32[households]: only households of one stratum share a group
    models: tuple[PrivacyModel, ...] = ()  # what classes must satisfy
    whole: bool = False  # whether households are grouped whole, member by member

    def __getstate__(self) -> dict[str, object]:
        """Without what is made from the rest."""
        return {name: value for name, value in self.__dict__.items() if name not in MADE}

    def __len__(self) -> int:
        return len(self.home)

    @cached_property
    def cells(self) -> Cells:
        """The records for the kernels, columns of households first."""
        return cells_of_composite_space(self.table, self.ordered, self._ordered_ways, self._ordered_weights)

    @property
    def ordered(self) -> tuple[str, ...]:
        """The columns of households, then those of persons."""
        return (*self.shared, *(name for name in self.names if name not in self.shared))

    @property
    def _ordered_ways(self) -> tuple[Representative, ...]:
        ways = dict(zip(self.names, self.profile, strict=True))
        return tuple(ways[name] for name in self.ordered)

    @property
    def _ordered_weights(self) -> tuple[float, ...]:
        weights = dict(zip(self.names, self.weights, strict=True))
        return tuple(weights[name] for name in self.ordered)

    @cached_property
    def sizes(self) -> Ints:
        """int64[households]: members of each."""
        return np.bincount(self.home)

    @cached_property
    def members(self) -> Ints:
        """int64[kept]: the records, household by household."""
        return np.argsort(self.home, kind="stable").astype(np.int64)

    @property
    def first(self) -> Ints:
        """int64[households]: one member of each household, who has the values of its columns."""
        return np.asarray(self.members[np.concatenate([[0], np.cumsum(self.sizes)[:-1]])])

    @cached_property
    def _nothing(self) -> ClassDemands:
        """Nothing beside the size of a group."""
        return class_demands((), self.table, ())

    def demand(self, k: int) -> ClassDemands:
        """What groups of records must satisfy beside their size: k different households, and the models of the plan."""
        models = (*self.models, *(() if self.whole else (PersonKAnonymity(k=k),)))
        return class_demands(models, self.table, self.table.quasi_identifiers or self.names)

    def cost_of_groups(self, homes: Labels, inside: Labels) -> float:
        """What groups lose in all, in cells; who is left out loses everything."""
        kept = np.flatnonzero(homes >= 0)
        wide = len(self.shared)
        pairs = homes.astype(np.int64) * (int(inside.max(initial=0)) + 1) + inside
        lost = float(len(self) - len(kept)) * float(np.sum(self.weights))
        for part, labels in ((slice(0, wide), homes), (slice(wide, None), pairs)):
            cells = take_cells(self.cells, kept, part)
            if cells.codes.shape[1]:
                lost += cost_of_household_groups(cells, labels[kept])
        return lost

    # -- nested groups --

    def space_of_households(self, k: int, together: float) -> CompositeSpace:
        """One row for each household: its columns, and a summary of its members that counts `together` as much."""
        shared = take_cells(self.cells, self.first, slice(0, len(self.shared)))
        cells = shared
        if together > 0.0:
            summary = self._summarise_members()
            cells = join_cells([shared, summary._replace(weights=together * summary.weights)])
        return self._space(cells, self.strata, k)

    def _summarise_members(self) -> Cells:
        """One row for each household: the mean of its members' numbers, the commonest of their categories."""
        own = take_cells(self.cells, np.arange(len(self)), slice(len(self.shared), None))
        count = len(self.sizes)
        codes, values = np.zeros((count, own.codes.shape[1]), np.int32), np.zeros((count, own.codes.shape[1]))
        blanks = np.zeros_like(values)
        for a in range(own.codes.shape[1]):
            present = own.codes[:, a] >= 0
            held = np.maximum(np.bincount(self.home[present], minlength=count), 1)
            if own.numbers[a]:
                sums = np.bincount(self.home[present], own.values[present, a], count)
                values[:, a] = sums / held
                codes[:, a] = np.unique(values[:, a], return_inverse=True)[1]
            else:
                codes[:, a] = _commonest(self.home[present], own.codes[present, a], count)
                values[:, a] = np.maximum(codes[:, a], 0)
            codes[np.bincount(self.home[present], minlength=count) == 0, a] = -1
            blanks[:, a] = own.blanks[self.first, a]
        rules = np.where(own.numbers, composite.MEAN, composite.MODE)
        heights = np.full(len(rules), -1)  # codes of means are no leaves of a hierarchy
        return own._replace(codes=codes, values=values, blanks=blanks, rules=rules.astype(np.int64), heights=heights)

    def places_in_groups(self, homes: Labels, k: int) -> Iterator[Labels]:
        """int32[kept]: the place of each record in its household, as they come and by each column in turn.

        Places that fewer than k households of a group have are one with the last that k have, so that the records of
        each place are of at least k households.
        """
        group = homes[self.first]
        order = np.lexsort((-self.sizes, group))
        begins = np.searchsorted(group[order], np.arange(int(homes.max()) + 1))
        last = self.sizes[order][np.minimum(begins + k - 1, len(order) - 1)] - 1
        for places in self._orders_of_members():
            yield np.minimum(places, last[homes]).astype(np.int32)

    def _orders_of_members(self) -> Iterator[Labels]:
        """int32[kept]: places of records in their households, as they come and by each column of persons in turn."""
        yield _places(self.home, [])
        values = [self.cells.values[:, a] for a in range(len(self.shared), self.cells.codes.shape[1])]
        for lead, each in enumerate(values):
            yield _places(self.home, [each, *values[:lead], *values[lead + 1 :]])

    def space_of_records(self, homes: Labels, k: int) -> CompositeSpace:
        """The records with the columns of persons, grouped inside groups of households only."""
        cells = take_cells(self.cells, np.arange(len(self)), slice(len(self.shared), None))
        return self._space(cells, homes, k, self.demand(k))

    def _space(self, cells: Cells, strata: Labels, k: int, demands: ClassDemands | None = None) -> CompositeSpace:
        return CompositeSpace(
            table=self.table,
            names=tuple(map(str, range(cells.codes.shape[1]))),
            profiles=(self.profile,),
            k_grid=(k,),
            weights=tuple(cells.weights.tolist()),
            strata=np.unique(strata, return_inverse=True)[1].astype(np.int32),
            demands=self._nothing if demands is None else demands,
            orders=PART_ORDERS,
            given_cells=(cells,),
        )

    # -- whole households --

    def trimmed_sizes(self, k: int) -> Ints:
        """int64[households]: members that are published, so that at least k households of a stratum have as many."""
        sizes = self.sizes.copy()
        for stratum in np.unique(self.strata):
            inside = self.strata == stratum
            sizes[inside] = published_household_members(sizes[inside], k)
        return sizes

    def arrange_members(self) -> Labels:
        """int32[kept]: the place of each record in its household, so that those of one place are near.

        Of all orders of the members the one counts in which households of one size lose least.
        """
        own = take_cells(self.cells, np.arange(len(self)), slice(len(self.shared), None))
        sizes = self.sizes[self.home] * (int(self.sizes.max()) + 1)
        orders = list(self._orders_of_members())
        return (
            min(orders, key=lambda places: cost_of_household_groups(own, sizes + places))
            if len(orders) > 1
            else orders[0]
        )

    def space_of_whole_households(self, rows: Ints, k: int) -> CompositeSpace:
        """One row for each household of one size: its columns, counted for every member, and those of each member.

        `rows` int64[households, members]: their records by place.
        """
        return self._space(self.whole_cells(rows), self.strata[self.home[rows[:, 0]]], k)

    def whole_cells(self, rows: Ints) -> Cells:
        """The cells of `space_of_whole_households`."""
        wide = len(self.shared)
        shared = take_cells(self.cells, rows[:, 0], slice(0, wide))
        parts = [shared._replace(weights=shared.weights * rows.shape[1])]
        parts += [take_cells(self.cells, rows[:, place], slice(wide, None)) for place in range(rows.shape[1])]
        return join_cells(parts)

    def pair_members(self, rows: Ints, labels: Labels) -> Ints:
        """int64[households, members]: records by place, each household's assigned to what its group has in the places.

        `rows` likewise; `labels` int32[households]: their groups.
        """
        own = take_cells(self.cells, rows.ravel(), slice(len(self.shared), None))
        size, columns = rows.shape[1], own.codes.shape[1]
        codes = own.codes.reshape(*rows.shape, columns)
        values = own.values.reshape(*rows.shape, columns)
        found = rows.copy()
        order = np.argsort(labels, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
            costs = np.zeros((len(group), size, size))
            for a in range(columns):
                if own.numbers[a]:
                    centre = values[group, :, a].mean(axis=0)
                    costs += own.weights[a] * (values[group, :, a][:, :, None] - centre) ** 2
                else:
                    held = codes[group, :, a]
                    often = (held[:, :, None, None] == held[None, None, :, :]).mean(axis=2)
                    costs += own.weights[a] * own.wrong[a] * (1.0 - often)
            for household, cost in zip(group, costs, strict=True):
                place = scipy.optimize.linear_sum_assignment(cost)[1]
                found[household, place] = rows[household]
        return found


def _places(home: Ints, keys: Sequence[NDArray[np.float64]]) -> Labels:
    """int32[n]: the place of each record within its household, by some keys, the most important first."""
    order = np.lexsort((*reversed(keys), home))
    start = np.searchsorted(home[order], home[order])
    places = np.zeros(len(home), np.int32)
    places[order] = np.arange(len(home)) - start
    return places


def _commonest(home: Ints, codes: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """int32[households]: the commonest code of each, the least of several; 0 where there is none."""
    found = np.zeros(count, np.int32)
    pairs, often = np.unique(np.stack([home, codes.astype(np.int64)]), axis=1, return_counts=True)
    order = np.lexsort((-pairs[1], often))  # the last one that is written counts
    found[pairs[0][order]] = pairs[1][order]
    return found


def take_cells(cells: Cells, rows: Ints, columns: slice) -> Cells:
    """Some rows and columns of the cells that kernels of composite groups read."""
    return cells._replace(
        codes=np.ascontiguousarray(cells.codes[rows, columns]),
        values=np.ascontiguousarray(cells.values[rows, columns]),
        blanks=np.ascontiguousarray(cells.blanks[rows, columns]),
        numbers=cells.numbers[columns],
        wrong=cells.wrong[columns],
        rules=cells.rules[columns],
        weights=cells.weights[columns],
        heights=cells.heights[columns],
        starts=np.ascontiguousarray(cells.starts[columns]),
    )


def join_cells(parts: Sequence[Cells]) -> Cells:
    """Cells of the same rows side by side; the hierarchies are those of the first."""
    return parts[0]._replace(
        codes=np.ascontiguousarray(np.concatenate([each.codes for each in parts], axis=1)),
        values=np.ascontiguousarray(np.concatenate([each.values for each in parts], axis=1)),
        blanks=np.ascontiguousarray(np.concatenate([each.blanks for each in parts], axis=1)),
        numbers=np.concatenate([each.numbers for each in parts]),
        wrong=np.concatenate([each.wrong for each in parts]),
        rules=np.concatenate([each.rules for each in parts]),
        weights=np.concatenate([each.weights for each in parts]),
        heights=np.concatenate([each.heights for each in parts]),
        starts=np.ascontiguousarray(np.concatenate([each.starts for each in parts])),
    )


def cost_of_household_groups(cells: Cells, labels: NDArray[np.integer]) -> float:
    """What groups of rows lose in all, in cells; any labels."""
    order = np.argsort(labels, kind="stable").astype(np.int64)
    bounds = np.append(np.flatnonzero(np.diff(labels[order], prepend=labels.min() - 1)), len(order)).astype(np.int64)
    return float(total_cost(cells, order, bounds, make_composite_space_buffers(cells, 2)))
