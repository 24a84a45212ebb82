"""A few tables of the sweep: written bytes judged by other code, and planted findings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "sweep.py"


def test_a_few_odd_tables_keep_their_promises_and_plants_are_found() -> None:
    words = [sys.executable, SCRIPT, "--tables", "6", "--plants", "4", "--seed", "3"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "as promised" in done.stdout
    assert "BROKEN" not in done.stdout
    assert done.stdout.count("found 4 of 4, false alarms 0") == 4
