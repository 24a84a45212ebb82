"""From the Goal form to the plan: fields that were filled in, rows that were added or removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crypsis.errors import PlanError
from crypsis.measures.uses import uses
from crypsis.plan.catalogue import measures, models, searches
from crypsis.plan.sections import Column, Limit, Release, Requirement, RuleDemand, Running, SearchChoice, Use
from crypsis.rulebook import read_rulebook
from crypsis.studio.forms import Form, answers, number, one

Document = dict[str, Any]

_LISTS: dict[str, tuple[type[Any], Any, str]] = {
    "require": (Requirement, models, "model"),
    "limit": (Limit, measures, "measure"),
    "use": (Use, measures, "measure"),
    "rule": (RuleDemand, (), "holds"),
}
COLUMN_SKIPPED = ("role", "kind", "hierarchy", "order", "because")
"""Settings of a column that the Data page edits."""


def apply_goal(document: Document, form: Form, quasi: Sequence[str]) -> tuple[Document, str]:
    """The document with the form's answers, and a sentence about what changed."""
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
