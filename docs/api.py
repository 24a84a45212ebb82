"""The reference of the Python interface: an entry for every public name, generated from what `crypsis` lists.

mkdocstrings renders the docstring of each name. Settings of registered classes are listed below it, since pydantic
keeps their descriptions and no docstring repeats them; their methods are described once, with the family.
"""

from __future__ import annotations

import inspect
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
    for package, things in packages().items():
        for name, thing in things.items():
            (folder / "api" / f"{name}.md").write_text(page(name, package, thing), encoding="utf-8")


def packages() -> dict[str, dict[str, Any]]:
    """Every package with what people import of it, by the names to import."""
    found = dict[str, dict[str, Any]]()
    for name, package in public_names("crypsis").items():
        if name != "__version__":
            found.setdefault(package, {})[f"crypsis.{name}"] = getattr(crypsis, name)
    module = import_module(TRANSFORMERS)
    return found | {TRANSFORMERS: {f"{TRANSFORMERS}.{name}": getattr(module, name) for name in module.__all__}}


def overview() -> str:
    """Every public name with the first line of its docstring, package by package."""
    parts = ["# Python interface", "", "Everything below is imported from `crypsis`, e.g. `crypsis.protect`; the "]
    parts[-1] += f"transformers from `{TRANSFORMERS}`. `crypsis.__version__` is {crypsis.__version__!r}."
    for package, things in packages().items():
        parts += ["", f"## {package}", "", f"{registered.cell(summary(import_module(package)))}", ""]
        parts += ["| name | what it is |", "|---|---|"]
        parts += [f"| [{name.split('.')[-1]}](api/{name}.md) | {line(thing)} |" for name, thing in things.items()]
    return "\n".join([*parts, ""])


def line(thing: Any) -> str:
    """What it is, in a line of a table."""
    if isinstance(thing, Registry):
        return f"Registry: every {thing.family} by name."
    return registered.cell(summary(thing))


def page(name: str, package: str, thing: Any) -> str:
    """The entry of one name, with its settings or what is registered there, and the way back to the others."""
    family, member = place_in_family(thing)
    parts = [entry(name, thing, members=not member)]
    if isinstance(thing, Registry):
        parts += [f"Registered now: {', '.join(f'`{each}`' for each in thing)}.", ""]
    elif isinstance(thing, type) and issubclass(thing, BaseModel) and registered.fields(thing):
        parts += ["## Settings" if member else "## Fields", "", *registered.settings(thing), ""]
    if member:
        parts += [
            f"Registered as [{member}](../{family}/{member}.md). Its methods are those of every {base(thing)}.",
            "",
        ]
    return "\n".join([*parts, f"All names: [Python interface](../api.md#{package.replace('.', '')}).", ""])


def entry(name: str, thing: Any, members: bool = True) -> str:
    """What mkdocstrings makes of a docstring, found where it is written: some packages have a module of its name."""
    written = isinstance(thing, type) or inspect.isroutine(thing)
    options = {"heading": name, "heading_level": 1} | ({} if members else {"members": "false"})
    lines = [f"::: {thing.__module__}.{thing.__qualname__}" if written else f"::: {name}", "    options:"]
    return "\n".join([*lines, *(f"      {key}: {value}" for key, value in options.items()), ""])


def place_in_family(thing: Any) -> tuple[str, str]:
    """The folder of the pages of a registered class and its name there; empty for another class."""
    for stem, (_, registry) in registered.FAMILIES.items():
        for name in registry:
            if registry[name] is thing:
                return stem, name
    return "", ""


def base(thing: type[Any]) -> str:
    """A link to the public class from which a registered one takes its methods."""
    public = {value: name for things in packages().values() for name, value in things.items() if inspect.isclass(value)}
    found = next(public[each] for each in thing.__mro__[1:] if each in public and inspect.isabstract(each))
    return f"[{found}]({found}.md)"
