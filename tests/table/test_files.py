from __future__ import annotations

import csv
import datetime as dt
import io
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.table.attribute import Kind, Role
from crypsis.table.files import (
    atomic_folder,
    read_hierarchy,
    read_table,
    write_atomically,
    write_hierarchy_file,
    write_table,
)
from crypsis.table.frames import to_frame, wrap
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table
from crypsis.table.text_files import Delimited
from reference import reference


def put(folder: Path, content: str | bytes, name: str = "survey.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# -- reading --


def test_types_are_read_from_the_values(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "id,age,weight,born,seen,zoned,postcode,name,gap\n"
        "1,30,70.5,1990-02-28,2020-01-01T10:00:00,2020-01-01T10:00:00+02:00,01234,Ana,\n"
        '2,,1e3,1985-12-31,2020-01-01 10:00,2020-06-01T10:00:00Z,99999,"Lee, B",\n',
    )
    table = read_table(path, roles={"id": "identifier", "age": "quasi_identifier", "name": "sensitive"})
    kinds = {attribute.name: (attribute.kind, attribute.dates) for attribute in table.attributes}
    assert kinds["age"] == (Kind.NUMERIC, "")
    assert kinds["born"] == (Kind.NUMERIC, "date")
    assert kinds["seen"] == (Kind.NUMERIC, "datetime")
    assert kinds["zoned"] == (Kind.NUMERIC, "datetime")
    assert kinds["postcode"] == (Kind.NOMINAL, "")
    assert table.attribute("name").categories == ("Ana", "Lee, B")
    np.testing.assert_array_equal(table.column("age"), [30, np.nan])
    np.testing.assert_array_equal(table.column("weight"), [70.5, 1000])
    assert table.column("born")[0] == (dt.date(1990, 2, 28) - dt.date(1970, 1, 1)).days
    eight = dt.datetime(2020, 1, 1, 8, tzinfo=dt.UTC).timestamp()
    assert table.column("zoned")[0] == eight
    assert table.column("seen")[1] == table.column("seen")[0] == eight + 7200
    assert table.names_by_role(Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL) == ["id", "age", "name"]
    assert table.notes == (
        "survey.csv, column 'seen' has one value for all records and carries no information",
        "survey.csv, column 'gap' has no value at all and carries no information",
    )


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("a,b\n1,x\n2,y\n", "t.csv"),
        ("a;b\n1;x\n2;y\n", "t.csv"),
        ("a\tb\n1\tx\n2\ty\n", "t.tsv"),
        ("a|b\n1|x\n2|y", "t.txt"),
        ("\ufeffa,b\r\n1,x\r\n2,y\r\n\r\n", "t.csv"),
        ("a,b\r1,x\r2,y\r", "t.csv"),
        ('"a","b"\n"1","x"\n"2","y"\n', "t.csv"),
    ],
)
def test_dialects(tmp_path: Path, content: str, name: str) -> None:
    table = read_table(put(tmp_path, content, name))
    assert table.names == ("a", "b")
    assert table.column("a").tolist() == [1, 2]
    assert table.attribute("b").categories == ("x", "y")


def test_encodings_and_missing_markers(tmp_path: Path) -> None:
    path = put(tmp_path, "stadt,n\nKöln,1\nBonn,NA\n?,3\n".encode("latin-1"))
    table = read_table(path, encoding="latin-1", missing=("", "NA", "?"))
    assert table.attribute("stadt").categories == ("Bonn", "Köln")
    np.testing.assert_array_equal(table.column("n"), [1, np.nan, 3])
    wide = put(tmp_path, "a,b\n1,ö\n2,p\n".encode("utf-16"), "wide.csv")
    assert read_table(wide, encoding="utf-16").attribute("b").categories == ("p", "ö")


def test_quotation_marks_and_line_breaks_inside_fields(tmp_path: Path) -> None:
    path = put(tmp_path, 'a,"b\nc"\n1,"x\ny"\n2,"say ""hi"""\n3,5" pipe\n')
    table = read_table(path)
    assert table.names == ("a", "b\nc")
    assert set(table.attribute("b\nc").categories) == {"x\ny", 'say "hi"', '5" pipe'}


