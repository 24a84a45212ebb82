"""Every reader and writer: what is found out, said and pinned; one real file through all of them and back."""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import io
import sqlite3
import tomllib
import zipfile
import zlib
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyreadstat
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.plan import Plan, draft
from crypsis.table.attribute import Kind
from crypsis.table.files import read_table, write_table
from crypsis.table.frames import to_frame
from crypsis.table.profile import profile
from crypsis.table.readers import ReadOptions, readers, writers
from crypsis.table.readers.notation import DATE_FORMS, rewrite_cells
from crypsis.table.table import Table
from naive.number_marks import parse_number
from reference import reference


def put(folder: Path, content: str | bytes, name: str = "survey.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells(table: Table, name: str) -> list[Any]:
    """The cells of a column as they are read."""
    found: list[Any] = to_frame(table)[name].to_list()
    return found


# -- text: numbers --


GERMAN = (
    "Name;Geburt;Einkommen;Preis;Kinder;PLZ\n"
    "Anna;15.01.1982;1.234,56;3,5;0;01234\n"
    "Ben;3.2.1975;NA;4;2;99999\n"
    "Cem;28.12.1990;12.000,00;5,25;1;12345\n"
)


def test_a_german_file_is_read_and_said(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, GERMAN.replace("Anna", "Änna").encode("cp1252")))
    assert cells(table, "Einkommen") == [1234.56, None, 12000.0]
    assert cells(table, "Preis") == [3.5, 4.0, 5.25]
    assert cells(table, "Geburt") == [dt.date(1982, 1, 15), dt.date(1975, 2, 3), dt.date(1990, 12, 28)]
    assert cells(table, "PLZ") == ["01234", "99999", "12345"]
    assert table.notes == (
        "survey.csv: the encoding is read as cp1252, as it is not valid UTF-8; if letters look wrong, name "
        'another, e.g. encoding="latin-1"',
        "survey.csv: cells are separated by a semicolon",
        "survey.csv: decimal commas are read in columns 'Einkommen', 'Preis'",
        "survey.csv: '.' is read as thousands mark in column 'Einkommen': 1.234 is 1234",
        "survey.csv: dates are read as dd.mm.yyyy in column 'Geburt'",
        "survey.csv: 'NA' is read as missing in column 'Einkommen'",
    )


def test_a_drafted_plan_pins_what_was_found_out(tmp_path: Path) -> None:
    path = put(tmp_path, GERMAN.encode("utf-16"))
    table = read_table(path)
    text = draft(path, tmp_path / "plan.toml", table, profile(table), 2)
    data = tomllib.loads(text)["data"]
    assert data == {
        "source": "survey.csv", "delimiter": ";", "encoding": "utf-16", "decimal": ",", "thousands": ".",
        "dates": ["dd.mm.yyyy"], "missing": ["", "NA"],
    }  # fmt: skip
    again = Plan.parse(tomllib.loads(text)).table(tmp_path)
    for name in table.names:
        np.testing.assert_array_equal(again.column(name), table.column(name))


