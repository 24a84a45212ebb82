"""Tables and hierarchies in files, and the only place where anything is written to disk.

Whatever is written appears whole or not at all: it is prepared beside its target, forced to the disk and then renamed.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import io
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import narwhals.stable.v2 as nw
import polars as pl

from crypsis.errors import TableError
from crypsis.table.attribute import Role, read_role
from crypsis.table.capacity import memory
from crypsis.table.encoding import Source
from crypsis.table.frames import Frame, Hierarchies, Kinds, as_table, table_of
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.hierarchy_files import read_hierarchy
from crypsis.table.inference import typed
from crypsis.table.restoring import to_frame
from crypsis.table.signed_zeros import without_signed_zeros
from crypsis.table.table import Table
from crypsis.table.text import WIDEST, Delimited, read_bytes, too_wide

__all__ = ["atomic_folder", "read_hierarchy", "read_table", "write_atomically", "write_hierarchy", "write_table"]

PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv", ".tab", ".txt")
UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG})
FRESH = 60.0
"""Seconds for which something written aside is left alone though nobody seems to hold it."""
CELL = 32
"""Bytes a cell takes while a file is read, about: as it is read, as it is kept, and what is worked out in between."""
FORMULA = r"^'*[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
"""How a cell starts that a spreadsheet would take for a formula, full-width signs too, or one that was made safe.

All of these get one apostrophe more, so that taking one away brings the text back."""


# -- tables --


def read_table(
    path: str | Path,
    roles: Mapping[str, str] | None = None,
    kinds: Kinds | None = None,
    hierarchies: Hierarchies | None = None,
    delimiter: str | None = None,
    encoding: str = "utf8",
    missing: Sequence[str] = ("",),
    masked: bool = False,
) -> Table:
    """A CSV, TSV or Parquet file as a table; a file that cannot be used is refused with line and column.

    roles        identifier, quasi, confidential or other, by column (default: other)
    kinds        numeric, ordinal or nominal, or a list of categories from low to high; default: read from the values
    hierarchies  by column: a Hierarchy, a builder such as 'intervals:5,10,20', or the path of a file
    delimiter    default: tab for .tsv, else whichever the header uses
    missing      texts that mean 'not known'; an empty cell without quotation marks always does
    masked       the file is a masked one, in which a column may have become constant or empty
    """
    path = Path(path)
    chosen = {name: read_role(role, name) for name, role in (roles or {}).items()}
    kinds, hierarchies = kinds or {}, hierarchies or {}
    if path.suffix.lower() in PARQUET:
        frame = _read_parquet(path)
        source = Source(path.name)
        return table_of(frame, chosen, kinds, hierarchies, source, masked)
    if path.suffix.lower() not in TEXT and path.exists() and read_bytes(path)[:4] == b"PAR1":
        raise TableError(f"{path} is a Parquet file with another ending; rename it to end in .parquet")
    file = Delimited.open(path, delimiter, encoding)
    source = Source(path.name, file.line_of)
    texts = file.texts()
    frame, notes = typed(texts, _known(chosen, texts), kinds, tuple(missing), source)
    table = table_of(frame, chosen, kinds, hierarchies, source, masked)
    return replace(table, notes=(*notes, *table.notes))


def _known(roles: Mapping[str, Role], texts: pl.DataFrame) -> dict[str, Role]:
    return {name: role for name, role in roles.items() if name in texts.columns}


def _read_parquet(path: Path) -> pl.DataFrame:
    content = read_bytes(path)
    try:
        _refuse_boundless(content, path)
        return pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise TableError(f"{path} is not a readable Parquet file; write it again, or give a CSV file") from None


def _refuse_boundless(content: bytes, path: Path) -> None:
    """A few bytes of Parquet can stand for a billion records, honestly or not: look before room is made for them."""
    claimed = pl.scan_parquet(io.BytesIO(content))
    columns = len(claimed.collect_schema())
    if columns > WIDEST:
        raise TableError(f"{path} has {too_wide(columns)}")
    rows = int(claimed.select(pl.len()).collect().item())
    needed, there = CELL * rows * columns, memory()
    if needed > there:
        size = f"{rows} records of {columns} column{'s'[: columns != 1]}"
        raise TableError(
            f"{path} claims {size}, which need {needed / 1e9:.0f} GB of memory where {there / 1e9:.0f} GB are there; "
            f"give a sample of it, or fewer columns"
        )


def write_table(
    table: Table | Frame, path: str | Path, *, spreadsheet_safe: bool = False, private: bool = False
) -> Path:
    """Write a table as CSV, TSV or Parquet, by the suffix of the path.

    Suppressed records are left out. Numbers are written with as many digits as restore them exactly.

    Parameters
    ----------
    table : Table or frame
        What is written.
    path : path
        Ends in .csv, .tsv, .tab, .txt, .parquet or .pq and must not exist.
    spreadsheet_safe : bool
        Put an apostrophe before text and names that a spreadsheet would read as a formula. The apostrophe stays when
        the file is read again: remove the first one to restore the text.
    private : bool
        Only the owner may read and write the file, whatever the umask.

    Returns
    -------
    Path
        The path written.

    Raises
    ------
    TableError
        If the path exists, its suffix is unknown, or a column cannot be written in its format.

    Examples
    --------
    >>> import tempfile
    >>> import crypsis
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     crypsis.write_table(crypsis.example(5), f"{folder}/people.csv").name
    'people.csv'
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (*PARQUET, *TEXT):
        raise TableError(f"{path} ends in {suffix or 'nothing'!r}; a table is written to .csv, .tsv or .parquet")
    # An object column of pandas shows its floats only here.
    frame = nw.from_native(to_frame(as_table(table)), eager_only=True).to_polars()
    frame = frame.with_columns(map(without_signed_zeros, frame.get_columns()))
    buffer = io.BytesIO()
    if suffix in PARQUET:
        frame.write_parquet(buffer)
    else:
        _plain(frame, spreadsheet_safe).write_csv(buffer, separator="\t" if suffix in (".tsv", ".tab") else ",")
    write_atomically(path, buffer.getvalue(), mode=0o600 if private else 0o666)
    return path


