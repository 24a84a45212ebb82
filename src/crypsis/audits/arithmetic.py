"""Arithmetic: masked numbers that follow from published ones by a sum, a difference, a product or a ratio.

A wage that was averaged stands in the file again if the total and the bonus are published beside it, although hardly
two records share a total and no key of them tells anything. The relation is taken as public knowledge: it is fitted on
one half of the collected records, by least squares over the numbers that are published as collected, once as it is and
once in logarithms, and tried on the other half.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.dependence import FEWEST, MOSTLY
from crypsis.audits.published import Finding, FindingKind, Published
from crypsis.audits.tokens import days_as_tokens, numbers_as_tokens
from crypsis.kernels.arrays import Flags, Floats
from crypsis.masking.calibration import calibration_means, calibration_medians
from crypsis.measures.utility.associations import rank_for_association
from crypsis.table.equivalence_classes import EquivalenceClasses, classes_of
from crypsis.table.precision import decimals
from crypsis.table.table import Table

EXACT = 0.01
"""Distance from a number, in deviations of its column, up to which it is restored."""
QUARTILES = 1.349
"""Deviations between the quartiles of a normal distribution: a few very large numbers do not make all others near."""
FAINT = 0.1
"""Correlation with what is left open below which a number is not added by itself."""
LOOKED_AT = 20_000
"""Records on which a relation is looked for, drawn at random; what it restores is counted on all."""
MOST_NUMBERS = 12
"""Numbers that take part in a relation at most."""
RANKED = 2_000
"""Records that are ranked."""
SHOWN = 3
"""Values of a column below which it is taken for a category."""

YEAR = 365.2425
"""Days of a year."""


def arithmetic(seen: Published, without: Collection[str] = ()) -> list[Finding]:
    """Masked numbers that follow from numbers published as collected.

    >>> total, bonus = np.arange(60.0) ** 2, 400 * (np.arange(60.0) % 7)
    >>> columns = {"wage": total - bonus, "bonus": bonus, "total": total}
    >>> people = crypsis.Table.from_columns(columns, {"wage": "quasi", "bonus": "other", "total": "other"})
    >>> masked = crypsis.Microaggregation(k=5).mask(people, np.random.default_rng(0))
    >>> [each.columns for each in arithmetic(Published(masked, people))]
    [('bonus', 'total', 'wage')]
    """
    before = seen.original
    if before is None or seen.perturbed:
        return []
    collected = {name: numbers_as_tokens(before, name) for name in seen.columns if name in before.names}
    numbers = {name: column for name, column in collected.items() if column is not None}
    shown = [
        n for n in numbers if seen.as_collected[n].mean() >= MOSTLY and numbers_as_tokens(seen.table, n) is not None
    ]
    found, some = [], np.random.default_rng(0).permutation(len(before))[:LOOKED_AT]
    for target, values_of in numbers.items():
        masked = seen.masked_cells[target]
        others = [name for name in shown if name != target]
        if target in without or not others or not masked.any() or len(np.unique(values_of)) <= SHOWN:
            continue
        terms = _numbers(seen.table, others)
        values = np.stack([column for _, column in terms], axis=1)
        for scaled in (False, True):
            key = _relation(values_of[some], values[some], scaled)
            if key:
                hits = _is_restored(values_of, values[:, list(key)], scaled)
                count = int(np.sum(hits & masked))
                if count <= FEWEST:
                    continue
                names = tuple(dict.fromkeys(name for place in key for name in terms[place][0]))
                share = count / masked.sum()
                found.append(Finding(FindingKind.DEPENDENCE, (*names, target), count, share, by=len(names)))
                break
    return found


def _numbers(table: Table, names: Sequence[str]) -> list[tuple[tuple[str, ...], Floats]]:
    """The numbers of columns, and the days and whole years between each two that are dates.

    A stay of days between two dates goes with neither of them, and an age is whole years.
    """
    terms = list[tuple[tuple[str, ...], Floats]]()
    terms += [((name,), column) for name in names if (column := numbers_as_tokens(table, name)) is not None]
    days = {name: column for name in names if (column := days_as_tokens(table, name)) is not None}
    for first, second in combinations(days, 2):
        apart = np.abs(days[second] - days[first])
        terms += [((first, second), np.floor(apart / each)) for each in (1.0, YEAR)]
    return terms


def _relation(target: Floats, values: Floats, scaled: bool) -> tuple[int, ...]:
    """Places of few numbers from which a column follows; none if it does not.

    The number that goes best with what the chosen ones leave open is added, until the column follows; where none goes
    with it any more, all are tried together. Then those are dropped without which it still follows.
    """
    y, terms = _terms(target, scaled), np.stack([_terms(column, scaled) for column in values.T], axis=1)
    ranked, chosen = [Ranked.of(column) for column in terms.T], list[int]()
    while len(chosen) < min(MOST_NUMBERS, values.shape[1]):
        left = Ranked.of(_left_open(y, terms[:, chosen]))
        rest = [place for place in range(terms.shape[1]) if place not in chosen]
        close = [_tie(left, ranked[place]) for place in rest]
        if max(close) < FAINT:
            chosen = list(range(terms.shape[1]))
            if len(chosen) > MOST_NUMBERS or not _follows(target, values, chosen, scaled):
                return ()
            break
        chosen.append(rest[int(np.argmax(close))])
        if _follows(target, values, chosen, scaled):
            break
    else:
        return ()
    for place in tuple(chosen):
        fewer = [each for each in chosen if each != place]
        chosen = fewer if fewer and _follows(target, values, fewer, scaled) else chosen
    return tuple(sorted(chosen))


def _left_open(y: Floats, terms: Floats) -> Floats:
    """What a regression leaves of a column; NaN where a number is missing."""
    known = np.isfinite(y) & np.isfinite(terms).all(axis=1)
    left = np.full(len(y), np.nan)
    if known.sum() > terms.shape[1] + 1:
        design = np.column_stack([np.ones(int(known.sum())), terms[known]])
        left[known] = y[known] - design @ np.linalg.lstsq(design, y[known], rcond=None)[0]
    return left


def _follows(target: Floats, values: Floats, places: Sequence[int], scaled: bool) -> bool:
    """Whether more than half of what the best single guess leaves open is restored."""
    known = ~np.isnan(target)
    ordered = np.sort(target[known])
    ends = np.searchsorted(ordered, ordered + 2 * _near(target), side="right")
    common = (ends - np.arange(len(ordered))).max(initial=0) / max(len(ordered), 1)
    return bool(_is_restored(target, values[:, list(places)], scaled)[known].mean() - common > MOSTLY * (1.0 - common))


def _is_restored(target: Floats, values: Floats, scaled: bool) -> Flags:
    """bool[n]: numbers that a relation, fitted on the other half of the records, restores."""
    y, terms = _terms(target, scaled), np.stack([_terms(column, scaled) for column in values.T], axis=1)
    known = np.isfinite(y) & np.isfinite(terms).all(axis=1)
    hits = np.zeros(len(target), dtype=np.bool_)
    near = _near(target)
    half = np.random.default_rng(0).permutation(len(target)) % 2 == 0
    for fitted in (known & half, known & ~half):
        tried = known & ~fitted
        if fitted.sum() < 2 * (terms.shape[1] + 1) or not tried.any():
            return hits
        centre, spread = terms[fitted].mean(axis=0), terms[fitted].std(axis=0)
        design = np.column_stack([np.ones(len(y)), (terms - centre) / np.where(spread > 0, spread, 1.0)])
        weights = np.linalg.lstsq(design[fitted], y[fitted], rcond=None)[0]
        guess = design[tried] @ weights
        with np.errstate(over="ignore"):  # a guess beyond all numbers is near none
            hits[tried] = np.abs((np.exp(guess) if scaled else guess) - target[tried]) <= near
    return hits


def _near(target: Floats) -> float:
    """How far off a number is still restored."""
    low, high = np.nanpercentile(target, (25, 75))
    return EXACT * float((high - low) / QUARTILES if high > low else np.nanstd(target))


def _terms(column: Floats, scaled: bool) -> Floats:
    """The numbers, or the logarithms of those that have one."""
    if not scaled:
        return column
    return np.log(np.where(column > 0, column, np.nan))


@dataclass(frozen=True, eq=False)
class Ranked:
    """A column of numbers, and the ranks of its first records."""

    values: Floats
    finite: Flags
    ranks: Floats | None  # where no number is missing: otherwise they depend on what else is

    @classmethod
    def of(cls, values: Floats) -> Ranked:
        """The ranks of a column, worked out once for all others."""
        finite = np.isfinite(values)
        return cls(values, finite, rank_for_association(values[:RANKED]) if finite.all() else None)

    def among(self, known: Flags) -> tuple[Floats, Floats]:
        """The numbers of some records, and the ranks of the first of those."""
        if self.ranks is not None and known.all():
            return self.values, self.ranks
        return self.values[known], rank_for_association(self.values[known][:RANKED])


def _tie(one: Ranked, other: Ranked) -> float:
    """The larger of the correlation of two numbers and that of their ranks, which a few very large ones do not hide."""
    known = one.finite & other.finite
    pairs = zip(one.among(known), other.among(known), strict=True)
    return max(
        (abs(float(np.corrcoef(a, b)[0, 1])) for a, b in pairs if len(a) > 1 and a.std() and b.std()), default=0.0
    )


# -- Small averages: published numbers that are the mean or median of so few values that they give persons away.
#
# The mean of one value is the value. The mean of two gives each of the two persons the number of the other.

CLOSE = 1e-9
"""Relative difference at which a published number is still taken for an average."""


def small_averages(published: Table, original: Table, rows: NDArray[np.intp], least: int = 3) -> dict[str, Flags]:
    """Mark the published numbers that are averages of too few values.

    A cell is marked if it equals the mean or the median of the known original values of its class, and these are
    fewer than `least`. Two classes are looked at: the records that are published alike in every quasi-identifier,
    unless the column differs within one of these classes, so that it was not averaged over them; and the records
    published with the same number in the column itself, which finds columns that were averaged apart from the others.
    Where the provenance says that some columns were masked together and apart from the others, their classes take the
    place of those of all. A column as collected is no average and is left out.

    `rows` int[n]; returns bool[n].

    >>> original = Table.from_columns({"age": [20, 30, 40, 50, 60]}, roles={"age": "quasi"})
    >>> masked = original.with_columns({"age": np.array([25.0, 25, 50, 50, 50])})
    >>> small_averages(masked, original, np.arange(5))["age"].tolist()
    [True, True, False, False, False]
    """
    found: dict[str, Flags] = {}
    every = tuple(published.quasi_identifiers)
    known = {every: classes_of(published, every)}
    for name in published.names:
        if name not in original.names or not (published.holds_numbers(name) and original.holds_numbers(name)):
            continue
        collected, shown = original.column(name)[rows], published.column(name)
        if np.array_equal(collected, shown, equal_nan=True):
            continue
        digits = decimals(collected)
        written = digits if np.array_equal(np.round(shown, digits), shown, equal_nan=True) else None
        marks = np.zeros(len(shown), dtype=np.bool_)
        together = (
            tuple(each for each in every if each in _arithmetic_columns_masked_together(published, name)) or every
        )
        if together not in known:
            known[together] = classes_of(published, together)
        alike = [known[together]] if _constant(known[together], shown) else []
        for classes in (*alike, classes_of(published, [name])):
            marks |= _few(classes, collected, shown, written, least)
        found[name] = marks
    return found


def _arithmetic_columns_masked_together(published: Table, name: str) -> tuple[str, ...]:
    """For arithmetic: columns masked together with one and apart from the others, by provenance; empty without any."""
    return published.provenance.columns_masked_with(name) if published.provenance is not None else ()


def _constant(classes: EquivalenceClasses, shown: Floats) -> bool:
    """Whether no class has two different published values."""
    first = np.append(shown[classes.first], np.nan)[classes.of]
    return bool(np.all((shown == first) | (np.isnan(shown) & np.isnan(first)) | (classes.of < 0)))


def _few(classes: EquivalenceClasses, collected: Floats, shown: Floats, digits: int | None, least: int) -> Flags:
    """Cells that equal the mean or median of fewer than `least` known values of their class, rounded as they are."""
    known = ~np.isnan(collected) & (classes.of >= 0)
    values, labels = collected[known], classes.of[known]
    few = np.bincount(labels, minlength=classes.count) < least
    marks = np.zeros(len(shown), dtype=np.bool_)
    for averages, there in (
        calibration_means(values, labels, classes.count),
        calibration_medians(values, labels, classes.count, lower=False),
    ):
        rounded = averages if digits is None else np.round(averages, digits)
        equal = np.abs(np.append(rounded, np.nan)[classes.of] - shown) <= CLOSE * np.abs(shown)
        marks |= equal & np.append(few & there, False)[classes.of]
    return marks
