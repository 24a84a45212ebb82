"""Tables back to frames, in the types of the frame they were made from.

A wrapped table keeps its frame. Columns that are not masked are returned as they are, without a copy; masked columns
keep their type wherever that type can hold the masked values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.table.attribute import Attribute
from crypsis.table.encoding import without_signed_zeros
from crypsis.table.frames import Frame, Origin, as_polars, copies_on_write, native_series
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

INTEGER_LIMIT = float(2**63)


def to_frame(table: Table, *, suppressed: Literal["drop", "keep"] = "drop") -> Frame:
    """Return a table as the kind of frame it was made from, or as a polars frame.

    Index, column order, types, categories and columns that were not masked are those of the frame, except that −0.0
    becomes 0.0. Generalised columns are text.

    Parameters
    ----------
    table : Table
    suppressed : {"drop", "keep"}
        Leave suppressed records out, or keep their rows with missing quasi-identifiers.

    Returns
    -------
    Frame

    Raises
    ------
    TableError
        If `suppressed` is neither, or the table has a column that its frame does not have.

    Examples
    --------
    >>> crypsis.to_frame(crypsis.example(3)).shape
    (3, 10)
    """
    if suppressed not in ("drop", "keep"):
        raise TableError(f"suppressed is {suppressed!r}; it may be 'drop' or 'keep'")
    if suppressed == "keep" and not table.kept.all():
        table = _blank_identifiers(table)
    origin = table.origin
    if not isinstance(origin, Origin) or len(origin.columns[0]) != table.rows:
        fresh = pl.DataFrame([_fresh(table, name) for name in table.names])
        return fresh if suppressed == "keep" or table.kept.all() else fresh.filter(pl.Series(table.kept))
    frame = _assemble({name: _with_one_zero(*_restore_column(table, name, origin)) for name in table.names}, origin)
    if suppressed == "keep" or table.kept.all():
        return frame
    if origin.backend == "pandas":
        return frame.loc[table.kept]
    return frame.filter(pl.Series(table.kept) if origin.backend == "polars" else _arrow_mask(table.kept))


def _arrow_mask(kept: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(kept)


def _blank_identifiers(table: Table) -> Table:
    columns = {}
    for name in table.quasi_identifiers:
        column = table.column(name).copy()
        column[~table.kept] = np.nan if table.holds_numbers(name) else MISSING
        columns[name] = column
    return table.with_columns(columns)


def _fresh(table: Table, name: str) -> pl.Series:
    if table.holds_numbers(name):
        return number_series(table.column(name), table.attribute(name))
    return label_codes(table.column(name), table.labels(name), name)


def _restore_column(table: Table, name: str, origin: Origin) -> tuple[bool, Any]:
    """Whether a column changed, and the column as a series of the frame's library."""
    places = {attribute.name: place for place, attribute in enumerate(origin.attributes)}
    if name not in places:
        raise TableError(f"column {name!r} is not in the frame the table was made from; drop it first")
    place = places[name]
    native = native_series(origin.frame, origin.backend, place)
    collected, before = origin.columns[place], origin.attributes[place]
    column, attribute = table.column(name), table.attribute(name)
    alike = column.dtype == collected.dtype and table.level(name) == 0
    if alike and attribute.categories != before.categories:
        column, alike = _in_terms_of(before.categories, attribute.categories, column)
    if alike and np.array_equal(column, collected, equal_nan=column.dtype == np.float64):
        return False, native
    if table.holds_numbers(name):
        like = as_polars(native, origin.backend, name).dtype
        return True, to_native(number_series(column, attribute, like), native, origin.backend)
    if alike:
        wanted, found = rows_to_gather(column, collected, len(before.categories))
        if found:
            return True, gather_cells(native, wanted, origin.backend)
        return True, _declared_cells(column, native, before, origin.backend)
    fresh = label_codes(table.column(name), table.labels(name), name)
    return True, (_word_categories if table.level(name) == 0 else to_native)(fresh, native, origin.backend)


def _with_one_zero(changed: bool, column: Any) -> tuple[bool, Any]:
    """A restored column without −0.0."""
    settled = without_signed_zeros(column)
    return changed or settled is not column, settled


def _in_terms_of(
    before: tuple[str, ...], now: tuple[str, ...], codes: NDArray[np.int32]
) -> tuple[NDArray[np.int32], bool]:
    """Codes by the new categories as codes by the former ones, if those contain every value in use."""
    place = {label: code for code, label in enumerate(before)}
    translate = np.array([*(place.get(label, MISSING) for label in now), MISSING], dtype=np.int32)
    former = translate[codes]
    same = bool(np.array_equal(former == MISSING, codes == MISSING))
    return (former, True) if same else (codes, False)


def _declared_cells(codes: NDArray[np.int32], native: Any, before: Attribute, backend: str) -> Any:
    """Cells of declared categories that no record had."""
    fresh = label_codes(codes, before.categories, before.name)
    if backend == "pandas" and hasattr(native, "cat"):
        import pandas as pd

        return pd.Series(pd.Categorical.from_codes(codes, dtype=native.dtype), index=native.index, name=native.name)
    if backend == "polars" and native.dtype == pl.Enum:
        return fresh.cast(native.dtype)
    return _word_categories(fresh, native, backend)


