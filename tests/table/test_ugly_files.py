"""Files that people have and nobody likes: each is refused in one sentence that says what to do, without its values."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import sqlite3
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import duckdb
import msoffcrypto.format.ooxml as ooxml
import polars as pl
import pyreadstat
import pytest
import xlsxwriter

from crypsis.cli import main
from crypsis.table.readers import formats, readers

SECRET = "SECRET"
"""A value that no message may name."""


def workbook(sheets: dict[str, list[list[object]]], merged: bool = False) -> bytes:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for line, row in enumerate(rows):
                sheet.write_row(line, 0, row)
            if merged:
                sheet.merge_range(0, 0, 0, 1, "income")
    return buffer.getvalue()


ROWS = [["age", "name"], [31, SECRET], [32, "b"]]


def protect(content: bytes) -> bytes:
    sealed = io.BytesIO()
    ooxml.OOXMLFile(io.BytesIO(content)).encrypt("password", sealed)
    return sealed.getvalue()


def far_cells() -> bytes:
    """A workbook of two cells, the second in the last corner of the sheet."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "age")
        sheet.write(1_048_575, 16_383, 1)
    return buffer.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def statistical(folder: Path, suffix: str) -> bytes:
    path = folder / f"made{suffix}"
    frame = pl.DataFrame({"age": [31.0, 32.0] * 50, "name": [SECRET, "b"] * 50})
    {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}[suffix](frame, str(path))
    content = path.read_bytes()
    path.unlink()
    return content


def sqlite(folder: Path, *statements: str) -> bytes:
    path = folder / "made.sqlite"
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.execute("vacuum")
    database.close()
    content = path.read_bytes()
    path.unlink()
    return content


def duck(folder: Path, *statements: str) -> bytes:
    path = folder / "made.duckdb"
    with duckdb.connect(str(path)) as database:
        for statement in statements:
            database.execute(statement)
    content = path.read_bytes()
    path.unlink()
    return content


PEOPLE = ("create table people (age int, name varchar)", f"insert into people values (31, '{SECRET}'), (32, 'b')")
TWO = (*PEOPLE, "create table visits (day int)", "insert into visits values (1)")

