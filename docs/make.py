"""Build the documentation offline: reference pages from the program itself, then the site.

pip install -e ".[docs]" && python docs/make.py [--pages-only]
"""

from __future__ import annotations

import argparse
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import results
from pydantic_core import PydanticUndefined

from crypsis.masking import methods, partitioners
from crypsis.measures import measures
from crypsis.privacy import models
from crypsis.registry import Registry
from crypsis.searches import searches

HERE = Path(__file__).parent
FAMILIES: dict[str, tuple[str, Registry[Any]]] = {
    "methods": ("Masking methods", methods),
    "partitioners": ("Partitioners", partitioners),
    "measures": ("Measures", measures),
    "models": ("Privacy models", models),
    "searches": ("Searches", searches),
}
FACTS = ("formula", "paper", "cost", "departures")
"""What docs/facts.toml says of everything that is registered; a test holds it complete."""


def overview(stem: str, title: str, registry: Registry[Any], facts: dict[str, dict[str, str]]) -> str:
    """A family: what each member is, in a line, and where its page lies."""
    parts = [f"# {title}", "", f"Made from the program. {len(list(registry))} are registered; each has a page.", ""]
    parts += ["| name | what it is | paper |", "|---|---|---|"]
    parts += [
        f"| [{name}]({stem}/{name}.md) | {cell(summary(registry[name]))} | {cell(facts[name]['paper'])} |"
        for name in sorted(registry)
    ]
    return "\n".join(parts) + "\n"


def page(name: str, stem: str, cls: type[Any], facts: dict[str, str]) -> str:
    """One thing: what it is, definition, formula, paper, cost, departures, where it stands, settings."""
    parts = [f"# {name}", "", inspect.cleandoc(cls.__doc__ or ""), ""]
    if isinstance(getattr(cls, "definition", None), str):
        parts += ["## Definition", "", cls.definition, ""]
    parts += ["## In short", "", f"| fact | {name} |", "|---|---|"]
    parts += [f"| {fact} | {cell(facts[fact])} |" for fact in FACTS]
    for fact in ("aim", "unit", "better", "family"):
        if isinstance(getattr(cls, fact, None), str):
            parts.append(f"| {fact} | {cell(str(getattr(cls, fact)))} |")
    module = sys.modules[cls.__module__]
    parts.append(f"| code | `{cls.__module__}.{cls.__name__}` |")
    parts += ["", "## Background", "", inspect.cleandoc(module.__doc__ or ""), ""]
    parts += ["## Settings", "", "| setting | default | meaning |", "|---|---|---|"]
    parts += [f"| `{field}` | {default(info)} | {cell(info.description)} |" for field, info in cls.model_fields.items()]
    return "\n".join([*parts, "", f"All of its kind: [overview](../{stem}.md)."]) + "\n"


def summary(cls: type[Any]) -> str:
    """The first paragraph of the docstring."""
    return " ".join(inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].split())


def default(info: Any) -> str:
    if info.default_factory is not None:
        return f"`{info.default_factory()!r}`"
    return "needed" if info.default is PydanticUndefined else f"`{info.default!r}`"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def commands() -> str:
    """The command line as it describes itself."""
    parts = ["# Commands", ""]
    listing = _help()
    names = [
        line.split()[0] for line in listing.split("Commands:")[1].splitlines() if line.startswith("  ") and line.split()
    ]
    for name in [n for n in names if n.isidentifier() or "-" in n]:
        parts += [f"## crypsis {name}", "", "```text", _help(name).strip(), "```", ""]
    return "\n".join(parts)


def _help(*command: str) -> str:
    code = "from crypsis.cli import main; main()"
    answer = subprocess.run(
        [sys.executable, "-c", code, *command, "--help"], capture_output=True, text=True, check=True
    )
    return answer.stdout


def write_pages(folder: Path) -> None:
    """All generated pages but the commands."""
    facts = tomllib.loads((HERE / "facts.toml").read_text(encoding="utf-8"))
    for stem, (title, registry) in FAMILIES.items():
        (folder / stem).mkdir(parents=True, exist_ok=True)
        (folder / f"{stem}.md").write_text(overview(stem, title, registry, facts[stem]), encoding="utf-8")
        for name in registry:
            content = page(name, stem, registry[name], facts[stem][name])
            (folder / stem / f"{name}.md").write_text(content, encoding="utf-8")
    (folder / "benchmarks.md").write_text(results.benchmarks(), encoding="utf-8")
    (folder / "verdicts.md").write_text(results.verdicts(), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages-only", action="store_true", help="write the reference pages, do not build the site")
    arguments = parser.parse_args()
    folder = HERE / "reference"
    write_pages(folder)
    (folder / "commands.md").write_text(commands(), encoding="utf-8")
    if not arguments.pages_only:
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"], cwd=HERE.parent, check=True)


if __name__ == "__main__":
    main()
