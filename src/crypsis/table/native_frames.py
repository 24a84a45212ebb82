"""Columns of pandas, polars and pyarrow frames, in one form whatever the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from crypsis.errors import TableError, listing, repeated
from crypsis.table.attribute import Attribute
from crypsis.table.encoding import Declared
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Column

Frame: TypeAlias = Any
"""A pandas or polars DataFrame, or a pyarrow Table."""
Backend = Literal["pandas", "polars", "pyarrow"]


@dataclass(frozen=True, eq=False)
class Origin:
    """The frame a table was made from, and the attributes and columns read from it.

    Attributes
    ----------
    frame : Frame
        A snapshot of the frame.
    backend : {"pandas", "polars", "pyarrow"}
        Its library.
    attributes : tuple of Attribute
        Attributes as read.
    columns : tuple of ndarray
        Columns as read.
    """

    frame: Frame
    backend: Backend
    attributes: tuple[Attribute, ...]
    columns: tuple[Column, ...]


def admitted(frame: Frame) -> tuple[Any, Backend, list[str]]:
    """A snapshot of a frame, its library, and its column names as text.

    Parameters
    ----------
    frame : Frame
        What the caller gave.

    Returns
    -------
    frame, backend, names
        The snapshot, "pandas", "polars" or "pyarrow", and the names.

    Raises
    ------
    TableError
        If it is no eager frame of these libraries, or two columns share a name.
    """
    backend: nw.Implementation | None = None
    try:
        backend = nw.from_native(frame, eager_only=True).implementation
        eager = True
    except nw.exceptions.DuplicateError:
        eager = True
    except TypeError:
        eager = False
    labels = (frame.column_names if hasattr(frame, "column_names") else frame.columns) if eager else ()
    names = [str(label) for label in labels]
    twice = repeated(names)
    if twice:
        raise TableError(f"two columns share a name: {listing(map(repr, twice))}; give every column its own")
    if backend is nw.Implementation.PANDAS:
        # under copy-on-write a shallow copy is a safe snapshot; before pandas 3 only a deep one is
        return frame.copy(deep=not copies_on_write()), "pandas", names
    if backend is nw.Implementation.POLARS:
        return frame.clone(), "polars", names
    if backend is nw.Implementation.PYARROW:
        return frame, "pyarrow", names
    raise TableError(
        f"a {type(frame).__module__.split('.')[0]} {type(frame).__name__} is no table; give a crypsis.Table, a pandas "
        f"or polars DataFrame or a pyarrow Table (collect a lazy frame first)"
    )


def copies_on_write() -> bool:
    """Whether the installed pandas copies on write."""
    import pandas as pd

    return int(pd.__version__.split(".", 1)[0]) >= 3


def native_series(native: Any, backend: str, place: int) -> Any:
    """The column of a frame at a position, as a series of its library."""
    if backend == "pandas":
        return native.iloc[:, place]
    return native.to_series(place) if backend == "polars" else native.column(place)


def as_polars(series: Any, backend: str, name: str) -> pl.Series:
    """A series of any of the libraries as a polars series; a pandas column of mixed Python objects becomes text."""
    if backend == "polars":
        return series  # type: ignore[no-any-return]
    if backend == "pyarrow":
        return pl.Series(name, series)
    try:
        if str(series.dtype).startswith(("period", "interval")):
            raise TypeError("a type that only pandas has")
        converted = nw.from_native(series, series_only=True).to_polars()
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        lost = series.isna().to_numpy()
        cells = [None if gone else str(cell) for cell, gone in zip(series, lost, strict=True)]
        return pl.Series(name, cells, dtype=pl.String)
    if converted.dtype.is_float():
        converted = converted.fill_nan(None).clone()
    return pl.Series(name, converted)


def declared_categories(series: Any, backend: str) -> Declared | None:
    """Labels and codes of a column whose type declares categories; None for any other column."""
    if backend == "pandas":
        if not hasattr(series, "cat"):
            return None
        labels = tuple(str(label) for label in series.cat.categories)
        found = Declared(labels, bool(series.cat.ordered), series.cat.codes.to_numpy().astype(np.int32))
    elif backend == "polars":
        if series.dtype != pl.Enum:
            return None
        codes = series.to_physical().cast(pl.Int32).fill_null(MISSING).to_numpy()
        found = Declared(tuple(series.dtype.categories), True, codes)
    else:
        import pyarrow as pa

        if not pa.types.is_dictionary(series.type):
            return None
        whole = series.unify_dictionaries().combine_chunks()
        codes = whole.indices.cast(pa.int32()).fill_null(MISSING).to_numpy(zero_copy_only=False)
        found = Declared(tuple(str(v) for v in whole.dictionary.to_pylist()), bool(series.type.ordered), codes)
    if len(set(found.labels)) < len(found.labels):
        raise TableError("a categorical column has two categories of the same name; give every category its own")
    return found
