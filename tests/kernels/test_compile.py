"""The cache never answers with stale code, and a place that cannot be written is no obstacle."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crypsis.kernels.compile as compile_module
from crypsis.kernels import kernel_compiler, sealed_cache
from crypsis.kernels.compile import kernel
from crypsis.kernels.sealed_cache import (
    KEY,
    LIST,
    SIZE,
    SealedFile,
    _with_imports,
    is_private_cache,
    key_of,
    sealed_cache_folder,
)

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
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={**inherited, "NUMBA_DISABLE_JIT": "0", **environment},
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


def family(folder: Path, **sources: str) -> Path:
    """Files of one folder, by name; the first is returned."""
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return folder / f"{next(iter(sources))}.py"


def test_a_file_belongs_with_all_that_it_imports_from_its_folder(tmp_path: Path) -> None:
    """Named as module or as name, on several lines, within a function, at second hand, in a circle, with an umlaut."""
    source = family(
        tmp_path,
        one="from place import two\nfrom house.place.three import a, b\nfrom numpy import array\nimport six",
        two="from place import (\n    four,\n    missing,\n)",
        three="def f():\n    from place.five import g  # fünf",
        four="from place.one import x",
        five="",
        six="",
    )
    assert {path.stem for path in _with_imports(source)} == {"one", "two", "three", "four", "five"}
    assert _with_imports(tmp_path / "five.py") == {tmp_path / "five.py"}
    assert _with_imports(tmp_path / "absent.py") == set()


def test_the_folder_is_named_after_the_content_of_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    folders = []
    for content in ("a = 1", "a = 2", "a = 1"):
        source = family(tmp_path, one="from place import two", two=content)
        sealed_cache_folder.cache_clear()
        folders.append(sealed_cache_folder(source))
    assert folders[0] == folders[2] != folders[1]
    assert {folder.parent for folder in folders} == {tmp_path / "named"}
    assert all(folder.name.startswith("one-") for folder in folders)


def test_where_the_folder_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the source; if that may not be written, in the user's cache."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = family(tmp_path, one="")
    sealed_cache_folder.cache_clear()
    assert sealed_cache_folder(source).parent == tmp_path / "__pycache__"
    asked: list[Path] = []
    monkeypatch.setattr(os, "access", lambda path, mode: asked.append(path) or False)  # type: ignore[func-returns-value]
    sealed_cache_folder.cache_clear()
    assert sealed_cache_folder(source).parent == tmp_path / "cache" / "crypsis"
    (tmp_path / "__pycache__").mkdir()
    sealed_cache_folder.cache_clear()
    assert sealed_cache_folder(source).parent == tmp_path / "cache" / "crypsis"
    assert asked == [tmp_path, tmp_path / "__pycache__"]
    sealed_cache_folder.cache_clear()


def _twice(x: int) -> int:
    return 2 * x


@pytest.mark.parametrize("refusal", [None, RuntimeError("no locator"), OSError("read-only")])
def test_kernels_run_without_the_lock_and_are_cached_where_they_may(
    refusal: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel is cached in our folder; where that is refused, it runs uncached."""
    if refusal is not None:

        def refuse(*_: object) -> None:
            raise refusal

        monkeypatch.setattr(kernel_compiler, "KernelCache", refuse)
    compiled: Any = kernel(_twice)
    assert compiled(21) == 42
    if hasattr(compiled, "targetoptions"):  # the JIT is on
        assert compiled.targetoptions["nogil"]
        cached = getattr(compiled._cache, "cache_path", None)
        assert cached == (None if refusal is not None else str(sealed_cache_folder(Path(__file__))))


def test_a_copy_of_the_package_finds_what_was_compiled(tmp_path: Path) -> None:
    """Another path, other time stamps, the same content: nothing is compiled again."""
    shared = tmp_path / "cache"
    for place in ("one", "two"):
        package = tmp_path / place / "crypsis_copy"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        shutil.copy(compile_module.__file__, package / "compile.py")
        (package / "caller.py").write_text(CALLER)
        (package / "called.py").write_text(CALLED.format(factor=2))
        assert answer(tmp_path / place, NUMBA_CACHE_DIR=str(shared)) == 21
        written = {path: path.stat().st_mtime_ns for path in shared.rglob("*.nbc")}
        assert written
        if place == "one":
            first = written
    assert written == first


