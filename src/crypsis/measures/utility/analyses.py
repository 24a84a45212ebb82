"""Analyses drawn at random: does the released file give an analyst the answers that the original gives?

Analyses are drawn once, on the original, by a seed. The search may steer by those of one stream of random numbers; a
report draws from another, so that no figure it prints was optimised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, TypeVar, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError, unknown_column
from crypsis.kernels.arrays import Floats
from crypsis.measures.measure import (
    NO_RECORDS,
    Aim,
    BoundMeasure,
    Measure,
    Reading,
    check_measured_rows,
    measures,
    numbers_that_measures_read,
    sample_records_to_measure,
)
from crypsis.measures.utility.estimates import (
    Estimates,
    Flags,
    compare_intervals,
    correlation_estimate,
    has_error,
    least_squares_estimates,
    logistic_estimates,
    mean_estimate,
    quantile_estimate,
)
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

MOST_VALUES = 20
"""A column with more values forms no groups."""
FEWEST = 20
"""Records below which a value is no level: its name and its figures would be those of few people."""
MOST_LEVELS = 6
"""Levels of a group that take part, the commonest first."""
PRESENT = 0.5
"""A column of which a smaller share is present is left out."""
SAMPLE = 20_000
"""Records on which models are fitted; of a larger file so many at equal distances."""
SAME = 1e-6
"""Relative difference of two numbers that are the same value: what six printed digits show."""

ELSE, ABSENT = -1, -2
"""Codes of a value that is no level, and of none."""

D = TypeVar("D", np.float64, np.int8)
Codes = NDArray[np.int8]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class NumberColumn:
    """A number of the original: its mean, its standard deviation, and whether it counts from 0, as no date does."""

    name: str
    centre: float
    scale: float
    amount: bool = True


@dataclass(frozen=True)
class GroupColumn:
    """A column that forms groups: labels of its levels, the commonest first; their numbers where it holds numbers."""

    name: str
    labels: tuple[str, ...]
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class AnalystColumns:
    """The columns of an original that analyses can use."""

    rows: int  # records of the original
    numbers: Mapping[str, NumberColumn]  # by name
    groups: Mapping[str, GroupColumn]  # by name; a number of few values is among both

    @classmethod
    def of(cls, original: Table, names: Sequence[str]) -> AnalystColumns:
        """The usable ones of some columns: neither constant nor mostly missing."""
        numbers, groups = dict[str, NumberColumn](), dict[str, GroupColumn]()
        for name in names:
            if original.rows == 0 or float(original.missing(name).mean()) > 1 - PRESENT:
                continue
            if not original.holds_numbers(name):
                found = _category(original, name)
            else:
                values = finite_numbers_of_frame(original, name)
                held = values[~np.isnan(values)]
                distinct, counts = np.unique(held, return_counts=True)
                if len(distinct) > 2:
                    amount = not original.attribute(name).dates
                    numbers[name] = NumberColumn(name, float(held.mean()), float(held.std()), amount)
                order = sorted(range(len(distinct)), key=lambda i: (-counts[i], distinct[i]))
                levels = [float(distinct[i]) for i in order if counts[i] >= FEWEST][:MOST_LEVELS]
                few = 1 < len(distinct) <= MOST_VALUES
                found = GroupColumn(name, tuple(f"{v:g}" for v in levels), tuple(levels)) if few else None
            if found is not None and len(found.labels) > 1:
                groups[name] = found
        return cls(original.rows, numbers, groups)


def _published_columns(original: Table) -> tuple[str, ...]:
    """The columns that analysts get: no identifier, household or undecided column."""
    hidden = set(original.names_by_role(*UNPUBLISHED, Role.UNDECIDED, Role.WEIGHT))
    return tuple(name for name in original.names if name not in hidden)


def _category(original: Table, name: str) -> GroupColumn | None:
    codes, labels = original.column(name), original.labels(name)
    counts = np.bincount(codes[codes != MISSING], minlength=len(labels))
    if not 1 < int((counts > 0).sum()) <= MOST_VALUES:
        return None
    order = sorted(range(len(labels)), key=lambda code: (-counts[code], labels[code]))
    return GroupColumn(name, tuple(labels[code] for code in order if counts[code] >= FEWEST)[:MOST_LEVELS])


class AnalystFile:
    """One file with the columns of an original; each column is read when it is first asked for."""

    def __init__(self, columns: AnalystColumns, table: Table) -> None:
        self.columns, self.table = columns, table
        self.kept: Rows = np.flatnonzero(table.kept)
        sample = sample_records_to_measure(columns.rows, SAMPLE)
        self._sample: Rows = np.flatnonzero(np.isin(self.kept, sample)) if columns.rows > SAMPLE else self.kept
        self._whole = columns.rows <= SAMPLE
        self._numbers: dict[str, Floats] = {}
        self._codes: dict[str, Codes] = {}
        self._designs: dict[str, tuple[Floats, NDArray[np.bool_]]] = {}

    @property
    def records(self) -> int:
        """Published records."""
        return len(self.kept)

    def number(self, name: str) -> Floats:
        """float64[published]: a column of numbers, NaN where it has none, or is not published as numbers."""
        if name not in self._numbers:
            try:
                read = numbers_that_measures_read(self.table, name)[self.kept]
            except TableError:  # not published, or as categories without numbers
                read = np.full(self.records, np.nan)
            self._numbers[name] = read
        return self._numbers[name]

    def present(self, name: str) -> Floats:
        """The numbers of a column that are there."""
        values = self.number(name)
        return values[~np.isnan(values)]

    def codes(self, name: str) -> Codes:
        """int8[published]: place of the published value among the levels, `ELSE` or `ABSENT`."""
        if name not in self._codes:
            group = self.columns.groups[name]
            if name not in self.table.names:
                self._codes[name] = np.full(self.records, ABSENT, dtype=np.int8)
            elif self.table.holds_numbers(name):
                self._codes[name] = self._count_levels(group)
            else:
                place = {label: level for level, label in enumerate(group.labels)}
                known = [place.get(label, ELSE) for label in self.table.labels(name)]
                self._codes[name] = np.array([*known, ABSENT], dtype=np.int8)[self.table.column(name)[self.kept]]
        return self._codes[name]

    def _count_levels(self, group: GroupColumn) -> Codes:
        """Levels of a column of numbers."""
        values = finite_numbers_of_frame(self.table, group.name)[self.kept]
        codes = np.where(np.isnan(values), ABSENT, ELSE).astype(np.int8)
        if not group.values:
            return codes
        for level, value in enumerate(group.values):
            codes[np.abs(values - value) <= SAME * max(abs(value), SAME)] = level
        return codes

    def design(self, name: str) -> tuple[Floats, NDArray[np.bool_]]:
        """Columns of a design on the sampled records, and which records have a value.

        A number is scaled by the original: float64[m, 1]; a group has a column for each level but the first.
        """
        if name not in self._designs:
            if name in self.columns.numbers:
                number = self.columns.numbers[name]
                values = (self._take_sample(self.number(name)) - number.centre) / number.scale
                self._designs[name] = values[:, None], ~np.isnan(values)
            else:
                codes = self._take_sample(self.codes(name))
                levels = np.arange(1, len(self.columns.groups[name].labels))
                self._designs[name] = (codes[:, None] == levels).astype(np.float64), codes != ABSENT
        return self._designs[name]

    def event(self, name: str, level: int) -> tuple[Floats, NDArray[np.bool_]]:
        """1 where a group has a level, on the sampled records, and which records have a value."""
        codes = self._take_sample(self.codes(name))
        return (codes == level).astype(np.float64), codes != ABSENT

    def _take_sample(self, values: NDArray[D]) -> NDArray[D]:
        return values if self._whole else values[self._sample]


# -- One analysis of a file, and the draw of different analyses that a table allows.

AnalysisKind = Literal["mean", "share", "above zero", "total", "quantile", "correlation", "regression", "logistic"]
WEIGHTS: dict[AnalysisKind, float] = {
    "mean": 1, "share": 0.7, "above zero": 0.3, "total": 1, "quantile": 1, "correlation": 1,
    "regression": 3, "logistic": 1,
}  # fmt: skip
"""How often each kind is drawn, where the table allows it."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
REGRESSORS = (2, 5)
"""Fewest and most regressors."""
COMMON, RARE = 0.03, 0.01
"""A share of an event below which no model of it is drawn, and of amounts above 0 below which theirs is not."""
FLAT = 0.001
"""Least error of a quantile, as a part of the standard deviation."""


