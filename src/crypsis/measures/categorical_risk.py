"""What an intruder who knows the original categories finds in the masked file: disclosed values and two linkages.

Missing values are a category of their own; suppressed records are candidates for nobody and link to nobody.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from crypsis.errors import TableError
from crypsis.kernels.arrays import Ints
from crypsis.kernels.ledger import ANY, EXPECTED, STRICT, linkage_risk, sum_weighted
from crypsis.kernels.linkage import FAR, nearest, own_hits
from crypsis.measures.categorical_ledger import CategoricalRisk, Divisor, Explained, tally_category_pairs
from crypsis.measures.categories import (
    CategoryContext,
    Pairing,
    distances,
    ranks_apart,
    spread_out,
    steps_apart,
    unequal,
)
from crypsis.measures.measure import measures
from crypsis.table.table import Table

LARGEST_COST = 1 << 40
"""Weighted distances stay whole numbers up to here and are rounded beyond."""


@measures.add("category-disclosure")
class CategoryDisclosure(CategoricalRisk):
    """ID: how many original values lie within a few ranks of the masked one.

    Share of values whose original category is within floor(width · |D| / 2) ranks of the masked one (nominal: equal
    to it), mean over attributes.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> round(crypsis.CategoryDisclosure().against(original).read(masked), 2)
    80.0

    Notes
    -----
    - Formula: 100 · share of values within ⌊width · |D| / 2⌋ ranks of the masked one
    - Paper: ID of Marés and Torra (2012)
    - Cost: O(n p)
    - Departures: none
    """

    tally: ClassVar[str] = "disclosure"

    width: float = Field(default=0.1, ge=0.0, le=1.0, description="width of the interval, as a share of the domain")

    def reach(self, context: CategoryContext, j: int) -> int:
        """How many ranks from the original a category discloses it.

        Parameters
        ----------
        context : CategoryContext
            The original side.
        j : int
            Position of the attribute.

        Returns
        -------
        int
        """
        return math.floor(self.width * context.sizes[j] / 2 + 1e-9) if context.ordinal[j] else 0

    def near(self, pairing: Pairing) -> Ints:
        """1 where every category the masked one stands for is within reach of the original.

        Parameters
        ----------
        pairing : Pairing
            Two files numbered alike (see `CategoryContext.pair`).

        Returns
        -------
        ndarray of int64
        """
        context, tables = pairing.context, []
        for j, span in enumerate(pairing.spans):
            size = context.sizes[j]
            apart = steps_apart(context, j, ranks_apart(size), size + 1)
            tables.append((spread_out(span, apart, False, FAR) <= self.reach(context, j)).ravel())
        return np.concatenate(tables).astype(np.int64)

    def score(self, pairing: Pairing) -> float:
        inside = int(sum_weighted(tally_category_pairs(pairing)[0], self.near(pairing), pairing.shape.at).sum())
        return 100.0 * inside / (pairing.context.rows * len(pairing.context.sizes))

    def explain(self, pairing: Pairing) -> Explained:
        context, shares = pairing.context, []
        for j, size in enumerate(context.sizes):
            reach, counts = self.reach(context, j), context.frequencies[j]
            windows = [counts[max(0, g - reach) : min(size, g + reach + 1)].sum() for g in range(size)]
            shares.append(max([*windows, counts[size]]) / context.rows)
        return Explained(self.score(pairing), {}, baseline=100.0 * float(np.mean(shares)))


class CategoricalLinkage(CategoricalRisk):
    """A risk by links from original records to the masked records at the least cost."""

    @property
    @abstractmethod
    def rule(self) -> int:
        """What a link is worth: a rule of `kernels.ledger`."""

    @property
    def first(self) -> bool:
        """Whether the lowest row wins a tie."""
        return False

    @property
    def widest(self) -> bool:
        """Whether a cost is the largest over the columns rather than their sum."""
        return False

    @property
    def alone(self) -> bool:
        """Whether a record's credit depends on no other record."""
        return False

    @abstractmethod
    def costs(self, pairing: Pairing) -> Ints:
        """Cost of each masked category for each original one, in the lay-out of the pairing.

        Parameters
        ----------
        pairing : Pairing
            Gives the lay-out of the categories.

        Returns
        -------
        ndarray of int64
        """

    def links(self, pairing: Pairing, counted: bool) -> tuple[Ints, Ints]:
        """Count the nearest records of each original tuple.

        Where containment alone earns credit, the candidates need not be counted.

        Parameters
        ----------
        pairing : Pairing
            Two files in one numbering.
        counted : bool
            Whether the number of candidates is needed.

        Returns
        -------
        ties, hits : ndarray of int64
        """
        tuples, own = pairing.context.tuples, pairing.context.classes.of
        shape, costs = pairing.shape, self.costs(pairing)
        if self.alone and not counted:
            best = np.zeros(len(tuples), dtype=np.int64)
            both = own_hits(tuples, own, pairing.codes, pairing.kept, best, costs, shape.at, shape.wide)
            return np.ones_like(best), both[1]
        crowd, counts, first = pairing.crowd
        best, ties, lowest = nearest(tuples, crowd, counts, first, costs, shape.at, shape.wide, self.widest)
        if self.first:
            winner = own[lowest]
            return np.ones_like(ties), ((winner == np.arange(len(best))) & (lowest >= 0)).astype(np.int64)
        both = own_hits(tuples, own, pairing.codes, pairing.kept, best, costs, shape.at, shape.wide)
        return ties, both[1 if self.widest else 0]

    def score(self, pairing: Pairing) -> float:
        ties, hits = self.links(pairing, False)
        return float(linkage_risk(hits, ties, self.rule, pairing.context.rows))

    def explain(self, pairing: Pairing) -> Explained:
        ties, hits = self.links(pairing, True)
        rows, sizes = pairing.context.rows, pairing.context.classes.sizes
        value = float(linkage_risk(hits, ties, self.rule, rows))
        guess = 100.0 * float((sizes * ties).sum()) / rows**2 if self.rule == ANY else 100.0 / rows
        counts = {"correct candidates": int(hits.sum()), "mean candidates": float(ties @ sizes) / rows}
        return Explained(value, counts, baseline=guess, trials=rows)


