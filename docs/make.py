"""Build the documentation offline: reference pages from the program itself, then the site.

pip install -e ".[docs]" && python docs/make.py [--pages-only]
"""

from __future__ import annotations

import argparse
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def page(title: str, registry: Registry[Any]) -> str:
    """One page per family: what each thing is, its definition, and its settings."""
    parts = [f"# {title}", "", f"Made from the program. {len(list(registry))} are registered.", ""]
    for name in sorted(registry):
        cls = registry[name]
        parts += [f"## {name}", "", inspect.cleandoc(cls.__doc__ or ""), ""]
        for fact in ("definition", "aim", "unit", "family"):
            if isinstance(getattr(cls, fact, None), str):
                parts += [f"*{fact}*: {getattr(cls, fact)}", ""]
        parts += ["| setting | default | meaning |", "|---|---|---|"]
        parts += [
            f"| `{field}` | {default(info)} | {cell(info.description)} |" for field, info in cls.model_fields.items()
        ]
        parts.append("")
    return "\n".join(parts)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages-only", action="store_true", help="write the reference pages, do not build the site")
    arguments = parser.parse_args()
    folder = HERE / "reference"
    folder.mkdir(exist_ok=True)
    for stem, (title, registry) in FAMILIES.items():
        (folder / f"{stem}.md").write_text(page(title, registry), encoding="utf-8")
    (folder / "commands.md").write_text(commands(), encoding="utf-8")
    if not arguments.pages_only:
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"], cwd=HERE.parent, check=True)


if __name__ == "__main__":
    main()
