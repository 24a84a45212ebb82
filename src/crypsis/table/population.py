"""The population behind a file: weights, people counted or estimated there, individual risk, uniqueness.

A file is often a sample. How many people of the population share the values of a record is counted where the table is
the population and a column says who is in the file, and estimated where records have sampling weights: the sum of the
weights of the class. Without either, the class sizes and the sampling fraction alone say how many records may be
unique in the population.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.errors import TableError, unknown_column
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import MissingReading, alike_records
from crypsis.table.table import Table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

# -- Sampling weights: how many people of the population a record stands for.


def weight_column(table: Table, named: str = "") -> str:
    """The column of sampling weights: the one named, or the only one with that role; empty where there is none."""
    found = table.names_by_role(Role.WEIGHT)
    return named or (found[0] if len(found) == 1 else "")


def weight_obstacle(table: Table, named: str = "") -> str:
    """Why a table has no weights to read, in a sentence; empty if it has them, or none at all."""
    unknown = unknown_column([named] if named else [], table.names)
    if unknown:
        return unknown
    found = table.names_by_role(Role.WEIGHT)
    if not named and len(found) > 1:
        return f"{len(found)} columns have the role 'weight'; name the one that weighs records with 'weights'"
    name = weight_column(table, named)
    if not name:
        return ""
    if not table.holds_numbers(name):
        return f"column {name!r} holds no numbers and cannot weigh records; weigh them by a column of numbers"
    values = table.column(name)[table.kept]
    for odd, word in ((np.isnan(values), "missing"), (np.isinf(values), "infinite"), (values < 0, "negative")):
        if odd.any():
            return (
                f"column {name!r} has {int(odd.sum())} {word} weights, with which nobody can be counted in the "
                f"population; correct them, or give the column another role"
            )
    return ""


def record_weights(table: Table, named: str = "") -> Floats | None:
    """float64[n]: the published weight of each record; None where the table has no weights."""
    obstacle = weight_obstacle(table, named)
    if obstacle:
        raise TableError(obstacle)
    name = weight_column(table, named)
    return table.column(name).astype(np.float64) if name else None


# -- Members: a table that is the whole population, and a column that says who of it is in the file.


def population_member_obstacle(table: Table, member: str, present: str) -> str:
    """Population behind a file: why a column of its table cannot say who is in the file; empty if it can."""
    if member not in table.names:
        return (
            f"the table has no column {member!r} that says who is in the file; judge the whole population and name "
            f"that column with 'member'"
        )
    if table.holds_numbers(member):
        try:
            float(present)
        except ValueError:
            return f"column {member!r} is numeric, so 'present' must be a number (found {present!r})"
    elif present not in table.labels(member):
        return f"no category of column {member!r} is {present!r}; name it with 'present'"
    return ""


def find_members_of_population(table: Table, member: str, present: str) -> Flags:
    """bool[n]: in a table of the population behind a file, which people are in the file, by a column."""
    obstacle = population_member_obstacle(table, member, present)
    if obstacle:
        raise TableError(obstacle)
    column = table.column(member)
    if table.holds_numbers(member):
        return np.asarray(column == float(present))
    return np.asarray(column == table.labels(member).index(present))


# -- Both counts of a record: people alike in the file, and in the population.

Source = Literal["file", "weights", "population"]
"""Where the counts of the population come from: the file alone, the weights of its records, or a population."""


@dataclass(frozen=True, eq=False)
class PeopleCounts:
    """For every published record how many records of the file and how many people of the population are alike."""

    records: Floats  # float64[n]: f; NaN for a record that is not in the file
    people: Floats  # float64[n]: F, at least f; NaN likewise
    source: Source

    @property
    def inside(self) -> Flags:
        """bool[n]: records that are in the file."""
        return ~np.isnan(self.records)


def count_people_in_population(
    table: Table,
    names: Sequence[str],
    missing: MissingReading = "own",
    original: Table | None = None,
    *,
    weights: Floats | None = None,
    members: Flags | None = None,
) -> PeopleCounts:
    """The population behind a file: how many people are alike with each record, in the file and there.

    `weights` float64[n]; `members` bool[n]: who is in the file, where the table is the population.

    >>> people = Table.from_columns({"town": ["a", "a", "b"]}, {"town": "quasi"})
    >>> counted = count_people_in_population(people, ["town"], weights=np.array([10.0, 5, 20]))
    >>> counted.records.tolist(), counted.people.tolist(), counted.source
    ([2.0, 2.0, 1.0], [15.0, 15.0, 20.0], 'weights')
    """
    alike = alike_records(table, names, missing, original)
    if members is not None:
        records = alike_records(table, names, missing, original, members.astype(np.float64))
        return PeopleCounts(np.where(members, records, np.nan), np.where(members, alike, np.nan), "population")
    if weights is None:
        return PeopleCounts(alike, alike, "file")
    return PeopleCounts(alike, np.maximum(alike_records(table, names, missing, original, weights), alike), "weights")


# -- Individual risk (Benedetti and Franconi 1998): the expected 1/F of a class with f records and F people.
#
# F given f is negative binomial with p = f/F, so that r = E[1/F | f] = (p/f) 2F1(1, 1; f + 1; q), q = 1 − p. That is
# p · J_f with J_f = ∫ w^(f−1)/(p + q w) dw over [0, 1], of which a recurrence is stable where p ≤ 1/2; elsewhere, and
# for large f, the series of 2F1 converges in a few terms.

TERMS = 60
"""Terms of the series; for p > 1/2 the last is below 2⁻⁶⁰, for f ≥ 60 far below that."""


def individual_population_risks(records: Floats, people: Floats, approximate: bool = False) -> Floats:
    """Population behind a file: the individual risk at f records in the file and F people, as a formula.

    `records`, `people` float64[n]: f and F; an F below f is taken as f. With `approximate`, the form that sdcMicro
    uses by default: p/(f − q) from three records on. Evaluated once per distinct pair; returns float64[n].

    >>> individual_population_risks(np.array([1.0, 3.0]), np.array([17.0, 108.0])).round(8).tolist()
    [0.17707583, 0.01355297]
    >>> individual_population_risks(np.array([3.0]), np.array([108.0]), approximate=True).round(8).tolist()
    [0.01369863]
    """
    if not len(records):
        return np.empty(0)
    pairs, place = np.unique(np.stack([records, np.maximum(people, records)], axis=1), axis=0, return_inverse=True)
    f, p = pairs[:, 0], pairs[:, 0] / pairs[:, 1]
    q = 1.0 - p
    risks = np.where((p > 0.5) | (f >= TERMS), _by_series(f, p), _by_recurrence(f, np.minimum(p, 0.5)))
    if approximate:
        risks = np.where(f >= 3, p / (f - q), risks)
    return risks[place.ravel()]


def _by_series(f: Floats, p: Floats) -> Floats:
    """(p/f) Σ t, t_0 = 1, t_(m+1) = t_m (m + 1) q/(f + 1 + m); float64[pairs]."""
    term, total = np.ones(len(f)), np.ones(len(f))
    for m in range(TERMS):
        term = term * (m + 1) * (1.0 - p) / (f + 1 + m)
        total += term
    return p / f * total


def _by_recurrence(f: Floats, p: Floats) -> Floats:
    """p · J_f with J_1 = ln(1/p)/q, J_(j+1) = (1/j − p J_j)/q; of use for f < `TERMS`, p ≤ 1/2; float64[pairs]."""
    q = 1.0 - p
    j = -np.log(p) / q
    found = j.copy()
    for size in range(1, TERMS):
        j = (1.0 / size - p * j) / q
        found = np.where(f == size + 1, j, found)
    return p * found


def combine_population_risks(risks: Floats, unit: Integers) -> Floats:
    """Population behind a file: individual risks of a unit's records together, 1 − Π (1 − r).

    `risks` float64[n]; `unit` int64[n]: unit of each record from 0; returns float64[units].

    >>> combine_population_risks(np.array([0.5, 0.5, 1.0]), np.array([0, 0, 1])).tolist()
    [0.75, 1.0]
    """
    with np.errstate(divide="ignore"):
        kept = np.bincount(unit, weights=np.log1p(-risks), minlength=int(unit.max(initial=-1)) + 1)
    return -np.expm1(kept)


# -- Uniqueness in the population, from the class sizes of a sample and the sampling fraction.

Estimator = Literal["rule", "pitman", "zayatz", "snb"]
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)
SMALL_FRACTION = 0.1
"""Up to this sampling fraction the rule takes Pitman's model (Dankar et al. 2012)."""
EVEN = 1e-3
"""Below this α Pitman's first sum is added term by term."""
SOLVED = 1e-8
"""Largest residual of the two equations of the slide negative binomial that counts as a solution."""


