"""How nodes are scored: by quality indices, by a demand, or under any privacy models."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.levels import LevelEncoding
from crypsis.evolution import Genome, Scores
from crypsis.kernels.nodes import DEMANDED, NodeReadings
from crypsis.measures.measure import BoundMeasure
from crypsis.pieces import Pieces
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.lattices.indices import Favour, Wanting, ceilings, minimal, quality
from crypsis.searches.lattices.lattice_preparation import LatticeContext
from crypsis.table.table import Table


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
