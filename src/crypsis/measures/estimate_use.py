"""Declared use: a named analysis with its standard errors, and how far the intervals of both files overlap.

A regression, of a number or of the chance of an event, means of a number by groups, totals, or a table of shares, each
weighted or not. Weighted figures have linearised standard errors: every record counts by how far it moves the figure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, cast

import numpy as np
import scipy
from pydantic import Field

from crypsis.errors import PlanError, TableError, listing, unknown_column
from crypsis.kernels.arrays import Floats
from crypsis.measures.measure import measures, numbers_that_measures_read
from crypsis.measures.spreading import Axis, Grid
from crypsis.measures.uses import DeclaredUse, Found, named_weight, weight_for_uses, weights_for_uses
from crypsis.measures.utility.estimates import (
    Estimates,
    Flags,
    compare_intervals,
    has_error,
    least_squares_estimates,
    logistic_estimates,
)
from crypsis.measures.utility.weighted_estimates import SampleDesign, WeightedRecords
from crypsis.registry import ColumnName
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.hierarchy import MISSING
from crypsis.table.precision import Scales
from crypsis.table.table import Table

TOLERANCE = 1e-9
"""What rounding may leave of a direction in which the regressors do not vary, or of a residual."""
LAST_DIGITS = 1e-12
"""What it may leave of a target that does not vary at all, as a part of its size."""


@dataclass(frozen=True)
class Regressor:
    """A number, centred and scaled by the original; or a category with a column for every value but the commonest."""

    name: str
    axis: Axis | None
    shown: tuple[int, ...]
    centre: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, original: Table, name: str, levels: int | None = None) -> Regressor:
        """The regressor of a column of the original; of a category with more than `levels` values the commonest."""
        if original.holds_numbers(name):
            scales = Scales.of(finite_numbers_of_frame(original, name)[:, None])
            return cls(name, None, (), float(scales.mean[0]), float(scales.deviation[0]) or 1.0)
        codes = original.column(name)
        counts = np.bincount(codes[codes != MISSING])
        used = np.flatnonzero(counts)
        if len(used) < 2:
            return cls(name, Axis.of(original, name, 2), ())
        reference = int(np.argmax(counts))
        if levels is not None:
            used = np.sort(used[np.argsort(-counts[used], kind="stable")][:levels])
        return cls(name, Axis.of(original, name, 2), tuple(int(code) for code in used if code != reference))

    def columns(self, original: Table, table: Table) -> Floats:
        """float64[n, …]: the columns of the design; NaN where the value is missing."""
        if self.axis is None:
            return (numbers_that_measures_read(table, self.name)[:, None] - self.centre) / self.scale
        cells = np.array(self.shown, dtype=np.int64)
        design = np.zeros((table.rows, len(cells)))
        absent = np.zeros(table.rows, dtype=np.bool_)
        for codes, wanted, share in self.axis.readings(original, table, cells):
            design += np.where(codes[:, None] == wanted[None, :], share[:, None], 0.0)
            absent |= codes == MISSING
        return np.where(absent[:, None], np.nan, design)


@dataclass(frozen=True)
class Fit:
    """Coefficients (without the constant) and the half width of their 95 % intervals; NaN where the data are silent."""

    estimate: Floats
    half_width: Floats
    records: int


def fit_regression_for_use(design: Floats, target: Floats) -> Fit:
    """Fit the linear regression that a declared use names, by least squares, where nothing is missing."""
    here = ~np.isnan(target) & ~np.isnan(design).any(axis=1)
    x = np.concatenate([np.ones((int(here.sum()), 1)), design[here]], axis=1)
    y = target[here]
    size = x.shape[1]
    silent = Fit(np.full(size - 1, np.nan), np.full(size - 1, np.nan), len(y))
    if not len(y):
        return silent
    _, singular, directions = np.linalg.svd(np.linalg.qr(x, mode="r"), full_matrices=True)
    strength = np.zeros(size)
    strength[: len(singular)] = singular
    seen = strength > TOLERANCE * strength.max()
    freedom = len(y) - int(seen.sum())
    if freedom <= 0:
        return silent
    inverse = (directions[seen].T / strength[seen] ** 2) @ directions[seen]
    coefficients = inverse @ (x.T @ y)
    residual = y - x @ coefficients
    # A perfect fit leaves rounding, not an error.
    rounding = max(TOLERANCE * float(np.abs(y - y.mean()).max()), LAST_DIGITS * float(np.abs(y).max()))
    residual = np.where(np.abs(residual) > rounding, residual, 0.0)
    variance = float(residual @ residual) / freedom
    half = float(scipy.special.stdtrit(freedom, 0.975)) * np.sqrt(variance * np.diagonal(inverse))
    unseen = np.sqrt((directions[~seen] ** 2).sum(axis=0)) > 1e-6
    estimate = np.where(unseen, np.nan, coefficients)
    return Fit(estimate[1:], np.where(unseen, np.nan, half)[1:], len(y))


def overlap_of_used_estimates(before: Fit, after: Fit) -> Floats:
    """How far the intervals of a declared use's estimates overlap: 1 alike, 0 touching, −1 far apart.

    Intervals of no length are alike or far apart; a slope that the released file cannot estimate is far away.
    """
    low = np.maximum(before.estimate - before.half_width, after.estimate - after.half_width)
    high = np.minimum(before.estimate + before.half_width, after.estimate + after.half_width)
    room = TOLERANCE * np.maximum(np.abs(before.estimate), 1.0)
    points = (before.half_width <= 0) | (after.half_width <= 0)
    same = (np.abs(before.estimate - after.estimate) <= room) & (before.half_width + after.half_width <= room)
    one = (high - low) / (2 * np.where(points, 1.0, before.half_width))
    other = (high - low) / (2 * np.where(points, 1.0, after.half_width))
    found = np.where(points, np.where(same, 1.0, -1.0), np.clip((one + other) / 2, -1.0, 1.0))
    return np.where(np.isnan(after.estimate), -1.0, found)


@dataclass(frozen=True)
class PreparedRegression:
    """The original's fit, and how to build the same design again."""

    original: Table
    regressors: tuple[Regressor, ...]
    fitted: Fit