def test_declared_kinds_win(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b,c,d\n10,007,1.0,2020-01-01\n9,008,2.50,2020-01-02\n")
    table = read_table(path, kinds={"a": "nominal", "b": "numeric", "c": ["2.50", "1.0"], "d": "numeric"})
    assert table.attribute("a").categories == ("9", "10")
    assert table.column("b").tolist() == [7, 8]
    assert table.attribute("c").categories == ("2.50", "1.0")
    assert table.attribute("d").dates == "date"


def test_whole_numbers_too_long_for_a_number_are_text(tmp_path: Path) -> None:
    path = put(tmp_path, "id,a\n12345678901234567890123,1\n12345678901234567890124,2\n")
    assert read_table(path).attribute("id").kind is Kind.NOMINAL


def test_a_slip_in_an_unused_column_is_only_noted(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b\n1,1\n2,2\nSECRET,3\n4,4\n")
    table = read_table(path)
    assert table.attribute("a").kind is Kind.NOMINAL
    assert "survey.csv, line 4, column 'a'" in table.notes[0]
    assert "SECRET" not in table.notes[0]


def test_reference_files_read_as_numpy_reads_them() -> None:
    path = reference("census.csv")
    table = read_table(path)
    expected = np.loadtxt(path, delimiter=",", skiprows=1)
    assert table.rows == 1080
    np.testing.assert_array_equal(table.numbers(table.names), expected)


FIELDS = st.lists(st.sampled_from([*'ab1é,;" ', "\n", "\r\n"]), max_size=6).map("".join)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=6),
    style=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_a_csv_writer_writes_is_read(
    rows: list[tuple[str, str]], style: Any, ending: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cells as written, and the line on which each record starts, with breaks and quotes inside fields."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=style, lineterminator=ending)
    writer.writerow(["a", "b"])
    starts = []
    for row in rows:
        starts.append(text.getvalue().count("\n") + 1)
        writer.writerow(row)
    path = put(tmp_path_factory.mktemp("written"), text.getvalue())
    file = Delimited.open(path, ",", "utf8")
    assert [tuple(cell or "" for cell in row) for row in file.texts().rows()] == rows
    assert [file.line_of(place) for place in range(len(rows))] == starts


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*',,;""ab1é ', "\n", "\r\n", '""']), max_size=30).map("".join))
def test_any_text_is_read_as_python_reads_it_or_refused(tmp_path_factory: pytest.TempPathFactory, body: str) -> None:
    path = put(tmp_path_factory.mktemp("any"), "a,b\n" + body)
    try:
        texts = Delimited.open(path, ",", "utf8").texts()
    except TableError:
        return
    expected = csv.reader(io.StringIO(body.rstrip("\r\n"), newline=""), strict=True)
    assert [[cell or "" for cell in row] for row in texts.rows()] == list(expected)


# -- refusals: one sentence, the place, never the value --

