"""Crypsis: anonymise microdata by evolution.

The public names are loaded when first used, so that `import crypsis` and `crypsis --help` stay light. They stand here
and, by subject, in the packages that define them: `crypsis.measures`, `crypsis.masking`, `crypsis.privacy` and others.
The registries of measures and searches are `crypsis.measures.measures` and `crypsis.searches.searches`; those of
methods, partitioners and models stand here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from crypsis.lazy_imports import public_names
from crypsis.version import __version__

_REGISTRIES = (
    ("crypsis.masking", "methods"),
    ("crypsis.masking", "partitioners"),
    ("crypsis.measures", "measures"),
    ("crypsis.privacy", "models"),
    ("crypsis.searches", "searches"),
)
"""Package and registry: whatever is registered, here or by another package, is public under the name of its class."""

__all__ = list(public_names(__name__))


def __getattr__(name: str) -> Any:
    if name in (public := public_names(__name__)):
        return getattr(import_module(public[name]), name)
    if f"{__name__}.{name}" in public.values():
        return import_module(f"{__name__}.{name}")
    for package, registry in _REGISTRIES if name[:1].isupper() else ():
        known = getattr(import_module(package), registry)
        for cls in (known[each] for each in known):
            if cls.__name__ == name:
                return cls
    raise AttributeError(f"module 'crypsis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