NUMBERS: dict[str, tuple[list[str], list[float] | None]] = {
    "decimal commas": (["3,5", "4", "-0,25"], [3.5, 4, -0.25]),
    "points and commas": (["1.234,56", "12", "1.000.000"], [1234.56, 12, 1e6]),
    "commas and points": (["1,234.56", "12", "1,000,000"], [1234.56, 12, 1e6]),
    "several groups": (["1,234,567", "2,000"], [1234567, 2000]),
    "spaces": (["1 234,5", "12 345"], [1234.5, 12345]),
    "narrow spaces": (["1\u202f234,5", "12\u00a0345"], [1234.5, 12345]),
    "apostrophes": (["1'234.5", "12'345"], [1234.5, 12345]),
    "one thousand or one point two": (["1,234", "5,678"], None),
    "telephones": (["030 123 456", "040 123 456"], None),
    "versions": (["1.2.3", "1.2.4"], None),
    "pairs": (["1,2,3", "1,2"], None),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_as_people_write_them(case: str, tmp_path: Path) -> None:
    texts, numbers = NUMBERS[case]
    path = put(tmp_path, "k;x\n" + "".join(f"a{n};{text}\n" for n, text in enumerate(texts)))
    table = read_table(path)
    assert cells(table, "x") == (texts if numbers is None else numbers)
    if case.startswith("one thousand"):
        assert "may have decimal commas or thousands marks; it stays text until you decide" in table.notes[-1]
        assert cells(read_table(path, decimal=","), "x") == [1.234, 5.678]
        assert cells(read_table(path, thousands=","), "x") == [1234, 5678]
        assert cells(read_table(path, decimal=".", thousands=""), "x") == texts


def test_what_other_columns_say_decides(tmp_path: Path) -> None:
    pointed = put(tmp_path, "x;y\n1,234;0.5\n5,678;1.25\n")
    assert cells(read_table(pointed), "x") == [1234, 5678]
    with_commas = put(tmp_path, "x;y\n1,234;0,5\n5,678;1,25\n", "b.csv")
    assert cells(read_table(with_commas), "x") == [1.234, 5.678]
    grouped = put(tmp_path, "x;y\n1.234;0,5\n5.678;1,25\n", "c.csv")
    assert cells(read_table(grouped), "x") == [1234, 5678]
    quoted = put(tmp_path, 'x,y\n"1,234",a\n"5,678",b\n', "d.csv")
    assert cells(read_table(quoted), "x") == [1234, 5678]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(-(10**7), 10**7).map(lambda n: n / 100), min_size=1, max_size=6),
    st.sampled_from([(",", "."), (",", " "), (".", ","), (".", "'"), (",", ""), (".", "")]),
)
def test_marks_are_read_as_the_slow_twin_reads_them(numbers: list[float], marks: tuple[str, str]) -> None:
    decimal, thousands = marks
    written = [
        f"{number:,.2f}".replace(",", "G").replace(".", "D").replace("G", thousands).replace("D", decimal)
        for number in numbers
    ]
    frame, _, _ = rewrite_cells(
        pl.DataFrame({"x": written}), {}, ReadOptions(decimal=decimal, thousands=thousands), "survey.csv"
    )
    assert frame["x"].cast(pl.Float64).to_list() == [parse_number(text, decimal, thousands) for text in written]
    assert frame["x"].cast(pl.Float64).to_list() == numbers


# -- text: dates --

DAY = dt.date(1982, 1, 15)
WRITTEN_DAYS = {
    "yyyy-mm-dd": "1982-01-15", "yyyy/mm/dd": "1982/01/15", "dd.mm.yyyy": "15.01.1982", "dd/mm/yyyy": "15/01/1982",
    "mm/dd/yyyy": "01/15/1982", "dd-mm-yyyy": "15-01-1982", "mm-dd-yyyy": "01-15-1982", "dd-mon-yyyy": "15-Jan-1982",
    "dd mon yyyy": "15 Jan 1982", "ddmonyyyy": "15JAN1982", "yyyymmdd": "19820115",
}  # fmt: skip


def test_every_form_is_tried() -> None:
    assert set(WRITTEN_DAYS) == set(DATE_FORMS)


@pytest.mark.parametrize("form", DATE_FORMS)
def test_dates_as_people_write_them(form: str, tmp_path: Path) -> None:
    path = put(tmp_path, f"birth_date,n\n{WRITTEN_DAYS[form]},1\n,2\n")
    assert cells(read_table(path), "birth_date") == [DAY, None]
    assert cells(read_table(path, dates=[form]), "birth_date") == [DAY, None]


def test_eight_digits_are_a_date_where_the_name_says_so(tmp_path: Path) -> None:
    path = put(tmp_path, "code,geburtsdatum\n19820115,19820115\n20001231,20001231\n")
    table = read_table(path)
    assert cells(table, "code") == [19820115, 20001231]
    assert table.attribute("geburtsdatum").dates == "date"


def test_a_day_that_may_be_a_month_is_left_to_people(tmp_path: Path) -> None:
    path = put(tmp_path, "seen,n\n01/02/1982,1\n03/04/1982,2\n")
    table = read_table(path)
    assert table.attribute("seen").kind is Kind.NOMINAL
    assert 'fit dd/mm/yyyy and mm/dd/yyyy; it stays text until you decide (dates=["dd/mm/yyyy"] or' in table.notes[0]
    assert cells(read_table(path, dates=["dd/mm/yyyy"]), "seen")[0] == dt.date(1982, 2, 1)
    assert cells(read_table(path, dates=["mm/dd/yyyy"]), "seen")[0] == dt.date(1982, 1, 2)
    beside = put(tmp_path, "seen,born\n01/02/1982,01/15/1970\n03/04/1982,02/03/1971\n", "b.csv")
    assert cells(read_table(beside), "seen")[0] == dt.date(1982, 1, 2)


