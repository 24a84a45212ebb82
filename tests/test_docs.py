"""Every command and every line of Python in README and docs is carried out, page by page, in an empty folder."""

from __future__ import annotations

import csv
import importlib
import io
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest

import crypsis
import crypsis.sklearn
from crypsis.cli import main
from crypsis.masking.partitioning import partitioners
from crypsis.measures import measures

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if "reference" not in p.parts)]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r'(?<=budget=")\d+s(?=")|(?<=--budget )\d+s\b')
"""Budgets that a page gives to a search: here a second each says the same."""


def blocks(page: Path) -> list[tuple[str, str]]:
    text = SECONDS.sub("1s", page.read_text(encoding="utf-8"))
    return [(match[1], match[2]) for match in BLOCK.finditer(text)]


RUNNABLE = [page for page in PAGES if any(kind in ("sh", "python", "console") for kind, _ in blocks(page))]


def carry_out(command: str, code: int = 0) -> str:
    """One line of shell: crypsis commands run in this process; installing and testing are CI's own business."""
    if command.startswith(("pip ", "python ")) or not command:
        return ""
    words = shlex.split(command, comments=True)
    if not words:
        return ""
    assert words[0] == "crypsis", f"the documentation runs something else: {command}"
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said), patch.object(sys, "argv", words):
        try:
            main()
            ended: object = 0
        except SystemExit as ending:
            ended = ending.code or 0
    assert ended == code, f"{command}\n{said.getvalue()}"
    return said.getvalue()


def carry_out_console(text: str) -> None:
    """Lines after `$` are commands; the others must be printed by the last one, in this order.

    Figures may differ. `…` ends a line that goes on, and stands alone for lines left out; `# exit code 1` after a
    command says how it ends.
    """
    printed: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            ending = re.search(r"# exit code (\d)", line)
            printed = [plain(each) for each in carry_out(line[2:], int(ending[1]) if ending else 0).splitlines()]
        elif (expected := plain(line.removesuffix("…"))) != "":
            same = (lambda each, want=expected: each.startswith(want)) if line.endswith("…") else expected.__eq__
            place = next((at for at, each in enumerate(printed) if same(each)), None)
            assert place is not None, f"not printed, or not in this order: {line}"
            printed = printed[place + 1 :]


def plain(line: str) -> str:
    """A printed line without its figures and the widths of its columns."""
    return re.sub(r"\d+(?:\.\d+)?", "0", " ".join(line.split()))


def test_a_line_that_a_command_does_not_print_is_seen() -> None:
    carry_out_console("$ crypsis rulebooks\n…\n")
    with pytest.raises(AssertionError, match="not printed, or not in this order: no such line"):
        carry_out_console("$ crypsis rulebooks\nno such line\n")


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")  # the width at which pages show what commands print
    if page.name == "README.md":
        from crypsis.table.example import example
        from crypsis.table.files import write_table

        write_table(example(200), tmp_path / "people.csv")
    names: dict[str, object] = {}  # a reader goes on where the last block ended
    for kind, text in blocks(page):
        if kind == "sh":
            for line in text.splitlines():
                carry_out(line.strip())
        elif kind == "console":
            carry_out_console(text)
        elif kind == "python":
            with redirect_stdout(io.StringIO()):
                exec(compile(text, str(page.name), "exec"), names)


