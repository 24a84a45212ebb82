"""Declared use: a linear regression, and how much of its confidence intervals the released file still shows.

The overlap of two intervals is that of Karr, Kohnen, Oganian, Reiter and Sanil (2006): the shared length as a part
of each of them, averaged; below zero by the gap between them where they are disjoint, at least −1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.measures.measure import measures
from crypsis.measures.pairing import finite_numbers, published_numbers
from crypsis.measures.spreading import Axis
from crypsis.measures.uses import DeclaredUse, Found
from crypsis.registry import ColumnName
from crypsis.table.hierarchy import MISSING
from crypsis.table.scaling import Scales
from crypsis.table.table import Table

Floats = NDArray[np.float64]
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
            scales = Scales.of(finite_numbers(original, name)[:, None])
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
            return (published_numbers(table, self.name)[:, None] - self.centre) / self.scale
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


def fit(design: Floats, target: Floats) -> Fit:
    """Ordinary least squares with a constant, on the records where nothing is missing."""
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


def overlap(before: Fit, after: Fit) -> Floats:
    """How much each original coefficient's interval shares with the released one: 1 alike, 0 touching, −1 far apart.

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
        return fit(design, published_numbers(table, self.target))

    def compare(self, prepared: PreparedRegression, masked: Table) -> Found:
        after = self._fit(prepared.original, prepared.regressors, masked)
        counted = ~np.isnan(prepared.fitted.estimate)
        shares = overlap(prepared.fitted, after)[counted]
        counts = {
            "slopes": int(counted.sum()),
            "slopes not estimable": int(np.isnan(after.estimate[counted]).sum()),
            "slopes with disjoint intervals": int((shares < 0).sum()),
            "mean overlap": float(shares.mean()),
        }
        return 50.0 * (1.0 - float(shares.mean())), counts
