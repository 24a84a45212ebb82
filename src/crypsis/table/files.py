"""Tables and hierarchies in files."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import narwhals.stable.v2 as nw
import polars as pl

from crypsis.errors import TableError
from crypsis.table.atomic_files import atomic_folder, write_atomically
from crypsis.table.attribute import Role, read_role
from crypsis.table.builders import read_hierarchy
from crypsis.table.encoding import Source, without_signed_zeros
from crypsis.table.frames import Frame, Hierarchies, Kinds, as_table, table_of
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.inference import infer_types
from crypsis.table.restoring import to_frame
from crypsis.table.table import Table
from crypsis.table.text_files import WIDEST, Delimited, read_bytes, too_wide

CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""File with the memory limit of a container; 'max' if it has none."""


def memory() -> int:
    """Bytes of memory: of machine, container or process limit, whichever is least; no limit where none is known."""
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


# -- Tables and hierarchies in files.

PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".tsv", ".tab", ".txt")
FOREIGN = {
    ".xlsx": "an Excel workbook", ".xls": "an Excel workbook", ".ods": "a spreadsheet", ".sav": "an SPSS file",
    ".dta": "a Stata file", ".sas7bdat": "a SAS file", ".rds": "a file of R", ".rda": "a file of R",
    ".feather": "a Feather file", ".json": "a JSON file",
}  # fmt: skip
"""Files that people have and no reader reads, by their suffix."""
CELL = 32
"""Approximate bytes of a cell while a file is read: as read, as kept, and in between."""
FORMULA = r"^'*[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
"""Start of a cell that a spreadsheet would read as a formula, full-width signs included, or that was made safe.

Each gets one apostrophe more, so that removing one restores the text."""


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
    """Read a CSV, TSV or Parquet file as a table.

    Parameters
    ----------
    path : path
    roles : mapping of str to str, optional
        "identifier", "quasi", "confidential", "weight", "household", "stratum" or "other" by column;
        "undecided" by default.
    kinds : mapping of str to str or sequence of str, optional
        "numeric", "ordinal" or "nominal" by column, or its categories from low to high; by default read from the
        values.
    hierarchies : mapping of str to Hierarchy, str or path, optional
        By column: a Hierarchy, a builder such as "intervals:5,10,20", or the path of a file.
    delimiter : str, optional
        By default a tab for .tsv, else the one the header uses most.
    encoding : str
        Encoding of a text file.
    missing : sequence of str
        Missing-value markers; an empty cell without quotation marks is always missing.
    masked : bool
        The file has masked values: columns may be constant or empty.

    Returns
    -------
    Table
        One attribute and one column for each column of the file.

    Raises
    ------
    TableError
        If the file cannot be read; the message names line and column.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_text("age,sex\\n31,f\\n47,m\\n")
    ...     crypsis.read_table(file, roles={"age": "quasi"}).quasi_identifiers
    ['age']
    """
    path = Path(path)
    chosen = {name: read_role(role, name) for name, role in (roles or {}).items()}
    kinds, hierarchies = kinds or {}, hierarchies or {}
    if path.suffix.lower() in PARQUET:
        frame = _read_parquet(path)
        source = Source(path.name)
        return table_of(frame, chosen, kinds, hierarchies, source, masked)
    if path.suffix.lower() in FOREIGN and path.is_file():
        what = FOREIGN[path.suffix.lower()]
        raise TableError(f"{path} is {what}, which Crypsis does not read; save the table as CSV, TSV or Parquet")
    if path.suffix.lower() not in TEXT and path.exists() and read_bytes(path)[:4] == b"PAR1":
        raise TableError(f"{path} is a Parquet file with another suffix; rename it to end in .parquet")
    file = Delimited.open(path, delimiter, encoding)
    source = Source(path.name, file.line_of)
    texts = file.texts()
    frame, notes = infer_types(texts, _known(chosen, texts), kinds, tuple(missing), source)
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
    """Refuse a Parquet file whose records need more memory than there is, before they are read."""
    claimed = pl.scan_parquet(io.BytesIO(content))
    columns = len(claimed.collect_schema())
    if columns > WIDEST:
        raise TableError(f"{path} has {too_wide(columns)}")
    rows = int(claimed.select(pl.len()).collect().item())
    needed, there = CELL * rows * columns, memory()
    if needed > there:
        size = f"{rows} records of {columns} column{'s'[: columns != 1]}"
        raise TableError(
            f"{path} claims {size}, which need {needed / 1e9:.0f} GB of memory and {there / 1e9:.0f} GB are available; "
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
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     crypsis.write_table(crypsis.example(5), f"{folder}/people.csv").name
    'people.csv'
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (*PARQUET, *TEXT):
        raise TableError(f"{path} ends in {suffix or 'nothing'!r}; a table is written to .csv, .tsv or .parquet")
    # The floats of an object column of pandas are known only after the conversion.
    frame = nw.from_native(to_frame(as_table(table)), eager_only=True).to_polars()
    frame = frame.with_columns(map(without_signed_zeros, frame.get_columns()))
    buffer = io.BytesIO()
    if suffix in PARQUET:
        frame.write_parquet(buffer)
    else:
        _plain(frame, spreadsheet_safe).write_csv(buffer, separator="\t" if suffix in (".tsv", ".tab") else ",")
    write_atomically(path, buffer.getvalue(), mode=0o600 if private else 0o644)
    return path


def _moment_form(moments: pl.Series) -> str:
    """How moments are written, as people do: days alone where all are midnights, seconds without a row of zeros."""
    if getattr(moments.dtype, "time_zone", None) is not None or (moments.dt.nanosecond() != 0).any():
        return "iso:strict"
    midnights = moments.null_count() < len(moments) and not (moments.dt.truncate("1d") != moments).any()
    return "%Y-%m-%d" if midnights else "%Y-%m-%dT%H:%M:%S"


def _plain(frame: pl.DataFrame, spreadsheet_safe: bool) -> pl.DataFrame:
    """Every column in a form CSV can hold; missing is an empty cell."""
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
        if spreadsheet_safe and series.dtype == pl.String:
            series = _guard_texts(series)
        columns.append(series)
    names = pl.Series([series.name for series in columns], dtype=pl.String)
    if spreadsheet_safe:
        names = _guard_texts(names)
    return pl.DataFrame([series.alias(name) for series, name in zip(columns, names, strict=True)])


def _guard_texts(texts: pl.Series) -> pl.Series:
    """Put an apostrophe before each text that a spreadsheet would evaluate."""
    return texts.zip_with(~texts.str.contains(FORMULA).fill_null(False), "'" + texts)


# -- hierarchies --


def write_hierarchy(hierarchy: Hierarchy, path: str | Path, *, delimiter: str = ",") -> Path:
    """Write a hierarchy with a header level0, level1, … and one row per value.

    Raises
    ------
    TableError
        If the path exists or cannot be written.
    """
    columns = {
        f"level{level}": [labels[code] for code in groups]
        for level, (groups, labels) in enumerate(zip(hierarchy.groups, hierarchy.labels, strict=True))
    }
    buffer = io.BytesIO()
    pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).write_csv(buffer, separator=delimiter)
    write_atomically(Path(path), buffer.getvalue())
    return Path(path)


__all__ = ["atomic_folder", "read_hierarchy", "read_table", "write_atomically", "write_hierarchy", "write_table"]
