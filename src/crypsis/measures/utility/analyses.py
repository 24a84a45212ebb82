"""Analyses drawn at random: does the released file give an analyst the answers that the original gives?

Analyses are drawn once, on the original, by a seed. The search may steer by those of one stream of random numbers; a
report draws from another, so that no figure it prints was optimised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, get_args

import numpy as np
from pydantic import Field

from crypsis.errors import unknown_column
from crypsis.measures.measure import NO_RECORDS, Aim, BoundMeasure, Measure, Reading, measures
from crypsis.measures.pairing import check_rows
from crypsis.measures.utility.analysis_draw import Analysis, draw_analyses
from crypsis.measures.utility.analyst_columns import FEWEST, SAMPLE, AnalystColumns, AnalystFile, published_columns
from crypsis.measures.utility.interval_estimates import Estimates, Flags, compare_intervals, has_error
from crypsis.table.table import Table

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
        self.columns = AnalystColumns.of(original, sorted(columns or published_columns(original)))
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
        check_rows(self.columns.rows, masked)
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

    def chosen(self, original: Table) -> tuple[str, ...]:
        return self.columns or published_columns(original)

    def obstacle(self, original: Table) -> str:
        unknown = unknown_column(self.columns, original.names)
        if unknown:
            return unknown
        if not original.rows:
            return NO_RECORDS
        found = AnalystColumns.of(original, self.chosen(original))
        if found.numbers or len(found.groups) > 1:
            return ""
        return (
            f"no analysis can be drawn: this needs a number with at least three values, or two columns with two values "
            f"of at least {FEWEST} records each, among the published columns; give columns a role, or name others"
        )

    def against(self, original: Table) -> BoundAnalyses:
        names = self.chosen(original)
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
        return self.measure.reading(100.0 - found.inside, self.names, ABSENT_TEXT, counts)
