"""Problems of a document: where each is, what was found, what is allowed."""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from crypsis.errors import listing, suggestion

_FRIENDLY = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "tuple_type": "must be a list, written [a, b]",
    "list_type": "must be a list, written [a, b]",
    "dict_type": "must be a table, written { key = value }",
    "model_type": "must be a table, written { key = value }",
    "model_attributes_type": "must be a table, written { key = value }",
    "finite_number": "must be a finite number",
}


@dataclass(frozen=True)
class PlanProblem:
    """A problem of a document."""

    place: tuple[Any, ...]  # keys and positions that lead to it
    message: str  # the sentence, with the place


def place_text(loc: Sequence[Any]) -> str:
    """A place in a document; positions in lists count from 1.

    >>> place_text(("search", 0, "name"))
    'search[1].name'
    """
    text = ""
    for part in loc:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def problems_of(error: ValidationError, root: type[BaseModel], also: Sequence[str] = ()) -> list[PlanProblem]:
    """The problems that pydantic found.

    `also`: keys of the same table that belong to another model, suggested for a misspelt one.
    """
    found, seen = [], set()
    for item in error.errors(include_url=False):
        loc = tuple(part for part in item["loc"] if not _is_branch(part))
        if item["type"] != "extra_forbidden" and loc in seen:
            continue  # every branch of a union has an error; one is enough
        seen.add(loc)
        found.append(PlanProblem(loc, _message({**item, "loc": loc}, root, also)))
    return found


def problems_text(where: str, problems: list[str]) -> str:
    """One problem in one line, several as a list."""
    if len(problems) == 1:
        return f"{where}: {problems[0]}"
    return f"{where}: {len(problems)} problems\n" + "\n".join(f"  {n}. {text}" for n, text in enumerate(problems, 1))


def _message(item: dict[str, Any], root: type[BaseModel], also: Sequence[str]) -> str:
    loc, kind = item["loc"], item["type"]
    where = place_text(loc) or "settings"
    if kind == "extra_forbidden":
        known = [*_keys_known_at_problem(root, loc[:-1]), *(also if len(loc) == 1 else ())]
        return f"{where}: unknown key{suggestion(str(loc[-1]), known)}; known: {listing(known, most=30)}"
    if kind == "missing":
        known = _keys_known_at_problem(root, loc[:-1])
        return f"{where} is needed" + (f"; the table may hold: {listing(known, most=30)}" if len(known) > 1 else "")
    if kind in ("literal_error", "enum"):
        allowed = item["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ")
        near = suggestion(str(item["input"]), allowed)
        return f"{where}: {_quote(item['input'])} is not allowed{near}; choose {listing(allowed)}"
    message = item["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    if kind in ("value_error", "registry"):
        return f"{where}: {message}" if loc else message
    demand = _FRIENDLY.get(kind, f"{message[:1].lower()}{message[1:]}")
    return f"{where}: {demand} (found {_quote(item['input'])})"


def _quote(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _is_branch(part: Any) -> bool:
    """Whether a part is a name that pydantic adds for a branch of a union."""
    return isinstance(part, str) and (part in ("str", "int", "float", "bool") or part.endswith(("]", ")")))


def _keys_known_at_problem(root: type[BaseModel], loc: Sequence[Any]) -> list[str]:
    """The keys that are allowed where a problem of a document is; empty where any key is allowed."""
    model = _model_at(root, loc)
    return [field.alias or name for name, field in model.model_fields.items()] if model else []


def _model_at(root: Any, loc: Sequence[Any]) -> type[BaseModel] | None:
    here: Any = root
    for part in loc:
        if isinstance(here, type) and issubclass(here, BaseModel):
            named = {field.alias or name: field.annotation for name, field in here.model_fields.items()}
            here = _plain(named.get(str(part)))
        elif get_origin(here) is dict:
            here = _plain(get_args(here)[1])
        elif get_origin(here) in (tuple, list):
            here = _plain(get_args(here)[0])
        else:
            return None
    here = _plain(here)
    return here if isinstance(here, type) and issubclass(here, BaseModel) else None


def _plain(annotation: Any) -> Any:
    """An annotation without None; of a union, the branch that is a table."""
    if get_origin(annotation) in (Union, types.UnionType):
        branches = [branch for branch in get_args(annotation) if branch is not type(None)]
        tables = [branch for branch in branches if get_origin(branch) is not Literal and isinstance(branch, type)]
        models = [branch for branch in tables if issubclass(branch, BaseModel)]
        return (models or branches)[0]
    return annotation
