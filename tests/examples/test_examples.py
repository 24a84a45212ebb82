"""Scripts and notebooks of `examples/` do what they say, and what notebooks show is what their code prints."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(path for path in ROOT.glob("*.py") if path.name != "execute.py")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LINES = 40
LARGEST = 60_000
"""Bytes of a notebook with its outputs."""
PRINTS = {
    "file_to_release": "sound",
    "front": "holds for all 300 records",
    "attack_with_control": "caught",
    "own_measure": "medians moved by",
    "own_search": "one-level",
    "pipeline_gate": "groups of 20: passes",
    "sklearn_pipeline": "smallest group: 5",
}
"""Script → what it ends with, among other things."""


def executor() -> ModuleType:
    """The module that runs notebooks."""
    spec = importlib.util.spec_from_file_location("execute", ROOT / "execute.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_listed_and_short() -> None:
    listed = re.findall(r"\]\(([\w/.-]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    there = [path.relative_to(ROOT).as_posix() for path in (*SCRIPTS, *NOTEBOOKS)]
    assert sorted(listed) == sorted(there)
    assert {path.stem for path in SCRIPTS} == set(PRINTS)
    assert len(NOTEBOOKS) == 5
    for path in SCRIPTS:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES, path.name


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs(script: Path, tmp_path: Path) -> None:
    """In a process of its own: some register measures and searches."""
    known = {**os.environ, "CRYPSIS_HOME": str(tmp_path / "home")}
    answer = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=known, capture_output=True, text=True, timeout=300
    )
    assert answer.returncode == 0, answer.stderr
    assert PRINTS[script.stem] in answer.stdout
    assert "Traceback" not in answer.stderr


def shown(book: dict[str, Any]) -> list[list[str]]:
    """For every cell of code the kinds of what it shows."""
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    return [[kind for each in cell["outputs"] for kind in (each.get("data") or {"text": ""})] for cell in cells]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CRYPSIS_HOME", str(tmp_path / "home"))
    execute = executor()
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["metadata"]["code"] == execute.digest(stored), "its outputs are old: python examples/execute.py"
    assert path.stat().st_size <= LARGEST
    found = execute.execute(path)
    assert shown(found) == shown(stored)
    assert any(shown(found)), "a notebook shows something"
    for cell in found["cells"]:
        assert "/tmp" not in json.dumps(cell.get("outputs", [])), "no path of a machine is stored"
