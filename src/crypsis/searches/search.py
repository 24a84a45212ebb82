"""The contract of a search, and the registry of searches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from numpy.random import Generator
from pydantic import PrivateAttr, model_validator

from crypsis.encodings.encoding import Encoding
from crypsis.errors import PlanError, SearchError, TableError, listing
from crypsis.evolution import Budget, Genome, Problem, Scores
from crypsis.evolution.problem import TaskScores
from crypsis.masking.method import Family
from crypsis.masking.partitioning import LARGE
from crypsis.measures.measure import BoundMeasure
from crypsis.measures.objective import LimitDemand, Objective, infeasible_objective_scores
from crypsis.privacy.model import PrivacyModel
from crypsis.registry import Registry, Settings
from crypsis.table.households import household_level_columns
from crypsis.table.rules import EditRule
from crypsis.table.table import Table
from crypsis.tasks import Tasks, complete

WORST = infeasible_objective_scores(1.0)
"""Loss and risk of a candidate that cannot be decoded, e.g. because it suppresses more than is allowed."""


class Idle(NamedTuple):
    """Why a setting moves nothing beside the others, and what would let it."""

    because: str  # completes "crossover moves nothing …"
    instead: str  # completes "leave it out, or …"


class Search(Settings):
    """A frozen settings object that encodes the protections of a table and poses their search to the loop.

    Notes
    -----
    Objectives are a loss and a risk (and, for some searches, more), all minimised, per cent unless stated. A subclass
    says how genomes become tables (`encoding`), what varies them (`problem`) and which tables it cannot treat
    (`obstacle`).
    """

    family: ClassVar[Family] = Family.PERTURBATION
    """What its solutions do to values; the careful default makes no use of class sizes."""
    purpose: ClassVar[str] = ""
    """What it looks for, in a few words; a first plan offers the searches that say so."""
    pace: ClassVar[int] = 5
    """Place among the searches of a first plan for many records, where 1 is the quickest; for few records, where what
    is quick on many takes longest to compile, the order is reversed."""
    leads: ClassVar[bool] = False
    """Whether a first plan names it before the others."""
    keeps_households: ClassVar[bool] = False
    """Whether the members of a household publish one value wherever all households have one."""
    groups_households: ClassVar[bool] = False
    """Whether it makes households alike in all of their members."""

    _requirements: tuple[PrivacyModel, ...] = PrivateAttr(default=())
    _intruders: tuple[tuple[str, ...], ...] = PrivateAttr(default=())
    _rules: tuple[EditRule, ...] = PrivateAttr(default=())
    _safe_k: int = PrivateAttr(default=1)
    _limits: tuple[LimitDemand, ...] = PrivateAttr(default=())

    @property
    def demanded_models(self) -> tuple[PrivacyModel, ...]:
        """Privacy models that every solution must meet."""
        return self._requirements

    @property
    def intruders(self) -> tuple[tuple[str, ...], ...]:
        """Columns that each intruder of the plan knows; empty where one is taken to know every quasi-identifier."""
        return self._intruders

    @property
    def rules(self) -> tuple[EditRule, ...]:
        """Edit rules of the plan."""
        return self._rules

    @property
    def safe_k(self) -> int:
        """The class size at which no linkage exceeds the limits of the plan; 1 where it limits none."""
        return self._safe_k

    @property
    def demanded_limits(self) -> tuple[LimitDemand, ...]:
        """Largest readings of measures that every solution must keep."""
        return self._limits

    def under(
        self,
        models: Sequence[PrivacyModel],
        intruders: Sequence[Sequence[str]] = (),
        rules: Sequence[EditRule] = (),
        safe_k: int = 1,
        limits: Sequence[LimitDemand] = (),
    ) -> Self:
        """The same search under privacy models that every solution must meet.

        Parameters
        ----------
        models : sequence of PrivacyModel
            What the plan requires.
        intruders : sequence of sequences of str
            Columns that each intruder of the plan knows.
        rules : sequence of EditRule
            What records keep.
        safe_k : int
            The class size at which no linkage exceeds the limits of the plan.
        limits : sequence of LimitDemand
            Largest readings of measures.

        Returns
        -------
        Search
        """
        search = self.model_copy()
        search._requirements = tuple(models)
        search._intruders = tuple(map(tuple, intruders))
        search._rules = tuple(rules)
        search._safe_k = safe_k
        search._limits = tuple(limits)
        return search

    @abstractmethod
    def obstacle(self, table: Table) -> str:
        """Why the search cannot treat a table.

        Parameters
        ----------
        table : Table
            The table, of which roles, kinds, hierarchies and missing values may stand in the way.

        Returns
        -------
        str
            A sentence with the remedy; empty if it can.
        """

    @abstractmethod
    def encoding(self, table: Table) -> Encoding:
        """Genome ⇄ masked table: all that is needed to decode and describe a solution, in milliseconds.

        Parameters
        ----------
        table : Table
            The original, with its roles: what genomes are applied to.

        Returns
        -------
        Encoding
        """

    @abstractmethod
    def problem(self, encoding: Any, objective: Objective | None, rng: Generator) -> Problem:
        """Operators, strategy and first population over an encoding of its own.

        Parameters
        ----------
        encoding : Encoding
            What `encoding` gave for the table.
        objective : Objective or None
            Scores the decoded tables; without one the search minimises figures of its own.
        rng : Generator
            The only source of chance.

        Returns
        -------
        Problem
        """

    def idle(self, guided: bool) -> Mapping[str, Idle]:
        """Settings that move nothing on any table beside the others; one of them given is refused.

        Parameters
        ----------
        guided : bool
            Whether an objective says what is minimised; otherwise the search minimises figures of its own.

        Returns
        -------
        mapping of str to Idle
            Why, by setting.
        """
        return {}

    def refusal(self, guided: bool) -> str:
        """Why settings that were given are refused: they move nothing.

        Parameters
        ----------
        guided : bool
            Whether an objective says what is minimised, as measures of a plan do.

        Returns
        -------
        str
            A sentence; empty if every given setting moves something.
        """
        return idle_search_settings(
            {name: why for name, why in self.idle(guided).items() if name in self.model_fields_set}
        )

    @model_validator(mode="after")
    def _moves_something(self) -> Self:
        """Refuse what moves nothing with and without an objective; the rest is known when the search is posed."""
        either, alone = self.idle(True), self.idle(False)
        idle = {name: why for name, why in alone.items() if name in either and name in self.model_fields_set}
        if idle:
            raise ValueError(idle_search_settings(idle))
        return self

    def pose(self, table: Table, objective: Objective | None, rng: Generator) -> Problem:
        """The problem of one table.

        Parameters
        ----------
        table : Table
            The table that is protected, read once.
        objective : Objective or None
            As for `problem`.
        rng : Generator
            Chance of the first population and of the operators.

        Returns
        -------
        Problem

        Raises
        ------
        SearchError
            If the search cannot treat the table, or a given setting moves nothing.
        """
        obstacle = self.refusal(objective is not None) or self.obstacle(table)
        if obstacle:
            raise SearchError(f"search {searches.name_of(self)!r}: {obstacle}")
        return self.problem(self.encoding(table), objective, rng)

    def first_seconds(self, table: Table, guided: bool) -> float:
        """About how many seconds its first step takes, where that is no quantum like the later ones; 0 where it is.

        Parameters
        ----------
        table
            The table that is protected.
        guided
            Whether the measures of a plan score its candidates.
        """
        return 0.0

    def candidates(self, table: Table) -> float | None:
        """How many candidates there are for a table, where that is known.

        Parameters
        ----------
        table : Table
            The table that is protected.

        Returns
        -------
        float or None
        """
        return None

    def budget(self) -> Budget:
        """How long the recipe itself runs when no budget is given."""
        return Budget(generations=100)

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        """What a first plan sets for a table in which classes of at least k records are wanted.

        Parameters
        ----------
        table : Table
            The table to protect, with its roles.
        k : int
            Smallest class size.

        Returns
        -------
        dict
            Settings by name; those left out keep their defaults.
        """
        return {"k": k} if "k" in cls.model_fields else {}

    @classmethod
    def drawback(cls, table: Table) -> str:
        """Why a first plan leaves the search out although it can treat the table.

        Parameters
        ----------
        table : Table
            The table for which a plan is written, with the roles that were suggested.

        Returns
        -------
        str
            Empty if it does not.
        """
        return ""


def idle_search_settings(idle: Mapping[str, Idle]) -> str:
    """The contract of a search: a clause for each reason why settings of this search move nothing."""
    clauses = []
    for why in dict.fromkeys(idle.values()):
        names = [name for name in idle if idle[name] == why]
        moves, them = ("moves", "it") if len(names) == 1 else ("move", "them")
        clauses.append(f"{listing(names)} {moves} nothing {why.because}; leave {them} out, or {why.instead}")
    return "; ".join(clauses)


searches: Registry[Search] = Registry("search", built_in=("crypsis.searches",))


def models_a_search_serves(objective: Objective) -> tuple[PrivacyModel, ...]:
    """The contract of a search: the models of its objective that tell the search what a class must hold."""
    return tuple(model for model in objective.models if isinstance(model, PrivacyModel))


@dataclass(frozen=True, eq=False)
class DecodedScores(ABC):
    """Scores of a candidate, read from the table it decodes into; the worst where it has none."""

    encoding: Encoding

    def __call__(self, candidate: Genome) -> Scores:
        return complete(self.score_tasks(candidate))

    def score_tasks(self, candidate: Genome) -> Tasks[Scores]:
        """The same in tasks."""
        try:
            [masked] = yield [lambda: self.encoding.decode(self.express_candidate(candidate))]
        except TableError:
            return WORST
        return (yield from self.read_tasks(masked))

    def in_tasks(self, key: Callable[[Genome], bytes], records: int) -> TaskScores:
        """The same, divided between quanta where the table is large."""
        return TaskScores(self.score_tasks, key, records)

    def express_candidate(self, candidate: Genome) -> Genome:
        """The genome that is decoded."""
        return candidate

    @abstractmethod
    def read(self, masked: Table) -> Scores:
        """The scores of a masked table."""

    def read_tasks(self, masked: Table) -> Tasks[Scores]:
        """`read` in tasks; in one, unless the scores say otherwise."""
        return (yield [lambda: self.read(masked)])[0]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class MeasuredScores(DecodedScores):
    """Loss and risk by two measures: what a search minimises by itself."""

    loss: BoundMeasure
    risk: BoundMeasure

    def read(self, masked: Table) -> Scores:
        return self.loss.read(masked), self.risk.read(masked)


@dataclass(frozen=True, eq=False)
class ObjectiveScores(DecodedScores):
    """Scores by an objective."""

    objective: Objective
    express: Callable[[Genome], Genome] | None = None
    family: Family = Family.RECODING

    def express_candidate(self, candidate: Genome) -> Genome:
        return candidate if self.express is None else self.express(candidate)

    def read(self, masked: Table) -> Scores:
        return self.objective.score(masked, self.family)

    def read_tasks(self, masked: Table) -> Tasks[Scores]:
        return self.objective.score_tasks(masked, self.family)


# -- Which searches are worth a try on a table, and what each needs to be set: for a first plan, and to compile ahead.


class SearchOffer(NamedTuple):
    """A search that can treat a table."""

    name: str  # registered name
    purpose: str  # what the search looks for, in a few words
    settings: dict[str, Any]  # what differs from the defaults
    drawback: str  # why it should be left out all the same; empty if it should not


def offers(table: Table, k: int, *, whole: bool = False, demands: Sequence[PrivacyModel] = ()) -> list[SearchOffer]:
    """The searches that state a purpose and can treat a table.

    `whole`: whether households are to be alike in all of their members, which few searches look for; `demands`: models
    beside k of records.
    """
    stated = [name for name in searches if searches[name].purpose]
    found, sign = [], -1 if len(table) <= LARGE else 1
    for name in sorted(stated, key=lambda name: (not searches[name].leads, sign * searches[name].pace)):
        cls = searches[name]
        settings = cls.first_settings(table, k) | ({"whole": True} if whole and cls.groups_households else {})
        if _can_treat(name, settings, table, demands):
            drawback = cls.drawback(table) or contradiction_drawback(cls, table)
            if whole and not cls.groups_households:
                drawback = drawback or "It does not make households alike in all of their members"
            found.append(SearchOffer(name, cls.purpose, settings, drawback))
    return found


def contradiction_drawback(search: type[Search], table: Table) -> str:
    """The contract of a search: why its solutions are refused where households have values in common; else empty."""
    shared = () if search.keeps_households else household_level_columns(table)
    if not shared:
        return ""
    return (
        f"It masks record by record, and members of a household would contradict each other in "
        f"{listing(shared)}, which is refused"
    )


def _can_treat(name: str, settings: dict[str, Any], table: Table, demands: Sequence[PrivacyModel]) -> bool:
    try:
        return not searches.build(name, **settings).under(demands).obstacle(table)
    except PlanError:
        return False