@measures.add("regression-use")
class RegressionUse(DeclaredUse):
    """A linear regression of a numeric column on others.

    50 times (1 − mean overlap of the 95 % confidence intervals of the slopes): ordinary least squares with a
    constant, a category entering as one column per value but the commonest; the overlap of two intervals is their
    shared length as a part of each, averaged: 1 where they are equal, 0 where they touch, below 0 where there is a gap
    between them, and −1 where it is as long as they are or the released file cannot estimate the slope; intervals of no
    length overlap only if equal.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.RegressionUse(columns=("x",), target="y").against(original).read(masked), 2)
    12.5

    Notes
    -----
    - Formula: 50 (1 − mean overlap of the 95 % intervals of the slopes)
    - Paper: overlap: Karr, Kohnen, Oganian, Reiter and Sanil (2006)
    - Cost: O(n q²), q columns of the design
    - Departures: an overlap below −1 is −1
    """

    missing: ClassVar[str] = (
        "records with a missing target or regressor take no part; a generalised category enters as equal shares of the "
        "values it covers; suppressed records are left out of the released side"
    )

    columns: tuple[str, ...] = Field(min_length=1, description="regressors: numbers or categories")
    target: ColumnName = Field(min_length=1, description="numeric column that is explained")

    @classmethod
    def first_settings(cls, numeric: Sequence[str], quasi_identifiers: Sequence[str]) -> dict[str, Any]:
        return {"target": numeric[-1] if numeric else "", "columns": list(quasi_identifiers[:2])}

    def scope(self) -> tuple[str, ...]:
        return (self.target, *self.columns)

    def numeric(self) -> tuple[str, ...]:
        return (self.target,)

    def obstacle(self, original: Table) -> str:
        if self.target in self.columns:
            return f"column {self.target!r} cannot explain itself; leave it out of the regressors"
        return super().obstacle(original)

    def prepare(self, original: Table) -> PreparedRegression:
        regressors = tuple(Regressor.of(original, name) for name in self.columns)
        fitted = self._fit(original, regressors, original)
        if np.isnan(fitted.estimate).all():
            raise TableError(
                f"the regression of {self.target!r} cannot be estimated on the original: {fitted.records} complete "
                f"records and {len(fitted.estimate)} slopes; choose fewer regressors or ones that vary"
            )
        return PreparedRegression(original, regressors, fitted)

    def _fit(self, original: Table, regressors: tuple[Regressor, ...], table: Table) -> Fit:
        design = np.concatenate([each.columns(original, table) for each in regressors], axis=1)
        return fit_regression_for_use(design, numbers_that_measures_read(table, self.target))

    def compare(self, prepared: PreparedRegression, masked: Table) -> Found:
        after = self._fit(prepared.original, prepared.regressors, masked)
        counted = ~np.isnan(prepared.fitted.estimate)
        shares = overlap_of_used_estimates(prepared.fitted, after)[counted]
        counts = {
            "slopes": int(counted.sum()),
            "slopes not estimable": int(np.isnan(after.estimate[counted]).sum()),
            "slopes with disjoint intervals": int((shares < 0).sum()),
            "mean overlap": float(shares.mean()),
        }
        return 50.0 * (1.0 - float(shares.mean())), counts


