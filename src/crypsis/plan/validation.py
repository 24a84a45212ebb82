"""Contradictions between the parts of a plan, found before any data are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from crypsis.plan.problems import place_text
from crypsis.plan.sections import (
    Limit,
    Masking,
    MeasureChoice,
    Measures,
    Named,
    Privacy,
    Requirement,
    SearchChoice,
    Use,
)

if TYPE_CHECKING:
    pass


_NAMED: tuple[tuple[tuple[str, ...], type[Named[Any]]], ...] = (
    (("mask",), Masking),
    (("require",), Requirement),
    (("scenario", "require"), Requirement),
    (("search",), SearchChoice),
    (("measures", "loss"), MeasureChoice),
    (("measures", "risk"), MeasureChoice),
    (("use",), Use),
    (("limit",), Limit),
)


def refuse_named_parts(document: Mapping[str, Any]) -> list[str]:
    """Contradictions of a plan found before data are read: refused models, searches and measures that it names."""
    found = []
    for path, kind in _NAMED:
        for loc, item in _items(document, path, ()):
            given = {kind.key: item} if isinstance(item, str) and path[0] == "measures" else item
            if isinstance(given, Mapping):
                found += [f"{place_text(loc)}: {message}" for message in kind.refusals(given)]
    return found


def _items(node: Any, path: tuple[str, ...], loc: tuple[Any, ...]) -> list[tuple[tuple[Any, ...], Any]]:
    if isinstance(node, (list, tuple)):
        return [pair for n, item in enumerate(node) for pair in _items(item, path, (*loc, n))]
    if not path:
        return [(loc, node)]
    if not isinstance(node, Mapping) or path[0] not in node:
        return []
    return _items(node[path[0]], path[1:], (*loc, path[0]))


_READING = (("require",), ("scenario", "require"), ("measures", "risk"), ("limit",))
"""Where a document names what may read missing cells."""


def spell_out_for_validation(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Before the validation of a plan's parts: give each demand and risk the `[privacy]` missing reading.

    >>> document = {"privacy": {"missing": "target"}, "require": [{"model": "k-anonymity", "k": 3}]}
    >>> spell_out_for_validation(document)["require"]
    [{'model': 'k-anonymity', 'k': 3, 'missing': 'target'}]
    """
    try:
        privacy = Privacy.model_validate(document.get("privacy", {}))
    except ValidationError:  # said where the section is read
        return document
    if privacy.missing == Privacy().missing:
        return document
    kinds = {path: kind for path, kind in _NAMED if path in _READING}
    changed = dict(document)
    if isinstance(changed.get("measures", {}), Mapping):
        changed["measures"] = {"risk": [each.name for each in Measures().risk], **changed.get("measures", {})}
    for path, kind in kinds.items():
        if path[0] in changed:
            changed[path[0]] = _spell(changed[path[0]], path[1:], kind, privacy)
    return changed


def _spell(node: Any, path: tuple[str, ...], kind: type[Named[Any]], privacy: Privacy) -> Any:
    if isinstance(node, (list, tuple)):
        return [_spell(item, path, kind, privacy) for item in node]
    if path and isinstance(node, Mapping):
        return {**node, path[0]: _spell(node[path[0]], path[1:], kind, privacy)} if path[0] in node else node
    entry = {kind.key: node} if isinstance(node, str) else node
    return privacy.spell_out(entry, kind) if isinstance(entry, Mapping) else node