REFUSED = {
    "empty": ("", {}, r"survey.csv is empty"),
    "blank": (" \n\n", {}, r"survey.csv is empty"),
    "header only": ("a,b\n", {}, r"header but no records"),
    "header only, one column": ("a\n", {}, r"header but no records"),
    "short": ("a,b\n1,2\n3\n", {}, r"survey.csv, line 3: the record has 1 field where the header names 2"),
    "long": ("a,b\n1,2\n3,4,5\n", {}, r"survey.csv, line 3: the record has 3 fields"),
    "blank line": ("a,b\n1,2\n\n3,4\n", {}, r"survey.csv, line 3: the line is blank"),
    "long and short": ("a,b\n1,2,3\n3\n", {}, r"survey.csv, line 2: the record has 3 fields"),
    "short after a quoted break": ('a,b\n1,"x\ny"\n3\n', {}, r"survey.csv, line 4: the record has 1"),
    "open quote": ('a,b\n1,2\n3,"x\n5,6\n7,8\n', {}, r"survey.csv, line 3: a quotation mark is never closed"),
    "clash": ('a,b\n1,2\n3,"x"y\n', {}, r"survey.csv, line 3: "),
    "same names": ("a,b,a\n1,2,3\n", {}, r"survey.csv, line 1: two columns share a name: 'a'"),
    "no name": ("a,,c\n1,2,3\n", {}, r"survey.csv, line 1: column 2 has no name"),
    "encoding": (b"a,b\n1,K\xf6ln\n", {"encoding": "utf8"}, r"survey.csv, line 2: byte 7 is not valid utf8.*cp1252"),
    "utf-16": (
        "a,b\n1,2\n".encode("utf-16"),
        {"encoding": "utf8"},
        r"survey.csv, line 1: byte 0 is not valid utf8.*utf-16",
    ),
    "unknown encoding": ("a\n1\n", {"encoding": "klingon"}, r"'klingon' is no known encoding"),
    "NUL": (b"a,b\n1,2\n3,\x004\n", {}, r"survey.csv, line 3: a NUL byte \(byte 10\)"),
    "delimiter": ("a\n1\n", {"delimiter": "ab"}, r"one character"),
    "text, declared": (
        "a,b\n1,2\n3,SECRET\n",
        {"kinds": {"b": "numeric"}},
        r"survey.csv, line 3, column 'b': the cell is not a number",
    ),
    "text, quasi": (
        "a,b\n1,2\n3,SECRET\n5,6\n",
        {"roles": {"b": "quasi"}},
        r"survey.csv, line 3, column 'b': the cell is not a number; only numbers and missing values fit",
    ),
    "text after a quoted break": (
        'a,b\n"x\ny",2\nz,SECRET\n',
        {"kinds": {"b": "numeric"}},
        r"survey.csv, line 4, column 'b'",
    ),
    "several": (
        "a\n1\nSECRET\n3\nSECRET\n",
        {"kinds": {"a": "numeric"}},
        r"line 3, column 'a': the cell is not a number \(and 1 more cells",
    ),
    "decimal commas": (
        "a;b\n1;2,5\n3;4,5\n",
        {"kinds": {"b": "numeric"}, "decimal": "."},
        r"decimal points instead of decimal commas",
    ),
    "infinite": ("a,b\n1,2\n3,inf\n", {}, r"survey.csv, line 3, column 'b': an infinite value"),
    "minus infinite": ("a,b\n1,2\n3,-Infinity\n", {}, r"survey.csv, line 3, column 'b': an infinite value"),
    "beyond squaring": ("a,b\n1,2\n3,-2e100\n", {}, r"survey.csv, line 3, column 'b': a number beyond 1e100"),
    "next to zero": ("a,b\n1,0\n3,2e-101\n", {}, r"survey.csv, line 3, column 'b': numbers all closer to zero"),
    "overflow": ("a,b\n1,2\n3,1e999\n", {}, r"survey.csv, line 3, column 'b': an infinite value"),
    "role": ("a,b\n1,2\n", {"roles": {"a": "quassi"}}, r"unknown role 'quassi' \(did you mean 'quasi'\?\)"),
    "column": ("age,b\n1,2\n", {"roles": {"aeg": "quasi"}}, r"survey.csv: there is no column 'aeg'.*mean 'age'"),
    "kind": ("a,b\n1,2\n", {"kinds": {"a": "numerc"}}, r"unknown kind 'numerc' \(did you mean 'numeric'\?\)"),
    "kind column": ("age,b\n1,2\n", {"kinds": {"agee": "numeric"}}, r"no column 'agee' to give a kind"),
    "hierarchy column": ("age,b\n1,2\n", {"hierarchies": {"agee": "merge:2"}}, r"no column 'agee' to give a hierarchy"),
    "all missing": ("a,b\n,1\n,2\n", {"roles": {"a": "quasi"}}, r"survey.csv, column 'a': all rows are missing"),
    "everything missing": ("a,b\n,\n,\n", {}, r"survey.csv: every value of every row is missing"),
    "one value": ("a,b\n1,1\n1,2\n", {"roles": {"a": "quasi"}}, r"survey.csv, column 'a': the only quasi-identifier"),
    "huge": (
        "a,b\n1,1\n9007199254740993,2\n",
        {"roles": {"a": "quasi"}},
        r"survey.csv, line 3, column 'a': a whole number beyond 2\^53",
    ),
}


