"""The reference of the Python interface: an entry for every public name, generated from what `crypsis` lists.

mkdocstrings renders the docstring of each name; settings of registered classes are listed below it, since pydantic
keeps their descriptions and no docstring repeats them.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import registered
from docstrings import summary
from pydantic import BaseModel

import crypsis
from crypsis.lazy_imports import public_names
from crypsis.registry import Registry

TRANSFORMERS = "crypsis.sklearn"
"""The public module that `crypsis` does not load, because it needs an extra."""


def write_api(folder: Path) -> None:
    """An overview of all public names, and a page for each."""
    (folder / "api").mkdir(parents=True, exist_ok=True)
    (folder / "api.md").write_text(overview(), encoding="utf-8")
    for name in (each for names in packages().values() for each in names):
        (folder / "api" / f"crypsis.{name}.md").write_text(page(name), encoding="utf-8")
    for name in import_module(TRANSFORMERS).__all__:
        (folder / "api" / f"{TRANSFORMERS}.{name}.md").write_text(entry(f"{TRANSFORMERS}.{name}"), encoding="utf-8")


def packages() -> dict[str, tuple[str, ...]]:
    """Every package with a public name, and its public names."""
    found = dict[str, tuple[str, ...]]()
    for name, package in public_names("crypsis").items():
        found[package] = (*found.get(package, ()), name)
    return found


def overview() -> str:
    """Every public name with the first line of its docstring, package by package."""
    parts = ["# Python interface", "", "Everything below can be imported from `crypsis`, e.g. `crypsis.protect`.", ""]
    parts += [f"`crypsis.__version__` is the version of the package; this is {crypsis.__version__}.", ""]
    for package, names in packages().items():
        parts += [f"## {package}", "", f"{registered.cell(summary(import_module(package)))}", ""]
        parts += ["| name | what it is |", "|---|---|"]
        parts += [f"| [{name}](api/crypsis.{name}.md) | {line(getattr(crypsis, name))} |" for name in names]
        parts.append("")
    module = import_module(TRANSFORMERS)
    parts += [f"## {TRANSFORMERS}", "", f"{registered.cell(summary(module))}", "", "| name | what it is |", "|---|---|"]
    parts += [f"| [{name}](api/{TRANSFORMERS}.{name}.md) | {line(getattr(module, name))} |" for name in module.__all__]
    return "\n".join([*parts, ""])


def entry(name: str) -> str:
    """What mkdocstrings makes of a docstring, as the heading of a page."""
    return f"::: {name}\n    options:\n      heading_level: 1\n"


def line(thing: Any) -> str:
    """What it is, in a line of a table."""
    if isinstance(thing, Registry):
        return f"registry: every {thing.family} by name"
    return registered.cell(summary(thing))


def page(name: str) -> str:
    """The entry of one name, with its settings or what is registered there."""
    thing = getattr(crypsis, name)
    parts = [entry(f"crypsis.{name}")]
    if isinstance(thing, Registry):
        parts += [f"Registered now: {', '.join(f'`{each}`' for each in thing)}.", ""]
    elif isinstance(thing, type) and issubclass(thing, BaseModel) and registered.fields(thing):
        parts += [*registered_as(thing), *registered.settings(thing), ""]
    return "\n".join(parts)


def registered_as(cls: type[Any]) -> list[str]:
    """A line that names the page of a registered class; nothing for another class."""
    for stem, (_, registry) in registered.FAMILIES.items():
        for name in registry:
            if registry[name] is cls:
                return [f"Registered as [{name}](../{stem}/{name}.md). Settings:", ""]
    return ["Fields:", ""]
