"""The search "lattice": one level per column.

PBG-EA (Dewri, Ray, Ray and Whitley 2009) evolves a front of quality indices; wherever the lattice is small enough every
node is judged and the front is exact. A demanded k or l is met at the least loss, nodes that meet it first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from numpy.random import Generator
from pydantic import Field, field_validator

from crypsis.encodings.generalisation import LevelEncoding, levels_key
from crypsis.errors import CrypsisError
from crypsis.evolution import (
    Application,
    Archived,
    Budget,
    Elitist,
    Genome,
    Operator,
    Problem,
    Strategy,
)
from crypsis.evolution.selection import DominanceOrder, FitnessFunction, StrengthOrder, WeightedMean
from crypsis.masking.generalisation import Generalisation
from crypsis.masking.method import Family
from crypsis.measures.objective import Objective
from crypsis.privacy.anonymity import KAnonymity
from crypsis.privacy.diversity import LDiversity
from crypsis.privacy.model import PrivacyModel
from crypsis.registry import ColumnName
from crypsis.searches.lattices.evaluation import MOST_NODES, NodeLoss, out_of_reach, prepare
from crypsis.searches.lattices.models import FeasibleFirst, feasible_strategy, modelled_problem
from crypsis.searches.lattices.operators import (
    Answer,
    Complete,
    DemandScores,
    Favour,
    IndexScores,
    LevelStep,
    OnePoint,
    check_indices,
    first_nodes,
)
from crypsis.searches.search import Idle, ObjectiveScores, Search, searches
from crypsis.table.lattice import Lattice
from crypsis.table.suppression import allowed_records, checked_share, rule_code
from crypsis.table.table import Table

SECONDS = 3e-9
"""Cost of the roll-up per node and distinct tuple."""
FRONT: tuple[str, ...] = ("auto", "exact", "pbg", "nsga2")
DEMANDING: tuple[str, ...] = ("auto", "exact", "feasible")
GUIDED: tuple[str, ...] = ("auto", "pbg", "nsga2")
"""Methods for the front of the indices, for a demanded k or l, and for measures that guide the search."""
USUAL_CROSSOVER = 0.8
"""Share of crossed pairs in the paper."""


@searches.add("lattice")
class LatticeSearch(Search):
    """How coarse must each column be? One level per column, rare records suppressed; PBG-EA (Dewri et al. 2009).

    The whole lattice is judged and its exact front given wherever that takes little time; otherwise it is evolved.
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
    >>> search = crypsis.LatticeSearch(k=3, suppression=0.1)
    >>> run = crypsis.evolve(crypsis.example(200), search=search, budget="1 generations", seed=1)
    >>> min(int(solution.figure("k")) for solution in run.solutions if not solution.baseline) >= 3
    True
    """

    family: ClassVar[Family] = Family.RECODING
    purpose: ClassVar[str] = "one level of generalisation per column"
    pace: ClassVar[int] = 1

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
        return checked_share(share)

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
            check_indices(self._counted, self._confidential(table), self._label(table))
            for name in lattice.names:
                table.leaf_codes(name)
        except CrypsisError as error:
            return str(error)
        if self.method == "exact" and lattice.size > MOST_NODES:
            return (
                f"its lattice has {lattice.size} nodes, too many to judge each (at most {MOST_NODES}); choose method "
                f"'auto' or fewer columns"
            )
        if (self.k or self.l) and table.kept.any():
            context = prepare(table, lattice, self._confidential(table) if self.l else None, None, False)
            beyond = out_of_reach(context, allowed_records(self.suppression, context.total), max(self.k, 1), self.l)
            if beyond:
                return beyond
        if self.boxes and len(self.boxes) != len(self.indices):
            return f"{len(self.boxes)} box sides for {len(self.indices)} indices; give one each or none"
        if self.boxes and min(self.boxes) <= 0:
            return "the side of a box must be positive"
        return "" if table.kept.any() else "the table has no records"

    def candidates(self, table: Table) -> float | None:
        return float(Lattice.of(table, self.columns).size)

    def first_seconds(self, table: Table, guided: bool) -> float:
        lattice = Lattice.of(table, self.columns)
        each = SECONDS * len(table) * len(lattice.names)
        return lattice.size * each if not guided and self.judges_all(lattice.size, each) else 0.0

    def encoding(self, table: Table) -> LevelEncoding:
        lattice = Lattice.of(table, self.columns)
        rule: Literal["by-size", "failing-class"] = "failing-class" if self.k or self.l else self.rule
        method = Generalisation(columns=lattice.names, suppression=self.suppression, rule=rule, k=self.k, l=self.l)
        return LevelEncoding(table, lattice, method, self._modelled(lattice))

    def _modelled(self, lattice: Lattice) -> tuple[PrivacyModel, ...]:
        """All models that classes must meet, where the plan demands more than k over the columns of the lattice."""
        columns = set(lattice.names)
        if all(isinstance(m, KAnonymity) and set(m.quasi_identifiers or columns) == columns for m in self.demanded):
            return ()
        own = [KAnonymity(k=self.k)] if self.k > 1 else []
        return (*self.demanded, *own, *([LDiversity(l=self.l)] if self.l > 1 else []))

    def judges_all(self, nodes: int, seconds_each: float) -> bool:
        """Whether every node is judged: where that is asked for, or takes less than `patience` by the estimate."""
        quick = self.method == "auto" and nodes * seconds_each <= self.patience and nodes <= MOST_NODES
        return self.method == "exact" or quick

    @property
    def crossed(self) -> float:
        """Share of crossed pairs, where the search evolves."""
        return USUAL_CROSSOVER if self.crossover is None else self.crossover

    def problem(self, encoding: LevelEncoding, objective: Objective | None, rng: Generator) -> Problem:
        table, lattice = encoding.table, encoding.lattice
        if objective is not None:
            return self._evolved(encoding, ObjectiveScores(encoding, objective), ("loss", "risk"), (), rng)
        if encoding.models:
            return modelled_problem(self, encoding, encoding.demands, rng)
        # What no index asks for is not counted: a number as confidential column has as many values as records.
        counted = self._confidential(table) if {"l", "s_l"} & set(self._counted) else None
        label = self._label(table) if "cm" in self._counted else None
        context = prepare(table, lattice, counted, label, "s_l" in self._counted, self.node_loss)
        allowance = allowed_records(self.suppression, context.total)
        exact = self.judges_all(lattice.size, SECONDS * len(context.classes.row) * len(context.classes.size))
        if self.k or self.l:
            return self._demanded(encoding, DemandScores(context, allowance, max(self.k, 1), self.l), exact, rng)
        scores = IndexScores(context, rule_code(self.rule), allowance, tuple(self.indices), self.favour)
        return (
            self._exact(encoding, scores)
            if exact
            else self._evolved(encoding, scores, tuple(self.indices), self.boxes, rng)
        )

    def _demanded(self, encoding: LevelEncoding, scores: DemandScores, exact: bool, rng: Generator) -> Problem:
        """The least loss that meets the demand: the optimum itself where every node can be judged."""
        lattice, objectives = encoding.lattice, ("loss", "shortfall")
        notes = {"candidates": float(lattice.size), "exact": exact, "rule": encoding.method.rule}
        if exact:
            best = Answer(scores.best)
            return Problem(levels_key, Complete(FeasibleFirst(), best), best, scores, objectives, notes=notes)
        start = first_nodes(lattice, rng, self.population)
        strategy = feasible_strategy(lattice.heights, self.population, self.crossover, self.mutation)
        return Problem(levels_key, strategy, start, scores, objectives, notes=notes)

    def _exact(self, encoding: LevelEncoding, scores: IndexScores) -> Problem:
        front = Answer(scores.front)
        notes = {"candidates": float(encoding.lattice.size), "exact": True, "rule": encoding.method.rule}
        strategy, indices = Complete(scores.fitness, front), tuple(self.indices)
        return Problem(levels_key, strategy, front, scores, indices, self.boxes, notes=notes)

    def _evolved(
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
        strategy: Strategy = Archived(self.population, step, cross, self.crossed, fitness, StrengthOrder())
        if self.method == "nsga2":
            pairs = round(self.crossed * self.population / 2)
            single = max(self.population - 2 * pairs, 1)
            applications = (Application(Crossed(cross, step), pairs), Application(step, single))
            strategy = Elitist(self.population, applications, fitness, order=DominanceOrder(), copies=1)
        notes = {"candidates": float(lattice.size), "exact": False, "rule": encoding.method.rule}
        start = first_nodes(lattice, rng, self.population)
        return Problem(levels_key, strategy, start, scores, objectives, boxes, notes=notes)

    @property
    def _counted(self) -> tuple[str, ...]:
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


@dataclass(frozen=True)
class Crossed(Operator):
    """Crossover whose children take a step each."""

    crossover: OnePoint
    step: LevelStep
    name: str = "crossover"
    arity: int = 2

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        return [self.step.apply([child], rng)[0] for child in self.crossover.apply(parents, rng)]
