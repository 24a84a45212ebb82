"""The tree is the theory: imports go one way, numba stays behind its wall, start-up stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import crypsis

ROOT = Path(crypsis.__file__).parent

LAYERS = {
    "errors": 0,
    "version": 0,
    "lazy_imports": 0,
    "small_tables": 0,
    "home": 0,
    "extras": 1,
    "registry": 1,
    "engines": 1,
    "tasks": 2,
    "kernels": 2,
    "table": 3,
    "evolution": 3,
    "masking": 4,
    "measures": 4,
    "privacy": 4,
    "attacks": 5,
    "audits": 5,
    "text": 6,
    "encodings": 7,
    "searches": 8,
    "rulebook": 8,
    "plan": 9,
    "charts": 10,
    "report": 11,
    "release": 12,
    "run": 13,
    "studio": 14,
    "sklearn": 14,
    "cli": 15,
    "__main__": 16,
}
"""A module imports from its own package and from layers below, without exception."""


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def package(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0]


def imports(path: Path) -> Iterator[str]:
    """Full names of everything a module imports, wherever in the module it does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            if node.module == "crypsis":
                yield from (f"crypsis.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_only_from_layers_below_or_own_package(path: Path) -> None:
    own = package(path)
    if own == "__init__":
        return
    assert own in LAYERS, f"{path.name} belongs to no layer; add its package to LAYERS or move it"
    for name in imports(path):
        if not name.startswith("crypsis."):
            continue
        other = name.split(".")[1]
        if other == own:
            continue
        assert LAYERS[other] < LAYERS[own], f"{own} (layer {LAYERS[own]}) imports {name} (layer {LAYERS[other]})"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_numba_only_behind_its_wall(path: Path) -> None:
    if package(path) != "kernels":
        assert not [name for name in imports(path) if name.split(".")[0] == "numba"]


def test_no_package_without_a_subject() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "misc", "base", "core"}
    assert not [p for p in modules() if vague & set(p.relative_to(ROOT).with_suffix("").parts)]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_is_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 800


HEAVY = (
    "numba",
    "scipy",
    "polars",
    "pandas",
    "pyarrow",
    "narwhals",
    "joblib",
    "moocore",
    "jinja2",
    "vl_convert",
    "sklearn",
    "starlette",
)


@pytest.mark.parametrize("start", ["import crypsis", "import crypsis.cli"])
def test_nothing_heavy_is_imported_at_start_up(start: str) -> None:
    code = f"import sys; {start}; print([m for m in {HEAVY!r} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
