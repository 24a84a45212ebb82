"""Build the documentation offline: reference pages from the program itself, then the site.

pip install -e ".[docs]" && python docs/make.py [--pages-only]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import api
import registered
import results

HERE = Path(__file__).parent


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
    code = "from crypsis.cli import program; program()"
    answer = subprocess.run(
        [sys.executable, "-c", code, *command, "--help"], capture_output=True, text=True, check=True
    )
    return answer.stdout


def write_pages(folder: Path) -> None:
    """All generated pages but the commands."""
    registered.write_registered(folder)
    api.write_api(folder)
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
        quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # news of the theme is no warning about our pages
        build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
        subprocess.run(build, cwd=HERE.parent, check=True, env=quiet)


if __name__ == "__main__":
    main()
