"""The JSON Schema of a plan, for editors: with every registered search, measure and model and its settings."""

from __future__ import annotations

from typing import Any

from crypsis.plan.catalogue import Named
from crypsis.plan.document import Plan
from crypsis.plan.sections import AXES, Limit, MeasureChoice, Requirement, SearchChoice, Use


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a plan."""
    document = Plan.model_json_schema(by_alias=True)
    document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    document["title"] = "Crypsis plan"
    definitions = document["$defs"]
    for kind in (Requirement, SearchChoice, MeasureChoice, Use, Limit):
        _detail(definitions[kind.__name__], kind, definitions)
    one = {"$ref": "#/$defs/SearchChoice"}
    listed = document["properties"]["search"]
    document["properties"]["search"] = {
        "description": listed.get("description", ""),
        "anyOf": [one, {"type": "array", "items": one}],
    }
    named = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/MeasureChoice"}]}
    for aim in ("loss", "risk"):
        definitions["Measures"]["properties"][aim]["items"] = named
    return document


def _detail(definition: dict[str, Any], kind: type[Named[Any]], definitions: dict[str, Any]) -> None:
    """Add the registered names and the settings of each."""
    names = sorted(kind.registry)
    key = kind.key
    definition["properties"][key]["enum"] = [*names, *(AXES if kind is Limit else ())]
    definition.pop("additionalProperties", None)
    branches = []
    for name in names:
        own = kind.registry[name].model_json_schema(by_alias=True)
        definitions.update(own.pop("$defs", {}))
        branches.append(
            {
                "if": {"properties": {key: {"const": name}}},
                "then": {"properties": own.get("properties", {}), "required": own.get("required", [])},
            }
        )
    definition["allOf"] = branches
