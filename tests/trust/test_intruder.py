"""The intruder of scripts/intruder.py: hand-sized files with known answers, and a release that keeps its promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crypsis

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "intruder.py"


def intruder(original: pl.DataFrame, released: pl.DataFrame, folder: Path, *words: str) -> tuple[int, dict[str, float]]:
    """Exit code, and the worst share of the people by (number of known columns, intruder)."""
    original.write_csv(folder / "original.csv")
    released.write_csv(folder / "released.csv")
    done = subprocess.run(
        [sys.executable, SCRIPT, folder / "original.csv", folder / "released.csv", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    worst, known = dict[str, float](), ""
    for line in done.stdout.splitlines():
        if " known, " in line:
            known = line.split(" known, ")[0] + (" c" if "with one stated" in line else "")
        elif line.startswith("  "):
            worst[f"{known} {line.split()[0]}"] = float(line.split("worst")[1].split("%")[0])
    return done.returncode, worst


def test_by_hand(tmp_path: Path) -> None:
    """Four people; two share a published age, a town is a group, and a third column is as collected."""
    original = pl.DataFrame({"age": [20, 30, 50, 60], "town": ["a", "b", "c", "c"], "pay": [1, 2, 3, 4]})
    released = pl.DataFrame({"age": [25, 25, 55, 55], "town": ["a or b", "a or b", "c", "c"], "pay": [1, 2, 3, 4]})
    code, worst = intruder(original, released, tmp_path, "--unknown", "pay")
    assert code == 1, "half of the people are found by age, and a tenth may be"
    assert worst["1 exact"] == pytest.approx(50.0), "by town: one of two each; nobody by an exact age"
    assert worst["1 nearest"] == pytest.approx(50.0)
    assert worst["2 exact"] == pytest.approx(0.0)
    assert worst["2 nearest"] == pytest.approx(50.0)
    assert worst["1 c exact"] == worst["3 c nearest"] == pytest.approx(100.0)


def test_an_untouched_file_names_everybody_and_classes_of_five_a_fifth_at_most(tmp_path: Path) -> None:
    table = crypsis.example(300, seed=3)
    before = crypsis.to_frame(table).select(table.quasi_identifiers)
    code, worst = intruder(before, before, tmp_path, "--people", "100")
    assert code == 1
    assert worst["3 nearest"] > 60
    masked = crypsis.Microaggregation(k=5).mask(table, np.random.default_rng(0))
    after = crypsis.to_frame(masked).select(table.quasi_identifiers)
    code, worst = intruder(before, after, tmp_path, "--people", "100", "--most", "20")
    assert code == 0
    assert 1 < worst["3 nearest"] <= 20


def test_a_shuffled_file_is_not_passed_by_chance(tmp_path: Path) -> None:
    table = crypsis.example(300, seed=3)
    before = crypsis.to_frame(table).select(table.quasi_identifiers)
    before.write_csv(tmp_path / "original.csv")
    before.sample(fraction=1.0, shuffle=True, seed=1).write_csv(tmp_path / "released.csv")
    words = [sys.executable, SCRIPT, tmp_path / "original.csv", tmp_path / "released.csv"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "do not seem to stand in the order" in done.stdout
