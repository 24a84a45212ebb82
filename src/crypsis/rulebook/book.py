"""Rulebooks: the thresholds of an office as a file, checked before and after every release.

A file that breaks a rule passes only with a waiver and its reason, which are recorded with the release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError, model_validator

from crypsis.errors import PlanError, listing, suggestion
from crypsis.privacy import models as registered
from crypsis.privacy.model import PrivacyModel
from crypsis.registry import Settings, explain
from crypsis.rulebook.rules import (
    AnyRule,
    ColumnsRule,
    Evidence,
    OrderRule,
    Outcome,
    RiskRule,
    Rule,
    SingledOutRule,
    SuppressionRule,
)
from crypsis.table.text_files import read_toml

SHIPPED = Path(__file__).parent.parent / "rulebooks"


@dataclass(frozen=True)
class RuleResult:
    """The result of one rule.

    id, statement  the rule and what it demands
    holds  whether it is kept
    waived  reason of the waiver; empty without one
    """

    id: str
    statement: str
    found: str
    holds: bool
    waived: str = ""

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
        """The privacy models that the rulebook demands.

        Parameters
        ----------
        family : str
            How the file is masked.

        Returns
        -------
        list of PrivacyModel
        """
        return [m for rule in self.rule if not rule.families or family in rule.families for m in rule.requirements()]

    @property
    def allowed_alone(self) -> int:
        """People whom a column may single out before it needs a waiver: nobody, unless a rule says how many."""
        return min((rule.at_most for rule in self.rule if isinstance(rule, SingledOutRule)), default=0)

    def check_waivers(self, waivers: Mapping[str, str]) -> None:
        """Refuse waivers that are not allowed.

        Parameters
        ----------
        waivers : mapping of str to str
            Rule → reason.

        Raises
        ------
        PlanError
            If a rule is unknown or cannot be waived, or a reason is missing.
        """
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
    """Read a rulebook.

    Parameters
    ----------
    name : str or path
        Name of a shipped rulebook, or a TOML file.

    Returns
    -------
    Rulebook

    Raises
    ------
    PlanError
        With every problem of the file.
    """
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
        raise PlanError(f"{path}: {explain(error, Rulebook)}") from None


def shipped_names() -> list[str]:
    """Names of the shipped rulebooks."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def check_rulebook(book: Rulebook, evidence: Evidence, waivers: Mapping[str, str] | None = None) -> list[RuleResult]:
    """Check every rule of a rulebook.

    evidence  what the rules look at
    waivers  rule → reason; a waived rule that is broken is reported as broken, with its reason

    Raises
    ------
    PlanError
        If a waiver is not allowed.
    """

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
    """One sentence for every rule that is broken and not waived.

    Parameters
    ----------
    results : sequence of RuleResult
        Results of the rules.

    Returns
    -------
    list of str
    """
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

    models  models that the plan requires
    columns  columns that will be published
    suppression  largest share of records that the plan may suppress, 0 to 1
    order  {"shuffled", "kept"}: order of the rows
    risk_limits  limits of the plan on measures of risk, per cent

    Raises
    ------
    PlanError
        If a waiver is not allowed.
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
    if any(as_strict(model, demanded) for model in models):
        return "the plan requires it", True
    weaker = [model.required for model in models if registered.name_of(model) == name]
    found = f"the plan requires only {weaker[0]:g}" if weaker else f"the plan does not require {name}"
    return f"{found}; set {demanded.sense} {demanded.required:g}", False


def as_strict(model: PrivacyModel, demanded: PrivacyModel) -> bool:
    """Whether a model of the same name implies a demanded one.

    Parameters
    ----------
    model, demanded : PrivacyModel
        The model of the plan and of the rule.

    Returns
    -------
    bool
    """
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
