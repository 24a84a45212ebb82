"""The frontier: the non-dominated candidates found so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from crypsis.evolution.problem import Genome, Scores
from crypsis.kernels import dominance


@dataclass(frozen=True, eq=False)
class Frontier:
    """Genomes none of which dominates another, in the order of entry.

    The box of a score s is ⌈s / side⌉; for an index I that is maximised, given as s = −I, it is −⌊I / side⌋.

    >>> front = Frontier().offer(np.array([0]), (1.0, 2.0)).offer(np.array([1]), (2.0, 1.0))
    >>> len(front.offer(np.array([2]), (2.0, 2.0)))
    2
    """

    genomes: tuple[Genome, ...] = ()
    # float64[n, m]: their scores, minimised
    scores: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    # () for plain dominance, or the side length of a box along each objective: at most one member per box, and no
    # member in a dominated box, so that the number of members is bounded
    boxes: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.genomes)

    def box(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Boxes of scores.

        `scores` float64[m].
        """
        return np.ceil(scores / np.array(self.boxes)) if self.boxes else scores

    def offer(self, genome: Genome, scores: Scores) -> Frontier:
        """The frontier after one more candidate."""
        row = np.array(scores, dtype=np.float64)
        if not np.isfinite(row).all():
            return self
        if not len(self):
            return replace(self, genomes=(genome,), scores=row[None, :])
        stay, enters = dominance.admit(self.scores, self.box(self.scores), row, self.box(row))
        if not enters and stay.all():
            return self
        genomes = tuple(g for g, s in zip(self.genomes, stay, strict=True) if s)
        kept = self.scores[stay]
        if enters:
            genomes, kept = (*genomes, genome), np.vstack([kept, row])
        return replace(self, genomes=genomes, scores=kept)

    def offer_all(self, candidates: Iterable[tuple[Genome, Scores]]) -> Frontier:
        """The frontier after several candidates."""
        frontier = self
        for genome, scores in candidates:
            frontier = frontier.offer(genome, scores)
        return frontier

    def hypervolume(self, reference: Iterable[float]) -> float:
        """Volume dominated by the frontier and bounded by a reference point."""
        if not len(self):
            return 0.0
        import moocore  # slow to import and rarely needed

        return float(moocore.hypervolume(self.scores, ref=list(reference)))


# -- What each of several sources contributes to a common front: its points, and the hypervolume lost without it.


@dataclass(frozen=True)
class Contribution:
    """The part of one source in a common front."""

    name: str  # the source
    offered: int  # its points
    points: int  # those on the common front
    lost: float  # share of the front's hypervolume that is lost without all its points, per cent


def rank_frontier_contributions(names: Sequence[str], scores: NDArray[np.float64]) -> list[Contribution]:
    """Rank named sources by the hypervolume that a frontier of candidates would lose without each.

    The volume is bounded by the worst score of any point on each axis, a little enlarged, so that the ends of the
    front count as well; of equal points the first alone is on the front.

    `scores` float64[n, m].

    >>> found = rank_frontier_contributions(["a", "b", "b"], np.array([[0.0, 4.0], [4.0, 0.0], [4.0, 4.0]]))
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


def spread_frontier_positions(scores: NDArray[np.float64], known: NDArray[np.bool_], most: int) -> list[int]:
    """Positions of unknown candidates that show the shape of a frontier.

    The best row of each column, the knee, then always the row farthest from the chosen ones; of equal rows the first,
    so that the choice is the same on every machine.

    `scores` float64[n, m]; `known` bool[n].
    """
    if not len(scores) or known.all() or most <= 0:
        return []
    low, high = scores.min(axis=0), scores.max(axis=0)
    points = (scores - low) / np.where(high > low, high - low, 1.0)
    corners = [int(np.argmin(column)) for column in points.T] + [int(np.argmin(points.sum(axis=1)))]
    chosen = list(dict.fromkeys(place for place in corners if not known[place]))[:most]
    taken = known.copy()
    taken[chosen] = True
    gap = np.full(len(points), np.inf)
    for place in np.flatnonzero(taken):
        gap = np.minimum(gap, ((points - points[place]) ** 2).sum(axis=1))
    while len(chosen) < most and not taken.all():
        farthest = int(np.argmax(np.where(taken, -1.0, gap)))
        chosen.append(farthest)
        taken[farthest] = True
        gap = np.minimum(gap, ((points - points[farthest]) ** 2).sum(axis=1))
    return chosen
