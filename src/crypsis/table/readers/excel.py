"""Excel workbooks: the values of one sheet. Macros, formulas and links are never followed."""

from __future__ import annotations

import datetime as dt
import io
import logging
import re
import zipfile
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from crypsis.errors import TableError, find_repeated, listing, name_reading
from crypsis.table.encoding import Source
from crypsis.table.readers.compressed import open_zip
from crypsis.table.readers.formats import (
    WRITTEN,
    ColumnLabels,
    Contents,
    Input,
    ReadOptions,
    import_format_extra,
    memory_for_formats,
    readers,
    refuse_boundless_format,
    writers,
)
from crypsis.table.readers.text import as_plain

if TYPE_CHECKING:
    from crypsis.table.attribute import Attribute
    from crypsis.table.table import Table

EXCEL = (".xlsx", ".xlsm", ".xls")
WHAT = "an Excel workbook"
OLE = bytes.fromhex("d0cf11e0a1b11ae1")
"""First bytes of an old workbook, and of a new one that is encrypted."""
PLACE = re.compile(rb'<c [^>]*?r="([A-Z]{1,3})(\d{1,7})"')
"""A cell of a sheet and where it is."""
LONGEST_SHEET, WIDEST_SHEET = 1_048_576, 16_384
LARGEST_WHOLE = 2.0**53
OWN_SHEETS = ("data", "labels")
"""Sheets of a workbook that was written here."""
LABEL_COLUMNS = ("column", "label", "kind", "code", "last code", "text code", "meaning")
"""Columns of the sheet of labels; a range of codes that mean missing has a last code."""
MISSING_ROW = "missing"
"""Kind of a row of that sheet whose codes mean missing."""
NO_TIME = dt.datetime(1980, 1, 1)
"""When a written workbook says it was made, so that it does not tell when it was."""


@readers.add(*EXCEL, what=WHAT, takes=WRITTEN | {"sheet"})
def read_excel(file: Input, options: ReadOptions) -> Contents:
    """One sheet: the first row names the columns; dates and numbers by their cells, text by what it says."""
    fastexcel = import_format_extra("fastexcel", "files", file.shown, WHAT)
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it reports every empty column
    content = file.read()
    _refuse_strange(content, file.shown)
    try:
        book = fastexcel.read_excel(content)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - the library raises its own errors, and panics that are no Exception
        if "password" in str(error).lower():
            raise TableError(_explain_password(file.shown)) from None
        raise TableError(f"{file.shown} is not a readable {WHAT[3:]}; open it and save it again as .xlsx") from None
    name = _choose_sheet(book.sheet_names, options.sheet, file.shown)
    where = f"{file.shown}, sheet {name!r}"
    try:
        head = book.load_sheet(name, header_row=None, n_rows=1, dtypes="string").to_polars()
        if not head.width:
            raise TableError(f"{where} is empty; name another sheet, or give one with a header row and records")
        guessed = book.load_sheet(name, header_row=0, schema_sample_rows=None).to_polars()
        texts = book.load_sheet(name, header_row=0, dtypes="string").to_polars()
    except (TableError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001
        raise TableError(f"{where} cannot be read; open the workbook and save it again as .xlsx") from None
    names = [str(cell) if cell is not None else "" for cell in head.row(0)]
    while names and not names[-1].strip() and texts.to_series(len(names) - 1).null_count() == texts.height:
        names.pop()
    _refuse_names(names, where)
    columns = [
        _read_cells(guessed.to_series(place), texts.to_series(place)).alias(name) for place, name in enumerate(names)
    ]
    frame = pl.DataFrame(columns)
    while frame.height and all(cell is None for cell in frame.row(-1)):
        frame = frame.head(-1)
    if not frame.height:
        raise TableError(f"{where} has a header but no records; give at least one row of data below it")
    written = frozenset(column.name for column in columns if column.dtype == pl.String)
    labels = _read_labels(book, frame.columns) if book.sheet_names == list(OWN_SHEETS) and name == OWN_SHEETS[0] else {}
    return Contents(frame, Source(file.path.name), written - labels.keys(), found=options, labels=labels)


def _read_labels(book: Any, names: list[str]) -> dict[str, ColumnLabels]:
    """Variable labels and codes from the sheet that was written beside the data; none where it is another sheet."""
    sheet = book.load_sheet(OWN_SHEETS[1], header_row=0, schema_sample_rows=None).to_polars()
    if tuple(sheet.columns) != LABEL_COLUMNS:
        return {}
    found: dict[str, ColumnLabels] = {}
    for name, label, kind, number, last, text, meaning in sheet.rows():
        before = found.get(name) or ColumnLabels(label or "", {}, spelt=True)
        code = number if number is not None else text
        if kind == MISSING_ROW:
            before = replace(before, missing=(*before.missing, (code, code if last is None else last)))
        else:
            before = replace(before, ordered=kind == "ordinal")
        known = {code: str(meaning)} if code is not None and meaning is not None else {}
        found[name] = replace(before, codes={**before.codes, **known})
    return {name: each for name, each in found.items() if name in names}


def _refuse_strange(content: bytes, shown: str) -> None:
    """Refuse what is no workbook, needs a password, or claims more cells than memory holds."""
    start = content[:512].lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    if start.startswith((b"<html", b"<!doctype", b"<table", b"<?xml", b"<meta")):
        raise TableError(f"{shown} is a web page and no workbook; open it and save it as .xlsx or CSV")
    if content.startswith(OLE):
        if "EncryptedPackage".encode("utf-16-le") in content:
            raise TableError(_explain_password(shown))
        return
    if not content.startswith(b"PK"):
        raise TableError(f"{shown} is not a readable {WHAT[3:]}; open it and save it again as .xlsx")
    with open_zip(content, shown) as archive:
        members = [m for m in archive.infolist() if m.filename.lower().startswith("xl/")]
        if not members:
            raise TableError(f"{shown} is not a readable {WHAT[3:]}; open it and save it again as .xlsx")
        if sum(m.file_size for m in archive.infolist()) > memory_for_formats():
            raise TableError(
                f"{shown} claims more than the memory of this machine; give a smaller workbook, or Parquet"
            )
        for member in members:
            if "/worksheets/" in member.filename.lower():
                _refuse_far_cells(_unpack(archive, member, shown), shown)
            else:
                _unpack(archive, member, shown)


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, shown: str) -> bytes:
    """A part of a workbook; one that is not what it claims is refused."""
    try:
        return archive.read(member)
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError, ValueError, EOFError):
        raise TableError(f"{shown} is damaged; open the workbook and save it again as .xlsx") from None