@dataclass(frozen=True)
class ClassSizes:
    """How many classes of each size a sample has."""

    size: Floats  # float64[sizes], ascending
    classes: Floats  # float64[sizes]

    @classmethod
    def of(cls, sizes: NDArray[np.integer]) -> ClassSizes:
        """Count classes by their size.

        `sizes` int[classes].
        """
        held, count = np.unique(sizes[sizes > 0], return_counts=True)
        return cls(held.astype(np.float64), count.astype(np.float64))

    @property
    def records(self) -> float:
        """Records of the sample."""
        return float((self.size * self.classes).sum())

    @property
    def count(self) -> float:
        """Number of classes."""
        return float(self.classes.sum())

    def of_size(self, size: int) -> float:
        """Number of classes of one size."""
        return float(self.classes[self.size == size].sum())


def estimate_population_by_zayatz(sizes: ClassSizes, fraction: float) -> float:
    """Unique share of the population behind a file by the formula of Zayatz (1991), from class sizes.

    >>> round(estimate_population_by_zayatz(ClassSizes(np.array([1.0, 2.0]), np.array([2.0, 1.0])), 0.5), 4)  # 7/22
    0.3182
    """
    n, alone = sizes.records, sizes.of_size(1)
    if not alone:
        return 0.0
    people = n / fraction
    most = int(sizes.size[-1])
    drawn = np.arange(most - 1, dtype=np.float64)
    with np.errstate(divide="ignore"):  # P(exactly one of j is drawn) = j · n/N · Π (N − n − i)/(N − 1 − i)
        steps = np.log(np.maximum(people - n - drawn, 0.0)) - np.log(people - 1.0 - drawn)
    once = np.concatenate([[0.0], np.cumsum(steps)])[sizes.size.astype(np.int64) - 1]
    seen_once = sizes.size * fraction * np.exp(once)
    share = alone * fraction / float((sizes.classes * seen_once).sum())
    return min(1.0, alone * share / fraction / people)


