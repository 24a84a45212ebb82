"""Parquet files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from crypsis.errors import TableError
from crypsis.table.attribute import Kind
from crypsis.table.encoding import Source
from crypsis.table.readers.formats import TYPED, Contents, Input, ReadOptions, readers, refuse_boundless_format, writers

if TYPE_CHECKING:
    from crypsis.table.table import Table

PARQUET = (".parquet", ".pq")


@readers.add(*PARQUET, what="a Parquet file", takes=TYPED, magic=(b"PAR1",))
def read_parquet(file: Input, options: ReadOptions) -> Contents:
    """The columns with their types."""
    content = file.read()
    try:
        claimed = pl.scan_parquet(io.BytesIO(content))
        columns = len(claimed.collect_schema())
        refuse_boundless_format(int(claimed.select(pl.len()).collect().item()), columns, file.shown)
        frame = pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise TableError(f"{file.shown} is not a readable Parquet file; write it again, or give a CSV file") from None
    return Contents(frame, Source(file.path.name), found=options)


@writers.add(*PARQUET, what="a Parquet file")
def write_parquet(table: Table, frame: pl.DataFrame, suffix: str) -> bytes:
    """The columns with their types."""
    buffer = io.BytesIO()
    unordered = {a.name for a in table.attributes if a.codes and a.kind is Kind.NOMINAL}
    frame = frame.with_columns(
        series.cast(pl.Categorical)  # an Enum would be read as ordered
        for series in frame.get_columns()
        if series.dtype == pl.Enum and series.name in unordered
    )
    frame.write_parquet(buffer)
    return buffer.getvalue()