def _refuse_far_cells(sheet: bytes, shown: str) -> None:
    """Refuse a sheet whose cells lie so far apart that the range between them does not fit in memory."""
    rows = columns = 0
    for letters, digits in PLACE.findall(sheet):
        number = 0
        for letter in letters:
            number = 26 * number + letter - 64
        rows, columns = max(rows, int(digits)), max(columns, number)
    refuse_boundless_format(min(rows, LONGEST_SHEET), min(columns, WIDEST_SHEET), shown)


def _explain_password(shown: str) -> str:
    return f"{shown} is protected by a password; open it, save a copy without one, and give that"


def _choose_sheet(names: list[str], sheet: str | int | None, shown: str) -> str:
    """The sheet that is asked for by name or by number from 1; the only one if none is."""
    if sheet is None:
        if len(names) == 1 or names == list(OWN_SHEETS):
            return names[0]
        raise TableError(
            f"{shown} has {len(names)} sheets; choose one, e.g. {name_reading('sheet', names[0])}; there are "
            f"{listing(map(repr, names))}"
        )
    if isinstance(sheet, str) and sheet in names:
        return sheet
    if str(sheet).isdigit() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise TableError(
        f"{shown} has no sheet {sheet!r}; its sheets, which may be given by number from 1: {listing(map(repr, names))}"
    )


def _refuse_names(names: list[str], where: str) -> None:
    """Refuse a first row that does not name every column."""
    empty = [place for place, name in enumerate(names, start=1) if not name.strip()]
    if empty:
        raise TableError(
            f"{where}: column {empty[0]} has no name in the first row; unmerge header cells, remove a title above the "
            f"table, and give every column a name"
        )
    twice = find_repeated(names)
    if twice:
        raise TableError(f"{where}: two columns share a name: {listing(map(repr, twice))}; give every column its own")


def _read_cells(guessed: pl.Series, texts: pl.Series) -> pl.Series:
    """A column by its type where all its cells have one; mixed cells as text."""
    if guessed.dtype in (pl.String, pl.Null) or guessed.null_count() > texts.null_count():
        return texts.cast(pl.String)
    return settle_excel_numbers(guessed)