PARTS = """
import numpy as np
from crypsis_copy.compile import kernel

def _added(values, first, step):
    total = 0
    for place in range(first, values.shape[0], step):
        total += values[place]
    return total

added = kernel(_added)

def _twice(values, narrow):
    return added(values, 0, 1) + added(values, 1, narrow) + added(values, narrow, 2)

twice = kernel(_twice)

if __name__ == "__main__":
    print(twice(np.arange(5), np.int32(1)), len(added._part.signatures), len(added.signatures))
"""


def test_a_called_kernel_is_compiled_once_for_whole_numbers_of_any_width(tmp_path: Path) -> None:
    """Constants, narrow and wide numbers: one part, 10 + 10 + 4; no entry for Python, which never calls it."""
    package = tmp_path / "crypsis_copy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(compile_module.__file__, package / "compile.py")
    (package / "parts.py").write_text(PARTS)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    told = subprocess.run(
        [sys.executable, "-m", "crypsis_copy.parts"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.split() == ["24", "1", "0"]


def test_what_came_compiled_is_used_wherever_it_is_installed(tmp_path: Path) -> None:
    """Compiled for the shipped processors in one place, found beside the sources in another, nothing written there."""
    if not sealed_cache.runs_shipped():
        assert not compile_module.locate_compile_mark().is_relative_to(
            Path(compile_module.__file__).parent / "compiled"
        )
        return
    for place in ("built", "installed"):
        package = tmp_path / place / "crypsis_copy"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        shutil.copy(compile_module.__file__, package / "compile.py")
        (package / "caller.py").write_text(CALLER)
        (package / "called.py").write_text(CALLED.format(factor=2))
    shipped = {"NUMBA_CPU_NAME": sealed_cache.SHIPPED_FOR, "NUMBA_CPU_FEATURES": ""}
    made = tmp_path / "installed" / "crypsis_copy" / sealed_cache.SHIPPED
    assert answer(tmp_path / "built", NUMBA_CACHE_DIR=str(made), **shipped) == 21
    list_digests(made)
    own = tmp_path / "own"
    assert answer(tmp_path / "installed", NUMBA_CACHE_DIR=str(own)) == 21
    assert not list(own.rglob("*.nbc"))
    (code,) = made.rglob("*.nbc")
    ran = plant(code, tmp_path)
    assert answer(tmp_path / "installed", NUMBA_CACHE_DIR=str(own)) == 21
    assert not ran.exists()
    assert list(own.rglob("*.nbc")), "what has another digest than the list says is compiled here"
    (made.parent / LIST).unlink()
    shutil.rmtree(own)
    assert answer(tmp_path / "installed", NUMBA_CACHE_DIR=str(own)) == 21
    assert list(own.rglob("*.nbc")), "what no list names is compiled here"


def list_digests(folder: Path) -> None:
    """The list that `scripts/wheel` writes beside what it compiled."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}" for path in files]
    (folder.parent / LIST).write_text("\n".join(lines) + "\n", encoding="utf-8")


class Plant:
    """What makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (self.path, "w")


def plant(file: Path, folder: Path) -> Path:
    """Put a pickle that runs into a cache file, after any digest and alone; the file that tells that it ran."""
    ran = folder / f"ran-{file.suffix[1:]}"
    evil = pickle.dumps(Plant(ran))
    file.write_bytes(file.read_bytes()[:SIZE] + evil if file.suffix == ".nbc" else evil * 8)
    return ran


@pytest.fixture
def caller(tmp_path: Path) -> Path:
    """A folder with a package of two kernels."""
    package = tmp_path / "place" / "crypsis_copy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    shutil.copy(compile_module.__file__, package / "compile.py")
    (package / "caller.py").write_text(CALLER)
    (package / "called.py").write_text(CALLED.format(factor=2))
    return package.parent


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_planted_code_is_not_run(caller: Path, tmp_path: Path, suffix: str) -> None:
    """Index or code in a cache folder was written by somebody without the key: it is compiled again, and kept."""
    kept = tmp_path / "cache"
    assert answer(caller, NUMBA_CACHE_DIR=str(kept)) == 21
    (file,) = kept.rglob(f"*.{suffix}")
    ran = plant(file, tmp_path)
    assert answer(caller, NUMBA_CACHE_DIR=str(kept)) == 21
    assert not ran.exists()
    written = {path: path.read_bytes() for path in kept.rglob("*.nb?")}
    assert answer(caller, NUMBA_CACHE_DIR=str(kept)) == 21
    assert written == {path: path.read_bytes() for path in kept.rglob("*.nb?")}, "it was written again and is found"


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_a_folder_that_others_may_write_is_not_used(caller: Path, tmp_path: Path, mode: int) -> None:
    kept = tmp_path / "cache"
    kept.mkdir()
    kept.chmod(mode)
    assert answer(caller, NUMBA_CACHE_DIR=str(kept)) == 21
    assert list(kept.iterdir()) == []
    assert list((caller / "crypsis_copy" / "__pycache__").rglob("*.nbc")), "the next place is taken"


def test_a_folder_of_somebody_else_is_not_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_private_cache(tmp_path)
    assert not is_private_cache(tmp_path / "absent")
    (tmp_path / "file").touch()
    assert not is_private_cache(tmp_path / "file")
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert not is_private_cache(tmp_path)


def test_a_key_is_made_once_from_the_system_and_read_by_its_owner_alone(tmp_path: Path) -> None:
    keys = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        keys.add(key_of(tmp_path / name))
        path = tmp_path / name / KEY
        assert path.stat().st_mode & 0o777 == 0o600
        assert [each.name for each in (tmp_path / name).iterdir()] == [KEY]
        key_of.cache_clear()
        assert key_of(tmp_path / name) == path.read_bytes()
    assert len(keys) == 2
    for spoil in (
        lambda: path.chmod(0o644),
        lambda: path.write_bytes(b"short"),
        lambda: tmp_path.joinpath("two").chmod(0o777),
    ):
        spoil()
        key_of.cache_clear()
        with pytest.raises(OSError, match="only its owner"):
            key_of(tmp_path / "two")
        path.chmod(0o600)
        key_of.cache_clear()


def test_no_file_of_a_cache_stands_for_another(tmp_path: Path) -> None:
    """Written with the right key, but under another name, or in a folder for other sources."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    file = SealedFile(str(tmp_path / "one"), "f", "stamp")
    file.save("key", ("code",))
    assert file.load("key") == ("code",)
    shutil.copy(tmp_path / "one" / "f.nbi", tmp_path / "one" / "g.nbi")
    assert SealedFile(str(tmp_path / "one"), "g", "stamp").load("key") is None
    shutil.copytree(tmp_path / "one", tmp_path / "two", dirs_exist_ok=True)
    assert SealedFile(str(tmp_path / "two"), "f", "stamp").load("key") is None
    assert SealedFile(str(tmp_path / "one"), "f", "another").load("key") is None


def test_two_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    """The second waits for the first and takes what it compiled."""
    package = tmp_path / "crypsis_copy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(compile_module.__file__, package / "compile.py")
    (package / "caller.py").write_text(CALLER)
    (package / "called.py").write_text(CALLED.format(factor=2))
    code = (
        "from crypsis_copy.caller import caller; caller(10); "
        "print(sum(caller.stats.cache_misses.values()), sum(caller.stats.cache_hits.values()))"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    both = [
        subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert sorted(process.communicate()[0].split() for process in both) == [["0", "1"], ["1", "0"]]


LOADED = """
import sys
import numpy as np
from crypsis_copy.compile import kernel

def _rooted(values):
    out = np.empty(values.size)
    for i in range(values.size):
        out[i] = np.sqrt(values[i]) + values[i] ** 1.5
    return out

rooted = kernel(_rooted)
print(rooted(np.array([4.0, 9.0])).sum(), "numba.np.arraymath" in sys.modules)
"""


def test_a_kernel_from_the_cache_is_loaded_without_what_only_compiling_needs(tmp_path: Path) -> None:
    """One that allocates and takes roots gives the same, and numba's own implementations stay out."""
    package = tmp_path / "crypsis_copy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(compile_module.__file__, package / "compile.py")
    (package / "loaded.py").write_text(LOADED)
    source = Path(compile_module.__file__).parents[2]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{source}"
    environment.pop("NUMBA_DISABLE_JIT", None)
    said = [
        subprocess.run(
            [sys.executable, "-c", "import crypsis_copy.loaded"], env=environment, capture_output=True, text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]  # fmt: skip
    assert said == [["40.0", "True"], ["40.0", "False"]]


def test_a_kernel_is_compiled_once_it_ran_here_or_is_kept(tmp_path: Path) -> None:
    code = (
        "import numpy as np; from crypsis.kernels.compile import is_compiled; "
        "from crypsis.kernels.annealing import sse;"
        "before = is_compiled(sse); sse(np.zeros((2, 1)), np.zeros(2, dtype=np.int32)); print(before, is_compiled(sse))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", code]
    said = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [each.stdout.split() for each in said] == [["False", "True"], ["True", "True"]]


def _give_back(values):
    return values


def test_an_array_that_nobody_owns_is_not_returned() -> None:
    """What allocates nothing counts no references: an array given back would be freed twice."""
    with pytest.raises(TypeError, match="_give_back returns an array that it does not allocate"):
        kernel(_give_back)(np.zeros(2))


SAME = """
import json, sys, warnings
import numpy as np
if {missing}:
    sys.modules["crypsis.kernels.kernel_compiler"] = None
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    from crypsis.kernels import compile
import crypsis
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, cbfs, mdav
from crypsis.run import warm_up
from crypsis.searches.pbg_ea.evaluation import prepare_lattice_evaluation
from crypsis.searches.partitions.space import PartitionSpace, PartitionAnnealer
from crypsis.table.lattice import Lattice

values = np.random.default_rng(1).standard_normal((60, 3))
labels = mdav(values, 5, GENERIC, EUCLIDEAN)
said = [labels.tolist()]
if not {missing}:
    table = crypsis.example(120, seed=1)
    context = prepare_lattice_evaluation(table, Lattice.of(table), None, None, False)
    nodes = (0, 3, context.lattice.size - 1)
    said.append([repr(context.judge_node(context.lattice.levels(node), 2, 4, 5)) for node in nodes])
    annealer = PartitionAnnealer(PartitionSpace(values, (5,)).context(5), 5, np.array([7], np.uint64))
    annealer.load(labels.astype(np.int32))
    said.append([repr(annealer.anneal(2000, 1.0, 0.05)), annealer.labels().tolist()])
if compile.PLAIN:  # nothing is kept, so nothing is compiled ahead
    assert compile.is_compiled(mdav) and not compile.is_compiled(cbfs) and compile.locate_compile_mark() is None
    assert compile.seconds_compiling() > 0
    warm_up.subprocess.Popen = None
    warm_up.compile_ahead()
print(json.dumps([compile.PLAIN, [str(each.message) for each in warned if each.category is RuntimeWarning], said]))
"""


def outcome(folder: Path, missing: bool = False, **environment: str) -> Any:
    inherited = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    if environment:
        inherited["NUMBA_CACHE_DIR"] = str(folder / "cache")
    made = subprocess.run(
        [sys.executable, "-c", SAME.format(missing=missing)],
        env={**inherited, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not (folder / "cache").exists(), "nothing is kept"
    return json.loads(made.stdout)


def test_numba_compiles_the_kernels_its_own_way_to_the_same_bits(tmp_path: Path) -> None:
    """MDAV, lattice nodes and annealing, by our compiler and by plain `njit`."""
    ours, plain = outcome(tmp_path), outcome(tmp_path, CRYPSIS_KERNELS="plain")
    assert [ours[0], plain[0]] == [False, True]
    assert ours[1] == plain[1] == []
    assert ours[2] == plain[2]


def test_without_a_private_part_of_numba_kernels_still_run(tmp_path: Path) -> None:
    plain, warned, said = outcome(tmp_path, missing=True, CRYPSIS_KERNELS="")
    assert plain
    assert len(said[0]) == 60
    assert len(warned) == 1
    assert "every process compiles anew; install the numba that Crypsis asks for" in warned[0]
