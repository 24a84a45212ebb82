"""Estimates before and after with their standard errors: means, totals, shares, quantiles, correlations,
regressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats
from crypsis.measures.measure import numbers_that_measures_read
from crypsis.table.attribute import Dates
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

# -- Estimates with their standard errors: means, quantiles, correlations, least squares and logistic regression.

Flags = NDArray[np.bool_]

NORMAL = 1.96
"""Half the width of a 95 % interval, in standard errors."""
FEWEST_FOR_QUANTILE, FEWEST_FOR_CORRELATION = 30, 10
"""Records below which there is no such estimate."""
PER_TERM, FEWEST_EVENTS = 10, 5
"""Records of a regression for each of its terms, and records with and without the event."""
SINGULAR, LOADING, PERFECT = 1e-10, 1e-6, 1e-9
"""Relative eigenvalue of a direction that the data do not show, weight of a term in it, and a standard error of 0."""
NEWTON_STEPS, LONGEST_STEP, CONVERGED, CAP = 30, 3.0, 1e-8, 30.0
"""Steps of a logistic regression, its longest step, the relative change of the deviance at which it ends, and the
largest linear predictor."""
SEPARATED = 20.0
"""Error of a logistic coefficient beyond which the term decides the event for sure, so that it has no estimate."""


class Estimates(NamedTuple):
    """float64[terms]: estimates and their standard errors; NaN where the data give none.

    `one_record`: how far a change of one record may move a weighted estimate; 0 where nobody asks.
    """

    value: Floats
    error: Floats
    one_record: float = 0.0

    @classmethod
    def none(cls, terms: int) -> Estimates:
        """No estimate of so many terms."""
        return cls(np.full(terms, np.nan), np.full(terms, np.nan))

    @classmethod
    def one(cls, value: float, error: float, one_record: float = 0.0) -> Estimates:
        """One estimate."""
        return cls(np.array([value]), np.array([error]), one_record)


def mean_estimate(values: Floats) -> Estimates:
    """The mean of numbers of which none is missing."""
    if len(values) < 2:
        return Estimates.none(1)
    return Estimates.one(float(values.mean()), float(values.std(ddof=1)) / np.sqrt(len(values)))


def quantile_estimate(values: Floats, share: float, least: float) -> Estimates:
    """A quantile with the error that its binomial interval shows, at least `least`."""
    n = len(values)
    if n < FEWEST_FOR_QUANTILE:
        return Estimates.none(1)
    half = NORMAL * np.sqrt(n * share * (1 - share))
    places = [
        min(n - 1, int(n * share)), max(0, int(n * share - half)), min(n - 1, int(np.ceil(n * share + half)))
    ]  # fmt: skip
    ordered = np.partition(values, sorted(set(places)))
    point, low, high = (float(ordered[place]) for place in places)
    return Estimates.one(point, max((high - low) / (2 * NORMAL), least))


def correlation_estimate(first: Floats, second: Floats) -> Estimates:
    """Fisher's z of the correlation of two numbers, over the records that hold both."""
    both = ~np.isnan(first) & ~np.isnan(second)
    x, y = first[both], second[both]
    if len(x) < FEWEST_FOR_CORRELATION:
        return Estimates.none(1)
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    if size == 0:
        return Estimates.none(1)
    z = np.arctanh(np.clip(float(x @ y) / size, -0.999999, 0.999999))
    return Estimates.one(float(z), 1 / np.sqrt(len(x) - 3))


def least_squares_estimates(design: Floats, target: Floats) -> Estimates:
    """Estimates by least squares with HC1 standard errors: coefficients of all columns of a design, float64[n, p]."""
    n, p = design.shape
    if n < PER_TERM * p:
        return Estimates.none(p)
    inverse, unseen, rank = _inverse(design.T @ design)
    coefficients = inverse @ (design.T @ target)
    residual = target - design @ coefficients
    spread = (design * (residual**2)[:, None]).T @ design
    variance = inverse @ spread @ inverse * (n / max(n - rank, 1))
    return _drop_unseen(coefficients, np.sqrt(np.maximum(np.diagonal(variance), 0.0)), unseen)