def test_dates_with_times_and_short_years(tmp_path: Path) -> None:
    path = put(tmp_path, "seen,short\n15.01.1982 9:05,15.01.82\n16.01.1982 10:30,16.01.82\n")
    table = read_table(path)
    assert cells(table, "seen") == [dt.datetime(1982, 1, 15, 9, 5), dt.datetime(1982, 1, 16, 10, 30)]
    assert "column 'short' has dates whose years have two digits; it stays text" in table.notes[-1]


# -- text: missing values --


def test_markers_are_missing_in_numbers_and_dates_alone(tmp_path: Path) -> None:
    path = put(tmp_path, "n;d;grade;land\n1;2020-01-01;?;NA\n.;-;A;DE\n#N/A;2020-01-02;-;FR\n3;N/A;B;DE\n")
    table = read_table(path)
    assert cells(table, "n") == [1, None, None, 3]
    assert cells(table, "d") == [dt.date(2020, 1, 1), None, dt.date(2020, 1, 2), None]
    assert cells(table, "grade") == ["?", "A", "-", "B"]
    assert cells(table, "land") == ["NA", "DE", "FR", "DE"]
    assert cells(read_table(path, missing=["", "?"]), "grade") == [None, "A", "-", "B"]
    assert cells(read_table(path, missing=["", "?"]), "n") == ["1", ".", "#N/A", "3"]


EUSILC = (
    '"","db030","hsize","age","rb090","pl030","pb220a","py010n","py050n"\n'
    '"1",1,2,34,"female","2","AT",9756.25,0\n'
    '"2",1,2,39,"male","1","Other",12471.6,0\n'
    '"3",2,3,2,"male",NA,NA,NA,NA\n'
    '"4",3,3,38,"female","1",NA,12487.03,0\n'
)


def test_a_file_as_r_writes_it(tmp_path: Path) -> None:
    """write.csv: names and text in quotation marks, row names without a name, a bare NA for missing."""
    table = read_table(put(tmp_path, EUSILC))
    assert table.names[0] == "row"
    assert cells(table, "py010n") == [9756.25, 12471.6, None, 12487.03]
    assert cells(table, "pl030") == [2, 1, None, 1]
    assert cells(table, "pb220a") == ["AT", "Other", None, None]
    assert any("it is called 'row'" in note for note in table.notes)
    numeric = {a.name for a in table.attributes if a.numeric}
    assert numeric == {"row", "db030", "hsize", "age", "pl030", "py010n", "py050n"}
    kept = read_table(put(tmp_path, EUSILC.replace('"Other"', '"NA"'), "b.csv"))
    assert cells(kept, "pb220a") == ["AT", "NA", "NA", "NA"]  # Namibia may stand in quotation marks
    short = EUSILC.replace('"",', "", 1)  # write.table: the header lacks a name
    assert cells(read_table(put(tmp_path, short, "c.csv")), "age") == [34, 39, 2, 38]


# -- workbooks, packed files and databases --


