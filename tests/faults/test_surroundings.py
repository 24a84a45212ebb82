"""No home, files that change while they are read, a clock that goes backwards, a second process, a newer store."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cli.test_commands import crypsis
from crypsis.errors import TableError
from crypsis.kernels import compile as compiling
from crypsis.kernels import sealed_cache
from crypsis.masking import out_of_core
from crypsis.run import Run
from crypsis.run.store import FORMAT, lock_run_folder
from crypsis.studio.studio import studio_home
from crypsis.table.files import read_table
from faults.test_disks import PLAN
from run.runs import begun, bits, finished, folder_with


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with(tmp_path_factory.mktemp("job"), PLAN, rows=80)


def nobody() -> Path:
    raise RuntimeError("Could not determine home directory.")


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "CRYPSIS_STUDIO_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nobody)


@pytest.mark.usefixtures("homeless")
def test_without_a_home_the_studio_asks_for_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TableError, match="name one it may write to in CRYPSIS_STUDIO_HOME"):
        studio_home()
    monkeypatch.setenv("CRYPSIS_STUDIO_HOME", str(tmp_path / "own"))
    assert studio_home() == tmp_path / "own"


@pytest.mark.usefixtures("homeless")
def test_without_a_home_kernels_are_compiled_and_nothing_is_written_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "installed.py"
    source.write_text("")
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError):
        sealed_cache.sealed_cache_folder(source)
    monkeypatch.setattr(sealed_cache, "sealed_cache_folder", lambda _: nobody())

    def _double(x: float) -> float:
        return 2 * x

    assert compiling.kernel(_double)(2.0) == 4.0
    assert [path.name for path in tmp_path.iterdir()] == ["installed.py"]


@pytest.mark.parametrize("change", ["longer", "shorter"])
def test_a_file_that_is_written_while_it_is_read_is_refused(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    real, looks = os.fstat, []

    def look(handle: int) -> os.stat_result:
        looks.append(handle)
        if len(looks) == 2:
            os.truncate(path, 8 if change == "shorter" else 40)
        return real(handle)

    monkeypatch.setattr("crypsis.table.text_files.os.fstat", look)
    with pytest.raises(TableError, match="changed while it was read; wait until it is written"):
        read_table(path)


def test_a_file_replaced_by_another_is_read_whole_from_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    real = os.fstat

    def replace(handle: int) -> os.stat_result:
        (tmp_path / "new.csv").write_text("a,b\n5,6\n7,8\n9,9\n")
        os.replace(tmp_path / "new.csv", path)
        return real(handle)

    monkeypatch.setattr("crypsis.table.text_files.os.fstat", replace)
    assert read_table(path).column("a").tolist() == [1.0, 3.0]


def test_blocks_of_a_file_that_changed_between_two_passes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    source = tmp_path / "many.parquet"
    pl.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)}).write_parquet(source)
    real = out_of_core._sample

    def change(*given: Any) -> Any:
        drawn = real(*given)
        pl.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)}).write_parquet(source)
        return drawn

    monkeypatch.setattr(out_of_core, "_sample", change)
    with pytest.raises(TableError, match="was changed while its blocks were made, and nothing was written"):
        out_of_core.microaggregate_files(source, ["a", "b"], 3, tmp_path / "out", rng, block=100)
    assert [path.name for path in tmp_path.iterdir()] == ["many.parquet"]


def test_a_clock_that_goes_backwards_changes_nothing(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = finished(begun(plan, plan.parent / "straight"))
    now = [time.time()]

    def backwards() -> float:
        now[0] -= 3600.0
        return now[0]

    monkeypatch.setattr(time, "time", backwards)
    turned = finished(begun(plan, plan.parent / "turned"))
    assert bits(turned) == bits(straight)
    assert turned.store.read_note("elapsed") >= 0
    seconds = [step.seconds for step in turned.store.history(0)]
    assert seconds == sorted(seconds)


def test_a_second_process_in_a_folder_is_refused_in_a_sentence(plan: Path) -> None:
    folder = plan.parent / "shared"
    begun(plan, folder).close()
    with lock_run_folder(folder):
        answer = crypsis("resume", folder, "--quiet")
    assert answer.returncode == 2
    assert "another process is running in this folder; wait for it" in answer.stderr
    assert "already exists" in crypsis("run", plan, "--out", folder, "--quiet").stderr


@pytest.mark.parametrize("command", ["resume", "front", "show"])
def test_a_store_of_a_newer_version_is_refused_in_a_sentence(command: str, plan: Path) -> None:
    folder = plan.parent / f"newer-{command}"
    begun(plan, folder).close()
    with sqlite3.connect(folder / "run.db") as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    answer = crypsis(command, folder)
    assert answer.returncode == 2
    assert f"format 99 and this version reads {FORMAT}; use the Crypsis that wrote it" in answer.stderr
    assert Run.__name__ not in answer.stderr
