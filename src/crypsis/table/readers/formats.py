"""Formats of files: which function reads or writes files of a suffix, what it is told, and what it hands back."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from crypsis.errors import TableError, listing
from crypsis.table.encoding import Source
from crypsis.table.text_files import WIDEST, message_for_wide_text, read_text_file_bytes

if TYPE_CHECKING:
    import polars as pl

    from crypsis.table.table import Table

# -- Memory: a file that claims more than there is is refused before it is read.

CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""File with the memory limit of a container; 'max' if it has none."""
CELL = 32
"""Approximate bytes of a cell while a file is read: as read, as kept, and in between."""


def memory_for_formats() -> int:
    """Bytes of memory that a reader of any file format has: the least limit of machine, container, process."""
    limits = []
    with suppress(ImportError, AttributeError):  # Windows has neither
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
        if allowed != resource.RLIM_INFINITY:
            limits.append(allowed)
    with suppress(OSError, ValueError):
        limits.append(int(CONTAINER.read_text(encoding="ascii")))
    return min(limits, default=sys.maxsize)


def refuse_boundless_format(rows: int, columns: int, shown: str) -> None:
    """For readers of every file format: refuse a table that needs more memory than there is, before reading."""
    if columns > WIDEST:
        raise TableError(f"{shown} has {message_for_wide_text(columns)}")
    needed, there = CELL * rows * columns, memory_for_formats()
    if needed > there:
        size = f"{rows} records of {columns} column{'s'[: columns != 1]}"
        raise TableError(
            f"{shown} claims {size}, which need {needed / 1e9:.0f} GB of memory and {there / 1e9:.0f} GB are "
            f"available; give a sample of it, or fewer columns"
        )


