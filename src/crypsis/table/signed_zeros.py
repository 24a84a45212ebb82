"""Floating point knows −0.0 and 0.0: equal as numbers, different as bytes. Only 0.0 is kept and written.

A file that holds both would tell records apart which every count of classes takes for equal.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray


def positive_zeros(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same numbers without −0.0; the array itself where it holds none."""
    zeros = numbers == 0.0
    return np.where(zeros, 0.0, numbers) if np.signbit(numbers[zeros]).any() else numbers


def without_signed_zeros(series: Any) -> Any:
    """A series of any library with 0.0 wherever it holds −0.0; the series itself where it holds none."""
    column = nw.from_native(series, series_only=True)
    if not column.dtype.is_float():
        return series
    numbers = column.to_polars().to_numpy()
    if positive_zeros(numbers) is numbers:
        return series
    settled = column.alias("x").to_frame().select(_zeroed("x", column.dtype))
    return settled.get_column("x").alias(column.name).to_native()


def without_signed_zeros_lazily(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """A lazy frame whose columns of floats hold 0.0 and never −0.0."""
    floats = {name: dtype for name, dtype in frame.collect_schema().items() if dtype.is_float()}
    return frame.with_columns(*(_zeroed(name, dtype) for name, dtype in floats.items())) if floats else frame


def _zeroed(name: str, dtype: nw.dtypes.DType) -> nw.Expr:
    """Adding 0.0 would do the same, and query optimisers leave it out."""
    return nw.when(nw.col(name) == 0).then(nw.lit(0.0, dtype=dtype)).otherwise(nw.col(name)).alias(name)
