"""The Goal page: requirements, limits, intruders, uses, searches, and an estimate of what they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from crypsis.errors import CrypsisError, PlanError
from crypsis.measures.uses import uses
from crypsis.plan.checking import check_before_run
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
from crypsis.studio.forms import COLUMN_SKIPPED, Entry, Form, answers, form_entries, number, one
from crypsis.studio.responses import answer, refusal, route_get_responses, route_post_responses
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

    def show_proposed(request: Request) -> Response:
        return JSONResponse(_propose_rules(studio.session) if studio.session.reading.done else [])

    def save(request: Request, form: Form) -> Response:
        session = studio.session
        if one(form, "rulebook") != session.choices.rulebook:
            session.change(rulebook=one(form, "rulebook"), waivers=split_waivers(session.choices.waivers)[1])
        with session.lock:
            document, message = apply_goal_page(session.document, form, _quasi(session.document))
            problems = session.save(document)
        if problems:
            return refusal(*problems)
        stamp = session.stamps()[0]
        if one(form, "do") == "note":
            return answer(message, stamp=stamp)
        return answer(message, parts={"goal-form": studio.render("goal_form.html", goal=_goal(session))}, stamp=stamp)

    def estimate(request: Request, form: Form) -> Response:
        return studio.part("estimate.html", found=check_before_run(studio.session.plan_path))

    return [
        route_get_responses("/goal", page),
        route_get_responses("/goal/form", fields),
        route_get_responses("/goal/obstacles", obstacles),
        route_get_responses("/goal/proposed", show_proposed),
        route_post_responses("/goal", save),
        route_post_responses("/goal/check", estimate),
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
        "rules": [form_entries(RuleDemand, item, columns) for item in document.get("rule", [])],
        "known_limits": [*AXES, *_limitable()],
        "uses": [(i["measure"], _of(Use, measures, "measure", i, columns)) for i in document.get("use", [])],
        "known_uses": {name: cls.in_brief() for name, cls in uses().items()},
        "searches": [_search(name, chosen.get(name), columns) for name in searches],
        "run": form_entries(Running, document.get("run", {}), (), skip=("seed", "scheduler")),
        "release": form_entries(Release, document.get("release", {}), ()),
    }


def _column(document: dict[str, Any], name: str) -> dict[str, Entry]:
    """What matters in a quasi-identifier: importance, largest loss, lock, and the column it is linked to."""
    others = [each for each in _quasi(document) if each != name]
    return {e.name: e for e in form_entries(Column, document["columns"][name], others, skip=COLUMN_SKIPPED)}


def _limitable() -> list[str]:
    """Measures that can be limited, risks first; uses have tolerances instead."""
    low = [name for name in measures if measures[name].better == "low" and name not in uses()]
    return sorted(low, key=lambda name: measures[name].aim != "risk")


def _demands(where: dict[str, Any], columns: list[str]) -> list[tuple[str, list[Entry]]]:
    """Privacy models, in general or against one intruder, with their fields."""
    return [(item["model"], _of(Requirement, models, "model", item, columns)) for item in where.get("require", [])]


def _of(kind: Any, registry: Any, key: str, item: dict[str, Any], columns: list[str]) -> list[Entry]:
    """The fields of an entry of the plan, then the settings of what it names."""
    own = form_entries(kind, item, columns, skip=(key,))
    name = item[key]
    return own + (form_entries(registry[name], item, columns) if name in registry else [])


def _search(name: str, given: dict[str, Any] | None, columns: list[str]) -> dict[str, Any]:
    cls = searches[name]
    fields = form_entries(SearchChoice, given or {}, columns, skip=("name",)) + form_entries(cls, given or {}, columns)
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


Document = dict[str, Any]


_LISTS: dict[str, tuple[type[Any], Any, str]] = {
    "require": (Requirement, models, "model"),
    "limit": (Limit, measures, "measure"),
    "use": (Use, measures, "measure"),
    "rule": (RuleDemand, (), "holds"),
}


def apply_goal_page(document: Document, form: Form, quasi: Sequence[str]) -> tuple[Document, str]:
    """The Goal page: the document with the requirements answered there, and a sentence about what changed."""
    document = {**document}
    for section in _LISTS:
        if f"{section}.count" in form or section != "rule":
            document[section] = _list(section, section, form, document.get(section, ()))
    document["columns"] = _columns(form, document.get("columns", {}))
    document["scenario"] = _scenarios(form, document.get("scenario", []))
    document["search"] = _searches(form, document.get("search", ()))
    before = document.get("run", {})
    document["run"] = {
        **{name: value for name, value in before.items() if name in ("seed", "scheduler")},
        **answers(Running, form, "run", ("seed", "scheduler"), said=before),
    }
    document["release"] = answers(Release, form, "release", said=document.get("release", {}))
    message = _act(document, form, quasi)
    return {key: value for key, value in document.items() if value or key == "data"}, message


def _count(form: Form, section: str) -> int:
    text = one(form, f"{section}.count", "0")
    return min(int(text), 200) if text.isdigit() else 0


def _list(section: str, name: str, form: Form, before: Sequence[Document]) -> list[Document]:
    """The rows of a list in the form; a default that the plan names stays in it."""
    kind, registry, key = _LISTS[section]
    found = []
    for place in range(_count(form, name)):
        prefix = f"{name}-{place}"
        title = one(form, f"{prefix}.{key}")
        if not title or one(form, "do") == f"drop:{name}:{place}":
            continue
        old = before[place] if place < len(before) and before[place].get(key) == title else {}
        item: Document = {key: title, **answers(kind, form, prefix, (key,), said=old)}
        if title in registry:
            item |= answers(registry[title], form, prefix, said=old)
        found.append(item)
    return found


def _columns(form: Form, before: Document) -> Document:
    """What matters in each column of the form; columns that it does not show stay as they are."""
    made = {name: {**said} for name, said in before.items()}
    for place in range(_count(form, "column")):
        prefix = f"column-{place}"
        name = one(form, f"{prefix}.column")
        if name not in made:
            continue
        said = made[name]
        shown = answers(Column, form, prefix, COLUMN_SKIPPED, said=set(said) - {"lock"})
        hidden = {key: value for key, value in said.items() if key in COLUMN_SKIPPED}
        made[name] = hidden | shown
    return made


def _scenarios(form: Form, before: Sequence[Document]) -> list[Document]:
    """Intruders: name, known columns and requirements."""
    found = []
    for place in range(_count(form, "scenario")):
        if one(form, "do") == f"drop:scenario:{place}":
            continue
        old = before[place] if place < len(before) else {}
        name = f"scenario-{place}"
        knows = [text for text in form.get(f"{name}.knows", ()) if text]
        demands = _list("require", f"{name}-require", form, old.get("require", ()))
        if one(form, "do") == f"add:{name}-require":
            demands.append({"model": one(form, f"new.{name}-require")})
        found.append({"name": one(form, f"{name}.name"), "knows": knows, **({"require": demands} if demands else {})})
    return found


def _searches(form: Form, before: Any) -> list[Document]:
    message = {item["name"]: item for item in ([before] if isinstance(before, dict) else before)}
    found = []
    ticked = form.get("search", ())
    for name in dict.fromkeys([*(name for name in message if name in ticked), *ticked]):  # the plan's order stays
        if name in searches:
            prefix, old = f"search-{name}", message.get(name, {})
            own = answers(SearchChoice, form, prefix, ("name",), said=old)
            found.append({"name": name, **own, **answers(searches[name], form, prefix, said=old)})
    return found


def _act(document: Document, form: Form, quasi: Sequence[str]) -> str:
    """Carry out the button that was pressed, other than Save."""
    verb, _, what = one(form, "do", "save").partition(":")
    if verb == "add":
        section, name = what, one(form, f"new.{what}")
        if section not in (*_LISTS, "scenario"):
            return f"Added {name} to the intruder; correct it and save."
        document[section] = [*document.get(section, ()), _new(section, name, document, quasi)]
        return "Added the rule." if section == "rule" else f"Added {name or section}; correct it and save."
    if verb == "drop":
        return "Removed."
    if verb == "rulebook":
        return _follow(document, one(form, "rulebook"))
    return "The goal is saved."


def _new(section: str, name: str, document: Document, quasi: Sequence[str]) -> Document:
    if section == "scenario":
        return {"name": f"intruder {len(document.get('scenario', ())) + 1}", "knows": list(quasi)}
    if section == "rule":
        if not name:
            raise PlanError("write the rule to add first, e.g. start <= end")
        return {"holds": name}
    if section == "limit":
        return {"measure": name or "risk", "at_most": 20}
    if section == "use":
        numbers = [n for n, c in document.get("columns", {}).items() if c.get("kind") == "numeric"]
        numbers = [n for n in numbers if document["columns"][n].get("role") != "identifier"]
        if name not in uses():
            raise PlanError("choose the use to add first")
        return {"measure": name, "tolerance": 10, **uses()[name].first_settings(numbers, quasi)}
    if not name:
        raise PlanError("choose what to add first")
    return {"model": name}


def _follow(document: Document, name: str) -> str:
    """Add the demands of a rulebook to the plan."""
    if not name:
        return "No rulebook is chosen."
    book = read_rulebook(name)
    added = []
    for model in book.requirements():
        title = models.name_of(model)
        settings = model.model_dump(mode="json", exclude_unset=True)
        others = [item for item in document.get("require", ()) if item["model"] != title]
        document["require"] = [*others, {"model": title, **settings}]
        added.append(title)
    for rule in book.rule:
        if getattr(rule, "demand", "") == "risk":
            measure, most = str(getattr(rule, "measure", "")), float(getattr(rule, "at_most", 0.0))
            others = [item for item in document.get("limit", ()) if item["measure"] != measure]
            document["limit"] = [*others, {"measure": measure, "at_most": number(f"{most:g}")}]
            added.append(measure)
        if getattr(rule, "demand", "") == "suppression":
            document["release"] = {**document.get("release", {}), "suppression": f"{getattr(rule, 'at_most', 0):g}%"}
    return f"The plan now has the demands of {book.title}: {', '.join(added)}."
