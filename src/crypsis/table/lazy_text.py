"""Delimited text that is counted and not read; its cells are typed as those of a table that is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from crypsis.errors import TableError
from crypsis.table.attribute import Role
from crypsis.table.delimited import DELIMITERS
from crypsis.table.encoding import Source
from crypsis.table.frames import Kinds
from crypsis.table.inference import typed

LOOKED_AT = 10_000
"""Records from which the types of columns that are not counted are inferred."""


def scan_text(path: Path, names: Sequence[str], delimiter: str | None, missing: Sequence[str]) -> pl.LazyFrame:
    """Open a CSV or TSV file without reading it; the named columns are text.

    Parameters
    ----------
    path : Path
    names : sequence of str
        Columns that are counted.
    delimiter : str or None
        By default a tab for .tsv, else the one the header uses most.
    missing : sequence of str
        Missing-value markers; an empty cell is always missing.

    Returns
    -------
    polars.LazyFrame

    Raises
    ------
    TableError
        If the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            header = file.readline()
    except FileNotFoundError:
        raise TableError(f"{path} does not exist; give a Parquet or CSV file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path} cannot be read ({type(error).__name__}); counting needs text in UTF-8") from None
    usual = "\t" if path.suffix.lower() in (".tsv", ".tab") else max(DELIMITERS, key=header.count)
    try:
        lazy = pl.scan_csv(
            path,
            separator=delimiter or usual,
            schema_overrides=dict.fromkeys(names, pl.String),
            null_values=[text for text in missing if text],
            infer_schema_length=LOOKED_AT,
        )
        lazy.collect_schema()
        return lazy
    except pl.exceptions.PolarsError:
        raise TableError(f"{path} cannot be read as CSV; write it again, or as Parquet") from None


def typed_counts(
    lazy: pl.LazyFrame, tuples: pl.DataFrame, records: str, roles: Mapping[str, Role], kinds: Kinds, source: Source
) -> tuple[pl.LazyFrame, pl.DataFrame, pl.DataFrame]:
    """Type counted texts: numbers as numbers in the data and in the tuples, dates as dates in the values.

    Parameters
    ----------
    lazy : polars.LazyFrame
        The data, with the counted columns as text.
    tuples : polars.DataFrame
        Distinct tuples of text and their records.
    records : str
        Column of the records.
    roles, kinds : mapping
        What the caller states about columns.
    source : Source
        Where the data come from, for messages.

    Returns
    -------
    lazy : polars.LazyFrame
    tuples : polars.DataFrame
        Dates stay text here, where they are only compared.
    values : polars.DataFrame
        The tuples in the types of a table.

    Raises
    ------
    TableError
        If a cell cannot be read as stated.
    """
    names = [name for name in tuples.columns if name != records]
    meant = typed(tuples.select(names), roles, kinds, (), source)[0].schema
    numbers = [
        pl.col(name).str.strip_chars().str.strip_chars_start("+").cast(dtype)
        for name, dtype in meant.items()
        if dtype.is_numeric()
    ]
    tuples = tuples.with_columns(numbers).group_by(names).agg(pl.col(records).sum()).sort(names)
    texts = tuples.select(name for name in names if tuples.schema[name] == pl.String)
    values = tuples.select(names).with_columns(typed(texts, roles, kinds, (), source)[0].get_columns())
    return lazy.with_columns(numbers), tuples, values
