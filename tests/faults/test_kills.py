"""The script that kills runs, releases, blocks and the studio hundreds of times, here a few times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "faults.py"


def test_a_few_kills_break_no_promise() -> None:
    few = ["--run", "6", "--resume", "3", "--release", "1", "--blocks", "1", "--studio", "1", "--disk", "0"]
    answer = subprocess.run([sys.executable, SCRIPT, *few], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    kind, injected, met, lost = answer.stdout.splitlines()[-1].split()
    assert (kind, injected, lost) == ("all", "12", "0")
    assert int(met) > 0
