"""What a file holds beside its table."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from crypsis.audits.finding import Finding, FindingKind
from crypsis.errors import TableError

EXPECTED = ("ARROW:schema",)
"""Entries of a Parquet file that describe its columns and nothing else."""


def metadata(file: Path) -> list[Finding]:
    """Entries in the metadata of a Parquet file beside the types of its columns.

    Parameters
    ----------
    file : Path
        A published file; text files have no metadata.

    Returns
    -------
    list of Finding
        One, whose `columns` are the names of the entries, or none.
    """
    if file.suffix != ".parquet":
        return []
    try:
        entries = pl.read_parquet_metadata(file)
    except (OSError, pl.exceptions.PolarsError):
        raise TableError(f"{file.name}: its metadata cannot be read; write the file again") from None
    odd = tuple(sorted(name for name in entries if name not in EXPECTED))
    return [Finding(FindingKind.METADATA, odd, 0, 0.0)] if odd else []
