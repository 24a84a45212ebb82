"""Readers and writers of files, by suffix: text, Parquet, Excel, SPSS, Stata, SAS, DuckDB, SQLite, gz and zip."""

from crypsis.table.readers.formats import ReadOptions, readers, writers

__all__ = ["ReadOptions", "readers", "writers"]
