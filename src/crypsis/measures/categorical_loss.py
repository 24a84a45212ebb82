"""What masking takes from categories: tables, distances, entropy (Torra and Domingo-Ferrer 2001; Kooiman et al. 1998).

All three treat a missing value as a category of its own and a suppressed record as fully generalised.
"""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.kernels.contingency import table_gaps, weighted
from crypsis.kernels.ledger import contingency_loss, distance_loss, entropy_loss
from crypsis.kernels.ledger_types import TableLayout
from crypsis.measures.categorical_ledger import BoundCategories
from crypsis.measures.categories import CategoricalMeasure, CategoryContext, Pairing, count_logs, count_pairs, distances
from crypsis.measures.measure import Aim, Reading, measures
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table

Ints = NDArray[np.int64]

DENSE = 1 << 26
"""Most cells counted in one array; larger tables are counted by their distinct tuples."""


@measures.add("contingency-loss")
class ContingencyLoss(CategoricalMeasure):
    """CTBIL: how much the contingency tables of the protected attributes change.

    Notes
    -----
    - Formula: Σ |count − count'| / (2 n · tables)
    - Paper: Torra and Domingo-Ferrer (2001); CTBIL of Marés and Torra (2012)
    - Cost: O(n p²) for tables of two columns
    - Departures: normalised to 0–100

    Examples
    --------
    >>> import numpy as np
    >>> import crypsis
    >>> original = crypsis.Table.from_columns({"sex": ["f", "f", "m", "m"]}, roles={"sex": "quasi"})
    >>> masked = original.with_columns({"sex": np.array([0, 1, 1, 1])})  # the second record changed
    >>> round(crypsis.ContingencyLoss().against(original).read(masked), 2)
    25.0
    """

    aim: ClassVar[Aim] = "loss"
    tally: ClassVar[str] = "contingency"
    definition: ClassVar[str] = (
        "sum of |count − count'| over the cells of all tables of up to `order` attributes, over 2 · records · tables: "
        "the mean total variation distance; normalised by cells it is the mean change of a cell, in records"
    )

    order: int = Field(default=2, ge=1, le=6, description="largest number of attributes crossed in one table")
    normalisation: Literal["tables", "cells"] = Field(
        default="tables", description="divide by 2 · records · tables (0–100) or by the number of cells (unbounded)"
    )

    def against(self, original: Table) -> BoundContingency:
        return BoundContingency(self, CategoryContext.of(original, self.columns))

    def unit_in_words(self) -> str:
        return "%" if self.normalisation == "tables" else "records per cell"

    def subsets(self, attributes: int) -> list[tuple[int, ...]]:
        """The attributes of each table."""
        sizes = range(1, min(self.order, attributes) + 1)
        return [chosen for size in sizes for chosen in combinations(range(attributes), size)]

    def lay_out(self, pairing: Pairing) -> tuple[TableLayout, int]:
        """Strides and starts of the tables, and their number of cells."""
        widths = [len(span) for span in pairing.spans]
        subsets = self.subsets(len(widths))
        strides = np.zeros((len(subsets), len(widths)), dtype=np.int64)
        starts = np.zeros(len(subsets), dtype=np.int64)
        cells = 0
        for table, chosen in enumerate(subsets):
            starts[table], step = cells, 1
            for attribute in reversed(chosen):
                strides[table, attribute] = step
                step *= widths[attribute]
            cells += step
        return pairing.shape._replace(strides=strides, starts=starts), cells

    def divisor(self, pairing: Pairing) -> float:
        subsets = self.subsets(len(pairing.spans))
        if self.normalisation == "tables":
            return 2.0 * pairing.context.rows * len(subsets)
        # A label of the domain, a label the masked file brought, and 'missing' if the original has it.
        widths = [len(span) - 2 + lacks for span, lacks in zip(pairing.spans, pairing.context.lacks, strict=True)]
        return 100.0 * sum(float(np.prod([widths[j] for j in chosen])) for chosen in subsets)


class BoundContingency(BoundCategories[ContingencyLoss]):
    """`ContingencyLoss` bound to an original."""

    def read(self, masked: Table) -> float:
        pairing = self.context.pair(masked)
        shape, cells = self.measure.lay_out(pairing)
        if cells <= DENSE:
            scratch = np.empty(cells, dtype=np.int32)
            gap = table_gaps(self.context.codes, pairing.codes, shape.strides, shape.starts, scratch)
        else:
            gap = sum(self._sparse_gap(pairing, chosen) for chosen in self.measure.subsets(len(self.context.sizes)))
        return float(contingency_loss(gap, self.measure.divisor(pairing)))

    def _sparse_gap(self, pairing: Pairing, chosen: tuple[int, ...]) -> int:
        both = np.concatenate([self.context.codes[:, chosen], pairing.codes[:, chosen]])
        signs = np.repeat([-1, 1], self.context.rows)
        return int(np.abs(np.bincount(equivalence_classes(both).of, weights=signs)).sum())

    def explain(self, masked: Table) -> Reading:
        tables = len(self.measure.subsets(len(self.context.sizes)))
        return self.reading(self.read(masked), {"tables": tables})