@measures.add("category-linkage")
class CategoryLinkage(CategoricalLinkage):
    """DBRL: each original record goes to the nearest masked one.

    Share of original records whose nearest masked record, by the sum of category distances, is their own; t tied
    records count 1/t (expected), only if t = 1 (strict), or the lowest row wins (first).

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> round(crypsis.CategoryLinkage().against(original).read(masked), 2)
    33.33

    Notes
    -----
    - Formula: 100 · share of records whose nearest masked record by category distances is their own
    - Paper: DBRL of Marés and Torra (2012)
    - Cost: O(c² p), c distinct tuples
    - Departures: ties count 1/t (decision 0003)
    """

    tally: ClassVar[str] = "linkage"

    divisor: Divisor = "size"
    ties: Literal["expected", "strict", "first"] = Field(
        default="expected", description="credit among t nearest: 1/t, only a single nearest, or the lowest row"
    )
    weights: dict[str, float] = Field(
        default_factory=dict, description="weight of each column's distance; 1 where none is given"
    )

    def context(self, original: Table) -> CategoryContext:
        context = super().context(original)
        unknown = sorted(set(self.weights) - set(context.names))
        if unknown or any(weight < 0 or not math.isfinite(weight) for weight in self.weights.values()):
            raise TableError(f"weights must be non-negative numbers for compared columns {context.names}")
        return context

    @property
    def follows(self) -> bool:
        """Ties that go to the lowest row depend on the order of rows, which tallies do not know."""
        return self.ties != "first"

    @property
    def rule(self) -> int:
        return STRICT if self.ties == "strict" else EXPECTED

    @property
    def first(self) -> bool:
        return self.ties == "first"

    def costs(self, pairing: Pairing) -> Ints:
        link = distances(pairing, self.divisor).link
        if not self.weights:
            return link
        # As written in decimals, over their common denominator: what is tied in theory stays tied in the sum.
        weights = [Fraction(str(self.weights.get(name, 1.0))) for name in pairing.context.names]
        common = math.lcm(*(weight.denominator for weight in weights))
        near, at = np.where(link >= FAR, 0, link), pairing.shape.at
        spans = [(near[at[j] : at[j + 1]], weight * common) for j, weight in enumerate(weights)]
        largest = max(int(span.max()) * weight for span, weight in spans)
        for span, weight in spans:
            exact = largest <= LARGEST_COST
            span[:] = span * int(weight) if exact else np.rint(span * float(weight * LARGEST_COST / largest))
        return np.where(link >= FAR, FAR, near)


