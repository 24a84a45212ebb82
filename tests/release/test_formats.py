"""A labelled file released in every format: the bytes written are judged, and labels, types and codes survive."""

from __future__ import annotations

import datetime as dt
import gzip
import re
import time
import zipfile
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
import pyreadstat
import pytest

from crypsis.errors import ReleaseRefused
from crypsis.masking.generalisation import Generalisation
from crypsis.privacy.anonymity import KAnonymity
from crypsis.release import publish, verify
from crypsis.table.attribute import Kind
from crypsis.table.files import read_table, write_table
from crypsis.table.frames import to_frame
from crypsis.table.readers import writers
from crypsis.table.readers.formats import WrittenFormat, format_returned
from crypsis.table.table import Table
from reference import reference

FORMATS: tuple[WrittenFormat, ...] = get_args(WrittenFormat)
NAMES = {"urbrur": "Urban or rural", "sex": "Sex of the person", "age": "Age in years", "hhcivil": "Marital status"}
CODES: dict[str, dict[float, str]] = {
    "urbrur": {1: "urban", 2: "rural"},
    "sex": {1: "male", 2: "female"},
    "hhcivil": {1: "single", 2: "married", 3: "divorced", 4: "widowed", -9: "refused"},
}
ROLES = {"urbrur": "quasi", "sex": "quasi", "age": "quasi", "hhcivil": "confidential", "income": "confidential"}
LABELLED = ("sav", "dta", "xlsx")
"""Formats that hold labels of values."""


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Part of testdata as an SPSS file with variable labels, value labels and a code that means missing."""
    frame = pl.read_csv(reference("testdata.csv")).head(900).select("urbrur", "sex", "age", "hhcivil", "income", "roof")
    places = pl.Series(range(frame.height))
    frame = frame.with_columns(
        hhcivil=pl.Series([-9 if place % 40 == 7 else min(cell, 4) for place, cell in enumerate(frame["hhcivil"])]),
        income=(frame["income"] / 1e6).round(0) * 1e6 + 0.5,
        visit=pl.Series([dt.date(2020, 1 + int(place) % 12, 1) for place in places]),
        note=pl.Series(["täglich" if place % 3 else "never" for place in places]),
    ).with_columns(pl.col("urbrur", "sex", "age", "hhcivil", "roof").cast(pl.Float64))
    path = tmp_path_factory.mktemp("survey") / "survey.sav"
    pyreadstat.write_sav(
        frame,
        str(path),
        file_label="made by A. Nobody in C:/secret",
        note="do not publish",
        column_labels=NAMES,
        variable_value_labels=CODES,
        missing_ranges={"hhcivil": [-9]},
        variable_measure={"hhcivil": "nominal", "sex": "nominal", "urbrur": "nominal", "roof": "scale"},
    )
    return path


@pytest.fixture(scope="module")
def original(survey: Path) -> Table:
    return read_table(survey, ROLES | dict.fromkeys(("roof", "visit", "note"), "other"), KINDS, HIERARCHIES)


KINDS = {"roof": "nominal"}  # numbers in the file, and again in every format
HIERARCHIES = {"age": "intervals:10,20,40", "urbrur": "merge:1", "sex": "merge:1"}


@pytest.fixture(scope="module")
def masked(original: Table) -> Table:
    return Generalisation(levels={"age": 3, "urbrur": 0, "sex": 0}, k=3).mask(original, np.random.default_rng(0))


def released(masked: Table, original: Table, folder: Path, format: WrittenFormat) -> Path:
    reason = "answered once in a survey, known to nobody outside"
    waivers = {f"{kind}:{name}": reason for name in masked.names for kind in ("singling-out", "dependence")}
    return publish(
        masked, folder, models=[KAnonymity(k=3)], original=original, format=format, order="kept", waivers=waivers
    ) / "public" / f"data.{format}"  # fmt: skip


def test_every_writer_is_a_format_of_releases() -> None:
    assert tuple(each.suffixes[0][1:] for each in writers) == tuple(
        sorted(FORMATS, key=[each.suffixes[0][1:] for each in writers].index)
    )


@pytest.mark.parametrize("format", FORMATS)
def test_a_survey_is_released_in_every_format(
    format: WrittenFormat, masked: Table, original: Table, tmp_path: Path
) -> None:
    data = released(masked, original, tmp_path / "out", format)
    assert verify(tmp_path / "out").sound
    again = read_table(data)
    kept = to_frame(original).filter(pl.Series(masked.kept))
    for name in ("roof", "income", "visit", "note"):  # untouched: the same values in the same types
        assert to_frame(again)[name].to_list() == kept[name].to_list(), name
        assert to_frame(again)[name].dtype == kept[name].dtype, name
    assert to_frame(again)["hhcivil"].cast(pl.String).to_list() == kept["hhcivil"].cast(pl.String).to_list()
    if format not in ("csv", "csv.gz", "parquet"):
        assert {name: again.attribute(name).label for name in NAMES} == NAMES
    if format in LABELLED:
        told = {text: code for code, text in CODES["sex"].items()}
        assert dict(again.attribute("sex").codes) == told
        assert again.attribute("hhcivil").categories == original.attribute("hhcivil").categories
        assert again.attribute("sex").kind is Kind.NOMINAL
    if format in ("sav", "xlsx"):
        assert again.attribute("hhcivil").missing_codes == (("refused", -9.0, -9.0),)


def test_a_changed_cell_of_a_binary_file_is_found(masked: Table, original: Table, tmp_path: Path) -> None:
    data = released(masked, original, tmp_path / "out", "sav")
    content = data.read_bytes()
    data.write_bytes(content.replace("täglich".encode(), b"taeglich", 1))
    assert not verify(tmp_path / "out").sound


@pytest.mark.parametrize("format", FORMATS)
def test_a_released_file_tells_neither_time_nor_place(
    format: WrittenFormat, masked: Table, original: Table, tmp_path: Path
) -> None:
    data = released(masked, original, tmp_path / "out", format)
    content = data.read_bytes()
    parts = [content]
    if format == "xlsx":
        with zipfile.ZipFile(data) as book:
            assert {member.date_time[0] for member in book.infolist()} == {1980}
            parts = [book.read(name) for name in book.namelist()]
            assert b"<dc:creator></dc:creator>" in book.read("docProps/core.xml")
    elif format == "csv.gz":
        assert content[3:8] == bytes(5)
        parts = [gzip.decompress(content)]
    today = time.gmtime()
    years = {str(today.tm_year).encode(), time.strftime("%d%b%y", today).upper().encode()}
    for part in parts:
        words = {b"Nobody", b"secret", b"publish", str(tmp_path).encode(), *years}
        assert not any(word in part for word in words)
    if format == "sav":
        assert pyreadstat.read_sav(str(data), metadataonly=True)[1].creation_time == dt.datetime(1980, 1, 1)


def test_the_same_table_is_written_in_the_same_bytes(masked: Table, tmp_path: Path) -> None:
    for format in FORMATS:
        first = write_table(masked, tmp_path / f"a.{format}").read_bytes()
        assert write_table(masked, tmp_path / f"b.{format}").read_bytes() == first
    assert not re.search(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", (tmp_path / "a.xlsx").read_bytes())


def test_value_labels_that_nobody_has_any_more_are_not_written(masked: Table, original: Table, tmp_path: Path) -> None:
    codes = original.column("hhcivil")
    rare = original.attribute("hhcivil").categories.index("widowed")
    gone = masked.without(codes == rare)
    for format in ("sav", "dta", "xlsx"):
        data = released(gone, original, tmp_path / format, format)  # type: ignore[arg-type]
        again = read_table(data)
        assert "widowed" not in dict(again.attribute("hhcivil").codes)
        assert "widowed" not in again.attribute("hhcivil").categories


def test_what_a_format_cannot_hold_is_said(tmp_path: Path) -> None:
    table = Table.from_columns(
        {"town": ["a", "a ", "a", "a "] * 5, "n": [1.0, 2.0] * 10}, roles={"town": "quasi", "n": "other"}
    )
    with pytest.raises(ReleaseRefused, match="an SPSS file does not hold 'town' exactly; choose the format csv or"):
        publish(table, tmp_path / "out", models=[KAnonymity(k=2)], format="sav")
    assert not (tmp_path / "out").exists()
    empty: dict[str, list[Any]] = {"town": ["a"] * 4 + [None] * 4}
    blank = Table.from_columns(empty, roles={"town": "quasi"})
    with pytest.raises(ReleaseRefused, match="an Excel workbook does not hold records without any value"):
        publish(blank, tmp_path / "out", models=[KAnonymity(k=2)], format="xlsx", order="kept")


def test_a_custodian_gets_the_format_back_that_was_brought() -> None:
    brought = ("a.sav", "a.zsav", "a.dta", "a.xls", "a.XLSX", "a.sas7bdat", "a.csv.gz", "a.parquet", "a.csv", "a.db")
    returned = ["sav", "sav", "dta", "xlsx", "xlsx", "xpt", "csv.gz", "parquet", "csv", "csv"]
    assert [format_returned(name) for name in brought] == returned


@pytest.mark.parametrize("brought", ["csv", "tsv.gz", "parquet", "xlsx", "zsav", "dta", "xpt"])
def test_a_file_of_every_reader_comes_back_in_its_format(brought: str, original: Table, tmp_path: Path) -> None:
    path = write_table(original, tmp_path / f"survey.{brought}")
    before = read_table(path, ROLES, KINDS, HIERARCHIES).with_roles(dict.fromkeys(("roof", "visit", "note"), "other"))
    after = Generalisation(levels={"age": 3, "urbrur": 0, "sex": 0}, k=3).mask(before, np.random.default_rng(0))
    data = released(after, before, tmp_path / "out", format_returned(path))
    assert verify(tmp_path / "out").sound
    again, kept = read_table(data, kinds=KINDS), to_frame(before).filter(pl.Series(after.kept))
    for name in ("roof", "income", "visit", "note", "hhcivil"):
        assert to_frame(again)[name].dtype == kept[name].dtype, name
        assert to_frame(again)[name].to_list() == kept[name].to_list(), name
        assert again.attribute(name).label == before.attribute(name).label
        assert again.attribute(name).codes == before.attribute(name).codes
