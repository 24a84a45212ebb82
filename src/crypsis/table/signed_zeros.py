"""−0.0 and 0.0 are equal as numbers and different as bytes; only 0.0 is kept and written.

A file with both would distinguish records that are equal in every count of classes.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray


def positive_zeros(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace −0.0 by 0.0.

    Parameters
    ----------
    numbers : float64[n]
        Any numbers.

    Returns
    -------
    float64[n]
        The array itself if it has no −0.0.

    Examples
    --------
    >>> positive_zeros(np.array([-0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    zeros = numbers == 0.0
    return np.where(zeros, 0.0, numbers) if np.signbit(numbers[zeros]).any() else numbers


def without_signed_zeros(series: Any) -> Any:
    """Replace −0.0 by 0.0 in a series of any library.

    Parameters
    ----------
    series : series
        Of pandas, polars or pyarrow.

    Returns
    -------
    series
        The series itself if it has no −0.0.
    """
    column = nw.from_native(series, series_only=True)
    if not column.dtype.is_float():
        return series
    numbers = column.to_polars().to_numpy()
    if positive_zeros(numbers) is numbers:
        return series
    settled = column.alias("x").to_frame().select(_zeroed("x", column.dtype))
    return settled.get_column("x").alias(column.name).to_native()


def without_signed_zeros_lazily(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Replace −0.0 by 0.0 in every column of floats of a lazy frame.

    Parameters
    ----------
    frame : narwhals.LazyFrame

    Returns
    -------
    narwhals.LazyFrame
    """
    floats = {name: dtype for name, dtype in frame.collect_schema().items() if dtype.is_float()}
    return frame.with_columns(*(_zeroed(name, dtype) for name, dtype in floats.items())) if floats else frame


def _zeroed(name: str, dtype: nw.dtypes.DType) -> nw.Expr:
    """Adding 0.0 would do the same, but query optimisers remove it."""
    return nw.when(nw.col(name) == 0).then(nw.lit(0.0, dtype=dtype)).otherwise(nw.col(name)).alias(name)
