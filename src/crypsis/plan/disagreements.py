"""Contradictions in a plan: settings that have no effect, columns that are named twice, relations that lead nowhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from crypsis.audits import REASONED, published_finding_key
from crypsis.errors import listing, suggestion
from crypsis.plan.sections import Column, measures, searches
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.rules import read_derivation, read_rule
from crypsis.table.table import PERTURBATION

if TYPE_CHECKING:
    from crypsis.plan.document import Plan

BOTH_ENDS = ["bottom-coding", "top-coding"]
"""Methods that may mask one column together: each an end of it."""


def find_disagreements(plan: Plan) -> list[str]:
    """Find contradictions in a plan."""
    return [
        *_columns(plan),
        *_maskings(plan),
        *_scenarios(plan),
        *_searches(plan),
        *_measures(plan),
        *_limits(plan),
        *_rules(plan),
        *_waivers(plan),
        *_run(plan),
    ]


def _columns(plan: Plan) -> list[str]:
    found = []
    if not any(column.role is Role.QUASI_IDENTIFIER for column in plan.columns.values()) and not plan.scenario:
        found.append(
            "columns: no column has the role 'quasi', so nothing is protected; give it to columns that an intruder may "
            "know"
        )
    for name, column in plan.columns.items():
        if column.order and column.kind is not None and column.kind != "ordinal":
            found.append(f'columns.{name}: order is given but kind is {column.kind}; write kind = "ordinal" or drop it')
        if column.order and len(set(column.order)) < len(column.order):
            found.append(f"columns.{name}.order: a category is listed twice; list every one once")
        if column.hierarchy and column.role in UNPUBLISHED:
            found.append(
                f"columns.{name}: a column with the role {column.role} is never released, so its hierarchy has "
                f"no effect; drop it or change the role"
            )
        found += _check_losses(plan, name, column)
        found += _check_derived(plan, name, column)
        found += _check_publish(plan, name, column)
        if column.scale != "automatic" and (column.role in UNPUBLISHED or column.kind not in (None, "numeric")):
            because = f"its role is {column.role}" if column.role in UNPUBLISHED else f"its kind is {column.kind}"
            found.append(
                f"columns.{name}: scale has no effect, as moments are kept of published numbers and {because}; drop it"
            )
        if column.because and column.role not in REASONED:
            reasoned = listing(map(str, REASONED))
            found.append(f"columns.{name}: because is the reason for the roles {reasoned}; its role is {column.role}")
    return found


def _check_publish(plan: Plan, name: str, column: Column) -> list[str]:
    """What contradicts the treatment of a weight."""
    if not column.publish:
        return []
    where, found = f"columns.{name}.publish", list[str]()
    if column.role is not Role.WEIGHT:
        found.append(f"{where}: it treats a weight, and the role is {column.role}; drop it or change the role")
    if any(name in choice.build().columns for choice in plan.mask):
        found.append(f"{where}: a [[mask]] table masks {name!r} as well; keep one of the two")
    weights = [each for each, other in plan.columns.items() if other.role is Role.WEIGHT]
    if len(weights) > 1:
        found.append(
            f"{where}: {len(weights)} columns have the role weight; one can be treated, give others another role"
        )
    return found


def _check_derived(plan: Plan, name: str, column: Column) -> list[str]:
    """What contradicts that a column is recomputed from others."""
    if not column.derived:
        return []
    found, inputs = list[str](), read_derivation(column.derived).columns
    where = f"columns.{name}.derived"
    if column.role in UNPUBLISHED:
        found.append(f"{where}: a column with the role {column.role} is never released; drop derived")
    given = {
        "lock": column.lock,
        "linked": bool(column.linked),
        "at_most": column.at_most is not None,
    }
    for key in (key for key, there in given.items() if there):
        found.append(f"{where}: the column is recomputed, so {key} has no effect; drop one of the two")
    for each in inputs:
        source = plan.columns.get(each)
        role = Role.UNDECIDED if source is None else source.role
        if each == name:
            found.append(f"{where}: {name!r} cannot follow from itself; leave it out")
        elif role in UNPUBLISHED:
            found.append(
                f"{where}: {each!r} has the role {role} and is never released, and the column would tell it; name "
                f"other columns or drop derived"
            )
        elif column.role is Role.QUASI_IDENTIFIER and role is not Role.QUASI_IDENTIFIER:
            found.append(
                f"{where}: an intruder may know {name!r}, which follows from {each!r}, and searches do not mask that; "
                f"give {each!r} the role quasi, or drop derived"
            )
    return found


def _check_losses(plan: Plan, name: str, column: Column) -> list[str]:
    """What is said of the loss of a column that has none, and links that lead nowhere."""
    found = []
    given = {
        "importance": column.importance != 1.0, "lock": column.lock, "linked": bool(column.linked),
        "shared": column.shared,
        "at_most": column.at_most is not None,
    }  # fmt: skip
    idle = [key for key, there in given.items() if there]
    if idle and column.role is not Role.QUASI_IDENTIFIER:
        found.append(
            f"columns.{name}: {listing(idle)} {'has' if len(idle) == 1 else 'have'} no effect, as searches mask only "
            f"quasi-identifiers and its role is {column.role}; drop it or change the role"
        )
    if column.lock and (column.at_most is not None or column.linked):
        other = "at_most" if column.at_most is not None else "linked"
        found.append(f"columns.{name}: a locked column is published as collected, so {other} has no effect; drop one")
    lead = plan.columns.get(column.linked)
    if column.linked and (lead is None or column.linked == name or lead.role is not Role.QUASI_IDENTIFIER):
        found.append(
            f"columns.{name}.linked: {column.linked!r} is not another quasi-identifier of the plan"
            f"{_near(plan, column.linked)}; name the column that determines {name!r}"
        )
    elif lead is not None and lead.linked:
        found.append(f"columns.{name}.linked: {column.linked!r} is linked itself; link both to {lead.linked!r}")
    quasi = [each for each in plan.columns.values() if each.role is Role.QUASI_IDENTIFIER]
    if name == next(iter(plan.columns)) and quasi and not any(each.importance for each in quasi):
        found.append("columns: every quasi-identifier has the importance 0, so no loss counts; give one of them some")
    return found


def _maskings(plan: Plan) -> list[str]:
    """Columns that a masking before the search cannot have."""
    found, seen = list[str](), dict[str, list[str]]()
    for number, choice in enumerate(plan.mask, 1):
        method, where = choice.build(), f"mask[{number}]"
        if method.family == PERTURBATION:
            found.append(
                f"{where}: {choice.method} makes values false at random, and no class size means anything after it; "
                f"name a method that aggregates or recodes"
            )
        if not method.columns:
            found.append(f'{where}: it names no columns; write columns = ["…"]')
        for name in method.columns:
            column = plan.columns.get(name)
            if column is None:
                found.append(f"{where}.columns: {name!r} is not among the columns of the plan{_near(plan, name)}")
            elif column.derived:
                found.append(f"{where}.columns: {name!r} is derived and recomputed from others; mask these")
            elif column.role is Role.QUASI_IDENTIFIER:
                found.append(f"{where}.columns: {name!r} is a quasi-identifier, which the searches mask; leave it out")
            elif column.role in UNPUBLISHED:
                found.append(
                    f"{where}.columns: {name!r} has the role {column.role} and is never released; leave it out"
                )
            before = seen.setdefault(name, [])
            if before and sorted([*before, choice.method]) != BOTH_ENDS:
                found.append(f"{where}.columns: {name!r} is masked twice; name it once")
            before.append(choice.method)
    return found


def _near(plan: Plan, name: str) -> str:
    return suggestion(name, list(plan.columns))


def _repeats(names: Iterable[str]) -> list[tuple[str, int]]:
    """Names that occur more than once, and how often."""
    return [(name, count) for name, count in Counter(names).items() if count > 1]


def _scenarios(plan: Plan) -> list[str]:
    found = []
    for name, count in _repeats(each.name for each in plan.scenario):
        found.append(f"scenario: {count} scenarios are called {name!r}; give each its own name")
    for number, each in enumerate(plan.scenario, 1):
        twice = [name for name, _ in _repeats(each.knows)]
        if twice:
            found.append(f"scenario[{number}].knows: {listing(map(repr, twice))} listed twice; list every column once")
        hidden = [n for n in each.knows if n in plan.columns and plan.columns[n].role in UNPUBLISHED]
        if hidden:
            found.append(
                f"scenario[{number}].knows: {listing(map(repr, hidden))} is an identifier and never released, so the "
                f"intruder cannot use it; leave it out or change its role"
            )
    return found


def _searches(plan: Plan) -> list[str]:
    """Settings of searches that have no effect, with or without measures that guide them."""
    refusals = [
        (n, choice.name, choice.build().refusal(plan.measures.guide)) for n, choice in enumerate(plan.search, 1)
    ]
    return [f"search[{number}] ({name}): {why}" for number, name, why in refusals if why]


def _measures(plan: Plan) -> list[str]:
    found = []
    for aim in ("loss", "risk"):
        chosen = getattr(plan.measures, aim)
        if not chosen:
            found.append(f"measures.{aim}: the list is empty and the front needs a {aim}; name one or remove the key")
        for number, choice in enumerate(chosen, 1):
            measure = measures[choice.name]
            if measure.aim != aim:
                fitting = [name for name in measures if measures[name].aim == aim]
                found.append(
                    f"measures.{aim}[{number}]: {choice.name!r} is a {measure.aim} and not a {aim}; "
                    f"{'losses' if aim == 'loss' else 'risks'}: {listing(fitting, most=40)}"
                )
            elif measure.better == "high":
                found.append(
                    f"measures.{aim}[{number}]: {choice.name!r} is better when high, and the front minimises; choose "
                    f"another"
                )
        twice = [name for name, _ in _repeats(choice.name for choice in chosen)]
        if twice:
            found.append(f"measures.{aim}: {listing(map(repr, twice))} named twice; name every measure once")
    for title, count in _repeats(use.title for use in plan.use):
        found.append(f"use: {count} uses are called {title!r}; give each a name of its own")
    return found


def _limits(plan: Plan) -> list[str]:
    found = [f"limit: {n} limits on {name!r}; keep one of them" for name, n in _repeats(x.measure for x in plan.limit)]
    for number, limit in enumerate(plan.limit, 1):
        if limit.measure == "loss" and limit.at_most == 0 and (plan.require or any(s.require for s in plan.scenario)):
            found.append(
                f"limit[{number}]: no loss is allowed and a privacy model is required, which only an unmasked file can "
                f"meet; allow some loss"
            )
        if limit.measure == "suppressed" and limit.at_most > 100 * plan.suppression:
            found.append(
                f"limit[{number}]: {limit.at_most:g} % suppressed is allowed here and {plan.release.suppression} in "
                f"release.suppression; keep one of the two"
            )
    return found


def _rules(plan: Plan) -> list[str]:
    """Rules that stand twice, and those that no masking could break."""
    found = [f"rule: {n} rules are called {name!r}; keep one" for name, n in _repeats(r.title for r in plan.rule)]
    for number, each in enumerate(plan.rule, 1):
        names = read_rule(each.holds).columns
        hidden = [n for n in names if n in plan.columns and plan.columns[n].role in UNPUBLISHED]
        if hidden:
            found.append(f"rule[{number}]: {listing(map(repr, hidden))} is never released, so nobody can see it broken")
    return found


def _waivers(plan: Plan) -> list[str]:
    counts = Counter(published_finding_key(each.finding, each.column) for each in plan.waive)
    return [f"waive: {n} waivers of {key!r}; keep the one whose reason counts" for key, n in counts.items() if n > 1]


def _run(plan: Plan) -> list[str]:
    found = []
    if plan.run.engine == "dask" and not plan.run.scheduler:
        found.append('run: the engine dask needs the address of a scheduler; write scheduler = "tcp://host:8786"')
    if plan.run.scheduler and plan.run.engine != "dask":
        found.append(
            f"run.scheduler: the engine {plan.run.engine} needs no scheduler; write engine = 'dask' or drop it"
        )
    perturbing = [c.name for c in plan.search if searches[c.name].family == PERTURBATION]
    required = [item.model for item in plan.require] + [m.model for each in plan.scenario for m in each.require]
    if plan.search and required and len(perturbing) == len(plan.search):
        found.append(
            f"require: {listing(map(repr, dict.fromkeys(required)))} cannot hold after perturbation, and every search "
            f"named ({listing(map(repr, perturbing))}) perturbs; add a search that aggregates or recodes, or limit a "
            f"risk instead"
        )
    return found
