"""A lattice under privacy models beyond k: exact front where every node can be judged, evolved otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.levels import LevelEncoding, levels_key
from crypsis.evolution import Archived, Genome, Problem, Scores
from crypsis.evolution.selection import WeightedMean
from crypsis.measures.constraint import beyond, excess
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import BoundMeasure
from crypsis.privacy.demands import ClassDemands
from crypsis.searches.lattices.complete import Complete
from crypsis.searches.lattices.contents import MOST_COUNTS, NodeContents
from crypsis.searches.lattices.indices import minimal
from crypsis.searches.lattices.operators import LevelStep, OnePoint, first_nodes
from crypsis.searches.search import DecodedScores
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.suppression import allowed
from crypsis.table.table import Table

if TYPE_CHECKING:
    from crypsis.searches.lattices.lattice_search import LatticeSearch

SECONDS = 2.5e-9
"""Cost of the roll-up per node, distinct tuple and confidential value."""
OBJECTIVES = ("loss", "risk")


@dataclass(frozen=True, eq=False)
class RolledScores:
    """(mean loss, classes among records left), per cent; beyond any where more is suppressed than is allowed."""

    contents: NodeContents = field(repr=False)

    def __call__(self, genome: Genome) -> Scores:
        return self.scores(np.array([self.contents.one([int(level) for level in genome])]))[0]

    def scores(self, found: NDArray[np.float64]) -> list[tuple[float, float]]:
        """Loss and risk of nodes that were judged."""
        records, columns = self.contents.total, len(self.contents.lattice.names)
        made = []
        for suppressed, lost, _, classes in found.tolist():
            if suppressed > self.contents.allowance or not classes:
                share = 1.0 if np.isinf(suppressed) or not classes else suppressed / records
                made.append(beyond(excess(100.0 * share, 100.0 * self.contents.allowance / records)))
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
            return beyond(excess(100.0 * (records - left) / records, 100.0 * self.allowance / records))
        return self.loss.read(masked), 100.0 * classes_of(masked, self.encoding.lattice.names).count / left


def modelled_problem(search: LatticeSearch, encoding: LevelEncoding, demands: ClassDemands, rng: Generator) -> Problem:
    """The problem of a lattice whose every solution must meet models.

    demands  of all models, over the columns of the lattice
    """
    table, lattice = encoding.table, encoding.lattice
    allowance = allowed(search.suppression, int(table.kept.sum()))
    contents = NodeContents(table, lattice, demands, allowance, search.node_loss)
    by_classes = not demands.rest and all(set(m.known(table)) == set(lattice.names) for m in demands.judged)
    counts = len(contents.lowest.records) * max(demands.arrays.overall.shape[1], 1)
    scores: RolledScores | NodeScores = RolledScores(contents)
    if not by_classes or counts > MOST_COUNTS:
        measure = GeneralLoss if search.node_loss == "glm" else InformationLoss
        scores = NodeScores(encoding, measure(columns=lattice.names).against(table), allowance)
    elif search.judges_all(lattice.size, SECONDS * counts):
        start = tuple(np.array(lattice.levels(number), dtype=np.int16) for number in exact_front(contents, encoding))
        notes = {"candidates": float(lattice.size), "exact": True, "rule": "failing-class"}
        return Problem(levels_key, Complete(WeightedMean()), start, scores, OBJECTIVES, notes=notes)
    step = LevelStep(lattice.heights, search.mutation or 1 / len(lattice.heights))
    strategy = Archived(search.population, step, OnePoint(), search.crossed)
    notes = {"candidates": float(lattice.size), "exact": False, "rule": "failing-class"}
    return Problem(levels_key, strategy, first_nodes(lattice, rng, search.population), scores, OBJECTIVES, notes=notes)


def exact_front(contents: NodeContents, encoding: LevelEncoding) -> list[int]:
    """Numbers of the nodes that no other node that meets the demands dominates; the closest one if none meets them.

    A model compares classes with what is left of the table, which the roll-up takes as whole. A node that misses a
    model for that reason is left out and the front formed again.
    """
    found = contents.everywhere()
    numbers = np.flatnonzero((found[:, 0] <= contents.allowance) & (found[:, 3] > 0))
    scores = np.array(RolledScores(contents).scores(found[numbers])).reshape(-1, 2)
    verified: set[int] = set()
    while len(numbers):
        front = numbers[minimal(-scores)]
        failing = [number for number in front.tolist() if number not in verified and not _holds(encoding, number)]
        if not failing:
            return [int(number) for number in front[np.argsort(found[front, 1], kind="stable")]]
        verified |= set(front.tolist()) - set(failing)
        stay = ~np.isin(numbers, failing)
        numbers, scores = numbers[stay], scores[stay]
    return [closest_node(contents)]


def _holds(encoding: LevelEncoding, number: int) -> bool:
    """Whether the decoded node suppresses no more than is allowed; the models hold on what is left."""
    masked = encoding.decode(np.array(encoding.lattice.levels(number), dtype=np.int16))
    records, left = int(encoding.table.kept.sum()), int(masked.kept.sum())
    return left > 0 and records - left <= allowed(encoding.method.suppression, records)


def closest_node(contents: NodeContents) -> int:
    """The node that suppresses fewest records, where all suppress more than is allowed."""
    allowance = max(contents.allowance, contents.total // 100, 1)
    while True:
        wider = NodeContents(contents.table, contents.lattice, contents.demands, allowance, contents.loss)
        found = wider.everywhere()
        within = (found[:, 0] <= allowance) & (found[:, 3] > 0)
        if within.any() or allowance >= contents.total:
            return int(np.lexsort((found[:, 1], np.where(within, found[:, 0], np.inf)))[0])
        allowance = min(2 * allowance, contents.total)
