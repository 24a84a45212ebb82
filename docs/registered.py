"""Pages of everything a plan may name: an overview of each family, and a page for each member."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

from docstrings import FACTS, facts, prose, section, summary
from pydantic_core import PydanticUndefined

from crypsis.masking import methods, partitioners
from crypsis.measures import measures
from crypsis.privacy import models
from crypsis.registry import Registry
from crypsis.searches import searches

FAMILIES: dict[str, tuple[str, Registry[Any]]] = {
    "methods": ("Masking methods", methods),
    "partitioners": ("Partitioners", partitioners),
    "measures": ("Measures", measures),
    "models": ("Privacy models", models),
    "searches": ("Searches", searches),
}


def write_registered(folder: Path) -> None:
    """An overview and the pages of every family."""
    for stem, (title, registry) in FAMILIES.items():
        (folder / stem).mkdir(parents=True, exist_ok=True)
        (folder / f"{stem}.md").write_text(overview(stem, title, registry), encoding="utf-8")
        for name in registry:
            (folder / stem / f"{name}.md").write_text(page(name, stem, registry[name]), encoding="utf-8")


def overview(stem: str, title: str, registry: Registry[Any]) -> str:
    """A family: what each member is, in a line, and where its page lies."""
    parts = [f"# {title}", "", f"Made from the program. {len(list(registry))} are registered; each has a page.", ""]
    parts += ["| name | what it is | paper |", "|---|---|---|"]
    for name in sorted(registry):
        paper = facts(registry[name])["paper"]
        parts.append(f"| [{name}]({stem}/{name}.md) | {cell(summary(registry[name]))} | {cell(paper)} |")
    return "\n".join(parts) + "\n"


def page(name: str, stem: str, cls: type[Any]) -> str:
    """One thing: what it is, definition, formula, paper, cost, departures, settings, example."""
    defined = isinstance(getattr(cls, "definition", None), str)
    parts = [f"# {name}", "", summary(cls) if defined else prose(cls), ""]
    if defined:
        parts += ["## Definition", "", cls.definition, ""]
    parts += ["## In short", "", f"| fact | {name} |", "|---|---|"]
    told = facts(cls)
    parts += [f"| {fact} | {cell(told[fact])} |" for fact in FACTS]
    for fact in ("aim", "unit", "better", "family"):
        if isinstance(getattr(cls, fact, None), str):
            parts.append(f"| {fact} | {cell(str(getattr(cls, fact)))} |")
    parts.append(f"| code | `{cls.__module__}.{cls.__name__}` |")
    background = inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "")
    parts += ["", "## Background", "", background, "", "## Settings", "", *settings(cls)]
    example = section(cls, "Examples")
    if example:
        parts += ["", "## Example", "", "```pycon", example, "```"]
    return "\n".join([*parts, "", f"All of its kind: [overview](../{stem}.md)."]) + "\n"


def settings(cls: type[Any]) -> list[str]:
    """A table of the fields of a settings class."""
    rows = [f"| `{field}` | {default(info)} | {cell(info.description or '')} |" for field, info in fields(cls)]
    return ["| setting | default | meaning |", "|---|---|---|", *rows] if rows else ["It has no settings."]


def fields(cls: type[Any]) -> list[tuple[str, Any]]:
    return list(cls.model_fields.items())


def default(info: Any) -> str:
    if info.default_factory is not None:
        return f"`{info.default_factory()!r}`"
    return "needed" if info.default is PydanticUndefined else f"`{info.default!r}`"


def cell(text: str) -> str:
    """Text that fits into one cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
