"""Rulebooks: the thresholds of an office as a file, its rules, and what each finds in a release."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationError, field_validator, model_validator

from crypsis.audits import FindingKind
from crypsis.audits.exposure import mark_exposed_records
from crypsis.errors import PlanError, listing, suggestion
from crypsis.measures import measures
from crypsis.measures.measure import Reading
from crypsis.measures.objective import keeps_objective_limit
from crypsis.privacy import models
from crypsis.privacy import models as registered
from crypsis.privacy.model import PrivacyModel, worst_record_under_model
from crypsis.registry import Settings, explain_registry_settings
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import equivalence_class_sizes, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.inference import words_for_inference
from crypsis.table.profile import profile_name_subjects
from crypsis.table.table import PERTURBATION, Table
from crypsis.table.text_files import read_toml
from crypsis.table.value_forms import identifying_form

# -- The rules of rulebooks: what each demands of a released file, and what it finds.
#
# A rule that cannot be checked is not kept: where a risk is not known, or a model has no meaning after the masking of
# the file, the rule fails and says why.

EVERY = "all quasi-identifiers"

Outcome = tuple[str, bool]
"""What was found, in words, and whether the rule is kept."""


@dataclass(frozen=True)
class Evidence:
    """What the rules look at."""

    table: Table  # the published table: no suppressed record, plain labels
    family: str = "unknown"  # how it is masked
    order: str = "shuffled"  # order of the rows
    suppressed: int = 0  # suppressed records
    # measured risks; None where they are not known (a public folder alone, or no original)
    risks: Sequence[Reading] | None = None
    # kinds of the findings of the audit that were waived; None where they are not known (a public folder alone)
    waived: Sequence[str] | None = None


class Rule(Settings):
    """A demand on a released file."""

    id: str = Field(pattern=r"^[a-z0-9-]+$", description="short name, used in results and waivers")
    waivable: bool = Field(default=True, description="whether the rule may be waived with a reason")
    families: tuple[Literal["aggregation", "recoding", "perturbation", "unknown"], ...] = Field(
        default=(), description="families of masking for which the rule applies; empty: all"
    )

    def requirements(self) -> list[PrivacyModel]:
        """Privacy models that demand the same."""
        return []

    @abstractmethod
    def statement(self) -> str:
        """What the rule demands, in words."""

    @abstractmethod
    def find(self, evidence: Evidence) -> Outcome:
        """Check the rule."""


_PERTURBED = "has no meaning after perturbation: equal values do not mean equal people"


class ModelRule(Rule):
    """A privacy model must hold."""

    demand: Literal["model"]
    model: str = Field(description="name of a registered privacy model")
    settings: dict[str, Any] = Field(default_factory=dict, description="the model's own settings")

    @model_validator(mode="after")
    def _exists(self) -> ModelRule:
        self.requirements()
        return self

    def requirements(self) -> list[PrivacyModel]:
        """The privacy model that says the same; see `Rule.requirements`."""
        try:
            return [models.build(self.model, **self.settings)]
        except PlanError as error:
            raise ValueError(str(error)) from None

    def statement(self) -> str:
        (model,) = self.requirements()
        return f"{self.model} {model.sense} {model.required:g} over {listing(model.quasi_identifiers) or EVERY}"

    def find(self, evidence: Evidence) -> Outcome:
        (model,) = self.requirements()
        if evidence.family == PERTURBATION:
            return f"{self.model} {_PERTURBED}", False
        if "confidential" in type(model).model_fields and not evidence.table.confidential:
            return "no confidential column is published", True
        obstacle = model.obstacle(evidence.table)
        if obstacle:
            return obstacle, False
        verdict = model.judge(evidence.table)
        return f"{verdict.attained:g} attained, {verdict.offending} of {verdict.records} records offend", verdict.holds


class ClassRule(Rule):
    """The smallest equivalence class must have enough records."""

    demand: Literal["class-size"]
    at_least: int = Field(ge=2, description="records in the smallest equivalence class")

    def requirements(self) -> list[PrivacyModel]:
        """The privacy model that says the same; see `Rule.requirements`."""
        return [models.build("k-anonymity", k=self.at_least)]

    def statement(self) -> str:
        return f"at least {self.at_least} records share any combination of quasi-identifiers"

    def find(self, evidence: Evidence) -> Outcome:
        if evidence.family == PERTURBATION:
            return f"the size of a class {_PERTURBED}", False
        table = evidence.table
        if not len(table):
            return "there is no record", False
        smallest = worst_record_under_model(equivalence_class_sizes(table, table.quasi_identifiers), "at least")
        return f"the smallest class has {smallest:g} records", smallest >= self.at_least


class RiskRule(Rule):
    """The risk of an attack must be small in every scenario."""

    demand: Literal["risk"]
    measure: str = Field(description="name of a registered measure of risk")
    at_most: float = Field(ge=0, le=100, description="per cent; 5 is a probability of 0.05")

    @field_validator("measure")
    @classmethod
    def _is_a_risk(cls, value: str) -> str:
        try:
            aim = measures[value].aim
        except PlanError as error:
            raise ValueError(str(error)) from None
        if aim != "risk":
            raise ValueError(f"{value!r} measures {aim}, not risk; choose e.g. record-linkage")
        return value

    def statement(self) -> str:
        return f"{self.measure} at most {self.at_most:g} %"

    def find(self, evidence: Evidence) -> Outcome:
        if evidence.risks is None:
            return "not known: no original is given, or the internal folder is absent", False
        found = [reading.value for reading in evidence.risks if reading.measure == self.measure]
        if not found:
            return "not measured for this file", False
        return f"{max(found):.4g} % at worst", keeps_objective_limit(max(found), self.at_most)


class SuppressionRule(Rule):
    """Few records may be suppressed."""

    demand: Literal["suppression"]
    at_most: float = Field(ge=0, le=100, description="per cent of the original records")

    def statement(self) -> str:
        return f"at most {self.at_most:g} % of the records suppressed"

    def find(self, evidence: Evidence) -> Outcome:
        rows = len(evidence.table) + evidence.suppressed
        share = 100 * evidence.suppressed / rows if rows else 100.0
        return f"{evidence.suppressed} of {rows} ({share:.3g} %)", keeps_objective_limit(share, self.at_most)


class RowsRule(Rule):
    """The file must have enough records."""

    demand: Literal["rows"]
    at_least: int = Field(ge=1, description="released records")

    def statement(self) -> str:
        return f"at least {self.at_least} records"

    def find(self, evidence: Evidence) -> Outcome:
        return f"{len(evidence.table)}", len(evidence.table) >= self.at_least


class ColumnsRule(Rule):
    """Columns with certain names must not be published."""

    demand: Literal["columns"]
    never: tuple[str, ...] = Field(min_length=1, description="names or patterns such as *surname*; case is ignored")

    def statement(self) -> str:
        whole = [name for name in self.never if "*" not in name]
        parts = [name.replace("*", "") for name in self.never if "*" in name]
        called = [f"is called {listing(whole, most=6)}"] if whole else []
        return f"no column {' or '.join([*called, *([f'has {listing(parts, most=6)} in its name'] if parts else [])])}"

    def find(self, evidence: Evidence) -> Outcome:
        return self.among(evidence.table.names)

    def among(self, names: Iterable[str]) -> Outcome:
        """Check names of columns."""
        bad = self.find_forbidden(names)
        return (listing(bad), False) if bad else ("none", True)

    def find_forbidden(self, names: Iterable[str]) -> list[str]:
        """The names that may not be published."""
        return [name for name in names if any(fnmatch(name.lower(), pattern.lower()) for pattern in self.never)]


class IdentifierRule(Rule):
    """No direct identifier may be published, whatever its name."""

    demand: Literal["identifiers"]

    def statement(self) -> str:
        return "no identifier, and no column of text that is different for every record"

    def find(self, evidence: Evidence) -> Outcome:
        table = evidence.table
        bad = [name for name in table.names if table.attribute(name).role is Role.IDENTIFIER or _names_all(table, name)]
        return (listing(bad), False) if bad else ("none", True)


def _names_all(table: Table, name: str) -> bool:
    codes = table.column(name)
    return (
        not table.attribute(name).numeric and len(table) > 1 and len(np.unique(codes[codes != MISSING])) == len(table)
    )


class OrderRule(Rule):
    """The rows must not be in the order of the source."""

    demand: Literal["order"]

    def statement(self) -> str:
        return "the rows are shuffled"

    def find(self, evidence: Evidence) -> Outcome:
        return evidence.order, evidence.order == "shuffled"


class CellRule(Rule):
    """Every published category, or pair of categories, must have enough records."""

    demand: Literal["cells"]
    at_least: int = Field(ge=2, description="records in every cell that is not empty")
    ways: Literal[1, 2] = Field(default=1, description="count single columns (1) or pairs of columns too (2)")
    columns: tuple[str, ...] = Field(default=(), description="columns to count; empty: every column of categories")

    def statement(self) -> str:
        what = "category" if self.ways == 1 else "category and pair of categories"
        return f"every published {what} has at least {self.at_least} records"

    def find(self, evidence: Evidence) -> Outcome:
        table = evidence.table
        names = [n for n in self.columns or table.names if n in table.names and not table.holds_numbers(n)]
        cells = [[name] for name in names]
        if self.ways == 2:
            cells += [[one, other] for place, one in enumerate(names) for other in names[place + 1 :]]
        small = {" × ".join(cell): count for cell in cells if (count := _small_cells(table, cell, self.at_least))}
        if not small:
            return f"no cell below {self.at_least} in {len(cells)} tables", True
        tables = listing((f"{name} ({count})" for name, count in small.items()), most=6)
        return f"{sum(small.values())} cells below {self.at_least}: {tables}", False


class SingledOutRule(Rule):
    """Few people may be alone with their value of a published column that is no quasi-identifier."""

    demand: Literal["singled-out"]
    at_most: int = Field(default=0, ge=0, description="people whom one column may single out by itself")

    def statement(self) -> str:
        most = f"at most {self.at_most} people are" if self.at_most else "nobody is"
        return f"{most} alone with a value of a column beside the quasi-identifiers"

    def find(self, evidence: Evidence) -> Outcome:
        table = evidence.table
        outside = [name for name in table.names if table.attribute(name).role is not Role.QUASI_IDENTIFIER]
        counts = {name: int(mark_exposed_records(table.codes([name])[:, 0]).sum()) for name in outside}
        beyond = {name: count for name, count in counts.items() if count > self.at_most}
        if not beyond:
            return f"{max(counts.values(), default=0)} at most", True
        return listing((f"{count} by {name}" for name, count in beyond.items()), most=6), False


class AuditRule(Rule):
    """Few findings of the audit may be waived."""

    demand: Literal["audit"]
    at_most: int = Field(default=0, ge=0, description="findings that may be waived")
    kinds: tuple[FindingKind, ...] = Field(default=(), description="kinds of findings that count; empty: all")

    def statement(self) -> str:
        what = f"findings of the audit ({listing(map(str, self.kinds))})" if self.kinds else "findings of the audit"
        return f"no {what} waived" if self.at_most == 0 else f"at most {self.at_most} {what} waived"

    def find(self, evidence: Evidence) -> Outcome:
        if evidence.waived is None:
            return "waivers are not known without the internal part", False
        counted = [kind for kind in evidence.waived if not self.kinds or kind in self.kinds]
        other = len(evidence.waived) - len(counted)
        beside = f"; {other} of other kinds, which the rule allows" if other else ""
        found = f"{len(counted)} of these waived{beside}" if self.kinds else f"{len(counted)} waived"
        return found, len(counted) <= self.at_most


class FormRule(Rule):
    """No published value may have the form of a contact, an account or a number of a person."""

    demand: Literal["forms"]

    def statement(self) -> str:
        return "no column has e-mail, web or network addresses, telephone, account, insurance or record numbers"

    def find(self, evidence: Evidence) -> Outcome:
        table = evidence.table
        forms = {name: identifying_form(_labels(table, name)) for name in table.names if not table.holds_numbers(name)}
        forms |= {name: "record numbers" for name in table.names if _numbers_records(table, name)}
        bad = [f"{name} ({form})" for name, form in forms.items() if form]
        return (listing(bad), False) if bad else ("none by its form; free text and pictures are not looked at", True)


class DateRule(Rule):
    """Of a date only the year may be published."""

    demand: Literal["dates"]

    def statement(self) -> str:
        return "of dates of birth, admission, discharge, death and any other only the year is published"

    def find(self, evidence: Evidence) -> Outcome:
        table = evidence.table
        bad = [name for name in table.names if _shows_days(table, name)]
        return (listing(bad), False) if bad else ("no column shows more than a year", True)


class AgeRule(Rule):
    """Ages above a limit must be one category."""

    demand: Literal["ages"]
    at_most: int = Field(default=89, ge=1, description="largest age that may be told apart")

    def statement(self) -> str:
        return f"ages over {self.at_most} are one category, and no year of birth tells one"

    def find(self, evidence: Evidence) -> Outcome:
        table, bad = evidence.table, list[str]()
        for name in table.names:
            if "age" not in {subject for subject, _ in profile_name_subjects(name)}:
                continue
            reach = [value for value in _upper_ends(table, name) if np.isfinite(value)]
            years = bool(reach) and min(reach) >= EARLIEST_YEAR
            beyond = {value for value in reach if (THIS_YEAR - value if years else value) > self.at_most}
            bad += [name] if len(beyond) > 1 or (years and beyond) else []
        return (listing(bad), False) if bad else ("no column whose name says an age tells them apart", True)


class PostcodeRule(Rule):
    """Of a postcode only its first digits may be published, and nothing where few people live."""

    demand: Literal["postcodes"]
    digits: int = Field(default=3, ge=0, description="first digits that may be published")
    restricted: tuple[str, ...] = Field(
        default=(), description="first digits where too few people live; published as 0"
    )

    def statement(self) -> str:
        few = f", and none of {len(self.restricted)} areas of few people" if self.restricted else ""
        return f"of postcodes at most the first {self.digits} digits are published{few}"

    def find(self, evidence: Evidence) -> Outcome:
        table, bad = evidence.table, list[str]()
        for name in table.names:
            if not POSTCODES.intersection(words_for_inference(name)):
                continue
            shown = [re.sub(r"[^0-9A-Za-z]", "", label) for label in _labels(table, name)]
            if table.holds_numbers(name):
                shown = [label.zfill(self.digits if len(label) <= self.digits else 5) for label in shown]
            if any(len(label) > self.digits or label in self.restricted for label in shown):
                bad.append(name)
        return (listing(bad), False) if bad else ("no column whose name says a postcode shows more", True)


POSTCODES = frozenset("zip zipcode zipcodes zcta postcode postal postalcode plz".split())
"""Words of names of columns of postcodes."""
FEWEST_NUMBERED = 20
"""Records of a file before different whole numbers can be those of records."""
EARLIEST_YEAR = 1800
"""Numbers from here on are years and not ages."""
THIS_YEAR = datetime.now(UTC).year
LONGER_THAN_A_YEAR = re.compile(
    r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}-?[QW]\d{1,2}"
)
"""Texts that say a day, a week, a month or a quarter of a year."""


def _labels(table: Table, name: str) -> list[str]:
    """The different values of a column as texts."""
    column = table.column(name)
    if table.holds_numbers(name):
        return [f"{value:.15g}" for value in np.unique(column[~np.isnan(column)])]
    labels = table.labels(name)
    return [labels[int(code)] for code in np.unique(column[column != MISSING])]


def _numbers_records(table: Table, name: str) -> bool:
    """Whether a column has whole numbers with few gaps, each used once, of at least twenty records."""
    if not table.holds_numbers(name) or len(table) < FEWEST_NUMBERED or table.attribute(name).dates:
        return False
    values = np.unique(table.column(name))
    whole = bool(np.all(values == np.round(values)))  # a missing one is none
    return whole and len(values) == len(table) and bool(values[-1] - values[0] < 2 * len(values))


def _shows_days(table: Table, name: str) -> bool:
    """Whether a column has dates of which more than the year is shown."""
    if table.holds_numbers(name):
        return table.attribute(name).dates != ""
    shown = _labels(table, name)
    return (
        bool(shown) and sum(LONGER_THAN_A_YEAR.fullmatch(each.strip()) is not None for each in shown) > len(shown) / 2
    )


def _upper_ends(table: Table, name: str) -> list[float]:
    """How far values of a column reach: a number itself, an interval to its larger end; open ones are left out."""
    if table.holds_numbers(name):
        return [] if table.attribute(name).dates else [float(label) for label in _labels(table, name)]
    reach = list[float]()
    for label in _labels(table, name):
        numbers = [float(each) for each in re.findall(r"\d+(?:\.\d+)?", label)]
        reach += [max(numbers)] if numbers and not re.search(r"[+≥>]|older|over|more", label) else []
    return reach


def _small_cells(table: Table, names: Sequence[str], least: int) -> int:
    codes = table.codes(names)
    return int((equivalence_classes(codes, (codes != MISSING).all(axis=1)).sizes < least).sum())


AnyRule = Annotated[
    ModelRule
    | ClassRule
    | RiskRule
    | SuppressionRule
    | RowsRule
    | ColumnsRule
    | IdentifierRule
    | OrderRule
    | CellRule
    | SingledOutRule
    | AuditRule
    | FormRule
    | DateRule
    | AgeRule
    | PostcodeRule,
    Field(discriminator="demand"),
]

# -- Rulebooks: the thresholds of an office as a file, checked before and after every release.
#
# A file that breaks a rule passes only with a waiver and its reason, which are recorded with the release.

SHIPPED = Path(__file__).parent.parent / "rulebooks"


@dataclass(frozen=True)
class RuleResult:
    """The result of one rule."""

    id: str  # the rule and what it demands
    statement: str
    found: str
    holds: bool  # whether it is kept
    waived: str = ""  # reason of the waiver; empty without one

    @property
    def passed(self) -> bool:
        """Whether the rule is kept or waived."""
        return self.holds or bool(self.waived)


class Rulebook(Settings):
    """A named list of rules; one TOML file."""

    name: str = Field(default="", description="name on the command line; the name of the file unless given")
    title: str = Field(description="kind of file it is for")
    about: str = Field(default="", description="source of the thresholds, and who uses them")
    rule: tuple[AnyRule, ...] = Field(min_length=1, description="the rules")

    @model_validator(mode="after")
    def _ids_differ(self) -> Rulebook:
        ids = [rule.id for rule in self.rule]
        twice = sorted({each for each in ids if ids.count(each) > 1})
        if twice:
            raise ValueError(f"two rules share the id {listing(twice)}; give every rule its own")
        return self

    def requirements(self, family: str = "unknown") -> list[PrivacyModel]:
        """The privacy models that the rulebook demands."""
        return [m for rule in self.rule if not rule.families or family in rule.families for m in rule.requirements()]

    @property
    def allowed_alone(self) -> int:
        """People whom a column may single out before it needs a waiver: nobody, unless a rule says how many."""
        return min((rule.at_most for rule in self.rule if isinstance(rule, SingledOutRule)), default=0)

    def check_waivers(self, waivers: Mapping[str, str]) -> None:
        """Refuse waivers that are not allowed."""
        rules = {rule.id: rule for rule in self.rule}
        for id, reason in waivers.items():
            if id not in rules:
                raise PlanError(
                    f"rulebook {self.name!r} has no rule {id!r}{suggestion(id, rules)}; "
                    f"rules: {listing(rules, most=40)}"
                )
            if not rules[id].waivable:
                raise PlanError(f"rule {id!r} of rulebook {self.name!r} cannot be waived; correct the file instead")
            if len(reason.strip()) < 5:
                raise PlanError(f"the waiver of rule {id!r} needs a reason, e.g. --waive {id}='agreed with …'")


def read_rulebook(name: str | Path) -> Rulebook:
    """Read a rulebook."""
    path = SHIPPED / f"{name}.toml" if str(name) in shipped_names() else Path(name)
    try:
        document = read_toml(path, "rulebook", "see `crypsis rulebooks` for examples")
    except FileNotFoundError:
        known = shipped_names()
        raise PlanError(
            f"there is no rulebook {str(name)!r}{suggestion(str(name), known)}: neither a file nor one of "
            f"{listing(known)}; see `crypsis rulebooks`"
        ) from None
    try:
        return Rulebook.model_validate({"name": path.stem} | document)
    except ValidationError as error:
        raise PlanError(f"{path}: {explain_registry_settings(error, Rulebook)}") from None


def shipped_names() -> list[str]:
    """Names of the shipped rulebooks."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def check_rulebook(book: Rulebook, evidence: Evidence, waivers: Mapping[str, str] | None = None) -> list[RuleResult]:
    """Check every rule of a rulebook."""

    def find(rule: Rule) -> Outcome:
        if rule.families and evidence.family not in rule.families:
            return f"does not apply after {evidence.family}", True
        return rule.find(evidence)

    return results_of(book, find, waivers or {})


