"""Reference data lies beside the repository; the library, which may be installed elsewhere, is told where."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small: threads of two workers wait for each other

settings.register_profile("untimed", deadline=None)  # a slow machine is no fault
settings.load_profile("untimed")

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

if BESIDE.is_dir():
    os.environ.setdefault("CRYPSIS_DATA", str(BESIDE))


# Fixtures of a module release before any fixture of a test can name a ledger.
os.environ["CRYPSIS_LEDGER"] = str(Path(tempfile.mkdtemp(prefix="crypsis-ledger-")) / "releases.json")


@pytest.fixture(autouse=True)
def ledger_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases of one test are no earlier releases of another."""
    monkeypatch.setenv("CRYPSIS_LEDGER", str(tmp_path_factory.mktemp("ledger") / "releases.json"))
