"""The Goal page: requirements, limits, intruders, uses, searches, and an estimate of what they take."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from crypsis.errors import CrypsisError
from crypsis.measures.uses import uses
from crypsis.plan.checking import check
from crypsis.plan.document import Plan
from crypsis.plan.sections import (
    AXES,
    Column,
    Limit,
    Release,
    Requirement,
    RuleDemand,
    Running,
    SearchChoice,
    Use,
    measures,
    models,
    searches,
)
from crypsis.release.findings import split_waivers
from crypsis.rulebook import check_planned, read_rulebook, shipped_names
from crypsis.studio.forms import COLUMN_SKIPPED, Entry, Form, apply_goal, entries, one
from crypsis.studio.responses import answer, get, post, refusal
from crypsis.studio.session import WAIT, Session
from crypsis.studio.studio import Studio
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.rules import proposed_rules


def routes(studio: Studio) -> list[Route]:
    """The form, saving it, and the check of the plan."""

    def page(request: Request) -> Response:
        studio.session.reading.wait(WAIT)
        return studio.page(
            "goal", lambda: {"goal": _goal(studio.session) if studio.session.plan_path.exists() else None}
        )

    def fields(request: Request) -> Response:
        return studio.part("goal_form.html", goal=_goal(studio.session))

    def obstacles(request: Request) -> Response:
        return JSONResponse(_obstacles(studio.session) if studio.session.reading.done else {})

    def proposed(request: Request) -> Response:
        return JSONResponse(_propose_rules(studio.session) if studio.session.reading.done else [])

    def save(request: Request, form: Form) -> Response:
        session = studio.session
        if one(form, "rulebook") != session.choices.rulebook:
            session.change(rulebook=one(form, "rulebook"), waivers=split_waivers(session.choices.waivers)[1])
        with session.lock:
            document, message = apply_goal(session.document, form, _quasi(session.document))
            problems = session.save(document)
        if problems:
            return refusal(*problems)
        stamp = session.stamps()[0]
        if one(form, "do") == "note":
            return answer(message, stamp=stamp)
        return answer(message, parts={"goal-form": studio.render("goal_form.html", goal=_goal(session))}, stamp=stamp)

    def estimate(request: Request, form: Form) -> Response:
        return studio.part("estimate.html", found=check(studio.session.plan_path))

    return [
        get("/goal", page),
        get("/goal/form", fields),
        get("/goal/obstacles", obstacles),
        get("/goal/proposed", proposed),
        post("/goal", save),
        post("/goal/check", estimate),
    ]


def _quasi(document: dict[str, Any]) -> list[str]:
    return [n for n, c in document.get("columns", {}).items() if c.get("role") == Role.QUASI_IDENTIFIER]


def _goal(session: Session) -> dict[str, Any]:
    """The content of the form, from the plan."""
    document = session.document
    columns = [n for n, c in document.get("columns", {}).items() if c.get("role") not in UNPUBLISHED]
    search = document.get("search", [])
    search = [search] if isinstance(search, dict) else search
    chosen = {item["name"]: item for item in search}
    return {
        "rulebooks": [(name, read_rulebook(name)) for name in shipped_names()],
        "rulebook": session.choices.rulebook,
        "book": read_rulebook(session.choices.rulebook) if session.choices.rulebook else None,
        "planned": _plan_rules(session),
        "quasi": _quasi(document),
        "scenarios": [{**each, "models": _demands(each, columns)} for each in document.get("scenario", [])],
        "models": _demands(document, columns),
        "known_models": {name: models[name].in_brief() for name in models},
        "limits": [(i["measure"], _of(Limit, measures, "measure", i, columns)) for i in document.get("limit", [])],
        "columns": [(name, _column(document, name)) for name in _quasi(document)],
        "rules": [entries(RuleDemand, item, columns) for item in document.get("rule", [])],
        "known_limits": [*AXES, *_limitable()],
        "uses": [(i["measure"], _of(Use, measures, "measure", i, columns)) for i in document.get("use", [])],
        "known_uses": {name: cls.in_brief() for name, cls in uses().items()},
        "searches": [_search(name, chosen.get(name), columns) for name in searches],
        "run": entries(Running, document.get("run", {}), (), skip=("seed", "scheduler")),
        "release": entries(Release, document.get("release", {}), ()),
    }


def _column(document: dict[str, Any], name: str) -> dict[str, Entry]:
    """What matters in a quasi-identifier: importance, largest loss, lock, and the column it is linked to."""
    others = [each for each in _quasi(document) if each != name]
    return {e.name: e for e in entries(Column, document["columns"][name], others, skip=COLUMN_SKIPPED)}


def _limitable() -> list[str]:
    """Measures that can be limited, risks first; uses have tolerances instead."""
    low = [name for name in measures if measures[name].better == "low" and name not in uses()]
    return sorted(low, key=lambda name: measures[name].aim != "risk")


def _demands(where: dict[str, Any], columns: list[str]) -> list[tuple[str, list[Entry]]]:
    """Privacy models, in general or against one intruder, with their fields."""
    return [(item["model"], _of(Requirement, models, "model", item, columns)) for item in where.get("require", [])]


def _of(kind: Any, registry: Any, key: str, item: dict[str, Any], columns: list[str]) -> list[Entry]:
    """The fields of an entry of the plan, then the settings of what it names."""
    own = entries(kind, item, columns, skip=(key,))
    name = item[key]
    return own + (entries(registry[name], item, columns) if name in registry else [])


def _search(name: str, given: dict[str, Any] | None, columns: list[str]) -> dict[str, Any]:
    cls = searches[name]
    fields = entries(SearchChoice, given or {}, columns, skip=("name",)) + entries(cls, given or {}, columns)
    common = [entry for entry in fields if entry.name in ("k", "missing", "budget")]
    return {
        "name": name, "words": cls.in_brief(), "family": str(cls.family.value), "on": given is not None,
        "fields": common, "more": [entry for entry in fields if entry not in common],
    }  # fmt: skip


def _obstacles(session: Session) -> dict[str, str]:
    """Why searches do not apply to the table; apart from the page, which must not wait for the table."""
    table, found = session.table, {}
    for name in searches:
        try:
            obstacle = searches[name]().obstacle(table)
        except (CrypsisError, ValueError) as error:
            obstacle = str(error)
        if obstacle:
            found[name] = f"Does not apply: {obstacle}"
    return found


def _propose_rules(session: Session) -> list[str]:
    """Rules that the file keeps without exception and the plan does not have yet."""
    document, table = session.document, session.table
    known = {item.get("holds") for item in document.get("rule", [])}
    shown = [n for n, c in document.get("columns", {}).items() if c.get("role") not in UNPUBLISHED]
    found = proposed_rules(table, [name for name in shown if name in table.names], _quasi(document))
    return [each.rule for each in found if each.rule not in known]


def _plan_rules(session: Session) -> list[Any]:
    """The rules of the rulebook that a plan alone can keep or break."""
    name = session.choices.rulebook
    if not name:
        return []
    try:
        plan: Plan = session.plan
        published = [n for n, c in plan.columns.items() if c.role not in UNPUBLISHED]
        return check_planned(
            read_rulebook(name),
            models=plan.models(),
            columns=published,
            suppression=plan.suppression,
            order=plan.release.order,
            risk_limits={limit.measure: limit.at_most for limit in plan.limit},
        )
    except CrypsisError:
        return []
