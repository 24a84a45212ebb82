"""The best seen so far when there is more than one way to be best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from crypsis.evolution.problem import Genome, Scores
from crypsis.kernels import dominance


@dataclass(frozen=True, eq=False)
class Frontier:
    """Genomes none of which dominates another, in order of entry.

    scores  float64[n, m], minimised
    boxes   () for plain dominance, or the side length of a box along each objective: at most one member per
            box, boxes that another box dominates are empty, and the number of members is bounded. The box of
            a score s is ⌈s / side⌉, so that for an index I to be maximised, given as s = −I, it is −⌊I / side⌋.
    """

    genomes: tuple[Genome, ...] = ()
    scores: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    boxes: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.genomes)

    def box(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Box numbers of one row or of many."""
        return np.ceil(scores / np.array(self.boxes)) if self.boxes else scores

    def offer(self, genome: Genome, scores: Scores) -> Frontier:
        """The frontier after one more candidate; itself if nothing changed."""
        row = np.array(scores, dtype=np.float64)
        if not np.isfinite(row).all():
            return self
        if not len(self):
            return replace(self, genomes=(genome,), scores=row[None, :])
        stay, enters = dominance.update(self.scores, self.box(self.scores), row, self.box(row))
        if not enters and stay.all():
            return self
        genomes = tuple(g for g, s in zip(self.genomes, stay, strict=True) if s)
        kept = self.scores[stay]
        if enters:
            genomes, kept = (*genomes, genome), np.vstack([kept, row])
        return replace(self, genomes=genomes, scores=kept)

    def offer_all(self, candidates: Iterable[tuple[Genome, Scores]]) -> Frontier:
        frontier = self
        for genome, scores in candidates:
            frontier = frontier.offer(genome, scores)
        return frontier

    def scaled(self) -> NDArray[np.float64]:
        """Scores between the front's own best (0) and worst (1) on each objective; 0 where all agree."""
        low, high = self.scores.min(axis=0), self.scores.max(axis=0)
        return np.asarray((self.scores - low) / np.where(high > low, high - low, 1.0))

    def knee(self) -> int:
        """Position of the member farthest from the plane through the extremes, on the side of the ideal point."""
        if not len(self):
            raise IndexError("an empty frontier has no knee")
        return int(np.argmin(self.scaled().sum(axis=1)))

    def hypervolume(self, reference: Iterable[float]) -> float:
        """Volume dominated by the front and bounded by the reference point."""
        if not len(self):
            return 0.0
        import moocore  # slow to import, and most runs never ask

        return float(moocore.hypervolume(self.scores, ref=list(reference)))