def write_book(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for line, row in enumerate(rows):
                sheet.write_row(line, 0, row)
    return path


def test_sheets_by_name_and_number(tmp_path: Path) -> None:
    rows: list[list[object]] = [["age", "income"], [31, "NA"], [32, 2.5], [40, 3]]
    path = write_book(tmp_path / "t.xlsx", {"first": [["x"], [1]], "2024": rows})
    for sheet in ("2024", 2, "2"):
        table = read_table(path, sheet=sheet)
        assert cells(table, "age") == [31, 32, 40]
        assert cells(table, "income") == [None, 2.5, 3.0]
    assert any("'NA' is read as missing in column 'income'" in note for note in table.notes)


PACKED = "age,city\n31,Köln\n32,Bonn\n"


def test_packed_text(tmp_path: Path) -> None:
    put(tmp_path, gzip.compress(PACKED.encode()), "t.csv.gz")
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("folder/t.csv", PACKED)
        archive.writestr("__MACOSX/t.csv", "junk")
    plain = read_table(put(tmp_path, PACKED))
    for name in ("t.csv.gz", "t.zip"):
        assert read_table(tmp_path / name).fingerprint() == plain.fingerprint()
    frame = pl.DataFrame({"age": [31, 32], "city": ["Köln", "Bonn"]})
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    put(tmp_path, gzip.compress(buffer.getvalue()), "t.parquet.gz")
    assert read_table(tmp_path / "t.parquet.gz").fingerprint() == plain.fingerprint()


def test_databases_by_table_and_query(tmp_path: Path) -> None:
    make = "create table people (age int, city varchar, seen varchar)"
    fill = "insert into people values (31, 'Köln', '2020-01-01'), (32, null, '2020-01-02')"
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        database.execute(make)
        database.execute(fill)
    lite = sqlite3.connect(tmp_path / "t.sqlite")
    lite.execute(make)
    lite.execute(fill)
    lite.commit()
    lite.close()
    for name in ("t.duckdb", "t.sqlite"):
        table = read_table(tmp_path / name)
        assert cells(table, "age") == [31, 32]
        assert cells(table, "city") == ["Köln", None]
        asked = read_table(tmp_path / name, query="select age * 2 as double from people where age > 31")
        assert cells(asked, "double") == [64]


# -- labels --


def write_survey(path: Path) -> None:
    frame = pl.DataFrame(
        {
            "sex": [1.0, 2.0, None, 9.0, 1.0, 2.0],
            "edu": [1.0, 3.0, 2.0, 1.0, 3.0, 2.0],
            "income": [1.5, 2.25, -99.0, -98.0, 7.125, 3.0],
            "age": [20.0, 30.0, 40.0, 99.0, 55.0, 60.0],
            "born": [DAY, None, DAY, DAY, DAY, DAY],
            "town": ["a", "b", "", None, "e", "f"],
        }
    )
    pyreadstat.write_sav(
        frame,
        str(path),
        column_labels={"sex": "Sex of the person", "income": "Income, monthly"},
        variable_value_labels={
            "sex": {1: "male", 2: "female", 9: "refused"},
            "edu": {1: "low", 2: "middle", 3: "high", 4: "highest"},
            "age": {99: "99 or older"},
        },
        missing_ranges={"sex": [9], "income": [{"lo": -99, "hi": -98}]},
        variable_measure={"edu": "ordinal", "sex": "nominal", "income": "scale", "age": "scale"},
    )


def test_codes_of_spss_become_categories(tmp_path: Path) -> None:
    write_survey(tmp_path / "t.sav")
    table = read_table(tmp_path / "t.sav")
    sex, edu = table.attribute("sex"), table.attribute("edu")
    assert (sex.kind, sex.categories, sex.label) == (Kind.NOMINAL, ("male", "female"), "Sex of the person")
    assert (edu.kind, edu.categories) == (Kind.ORDINAL, ("low", "middle", "high", "highest"))
    assert cells(table, "sex") == ["male", "female", None, None, "male", "female"]
    assert cells(table, "income") == [1.5, 2.25, None, None, 7.125, 3.0]
    assert cells(table, "age") == [20, 30, 40, 99, 55, 60]
    assert cells(table, "town") == ["a", "b", None, None, "e", "f"]
    assert table.notes[:3] == (
        "t.sav: column 'sex': codes that mean missing ('refused') are read as missing (1 cells)",
        "t.sav: column 'income': codes that mean missing are read as missing (2 cells)",
        "t.sav: column 'age' is read as numbers; labelled codes among them: 1",
    )
    numbers = read_table(tmp_path / "t.sav", kinds={"edu": "numeric"})
    assert cells(numbers, "edu") == [1, 3, 2, 1, 3, 2]


def test_labels_and_missing_codes_of_spss_survive(tmp_path: Path) -> None:
    write_survey(tmp_path / "t.sav")
    table = read_table(tmp_path / "t.sav")
    write_table(table, tmp_path / "again.sav")
    before, after = (pyreadstat.read_sav(str(tmp_path / name))[1] for name in ("t.sav", "again.sav"))
    assert after.variable_value_labels == before.variable_value_labels
    assert after.missing_ranges == before.missing_ranges
    assert after.column_names_to_labels == before.column_names_to_labels
    again = read_table(tmp_path / "again.sav")
    assert again.fingerprint() == table.fingerprint()
    assert again.attributes == table.attributes


def test_stata_keeps_labels_and_reads_lettered_codes_as_missing(tmp_path: Path) -> None:
    write_survey(tmp_path / "t.sav")
    write_table(read_table(tmp_path / "t.sav"), tmp_path / "t.dta")
    table = read_table(tmp_path / "t.dta")
    assert table.attribute("edu").categories == ("low", "middle", "high", "highest")
    assert table.attribute("income").label == "Income, monthly"
    import pandas as pd

    mixed = pd.DataFrame({"x": [1.0, 2.0, "a", "b"]}, dtype=object)
    pyreadstat.write_dta(mixed, str(tmp_path / "m.dta"), missing_user_values={"x": ["a", "b"]})
    lettered = read_table(tmp_path / "m.dta")
    assert cells(lettered, "x") == [1, 2, None, None]
    assert "m.dta: column 'x': codes that mean missing are read as missing (2 cells)" in lettered.notes


def test_published_labels_are_those_in_use(tmp_path: Path) -> None:
    """A label that no published record has is not in the file: it could say who was there."""
    from crypsis.release.published import flatten

    write_survey(tmp_path / "t.sav")
    table = read_table(tmp_path / "t.sav")
    shown = flatten(table, np.array([0, 2]))
    write_table(shown, tmp_path / "out.sav")
    labels = pyreadstat.read_sav(str(tmp_path / "out.sav"))[1].variable_value_labels
    assert labels["edu"] == {1.0: "low", 2.0: "middle"}
    write_table(shown, tmp_path / "out.xlsx")
    assert "female" not in str(read_table(tmp_path / "out.xlsx").attribute("sex"))
    assert read_table(tmp_path / "out.xlsx").attribute("edu").categories == ("low", "middle")


def test_names_that_a_format_cannot_hold(tmp_path: Path) -> None:
    table = Table.from_columns({"monthly income": [1, 2]})
    for suffix in (".sav", ".dta", ".xpt"):
        with pytest.raises(TableError, match="columns 'monthly income' do not: names in a"):
            write_table(table, tmp_path / f"t{suffix}")
    assert not list(tmp_path.iterdir())


# -- formats that others write --

OLD_WORKBOOK = (
    "c-rk)O=uHA6#iy+)BM=xr>4?YD4}50+9Kk`OS>x79wem-"
    "{#8*^vxqb%ArwkIXtm}j2%Z!#g?bQ5)r&u<pf?XfMGrzjNh)~pB&c|3v%Yz|iD^`5K#P_A!n~RHX1;kZJHNXxXF|D&yUlr2pc^U*"
    "rWZA3HbKc-RDz&-"
    ")0D+x?xAElSW)nLXdr7`cvSboEyqxfcODAvXwOIjbCixEjlNXUh%6&^attvcW9T9&aDyy<G;vh*EKjmr&GI(4e9Uq?TQ0NgqP96P"
    "fEm57eVaXt4=Jr&=ZEa~K67T-vIPxzE@$!iE5d5)!j8=8SYm}$v}m=M1Py4fku)+=58x(zz+pmXG}_tIlS7yWdlFyF2=KYMs-"
    "H$2`|{ca$o_4y-"
    "TfQ8hX%3IepS(cF_<TKkz{F7H)_^GP8+Fo!kEWqIT3hat3d3OLDeIakrI!Mk}{kcNm91wYa&Uu{fRR^xzF>y5L~n`)bV<$B^gJ6%"
    "OPGhK?-dC)~8p|!G8TXTgLb-uuhD1GC-KPAQ?pVbB$J#?abK3@*?-"
    "Tmdnj7!!)HSZ|iTc3%kd;%_XjFBR^Xiul4n1<qcHMe%$+@CHr3ANag9?{MqpI8+`(;bb`f+FMs3c5FO(BHHn9MF&Fmk@|I=OPdkl"
    "A3EHun_OTeif?QjK5KBvwPe+tA#eP<nrjn-GeTj;`o}iI!Ask?NM3MX5yD5eEk}a66*=(hPeNOSQErbD*mZlJYZpvaS%y!vq^%uT"
    "XW*=j@$}N3=DEU@PzPpur+>?%IxBUSh95`^`z<~n?4jla35PUa<eG>%V4CP(lZGYEUpj2=^ll-"
    "^XhZOyW>7{ZPl9XpKTGjkn1D7cFC6>r3elL_bNZvCT!XU>nRQ3F&cQsM|f0j%P{<$Sot^YzbasFlh-vP>u;Jy"
)
"""A workbook as Excel 97 writes it, three records of a number, an amount, a day and a town."""


def test_an_old_workbook(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, zlib.decompress(base64.b85decode(OLD_WORKBOOK)), "old.xls"))
    assert cells(table, "age") == [21, 22, 23]
    assert cells(table, "wage") == [1.5, None, 4.5]
    assert cells(table, "day") == [dt.date(2020, 1, day) for day in (1, 2, 3)]
    assert cells(table, "town") == ["Köln", "Ulm", "Köln"]


