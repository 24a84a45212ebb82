"""Forms from settings: the described, bounded fields of the plan become fields of a form, and back."""

from __future__ import annotations

import types
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import parse_qs

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from crypsis.errors import PlanError
from crypsis.measures.uses import uses
from crypsis.plan.sections import (
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
from crypsis.registry import NamesColumn
from crypsis.rulebook import read_rulebook

Form = Mapping[str, Sequence[str]]


def read_form(body: bytes) -> dict[str, list[str]]:
    """The fields of a posted form; a name may come several times."""
    return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20_000)


def one(form: Form, name: str, default: str = "") -> str:
    """The last value of a field, without surrounding spaces."""
    values = form.get(name)
    return values[-1].strip() if values else default


@dataclass(frozen=True)
class Entry:
    """A field of a form: its control, what is allowed, its value."""

    name: str
    label: str
    sort: Literal["number", "choice", "flag", "text", "columns", "column"]
    help: str
    value: Any
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    step: str = "any"
    needed: bool = False


def entries(
    cls: type[BaseModel], given: Mapping[str, Any], columns: Sequence[str], skip: Sequence[str] = ()
) -> list[Entry]:
    """The fields of a settings class, with given values or defaults."""
    found = []
    for name, info in cls.model_fields.items():
        key = info.alias or name
        if name in skip or key in skip:
            continue
        entry = _entry(key, info, given, columns)
        if entry is not None:
            found.append(entry)
    return found


def _entry(key: str, info: FieldInfo, given: Mapping[str, Any], columns: Sequence[str]) -> Entry | None:
    kind, optional = _bare(info.annotation)
    default = info.get_default(call_default_factory=True)
    default = None if default is PydanticUndefined else default
    value = given.get(key, default)
    label, help_ = key.replace("_", " "), info.description or ""
    needed = info.is_required()
    if kind is bool:
        return Entry(key, label, "flag", help_, bool(value))
    if get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
        options = get_args(kind) if get_origin(kind) is Literal else [each.value for each in kind]
        return Entry(key, label, "choice", help_, value, tuple(map(str, options)), needed=needed)
    if kind in (int, float):
        low, high = _bounds(info)
        step = "1" if kind is int else "any"
        return Entry(key, label, "number", help_, value, low=low, high=high, step=step, needed=needed and not optional)
    if kind is str:
        names_column = any(isinstance(item, NamesColumn) for item in info.metadata)
        sort: Literal["column", "text"] = "column" if names_column else "text"
        return Entry(key, label, sort, help_, value or "", tuple(columns), needed=needed)
    if get_origin(kind) is tuple and get_args(kind)[:1] == (str,):
        return Entry(key, label, "columns", help_, tuple(value or ()), tuple(columns), needed=needed)
    return None


def _bare(annotation: Any) -> tuple[Any, bool]:
    """A type without its None and its validators, and whether None was allowed."""
    if get_origin(annotation) in (Union, types.UnionType):
        parts = [part for part in get_args(annotation) if part is not type(None)]
        return _bare(parts[0])[0], len(parts) < len(get_args(annotation))
    return (get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation), False


def _bounds(info: FieldInfo) -> tuple[float | None, float | None]:
    low = high = None
    for item in info.metadata:
        low = next((getattr(item, name) for name in ("ge", "gt") if getattr(item, name, None) is not None), low)
        high = next((getattr(item, name) for name in ("le", "lt") if getattr(item, name, None) is not None), high)
    return low, high


def answers(
    cls: type[BaseModel], form: Form, prefix: str, skip: Sequence[str] = (), said: Container[str] = ()
) -> dict[str, Any]:
    """The values of a settings class from a form, without empty fields and defaults.

    said    fields that the plan names: their values are kept even if they are defaults
    """
    found: dict[str, Any] = {}
    for entry in entries(cls, {}, (), skip):
        texts = [text.strip() for text in form.get(f"{prefix}.{entry.name}", ())]
        if f"{prefix}.{entry.name}" not in form and entry.sort not in ("flag", "columns"):
            continue
        value = _answer(entry, texts)
        chosen = value != entry.value or entry.name in said
        if value is not None and chosen and not (value == () and not entry.needed):
            found[entry.name] = list(value) if isinstance(value, tuple) else value
    return found


def _answer(entry: Entry, texts: Sequence[str]) -> Any:
    if entry.sort == "flag":
        return bool(texts and texts[-1])
    if entry.sort == "columns":
        return tuple(text for text in texts if text)
    text = texts[-1] if texts else ""
    if not text:
        return None
    if entry.sort == "number":
        return number(text)
    return text


def number(text: str) -> float | int | str:
    """The text as a number; else the text itself, which the plan refuses with its place."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and "." not in text and "e" not in text.lower() else value


# -- From the Goal form to the plan: fields that were filled in, rows that were added or removed.

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