def logistic_estimates(
    design: Floats, event: Floats, start: Floats | None = None, weights: Floats | None = None
) -> Estimates:
    """Utility: estimates before and after with standard errors, here logistic coefficients, float64[n, p].

    `weights` float64[n].
    """
    n, p = design.shape
    w = np.ones(n) if weights is None else weights
    if n < PER_TERM * p or not FEWEST_EVENTS <= float(event.sum()) <= n - FEWEST_EVENTS:
        return Estimates.none(p)
    share = float(np.average(event, weights=w))
    beta = np.zeros(p)
    beta[0] = np.log(share / (1 - share))
    if start is not None and np.isfinite(start).all():
        beta = start.copy()
    deviance = np.inf
    for _ in range(NEWTON_STEPS):
        predictor = np.clip(design @ beta, -CAP, CAP)
        fitted = 1 / (1 + np.exp(-predictor))
        inverse, unseen, _ = _inverse((design * (w * fitted * (1 - fitted))[:, None]).T @ design)
        before, deviance = deviance, -2 * float(w @ (event * predictor + np.log1p(-fitted)))
        residual = w * (event - fitted)
        beta = beta + np.clip(inverse @ (design.T @ residual), -LONGEST_STEP, LONGEST_STEP)
        if abs(before - deviance) < CONVERGED * (abs(deviance) + 0.1):
            if weights is not None:
                inverse = inverse @ ((design * (residual**2)[:, None]).T @ design) @ inverse
            error = np.sqrt(np.maximum(np.diagonal(inverse), 0.0))
            return _drop_unseen(beta, error, unseen | (error > SEPARATED))
    return Estimates.none(p)


def _inverse(gram: Floats) -> tuple[Floats, Flags, int]:
    """The inverse of a cross-product matrix, which terms it does not identify, and its rank."""
    size = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    size = np.where(size > 0, size, 1.0)
    values, directions = np.linalg.eigh(gram / np.outer(size, size))
    seen = values > SINGULAR * max(float(values[-1]), 1e-300)
    unseen = (np.abs(directions[:, ~seen]) > LOADING).any(axis=1)
    inverse = (directions[:, seen] / values[seen]) @ directions[:, seen].T
    return inverse / np.outer(size, size), unseen, int(seen.sum())


def _drop_unseen(value: Floats, error: Floats, unseen: Flags) -> Estimates:
    """Estimates without the terms that the data do not identify; an error that is rounding is 0."""
    error = np.where(error > PERFECT, error, 0.0)
    return Estimates(np.where(unseen, np.nan, value), np.where(unseen, np.nan, error))


def has_error(estimates: Estimates) -> Flags:
    """bool[terms]: which estimates have a sampling error, so that an interval can hold another estimate."""
    known = np.isfinite(estimates.value) & np.isfinite(estimates.error)
    return np.asarray(known & (np.nan_to_num(estimates.error) > PERFECT * np.abs(np.nan_to_num(estimates.value))))


def compare_intervals(before: Estimates, after: Estimates) -> tuple[Floats, Flags, Floats]:
    """Released estimates beside the original's 95 % intervals.

    Returns distance in standard errors of the original, whether it is inside the interval, overlap of both
    intervals: the common part as a share of each, averaged; infinite, False and 0 where there is no released
    estimate.
    """
    known = np.isfinite(after.value) & np.isfinite(after.error)
    value, error = np.where(known, after.value, before.value), np.where(known, after.error, 0.0)
    off = np.where(known, np.abs(value - before.value) / before.error, np.inf)
    low, high = before.value - NORMAL * before.error, before.value + NORMAL * before.error
    inside = known & (low <= value) & (value <= high)
    common = np.minimum(high, value + NORMAL * error) - np.maximum(low, value - NORMAL * error)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # an error of nearly nothing: an overlap of 1
        one, other = common / (high - low), common / np.maximum(2 * NORMAL * error, 1e-300)
        overlap = np.where(known & (common > 0), np.clip((one + other) / 2, 0.0, 1.0), 0.0)
    return off, inside, overlap


