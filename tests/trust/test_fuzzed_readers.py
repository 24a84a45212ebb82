"""Damaged files of every sort: each reader answers with a table, a problem or a sentence, never with a crash.

`CRYPSIS_CASES=5000 pytest -n 0 -rP tests/trust/test_fuzzed_readers.py` tries more of each and prints how many.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import resource
import shutil
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.random import Generator
from trials import Design, Results, run_design

from crypsis.errors import CrypsisError, PlanError
from crypsis.evolution.state import State
from crypsis.masking import Microaggregation
from crypsis.plan import Plan
from crypsis.plan.checking import check_before_run
from crypsis.privacy import KAnonymity
from crypsis.release import publish, verify
from crypsis.rulebook import read_rulebook
from crypsis.rulebook.rules import SHIPPED
from crypsis.run import Run
from crypsis.run.store import STORE, Lock, Store
from crypsis.table.builders import read_hierarchy
from crypsis.table.example import example
from crypsis.table.files import read_table, write_hierarchy_file, write_table
from run.runs import begun, finished, folder_with
from waiving import waiving

CASES = int(os.environ.get("CRYPSIS_CASES", "150"))
TOKENS = [
    b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3", b"\xe9", b'"', b'""', b"'", b",", b";", b"\t", b"\r", b"\n",
    b"\r\n", b"=cmd|' /C calc'!A0", b"1e999", b"-0", b"nan", b"inf", b"9" * 400, b"0x10", b"{", b"}", b"[", b"]",
    b"[[search]]",
    b"\xf0\x9f\xa6\x8e", "\u202e".encode(), b"../../etc/passwd", b" ", b"k = -1", b"seed = 99999999999999999999999",
]  # fmt: skip


def damaged(content: bytes, rng: Generator) -> bytes:
    """One to four cuts, copies, swaps, bit flips or strange tokens."""
    for _ in range(int(rng.integers(1, 5))):
        here = int(rng.integers(0, len(content) + 1))
        there = min(len(content), here + int(rng.integers(0, 40)))
        match int(rng.integers(6)):
            case 0:
                content = content[:here] + content[there:]
            case 1:
                content = content[:there] + content[here:]
            case 2:
                content = content[:here] + TOKENS[int(rng.integers(len(TOKENS)))] + content[here:]
            case 3 if here < len(content):
                content = content[:here] + bytes([content[here] ^ (1 << int(rng.integers(8)))]) + content[here + 1 :]
            case 4:
                content = content[:here]
            case _:
                content = content[:here] + rng.bytes(int(rng.integers(1, 12))) + content[here:]
    return content


def tried(path: Path, read: Callable[[Path], object], cases: int = CASES) -> tuple[int, int]:
    """How many damaged copies of a file were read, and how many were refused in a sentence."""
    whole = path.read_bytes()
    read_, refused = 0, 0
    for case in range(cases):
        path.write_bytes(damaged(whole, np.random.default_rng([2012, case])))
        try:
            read(path)
            read_ += 1
        except CrypsisError as refusal:
            assert 20 < len(str(refusal)) < 2000
            refused += 1
    path.write_bytes(whole)
    told(path.name, cases, read_, refused)
    return read_, refused


def told(name: str, cases: int, read_: int, refused: int) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(f"{name}: {cases} tried, {read_} read, {refused} refused in a sentence; peak {peak:.0f} MB\n")


def test_tables_as_text(tmp_path: Path) -> None:
    write_table(example(30, seed=3), tmp_path / "people.csv")
    read_, refused = tried(tmp_path / "people.csv", read_table)
    assert read_ > 0
    assert refused > 0


def test_tables_as_parquet(tmp_path: Path) -> None:
    write_table(example(30, seed=3), tmp_path / "people.parquet")
    assert tried(tmp_path / "people.parquet", read_table)[1] > 0


@pytest.mark.parametrize("suffix", [".xlsx", ".sqlite", ".csv.gz", ".zip", ".duckdb"])
def test_tables_in_workbooks_databases_and_packed(suffix: str, tmp_path: Path) -> None:
    path, plain = tmp_path / f"people{suffix}", write_table(example(30, seed=3), tmp_path / "people.csv")
    if suffix == ".xlsx":
        write_table(example(30, seed=3), path)
    elif suffix == ".csv.gz":
        path.write_bytes(gzip.compress(plain.read_bytes()))
    elif suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(plain, "people.csv")
    else:
        with contextlib.closing((duckdb if suffix == ".duckdb" else sqlite3).connect(str(path))) as database:
            database.execute("create table people (age int, town varchar)")
            for age in range(30):
                database.execute("insert into people values (?, ?)", (age, f"town {age}"))
            database.commit()
    assert tried(path, read_table, CASES if suffix != ".duckdb" else CASES // 10)[1] > 0


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_tables_of_statistical_packages(suffix: str, tmp_path: Path) -> None:
    """A few wrong bytes make the library crash, which ends the program that reads and no other."""
    path = write_table(example(30, seed=3), tmp_path / f"people{suffix}")
    assert tried(path, read_table, max(CASES // 10, 10))[1] > 0


def test_a_reader_that_crashes_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_table(example(30, seed=3), tmp_path / "people.sav")
    crash = tmp_path / "crash.py"
    crash.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    monkeypatch.setattr("crypsis.table.readers.isolated_reading.__file__", str(crash))
    with pytest.raises(CrypsisError, match="is not a readable SPSS file, perhaps cut off"):
        read_table(path)


def test_hierarchies(tmp_path: Path) -> None:
    write_hierarchy_file(example(30, seed=3).attribute("district").hierarchy, tmp_path / "district.csv")
    read_, refused = tried(tmp_path / "district.csv", read_hierarchy)
    assert read_ > 0
    assert refused > 0


def test_plans(tmp_path: Path) -> None:
    plan = folder_with(tmp_path / "job", rows=40)
    assert tried(plan, Plan.read)[1] > 0
    tried(plan, lambda path: check_before_run(path, estimate=False), CASES // 5)


def test_rulebooks(tmp_path: Path) -> None:
    shutil.copy(SHIPPED / "licensed.toml", tmp_path / "own.toml")
    assert tried(tmp_path / "own.toml", read_rulebook)[1] > 0


class Slope:
    """A subject whose trials cost nothing."""

    responses = ("level",)

    def check(self, settings: Iterable[Mapping[str, Any]]) -> None: ...

    def describe(self) -> dict[str, Any]:
        return {"subject": "slope"}

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        return (settings["a"] + seed % 7,)


def test_trials_of_a_sensitivity_study(tmp_path: Path) -> None:
    path, design = tmp_path / "trials.jsonl", Design.of({"a": [0, 1, 2], "b": ["x", "y"]}, replicates=4)
    whole = run_design(design, Slope(), path).values
    read_, refused = tried(path, Results.read)
    assert read_ > 0
    assert refused > 0
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    assert np.array_equal(run_design(design, Slope(), path).values, whole)
    for foreign in (b"a letter without a line break", b"{}\nsomething else"):
        path.write_bytes(foreign)
        with pytest.raises(PlanError, match="is not a file of trials"):
            run_design(design, Slope(), path)
        assert path.read_bytes() == foreign


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = folder_with(tmp_path_factory.mktemp("run") / "job", rows=60)
    finished(begun(plan, plan.parent / "run", budget="1 generations")).close()
    return plan.parent / "run"


def test_what_a_search_saved(run_folder: Path, tmp_path: Path) -> None:
    with Store(run_folder / STORE) as store:
        (tmp_path / "state").write_bytes(store.state(0))
    assert tried(tmp_path / "state", lambda path: State.from_bytes(path.read_bytes()))[1] > 0


def test_the_lock_of_a_run(run_folder: Path) -> None:
    assert tried(run_folder / "lock.toml", lambda path: Lock.read(path.parent))[1] > 0


def test_the_store_of_a_run(run_folder: Path) -> None:
    def look(path: Path) -> object:
        run = Run.open(path.parent)
        try:
            return run.front.frame
        finally:
            run.close()

    tried(run_folder / STORE, look)
    assert len(Run.open(run_folder).front) > 0


def same(name: str, changed: bytes, whole: bytes) -> bool:
    """Whether a file says what it said: a manifest is sealed whatever its layout, but says nothing twice."""
    if name != "manifest.json":
        return changed == whole
    try:
        return bool(json.loads(changed, object_pairs_hook=list) == json.loads(whole, object_pairs_hook=list))
    except ValueError:
        return False


def test_a_changed_release_is_never_called_sound(tmp_path: Path) -> None:
    original = example(60, seed=3)
    masked = Microaggregation(k=5).mask(original, np.random.default_rng(1))
    publish(masked, tmp_path / "release", models=[KAnonymity(k=5)], original=original, waivers=waiving("income"))
    assert verify(tmp_path / "release").sound
    files = sorted(path for path in (tmp_path / "release").rglob("*") if path.is_file())
    refused = 0
    for case in range(CASES // 3):
        rng = np.random.default_rng([7, case])
        shutil.copytree(tmp_path / "release", tmp_path / "copy")
        path = tmp_path / "copy" / files[int(rng.integers(len(files)))].relative_to(tmp_path / "release")
        whole = path.read_bytes()
        changed = damaged(whole, rng)
        path.write_bytes(changed)
        try:
            assert verify(tmp_path / "copy").sound == same(path.name, changed, whole), path.name
        except CrypsisError as refusal:
            assert 20 < len(str(refusal)) < 2000
            refused += 1
        shutil.rmtree(tmp_path / "copy")
    told("files of a release", CASES // 3, CASES // 3 - refused, refused)
