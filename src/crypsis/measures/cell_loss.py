"""One loss for every kind of masking: how far a published cell has moved or widened, cell by cell.

Aggregation and perturbation move a value, recoding widens it. Both are put on one scale from 0 (as collected)
to 1 (tells nothing), so that solutions of different methods can stand on one front.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, measures
from crypsis.measures.pairing import alike_codes, check_rows
from crypsis.table.attribute import Kind, weights
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.table import LOCAL, Table

_MISSING = (
    "a cell missing in the original loses nothing unless it was filled (1); a cell blanked by the masking, and every "
    "cell of a suppressed record, counts 1"
)


@measures.add("cell-loss")
class CellLoss(Measure):
    """Mean over all cells of what became of them, columns weighed by their importance.

    100 times the mean cell loss, each column weighed by its importance: a number moved by d loses d / range; an
    ordinal category moved by r ranks r / (categories − 1); another nominal category 1; a value generalised to a group
    of m of its M values (m − 1) / (M − 1), a number to an interval its width / range; a value generalised to a group
    it does not belong to, and a suppressed cell, 1.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.CellLoss().against(original).read(masked), 2)
    3.33

    Notes
    -----
    - Formula: 100 · mean over cells of what became of them, 0 to 1 each
    - Paper: own, after Iyengar (2002)
    - Cost: O(n p)
    - Departures: own measure: one scale for aggregation, perturbation and recoding
    """

    aim: ClassVar[Aim] = "loss"

    suppressed: Literal["lost", "left-out"] = Field(
        default="lost", description="whether a suppressed record has lost all, or is left out and the others are read"
    )

    def against(self, original: Table) -> BoundCell:
        return BoundCell.of(self, original)


class BoundCell(BoundColumns[CellLoss]):
    """Cell loss bound to an original."""

    def read(self, masked: Table) -> float:
        return float(100 * np.average(self.by_column(masked), weights=self._weights))

    def explain(self, masked: Table) -> Reading:
        columns = self.by_column(masked)
        counts = {name: float(100 * loss) for name, loss in zip(self.names, columns, strict=True)}
        mean = float(100 * np.average(columns, weights=self._weights))
        return self.measure.reading(mean, self.names, _MISSING, counts)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """The importance of each column; all alike where none has any, as where one such column is read alone."""
        return np.array(weights([self.original.attribute(name) for name in self.names]))

    def by_column(self, masked: Table) -> NDArray[np.float64]:
        """Mean loss of each column, 0 to 1."""
        check_rows(len(self.original), masked)
        return np.array([float(np.mean(self._cells(masked, name))) for name in self.names])

    def _cells(self, masked: Table, name: str) -> NDArray[np.float64]:
        lost = cell_losses(self.original, masked, name)
        if self.measure.suppressed == "lost":
            return np.where(masked.kept, lost, 1.0)
        return lost[masked.kept] if masked.kept.any() else np.zeros(1)


def cell_losses(original: Table, masked: Table, name: str) -> NDArray[np.float64]:
    """float64[n]: what each record lost in one column, whether suppressed or not."""
    if masked.level(name) != 0:
        return np.where(original.missing(name) != masked.missing(name), 1.0, _widened(original, masked, name))
    if original.holds_numbers(name):
        if not masked.holds_numbers(name):
            raise TableError(f"column {name!r} is numeric in the original and not in the masked table; read both alike")
        return _moved(original.column(name), masked.column(name))
    before = original.column(name)
    after, same = alike_codes(original, masked, name)
    if original.attribute(name).kind is Kind.ORDINAL and same:
        steps = max(len(original.attribute(name).categories) - 1, 1)
        return np.where((before == MISSING) != (after == MISSING), 1.0, np.abs(before - after) / steps)
    return np.asarray(before != after, dtype=np.float64)


def _moved(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    here, there = ~np.isnan(before), ~np.isnan(after)
    width = float(np.ptp(before[here])) if here.any() else 0.0
    both = here & there
    distance = np.zeros(len(before))
    distance[both] = (
        np.minimum(np.abs(before[both] - after[both]) / width, 1.0) if width > 0 else before[both] != after[both]
    )
    return np.where(here != there, 1.0, distance)


def _widened(original: Table, masked: Table, name: str) -> NDArray[np.float64]:
    """What the group of each record costs, all if the record never belonged to it; a missing value costs nothing.

    A record published as another leaf has not been generalised: its value was moved, and costs what moving costs.
    """
    hierarchy, level = masked.attribute(name).hierarchy, masked.level(name)
    if hierarchy is None:
        raise TableError(f"column {name!r} is generalised but has no hierarchy; give the masked table the one used")
    levels = range(hierarchy.height + 1)
    width = np.concatenate([group_losses(hierarchy, each) for each in levels])
    level_of = np.repeat(levels, np.diff(hierarchy.offsets))
    node_above = np.stack([hierarchy.groups[each] + hierarchy.offsets[each] for each in levels])
    published, leaf = masked.column(name), leaves_of(original, hierarchy, name)
    seen = published != MISSING
    node = published[seen] + (0 if level == LOCAL else hierarchy.offsets[level])
    true = (leaf[seen] >= 0) & (node_above[level_of[node], leaf[seen]] == node)
    lost = np.zeros(len(published))
    lost[seen] = np.where(true, width[node], 1.0)
    swapped = np.flatnonzero(seen)[~true & (node < hierarchy.size)]
    if swapped.size:
        lost[swapped] = _other_leaf(original, hierarchy, name, swapped, published[swapped])
    return lost


def leaves_of(original: Table, hierarchy: Hierarchy, name: str) -> NDArray[np.int32]:
    """The leaf of each original value, −1 where it is missing or the hierarchy of the masked table does not list it."""
    column = original.column(name)
    if original.holds_numbers(name):
        at = np.minimum(np.searchsorted(hierarchy.values, column), hierarchy.size - 1)
        return np.where(hierarchy.values[at] == column, at, MISSING).astype(np.int32)
    place = {label: code for code, label in enumerate(hierarchy.labels[0])}
    listed = [place.get(label, MISSING) for label in original.attribute(name).categories]
    return np.array([*listed, MISSING], dtype=np.int32)[column]


def _other_leaf(
    original: Table, hierarchy: Hierarchy, name: str, rows: NDArray[np.intp], leaf: NDArray[np.int32]
) -> NDArray[np.float64]:
    """What the records `rows` lose that are published as leaves of other values."""
    before = original.column(name)
    if original.holds_numbers(name):
        after = before.copy()
        after[rows] = hierarchy.values[leaf]
        return _moved(before, after)[rows]
    categories = original.attribute(name).categories
    place = {label: code for code, label in enumerate(categories)}
    after = np.array([place.get(label, MISSING) for label in hierarchy.labels[0]])[leaf]
    ordered = original.attribute(name).kind is Kind.ORDINAL
    steps = np.abs(before[rows] - after) / max(len(categories) - 1, 1)
    return np.where(ordered & (after != MISSING) & (before[rows] != MISSING), steps, 1.0)


def group_losses(hierarchy: Hierarchy, level: int) -> NDArray[np.float64]:
    """float64[groups]: what a record loses that is generalised to each group of a level it belongs to."""
    if hierarchy.values.size > 1:
        low, high = np.full(len(hierarchy.labels[level]), np.inf), np.full(len(hierarchy.labels[level]), -np.inf)
        np.minimum.at(low, hierarchy.groups[level], hierarchy.values)
        np.maximum.at(high, hierarchy.groups[level], hierarchy.values)
        return np.asarray((high - low) / (hierarchy.values[-1] - hierarchy.values[0]))
    return np.asarray((hierarchy.leaves(level) - 1) / max(hierarchy.size - 1, 1))