def _word_categories(fresh: pl.Series, native: Any, backend: str) -> Any:
    """Categories the frame may not hold, as cells of its own type where that takes any category, else as text."""
    if as_polars(native, backend, fresh.name).dtype == pl.Boolean:
        fresh = (fresh == "true").alias(fresh.name)
    if backend == "polars" and native.dtype == pl.Categorical:
        return fresh.cast(native.dtype)
    return to_native(fresh, native, backend)


def _assemble(series: Mapping[str, tuple[bool, Any]], origin: Origin) -> Any:
    if origin.backend == "polars":
        return pl.DataFrame([column.alias(name) for name, (_, column) in series.items()])
    if origin.backend == "pyarrow":
        import pyarrow as pa

        columns = {name: column for name, (_, column) in series.items()}
        return pa.table(columns).replace_schema_metadata(origin.frame.schema.metadata)
    places = [place for place, attribute in enumerate(origin.attributes) if attribute.name in series]
    frame = origin.frame.iloc[:, places].copy(deep=not copies_on_write())
    for new, place in enumerate(places):
        changed, column = series[origin.attributes[place].name]
        if changed:
            frame.isetitem(new, column)
    return frame


# -- one column --


def label_codes(codes: NDArray[np.int32], labels: tuple[str, ...], name: str) -> pl.Series:
    """The label of each code as a polars series; a missing value is null."""
    texts = pl.Series(name, list(labels), dtype=pl.String)
    places = pl.Series(codes).cast(pl.Int64)
    return texts.gather(places.set(places == MISSING, None)).alias(name)


def number_series(values: NDArray[np.float64], attribute: Attribute, like: Any = None) -> pl.Series:
    """Numbers as a polars series: dates as dates, and integers where they fit.

    Parameters
    ----------
    values : float64[n]
        The numbers; NaN is missing.
    attribute : Attribute
        Name of the column, and whether its numbers are dates.
    like : polars dtype, optional
        Type the column had; by default whole numbers become Int64. A type that cannot hold the values becomes Float64.

    Returns
    -------
    polars.Series
    """
    plain = pl.Series(attribute.name, values).fill_nan(None)
    if attribute.dates == "date":
        return plain.round(0).cast(pl.Int32).cast(pl.Date)
    if attribute.dates == "datetime":
        moments = (plain * 1e6).round(0).cast(pl.Int64).cast(pl.Datetime("us"))
        return _apply_zone(moments, like)
    if like is None or like.is_integer():
        return _as_integers(plain, like or pl.Int64())
    if like == pl.Float32 and bool((plain == plain.cast(pl.Float32).cast(pl.Float64)).fill_null(True).all()):
        return plain.cast(pl.Float32)
    return plain


def _apply_zone(moments: pl.Series, like: Any) -> pl.Series:
    if like is None or like != pl.Datetime:
        return moments
    timed = moments.cast(pl.Datetime(like.time_unit))
    return timed.dt.replace_time_zone("UTC").dt.convert_time_zone(like.time_zone) if like.time_zone else timed


def _as_integers(numbers: pl.Series, dtype: Any) -> pl.Series:
    """As integers of the given type if every number is whole and fits, else unchanged."""
    whole = bool(((numbers == numbers.round(0)) & (numbers.abs() < INTEGER_LIMIT)).fill_null(True).all())
    if not whole:
        return numbers
    cast = numbers.cast(pl.Int64).cast(dtype, strict=False)
    return cast if cast.null_count() == numbers.null_count() else numbers


# -- cells of the frame itself --


def rows_to_gather(
    codes: NDArray[np.int32], collected: NDArray[np.int32], categories: int
) -> tuple[NDArray[np.int64], bool]:
    """For each masked code a row of the original column that has it.

    Parameters
    ----------
    codes, collected : int32[n]
        Masked and original codes.
    categories : int
        Number of categories.

    Returns
    -------
    rows : int64[n]
        A cell missing before and after refers to itself, so that the kind of missing value stays. A cell that is newly
        missing refers to some missing cell, or to none (−1).
    found : bool
        Whether every code has a row.
    """
    rows = np.arange(len(codes), dtype=np.int64)
    first = np.full(categories + 1, -1, dtype=np.int64)
    first[collected[::-1]] = rows[::-1]  # code −1 lands on the last place
    wanted = first[codes]
    still = codes == collected
    wanted[still] = rows[still]
    return wanted, bool(np.all((wanted >= 0) | (codes == MISSING)))


def gather_cells(native: Any, wanted: NDArray[np.int64], backend: str) -> Any:
    """Cells of a native series at the given rows; −1 becomes a missing value of the same type where it has one."""
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


# -- series of the frame's library --


def to_native(fresh: pl.Series, native: Any, backend: str) -> Any:
    """A restored polars series as a column of the frame's library, with the missing values of the native column."""
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
    """The native type if it is of the same family as the fresh one, else the fresh type."""
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
    if fresh.dtype == pl.Boolean:
        flags = pd.Series(pd.array(fresh.to_list(), dtype="boolean"), index=index, name=name)
        return flags if holes and dtype == np.bool_ else flags.astype(dtype)
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
