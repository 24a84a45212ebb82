"""Each of the five papers, quickly: every printed number gets a verdict, and what must hold does."""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

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
        "| Census K=12 | SSE MDAV | 799 | 799.18 | same |  |",
        "Lemma 1: two-step is never worse than MDAV | holds",
    ),
    "gomm-2014": ("| G38 | k=100 | 50.6 | 50.638 | same |", "| G3nc | k=5 | 38.0 | 38.043 | same |"),
    "masking-2012": ("max, mean and min score never grow | holds", "Housing Survey"),
    "pbg-2009": (
        "| Adult | lattice nodes | 17920 | 17920 | input |",
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


def test_pages_show_the_figures_of_the_verdicts(verdicts: ModuleType) -> None:
    summary = importlib.import_module("summary")
    for path, text in summary.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: python experiments/summary.py --write"


@pytest.mark.parametrize("name", NAMES)
def test_every_difference_has_a_cause_and_no_kept_verdict_is_quick(verdicts: ModuleType, name: str) -> None:
    summary = importlib.import_module("summary")
    page = summary.verdict(name)
    assert "Only the quick run" not in page
    rows = summary.judged(page)
    assert rows
    for row in rows:
        assert row[4] == "same" or len(row[5]) > 10, f"{row[:4]} is {row[4]} and no cause is given"


def test_experiments_use_no_internal_kernels() -> None:
    for path in ROOT.rglob("*.py"):
        assert "crypsis.kernels" not in path.read_text(encoding="utf-8"), f"{path.name}: the public API only"


# -- the verdicts themselves --


@pytest.fixture
def verdicts() -> ModuleType:
    sys.path.insert(0, str(ROOT))
    return importlib.import_module("verdicts")


@pytest.fixture
def report(verdicts: ModuleType, tmp_path: Path) -> Any:
    """A report of a paper with one table T: a 15.23, b 90, c 1.0, d 0.0, e 3.7e-4, f "0.1 - 0.3", g "2 - 3", h 60."""
    values = {"a": "15.23", "b": "90", "c": "1.0", "d": "0.0", "e": "3.7e-4", "f": "0.1 - 0.3", "g": "2 - 3", "h": "60"}
    rows = "".join(f"T,{row},x,{value},p\n" for row, value in values.items())
    (tmp_path / "expected.csv").write_text(f"table,row,column,value,note\n{rows}")
    return verdicts.Report(tmp_path, "title", False, tmp_path / "out")


def test_without_chance_every_printed_digit_counts(report: Any) -> None:
    assert report.exact("T", "a", "x", 15.2349) == "same"
    assert report.exact("T", "a", "x", 15.2399, why="rounded") == "different"
    assert report.exact("T", "a", "x", 15.2399, truncated=True) == "same"
    assert report.exact("T", "e", "x", 3.66e-4, digits=-1) == "same"
    with pytest.raises(ValueError, match="no reason"):
        report.exact("T", "b", "x", 99)


def test_with_chance_three_standard_errors_by_hand(report: Any) -> None:
    runs = [88.0, 90.0, 92.0, 94.0]  # mean 91, deviation √(20/3) = 2.582
    assert report.chance("T", "b", "x", runs, why="by hand") == "close"
    # Against one printed run 3 · 2.582 · √(1/4 + 1) = 8.66; against many the mean itself must be near: 3.87.
    far = [run + 7.5 for run in runs]
    assert report.chance("T", "b", "x", far, why="by hand") == "undecided"  # no run of ours is as low as the printed
    assert "band ± 8.660" in report.judged["T", "b", "x"].why
    assert report.chance("T", "b", "x", far, why="by hand", of=10_000) == "different"
    assert report.chance("T", "b", "x", [run - 20 for run in runs], why="lower", lower_is_better=True) == "better"
    assert report.chance("T", "a", "x", [15.232, 15.231], why="digits") == "same"
    with pytest.raises(ValueError, match="two runs"):
        report.chance("T", "a", "x", [15.23], why="one run has no deviation")


def test_a_printed_nought_or_one_says_never_or_always(report: Any) -> None:
    assert report.chance("T", "c", "x", [1.0, 1.0, 1.0], why="always") == "same"
    assert report.chance("T", "c", "x", [1.0, 1.0, 0.977], why="not always") == "different"
    assert report.ratio("T", "d", "x", 0.00155, factor=4, why="not never") == "different"
    assert report.ratio("T", "d", "x", 0.0, factor=4, why="never") == "same"
    assert report.exact("T", "c", "x", 0.977, why="digits do not help") == "different"


def test_work_variances_and_levels(report: Any) -> None:
    assert report.ratio("T", "e", "x", 7.0e-4, factor=2, why="less than twice", digits=-1) == "close"
    assert report.ratio("T", "e", "x", 1.4e-3, factor=2, why="more than twice", digits=-1) == "different"
    grid = [round(0.1 * step, 1) for step in range(11)]
    assert report.choice("T", "f", "x", [0.1, 0.2, 0.3], grid, why="same") == "same"
    assert report.choice("T", "f", "x", [0.1, 0.4], grid, why="one level off") == "close"
    assert report.choice("T", "f", "x", [0.1, 1.0], grid, why="many levels off") == "different"
    assert report.choice("T", "h", "x", [90], list(range(10, 101, 10)), why="three levels off") == "different"
    assert report.between("T", "g", "x", [2.4, 2.8], why="inside") == "same"
    assert report.between("T", "g", "x", [3.1, 3.2], why="near") == "close"
    assert report.between("T", "g", "x", [9.1, 9.2], why="far") == "different"


def test_every_printed_number_needs_a_verdict_and_a_quick_run_refutes_nothing(
    report: Any, verdicts: ModuleType, tmp_path: Path
) -> None:
    report.exact("T", "a", "x", 15.23)
    with pytest.raises(ValueError, match="no verdict"):
        report.finish()
    report.skip("T", "no data")
    report.claim("something", False, "found")
    page = report.finish().read_text(encoding="utf-8")
    assert "8 printed numbers: 1 *same*, 7 *not reproduced*" in page
    assert "| something | does not hold | found |" in page
    quick = verdicts.Report(tmp_path, "title", True, tmp_path / "quick")
    quick.claim("something", False, "found")
    quick.claim("a sum", False, "found", certain=True)
    assert [claim[1] for claim in quick.claims] == ["not tested", "does not hold"]


def test_only_a_whole_grid_refutes_a_conclusion(verdicts: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "ga-2006")
    ruled = importlib.import_module("ga_conclusions").ruled
    assert ruled({"11x2": True, "50x2": True}, {"11x2"}) is True
    assert ruled({"11x2": False, "50x2": True}, {"11x2"}) is False
    assert ruled({"11x2": True, "50x2": False}, {"11x2"}) is None


def test_what_was_run_is_kept_and_an_unfinished_line_is_run_again(verdicts: ModuleType, tmp_path: Path) -> None:
    kept = verdicts.Kept(tmp_path / "runs.jsonl")
    calls: list[int] = []

    def once() -> list[float]:
        calls.append(1)
        return [1.5, 2.0]

    assert kept.run("one", once) == kept.run("one", once) == [1.5, 2.0]
    with (tmp_path / "runs.jsonl").open("a") as file:
        file.write('{"run": "two", "sec')
    again = verdicts.Kept(tmp_path / "runs.jsonl")
    assert again.run("one", once) == [1.5, 2.0]
    assert len(calls) == 1
    assert again.run("two", once) == [1.5, 2.0]
    assert sorted(verdicts.Kept(tmp_path / "runs.jsonl").found) == ["one", "two"]
