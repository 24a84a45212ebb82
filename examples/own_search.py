"""A search of your own: how coarse must each column be? One level is changed at a time, and the best are kept."""

from dataclasses import dataclass

import numpy as np

import crypsis
from crypsis.encodings.generalisation import LevelEncoding, levels_key
from crypsis.evolution import Application, Elitist, Problem
from crypsis.evolution.selection import DominanceOrder
from crypsis.searches.search import ObjectiveScores, searches


@dataclass(frozen=True)
class Step:  # another level for one column
    heights: tuple[int, ...]
    name: str = "step"
    arity: int = 1

    def apply(self, parents, rng):
        place, child = rng.integers(len(self.heights)), parents[0].copy()
        child[place] = rng.integers(self.heights[place] + 1)
        return [child]


@searches.add("one-level")
class OneLevel(crypsis.PbgEaSearch):  # takes over the encoding, and when the search does not suit a table
    def problem(self, encoding: LevelEncoding, objective, rng) -> Problem:
        heights = tuple(encoding.lattice.heights)
        start = tuple(np.array([rng.integers(h + 1) for h in heights], dtype=np.int16) for _ in range(8))
        strategy = Elitist(8, (Application(Step(heights), 8),), order=DominanceOrder())
        return Problem(levels_key, strategy, start, ObjectiveScores(encoding, objective), ("loss", "risk"))


figures = {"loss": ["information-loss"], "risk": ["class-risk"], "guide": True}  # what guides the search
people = crypsis.example(300).drop(["education", "marital", "occupation", "hours"])
with crypsis.evolve(people, OneLevel(), crypsis.KAnonymity(k=5), "20 generations", seed=1, measures=figures) as run:
    print(run.front.frame.select("number", "method", "loss", "risk", "k", "suppressed"))
