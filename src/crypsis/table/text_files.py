"""Delimited text, read strictly, and the bytes and encodings of files."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import PlanError, TableError, find_repeated, listing, name_reading

# -- The bytes of a file, read once and completely, and text in any encoding.

CHUNK = 1 << 24
"""Bytes without a line break after which a file is no text with records."""
PIECE = 1 << 16
SEQUENCE = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}")
"""Letters of several bytes in UTF-8, which hardly occur in texts of other encodings."""


def read_text_file_bytes(path: Path, text: bool = False) -> bytes:
    """Read the bytes of a file, of any encoding; folders, devices and text with an endless line are refused.

    `text`: whether it must be text: one with an endless line is refused before it is read.
    """
    if path.is_dir():
        raise TableError(f"{path} is a folder, not a file; give the path of a file inside it")
    try:
        with path.open("rb") as file:
            before = os.fstat(file.fileno())
            if stat.S_ISCHR(before.st_mode) or stat.S_ISBLK(before.st_mode):
                raise TableError(f"{path} is a device, not a file; give the path of a file")
            if text and stat.S_ISREG(before.st_mode):
                _refuse_endless_line(file, before.st_size, path)
            content = file.read()
            after = os.fstat(file.fileno())
    except FileNotFoundError:
        near = f"; the folder {path.parent} does not exist" if not path.parent.exists() else ""
        raise TableError(f"there is no file {path}{near}; check the path") from None
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise TableError(f"{path} cannot be read ({reason}); check its permissions") from None
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if stat.S_ISREG(after.st_mode) and (not same or len(content) != after.st_size):
        raise TableError(f"{path} changed while it was read; wait until it is written, then try again")
    if not content or content.isspace():
        raise TableError(f"{path} is empty; give a file with a header line and at least one record")
    return content


def read_text(path: Path, encoding: str = "utf8") -> bytes:
    """Read a text file as UTF-8 with line feeds, without a byte order mark."""
    return decode_text(read_text_file_bytes(path, text=True), str(path), encoding)


def find_encoding(content: bytes) -> str:
    """The encoding of a text: by its byte order mark, utf8 where it is valid, else that of Windows or latin-1.

    A text that is UTF-8 in part is called utf8, so that the line where it is not is refused.

    >>> find_encoding("Köln".encode("cp1252"))
    'cp1252'
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = np.frombuffer(content[:PIECE], dtype=np.uint8)
    for start, codec in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(head) > 3 and np.mean(head[start::2] == 0) > 0.4 and np.mean(head[1 - start :: 2] == 0) < 0.1:
            return codec
    if content.isascii():
        return "utf8"
    parts = content.startswith(codecs.BOM_UTF8) or SEQUENCE.search(content)
    for codec in ("utf8",) if parts else ("utf8", "cp1252"):
        with suppress(UnicodeDecodeError):
            content.decode(codec)
            return codec
    return "utf8" if parts else "latin-1"


def decode_text(content: bytes, shown: str, encoding: str) -> bytes:
    """The text as UTF-8 with line feeds, without a byte order mark."""
    try:
        codec = codecs.lookup(encoding).name
        "".encode(codec)
    except LookupError:
        raise TableError(
            f"{encoding!r} is no known encoding; use for example utf8, latin-1, cp1252 or utf-16"
        ) from None
    mark = len(codecs.BOM_UTF8) if codec == "utf-8" and content.startswith(codecs.BOM_UTF8) else 0
    content = content[mark:]
    try:
        text = content.decode(codec)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        hint = found if (found := find_encoding(content)) != encoding else "latin-1"
        raise TableError(
            f"{shown}, line {line}: byte {mark + error.start} is not valid {encoding}; save the file as UTF-8, or "
            f"name its encoding: {name_reading('encoding', hint)}"
        ) from None
    if codec != "utf-8":
        content = text.removeprefix("\ufeff").encode(errors="replace")
    nul = content.find(b"\0")
    if nul >= 0:
        line = content.count(b"\n", 0, nul) + 1
        raise TableError(
            f"{shown}, line {line}: a NUL byte (byte {mark + nul}) does not belong in a text file; export the data as "
            f"plain CSV, or name the encoding if it is utf-16"
        )
    if b"\n" not in content and b"\r" in content:
        content = content.replace(b"\r", b"\n")
    return content


def _refuse_endless_line(file: BinaryIO, size: int, path: Path) -> None:
    """Refuse a line longer than `CHUNK`: it is no table, and reading it would need many times its size."""
    for start in range(0, size - CHUNK + 1, CHUNK):
        file.seek(start)
        if not any(b"\n" in piece or b"\r" in piece for piece in _pieces(file, CHUNK)):
            file.seek(0)
            line = sum(piece.count(b"\n") for piece in _pieces(file, start)) + 1
            raise TableError(
                f"{path}, line {line}: the line is longer than {CHUNK >> 20} MB, which no table needs; give a text "
                f"file with one record a line, or a Parquet file"
            )
    file.seek(0)