def results_of(book: Rulebook, find: Callable[[Rule], Outcome | None], waivers: Mapping[str, str]) -> list[RuleResult]:
    """The result of every rule for which something is found; refuses waivers that are not allowed."""
    book.check_waivers(waivers)
    results = []
    for rule in book.rule:
        found = find(rule)
        if found is not None:
            results.append(RuleResult(rule.id, rule.statement(), *found, "" if found[1] else waivers.get(rule.id, "")))
    return results


def refusals(results: Sequence[RuleResult]) -> list[str]:
    """One sentence for every rule that is broken and not waived."""
    return [f"rule {each.id}: {each.statement} is demanded, found: {each.found}" for each in results if not each.passed]


# -- A plan checked against a rulebook before it runs.


def check_planned(
    book: Rulebook,
    *,
    models: Sequence[PrivacyModel],
    columns: Sequence[str],
    suppression: float,
    order: str,
    risk_limits: Mapping[str, float] | None = None,
    waivers: Mapping[str, str] | None = None,
) -> list[RuleResult]:
    """Check the rules that a plan alone can keep or break; the others are checked on the release.

    `order`: {"shuffled", "kept"}: order of the rows; `risk_limits`: limits of the plan on measures of risk, per cent.
    """

    def find(rule: Rule) -> Outcome | None:
        return _judge_plan(rule, models, columns, suppression, order, risk_limits or {})

    return results_of(book, find, waivers or {})


