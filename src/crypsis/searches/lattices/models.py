"""Lattices under demands: every node under privacy models, exact fronts, and evolution where nodes are too many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.generalisation import LevelEncoding, levels_key
from crypsis.errors import PlanError, SearchError
from crypsis.evolution import Application, Archived, Budget, Elitist, Genome, Problem, Scores, evolve
from crypsis.evolution.selection import WeightedMean
from crypsis.kernels.class_contents import ContentRoom
from crypsis.kernels.rollup import RolledClasses, judge_class_contents, raise_classes, records_below
from crypsis.masking.generalisation import Generalisation
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.measure import BoundMeasure
from crypsis.measures.objective import excess, infeasible_scores
from crypsis.privacy.demands import ClassDemands
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.lattices.evaluation import NodeLoss, cell_costs, out_of_reach, prepare
from crypsis.searches.lattices.operators import (
    Complete,
    DemandScores,
    Exchange,
    LevelStep,
    ModelScores,
    OnePoint,
    first_nodes,
    minimal,
)
from crypsis.searches.search import DecodedScores
from crypsis.table.attribute import weights
from crypsis.table.equivalence_classes import classes_of, equivalence_classes
from crypsis.table.lattice import Lattice, Levels
from crypsis.table.suppression import allowed_records
from crypsis.table.table import Table
from crypsis.text import node_text

if TYPE_CHECKING:
    from crypsis.searches.lattices.lattice_search import LatticeSearch

# -- Every node of a lattice under privacy models: classes that fail one are suppressed, the rest decides the loss.
#
# Classes are rolled up with how often each confidential value occurs in them, so that a node costs as many additions
# as its classes have values. Passing classes of t-closeness or entropy diversity may fail after a merge with a failing
# one, so the number of suppressed records may grow on the way up; only the size of classes lets nodes be skipped.

MOST_COUNTS = 60_000_000
"""Counts (distinct tuples times confidential values) above which nodes are not rolled up."""
UNFIT = (np.inf, np.inf, 0.0, 0.0)
Judged = tuple[list[int], tuple[float, ...]]
"""Levels of a node in the order of raising, and what `NodeContents.one` says of it."""


@dataclass(frozen=True, eq=False)
class NodeContents:
    """The classes of a table's lowest node and all that raises and judges them.

    Attributes
    ----------
    table, lattice : Table, Lattice
        What is generalised.
    demands : ClassDemands
        What every class must hold, over the columns of the lattice.
    allowance : int
        Records that may be suppressed.
    loss : str
        What nodes lose.
    """

    table: Table = field(repr=False)
    lattice: Lattice
    demands: ClassDemands = field(repr=False)
    allowance: int
    loss: NodeLoss = "glm"

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
            found.append(cell_costs(*given, attribute.numeric)[1])
        return found

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        """The importance of each column."""
        return weights(self.lattice.attributes)

    @cached_property
    def _spared(self) -> float:
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

    @cached_property
    def _seat(self) -> NDArray[np.int64]:
        return np.empty(1 << max(5, int(4 * len(self.lowest.records)).bit_length()), dtype=np.int64)

    def _raised(self, held: RolledClasses, place: int, level: int) -> RolledClasses:
        count = len(held.records)
        room = RolledClasses(np.empty_like(held.code), np.empty_like(held.records), np.empty_like(held.tally))
        made = raise_classes(held, count, place, self._up[place][level], room, self._seat)
        if made > count // 2:
            return RolledClasses(room.code[:made], room.records[:made], room.tally[:made])
        return RolledClasses(room.code[:made].copy(), room.records[:made].copy(), room.tally[:made].copy())

    def _judged(self, held: RolledClasses, levels: Sequence[int]) -> tuple[float, ...]:
        widest = max(len(self._cells[place][level]) for place, level in enumerate(levels))
        cell, out = np.zeros((len(levels), widest)), np.zeros(4)
        for place, level in enumerate(levels):
            cell[place, : len(self._cells[place][level])] = self._cells[place][level]
        limits = np.array([self.demands.least, self.allowance], dtype=np.int64)
        judge_class_contents(held, len(held.records), cell, self.demands.arrays, self._room, limits, out)
        out[1] -= self._spared
        return tuple(out.tolist())

    @cached_property
    def _room(self) -> ContentRoom:
        return self.demands.room()

    def one(self, levels: Levels | Sequence[int]) -> tuple[float, ...]:
        """Records suppressed, summed loss, smallest class and number of classes of one node."""
        held = self.lowest
        for place, a in enumerate(self.order):
            for level in range(int(levels[a])):
                held = self._raised(held, place, level)
        return self._judged(held, [int(levels[a]) for a in self.order])

    def everywhere(self) -> NDArray[np.float64]:
        """float64[nodes, 4]: what `one` gives of every node; infinite where too many classes are too small."""
        out = np.tile(np.array(UNFIT), (self.lattice.size, 1))
        for levels, found in self._walk(self.lowest, [0] * len(self.order), 0):
            out[sum(level * self.lattice.places[a] for level, a in zip(levels, self.order, strict=True))] = found
        return out

    def _walk(self, held: RolledClasses, levels: list[int], first: int) -> Iterator[Judged]:
        """Judge a node and all above it that raise attributes from `first` on, each from the one below it."""
        yield levels, self._judged(held, levels)
        spare = RolledClasses(np.empty_like(held.code), np.empty_like(held.records), held.tally)
        for place in range(first, len(levels)):
            if place and self._hopeless(held, place, spare):
                return
            if levels[place] < len(self._up[place]):
                higher = levels.copy()
                higher[place] += 1
                yield from self._walk(self._raised(held, place, levels[place]), higher, place)

    def _hopeless(self, held: RolledClasses, place: int, spare: RolledClasses) -> bool:
        """Whether too many records stay in small classes even if this and all later attributes are hidden."""
        small = records_below(held, len(held.records), place, self.demands.least, spare, self._seat)
        return int(small) > self.allowance


# -- A lattice under privacy models beyond k: exact front where every node can be judged, evolved otherwise.

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
                made.append(infeasible_scores(excess(100.0 * share, 100.0 * self.contents.allowance / records)))
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
            return infeasible_scores(excess(100.0 * (records - left) / records, 100.0 * self.allowance / records))
        return self.loss.read(masked), 100.0 * classes_of(masked, self.encoding.lattice.names).count / left


def modelled_problem(search: LatticeSearch, encoding: LevelEncoding, demands: ClassDemands, rng: Generator) -> Problem:
    """The problem of a lattice whose every solution must meet models.

    demands  of all models, over the columns of the lattice
    """
    table, lattice = encoding.table, encoding.lattice
    allowance = allowed_records(search.suppression, int(table.kept.sum()))
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
    return left > 0 and records - left <= allowed_records(encoding.method.suppression, records)


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


# -- Feasibility first: the least loss that meets a demand, found by evolution where nodes are too many to judge each.

USUAL_CROSSOVER = 1 / 3
"""Share of the children made by crossover, unless another is asked for."""

POPULATION = 30
"""Members of the population of `least_loss`."""


@dataclass(frozen=True)
class FeasibleFirst:
    """Worth of (loss, shortfall): loss where nothing falls short, else beyond any loss and by shortfall."""

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(scores[:, 1] > 0, 1000.0 + scores[:, 1], scores[:, 0])


@dataclass(frozen=True)
class LatticeResult:
    """The best node of a feasibility-first search.

    levels  level of each column
    message  the node in words
    loss  mean cell loss, per cent
    nodes  nodes of the lattice
    """

    levels: Levels
    message: str
    loss: float
    evaluations: int
    nodes: int


def feasible_strategy(
    heights: tuple[int, ...], size: int, crossover: float | None = None, mutation: float = 0.0
) -> Elitist:
    """Crossovers, steps and exchanges from the best; feasible before infeasible, then the lesser loss; no clones.

    Parameters
    ----------
    heights : tuple of int
        Highest level of each column.
    size : int
        Members of the population.
    crossover : float, optional
        Share of the children made by crossover, two at a time; steps and exchanges make half of the rest each.
    mutation : float
        Probability of a step per level; 0: three in two columns.

    Returns
    -------
    Elitist
    """
    crossed = USUAL_CROSSOVER if crossover is None else crossover
    pairs, each = (int(share * size / 2 + 1e-9) for share in (crossed, 1.0 - crossed))
    listed = (
        Application(OnePoint(), max(pairs, crossed > 0)),
        Application(LevelStep(heights, mutation or 1.5 / len(heights)), max(each, crossed < 1), max(size // 3, 1)),
        Application(Exchange(heights), max(each, crossed < 1), max(size // 3, 1)),
    )
    applications = tuple(application for application in listed if application.times)
    return Elitist(size, applications, fitness=FeasibleFirst(), copies=1)


def least_loss(
    table: Table,
    rng: Generator,
    *,
    k: int = 0,
    l: int = 0,  # noqa: E741
    models: Sequence[PrivacyModel] = (),
    suppression: float = 0.01,
    columns: tuple[str, ...] = (),
    evaluations: int = 1000,
) -> LatticeResult:
    """Search for the node of least loss that meets k, l or any models while suppressing no more than allowed.

    Parameters
    ----------
    table : Table
        The table, with roles and hierarchies.
    rng : Generator
        The only source of chance.
    k, l : int
        Demanded of every class; 0 demands nothing.
    models : sequence of PrivacyModel
        In place of k and l; none may lose by coarser classes.
    suppression : float
        Share of the records that may be suppressed; every class that fails is.
    columns : tuple of str
        Quasi-identifiers; all of them unless named.
    evaluations : int
        Most nodes judged.

    Returns
    -------
    LatticeResult

    Raises
    ------
    PlanError
        If a model may lose by coarser classes, or l is demanded and no column is confidential.
    SearchError
        If no node judged meets the demand: with the closest one, and which limit to relax.

    Examples
    --------
    >>> import crypsis, numpy
    >>> least_loss(crypsis.example(200), numpy.random.default_rng(1), k=5, suppression=0.1).loss < 100
    True
    """
    lattice = Lattice.of(table, columns)
    records = int(table.kept.sum())
    allowance = allowed_records(suppression, records)
    encoding = LevelEncoding(table, lattice, Generalisation(columns=lattice.names, suppression=1.0, k=max(k, 1)))
    wavering = [type(model).__name__ for model in models if not model.monotone_in_generalisation]
    if wavering:
        raise PlanError(f"{wavering[0]} may get worse by generalising, so this search cannot use it; leave it out")
    if models:
        loss = GeneralLoss(columns=lattice.names).against(table)
        scores: ModelScores | DemandScores = ModelScores(encoding, tuple(models), loss, allowance)
    else:
        confidential = next(iter(table.confidential), None)
        if l and confidential is None:
            raise PlanError(f"l = {l} was demanded but no column is confidential; give one the role 'confidential'")
        context = prepare(table, lattice, confidential if l else None, None, False)
        obstacle = out_of_reach(context, allowance, max(k, 1), l)
        if obstacle:
            raise SearchError(obstacle)
        scores = DemandScores(context, allowance, max(k, 1), l)
    problem = Problem(
        key=levels_key,
        strategy=feasible_strategy(lattice.heights, POPULATION),
        start=first_nodes(lattice, rng, POPULATION),
        evaluate=scores,
        objectives=("loss", "shortfall"),
    )
    size = min(evaluations, lattice.size)
    state = None
    for state in evolve(problem, rng, Budget(evaluations=size, generations=20 * evaluations)):
        if state.evaluations + sum(a.times for a in feasible_strategy(lattice.heights, POPULATION).applications) > size:
            break
    if state is None or state.best_scores[1] > 0:
        beyond = state.best_scores[1] if state else 100.0
        raise SearchError(
            f"no node judged meets the demand while suppressing at most {allowance} of {records} records; the closest "
            f"exceeds the limit by {beyond:.2f} % of the records; raise the suppression limit or lower the demand"
        )
    levels = tuple(int(level) for level in state.best)
    return LatticeResult(levels, node_text(lattice, levels), state.best_scores[0], state.evaluations, lattice.size)