def settle_excel_numbers(series: pl.Series) -> pl.Series:
    """Cells of an Excel sheet: floats that are all whole become integers, midnights become dates."""
    if series.dtype.is_float():
        series = series.fill_nan(None)
        whole = ((series == series.round(0)) & (series.abs() < LARGEST_WHOLE)).fill_null(True).all()
        return series.cast(pl.Int64) if whole and series.null_count() < len(series) else series
    if series.dtype == pl.Datetime:
        midnights = series.null_count() < len(series) and not (series.dt.truncate("1d") != series).any()
        return series.cast(pl.Date) if midnights else series.cast(pl.Datetime("us"))
    return series


# -- writing --


@writers.add(".xlsx", what=WHAT)
def write_excel(table: Table, frame: pl.DataFrame, suffix: str) -> bytes:
    """One sheet 'data', and a sheet 'labels' of variable labels and codes where the table has some. Text stays text."""
    xlsxwriter = import_format_extra("xlsxwriter", "files", "the file", WHAT)
    if frame.height >= LONGEST_SHEET or frame.width > WIDEST_SHEET:
        raise TableError(
            f"a sheet holds {LONGEST_SHEET - 1} records of {WIDEST_SHEET} columns and the table is larger; write "
            f".parquet or .csv"
        )
    buffer = io.BytesIO()
    safe = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "in_memory": True}
    with xlsxwriter.Workbook(buffer, {**safe, "nan_inf_to_errors": False}) as book:
        book.set_properties({"created": NO_TIME})
        sheet = book.add_worksheet("data")
        forms = {pl.Date: book.add_format({"num_format": "yyyy-mm-dd"})}
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        for place, series in enumerate(frame.get_columns()):
            sheet.write_string(0, place, series.name)
            if series.dtype == pl.Date and not (series.dt.year() < 1900).any():
                _write_cells(sheet.write_datetime, series, place, forms[pl.Date])
            elif series.dtype == pl.Datetime and _is_whole_milliseconds(series):
                _write_cells(sheet.write_datetime, series, place, moment)
            elif series.dtype == pl.Boolean:
                _write_cells(sheet.write_boolean, series, place)
            elif series.dtype.is_numeric() and not _is_beyond_double(series):
                numbers = series.cast(pl.Float64).fill_nan(None).to_list()
                _write_cells(sheet.write_number, [n if n is None else _ExactNumber(n) for n in numbers], place)
            else:
                _write_cells(sheet.write_string, as_plain(series.to_frame()).to_series().cast(pl.String), place)
        rows = [row for each in table.attributes for row in _label_rows(each)]
        if rows:
            notes = book.add_worksheet("labels")
            for line, row in enumerate([LABEL_COLUMNS, *rows]):
                for place, cell in enumerate(row):
                    if isinstance(cell, str):
                        notes.write_string(line, place, cell)
                    elif cell is not None:
                        notes.write_number(line, place, cell)
    return buffer.getvalue()


def _label_rows(attribute: Attribute) -> list[tuple[Any, ...]]:
    """The rows of a column in the sheet of labels: its label, the codes of its categories, and those that mean
    missing.
    """

    def row(kind: str, low: Any, high: Any, meaning: str | None) -> tuple[Any, ...]:
        words = isinstance(low, str)
        codes = (None, None, low) if words else (low, None if high == low else high, None)
        return (attribute.name, attribute.label, kind, *codes, meaning)

    kind = attribute.kind.value
    rows = [row(kind, code, code, text) for text, code in attribute.codes if text in attribute.categories]
    if not rows and (attribute.label or attribute.missing_codes):
        rows = [row(kind, None, None, None)]
    return rows + [row(MISSING_ROW, low, high, text or None) for text, low, high in attribute.missing_codes]


class _ExactNumber(float):
    """A number that is written with all its digits; the library asks for sixteen, of which seventeen restore it."""

    def __format__(self, form: str) -> str:
        return repr(float(self))


def _write_cells(write: Any, cells: pl.Series | list[Any], place: int, *form: Any) -> None:
    """Write the cells that are not missing."""
    for row, cell in enumerate(cells, start=1):
        if cell is not None:
            write(row, place, cell, *form)


def _is_whole_milliseconds(series: pl.Series) -> bool:
    """Whether a workbook can hold moments exactly enough to read them again: no zone, from 1900 on, milliseconds."""
    if getattr(series.dtype, "time_zone", None) is not None or (series.dt.year() < 1900).any():
        return False
    return not bool((series.dt.microsecond() % 1000 != 0).any())


def _is_beyond_double(series: pl.Series) -> bool:
    return series.dtype.is_integer() and bool((series.cast(pl.Float64).abs() >= LARGEST_WHOLE).any())
