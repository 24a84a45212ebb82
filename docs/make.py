"""Build the documentation offline: reference pages from the program itself, then the site.

pip install -e ".[docs]" && python docs/make.py [--pages-only]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import api
import registered
import results

HERE = Path(__file__).parent


def write_commands(folder: Path) -> None:
    """A page for every command as it describes itself, and their list."""
    (folder / "commands").mkdir(parents=True, exist_ok=True)
    rows = []
    for name, _ in _listed(_help()):
        asked = _help(name)
        summary = " ".join(asked.split("\n\n")[1].split())
        parts = [f"# crypsis {name}", "", _block(asked)]
        for below, _ in _listed(asked):
            parts += ["", f"## crypsis {name} {below}", "", _block(_help(name, below))]
        (folder / "commands" / f"{name}.md").write_text("\n".join([*parts, ""]), encoding="utf-8")
        rows.append(f"| [`crypsis {name}`](commands/{name}.md) | {registered.cell(summary)} |")
    told = "Exit codes: 0 passed, 1 a check failed, 2 bad usage or input, 3 stopped and can be resumed."
    head = ["# Commands", "", told, "", "| command | what it does |", "|---|---|"]
    (folder / "commands.md").write_text("\n".join([*head, *rows, ""]), encoding="utf-8")


def _listed(text: str) -> list[tuple[str, str]]:
    """The commands below one, with a line about each."""
    _, _, rest = text.partition("\nCommands:\n")
    lines = rest.split("\n\n")[0].splitlines()
    return [(words[0], words[1]) for words in (line.split(maxsplit=1) for line in lines) if len(words) == 2]


def _block(text: str) -> str:
    return f"```text\n{text.strip()}\n```"


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
    shutil.rmtree(folder, ignore_errors=True)  # pages of names that are gone
    folder.mkdir()
    write_pages(folder)
    write_commands(folder)
    if not arguments.pages_only:
        quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # news of the theme is no warning about our pages
        build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
        subprocess.run(build, cwd=HERE.parent, check=True, env=quiet)


if __name__ == "__main__":
    main()
