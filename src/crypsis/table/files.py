"""Tables and hierarchies in files."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import narwhals.stable.v2 as nw
import polars as pl

from crypsis.errors import TableError, listing
from crypsis.table.atomic_files import atomic_folder, write_atomically
from crypsis.table.attribute import read_role
from crypsis.table.builders import read_hierarchy
from crypsis.table.encoding import encode_series_zeros
from crypsis.table.frames import Frame, Hierarchies, Kinds, Origin, as_table, table_of, to_frame
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.inference import infer_column_types
from crypsis.table.readers.formats import Format, Input, ReadOptions, read_head, readers, refuse_options, writers
from crypsis.table.table import Table

if TYPE_CHECKING:
    from crypsis.table.readers.formats import Contents, Reader

FOREIGN = {
    ".ods": "a spreadsheet", ".xlsb": "a binary workbook", ".rds": "a file of R", ".rda": "a file of R",
    ".rdata": "a file of R", ".feather": "a Feather file", ".json": "a JSON file", ".mdb": "an Access database",
    ".accdb": "an Access database", ".sas7bcat": "a catalogue of SAS", ".bz2": "a bz2 file", ".xz": "an xz file",
    ".7z": "a 7z file", ".tar": "a tar file", ".tgz": "a tar file",
}  # fmt: skip
"""Files that people have and no reader reads, by their suffix."""


# -- tables --


def read_table(
    path: str | Path,
    roles: Mapping[str, str] | None = None,
    kinds: Kinds | None = None,
    hierarchies: Hierarchies | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    masked: bool = False,
    *,
    decimal: str | None = None,
    thousands: str | None = None,
    dates: Sequence[str] | None = None,
    sheet: str | int | None = None,
    query: str | None = None,
) -> Table:
    """Read a file as a table: text, Parquet, Excel, SPSS, Stata, SAS, DuckDB or SQLite, by its suffix.

    What an option does not say is found out from the file, and the notes of the table say what was found.

    Parameters
    ----------
    path : path
        A text or Parquet file may be inside a gz or zip file.
    roles : mapping of str to str, optional
        "identifier", "quasi", "confidential", "weight", "household", "stratum" or "other" by column;
        "undecided" by default.
    kinds : mapping of str to str or sequence of str, optional
        "numeric", "ordinal" or "nominal" by column, or its categories from low to high; by default read from the
        values.
    hierarchies : mapping of str to Hierarchy, str or path, optional
        By column: a Hierarchy, a builder such as "intervals:5,10,20", or the path of a file.
    delimiter : str, optional
        Of a text file; by default a tab for .tsv, else the one the header uses most.
    encoding : str, optional
        Of a text file; by default UTF-8 or UTF-16, else that of Windows.
    missing : sequence of str, optional
        Missing-value markers; an empty cell without quotation marks is always missing. By default NA and its like in
        columns of numbers and dates, and where they are clearly markers.
    masked : bool
        The file has masked values: columns may be constant or empty.
    decimal : {".", ","}, optional
        Decimal mark of numbers that are written as text.
    thousands : {"", ".", ",", " ", "'"}, optional
        Thousands mark of such numbers.
    dates : sequence of str, optional
        Forms of dates that are written as text, such as "dd.mm.yyyy" or "mm/dd/yyyy".
    sheet : str or int, optional
        Sheet of a workbook, by name or by number from 1.
    query : str, optional
        A select that is put to a database, which is opened for reading alone.

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
    given = ReadOptions(delimiter, encoding, decimal, thousands, _tuple(dates), _tuple(missing), sheet, query or None)
    chosen = {name: read_role(role, name) for name, role in (roles or {}).items()}
    kinds, hierarchies = kinds or {}, hierarchies or {}
    contents = _read_contents(path, given)
    frame, source, notes, found = contents.frame, contents.source, list(contents.notes), contents.found
    where = source.name or path.name
    if contents.texts:
        from crypsis.table.readers.notation import rewrite_cells

        texts = frame.select(series for series in frame.get_columns() if series.name in contents.texts)
        rewritten, said, found = rewrite_cells(
            texts, kinds, found, where, contents.bare_missing, contents.quotes_missing
        )
        known = {name: role for name, role in chosen.items() if name in contents.texts}
        typed, remarks = infer_column_types(rewritten, known, kinds, (), source)
        frame = frame.with_columns(typed.get_columns())
        notes += [*said, *remarks]
    elif given.missing:
        frame = frame.with_columns(
            series.set(series.is_in(list(given.missing)).fill_null(False), None)
            for series in frame.get_columns()
            if series.dtype == pl.String
        )
    settled = dict(kinds)
    if contents.labels:
        from crypsis.table.readers.statistical import apply_labels

        frame, coded, said = apply_labels(frame, contents.labels, kinds, where)
        settled, notes = {**coded, **settled}, [*notes, *said]
    table = table_of(frame, chosen, settled, hierarchies, source, masked)
    if contents.labels:
        from crypsis.table.readers.statistical import labelled_attribute

        labelled = {name: labelled_attribute(table.attribute(name), each) for name, each in contents.labels.items()}
        table = table.with_columns({}, attributes=labelled)
    origin = replace(table.origin, read_with=found) if isinstance(table.origin, Origin) else table.origin
    return replace(table, origin=origin, notes=(*notes, *table.notes))


