"""What the searches of a run gain: the hypervolume their points add, by the time they take."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

REFERENCE = 100.0
"""Loss and risk, per cent, that bound the hypervolume."""
PATIENCE = 2.0
"""Seconds a search may take before its first gain."""
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
    moved: float = 0.0

    def add(self, loss: float | None, risk: float | None, now: float) -> float:
        """Take a point in; returns the hypervolume it adds."""
        if loss is None or risk is None:
            return 0.0
        place = bisect_left(self.front, (loss, risk))
        if (place and self.front[place - 1][1] <= risk) or (loss, risk) in self.front[place : place + 1]:
            return 0.0
        end = place
        while end < len(self.front) and self.front[end][1] >= risk:
            end += 1
        self.front[place:end] = [(loss, risk)]
        before, self.volume = self.volume, hypervolume(self.front)
        self.moved = now
        return self.volume - before

    def found(self, now: float) -> Found:
        """What has been found."""
        if not self.front:
            return Found(still=now)
        least, safest = self.front[0][0], self.front[-1][1]
        return Found(len(self.front), least, safest, self.volume, max(0.0, now - self.moved))


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
    """Gain and time of one search, from one measured point to the next.

    seconds  time since the last measured point
    rate  hypervolume per second of the last stretch
    """

    total: float = 0.0
    seconds: float = 0.0
    gained: float = 0.0
    stretch: float = 0.0
    ever: bool = False

    def spent(self, seconds: float) -> None:
        """Time the search took for a step."""
        self.total += seconds
        self.seconds += seconds

    def measured(self, gain: float) -> None:
        """Points were measured: a stretch ends."""
        self.gained, self.stretch, self.seconds = gain, max(self.seconds, 1e-6), 0.0
        self.ever = self.ever or gain > 0

    @property
    def rate(self) -> float:
        """Hypervolume per second to be expected: that of the last stretch, less once this one takes longer.

        Infinite before a first point, and for a while before a first gain: the first points of a search may not be
        releasable yet.
        """
        if not self.stretch or (not self.ever and self.total < PATIENCE):
            return float("inf")
        return self.gained / max(self.stretch, self.seconds)


def next_in_turn(gains: Sequence[Gains]) -> int:
    """Whose turn it is: who has had less than the floor, else who gains most for its time; of equals the first.

    Examples
    --------
    >>> quick, slow = Gains(10.0, 0.0, 0.5, 1.0), Gains(10.0, 0.0, 0.1, 1.0)
    >>> next_in_turn([slow, quick]), next_in_turn([quick, Gains(0.1, 0.0, 0.0, 1.0)])
    (1, 1)
    """
    total = sum(each.total for each in gains)
    places = range(len(gains))
    poorest = min(places, key=lambda place: gains[place].total)
    if gains[poorest].total < FLOOR * total / len(gains):
        return poorest
    return max(places, key=lambda place: (gains[place].rate, -gains[place].total))
