"""Distinct tuples counted batch by batch, in memory that grows with the tuples and not with the records.

A first pass finds the values of each column. A second pass packs every record into one integer, counts batches and adds
the counts. The streaming group-by of polars needs several times as much memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.table.equivalence_classes import columns_by_key, pack

BATCH = 500_000
"""Records read at a time."""
PENDING = 2_000_000
"""Counted keys kept before they are added."""


def batches(lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The records of a lazy frame in batches, in their order; a batch is read when it is needed.

    Parameters
    ----------
    lazy : polars.LazyFrame

    Yields
    ------
    polars.DataFrame
    """
    yield from lazy.collect_batches(chunk_size=BATCH, maintain_order=True, engine="streaming")


def tally_packed(lazy: pl.LazyFrame, names: Sequence[str], records: str) -> pl.DataFrame | None:
    """Count distinct tuples by packing each record into one integer.

    Parameters
    ----------
    lazy : polars.LazyFrame
    names : sequence of str
    records : str
        Name of the column of counts.

    Returns
    -------
    polars.DataFrame or None
        Tuples in order, missing first, and their counts; None if tuples do not fit into one integer or the type of a
        column has no order.
    """
    schema = lazy.collect_schema()
    if not all(_orderable(schema[name]) for name in names):
        return None
    chosen = lazy.select(pl.col(names)).with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None))
    values = [_values(chosen, name) for name in names]
    if len(columns_by_key(_radices(values))) > 1:
        return None
    counted, waiting = pl.DataFrame(schema={"key": pl.Int64, records: pl.Int64}), list[pl.DataFrame]()
    for batch in batches(chosen):
        waiting.append(pl.DataFrame({"key": _packed(batch, values)}).group_by("key").agg(_length(records)))
        if sum(map(len, waiting)) > max(PENDING, len(counted)):
            counted, waiting = _summed([counted, *waiting], records), []
    counted = _summed([counted, *waiting], records).sort("key")
    return pl.DataFrame([*_unpacked(counted["key"].to_numpy(), values), counted[records]])


def _orderable(dtype: pl.DataType) -> bool:
    return dtype == pl.String or dtype == pl.Boolean or dtype.is_integer() or dtype.is_float() or dtype == pl.Date


def _values(lazy: pl.LazyFrame, name: str) -> pl.Series:
    """The values of a column, sorted, without missing."""
    return lazy.select(pl.col(name).unique()).collect(engine="streaming")[name].drop_nulls().sort()


def _length(records: str) -> pl.Expr:
    return pl.len().cast(pl.Int64).alias(records)


def _summed(parts: Sequence[pl.DataFrame], records: str) -> pl.DataFrame:
    return pl.concat(parts).group_by("key").agg(pl.col(records).sum())


def _packed(batch: pl.DataFrame, values: Sequence[pl.Series]) -> NDArray[np.int64]:
    return pack(len(batch), [_codes(batch[each.name], each) for each in values], _radices(values))


def _radices(values: Sequence[pl.Series]) -> list[int]:
    return [len(each) + 1 for each in values]


def _codes(series: pl.Series, values: pl.Series) -> NDArray[np.int64]:
    """1, 2, … in the order of values; 0 is missing."""
    if series.dtype == pl.String:
        found = series.cast(pl.Enum(values)).to_physical().cast(pl.Int64) + 1
        return found.fill_null(0).to_numpy()
    places = values.to_physical().cast(_wide(values)).search_sorted(series.to_physical().cast(_wide(values)))
    return np.where(series.is_null().to_numpy(), 0, places.to_numpy().astype(np.int64) + 1)


def _wide(values: pl.Series) -> type[pl.DataType]:
    """The type in which values are looked up; Boolean values as integers."""
    return pl.Float64 if values.dtype.is_float() else pl.UInt64 if values.dtype == pl.UInt64 else pl.Int64


def _unpacked(key: NDArray[np.int64], values: Sequence[pl.Series]) -> list[pl.Series]:
    columns = []
    for each in reversed(values):
        key, code = np.divmod(key, len(each) + 1)
        place = pl.Series(code.astype(np.int64) - 1)
        columns.append(each.gather(place.set(place < 0, None)).alias(each.name))
    return columns[::-1]
