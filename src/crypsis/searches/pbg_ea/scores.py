"""How nodes are scored: by the quality indices of PBG, by a demanded k and l, or under any privacy models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import encoding_index_ceilings
from crypsis.encodings.generalisation import LevelEncoding
from crypsis.evolution import Genome, Scores
from crypsis.kernels.arrays import Floats
from crypsis.kernels.dominance import find_undominated
from crypsis.kernels.nodes import DEMANDED, NodeReadings
from crypsis.kernels.rollup import RolledClasses, judge_class_contents, raise_classes, records_below
from crypsis.measures.measure import BoundMeasure
from crypsis.measures.objective import excess_over_objective_limit, infeasible_objective_scores
from crypsis.privacy.demands import ClassDemands
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.pbg_ea.evaluation import LatticeContext, NodeLoss, evaluate_node_cell_costs, evaluated_node_boxes
from crypsis.searches.search import DecodedScores
from crypsis.table.attribute import attribute_weights
from crypsis.table.equivalence_classes import classes_of, equivalence_classes
from crypsis.table.lattice import Lattice, Levels
from crypsis.table.table import Table
from crypsis.tasks import Tasks

# -- Quality indices of nodes, all to be maximised as in PBG: worst cases, spreads, and losses negated.

Favour = Literal["many", "few"]


def quality(
    readings: NodeReadings, names: Sequence[str], records: int, attributes: int, favour: Favour = "many"
) -> Floats:
    """Indices of nodes, to be maximised."""
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


@dataclass(frozen=True)
class IndexFitness:
    """Fitness of negated indices: how far they stay below their ceilings on average, per cent."""

    ceilings: tuple[float, ...]

    def __call__(self, scores: Floats) -> Floats:
        return np.asarray(100.0 * (1.0 + scores / np.array(self.ceilings)).mean(axis=1))


def minimal_node_scores(indices: Floats) -> NDArray[np.bool_]:
    """Which rows of node scores, given as quality indices, no other dominates; of equal rows the first alone.

    >>> minimal_node_scores(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])).tolist()
    [True, True, False]
    """
    scores = np.ascontiguousarray(-indices)
    return find_undominated(scores, np.lexsort(scores.T[::-1]))


def representation_ratio_of_scores(found: Floats, truth: Floats, sides: Sequence[float]) -> float:
    """RR of scored nodes: share of truth's non-dominated boxes of quality indices that hold something found."""
    marked = evaluated_node_boxes(truth, sides)
    marked = marked[minimal_node_scores(marked)]
    occupied = {tuple(row) for row in evaluated_node_boxes(found, sides).tolist()}
    return sum(tuple(row) in occupied for row in marked.tolist()) / max(len(marked), 1)


# -- Scores of a node by quality indices, by a demand, or by the models themselves.


def _node_genome(context: LatticeContext, number: int) -> Genome:
    """The levels of a node."""
    return np.array(context.lattice.levels(number), dtype=np.int16)


@dataclass(frozen=True, eq=False)
class IndexScores:
    """Quality indices of a node, negated to be minimised."""

    context: LatticeContext = field(repr=False)
    rule: int
    allowance: int
    indices: tuple[str, ...]
    favour: Favour

    def __call__(self, genome: Genome) -> Scores:
        read = self.context.judge_node([int(level) for level in genome], self.rule, self.allowance)
        found = quality(read, self.indices, self.context.total, len(self.context.lattice.names), self.favour)
        return tuple(float(-value) for value in found[0])

    @property
    def fitness(self) -> IndexFitness:
        """One number for how good a node is, to be watched while the search runs."""
        return IndexFitness(encoding_index_ceilings(self.indices, self.context.total, len(self.context.lattice.names)))

    def judge_all(self) -> NDArray[np.float64]:
        """float64[nodes, indices]: the indices of all nodes, to be maximised."""
        return self._read_quality(self.context.judge_nodes(self.rule, self.allowance))

    def _read_quality(self, read: NodeReadings) -> NDArray[np.float64]:
        return quality(read, self.indices, self.context.total, len(self.context.lattice.names), self.favour)

    def front(self) -> Tasks[tuple[Genome, ...]]:
        """Every node that no other one dominates, all nodes judged, in tasks."""
        read = yield from self.context.judge_nodes_tasks(self.rule, self.allowance)
        [best] = yield [lambda: np.flatnonzero(minimal_node_scores(self._read_quality(read)))]
        return tuple(_node_genome(self.context, int(number)) for number in best)


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
        read = self.context.judge_node(
            [int(level) for level in genome], DEMANDED, self.allowance, self.k, self.l, strict=True
        )
        records, cells = self.context.total, self.context.total * len(self.context.lattice.names)
        beyond = max(0, int(read.suppressed[0]) - self.allowance)
        if not int(read.classes[0]):
            beyond = records  # an empty table is no answer
        return (np.inf, 100.0 * beyond / records) if beyond else (100.0 * float(read.loss[0]) / cells, 0.0)

    def best(self) -> Tasks[tuple[Genome, ...]]:
        """The node of least loss within the limit, every node judged, in tasks; of equals the one of lower number."""
        read = yield from self.context.judge_nodes_tasks(DEMANDED, self.allowance, self.k, self.l, prune=self.k)
        feasible = (read.classes > 0) & (read.suppressed <= self.allowance)
        return (_node_genome(self.context, int(np.argmin(np.where(feasible, read.loss, np.inf)))),)


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
        masked = self.suppress(genome)
        beyond = max(0, int((self.encoding.table.kept & ~masked.kept).sum()) - self.allowance)
        if not masked.kept.any():
            beyond = len(masked)
        return (np.inf, 100.0 * beyond / len(masked)) if beyond else (self.loss.read(masked), 0.0)

    def suppress(self, genome: Genome) -> Table:
        """The table at the node without the records that fail a model."""
        masked = self.encoding.generalise(genome)
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


