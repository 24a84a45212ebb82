"""The evolution of masked files: breed one file or two, and let each child compete with its own parent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.evolution.selection import leaders, roulette, turned
from crypsis.kernels import ledger as kernels
from crypsis.kernels.mutations import moves
from crypsis.measures.measure import Measure
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.maskings.files import Allowed, Files, seven
from crypsis.searches.maskings.settings import MaskingEvolution
from crypsis.table.table import Table

Floats = NDArray[np.float64]

CANDIDATES = 8
"""Records an aimed change looks at before it takes the last one."""
GOALS = {"mean": (0.0, 1.0, 1.0, 1.0), "max": (1.0, 1.0, 1.0, 0.0), "front": (1.0, 1.0, 1.0, 1.0)}
"""Weight of the greater side, slopes of loss and risk, weight of their mean: see `kernels.ledger.fitness`."""
NEIGHBOURS = 8
"""Files on nearby rays with which a file is crossed under `front`."""


@dataclass(frozen=True, eq=False)
class MaskingResult:
    """A population before and after.

    readings_before, readings  float64[N, 7]: the seven measures of each file
    pairs_before, pairs        float64[N, 2]: mean loss and mean risk
    history                    float64[h, 4]: generation, and largest, mean and smallest score
    tried, kept                how many mutations (changes of a cell) and crossovers (children) there were, and survived
    left_out                   files of the population that broke a constraint and took no part
    """

    files: Files
    settings: MaskingEvolution
    readings_before: Floats
    readings: Floats
    pairs_before: Floats
    pairs: Floats
    history: Floats
    tried: dict[str, int]
    kept: dict[str, int]
    left_out: int

    @property
    def scores_before(self) -> Floats:
        return plain_scores(self.pairs_before, self.settings.score)

    @property
    def scores(self) -> Floats:
        return plain_scores(self.pairs, self.settings.score)

    @property
    def best(self) -> int:
        """The file of smallest score (under `front`: of smallest maximum)."""
        return int(np.argmin(self.scores))

    def table(self, who: int) -> Table:
        """A file of the final population."""
        return self.files.table(who)

    def front(self) -> NDArray[np.int64]:
        """Files no other file beats in both loss and risk, by growing loss."""
        order = np.lexsort((self.pairs[:, 1], self.pairs[:, 0]))
        lowest = np.minimum.accumulate(np.concatenate([[np.inf], self.pairs[order, 1]]))[:-1]
        return np.asarray(order[self.pairs[order, 1] < lowest], dtype=np.int64)


def plain_scores(pairs: Floats, score: str) -> Floats:
    """Equation 1 (mean) or Equation 2 (maximum) of loss and risk."""
    return np.asarray(pairs.mean(axis=1) if score == "mean" else pairs.max(axis=1))


def rays(pairs: Floats) -> Floats:
    """float64[N, 2]: slopes of loss and risk for rays evenly spread between the two axes, nearest files in order."""
    angles = (np.arange(len(pairs)) + 0.5) / len(pairs) * (np.pi / 2)
    slopes = np.empty_like(pairs)
    slopes[np.argsort(np.arctan2(pairs[:, 1], pairs[:, 0]), kind="stable")] = np.stack(
        [1.0 / np.cos(angles), 1.0 / np.sin(angles)], axis=1
    )
    return slopes


def evolve_maskings(
    original: Table,
    population: Sequence[Table],
    settings: MaskingEvolution,
    rng: Generator,
    measures: Sequence[Measure] | None = None,
    columns: Sequence[str] = (),
    models: Sequence[PrivacyModel] = (),
    allowed: Allowed | None = None,
) -> MaskingResult:
    """Improve masked files of one original by mutation, crossover and deterministic crowding.

    population  masked tables with the original's rows; those that break a constraint take no part
    measures    what is weighed; all seven if none are given
    columns     what is evolved; every categorical quasi-identifier if none are named
    models      privacy models every file must keep satisfying
    allowed     which combinations of labels a record may hold, beside `settings.forbidden`
    →           no file is worse than it was: its score (under `front`: along its own ray) never grows
    """
    files = Files(original, population, seven(measures), columns, settings.forbidden, allowed, models)
    return Evolution(files, settings, rng).run()


class Evolution:
    """One run over a population; the files change in place."""

    def __init__(self, files: Files, settings: MaskingEvolution, rng: Generator) -> None:
        self.files, self.settings, self.rng = files, settings, rng
        self.tried = {"mutation": 0, "crossover": 0}
        self.kept = {"mutation": 0, "crossover": 0}
        goals = np.tile(GOALS[settings.score], (len(files), 1))
        if settings.score == "front":
            goals[:, 1:3] = rays(files.pairs)
        files.trial.goals[: len(files)] = goals

    def run(self) -> MaskingResult:
        files, settings = self.files, self.settings
        readings, pairs = files.readings.copy(), files.pairs.copy()
        history = [self._line(0)]
        for generation in range(1, settings.generations + 1):
            if settings.score == "front" and generation % len(files) == 1:
                self._share()
            self._breed()
            if generation % settings.record == 0 or generation == settings.generations:
                history.append(self._line(generation))
        return MaskingResult(
            files, settings, readings, files.readings.copy(), pairs, files.pairs.copy(), np.array(history),
            self.tried, self.kept, files.left_out,
        )  # fmt: skip

    def _line(self, generation: int) -> tuple[float, ...]:
        scores = plain_scores(self.files.pairs, self.settings.score)
        return generation, float(scores.max()), float(scores.mean()), float(scores.min())

    # -- who breeds --

    def _weights(self, scores: Floats) -> Floats:
        if self.settings.score == "front":
            return np.ones(len(scores))
        if self.settings.selection == "inverse":
            return np.asarray(1.0 / np.maximum(scores, 1e-9))
        return scores.copy() if self.settings.selection == "printed" else turned(scores)

    def _breed(self) -> None:
        """A batch of breedings among files none of which takes part twice."""
        scores = plain_scores(self.files.pairs, self.settings.score)
        weights = self._weights(scores)
        leading = leaders(scores, max(2, int(self.settings.leaders * len(scores))))
        for _ in range(self.settings.batch):
            free = int((weights > 0).sum())
            if not free:
                return
            if free > 1 and self.rng.random() < self.settings.crossover_rate:
                first, second = self._couple(weights, leading)
                weights[[first, second]] = 0.0
                self._cross(first, second)
            else:
                who = int(roulette(weights, 1, self.rng)[0])
                weights[who] = 0.0
                self._mutate(who)

    def _couple(self, weights: Floats, leading: NDArray[np.int64]) -> tuple[int, int]:
        """One of the leaders and one by roulette; under `front`, any file and one from a nearby ray."""
        if self.settings.score == "front":
            first = int(roulette(weights, 1, self.rng)[0])
            goals = self.files.trial.goals[self.files.slot]
            angle = np.arctan2(goals[:, 1], goals[:, 2])
            apart = np.where(weights > 0, np.abs(angle - angle[first]), np.inf)
            apart[first] = np.inf
            near = np.argsort(apart, kind="stable")[: min(NEIGHBOURS, int(np.isfinite(apart).sum()))]
            return first, int(near[self.rng.integers(len(near))])
        free = leading[weights[leading] > 0]
        first = int(free[self.rng.integers(len(free))]) if len(free) else int(roulette(weights, 1, self.rng)[0])
        rest = weights.copy()
        rest[first] = 0.0
        return first, int(roulette(rest, 1, self.rng)[0])

    def _share(self) -> None:
        """Under `front`: whoever is beaten on its own ray by another file starts again from that file."""
        files = self.files
        pairs, goals = files.pairs.copy(), files.trial.goals[files.slot]
        for who in range(len(files)):
            fitnesses = np.array([kernels.fitness(loss, risk, goals[who]) for loss, risk in pairs])
            best = int(np.argmin(fitnesses))
            if fitnesses[best] < fitnesses[who]:
                files.adopt(who, best)
                pairs[who] = pairs[best]

    # -- how --

    def _mutate(self, who: int) -> None:
        files, slot = self.files, self.files.slot[who]
        frame, tallies, trial = files.stack.frame, files.stack.tallies, files.trial
        draws = self.rng.random((self.settings.strokes, 4 + CANDIDATES))
        chosen = moves(frame, tallies, trial, slot, draws, self.settings.aimed)
        self.tried["mutation"] += len(chosen)
        if not files.models:
            self.kept["mutation"] += int(kernels.attempts(frame, tallies, trial, slot, chosen))
            return
        for move in chosen:
            row, before = int(move[0]), tallies.codes[slot, move[0]].copy()
            readings, pair = trial.readings[slot].copy(), trial.pairs[slot].copy()
            if not kernels.attempts(frame, tallies, trial, slot, move[None, :]):
                continue
            if files.fits(slot):
                self.kept["mutation"] += 1
            else:
                files.stack.amend(slot, row, before)
                trial.readings[slot], trial.pairs[slot] = readings, pair

    def _cross(self, first: int, second: int) -> None:
        """Two-point crossover of flattened files; each child against its own parent."""
        files, cells = self.files, self.files.context.codes.size
        start = int(self.rng.integers(cells))
        end = int(self.rng.integers(start, min(cells, start + max(1, int(self.settings.longest * cells)))))
        for parent, mate, slot in zip((first, second), (second, first), list(files.spare[:2]), strict=True):
            files.cross(parent, mate, slot, start, end)
        for parent, slot in zip((first, second), list(files.spare[:2]), strict=True):
            self.tried["crossover"] += 1
            if self._beats(slot, files.slot[parent]) and files.fits(slot):
                files.take_over(parent, slot)
                self.kept["crossover"] += 1

    def _beats(self, child: int, parent: int) -> bool:
        trial = self.files.trial
        now, before = (kernels.fitness(loss, risk, trial.goals[parent]) for loss, risk in trial.pairs[[child, parent]])
        return bool(now < before or (now == before and trial.pairs[child].sum() < trial.pairs[parent].sum()))