@pytest.mark.parametrize("suffix", ["por", "zsav"])
def test_other_files_of_spss(suffix: str, tmp_path: Path) -> None:
    frame, path = pl.DataFrame({"A": [1.0, 2.0, None] * 40, "S": ["x", "yy", "z"] * 40}), tmp_path / f"t.{suffix}"
    if suffix == "por":
        pyreadstat.write_por(frame, str(path))
    else:
        pyreadstat.write_sav(frame, str(path), compress=True, variable_value_labels={"A": {1.0: "one", 2.0: "two"}})
    table = read_table(path)
    assert cells(table, "A")[:3] == ([1, 2, None] if suffix == "por" else ["one", "two", None])
    assert cells(table, "S")[:3] == ["x", "yy", "z"]


# -- one real file through every reader and back --

LABELS = {"urbrur": {1: "urban", 2: "rural"}, "sex": {1: "male", 2: "female"}}


def databases(frame: pl.DataFrame, folder: Path) -> list[Path]:
    """The frame in a DuckDB and an SQLite file."""
    with duckdb.connect(str(folder / "t.duckdb")) as database:
        database.register("frame", frame.to_arrow())
        database.execute("create table people as select * from frame")
    lite = sqlite3.connect(folder / "t.sqlite")
    lite.execute(f"create table people ({', '.join(frame.columns)})")
    lite.executemany(f"insert into people values ({', '.join('?' * frame.width)})", frame.rows())
    lite.commit()
    lite.close()
    return [folder / "t.duckdb", folder / "t.sqlite"]