# -- Every node of a lattice under privacy models: classes that fail one are suppressed, the rest decides the loss.
#
# Classes are rolled up with how often each confidential value occurs in them, so that a node costs as many additions
# as its classes have values. Passing classes of t-closeness or entropy diversity may fail after a merge with a failing
# one, so the number of suppressed records may grow on the way up; only the size of classes lets nodes be skipped.

MOST_COUNTS = 60_000_000
"""Counts (distinct tuples times confidential values) above which nodes are not rolled up."""
UNFIT = (np.inf, np.inf, 0.0, 0.0)
Judged = tuple[list[int], tuple[float, ...]]
"""Levels of a node in the order of raising, and what `NodeContents.judge_node` says of it."""


@dataclass(frozen=True, eq=False)
class NodeContents:
    """The classes of a table's lowest node and all that raises and judges them."""

    table: Table = field(repr=False)  # what is generalised
    lattice: Lattice
    demands: ClassDemands = field(repr=False)  # what every class must hold, over the columns of the lattice
    allowance: int  # records that may be suppressed
    loss: NodeLoss = "glm"  # what nodes lose

    @cached_property
    def total(self) -> int:
        """Kept records."""
        return int(self.table.kept.sum())

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Attributes as they are raised: those with most values first, so that most nodes have few classes."""
        sizes = [hierarchy.size for hierarchy in self.lattice.hierarchies]
        return tuple(sorted(range(len(sizes)), key=lambda a: -sizes[a]))

    @cached_property
    def _groups(self) -> list[list[NDArray[np.int32]]]:
        """Attribute in order → level → group of each leaf, a missing value being a last group of its own."""
        found = []
        for a in self.order:
            groups = self.lattice.hierarchies[a].groups
            found.append([np.append(level, level.max(initial=-1) + 1).astype(np.int32) for level in groups])
        return found

    @cached_property
    def _up(self) -> list[list[NDArray[np.int32]]]:
        """Attribute in order → level → group one level higher of each group."""
        found = []
        for levels in self._groups:
            steps = []
            for low, high in pairwise(levels):
                step = np.zeros(int(low.max()) + 1, dtype=np.int32)
                step[low] = high
                steps.append(step)
            found.append(steps)
        return found

    @cached_property
    def _cells(self) -> list[list[NDArray[np.float64]]]:
        """Attribute in order → level → 1 less what a cell of each group loses more by suppression."""
        found, counts = [], np.ones(self.total, np.int64)
        for a in self.order:
            attribute, leaves = self.lattice.attributes[a], self.table.leaf_codes(self.lattice.names[a])
            given = (self.lattice.hierarchies[a], self._weights[a], self.loss, leaves[self.table.kept], counts)
            found.append(evaluate_node_cell_costs(*given, attribute.numeric)[1])
        return found

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        """The importance of each column."""
        return attribute_weights(self.lattice.attributes)

    @cached_property
    def _missing_credit(self) -> float:
        """What cells that were missing are counted for beyond what they lose: no information."""
        if self.loss == "glm":
            return 0.0
        missing = [int(self.table.missing(name)[self.table.kept].sum()) for name in self.lattice.names]
        return float(np.dot(missing, self._weights))

    @cached_property
    def lowest(self) -> RolledClasses:
        """The distinct tuples."""
        kept, arrays = self.table.kept, self.demands.arrays
        codes = []
        for place, a in enumerate(self.order):
            leaves = self.table.leaf_codes(self.lattice.names[a])[kept]
            codes.append(np.where(leaves < 0, len(self._groups[place][0]) - 1, leaves))
        code = np.stack(codes, axis=1).astype(np.int32)
        classes = equivalence_classes(code)
        tally = np.zeros((classes.count, arrays.overall.shape[1]), dtype=np.int32)
        for column in arrays.code:
            known = column >= 0
            np.add.at(tally, (classes.of[known], column[known]), 1)
        return RolledClasses(np.ascontiguousarray(code[classes.first]), classes.sizes.astype(np.int64), tally)

    def _make_hash_slots(self) -> NDArray[np.int64]:
        """Room for a hash table of classes; threads that judge nodes side by side have one each."""
        return np.empty(1 << max(5, int(4 * len(self.lowest.records)).bit_length()), dtype=np.int64)

    def _raise(self, held: RolledClasses, place: int, level: int) -> RolledClasses:
        count = len(held.records)
        room = RolledClasses(np.empty_like(held.code), np.empty_like(held.records), np.empty_like(held.tally))
        made = raise_classes(held, count, place, self._up[place][level], room, self._make_hash_slots())
        if made > count // 2:
            return RolledClasses(room.code[:made], room.records[:made], room.tally[:made])
        return RolledClasses(room.code[:made].copy(), room.records[:made].copy(), room.tally[:made].copy())

    def _judge(self, held: RolledClasses, levels: Sequence[int]) -> tuple[float, ...]:
        widest = max(len(self._cells[place][level]) for place, level in enumerate(levels))
        cell, out = np.zeros((len(levels), widest)), np.zeros(4)
        for place, level in enumerate(levels):
            cell[place, : len(self._cells[place][level])] = self._cells[place][level]
        limits = np.array([self.demands.least, self.allowance], dtype=np.int64)
        judge_class_contents(held, len(held.records), cell, self.demands.arrays, self.demands.room(), limits, out)
        out[1] -= self._missing_credit
        return tuple(out.tolist())

    def judge_node(self, levels: Levels | Sequence[int]) -> tuple[float, ...]:
        """Records suppressed, summed loss, smallest class and number of classes of one node."""
        held = self.lowest
        for place, a in enumerate(self.order):
            for level in range(int(levels[a])):
                held = self._raise(held, place, level)
        return self._judge(held, [int(levels[a]) for a in self.order])

    def judge_all(self) -> NDArray[np.float64]:
        """float64[nodes, 4]: what `judge_node` gives of every node; infinite where too many classes are too small."""
        out = np.tile(np.array(UNFIT), (self.lattice.size, 1))
        for levels, found in self._walk(self.lowest, [0] * len(self.order), 0):
            out[sum(level * self.lattice.places[a] for level, a in zip(levels, self.order, strict=True))] = found
        return out

    def _walk(self, held: RolledClasses, levels: list[int], first: int) -> Iterator[Judged]:
        """Judge a node and all above it that raise attributes from `first` on, each from the one below it."""
        yield levels, self._judge(held, levels)
        spare = RolledClasses(np.empty_like(held.code), np.empty_like(held.records), held.tally)
        for place in range(first, len(levels)):
            if place and self._hopeless(held, place, spare):
                return
            if levels[place] < len(self._up[place]):
                higher = levels.copy()
                higher[place] += 1
                yield from self._walk(self._raise(held, place, levels[place]), higher, place)

    def _hopeless(self, held: RolledClasses, place: int, spare: RolledClasses) -> bool:
        """Whether too many records stay in small classes even if this and all later attributes are hidden."""
        small = records_below(held, len(held.records), place, self.demands.least, spare, self._make_hash_slots())
        return int(small) > self.allowance


# -- A lattice under privacy models beyond k: exact front where every node can be judged, evolved otherwise.


@dataclass(frozen=True, eq=False)
class RolledScores:
    """(mean loss, classes among records left), per cent; beyond any where more is suppressed than is allowed."""

    contents: NodeContents = field(repr=False)

    def __call__(self, genome: Genome) -> Scores:
        return self.scores(np.array([self.contents.judge_node([int(level) for level in genome])]))[0]

    def scores(self, found: NDArray[np.float64]) -> list[tuple[float, float]]:
        """Loss and risk of nodes that were judged."""
        records, columns = self.contents.total, len(self.contents.lattice.names)
        made = []
        for suppressed, lost, _, classes in found.tolist():
            if suppressed > self.contents.allowance or not classes:
                share = 1.0 if np.isinf(suppressed) or not classes else suppressed / records
                made.append(
                    infeasible_objective_scores(
                        excess_over_objective_limit(100.0 * share, 100.0 * self.contents.allowance / records)
                    )
                )
            else:
                made.append((100.0 * lost / (records * columns), 100.0 * classes / max(records - suppressed, 1)))
        return made


@dataclass(frozen=True, eq=False)
class NodeScores(DecodedScores):
    """The same of the decoded table, for models that the contents of the classes do not decide."""

    encoding: LevelEncoding
    loss: BoundMeasure
    allowance: int

    def read(self, masked: Table) -> Scores:
        left, records = int(masked.kept.sum()), int(self.encoding.table.kept.sum())
        if records - left > self.allowance or not left:
            return infeasible_objective_scores(
                excess_over_objective_limit(100.0 * (records - left) / records, 100.0 * self.allowance / records)
            )
        return self.loss.read(masked), 100.0 * classes_of(masked, self.encoding.lattice.names).count / left
