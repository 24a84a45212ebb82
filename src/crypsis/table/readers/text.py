"""Text files: CSV, TSV and other delimited text; encoding and delimiter are found out and said."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from crypsis.errors import TableError, name_reading
from crypsis.table.encoding import Source
from crypsis.table.readers.formats import WRITTEN, Contents, Input, ReadOptions, readers, writers
from crypsis.table.text_files import NAMES, Delimited, decode_text, find_encoding

if TYPE_CHECKING:
    from crypsis.table.table import Table

TEXT = (".csv", ".tsv", ".tab", ".txt")
TABBED = (".tsv", ".tab")
USUAL = ("utf8", "utf-8", "utf_8", "utf-8-sig")


@readers.add(*TEXT, what="a text file", takes=WRITTEN | {"delimiter", "encoding"})
def read_text_file(file: Input, options: ReadOptions) -> Contents:
    """Every column as text, with the delimiter and encoding that were given or found out."""
    content = file.read(text=True)
    encoding = options.encoding or find_encoding(content)
    if options.encoding is None and encoding in ("cp1252", "latin-1"):
        _refuse_binary(content, file.shown)
    table = Delimited.split(decode_text(content, file.shown, encoding), file.shown, options.delimiter or "", file.name)
    said = []
    if options.encoding is None and encoding not in USUAL:
        why = "it begins like that" if encoding.startswith("utf-16") else "it is not valid UTF-8"
        said.append(
            f"the encoding is read as {encoding}, as {why}; if letters look wrong, name another, e.g. "
            f"{name_reading('encoding', 'latin-1')}"
        )
    if options.delimiter is None and table.delimiter not in (",", "\t"):
        said.append(f"cells are separated by a {NAMES.get(table.delimiter, table.delimiter)}")
    if table.row_names:
        said.append(
            f"the first column has no name in the file, as row names have none; it is called {table.names[0]!r}"
        )
    texts = table.texts()
    return Contents(
        texts,
        Source(file.name if file.content is None else file.path.name, table.line_of),
        frozenset(texts.columns),
        tuple(f"{file.path.name}: {each}" for each in said),
        replace(options, delimiter=table.delimiter, encoding=encoding),
        bare_missing=table.bare_missing,
        quotes_missing=table.quotes_missing,
    )


def _refuse_binary(content: bytes, shown: str) -> None:
    """Refuse bytes that no text holds, before an encoding is guessed that takes any byte."""
    head = content[: 1 << 16]
    strange = sum(head.count(bytes([byte])) for byte in range(32) if byte not in (9, 10, 12, 13, 26))
    if strange > len(head) / 100:
        raise TableError(f"{shown} holds bytes that no text has; give a CSV file, or name the file by its format")


# -- writing --

FORMULA = r"^'*[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
"""Start of a cell that a spreadsheet would read as a formula, full-width signs included, or that was made safe.

Each gets one apostrophe more, so that removing one restores the text."""


@writers.add(*TEXT, what="a text file")
def write_text_file(table: Table, frame: pl.DataFrame, suffix: str) -> bytes:
    """Delimited text; a missing value is an empty cell."""
    buffer = io.BytesIO()
    as_plain(frame).write_csv(buffer, separator="\t" if suffix in TABBED else ",")
    return buffer.getvalue()


def _moment_form(moments: pl.Series) -> str:
    """How moments are written, as people do: days alone where all are midnights, seconds without a row of zeros."""
    if getattr(moments.dtype, "time_zone", None) is not None or (moments.dt.nanosecond() != 0).any():
        return "iso:strict"
    midnights = moments.null_count() < len(moments) and not (moments.dt.truncate("1d") != moments).any()
    return "%Y-%m-%d" if midnights else "%Y-%m-%dT%H:%M:%S"


def as_plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Every column in a form that CSV can hold."""
    columns = []
    for series in frame.get_columns():
        if series.dtype.is_float():
            series = series.fill_nan(None)
        elif series.dtype == pl.Datetime:
            series = series.dt.to_string(_moment_form(series))
        elif series.dtype in (pl.Categorical, pl.Enum):
            series = series.cast(pl.String)
        elif series.dtype.is_nested() or series.dtype in (pl.Duration, pl.Binary, pl.Object):
            raise TableError(
                f"column {series.name!r} is a {series.dtype} and CSV cannot hold it; write .parquet, or drop it"
            )
        columns.append(series)
    return pl.DataFrame(columns)


def guard_text_file(frame: pl.DataFrame) -> pl.DataFrame:
    """Before a CSV or other text file is written: put an apostrophe before what spreadsheets read as formula."""
    columns = [
        _guard_texts(series.cast(pl.String)) if series.dtype in (pl.String, pl.Categorical, pl.Enum) else series
        for series in frame.get_columns()
    ]
    names = _guard_texts(pl.Series([series.name for series in columns], dtype=pl.String))
    return pl.DataFrame([series.alias(name) for series, name in zip(columns, names, strict=True)])


def _guard_texts(texts: pl.Series) -> pl.Series:
    """Put an apostrophe before each text that a spreadsheet would evaluate."""
    return texts.zip_with(~texts.str.contains(FORMULA).fill_null(False), "'" + texts)