@dataclass(frozen=True)
class Analysis:
    """One analysis."""

    kind: AnalysisKind
    target: str  # the column that is analysed; with `level` the share or the event of that level
    title: str  # in words
    level: int = 0
    by: str = ""  # the group in which it is analysed, and its level; of a correlation the other number
    inside: int = 0
    point: float = 0.0  # of a quantile
    regressors: tuple[str, ...] = ()  # of a model
    terms: tuple[str, ...] = ("",)  # what is estimated; a single estimate has no name

    def estimate(self, file: AnalystFile, start: Floats | None = None) -> Estimates:
        """What a file answers."""
        if self.kind in ("regression", "logistic"):
            return self._model(file, start)
        if self.kind == "share":
            here = file.codes(self.by) == self.inside
            return mean_estimate((file.codes(self.target)[here] == self.level).astype(np.float64))
        if self.kind == "correlation":
            return correlation_estimate(file.number(self.target), file.number(self.by))
        if self.kind == "mean":
            values = file.number(self.target)[file.codes(self.by) == self.inside]
            return mean_estimate(values[~np.isnan(values)])
        values = file.present(self.target)
        if self.kind == "above zero":
            return mean_estimate((values > 0).astype(np.float64))
        if self.kind == "quantile":
            return quantile_estimate(values, self.point, FLAT * file.columns.numbers[self.target].scale)
        mean, error, _ = mean_estimate(values)
        return Estimates(file.records * mean, file.records * error)

    def _model(self, file: AnalystFile, start: Floats | None) -> Estimates:
        """A regression with a constant, which comes first, on the records that lack nothing."""
        linear = self.kind == "regression"
        target, here = file.design(self.target) if linear else file.event(self.target, self.level)
        parts = [file.design(name) for name in self.regressors]
        for _, present in parts:
            here = here & present
        design = np.concatenate([np.ones((len(here), 1)), *(columns for columns, _ in parts)], axis=1)
        target = target.reshape(-1)
        if not here.all():
            design, target = design[here], target[here]
        return least_squares_estimates(design, target) if linear else logistic_estimates(design, target, start)

    @property
    def models(self) -> bool:
        """Whether its first estimate is a constant that nobody asks for."""
        return self.kind in ("regression", "logistic")


