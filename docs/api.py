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
    """An overview of all public names, and a page for each room."""
    (folder / "api").mkdir(parents=True, exist_ok=True)
    (folder / "api.md").write_text(overview(), encoding="utf-8")
    for room, names in rooms().items():
        (folder / "api" / f"{room}.md").write_text(page(room, names), encoding="utf-8")
    (folder / "api" / f"{TRANSFORMERS}.md").write_text(transformers(), encoding="utf-8")


def rooms() -> dict[str, tuple[str, ...]]:
    """Every room with a public name, and its public names."""
    found = dict[str, tuple[str, ...]]()
    for name, room in public_names("crypsis").items():
        found[room] = (*found.get(room, ()), name)
    return found


def overview() -> str:
    """Every public name with the first line of its docstring, room by room."""
    parts = ["# Python interface", "", "Everything below can be imported from `crypsis`, e.g. `crypsis.protect`.", ""]
    parts += [f"`crypsis.__version__` is the version of the package; this is {crypsis.__version__}.", ""]
    for room, names in rooms().items():
        parts += [f"## {room}", "", f"{registered.cell(summary(import_module(room)))}", ""]
        parts += ["| name | what it is |", "|---|---|"]
        parts += [f"| [{name}](api/{room}.md#crypsis.{name}) | {line(getattr(crypsis, name))} |" for name in names]
        parts.append("")
    module = import_module(TRANSFORMERS)
    parts += [f"## {TRANSFORMERS}", "", f"{registered.cell(summary(module))}", "", "| name | what it is |", "|---|---|"]
    link = f"api/{TRANSFORMERS}.md#{TRANSFORMERS}"
    parts += [f"| [{name}]({link}.{name}) | {line(getattr(module, name))} |" for name in module.__all__]
    return "\n".join([*parts, ""])


def transformers() -> str:
    """The entries of the scikit-learn transformers, which are imported from their own module."""
    module = import_module(TRANSFORMERS)
    return "\n\n".join([f"# {TRANSFORMERS}", summary(module), *(f"::: {TRANSFORMERS}.{n}" for n in module.__all__), ""])


def line(thing: Any) -> str:
    """What it is, in a line of a table."""
    if isinstance(thing, Registry):
        return f"registry: every {thing.family} by name"
    return registered.cell(summary(thing))


def page(room: str, names: tuple[str, ...]) -> str:
    """The entries of one room."""
    parts = [f"# {room}", "", summary(import_module(room)), ""]
    for name in names:
        thing = getattr(crypsis, name)
        parts += [f"::: crypsis.{name}", ""]
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