@pytest.mark.parametrize(("name", "what"), [("book.ods", "a spreadsheet"), ("panel.RDS", "a file of R")])
def test_files_that_no_reader_reads_are_named(tmp_path: Path, name: str, what: str) -> None:
    (tmp_path / name).write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match=rf"{name} is {what}, which Crypsis does not read; save the table as CSV"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(tmp_path: Path, case: str) -> None:
    content, options, sentence = REFUSED[case]
    path = put(tmp_path, content)
    with pytest.raises(TableError, match=sentence) as caught:
        read_table(path, **options)
    assert "SECRET" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"there is no file .*gone.csv"):
        read_table(tmp_path / "gone.csv")
    with pytest.raises(TableError, match=r"the folder .*away does not exist"):
        read_table(tmp_path / "away" / "gone.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(TableError, match="not a readable Parquet file"):
        read_table(put(tmp_path, "a,b\n1,2\n", "t.parquet"))
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.data")
    with pytest.raises(TableError, match=r"rename it to end in .parquet"):
        read_table(tmp_path / "t.data")


def test_infinite_in_parquet_names_the_row(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1.0, float("inf")]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"t.parquet, row 2, column 'a': an infinite value"):
        read_table(tmp_path / "t.parquet")


def test_values_absent_from_their_hierarchy(tmp_path: Path) -> None:
    put(tmp_path, "level0,level1\nnorth,*\nsouth,*\n", "region.csv")
    rows = ["north", "south", *["east"] * 5, "atlantis", "atlantis", "mu"]
    path = put(tmp_path, "region\n" + "\n".join(rows) + "\n")
    with pytest.raises(TableError) as caught:
        read_table(path, roles={"region": "quasi"}, hierarchies={"region": tmp_path / "region.csv"})
    sentence = str(caught.value)
    assert "survey.csv, line 4, column 'region'" in sentence
    assert "'east' (5 records) and 2 rare values (in 3 records, not shown)" in sentence
    assert "atlantis" not in sentence


def test_masked_files_may_be_constant(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b\n*,\n*,\n")
    table = read_table(path, roles={"a": "quasi", "b": "confidential"}, masked=True)
    assert table.notes == ()


# -- writing --

CELLS = st.fixed_dictionaries(
    {
        "x": st.none() | st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) >= 1e-100),
        "n": st.none() | st.integers(-(2**53), 2**53),
        "w": st.none() | st.text(st.characters(exclude_characters="\0\r", codec="utf-8"), min_size=1, max_size=6),
        "d": st.none() | st.dates(min_value=dt.date(1, 1, 1)),
        "t": st.none() | st.datetimes(min_value=dt.datetime(1900, 1, 1), max_value=dt.datetime(2100, 1, 1)),
    }
)
SCHEMA = {"x": pl.Float64, "n": pl.Int64, "w": pl.String, "d": pl.Date, "t": pl.Datetime("us")}


MIDNIGHT = {"x": None, "n": None, "w": None, "d": None, "t": dt.datetime(2000, 1, 1)}