def draw_analyses(file: AnalystFile, rng: Generator, tries: int) -> Iterator[Analysis]:
    """Different analyses that a table allows, by random numbers."""
    draw, seen = _Draw(file, rng), set[str]()
    kinds = [kind for kind in WEIGHTS if draw.possible(kind)]
    weights = np.array([WEIGHTS[kind] for kind in kinds])
    for _ in range(tries if kinds else 0):
        kind = kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))]
        analysis = getattr(draw, kind.replace(" ", "_"))()
        if analysis is not None and analysis.title not in seen:
            seen.add(analysis.title)
            yield analysis


T = TypeVar("T")


class _Draw:
    """Draws an analysis of each kind; None where the draw is no analysis of the table."""

    def __init__(self, file: AnalystFile, rng: Generator) -> None:
        self.file, self.rng = file, rng
        self.numbers, self.groups = list(file.columns.numbers), list(file.columns.groups)
        self.amounts = [name for name in self.numbers if file.columns.numbers[name].amount]
        self.regressors = self.numbers + [name for name in self.groups if name not in file.columns.numbers]

    def possible(self, kind: AnalysisKind) -> bool:
        """Whether the table has columns for a kind."""
        numbers, groups, both = len(self.numbers), len(self.groups), len(self.regressors)
        return {
            "mean": bool(numbers and groups),
            "share": groups > 1,
            "total": bool(self.amounts),
            "above zero": bool(self.amounts),
            "correlation": numbers > 1,
            "regression": bool(numbers) and both > REGRESSORS[0],
            "logistic": bool(groups) and both > REGRESSORS[0],
        }.get(kind, bool(numbers))

    def _pick(self, among: Sequence[T]) -> T:
        return among[int(self.rng.integers(len(among)))]

    def _level(self, name: str) -> tuple[int, str]:
        labels = self.file.columns.groups[name].labels
        level = int(self.rng.integers(len(labels)))
        return level, labels[level]

    def mean(self) -> Analysis | None:
        target, by = self._pick(self.numbers), self._pick(self.groups)
        inside, label = self._level(by)
        here = (self.file.codes(by) == inside) & ~np.isnan(self.file.number(target))
        if target == by or int(here.sum()) < FEWEST:
            return None
        return Analysis("mean", target, f"mean of {target} where {by} is {label}", by=by, inside=inside)

    def share(self) -> Analysis | None:
        target, by = self._pick(self.groups), self._pick(self.groups)
        (level, label), (inside, group) = self._level(target), self._level(by)
        title = f"share of {target} = {label} where {by} is {group}"
        return None if target == by else Analysis("share", target, title, level=level, by=by, inside=inside)

    def above_zero(self) -> Analysis | None:
        target = self._pick(self.amounts)
        share = float((self.file.present(target) > 0).mean())
        return Analysis("above zero", target, f"share of {target} above 0") if RARE < share < 1 - RARE else None

    def total(self) -> Analysis:
        target = self._pick(self.amounts)
        return Analysis("total", target, f"total of {target}")

    def quantile(self) -> Analysis:
        target, point = self._pick(self.numbers), self._pick(QUANTILES)
        return Analysis("quantile", target, f"{100 * point:g} % point of {target}", point=point)

    def correlation(self) -> Analysis:
        first, second = sorted(self.rng.choice(len(self.numbers), 2, replace=False).tolist())
        target, other = self.numbers[first], self.numbers[second]
        return Analysis("correlation", target, f"correlation of {target} and {other}", by=other)

    def regression(self) -> Analysis | None:
        target = self._pick(self.numbers)
        return self._model("regression", target, f"regression of {target}")

    def logistic(self) -> Analysis | None:
        target = self._pick(self.groups)
        level, label = self._level(target)
        share = float((self.file.codes(target) == level).mean())
        if not COMMON < share < 1 - COMMON:
            return None
        return self._model("logistic", target, f"logistic regression of {target} = {label}", level)

    def _model(self, kind: AnalysisKind, target: str, title: str, level: int = 0) -> Analysis | None:
        others = [name for name in self.regressors if name != target]
        if len(others) < REGRESSORS[0]:
            return None
        count = min(len(others), int(self.rng.integers(REGRESSORS[0], REGRESSORS[1] + 1)))
        chosen = tuple(others[place] for place in sorted(self.rng.choice(len(others), count, replace=False).tolist()))
        columns, terms = self.file.columns, list[str]()
        for name in chosen:
            several = name not in columns.numbers
            terms += [f"{name} = {label}" for label in columns.groups[name].labels[1:]] if several else [name]
        named = f"{title} on {', '.join(chosen)}"
        return Analysis(kind, target, named, level, regressors=chosen, terms=tuple(terms))