# -- Logistic regression by Newton's method, with a ridge so that files which can be told apart for sure have an end.

RIDGE = 1e-6
"""Penalty on the squared standardised coefficients: values of one file only would separate the files for ever."""
LARGEST_LOGIT = 30.0
"""Largest linear predictor, either way."""
STEPS = 50
MOST_BOUNDED_STEPS, BOUNDED_STEP = 200, 0.001
"""Most steps of fits that share a Hessian, and the share of a change below which they end."""


@dataclass(frozen=True)
class Logistic:
    """A fitted logistic regression: which columns vary, their means and deviations, and the coefficients."""

    varied: NDArray[np.bool_]
    mean: Floats
    scale: Floats
    coefficients: Floats

    def scores(self, design: Floats) -> Floats:
        """The probability of the label for each row of a design, float64[N]."""
        return _fitted_values(self._standardise(design) @ self.coefficients)

    def _standardise(self, design: Floats) -> Floats:
        x = (design[:, self.varied] - self.mean) / self.scale
        return np.concatenate([np.ones((len(x), 1)), x], axis=1)


def fit_logistic_estimates(design: Floats, label: Floats, ridge: float = RIDGE) -> Logistic:
    """Utility: estimates by one logistic regression with a constant, ridge-penalised, fitted to one file.

    Minimises the negative log-likelihood plus `ridge` / 2 times the squared standardised coefficients; linear
    predictors are cut at ± `CAP`.

    `design` float64[N, q]; `label` float64[N].
    """
    empty = _standardise_design(design)
    x = empty._standardise(design)
    penalty = np.full(x.shape[1], ridge)
    penalty[0] = 0.0
    share = float(label.mean())
    beta = np.zeros(x.shape[1])
    beta[0] = np.log(share / (1 - share)) if 0 < share < 1 else 0.0
    cost = _cost(x, label, beta, penalty)
    for _ in range(STEPS):
        fitted = _fitted_values(x @ beta)
        weight = np.maximum(fitted * (1 - fitted), 1e-12)
        hessian = (x * weight[:, None]).T @ x + np.diag(penalty + 1e-12)
        step = np.linalg.solve(hessian, x.T @ (label - fitted) - penalty * beta)
        size, better = 1.0, False
        while size > 1e-6 and not better:
            tried = beta + size * step
            new = _cost(x, label, tried, penalty)
            better = new < cost - 1e-12 * abs(cost)
            size /= 2
        if not better:
            break
        gain, beta, cost = cost - new, tried, new
        if gain < 1e-10 * max(cost, 1.0):
            break
    return Logistic(empty.varied, empty.mean, empty.scale, beta)


def fit_labelled_estimates(design: Floats, labels: Floats, ridge: float = RIDGE) -> Floats:
    """Utility: estimates of many logistic regressions at once, one per label, as fitted probabilities.

    Newton's steps with the Hessian at probabilities of one half, which bounds every other (Böhning and Lindsay 1988):
    it is inverted once for all labels, no step raises the cost, and few are taken near probabilities of one half.
    Steps end once they move the probabilities by less than a thousandth of how far these are from their means.

    `design` float64[N, q]; `labels` float64[N, m]; returns float64[N, m].
    """
    empty = _standardise_design(design)
    x = empty._standardise(design)
    penalty = np.full(x.shape[1], ridge)
    penalty[0] = 0.0
    bound = scipy.linalg.cho_factor(0.25 * x.T @ x + np.diag(penalty + 1e-9))
    beta = np.zeros((x.shape[1], labels.shape[1]))
    fitted = _fitted_values(x @ beta)
    for _ in range(MOST_BOUNDED_STEPS):
        beta += scipy.linalg.cho_solve(bound, x.T @ (labels - fitted) - penalty[:, None] * beta)
        before, fitted = fitted, _fitted_values(x @ beta)
        if ((fitted - before).std(axis=0) <= BOUNDED_STEP * fitted.std(axis=0)).all():
            break
    return fitted


