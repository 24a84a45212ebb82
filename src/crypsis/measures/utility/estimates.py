"""Estimates before and after, column by column: mean, standard deviation, total, share above 0, ends, shares of values.

A released file is read as an analyst reads it: suppressed records are not there, a generalised number is the middle of
its group, a generalised category has its published label. A figure is open to users of the file unless it is that of
few people: a sum that one record dominates tells this record's value. An extreme is the value of one record and is
nowhere; the means of the 20 lowest and highest records stand for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats
from crypsis.measures.measure import finite_numbers, published_numbers
from crypsis.measures.utility.interval_estimates import (
    NORMAL,
    Estimates,
    mean_estimate,
    quantile_estimate,
)
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

FEWEST = 20
"""Records that a figure must rest on, and a value must have, so that users of the file may read it."""
DOMINANT = 0.5
"""Share of a sum that one record may hold in a figure that users of the file may read."""
MOST_VALUES = 20
"""Values of a category whose shares are given, the commonest first."""
ENDS = (0.01, 0.99)
"""Points near the ends of a number that stand for its extremes."""
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
    values, published = finite_numbers(original, name), published_numbers(masked, name)[masked.kept]
    before, after = (np.sort(each[~np.isnan(each)]) for each in (values, published))
    if not before.size:
        return ColumnEstimates(name, True, ())
    sums = not is_dominated(before)
    squares = sums and not is_dominated((before - before.mean()) ** 2)
    first, last = mean_estimate(before), mean_estimate(after)
    figures = [
        _pair("mean", first, last, sums),
        _pair("sd", _deviation(before), _deviation(after), squares),
        _pair("total", _times(first, len(values)), _times(last, len(published)), sums),
    ]
    positive = [
        Estimates.none(1) if len(s) < 2 else mean_estimate(np.where(s > 0, 100.0, 0.0)) for s in (before, after)
    ]
    share = float(positive[0].value[0])
    if 0 < share < 100:
        enough = FEWEST <= share * len(before) / 100 <= len(before) - FEWEST
        figures.append(_pair("above 0, %", positive[0], positive[1], enough))
    least = FLAT * float(before.std())
    for point in ENDS:
        at, gone = quantile_estimate(before, point, least), quantile_estimate(after, point, least)
        beyond = (before < at.value[0]).sum() if point < 0.5 else (before > at.value[0]).sum()
        if int(beyond) >= FEWEST:
            figures.append(_pair(f"{100 * point:g} % point", at, gone, True))
    figures += [
        _end("lowest 20", before[:FEWEST], after[:FEWEST]),
        _end("highest 20", before[-FEWEST:], after[-FEWEST:]),
    ]
    figures.append(ColumnEstimate("records present", len(before), len(after), public=False))
    return ColumnEstimates(name, True, tuple(figures))


def _end(figure: str, before: Floats, after: Floats) -> ColumnEstimate:
    """The mean of the records at an end of a number, which no single one of them dominates."""
    known = None if is_dominated(before) else float(before.mean())
    return ColumnEstimate(figure, known, float(after.mean()) if after.size else None, public=False)


def is_dominated(amounts: Floats) -> bool:
    """Whether a sum is that of few people: fewer than 20 amounts, or one that holds more than half of it."""
    sizes = np.abs(amounts)
    total = float(sizes.sum())
    return int((sizes > 0).sum()) < FEWEST or float(sizes.max()) > DOMINANT * total


def _pair(figure: str, before: Estimates, after: Estimates, public: bool) -> ColumnEstimate:
    known, error = _known(before.value[0]), _known(before.error[0])
    return ColumnEstimate(figure, known, _known(after.value[0]), error, public)


def _known(value: float) -> float | None:
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
        figures.append(ColumnEstimate(labels[code], 100.0 * float(share), now if now is None else float(now), error))
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