@dataclass(frozen=True)
class PitmanModel:
    """Pitman's sampling formula fitted by maximum likelihood."""

    theta: float
    alpha: float

    def uniqueness(self, people: float) -> float:
        """Expected share of unique people in a population of a size."""
        log = scipy.special.gammaln(self.theta + 1.0) - scipy.special.gammaln(self.theta + self.alpha)
        return float(min(1.0, np.exp(log + (self.alpha - 1.0) * math.log(people))))


def fit_population_pitman(sizes: ClassSizes) -> PitmanModel | None:
    """The population behind a file: fit Pitman's θ and α to class sizes, None where no α solves the equations."""
    n, u, digamma = sizes.records, sizes.count, scipy.special.digamma
    if not 1 < u < n:
        return None

    def inverse_sum(theta: float, alpha: float) -> float:
        """Σ over i = 1 … u − 1 of 1/(θ + i α)."""
        if alpha < EVEN:
            return float((1.0 / (theta + alpha * np.arange(1.0, u))).sum())
        return float((digamma(u + theta / alpha) - digamma(1.0 + theta / alpha)) / alpha)

    def theta_of(alpha: float) -> float | None:
        def first(log: float) -> float:
            theta = math.exp(log) - alpha
            return inverse_sum(theta, alpha) - float(digamma(n + theta) - digamma(1.0 + theta))

        low, high = -20.0, 1.0
        while first(high) > 0:
            if high > 60:
                return None
            low, high = high, high + 5.0
        while first(low) < 0:
            if low < -600:
                return None
            low -= 20.0
        return math.exp(scipy.optimize.brentq(first, low, high, xtol=1e-14, rtol=1e-15)) - alpha

    def second(alpha: float) -> float:
        theta = theta_of(alpha)
        if theta is None:
            return math.nan
        left = (u - 1.0 - theta * inverse_sum(theta, alpha)) / alpha
        return left - float((sizes.classes * (digamma(sizes.size - alpha) - digamma(1.0 - alpha))).sum())

    ends = (1e-6, 1.0 - 1e-6)
    values = [second(end) for end in ends]
    if not values[0] * values[1] < 0:
        return None
    alpha = scipy.optimize.brentq(second, *ends, xtol=1e-14, rtol=1e-14)
    theta = theta_of(alpha)
    return None if theta is None else PitmanModel(theta, alpha)


def estimate_population_by_pitman(sizes: ClassSizes, fraction: float) -> float | None:
    """Unique share of the population behind a file by Pitman's model (Hoshino 2001), from class sizes."""
    if not sizes.of_size(1):
        return 0.0
    model = fit_population_pitman(sizes)
    return None if model is None else model.uniqueness(sizes.records / fraction)


