"""Disks that are full or may not be written: a sentence, nothing half-written, and what was before is still there."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.test_commands import crypsis
from crypsis.errors import Interrupted, SearchError, TableError
from crypsis.masking import Microaggregation
from crypsis.privacy import KAnonymity
from crypsis.release import ReleaseDescription, publish
from crypsis.run import Run
from crypsis.run.store import Store
from crypsis.table import atomic_files
from crypsis.table.atomic_files import atomic_folder, write_atomically
from crypsis.table.example import example
from run.runs import begun, bits, finished, folder_with
from waiving import waiving

PLAN = """
[data]
source = "people.csv"
[columns]
person = { role = "identifier" }
age = { role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }
hours = { role = "quasi", kind = "numeric", hierarchy = "intervals:10,20" }
income = { role = "confidential" }
[[require]]
model = "k-anonymity"
k = 3
[[search]]
name = "memetic"
k = 3
k_values = 3
steps = 10
[run]
budget = "6 generations"
seed = 11
points = 4
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with(tmp_path_factory.mktemp("job"), PLAN, rows=80)


@pytest.fixture(scope="module")
def whole(plan: Path) -> list[tuple[Any, ...]]:
    run = finished(begun(plan, plan.parent / "whole"))
    found = bits(run)
    run.close()
    return found


def refusing(after: int, number: int) -> Callable[[int], None]:
    """`os.fsync` of a disk that is full from the call after the first few on."""
    left, real = [after], os.fsync

    def fsync(handle: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(number, os.strerror(number))
        real(handle)

    return fsync


@pytest.mark.parametrize("number, words", [(errno.ENOSPC, "no space left"), (errno.EROFS, "read-only file system")])
def test_a_file_that_finds_no_room_is_not_there(
    number: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", refusing(0, number))
    with pytest.raises(TableError, match=f"cannot be written \\({words}.*nothing was written"):
        write_atomically(tmp_path / "table.csv", b"a\n1\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("after", [0, 1, 2, 5, 8, 11])
def test_a_release_that_finds_no_room_is_not_there(after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = example(60)
    masked = Microaggregation(k=3, columns=("age", "hours")).mask(table, np.random.default_rng(0))
    monkeypatch.setattr(os, "fsync", refusing(after, errno.ENOSPC))
    description, asked = (
        ReleaseDescription("Test", "Grouped.", "aggregation"),
        KAnonymity(k=3, quasi_identifiers=("age", "hours")),
    )
    reasons = waiving("occupation", "income")
    with pytest.raises(TableError, match="cannot be written \\(no space left"):
        publish(masked, tmp_path / "release", models=[asked], description=description, waivers=reasons)
    assert not list(tmp_path.iterdir())


def test_a_run_on_a_full_disk_stops_with_what_it_had_and_goes_on(plan: Path, whole: list[tuple[Any, ...]]) -> None:
    folder = plan.parent / "full"
    run = begun(plan, folder)
    pages = run.store._connection.execute("PRAGMA page_count").fetchone()[0]
    run.store._connection.execute(f"PRAGMA max_page_count = {pages + 4}")  # SQLite's own "disk is full"
    with pytest.raises(Interrupted, match=r"cannot write its last step \(database or disk is full\)"):
        finished(run)
    run.close()
    with sqlite3.connect(folder / "run.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    again = finished(Run.resume(folder))
    assert bits(again) == whole
    again.close()


def test_the_command_line_says_that_a_run_can_be_resumed(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Store, "add", refuse)
    answer = crypsis("run", plan, "--out", plan.parent / "told", "--quiet")
    assert answer.returncode == 3
    assert f"crypsis resume {plan.parent / 'told'}" in answer.stderr


def test_any_other_refusal_of_the_system_is_a_sentence(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "some.csv")

    monkeypatch.setattr("crypsis.table.files.read_table", refuse)
    answer = crypsis("profile", plan.parent / "people.csv")
    assert answer.returncode == 2
    assert answer.stderr.splitlines()[-1].startswith("crypsis: some.csv: too many open files; ")


# -- read-only --


def unwritable(path: object, mode: int, **_: object) -> bool:
    return not mode & os.W_OK


def test_a_run_on_a_disk_that_cannot_be_written_can_be_looked_at(
    plan: Path, whole: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", unwritable)
    run = Run.open(plan.parent / "whole")
    assert bits(run) == whole
    with pytest.raises(Interrupted, match="readonly database"), run.store.transaction():
        run.store.note("finished", False)
    run.close()


def test_generations_that_wait_in_the_log_are_not_passed_over(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begun(plan, plan.parent / "waiting")
    with run.store.transaction():
        run.store.note("elapsed", 1.0)
    monkeypatch.setattr(os, "access", unwritable)
    with pytest.raises(SearchError, match=r"the last generations are still in run\.db-wal"):
        Store(plan.parent / "waiting" / "run.db")
    run.close()


def test_a_folder_that_cannot_be_written_cannot_go_on(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def refuse(path: Any, *given: Any, **more: Any) -> int:
        if str(path).endswith(".running"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(path, *given, **more)

    monkeypatch.setattr(os, "open", refuse)
    run = Run.open(plan.parent / "whole")
    with pytest.raises(
        SearchError, match="cannot be written \\(read-only file system\\), so the run cannot continue here"
    ):
        finished(run)
    run.close()


# -- what a kill leaves aside --


def test_what_a_killed_writer_left_is_swept_by_the_next(tmp_path: Path) -> None:
    left, file = tmp_path / ".out.abc.crypsis.part", tmp_path / ".another.def.crypsis.part"
    (left / "out").mkdir(parents=True)
    (left / "out" / "half").write_text("half")
    file.write_text("half")
    foreign = tmp_path / ".out.ghi.part"
    foreign.write_text("somebody else's")
    with atomic_folder(tmp_path / "out") as aside:
        (aside / "whole").write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.ghi.part", "out"]


def test_a_killed_release_leaves_nothing_once_the_next_is_made(tmp_path: Path) -> None:
    """A writer is killed while its temporary folder is there; whatever the next one writes, it is gone at once."""
    code = (
        "import os, signal, sys\nfrom crypsis.table.files import atomic_folder\n"
        "with atomic_folder(sys.argv[1]) as aside:\n"
        "    (aside / 'half').write_text('half')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    for name in ("release", "another"):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], check=False)
    assert len(list(tmp_path.glob(".*.part"))) == 1  # the second swept what the first had left
    write_atomically(tmp_path / "plan.toml", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]


def test_a_writer_whose_folder_is_swept_before_its_lock_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, swept = atomic_files._open_folder, []

    def opened(path: Path) -> int:
        handle = real(path)
        if not swept:
            path.rmdir()
            swept.append(path)
        return handle

    monkeypatch.setattr(atomic_files, "_open_folder", opened)
    with atomic_folder(tmp_path / "out") as aside:
        assert aside.parent not in swept
    assert (tmp_path / "out").is_dir()


def test_a_writer_at_work_is_left_alone(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "out") as aside:
        workshop = aside.parent
        (aside / "whole").write_text("whole")
        os.utime(workshop, (0, 0))
        write_atomically(tmp_path / "out.txt", b"x")
        with atomic_folder(tmp_path / "out.d"):
            assert workshop.exists()
        atomic_files._sweep(tmp_path)
        assert workshop.exists()
    assert (tmp_path / "out" / "whole").read_text() == "whole"