def most_rows(columns: int) -> int:
    """Records of so many columns that fit in memory."""
    return max(memory_for_formats() // (CELL * max(columns, 1)), 1)


# -- What a reader is told.

OPTION_WORDS = {
    "delimiter": "a delimiter", "encoding": "an encoding", "decimal": "a decimal mark", "thousands": "a thousands mark",
    "dates": "date forms", "missing": "missing-value markers", "sheet": "sheets", "query": "a query",
}  # fmt: skip


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read; what is None is found out from the file."""

    delimiter: str | None = None  # one character between the cells of a line
    encoding: str | None = None  # of a text file
    decimal: str | None = None  # "." or ","
    thousands: str | None = None  # ".", ",", " ", "'" or "" for none
    dates: tuple[str, ...] | None = None  # forms such as "dd.mm.yyyy"; () for ISO dates alone
    missing: tuple[str, ...] | None = None  # markers; an empty cell is always missing
    sheet: str | int | None = None  # name or number, from 1, of the sheet of a workbook
    query: str | None = None  # SQL that only reads

    def given(self) -> dict[str, Any]:
        """The options that are not None, by name."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in found.items() if value is not None}


TYPED = frozenset({"missing"})
"""Options of files whose columns have types."""
WRITTEN = TYPED | {"decimal", "thousands", "dates"}
"""Options of files whose cells may be text that writes numbers and dates."""


# -- What a reader hands back.


@dataclass(frozen=True)
class ColumnLabels:
    """What a file says of a column besides its values."""

    label: str = ""  # what the column is, in words
    codes: Mapping[float | str, str] = field(default_factory=dict)  # label by code
    missing: tuple[tuple[Any, Any], ...] = ()  # lowest and highest code of each range that means missing
    ordered: bool = False  # whether the order of the codes has a meaning
    measured: bool = False  # whether the file says that the numbers are measurements
    spelt: bool = False  # whether the cells are the labels and not the codes


@dataclass(frozen=True)
class Contents:
    """The table in a file, as its reader found it."""

    frame: pl.DataFrame
    source: Source
    texts: frozenset[str] = frozenset()  # columns of text whose types are found out from their cells
    notes: tuple[str, ...] = ()  # what was found out, in sentences
    found: ReadOptions = ReadOptions()  # the options given, and those found out
    labels: Mapping[str, ColumnLabels] = field(default_factory=dict)
    bare_missing: str = ""  # marker that stands without quotation marks where all text has them
    quotes_missing: bool = False  # whether the same marker also stands in quotation marks, where it is a text


@dataclass(frozen=True)
class Input:
    """A file to read: on disk, or unpacked from another."""

    path: Path  # file on disk, named in messages
    name: str  # name of the table's file; that of the member where it was unpacked
    content: bytes | None = None  # bytes, where they were unpacked

    @classmethod
    def of(cls, path: Path) -> Input:
        """A file on disk."""
        return cls(path, path.name)

    @property
    def shown(self) -> str:
        """How messages call the file."""
        return str(self.path) if self.content is None else f"{self.path} ({self.name})"

    def read(self, text: bool = False) -> bytes:
        """All bytes; a text with an endless line is refused."""
        return read_text_file_bytes(self.path, text) if self.content is None else self.content

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """A path with the bytes, for libraries that read only from disk; removed afterwards where it was unpacked."""
        if self.content is None:
            read_head(self.path)  # says why a file cannot be read
            yield self.path
            return
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / Path(self.name).name
            place.write_bytes(self.content)
            yield place


def read_head(path: Path, size: int = 4096) -> bytes:
    """The first bytes of a file; refused with a sentence where it is none, cannot be read or is empty."""
    if not path.is_file() or not os.access(path, os.R_OK):
        return read_text_file_bytes(path)[:size]
    with path.open("rb") as file:
        head = file.read(size)
    return head or read_text_file_bytes(path)


# -- The registries.

READ_FROM = ("text", "parquet", "excel", "statistical", "database", "compressed")
"""Modules of this package that add readers and writers."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Format(Generic[F]):
    """A function that reads or writes files, and what they are."""

    call: F
    suffixes: tuple[str, ...]
    what: str  # "an Excel workbook"
    takes: frozenset[str] = frozenset()  # names of the options it obeys
    magic: tuple[bytes, ...] = ()  # what such files begin with


class Formats(Generic[F]):
    """Formats by suffix, in the order of the modules that add them.

    >>> from crypsis.table.readers import readers
    >>> readers.of("survey.SAV").what
    'an SPSS file'
    """

    def __init__(self) -> None:
        self._formats: list[Format[F]] = []

    def add(
        self, *suffixes: str, what: str, takes: frozenset[str] = frozenset(), magic: tuple[bytes, ...] = ()
    ) -> Callable[[F], F]:
        """Decorate a function to register it for some suffixes."""

        def register(call: F) -> F:
            taken = {suffix for each in self._formats for suffix in each.suffixes}
            if taken & set(suffixes):
                raise ValueError(f"{listing(sorted(taken & set(suffixes)))} registered twice")
            self._formats.append(Format(call, suffixes, what, takes, magic))
            return call

        return register

    def __iter__(self) -> Iterator[Format[F]]:
        for module in READ_FROM:
            import_module(f"crypsis.table.readers.{module}")
        return iter(sorted(self._formats, key=lambda each: READ_FROM.index(each.call.__module__.rpartition(".")[2])))

    def suffixes(self) -> tuple[str, ...]:
        """All suffixes."""
        return tuple(suffix for each in self for suffix in each.suffixes)

    def of(self, name: str | Path) -> Format[F] | None:
        """The format of a file by the end of its name; None if no suffix fits."""
        low = str(name).lower()
        return next((each for each in self if low.endswith(each.suffixes)), None)

    def suffix_of(self, name: str | Path) -> str:
        """The registered suffix of a file, such as .csv.gz; empty if none fits."""
        low = str(name).lower()
        return next((suffix for suffix in self.suffixes() if low.endswith(suffix)), "")

    def beginning(self, head: bytes) -> Format[F] | None:
        """The format of a file by its first bytes; None if none fits."""
        return next((each for each in self if each.magic and head.startswith(each.magic)), None)


Reader = Callable[[Input, ReadOptions], Contents]
Writer = Callable[["Table", "pl.DataFrame", str], bytes]
readers: Formats[Reader] = Formats()
"""Functions that read files."""
writers: Formats[Writer] = Formats()
"""Functions that write tables: the table, its frame and the suffix, as bytes."""
WrittenFormat = Literal["csv", "csv.gz", "parquet", "xlsx", "sav", "dta", "xpt"]
"""Formats of released data: the first suffix of every writer."""
RETURNED: dict[str, WrittenFormat] = {
    ".gz": "csv.gz", ".xlsx": "xlsx", ".xlsm": "xlsx", ".xls": "xlsx", ".sav": "sav", ".zsav": "sav", ".por": "sav",
    ".dta": "dta", ".xpt": "xpt", ".sas7bdat": "xpt", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
"""The format in which a custodian who brings a file of this suffix gets one back; csv for all others."""


def format_returned(name: str | Path) -> WrittenFormat:
    """The format of a release of a file: that of the file where it is written, its successor, or csv.

    >>> format_returned("survey.sas7bdat"), format_returned("people.tsv")
    ('xpt', 'csv')
    """
    return RETURNED.get(Path(name).suffix.lower(), "csv")


def refuse_options(chosen: Format[Reader], options: ReadOptions, shown: str) -> None:
    """Refuse an option that a format cannot obey."""
    for name in options.given():
        if name not in chosen.takes:
            raise TableError(f"{shown} is {chosen.what} and has no use for {OPTION_WORDS[name]}; leave {name} out")


def require_extra(module: str, extra: str, shown: str, what: str) -> None:
    """Refuse a file whose library is not installed, with the name of the extra that installs it."""
    if find_spec(module) is None:
        raise TableError(
            f'{shown} is {what}, which needs the extra {extra!r}; install it with pip install "crypsis[{extra}]"'
        )


def import_format_extra(module: str, extra: str, shown: str, what: str) -> Any:
    """For a file format, import the library that reads or writes it; refuse with its extra where absent."""
    require_extra(module, extra, shown, what)
    return import_module(module)
