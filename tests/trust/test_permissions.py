"""Whatever the umask: nothing that Crypsis writes can be changed by others, and only `public` can be read by them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from crypsis.cli.app import app
from crypsis.kernels.compile import kernel
from crypsis.kernels.sealed_cache import KEY, sealed_cache_folder
from crypsis.studio import studio
from crypsis.studio.pages.home import upload_folder
from crypsis.studio.session import Session, write_example_for_session
from run.runs import folder_with

OPEN_TO_ALL = 0o000


@pytest.fixture(autouse=True)
def careless() -> Iterator[None]:
    before = os.umask(OPEN_TO_ALL)
    yield
    os.umask(before)


def exposed(folder: Path) -> dict[str, str]:
    """Everything below a folder that others may read, enter or change, with its mode."""
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in folder.rglob("*")}
    return {str(path.relative_to(folder)): oct(mode) for path, mode in modes.items() if mode & 0o077}


def call(*words: object) -> None:
    answer = CliRunner().invoke(app, [str(word) for word in words])
    assert answer.exit_code == 0, (answer.output, answer.exception)


def test_commands_write_private_files_and_a_public_folder_nobody_else_can_change(tmp_path: Path) -> None:
    job, out = tmp_path / "job", tmp_path / "out"
    folder_with(job)
    out.mkdir(mode=0o700)
    call("run", job / "plan.toml", "--out", out / "run", "--budget", "1 generations", "--quiet")
    call("release", out / "run", "--out", out / "release")
    call("keys", "new", "--to", out / "office.key")
    call("mask", job / "people.csv", "microaggregation", "--quasi", "age,hours", "--identifier", "person",
         "--set", "k=3", "--out", out / "masked.csv")  # fmt: skip
    found = exposed(out)
    public = {"release": "0o755", "release/public": "0o755", "office.key.pub": "0o644"}
    files = (
        "data.csv", "schema.json", "report.json", "report.html", "codebook.json", "codebook.html", "manifest.json"
    )  # fmt: skip
    assert found == public | {f"release/public/{name}": "0o644" for name in files}


def test_the_studio_s_own_files_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "state"
    base.mkdir(mode=0o700)
    monkeypatch.setenv("CRYPSIS_STUDIO_HOME", str(base / "a" / "b"))
    home = studio.studio_home()
    upload_folder(home)
    write_example_for_session(home / "example", home / "example" / "plan.toml", rows=60)
    session = Session(home / "example" / "people.csv", home / "example" / "plan.toml")
    session.change(rulebook="")
    assert set(exposed(base)) <= {"a/b/example/people.csv"}
    assert not any(int(mode, 8) & 0o022 for mode in exposed(base).values())


def test_compiled_kernels_cannot_be_replaced_by_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    sealed_cache_folder.cache_clear()
    try:
        assert kernel(_twice)(1.5) == 3.0
        assert not [path for path in exposed(tmp_path) if (tmp_path / path).is_dir()], "nobody else can enter"
        (folder,) = (path for path in (tmp_path / "cache").iterdir() if path.is_dir())
        assert list(folder.iterdir())
        assert (tmp_path / "cache" / KEY).stat().st_mode & 0o777 == 0o600
    finally:
        sealed_cache_folder.cache_clear()


def _twice(value: float) -> float:
    return 2.0 * value
