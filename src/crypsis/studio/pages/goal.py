"""The Goal page: requirements, limits, intruders, uses, searches, and an estimate of what they take."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from crypsis.errors import CrypsisError, PlanError, listing
from crypsis.measures.estimate_use import EstimateUse
from crypsis.measures.uses import uses
from crypsis.plan.checking import check_before_run
from crypsis.plan.document import Plan
from crypsis.plan.draft import TOLERATED, sets_known_together
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
    read_plan_share,
    searches,
)
from crypsis.privacy import PrivacyModel
from crypsis.release.findings import SHORTEST_REASON, split_waivers
from crypsis.rulebook import Rulebook, check_planned, read_rulebook, shipped_names
from crypsis.rulebook.rules import EVERY, OrderRule, RiskRule, SuppressionRule, model_implies
from crypsis.studio.columns import decide
from crypsis.studio.forms import COLUMN_SKIPPED, Entry, Form, answers, form_entries, number, one
from crypsis.studio.responses import answer, refusal, route_get_responses, route_post_responses
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio
from crypsis.studio.terms import limit_text
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.rules import proposed_rules


def routes(studio: Studio) -> list[Route]:
    """The form, saving it, and the check of the plan."""

    def page(request: Request) -> Response:
        studio.session.reading.wait_briefly()
        there = studio.session.plan_path.exists()
        return studio.page(
            "goal",
            lambda: {
                "goal": _goal(studio.session) if there else None,
                "asked": goal_questions(studio.session) if there else None,
            },
        )

    def fields(request: Request) -> Response:
        return studio.part("goal_form.html", goal=_goal(studio.session))

    def show_questions(request: Request) -> Response:
        return studio.part("goal_questions.html", asked=goal_questions(studio.session))

    def answer_one(request: Request, form: Form) -> Response:
        session = studio.session
        if one(form, "do") == "rulebook":
            session.change(rulebook=one(form, "rulebook"), waivers=split_waivers(session.choices.waivers)[1])
        with session.lock:
            document, message = answer_goal_question(session, form)
            problems = session.save(document)
        if problems:
            return refusal(*problems)
        parts = {
            "goal-questions": studio.render("goal_questions.html", asked=goal_questions(session)),
            "goal-form": studio.render("goal_form.html", goal=_goal(session)),
        }
        return answer(message, parts=parts, stamp=session.stamps()[0])

    def obstacles(request: Request) -> Response:
        return JSONResponse(_obstacles(studio.session) if studio.session.reading.done else {})

    def show_proposed(request: Request) -> Response:
        return JSONResponse(_propose_rules(studio.session) if studio.session.reading.done else [])

    def save(request: Request, form: Form) -> Response:
        session = studio.session
        if "rulebook" in form and one(form, "rulebook") != session.choices.rulebook:
            session.change(rulebook=one(form, "rulebook"), waivers=split_waivers(session.choices.waivers)[1])
        with session.lock:
            document, message = apply_goal_page(session.document, form, _quasi(session.document))
            problems = session.save(document)
        if problems:
            return refusal(*problems)
        stamp = session.stamps()[0]
        parts = {"goal-questions": studio.render("goal_questions.html", asked=goal_questions(session))}
        if one(form, "do") != "note":
            parts["goal-form"] = studio.render("goal_form.html", goal=_goal(session))
        return answer(message, parts=parts, stamp=stamp)

    def estimate(request: Request, form: Form) -> Response:
        return HTMLResponse(checked())

    def state_unknown(request: Request, form: Form) -> Response:
        """Say of confidential columns why nobody outside knows them, or protect them too; then check again."""
        session = studio.session
        names, reason = [name for name in form.get("column", ()) if name], one(form, "reason")
        if not names:
            raise PlanError("choose at least one column")
        if one(form, "do") == "protect":
            problems = decide(session, names, Role.QUASI_IDENTIFIER, "")
            message = f"{listing(names)}: masked with the other quasi-identifiers."
        elif len(reason) < SHORTEST_REASON:
            raise PlanError("write the reason in words, e.g. known to nobody outside the office")
        else:
            with session.lock:
                document = session.document
                for name in names:
                    document["columns"][name]["because"] = reason
                problems = session.save(document)
            message = f"{listing(names)}: nobody outside knows {'it' if len(names) == 1 else 'them'}."
        if problems:
            return refusal(*problems)
        parts = {
            "goal-questions": studio.render("goal_questions.html", asked=goal_questions(session)),
            "goal-form": studio.render("goal_form.html", goal=_goal(session)),
            "estimate": checked(),
        }
        return answer(message, parts=parts, stamp=session.stamps()[0])

    def checked() -> str:
        session = studio.session
        session.reading.wait()
        try:
            table = None if session.reading.problem else session.table
        except CrypsisError:
            table = None  # the check says every reason why it cannot be read
        found = check_before_run(session.plan_path, table=table, look_at=LOOKED_AT)
        unstated = {name: text.split(", about, where")[0] for name, text in found.unstated.items()}
        stops = [say_on_pages(each) for each in found.stops if each not in found.unstated.values()]
        notes = [say_on_pages(each) for each in found.notes]
        return studio.render(
            "estimate.html", found=found, stops=stops, notes=notes, unstated=unstated, budget=name_budget(session.plan)
        )

    return [
        route_get_responses("/goal", page),
        route_get_responses("/goal/form", fields),
        route_get_responses("/goal/obstacles", obstacles),
        route_get_responses("/goal/proposed", show_proposed),
        route_get_responses("/goal/questions", show_questions),
        route_post_responses("/goal/answer", answer_one),
        route_post_responses("/goal", save),
        route_post_responses("/goal/check", estimate),
        route_post_responses("/goal/unknown", state_unknown),
    ]


LOOKED_AT = 10_000
"""Records on which the page rests what it says about dependences, so that it answers within two seconds."""
WORDS = {
    "or a reason in a [[waive]] table": "or accept it with a reason on the Release page",
    "a [[mask]] table masks it, or a [[waive]] table gives a reason": "or it is accepted with a reason on the Release "
    "page",
    'or because = "…" in its line says why nobody outside knows it': "or the Release page says why nobody outside "
    "knows it",
    ': because = "…"': " (in the plan)",
}
"""What a note says to write into a plan, and what is done instead on the pages."""


def say_on_pages(note: str) -> str:
    """A note of the check, with what the pages have for lines of the plan."""
    for line, words in WORDS.items():
        note = note.replace(line, words)
    return note


# -- The questions: the kind of release, and at most five that most files need.

BUDGETS = (
    ("10s", "ten seconds"),
    ("30s", "half a minute"),
    ("60s", "a minute"),
    ("5m", "five minutes"),
    ("30m", "half an hour"),
    ("2h", "two hours"),
)
K, L = "k-anonymity", "l-diversity"


def name_budget(plan: Plan) -> str:
    """How long the search of a plan takes, in words."""
    return dict(BUDGETS).get(str(plan.run.budget), plan.run.budget or "as long as each search finds more")


def goal_questions(session: Session) -> dict[str, Any]:
    """What the questions show, from the plan."""
    document, quasi = session.document, _quasi(session.document)
    require = {item["model"]: item for item in _demanded(document)}
    columns = document.get("columns", {})
    confidential = [n for n, c in columns.items() if c.get("role") == Role.CONFIDENTIAL]
    hidden = require[L].get("confidential") or confidential if L in require else []
    limit = next((item["at_most"] for item in document.get("limit", []) if item["measure"] == "risk"), None)
    name = session.choices.rulebook
    budget = str(document.get("run", {}).get("budget", ""))
    return {
        "rulebooks": [(each, read_rulebook(each), _demands_in_brief(read_rulebook(each))) for each in shipped_names()],
        "rulebook": name,
        "book": read_rulebook(name) if name else None,
        "planned": _plan_rules(session),
        "follows": _list_what_follows(document, name) if name else [],
        "quasi": quasi,
        "intruders": _list_intruders(document),
        "scenarios": document.get("scenario", []),
        "risk": limit,
        "k": require[K].get("k", models[K].model_fields["k"].default) if K in require else None,
        "k_over": require[K].get("quasi_identifiers") or quasi if K in require else quasi,
        "l": require[L].get("l", models[L].model_fields["l"].default) if L in require else None,
        "confidential": [(n, n in hidden) for n in confidential],
        "examples": _example_analyses(session),
        "uses": [str(item.get("name") or item["measure"]) for item in document.get("use", [])],
        "budgets": _list_budgets(session, budget),
        "budget": budget,
    }


SMALL_FILE = 5_000
"""Records up to which ten seconds of search find something."""
MOST_IN_BRIEF = 115
"""Characters in which the card of a rulebook says what it demands, if one rule does not take more."""
IN_FIGURES = ("model", "class-size", "cells", "risk", "ages", "dates", "postcodes")
"""Demands of rulebooks that tell them apart; the others are about names of columns, their order and reasons."""


def _list_budgets(session: Session, given: str) -> list[tuple[str, str]]:
    """How long a search may take: ten seconds where the file is small, and what the plan says."""
    seen = session.reading.profile
    offered = [each for each in BUDGETS if each[0] != BUDGETS[0][0] or (seen is not None and seen.rows <= SMALL_FILE)]
    return offered if not given or given in dict(offered) else [*offered, (given, dict(BUDGETS).get(given, given))]


def _demands_in_brief(book: Rulebook) -> str:
    """The demands by which a rulebook differs from others, and how many more there are."""
    telling = [rule for name in IN_FIGURES for rule in book.rule if rule.demand == name]
    shown = list[str]()
    for rule in telling:
        words = rule.statement().replace(f" over {EVERY}", "")
        if not shown or len("; ".join([*shown, words])) <= MOST_IN_BRIEF:
            shown.append(words)
    more = len(book.rule) - len(shown)
    return f"{'; '.join(shown)}{f'; {more} more rule' if more else ''}{'s' if more > 1 else ''}"


def answer_goal_question(session: Session, form: Form) -> tuple[dict[str, Any], str]:
    """The plan with one answer in it, and a sentence about what changed."""
    document, do = session.document, one(form, "do")
    if do == "rulebook":
        book = read_rulebook(one(form, "rulebook")) if one(form, "rulebook") else None
        return document, f"{book.title}: its rules are checked on the file." if book else "No rulebook is chosen."
    if do == "follow":
        return document, _follow(document, session.choices.rulebook)
    if do == "risk":
        return _with_entry(
            document, "limit", "measure", "risk", _read_number(form, "at_most", "risk"), "at most that many"
        )
    if do == "intruder":
        return _with_intruder(document, one(form, "intruder"))
    if do == "because":
        return _with_reason(document, one(form, "scenario"), one(form, "because"))
    if do == "k":
        return _with_demand(document, K, _read_number(form, "k", "k"), f"{K} is demanded")
    if do == "l":
        asked = [name for name in form.get("confidential", ()) if name]
        size = {"l": number(one(form, "l") or "2"), "confidential": asked} if asked else {}
        return _with_demand(document, L, size, f"{L} is demanded of {', '.join(asked)}")
    if do == "use":
        return _with_use(session, document, one(form, "analysis")), "The analysis is kept as well as possible."
    if do.startswith("drop-use:"):
        place = int(do.removeprefix("drop-use:")) if do.removeprefix("drop-use:").isdigit() else -1
        document["use"] = [item for at, item in enumerate(document.get("use", [])) if at != place]
        return {key: value for key, value in document.items() if value}, "The analysis is no longer declared."
    if do == "budget":
        document["run"] = {**document.get("run", {}), "budget": one(form, "budget")}
        return document, f"The search takes {one(form, 'budget')}."
    raise PlanError("there is no such question; load the page again")


def _read_number(form: Form, name: str, what: str) -> dict[str, Any]:
    """A number that was given; none takes the demand away."""
    text = one(form, name)
    if text and isinstance(number(text), str):
        raise PlanError(f"{what}: {text!r} is no number")
    return {name: number(text)} if text else {}


def _with_entry(
    document: dict[str, Any], section: str, key: str, name: str, settings: dict[str, Any], words: str
) -> tuple[dict[str, Any], str]:
    """The plan with an entry of a list changed, added, or removed where no settings are given."""
    before = list(document.get(section, []))
    old = next((item for item in before if item[key] == name), None)
    new = {**(old or {key: name}), **settings}
    if not settings:
        document[section] = [item for item in before if item is not old]
        return {k: v for k, v in document.items() if v or k == "data"}, f"{name} is no longer demanded."
    document[section] = [new if item is old else item for item in before] if old is not None else [*before, new]
    return document, f"{words}."


# -- Who may look for people: one who knows every quasi-identifier, or several who each know some of them.

ALL, APART, OWN = "all", "apart", "own"
"""One intruder who knows everything, one for each set that is known together, or those that the plan names."""
WHO = {"neighbour": "neighbours", "colleague": "colleagues", "acquaintance": "others"}


@dataclass(frozen=True)
class IntruderChoice:
    """An answer to the question who may look for people: its value, in words, what follows, and whether it is given."""

    value: str
    words: str
    follows: str
    chosen: bool


def _list_intruders(document: dict[str, Any]) -> list[IntruderChoice]:
    """The answers that the columns of a plan allow."""
    quasi, scenarios = _quasi(document), document.get("scenario", [])
    sets = _sets_by_who(quasi)
    known = [sorted(each["knows"]) for each in scenarios]
    apart = bool(scenarios) and known == [sorted(each) for each in sets.values()]
    everything = ", ".join(quasi) or "no column is a quasi-identifier yet"
    found = [IntruderChoice(ALL, "One who knows all quasi-identifiers of everybody", everything, not scenarios)]
    if len(sets) > 1:
        words = "; ".join(f"{WHO.get(name, name)}: {', '.join(knows)}" for name, knows in sets.items())
        found.append(IntruderChoice(APART, "Several, each of whom knows some of them and no more", words, apart))
    if scenarios and not apart:
        words = "; ".join(f"{each['name']}: {', '.join(each['knows'])}" for each in scenarios)
        found.append(IntruderChoice(OWN, "Those that the plan names", words, True))
    return found


def _sets_by_who(quasi: Sequence[str]) -> dict[str, list[str]]:
    """The quasi-identifiers by who may know them together: neighbours, colleagues, others."""
    found = dict[str, list[str]]()
    for name, knows in sets_known_together(quasi, many=0).items():
        found.setdefault(name.partition(" ")[0], []).extend(knows)
    return found


def _demanded(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Privacy models in general, and those of the first intruder."""
    return [*document.get("require", []), *(document.get("scenario") or [{}])[0].get("require", [])]


