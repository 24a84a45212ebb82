"""The share of information lost: one loss for every kind of masking, on the scale of the column's own distribution.

0 is as collected; 1 is no better than knowing the distribution of the column. For microaggregated numbers it is the
SSE / SST of the literature. A published interval, group or blank is read as a draw from the original values it covers:
a number as their mean.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.measures.categories import number_masked_categories
from crypsis.measures.generalisation_loss import generalisation_group_losses
from crypsis.measures.measure import Aim, BoundColumns, Measure, Numbers, Reading, check_measured_rows, measures
from crypsis.table.attribute import Kind, attribute_weights
from crypsis.table.hierarchy import (
    MISSING,
    Hierarchy,
    hierarchy_leaf_losses,
    hierarchy_node_means,
    hierarchy_node_totals,
)
from crypsis.table.precision import Scaling
from crypsis.table.table import LOCAL, Table

AnyLoss = TypeVar("AnyLoss", bound=Measure)


class BoundColumnLosses(BoundColumns[AnyLoss]):
    """A loss of columns bound to an original: the mean over them, weighed by their importance."""

    missing_cells: ClassVar[str]
    """How missing cells are read, in a sentence of the reading."""

    @abstractmethod
    def by_column(self, masked: Table) -> NDArray[np.float64]:
        """float64[columns]: the loss of each column."""

    def read(self, masked: Table) -> float:
        return float(100 * np.average(self.by_column(masked), weights=self._weights))

    def explain(self, masked: Table) -> Reading:
        columns = self.by_column(masked)
        counts = {name: float(100 * loss) for name, loss in zip(self.names, columns, strict=True)}
        mean = float(100 * np.average(columns, weights=self._weights))
        return self.measure.make_reading(mean, self.names, self.missing_cells, counts)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """The importance of each column; all alike where none has any, as where one such column is read alone."""
        return np.array(attribute_weights([self.original.attribute(name) for name in self.names]))


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


class BoundCell(BoundColumnLosses[CellLoss]):
    """Cell loss bound to an original."""

    missing_cells: ClassVar[str] = (
        "a cell missing in the original loses nothing unless it was filled (1); a cell blanked by the masking, and "
        "every cell of a suppressed record, counts 1"
    )

    def by_column(self, masked: Table) -> NDArray[np.float64]:
        """Mean loss of each column, 0 to 1."""
        check_measured_rows(len(self.original), masked)
        return np.array([float(np.mean(self._cells(masked, name))) for name in self.names])

    def _cells(self, masked: Table, name: str) -> NDArray[np.float64]:
        lost = cell_information_losses(self.original, masked, name)
        if self.measure.suppressed == "lost":
            return np.where(masked.kept, lost, 1.0)
        return lost[masked.kept] if masked.kept.any() else np.zeros(1)


def cell_information_losses(original: Table, masked: Table, name: str) -> NDArray[np.float64]:
    """float64[n]: the information loss of each record's cell in one column, for every kind of masking."""
    if masked.level(name) != 0:
        return np.where(original.missing(name) != masked.missing(name), 1.0, _group_costs(original, masked, name))
    if original.holds_numbers(name):
        if not masked.holds_numbers(name):
            raise TableError(f"column {name!r} is numeric in the original and not in the masked table; read both alike")
        return _squared_moves(original.column(name), masked.column(name))
    before = original.column(name)
    after, same = number_masked_categories(original, masked, name)
    if original.attribute(name).kind is Kind.ORDINAL and same:
        steps = max(len(original.attribute(name).categories) - 1, 1)
        return np.where((before == MISSING) != (after == MISSING), 1.0, np.abs(before - after) / steps)
    return np.asarray(before != after, dtype=np.float64)


