"""The check before a run: every problem of plan, data and hierarchies at once, and how large the searches are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crypsis.audits import Finding, FindingKind
from crypsis.audits.dependence import MOST_RESTORED, find_determining_dependence
from crypsis.audits.exposure import singling_out
from crypsis.audits.preview import preview_findings, preview_restoring_columns, preview_weight_findings
from crypsis.audits.published import Published, published_finding_reason
from crypsis.errors import TableError, listing, suggestion, word
from crypsis.measures.household_contradictions import CONTRADICTIONS
from crypsis.measures.measure import Measure
from crypsis.plan.document import Plan, load
from crypsis.plan.sections import Use, read_plan_budget
from crypsis.privacy import models as registered
from crypsis.privacy.anonymity import KAnonymity
from crypsis.privacy.demands import ConfidentialModel
from crypsis.privacy.diversity import LDiversity
from crypsis.privacy.households import HouseholdKAnonymity
from crypsis.searches.search import contradiction_drawback, searches
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.lookalikes import folded_codes
from crypsis.table.population import weight_obstacle
from crypsis.table.rules import order_derived, read_derivation, read_rule, rule_obstacle, violations
from crypsis.table.table import Table
from crypsis.text import attack_finding_text

LOOKED_AT = 50_000
"""Records on which remarks about dependences rest; a release looks at all of them."""
COPIES = 16
"""Tables of the size of the original that a search keeps at once: decoded ones, genomes and neighbours."""
LIBRARIES = 250.0
"""Megabytes that every run takes."""


@dataclass(frozen=True)
class Estimate:
    """What is known of one search before it runs, from counts alone."""

    search: str
    candidates: float | None  # number of candidates, where the search knows it
    megabytes: float  # memory it takes, about


@dataclass(frozen=True)
class Check:
    """The result of a check."""

    problems: tuple[str, ...]  # what must be corrected
    stops: tuple[str, ...] = ()  # what a search can run in spite of and no release can
    notes: tuple[str, ...] = ()  # what is worth knowing
    # confidential columns by which people will be found and of which nobody said why no one outside knows them, each
    # with the remark about it that is one of `stops`
    unstated: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0  # records of the table
    estimates: tuple[Estimate, ...] = field(default=())  # size of each search
    # how long the run takes: its budget; None where that is a number of generations or evaluations
    seconds: float | None = None

    @property
    def sound(self) -> bool:
        """Whether there is no problem."""
        return not self.problems


def check_before_run(
    path: str | Path, *, estimate: bool = True, table: Table | None = None, look_at: int = LOOKED_AT
) -> Check:
    """The check before a run: gather all problems of plan, data and hierarchies, and sizes of searches.

    `estimate`: whether to estimate the size of the searches; `table`: the table as the plan describes it, where it is
    read already; `look_at`: records on which remarks about dependences rest.
    """
    path = Path(path)
    plan, problems = Plan.understand(load(path))
    if plan is None:
        return Check(tuple(problems))
    table, unread = (table, []) if table is not None else _table(plan, path.parent)
    problems += unread
    if table is None:
        return Check(tuple(problems))
    # Searches would only miss the hierarchies that cannot be read, which are reported already.
    problems += against(plan.model_copy(update={"search": ()}) if unread else plan, table)
    single = _single(plan, table)
    assumed = _assumptions(plan, table)
    stops = (*_list_stops(plan, table, assumed.unstated, look_at), *single.refused)
    notes = (*table.notes, *single.waived, *assumed.stated, *_list_notes(plan, table))
    estimates = () if problems or not estimate else tuple(_estimates(plan, table))
    limit = read_plan_budget(plan.run.budget).seconds if plan.run.budget else math.inf
    seconds = limit if math.isfinite(limit) else None
    return Check(tuple(problems), stops, notes, assumed.unstated, len(table), estimates, seconds)


def _table(plan: Plan, folder: Path) -> tuple[Table | None, list[str]]:
    """The data, or why they cannot be read; hierarchies are then tried one by one, to report each."""
    try:
        return plan.table(folder), []
    except TableError as error:
        first = str(error)
    bare = plan.model_copy(
        update={"columns": {n: c.model_copy(update={"hierarchy": None}) for n, c in plan.columns.items()}}
    )
    try:
        table = bare.table(folder)
    except TableError:
        return None, [f"data: {first}"]
    problems = []
    for name, column in plan.columns.items():
        if column.hierarchy:
            one = bare.model_copy(update={"columns": {**bare.columns, name: column}})
            try:
                one.table(folder)
            except TableError as error:
                problems.append(f"columns.{name}.hierarchy: {error}")
    return table, problems or [f"data: {first}"]


def against(plan: Plan, table: Table) -> list[str]:
    """Find parts of a plan that do not apply to a table."""
    return [
        *_check_columns(plan, table),
        *demand_obstacles(plan, table),
        *search_obstacles(plan, table),
        *_readings(plan, table),
    ]


def _check_columns(plan: Plan, table: Table) -> list[str]:
    named = [(f"columns.{name}", name) for name in plan.columns]
    named += [(f"waive[{n}].column", each.column) for n, each in enumerate(plan.waive, 1)]
    named += [(f"scenario[{n}].knows", c) for n, each in enumerate(plan.scenario, 1) for c in each.knows]
    return [
        f"{where}: the file has no column {name!r}{suggestion(name, table.names)}; columns: {listing(table.names)}"
        for where, name in named
        if name not in table.names
    ]


def demand_obstacles(plan: Plan, table: Table) -> list[str]:
    """Why no masking of a table can meet demands of a plan."""
    found = []
    places = [word(python="models", command=f"require[{n}]", studio="Goal") for n, _ in enumerate(plan.require, 1)]
    demands = [(place, item.build()) for place, item in zip(places, plan.require, strict=True)]
    demands += [(f"scenario[{n}].require", m) for n, each in enumerate(plan.scenario, 1) for m in each.models()]
    for where, model in demands:
        obstacle = model.obstacle(table)
        if obstacle:
            found.append(f"{where}: {obstacle}")
        elif model.least_class_size > len(table):
            found.append(
                f"{where}: classes of at least {model.least_class_size} records are required and the file has "
                f"{len(table)} records; require smaller classes"
            )
        elif isinstance(model, ConfidentialModel):
            found += [f"{where}: {lacking}" for lacking in _lacking_values(model, table)]
    return [*found, *_limits_below_one_class(plan, table), *_weights_of_nobody(table)]


def _weights_of_nobody(table: Table) -> list[str]:
    """Columns that weigh records and cannot, in words."""
    return [found for name in table.names_by_role(Role.WEIGHT) if (found := weight_obstacle(table, name))]


def _limits_below_one_class(plan: Plan, table: Table) -> list[str]:
    """Limits on class risk that not even one class of all records keeps, in words."""
    least = 100.0 / max(len(table), 1)
    named = ("class-risk", "risk") if plan.require else ("class-risk",)  # a perturbed file has no classes
    return [
        f"limit[{n}]: at most {each.at_most:g} % of the people may be found, and one class of all {len(table)} records "
        f"lets {least:.3g} % be found; allow more"
        for n, each in enumerate(plan.limit, 1)
        if each.measure in named and each.at_most < least
    ]


def _lacking_values(model: ConfidentialModel, table: Table) -> list[str]:
    """Confidential columns with fewer different values than every class must hold, in words."""
    counts = {name: int(folded_codes(table, name).max(initial=-1)) + 1 for name in model.hidden(table)}
    return [
        f"{model.least_values} different values of {name!r} are required in every class and the file has {count}; "
        f"require fewer, or name other columns by confidential"
        for name, count in counts.items()
        if count < model.least_values
    ]


def search_obstacles(plan: Plan, table: Table) -> list[str]:
    """Why searches of a plan do not apply to a table."""
    found = []
    for number, (choice, search) in enumerate(zip(plan.search, plan.searches(), strict=True), 1):
        obstacle = search.obstacle(table)
        if obstacle:
            found.append(f"search[{number}] ({choice.name}): {obstacle}")
    return found


def _readings(plan: Plan, table: Table) -> list[str]:
    found = []
    chosen: list[tuple[str, Measure | None]] = []
    for aim in ("loss", "risk"):
        chosen += [(f"measures.{aim}[{n}]", c.build()) for n, c in enumerate(getattr(plan.measures, aim), 1)]
    chosen += [(f"use[{n}]", use.build()) for n, use in enumerate(plan.use, 1)]
    chosen += [(f"limit[{n}]", limit.build()) for n, limit in enumerate(plan.limit, 1)]
    chosen += [(f"rule[{n}]", each.measure()) for n, each in enumerate(plan.rule, 1)]
    for where, measure in chosen:
        if measure is None:
            continue
        if measure.aim == "risk" and not measure.columns and plan.scenario:
            reasons = [_scenario_obstacle(measure, table, each.knows) for each in plan.scenario]
            obstacle = reasons[0] if all(reasons) else ""
        else:
            obstacle = measure.obstacle(table)
        if obstacle:
            found.append(f"{where}: {obstacle}")
    return found


def _scenario_obstacle(measure: Measure, table: Table, knows: tuple[str, ...]) -> str:
    """Why no column that an intruder knows can be read; empty if some can."""
    reasons = [measure.model_copy(update={"columns": (name,)}).obstacle(table) for name in knows]
    return reasons[0] if reasons and all(reasons) else ""


def _list_stops(plan: Plan, table: Table, unstated: Mapping[str, str], look_at: int) -> list[str]:
    """What no release can follow, although a search can run."""
    found = [
        *_find_undecided(table),
        *_weights(table),
        *_dependences(plan, table, look_at),
        *unstated.values(),
        *_find_silent(plan, table),
    ]
    risky = any(each.measure == "risk" or getattr(each.build(), "aim", "") == "risk" for each in plan.limit)
    if not plan.require and not any(each.require for each in plan.scenario) and not risky:
        found.append("no privacy model is required and no risk limited: no release before one is added")
    return found


def _list_notes(plan: Plan, table: Table) -> list[str]:
    """Remarks that are no problems and stop nothing."""
    found = [
        *_find_broken_rules(plan, table),
        *_find_unmasked(plan, table),
        *_wildcards(plan, table),
        *_find_uncovered(plan, table),
        *_find_tied_rules(plan),
        *_find_contradicting(plan, table),
        *_find_costly_diversity(plan, table),
    ]
    if not plan.search:
        found.append("no search is named: `mask`, `assess` and `release` can use the plan, `run` cannot")
    return [*found, *(text for use in plan.use for text in _use_remark(use))]


def _find_undecided(table: Table) -> list[str]:
    """Columns that nobody decided about."""
    names = listing(table.names_by_role(Role.UNDECIDED), most=40)
    text = f"no release before somebody decides about {names}: give each a role other than undecided"
    return [text] if names else []


def _find_unmasked(plan: Plan, table: Table) -> list[str]:
    """Columns that intruders know and nothing masks."""
    masked = set(table.names_by_role(Role.QUASI_IDENTIFIER))
    known = [[name for name in each.knows if name in table.names and name not in masked] for each in plan.scenario]
    return [
        f"scenario[{number}]: {listing(names)} is known to the intruder and not masked (its role is not quasi)"
        for number, names in enumerate(known, 1)
        if names
    ]


def _is_uncovered(plan: Plan, table: Table) -> bool:
    """Whether no demand speaks of an intruder who knows every quasi-identifier."""
    covering = [*(each.knows for each in plan.scenario), *(model.known_columns(table) for model in plan.models())]
    return bool(plan.scenario) and not any(set(columns) >= set(table.quasi_identifiers) for columns in covering)


def _find_uncovered(plan: Plan, table: Table) -> list[str]:
    """That no demand speaks of an intruder who knows every quasi-identifier."""
    text = (
        f"no demand covers an intruder who knows all {len(table.quasi_identifiers)} quasi-identifiers; the risk to one "
        f"who does is shown beside every solution"
    )
    return [text] if _is_uncovered(plan, table) else []


def _find_silent(plan: Plan, table: Table) -> list[str]:
    """Scenarios that alone protect a file and give no reason why their intruder knows nothing else."""
    silent = [each.name for each in plan.scenario if not each.because.strip()]
    text = f'no release before {listing(map(repr, silent))} says why nobody knows the rest: because = "…"'
    return [text] if silent and _is_uncovered(plan, table) else []


def _wildcards(plan: Plan, table: Table) -> list[str]:
    """Demands that let a missing value equal every value, where columns have missing values."""
    return [
        f'{registered.name_of(model)}: missing = "wildcard" lets a missing value of '
        f"{listing(model.known_columns(table))} equal every value, which overstates protection; "
        f'"target" counts by the true values'
        for model in plan.models()
        if isinstance(model, KAnonymity) and model.missing == "wildcard" and model.remark(table)
    ]


def _find_contradicting(plan: Plan, table: Table) -> list[str]:
    """Searches whose solutions are refused, because members of households contradict each other or are not alike."""
    limited = any(each.measure == CONTRADICTIONS and each.at_most > 0 for each in plan.limit)
    whole = any(isinstance(model, HouseholdKAnonymity) for model in plan.models())
    found = []
    for number, choice in enumerate(plan.search, 1):
        kind, where = searches[choice.name], f"search[{number}] ({choice.name})"
        drawback = "" if limited else contradiction_drawback(kind, table)
        if drawback:
            found.append(f"{where}: {drawback[0].lower()}{drawback[1:]}; name the search households")
        elif whole and not kind.groups_households:
            found.append(
                f"{where}: it does not make households alike in all of their members, which household-k-anonymity "
                f"demands; name the search households"
            )
    return found


COSTLY = 3
"""Times the demanded class size from which classes that l-diversity makes so large are worth a remark."""


def _find_costly_diversity(plan: Plan, table: Table) -> list[str]:
    """Columns of which l-diversity demands so much that few classes can be left.

    Every class needs a record beside those with the l - 1 commonest values, so there are at most so many classes.
    """
    least = max([model.least_class_size for model in plan.models()] or [1])
    found = []
    for model in (each for each in plan.models() if isinstance(each, LDiversity) and each.kind == "distinct"):
        for name in model.confidential or table.confidential:
            counts = np.sort(np.unique(table.codes([name])[:, 0], return_counts=True)[1])[::-1]
            rest = int(counts[int(model.l) - 1 :].sum())
            if 0 < rest * COSTLY * least < len(table):
                common = "commonest value" if model.l == 2 else f"{model.l - 1:g} commonest values"
                found.append(
                    f"l-diversity of {name} costs much: beside its {common} it has {rest} records, so that at most "
                    f"{rest} classes are left, of {len(table) / rest:.0f} records on average; demand it of fewer "
                    f"columns where that matters more"
                )
    return found


def _find_tied_rules(plan: Plan) -> list[str]:
    """Rules over columns that no scenario knows together: these are masked together all the same."""
    limited = [(n, read_rule(each.holds).columns) for n, each in enumerate(plan.rule, 1) if each.at_most is not None]
    known = [set(scenario.knows) for scenario in plan.scenario]
    return [
        f"rule[{number}]: it ties {listing(columns)} of different scenarios, which are masked together for it; "
        f"drop the rule to mask them apart"
        for number, columns in limited
        if sum(not some.isdisjoint(columns) for some in known) > 1 and not any(map(set(columns).issubset, known))
    ]


def _find_broken_rules(plan: Plan, table: Table) -> list[str]:
    """Rules that records break as collected."""
    found = []
    for number, each in enumerate(plan.rule, 1):
        rule = read_rule(each.holds)
        count = 0 if rule_obstacle(rule, table) else int(violations(rule, table, collected=True).sum())
        if count:
            found.append(f"rule[{number}]: {count} records break it as collected; only those that masking adds count")
    return found


def _dependences(plan: Plan, table: Table, look_at: int) -> list[str]:
    """Columns that determine quasi-identifiers, and those that would restore some of their masked values."""
    alone = {name for choice in plan.mask for name in choice.build().columns}
    table, drawn = _some(table.drop(_columns_made_anew(plan, table)), look_at)
    certain = find_determining_dependence(table)
    found = [
        f"{name} determines {listing(targets)} in at least 99 % of the records{drawn} and may restore what is masked "
        f"there: no release while it does; give it the role quasi or identifier, or a reason in a [[waive]] table"
        for name, targets in certain.items()
    ]
    for each in preview_restoring_columns(table):
        name, target = each.columns[:2]
        telling = each.share > MOST_RESTORED or table.attribute(name).role is Role.WEIGHT
        if telling and name not in certain and name not in alone:
            found.append(
                f"{name} shows the {target} of {each.records} records{drawn} beyond chance: no release if that is more "
                f"than {100 * MOST_RESTORED:g} % of what is masked there; give it the role quasi or identifier, or a "
                f"reason in a [[waive]] table"
            )
    return found


def _some(table: Table, look_at: int) -> tuple[Table, str]:
    """The table, or records of a large one drawn at random, always the same; and what to say about it."""
    if len(table) <= look_at:
        return table, ""
    rows = np.sort(np.random.default_rng(0).choice(len(table), look_at, replace=False))
    return table.take(rows), f" ({look_at} drawn were looked at)"


class _Assumed(NamedTuple):
    """Confidential columns by which people will be found: by name without a reason, and what is said of others."""

    unstated: dict[str, str]
    stated: list[str]


def _assumptions(plan: Plan, table: Table) -> _Assumed:
    """Confidential columns by which people will be found if somebody outside knows them, and what was said of them."""
    reasons = {each.column: each.because for each in plan.waive if each.finding is FindingKind.ASSUMPTION}
    reasons |= {n: plan.columns[n].because for n in table.confidential if n not in plan.list_unstated()}
    found, stated = _Assumed({}, []), dict[str, list[Finding]]()
    for each in preview_findings(table.drop(_columns_made_anew(plan, table))):
        name = each.columns[0]
        if name in reasons:
            stated.setdefault(reasons[name], []).append(each)
        else:
            found.unstated[name] = (
                f'{_foretell(each)}: no release before {name} has the role quasi, or because = "…" in its line says '
                f"why nobody outside knows it"
            )
    for reason, findings in stated.items():
        worst, names = max(findings, key=lambda each: each.share), listing([each.columns[0] for each in findings], 40)
        found.stated.append(f"the plan says why nobody outside knows {names}: {reason}; {_foretell(worst)}")
    return found


def _foretell(finding: Finding) -> str:
    """What an audit will find, read off the file as collected."""
    return f"{attack_finding_text(finding)}, about, where the other columns are masked"


def _columns_made_anew(plan: Plan, table: Table) -> list[str]:
    """Columns that are not published as collected: derived ones that follow from masked ones, and treated weights."""
    masked = {*table.quasi_identifiers, *(name for choice in plan.mask for name in choice.build().columns)}
    treated = [each.name for each in table.attributes if each.publish]
    for name in order_derived(table):
        if masked & set(read_derivation(table.attribute(name).derived).columns):
            masked.add(name)
    return [*treated, *(each.name for each in table.attributes if each.derived and each.name in masked)]


def _weights(table: Table) -> list[str]:
    """What a weight will reveal that is treated before it is published, tried on a roughly masked table."""
    if not any(each.publish for each in table.attributes) or not table.quasi_identifiers or weight_obstacle(table):
        return []
    return [
        f"{attack_finding_text(each)}, about, as the weight is to be published: no release while it does; publish it "
        f"in another way, such as raked, or give a reason in a [[waive]] table"
        for each in preview_weight_findings(table)
    ]


class _SingledOut(NamedTuple):
    """Columns nobody will mask in which many stand alone: those that stop a release, and those with a reason."""

    refused: list[str]
    waived: list[str]


def _single(plan: Plan, table: Table) -> _SingledOut:
    """Columns nobody will mask in which many stand alone, and what was decided about them."""
    waivers, alone = plan.waivers(), {name for choice in plan.mask for name in choice.build().columns}
    found = _SingledOut([], [])
    left = table.drop(
        {*table.names_by_role(*UNPUBLISHED, Role.QUASI_IDENTIFIER), *alone, *_columns_made_anew(plan, table)}
    )
    for each in singling_out(Published(left, unstated=frozenset(plan.list_unstated()))):
        (name,) = each.columns
        share = f"{name} singles out {100 * each.share:.3g} % of the records by itself, {each.records}"
        reason = published_finding_reason(each, waivers)
        if reason:
            found.waived.append(f"{share}, which is waived: {reason}")
        elif each.refuses:
            found.refused.append(
                f"{share}: no release before it has the role quasi or identifier, a [[mask]] table masks it, or a "
                f"[[waive]] table gives a reason"
            )
    return found


def _use_remark(use: Use) -> list[str]:
    if use.tolerance >= 100 and use.treated_as != "report":
        return [f"use {use.title!r}: a tolerance of {use.tolerance:g} % limits nothing"]
    return []


def _estimates(plan: Plan, table: Table) -> list[Estimate]:
    """The size of every search: nothing is posed, made or scored."""
    copies = LIBRARIES + sum(column.nbytes for column in table.columns) * COPIES / 1e6
    return [
        Estimate(choice.name, search.candidates(table), copies + float(getattr(search, "memory", 0.0)))
        for choice, search in zip(plan.search, plan.searches(), strict=True)
    ]
