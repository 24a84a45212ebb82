"""A plan as TOML that `Plan.read` reads into the same plan."""

from __future__ import annotations

import json
from typing import Any

from crypsis.plan.document import Plan


def as_toml(plan: Plan) -> str:
    """A plan as TOML, without comments and defaults."""
    content = plan.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    content = {"data": {"source": plan.data.source}, **content}
    lines: list[str] = []
    _table(content, "", lines)
    return "\n".join(lines).strip() + "\n"


def _table(content: dict[str, Any], path: str, lines: list[str]) -> None:
    nested = {
        key: value for key, value in content.items() if _is_tables(value) or (isinstance(value, dict) and not path)
    }
    for key, value in content.items():
        if key not in nested and value is not None:
            lines.append(f"{toml_key(key)} = {_value(value)}")
    for key, value in nested.items():
        name = f"{path}.{toml_key(key)}" if path else toml_key(key)
        for item in value if isinstance(value, list) else [value]:
            lines += ["", f"[[{name}]]" if isinstance(value, list) else f"[{name}]"]
            _table(item, name, lines)


def _is_tables(value: Any) -> bool:
    """Whether a value is a list of tables, which get a heading each."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{toml_key(key)} = {_value(item)}" for key, item in value.items() if item is not None)
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def toml_key(name: str) -> str:
    """A name as a key of a TOML table: bare where that is allowed."""
    bare = bool(name) and name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else json.dumps(name, ensure_ascii=False)