@measures.add("rank-linkage")
class RankLinkage(CategoricalLinkage):
    """RSRL: the intruder knows how far rank swapping may carry a value (Nin, Herranz and Torra 2008).

    Candidates of an original record are the masked ones whose every category lies within `window` per cent of the
    ranks; credit 1 if its own is among them (set), 1 over their number (expected), or if it is the closest of them
    (nearest, ties shared); with no window known, the smallest that leaves a candidate.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> round(crypsis.RankLinkage().against(original).read(masked), 2)
    80.0

    Notes
    -----
    - Formula: candidates: masked records with every category within the window; credit if one's own is among them
    - Paper: Nin, Herranz and Torra (2008); RSRL of Marés and Torra (2012)
    - Cost: O(c² p)
    - Departures: which credit the 2012 paper gave is not printed; containment fits its figures
    """

    tally: ClassVar[str] = "rank"

    window: float | None = Field(
        default=10.0, ge=0.0, le=100.0, description="per cent of the ranks; none: the smallest that leaves a candidate"
    )
    ranks: Literal["categories", "records"] = Field(
        default="categories",
        description="ranks of categories in their domain, or of records sorted by category (the gap between two)",
    )
    credit: Literal["set", "expected", "nearest"] = Field(
        default="set", description="what containment is worth: 1, 1 over the candidates, or 1 if its own is the closest"
    )

    @property
    def rule(self) -> int:
        return ANY if self.credit == "set" else EXPECTED

    @property
    def widest(self) -> bool:
        """Costs are 0 inside the window, or combine to the smallest window; only `nearest` adds ranks up."""
        return self.window is None or self.credit != "nearest"

    @property
    def alone(self) -> bool:
        return self.window is not None and self.credit == "set"

    def costs(self, pairing: Pairing) -> Ints:
        context = pairing.context
        totals = [context.rows if self.ranks == "records" else max(1, size) for size in context.sizes]
        common = math.lcm(*totals)
        tables = []
        for j, (span, total) in enumerate(zip(pairing.spans, totals, strict=True)):
            size = context.sizes[j]
            gaps = self._gaps(context, j) if context.ordinal[j] else unequal(size) * total
            apart = steps_apart(context, j, gaps, total)
            if self.window is None:
                apart = np.rint(apart * (min(common, 1 << 40) / total)).astype(np.int64)
            else:
                allowed = min(math.floor(self.window * total / 100 + 1e-9), total - 1)
                inside = apart if self.credit == "nearest" else np.zeros_like(apart)
                apart = np.where(apart <= allowed, inside, FAR)
            tables.append(spread_out(span, apart, True, FAR).ravel())
        flat: Ints = np.concatenate(tables)
        return flat

    def _gaps(self, context: CategoryContext, j: int) -> Ints:
        """Ranks between two categories: positions in the domain, or records one must pass."""
        size = context.sizes[j]
        if self.ranks == "categories":
            return ranks_apart(size)
        ends = np.cumsum(context.frequencies[j][:size])
        starts = ends - context.frequencies[j][:size]
        apart = np.maximum(starts[:, None] - ends[None, :], starts[None, :] - ends[:, None]) + 1
        np.fill_diagonal(apart, 0)
        gaps: Ints = apart.astype(np.int64)
        return gaps
