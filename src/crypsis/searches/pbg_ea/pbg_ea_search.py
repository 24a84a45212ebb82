"""PBG-EA (Dewri, Ray, Ray and Whitley 2009): how coarse each column must be, one level of generalisation per column.

PBG-EA evolves a front of quality indices with an archive by box dominance; wherever the lattice is small enough every
node is judged and the front is exact. A demanded k or l is met at the least loss, nodes that meet it first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field, field_validator

from crypsis.encodings.generalisation import LevelEncoding, levels_key
from crypsis.errors import CrypsisError, PlanError, SearchError
from crypsis.evolution import Application, Archived, Budget, Elitist, Genome, Operator, Problem, Strategy, evolve
from crypsis.evolution.selection import DominanceOrder, FitnessFunction, StrengthOrder, WeightedMean
from crypsis.masking.generalisation import Generalisation
from crypsis.masking.method import Family, check_method_share
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.objective import Objective
from crypsis.privacy.anonymity import KAnonymity
from crypsis.privacy.diversity import LDiversity
from crypsis.privacy.model import PrivacyModel
from crypsis.privacy.persons import PersonKAnonymity
from crypsis.registry import ColumnName
from crypsis.searches.pbg_ea.evaluation import MOST_NODES, NodeLoss, demand_beyond_all_nodes, prepare_lattice_evaluation
from crypsis.searches.pbg_ea.operators import (
    Answer,
    AnswerOnly,
    FeasibleFirst,
    LevelStep,
    OnePoint,
    SteppedCrossover,
    draw_first_pbg_nodes,
)
from crypsis.searches.pbg_ea.scores import (
    MOST_COUNTS,
    DemandScores,
    Favour,
    IndexScores,
    ModelScores,
    NodeContents,
    NodeScores,
    RolledScores,
    minimal_node_scores,
)
from crypsis.searches.search import Idle, ObjectiveScores, Search, searches
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import check_hierarchy_indices
from crypsis.table.households import read_households
from crypsis.table.lattice import Lattice, Levels
from crypsis.table.suppression import allowed_records, code_of_suppression_rule
from crypsis.table.table import Table
from crypsis.text import node_text

SECONDS = 3e-9
"""Cost of the roll-up per node and distinct tuple."""
SECONDS_PER_COUNT = 2.5e-9
"""Cost of the roll-up under privacy models per node, distinct tuple and confidential value."""
FRONT: tuple[str, ...] = ("auto", "exact", "pbg", "nsga2")
DEMANDING: tuple[str, ...] = ("auto", "exact", "feasible")
GUIDED: tuple[str, ...] = ("auto", "pbg", "nsga2")
"""Methods for the front of the indices, for a demanded k or l, and for measures that guide the search."""
MOST_TALLIES = 10_000_000
"""Counts of persons in classes that are kept for a node at most: 40 megabytes."""
USUAL_CROSSOVER = 0.8
"""Share of crossed pairs in the paper."""


@searches.add("pbg-ea")
class PbgEaSearch(Search):
    """How coarse must each column be? One level per column, rare records suppressed.

    A small lattice is enumerated and its front is exact; a large one is evolved with an archive by box dominance.
    With k or l demanded, nodes that meet it come first and among them the least loss.

    Notes
    -----
    - Formula: node: one level per column; objectives: property indices and losses; exact front, or archive by box
      dominance
    - Paper: Dewri, Ray, Ray and Whitley (2009): PBG-EA
    - Cost: exact: one roll-up over all nodes; evolved: one roll-up per node visited
    - Departures: the exact front replaces the search where the lattice is small enough; the authors' hierarchies are
      not published

    Examples
    --------
    >>> search = crypsis.PbgEaSearch(k=3, suppression=0.1)
    >>> run = crypsis.evolve(crypsis.example(200), search=search, budget="1 generations", seed=1)
    >>> min(int(solution.figure("k")) for solution in run.solutions if not solution.baseline) >= 3
    True
    """

    family: ClassVar[Family] = Family.RECODING
    purpose: ClassVar[str] = "one level of generalisation per column"
    pace: ClassVar[int] = 1
    keeps_households: ClassVar[bool] = True

    indices: tuple[Literal["k", "l", "information", "glm", "cm", "s_k", "s_l"], ...] = Field(
        default=("k", "information"),
        min_length=2,
        max_length=4,
        description="quality indices of the front, all made large; glm: the general loss metric instead of information",
    )
    loss: NodeLoss = Field(
        default="information-loss",
        description="what is least where k or l is demanded: the information lost, or the general loss metric",
    )
    boxes: tuple[float, ...] = Field(
        default=(), description="side of a box along each index, one solution to a box; empty: every solution counts"
    )
    k: int = Field(default=0, ge=0, description="class size to be met at least loss; 0 searches the whole front")
    l: int = Field(  # noqa: E741
        default=0, ge=0, description="confidential values per class to be met at least loss; 0 demands none"
    )
    suppression: float = Field(default=0.01, ge=0, le=1, description="share of the records that may be suppressed")
    rule: Literal["by-size", "failing-class"] = Field(
        default="by-size",
        description="which classes go at a node of the front: the smallest the limit allows, or those below the "
        "strictest k and then l it allows; where k or l is demanded, those that fail it",
    )
    favour: Favour = Field(
        default="few",
        description="whether many or few records with one's confidential value in one's class are good, for s_l",
    )
    label: ColumnName = Field(
        default="", description="column to be predicted, for cm; empty: the first confidential one"
    )
    columns: tuple[str, ...] = Field(default=(), description="columns to generalise; empty: every quasi-identifier")
    method: Literal["auto", "exact", "pbg", "nsga2", "feasible"] = Field(
        default="auto",
        description="auto: exact if it takes less than `patience`, else pbg, or feasible where k or l is demanded; "
        "exact judges every node; pbg and nsga2 evolve a front; feasible evolves the least loss that meets k and l",
    )
    patience: float = Field(default=20.0, ge=0, description="seconds `exact` may take by the estimate, for auto")
    population: int = Field(default=25, ge=2, le=100_000, description="members of the population, where it evolves")
    generations: int = Field(default=100, ge=1, description="generations, where no other budget is given")
    crossover: float | None = Field(
        default=None, ge=0, le=1, description="share of the children made by crossover; default 0.8, feasible 1/3"
    )
    mutation: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="probability of a step per level; 0: one in s columns, feasible three in two s",
    )

    @field_validator("suppression", mode="before")
    @classmethod
    def _share(cls, share: object) -> object:
        return check_method_share(share)

    def budget(self) -> Budget:
        return Budget(generations=self.generations)

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        demanded = bool(self.k or self.l)
        if guided:
            here, fit, otherwise = "where measures guide the search", GUIDED, "set guide = false"
        elif demanded:
            here, fit, otherwise = "where k or l is demanded", DEMANDING, "set both to 0 to search the front"
        else:
            here, fit, otherwise = "where neither k nor l is demanded", FRONT, "demand one"
        found: dict[str, Idle] = {}
        if "s_l" not in self.indices:
            found["favour"] = Idle("without the index s_l", "add it to indices")
        if "cm" not in self.indices:
            found["label"] = Idle("without the index cm", "add it to indices")
        if guided or demanded:
            found |= dict.fromkeys(("indices", "boxes", "favour", "label"), Idle(here, otherwise))
        if demanded:
            found["rule"] = Idle("where k or l is demanded", "set both to 0 to search the front")
        if guided or not demanded:
            found["loss"] = Idle(here, otherwise)
        if self.method not in fit:
            found["method"] = Idle(f"as {self.method!r} {here}", f"choose {' or '.join(map(repr, fit))}")
        if guided or self.method != "auto":
            chosen = Idle(f"with method {self.method!r}", "choose method 'auto'")
            found["patience"] = Idle(here, otherwise) if self.method == "auto" else chosen
        if self.method == "exact":
            names = ("population", "generations", "crossover", "mutation")
            found |= dict.fromkeys(names, Idle("with method 'exact', which evolves nothing", "choose another method"))
        return found

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        return {}  # the exact front shows every k

    def obstacle(self, table: Table) -> str:
        try:
            lattice = Lattice.of(table, self.columns)
            if self.l and not self._confidential(table):
                return f"l = {self.l} was demanded but no column is confidential; give one the role 'confidential'"
            check_hierarchy_indices(self._indices_read, self._confidential(table), self._label(table))
            for name in lattice.names:
                table.leaf_codes(name)
        except CrypsisError as error:
            return str(error)
        if self.method == "exact" and lattice.size > MOST_NODES:
            return (
                f"its lattice has {lattice.approximate_size:.4g} nodes, too many to judge each (at most {MOST_NODES}); "
                f"choose method 'auto' or fewer columns"
            )
        if (self.k or self.l) and table.kept.any():
            context = prepare_lattice_evaluation(
                table, lattice, self._confidential(table) if self.l else None, None, False
            )
            beyond = demand_beyond_all_nodes(
                context, allowed_records(self.suppression, context.total), max(self.k, 1), self.l
            )
            if beyond:
                return beyond
        if self.boxes and len(self.boxes) != len(self.indices):
            return f"{len(self.boxes)} box sides for {len(self.indices)} indices; give one each or none"
        if self.boxes and min(self.boxes) <= 0:
            return "the side of a box must be positive"
        if not table.kept.any():
            return "the table has no records"
        return self._person_obstacle(table, lattice)

    def _person_obstacle(self, table: Table, lattice: Lattice) -> str:
        """Why persons cannot be counted in the classes of every node; empty if they can."""
        for model in self.demanded_models:
            if isinstance(model, PersonKAnonymity) and not model.obstacle(table):
                persons = len(np.unique(read_households(table, model.person)[table.kept]))
                tuples = equivalence_classes(table.codes(lattice.names)[table.kept]).count
                if persons * tuples > MOST_TALLIES:
                    return (
                        f"{persons} persons in {tuples} classes are too many to be counted at every node; name the "
                        f"search households"
                    )
        return ""

    def candidates(self, table: Table) -> float | None:
        return Lattice.of(table, self.columns).approximate_size

    def first_seconds(self, table: Table, guided: bool) -> float:
        lattice = Lattice.of(table, self.columns)
        each = SECONDS * len(table) * len(lattice.names)
        return lattice.size * each if not guided and self.enumerates(lattice.size, each) else 0.0

    def encoding(self, table: Table) -> LevelEncoding:
        lattice = Lattice.of(table, self.columns)
        rule: Literal["by-size", "failing-class"] = "failing-class" if self.k or self.l else self.rule
        method = Generalisation(columns=lattice.names, suppression=self.suppression, rule=rule, k=self.k, l=self.l)
        return LevelEncoding(table, lattice, method, self._class_models(lattice))

    def _class_models(self, lattice: Lattice) -> tuple[PrivacyModel, ...]:
        """All models that classes must meet, where the plan demands more than k over the columns of the lattice."""
        columns = set(lattice.names)
        if all(
            isinstance(m, KAnonymity) and set(m.quasi_identifiers or columns) == columns for m in self.demanded_models
        ):
            return ()
        own = [KAnonymity(k=self.k)] if self.k > 1 else []
        return (*self.demanded_models, *own, *([LDiversity(l=self.l)] if self.l > 1 else []))

    def enumerates(self, nodes: int, seconds_each: float) -> bool:
        """Whether every node is judged: where that is asked for, or takes less than `patience` by the estimate."""
        quick = self.method == "auto" and nodes <= MOST_NODES and nodes * seconds_each <= self.patience
        return self.method == "exact" or quick

    @property
    def crossover_share(self) -> float:
        """Share of crossed pairs, where the search evolves."""
        return USUAL_CROSSOVER if self.crossover is None else self.crossover

    def problem(self, encoding: LevelEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table, lattice = encoding.table, encoding.lattice
        if objective is not None:
            return self._pose_evolution(encoding, ObjectiveScores(encoding, objective), ("loss", "risk"), (), rng)
        if encoding.models:
            return self._pose_models(encoding, rng)
        # What no index asks for is not counted: a number as confidential column has as many values as records.
        counted = self._confidential(table) if {"l", "s_l"} & set(self._indices_read) else None
        label = self._label(table) if "cm" in self._indices_read else None
        context = prepare_lattice_evaluation(
            table, lattice, counted, label, "s_l" in self._indices_read, self.node_loss
        )
        allowance = allowed_records(self.suppression, context.total)
        exact = self.enumerates(lattice.size, SECONDS * len(context.classes.row) * len(context.classes.size))
        if self.k or self.l:
            return self._pose_demand(encoding, DemandScores(context, allowance, max(self.k, 1), self.l), exact, rng)
        scores = IndexScores(context, code_of_suppression_rule(self.rule), allowance, tuple(self.indices), self.favour)
        return (
            self._pose_exact(encoding, scores)
            if exact
            else self._pose_evolution(encoding, scores, tuple(self.indices), self.boxes, rng)
        )

    def _pose_demand(self, encoding: LevelEncoding, scores: DemandScores, exact: bool, rng: Generator) -> Problem:
        """The least loss that meets the demand: the optimum itself where every node can be judged."""
        lattice, objectives = encoding.lattice, ("loss", "shortfall")
        notes = {"candidates": lattice.approximate_size, "exact": exact, "rule": encoding.method.rule}
        if exact:
            best = Answer(scores.best)
            return Problem(levels_key, AnswerOnly(FeasibleFirst(), best), best, scores, objectives, notes=notes)
        start = draw_first_pbg_nodes(lattice, rng, self.population)
        strategy = feasible_pbg_strategy(lattice.heights, self.population, self.crossover, self.mutation)
        return Problem(levels_key, strategy, start, scores, objectives, notes=notes)

    def _pose_exact(self, encoding: LevelEncoding, scores: IndexScores) -> Problem:
        front = Answer(scores.front)
        notes = {"candidates": encoding.lattice.approximate_size, "exact": True, "rule": encoding.method.rule}
        strategy, indices = AnswerOnly(scores.fitness, front), tuple(self.indices)
        return Problem(levels_key, strategy, front, scores, indices, self.boxes, notes=notes)

    def _pose_evolution(
        self,
        encoding: LevelEncoding,
        scores: IndexScores | ObjectiveScores,
        objectives: tuple[str, ...],
        boxes: tuple[float, ...],
        rng: Generator,
    ) -> Problem:
        lattice = encoding.lattice
        step, cross = LevelStep(lattice.heights, self.mutation or 1 / len(lattice.heights)), OnePoint()
        fitness: FitnessFunction = scores.fitness if isinstance(scores, IndexScores) else WeightedMean()
        strategy: Strategy = Archived(self.population, step, cross, self.crossover_share, fitness, StrengthOrder())
        if self.method == "nsga2":
            pairs = round(self.crossover_share * self.population / 2)
            single = max(self.population - 2 * pairs, 1)
            applications = (Application(SteppedCrossover(cross, step), pairs), Application(step, single))
            strategy = Elitist(
                self.population, applications, fitness, order=DominanceOrder(), copies=1, contestants=2, attempts=10
            )
        notes = {"candidates": lattice.approximate_size, "exact": False, "rule": encoding.method.rule}
        start = draw_first_pbg_nodes(lattice, rng, self.population)
        return Problem(levels_key, strategy, start, scores, objectives, boxes, notes=notes)

    def _pose_models(self, encoding: LevelEncoding, rng: Generator) -> Problem:
        """The problem of a lattice whose every solution must meet models."""
        table, lattice, demands = encoding.table, encoding.lattice, encoding.demands
        allowance = allowed_records(self.suppression, int(table.kept.sum()))
        contents = NodeContents(table, lattice, demands, allowance, self.node_loss)
        by_classes = not demands.rest and all(set(m.known_columns(table)) == set(lattice.names) for m in demands.judged)
        counts = len(contents.lowest.records) * max(demands.arrays.overall.shape[1], 1)
        objectives = ("loss", "risk")
        scores: RolledScores | NodeScores = RolledScores(contents)
        if not by_classes or counts > MOST_COUNTS:
            measure = GeneralLoss if self.node_loss == "glm" else InformationLoss
            scores = NodeScores(encoding, measure(columns=lattice.names).against(table), allowance)
        elif self.enumerates(lattice.size, SECONDS_PER_COUNT * counts):
            start = tuple(
                np.array(lattice.levels(number), dtype=np.int16) for number in _exact_front(contents, encoding)
            )
            notes = {"candidates": lattice.approximate_size, "exact": True, "rule": "failing-class"}
            return Problem(levels_key, AnswerOnly(WeightedMean()), start, scores, objectives, notes=notes)
        step = LevelStep(lattice.heights, self.mutation or 1 / len(lattice.heights))
        strategy = Archived(self.population, step, OnePoint(), self.crossover_share)
        notes = {"candidates": lattice.approximate_size, "exact": False, "rule": "failing-class"}
        return Problem(
            levels_key, strategy, draw_first_pbg_nodes(lattice, rng, self.population), scores, objectives, notes=notes
        )

    @property
    def _indices_read(self) -> tuple[str, ...]:
        """What is read off every node: the indices of the front, or what is demanded."""
        return tuple(self.indices) if not (self.k or self.l) else ("k", "l") if self.l else ("k",)

    @staticmethod
    def _confidential(table: Table) -> str | None:
        return next(iter(table.confidential), None)

    @property
    def node_loss(self) -> NodeLoss:
        """What is read off every node as its loss."""
        return self.loss if self.k or self.l else "glm" if "glm" in self.indices else "information-loss"

    def _label(self, table: Table) -> str | None:
        if self.label:
            table.place(self.label)
        return self.label or self._confidential(table)


# -- The node of least loss in one call.

POPULATION = 30
"""Members of the population of `search_least_pbg_loss`."""


@dataclass(frozen=True)
class LatticeResult:
    """The best node of a feasibility-first search."""

    levels: Levels  # level of each column
    message: str  # the node in words
    loss: float  # mean cell loss, per cent
    evaluations: int
    nodes: int  # nodes of the lattice


def search_least_pbg_loss(
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
    """Search by PBG-EA for the node of least loss that meets k, l or any models within the suppression allowed.

    `columns`: Quasi-identifiers; all of them unless named.

    >>> import crypsis, numpy
    >>> search_least_pbg_loss(crypsis.example(200), numpy.random.default_rng(1), k=5, suppression=0.1).loss < 100
    True
    """
    lattice = Lattice.of(table, columns)
    records = int(table.kept.sum())
    allowance = allowed_records(suppression, records)
    encoding = LevelEncoding(table, lattice, Generalisation(columns=lattice.names, suppression=1.0, k=max(k, 1)))
    not_monotone = [type(model).__name__ for model in models if not model.monotone_in_generalisation]
    if not_monotone:
        raise PlanError(f"{not_monotone[0]} may get worse by generalising, so this search cannot use it; leave it out")
    if models:
        loss = GeneralLoss(columns=lattice.names).against(table)
        scores: ModelScores | DemandScores = ModelScores(encoding, tuple(models), loss, allowance)
    else:
        confidential = next(iter(table.confidential), None)
        if l and confidential is None:
            raise PlanError(f"l = {l} was demanded but no column is confidential; give one the role 'confidential'")
        context = prepare_lattice_evaluation(table, lattice, confidential if l else None, None, False)
        obstacle = demand_beyond_all_nodes(context, allowance, max(k, 1), l)
        if obstacle:
            raise SearchError(obstacle)
        scores = DemandScores(context, allowance, max(k, 1), l)
    problem = Problem(
        key=levels_key,
        strategy=feasible_pbg_strategy(lattice.heights, POPULATION),
        start=draw_first_pbg_nodes(lattice, rng, POPULATION),
        evaluate=scores,
        objectives=("loss", "shortfall"),
    )
    size = min(evaluations, lattice.size)
    state = None
    for state in evolve(problem, rng, Budget(evaluations=size, generations=20 * evaluations)):
        if (
            state.evaluations + sum(a.times for a in feasible_pbg_strategy(lattice.heights, POPULATION).applications)
            > size
        ):
            break
    if state is None or state.best_scores[1] > 0:
        beyond = state.best_scores[1] if state else 100.0
        raise SearchError(
            f"no node judged meets the demand while suppressing at most {allowance} of {records} records; the closest "
            f"exceeds the limit by {beyond:.2f} % of the records; raise the suppression limit or lower the demand"
        )
    levels = tuple(int(level) for level in state.best)
    return LatticeResult(levels, node_text(lattice, levels), state.best_scores[0], state.evaluations, lattice.size)


def _exact_front(contents: NodeContents, encoding: LevelEncoding) -> list[int]:
    """Numbers of the nodes that no other node that meets the demands dominates; the closest one if none meets them.

    A model compares classes with what is left of the table, which the roll-up takes as whole. A node that misses a
    model for that reason is left out and the front formed again.
    """
    found = contents.judge_all()
    numbers = np.flatnonzero((found[:, 0] <= contents.allowance) & (found[:, 3] > 0))
    scores = np.array(RolledScores(contents).scores(found[numbers])).reshape(-1, 2)
    verified: set[int] = set()
    while len(numbers):
        front = numbers[minimal_node_scores(-scores)]
        failing = [number for number in front.tolist() if number not in verified and not _holds(encoding, number)]
        if not failing:
            return [int(number) for number in front[np.argsort(found[front, 1], kind="stable")]]
        verified |= set(front.tolist()) - set(failing)
        stay = ~np.isin(numbers, failing)
        numbers, scores = numbers[stay], scores[stay]
    return [closest_node_of_pbg(contents)]


def _holds(encoding: LevelEncoding, number: int) -> bool:
    """Whether the decoded node suppresses no more than is allowed; the models hold on what is left."""
    masked = encoding.decode(np.array(encoding.lattice.levels(number), dtype=np.int16))
    records, left = int(encoding.table.kept.sum()), int(masked.kept.sum())
    return left > 0 and records - left <= allowed_records(encoding.method.suppression, records)


def closest_node_of_pbg(contents: NodeContents) -> int:
    """The node that PBG-EA takes where all suppress more than is allowed: that which suppresses fewest records."""
    allowance = max(contents.allowance, contents.total // 100, 1)
    while True:
        wider = NodeContents(contents.table, contents.lattice, contents.demands, allowance, contents.loss)
        found = wider.judge_all()
        within = (found[:, 0] <= allowance) & (found[:, 3] > 0)
        if within.any() or allowance >= contents.total:
            return int(np.lexsort((found[:, 1], np.where(within, found[:, 0], np.inf)))[0])
        allowance = min(2 * allowance, contents.total)


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


FEASIBLE_CROSSOVER = 1 / 3
"""Share of the children made by crossover, unless another is asked for."""


def feasible_pbg_strategy(
    heights: tuple[int, ...], size: int, crossover: float | None = None, mutation: float = 0.0
) -> Elitist:
    """Crossovers, steps and exchanges from the best; feasible before infeasible, then the lesser loss; no clones."""
    crossed = FEASIBLE_CROSSOVER if crossover is None else crossover
    pairs, each = (int(share * size / 2 + 1e-9) for share in (crossed, 1.0 - crossed))
    listed = (
        Application(OnePoint(), max(pairs, crossed > 0)),
        Application(LevelStep(heights, mutation or 1.5 / len(heights)), max(each, crossed < 1), max(size // 3, 1)),
        Application(Exchange(heights), max(each, crossed < 1), max(size // 3, 1)),
    )
    applications = tuple(application for application in listed if application.times)
    return Elitist(size, applications, fitness=FeasibleFirst(), copies=1)