def test_one_real_file_through_every_reader_and_back(tmp_path: Path) -> None:
    source = reference("testdata.csv")
    table = read_table(source)
    frame = pl.DataFrame([pl.Series(name, cells(table, name)) for name in table.names])
    files = databases(frame, tmp_path)
    for format_ in writers:
        for suffix in format_.suffixes:
            files.append(write_table(table, tmp_path / f"t{suffix}"))
    files.append(put(tmp_path, gzip.compress((tmp_path / "t.csv").read_bytes()), "t.csv.gz"))
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.write(tmp_path / "t.sav", "t.sav")
    files.append(tmp_path / "packed.zip")
    first = (tmp_path / "t.csv").read_bytes()
    for number, path in enumerate(files):
        again = read_table(path)
        assert again.names == table.names, path
        assert again.fingerprint() == table.fingerprint(), path
        back = write_table(again, tmp_path / f"back{number}.csv")
        assert back.read_bytes() == first, path  # every column to the byte, whichever way it took
    tried = {suffix for path in files for suffix in readers.suffixes() if path.name.endswith(suffix)}
    untried = set(readers.suffixes()) - tried
    assert untried == {".por", ".sas7bdat", ".xls", ".xlsm", ".ddb", ".sqlite3", ".db"}


def test_labels_of_a_real_file_through_spss_stata_and_excel(tmp_path: Path) -> None:
    frame = pl.read_csv(reference("testdata.csv"))
    pyreadstat.write_sav(
        frame.cast(pl.Float64),
        str(tmp_path / "t.sav"),
        column_labels={"expend": "Expenditure"},
        variable_value_labels=LABELS,
        variable_measure={"urbrur": "nominal", "sex": "nominal"},
    )
    table = read_table(tmp_path / "t.sav")
    assert table.attribute("sex").categories == ("male", "female")
    for suffix in (".sav", ".dta", ".xlsx"):
        again = read_table(write_table(table, tmp_path / f"again{suffix}"))
        assert again.fingerprint() == table.fingerprint(), suffix
        assert again.attribute("expend").label == "Expenditure"
        assert dict(again.attribute("sex").codes) == {"male": 1, "female": 2}
    pyreadstat.write_por(frame.select("age", "sex", "income").cast(pl.Float64), str(tmp_path / "t.por"))
    portable = read_table(tmp_path / "t.por")
    np.testing.assert_array_equal(portable.column("AGE"), table.column("age"))