Made = Callable[[Path], bytes]
UGLY: dict[str, tuple[str, Made, list[str], str]] = {
    "a workbook with a password": (
        "t.xlsx",
        lambda _: protect(workbook({"a": ROWS})),
        [],
        "protected by a password; open it, save a copy without one",
    ),
    "a workbook whose sheet is empty": ("t.xlsx", lambda _: workbook({"a": []}), [], "sheet 'a' is empty"),
    "a workbook of a header alone": ("t.xlsx", lambda _: workbook({"a": ROWS[:1]}), [], "has a header but no records"),
    "merged header cells": (
        "t.xlsx",
        lambda _: workbook({"a": [["", "", "age"], [1, 2, 3]]}, merged=True),
        [],
        "column 2 has no name in the first row; unmerge header cells",
    ),
    "several sheets": (
        "t.xlsx",
        lambda _: workbook({"a": ROWS, "b": ROWS}),
        [],
        "has 2 sheets; choose one, e.g. --sheet a; there are 'a', 'b'",
    ),
    "a sheet that is not there": (
        "t.xlsx",
        lambda _: workbook({"a": ROWS, "b": ROWS}),
        ["--sheet", "c"],
        "has no sheet 'c'; its sheets, which may be given by number from 1: 'a', 'b'",
    ),
    "two columns of one name in a workbook": (
        "t.xlsx",
        lambda _: workbook({"a": [["age", "age"], [1, 2]]}),
        [],
        "two columns share a name: 'age'",
    ),
    "a sheet from corner to corner": ("t.xlsx", lambda _: far_cells(), [], "claims 1048576 records of 16384 columns"),
    "a web page called .xls": (
        "t.xls",
        lambda _: b"<html><table><tr><td>SECRET</td></tr></table></html>",
        [],
        "is a web page and no workbook",
    ),
    "noise called .xlsx": ("t.xlsx", lambda _: b"PK\x03\x04" + b"SECRET" * 50, [], "is damaged or no zip file"),
    "a zip that is no workbook": (
        "t.xlsx",
        lambda _: zipped({"a.csv": b"a\n1\n"}),
        [],
        "is not a readable Excel workbook",
    ),
    "a workbook called .csv": (
        "t.csv",
        lambda _: workbook({"a": ROWS}),
        [],
        "is a zip file or a workbook with another suffix; rename it to end in .zip or .xlsx",
    ),
    "text called with a sheet": (
        "t.csv",
        lambda _: b"a\n1\n",
        ["--sheet", "1"],
        "is a text file and has no use for sheets; leave sheet out",
    ),
    "a file in no encoding it is said to be": (
        "t.csv",
        lambda _: "name\nKöln\n".encode("latin-1"),
        ["--encoding", "utf8"],
        "line 2: byte 6 is not valid utf8; save the file as UTF-8, or name its encoding: --encoding cp1252",
    ),
    "two encodings in one file": (
        "t.csv",
        lambda _: "name\nKöln\n".encode() + "Zoë\n".encode("latin-1"),
        [],
        "line 3: byte 13 is not valid utf8",
    ),
    "bytes that are no text": (
        "t.csv",
        lambda _: bytes(range(1, 32)) * 20 + b"\x81\x8d\xff",
        [],
        "holds bytes that no text has",
    ),
    "NUL bytes": ("t.csv", lambda _: b"a,b\n1,2\n3,\x00SECRET\n", [], "line 3: a NUL byte"),
    "a byte order mark and nothing more": ("t.csv", lambda _: b"\xef\xbb\xbf", [], "the first line is blank"),
    "mixed types in a column that must be a number": (
        "t.csv",
        lambda _: b"a,b\n1,2\n3,SECRET\n5,6\n",
        ["PROFILE", "--kind", "b=numeric"],
        "line 3, column 'b': the cell is not a number",
    ),
    "ragged rows": ("t.csv", lambda _: b"a,b\n1,2\n3\n", [], "line 3: the record has 1 field where the header names 2"),
    "two columns of one name": ("t.csv", lambda _: b"a,a\n1,2\n", [], "two columns share a name: 'a'"),
    "a decimal mark nobody uses": (
        "t.csv",
        lambda _: b"a,b\n1,2\n",
        ["--decimal", "x"],
        "the decimal mark is 'x'; it may be '.' or ','",
    ),
    "a date form nobody uses": (
        "t.csv",
        lambda _: b"a,b\n1,2\n",
        ["--dates", "dd.mm.yy"],
        "there is no date form 'dd.mm.yy'",
    ),
    "a zip of two tables": (
        "t.zip",
        lambda _: zipped({"a.csv": b"a\n1\n", "b.csv": b"b\n2\n"}),
        [],
        "holds 2 files: 'a.csv', 'b.csv'; give a zip with one table inside",
    ),
    "a zip of nothing": ("t.zip", lambda _: zipped({}), [], "holds no file"),
    "a zip inside a zip": ("t.zip", lambda _: zipped({"b.zip": zipped({"a.csv": b"a\n1\n"})}), [], "is packed twice"),
    "a zip of a picture": (
        "t.zip",
        lambda _: zipped({"b.png": b"SECRET"}),
        [],
        "holds 'b.png', whose suffix is unknown",
    ),
    "a gz that is cut off": (
        "t.csv.gz",
        lambda _: gzip.compress(b"a,b\n1,2\n" * 500)[:-20],
        [],
        "is damaged or cut off",
    ),
    "an SPSS file that is cut off": (
        "t.sav",
        lambda f: statistical(f, ".sav")[:300],
        [],
        "is not a readable SPSS file, perhaps cut off",
    ),
    "a Stata file called .sav": (
        "t.sav",
        lambda f: statistical(f, ".dta"),
        [],
        "is a Stata file with another suffix; rename it to end in .dta",
    ),
    "a Stata file called .csv": (
        "t.csv",
        lambda f: statistical(f, ".dta"),
        [],
        "is a Stata file with another suffix; rename it to end in .dta",
    ),
    "noise called .dta": ("t.dta", lambda _: b"SECRET" * 50, [], "is not a readable Stata file"),
    "an SQLite database without tables": ("t.sqlite", lambda f: sqlite(f), [], "holds no table"),
    "an SQLite database of two tables": (
        "t.sqlite",
        lambda f: sqlite(f, *TWO),
        [],
        "holds 2 tables: 'people', 'visits'; choose one, e.g. --table people",
    ),
    "a query that writes": (
        "t.sqlite",
        lambda f: sqlite(f, *PEOPLE),
        ["--query", "drop table people"],
        "the query does more than read; give one select",
    ),
    "a query that opens another file": (
        "t.sqlite",
        lambda f: sqlite(f, *PEOPLE),
        ["--query", "attach 'x.db' as x"],
        "the query does more than read",
    ),
    "a query that fails": (
        "t.sqlite",
        lambda f: sqlite(f, *PEOPLE),
        ["--query", f"select {SECRET} from nowhere"],
        "the query fails",
    ),
    "two queries": ("t.sqlite", lambda f: sqlite(f, *PEOPLE), ["--query", "select 1 as a; select 2 as b"], "the query"),
    "a damaged SQLite database": (
        "t.sqlite",
        lambda f: sqlite(f, *PEOPLE)[:100] + b"SECRET" * 400,
        [],
        "is damaged or in use",
    ),
    "a DuckDB database called .db": (
        "t.db",
        lambda f: duck(f, *PEOPLE),
        [],
        "is a DuckDB database; rename it to end in .duckdb",
    ),
    "a DuckDB query that writes": (
        "t.duckdb",
        lambda f: duck(f, *PEOPLE),
        ["--query", "drop table people"],
        "the query does more than read",
    ),
    "a DuckDB query of another file": (
        "t.duckdb",
        lambda f: duck(f, *PEOPLE),
        ["--query", "select * from read_csv('/etc/passwd')"],
        "the query fails",
    ),
    "a DuckDB database of two tables": ("t.duckdb", lambda f: duck(f, *TWO), [], "holds 2 tables: 'people', 'visits'"),
    "noise called .duckdb": ("t.duckdb", lambda _: b"SECRET" * 900, [], "is not a readable DuckDB database"),
    "a file of R": ("t.rds", lambda _: gzip.compress(b"SECRET"), [], "is a file of R, which Crypsis does not read"),
}


