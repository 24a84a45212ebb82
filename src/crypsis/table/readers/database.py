"""Databases: a table or a query of a DuckDB or SQLite file, opened for reading alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from crypsis.errors import HOW_READ, TableError, find_repeated, listing, word
from crypsis.table.encoding import Source
from crypsis.table.readers.formats import (
    TYPED,
    WRITTEN,
    Contents,
    Input,
    ReadOptions,
    import_format_extra,
    most_rows,
    read_head,
    readers,
    refuse_boundless_format,
)

DUCKDB = (".duckdb", ".ddb")
SQLITE = (".sqlite", ".sqlite3", ".db")
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
"""What a query of SQLite may do."""
HELD = 4
"""Cells as Python holds them take so many times the memory of those in columns."""
SQLITE_MAGIC = b"SQLite format 3\0"


def _choose_table(tables: Sequence[str], shown: str) -> str:
    """The query that reads the only table."""
    if not tables:
        raise TableError(f"{shown} holds no table; give a database with one, or another file")
    if len(tables) > 1:
        first = tables[0]
        one = word(
            python=f'query="select * from {first}"', command=f"--table {first}", studio=f"table {first}, {HOW_READ}"
        )
        raise TableError(f"{shown} holds {len(tables)} tables: {listing(map(repr, tables))}; choose one, e.g. {one}")
    quoted = tables[0].replace('"', '""')
    return f'select * from "{quoted}"'


def _refuse_query(shown: str, reason: str) -> TableError:
    return TableError(f"{shown}: the query {reason}; give one select that reads from its tables")


def _refuse_repeated(names: Sequence[str], shown: str) -> None:
    twice = find_repeated(names)
    if twice:
        raise TableError(f"{shown}: two columns share a name: {listing(map(repr, twice))}; rename one in the query")


# -- DuckDB --


@readers.add(*DUCKDB, what="a DuckDB database", takes=TYPED | {"query"})
def read_duckdb(file: Input, options: ReadOptions) -> Contents:
    """The only table, or the result of one select; nothing outside the file can be reached."""
    duckdb = import_format_extra("duckdb", "database", file.shown, "a DuckDB database")
    closed = {
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "lock_configuration": True,
    }
    with file.on_disk() as path:
        try:
            opened = duckdb.connect(str(path), read_only=True, config=closed)
        except duckdb.Error:
            raise TableError(
                f"{file.shown} is not a readable DuckDB database, or another program has it open; close it there, or "
                f"export the table as Parquet"
            ) from None
        with closing(opened) as database:
            tables = [
                name if schema == "main" else f"{schema}.{name}"
                for schema, name in database.execute(
                    "select table_schema, table_name from information_schema.tables order by 1, 2"
                ).fetchall()
            ]
            query = options.query or _choose_table(tables, file.shown)
            frame = _query_duckdb(duckdb, database, query, tables, file.shown)
    return Contents(frame, Source(file.path.name), found=options)


def _query_duckdb(duckdb: Any, database: Any, query: str, tables: Sequence[str], shown: str) -> pl.DataFrame:
    try:
        statements = database.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise _refuse_query(shown, "does more than read")
        text = statements[0].query.strip().rstrip(";")
        asked = database.sql(text)
        _refuse_repeated(asked.columns, shown)
        limit = most_rows(len(asked.columns))
        found = database.execute(f"select count(*) from (select 1 from ({text}) limit {limit + 1})").fetchall()[0]
        refuse_boundless_format(int(found[0]), len(asked.columns), shown)
        frame = pl.from_arrow(asked.to_arrow_table())
    except duckdb.Error:
        raise _refuse_query(shown, f"fails; the tables are {listing(map(repr, tables))}") from None
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(
        *(
            _plain_types(series)
            for series in frame.get_columns()
            if series.dtype in (pl.Decimal, pl.Categorical, pl.Enum)
        )
    )


def _plain_types(series: pl.Series) -> pl.Series:
    """Decimals as floats, and categories whose order is not declared as text."""
    return series.cast(pl.Float64) if series.dtype == pl.Decimal else series.cast(pl.String)


# -- SQLite --


@readers.add(*SQLITE, what="an SQLite database", takes=WRITTEN | {"query"}, magic=(SQLITE_MAGIC,))
def read_sqlite(file: Input, options: ReadOptions) -> Contents:
    """The only table, or the result of one select; anything else is denied by the database itself."""
    with file.on_disk() as path:
        if not read_head(path).startswith(SQLITE_MAGIC):
            if readers.of(file.name) and path.suffix.lower() == ".db" and read_head(path)[8:12] == b"DUCK":
                raise TableError(f"{file.shown} is a DuckDB database; rename it to end in .duckdb")
            raise TableError(f"{file.shown} is no SQLite database; check the file, or export the table as CSV")
        try:
            names, rows = _query_sqlite(path, options.query, file.shown)
        except sqlite3.DatabaseError as error:
            if "prohibited" in str(error) or "not authorized" in str(error) or "readonly" in str(error):
                raise _refuse_query(file.shown, "does more than read") from None
            if options.query is None or "malformed" in str(error) or "locked" in str(error):
                raise TableError(
                    f"{file.shown} is damaged or in use by another program; close it there, or export the table as CSV"
                ) from None
            raise _refuse_query(file.shown, "fails") from None
        except UnicodeDecodeError:
            raise TableError(f"{file.shown} is damaged; export the table as CSV") from None
        except (sqlite3.Warning, sqlite3.Error):
            raise _refuse_query(file.shown, "is more than one statement or fails") from None
    _refuse_repeated(names, file.shown)
    columns = [_column(name, [row[place] for row in rows], file.shown) for place, name in enumerate(names)]
    frame = pl.DataFrame(columns)
    written = frozenset(column.name for column in columns if column.dtype == pl.String)
    return Contents(frame, Source(file.path.name), written, found=options)


def _query_sqlite(path: Path, query: str | None, shown: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)) as database:
        database.execute("pragma query_only = on")
        database.execute("pragma trusted_schema = off")
        listed = (
            "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'"
        )
        tables = [str(row[0]) for row in database.execute(f"{listed} order by 1")]
        chosen = query or _choose_table(tables, shown)
        database.set_authorizer(_authorise)
        asked = database.execute(chosen)
        if asked.description is None:
            raise _refuse_query(shown, "gives no table")
        names = [str(column[0]) for column in asked.description]
        limit = most_rows(HELD * len(names))
        rows = asked.fetchmany(limit + 1)
        if len(rows) > limit:
            refuse_boundless_format(HELD * len(rows), len(names), shown)
    return names, rows


def _authorise(action: int, first: str | None, second: str | None, *_: object) -> int:
    """Allow reading alone; a function that loads code or reads files is denied."""
    loads = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in ("load_extension", "readfile", "writefile")
    return sqlite3.SQLITE_OK if action in ALLOWED and not loads else sqlite3.SQLITE_DENY


def _column(name: str, cells: list[Any], shown: str) -> pl.Series:
    """The cells of a column, whose types SQLite does not fix: numbers where all are, text otherwise."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if bytes in kinds:
        raise TableError(f"{shown}, column {name!r}: it holds binary data; leave it out with a query")
    if kinds and kinds <= {int}:
        if all(-(2**63) <= cell < 2**63 for cell in cells if cell is not None):
            return pl.Series(name, cells, dtype=pl.Int64)
    elif kinds and kinds <= {int, float}:
        return pl.Series(name, [None if cell is None else float(cell) for cell in cells], dtype=pl.Float64)
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells], dtype=pl.String)