def _tuple(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if texts is None else ((texts,) if isinstance(texts, str) else tuple(texts))


def _read_contents(path: Path, options: ReadOptions) -> Contents:
    """The cells of a file by the reader of its suffix; what its suffix or first bytes contradict is refused."""
    chosen = readers.of(path.name)
    if chosen is None:
        what = next((what for suffix, what in FOREIGN.items() if path.name.lower().endswith(suffix)), "")
        if what and path.is_file():
            raise TableError(
                f"{path} is {what}, which Crypsis does not read; save the table as CSV, Parquet, Excel or SPSS"
            )
    text = readers.of("table.csv")
    assert text is not None
    if (chosen is None or chosen is text) and path.is_file():
        _refuse_disguised(path)
    chosen = chosen or text
    refuse_options(chosen, options, str(path))
    return chosen.call(Input.of(path), options)


def _refuse_disguised(path: Path) -> None:
    """Refuse a file whose first bytes say that it is not the text its name promises."""
    head = read_head(path)
    real: Format[Reader] | None = readers.beginning(head)
    if real is not None:
        raise TableError(f"{path} is {real.what} with another suffix; rename it to end in {real.suffixes[0]}")
    if head.startswith(b"PK\x03\x04"):
        raise TableError(f"{path} is a zip file or a workbook with another suffix; rename it to end in .zip or .xlsx")
    if head[8:12] == b"DUCK":
        raise TableError(f"{path} is a DuckDB database with another suffix; rename it to end in .duckdb")


def write_table(
    table: Table | Frame, path: str | Path, *, spreadsheet_safe: bool = False, private: bool = False
) -> Path:
    """Write a table as CSV, TSV, Parquet, Excel, SPSS, Stata or SAS, by the suffix of the path.

    Suppressed records are left out. Numbers are written with as many digits as restore them exactly. Variable labels
    and value labels of a table that was read with them are written where the format has them.

    Parameters
    ----------
    table : Table or frame
        What is written.
    path : path
        Ends in .csv, .tsv, .tab, .txt, .csv.gz, .tsv.gz, .parquet, .pq, .xlsx, .sav, .zsav, .dta or .xpt and must not
        exist.
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
    chosen, suffix = writers.of(path.name), writers.suffix_of(path.name)
    if chosen is None:
        known = listing(writers.suffixes(), most=20)
        raise TableError(f"{path} ends in {path.suffix.lower() or 'nothing'!r}; a table is written to {known}")
    # The floats of an object column of pandas are known only after the conversion.
    written = as_table(table)
    frame = nw.from_native(to_frame(written), eager_only=True).to_polars()
    frame = frame.with_columns(map(encode_series_zeros, frame.get_columns()))
    if spreadsheet_safe and chosen in (writers.of("table.csv"), writers.of("table.csv.gz")):
        from crypsis.table.readers.text import guard_text_file

        frame = guard_text_file(frame)
    write_atomically(path, chosen.call(written, frame, suffix), mode=0o600 if private else 0o644)
    return path


# -- hierarchies --


def write_hierarchy_file(hierarchy: Hierarchy, path: str | Path, *, delimiter: str = ",") -> Path:
    """Files of tables and hierarchies: write a hierarchy to a file, one row per value, with a header."""
    columns = {
        f"level{level}": [labels[code] for code in groups]
        for level, (groups, labels) in enumerate(zip(hierarchy.groups, hierarchy.labels, strict=True))
    }
    buffer = io.BytesIO()
    pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).write_csv(buffer, separator=delimiter)
    write_atomically(Path(path), buffer.getvalue())
    return Path(path)


__all__ = ["atomic_folder", "read_hierarchy", "read_table", "write_atomically", "write_hierarchy_file", "write_table"]
