"""What a group publishes: means, medians and modes, and calibrated values that keep the distributions and
moments of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.representatives import (
    LabelChoices,
    LabelGaps,
    add_label_sums,
    exchange_values,
    relabel_groups,
    round_in_order,
)
from crypsis.table.attribute import UNPUBLISHED, Kind, Scale
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.precision import decimals, moment_step
from crypsis.table.table import Column, Table

# -- One value for many: the mean, median or mode of each group, from the values that are present.
#
# Every function takes values[n] without missing ones, labels int[n] in 0 … groups − 1, and the number of groups;
# and gives one value per group and whether the group had any to give.

Values = NDArray[Any]
Labels = NDArray[np.integer[Any]]
Present = NDArray[np.bool_]


def calibration_means(values: Values, labels: Labels, groups: int) -> tuple[Values, Present]:
    """The arithmetic mean, summed from each group's first value: equal values keep every bit, far ones lose none."""
    sizes = np.bincount(labels, minlength=groups)
    origin = np.zeros(groups)
    origin[labels[::-1]] = values[::-1]  # written from the last to the first, so that the first stays
    sums = np.bincount(labels, weights=values - origin[labels], minlength=groups)
    return origin + sums / np.maximum(sizes, 1), sizes > 0


def calibration_medians(values: Values, labels: Labels, groups: int, lower: bool) -> tuple[Values, Present]:
    """The middle value that a group publishes; of an even number the lower of the middle two, or else their mean."""
    ordered = values[np.lexsort((values, labels))]
    sizes = np.bincount(labels, minlength=groups)
    begins = np.cumsum(sizes) - sizes
    filled = sizes > 0
    middle = np.zeros(groups, dtype=values.dtype)
    low = ordered[(begins + (sizes - 1) // 2)[filled]]
    high = ordered[(begins + sizes // 2)[filled]]
    middle[filled] = low if lower else low + (high - low) / 2
    return middle, filled


def calibration_modes(values: Values, labels: Labels, groups: int) -> tuple[Values, Present]:
    """The most frequent value, which a group publishes; of several the first in order (lowest code, least number)."""
    pairs = equivalence_classes(np.stack([labels, np.unique(values, return_inverse=True)[1]], axis=1))
    group, value = labels[pairs.first], values[pairs.first]
    # Written from the rarest and last to the commonest and first, so that the latter stays.
    order = np.lexsort((-np.arange(pairs.count), pairs.sizes))
    most, filled = np.zeros(groups, dtype=values.dtype), np.zeros(groups, dtype=np.bool_)
    most[group[order]], filled[group] = value[order], True
    return most, filled


# -- Calibrated representatives: what groups publish, chosen so that the file keeps its distributions and moments.
#
# Groups decide who is alike and so the privacy; what a group publishes decides what an analyst finds. All records of a
# group publish one value in each column, so that classes do not change. Two things are kept, in this order:
#
# distributions a number becomes the mean of a block of neighbouring values of the sorted column, as many as the group
# has records; a value of few becomes one that a record of the group holds moments means of products of the features of
# two published columns, masked or not: standardised numbers, indicators of values, logarithms of skew numbers. Groups
# are ordered by a linear map of their means that restores these moments; then groups exchange blocks and values as
# long as the moments come nearer
#
# Nothing is drawn at random: the same groups publish the same values.

Floats = NDArray[np.float64]

FEW, FEWEST, SUPPORT = 20, 3, 100
"""Distinct numbers up to which a group publishes one that a record holds, and each has moments of its own; but no more
than one in so many records, beyond three, as a few groups of each value keep no moments."""
FREQUENT = 10
"""Records of a value from which on its indicator has moments."""
LEVELS = 20
"""Values of a column whose indicators have moments, the most frequent ones."""
DOMINANT = 0.5
"""Share of the variance of a number above which a single record would decide its moments: it has none then."""
SKEW, STRAIGHTENED = 1.0, 1.5
"""A positive number of at least this skewness has moments of its logarithm too, if that divides the skewness so."""
CONSTANT = 3.0
"""Weight of the counts of values beside moments of two columns."""
PRICE = 0.02
"""What a record costs that does not hold the published value, in squared gaps in standard errors."""
SWEEPS, PASSES, UNCHANGED = 2, 8, 0.002
"""Times that all columns of labels are gone through, turns of every group in each, and share of changed groups below
which a column is done."""
MAPS, ROUNDS, REACH, TURNS = 4, 24, 40, 3
"""Linear maps in a row, rounds of exchanges of each number, how many places apart groups exchange, and how often
exchanges and labels take turns."""
NEAR = 0.05
"""Root mean square of the gaps of a number, in standard errors, below which groups exchange no more."""
RIDGE, MOST_RIDGE = 1e-4, 10.0
"""Added to the moments of the features, at first and at most: more where the restored variance would be negative."""
CHUNK = 20_000
"""Records whose features are in memory at once."""
FEWEST_GROUPS = 8
"""Groups below which only distributions are kept."""


@dataclass(frozen=True, eq=False)
class _Labels:
    """A column of few values, as labels."""

    name: str
    codes: NDArray[np.int64]  # int64[n]: number of the value, 0 … m − 1; m where it is missing
    values: Column  # the values themselves: numbers, or codes of categories
    table: Floats  # float64[m + 1, f]: features of each value; 0 where it is missing
    scores: Floats  # float64[m + 1]: standardised numbers of the values; 0 where they have no order

    @property
    def width(self) -> int:
        """How many features there are."""
        return int(self.table.shape[1])

    @cached_property
    def shared_codes(self) -> NDArray[np.int64]:
        """int64[n]: codes of what may be published: an amount that one record has becomes the nearest of several."""
        counts = np.bincount(self.codes, minlength=len(self.table))[:-1]
        several = np.flatnonzero(counts > 1)
        if self.values.dtype.kind != "f" or not len(several):
            return self.codes
        nearest = several[np.abs(self.values[:, None] - self.values[several]).argmin(axis=1)]
        return np.append(np.where(counts > 1, np.arange(len(counts)), nearest), len(counts))[self.codes]

    def features(self, rows: slice) -> Floats:
        """float64[r, f]: the features of some records."""
        return self.table[self.codes[rows]]

    def replace_values(self, table: Table) -> _Labels:
        """The same column with the values of another table; a value that is not known counts as missing."""
        column = table.column(self.name)[table.kept]
        if table.level(self.name) != 0 or not len(self.values):
            return replace(self, codes=np.full(len(column), len(self.values)))
        place = np.minimum(np.searchsorted(self.values, column), len(self.values) - 1)
        return replace(self, codes=np.where(self.values[place] == column, place, len(self.values)))

    def sums(self, labels: Labels, sizes: Floats) -> Floats:
        """float64[G, f]: the features added up over the records of each group."""
        m, groups = len(self.table), len(sizes)
        counts = np.bincount(labels * np.int64(m) + self.codes, minlength=groups * m).reshape(groups, m)
        return np.asarray(counts @ self.table)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """A column of many numbers."""

    name: str
    values: Floats  # float64[n]: naN where missing
    logs: tuple[bool, ...]  # bool[f]: which features are the logarithm; the others are the number itself
    centres: Floats  # float64[f]: of the features
    spreads: Floats
    step: float  # numbers are published as multiples of it

    @property
    def width(self) -> int:
        """How many features there are."""
        return len(self.centres)

    def standardise(self, values: Floats) -> Floats:
        """float64[r, f]: features of values; 0 where they are missing."""
        scales = [np.log(np.where(values > 0, values, np.nan)) if log else values for log in self.logs]
        raw = np.stack(scales, axis=1) if scales else np.zeros((len(values), 0))
        return np.nan_to_num((raw - self.centres) / self.spreads)

    def features(self, rows: slice) -> Floats:
        """float64[r, f]: the features of some records."""
        return self.standardise(self.values[rows])

    def replace_values(self, table: Table) -> _Numbers:
        """The same column with the values of another table; a generalised one counts as missing."""
        column = table.column(self.name)[table.kept]
        return replace(self, values=np.full(len(column), np.nan) if table.level(self.name) != 0 else column)

    def sums(self, labels: Labels, sizes: Floats) -> Floats:
        """float64[G, f]: the features added up over the records of each group."""
        features = self.standardise(self.values)
        return np.stack([np.bincount(labels, each, len(sizes)) for each in features.T], axis=1)

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """bool[n]: whether there is a value."""
        return ~np.isnan(self.values)

    @cached_property
    def ordered_values(self) -> Floats:
        """The values that are present, least first."""
        return np.sort(self.values[self.present])


def calibrate(
    table: Table, names: Sequence[str], labels: Labels, filling: bool = False, beside: Table | None = None
) -> dict[str, Column]:
    """The columns in which every group of kept records publishes its calibrated value.

    `labels` int32[kept records]: the group of every kept record: 0, 1, … without gaps.
    """
    if not len(labels) or not names:
        return {name: table.column(name) for name in names}
    return bind(table, tuple(names)).publish(labels, filling, beside)


_bound: WeakKeyDictionary[Table, dict[tuple[str, ...], Calibration]] = WeakKeyDictionary()


def bind(table: Table, names: tuple[str, ...]) -> Calibration:
    """What calibration needs to know of a table; worked out once."""
    known = _bound.setdefault(table, {})
    if names not in known:
        known[names] = Calibration.of(table, names)
    return known[names]


class GivenUp(NamedTuple):
    """Moments that a calibrated file does not keep."""

    # column → number of its values, the rarest ones, for whose moments there are too few records
    values: dict[str, int]
    dominated: list[str]  # numbers of which one record makes up most of the variance, or that do not vary
    everything: bool  # whether there are too few groups for any moment: only distributions are kept


@dataclass(frozen=True, eq=False)
class Calibration:
    """The columns of a table as features, and the moments that a published file should keep."""

    table: Table = field(repr=False)
    labels: tuple[_Labels, ...]  # columns that groups share
    numbers: tuple[_Numbers, ...]
    beside: tuple[_Labels | _Numbers, ...]  # columns that are published as they are
    # values without moments, the rarest ones, where there are too few records for all: column → number
    dropped: dict[str, int]

    @classmethod
    def of(cls, table: Table, names: tuple[str, ...]) -> Calibration:
        """Bind to a table: at most as many features as the root of the number of records, rare values left out."""
        kept = table.take(np.flatnonzero(table.kept))
        shown = [
            name for name in kept.names
            if name in names or (kept.attribute(name).role not in UNPUBLISHED and kept.level(name) == 0)
        ]  # fmt: skip
        most = max(int(np.sqrt(len(kept))) - 1 - len(shown), 0)
        counts = {name: _count_levels(kept, name) for name in shown}
        frequent = sorted((-n, name, level) for name, held in counts.items() for level, n in held)
        allowed: dict[str, list[int]] = {name: [] for name in shown}
        dropped: dict[str, int] = {}
        for place, (_, name, level) in enumerate(frequent):
            if place < most:
                allowed[name].append(level)
            else:
                dropped[name] = dropped.get(name, 0) + 1
        labelled, numbers, beside = list[_Labels](), list[_Numbers](), list[_Labels | _Numbers]()
        for name in shown:
            if name in names:
                column = _read_column(kept, name, allowed[name])
                (labelled if isinstance(column, _Labels) else numbers).append(column)  # type: ignore[arg-type]
            elif (column := _read_column(kept, name, allowed[name])).width:
                beside.append(column)
        return cls(table, tuple(labelled), tuple(numbers), tuple(beside), dropped)

    def given_up(self, groups: int) -> GivenUp:
        """Which moments so many groups do not keep."""
        return GivenUp(self.dropped, [c.name for c in self.numbers if not c.width], groups < FEWEST_GROUPS)

    @cached_property
    def _columns(self) -> tuple[_Labels | _Numbers, ...]:
        """All columns, in the order of their features."""
        return (*self.numbers, *self.labels, *self.beside)

    @cached_property
    def _places(self) -> dict[str, slice]:
        """Where the features of each column are; the first feature is 1 in every record."""
        ends = np.cumsum([1, *(column.width for column in self._columns)]).tolist()
        return {c.name: slice(a, b) for c, a, b in zip(self._columns, ends[:-1], ends[1:], strict=True)}

    @cached_property
    def _targets(self) -> tuple[Floats, dict[str, Floats]]:
        """float64[q, q]: the moments of the original; and for labels float64[m + 1, q], added up by value."""
        n, q = int(self.table.kept.sum()), 1 + sum(column.width for column in self._columns)
        moments = np.zeros((q, q))
        by_value = {column.name: np.zeros((len(column.table), q)) for column in self.labels}
        for first in range(0, n, CHUNK):
            rows = slice(first, min(first + CHUNK, n))
            features = np.hstack([np.ones((rows.stop - first, 1)), *(c.features(rows) for c in self._columns)])
            moments += features.T @ features
            for column in self.labels:
                codes = column.codes[rows]
                order = np.argsort(codes, kind="stable")
                held, starts = np.unique(codes[order], return_index=True)
                by_value[column.name][held] += np.add.reduceat(features[order], starts, axis=0)
        return moments, by_value

    def publish(self, labels: Labels, filling: bool = False, beside: Table | None = None) -> dict[str, Column]:
        """The calibrated columns for groups of the kept records, beside what is published of other columns."""
        from threadpoolctl import threadpool_limits

        shown = self.beside if beside is None else tuple(column.replace_values(beside) for column in self.beside)
        with threadpool_limits(limits=1):  # the matrices are narrow: threads wait for each other longer than they work
            return _Publication(self, _number_by_first(labels), filling, shown).columns()


def _number_by_first(labels: Labels) -> Labels:
    """The groups numbered in the order of their first records, so that their numbers decide nothing."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int32)


def _is_labelled(table: Table, name: str) -> bool:
    """Whether a column has few values, so that groups publish labels."""
    if not table.attribute(name).numeric:
        return True
    values = table.column(name)
    distinct = len(np.unique(values[~np.isnan(values)]))
    return distinct <= max(FEWEST, min(FEW, len(values) // SUPPORT))


def _count_levels(table: Table, name: str) -> list[tuple[int, int]]:
    """Number and records of the frequent values of a column of few; of all but one of them at most."""
    if not _is_labelled(table, name):
        return []
    codes, values = _codes(table, name)
    counts = np.bincount(codes, minlength=len(values) + 1)[:-1]
    frequent = [int(level) for level in np.argsort(-counts, kind="stable") if counts[level] >= FREQUENT]
    return [(level, int(counts[level])) for level in frequent[: min(LEVELS, max(len(values) - 1, 0))]]


def _codes(table: Table, name: str) -> tuple[NDArray[np.int64], Column]:
    """int64[n]: number of the value of each record, the last one where it is missing; and the values."""
    column = table.column(name)
    present = ~np.isnan(column) if table.attribute(name).numeric else column != MISSING
    values, codes = np.unique(column[present], return_inverse=True)
    found = np.full(len(column), len(values), dtype=np.int64)
    found[present] = codes
    return found, values


def _read_column(table: Table, name: str, levels: Sequence[int]) -> _Labels | _Numbers:
    """A column as features; the indicators are those of some values."""
    attribute = table.attribute(name)
    if not _is_labelled(table, name):
        return _read_numbers(table, name)
    codes, values = _codes(table, name)
    m, n = len(values), max(len(codes), 1)
    shares = np.bincount(codes, minlength=m + 1) / n
    scores = np.zeros(m + 1)
    if attribute.kind is not Kind.NOMINAL and m > 2:
        held = shares[:-1] / max(shares[:-1].sum(), 1e-300)
        centred = values - (held * values).sum()
        spread = float(np.sqrt((held * centred**2).sum()))
        scores[:-1] = centred / spread if spread > 0 else 0.0
    parts = [((np.arange(m + 1) == level) - shares[level]) / np.sqrt(shares[level] * (1 - shares[level]))
             for level in levels if shares[level] < 1.0]  # fmt: skip
    if scores.any():
        parts.append(scores)
    table_ = np.stack(parts, axis=1) if parts else np.zeros((m + 1, 0))
    return _Labels(name, codes, values, table_, scores)


def _read_numbers(table: Table, name: str) -> _Numbers:
    """A column of many numbers; without features where one record decides their moments."""
    values = table.column(name)
    step = 10.0 ** -decimals(values)
    if table.attribute(name).dates:
        step = moment_step(values) if table.attribute(name).dates == "datetime" else 1.0
    known = values[~np.isnan(values)]
    centred = known - known.mean()
    total = float((centred**2).sum())
    if not total or float((centred**2).max()) > DOMINANT * total:
        return _Numbers(name, values, (), np.zeros(0), np.ones(0), step)
    logs = _choose_scales(known, table.attribute(name).scale)
    scales = [np.log(known) if log else known for log in logs]
    centres, spreads = (np.array([f(scale) for scale in scales]) for f in (np.mean, np.std))
    return _Numbers(name, values, logs, centres, np.where(spreads > 0, spreads, 1.0), step)


def _choose_scales(values: Floats, scale: Scale) -> tuple[bool, ...]:
    """Which features a number has: False for itself, True for its logarithm, which only positive numbers have."""
    if scale == "raw" or values.min() <= 0:
        return (False,)
    if scale != "automatic":
        return (True,) if scale == "log" else (False, True)
    skew = abs(_skewness(values)) > max(SKEW, STRAIGHTENED * abs(_skewness(np.log(values))))
    return (False, True) if skew else (False,)


def _skewness(values: Floats) -> float:
    """The third standardised moment."""
    centred, spread = values - values.mean(), float(values.std())
    return float((centred**3).mean() / spread**3) if spread > 0 else 0.0


class _Publication:
    """What the groups of one partition publish, on its way to the calibrated values."""

    def __init__(self, known: Calibration, labels: Labels, filling: bool, beside: Sequence[_Labels | _Numbers]) -> None:
        self.known, self.of, self.filling, self.beside = known, labels, filling, beside
        self.sizes = np.bincount(labels).astype(np.float64)
        self.groups, self.records = len(self.sizes), len(labels)
        self.rng = np.random.default_rng(0)  # the order of turns; the same for the same groups
        self.chosen = {column.name: self._typical(column) for column in known.labels}
        self.values, self.blank = dict[str, Floats](), dict[str, NDArray[np.bool_]]()
        for column in known.numbers:
            held = np.bincount(labels[column.present], minlength=self.groups)
            self.blank[column.name] = held == 0 if filling else held < self.sizes
            self.values[column.name] = calibration_means(
                column.values[column.present], labels[column.present], self.groups
            )[0]

    def columns(self) -> dict[str, Column]:
        """The calibrated columns, rounded to what is published."""
        if self.groups >= FEWEST_GROUPS:
            self._arrange()
        else:
            self.values = {
                column.name: self._in_blocks(column, self.values[column.name]) for column in self.known.numbers
            }
        found = {column.name: column.values[np.minimum(self.chosen[column.name], max(len(column.values) - 1, 0))]
                 if len(column.values) else np.full(self.groups, np.nan)
                 for column in self.known.labels}  # fmt: skip
        absent = {column.name: self.chosen[column.name] == len(column.values) for column in self.known.labels}
        for numeric in self.known.numbers:
            found[numeric.name], absent[numeric.name] = self._round_values(numeric), self.blank[numeric.name]
        return {name: self._spread_out(name, each, absent[name]) for name, each in found.items()}

    def _spread_out(self, name: str, values: Column, absent: NDArray[np.bool_]) -> Column:
        """The column of all records from the values of the groups; suppressed records keep theirs."""
        table = self.known.table
        column = table.column(name).copy()
        nothing = np.nan if table.attribute(name).numeric else MISSING
        column[table.kept] = np.where(absent, nothing, values)[self.of]
        return column

    # -- the order of work --

    def _arrange(self) -> None:
        """Labels beside the means of numbers, numbers beside the labels, and both once more."""
        self._sums = self._all_sums()
        self._relabel()
        numbers = [column for column in self.known.numbers if column.width]
        for column in self.known.numbers:
            self._publish(column, self._in_blocks(column, self.values[column.name]))
        if numbers:
            best, kept = np.inf, self.values
            for _ in range(MAPS):
                for column, mapped in zip(numbers, self._map_linearly(numbers).T, strict=True):
                    self._publish(column, self._in_blocks(column, mapped))
                gap = self._gap()
                if gap < best:
                    best, kept = gap, dict(self.values)
            for column in numbers:
                self._publish(column, kept[column.name])
        for _ in range(TURNS if numbers else 0):
            if self.known.labels:
                self._relabel()
            for _ in range(SWEEPS):
                for column in numbers:
                    self._exchange(column)

    def _publish(self, column: _Numbers, values: Floats) -> None:
        """Take values of a number, and follow them in the sums."""
        self.values[column.name] = values
        features = column.standardise(np.where(self.blank[column.name], np.nan, values))
        self._sums[:, self.known._places[column.name]] = features * self.sizes[:, None]

    def _all_sums(self) -> Floats:
        """float64[G, q]: the features of what is published, added up over the records of each group."""
        parts = [self.sizes[:, None]]
        for number in self.known.numbers:
            values = np.where(self.blank[number.name], np.nan, self.values[number.name])
            parts.append(number.standardise(values) * self.sizes[:, None])
        for label in self.known.labels:
            parts.append(label.table[self.chosen[label.name]] * self.sizes[:, None])
        return np.hstack([*parts, *(column.sums(self.of, self.sizes) for column in self.beside)])

    @cached_property
    def _ratios(self) -> Floats:
        """float64[q]: published over collected values, by which moments of a column are scaled that becomes blank."""
        ratios = np.ones(len(self._sums[0]))
        for column in self.known.numbers:
            shown = float(self.sizes[~self.blank[column.name]].sum())
            ratios[self.known._places[column.name]] = shown / max(int(column.present.sum()), 1)
        return ratios

    # -- labels --

    @cached_property
    def _choices(self) -> dict[str, LabelChoices]:
        """What each group may publish in every column of labels."""
        return {column.name: self._find_held(column) for column in self.known.labels}

    def _find_held(self, column: _Labels) -> LabelChoices:
        """The values that the records of each group hold; none but missing where one is, unless it is filled."""
        m = len(column.table)
        pairs, counts = np.unique(self.of * np.int64(m) + column.shared_codes, return_counts=True)
        group, level = pairs // m, pairs % m
        lacking = np.zeros(self.groups, dtype=np.bool_)
        lacking[group[level == m - 1]] = True
        some = np.zeros(self.groups, dtype=np.bool_)
        some[group[level < m - 1]] = True
        allowed = np.where(lacking[group] & ~(some[group] & self.filling), level == m - 1, level < m - 1)
        group, level, counts = group[allowed], level[allowed], counts[allowed]
        return LabelChoices(np.searchsorted(group, np.arange(self.groups + 1)), level, counts.astype(np.float64))

    def _typical(self, column: _Labels) -> NDArray[np.int64]:
        """int64[G]: the most frequent of the values that each group may publish."""
        choices = self._find_held(column)
        group = np.repeat(np.arange(self.groups), np.diff(choices.starts))
        order = np.lexsort((-choices.level, choices.records))
        chosen = np.zeros(self.groups, dtype=np.int64)
        chosen[group[order]] = choices.level[order]
        return chosen

    def _relabel(self) -> None:
        """Groups change their labels, column by column, the one of most values first."""
        moments = self.known._targets[1]
        for _ in range(SWEEPS):
            for column in sorted(self.known.labels, key=lambda each: -len(each.values)):
                scales = np.ones(self._sums.shape[1])
                scales[0], scales[self.known._places[column.name]] = CONSTANT, 0.0
                target = moments[column.name] * self._ratios
                shown = float(self.sizes[self.chosen[column.name] < len(column.values)].sum())
                target[:-1] *= shown / max(int((column.codes < len(column.values)).sum()), 1)
                self._relabel_column(column, scales, target * scales)

    def _relabel_column(self, column: _Labels, scales: Floats, target: Floats) -> None:
        """Groups change their labels in one column, beside the sums of the features of all others."""
        chosen, levels = self.chosen[column.name], np.zeros_like(target)
        add_label_sums(chosen, self._sums, scales, levels)
        levels -= target
        shares = np.bincount(column.codes, minlength=len(levels)) / self.records
        variance = np.maximum(shares * (1.0 - shares), 1.0 / self.records)
        gaps = LabelGaps(levels, 1.0 / (variance * self.records), column.scores @ levels, column.scores, scales)
        costs = np.array([PRICE, 1.0 / self.records if column.scores.any() else 0.0])
        for _ in range(PASSES):
            turns = self.rng.permutation(self.groups)
            changed = relabel_groups(chosen, self._choices[column.name], gaps, self._sums, costs, turns)
            if changed < UNCHANGED * self.groups:
                break
        self._sums[:, self.known._places[column.name]] = column.table[chosen] * self.sizes[:, None]

    # -- numbers --

    def _in_blocks(self, column: _Numbers, wanted: Floats) -> Floats:
        """float64[G]: means of blocks of the sorted column, the groups in the order of what they want.

        A block is as large a part of the values as the group is of the records that publish one.
        """
        shown = np.flatnonzero(~self.blank[column.name])
        found = np.full(self.groups, np.nan)
        if not len(shown):
            return found
        order = shown[np.lexsort((self.values[column.name][shown], wanted[shown]))]
        values, sizes = column.ordered_values, self.sizes[order]
        ends = np.append(0.0, np.cumsum(sizes)) * (len(values) / sizes.sum())
        origin = float(values.mean())
        sums = np.append(0.0, np.cumsum(values - origin))
        place = np.minimum(ends.astype(np.int64), len(values) - 1)
        below = sums[place] + (ends - place) * (values[place] - origin)
        low = values[np.minimum(place[:-1], len(values) - 1)]
        high = values[np.minimum(np.ceil(ends[1:]).astype(np.int64) - 1, len(values) - 1)]
        found[order] = np.clip(origin + np.diff(below) / np.diff(ends), low, high)
        return found

    def _map_linearly(self, numbers: Sequence[_Numbers]) -> Floats:
        """float64[G, p]: the values of numbers, standardised, mapped so that their moments are the original's.

        X' = W P + R A: P restores the moments with all other features W, R is what these do not explain of the present
        values, and A the symmetric map that restores the covariances that are left.
        """
        places = [self.known._places[column.name].start for column in numbers]
        rest = np.setdiff1d(np.arange(self._sums.shape[1]), [p for c in numbers for p in range(
            self.known._places[c.name].start, self.known._places[c.name].stop)])  # fmt: skip
        share, features = self.sizes / self.records, self._sums / self.sizes[:, None]
        own, beside = features[:, places], features[:, rest]
        target = self.known._targets[0] * np.outer(self._ratios, self._ratios) / self.records
        weighed = beside.T * share
        inner, wanted = weighed @ beside, target[np.ix_(rest, places)]
        present = np.linalg.lstsq(inner, weighed @ own, rcond=1e-9)[0]
        left = own - beside @ present
        ridge = RIDGE
        while True:
            shift = np.linalg.solve(inner + ridge * np.eye(len(inner)), wanted - inner @ present)
            explained = beside @ (present + shift)
            open_ = target[np.ix_(places, places)] - (explained.T * share) @ explained
            if ridge >= MOST_RIDGE or float(np.linalg.eigvalsh((open_ + open_.T) / 2).min()) > -1e-9:
                return np.asarray(explained + left @ _symmetric_map((left.T * share) @ left, open_))
            ridge *= 3.0

    def _gap(self) -> float:
        """Sum of the squared gaps of all moments that groups can change."""
        moments = (self._sums / self.sizes[:, None]).T @ self._sums
        gaps = moments - self.known._targets[0] * np.outer(self._ratios, self._ratios)
        first = self.known._places[self.known.beside[0].name].start if self.known.beside else len(gaps)
        gaps[first:, first:] = 0.0
        return float((gaps**2).sum())

    def _exchange(self, column: _Numbers) -> None:
        """Groups of equal size exchange their blocks as long as that brings the moments nearer."""
        place = self.known._places[column.name]
        others = np.ones(self._sums.shape[1], dtype=np.bool_)
        others[place] = False
        sums = np.ascontiguousarray(self._sums[:, others])
        shown, values = np.flatnonzero(~self.blank[column.name]), self.values[column.name].copy()
        features = np.ascontiguousarray(self._sums[:, place] / self.sizes[:, None])
        target = (self.known._targets[0] * np.outer(self._ratios, self._ratios))[place][:, others]
        gaps = features.T @ sums - target
        order = shown[np.lexsort((values[shown], self.sizes[shown]))]
        for _ in range(ROUNDS):
            if float((gaps**2).mean()) < NEAR**2 * self.records:
                break
            apart = int(self.rng.integers(1, max(2, min(len(order) // 2 + 1, REACH))))
            places = np.arange(len(order) - apart)
            pairs = places[(places // apart) % 2 == 0]
            one, other = order[pairs], order[pairs + apart]
            same = self.sizes[one] == self.sizes[other]
            pairs, one, other = pairs[same], one[same], other[same]
            before = values[one]
            exchange_values(values, features, sums, gaps, one, other)
            moved = values[one] != before  # a group that takes the value of another takes its place in the order too
            order[pairs[moved]], order[pairs[moved] + apart] = other[moved], one[moved]
        self._publish(column, values)

    def _round_values(self, column: _Numbers) -> Floats:
        """The values at the precision of the column, the total kept."""
        values, shown = self.values[column.name].copy(), np.flatnonzero(~self.blank[column.name])
        if not len(shown):
            return values
        round_in_order(values, self.sizes, shown[np.argsort(values[shown], kind="stable")], column.step)
        low, high = column.ordered_values[0], column.ordered_values[-1]
        values[shown] = np.clip(np.round(values[shown] / column.step) * column.step, low, high)
        return values


def _symmetric_map(present: Floats, wanted: Floats) -> Floats:
    """float64[p, p]: the symmetric A with A · present · A = wanted, which moves points least."""
    half, inverse = _power(present, 0.5), _power(present, -0.5)
    return np.asarray(inverse @ _power(half @ wanted @ half, 0.5) @ inverse)


def _power(matrix: Floats, exponent: float) -> Floats:
    """A power of a symmetric matrix; directions without variance stay without."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    some = values > 1e-8 * max(float(values.max(initial=0.0)), 1e-300)
    powers = np.where(some, np.where(some, values, 1.0) ** exponent, 0.0)
    return np.asarray((vectors * powers) @ vectors.T)