def _standardise_design(design: Floats) -> Logistic:
    """No coefficients yet: how the columns of a design are standardised."""
    deviation = design.std(axis=0)
    varied = deviation > 1e-12
    return Logistic(varied, design[:, varied].mean(axis=0), deviation[varied], np.zeros(int(varied.sum()) + 1))


def _fitted_values(eta: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(eta, -LARGEST_LOGIT, LARGEST_LOGIT))))


def _cost(x: Floats, label: Floats, beta: Floats, penalty: Floats) -> float:
    eta = np.clip(x @ beta, -LARGEST_LOGIT, LARGEST_LOGIT)
    return float((np.logaddexp(0.0, eta) - label * eta).sum() + 0.5 * (penalty * beta**2).sum())


# -- Estimates before and after, column by column: mean, standard deviation, total, share above 0, ends, shares of
#    values.
#
# A released file is read as an analyst reads it: suppressed records are not there, a generalised number is the middle
# of its group, a generalised category has its published label. A figure is open to users of the file unless it is that
# of few people: a sum that one record dominates tells this record's value. An extreme is the value of one record and
# is nowhere; the means of the 20 lowest and highest records stand for it.

FEWEST = 20
"""Records that a figure must rest on, and a value must have, so that users of the file may read it."""
DOMINANT = 0.5
"""Share of a sum that one record may hold in a figure that users of the file may read."""
MOST_VALUES = 20
"""Values of a category whose shares are given, the commonest first."""
ENDS = (0.01, 0.99)
"""Points near the ends of a number that stand for its extremes."""
PRESENT = "records present"
"""Figure of a number that counts its known values."""
AMOUNTS = ("total", "above 0, %", "Gini, %")
"""Figures that dates do not have, because no day is the first one."""
SPREADS = ("sd", "error")
"""Figures that are no date but a number of days, where the column holds dates."""
FLAT = 0.001
"""Least error of a point, as a part of the standard deviation."""


@dataclass(frozen=True)
class ColumnEstimate:
    """One figure of a column before and after.

    Attributes
    ----------
    figure : str
        "mean", "sd", "total", "above 0, %", "1 % point", "99 % point", "lowest 20", "highest 20" (means of so many
        records) or "records present"; of a category its value, whose share is given in per cent.
    before, after : float or None
        In the original and in the released file; None where there is none.
    error : float or None
        Standard error of the original figure; None where it has none.
    public : bool
        Whether users of the file may read it.
    one_record : float
        How far a change of one record may move the original figure: what is public is rounded to more than that, or
        the difference to the released figure would tell the value of a record that alone was changed.

    Examples
    --------
    >>> people = crypsis.example(200)
    >>> found = crypsis.column_estimates(people, people, ["age"])[0].figures[0]
    >>> found.figure, found.inside
    ('mean', True)
    """

    figure: str
    before: float | None
    after: float | None
    error: float | None = None
    public: bool = True
    one_record: float = 0.0

    @property
    def inside(self) -> bool | None:
        """Whether the released figure lies inside the 95 % interval of the original; None where there is none."""
        if self.error is None or self.before is None:
            return None
        return self.after is not None and abs(self.after - self.before) <= NORMAL * self.error