def _with_demand(
    document: dict[str, Any], model: str, settings: dict[str, Any], words: str
) -> tuple[dict[str, Any], str]:
    """The plan with a privacy model demanded, changed or removed: of every intruder where each has demands."""
    scenarios = document.get("scenario", [])
    if not scenarios or any(item["model"] == model for item in document.get("require", [])):
        return _with_entry(document, "require", "model", model, settings, words)
    message = ""
    for each in scenarios:
        changed, message = _with_entry({"require": each.get("require", [])}, "require", "model", model, settings, words)
        each.pop("require", None)
        each |= changed
    return document, message


def _with_intruder(document: dict[str, Any], chosen: str) -> tuple[dict[str, Any], str]:
    """The plan with what must hold moved to one intruder who knows everything, or to several who know some of it."""
    if chosen == OWN:
        return document, "The intruders of the plan stay."
    demands = {item["model"]: item for item in _demanded(document)}
    if chosen == ALL:
        document["require"] = list(demands.values())
        document.pop("scenario", None)
        return {
            k: v for k, v in document.items() if v or k == "data"
        }, "One intruder, who knows every quasi-identifier."
    sets = _sets_by_who(_quasi(document))
    if chosen != APART or len(sets) < 2:
        raise PlanError("these columns are not known apart; name the intruders and what each knows under Advanced")
    moved = [item for name, item in demands.items() if name in (K, L) and not item.get("quasi_identifiers")]
    document["require"] = [item for item in demands.values() if item not in moved]
    document["scenario"] = [
        {"name": name, "knows": knows, **({"require": [dict(item) for item in moved]} if moved else {})}
        for name, knows in sets.items()
    ]
    size = next((item.get("k") for item in moved if item["model"] == K), None) or models[K].model_fields["k"].default
    given = document.get("search", [])
    given = [given] if isinstance(given, dict) else list(given)
    if not any(each["name"] == GROUPED for each in given):
        given.insert(0, {"name": GROUPED, "k": size, "largest_k": 10 * size})
    document["search"] = given
    message = f"{len(sets)} intruders. Say of each why nobody knows the rest: nothing is released before."
    return {k: v for k, v in document.items() if v or k == "data"}, message


