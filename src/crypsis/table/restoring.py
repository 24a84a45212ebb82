"""From numbers and codes back to cells of the frame they came from, in its own types."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.table.attribute import Attribute
from crypsis.table.hierarchy import MISSING

INTEGER_LIMIT = float(2**63)


def labelled(codes: NDArray[np.int32], labels: tuple[str, ...], name: str) -> pl.Series:
    """Text of each code; missing is null."""
    words = pl.Series(name, list(labels), dtype=pl.String)
    places = pl.Series(codes).cast(pl.Int64)
    return words.gather(places.set(places == MISSING, None)).alias(name)


def numbered(values: NDArray[np.float64], attribute: Attribute, like: Any = None) -> pl.Series:
    """Numbers as a polars series: dates as dates, whole numbers as integers where `like` (a dtype) was one.

    Without `like`, numbers that are all whole become Int64. A type that cannot hold the values gives way to Float64.
    """
    plain = pl.Series(attribute.name, values).fill_nan(None)
    if attribute.dates == "date":
        return plain.round(0).cast(pl.Int32).cast(pl.Date)
    if attribute.dates == "datetime":
        moments = (plain * 1e6).round(0).cast(pl.Int64).cast(pl.Datetime("us"))
        return _zoned(moments, like)
    if like is None or like.is_integer():
        return _whole(plain, like or pl.Int64())
    if like == pl.Float32 and bool((plain == plain.cast(pl.Float32).cast(pl.Float64)).fill_null(True).all()):
        return plain.cast(pl.Float32)
    return plain


def _zoned(moments: pl.Series, like: Any) -> pl.Series:
    if like is None or like != pl.Datetime:
        return moments
    timed = moments.cast(pl.Datetime(like.time_unit))
    return timed.dt.replace_time_zone("UTC").dt.convert_time_zone(like.time_zone) if like.time_zone else timed


def _whole(numbers: pl.Series, dtype: Any) -> pl.Series:
    """As integers of the given type if every number is whole and fits, else unchanged."""
    whole = bool(((numbers == numbers.round(0)) & (numbers.abs() < INTEGER_LIMIT)).fill_null(True).all())
    if not whole:
        return numbers
    cast = numbers.cast(pl.Int64).cast(dtype, strict=False)
    return cast if cast.null_count() == numbers.null_count() else numbers


# -- cell by cell from the frame itself --


def rows_to_gather(
    codes: NDArray[np.int32], collected: NDArray[np.int32], categories: int
) -> tuple[NDArray[np.int64], bool]:
    """For each masked code a row of the collected column that holds it, and whether all could be found.

    A cell missing before and after points at itself, so that it comes back as the missing it was. A cell newly
    missing points at some missing cell, or nowhere (−1) if there is none.
    """
    rows = np.arange(len(codes), dtype=np.int64)
    first = np.full(categories + 1, -1, dtype=np.int64)
    first[collected[::-1]] = rows[::-1]  # code −1 lands on the last place
    wanted = first[codes]
    still = codes == collected
    wanted[still] = rows[still]
    return wanted, bool(np.all((wanted >= 0) | (codes == MISSING)))


def gathered(native: Any, wanted: NDArray[np.int64], backend: str) -> Any:
    """Cells of a native series at the wanted rows; −1 becomes a missing value of the same type where it has one."""
    hole = wanted < 0
    if backend == "polars":
        places = pl.Series(wanted)
        return native.gather(places.set(pl.Series(hole), None))
    if backend == "pyarrow":
        import pyarrow as pa

        return native.take(pa.array(wanted, mask=hole))
    taken = native.iloc[np.maximum(wanted, 0)].set_axis(native.index)
    if not hole.any():
        return taken
    if taken.dtype.kind in "iu" and isinstance(taken.dtype, np.dtype):
        taken = taken.astype(taken.dtype.name.replace("int", "Int").replace("u", "U"))
    elif taken.dtype == np.bool_:
        taken = taken.astype("boolean")
    return taken.mask(hole)


# -- into the frame's own library --


def to_native(fresh: pl.Series, native: Any, backend: str) -> Any:
    """A restored polars series as a column of the frame's library, with the missing kinds of the native one."""
    if backend == "pandas":
        return _to_pandas(fresh, native)
    collected = native if backend == "polars" else pl.Series(fresh.name, native.combine_chunks())
    if collected.dtype.is_float() and fresh.dtype.is_float():
        nan = fresh.is_null() & collected.is_nan().fill_null(False)
        if nan.any():
            fresh = fresh.set(nan, float("nan"))
    if backend == "polars":
        return fresh
    import pyarrow as pa

    arrow = fresh.to_arrow()
    return pa.chunked_array([arrow.cast(_arrow_type(arrow.type, native.type))])


def _arrow_type(fresh: Any, native: Any) -> Any:
    """The native type when it is of the fresh one's family, else the fresh one in its plain form."""
    import pyarrow as pa

    family = [pa.types.is_integer, pa.types.is_floating, pa.types.is_date, pa.types.is_timestamp, _is_text]
    for member in family:
        if member(fresh) and member(native):
            return native if not pa.types.is_float16(native) else fresh
    return pa.string() if _is_text(fresh) else fresh


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _to_pandas(fresh: pl.Series, native: Any) -> Any:
    """A pandas series with the index of the native one, in its dtype where that can hold the values."""
    import pandas as pd

    dtype, index, name = native.dtype, native.index, native.name
    holes = fresh.null_count() > 0
    objects = bool(dtype == np.dtype(object))
    if fresh.dtype == pl.String or objects:
        return pd.Series(fresh.to_list(), index=index, name=name, dtype=object if objects else None)
    arrow = isinstance(dtype, pd.ArrowDtype)
    nullable = isinstance(dtype, pd.api.extensions.ExtensionDtype) and not arrow
    if fresh.dtype.is_integer():
        whole = pd.Series(fresh.to_list(), dtype="Int64", index=index, name=name)
        if holes and not (nullable or arrow):
            return whole.astype(dtype.name.replace("int", "Int").replace("u", "U"))
        return whole.astype(dtype)
    if fresh.dtype.is_float():
        numbers = pd.Series(fresh.to_numpy(), index=index, name=name)
        if arrow:
            return pd.Series(pd.array(fresh.to_list(), dtype=_arrow_float(dtype)), index=index, name=name)
        if nullable:
            return numbers.astype("Float32" if fresh.dtype == pl.Float32 else "Float64")
        return numbers
    moments = pd.Series(fresh.to_pandas().to_numpy(), index=index, name=name)
    if arrow:
        return pd.Series(pd.array(fresh.to_list(), dtype=dtype), index=index, name=name)
    if getattr(dtype, "tz", None) is not None:
        naive = fresh.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        moments = pd.Series(naive.to_numpy(), index=index, name=name).dt.tz_localize("UTC").dt.tz_convert(dtype.tz)
    return moments.astype(dtype)


def _arrow_float(dtype: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    return dtype if pa.types.is_floating(dtype.pyarrow_dtype) else pd.ArrowDtype(pa.float64())
