"""What the searches of a run gain: the hypervolume their points add, by the time they take.

For the schedule losses and risks count by their logarithm: half the loss at a small risk is worth as much as half the
loss at a large one. On a linear scale nearly all of the square lies beyond what anybody would choose.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

REFERENCE = 100.0
"""Loss and risk, per cent, that bound the hypervolume."""
FINE = 0.5
"""Per cent of loss or risk below which differences count as they are, and above which by their ratio."""
UNKNOWN = 0.3
"""Share of the time of a search after which its front is measured again."""
PATIENCE = 1.5
"""Seconds a search may take before its gain counts: long walks gain late."""
SHARE_OF_PATIENCE = 0.4
"""Share of a budget that the patience with all searches may take together."""
FLOOR = 0.15
"""Share of an equal share of the time below which no search falls."""


class Found(NamedTuple):
    """What a run has found so far.

    points  points of the front of loss and risk
    loss, risk  the least of each among the points that may be released; NaN if there is none
    hypervolume  share of the square of loss and risk that the front dominates, 0 to 1
    still  seconds since the front last moved
    """

    points: int = 0
    loss: float = float("nan")
    risk: float = float("nan")
    hypervolume: float = 0.0
    still: float = 0.0


@dataclass
class Outlook:
    """The front of loss and risk among the points that may be released, and when it last moved."""

    front: list[tuple[float, float]] = field(default_factory=list)
    """(loss, risk), least loss first."""
    volume: float = 0.0
    worth: float = 0.0
    moved: float = 0.0

    def add(self, loss: float | None, risk: float | None, now: float) -> float:
        """Take a point in; returns the hypervolume it adds, of logarithms."""
        if loss is None or risk is None:
            return 0.0
        place = bisect_left(self.front, (loss, risk))
        if (place and self.front[place - 1][1] <= risk) or (loss, risk) in self.front[place : place + 1]:
            return 0.0
        end = place
        while end < len(self.front) and self.front[end][1] >= risk:
            end += 1
        self.front[place:end] = [(loss, risk)]
        before, self.worth = self.worth, hypervolume([(relative(loss), relative(risk)) for loss, risk in self.front])
        self.volume, self.moved = hypervolume(self.front), now
        return self.worth - before

    def found(self, now: float) -> Found:
        """What has been found."""
        if not self.front:
            return Found(still=now)
        least, safest = self.front[0][0], self.front[-1][1]
        return Found(len(self.front), least, safest, self.volume, max(0.0, now - self.moved))


def relative(figure: float) -> float:
    """A loss or risk on a scale of logarithms that also goes from 0 to 100."""
    return REFERENCE * math.log1p(max(figure, 0.0) / FINE) / math.log1p(REFERENCE / FINE)


def hypervolume(front: Sequence[tuple[float, float]]) -> float:
    """Share of the square of loss and risk that a front dominates.

    Parameters
    ----------
    front : sequence of (float, float)
        Loss and risk in per cent, least loss first, none dominated.

    Returns
    -------
    float
        0 to 1.

    Examples
    --------
    >>> hypervolume([(0.0, 50.0), (50.0, 0.0)])
    0.75
    """
    total, right = 0.0, REFERENCE
    for loss, risk in reversed(front):
        if loss < right and risk < REFERENCE:
            total += (right - max(loss, 0.0)) * (REFERENCE - max(risk, 0.0))
            right = max(loss, 0.0)
    return total / REFERENCE**2


@dataclass
class Gains:
    """Gain and time of one search, stretch by stretch: from one measured point to the next.

    total  time it has taken
    seconds  time since the last measured point
    stretches  (time and gain) of the stretches, in order
    """

    total: float = 0.0
    seconds: float = 0.0
    stretches: list[tuple[float, float]] = field(default_factory=list)

    def spent(self, seconds: float) -> None:
        """Time the search took for a step."""
        self.total += seconds
        self.seconds += seconds

    def measured(self, gain: float) -> None:
        """Points were measured: a stretch ends."""
        self.stretches.append((self.seconds, gain))
        self.seconds = 0.0

    @property
    def rate(self) -> float:
        """Hypervolume per second over the second half of the time up to the last measured point; infinite before one.

        What it did since then is not known yet; `overdue` says when that should be measured.
        """
        if not self.stretches:
            return float("inf")
        time, gained, measured = 0.0, 0.0, self.total - self.seconds
        for seconds, gain in reversed(self.stretches):
            if time >= measured / 2:
                break
            time, gained = time + seconds, gained + gain
        return gained / max(time, 1e-6)

    @property
    def overdue(self) -> bool:
        """Whether so much of its time has passed since the last measured point that its gain is not known."""
        return self.seconds >= UNKNOWN * self.total


def next_in_turn(gains: Sequence[Gains], patience: float = PATIENCE) -> int:
    """Whose turn it is: who has had least, up to the patience or the floor; else who gains most for its time.

    Parameters
    ----------
    gains : sequence of Gains
        Of the searches that can go on.
    patience : float
        Seconds that every search gets before its gain counts.

    Returns
    -------
    int
        The first of equals.

    Examples
    --------
    >>> quick, slow = Gains(10.0, 0.0, [(5.0, 0.1), (5.0, 0.5)]), Gains(10.0, 0.0, [(5.0, 0.5), (5.0, 0.1)])
    >>> next_in_turn([slow, quick]), next_in_turn([quick, Gains(0.1, 0.0, [(0.1, 0.0)])])
    (1, 1)
    """
    total = sum(each.total for each in gains)
    places = range(len(gains))
    poorest = min(places, key=lambda place: gains[place].total)
    if gains[poorest].total < max(patience, FLOOR * total / len(gains)):
        return poorest
    return max(places, key=lambda place: (gains[place].rate, -gains[place].total))


# -- Progress of a run.


@dataclass(frozen=True)
class Progress:
    """One step of a run.

    Attributes
    ----------
    what : str
        "posed", "generation", "measured" or "baseline"; "measuring" and "making" for those not complete yet.
    title : str
        The search or baseline.
    generation, evaluations, front : int
        Generation, candidates scored and size of the front of the search.
    best : float
        Best fitness of the search.
    seconds : float
        Seconds charged to the budget, over all sessions.
    used : float
        Share of the budget, 0 to 1.
    compiling : float
        Seconds of this session spent compiling kernels, which are not charged.
    beyond : float
        Seconds beyond the budget, for a first solution that may be released.
    found : Found
        What all searches have found so far.
    """

    what: str
    title: str
    generation: int = 0
    evaluations: int = 0
    front: int = 0
    best: float = math.nan
    seconds: float = 0.0
    used: float = 0.0
    compiling: float = 0.0
    beyond: float = 0.0
    found: Found = Found()  # noqa: RUF009 - immutable