def run(*words: str) -> tuple[object, str]:
    """Exit code and what a command says on stderr."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said), patch.object(sys, "argv", ["crypsis", *words]):
        try:
            main()
        except SystemExit as ending:
            return ending.code, said.getvalue()
    return 0, said.getvalue()


@pytest.mark.parametrize("case", UGLY)
def test_an_ugly_file_is_refused_in_one_sentence(case: str, tmp_path: Path) -> None:
    name, make, options, sentence = UGLY[case]
    path = tmp_path / name
    path.write_bytes(make(tmp_path))
    before = path.read_bytes()
    words = ["profile", str(path), *options]
    if options[:1] == ["PROFILE"]:  # kinds are given to commands that use them
        words = ["init", str(path), *options[1:], "--out", str(tmp_path / "plan.toml")]
    code, said = run(*words)
    told = [line for line in said.splitlines() if line.startswith("crypsis: ")]
    assert (code, len(told)) == (2, 1), said
    assert sentence in told[0]
    assert "Traceback" not in said
    assert SECRET not in said.replace(f"select {SECRET}", "")
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize("name", ["t.zip", "t.csv.gz", "t.xlsx"])
def test_what_would_not_fit_in_memory_is_not_unpacked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"age\n" + b"1\n" * 2_000_000
    packed = {
        "t.zip": zipped({"t.csv": text}),
        "t.csv.gz": gzip.compress(text),
        "t.xlsx": zipped({"xl/worksheets/sheet1.xml": text}),
    }[name]
    (tmp_path / name).write_bytes(packed)
    monkeypatch.setattr(formats, "CONTAINER", tmp_path / "limit")
    (tmp_path / "limit").write_text("1000000")
    code, said = run("profile", str(tmp_path / name))
    assert code == 2
    assert "memory" in said.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("t.xlsx", "fastexcel", "files"), ("t.sav", "pyreadstat", "files"), ("t.duckdb", "duckdb", "database")],
)
def test_an_extra_that_is_absent_is_named(name: str, module: str, extra: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"anything")
    list(readers)
    with patch.dict(sys.modules, {module: None}):
        code, said = run("profile", str(tmp_path / name))
    assert code == 2
    assert f'pip install "crypsis[{extra}]"' in said


def test_a_query_cannot_change_a_database(tmp_path: Path) -> None:
    """Whatever a query tries, the bytes of the database stay."""
    for name, content in (("t.sqlite", sqlite(tmp_path, *PEOPLE)), ("t.duckdb", duck(tmp_path, *PEOPLE))):
        path = tmp_path / name
        path.write_bytes(content)
        for query in (
            "delete from people",
            "insert into people values (1, 'x')",
            "create table x (a int)",
            "update people set age = 1 returning age",
            "pragma user_version = 5",
            f"copy people to '{tmp_path / 'stolen.csv'}'",
            f"attach '{tmp_path / 'new.db'}' as y",
            "select 1; delete from people",
            "with x as (select 1) delete from people",
        ):
            code, _ = run("profile", str(path), "--query", query)
            assert code == 2, query
            assert path.read_bytes() == content
        assert not (tmp_path / "stolen.csv").exists()
        assert not (tmp_path / "new.db").exists()


def test_moments_of_a_workbook_are_no_formulas(tmp_path: Path) -> None:
    """A formula is read as the value it was saved with, and a link is text."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["age", "link", "day"])
        for line in (1, 2):
            sheet.write_formula(line, 0, "=1+1", None, 30 + line)
            sheet.write_url(line, 1, f"https://example.org/{line}")
            sheet.write_datetime(line, 2, dt.datetime(2020, 1, line), book.add_format({"num_format": "yyyy-mm-dd"}))
    (tmp_path / "t.xlsx").write_bytes(buffer.getvalue())
    from crypsis import read_table

    table = read_table(tmp_path / "t.xlsx")
    assert table.column("age").tolist() == [31, 32]
    assert table.labels("link") == ("https://example.org/1", "https://example.org/2")
    assert table.attribute("day").dates == "date"


