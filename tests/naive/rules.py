"""Rules asked of one record at a time, every value a cell may stand for tried in turn."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from crypsis.table.rules import grammar


def holds(node: Any, record: Mapping[str, Any]) -> bool | None:
    """Whether a record keeps a condition; None where a value is missing."""
    if isinstance(node, grammar.Junction):
        parts = [holds(part, record) for part in node.parts]
        if node.word == "and":
            return False if False in parts else None if None in parts else True
        return True if True in parts else None if None in parts else False
    if isinstance(node, grammar.Negation):
        part = holds(node.part, record)
        return None if part is None else not part
    if isinstance(node, grammar.Absence):
        return record[node.value.name] is None
    if isinstance(node, grammar.Membership):
        value = record[node.value.name]
        return None if value is None else any(value == each.value for each in node.among)
    left, right = value_of(node.left, record), value_of(node.right, record)
    if left is None or right is None:
        return None
    return {
        "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right,
        "=": left == right, "!=": left != right,
    }[node.sign]  # fmt: skip


def value_of(node: Any, record: Mapping[str, Any]) -> Any:
    """The value of an expression; None where one is missing."""
    if isinstance(node, grammar.ColumnValue):
        return record[node.name]
    if isinstance(node, grammar.Constant):
        return node.value
    left, right = value_of(node.left, record), value_of(node.right, record)
    if left is None or right is None:
        return None
    return {"+": left + right, "-": left - right, "*": left * right}[node.sign]


def broken(rule: grammar.EditRule, cells: Mapping[str, list[Any]]) -> bool:
    """Whether no combination of the values that the cells may stand for keeps the rule."""
    names = list(cells)
    return not any(holds(rule.condition, dict(zip(names, chosen, strict=True))) for chosen in product(*cells.values()))
