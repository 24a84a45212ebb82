"""Entries of a plan that name something registered: methods, models, searches and measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crypsis.plan.catalogue import Named
from crypsis.plan.problems import place_text
from crypsis.plan.sections import Limit, Masking, MeasureChoice, Requirement, SearchChoice, Use

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


def refused_names(document: Mapping[str, Any]) -> list[str]:
    """Problems of the models, searches and measures that a document names."""
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
