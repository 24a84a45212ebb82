"""The check before a run: every problem of plan, data and hierarchies at once, and an estimate of time and memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from crypsis.audits.dependence import MOST_RESTORED, determining, restoring
from crypsis.audits.exposure import singling_out
from crypsis.audits.published import Published
from crypsis.errors import TableError, listing, suggestion
from crypsis.measures.measure import Measure
from crypsis.plan.budget import read_budget
from crypsis.plan.document import Plan, load
from crypsis.plan.sections import Use
from crypsis.searches.search import Search
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.rules import read_rule, rule_obstacle, violations
from crypsis.table.table import Table

LEAST_SECONDS, SECONDS_PER_CELL = 0.002, 1e-6
"""Seconds to score a candidate: at least, and for each record and quasi-identifier; as on census records."""
CHILDREN = 10
"""Candidates of a usual generation."""
COPIES = 16
"""Tables of the size of the original that a search keeps at once: decoded ones, genomes and neighbours."""


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of one search, from counts and rates.

    candidates  number of candidates, where the search knows it
    evaluations  candidates that the budget allows
    """

    search: str
    candidates: float | None
    evaluations: float
    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Check:
    """The result of a check.

    problems  what must be corrected
    rows  records of the table
    estimates  cost of each search
    """

    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    rows: int = 0
    estimates: tuple[Estimate, ...] = field(default=())

    @property
    def sound(self) -> bool:
        """Whether there is no problem."""
        return not self.problems


def check(path: str | Path, *, estimate: bool = True) -> Check:
    """Check a plan, its data and its hierarchies.

    estimate  whether to estimate the cost of the searches
    returns  all problems at once
    """
    path = Path(path)
    plan, problems = Plan.understand(load(path))
    if plan is None:
        return Check(tuple(problems))
    table, unread = _table(plan, path.parent)
    problems += unread
    if table is None:
        return Check(tuple(problems))
    # Searches would only miss the hierarchies that cannot be read, which are reported already.
    problems += against(plan.model_copy(update={"search": ()}) if unread else plan, table)
    notes = (*table.notes, *_remarks(plan, table))
    estimates = () if problems or not estimate else tuple(_estimates(plan, table))
    return Check(tuple(problems), notes, len(table), estimates)


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
        *_columns(plan, table),
        *_models(plan, table),
        *search_obstacles(plan, table),
        *_readings(plan, table),
    ]


def _columns(plan: Plan, table: Table) -> list[str]:
    named = [(f"columns.{name}", name) for name in plan.columns]
    named += [(f"waive[{n}].column", each.column) for n, each in enumerate(plan.waive, 1)]
    named += [(f"scenario[{n}].knows", c) for n, each in enumerate(plan.scenario, 1) for c in each.knows]
    return [
        f"{where}: the file has no column {name!r}{suggestion(name, table.names)}; columns: {listing(table.names)}"
        for where, name in named
        if name not in table.names
    ]


def _models(plan: Plan, table: Table) -> list[str]:
    found = []
    demands = [(f"require[{n}]", item.build()) for n, item in enumerate(plan.require, 1)]
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
    return found


def search_obstacles(plan: Plan, table: Table) -> list[str]:
    """Why searches of a plan do not apply to a table."""
    found = []
    for number, choice in enumerate(plan.search, 1):
        obstacle = choice.build().obstacle(table)
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


def _remarks(plan: Plan, table: Table) -> list[str]:
    """Remarks that are no problems."""
    found = []
    undecided = table.named(Role.UNDECIDED)
    if undecided:
        found.append(
            f"no release before somebody decides about {listing(undecided, most=40)}: give each a role other than "
            f"undecided"
        )
    found += _broken(plan, table)
    found += _single(plan, table)
    found += _dependences(plan, table)
    for number, each in enumerate(plan.scenario, 1):
        unmasked = [n for n in each.knows if n in table.names and table.attribute(n).role is not Role.QUASI_IDENTIFIER]
        if unmasked:
            found.append(
                f"scenario[{number}]: {listing(unmasked)} is known to the intruder and not masked (its role is not "
                f"quasi)"
            )
    if not plan.require and not any(each.require for each in plan.scenario):
        found.append("no privacy model is required: require one before a release")
    if not plan.search:
        found.append("no search is named: `mask`, `assess` and `release` can use the plan, `run` cannot")
    for use in plan.use:
        found += _use_remark(use)
    return found


