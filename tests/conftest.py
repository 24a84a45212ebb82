"""Reference data lies beside the repository; the library, which may be installed elsewhere, is told where."""

from __future__ import annotations

import os
from pathlib import Path

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

if BESIDE.is_dir():
    os.environ.setdefault("CRYPSIS_DATA", str(BESIDE))