# -- Analyses drawn at random: does the released file give an analyst the answers that the original gives?
#
# Analyses are drawn once, on the original, by a seed. The search may steer by those of one stream of random numbers; a
# report draws from another, so that no figure it prints was optimised.

TRIES = 50
"""Draws for each analysis that is wanted; a small table has fewer different analyses."""

Stream = Literal["search", "report"]
"""Random numbers of which analyses are drawn: those a search may see, and those only a report uses."""

ABSENT_TEXT = (
    "records that lack a value of an analysis take no part in it; suppressed records are not there; a generalised "
    "number is read as the middle of its group, a generalised category as its label"
)


@dataclass(frozen=True)
class EstimateChange:
    """One estimate before and after.

    Attributes
    ----------
    kind, analysis, term : str
        What was analysed, in words; the term of a regression, else empty.
    original : float
        The estimate on the original; slopes in standard deviations of the original.
    released : float or None
        The same on the released file; None where it cannot be computed there.
    off : float
        Distance in standard errors of the original; infinite where it cannot be computed.
    inside : bool
        Whether the released estimate lies inside the 95 % interval of the original.
    overlap : float
        Common part of both 95 % intervals as a share of each, averaged: 1 alike, 0 apart.

    Examples
    --------
    >>> people = crypsis.example(200)
    >>> found = crypsis.Analyses(people, count=20).compare(people)
    >>> found.rows[0].inside, round(found.rows[0].off, 9)
    (True, 0.0)
    """

    kind: str
    analysis: str
    term: str
    original: float
    released: float | None
    off: float
    inside: bool
    overlap: float


