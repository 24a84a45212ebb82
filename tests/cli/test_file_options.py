"""How a file is written is said in the same words to every command that reads one."""

from __future__ import annotations

import inspect
import sqlite3
from dataclasses import fields
from pathlib import Path

import pytest
import xlsxwriter

from cli.test_commands import crypsis
from crypsis.cli.app import COMMANDS
from crypsis.cli.options import FileForm, flatten_groups

READS_FILES = {"profile", "init", "mask", "assess", "attack", "audit", "release", "studio"}
READS_PLANS = {"check", "run", "generalise"}
"""Commands whose file a plan names; [data] says how it is read."""
READS_NEITHER = {"demo", "resume", "steer", "front", "show", "verify", "sign", "withdraw", "rulebooks", "doctor"}
"""Commands about runs and releases, and those that read nothing."""


def test_every_command_that_reads_a_file_takes_every_option() -> None:
    taken = {each.__name__: set(inspect.signature(flatten_groups(each)).parameters) for each in COMMANDS}
    assert set(taken) == READS_FILES | READS_PLANS | READS_NEITHER
    options = {field.name for field in fields(FileForm)}
    assert options == {"missing", "decimal", "thousands", "dates", "encoding", "delimiter", "sheet", "query", "table"}
    assert {name for name, known in taken.items() if options <= known} == READS_FILES
    assert not any(options & taken[name] for name in READS_PLANS | READS_NEITHER)


@pytest.fixture
def german(tmp_path: Path) -> Path:
    """Two columns that only the right options read."""
    rows = [f"{20 + row % 30};{'xx' if row % 9 == 0 else f'{row}.000,5'};a{row % 3}" for row in range(90)]
    path = tmp_path / "leute.csv"
    path.write_text("alter;lohn;art\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


FORM = ("--delimiter", ";", "--decimal", ",", "--thousands", ".", "--missing", "xx", "--encoding", "utf-8")


def test_the_options_read_the_same_file_in_every_command(german: Path, tmp_path: Path) -> None:
    masked = tmp_path / "masked.csv"
    settings = ("--set", "k=5", "--quasi", "alter,lohn", "--keep-order")
    answer = crypsis("mask", german, "microaggregation", *settings, "-o", masked, *FORM)
    assert answer.returncode == 0, answer.stderr
    told = crypsis("profile", german, *FORM)
    assert told.returncode == 0, told.stderr
    assert "lohn" in told.stdout
    drafted = crypsis("init", german, "-o", tmp_path / "plan.toml", "--cautious", *FORM)
    assert drafted.returncode == 0, drafted.stderr
    text = (tmp_path / "plan.toml").read_text(encoding="utf-8")
    assert 'decimal = ","' in text
    assert 'missing = ["", "xx"]' in text
    for words in (
        ("assess", german, masked, "--quasi", "alter,lohn"),
        ("attack", masked, "--original", german, "--quasi", "alter,lohn"),
        ("audit", masked, "--original", german, "--quasi", "alter,lohn"),
        ("release", masked, "--original", german, "--quasi", "alter,lohn", "--identifier", "art", "-o", tmp_path / "r",
         "--require", "k-anonymity:k=5"),
    ):  # fmt: skip
        answer = crypsis(*words, *FORM)
        assert answer.returncode in (0, 1), (words[0], answer.stderr)  # 1: attacks and audits find something
        assert "lohn" in answer.stdout + answer.stderr or "90 records, 3 columns" in answer.stdout, words[0]


def test_a_table_of_a_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "clinic.sqlite"
    database = sqlite3.connect(path)
    for name in ("visits", "wards"):
        database.execute(f"create table {name} (age int, ward text)")
        database.executemany(f"insert into {name} values (?, ?)", [(30 + row, "ab"[row % 2]) for row in range(20)])
    database.commit()
    database.close()
    before = path.read_bytes()
    refused = crypsis("profile", path)
    assert refused.returncode == 2
    assert "choose one, e.g. --table visits" in refused.stderr
    assert crypsis("profile", path, "--table", "visits").returncode == 0
    both = crypsis("profile", path, "--table", "visits", "--query", "select 1")
    assert (both.returncode, "give one of them" in both.stderr) == (2, True)
    for query in (
        "delete from visits",
        "drop table wards",
        "insert into visits values (1, 'c')",
        "pragma user_version=7",
    ):
        denied = crypsis("profile", path, "--query", query)
        assert denied.returncode == 2, query
        assert "give one select that reads from its tables" in denied.stderr, query
    assert path.read_bytes() == before
    drafted = crypsis("init", path, "--table", "visits", "-o", tmp_path / "plan.toml", "--cautious")
    assert drafted.returncode == 0, drafted.stderr
    assert r'query = "select * from \"visits\""' in (tmp_path / "plan.toml").read_text(encoding="utf-8")


def test_a_sheet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        for name in ("first", "second"):
            sheet = book.add_worksheet(name)
            for row in range(20):
                sheet.write_row(row, 0, ["age", "ward"] if not row else [20 + row, name])
    refused = crypsis("profile", path)
    assert (refused.returncode, "choose one, e.g. --sheet first; there are 'first', 'second'" in refused.stderr) == (
        2,
        True,
    )
    assert crypsis("profile", path, "--sheet", "second").returncode == 0
    assert crypsis("profile", path, "--sheet", "2").returncode == 0