# -- Declared use: a named analysis with its standard errors, and how far the intervals of both files overlap.
#
# A regression, of a number or of the chance of an event, means of a number by groups, totals, or a table of shares,
# each weighted or not. Weighted figures have linearised standard errors: every record counts by how far it moves the
# figure.

UsedAnalysis = Literal["regression", "mean", "total", "share", "gini", "poverty"]
OF_ALL = ("mean", "total", "gini", "poverty")
"""Analyses of a number that need no groups."""
FORMS = (
    "'wage ~ age + education', 'employed=yes ~ age', 'mean wage by sex + region', 'mean wage', 'total wage by region', "
    "'gini income', 'poverty income by region' and 'share region + sex'"
)
"""What a use looks like in one line; each may end with "weight" and a column, or "weight none"."""


@dataclass(frozen=True)
class PreparedEstimates:
    """The original, the groups or the regressors, the estimates, and which of them have an interval."""

    original: Table
    grid: Grid | None
    regressors: tuple[Regressor, ...]
    centre: float
    scale: float
    before: Estimates
    known: Flags


def _read_analysis(text: str) -> tuple[UsedAnalysis, str, str, tuple[str, ...]] | None:
    """Kind, target, event and columns of a use without its weight; None if the text is no use."""
    kind: str
    if "~" in text:
        kind, (target, _, rest) = "regression", text.partition("~")
    else:
        kind, _, body = text.partition(" ")
        target, _, rest = body.partition(" by ") if kind != "share" else ("", "", body)
    event = ""
    if kind == "regression":
        target, equal, event = target.partition("=")
        target = target if not equal or event.strip() else ""
    target, columns = target.strip(), tuple(name.strip() for name in rest.split("+")) if rest.strip() else ()
    shapes = {
        "regression": bool(target and columns),
        **{each: bool(target) for each in OF_ALL},
        "share": bool(columns),
    }
    if not shapes.get(kind) or not all(columns):
        return None
    return cast(UsedAnalysis, kind), target, event.strip(), columns


