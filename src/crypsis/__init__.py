"""Crypsis: anonymise microdata by evolution.

The public names are loaded when first used, so that `import crypsis` and `crypsis --help` stay light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crypsis.version import __version__

if TYPE_CHECKING:
    from crypsis.errors import (
        CrypsisError,
        EngineError,
        PlanError,
        ReleaseRefused,
        SearchError,
        TableError,
    )
    from crypsis.table.attribute import Attribute, Kind, Role
    from crypsis.table.hierarchy import Hierarchy
    from crypsis.table.table import Table

_HOMES = {
    "Attribute": "crypsis.table.attribute",
    "CrypsisError": "crypsis.errors",
    "EngineError": "crypsis.errors",
    "Hierarchy": "crypsis.table.hierarchy",
    "Kind": "crypsis.table.attribute",
    "PlanError": "crypsis.errors",
    "ReleaseRefused": "crypsis.errors",
    "Role": "crypsis.table.attribute",
    "SearchError": "crypsis.errors",
    "Table": "crypsis.table.table",
    "TableError": "crypsis.errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'crypsis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