def _pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The next bytes of a file in small pieces."""
    while size > 0 and (piece := file.read(min(size, PIECE))):
        size -= len(piece)
        yield piece


def read_toml(path: Path, what: str, remedy: str) -> dict[str, Any]:
    """Read a text file that is a TOML document, strictly and in UTF-8."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: the {what} cannot be read ({type(error).__name__}); it must be UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{path}: not valid TOML: {error}; {remedy}") from None


# -- Delimited text, read strictly: a message names the line of a problem, never its content.

BREAK, RETURN, QUOTE = 10, 13, 34
DELIMITERS = (",", ";", "\t", "|")
WIDEST = 20_000
"""Largest number of columns; a file with more is usually a transposed matrix."""
NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def sniff_text_file_delimiter(content: bytes, path: str | Path) -> str:
    """Delimited text read strictly: find the delimiter, a tab for .tsv, else what the first line uses most."""
    if Path(path).suffix.lower() in (".tsv", ".tab"):
        return "\t"
    first = content[: content.find(b"\n") + 1 or len(content)].decode(errors="replace")
    unquoted = "".join(first.split('"')[::2])
    return max(DELIMITERS, key=lambda mark: (unquoted.count(mark), mark == ","))


def records(content: bytes, delimiter: str, path: str | Path, first_line: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Split text into records."""
    csv.field_size_limit(max(csv.field_size_limit(), len(content) + 1))
    reader = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=delimiter, strict=True)
    start = first_line
    try:
        for fields in reader:
            yield start, fields
            start = first_line + reader.line_num
    except csv.Error as error:
        found = "a quotation mark is never closed" if "end of data" in str(error) else "quotation marks do not match"
        raise TableError(
            f"{path}, line {start}: {found}; enclose a field that holds quotation marks in them and double those inside"
        ) from None


@dataclass(frozen=True)
class Delimited:
    """A delimited file."""

    path: str | Path  # how messages call it
    names: list[str]  # names of its columns
    body: bytes  # text below the header
    delimiter: str
    body_line: int  # line on which the body starts
    row_names: bool = False  # whether its first column has no name in the file

    @classmethod
    def open(cls, path: Path, delimiter: str | None, encoding: str) -> Delimited:
        """Read a file and its header.

        `delimiter`: found by `sniff_text_file_delimiter` unless given.
        """
        return cls.split(read_text(path, encoding), path, delimiter or "", path.name)

    @classmethod
    def split(cls, content: bytes, shown: str | Path, delimiter: str, name: str) -> Delimited:
        """Split a text into header and body.

        `delimiter`: found by `sniff_text_file_delimiter` if empty; `name`: of the file, whose suffix may tell it.
        """
        mark = delimiter or sniff_text_file_delimiter(content, name)
        if len(mark) != 1 or mark in '"\n\r':
            raise TableError(f"the delimiter is {mark!r}; it must be one character such as ',' ';' or a tab")
        names, size, line = _header(content, mark, shown)
        body = content[size:]
        unnamed = not names[0]
        if not unnamed and content[:1] == body[:1] == b'"':
            # R's write.table: the row names, in quotation marks, have no name in the header
            counts, orderly = _counts_per_line(body.rstrip(b"\r\n") + b"\n", mark)
            unnamed = orderly and bool((counts == len(names)).all())
            names = ["", *names] if unnamed else names
        if unnamed:
            names = [next(n for n in ("row", "row_name", "row_name_of_file") if n not in names), *names[1:]]
        if len(names) > 1:
            body = body.rstrip(b"\r\n") + b"\n"
        if not body or (len(names) > 1 and not body.strip()):
            raise TableError(f"{shown} has a header but no records; give at least one line of data below it")
        return cls(shown, names, body, mark, line, unnamed)

    @property
    def bare_missing(self) -> str:
        """NA where it stands without quotation marks and all text has them, as R writes it; else nothing."""
        if b'"' not in self.body or b"NA" not in self.body:
            return ""
        mark = re.escape(self.delimiter.encode())
        start, end = rb"(^|[\n" + mark + rb"])", rb"(?=[\r\n" + mark + rb"])"
        quoted, bare = re.search(start + b'"', self.body), re.search(start + b"NA" + end, self.body)
        if not quoted or not bare:
            return ""
        if re.search(start + b'"NA"' + end, self.body):
            return ""
        text = re.search(start + rb"(?!(NA|NaN|-?Inf|TRUE|FALSE)" + end + rb")[A-Za-z]+" + end, self.body)
        return "" if text else "NA"

    @property
    def quotes_missing(self) -> bool:
        """Whether NA occurs in quotation marks, where it is a text."""
        if b'"NA"' not in self.body:
            return False
        mark = re.escape(self.delimiter.encode())
        return bool(re.search(rb"(^|[\n" + mark + rb'])"NA"[\r\n' + mark + rb"]", self.body))

    @cached_property
    def one_line_each(self) -> bool:
        """Whether every record is on one line, without a line break inside quotation marks."""
        if b'"' not in self.body:
            return True
        counts, orderly = _counts_per_line(self.body, self.delimiter)
        return orderly and len(counts) == self.body.count(b"\n")

    def line_of(self, row: int) -> int:
        """Line of the file on which a record starts."""
        if self.one_line_each:
            return self.body_line + row
        for place, (line, _) in enumerate(records(self.body, self.delimiter, self.path, self.body_line)):
            if place == row:
                return line
        return self.body_line

    def texts(self) -> pl.DataFrame:
        """Every column as text; an empty cell without quotation marks is null."""
        counts, orderly = _counts_per_line(self.body, self.delimiter)
        suspicious = not orderly or bool((counts != len(self.names) - 1).any())
        if suspicious:
            self._refuse_ragged()
        schema = dict.fromkeys(self.names, pl.String)
        if not suspicious:
            try:
                return pl.read_csv(
                    io.BytesIO(self.body), has_header=False, schema=schema, separator=self.delimiter, infer_schema=False
                )
            except pl.exceptions.PolarsError:
                self._refuse_ragged()
        # A quotation mark inside a field without enclosing ones: only the slower reader keeps it.
        rows = [[cell or None for cell in fields] for _, fields in records(self.body, self.delimiter, self.path)]
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _refuse_ragged(self) -> None:
        width = len(self.names)
        for line, fields in records(self.body, self.delimiter, self.path, self.body_line):
            if len(fields) != width and not (width == 1 and not fields):
                found = (
                    "the line is blank" if not fields else f"the record has {len(fields)} field{'s'[: len(fields) > 1]}"
                )
                raise TableError(
                    f"{self.path}, line {line}: {found} where the header names {width}; every record needs {width} "
                    f"fields separated by a {NAMES.get(self.delimiter, self.delimiter)}, so correct the line"
                )


def _header(content: bytes, delimiter: str, path: str | Path) -> tuple[list[str], int, int]:
    """Column names, bytes of the header line, and the line after it."""
    size, lines, quotes = 0, 0, 0
    while size < len(content) and (lines == 0 or quotes % 2):
        end = content.find(b"\n", size)
        after = len(content) if end < 0 else end + 1
        quotes += content.count(b'"', size, after)
        size, lines = after, lines + 1
    names = next((fields for _, fields in records(content[:size], delimiter, path)), [])
    if not any(name.strip() for name in names):
        raise TableError(f"{path}, line 1: the first line is blank; it must name the columns")
    for place, name in enumerate(names, start=1):
        if not name.strip() and (place > 1 or name):
            raise TableError(f"{path}, line 1: column {place} has no name; give every column a name")
    if len(names) > WIDEST:
        raise TableError(f"{path}, line 1: the header names {message_for_wide_text(len(names))}")
    twice = find_repeated(names)
    if twice:
        raise TableError(
            f"{path}, line 1: two columns share a name: {listing(map(repr, twice))}; give every column its own"
        )
    return names, size, lines + 1


def message_for_wide_text(columns: int) -> str:
    """The message for delimited text, or any other file, that has too many columns."""
    return (
        f"{columns} columns and at most {WIDEST} can be treated; leave out columns that no analysis needs, or "
        f"transpose the table so that people are rows"
    )


def _counts_per_line(body: bytes, delimiter: str) -> tuple[NDArray[np.int64], bool]:
    """Number of delimiters outside quotation marks in each record, and whether all quotation marks are regular.

    A quotation mark may open a field, close it, or be doubled inside one. Otherwise the counts have no meaning and the
    file needs the slower reader.
    """
    cells = np.frombuffer(body if body.endswith(b"\n") else body + b"\n", dtype=np.uint8)
    quoted = b'"' in body
    mark, inside, carry, orderly = ord(delimiter), False, 0, True
    parts = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(cells), CHUNK):
        chunk = cells[start : start + CHUNK]
        marks, breaks = chunk == mark, chunk == BREAK
        if quoted:
            quotes = chunk == QUOTE
            within = np.logical_xor.accumulate(quotes) ^ inside
            inside = bool(within[-1])
            orderly = orderly and _orderly(cells, np.flatnonzero(quotes) + start, within[quotes], mark)
            marks &= ~within
            breaks &= ~within
        # delimiters before each break, then differences: the count of each record
        parts.append(np.searchsorted(np.flatnonzero(marks), np.flatnonzero(breaks)) + carry)
        carry += int(np.count_nonzero(marks))
    total = np.concatenate(parts).astype(np.int64)
    return total - np.concatenate(([0], total[:-1])), orderly and not inside


def _orderly(cells: NDArray[np.uint8], places: NDArray[np.int64], opens: NDArray[np.bool_], mark: int) -> bool:
    """Whether quotation marks open after a delimiter, line break or quotation mark, and close before one."""
    opening, closing = places[opens], places[~opens]
    before = cells[opening[opening > 0] - 1]
    after = cells[closing + 1]  # the last cell is a break, so there is always one
    return bool(np.isin(before, (mark, BREAK, QUOTE)).all() and np.isin(after, (mark, BREAK, RETURN, QUOTE)).all())