@measures.add("estimate-use")
class EstimateUse(DeclaredUse):
    """A regression, means by groups, totals or a table of shares, judged by its confidence intervals.

    100 times (1 − mean overlap of the 95 % intervals of the estimates): least squares with HC1 errors, logistic
    regression of an event, means, totals, shares, Gini coefficients or at-risk-of-poverty rates (below 60 % of the
    median of all) of everybody or of the groups that some columns form. The column with the role weight weighs records;
    standard errors are then those of the design, strata and households being told by their roles.
    The overlap of two intervals is their common part as a share of each, averaged, and 0 where they are apart or the
    released file has no estimate.

    Examples
    --------
    >>> original = crypsis.example(200)
    >>> masked = crypsis.Microaggregation(k=5).mask(original, np.random.default_rng(0))
    >>> use = crypsis.EstimateUse(analysis="mean", target="income", columns=("sex",))
    >>> use.against(original).read(original), use.against(original).read(masked) > 0
    (0.0, True)

    Notes
    -----
    - Formula: 100 (1 − mean over estimates of ½ (common / own length + common / released length))
    - Paper: overlap: Karr, Kohnen, Oganian, Reiter and Sanil (2006); linearisation: Deville (1999), Osier (2009)
    - Cost: O(n q²), q columns of the design; O(n log n) by groups
    - Departures: an overlap below 0 is 0; errors of weighted regressions do not know the design
    """

    missing: ClassVar[str] = (
        "records that lack the target, a regressor or a weight take no part; a missing group is a group of its own; a "
        "generalised value stands evenly for those it covers; suppressed records are left out of the released side"
    )

    analysis: UsedAnalysis = Field(
        default="regression",
        description="regression of the target, its mean, total, Gini coefficient or at-risk-of-poverty rate, of all or "
        "by groups, or shares of groups",
    )
    target: ColumnName = Field(
        default="", description="numeric column that is analysed, or any column with an event; none for shares"
    )
    event: str = Field(
        default="", description="value of the target whose chance a logistic regression explains; empty: least squares"
    )
    columns: tuple[str, ...] = Field(default=(), description="regressors, or columns that form the groups")
    weights: ColumnName = Field(
        default="",
        description="numeric column of record weights; empty: the one with the role weight, where there is one; none: "
        "every record counts once",
    )
    bins: int = Field(
        default=10, ge=2, le=1000, description="numbers that form groups are cut at this many quantiles of the original"
    )

    @classmethod
    def first_settings(cls, numeric: Sequence[str], quasi_identifiers: Sequence[str]) -> dict[str, Any]:
        target = numeric[-1] if numeric else ""
        return {"target": target, "columns": [name for name in quasi_identifiers if name != target][:2]}

    @classmethod
    def read(cls, text: str) -> EstimateUse:
        """A use from one line.

        Parameters
        ----------
        text : str
            Such as "wage ~ age + education", "employed=yes ~ age", "mean wage by sex", "total wage by region weight w",
            "share sex + region".

        Returns
        -------
        EstimateUse

        Raises
        ------
        PlanError
            If the line is none of these forms.
        """
        weighted = re.fullmatch(r"(.*)\s+weight\s+(\S.*)", text.strip(), re.DOTALL)
        parts = None if weighted is None else _read_analysis(weighted[1])
        weight = "" if weighted is None or parts is None else weighted[2].strip()
        parts = parts or _read_analysis(text.strip())  # a column may be called weight
        if parts is None:
            raise PlanError(f"the use {text!r} cannot be read; write it as one of {FORMS}")
        kind, target, event, columns = parts
        return cls(analysis=kind, columns=columns, target=target, event=event, weights=weight)

    def scope(self) -> tuple[str, ...]:
        return tuple(name for name in (self.target, *self.columns, *named_weight(self.weights)) if name)

    def numeric(self) -> tuple[str, ...]:
        return tuple(name for name in ("" if self.event else self.target, *named_weight(self.weights)) if name)

    def obstacle(self, original: Table) -> str:
        if unknown := unknown_column(self.scope(), original.names):
            return unknown
        if self.analysis == "share" and self.target:
            return f"a table of shares has no target, and {self.target!r} is one; name it among the columns"
        if self.analysis != "share" and not self.target:
            return f"a {self.analysis} needs a target; name a numeric column"
        if self.analysis not in OF_ALL and not self.columns:
            return f"a {self.analysis} needs columns: regressors, or those that form the groups; name some"
        weighing = weight_for_uses(original, self.weights)
        if self.target in self.columns or (weighing and weighing in (*self.columns, self.target)):
            both = self.target if self.target in self.columns else weighing
            return f"column {both!r} stands twice in this use; leave it out of the columns"
        if self.event and self.analysis != "regression":
            return f"a {self.analysis} has no event, and {self.event!r} is one; leave it out or ask for a regression"
        if self.analysis == "regression" and not self.event and not original.holds_numbers(self.target):
            kind = original.attribute(self.target).kind
            return (
                f"column {self.target!r} is {kind} and this use needs numbers; choose another, or say of which value "
                f"the chance is explained, as {self.target}=value"
            )
        if self.event and not self._happens(original, original).any():
            return f"no record has {self.event!r} in column {self.target!r}; name a value that occurs"
        return super().obstacle(original)

    def _happens(self, original: Table, table: Table) -> Floats:
        """float64[n]: the chance that each record has the event; NaN where the target is missing."""
        if original.holds_numbers(self.target):
            numbers = numbers_that_measures_read(table, self.target)
            try:
                return np.where(np.isnan(numbers), np.nan, (numbers == float(self.event)) * 1.0)
            except ValueError:
                return np.zeros(table.rows)
        labels = original.attribute(self.target).categories
        if self.event not in labels:
            return np.zeros(table.rows)
        cell, chance = np.array([labels.index(self.event)]), np.zeros(table.rows)
        absent = ~table.kept
        for codes, wanted, share in Axis.of(original, self.target, 2).readings(original, table, cell):
            chance += np.where(codes == wanted[0], share, 0.0)
            absent = absent | (codes == MISSING)
        return np.where(absent, np.nan, chance)

    def prepare(self, original: Table) -> PreparedEstimates:
        grid, regressors = None, tuple[Regressor, ...]()
        centre, scale = 0.0, 1.0
        if self.analysis == "regression":
            regressors = tuple(Regressor.of(original, name) for name in self.columns)
            if not self.event:
                scales = Scales.of(numbers_that_measures_read(original, self.target)[:, None])
                centre, scale = float(scales.mean[0]), float(scales.deviation[0]) or 1.0
        elif self.columns:
            grid = Grid.of(original, self.columns, self.bins)
        empty = PreparedEstimates(
            original, grid, regressors, centre, scale, Estimates.none(0), np.zeros(0, dtype=np.bool_)
        )
        before = self._estimate(empty, original)
        known = has_error(before)
        if not known.any():
            named = f"the {self.analysis} of {self.target!r}" if self.target else "the table of shares"
            raise TableError(
                f"{named} by {listing(map(repr, self.columns)) or 'no column'} has no estimate with an interval on the "
                f"original; choose fewer columns, or ones that vary"
            )
        return PreparedEstimates(original, grid, regressors, centre, scale, before, known)

    def compare(self, prepared: PreparedEstimates, masked: Table) -> Found:
        after = self._estimate(prepared, masked)
        known = prepared.known
        first, last = (Estimates(e.value[known], e.error[known]) for e in (prepared.before, after))
        _, inside, overlap = compare_intervals(first, last)
        counts = {
            "estimates": int(known.sum()),
            "estimates inside": int(inside.sum()),
            "mean overlap": float(overlap.mean()),
        }
        return 100.0 * (1.0 - float(overlap.mean())), counts

    def _estimate(self, prepared: PreparedEstimates, table: Table) -> Estimates:
        weights = weights_for_uses(table, self.weights)
        if self.analysis == "regression":
            return self._regression(prepared, table, weights)
        weighing = weight_for_uses(table, self.weights)
        if weighing or self.analysis in ("gini", "poverty") or (self.analysis == "mean" and prepared.grid is None):
            return self._design_based(prepared, table, weights, bool(weighing))
        own = prepared.original is table
        target = numbers_that_measures_read(table, self.target) if self.target else np.ones(table.rows)
        held = ~np.isnan(target) & (weights > 0)
        w = np.where(held, weights, 0.0)
        y = np.where(held, np.nan_to_num(target), 0.0)
        amounts = np.stack([w, w * y, w**2, w**2 * y, w**2 * y**2, held * 1.0], axis=1)
        if prepared.grid is None:
            sums = np.where(table.kept[:, None], amounts, 0.0).sum(axis=0)[None, :]
        else:
            sums = prepared.grid.own(amounts) if own else prepared.grid.sum_released(table, amounts)
        whole = np.where(table.kept[:, None], amounts, 0.0).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _of_groups(self.analysis, sums.T, whole)

    def _design_based(self, prepared: PreparedEstimates, table: Table, weights: Floats, weighted: bool) -> Estimates:
        """Figures of all or of groups with errors of the sample design; without weights every record is a unit."""
        original = prepared.original
        design = SampleDesign.of(original) if weighted else SampleDesign.of_records(len(table))
        target = numbers_that_measures_read(table, self.target) if self.target else np.ones(table.rows)
        held = np.where(table.kept, weights, 0.0)
        everybody = WeightedRecords.of(design, target, held)
        if prepared.grid is None:
            return self._figure(everybody, everybody)
        rows, cells, shares = prepared.grid.memberships(table)
        order = np.argsort(cells, kind="stable")
        rows, shares, cells = rows[order], shares[order], cells[order]
        ends = np.searchsorted(cells, np.arange(len(prepared.grid.cells) + 1))
        found = []
        for low, high in pairwise(ends):
            part = np.zeros(table.rows)
            np.add.at(part, rows[low:high], shares[low:high])
            if self.analysis == "share":
                found.append(WeightedRecords.of(design, part, held).mean())
            else:
                found.append(self._figure(WeightedRecords.of(design, target, held * part), everybody))
        return Estimates(np.array([each.value[0] for each in found]), np.array([each.error[0] for each in found]))

    def _figure(self, records: WeightedRecords, everybody: WeightedRecords) -> Estimates:
        if self.analysis == "mean":
            return records.mean()
        if self.analysis == "total":
            return records.total()
        return records.gini() if self.analysis == "gini" else records.poverty_below(everybody)

    def _regression(self, prepared: PreparedEstimates, table: Table, weights: Floats) -> Estimates:
        """Coefficients without the constant."""
        design = np.concatenate([each.columns(prepared.original, table) for each in prepared.regressors], axis=1)
        if self.event:
            target = self._happens(prepared.original, table)
        else:
            target = (numbers_that_measures_read(table, self.target) - prepared.centre) / prepared.scale
        here = ~np.isnan(target) & ~np.isnan(design).any(axis=1) & (weights > 0)
        counts = weights[here] / weights[here].mean() if here.any() else np.ones(0)
        x = np.concatenate([np.ones((int(here.sum()), 1)), design[here]], axis=1)
        if self.event:
            weighted = bool(weight_for_uses(table, self.weights))
            found = logistic_estimates(x, target[here], weights=counts if weighted else None)
        else:
            root = np.sqrt(counts)
            found = least_squares_estimates(x * root[:, None], target[here] * root)
        return Estimates(found.value[1:], found.error[1:])


def _of_groups(analysis: UsedAnalysis, sums: Floats, whole: Floats) -> Estimates:
    """Figures of groups from sums of w, wy, w², w²y, w²y² and 1 over the records of each, and over all records."""
    w, wy, w2, w2y, w2yy, n = sums
    if analysis == "mean":
        mean = wy / w
        spread = np.maximum(w2yy - 2 * mean * w2y + mean**2 * w2, 0.0)
        return Estimates(mean, np.sqrt(spread * n / (n - 1)) / w)
    if analysis == "total":
        return Estimates(wy, np.sqrt(np.maximum(w2yy - wy**2 / whole[5], 0.0)))
    share = w / whole[0]
    return Estimates(share, np.sqrt(np.maximum(w2 * (1 - 2 * share) + share**2 * whole[2], 0.0)) / whole[0])
