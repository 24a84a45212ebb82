"""Marked values and a marked seed go through the whole tool; then everything it left behind is searched for them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from crypsis.table.example import example
from crypsis.table.files import write_table

SEED = 7391846205517
MARKS = ("Zyxquell", "91827.3645")
"""A name that only one person has, and an income that only one person has."""

PLAN = """
[data]
source = "people.csv"
[columns]
person = { role = "identifier" }
name = { role = "identifier" }
age = { role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }
hours = { role = "quasi", kind = "numeric", hierarchy = "intervals:10,20" }
income = { role = "quasi", kind = "numeric", hierarchy = "intervals:5000,20000" }
diagnosis = { role = "confidential", because = "known to nobody outside" }
sex = { role = "other", because = "known to nobody outside" }
district = { role = "other", because = "known to nobody outside" }
education = { role = "other", because = "known to nobody outside" }
marital = { role = "other", because = "known to nobody outside" }
occupation = { role = "other", because = "known to nobody outside" }
[[require]]
model = "k-anonymity"
k = 4
[[search]]
name = "memetic"
k = 4
k_values = 3
steps = 20
[run]
budget = "2 generations"
"""


def crypsis(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "crypsis", *map(str, words)],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The whole job on a table with marked values; all that was printed."""
    folder = tmp_path_factory.mktemp("marked")
    (folder / "tmp").mkdir()
    write_table(example(120, seed=9), folder / "plain.csv")
    head, first, *rest = (folder / "plain.csv").read_text().splitlines()
    names = head.split(",")
    cells = first.split(",")
    cells[names.index("income")] = MARKS[1]
    lines = [f"{head},name", f"{','.join(cells)},{MARKS[0]}", *(f"{line},Name{i}" for i, line in enumerate(rest))]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "plain.csv").unlink()
    (folder / "plan.toml").write_text(PLAN)
    said = []
    for words in (
        ("profile", "people.csv"),
        ("check", "plan.toml"),
        ("run", "plan.toml", "--out", "run", "--seed", SEED),
        ("front", "run"),
        ("show", "run", "knee"),
        ("release", "run", "-o", "release"),
        ("verify", "release"),
        ("verify", "release", "--json"),
        ("audit", "release", "--with", "release"),
        ("assess", "people.csv", "release/public/data.csv", "--plan", "plan.toml"),
        ("release", "people.csv", "-o", "refused", "--plan", "plan.toml"),
        ("mask", "people.csv", "microaggregation", "--set", "k=4", "--quasi", "name,diagnosis", "-o", "masked.csv"),
    ):
        answer = crypsis(folder, *words)
        assert answer.returncode in (0, 1, 2), (words, answer.stderr)
        said += [answer.stdout, answer.stderr]
    assert (folder / "release" / "public" / "data.csv").is_file(), said
    assert not (folder / "refused").exists()
    return folder, said


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_nothing_printed_holds_a_mark_or_the_seed(told: tuple[Path, list[str]]) -> None:
    for text in told[1]:
        assert not any(mark in text for mark in (*MARKS, str(SEED)))


def test_nothing_public_holds_a_mark_or_the_seed(told: tuple[Path, list[str]]) -> None:
    searched = files(told[0] / "release" / "public")
    assert len(searched) >= 4
    for path in searched:
        content = path.read_bytes()
        assert not any(mark.encode() in content for mark in (*MARKS, str(SEED))), path.name


def test_the_seed_is_in_the_run_s_lock_and_nowhere_else(told: tuple[Path, list[str]]) -> None:
    held = [path for path in files(told[0]) if str(SEED).encode() in path.read_bytes()]
    assert [path.relative_to(told[0]).as_posix() for path in held] == ["run/lock.toml"]


def test_only_the_owner_reads_the_run_and_the_internal_part(told: tuple[Path, list[str]]) -> None:
    private = [told[0] / "run", told[0] / "release" / "internal"]
    for place in [*private, *(path for folder in private for path in folder.rglob("*"))]:
        assert not stat.S_IMODE(place.stat().st_mode) & 0o077, place.name


def test_no_temporary_file_is_left(told: tuple[Path, list[str]]) -> None:
    assert list((told[0] / "tmp").iterdir()) == []
    assert not [path for path in told[0].iterdir() if path.name.endswith(".part")]


def test_a_fault_inside_withholds_what_it_says(tmp_path: Path) -> None:
    write_table(example(100, seed=9), tmp_path / "people.csv")
    broken = (
        "import sys, crypsis.table.profile\n"
        "from crypsis.cli import main\n"
        "def broken(*_):\n"
        f"    raise RuntimeError('{MARKS[0]} broke it')\n"
        "sys.modules['crypsis.table.profile'].profile = broken\n"
        "sys.argv = ['crypsis', 'profile', 'people.csv']\n"
        "main()\n"
    )
    quiet, loud = (
        subprocess.run(
            [sys.executable, "-c", broken],
            cwd=tmp_path,
            env={**os.environ, "CRYPSIS_TRACE": trace},
            capture_output=True,
            text=True,
            check=False,
        )
        for trace in ("", "1")
    )
    assert quiet.returncode == 70
    assert MARKS[0] not in quiet.stdout + quiet.stderr
    assert "RuntimeError at profile.py:" in quiet.stderr
    assert MARKS[0] in loud.stderr
