"""Operators on nodes of a lattice: random nodes, one-point crossover, steps of one level, exchanges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.generalisation import LevelEncoding
from crypsis.engines import Engine, Serial
from crypsis.errors import PlanError, listing, suggestion
from crypsis.evolution import Child, Genome, Operator, Problem, Scores, State, Streams
from crypsis.evolution.problem import SELECTION
from crypsis.evolution.selection import FitnessFunction
from crypsis.evolution.strategies import Generations, empty_state
from crypsis.kernels.arrays import Floats
from crypsis.kernels.dominance import undominated
from crypsis.kernels.nodes import DEMANDED, NodeReadings
from crypsis.measures.measure import BoundMeasure
from crypsis.pieces import Pieces, Underway
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.lattices.evaluation import LatticeContext
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table


def draw_nodes(lattice: Lattice, rng: Generator, size: int) -> list[Genome]:
    """Random nodes."""
    heights = np.array(lattice.heights)
    return [rng.integers(0, heights + 1).astype(np.int16) for _ in range(size)]


def first_nodes(lattice: Lattice, rng: Generator, size: int) -> tuple[Genome, ...]:
    """Random nodes with the fully special and the fully general one among them."""
    ends = [np.array(lattice.bottom, dtype=np.int16), np.array(lattice.top, dtype=np.int16)]
    return (*ends, *draw_nodes(lattice, rng, max(size - 2, 0)))


@dataclass(frozen=True)
class OnePoint(Operator):
    """Swap what follows a random cut."""

    name: str = "crossover"
    arity: int = 2

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        first, second = parents
        if len(first) < 2:
            return [first.copy(), second.copy()]
        cut = int(rng.integers(1, len(first)))
        return [np.concatenate([first[:cut], second[cut:]]), np.concatenate([second[:cut], first[cut:]])]


@dataclass(frozen=True)
class LevelStep(Operator):
    """Each level goes one up or one down with probability `rate`, kept inside its hierarchy."""

    heights: tuple[int, ...]
    rate: float
    name: str = "step"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        (node,) = parents
        moves = (rng.random(len(node)) < self.rate) * rng.choice((-1, 1), size=len(node))
        return [np.clip(node + moves, 0, self.heights).astype(np.int16)]


@dataclass(frozen=True)
class Exchange(Operator):
    """One attribute up and another down: the same privacy paid for elsewhere."""

    heights: tuple[int, ...]
    name: str = "exchange"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        up = np.flatnonzero(child < np.array(self.heights))
        down = np.flatnonzero(child > 0)
        if len(up) and len(down):
            child[rng.choice(down)] -= rng.integers(1, 3)
            child[rng.choice(up)] += rng.integers(1, 3)
        return [np.clip(child, 0, self.heights).astype(np.int16)]


# -- Quality indices of nodes, all to be maximised as in PBG: worst cases, spreads, and losses turned round.

Favour = Literal["many", "few"]

INDICES = ("k", "l", "information", "glm", "cm", "s_k", "s_l")
"""k and l: the smallest class and the fewest confidential values; s_k and s_l: Σ over records of class size and of how
often their confidential value occurs in their class; information, glm and cm: how far the loss stays below its largest
value."""


def check_indices(names: Sequence[str], confidential: str | None, label: str | None) -> None:
    """Refuse indices that do not exist or that the table cannot give."""
    for name in names:
        if name not in INDICES:
            raise PlanError(f"there is no index {name!r}{suggestion(name, INDICES)}; known: {listing(INDICES)}")
        if name in ("l", "s_l") and not confidential:
            raise PlanError(
                f"index {name!r} needs a confidential column and there is none; give one the role 'confidential'"
            )
        if name == "cm" and not label:
            raise PlanError("index 'cm' needs a label to predict; name a column as label")
    if {"information", "glm"} <= set(names):
        raise PlanError("a front has one loss: choose the index 'information' or 'glm'")


def quality(
    readings: NodeReadings, names: Sequence[str], records: int, attributes: int, favour: Favour = "many"
) -> Floats:
    """Indices of nodes, to be maximised.

    Parameters
    ----------
    readings : NodeReadings
        What was read off the nodes.
    names : sequence of str
        Which indices.
    records, attributes : int
        Of the table.
    favour : str
        "many" takes a large s_l as good, as the paper's maximisation does; "few" turns it round, since a value that
        fills a class protects nobody in it.

    Returns
    -------
    ndarray of shape (nodes, indices)
    """
    columns: dict[str, Floats] = {
        "k": readings.k.astype(np.float64),
        "l": readings.l.astype(np.float64),
        "information": records * attributes - readings.loss,
        "glm": records * attributes - readings.loss,
        "cm": (records - readings.misfits).astype(np.float64),
        "s_k": readings.size_sum.astype(np.float64),
        "s_l": readings.value_sum.astype(np.float64),
    }
    if favour == "few":
        columns["s_l"] = float(records) ** 2 - columns["s_l"]
    return np.stack([columns[name] for name in names], axis=1)


def ceilings(names: Sequence[str], records: int, attributes: int) -> tuple[float, ...]:
    """The largest value each index can take."""
    cells = float(records * attributes)
    highest = {"information": cells, "glm": cells, "s_k": float(records) ** 2, "s_l": float(records) ** 2}
    return tuple(max(highest.get(name, float(records)), 1.0) for name in names)


@dataclass(frozen=True)
class Wanting:
    """Worth of indices turned round: how far they stay below their ceilings on average, per cent."""

    ceilings: tuple[float, ...]

    def __call__(self, scores: Floats) -> Floats:
        return np.asarray(100.0 * (1.0 + scores / np.array(self.ceilings)).mean(axis=1))


def minimal(indices: Floats) -> NDArray[np.bool_]:
    """Which rows no other row dominates; of equal rows the first alone.

    Parameters
    ----------
    indices : ndarray of shape (nodes, indices)
        All to be maximised.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> minimal(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])).tolist()
    [True, True, False]
    """
    scores = np.ascontiguousarray(-indices)
    return undominated(scores, np.lexsort(scores.T[::-1]))


def boxes(indices: Floats, sides: Sequence[float]) -> Floats:
    """The box of every row under a discretisation vector."""
    return np.asarray(np.floor(indices / np.array(sides)))


def convergence_error(found: Floats, truth: Floats) -> float:
    """CE: Σ over nodes found of the distance to the nearest true minimal node; indices over their largest in truth.

    Parameters
    ----------
    found, truth : ndarray of shape (nodes, indices)
        Indices of the nodes found and of the true front.

    Returns
    -------
    float
    """
    scale = np.where(truth.max(axis=0) > 0, truth.max(axis=0), 1.0)
    a, b = found / scale, truth / scale
    return float(np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)).min(axis=1).sum())


def representation_ratio(found: Floats, truth: Floats, sides: Sequence[float]) -> float:
    """RR: share of truth's non-dominated boxes that hold something found.

    Parameters
    ----------
    found, truth : ndarray of shape (nodes, indices)
        Indices of the nodes found and of the true front.
    sides : sequence of float
        Side of a box along each index.

    Returns
    -------
    float
    """
    marked = boxes(truth, sides)
    marked = marked[minimal(marked)]
    occupied = {tuple(row) for row in boxes(found, sides).tolist()}
    return sum(tuple(row) in occupied for row in marked.tolist()) / max(len(marked), 1)


# -- How nodes are scored: by quality indices, by a demand, or under any privacy models.


def node_genome(context: LatticeContext, number: int) -> Genome:
    """The levels of a node."""
    return np.array(context.lattice.levels(number), dtype=np.int16)


@dataclass(frozen=True, eq=False)
class IndexScores:
    """Quality indices of a node, turned round to be minimised."""

    context: LatticeContext = field(repr=False)
    rule: int
    allowance: int
    indices: tuple[str, ...]
    favour: Favour

    def __call__(self, genome: Genome) -> Scores:
        read = self.context.reading([int(level) for level in genome], self.rule, self.allowance)
        found = quality(read, self.indices, self.context.total, len(self.context.lattice.names), self.favour)
        return tuple(float(-value) for value in found[0])

    @property
    def fitness(self) -> Wanting:
        """One number for how good a node is, to be watched while the search runs."""
        return Wanting(ceilings(self.indices, self.context.total, len(self.context.lattice.names)))

    def everywhere(self) -> NDArray[np.float64]:
        """float64[nodes, indices]: the indices of all nodes, to be maximised."""
        return self._quality(self.context.readings(self.rule, self.allowance))

    def _quality(self, read: NodeReadings) -> NDArray[np.float64]:
        return quality(read, self.indices, self.context.total, len(self.context.lattice.names), self.favour)

    def front(self) -> Pieces[tuple[Genome, ...]]:
        """Every node that no other one dominates, all nodes judged, in pieces."""
        read = yield from self.context.judging(self.rule, self.allowance)
        [best] = yield [lambda: np.flatnonzero(minimal(self._quality(read)))]
        return tuple(node_genome(self.context, int(number)) for number in best)


@dataclass(frozen=True, eq=False)
class DemandScores:
    """(loss, shortfall): mean loss and records suppressed beyond the limit, per cent; no loss is finite beyond it.

    Exactly the classes that fail the demanded k and l are suppressed.
    """

    context: LatticeContext = field(repr=False)
    allowance: int
    k: int
    l: int  # noqa: E741

    def __call__(self, genome: Genome) -> Scores:
        read = self.context.reading(
            [int(level) for level in genome], DEMANDED, self.allowance, self.k, self.l, strict=True
        )
        records, cells = self.context.total, self.context.total * len(self.context.lattice.names)
        beyond = max(0, int(read.suppressed[0]) - self.allowance)
        if not int(read.classes[0]):
            beyond = records  # an empty table is no answer
        return (np.inf, 100.0 * beyond / records) if beyond else (100.0 * float(read.loss[0]) / cells, 0.0)

    def best(self) -> Pieces[tuple[Genome, ...]]:
        """The node of least loss within the limit, every node judged, in pieces; of equals the one of lower number."""
        read = yield from self.context.judging(DEMANDED, self.allowance, self.k, self.l, prune=self.k)
        feasible = (read.classes > 0) & (read.suppressed <= self.allowance)
        return (node_genome(self.context, int(np.argmin(np.where(feasible, read.loss, np.inf)))),)


@dataclass(frozen=True, eq=False)
class ModelScores:
    """(loss, shortfall) under any privacy models: every record that fails one of them is suppressed.

    A model whose threshold moves with the rest of the table is asked again until it holds.
    """

    encoding: LevelEncoding
    models: tuple[PrivacyModel, ...]
    loss: BoundMeasure
    allowance: int

    def __call__(self, genome: Genome) -> Scores:
        masked = self.suppressed(genome)
        beyond = max(0, int((self.encoding.table.kept & ~masked.kept).sum()) - self.allowance)
        if not masked.kept.any():
            beyond = len(masked)
        return (np.inf, 100.0 * beyond / len(masked)) if beyond else (self.loss.read(masked), 0.0)

    def suppressed(self, genome: Genome) -> Table:
        """The table at the node without the records that fail a model."""
        masked = self.encoding.generalised(genome)
        while masked.kept.any():
            failing = np.zeros(len(masked), dtype=np.bool_)
            for model in self.models:
                if not model.judge(masked).holds:
                    levels = model.levels(masked)
                    with np.errstate(invalid="ignore"):
                        failing |= levels < model.required if model.sense == "at least" else levels > model.required
            if not failing.any():
                break
            masked = masked.without(failing)
        return masked


# -- The strategy of a search whose first population is its whole answer.


@dataclass(eq=False)
class Answer:
    """Genomes that are worked out when they are first needed, piece by piece.

    finding  how
    """

    finding: Callable[[], Pieces[tuple[Genome, ...]]]
    _work: Underway[tuple[Genome, ...]] | None = field(default=None, repr=False)

    def found(self, engine: Engine) -> bool:
        """Do the next pieces; whether none is left."""
        if self._work is None:
            self._work = Underway(self.finding())
        elif not self._work.done:
            self._work.advance(engine if engine.here else Serial(), engine.workers)
        return self._work.done

    def __call__(self) -> tuple[Genome, ...]:
        """The genomes."""
        while not self.found(Serial()):
            pass
        return (self._work.result if self._work is not None else None) or ()


@dataclass(frozen=True)
class Complete(Generations):
    """The strategy of a search that has nothing left to find: no children, nobody dies.

    answer  its first population, where that takes long to find
    """

    fitness: FitnessFunction
    answer: Answer | None = None
    operators: tuple[str, ...] = ()

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """Find the answer, or a piece of it; see `Strategy.begin`."""
        state = empty_state(problem, Streams.seeded(rng, (SELECTION, *self.operators)))
        return self.advance(problem, replace(state, whole=False), engine)

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """Find another piece of the answer; see `Strategy.advance`."""
        if not state.genomes and self.answer is not None and not self.answer.found(engine):
            return state
        return super().advance(problem, state, engine)

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """No children; see `Breeding.propose`."""
        return []

    def absorb(self, state: State, children: Sequence[Child], scores: NDArray[np.float64]) -> State:
        """The same population; see `Breeding.absorb`."""
        return replace(state, generation=state.generation + 1)