def _judge_plan(
    rule: Rule,
    models: Sequence[PrivacyModel],
    columns: Sequence[str],
    suppression: float,
    order: str,
    limits: Mapping[str, float],
) -> Outcome | None:
    if isinstance(rule, ColumnsRule):
        return rule.among(columns)
    if isinstance(rule, SuppressionRule):
        return f"the plan allows {100 * suppression:g} %", 100 * suppression <= rule.at_most
    if isinstance(rule, OrderRule):
        return f"the plan says {order}", order == "shuffled"
    if isinstance(rule, RiskRule):
        limit = limits.get(rule.measure)
        if limit is None:
            return None
        return f"the plan allows {limit:g} %", limit <= rule.at_most
    demanded = rule.requirements()
    if not demanded:
        return None
    return _judge_promise(demanded[0], models, bool(rule.families))


def _judge_promise(demanded: PrivacyModel, models: Sequence[PrivacyModel], only_some_families: bool) -> Outcome | None:
    """Whether the plan requires a model at least as strict; a plan without models may perturb."""
    if not models and only_some_families:
        return None
    name = registered.name_of(demanded)
    if any(model_implies(model, demanded) for model in models):
        return "the plan requires it", True
    weaker = [model.required for model in models if registered.name_of(model) == name]
    found = f"the plan requires only {weaker[0]:g}" if weaker else f"the plan does not require {name}"
    return f"{found}; set {demanded.sense} {demanded.required:g}", False


def model_implies(model: PrivacyModel, demanded: PrivacyModel) -> bool:
    """Whether a model of the same name implies a demanded one."""
    if registered.name_of(model) != registered.name_of(demanded):
        return False
    if model.quasi_identifiers and not set(model.quasi_identifiers) >= set(demanded.quasi_identifiers or ("",)):
        return False
    mine, theirs = (
        each.model_dump(exclude={"quasi_identifiers", "confidential", *_threshold(each)}) for each in (model, demanded)
    )
    if mine != theirs:
        return False
    return model.required >= demanded.required if model.sense == "at least" else model.required <= demanded.required


def _threshold(model: PrivacyModel) -> set[str]:
    """The setting with the required level."""
    return {name for name in ("k", "l", "t", "beta") if getattr(model, name, None) == model.required}