@dataclass(frozen=True)
class ColumnEstimates:
    """What an analyst reads of one column, before and after.

    Attributes
    ----------
    name : str
        The column.
    numeric : bool
        Whether it is a number.
    figures : tuple of ColumnEstimate
        Of a number in the order of the class above; of a category the shares of its values, the commonest first.
    vanished : tuple of str
        Values of at least 20 records that no released record has, by itself or in a group.
    vanished_rare : int
        Rarer values that no released record has.
    grouped : float
        Released records whose value is published within a group of values, per cent.
    dates : {"", "date", "datetime"}
        What its numbers count, where they are dates: days, or seconds.

    Examples
    --------
    >>> people = crypsis.example(200)
    >>> [each.name for each in crypsis.column_estimates(people, people, ["age", "sex"]) if each.numeric]
    ['age']
    """

    name: str
    numeric: bool
    figures: tuple[ColumnEstimate, ...]
    vanished: tuple[str, ...] = field(default=())
    vanished_rare: int = 0
    grouped: float = 0.0
    dates: Dates = ""

    def figure(self, name: str) -> ColumnEstimate | None:
        """A figure by its name.

        Parameters
        ----------
        name : str
            Such as "mean", or a value of a category.

        Returns
        -------
        ColumnEstimate or None
        """
        return next((each for each in self.figures if each.figure == name), None)


def column_estimates(original: Table, masked: Table, names: Sequence[str]) -> tuple[ColumnEstimates, ...]:
    """Estimates of some columns before and after.

    Parameters
    ----------
    original, masked : Table
        Row by row the same records.
    names : sequence of str
        Columns of both; a number that is not published as numbers is left out.

    Returns
    -------
    tuple of ColumnEstimates

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> mean = crypsis.column_estimates(original, masked, ["x"])[0].figure("mean")
    >>> mean.before == mean.after
    True
    """
    found = []
    for name in names:
        try:
            found.append(
                _number(original, masked, name) if original.holds_numbers(name) else _category(original, masked, name)
            )
        except TableError:
            continue
    return tuple(found)


def _number(original: Table, masked: Table, name: str) -> ColumnEstimates:
    values, published = finite_numbers_of_frame(original, name), numbers_that_measures_read(masked, name)[masked.kept]
    before, after = (np.sort(each[~np.isnan(each)]) for each in (values, published))
    if not before.size:
        return ColumnEstimates(name, True, ())
    sums = not is_dominated_estimate(before)
    squares = sums and not is_dominated_estimate((before - before.mean()) ** 2)
    first, last = mean_estimate(before), mean_estimate(after)
    n, width = len(before), float(before[-1] - before[0])
    deviation = _deviation(before)
    farthest = float(max(abs(before[0] - before.mean()), abs(before[-1] - before.mean())))
    spread = 0.0 if width == 0 else farthest**2 / (n * float(before.std()))  # twice the influence d² / (2 n s)
    figures = [
        _pair("mean", first, last, sums, width / n),
        _pair("sd", deviation, _deviation(after), squares, spread),
        _pair("total", _times(first, len(values)), _times(last, len(published)), sums, width * len(values) / n),
    ]
    positive = [
        Estimates.none(1) if len(s) < 2 else mean_estimate(np.where(s > 0, 100.0, 0.0)) for s in (before, after)
    ]
    share = float(positive[0].value[0])
    if 0 < share < 100:
        enough = FEWEST <= share * len(before) / 100 <= len(before) - FEWEST
        figures.append(_pair("above 0, %", positive[0], positive[1], enough, 100 / n))
    least = FLAT * float(before.std())
    for point in ENDS:
        at, gone = quantile_estimate(before, point, least), quantile_estimate(after, point, least)
        beyond = (before < at.value[0]).sum() if point < 0.5 else (before > at.value[0]).sum()
        if int(beyond) >= FEWEST:
            ranks = np.sqrt(n * point * (1 - point))  # that the standard error spans
            figures.append(_pair(f"{100 * point:g} % point", at, gone, True, 2 * float(at.error[0]) / ranks))
    figures += [
        _end("lowest 20", before[:FEWEST], after[:FEWEST]),
        _end("highest 20", before[-FEWEST:], after[-FEWEST:]),
    ]
    figures.append(ColumnEstimate(PRESENT, len(before), len(after), public=False))
    return estimates_of_numbers(original, name, figures)


