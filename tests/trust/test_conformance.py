"""Every figure of `conformance/` beside ours, and that docs/conformance.md says what the command prints.

`python benchmarks/conformance.py` prints the figures; `--page` writes them into the page.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from reference import conformance as reference

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    "adult8_class_sizes.csv",
    "adult_lattice_optima.json",
    "individual_risk.csv",
    "population_uniqueness.csv",
    "score_intervals.json",
    "testdata_k3_undo.csv",
    "testdata_risk_fk_le_3.csv",
    "testdata_suda.csv",
    "testdata_suppressed_k3_cells.csv",
    "testdata_suppressed_k3_counts.csv",
    "testdata_suppressed_k5_cells.csv",
    "testdata_suppressed_k5_counts.csv",
    "wildcard_vectors.json",
)


def _load() -> ModuleType:
    reference(FILES[0])  # steps aside where there is no reference data
    folder = ROOT / "benchmarks"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("conformance_figures", folder / "conformance.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["conformance_figures"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


figures = _load()
PAGE = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("group", figures.GROUPS)
def test_every_figure_is_theirs_or_says_why_not(group: str) -> None:
    title, read = figures.GROUPS[group]
    found = read()
    for figure in found:
        assert figure.agrees or figure.why, figure.line()
        assert not (figure.agrees and figure.why), f"no difference to explain: {figure.line()}"
    lines = figures.lines_of(title, found)
    first = PAGE.index(lines[0])
    assert PAGE[first : first + len(lines)] == lines, "python benchmarks/conformance.py --page"


@pytest.mark.parametrize("name", FILES)
def test_no_file_of_figures_is_left_out(name: str) -> None:
    assert reference(name).is_file()
    source = (ROOT / "benchmarks" / "conformance.py").read_text(encoding="utf-8")
    assert name in source or name.replace("k3", "k{k}").replace("k5", "k{k}") in source


def test_the_folder_has_no_file_that_nobody_compares() -> None:
    assert {path.name for path in reference(FILES[0]).parent.iterdir()} == set(FILES)


def test_a_difference_is_seen() -> None:
    off = figures.Figure("x", "ARX", 1.0, 1.5, 0.1)
    assert (off.agrees, off.verdict) == (False, "DIFFERS by 0.5")
    assert figures.largest("x", "ARX", [1.0, 2.0], [1.0, 2.5], 0.1).ours == 0.5
