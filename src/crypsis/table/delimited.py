"""Delimited text, read strictly: a message names the line of a problem, never its content."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import TableError, listing, repeated
from crypsis.table.raw_files import CHUNK, read_text

BREAK, RETURN, QUOTE = 10, 13, 34
DELIMITERS = (",", ";", "\t", "|")
WIDEST = 20_000
"""Largest number of columns; a file with more is usually a transposed matrix."""
NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def sniff(content: bytes, path: Path) -> str:
    """Find the delimiter: a tab for .tsv, else the one the first line uses most.

    content  content of the file
    """
    if path.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    first = content[: content.find(b"\n") + 1 or len(content)].decode(errors="replace")
    unquoted = "".join(first.split('"')[::2])
    return max(DELIMITERS, key=lambda mark: (unquoted.count(mark), mark == ","))


def records(content: bytes, delimiter: str, path: Path, first_line: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Split text into records.

    Parameters
    ----------
    content : bytes
        UTF-8 text.
    delimiter : str
        Between the fields.
    path : Path
        The file, for messages.
    first_line : int
        Number of the first line.

    Yields
    ------
    line : int
        Line on which the record starts.
    fields : list of str
        Its fields; none for a blank line.

    Raises
    ------
    TableError
        If quotation marks do not match.
    """
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
    """A delimited file.

    names  names of its columns
    body  text below the header
    body_line  line on which the body starts
    """

    path: Path
    names: list[str]
    body: bytes
    delimiter: str
    body_line: int

    @classmethod
    def open(cls, path: Path, delimiter: str | None, encoding: str) -> Delimited:
        """Read a file and its header.

        Parameters
        ----------
        path : Path
        delimiter : str or None
            Found by `sniff` unless given.
        encoding : str
            Encoding of the file.

        Returns
        -------
        Delimited

        Raises
        ------
        TableError
            If the header is unusable or there are no records.
        """
        content = read_text(path, encoding)
        mark = delimiter or sniff(content, path)
        if len(mark) != 1 or mark in '"\n\r':
            raise TableError(f"the delimiter is {mark!r}; it must be one character such as ',' ';' or a tab")
        names, size, line = _header(content, mark, path)
        body = content[size:]
        if len(names) > 1:
            body = body.rstrip(b"\r\n") + b"\n"
        if not body or (len(names) > 1 and not body.strip()):
            raise TableError(f"{path} has a header but no records; give at least one line of data below it")
        return cls(path, names, body, mark, line)

    @cached_property
    def one_line_each(self) -> bool:
        """Whether every record is on one line, without a line break inside quotation marks."""
        if b'"' not in self.body:
            return True
        counts, orderly = _counts_per_line(self.body, self.delimiter)
        return orderly and len(counts) == self.body.count(b"\n")

    def line_of(self, row: int) -> int:
        """Line of the file on which a record starts.

        Parameters
        ----------
        row : int
            Number of the record from 0.

        Returns
        -------
        int
        """
        if self.one_line_each:
            return self.body_line + row
        for place, (line, _) in enumerate(records(self.body, self.delimiter, self.path, self.body_line)):
            if place == row:
                return line
        return self.body_line

    def texts(self) -> pl.DataFrame:
        """Every column as text; an empty cell without quotation marks is null.

        Returns
        -------
        polars.DataFrame

        Raises
        ------
        TableError
            If a record has too few or too many fields; the message names its line.
        """
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


def _header(content: bytes, delimiter: str, path: Path) -> tuple[list[str], int, int]:
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
        if not name.strip():
            raise TableError(f"{path}, line 1: column {place} has no name; give every column a name")
    if len(names) > WIDEST:
        raise TableError(f"{path}, line 1: the header names {too_wide(len(names))}")
    twice = repeated(names)
    if twice:
        raise TableError(
            f"{path}, line 1: two columns share a name: {listing(map(repr, twice))}; give every column its own"
        )
    return names, size, lines + 1


def too_wide(columns: int) -> str:
    """The message for a file with too many columns."""
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