@settings(max_examples=60, deadline=None)
@example(rows=[MIDNIGHT], suffix=".csv")
@given(rows=st.lists(CELLS, min_size=1, max_size=8), suffix=st.sampled_from([".csv", ".tsv", ".parquet"]))
def test_what_is_written_reads_back_to_the_same_values(
    rows: list[dict[str, object]], suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    frame = pl.DataFrame(
        [{"k": str(place), **row} for place, row in enumerate(rows)], schema={"k": pl.String, **SCHEMA}
    )
    table = wrap(frame, kinds={"x": "numeric", "n": "numeric", "w": "nominal"})
    path = tmp_path_factory.mktemp("written") / f"t{suffix}"
    write_table(table, path)
    again = read_table(path, kinds=dict.fromkeys("xndt", "numeric") | dict.fromkeys("wk", "nominal"), masked=True)
    for name in ("x", "n", "d"):
        np.testing.assert_array_equal(again.column(name), table.column(name))
    days = (
        suffix != ".parquet"
        and not frame["t"].is_null().all()
        and not (frame["t"].dt.truncate("1d") != frame["t"]).any()
    )
    np.testing.assert_array_equal(again.column("t") * (86_400 if days else 1), table.column("t"))  # midnights are days
    words = [None if code < 0 else again.labels("w")[code] for code in again.column("w")]
    assert words == frame["w"].to_list()


def test_one_column_with_missing_values_survives(tmp_path: Path) -> None:
    write_table(Table.from_columns({"a": [None, 1.0, None, None]}), tmp_path / "t.csv")
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv").column("a"), [np.nan, 1, np.nan, np.nan])


def test_identical_fingerprint_after_csv_and_parquet(tmp_path: Path) -> None:
    path = put(tmp_path, "age,city,income\n30,Köln,1.5\n,Bonn,2.25\n41,,\n")
    roles = {"age": "quasi", "city": "quasi", "income": "confidential"}
    table = read_table(path, roles)
    for name in ("out.csv", "out.tsv", "out.parquet"):
        write_table(table, tmp_path / name)
        assert read_table(tmp_path / name, roles).fingerprint() == table.fingerprint()


def test_suppressed_records_and_generalised_columns_are_written_as_published(tmp_path: Path) -> None:
    table = wrap(
        pd.DataFrame({"age": [21, 29, 35], "name": list("xyz")}, index=[5, 6, 7]), hierarchies={"age": "intervals:10"}
    )
    hierarchy = table.attribute("age").hierarchy
    assert hierarchy is not None
    lifted = table.with_columns({"age": hierarchy.lift(table.leaf_codes("age"), 1)}, levels={"age": 1})
    write_table(lifted.without(np.array([False, True, False])), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "age,name\n20–29,x\n30–39,z\n"


RISKY = ["=1+1", "+1", "-x", "@a", "\tb", "\rc", "\nd", "＝1", "＋1", "－1", "＠a", "'=1+1", "''＝1"]
HARMLESS = ["plain", "a=b", "'quoted'", "''", " =1", "−1", None]


def test_spreadsheet_safe(tmp_path: Path) -> None:
    size = len(RISKY) + len(HARMLESS)
    columns = {"=w": [*RISKY, *HARMLESS], "＠v": ["x"] * size, "n": [-1.0] * size}
    write_table(wrap(pl.DataFrame(columns)), tmp_path / "t.csv", spreadsheet_safe=True)
    back = pl.read_csv(tmp_path / "t.csv", infer_schema=False)
    assert back.columns == ["'=w", "'＠v", "n"]
    assert back["'=w"].to_list() == [*(f"'{text}" for text in RISKY), *HARMLESS]
    assert {float(number) for number in back["n"]} == {-1.0}
    assert [text[1:] for text in back["'=w"][: len(RISKY)]] == RISKY
    again = read_table(tmp_path / "t.csv").attribute("'=w").categories
    assert set(again) == {f"'{text}" for text in RISKY} | {text for text in HARMLESS if text}


def test_writing_refuses(tmp_path: Path) -> None:
    table = Table.from_columns({"a": [1, 2]})
    path = put(tmp_path, "mine")
    with pytest.raises(TableError, match="already exists and is never overwritten"):
        write_table(table, path)
    assert path.read_text() == "mine"
    with pytest.raises(TableError, match=r"ends in .\.ods.; a table is written to .csv, .tsv"):
        write_table(table, tmp_path / "t.ods")
    with pytest.raises(TableError, match="does not exist; make it first"):
        write_table(table, tmp_path / "away" / "t.csv")
    nested = wrap(pl.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(TableError, match="CSV cannot hold it"):
        write_table(nested, tmp_path / "t.csv")
    write_table(nested, tmp_path / "t.parquet")
    assert to_frame(read_table(tmp_path / "t.parquet")).equals(to_frame(nested))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["survey.csv", "t.parquet"]


# -- hierarchies in files --


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_hierarchy_round_trip(tmp_path: Path, delimiter: str) -> None:
    rows = [["a;1", "x, y", "*"], ["b", "x, y", "*"], ["c", "z", "*"]]
    path = write_hierarchy_file(Hierarchy.from_rows(rows), tmp_path / "h.csv", delimiter=delimiter)
    again = read_hierarchy(path)
    assert again.labels == (("a;1", "b", "c"), ("x, y", "z"), ("*",))
    assert [level.tolist() for level in again.groups] == [[0, 1, 2], [0, 0, 1], [0, 0, 0]]


def test_reference_hierarchy_fits_numbers() -> None:
    ages = reference("dgh/adult_age.csv")
    table = read_table(reference("adult.csv"), roles={"age": "quasi"}, hierarchies={"age": ages})
    hierarchy = table.attribute("age").hierarchy
    assert hierarchy is not None
    assert [len(level) for level in hierarchy.labels] == [74, 16, 9, 5, 3, 2, 1]
    np.testing.assert_array_equal(hierarchy.values[table.leaf_codes("age")], table.column("age"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty"),
        ("level0,level1\n", "header but no values"),
        ("a\nb\n", "line 1: only one column"),
        ("a,x,*\nb,*\n", "line 2: 2 fields where the first row has 3"),
        ("a,x\nb,\n", "line 2: level 1 is empty"),
        ("a,x\nb,y\na,y\n", "line 3: 'a' was already on line 1"),
        ("a,x,p\nb,x,q\n", "levels 1 and 2 do not nest: 'x' at level 1"),
    ],
)
def test_bad_hierarchy_files(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(TableError, match=sentence) as caught:
        read_hierarchy(put(tmp_path, content, "h.csv"))
    assert "h.csv" in str(caught.value)


def test_hierarchy_file_with_words_for_numbers(tmp_path: Path) -> None:
    put(tmp_path, "1,*\ntwo,*\n", "h.csv")
    with pytest.raises(TableError, match=r"h.csv: the hierarchy's value 'two' is no number but column 'a' is numeric"):
        read_table(put(tmp_path, "a\n1\n2\n"), hierarchies={"a": tmp_path / "h.csv"})


# -- atomic writing --


def test_atomic_folder_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with atomic_folder(target) as aside:
        (aside / "deep").mkdir()
        (aside / "deep" / "data.csv").write_text("a\n1\n")
        assert not target.exists()
    assert (target / "deep" / "data.csv").read_text() == "a\n1\n"
    assert os.listdir(tmp_path) == ["release"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, TableError])
def test_atomic_folder_vanishes_on_failure(tmp_path: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with atomic_folder(tmp_path / "release") as aside:
            (aside / "data.csv").write_text("half")
            raise error("stop")

    with pytest.raises(error):
        fail()
    assert os.listdir(tmp_path) == []


def test_atomic_folder_refuses_an_existing_target(tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    with pytest.raises(TableError, match="already exists"), atomic_folder(tmp_path / "release"):
        pass
    with pytest.raises(TableError, match="already exists"), atomic_folder(tmp_path / "late"):
        (tmp_path / "late").mkdir()
    assert sorted(os.listdir(tmp_path)) == ["late", "release"]


def test_write_atomically(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"one")
    with pytest.raises(TableError, match="already exists"):
        write_atomically(path, b"two")
    write_atomically(path, b"two", replace=True)
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a"]


def test_a_killed_process_leaves_no_folder_of_the_name(tmp_path: Path) -> None:
    """SIGKILL in the middle of the work: the target must not exist."""
    script = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from crypsis.table.files import atomic_folder
        with atomic_folder(Path(sys.argv[1])) as aside:
            (aside / "data.csv").write_text("half")
            sys.stdout.write("ready\\n"); sys.stdout.flush()
            time.sleep(60)
        """
    )
    target = tmp_path / "release"
    with subprocess.Popen([sys.executable, "-c", script, str(target)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not target.exists()


def test_a_file_that_is_no_table_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    wide.write_text(",".join(f"c{place}" for place in range(100_000)) + "\n" + ",".join("1" * 100_000) + "\n")
    with pytest.raises(TableError, match="line 1: the header names 100000 columns and at most 20000 can be treated"):
        read_table(wide)
    long.write_bytes(b"a,b\n1,2\n" + b"x" * (1 << 25))
    with pytest.raises(TableError, match="line 3: the line is longer than 16 MB"):
        read_table(long)