GROUPED = "mixed-grouping"
"""The search that masks the columns of every intruder by themselves."""


def _with_reason(document: dict[str, Any], name: str, because: str) -> tuple[dict[str, Any], str]:
    """The plan with the reason why an intruder knows no other column; an empty one takes it back."""
    for each in document.get("scenario", []):
        if each["name"] == name:
            each.pop("because", None)
            each |= {"because": because} if because else {}
            return document, f"{name}: the reason is {'kept' if because else 'taken back'}."
    raise PlanError(f"there is no intruder {name!r} any more; load the page again")


def _with_use(session: Session, document: dict[str, Any], text: str) -> dict[str, Any]:
    """The plan with an analysis to keep, refused where the file cannot serve it."""
    if not text:
        raise PlanError(f"write an analysis, e.g. {_example_analyses(session)[0][1]}")
    use = EstimateUse.read(text)
    obstacle = use.obstacle(session.table)
    hidden = [n for n in use.scope() if document.get("columns", {}).get(n, {}).get("role") in set(UNPUBLISHED)]
    if obstacle or hidden:
        raise PlanError(obstacle or f"{hidden[0]} is never released, so that no analysis of it can be kept")
    settings = use.model_dump(mode="json", exclude_defaults=True)
    entry = {"name": text[:60], "measure": "estimate-use", "analysis": use.analysis, **settings}
    entry |= {"tolerance": TOLERATED, "as": "objective"}
    return {**document, "use": [*document.get("use", []), entry]}


