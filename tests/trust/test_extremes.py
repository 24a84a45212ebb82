"""Files and settings of absurd size: one sentence, exit 2, and no more memory than the machine can spare.

Each file goes to the command line in a process of its own, whose peak is measured;
`pytest -n 0 -rP tests/trust/test_extremes.py` prints it.
"""

from __future__ import annotations

import copy
import io
import os
import struct
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from crypsis.errors import CrypsisError, SearchError, TableError
from crypsis.evolution.state import State
from crypsis.measures import measures
from crypsis.plan import Plan, read_plan_budget, sections
from crypsis.privacy import models
from crypsis.registry import MOST, Registry
from crypsis.run.store import Store, digest_of
from crypsis.searches import searches
from crypsis.table.files import read_table
from crypsis.table.readers import formats
from run.runs import PLAN, begun, finished, folder_with

PEAK = 600.0
"""Megabytes; Python with its libraries takes about 150."""
MEASURED = """
import resource, subprocess, sys
code = subprocess.run([sys.executable, "-c", "from crypsis.cli import main; main()", *sys.argv[1:]]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
sys.exit(code)
"""


def refused(*words: object) -> str:
    """The one sentence with which a command ends, within the bound of memory."""
    answer = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, words)], capture_output=True, text=True, check=False, timeout=120
    )
    assert answer.returncode == 2, answer.stderr
    peak = float(answer.stdout.splitlines()[-1])
    assert peak < PEAK
    told = [line for line in answer.stderr.splitlines() if line.startswith("crypsis: ")]
    assert len(told) == 1, answer.stderr
    sys.stdout.write(f"peak {peak:.0f} MB: …{told[0].rpartition('/')[2]}\n")
    assert "Traceback" not in answer.stderr
    return told[0]


# -- files --


def one_row_of_many_columns(path: Path) -> None:
    names = ",".join(f"c{place}" for place in range(100_000))
    path.write_text(f"{names}\n{','.join(['1'] * 100_000)}\n")


def one_endless_line(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"a,b\n1,2\n")
        file.truncate(1 << 30)  # a gigabyte without a line break, and without taking up the disk


def mixed_encodings(path: Path) -> None:
    path.write_bytes("name,age\nJosé,30\n".encode() + "Zoë,40\n".encode("latin-1"))


def nul_bytes(path: Path) -> None:
    path.write_bytes(b"a,b\n1,2\n3,\x00\x00\n")


