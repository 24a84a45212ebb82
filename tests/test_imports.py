"""What a command loads: a run is a matter of seconds, and every module it does not use is taken from them."""

from __future__ import annotations

import subprocess
import sys

LATE = ("scipy.stats", "scipy.optimize", "scipy.spatial", "asyncio", "joblib", "jinja2", "pyarrow", "pandas")
"""Loaded where they are used: in measures, searches, other engines and releases."""


def test_a_run_begins_without_what_it_may_never_use() -> None:
    code = (
        "import sys, crypsis.cli.run, crypsis.run, crypsis.run.warm_up;"
        f"print([name for name in {LATE!r} if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"
