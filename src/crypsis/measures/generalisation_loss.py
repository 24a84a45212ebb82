"""What generalisation costs: six losses of the literature, on full-domain and local recodings alike.

A suppressed record counts as fully generalised. A cell missing in the original loses nothing until its record is
suppressed; a cell blanked by the masking counts as fully generalised. Columns at level 0 lose nothing: these
measures speak of recoding, not of values that were made false.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import unknown_column
from crypsis.kernels.arrays import Floats
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.registry import ColumnName
from crypsis.table.equivalence_classes import EquivalenceClasses, classes_of
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table

Form = Literal["mean", "sum"]

_RECODING = frozenset({"recoding"})
_MISSING = (
    "a missing value is a category of its own and loses nothing until its record is suppressed; a cell blanked by the "
    "masking and every cell of a suppressed record count as fully generalised"
)


class CellMeasure(Measure):
    """A loss made of one number per cell of the columns that have hierarchies."""

    aim: ClassVar[Aim] = "loss"
    valid_for: ClassVar[frozenset[str]] = _RECODING

    form: Form = Field(default="mean", description="mean: 100 times the mean cell loss; sum: over records and columns")

    def against(self, original: Table) -> BoundCells:
        return BoundCells.of(self, original)

    def choose_columns(self, original: Table) -> tuple[str, ...]:
        return self.columns or tuple(n for n in original.quasi_identifiers if original.attribute(n).hierarchy)

    def obstacle(self, original: Table) -> str:
        unknown = unknown_column(self.columns, original.names)
        if unknown:
            return unknown
        for name in self.columns:
            if original.attribute(name).hierarchy is None:
                return f"column {name!r} has no hierarchy, by which this loss is measured; give it one"
        if not self.choose_columns(original):
            return "no quasi-identifier has a hierarchy, by which this loss is measured; give one"
        return super().obstacle(original)

    def unit_in_words(self) -> str:
        return "%" if self.form == "mean" else "cells"

    @abstractmethod
    def losses(self, hierarchy: Hierarchy, leaf: NDArray[np.int32], node: NDArray[np.int64], held: Floats) -> Floats:
        """Loss in [0, 1] of each cell: a leaf published as a node above it.

        Parameters
        ----------
        hierarchy : Hierarchy
            The hierarchy of a column.
        leaf, node : int[cells]
            The original leaf and the published node of each cell.
        held : float64[leaves]
            Original records with each leaf.

        Returns
        -------
        float64[cells]
        """


class BoundCells(BoundColumns[CellMeasure]):
    """A cell measure bound to an original."""

    def read(self, masked: Table) -> float:
        cells = self.cells(masked)
        if self.measure.form == "sum":
            return float(cells.sum())
        return float(100 * cells.mean())

    def cells(self, masked: Table) -> Floats:
        """float64[n, columns]: the loss of every cell."""
        check_measured_rows(len(self.original), masked)
        return np.stack([self._column(masked, name) for name in self.names], axis=1)

    def explain(self, masked: Table) -> Reading:
        by_column = self.cells(masked).mean(axis=0)
        counts = {name: float(100 * loss) for name, loss in zip(self.names, by_column, strict=True)}
        counts["suppressed records"] = float((~masked.kept).sum())
        return self.measure.make_reading(self.read(masked), self.names, _MISSING, counts)

    def _column(self, masked: Table, name: str) -> Floats:
        hierarchy, level = self.original.attribute(name).hierarchy, masked.level(name)
        column = masked.column(name)
        blank, absent = masked.missing(name), self.original.missing(name)
        loss = np.where(blank & ~absent, 1.0, 0.0)
        if level != 0 and hierarchy is not None:
            leaf = self.original.leaf_codes(name)
            node = column if level == LOCAL else column + hierarchy.offsets[level]
            seen = ~blank & ~absent
            held = np.bincount(leaf[leaf >= 0], minlength=hierarchy.size).astype(np.float64)
            loss[seen] = self.measure.losses(hierarchy, leaf[seen], node[seen], held)
        loss[~masked.kept] = 1.0
        return loss


@measures.add("glm")
class GeneralLoss(CellMeasure):
    """General loss metric (Iyengar 2002).

    A cell that stands for m of the M values of its column loses (m − 1)/(M − 1), a suppressed one 1; mean over all
    cells in per cent, or their sum.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("levels")
    >>> round(crypsis.GeneralLoss().against(original).read(masked), 2)
    59.54

    Notes
    -----
    - Formula: mean over cells of (m − 1)/(M − 1)
    - Paper: Iyengar (2002)
    - Cost: O(n s)
    - Departures: a suppressed record counts 1 per cell
    """

    def losses(self, hierarchy: Hierarchy, leaf: NDArray[np.int32], node: NDArray[np.int64], held: Floats) -> Floats:
        return np.asarray((hierarchy.node_leaves[node] - 1) / max(hierarchy.size - 1, 1))


@measures.add("precision")
class Precision(CellMeasure):
    """Precision loss (Sweeney 2002): how high each cell stands in its hierarchy.

    A cell at level v of a hierarchy of height h loses v/h, a suppressed one 1; mean over all cells in per cent, or
    their sum (Sweeney's precision is 100 minus the mean).

    Examples
    --------
    >>> original, masked = crypsis.example_pair("levels")
    >>> round(crypsis.Precision().against(original).read(masked), 2)
    73.04

    Notes
    -----
    - Formula: mean over cells of level / height
    - Paper: Sweeney (2002)
    - Cost: O(n s)
    - Departures: the loss is given: 100 minus Sweeney's precision
    """

    def losses(self, hierarchy: Hierarchy, leaf: NDArray[np.int32], node: NDArray[np.int64], held: Floats) -> Floats:
        level = np.searchsorted(hierarchy.offsets, node, side="right") - 1
        return np.asarray(level / max(hierarchy.height, 1))


@measures.add("non-uniform-entropy")
class NonUniformEntropy(CellMeasure):
    """Non-uniform entropy (Gionis and Tassa 2009): how unsure one becomes of the value behind a group.

    A cell loses −log2(records with its value / records with its published group), a suppressed one what full
    suppression loses on average; in per cent of that, or the sum of the cells' shares of it.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("levels")
    >>> round(crypsis.NonUniformEntropy().against(original).read(masked), 2)
    77.73

    Notes
    -----
    - Formula: −log₂(records with the value / records with its group), summed over cells
    - Paper: Gionis and Tassa (2009)
    - Cost: O(n s)
    - Departures: in per cent of what full suppression loses
    """

    def losses(self, hierarchy: Hierarchy, leaf: NDArray[np.int32], node: NDArray[np.int64], held: Floats) -> Floats:
        total = max(float(held.sum()), 1.0)
        most = -float(np.sum(held / total * np.log2(np.maximum(held, 1.0) / total)))
        # Records of each leaf's own group at the level of the node: float64[levels, leaves].
        inside = np.stack([np.bincount(groups, weights=held)[groups] for groups in hierarchy.groups])
        level = np.searchsorted(hierarchy.offsets, node, side="right") - 1
        lost = np.log2(np.maximum(inside[level, leaf], 1.0) / np.maximum(held[leaf], 1.0))
        return np.asarray(lost / most if most > 0 else lost * 0)


class ClassMeasure(Measure):
    """A loss seen in the equivalence classes of the masked table."""

    aim: ClassVar[Aim] = "loss"
    valid_for: ClassVar[frozenset[str]] = frozenset({"aggregation", "recoding"})

    form: Form = Field(default="sum", description="sum: the raw figure; mean: divided by its largest possible value")

    def against(self, original: Table) -> BoundClass:
        return BoundClass.of(self, original)

    def unit_in_words(self) -> str:
        return self.unit if self.form == "sum" else "share of the worst"

    @abstractmethod
    def figure(self, original: Table, kept: NDArray[np.bool_], classes: EquivalenceClasses) -> float:
        """The figure from the classes of the kept records.

        Parameters
        ----------
        original : Table
            Has the labels, if any are predicted.
        kept : bool[n]
            Records that are not suppressed.
        classes : EquivalenceClasses
            Their classes.

        Returns
        -------
        float
        """


class BoundClass(BoundColumns[ClassMeasure]):
    """A class measure bound to an original."""

    def read(self, masked: Table) -> float:
        check_measured_rows(len(self.original), masked)
        return self.measure.figure(self.original, masked.kept, classes_of(masked, self.names))

    def explain(self, masked: Table) -> Reading:
        missing = "a missing value is a category of its own; suppressed records belong to no class"
        counts = {"suppressed records": float((~masked.kept).sum())}
        return self.measure.make_reading(self.read(masked), self.names, missing, counts)


@measures.add("classification-metric")
class ClassificationMetric(ClassMeasure):
    """Classification metric (Iyengar 2002): whom a majority vote in the classes would get wrong.

    Records suppressed or without the majority label of their class, or their share.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("levels")
    >>> round(crypsis.ClassificationMetric(label="diagnosis").against(original).read(masked), 2)
    20.0

    Notes
    -----
    - Formula: records without the majority label of their class
    - Paper: Iyengar (2002)
    - Cost: O(n)
    - Departures: none
    """

    unit: ClassVar[str] = "records"

    label: ColumnName = Field(default="", description="column to be predicted; empty: the first confidential one")

    def obstacle(self, original: Table) -> str:
        unknown = unknown_column([self.label] if self.label else [], original.names)
        if unknown:
            return unknown
        if not self.label and not original.confidential:
            return "no column is confidential, so there is no label to predict; name one"
        return super().obstacle(original)

    def figure(self, original: Table, kept: NDArray[np.bool_], classes: EquivalenceClasses) -> float:
        held = classes.contents(original.codes([self.label or original.confidential[0]])[:, 0])
        wrong = float(len(kept) - held.most.sum())
        return wrong if self.form == "sum" else wrong / max(len(kept), 1)


@measures.add("discernibility")
class Discernibility(ClassMeasure):
    """Discernibility metric (Bayardo and Agrawal 2005).

    Each record costs the size of its class, a suppressed one the number of records; the sum, or its share of n².

    Examples
    --------
    >>> original, masked = crypsis.example_pair("levels")
    >>> round(crypsis.Discernibility().against(original).read(masked), 2)
    222.0

    Notes
    -----
    - Formula: Σ over classes of |class|², n per suppressed record
    - Paper: Bayardo and Agrawal (2005)
    - Cost: O(n)
    - Departures: none
    """

    unit: ClassVar[str] = "pairs"

    def figure(self, original: Table, kept: NDArray[np.bool_], classes: EquivalenceClasses) -> float:
        n = len(kept)
        pairs = float((classes.sizes.astype(np.float64) ** 2).sum() + n * float((~kept).sum()))
        return pairs if self.form == "sum" else pairs / max(n * n, 1)


@measures.add("average-class-size")
class AverageClassSize(ClassMeasure):
    """Normalised average class size (LeFevre, DeWitt and Ramakrishnan 2006).

    Records per class divided by k, suppressed records as one class more; 1 is the best k allows; or the same as a
    share of all records.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("levels")
    >>> round(crypsis.AverageClassSize(k=5).against(original).read(masked), 2)
    0.32

    Notes
    -----
    - Formula: (n / classes) / k
    - Paper: LeFevre, DeWitt and Ramakrishnan (2006)
    - Cost: O(n)
    - Departures: suppressed records are one class more
    """

    unit: ClassVar[str] = "classes of k"

    k: int = Field(default=5, ge=1, description="the class size that would have been enough")

    def figure(self, original: Table, kept: NDArray[np.bool_], classes: EquivalenceClasses) -> float:
        mean = len(kept) / max(classes.count + int(not kept.all()), 1)
        return mean / self.k if self.form == "sum" else mean / max(len(kept), 1) / self.k


def generalisation_group_losses(hierarchy: Hierarchy, level: int) -> NDArray[np.float64]:
    """float64[groups]: the loss of the literature for a record that is generalised to each group of a level."""
    if hierarchy.values.size > 1:
        low, high = np.full(len(hierarchy.labels[level]), np.inf), np.full(len(hierarchy.labels[level]), -np.inf)
        np.minimum.at(low, hierarchy.groups[level], hierarchy.values)
        np.maximum.at(high, hierarchy.groups[level], hierarchy.values)
        return np.asarray((high - low) / (hierarchy.values[-1] - hierarchy.values[0]))
    return np.asarray((hierarchy.leaves(level) - 1) / max(hierarchy.size - 1, 1))