@dataclass(frozen=True)
class AnalysesKept:
    """What a released file answers to analyses drawn at random.

    Attributes
    ----------
    rows : tuple of EstimateChange
        Every estimate, in the order of the draw.
    sampled : int
        Records on which models were fitted; 0 where all were used.

    Examples
    --------
    >>> people = crypsis.example(200)
    >>> found = crypsis.Analyses(people, count=20).compare(people)
    >>> found.inside, round(found.overlap, 6), found.analyses == found.kept
    (100.0, 1.0, True)
    """

    rows: tuple[EstimateChange, ...]
    sampled: int = 0

    @property
    def estimates(self) -> int:
        """Number of estimates."""
        return len(self.rows)

    @cached_property
    def _by_analysis(self) -> dict[str, list[bool]]:
        """Which estimates of each analysis are inside their intervals."""
        found: dict[str, list[bool]] = {}
        for row in self.rows:
            found.setdefault(row.analysis, []).append(row.inside)
        return found

    @property
    def analyses(self) -> int:
        """Number of analyses."""
        return len(self._by_analysis)

    @property
    def kept(self) -> float:
        """Analyses that keep their answer; a regression counts by the share of its coefficients that are inside."""
        return float(sum(sum(inside) / len(inside) for inside in self._by_analysis.values()))

    @property
    def kept_whole(self) -> int:
        """Analyses of which every estimate lies inside the 95 % interval of the original."""
        return sum(all(inside) for inside in self._by_analysis.values())

    @property
    def inside(self) -> float:
        """Estimates inside the 95 % interval of the original, per cent."""
        return 100.0 * float(np.mean([row.inside for row in self.rows])) if self.rows else 100.0

    @property
    def overlap(self) -> float:
        """Mean overlap of the intervals, 0 to 1."""
        return float(np.mean([row.overlap for row in self.rows])) if self.rows else 1.0

    def worst(self, most: int = 5) -> tuple[EstimateChange, ...]:
        """The estimates that moved farthest out of their intervals: first one of each kind, then of other analyses.

        Parameters
        ----------
        most : int
            How many.

        Returns
        -------
        tuple of EstimateChange
        """
        outside = sorted((row for row in self.rows if not row.inside), key=lambda row: -row.off)
        kinds, analyses = dict[str, EstimateChange](), dict[str, EstimateChange]()
        for row in outside:
            kinds.setdefault(row.kind, row)
            analyses.setdefault(row.analysis, row)
        first = list(kinds.values())
        rest = [row for row in analyses.values() if row.analysis not in {each.analysis for each in first}]
        return tuple([*first, *rest][:most])


class Analyses:
    """Analyses drawn on an original, and its answers; then asked of any masked version.

    Parameters
    ----------
    original : Table
        The table before masking, with its roles.
    count : int
        Analyses that are drawn; fewer where the table has no more.
    seed : int
        Of the draw.
    columns : sequence of str
        Columns the analyses use; empty: every column that is published.
    stream : {"search", "report"}
        A search and a report never draw the same analyses, whatever their seeds.

    Notes
    -----
    Means of a number in a group, shares of a category in a group and of amounts above 0, totals, quantiles,
    correlations, linear regressions with HC1 errors and logistic regressions. A group has at most 20 values and a level
    at least 20 records, so that no title names few people.

    Examples
    --------
    >>> people = crypsis.example(200)
    >>> asked = crypsis.Analyses(people, count=20, seed=3)
    >>> sorted({analysis.kind for analysis in asked.analyses})[:3]
    ['correlation', 'logistic', 'mean']
    """

    def __init__(
        self,
        original: Table,
        count: int = 200,
        seed: int = 1,
        columns: Sequence[str] = (),
        stream: Stream = "search",
    ) -> None:
        self.columns = AnalystColumns.of(original, sorted(columns or _published_columns(original)))
        rng = np.random.default_rng([get_args(Stream).index(stream), seed])
        file = AnalystFile(self.columns, original)
        found = list[Analysis]()
        answers, shown = list[Estimates](), list[Flags]()
        for analysis in draw_analyses(file, rng, count * TRIES):
            answer = analysis.estimate(file)
            known = has_error(answer)
            if analysis.models:
                known[0] = False
            if known.any():
                found.append(analysis)
                answers.append(answer)
                shown.append(known)
            if len(found) == count:
                break
        self.analyses, self._answers, self._shown = tuple(found), tuple(answers), tuple(shown)

    def compare(self, masked: Table) -> AnalysesKept:
        """Ask a masked version of the original.

        Parameters
        ----------
        masked : Table
            Row by row the records of the original.

        Returns
        -------
        AnalysesKept
        """
        check_measured_rows(self.columns.rows, masked)
        file = AnalystFile(self.columns, masked)
        rows = list[EstimateChange]()
        for analysis, before, known in zip(self.analyses, self._answers, self._shown, strict=True):
            after = analysis.estimate(file, before.value)
            rows += _changes(analysis, before, after, known)
        return AnalysesKept(tuple(rows), SAMPLE if self.columns.rows > SAMPLE else 0)


