"""Every command and every line of Python in README and docs is carried out, page by page, in an empty folder."""

from __future__ import annotations

import io
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from crypsis.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if "reference" not in p.parts)]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


RUNNABLE = [page for page in PAGES if any(kind in ("sh", "python") for kind, _ in blocks(page))]


def carry_out(command: str) -> None:
    """One line of shell: crypsis commands run in this process; installing and testing are CI's own business."""
    if command.startswith(("pip ", "python ")) or not command:
        return
    words = shlex.split(command, comments=True)
    if not words:
        return
    assert words[0] == "crypsis", f"the documentation runs something else: {command}"
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said), patch.object(sys, "argv", words):
        try:
            main()
        except SystemExit as ending:
            assert ending.code in (0, None), f"{command}\n{said.getvalue()}"


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page.name == "README.md":
        from crypsis.table.example import example
        from crypsis.table.files import write_table

        write_table(example(200), tmp_path / "people.csv")
    for kind, text in blocks(page):
        if kind == "sh":
            for line in text.splitlines():
                carry_out(line.strip())
        elif kind == "python":
            with redirect_stdout(io.StringIO()):
                exec(compile(text, str(page.name), "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target and "reference/" not in target:
            assert (page.parent / target).exists(), f"{page.name} points to {target}"
