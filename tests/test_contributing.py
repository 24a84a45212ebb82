"""CONTRIBUTING is true to the letter: its files, added to a copy of the source, are found wherever it says they are."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import crypsis
from crypsis.table import example, write_table
from waiving import waive

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(crypsis.__file__).parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
METHOD, MEASURE, MODEL, SEARCH = NAMES = ("rounding", "changed-cells", "class-share", "random-levels")
PLAN = """
[data]
source = "people.csv"
[columns]
person = { role = "identifier" }
age = { role = "quasi", hierarchy = "intervals:5,10,20" }
sex = { role = "quasi", hierarchy = "merge:2" }
diagnosis = { role = "confidential", because = "known to the hospital alone" }
income = { role = "identifier" }
hours = { role = "other", because = "known to nobody outside" }
district = { role = "other", because = "known to nobody outside" }
education = { role = "other", because = "known to nobody outside" }
marital = { role = "other", because = "known to nobody outside" }
occupation = { role = "other", because = "known to nobody outside" }
[[require]]
model = "class-share"
percent = 5
[[search]]
name = "random-levels"
[measures]
loss = ["changed-cells"]
[[limit]]
measure = "changed-cells"
at_most = 100
[release]
suppression = "5%"
"""


def python_files() -> list[tuple[str, str]]:
    """(path, text) of every block that begins with the path of a file."""
    blocks = [text for kind, text in BLOCK.findall(TEXT) if kind == "python"]
    return [(text.split("\n", 1)[0].removeprefix("# "), text.split("\n", 1)[1]) for text in blocks]


def call(source: Path, folder: Path, *command: str) -> str:
    """What a command prints, with the given source in place of the installed one."""
    environment = {**os.environ, "PYTHONPATH": str(source), "COLUMNS": "200"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source with the files of CONTRIBUTING: packages that grow are copied, the others are the same."""
    folder = tmp_path_factory.mktemp("source")
    (folder / "crypsis").mkdir()
    grown = {Path(path).parts[2] for path, _ in python_files()}
    for entry in SOURCE.iterdir():
        if entry.name in grown:
            shutil.copytree(entry, folder / "crypsis" / entry.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif entry.name != "__pycache__":
            (folder / "crypsis" / entry.name).symlink_to(entry)
    for path, text in python_files():
        place = folder / Path(path).relative_to("src")
        before = place.read_text(encoding="utf-8") if place.name == "__init__.pyi" else ""
        place.write_text(before + text, encoding="utf-8")
    return folder


def test_every_family_has_one_file_and_one_line() -> None:
    lines = [text for path, text in python_files() if path.endswith("__init__.pyi")]
    assert len(lines) == len(NAMES)
    assert all(len(text.splitlines()) == 1 for text in lines)
    assert len(python_files()) == 2 * len(NAMES)


def test_what_is_added_is_found_everywhere(source: Path, tmp_path: Path) -> None:
    found = json.loads(call(source, tmp_path, str(ROOT / "tests" / "contributed.py"), str(tmp_path)))
    for name in NAMES:
        for place in ("registry", "public", "reference", "overview"):
            assert name in found[place], f"{name} is not in the {place}"
    for name in (MEASURE, MODEL, SEARCH):
        assert name in found["schema"]
        assert name in found["studio"]
    assert f'name = "{SEARCH}"' in found["draft"]


def test_the_command_line_knows_what_was_added(source: Path, tmp_path: Path) -> None:
    write_table(example(120, seed=3), tmp_path / "people.csv")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    crypsis_ = ("-m", "crypsis")
    assert f"\n  {METHOD} " in call(source, tmp_path, *crypsis_, "mask", "--help")
    assert f"\n  {MEASURE} " in call(source, tmp_path, *crypsis_, "assess", "--help")
    masked = call(source, tmp_path, *crypsis_, "mask", "people.csv", METHOD, "--quasi", "age", "-o", "masked.csv")
    assert f"masked by {METHOD}" in masked
    assert MEASURE in masked
    call(source, tmp_path, *crypsis_, "run", "plan.toml", "--budget", "2 generations", "--seed", "1", "--out", "run")
    ask = "import crypsis; print({solution.title for solution in crypsis.Run.open('run').solutions})"
    assert SEARCH in call(source, tmp_path, "-c", ask)
    call(source, tmp_path, *crypsis_, "release", "run", "--pick", "best", "-o", "released", *waive("hours", "income"))
    assert MODEL in call(source, tmp_path, *crypsis_, "verify", "released")


def test_what_is_added_is_put_to_the_conformance_tests(source: Path) -> None:
    wanted = " or ".join([*NAMES, *(name.replace("-", "_") for name in NAMES), "states_its_facts"])
    tests = ["tests/conformance", "tests/test_docstrings.py", "tests/test_docs.py"]
    said = call(source, ROOT, "-m", "pytest", "-n", "0", "-vv", "-p", "no:cacheprovider", *tests, "-k", wanted)
    for name in (METHOD, MEASURE, MODEL):
        assert re.search(rf"::test_\w+\[.*{name}.*\] PASSED", said), f"no conformance test concerns {name}"


def test_another_package_registers_by_its_entry_point(tmp_path: Path) -> None:
    declared = next(tomllib.loads(text) for kind, text in BLOCK.findall(TEXT) if kind == "toml")
    ((group, entries),) = declared["project"]["entry-points"].items()
    ((name, module),) = entries.items()
    package, _, file = module.partition(".")
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    (tmp_path / package / f"{file}.py").write_text(dict(python_files())["src/crypsis/masking/rounding.py"])
    (tmp_path / "outside-1.dist-info").mkdir()
    (tmp_path / "outside-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1\n")
    (tmp_path / "outside-1.dist-info" / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}\n")
    path = Path(os.pathsep.join([str(tmp_path), str(SOURCE.parent)]))
    assert f"\n  {METHOD} " in call(path, tmp_path, "-m", "crypsis", "mask", "--help")
