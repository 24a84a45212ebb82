"""Weighted estimates with standard errors of the sample design: means, totals, shares, quantiles, Gini, poverty rate.

An estimate is a function of the weights; by how much it moves with the weight of a record is the record's influence
(Deville 1999; Demnati and Rao 2004). Its variance is that of the total of weights times influences between the primary
sampling units of each stratum, as if these were drawn with replacement: Σ_h m_h / (m_h − 1) Σ_i (z_hi − z̄_h)².
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats
from crypsis.measures.measure import numbers_that_measures_read
from crypsis.measures.utility.estimates import (
    FEWEST,
    MOST_VALUES,
    ColumnEstimate,
    ColumnEstimates,
    Estimates,
    estimates_of_numbers,
    is_dominated_estimate,
)
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.population import weight_column
from crypsis.table.table import Table

Ints = NDArray[np.int64]

POOR = 0.6
"""Part of the median income below which somebody is at risk of poverty."""
POINTS = (0.1, 0.5, 0.9)
"""Quantiles that are compared."""
FEWEST_ESTIMATED = 10
"""Records below which there is no estimate."""
TIED = 1e-9
"""Share of the weight by which a quantile lies between two values."""


@dataclass(frozen=True, eq=False)
class SampleDesign:
    """Strata and primary sampling units of the records, as collected; weights are given with each estimate."""

    strata: Ints  # int64[n]
    units: Ints  # int64[n]: numbered over all strata
    stratified: tuple[str, ...] = ()  # columns of strata
    clustered: str = ""  # column of units; empty where every record is one

    @classmethod
    def of(cls, table: Table) -> SampleDesign:
        """The design that the roles stratum and household tell; without them every record is drawn on its own.

        >>> table = Table.from_columns({"home": [1, 1, 2], "w": [2, 2, 3]}, {"home": "household", "w": "weight"})
        >>> SampleDesign.of(table).units.tolist()
        [0, 0, 1]
        """
        names, homes = table.names_by_role(Role.STRATUM), table.names_by_role(Role.HOUSEHOLD)[:1]
        strata = np.zeros(len(table), dtype=np.int64)
        if names and len(table):
            strata = equivalence_classes(table.codes(names)).of.astype(np.int64)
        homes_of = table.codes(homes)[:, 0].astype(np.int64) if homes else np.full(len(table), MISSING)
        own = np.where(homes_of == MISSING, homes_of.max(initial=0) + 1 + np.arange(len(table)), homes_of)
        units = np.unique(np.stack([strata, own], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        return cls(strata, units.astype(np.int64), tuple(names), homes[0] if homes else "")

    @classmethod
    def of_records(cls, records: int) -> SampleDesign:
        """The design in which every record is drawn on its own."""
        return cls(np.zeros(records, dtype=np.int64), np.arange(records))

    @cached_property
    def _sizes(self) -> tuple[Ints, Ints]:
        """The stratum of every unit, and how many units each stratum has."""
        of = np.zeros(int(self.units.max(initial=-1)) + 1, dtype=np.int64)
        of[self.units] = self.strata
        return of, np.bincount(of, minlength=int(self.strata.max(initial=-1)) + 1)

    @property
    def single(self) -> int:
        """Strata of one unit, whose variance is read against the mean of all units."""
        return int((self._sizes[1] == 1).sum())

    def error(self, rows: NDArray[np.intp], influence: Floats) -> float:
        """The standard error of an estimate; `influence`: weight times influence of the records `rows`, others 0."""
        strata, sizes = self._sizes
        totals = np.bincount(self.units[rows], weights=influence, minlength=len(strata))
        by_stratum = np.bincount(strata, weights=totals, minlength=len(sizes))
        squares = np.bincount(strata, weights=totals**2, minlength=len(sizes))
        several = sizes > 1
        m = sizes[several]
        variance = float(np.sum(m / (m - 1) * np.maximum(squares[several] - by_stratum[several] ** 2 / m, 0.0)))
        lonely = sizes == 1
        if lonely.any() and len(strata) > 1:
            variance += float(np.sum((by_stratum[lonely] - totals.mean()) ** 2))
        return float(np.sqrt(variance))


@dataclass(frozen=True, eq=False)
class WeightedRecords:
    """Numbers and weights of some records of a sample, from which figures are estimated."""

    design: SampleDesign
    rows: NDArray[np.intp]  # records of the design
    values: Floats  # float64[rows]: no number is missing
    weights: Floats  # float64[rows]: above 0

    @classmethod
    def of(cls, design: SampleDesign, values: Floats, weights: Floats) -> WeightedRecords:
        """The records that have a number and a weight.

        `values`, `weights` float64[n].
        """
        rows = np.flatnonzero(~np.isnan(values) & (np.nan_to_num(weights) > 0))
        return cls(design, rows, values[rows], weights[rows])

    def _estimate(self, value: float, influence: Floats) -> Estimates:
        moved = self.weights * influence
        return Estimates.one(value, self.design.error(self.rows, moved), 2 * float(np.abs(moved).max(initial=0.0)))

    @property
    def population(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    @property
    def _few(self) -> bool:
        return len(self.rows) < FEWEST_ESTIMATED

    def total(self) -> Estimates:
        """Weighted total: Σ w y."""
        if not len(self.rows):
            return Estimates.none(1)
        return self._estimate(float(self.weights @ self.values), self.values)

    def mean(self) -> Estimates:
        """Weighted mean: Σ w y / Σ w."""
        if len(self.rows) < 2:
            return Estimates.none(1)
        mean = float(self.weights @ self.values) / self.population
        return self._estimate(mean, (self.values - mean) / self.population)

    def quantile(self, share: float) -> Estimates:
        """Weighted quantile: the smallest value that so much of the weight does not exceed."""
        if self._few:
            return Estimates.none(1)
        at = self.quantile_value(share)
        density = self._density(at)
        if density <= 0:
            return Estimates.one(at, np.nan)
        below = np.where(self.values <= at, 1.0, 0.0)
        return self._estimate(at, (share - below) / (density * self.population))

    def quantile_value(self, share: float) -> float:
        """The smallest value up to which so much of the weight lies; the mean of two where it lies between them.

        >>> design = SampleDesign(np.zeros(4, dtype=int), np.arange(4))
        >>> records = WeightedRecords.of(design, np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 1.0, 5.0]))
        >>> records.quantile_value(0.5), records.quantile_value(0.25)
        (4.0, 2.5)
        """
        values, cumulated = self._sorted_values
        wanted = share * cumulated[-1]
        place = min(int(np.searchsorted(cumulated, wanted * (1 - TIED))), len(values) - 1)
        if abs(cumulated[place] - wanted) <= TIED * cumulated[-1] and place + 1 < len(values):
            return float((values[place] + values[place + 1]) / 2)
        return float(values[place])

    @cached_property
    def _sorted_values(self) -> tuple[Floats, Floats]:
        order = np.argsort(self.values, kind="stable")
        return self.values[order], np.cumsum(self.weights[order])

    def _density(self, at: float) -> float:
        """The density of the numbers at a point, by a normal kernel of the usual width (Osier 2009)."""
        mean = float(self.weights @ self.values) / self.population
        deviation = float(np.sqrt(self.weights @ (self.values - mean) ** 2 / self.population))
        width = deviation * len(self.rows) ** -0.2
        if width <= 0:
            return 0.0
        kernel = np.exp(-(((self.values - at) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))
        return float(self.weights @ kernel) / self.population

    def gini(self) -> Estimates:
        """Gini coefficient, per cent: (2 Σ w y N(y) − Σ w² y) / (N Σ w y) − 1, N(y) the weight up to y."""
        if self._few or self.values.min() < 0 or not self.values.any():
            return Estimates.none(1)
        order = np.argsort(self.values, kind="stable")
        y, w = self.values[order], self.weights[order]
        below, whole, total = np.cumsum(w), self.population, float(w @ y)
        gini = float(2 * (w * y) @ below - (w**2) @ y) / (whole * total) - 1
        above = np.cumsum((w * y)[::-1])[::-1]
        moved = np.empty(len(y))
        moved[order] = 2 * (y * below + above - w * y) / (whole * total) - (gini + 1) * (1 / whole + y / total)
        return self._estimate(100.0 * gini, 100.0 * moved)

    def poverty(self) -> Estimates:
        """At-risk-of-poverty rate, per cent: weight of the incomes below 60 % of the weighted median."""
        if self._few:
            return Estimates.none(1)
        return self.poverty_below(self)

    def poverty_below(self, everybody: WeightedRecords) -> Estimates:
        """The rate of these records by the median of everybody, as for groups."""
        if not len(self.rows):
            return Estimates.none(1)
        median = everybody.quantile_value(0.5)
        line = POOR * median
        poor = (self.values < line) * 1.0
        rate = float(self.weights @ poor) / self.population
        density, at_line = everybody._density(median), self._density(line)
        moved = np.zeros(len(self.design.units))
        moved[self.rows] += self.weights * (poor - rate) / self.population
        if density > 0:
            slope = POOR * at_line / (density * everybody.population)
            moved[everybody.rows] -= everybody.weights * slope * ((everybody.values <= median) - 0.5)
        error = self.design.error(np.arange(len(moved)), moved)
        return Estimates.one(100.0 * rate, 100.0 * error, 200.0 * float(np.abs(moved).max(initial=0.0)))


# -- Weighted estimates of columns before and after, for the utility card.

WEIGHTED_FIGURES = ("mean", "total", "10 % point", "median", "90 % point", "Gini, %", "at risk of poverty, %")
"""Weighted figures of a number, in the order in which they are shown."""


@dataclass(frozen=True)
class WeightedComparison:
    """Weighted estimates before and after, with standard errors of the sample design.

    Attributes
    ----------
    weights : str
        The column that weighs the records: as collected before, as published after.
    strata : tuple of str
        Columns with the role stratum, in which units were drawn apart.
    units : str
        The column of primary sampling units, with the role household; empty where every record is one.
    single : int
        Strata with one unit, whose part of the variance is read against the mean of all units.
    columns : tuple of ColumnEstimates
        Figures of every published column.

    Examples
    --------
    >>> people = crypsis.example(200)
    >>> people = people.with_columns({}, attributes={"income": people.attribute("income").but(role="weight")})
    >>> crypsis.weighted_estimates(people, people, ["age"]).columns[0].figure("mean").inside
    True
    """

    weights: str
    strata: tuple[str, ...]
    units: str
    single: int
    columns: tuple[ColumnEstimates, ...]


def weighted_estimates(original: Table, masked: Table, names: list[str], income: str = "") -> WeightedComparison | None:
    """Weighted estimates of some columns before and after.

    Parameters
    ----------
    original, masked : Table
        Row by row the same records; the column with the role weight weighs them, each as it stands there.
    names : list of str
        Columns of both; a number that is not published as numbers is left out.
    income : str
        Column of incomes whose at-risk-of-poverty rate is estimated too; empty for none.

    Returns
    -------
    WeightedComparison or None
        None where no single column has the role weight, or it is not published.

    Examples
    --------
    >>> columns = {"w": [1, 1, 2] * 10, "x": [1, 2, 3] * 10}
    >>> people = crypsis.Table.from_columns(columns, {"w": "weight", "x": "quasi"})
    >>> crypsis.weighted_estimates(people, people, ["x"]).columns[0].figure("mean").before
    2.25
    """
    name = weight_column(original)
    if not name or name not in masked.names or not (original.holds_numbers(name) and masked.holds_numbers(name)):
        return None
    design = SampleDesign.of(original)
    before, after = original.column(name), np.where(masked.kept, masked.column(name), np.nan)
    found = []
    for each in names:
        if each == name:
            continue
        try:
            if original.holds_numbers(each):
                found.append(_weighted_number(design, original, masked, each, before, after, each == income))
            else:
                found.append(_weighted_category(design, original, masked, each, before, after))
        except TableError:
            continue
    return WeightedComparison(name, design.stratified, design.clustered, design.single, tuple(found))


def _weighted_number(
    design: SampleDesign, original: Table, masked: Table, name: str, before: Floats, after: Floats, income: bool
) -> ColumnEstimates:
    first = WeightedRecords.of(design, original.column(name), before)
    last = WeightedRecords.of(design, numbers_that_measures_read(masked, name), after)
    sums = not is_dominated_estimate(first.weights * first.values)
    many = len(first.rows) * min(POINTS) >= FEWEST
    figures = [
        _compare_weighted("mean", first.mean(), last.mean(), sums),
        _compare_weighted("total", first.total(), last.total(), sums),
    ]
    for share, title in zip(POINTS, WEIGHTED_FIGURES[2:5], strict=True):
        figures.append(_compare_weighted(title, first.quantile(share), last.quantile(share), many))
    gini = first.gini()
    if np.isfinite(gini.value[0]):
        figures.append(_compare_weighted("Gini, %", gini, last.gini(), sums))
    if income:
        line = POOR * first.quantile_value(0.5) if len(first.rows) else 0.0
        poor = int((first.values < line).sum())
        public = FEWEST <= poor <= len(first.rows) - FEWEST
        figures.append(_compare_weighted("at risk of poverty, %", first.poverty(), last.poverty(), public))
    return estimates_of_numbers(original, name, figures)


def _weighted_category(
    design: SampleDesign, original: Table, masked: Table, name: str, before: Floats, after: Floats
) -> ColumnEstimates:
    """Weighted shares of the commonest values; those that are published within groups have none after."""
    codes, shown = original.column(name), masked.column(name)
    labels, published = original.labels(name), masked.labels(name)
    counts = np.bincount(codes[codes != MISSING], minlength=len(labels))
    order = sorted(np.flatnonzero(counts >= FEWEST).tolist(), key=lambda code: (-counts[code], labels[code]))
    figures = []
    for code in order[:MOST_VALUES]:
        own = np.where(codes == MISSING, np.nan, (codes == code) * 100.0)
        same = np.array([*(label == labels[code] for label in published), False])[shown]
        there = np.where(shown == MISSING, np.nan, same * 100.0)
        last = WeightedRecords.of(design, there, after).mean()
        if masked.level(name) != 0 and not same.any():
            last = Estimates.none(1)
        figures.append(_compare_weighted(labels[code], WeightedRecords.of(design, own, before).mean(), last, True))
    return ColumnEstimates(name, False, tuple(figures))


def _compare_weighted(figure: str, before: Estimates, after: Estimates, public: bool) -> ColumnEstimate:
    known = [float(each) if np.isfinite(each) else None for each in (before.value[0], after.value[0], before.error[0])]
    return ColumnEstimate(figure, known[0], known[1], known[2], public, before.one_record)
