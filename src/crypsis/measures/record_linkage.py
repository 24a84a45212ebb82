"""Distance-based record linkage: an intruder holds the original and looks for each person in the masked file.

The intruder links every known record to the nearest published one. If t published records are equally near the
intruder can only guess, so the right one among them counts 1/t. The rate of a blind guess is given beside the rate.
Where records of people outside the file are given, so is the control: the rate scaled by how often the attack claims
those people. A control near the rate means that the attack does not distinguish members from others.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import ClassVar, Literal

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.measures.intervals import score_interval
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, measures
from crypsis.measures.mixed_distance import MISSING_LINKS, LinkagePair
from crypsis.measures.pairing import check_rows
from crypsis.pieces import Pieces, completed
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.scaling import Scaling
from crypsis.table.table import Table

Ties = Literal["expected", "first", "strict"]

CLAIMED, CLAIMED_OUTSIDE = "claimed of members, %", "claimed of outsiders, %"
MOST_MEMBERS = 5_000
"""Members on whom the frequency of claims is measured: evenly spaced rows, all of them in a smaller file."""


@measures.add("record-linkage")
class RecordLinkage(Measure):
    """Share of people an intruder with the original finds again in the masked file.

    100 times the share of original records whose nearest published record is their own masked one; numbers are
    scaled by the original column, ordinal categories count ranks, a nominal or generalised value adds 1 unless it
    equals or contains the original; t equally near records are worth 1/t if the right one is among them (ties
    'first': the lowest row is taken; 'strict': a tie is a miss); the control rate is this rate times how often the
    attack would claim people outside the file, relative to people in it.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.RecordLinkage().against(original).read(masked), 2)
    100.0

    Notes
    -----
    - Formula: 100 · share of records whose nearest published record is their own
    - Paper: Pagliuca and Seri (1999); Domingo-Ferrer and Torra (2001)
    - Cost: O(n log n) with a kd-tree, O(n²) at worst
    - Departures: t equally near records count 1/t (decision 0003); baseline and control beside it
    """

    aim: ClassVar[Aim] = "risk"

    scaling: Scaling = Field(default="z", description="scale of numbers: population deviation, range, or none")
    ties: Ties = Field(
        default="expected",
        description="what a tie of t records is worth: 1/t, a hit if the right one has the lowest row, or nothing",
    )
    sample: int = Field(
        default=0,
        ge=0,
        description="people drawn at random to be looked for among all published records, for tables too large to look "
        "for everybody; the interval covers the uncertainty of the draw; 0 or more than there are: everybody",
    )

    def against(self, original: Table) -> BoundRecordLinkage:
        return BoundRecordLinkage.of(self, original)


class BoundRecordLinkage(BoundColumns[RecordLinkage]):
    """Record linkage bound to what the intruder knows."""

    @cached_property
    def people(self) -> NDArray[np.int64]:
        """Rows of the people who are looked for: all, or a draw that depends on nothing but the two numbers."""
        rows, wanted = self.original.rows, self.measure.sample
        if not 0 < wanted < rows:
            return np.arange(rows)
        return np.sort(default_rng([wanted, rows]).choice(rows, wanted, replace=False))

    def credits(self, masked: Table) -> NDArray[np.float64]:
        """What the attack earns on each record of `people`: 0 to 1."""
        return completed(self._earning(masked))

    def _earning(self, masked: Table) -> Pieces[NDArray[np.float64]]:
        [pair] = yield [partial(self._meet, masked, self.original)]
        return (yield from _crediting(pair, self.measure.ties, self.people))

    def read(self, masked: Table) -> float:
        return completed(self.scoring(masked))

    def scoring(self, masked: Table) -> Pieces[float]:
        """`read` in pieces, since all records are looked for."""
        return 100.0 * float((yield from self._earning(masked)).mean())

    def explain(self, masked: Table, control: Table | None = None) -> Reading:
        """The rate with its interval and baseline, and the control rate where outsiders are given."""
        return completed(self.explaining(masked, control))

    def explaining(self, masked: Table, control: Table | None = None) -> Pieces[Reading]:
        """`explain` in pieces, since all records are looked for."""
        [pair] = yield [partial(self._meet, masked, self.original)]
        earned = yield from _crediting(pair, self.measure.ties, self.people)
        return (yield [partial(self._explained, masked, control, pair, earned)])[0]  # type: ignore[no-any-return]

    def _explained(
        self, masked: Table, control: Table | None, pair: LinkagePair, earned: NDArray[np.float64]
    ) -> Reading:
        published = int(masked.kept.sum())
        rate, baseline = float(earned.mean()), 100.0 / published if published else 0.0
        interval = self._interval(masked, earned)
        claims = {} if control is None else self._claims(masked, control, pair, earned)
        counts = {
            "records": len(earned),
            **({"records in all": self.original.rows} if len(earned) < self.original.rows else {}),
            "published": published,
            "expected hits": float(earned.sum()),
            "certain hits": int((earned == 1.0).sum()),
            **claims,
        }
        return self.measure.reading(
            100.0 * rate,
            self.names,
            MISSING_LINKS,
            counts,
            interval=interval,
            baseline=baseline,
            control=_transferred(100.0 * rate, claims) if claims else None,
            warning=_warning(100.0 * rate, interval, baseline, published),
        )

    def _interval(self, masked: Table, earned: NDArray[np.float64]) -> tuple[float, float]:
        """Of a draw, where the whole file would lie; of everybody, where another file of such people would."""
        largest = self.largest_credit(masked)
        if len(earned) < self.original.rows:
            return score_interval(earned, population=self.original.rows, largest=largest)
        classes = equivalence_classes(masked.codes(self.names))
        # A suppressed record is in no class.
        groups = np.where(masked.kept, classes.of, classes.count + np.arange(len(earned)))
        return score_interval(earned, groups=groups, largest=largest)

    def largest_credit(self, masked: Table) -> float:
        """The most the attack can earn on a record: where it splits ties, 1/t with the t records of a class."""
        sizes = equivalence_classes(masked.codes(self.names), masked.kept).sizes
        return 1.0 / float(sizes.min()) if self.measure.ties == "expected" and len(sizes) else 1.0

    def _meet(self, masked: Table, known: Table) -> LinkagePair:
        check_rows(self.original.rows, masked)
        return LinkagePair.between(self.original, known, masked, self.names, self.measure.scaling)

    def _claims(
        self, masked: Table, control: Table, members: LinkagePair, earned: NDArray[np.float64]
    ) -> dict[str, float]:
        """How often the attack would claim a member and an outsider, accepting links as near as right ones are."""
        if not control.rows:
            raise TableError("the control table has no records; give people who are not in the file, or leave it out")
        if not earned.any():
            return {CLAIMED: 0.0, CLAIMED_OUTSIDE: 0.0}
        accepted = float(np.quantile(members.own_distance()[self.people][earned > 0], 0.95))
        some = np.unique(np.linspace(0, len(earned) - 1, min(len(earned), MOST_MEMBERS)).astype(np.int64))
        outsiders = LinkagePair.between(self.original, control, masked, self.names, self.measure.scaling)
        return {
            CLAIMED: 100.0 * _claimed(members.about(self.people[some]), accepted, self.measure.ties),
            CLAIMED_OUTSIDE: 100.0 * _claimed(outsiders, accepted, self.measure.ties),
        }


def _claimed(pair: LinkagePair, accepted: float, rule: Ties) -> float:
    """The mean worth of links to the nearest published record that lie within the accepted distance."""
    distance = pair.nearest()
    near = np.where(distance <= accepted * (1 + 1e-12) + 1e-12, distance, np.nan)
    return float(_fitness(pair.ties(near)[0], rule).mean())


def _transferred(rate: float, claims: dict[str, float]) -> float:
    """The rate that would be read off outsiders, were claims about them right as often as claims about members."""
    return rate * min(claims[CLAIMED_OUTSIDE] / claims[CLAIMED], 1.0) if claims[CLAIMED] > 0 else 0.0


def _fitness(ties: NDArray[np.int64], rule: Ties) -> NDArray[np.float64]:
    """The value of a link among t equally near ones; 0 where there is none. The first of several is one link."""
    if rule == "expected":
        return np.asarray((ties > 0) / np.maximum(ties, 1), dtype=np.float64)
    return np.asarray(ties > 0 if rule == "first" else ties == 1, dtype=np.float64)


def _crediting(pair: LinkagePair, rule: Ties, people: NDArray[np.int64]) -> Pieces[NDArray[np.float64]]:
    """What the attack earns on each of some people, in pieces."""
    if not pair.kept.any():
        return np.zeros(len(people))
    [distance] = yield [lambda: pair.own_distance()[people]]
    some = pair if len(people) == len(pair.points) else pair.about(people)
    ties, lowest = yield from some.tying(distance)
    if rule == "first":
        return np.asarray(lowest == people, dtype=np.float64)
    return _fitness(ties, rule)


def _warning(rate: float, interval: tuple[float, float], baseline: float, published: int) -> str:
    if not published:
        return "every record is suppressed; nothing was published that could be linked"
    if interval[0] <= baseline:
        return (
            f"the rate ({rate:.3g} %) is not distinguishable from the baseline ({baseline:.3g} %); that is no proof "
            f"that other attacks fail"
        )
    return ""
