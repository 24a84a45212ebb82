"""Encoding of cells: a column of a frame or file as numbers, or as codes of categories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import TableError, listing
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import MISSING


def encode_positive_zeros(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Encode −0.0 as 0.0 in cells of numbers.

    `numbers` float64[n]; returns float64[n].

    >>> encode_positive_zeros(np.array([-0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    zeros = numbers == 0.0
    return np.where(zeros, 0.0, numbers) if np.signbit(numbers[zeros]).any() else numbers


def encode_series_zeros(series: Any) -> Any:
    """Encoding of cells: −0.0 as 0.0 in one column, whichever library the series is from."""
    column = nw.from_native(series, series_only=True)
    if not column.dtype.is_float():
        return series
    numbers = column.to_polars().to_numpy()
    if encode_positive_zeros(numbers) is numbers:
        return series
    settled = column.alias("x").to_frame().select(_zero_sign("x", column.dtype))
    return settled.get_column("x").alias(column.name).to_native()


def encode_lazy_zeros(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Encoding of cells: −0.0 as 0.0 in float columns of a lazy frame, the same as in any other table."""
    floats = {name: dtype for name, dtype in frame.collect_schema().items() if dtype.is_float()}
    return frame.with_columns(*(_zero_sign(name, dtype) for name, dtype in floats.items())) if floats else frame


def _zero_sign(name: str, dtype: nw.dtypes.DType) -> nw.Expr:
    """Adding 0.0 would do the same, but query optimisers remove it."""
    return nw.when(nw.col(name) == 0).then(nw.lit(0.0, dtype=dtype)).otherwise(nw.col(name)).alias(name)


# -- Encoding of cells: a column of a frame or file as numbers, or as codes of categories.

EXACT = 2**53
"""Above this, consecutive whole numbers are not distinct as float64."""

LARGEST = 1e100
"""Sums of squares of larger numbers, or of numbers all below its inverse, may leave the range of float64."""

NARROW = (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32)
"""Types of whole numbers below it."""


@dataclass(frozen=True)
class Source:
    """Where rows come from, so that a message can name the cell."""

    name: str = ""  # name of a file; empty for a frame
    line_of: Callable[[int], int] | None = None  # row from 0 → line of the file

    def at(self, row: int, column: str) -> str:
        """The place of a cell: file, line and column, or for a frame row (from 1) and column.

        >>> Source().at(15, "age")
        "row 16, column 'age'"
        """
        if self.line_of is None:
            start = f"{self.name}, " if self.name else ""
            return f"{start}row {row + 1}, column {column!r}"
        return f"{self.name}, line {self.line_of(row)}, column {column!r}"

    def of(self, column: str) -> str:
        """The place of a column: file and column."""
        return f"{self.name}, column {column!r}" if self.name else f"column {column!r}"


@dataclass(frozen=True)
class Declared:
    """A column whose type declares its categories."""

    labels: tuple[str, ...]  # categories in their order
    ordered: bool  # whether the order has a meaning
    codes: NDArray[np.int32]  # int32[n]: codes of the cells; −1 is missing


@dataclass(frozen=True)
class Wish:
    """What the caller states about a column; None leaves it to the data."""

    role: Role = Role.UNDECIDED
    kind: Kind | None = None
    order: tuple[str, ...] | None = None  # its categories from low to high


def encode(
    name: str, series: pl.Series, wish: Wish, source: Source, declared: Declared | None = None
) -> tuple[Attribute, NDArray[Any]]:
    """Encode one series.

    Returns float64[n]: or int32[n]: numbers (NaN is missing), or codes (−1 is missing).
    """
    kind = wish.kind or _natural_kind(series, wish, declared)
    if kind is Kind.NUMERIC:
        dates = _dates(series.dtype)
        return Attribute(name, kind, wish.role, dates=dates), _numbers(name, series, dates, source)
    if declared is not None and wish.order is None:
        return Attribute(name, kind, wish.role, declared.labels), declared.codes
    texts = _as_text(series)
    labels = _labels(name, texts, series, wish, source)
    return Attribute(name, kind, wish.role, labels), code(texts, labels)


