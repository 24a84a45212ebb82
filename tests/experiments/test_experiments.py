"""Each of the five papers, quickly: every printed number gets a verdict, and what must hold does."""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from reference import reference

ROOT = Path(__file__).resolve().parents[2] / "experiments"
NAMES = ("ga-2006", "hybrid-2007", "gomm-2014", "masking-2012", "pbg-2009")
NEEDS = {
    "hybrid-2007": ("census.csv",),
    "gomm-2014": ("census.csv", "water_treatment.csv"),
    "masking-2012": ("german_credit.csv", "solar_flare.csv", "adult_1000.csv", "categorical_domains.csv"),
    "pbg-2009": ("adult.csv", "dgh/adult_age.csv"),
}
CERTAIN = {
    "ga-2006": ("| 1000 | k=5 | 2953389 | 2953389 | same |", "| n=30 k=3 | mu |", "mutation matters"),
    "hybrid-2007": (
        "| Census K=12 | SSE MDAV | 799 | 799.18 | same |",
        "Lemma 1: two-step is never worse than MDAV | holds",
    ),
    "gomm-2014": ("| G38 | k=100 | 50.6 | 50.638 | same |", "| G3nc | k=5 | 38.0 | 38.043 | same |"),
    "masking-2012": ("max, mean and min score never grow | holds", "Housing Survey"),
    "pbg-2009": (
        "| Adult | lattice nodes | 17920 | 17920 | same |",
        "| Adult | suppression limit | 301 | 301 | same |",
    ),
}


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"experiment_{name.replace('-', '_')}", ROOT / name / "reproduce.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_the_quick_run_judges_every_printed_number(name: str, tmp_path: Path) -> None:
    for file in NEEDS.get(name, ()):
        reference(file)
    script(name).main(["--quick", "--out", str(tmp_path)])
    page = (tmp_path / "verdict.md").read_text(encoding="utf-8")
    assert "Only the quick run was made" in page
    with (ROOT / name / "expected.csv").open(encoding="utf-8") as file:
        printed = list(csv.DictReader(file))
    assert f"{len(printed)} printed numbers" in page
    for sentence in CERTAIN[name]:
        assert sentence in page
    assert all(path.stat().st_size < 300_000 for path in tmp_path.glob("*.svg"))


@pytest.mark.parametrize("name", NAMES)
def test_expected_numbers_are_well_formed(name: str) -> None:
    with (ROOT / name / "expected.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["table", "row", "column", "value", "note"]
    assert Counter((r["table"], r["row"], r["column"]) for r in rows).most_common(1)[0][1] == 1
    assert all(row["value"] and row["note"] for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_a_verdict_is_kept_beside_each_experiment(name: str) -> None:
    page = (ROOT / name / "verdict.md").read_text(encoding="utf-8")
    assert page.startswith("# ")
    assert "## Conventions" in page


def test_experiments_use_no_internal_kernels() -> None:
    for path in ROOT.rglob("*.py"):
        assert "crypsis.kernels" not in path.read_text(encoding="utf-8"), f"{path.name}: the public API only"


# -- the verdicts themselves --


@pytest.fixture
def verdicts() -> ModuleType:
    sys.path.insert(0, str(ROOT))
    return importlib.import_module("verdicts")


def test_what_is_same_close_better_or_different(verdicts: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "expected.csv").write_text(
        "table,row,column,value,note\nT,a,x,15.23,p\nT,b,x,15.23,p\nT,c,x,15.23,p\nT,d,x,15.23,p\nT,e,x,3.7e-4,p\nT,f,x,12,p\n"
    )
    report = verdicts.Report(tmp_path, "title", False, tmp_path / "out")
    assert report.cell("T", "a", "x", 15.2349) == "same"
    assert report.cell("T", "b", "x", 15.2399, close=0.1, why="band 0.1") == "close"
    assert report.cell("T", "b", "x", 15.2399, truncated=True) == "same"
    assert report.cell("T", "c", "x", 15.14, close=0.1, lower_is_better=True, why="found") == "better"
    assert report.cell("T", "d", "x", 16.0, close=0.1, why="not reached") == "different"
    assert report.cell("T", "e", "x", 3.66e-4, digits=-1) == "same"
    with pytest.raises(ValueError, match="no reason"):
        report.cell("T", "f", "x", 99)
    with pytest.raises(ValueError, match="no verdict"):
        report.finish()
    report.skip("T", "no data")
    page = report.finish().read_text(encoding="utf-8")
    assert "6 printed numbers: 2 *same*" not in page  # a, b, e
    assert "3 *same*, 1 *better*, 1 *different*, 1 *not reproduced*" in page
