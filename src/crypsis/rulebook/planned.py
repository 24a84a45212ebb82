"""A plan checked against a rulebook before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crypsis.privacy import models as registered
from crypsis.privacy.model import PrivacyModel
from crypsis.rulebook.book import Rulebook, RuleResult, results_of
from crypsis.rulebook.rules import ColumnsRule, OrderRule, Outcome, RiskRule, Rule, SuppressionRule


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
        return _planned(rule, models, columns, suppression, order, risk_limits or {})

    return results_of(book, find, waivers or {})


def _planned(
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
    return _promised(demanded[0], models, bool(rule.families))


def _promised(demanded: PrivacyModel, models: Sequence[PrivacyModel], only_some_families: bool) -> Outcome | None:
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
