"""What a command loads: a run is a matter of seconds, and every module it does not use is taken from them."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import crypsis
import typed_user

LATE = ("scipy.stats", "scipy.optimize", "scipy.spatial", "asyncio", "joblib", "jinja2", "pyarrow", "pandas")
"""Loaded where they are used: in measures, searches, other engines and releases."""


def test_a_run_begins_without_what_it_may_never_use() -> None:
    code = (
        "import sys, crypsis.cli.run, crypsis.run, crypsis.run.warm_up;"
        f"print([name for name in {LATE!r} if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_what_a_typed_user_writes_runs() -> None:
    masked, verdict = typed_user.mask(5)
    assert verdict.holds
    assert len(masked) == 60
    assert len(list(typed_user.search(5))) > 0


@pytest.fixture(scope="module")
def byte_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as byte code and stubs alone."""
    place = tmp_path_factory.mktemp("byte_code")
    shutil.copytree(Path(crypsis.__file__).parent, place / "crypsis", ignore=shutil.ignore_patterns("__pycache__"))
    assert compileall.compile_dir(place, quiet=2, legacy=True)
    for path in place.rglob("*.py"):
        path.unlink()
    return place


def test_byte_code_alone_and_without_assertions_has_the_same_public_names(byte_code: Path) -> None:
    code = "import crypsis; print(len([getattr(crypsis, name) for name in crypsis.__all__]), crypsis.__file__[-3:])"
    for options, place, suffix in ((["-O"], Path(crypsis.__file__).parents[1], ".py"), ([], byte_code, "pyc")):
        env = {**os.environ, "PYTHONPATH": str(place)}
        done = subprocess.run(
            [sys.executable, *options, "-c", code], capture_output=True, text=True, check=True, env=env
        )
        assert done.stdout.split() == [str(len(crypsis.__all__)), suffix]


POSIX_ONLY = ("fcntl", "grp", "pwd", "resource", "termios")


def test_public_names_and_files_need_nothing_that_windows_lacks(tmp_path: Path) -> None:
    """Every public name is imported, a table written and read, and a run's folder written, without POSIX's modules."""
    code = (
        "import os, sys, warnings; from pathlib import Path\n"
        f"sys.modules.update(dict.fromkeys({POSIX_ONLY!r}))\n"
        "warnings.simplefilter('ignore')\n"
        "import crypsis, crypsis.sklearn\n"
        "found = [getattr(crypsis, name) for name in crypsis.__all__]\n"
        "import crypsis.cli, crypsis.release.ledger, crypsis.run.store, crypsis.studio.jobs\n"
        "from crypsis.table import atomic_files\n"
        "atomic_files.POSIX = False\n"
        "del os.sysconf\n"
        "crypsis.write_table(crypsis.example(40, seed=1), 'people.csv')\n"
        "with atomic_files.atomic_folder('made') as folder:\n"
        "    (folder / 'file').write_text('x')\n"
        "atomic_files.write_atomically('made/file', b'y', replace=True)\n"
        "print(len(found), crypsis.read_table('people.csv').rows, Path('made/file').read_text(), sorted(os.listdir()))"
    )
    said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    count, rows, text, *files = said.split(maxsplit=3)
    assert int(count) > 50
    assert (rows, text, files) == ("40", "y", ["['made', 'people.csv']\n"])