LONGEST = 1500
"""Words of a page, tables and code included; of tables that a program prints only what stands beside them counts."""
PRINTED = {ROOT / "docs" / "conformance.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_page_is_read_in_one_sitting(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    words = sum(len(line.split()) for line in lines if not (page in PRINTED and line.startswith("|")))
    assert words <= LONGEST, f"{page.name}: {words} words; split it by subject or cut what nobody needs"


def test_every_page_has_a_place_in_the_site() -> None:
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        name = str(page.relative_to(ROOT / "docs"))
        assert name in listed or name.startswith("decisions/0"), f"{name} is in no menu"


def test_the_site_asks_nothing_of_the_net() -> None:
    """`python docs/look.py` sees it in a browser; here is what it rests on."""
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in settings
    assert "  - offline" in settings
    assert "    - js/iframe-worker.js" in settings  # without it the plugin loads one from elsewhere
    own = [ROOT / "mkdocs.yml", *(ROOT / "docs").glob("js/*"), *(ROOT / "docs").glob("css/*")]
    own += (ROOT / "docs" / "images").glob("*.svg")
    for path in own:
        asked = re.search(
            r"""(?:src|href|url|import)\b\W{1,3}(?:https?:)?//[^\s"')]+""", path.read_text(encoding="utf-8")
        )
        assert asked is None, f"{path.name} asks {asked[0]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target and "reference/" not in target:
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_a_page_names_exist(page: Path) -> None:
    places = (ROOT, ROOT / "src" / "crypsis", ROOT / "tests")
    for name in re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|md|toml))`", page.read_text(encoding="utf-8")):
        assert any((place / name).is_file() for place in places), f"{page.name} names {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_pages_call_nobody_she(page: Path) -> None:
    """A custodian, an analyst or an intruder may be anybody."""
    said = re.search(r"\b(?:she|her|hers|herself)\b", page.read_text(encoding="utf-8"), re.IGNORECASE)
    assert said is None, f"{page.name} says {said[0]!r}"


def from_docs(module: str) -> ModuleType:
    """A module of the folder that makes the pages."""
    with patch.object(sys, "path", [str(ROOT / "docs"), *sys.path]):
        return importlib.import_module(module)


def test_every_registered_thing_states_its_facts() -> None:
    docstrings, registered = from_docs("docstrings"), from_docs("registered")
    for _, registry in registered.FAMILIES.values():
        for name in registry:
            told = docstrings.facts(registry[name])  # an incomplete one is refused there
            assert tuple(told) == docstrings.FACTS


def test_facts_that_are_not_stated_are_asked_for() -> None:
    docstrings = from_docs("docstrings")

    class Unexplained:
        """A thing.

        Notes
        -----
        - Formula: x' = x, on a line
          that goes on
        - Paper: own
        """

    assert docstrings.stated(Unexplained)["formula"] == "x' = x, on a line that goes on"
    with pytest.raises(
        ValueError, match=r"Unexplained: the Notes of its docstring lack '- Cost: …', '- Departures: …'"
    ):
        docstrings.facts(Unexplained)


def test_every_public_name_has_an_entry_in_the_reference(tmp_path: Path) -> None:
    """And the entry is that of the name, not of a module that is called so too."""
    make = from_docs("make")
    make.write_pages(tmp_path)
    overview = (tmp_path / "api.md").read_text(encoding="utf-8")
    for name in [*crypsis.__all__, *(f"sklearn.{name}" for name in crypsis.sklearn.__all__)]:
        if name == "__version__":
            continue
        assert f"(api/crypsis.{name}.md)" in overview
        (written,) = re.findall(
            r"^::: (\S+)$", (tmp_path / "api" / f"crypsis.{name}.md").read_text("utf-8"), re.MULTILINE
        )
        module, _, last = written.rpartition(".")
        assert getattr(importlib.import_module(module), last) is attrgetter(name)(crypsis), written


def test_generated_pages_say_what_the_program_knows(tmp_path: Path) -> None:
    make = from_docs("make")
    make.write_pages(tmp_path)
    for stem, (_, registry) in make.registered.FAMILIES.items():
        overview = (tmp_path / f"{stem}.md").read_text(encoding="utf-8")
        for name in registry:
            page = (tmp_path / stem / f"{name}.md").read_text(encoding="utf-8")
            assert f"({stem}/{name}.md)" in overview
            assert all(f"| `{field}` |" in page for field in registry[name].model_fields)


def test_the_verdicts_page_counts_every_printed_number(tmp_path: Path) -> None:
    make = from_docs("make")
    make.write_pages(tmp_path)
    page = (tmp_path / "verdicts.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "experiments").glob("*/expected.csv")):
        if (path.parent / "verdict.md").is_file():
            with path.open(encoding="utf-8") as file:
                printed = len(list(csv.DictReader(file)))
            line = next(line for line in page.splitlines() if line.startswith(f"| {path.parent.name} |"))
            assert sum(int(cell) for cell in line.split("|")[3:-1]) == printed, path.parent.name


def test_the_readme_counts_what_is_registered() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"**Measures**: {len(list(measures))} of loss and risk" in text
    assert f"microaggregation with {len(list(partitioners))} partitioners" in text