def _plain(frame: pl.DataFrame, spreadsheet_safe: bool) -> pl.DataFrame:
    """Every column in a form CSV can hold; missing is an empty cell."""
    columns = []
    for series in frame.get_columns():
        if series.dtype.is_float():
            series = series.fill_nan(None)
        elif series.dtype == pl.Datetime:
            series = series.dt.to_string("iso:strict")
        elif series.dtype in (pl.Categorical, pl.Enum):
            series = series.cast(pl.String)
        elif series.dtype.is_nested() or series.dtype in (pl.Duration, pl.Binary, pl.Object):
            raise TableError(
                f"column {series.name!r} is a {series.dtype} and CSV cannot hold it; write .parquet, or drop it"
            )
        if spreadsheet_safe and series.dtype == pl.String:
            series = _guarded(series)
        columns.append(series)
    names = pl.Series([series.name for series in columns], dtype=pl.String)
    if spreadsheet_safe:
        names = _guarded(names)
    return pl.DataFrame([series.alias(name) for series, name in zip(columns, names, strict=True)])


def _guarded(texts: pl.Series) -> pl.Series:
    """An apostrophe before whatever a spreadsheet would carry out."""
    return texts.zip_with(~texts.str.contains(FORMULA).fill_null(False), "'" + texts)


# -- hierarchies --


def write_hierarchy(hierarchy: Hierarchy, path: str | Path, *, delimiter: str = ",") -> Path:
    """Write a hierarchy with a header level0, level1, …, one row per value, to a path that must not exist."""
    columns = {
        f"level{level}": [labels[code] for code in groups]
        for level, (groups, labels) in enumerate(zip(hierarchy.groups, hierarchy.labels, strict=True))
    }
    buffer = io.BytesIO()
    pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).write_csv(buffer, separator=delimiter)
    write_atomically(Path(path), buffer.getvalue())
    return Path(path)


# -- atomic writing --


def write_atomically(path: str | Path, content: bytes, *, replace: bool = False, mode: int = 0o666) -> None:
    """Write a file that appears whole or not at all; an existing one is refused unless it may be replaced.

    mode  permissions of the file, less what the umask takes away
    """
    path = Path(path)
    _refuse_existing(path, replace)
    _sweep(path)
    aside = path.parent / f".{path.name}.{secrets.token_hex(8)}.part"
    with _told(path):
        try:
            with os.fdopen(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
                _hold(file.fileno())
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                if replace:
                    aside.replace(path)
                else:
                    _link(aside, path)
        finally:
            aside.unlink(missing_ok=True)
        _sync(path.parent)


def _link(aside: Path, path: Path) -> None:
    """Give the finished file its name, and never overwrite one that appeared meanwhile."""
    try:
        os.link(aside, path)
    except FileExistsError:
        _refuse_existing(path, False)
    except OSError:  # a file system without hard links
        _refuse_existing(path, False)
        aside.rename(path)


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """A folder that appears whole or not at all: work in the folder handed out; it gets its name when all went well.

    Every file and folder is forced to the disk before the rename. On any failure the half-made folder is removed
    and nothing bears the target's name.
    """
    path = Path(path)
    _refuse_existing(path, False)
    _sweep(path)
    with _told(path):
        # Nobody else may look in.
        workshop = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    handle = os.open(workshop, os.O_RDONLY)
    aside = workshop / path.name
    try:
        with _told(path):
            _hold(handle)
            aside.mkdir()
            yield aside
            for folder, _, files in os.walk(aside):
                for name in files:
                    _sync(Path(folder) / name)
                _sync(Path(folder))
            _refuse_existing(path, False)
            aside.rename(path)
            _sync(path.parent)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
        os.close(handle)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """A disk that is full, broken or read-only becomes a sentence; other problems are somebody else's to tell."""
    try:
        yield
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        reason = (error.strerror or "unknown reason").lower()
        raise TableError(
            f"{path} cannot be written ({reason}); nothing was left half-written: make room or choose another folder, "
            f"then try again"
        ) from None


def _hold(handle: int) -> None:
    """Say that somebody works on a file or folder; a file system without locks is no reason not to write."""
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sweep(path: Path) -> None:
    """Remove what a writer of the same path left aside when it was killed; one still at work holds it."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        try:
            handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.time() - os.fstat(handle).st_mtime < FRESH:
                continue
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
        except OSError:
            continue
        finally:
            os.close(handle)


def _refuse_existing(path: Path, replace: bool) -> None:
    if not replace and (path.exists() or path.is_symlink()):
        raise TableError(f"{path} already exists and is never overwritten; choose another path or remove it first")
    if not path.parent.is_dir():
        raise TableError(f"the folder {path.parent} does not exist; make it first or choose another path")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
