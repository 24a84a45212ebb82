"""Delimited text that is counted where it lies; what its cells mean is decided as for a table that is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from crypsis.errors import TableError
from crypsis.table.attribute import Role
from crypsis.table.encoding import Source
from crypsis.table.frames import Kinds
from crypsis.table.inference import typed
from crypsis.table.text import DELIMITERS

LOOKED_AT = 10_000
"""Records from which the types of columns nobody counts are guessed."""


def scan_text(path: Path, names: Sequence[str], delimiter: str | None, missing: Sequence[str]) -> pl.LazyFrame:
    """A CSV or TSV file, not read yet; the named columns are text.

    delimiter  default: tab for .tsv, else whichever the header uses most
    missing    texts that mean 'not known'; an empty cell always does
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


def understood(
    lazy: pl.LazyFrame, tuples: pl.DataFrame, records: str, roles: Mapping[str, Role], kinds: Kinds, source: Source
) -> tuple[pl.LazyFrame, pl.DataFrame, pl.DataFrame]:
    """Counted texts as what they mean: the data with numbers as numbers, the tuples likewise, and the tuples' values.

    Dates stay text in the data and in the tuples, where they are only compared, and are dates among the values.
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