@measures.add("distance-loss")
class DistanceLoss(CategoricalMeasure):
    """DBIL: how far the values moved on average.

    Notes
    -----
    - Formula: 100 · mean d(x, x')
    - Paper: Torra and Domingo-Ferrer (2001); DBIL of Marés and Torra (2012)
    - Cost: O(n p)
    - Departures: none

    Examples
    --------
    >>> import numpy as np
    >>> import crypsis
    >>> original = crypsis.Table.from_columns({"sex": ["f", "f", "m", "m"]}, roles={"sex": "quasi"})
    >>> masked = original.with_columns({"sex": np.array([0, 1, 1, 1])})  # the second record changed
    >>> round(crypsis.DistanceLoss().against(original).read(masked), 2)
    25.0
    """

    aim: ClassVar[Aim] = "loss"
    tally: ClassVar[str] = "distance"
    definition: ClassVar[str] = (
        "mean over cells of the distance between original and masked category: 0 or 1 if nominal, "
        "|rank difference| / |D| (or |D| − 1) if ordinal"
    )

    divisor: Literal["size", "range"] = Field(
        default="size", description="ordinal rank differences are divided by |D| (size) or |D| − 1 (range)"
    )

    def against(self, original: Table) -> BoundDistance:
        return BoundDistance(self, CategoryContext.of(original, self.columns))


class BoundDistance(BoundCategories[DistanceLoss]):
    """`DistanceLoss` bound to an original."""

    def read(self, masked: Table) -> float:
        pairing = self.context.pair(masked)
        pairs, _ = count_pairs(pairing)
        apart = distances(pairing, self.measure.divisor)
        spread = weighted(pairs, apart.loss, pairing.shape.at)
        return float(distance_loss(spread, apart.denominators, self.context.rows))

    def explain(self, masked: Table) -> Reading:
        changed = int((self.context.pair(masked).codes != self.context.codes).sum())
        return self.reading(self.read(masked), {"changed cells": changed})


@measures.add("entropy-loss")
class EntropyLoss(CategoricalMeasure):
    """EBIL: how uncertain the original value is to someone who sees the masked one.

    Notes
    -----
    - Formula: H(V | V') / log₂|D|
    - Paper: Kooiman, Willenborg and Gouweleeuw (1998); EBIL of Marés and Torra (2012)
    - Cost: O(n p)
    - Departures: none

    Examples
    --------
    >>> import numpy as np
    >>> import crypsis
    >>> original = crypsis.Table.from_columns({"sex": ["f", "f", "m", "m"]}, roles={"sex": "quasi"})
    >>> masked = original.with_columns({"sex": np.array([0, 1, 1, 1])})  # the second record changed
    >>> round(crypsis.EntropyLoss().against(original).read(masked), 2)
    68.87
    """

    aim: ClassVar[Aim] = "loss"
    tally: ClassVar[str] = "entropy"
    definition: ClassVar[str] = (
        "H(V | V') from the counts of (original, masked) pairs, over log2 |D| (or H(V)), mean over attributes"
    )

    normalisation: Literal["size", "entropy"] = Field(
        default="size", description="total loss is log2 |D| (size) or the entropy of the original attribute (entropy)"
    )
    transitions: dict[str, tuple[tuple[float, ...], ...]] = Field(
        default_factory=dict,
        description="known PRAM matrices by column, P(masked | original) in category order, used instead of counts",
    )

    def against(self, original: Table) -> BoundEntropy:
        context = CategoryContext.of(original, self.columns)
        for name in self.transitions:
            self._check(name, context)
        return BoundEntropy(self, context)

    def _check(self, name: str, context: CategoryContext) -> None:
        if name not in context.names:
            raise TableError(f"transitions name {name!r}, which is not among the compared columns {context.names}")
        size = context.sizes[context.names.index(name)]
        if any(len(row) != size for row in self.transitions[name]) or len(self.transitions[name]) != size:
            raise TableError(
                f"the transition matrix of {name!r} must be {size} × {size}, one row per original category"
            )
        matrix = np.array(self.transitions[name])
        if (matrix < 0).any() or not np.allclose(matrix.sum(axis=1), 1.0):
            raise TableError(f"the transition matrix of {name!r} must hold probabilities whose rows sum to one")

    def known(self, pairing: Pairing) -> NDArray[np.float64]:
        """Entropy of the original given each masked code; NaN where the pair counts must tell."""
        context, mark = pairing.context, pairing.shape.mark
        known = np.full(int(mark[-1]), np.nan)
        for j, name in enumerate(context.names):
            size = context.sizes[j]
            known[mark[j] + size + 1] = context.entropy(j)
            if name in self.transitions:
                joint = np.array(self.transitions[name]) * context.frequencies[j][:size, None]
                for code in range(size):
                    share = joint[:, code][joint[:, code] > 0]
                    share = share / share.sum()
                    known[mark[j] + code] = max(0.0, float(-(share * np.log2(share)).sum()))
        return known

    def logs(self, context: CategoryContext) -> NDArray[np.float64]:
        """What counts as total loss in each attribute; 0 where nothing can be lost."""
        if self.normalisation == "entropy":
            return np.array([context.entropy(j) for j in range(len(context.sizes))])
        return np.array(
            [np.log2(max(1, size + lacks)) for size, lacks in zip(context.sizes, context.lacks, strict=True)]
        )


class BoundEntropy(BoundCategories[EntropyLoss]):
    """`EntropyLoss` bound to an original."""

    def read(self, masked: Table) -> float:
        pairing = self.context.pair(masked)
        pairs, totals = count_pairs(pairing)
        known, logs = self.measure.known(pairing), self.measure.logs(self.context)
        return float(entropy_loss(pairs, totals, pairing.shape, known, logs, count_logs(self.context.rows)))

    def explain(self, masked: Table) -> Reading:
        return self.reading(self.read(masked), {})
