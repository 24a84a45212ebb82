"""Same plan, same seed, same bits: whatever the hash seed, the engine, the working folder and the time of day.

`scripts/pythons` asks the same of other versions of Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "bits.py"


def digests(folder: Path, engine: str, **surroundings: str) -> str:
    answer = subprocess.run(
        [sys.executable, SCRIPT, folder, engine],
        env={**os.environ, **surroundings}, cwd=folder.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_hash_seeds_engines_and_surroundings_leave_the_bits_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    first = digests(tmp_path / "first", "serial", PYTHONHASHSEED="0")
    assert len(first.split()) == 2
    other = {"PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "POLARS_MAX_THREADS": "1"}
    assert digests(tmp_path / "elsewhere" / "second", "threads", **other) == first
    assert digests(tmp_path / "third", "processes", PYTHONHASHSEED="1") == first
