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

from crypsis.errors import TableError, unknown_column
from crypsis.registry import NamesColumn
from crypsis.studio.session import Session

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


def form_entries(
    cls: type[BaseModel], given: Mapping[str, Any], columns: Sequence[str], skip: Sequence[str] = ()
) -> list[Entry]:
    """The fields of a form in the studio, made from a settings class, with given values or defaults."""
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
    """The values of a settings class from a form, without empty fields and defaults."""
    found: dict[str, Any] = {}
    for entry in form_entries(cls, {}, (), skip):
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


COLUMN_SKIPPED = ("role", "kind", "hierarchy", "order", "label", "labels", "because")
"""Settings of a column that the Data page edits."""


def column_of_form(session: Session, form: Form) -> str:
    """The column a form of the studio speaks of; one the file does not have is refused."""
    name = one(form, "column")
    problem = unknown_column([name], session.reading.raw.names)
    if problem:
        raise TableError(problem)
    return name
