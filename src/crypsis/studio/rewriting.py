"""Write a changed plan into its old text: comments, order and layout of what did not change stay.

Only values that differ are written. A comment after a value stays when the value changes; a comment in a table is
removed with the table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, InlineTable, Item, Table

from crypsis.plan import Plan
from crypsis.plan.document import as_toml

NAMES = ("model", "measure", "name", "holds")
"""Keys that identify a table of a list."""


def rewrite(text: str, document: Mapping[str, Any], plan: Plan) -> str:
    """The text with new values; written anew if the result would be another plan.

    text       the plan so far
    document   the new plan as plain data
    plan       the new plan
    """
    try:
        old = tomlkit.parse(text)
        _merge(old, document, top=True)
        new = old.as_string()
        if Plan.parse(tomllib.loads(new)) == plan:
            return new
    except (TOMLKitError, tomllib.TOMLDecodeError, ValueError, KeyError, TypeError):
        pass  # if the layout cannot be kept, comments are lost and the plan is not
    return as_toml(plan)


def _merge(old: Any, new: Mapping[str, Any], top: bool = False) -> None:
    for key in [key for key in old if key not in new]:
        del old[key]
    for key, value in new.items():
        if key not in old:
            old[key] = _make_value(value, top)
        elif _plain(old[key]) != value:
            _change(old, key, value, top)


def _change(old: Any, key: str, value: Any, top: bool) -> None:
    before = old[key]
    if isinstance(before, AoT) and _is_tables(value):
        _merge_list(before, value)
    elif isinstance(before, Table) and isinstance(value, Mapping):
        _merge(before, value)
    elif isinstance(before, Table) and _is_tables(value) and len(value) == 1:  # [search] for the only [[search]]
        _merge(before, value[0])
    elif isinstance(before, (AoT, Table)):
        del old[key]
        old[key] = _make_value(value, top)
    else:
        made = _make_value(value, top)
        made.trivia.comment_ws, made.trivia.comment = before.trivia.comment_ws, before.trivia.comment
        made.trivia.trail = before.trivia.trail
        old[key] = made


def _merge_list(old: AoT, new: Sequence[Mapping[str, Any]]) -> None:
    """Tables that stay keep their text when others are removed or added."""
    left = list(old)
    kept: list[tuple[Table | None, Mapping[str, Any]]] = []
    for value in new:
        same = [table for table in left if _name(table) == _name(value)]
        same.sort(key=lambda table: _plain(table) != value)
        left = [table for table in left if not same or table is not same[0]]
        kept.append((same[0] if same else None, value))
    while len(old):
        del old[0]
    for table, value in kept:
        if table is None:
            table = _table(value)
            table.add(tomlkit.nl())
        else:
            _merge(table, value)
        old.append(table)


def _name(table: Mapping[str, Any]) -> str:
    return next((str(table[key]) for key in NAMES if key in table), "")


def _plain(item: Any) -> Any:
    return item.unwrap() if isinstance(item, Item) else item


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _make_value(value: Any, top: bool) -> Item:
    """A new value: tables with a header where a plan has them, everything else in one line."""
    if isinstance(value, Mapping):
        return _table(value) if top else _inline(value)
    if _is_tables(value):
        tables = tomlkit.aot()
        for each in value:
            tables.append(_table(each))
        return tables
    made: Item = tomlkit.item(value)
    return made


def _table(content: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, value in content.items():
        table.add(key, _make_value(value, top=False))
    return table


def _inline(content: Mapping[str, Any]) -> InlineTable:
    made = tomlkit.inline_table()
    made.update(content)
    spaced: InlineTable = tomlkit.value("{ " + made.as_string()[1:-1].strip() + " }")  # type: ignore[assignment]
    return spaced