def _squared_moves(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    here, there = ~np.isnan(before), ~np.isnan(after)
    width = float(np.ptp(before[here])) if here.any() else 0.0
    both = here & there
    distance = np.zeros(len(before))
    distance[both] = (
        np.minimum(np.abs(before[both] - after[both]) / width, 1.0) if width > 0 else before[both] != after[both]
    )
    return np.where(here != there, 1.0, distance)


def _group_costs(original: Table, masked: Table, name: str) -> NDArray[np.float64]:
    """What the group of each record costs, all if the record never belonged to it; a missing value costs nothing.

    A record published as another leaf has not been generalised: its value was moved, and costs what moving costs.
    """
    hierarchy, level = masked.attribute(name).hierarchy, masked.level(name)
    if hierarchy is None:
        raise TableError(f"column {name!r} is generalised but has no hierarchy; give the masked table the one used")
    levels = range(hierarchy.height + 1)
    width = np.concatenate([generalisation_group_losses(hierarchy, each) for each in levels])
    level_of = np.repeat(levels, np.diff(hierarchy.offsets))
    node_above = np.stack([hierarchy.groups[each] + hierarchy.offsets[each] for each in levels])
    published, leaf = masked.column(name), _leaves_of(original, hierarchy, name)
    seen = published != MISSING
    node = published[seen] + (0 if level == LOCAL else hierarchy.offsets[level])
    true = (leaf[seen] >= 0) & (node_above[level_of[node], leaf[seen]] == node)
    lost = np.zeros(len(published))
    lost[seen] = np.where(true, width[node], 1.0)
    swapped = np.flatnonzero(seen)[~true & (node < hierarchy.size)]
    if swapped.size:
        lost[swapped] = _other_leaf(original, hierarchy, name, swapped, published[swapped])
    return lost


def _leaves_of(original: Table, hierarchy: Hierarchy, name: str) -> NDArray[np.int32]:
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
        return _squared_moves(before, after)[rows]
    categories = original.attribute(name).categories
    place = {label: code for code, label in enumerate(categories)}
    after = np.array([place.get(label, MISSING) for label in hierarchy.labels[0]])[leaf]
    ordered = original.attribute(name).kind is Kind.ORDINAL
    steps = np.abs(before[rows] - after) / max(len(categories) - 1, 1)
    return np.where(ordered & (after != MISSING) & (before[rows] != MISSING), steps, 1.0)


# -- The share of information lost: one loss for every kind of masking, on the scale of the column's own distribution.
#
# 0 is as collected; 1 is no better than knowing the distribution of the column. For microaggregated numbers it is the
# SSE / SST of the literature. A published interval, group or blank is read as a draw from the original values it
# covers: a number as their mean.

Floats = NDArray[np.float64]


@measures.add("information-loss")
class InformationLoss(Measure):
    """Share of the information lost, columns weighed by their importance.

    100 times the mean over columns of the information lost: of a number the mean squared change over the variance
    (SSE / SST), of a category the share of wrong cells over that of a guess from its distribution, 1 − Σp²; a
    generalised or blank cell counts as a draw from the original values it covers, a number as their mean; a column
    published with one value has lost all.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.InformationLoss().against(original).read(masked), 2)
    3.33

    Notes
    -----
    - Formula: 100 · mean over columns of Σ (x − x')² / Σ (x − x̄)² or P(x' ≠ x) / (1 − Σp²)
    - Paper: own for categories and generalised cells; for numbers Domingo-Ferrer and Mateo-Sanz (2002)
    - Cost: O(n p)
    - Departures: own measure: one scale for aggregation, perturbation and recoding
    """

    aim: ClassVar[Aim] = "loss"

    suppressed: Literal["lost", "left-out"] = Field(
        default="lost", description="whether a suppressed record has lost all, or is left out and the others are read"
    )

    def against(self, original: Table) -> BoundInformation:
        return BoundInformation.of(self, original)


class BoundInformation(BoundColumnLosses[InformationLoss]):
    """Information loss bound to an original."""

    missing_cells: ClassVar[str] = (
        "a cell missing in the original loses nothing unless it is filled (1); a blanked cell, and every cell of a "
        "suppressed record, is read as a draw from the whole column"
    )

    @cached_property
    def _contents(self) -> dict[str, ColumnInformation]:
        return {name: ColumnInformation.of(self.original, name) for name in self.names}

    def by_column(self, masked: Table) -> Floats:
        """float64[columns]: the share of the information of each column that is lost; above 1 where it misleads."""
        check_measured_rows(len(self.original), masked)
        return np.array([self._column(masked, name) for name in self.names])

    def _column(self, masked: Table, name: str) -> float:
        losses, kept = self._contents[name].losses(masked), masked.kept
        if self.measure.suppressed == "left-out":
            losses = losses[kept] if kept.any() else np.zeros(1)
        return self._contents[name].share(masked, losses)


def information_losses(original: Table, masked: Table, name: str) -> Floats:
    """float64[n]: the information lost per record, for any masking; its mean is the column's share lost."""
    return ColumnInformation.of(original, name).losses(masked)


def _is_constant(masked: Table, name: str) -> bool:
    """Whether all published cells of a column are alike."""
    column = masked.column(name)[masked.kept]
    return not len(column) or bool((column == column[0]).all() or masked.missing(name)[masked.kept].all())


@dataclass(frozen=True, eq=False)
class ColumnInformation:
    """One column of an original: what a changed, generalised or blank cell of it loses."""

    original: Table
    name: str
    spread: float  # variance of numbers, or 1 − Σp² of categories; 0 of a column of one value

    @classmethod
    def of(cls, original: Table, name: str) -> ColumnInformation:
        """Read a column of an original."""
        present = original.column(name)[~original.missing(name)]
        if original.holds_numbers(name):
            return cls(original, name, float(np.var(present)) if len(present) else 0.0)
        shares = np.bincount(present, minlength=1) / max(len(present), 1)
        return cls(original, name, float(1.0 - (shares**2).sum()))

    @property
    def varies(self) -> bool:
        """Whether the column has more than one value."""
        return self.spread > 0.0

    @property
    def _numbers(self) -> bool:
        return self.original.holds_numbers(self.name)

    @cached_property
    def _centre(self) -> float:
        """The mean of a number."""
        return float(np.nanmean(self.original.column(self.name))) if self.varies else 0.0

    @cached_property
    def _shares(self) -> Floats:
        """float64[categories + 1]: how frequent each is among those present; the last is 0."""
        codes = self.original.column(self.name)
        counts = np.bincount(codes[codes != MISSING], minlength=len(self.original.attribute(self.name).categories))
        return np.append(counts / max(int(counts.sum()), 1), 0.0)

    def losses(self, masked: Table) -> Floats:
        """float64[n]: what each record lost."""
        before, after = self.original.missing(self.name), masked.missing(self.name) | ~masked.kept
        lost = self._measure_published(masked)
        blank = self.blanks()
        lost = np.where(after, blank, lost)
        return np.where(before, np.where(after, 0.0, 1.0), lost)

    def share(self, masked: Table, losses: Floats) -> float:
        """The share of the information that is lost: the mean of the losses; at least 1 if one value is published."""
        mean = float(losses.mean())
        return max(mean, 1.0) if mean > 0.0 and self.varies and _is_constant(masked, self.name) else mean

    def blanks(self) -> Floats:
        """float64[n]: what a record loses of which nothing is published."""
        column = self.original.column(self.name)
        if not self.varies:
            return np.ones(len(column))
        if self._numbers:
            return np.nan_to_num((column - self._centre) ** 2 / self.spread)
        return (1.0 - self._shares[column]) / self.spread

    def _measure_published(self, masked: Table) -> Floats:
        """float64[n]: what records lose by what is published of them; anything where nothing is."""
        column, unit = self.original.column(self.name), self.spread if self.varies else 1.0
        if masked.level(self.name) != 0:
            return self._measure_generalised(masked) / unit
        if self._numbers:
            if not masked.holds_numbers(self.name):
                raise TableError(
                    f"column {self.name!r} is numeric in the original and not in the masked table; read both alike"
                )
            change = np.nan_to_num(column - masked.column(self.name))
            return np.asarray(change**2 / unit if self.varies else change != 0.0, dtype=np.float64)
        return np.asarray((column != number_masked_categories(self.original, masked, self.name)[0]) / unit)

    def leaf_losses(self, hierarchy: Hierarchy) -> list[Floats]:
        """float64[leaves] for each level: what a record of each leaf loses, generalised to that level."""
        leaf = _leaves_of(self.original, hierarchy, self.name)
        counts = np.bincount(leaf[leaf >= 0], minlength=hierarchy.size).astype(np.float64)
        return hierarchy_leaf_losses(hierarchy, counts, self._numbers, self.spread if self.varies else 1.0)

    def _measure_generalised(self, masked: Table) -> Floats:
        """float64[n]: squared change or chance of a wrong value of records published as nodes of a hierarchy."""
        hierarchy, level = masked.attribute(self.name).hierarchy, masked.level(self.name)
        if hierarchy is None:
            raise TableError(
                f"column {self.name!r} is generalised but has no hierarchy; give the masked table the one used"
            )
        leaf, published = _leaves_of(self.original, hierarchy, self.name), masked.column(self.name)
        node = np.where(published == MISSING, 0, published + (0 if level == LOCAL else hierarchy.offsets[level]))
        counts = np.bincount(leaf[leaf >= 0], minlength=hierarchy.size).astype(np.float64)
        if self._numbers:
            centres = hierarchy_node_means(hierarchy, counts)
            return np.nan_to_num(self.original.column(self.name) - centres[node]) ** 2
        inside = _holds(hierarchy, node, leaf)
        held = counts[np.maximum(leaf, 0)] / np.maximum(hierarchy_node_totals(hierarchy, counts)[node], 1.0)
        return np.where(inside, 1.0 - held, 1.0)


def _holds(hierarchy: Hierarchy, node: NDArray[np.int64], leaf: NDArray[np.int32]) -> NDArray[np.bool_]:
    """bool[n]: whether the node of each record has its leaf."""
    levels = range(hierarchy.height + 1)
    level_of = np.repeat(levels, np.diff(hierarchy.offsets))
    above = np.stack([hierarchy.groups[each] + hierarchy.offsets[each] for each in levels])
    return np.asarray((leaf >= 0) & (above[level_of[node], np.maximum(leaf, 0)] == node))


def total_information_squares(numbers: Numbers, scaling: Scaling) -> float:
    """Squared scaled distance of the cells from the column mean, summed for the share of information lost."""
    centred = np.where(numbers.present, numbers.values - numbers.scales.mean, 0.0) * numbers.scales.inverse(scaling)
    return float(np.einsum("ij,ij->", centred, centred))