def _broken(plan: Plan, table: Table) -> list[str]:
    """Rules that records break as collected."""
    found = []
    for number, each in enumerate(plan.rule, 1):
        rule = read_rule(each.holds)
        count = 0 if rule_obstacle(rule, table) else int(violations(rule, table, collected=True).sum())
        if count:
            found.append(f"rule[{number}]: {count} records break it as collected; only those that masking adds count")
    return found


def _dependences(plan: Plan, table: Table) -> list[str]:
    """Columns that determine quasi-identifiers, and those that would restore some of their masked values."""
    alone = {name for choice in plan.mask for name in choice.build().columns}
    certain = determining(table)
    found = [
        f"{name} determines {listing(targets)} in at least 99 % of the records and may restore what is masked there: "
        f"no release while it does; give it the role quasi or identifier, or a reason in a [[waive]] table"
        for name, targets in certain.items()
    ]
    for each in restoring(table):
        name, target = each.columns[:2]
        telling = each.share > MOST_RESTORED or table.attribute(name).role is Role.WEIGHT
        if telling and name not in certain and name not in alone:
            found.append(
                f"{name} shows the {target} of {each.records} records beyond chance: no release if that is more than "
                f"{100 * MOST_RESTORED:g} % of what is masked there; give it the role quasi or identifier, or a reason "
                f"in a [[waive]] table"
            )
    return found


def _single(plan: Plan, table: Table) -> list[str]:
    """Columns nobody will mask in which many stand alone, and what was decided about them."""
    waivers, alone = plan.waivers(), {name for choice in plan.mask for name in choice.build().columns}
    found = []
    left = table.drop([*table.named(*UNPUBLISHED, Role.QUASI_IDENTIFIER), *alone])
    for each in singling_out(Published(left)):
        (name,) = each.columns
        share = f"{name} singles out {100 * each.share:.3g} % of the records by itself"
        if each.key in waivers:
            found.append(f"{share}, which is waived: {waivers[each.key]}")
        else:
            found.append(
                f"{share}: no release before it has the role quasi or identifier, or a [[waive]] table gives a reason"
            )
    return found


def _use_remark(use: Use) -> list[str]:
    if use.tolerance >= 100 and use.treated_as != "report":
        return [f"use {use.title!r}: a tolerance of {use.tolerance:g} % limits nothing"]
    return []


def _estimates(plan: Plan, table: Table) -> list[Estimate]:
    return [
        _estimate(choice.name, search, plan, table) for choice, search in zip(plan.search, plan.searches(), strict=True)
    ]


def _estimate(name: str, search: Search, plan: Plan, table: Table) -> Estimate:
    """What a search takes, from counts and rates alone: nothing is posed, made or scored."""
    once = LEAST_SECONDS + SECONDS_PER_CELL * len(table) * max(len(table.quasi_identifiers), 1)
    budget = read_budget(plan.run.budget) if plan.run.budget else search.budget()
    if math.isfinite(budget.seconds):
        seconds = budget.seconds / max(len(plan.search), 1)
        evaluations = max(1.0, seconds / once)
    else:
        each = budget.evaluations if math.isfinite(budget.evaluations) else CHILDREN * budget.generations
        evaluations, seconds = each, once * each
    bytes_ = sum(column.nbytes for column in table.columns) * COPIES
    megabytes = bytes_ / 1e6 + float(getattr(search, "memory", 0.0))
    return Estimate(name, search.candidates(table), evaluations, seconds, megabytes)