def _natural_kind(series: pl.Series, wish: Wish, declared: Declared | None) -> Kind:
    if wish.order is not None:
        return Kind.ORDINAL
    if declared is not None:
        return Kind.ORDINAL if declared.ordered else Kind.NOMINAL
    exact = wish.role not in (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)
    if exact and series.dtype.is_integer() and _beyond_exact(series).any():
        return Kind.NOMINAL
    numeric = series.dtype.is_numeric() or _dates(series.dtype) != "" or series.dtype == pl.Null
    return Kind.NUMERIC if numeric else Kind.NOMINAL


def _dates(dtype: Any) -> Literal["", "date", "datetime"]:
    if dtype == pl.Date:
        return "date"
    return "datetime" if dtype == pl.Datetime else ""


def _beyond_exact(series: pl.Series) -> pl.Series:
    if series.dtype in NARROW:
        return pl.repeat(False, len(series), eager=True)
    beyond = series > EXACT
    if series.dtype.is_signed_integer():
        beyond |= series < -EXACT
    return beyond.fill_null(False)


# -- numbers --


def _numbers(name: str, series: pl.Series, dates: str, source: Source) -> NDArray[np.float64]:
    """float64 with NaN for missing; dates become days or seconds since 1970-01-01."""
    if dates == "date":
        return series.cast(pl.Int32).cast(pl.Float64).fill_null(np.nan).to_numpy()
    if dates == "datetime":
        ticks = {"ms": 1e3, "us": 1e6, "ns": 1e9}[series.dtype.time_unit]  # type: ignore[attr-defined]
        return series.to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy() / ticks
    if series.dtype.is_integer() and (beyond := _beyond_exact(series)).any():
        raise TableError(
            f"{source.at(_first(beyond), name)}: a whole number beyond 2^53 cannot be masked as a number without "
            f"losing digits; declare the column nominal, or an identifier if it identifies people"
        )
    numbers = encode_numbers(name, series, source)
    infinite = numbers.is_infinite().fill_null(False)
    if infinite.any():
        raise TableError(
            f"{source.at(_first(infinite), name)}: an infinite value cannot be protected; "
            f"only finite numbers and missing values are allowed, so correct it or leave it empty"
        )
    size = numbers.fill_nan(None).abs()
    vanishing = not (size >= 1 / LARGEST).any()
    extreme = (size != 0 if vanishing else size > LARGEST).fill_null(False)
    if extreme.any():
        what = "numbers all closer to zero than 1e-100" if vanishing else "a number beyond 1e100"
        raise TableError(
            f"{source.at(_first(extreme), name)}: {what} cannot be squared without loss; multiply the column by a "
            f"power of ten, or declare it nominal"
        )
    return numbers.fill_null(np.nan).to_numpy()


def encode_numbers(name: str, series: pl.Series, source: Source) -> pl.Series:
    """Encode the cells of a series as Float64; a message gives the place of a cell that is no number, no content."""
    if not series.dtype.is_numeric() and series.dtype not in (pl.Null, pl.Boolean):
        series = _as_text(series).str.strip_chars()
    numbers = series.cast(pl.Float64, strict=False)
    lost = numbers.is_null() & series.is_not_null()
    if lost.any():
        raise TableError(message_for_encoded_text(name, series, lost, source))
    return numbers


def message_for_encoded_text(name: str, texts: pl.Series, lost: pl.Series, source: Source) -> str:
    """The message for a text cell in a column that is encoded as numbers."""
    row, count = _first(lost), int(lost.sum())
    comma = texts.filter(lost).str.contains(r"^-?\d+,\d+$").all()
    others = f" (and {count - 1} more cells of the column)" if count > 1 else ""
    remedy = (
        "write decimal points instead of decimal commas"
        if comma
        else "correct it, list its text among the missing-value markers, or declare the column nominal"
    )
    return f"{source.at(row, name)}: the cell is not a number{others}; only numbers and missing values fit, so {remedy}"


