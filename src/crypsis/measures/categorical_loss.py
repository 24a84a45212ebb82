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
from crypsis.kernels.ledger import TableLayout, contingency_loss, distance_loss, entropy_loss, sum_weighted, table_gaps
from crypsis.measures.categorical_ledger import (
    CategoricalLoss,
    Divisor,
    Explained,
    logarithms_of_tallies,
    tally_category_pairs,
)
from crypsis.measures.categories import CategoryContext, Pairing, distances
from crypsis.measures.measure import measures
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table

DENSE = 1 << 26
"""Most cells counted in one array; larger tables are counted by their distinct tuples."""


@measures.add("contingency-loss")
class ContingencyLoss(CategoricalLoss):
    """CTBIL: how much the contingency tables of the protected attributes change.

    Sum of |count − count'| over the cells of all tables of up to `order` attributes, over 2 · records · tables: the
    mean total variation distance; normalised by cells it is the mean change of a cell, in records.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> round(crypsis.ContingencyLoss().against(original).read(masked), 2)
    20.0

    Notes
    -----
    - Formula: Σ |count − count'| / (2 n · tables)
    - Paper: Torra and Domingo-Ferrer (2001); CTBIL of Marés and Torra (2012)
    - Cost: O(n p²) for tables of two columns
    - Departures: normalised to 0–100
    """

    tally: ClassVar[str] = "contingency"

    order: int = Field(default=2, ge=1, le=6, description="largest number of attributes crossed in one table")
    normalisation: Literal["tables", "cells"] = Field(
        default="tables", description="divide by 2 · records · tables (0–100) or by the number of cells (unbounded)"
    )

    def unit_in_words(self) -> str:
        return "%" if self.normalisation == "tables" else "records per cell"

    def subsets(self, attributes: int) -> list[tuple[int, ...]]:
        """The attributes of each table.

        Parameters
        ----------
        attributes : int
            Number of attributes.

        Returns
        -------
        list of tuples of int
        """
        sizes = range(1, min(self.order, attributes) + 1)
        return [chosen for size in sizes for chosen in combinations(range(attributes), size)]

    def lay_out(self, pairing: Pairing) -> tuple[TableLayout, int]:
        """Strides and starts of the tables, and their number of cells.

        Parameters
        ----------
        pairing : Pairing
            Gives the number of categories, new labels included.

        Returns
        -------
        tuple of TableLayout and int
        """
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
        """What the summed differences are divided by.

        Parameters
        ----------
        pairing : Pairing
            Both files, of which the tables are made.

        Returns
        -------
        float
        """
        subsets = self.subsets(len(pairing.spans))
        if self.normalisation == "tables":
            return 2.0 * pairing.context.rows * len(subsets)
        # A label of the domain, a label the masked file brought, and 'missing' if the original has it.
        widths = [len(span) - 2 + lacks for span, lacks in zip(pairing.spans, pairing.context.lacks, strict=True)]
        return 100.0 * sum(float(np.prod([widths[j] for j in chosen])) for chosen in subsets)

    def score(self, pairing: Pairing) -> float:
        shape, cells = self.lay_out(pairing)
        if cells <= DENSE:
            scratch = np.empty(cells, dtype=np.int32)
            gap = table_gaps(pairing.context.codes, pairing.codes, shape.strides, shape.starts, scratch)
        else:
            gap = sum(_sparse_gap(pairing, chosen) for chosen in self.subsets(len(pairing.spans)))
        return float(contingency_loss(gap, self.divisor(pairing)))

    def explain(self, pairing: Pairing) -> Explained:
        return Explained(self.score(pairing), {"tables": len(self.subsets(len(pairing.spans)))})


def _sparse_gap(pairing: Pairing, chosen: tuple[int, ...]) -> int:
    both = np.concatenate([pairing.context.codes[:, chosen], pairing.codes[:, chosen]])
    signs = np.repeat([-1, 1], pairing.context.rows)
    return int(np.abs(np.bincount(equivalence_classes(both).of, weights=signs)).sum())


@measures.add("distance-loss")
class DistanceLoss(CategoricalLoss):
    """DBIL: how far the values moved on average.

    Mean over cells of the distance between original and masked category: 0 or 1 if nominal, |rank difference| / |D|
    (or |D| − 1) if ordinal.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> round(crypsis.DistanceLoss().against(original).read(masked), 2)
    20.0

    Notes
    -----
    - Formula: 100 · mean d(x, x')
    - Paper: Torra and Domingo-Ferrer (2001); DBIL of Marés and Torra (2012)
    - Cost: O(n p)
    - Departures: none
    """

    tally: ClassVar[str] = "distance"

    divisor: Divisor = "size"

    def score(self, pairing: Pairing) -> float:
        pairs, _ = tally_category_pairs(pairing)
        apart = distances(pairing, self.divisor)
        spread = sum_weighted(pairs, apart.loss, pairing.shape.at)
        return float(distance_loss(spread, apart.denominators, pairing.context.rows))

    def explain(self, pairing: Pairing) -> Explained:
        return Explained(self.score(pairing), {"changed cells": int((pairing.codes != pairing.context.codes).sum())})


@measures.add("entropy-loss")
class EntropyLoss(CategoricalLoss):
    """EBIL: how uncertain the original value is to someone who sees the masked one.

    H(V | V') from the counts of (original, masked) pairs, over log2 |D| (or H(V)), mean over attributes.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> round(crypsis.EntropyLoss().against(original).read(masked), 2)
    55.1

    Notes
    -----
    - Formula: H(V | V') / log₂|D|
    - Paper: Kooiman, Willenborg and Gouweleeuw (1998); EBIL of Marés and Torra (2012)
    - Cost: O(n p)
    - Departures: none
    """

    tally: ClassVar[str] = "entropy"

    normalisation: Literal["size", "entropy"] = Field(
        default="size", description="total loss is log2 |D| (size) or the entropy of the original attribute (entropy)"
    )
    transitions: dict[str, tuple[tuple[float, ...], ...]] = Field(
        default_factory=dict,
        description="known PRAM matrices by column, P(masked | original) in category order, used instead of counts",
    )

    def context(self, original: Table) -> CategoryContext:
        context = super().context(original)
        for name in self.transitions:
            self._check(name, context)
        return context

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

    def compute_known(self, pairing: Pairing) -> NDArray[np.float64]:
        """Entropy of the original given each masked code; NaN where the pair counts must tell.

        Parameters
        ----------
        pairing : Pairing
            Both files; known matrices replace their counts.

        Returns
        -------
        ndarray of float64
        """
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
        """What counts as total loss in each attribute; 0 where nothing can be lost.

        Parameters
        ----------
        context : CategoryContext
            Sizes and frequencies of the original attributes.

        Returns
        -------
        ndarray of float64
        """
        if self.normalisation == "entropy":
            return np.array([context.entropy(j) for j in range(len(context.sizes))])
        return np.array(
            [np.log2(max(1, size + lacks)) for size, lacks in zip(context.sizes, context.lacks, strict=True)]
        )

    def score(self, pairing: Pairing) -> float:
        pairs, totals = tally_category_pairs(pairing)
        known, logs, steps = (
            self.compute_known(pairing),
            self.logs(pairing.context),
            logarithms_of_tallies(pairing.context.rows),
        )
        return float(entropy_loss(pairs, totals, pairing.shape, known, logs, steps))
