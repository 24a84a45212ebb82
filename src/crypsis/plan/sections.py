"""The tables of a plan, one class each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from crypsis.audits import FindingKind
from crypsis.errors import PlanError, listing
from crypsis.evolution import Budget
from crypsis.masking import methods
from crypsis.masking.method import MaskingMethod
from crypsis.masking.weights import read_weight_treatment
from crypsis.measures import measures
from crypsis.measures.measure import Measure
from crypsis.measures.rule_violations import RuleViolations
from crypsis.plan.problems import problems_of
from crypsis.privacy import models
from crypsis.privacy.model import PrivacyModel
from crypsis.registry import ColumnName, Registry, Settings
from crypsis.searches import searches
from crypsis.searches.search import Search
from crypsis.table.attribute import Kind, Role, Scale
from crypsis.table.equivalence_classes import HOW_READ, MissingReading
from crypsis.table.readers.formats import WrittenFormat
from crypsis.table.readers.notation import DATE_FORMS
from crypsis.table.rules import read_derivation, read_rule

REFUSED = "registry"
"""Error type of an entry that cannot be built; its context has the message."""


T = TypeVar("T")


class Named(BaseModel, Generic[T]):
    """An entry with the name of a registered class, fields of the plan, and the settings of the class."""

    model_config = ConfigDict(frozen=True, extra="allow")

    registry: ClassVar[Registry[Any]]
    key: ClassVar[str]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        cls.key = next(iter(cls.model_fields), "")

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the registered class."""
        return dict(self.model_extra or {})

    @classmethod
    def own(cls) -> list[str]:
        """Keys that belong to the plan and not to the registered class."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def refusals(cls, given: Mapping[str, Any]) -> list[str]:
        """Why an entry cannot be built."""
        name = given.get(cls.key)
        if not isinstance(name, str):
            return []
        own = cls.own()
        registry = cls.registry
        try:
            chosen = registry[name]
        except PlanError as error:
            return [str(error)]
        try:
            chosen(**{key: value for key, value in given.items() if key not in own})
        except ValidationError as error:
            return [problem.message for problem in problems_of(error, chosen, own)]
        return []

    @model_validator(mode="after")
    def _buildable(self) -> Named[T]:
        refusals = self.refusals({self.key: getattr(self, self.key), **self.settings})
        if refusals:
            raise PydanticCustomError(REFUSED, "{message}", {"message": "; ".join(refusals)})
        return self

    def build(self) -> T:
        """Build the registered class with its settings."""
        built: T = self.registry.build(getattr(self, self.key), **self.settings)
        return built


# -- Budgets of a run as text: '60s', '10m', '500 evaluations', '50 generations'.

_UNITS = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0,
    "m": 60.0, "min": 60.0, "minute": 60.0, "minutes": 60.0,
    "h": 3600.0, "hour": 3600.0, "hours": 3600.0,
}  # fmt: skip
_FORM = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$", re.IGNORECASE)
LONGEST = 30 * 24 * 3600.0
"""Thirty days; a longer budget is a typing error."""
MOST = 100_000_000
"""Largest number of evaluations or generations of one search."""


def read_plan_budget(text: str) -> Budget:
    """Read the budget that a table of the plan gives, such as a time.

    Time is for the whole run, which its searches share; evaluations and generations are for each search.

    >>> read_plan_budget("10m").seconds
    600.0
    """
    found = _FORM.match(text) if isinstance(text, str) else None
    if not found:
        raise ValueError(f"{text!r} is not a budget; write 60s, 10m, 500 evaluations or 50 generations")
    number, unit = float(found[1]), found[2].lower()
    if number <= 0:
        raise ValueError(f"{text!r} is no budget; give one above zero")
    if unit in _UNITS:
        seconds = number * _UNITS[unit]
        if seconds > LONGEST:
            raise ValueError(f"{text!r} is longer than 30 days; give less and resume the run when it ends")
        return Budget(seconds=seconds)
    if number > MOST:
        raise ValueError(f"a budget has at most {MOST} {unit}; give fewer and resume the run when it ends")
    if number != int(number):
        raise ValueError(f"{text!r} is no whole number of {unit}; write 500 evaluations or 50 generations")
    if unit in ("evaluation", "evaluations", "evals"):
        return Budget(evaluations=number)
    if unit in ("generation", "generations"):
        return Budget(generations=number)
    raise ValueError(
        f"{text!r} has the unknown unit {unit!r}; units: s, m, h (for the whole run), evaluations, generations "
        f"(for each search)"
    )


# -- The tables of a plan, one class each.


def _checked_budget(text: str) -> str:
    read_plan_budget(text)
    return text


BudgetText = Annotated[str, AfterValidator(_checked_budget)]
"""A budget as written; one that cannot be read is refused."""


class Data(Settings):
    """Where the table is and how to read it."""

    source: str = Field(
        min_length=1,
        description="path of the text, Parquet, Excel, SPSS, Stata, SAS or database file, relative to the plan",
    )
    delimiter: str | None = Field(
        default=None, min_length=1, max_length=1, description="delimiter of a text file; default: found out"
    )
    encoding: str | None = Field(default=None, description="encoding of a text file; default: found out")
    missing: tuple[str, ...] | None = Field(default=None, description="missing-value markers; default: found out")
    decimal: Literal[".", ","] | None = Field(default=None, description="decimal mark; default: found out")
    thousands: Literal["", ".", ",", " ", "'"] | None = Field(
        default=None, description="thousands mark, empty for none; default: found out"
    )
    dates: tuple[str, ...] | None = Field(
        default=None, description="forms of dates, such as dd.mm.yyyy or mm/dd/yyyy; default: found out"
    )
    sheet: str | int | None = Field(default=None, description="sheet of a workbook, by name or number from 1")
    query: str | None = Field(default=None, description="a select that a database answers")

    @field_validator("dates")
    @classmethod
    def _are_forms(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for form in value or ():
            if form not in DATE_FORMS:
                raise ValueError(f"there is no date form {form!r}; forms: {listing(DATE_FORMS, most=20)}")
        return value

    def reading_options(self) -> dict[str, Any]:
        """What is said of the file, as `read_table` takes it."""
        return {name: value for name, value in self.model_dump(exclude={"source"}).items() if value is not None}


class Column(Settings):
    """Role, kind, hierarchy and order of one column."""

    role: Role = Field(
        default=Role.UNDECIDED,
        description="identifier, quasi, confidential, weight, household, stratum, other, or undecided: nothing is "
        "released before somebody decides",
    )
    kind: Kind | None = Field(default=None, description="numeric, ordinal or nominal; default: read from the values")
    hierarchy: str | None = Field(
        default=None,
        description="a file, or a builder such as intervals:5,10,20 · dates:month,year · prefixes:3,2 · merge:8,4",
    )
    order: tuple[str, ...] = Field(default=(), description="categories from low to high, for an ordinal column")
    label: str = Field(
        default="",
        max_length=200,
        description="what the column means, e.g. visits to a doctor in two weeks, for codebook and reports; empty: as "
        "the file says",
    )
    labels: dict[str, str] = Field(
        default_factory=dict,
        max_length=1000,
        description='what codes mean, e.g. { 1 = "urban", 2 = "rural" }: reports, codebook and the released file have '
        "the labels; hierarchy and order are written in codes",
    )
    importance: float = Field(
        default=1.0,
        ge=0,
        le=5,
        description="weight of what the column loses, 0 to 5: 0 does not count, 5 counts five times as much as others",
    )
    at_most: float | None = Field(
        default=None,
        ge=0,
        le=100,
        description="largest loss of this column, in per cent, with which a file is released",
    )
    lock: bool = Field(
        default=False, description="publish this quasi-identifier as collected; only records equal in it become alike"
    )
    shared: bool = Field(
        default=False,
        description="all members of a household, or all records of a person, have one value: it is masked once for "
        "them; found out where many households show it, and refused where one contradicts it",
    )
    linked: ColumnName = Field(
        default="", description="column that determines this one, e.g. country for its code: both are masked together"
    )
    derived: str = Field(
        default="",
        max_length=1000,
        description="how the column follows from others, e.g. wage + pension, log(income), weight / height^2, "
        "age >= 65, cut(age, 'young', 65, 'old'): it is recomputed from the published columns and masked no further",
    )
    publish: str = Field(
        default="",
        max_length=1000,
        description="what is done to a sampling weight before it is published: rounded:10, noise:0.2 (calibrated so "
        "that weighted totals stay), or raked (to margins of the released file; raked:region,sex names them); empty: "
        "it is published as collected",
    )
    scale: Scale = Field(
        default="automatic",
        description="scale on which a calibrated file keeps means of products with this number: raw, log or both; "
        "automatic: raw, and log too where the number is skew",
    )
    because: str = Field(
        default="",
        max_length=500,
        description="in words: why nobody outside knows a column with the role confidential, or why one with the role "
        "other may be published beside the masked ones as it is",
    )

    @field_validator("publish")
    @classmethod
    def _is_a_treatment(cls, text: str) -> str:
        try:
            if text:
                read_weight_treatment(text)
        except PlanError as error:
            raise ValueError(str(error)) from None
        return text

    @field_validator("derived")
    @classmethod
    def _is_a_derivation(cls, text: str) -> str:
        try:
            if text:
                read_derivation(text)
        except PlanError as error:
            raise ValueError(str(error)) from None
        return text


class Masking(Named[MaskingMethod]):
    """A masking of columns that are no quasi-identifiers, before any search; its settings stand beside its name."""

    method: str = Field(description="name of a registered masking method that aggregates or recodes")

    registry: ClassVar[Registry[Any]] = methods


class Requirement(Named[PrivacyModel]):
    """A privacy model that a released file must meet, with its settings."""

    model: str = Field(description="name of a registered privacy model")

    registry: ClassVar[Registry[Any]] = models


class Privacy(Settings):
    """How demands and risks read the table, unless they say it themselves."""

    missing: MissingReading = Field(default="own", description=HOW_READ)

    def spell_out(self, given: Mapping[str, Any], kind: type[Named[Any]]) -> Mapping[str, Any]:
        """An entry with the reading of missing cells, where its registered class has one and it names none."""
        try:
            field = kind.registry[str(given.get(kind.key))].model_fields.get("missing")
        except PlanError:  # an unknown name is refused by its own entry
            return given
        reads = field is not None and field.annotation == MissingReading
        return {**given, "missing": self.missing} if reads and "missing" not in given else given


class Scenario(Settings):
    """An intruder: the columns that are known, the models that must hold, and why no other column is known."""

    name: str = Field(min_length=1, max_length=60, description="name of the scenario in tables and reports")
    knows: tuple[str, ...] = Field(min_length=1, description="columns this intruder knows")
    require: tuple[Requirement, ...] = Field(
        default=(), description="privacy models that must hold against this intruder"
    )

    because: str = Field(
        default="",
        max_length=500,
        description="why this intruder knows none of the other columns, in words; a file that scenarios alone protect "
        "is released only where each has a reason",
    )

    def models(self) -> list[PrivacyModel]:
        """The required models, over the known columns unless a requirement names its own."""
        built = [item.build().within(self.name) for item in self.require]
        return [m if m.quasi_identifiers else m.model_copy(update={"quasi_identifiers": self.knows}) for m in built]


class SearchChoice(Named[Search]):
    """A search with its settings."""

    name: str = Field(description="name of a registered search")
    budget: BudgetText | None = Field(default=None, description="budget of this search alone, e.g. 200 generations")

    registry: ClassVar[Registry[Any]] = searches


class MeasureChoice(Named[Measure]):
    """A measure with its settings."""

    name: str = Field(description="name of a registered measure")

    registry: ClassVar[Registry[Any]] = measures


class Measures(Settings):
    """Losses and risks by which every solution is measured."""

    loss: tuple[MeasureChoice, ...] = Field(
        default=(MeasureChoice(name="information-loss"),),
        description="losses: names, or tables with settings; the front's loss is their mean",
    )
    risk: tuple[MeasureChoice, ...] = Field(
        default=(MeasureChoice(name="class-risk"),),
        description="risks: names, or tables with settings; the front's risk is their mean in the worst scenario, of "
        "those that mean something after the masking; of a perturbed file, where class risk does not, it is "
        "one-to-one-linkage",
    )
    guide: bool = Field(
        default=False, description="let the searches minimise these measures instead of their own, faster figures"
    )

    @field_validator("loss", "risk", mode="before")
    @classmethod
    def _names_are_enough(cls, value: Any) -> Any:
        return [{"name": item} if isinstance(item, str) else item for item in value] if _is_list(value) else value


class Use(Named[Measure]):
    """An analysis that the released file must serve: its measure, and how much it may change."""

    measure: str = Field(description="name of a registered measure of a use")
    name: str = Field(default="", max_length=60, description="name of the use in tables; default: its measure")
    tolerance: float = Field(gt=0, allow_inf_nan=False, description="largest reading that still serves the use")
    weight: float = Field(default=1.0, gt=0, le=1000, description="weight among the uses that are objectives")
    treated_as: Literal["objective", "limit", "report"] = Field(
        default="limit",
        alias="as",
        description="objective: a third axis of the front; limit: beyond the tolerance a solution is refused; "
        "report: reported only",
    )

    registry: ClassVar[Registry[Any]] = measures

    @property
    def title(self) -> str:
        """Name of the use, or of its measure."""
        return self.name or self.measure


class Limit(Named[Measure | None]):
    """The largest reading with which a solution may be released."""

    measure: str = Field(description="name of a registered measure, or loss, risk or suppressed")
    at_most: float = Field(ge=0, allow_inf_nan=False, description="largest reading allowed, in the measure's unit")

    registry: ClassVar[Registry[Any]] = measures

    @classmethod
    def refusals(cls, given: Any) -> list[str]:
        """Why an entry cannot be built; loss, risk and suppressed have no settings."""
        if given.get("measure") in AXES:
            odd = [key for key in given if key not in cls.own()]
            return [f"{key}: {given['measure']} has no settings" for key in odd]
        return super().refusals(given)

    def build(self) -> Measure | None:
        """The measure, or None for a limit on loss, risk or suppressed records."""
        return None if self.measure in AXES else super().build()

    @property
    def in_per_cent(self) -> bool:
        """Whether the limit is a percentage: of loss, people or records."""
        built = self.build()
        return built is None or built.aim == "risk"


AXES = ("loss", "risk", "suppressed")


class RuleDemand(Settings):
    """A relation between the columns of every record that a masking must not break."""

    holds: str = Field(
        min_length=1,
        max_length=1000,
        description="the relation, e.g. start <= end, total = part1 + part2, if marital = 'married' then age >= 15",
    )
    name: str = Field(default="", max_length=60, description="name of the rule in tables; default: the rule itself")
    at_most: float | None = Field(
        default=0.0,
        ge=0,
        le=100,
        description="largest share of records, in per cent, that may break the rule after masking and kept it before",
    )

    @field_validator("holds")
    @classmethod
    def _can_be_read(cls, text: str) -> str:
        try:
            read_rule(text)
        except PlanError as error:
            raise ValueError(str(error)) from None
        return text

    @property
    def title(self) -> str:
        """Name of the rule, or the rule itself."""
        return f"rule {self.name or self.holds}"

    def measure(self) -> RuleViolations:
        """What counts the records that break it."""
        return RuleViolations(rule=self.holds)


class Waiver(Settings):
    """Something the released file reveals, let pass for a reason that stands in the internal report."""

    finding: FindingKind = Field(description="what is waived, e.g. singling-out: a column singles people out by itself")
    column: str = Field(min_length=1, description="the column it is found in")
    because: str = Field(min_length=5, max_length=500, description="why the column may be released as it is, in words")


class Running(Settings):
    """Budget, engine and seed of a run."""

    budget: BudgetText | None = Field(
        default=None,
        description="60s or 10m for the whole run; 500 evaluations or 50 generations for each search; default: the "
        "budget of each search",
    )
    engine: Literal["threads", "serial", "processes", "dask"] = Field(
        default="threads",
        description="where candidates are made, scored and measured; the result is the same everywhere",
    )
    workers: int = Field(default=0, ge=0, le=4096, description="threads or processes; 0 means one per core")
    scheduler: str = Field(default="", description="address of a Dask scheduler, for the engine dask")
    seed: int | None = Field(default=None, ge=0, description="seed of a repeatable run; secret, kept in the run folder")
    points: int = Field(
        default=60,
        ge=2,
        le=10_000,
        description="largest number of members of each search's front that are measured at the end",
    )


class Release(Settings):
    """How the file is published."""

    format: WrittenFormat = Field(default="csv", description="format of the released data")
    order: Literal["shuffled", "kept"] = Field(
        default="shuffled", description="order of the rows; the original order can identify people"
    )
    suppression: str = Field(default="1%", description="largest share of records that may be suppressed, e.g. 1%")
    ledger: str = Field(default="", description="file that lists the releases of each source; the user's unless given")

    @field_validator("suppression")
    @classmethod
    def _is_a_share(cls, value: str) -> str:
        read_plan_share(value)
        return value


def read_plan_share(text: str) -> float:
    """Read a share that a table of the plan gives, such as 1%.

    >>> read_plan_share("1%")
    0.01
    """
    try:
        number = float(text.rstrip("% ")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        raise ValueError(f"{text!r} is not a share; write 1% or 0.01") from None
    if not 0 <= number <= 1:
        raise ValueError(f"{text!r} is outside 0 to 100 %; write 1% or 0.01")
    return number


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


# -- Entries of a plan that name something registered: methods, models, searches and measures.


__all__ = ["Named", "measures", "methods", "models", "searches"]
