"""The same search as pieces for the shared loop: a space of masked files, two operators, and quick scores.

The genome is int32[n, p]: the masked codes in the numbering of `CategoryContext`. `evolve_maskings` is the swifter way;
this one resumes, checkpoints and runs on engines like every other search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.masked_file import masked_file_key
from crypsis.evolution.problem import Child, Engine, Genome, Problem, Scores
from crypsis.evolution.selection import FitnessFunction, WeightedMean, Worst, turned
from crypsis.evolution.state import State
from crypsis.evolution.strategies import Crowding
from crypsis.kernels import ledger as kernels
from crypsis.measures.categorical_ledger import Seven, Stack
from crypsis.measures.categories import Pairing
from crypsis.measures.measure import Measure
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.maskings.files import Allowed, Files, seven
from crypsis.searches.maskings.settings import MaskingEvolution
from crypsis.table.table import Table

Floats = NDArray[np.float64]

TRIES = 20
"""How often an operator looks for a child that keeps the constraints before it gives back its parent."""


@dataclass(frozen=True, eq=False)
class MaskingSpace:
    """Masked files of one original, with what they may not hold."""

    files: Files

    def decode(self, genome: Genome) -> Table:
        return self.files.decode(np.asarray(genome, dtype=np.int32))

    def holds(self, genome: Genome) -> bool:
        """Whether a file keeps every constraint."""
        allowed, strides = self.files.trial.allowed, self.files.trial.strides
        if len(allowed) and not allowed[genome @ strides].all():
            return False
        return all(model.judge(self.decode(genome)).holds for model in self.files.models)


@dataclass(frozen=True)
class OneCell:
    """One cell becomes another valid category."""

    space: MaskingSpace = field(repr=False)
    name: str = "mutation"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        sizes = self.space.files.context.sizes
        for _ in range(TRIES):
            child = parents[0].copy()
            row, j = int(rng.integers(len(child))), int(rng.integers(len(sizes)))
            others = [code for code in range(sizes[j]) if code != child[row, j]]
            if others:
                child[row, j] = others[int(rng.integers(len(others)))]
                if self.space.holds(child):
                    return [child]
        return [parents[0].copy()]


@dataclass(frozen=True)
class TwoPoint:
    """Two files exchange the cells between two points of the flattened file."""

    space: MaskingSpace = field(repr=False)
    name: str = "crossover"
    arity: int = 2

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        cells = parents[0].size
        start = int(rng.integers(cells))
        end = int(rng.integers(start, cells)) + 1
        children = [parents[0].copy(), parents[1].copy()]
        for child, mate in zip(children, (parents[1], parents[0]), strict=True):
            child.ravel()[start:end] = mate.ravel()[start:end]
        return [c if self.space.holds(c) else p.copy() for c, p in zip(children, parents, strict=True)]


@dataclass(frozen=True, eq=False)
class FullScores:
    """Loss and risk of a file, counted afresh."""

    pairing: Pairing
    measured: Seven

    def __call__(self, genome: Genome) -> Scores:
        stack = Stack(self.pairing, self.measured, 1)
        stack.fill(0, np.ascontiguousarray(genome, dtype=np.int32))
        loss, risk = kernels.halves(stack.read(0), stack.frame.chosen)
        return float(loss), float(risk)


class FollowedScores:
    """Loss and risk of children from their parents' tallies: the same values, sooner."""

    def __init__(self, pairing: Pairing, measured: Seven, size: int) -> None:
        self._stack = Stack(pairing, measured, size)
        self._places: dict[bytes, int] = {}

    def __call__(self, children: Sequence[Child], state: State, engine: Engine) -> list[Scores]:
        alive = {*state.keys, *(child.key for child in children)}
        self._places = {key: place for key, place in self._places.items() if key in alive}
        free = [place for place in range(len(self._stack.tallies.gap)) if place not in self._places.values()]
        scores: list[Scores] = []
        for child in children:
            if child.key not in self._places:
                parent = state.keys[child.parents[0]] if child.parents else b""
                self._count(child.genome, self._places.get(parent), free[-1])
                self._places[child.key] = free.pop()
            readings = self._stack.read(self._places[child.key])
            loss, risk = kernels.halves(readings, self._stack.frame.chosen)
            scores.append((float(loss), float(risk)))
        return scores

    def _count(self, genome: Genome, parent: int | None, place: int) -> None:
        codes = np.ascontiguousarray(genome, dtype=np.int32)
        if parent is not None:
            rows = np.flatnonzero((self._stack.tallies.codes[parent] != codes).any(axis=1))
            if len(rows) <= len(codes) // 4:
                self._stack.copy(parent, place)
                for row in rows:
                    self._stack.amend(place, int(row), codes[row])
                return
        self._stack.fill(place, codes)


def pose_maskings(
    original: Table,
    population: Sequence[Table],
    settings: MaskingEvolution,
    measures: Sequence[Measure] | None = None,
    columns: Sequence[str] = (),
    models: Sequence[PrivacyModel] = (),
    allowed: Allowed | None = None,
    followed: bool = True,
) -> Problem:
    """The paper's search for the shared loop: objectives loss and risk, crowding by their mean or maximum.

    followed  score children from their parents' tallies, here; else count each afresh, wherever the engine puts it
              (a batch of disjoint parents keeps several workers busy), with the same values
    Of the settings, `strokes` and `aimed` belong to `evolve_maskings`; `front` weighs like `max` here, and the loop's
    own frontier keeps the front.
    """
    measured = seven(measures)
    files = Files(original, population, measured, columns, settings.forbidden, allowed, models)
    space = MaskingSpace(files)
    pairing = Pairing(files.context, files.codes(0), files.spans, original.kept)
    fitness: FitnessFunction = WeightedMean() if settings.score == "mean" else Worst()
    weights = {"turned": turned, "inverse": inverse, "printed": printed}[settings.selection]
    strategy = Crowding(
        mutation=OneCell(space),
        crossover=TwoPoint(space),
        crossover_rate=settings.crossover_rate,
        times=settings.batch,
        leaders=max(2, int(settings.leaders * len(files))),
        fitness=fitness,
        weights=weights,
    )
    return Problem(
        key=masked_file_key,
        strategy=strategy,
        start=tuple(files.codes(who).copy() for who in range(len(files))),
        evaluate=FullScores(pairing, measured),
        objectives=("loss", "risk"),
        assess=FollowedScores(pairing, measured, 2 * len(files) + 2 * settings.batch) if followed else None,
        remember=4 * len(files),
    )


def inverse(fitness: Floats) -> Floats:
    """Weights of a roulette: one over the worth."""
    return np.asarray(1.0 / np.maximum(fitness, 1e-9))


def printed(fitness: Floats) -> Floats:
    """Equation 3 as printed, which favours the worse."""
    return fitness.copy()
