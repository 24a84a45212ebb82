"""Masked files of one's own, improved: the search in one call, and what it did to the whole population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.masked_file import MaskedFileEncoding
from crypsis.evolution.loop import evolve
from crypsis.evolution.state import State
from crypsis.searches.maskings.masking_search import MaskingSearch
from crypsis.searches.maskings.posing import Aims, pose_maskings
from crypsis.searches.maskings.strategy import MaskingStrategy
from crypsis.table.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MaskingResult:
    """A population before and after.

    encoding  how a genome becomes a table
    settings  how the files were bred
    before, after  the first population, whole, and the last
    history  float64[h, 4]: generation, and largest, mean and smallest score
    left_out  files of the population that broke a constraint and took no part
    """

    encoding: MaskedFileEncoding = field(repr=False)
    settings: MaskingSearch
    before: State = field(repr=False)
    after: State = field(repr=False)
    history: Floats = field(repr=False)
    left_out: int

    @property
    def pairs_before(self) -> Floats:
        """float64[N, 2]: mean loss and mean risk of each file at first."""
        return self.before.scores

    @property
    def pairs(self) -> Floats:
        """float64[N, 2]: mean loss and mean risk of each file."""
        return self.after.scores

    @property
    def scores_before(self) -> Floats:
        """Score of each file at first."""
        return plain_scores(self.pairs_before, self.settings.score)

    @property
    def scores(self) -> Floats:
        """Score of each file."""
        return plain_scores(self.pairs, self.settings.score)

    @property
    def tried(self) -> dict[str, int]:
        """How many mutations and crossovers had a child."""
        return self._counted("created")

    @property
    def kept(self) -> dict[str, int]:
        """How many of the children took their parent's place."""
        return self._counted("survived")

    def _counted(self, what: str) -> dict[str, int]:
        tally = self.after.tally
        return dict(zip(tally.names, tally.column(what).sum(axis=0).astype(int).tolist(), strict=True))

    @property
    def best(self) -> int:
        """The file of smallest score (under `front`: of smallest maximum)."""
        return int(np.argmin(self.scores))

    def table(self, who: int) -> Table:
        """A file of the final population."""
        return self.encoding.decode(self.after.genomes[who])

    def front(self) -> NDArray[np.int64]:
        """Files no other file beats in both loss and risk, by growing loss."""
        order = np.lexsort((self.pairs[:, 1], self.pairs[:, 0]))
        lowest = np.minimum.accumulate(np.concatenate([[np.inf], self.pairs[order, 1]]))[:-1]
        return np.asarray(order[self.pairs[order, 1] < lowest], dtype=np.int64)


def plain_scores(pairs: Floats, score: str) -> Floats:
    """Equation 1 (mean) or Equation 2 (maximum) of loss and risk."""
    return np.asarray(pairs.mean(axis=1) if score == "mean" else pairs.max(axis=1))


def evolve_maskings(
    original: Table,
    population: Sequence[Table],
    settings: MaskingSearch,
    rng: Generator,
    aims: Aims | None = None,
    every: int = 10,
) -> MaskingResult:
    """Improve masked files of one original by mutation, crossover and deterministic crowding.

    Parameters
    ----------
    original : Table
        The table before masking.
    population : sequence of Table
        Masked tables with the original's rows; those that break a constraint take no part.
    settings : MaskingSearch
        How files are bred, and for how many generations; what it says of a start has no part in this.
    rng : Generator
        All chance.
    aims : Aims, optional
        What is minimised and kept.
    every : int
        The scores of all files are written down every so many generations.

    Returns
    -------
    MaskingResult
        No file is worse than it was: its score (under `front`: along its own ray) never grows.
    """
    problem = pose_maskings(original, population, settings, rng, aims)
    history, before = [], None
    for state in evolve(problem, rng, settings.budget()):
        if not state.whole:
            continue
        before = before or state
        if state.generation % every == 0 or state.generation == settings.generations:
            scores = plain_scores(state.scores, settings.score)
            history.append((state.generation, scores.max(), scores.mean(), scores.min()))
    assert before is not None
    left_out = len(population) - len(before.genomes)
    encoding = cast(MaskingStrategy, problem.strategy).constraints.encoding
    return MaskingResult(encoding, settings, before, state, np.array(history), left_out)