READING = ("profile", "init", "mask", "assess", "attack", "audit", "release")
"""Commands that read a file which no plan describes."""


@pytest.mark.parametrize("command", READING)
def test_every_command_that_reads_takes_the_options(command: str) -> None:
    said = io.StringIO()
    with redirect_stdout(said), patch.object(sys, "argv", ["crypsis", command, "--help"]), pytest.raises(SystemExit):
        main()
    for name in formats.OPTION_WORDS:
        assert f"--{name}" in said.getvalue()


def test_options_reach_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a|b|born\n1,234|x|01/02/1982\n5,678|?|03/04/1982\n9,012|y|05/06/1982\n")
    masked = tmp_path / "masked.csv"
    options = ["--delimiter", "|", "--decimal", ",", "--dates", "dd/mm/yyyy", "--missing", "?", "--encoding", "utf8"]
    words = ["mask", str(path), "rank-swapping", "--quasi", "born", "--keep-order", "-o", str(masked)]
    code, said = run(*words, *options, "--thousands", "none")
    assert code == 0, said
    frame = pl.read_csv(masked, infer_schema=False)
    assert frame["a"].to_list() == ["1.234", "5.678", "9.012"]
    assert frame["b"].to_list() == ["x", None, "y"]
    assert set(frame["born"]) == {"1982-02-01", "1982-04-03", "1982-06-05"}
    book = tmp_path / "t.xlsx"
    book.write_bytes(workbook({"a": ROWS, "b": [["n"], [1], [2]]}))
    assert run("profile", str(book), "--sheet", "b")[0] == 0
    database = tmp_path / "t.sqlite"
    database.write_bytes(sqlite(tmp_path, *TWO))
    assert run("profile", str(database), "--query", "select age from people")[0] == 0


def test_the_studio_reads_the_same_files_and_says_what_can_be_done(tmp_path: Path) -> None:
    from importlib.resources import files

    from crypsis.studio.session import ENDINGS, Session

    page = files("crypsis.studio").joinpath("templates", "home.html").read_text(encoding="utf-8")
    assert 'accept="{{ accepted }}"' in page
    assert list(ENDINGS) == list(readers.suffixes())
    two = tmp_path / "two.sqlite"
    with closing(sqlite3.connect(two)) as database:
        database.execute("create table people (age int)")
        database.execute("create table visits (age int)")
        database.commit()
    session = Session(two, tmp_path / "two.toml")
    session.reading.wait(60)
    assert session.reading.problem.startswith(
        "two.sqlite holds 2 tables: 'people', 'visits'; choose one, e.g. table people, under How the file is read"
    )
    assert session.reading.can_be_read_otherwise
    path = tmp_path / "t.xlsx"
    rows = [["age", "town"], *([age, f"town {age % 3}"] for age in range(40))]
    path.write_bytes(workbook({"a": rows, "b": ROWS}))
    assert run("init", str(path), "--sheet", "a", "--cautious", "--out", str(tmp_path / "plan.toml"))[0] == 0
    again = Session(path, tmp_path / "plan.toml")
    again.reading.wait(60)
    assert again.reading.problem == ""
    assert again.reading.raw.names == ("age", "town")