def _first(mask: pl.Series) -> int:
    place = mask.arg_max()
    return 0 if place is None else int(place)


# -- categories --


def _as_text(series: pl.Series) -> pl.Series:
    """The label of each value; whole numbers stored as floats are written as whole numbers."""
    dtype = series.dtype
    if dtype == pl.String:
        return series
    if dtype.is_float():
        series = encode_series_zeros(series.fill_nan(None))
        whole = series.drop_nulls()
        if len(whole) and (whole.is_finite() & (whole == whole.round(0)) & (whole.abs() <= EXACT)).all():
            series = series.cast(pl.Int64)
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
        cells = [None if cell is None else repr(cell) for cell in series.to_list()]
        return pl.Series(series.name, cells, dtype=pl.String)
    if dtype == pl.Datetime:
        return series.dt.to_string("iso:strict")
    if dtype == pl.Duration:
        return series.dt.to_string("iso")
    return series.cast(pl.String)


def code(texts: pl.Series, labels: Sequence[str]) -> NDArray[np.int32]:
    """Codes of texts by their position among the labels.

    Returns int32[n].
    """
    if not labels:
        return np.full(len(texts), MISSING, dtype=np.int32)
    placed = texts.cast(pl.Enum(list(labels))).to_physical()
    return placed.cast(pl.Int32).fill_null(MISSING).to_numpy()


def _labels(name: str, texts: pl.Series, series: pl.Series, wish: Wish, source: Source) -> tuple[str, ...]:
    if wish.order is not None:
        _refuse_unlisted(name, texts, wish.order, source)
        return wish.order
    if series.dtype == pl.String or series.dtype in (pl.Categorical, pl.Enum):
        found = texts.drop_nulls().unique().to_list()
        return tuple(sorted(found, key=_by_number(found)))
    return tuple(_as_text(series.drop_nulls().unique().sort()).drop_nulls().unique(maintain_order=True).to_list())


def _by_number(labels: list[str]) -> Callable[[str], Any] | None:
    """Sort key: by number where every label is a number ("2" before "10"), else by text."""
    try:
        numbers = {label: float(label) for label in labels}
    except ValueError:
        return None
    return lambda label: (numbers[label], label)


def _refuse_unlisted(name: str, texts: pl.Series, order: tuple[str, ...], source: Source) -> None:
    twice = sorted({label for label in order if order.count(label) > 1})
    if twice:
        raise TableError(f"column {name!r}: the order lists {listing(map(repr, twice))} twice; list every value once")
    strange = (~texts.is_in(list(order))).fill_null(False)
    if strange.any():
        lacking = name_encoded_values(texts.filter(strange))
        raise TableError(
            f"{source.at(_first(strange), name)}: the order of the column lacks {lacking}; "
            f"add these values to the order"
        )


NAMEABLE = 5
"""A value of at least this many records may be named in a message."""


def name_encoded_values(texts: pl.Series | Iterable[str]) -> str:
    """Cells in a message about encoding a column: named if at least five records have them, otherwise counted.

    >>> name_encoded_values(["north"] * 6 + ["south"])
    "'north' (6 records) and 1 rare value (in 1 record, not shown)"
    """
    counts = pl.Series("value", texts).value_counts(sort=True)
    rows = sorted(counts.rows(), key=lambda row: (-row[1], row[0]))
    named = [f"{value!r} ({count} records)" for value, count in rows if count >= NAMEABLE]
    rare = [count for _, count in rows if count < NAMEABLE]
    parts = [listing(named)] if named else []
    if rare:
        what = "value" if len(rare) == 1 else "values"
        held = "record" if sum(rare) == 1 else "records"
        parts.append(f"{len(rare)} rare {what} (in {sum(rare)} {held}, not shown)")
    return " and ".join(parts)
