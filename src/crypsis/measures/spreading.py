"""The cells of a table of the original, and how much of a released file falls into each.

A released record that was generalised stands for several values; it is spread evenly over them. Only the cells
the original fills are kept, so a table over many columns costs no more than there are records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats, Ints
from crypsis.measures.categories import number_masked_categories
from crypsis.measures.measure import numbers_that_measures_read
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import LOCAL, Table

ELSEWHERE = -2
"""Code of a record that does not stand at the level under consideration."""

Reading = tuple[Ints, Ints, Floats]
"""Codes of the released records, codes of the cells in the same numbering, and the share of a record in each."""


@dataclass(frozen=True)
class Axis:
    """One column of a table: its codes in the original, and the bins of its numbers."""

    name: str
    codes: Ints
    edges: Floats | None

    @classmethod
    def of(cls, original: Table, name: str, bins: int) -> Axis:
        """The axis of a column of the original."""
        if not original.holds_numbers(name):
            return cls(name, original.column(name).astype(np.int64), None)
        numbers = finite_numbers_of_frame(original, name)
        held = numbers[~np.isnan(numbers)]
        edges = np.unique(np.quantile(held, np.linspace(0, 1, bins + 1)[1:-1])) if held.size else np.empty(0)
        return cls(name, bin_numbers_for_spreading(numbers, edges), edges)

    def readings(self, original: Table, masked: Table, cells: Ints) -> Iterator[Reading]:
        """The ways a released record can hold a cell; a record takes part in the one of its own level."""
        if self.edges is not None:
            codes = bin_numbers_for_spreading(numbers_that_measures_read(masked, self.name), self.edges)
            yield codes, cells, np.ones(masked.rows)
            return
        level = masked.level(self.name)
        if level == 0:
            yield (
                number_masked_categories(original, masked, self.name)[0].astype(np.int64),
                cells,
                np.ones(masked.rows),
            )
            return
        hierarchy = masked.attribute(self.name).hierarchy
        if hierarchy is None:
            raise TableError(f"column {self.name!r} is generalised but has no hierarchy; give the one that was used")
        where = {label: leaf for leaf, label in enumerate(hierarchy.labels[0])}
        known = [where.get(label, MISSING) for label in original.attribute(self.name).categories]
        leaves = np.array([*known, MISSING], dtype=np.int32)[cells]
        strange = (leaves == MISSING) & (cells != MISSING)
        column = masked.column(self.name)
        for each in range(hierarchy.height + 1) if level == LOCAL else [level]:
            start = int(hierarchy.offsets[each]) if level == LOCAL else 0
            inside = (column >= start) & (column < start + len(hierarchy.labels[each]))
            blank = (column == MISSING) & (each == 0 or level != LOCAL)
            codes = np.where(inside, column - start, np.where(blank, MISSING, ELSEWHERE)).astype(np.int64)
            sizes = np.append(hierarchy.leaves(each), 1)
            share = 1.0 / sizes[np.where(inside, codes, -1)]
            # A value the hierarchy does not know is not what a blank stands for: no published code is this one.
            wanted = np.where(strange, len(hierarchy.labels[each]), hierarchy.lift(leaves, each))
            yield codes, wanted.astype(np.int64), share


def bin_numbers_for_spreading(numbers: Floats, edges: Floats) -> Ints:
    """Spreading over the cells of a table of the original: the bin of each number; −1 for missing."""
    return np.where(np.isnan(numbers), MISSING, np.searchsorted(edges, numbers, side="left")).astype(np.int64)


@dataclass(frozen=True)
class Grid:
    """The filled cells of a table."""

    original: Table
    axes: tuple[Axis, ...]
    cells: Ints
    """int64[m, p]: codes of each cell."""
    owner: Ints
    """int64[n]: the cell of each original record."""

    @classmethod
    def of(cls, original: Table, names: Sequence[str], bins: int) -> Grid:
        """The cells of some columns of the original."""
        axes = tuple(Axis.of(original, name, bins) for name in names)
        codes = np.stack([axis.codes for axis in axes], axis=1)
        classes = equivalence_classes(codes)
        return cls(original, axes, codes[classes.first], classes.of)

    def own(self, amounts: Floats) -> Floats:
        """float64[m, v]: totals of the original's amounts (float64[n, v]) by cell."""
        return _totals(self.owner, amounts, len(self.cells))

    def sum_released(self, masked: Table, amounts: Floats) -> Floats:
        """float64[m, v]: totals of the released amounts in each cell of the original; suppressed records hold 0."""
        size = len(self.cells)
        total = np.zeros((size, amounts.shape[1]))
        choices = [
            list(axis.readings(self.original, masked, self.cells[:, place])) for place, axis in enumerate(self.axes)
        ]
        for chosen in product(*choices):
            here = masked.kept.copy()
            for codes, _, _ in chosen:
                here &= codes != ELSEWHERE
            if not here.any():
                continue
            published = np.stack([codes[here] for codes, _, _ in chosen], axis=1)
            wanted = np.stack([cells for _, cells, _ in chosen], axis=1)
            share = np.prod([each[here] for _, _, each in chosen], axis=0)
            both = equivalence_classes(np.concatenate([published, wanted]))
            sums = _totals(both.of[: len(published)], amounts[here] * share[:, None], both.count)
            total += sums[both.of[len(published) :]]
        return total

    def memberships(self, masked: Table) -> tuple[Ints, Ints, Floats]:
        """Which released record lies in which cell of the original, and with what share of it: int64, int64, float64.

        Records that lie in no cell are left out; a generalised one stands evenly for all it covers.
        """
        found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
        choices = [
            list(axis.readings(self.original, masked, self.cells[:, place])) for place, axis in enumerate(self.axes)
        ]
        for chosen in product(*choices):
            rows = np.flatnonzero(masked.kept & np.logical_and.reduce([codes != ELSEWHERE for codes, _, _ in chosen]))
            if not rows.size:
                continue
            published = np.stack([codes[rows] for codes, _, _ in chosen], axis=1)
            wanted = np.stack([cells for _, cells, _ in chosen], axis=1)
            share = np.prod([each[rows] for _, _, each in chosen], axis=0)
            both = equivalence_classes(np.concatenate([published, wanted])).of
            order = np.argsort(both[len(rows) :], kind="stable")
            ordered = both[len(rows) :][order]
            low, high = (np.searchsorted(ordered, both[: len(rows)], side) for side in ("left", "right"))
            many = high - low
            at = np.repeat(low, many) + np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
            found.append((np.repeat(rows, many), order[at], np.repeat(share, many)))
        rows, cells, shares = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return rows, cells, shares


def _totals(place: Ints, amounts: Floats, size: int) -> Floats:
    return np.stack(
        [np.bincount(place, weights=amounts[:, v], minlength=size) for v in range(amounts.shape[1])], axis=1
    )