def _example_analyses(session: Session) -> list[tuple[str, str]]:
    """Analyses of columns that the file has, by what they are; of invented ones only where it has none that fit any."""
    seen = session.reading.profile
    single = {each.name for each in seen.columns if each.distinct < 2} if seen is not None else set[str]()
    shown = {
        n: c
        for n, c in session.document.get("columns", {}).items()
        if c.get("role") not in UNPUBLISHED and n.isidentifier() and n not in single
    }
    numbers = [n for n, c in shown.items() if c.get("kind") == "numeric" and c.get("role") != Role.WEIGHT]
    groups = [n for n, c in shown.items() if c.get("kind") in ("nominal", "ordinal")]
    numbers.sort(key=lambda n: shown[n]["role"] != Role.CONFIDENTIAL)  # what is studied comes before what explains it
    if not numbers and len(groups) > 1:
        return [("Shares", f"share {groups[0]} + {groups[1]}")]
    first, second = (*numbers[:1], "wage")[0], (*numbers[1:2], "age")[0]
    group, other = (*groups[:1], "sex")[0], (*groups[1:2], "region")[0]
    return [
        ("A formula", f"{first} ~ {second} + {group}"),
        ("a table", f"mean {first} by {group}"),
        ("a total", f"total {first}"),
        ("shares", f"share {group} + {other}"),
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
        because = one(form, f"{name}.because", old.get("because", ""))
        made: Document = {"name": one(form, f"{name}.name"), "knows": knows}
        made |= ({"because": because} if because else {}) | ({"require": demands} if demands else {})
        found.append(made)
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
    """Add the demands of a rulebook to the plan; what the plan demands more strictly stays."""
    if not name:
        return "No rulebook is chosen."
    book = read_rulebook(name)
    required = list(document.get("require", ()))
    for model in book.requirements():
        title = models.name_of(model)
        if any(model_implies(_built(item), model) for item in required if item["model"] == title):
            continue
        settings = model.model_dump(mode="json", exclude_unset=True)
        settings = {key: number(f"{v:g}") if isinstance(v, float) else v for key, v in settings.items()}
        required = [*(item for item in required if item["model"] != title), {"model": title, **settings}]
    limits = {item["measure"]: item for item in document.get("limit", ())}
    for rule in book.rule:
        if isinstance(rule, RiskRule) and not limits.get(rule.measure, {}).get("at_most", 100.0) <= rule.at_most:
            limits[rule.measure] = {"measure": rule.measure, "at_most": number(f"{rule.at_most:g}")}
        if isinstance(rule, SuppressionRule):
            said = document.get("release", {})
            if 100 * read_plan_share(str(said.get("suppression", "1%"))) > rule.at_most:
                document["release"] = {**said, "suppression": f"{rule.at_most:g}%"}
        if isinstance(rule, OrderRule) and document.get("release", {}).get("order", "shuffled") != "shuffled":
            document["release"] = {**document["release"], "order": "shuffled"}
    document["require"] = required
    if limits:
        document["limit"] = list(limits.values())
    return f"The plan now demands at least what {book.title} demands."


def _list_what_follows(document: Document, name: str) -> list[str]:
    """What a rulebook demands and the plan does not, in words."""
    changed = copy.deepcopy(document)
    _follow(changed, name)
    return [
        *(item["model"] for item in changed.get("require", ()) if item not in document.get("require", ())),
        *(limit_text(Limit(**item)) for item in changed.get("limit", ()) if item not in document.get("limit", ())),
        *(
            f"{key} {value}"
            for key, value in changed.get("release", {}).items()
            if document.get("release", {}).get(key) != value
        ),
    ]


def _built(item: Mapping[str, Any]) -> PrivacyModel:
    return models.build(item["model"], **{key: value for key, value in item.items() if key != "model"})