def _changes(analysis: Analysis, before: Estimates, after: Estimates, known: Flags) -> Iterator[EstimateChange]:
    first, last = (Estimates(each.value[known], each.error[known]) for each in (before, after))
    off, inside, overlap = compare_intervals(first, last)
    show = np.tanh if analysis.kind == "correlation" else np.asarray
    old, new = show(first.value).tolist(), show(last.value).tolist()
    names = ("", *analysis.terms) if analysis.models else analysis.terms
    for place, term in enumerate(np.array(names)[known].tolist()):
        computed = np.isfinite(off[place])
        yield EstimateChange(
            analysis.kind,
            analysis.title,
            term,
            old[place],
            new[place] if computed else None,
            float(off[place]),
            bool(inside[place]),
            float(overlap[place]),
        )


@measures.add("analyses-changed")
class AnalysesChanged(Measure):
    """How many answers of analyses drawn at random the released file changes.

    Per cent of the estimates of analyses drawn at random that leave the 95 % interval of the original, or cannot be
    computed: means of numbers and shares of categories in groups, shares of amounts above 0, totals, quantiles,
    correlations, linear regressions with HC1 errors and logistic regressions of the published columns.

    Notes
    -----
    - Formula: 100 · estimates outside [b − 1.96 s, b + 1.96 s] / estimates, b and s of the original
    - Paper: own; overlap of intervals after Karr, Kohnen, Oganian, Reiter and Sanil (2006)
    - Cost: O(n q²) for each model of q terms, O(n) for any other analysis
    - Departures: models of more than 20 000 records are fitted to 20 000 of them, at equal distances

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> crypsis.AnalysesChanged().against(original).read(original)
    0.0
    """

    aim: ClassVar[Aim] = "loss"
    row_wise: ClassVar[bool] = False

    columns: tuple[str, ...] = Field(
        default=(), description="columns that the analyses use; empty means every published column"
    )
    count: int = Field(default=100, ge=1, le=10_000, description="analyses that are drawn")
    seed: int = Field(
        default=1, ge=0, le=2**31 - 1, description="of the draw; reports draw other analyses, whatever the seed"
    )

    def choose_columns(self, original: Table) -> tuple[str, ...]:
        return self.columns or _published_columns(original)

    def obstacle(self, original: Table) -> str:
        unknown = unknown_column(self.columns, original.names)
        if unknown:
            return unknown
        if not original.rows:
            return NO_RECORDS
        found = AnalystColumns.of(original, self.choose_columns(original))
        if found.numbers or len(found.groups) > 1:
            return ""
        return (
            f"no analysis can be drawn: this needs a number with at least three values, or two columns with two values "
            f"of at least {FEWEST} records each, among the published columns; give columns a role, or name others"
        )

    def against(self, original: Table) -> BoundAnalyses:
        names = self.choose_columns(original)
        return BoundAnalyses(self, names, Analyses(original, self.count, self.seed, names))


@dataclass(frozen=True, eq=False)
class BoundAnalyses(BoundMeasure):
    """Analyses bound to an original."""

    measure: AnalysesChanged
    names: tuple[str, ...]
    asked: Analyses

    def read(self, masked: Table) -> float:
        return 100.0 - self.asked.compare(masked).inside

    def explain(self, masked: Table) -> Reading:
        found = self.asked.compare(masked)
        counts = {
            "analyses": found.analyses,
            "analyses kept": found.kept,
            "analyses kept in every estimate": found.kept_whole,
            "estimates": found.estimates,
            "mean overlap": found.overlap,
        } | ({"records for models": found.sampled} if found.sampled else {})
        return self.measure.make_reading(100.0 - found.inside, self.names, ABSENT_TEXT, counts)
