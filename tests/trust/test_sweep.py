"""A few tables of the sweep: written bytes judged by other code, and planted findings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def script(name: str, *words: str) -> str:
    done = subprocess.run([sys.executable, SCRIPTS / name, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_odd_tables_keep_their_promises_and_a_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    words = ["--seed", "3", "--out", str(tmp_path / "sweep.jsonl")]
    first = script("sweep.py", "--tables", "1", *words)
    printed = script("sweep.py", "--tables", "2", *words)
    assert "1 tables" in first
    assert "0 broken, 0 failed" in printed
    assert "as promised" in printed
    assert len((tmp_path / "sweep.jsonl").read_text(encoding="utf-8").splitlines()) == 2


def test_plants_are_found_and_clean_tables_raise_no_alarm() -> None:
    printed = script("plants.py", "--plants", "4", "--seed", "3").splitlines()
    assert all("found 4 of 4, false alarms 0" in line or "4 of 4" in line for line in printed)
    assert len(printed) >= 5