def estimates_of_numbers(original: Table, name: str, figures: Iterable[ColumnEstimate]) -> ColumnEstimates:
    """The figures of a column of numbers; of dates those that dates have."""
    dates = original.attribute(name).dates
    shown = tuple(each for each in figures if not (dates and each.figure in AMOUNTS))
    return ColumnEstimates(name, True, shown, dates=dates)


def _end(figure: str, before: Floats, after: Floats) -> ColumnEstimate:
    """The mean of the records at an end of a number, which no single one of them dominates."""
    known = None if is_dominated_estimate(before) else float(before.mean())
    return ColumnEstimate(figure, known, float(after.mean()) if after.size else None, public=False)


def is_dominated_estimate(amounts: Floats) -> bool:
    """Utility: whether the estimate of a total rests on few people or on one amount above half of it."""
    sizes = np.abs(amounts)
    total = float(sizes.sum())
    return int((sizes > 0).sum()) < FEWEST or float(sizes.max()) > DOMINANT * total


def _pair(figure: str, before: Estimates, after: Estimates, public: bool, one_record: float) -> ColumnEstimate:
    known, error = _finite_or_none(before.value[0]), _finite_or_none(before.error[0])
    return ColumnEstimate(figure, known, _finite_or_none(after.value[0]), error, public, one_record)


def _finite_or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _times(mean: Estimates, records: int) -> Estimates:
    return Estimates(records * mean.value, records * mean.error)


def _deviation(values: Floats) -> Estimates:
    """The standard deviation; its error by the delta method, sqrt((m4 − m2²) / (4 m2 n))."""
    if len(values) < 2:
        return Estimates.none(1)
    squares = (values - values.mean()) ** 2
    second, fourth = float(squares.mean()), float((squares**2).mean())
    error = np.sqrt(max(fourth - second**2, 0.0) / (4 * second * len(values))) if second > 0 else 0.0
    return Estimates.one(float(values.std(ddof=1)), float(error))


def _category(original: Table, masked: Table, name: str) -> ColumnEstimates:
    before, after = original.column(name), masked.column(name)[masked.kept]
    before, after = before[before != MISSING], after[after != MISSING]
    labels, published = original.labels(name), masked.labels(name)
    first = np.bincount(before, minlength=len(labels))
    counts = dict.fromkeys(published, 0)
    for label, count in zip(published, np.bincount(after, minlength=len(published)).tolist(), strict=True):
        counts[label] += count  # a group of one value has its label
    last = np.array([counts.get(label, 0) for label in labels])
    covered = _covered_values(masked, name, counts)
    n, m = max(len(before), 1), max(len(after), 1)
    order = sorted(np.flatnonzero(first >= FEWEST).tolist(), key=lambda code: (-first[code], labels[code]))
    figures = []
    for code in order[:MOST_VALUES]:
        share = first[code] / n
        error = 100.0 * float(np.sqrt(share * (1 - share) / n))
        now = 100.0 * last[code] / m if last[code] or labels[code] not in covered else None
        now = now if now is None else float(now)
        figures.append(ColumnEstimate(labels[code], 100.0 * float(share), now, error, one_record=100.0 / n))
    gone = [code for code in np.flatnonzero(first).tolist() if not last[code] and labels[code] not in covered]
    return ColumnEstimates(
        name,
        False,
        tuple(figures),
        tuple(labels[code] for code in order if code in set(gone)),
        sum(int(first[code]) < FEWEST for code in gone),
        100.0 * (1 - float(last.sum()) / m) if masked.level(name) != 0 and len(after) else 0.0,
    )


def _covered_values(masked: Table, name: str, counts: dict[str, int]) -> set[str]:
    """Values that a published group stands for."""
    hierarchy = masked.attribute(name).hierarchy
    if masked.level(name) == 0 or hierarchy is None:
        return set()
    found = set[str]()
    for level in range(1, hierarchy.height + 1):
        for leaf, group in enumerate(hierarchy.groups[level].tolist()):
            if counts.get(hierarchy.labels[level][group]):
                found.add(hierarchy.labels[0][leaf])
    return found