def estimate_population_by_snb(sizes: ClassSizes, fraction: float) -> float | None:
    """Unique share of the population behind a file (Chen and Keller-McNulty 1998), from class sizes.

    The size of a class of the population is one more than a negative binomial number with parameters a and b; the
    number of classes is that of Shlosser, and a and b give as many classes of one and of two as the sample has.
    """
    once, twice, u, n = sizes.of_size(1), sizes.of_size(2), sizes.count, sizes.records
    if not once:
        return 0.0
    if not twice or fraction >= 1.0:
        return once / n if fraction >= 1.0 else None
    j, c, rest = sizes.size, sizes.classes, 1.0 - fraction
    ratio = (j * fraction**2 * (1 - fraction**2) ** (j - 1) * c).sum()
    ratio /= (rest**j * ((1 + fraction) ** j - 1) * c).sum()
    inner = (rest**j * c).sum() / (j * fraction * rest ** (j - 1) * c).sum()
    log_classes, log_part = math.log(u + once * ratio * inner**2), math.log(fraction)

    def miss(point: Floats) -> list[float]:
        a, log_b = math.exp(point[0]), -float(np.logaddexp(0.0, -point[1]))
        log_c = -float(np.logaddexp(0.0, point[1]))  # ln(1 − b)
        d = rest * math.exp(log_c)
        one = log_classes + log_part + a * (log_b - math.log1p(-d)) + math.log1p(a * d / (1 - d))
        two = log_classes + 2 * log_part - math.log(2) + point[0] + log_c + a * log_b
        two += math.log(2 - (1 - a) * d) - (a + 2) * math.log1p(-d)
        return [one - math.log(once), two - math.log(twice)]

    for log_a in (-5.0, -3.0, -1.0, 0.0, 1.0, 3.0):
        for logit in (-6.0, -4.0, -2.0, 0.0, 2.0):
            bounds = ((-14.0, -30.0), (14.0, 30.0))
            try:
                found = scipy.optimize.least_squares(
                    miss, (log_a, logit), bounds=bounds, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200
                )
            except (ValueError, OverflowError):
                continue
            if float(np.abs(found.fun).max()) < SOLVED:
                log_unique = log_classes - math.exp(found.x[0]) * float(np.logaddexp(0.0, -found.x[1]))
                return float(min(1.0, math.exp(log_unique) * fraction / n))
    return None


@dataclass(frozen=True)
class PopulationEstimates:
    """Estimated shares of the population that are unique, by every estimator; None where one does not fit."""

    zayatz: float
    pitman: float | None
    snb: float | None
    chosen: Estimator  # the estimator whose figure the rule takes
    fraction: float
    sample: float  # share of the sample that is unique in it

    @property
    def rule(self) -> float:
        """The figure of the estimator that the rule takes."""
        found: float | None = getattr(self, self.chosen)
        return self.zayatz if found is None else found


def estimate_uniqueness_behind_file(sizes: ClassSizes, fraction: float) -> PopulationEstimates:
    """The population behind a file: all estimates of its uniqueness, and the rule of Dankar et al. (2012).

    No record alone: nobody is unique. A fraction up to 0.1: Pitman, or Zayatz where Pitman does not fit. A larger one:
    the smaller of Zayatz and the slide negative binomial.
    """
    by_zayatz, by_pitman, by_snb = (
        estimate_population_by_zayatz(sizes, fraction),
        estimate_population_by_pitman(sizes, fraction),
        estimate_population_by_snb(sizes, fraction),
    )
    chosen: Estimator = "zayatz"
    if fraction <= SMALL_FRACTION:
        chosen = "zayatz" if by_pitman is None else "pitman"
    elif by_snb is not None and by_snb < by_zayatz:
        chosen = "snb"
    alone = sizes.of_size(1) / sizes.records if sizes.records else 0.0
    return PopulationEstimates(by_zayatz, by_pitman, by_snb, chosen, fraction, alone)


def population_fraction_obstacle(table: Table, given: float | None) -> str:
    """Population behind a file: why the table tells no sampling fraction, in a sentence; empty if it does."""
    found = table.names_by_role(Role.WEIGHT)
    if given is not None:
        return ""
    if len(found) == 1:
        return weight_obstacle(table)
    said = f"{len(found)} columns have the role 'weight'" if found else "nothing says how large the population is"
    return f"{said}; give the share of it that is in the file with 'fraction', or one column the role 'weight'"


def sampling_fraction(table: Table, given: float | None) -> float | None:
    """The fraction of the population that is in the file: as given, or records over the sum of their weights."""
    if given is not None:
        return given
    held = record_weights(table)
    if held is None:
        return None
    total = float(held[table.kept].sum())
    records = int(table.kept.sum())
    return min(1.0, records / total) if total > 0 else 1.0


def believed_population_count(k: int, fraction: float, significance: float) -> int:
    """Population behind a file: the fewest records of a class from which k people of it are believed there.

    The smallest c with P(X ≥ c | X ≥ 1) ≤ significance for X Poisson with mean k · fraction: were the class smaller
    than k in the population, so many records would hardly have been drawn. A class is seen only if one of it was drawn,
    so that a single record is never evidence.

    >>> believed_population_count(5, 0.1, 0.05), believed_population_count(5, 0.001, 0.05)
    (3, 2)
    """
    poisson, count = scipy.stats.poisson(k * fraction), 1
    while count < k and poisson.sf(count - 1) > significance * poisson.sf(0):
        count += 1
    return count
