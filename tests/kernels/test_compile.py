"""The cache never answers with stale code, and a place that cannot be written is no obstacle."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import crypsis.kernels.compile as compile_module

CALLER = """
from crypsis_copy.called import called
from crypsis_copy.compile import kernel

def _caller(x):
    return called(x) + 1

caller = kernel(_caller)
"""
CALLED = """
from crypsis_copy.compile import kernel

def _called(x):
    return x * {factor}

called = kernel(_called)
"""


def answer(folder: Path, **environment: str) -> int:
    code = "from crypsis_copy.caller import caller; print(caller(10))"
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return int(result.stdout)


def test_a_change_in_a_called_kernel_of_another_file_is_noticed(tmp_path: Path) -> None:
    package = tmp_path / "crypsis_copy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(compile_module.__file__, package / "compile.py")
    (package / "caller.py").write_text(CALLER)
    (package / "called.py").write_text(CALLED.format(factor=2))
    assert answer(tmp_path) == 21
    assert answer(tmp_path) == 21
    assert list(package.rglob("*.nbi")), "it is cached"
    (package / "called.py").write_text(CALLED.format(factor=3))
    assert answer(tmp_path) == 31


def test_without_a_writable_place_kernels_still_run(tmp_path: Path) -> None:
    package = tmp_path / "crypsis_copy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(compile_module.__file__, package / "compile.py")
    (package / "caller.py").write_text(CALLER)
    (package / "called.py").write_text(CALLED.format(factor=2))
    blocked = tmp_path / "a file, not a folder"
    blocked.write_text("")
    assert answer(tmp_path, NUMBA_CACHE_DIR=str(blocked)) == 21
