"""What each of several sources contributes to a common front: its points, and the hypervolume lost without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.evolution.frontier import Frontier


@dataclass(frozen=True)
class Contribution:
    """The part of one source in a common front.

    name     the source
    offered  its points
    points   those on the common front
    lost     share of the front's hypervolume that is lost without all its points, per cent
    """

    name: str
    offered: int
    points: int
    lost: float


def contributions(names: Sequence[str], scores: NDArray[np.float64]) -> list[Contribution]:
    """What each source contributes, the most missed first.

    The volume is bounded by the worst score of any point on each axis, a little enlarged, so that the ends of the
    front count as well; of equal points the first alone is on the front.

    Parameters
    ----------
    names : sequence of str
        Source of each point.
    scores : float64[n, m]
        The points, all minimised.

    Returns
    -------
    list of Contribution

    Examples
    --------
    >>> found = contributions(["a", "b", "b"], np.array([[0.0, 4.0], [4.0, 0.0], [4.0, 4.0]]))
    >>> [(each.name, each.offered, each.points, round(each.lost)) for each in found]
    [('a', 1, 1, 50), ('b', 2, 1, 50)]
    """
    if not len(names):
        return []
    low, high = scores.min(axis=0), scores.max(axis=0)
    reference = high + 0.01 * np.where(high > low, high - low, 1.0)
    whole = _front(range(len(names)), scores)
    volume = whole.hypervolume(reference)
    found = []
    for name in dict.fromkeys(names):
        rest = _front([place for place, other in enumerate(names) if other != name], scores)
        points = sum(names[int(genome[0])] == name for genome in whole.genomes)
        lost = 100.0 * (1.0 - rest.hypervolume(reference) / volume) if volume > 0 else 0.0
        found.append(Contribution(name, list(names).count(name), points, max(lost, 0.0)))
    return sorted(found, key=lambda each: (-each.lost, -each.points, each.name))


def _front(places: Sequence[int] | range, scores: NDArray[np.float64]) -> Frontier:
    return Frontier().offer_all((np.array([place]), tuple(scores[place].tolist())) for place in places)