def two_marks(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,2\n\xff\xfe3,4\n")


BAD: list[tuple[Callable[[Path], None], str]] = [
    (one_row_of_many_columns, "line 1: the header names 100000 columns and at most 20000 can be treated"),
    (one_endless_line, "line 3: the line is longer than 16 MB"),
    (mixed_encodings, "line 3: byte 20 is not valid utf8"),
    (nul_bytes, "line 3: a NUL byte"),
    (two_marks, "line 3: byte 11 is not valid utf8"),
]


@pytest.mark.parametrize("write, words", BAD, ids=lambda each: getattr(each, "__name__", ""))
def test_a_file_nobody_could_treat_is_refused_in_a_sentence(
    write: Callable[[Path], None], words: str, tmp_path: Path
) -> None:
    write(tmp_path / "people.csv")
    assert words in refused("profile", tmp_path / "people.csv")


def test_a_mark_before_the_first_name_and_formulas_are_only_text(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"\xef\xbb\xbfname,age\n=1+1,30\n@sum,40\n+1,50\n")
    table = read_table(tmp_path / "people.csv")
    assert table.names == ("name", "age")
    assert set(table.attribute("name").categories) == {"=1+1", "@sum", "+1"}


def claiming(path: Path, rows: int) -> Path:
    """A Parquet file of 30 records whose footer speaks of more, in every place."""
    frame = pl.DataFrame({"a": [float(place) for place in range(30)]})
    frame.write_parquet(path, compression="uncompressed", statistics=False)
    content = path.read_bytes()
    size = struct.unpack("<I", content[-8:-4])[0]
    start = len(content) - 8 - size
    footer = content[start:-8].replace(b"\x16" + varint(30), b"\x16" + varint(rows))
    assert footer != content[start:-8]
    path.write_bytes(content[:start] + footer + struct.pack("<I", len(footer)) + b"PAR1")
    return path


def varint(number: int) -> bytes:
    """A whole number as Thrift's compact protocol writes it: zigzag, seven bits a byte."""
    left, out = number << 1, bytearray()
    while left > 127:
        out.append(left & 127 | 128)
        left >>= 7
    return bytes([*out, left])


@pytest.mark.parametrize("rows", [10**9, 4 * 10**9])
def test_a_parquet_file_that_claims_a_billion_records_is_refused(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = claiming(tmp_path / "people.parquet", rows)
    monkeypatch.setattr(formats, "CONTAINER", tmp_path / "limit")
    (tmp_path / "limit").write_text(str(8 << 30))
    with pytest.raises(TableError, match=f"claims {rows} records of 1 column, which need"):
        read_table(path)
    if rows > 10**9:  # beyond any machine these tests run on
        assert "give a sample of it" in refused("profile", path)


def test_a_parquet_file_of_too_many_columns_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({f"c{place}": [1.0] for place in range(20_001)}).write_parquet(tmp_path / "wide.parquet")
    with pytest.raises(TableError, match=r"wide\.parquet has 20001 columns and at most 20000 can be treated"):
        read_table(tmp_path / "wide.parquet")


def test_a_device_is_no_file() -> None:
    with pytest.raises(TableError, match="is a device, not a file"):
        read_table("/dev/zero")


def test_the_memory_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "CONTAINER", tmp_path / "limit")
    whole = formats.memory_for_formats()
    (tmp_path / "limit").write_text("max\n")
    assert formats.memory_for_formats() == whole <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    (tmp_path / "limit").write_text("1000000\n")
    assert formats.memory_for_formats() == 1_000_000


def boasting(array: np.ndarray, rows: int) -> bytes:
    """An array as numpy writes it, with a head that speaks of more rows than there are."""
    head = io.BytesIO()
    shape = (rows, *array.shape[1:])
    descr = np.lib.format.dtype_to_descr(array.dtype)
    np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": shape})
    return head.getvalue() + array.tobytes()


@pytest.mark.parametrize("rows", [10**11, 10**15])
def test_a_checkpoint_or_genome_that_claims_a_hundred_billion_numbers_is_refused(rows: int, tmp_path: Path) -> None:
    plan = folder_with(tmp_path / "job", rows=40)
    finished(begun(plan, tmp_path / "run", budget="1 generations")).close()
    with Store(tmp_path / "run" / "run.db") as store:
        whole = store.state(0)
        number = store.contents()[0][0]
        genome = store.solution(number).genome
        store._connection.execute("UPDATE solution SET genome = ? WHERE id = ?", (boasting(genome, rows), number))
        with pytest.raises(CrypsisError, match="the genome of row 1 of solution was changed after the run wrote it"):
            store.solution(number)
        light = store._rows.all("solution")[0]
        with store.transaction():  # with all digests right
            resealed = (*light[:3], digest_of(boasting(genome, rows)), *light[4:])
            store._rows.write("solution", 1, resealed, boasting(genome, rows))
        with pytest.raises(CrypsisError, match="damaged"):
            store.solution(number)
    archive = np.load(io.BytesIO(whole))
    for changed in archive.files:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as made:
            for name in archive.files:
                plain = io.BytesIO()
                np.save(plain, archive[name])
                kept = plain.getvalue() if name != changed else boasting(archive[name], rows)
                made.writestr(f"{name}.npy", kept)
        with pytest.raises(SearchError, match="the checkpoint cannot be read"):
            State.from_bytes(content.getvalue())


# -- settings --

ABSURD = [
    10**30, -(10**30), 2**31, 2**63, -1, 0, 1e308, float("inf"), float("nan"), "", "x" * 3000, [], {}, True,
    "9" * 400 + " generations", [10**30], {"age": 1e308},
]  # fmt: skip


def understood(**sections_: Any) -> Plan | None:
    """A plan with some sections of its own, or None; its problems are sentences of a bearable length."""
    plan, problems = Plan.understand({**copy.deepcopy(tomllib.loads(PLAN)), **sections_})
    assert plan is not None or problems
    assert all(10 < len(problem) < 5000 for problem in problems)
    return None if problems else plan


@pytest.mark.parametrize(
    "section, key, registry",
    [("search", "name", searches), ("require", "model", models), ("limit", "measure", measures)],
)
def test_absurd_settings_are_told_and_never_crash(section: str, key: str, registry: Registry[Any]) -> None:
    for name in registry:
        for field in registry[name].model_fields:
            for value in ABSURD:
                more = {"at_most": 10} if section == "limit" else {}
                plan = understood(**{section: [{key: name, **more, field: value}]})
                if isinstance(value, int) and abs(value) > MOST and plan is not None:
                    kept = getattr(getattr(plan, section)[0].build(), field)
                    assert isinstance(kept, float), (name, field)  # room or time without a bound is no danger


@pytest.mark.parametrize("section", ["data", "run", "release", "measures"])
def test_absurd_sections_are_told_and_never_crash(section: str) -> None:
    kinds = {"data": sections.Data, "run": sections.Running, "release": sections.Release, "measures": sections.Measures}
    for value in ABSURD:
        understood(**{section: value})
        for field in kinds[section].model_fields:
            understood(**{section: {**tomllib.loads(PLAN).get(section, {}), field: value}})


def test_a_billion_generations_are_a_slip_of_the_pen(tmp_path: Path) -> None:
    for text in ("1000000000 generations", "9" * 400 + " evaluations", "99999999999 evals"):
        with pytest.raises(ValueError, match="at most 100000000"):
            read_plan_budget(text)
    assert read_plan_budget("100000000 evaluations").evaluations == 1e8
    plan = folder_with(tmp_path, PLAN.replace("4 generations", "1000000000 generations"), rows=40)
    assert "run.budget: a budget has at most 100000000 generations" in refused("run", plan, "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()
