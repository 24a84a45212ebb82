"""Hierarchies of numbers: intervals, and parts of dates."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, listing, suggestion
from crypsis.table.attribute import Attribute
from crypsis.table.builder_choice import LONGEST
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.hierarchy_files import number_label

TOP = "*"
Numbers = NDArray[np.float64]
DATE_LEVELS = ("day", "month", "quarter", "year", "decade")


def distinct_numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    """The distinct numbers of a column, ascending, without missing ones."""
    return np.unique(column[~np.isnan(column)])


def stacked_levels(
    leaves: tuple[str, ...],
    groups: list[NDArray[np.int32]],
    labels: list[tuple[str, ...]],
    values: NDArray[np.float64],
) -> Hierarchy:
    """Build a hierarchy of level 0, some levels, and the top level "*".

    Parameters
    ----------
    leaves : tuple of str
        Labels of level 0.
    groups : list of int32[leaves]
        Group of each leaf at each level.
    labels : list of tuples of str
        Labels of the groups at each level.
    values : float64[leaves]
        Numbers of the leaves; empty for categories.

    Returns
    -------
    Hierarchy
    """
    bottom, top = np.arange(len(leaves), dtype=np.int32), np.zeros(len(leaves), dtype=np.int32)
    return Hierarchy((bottom, *groups, top), (leaves, *labels, (TOP,)), values)


# -- intervals --


def intervals(text: str, attribute: Attribute, column: NDArray[Any]) -> Hierarchy:
    """Hierarchy of intervals of given widths, each dividing the next, counted from 0 or from "@origin".

    text  for example "5,10,20" or "5,10,20@18"
    attribute  a numeric column without dates

    Raises
    ------
    TableError
        If the widths cannot be read or do not nest, or the column has no numbers.
    """
    if not attribute.numeric or attribute.dates:
        what = "dates" if attribute.dates else attribute.kind
        instead = "dates:month,year" if attribute.dates else "prefixes:… or merge:…"
        raise TableError(f"column {attribute.name!r} holds {what} and intervals need numbers; use {instead}")
    widths, origin, digits = _widths(text, attribute.name)
    values = distinct_numbers(column)
    bins = _bins(values, widths[0], origin, digits)
    whole = digits == 0 and bool(np.all(values == np.round(values)))
    groups, labels = [], []
    for width in widths:
        found, codes = np.unique(bins // int(width / widths[0]), return_inverse=True)
        groups.append(codes.astype(np.int32))
        labels.append(tuple(_interval_label(int(place), width, origin, digits, whole) for place in found))
    return stacked_levels(tuple(number_label(value, "") for value in values), groups, labels, values)


def interval_centres(text: str, attribute: Attribute, values: Numbers, *, whole: bool) -> list[Numbers]:
    """The middle of the interval of each number, width by width.

    Parameters
    ----------
    text : str
        Widths and origin as in "intervals:…".
    attribute : Attribute
        The column, for messages.
    values : float64[n]
        Numbers without missing ones.
    whole : bool
        Whether the column has whole numbers, so that 20–29 has the middle 24.5 and not 25.

    Returns
    -------
    list of float64[n]
        One array for each width, from narrow to wide.

    Examples
    --------
    >>> from crypsis.table.attribute import Kind
    >>> interval_centres("5,10", Attribute("age", Kind.NUMERIC), np.array([21.0, 34.0]), whole=True)
    [array([22., 32.]), array([24.5, 34.5])]
    """
    widths, origin, digits = _widths(text, attribute.name)
    bins = _bins(values, widths[0], origin, digits)
    inset = 1.0 if whole and digits == 0 else 0.0
    places = [(float(width), bins // int(width / widths[0])) for width in widths]
    return [np.asarray(float(origin) + width * place + (width - inset) / 2) for width, place in places]


def _widths(text: str, name: str) -> tuple[list[Decimal], Decimal, int]:
    """Widths, origin and number of decimals; refused unless each width divides the next."""
    widths_text, _, origin_text = text.partition("@")
    widths = [_decimal(word, text, name) for word in widths_text.split(",")]
    origin = _decimal(origin_text, text, name) if origin_text else Decimal(0)
    if min(widths) <= 0:
        raise TableError(f"column {name!r}: intervals:{text} has a width that is not above 0; give positive widths")
    for narrow, wide in pairwise(widths):
        if wide <= narrow or wide % narrow:
            raise TableError(
                f"column {name!r}: in intervals:{text} the width {narrow} does not divide the next, {wide}, "
                f"so the levels do not nest; choose widths that each divide the next, e.g. 5,10,20"
            )
    digits = max(0, *(-int(number.as_tuple().exponent) for number in (*widths, origin)))
    return widths, origin, digits


def _bins(values: NDArray[np.float64], width: Decimal, origin: Decimal, digits: int) -> NDArray[np.int64]:
    """Number of the narrowest interval of each value; in units of the last decimal, so that 0.3 is exactly 3 × 0.1."""
    unit = 10.0**digits
    scaled = (values - float(origin)) * unit
    near = np.round(scaled)
    scaled = np.where(np.abs(scaled - near) <= 1e-9 * np.maximum(1.0, np.abs(near)), near, scaled)
    return np.floor(scaled / float(width * 10**digits)).astype(np.int64)


def _interval_label(place: int, width: Decimal, origin: Decimal, digits: int, whole: bool) -> str:
    low = origin + place * width
    if digits > LONGEST or width.adjusted() > LONGEST:
        return f"[{low.normalize():g}, {(low + width).normalize():g})"
    if whole:
        return f"{low}" if width == 1 else f"{low}–{low + width - 1}"
    return f"[{low:.{digits}f}, {low + width:.{digits}f})"


def _decimal(word: str, text: str, name: str) -> Decimal:
    try:
        number = Decimal(word.strip())
        if not number.is_finite():
            raise InvalidOperation
    except InvalidOperation:
        raise TableError(
            f"column {name!r}: intervals:{text} is not readable; give widths such as intervals:5,10,20 "
            f"or, counted from 18, intervals:5,10,20@18"
        ) from None
    return number


# -- dates --


def dates(text: str, attribute: Attribute, column: NDArray[Any]) -> Hierarchy:
    """Hierarchy of days, months, quarters, years and decades.

    text  levels from fine to coarse, for example "month,year"
    attribute  a column of dates
    column  its dates as numbers

    Raises
    ------
    TableError
        If a level is unknown or out of order, or the column has no dates.
    """
    if not attribute.dates:
        raise TableError(f"column {attribute.name!r} holds no dates; write them as 2024-12-31 or use another builder")
    wanted = [word.strip() for word in text.split(",")]
    for word in wanted:
        if word not in DATE_LEVELS:
            raise TableError(
                f"column {attribute.name!r}: dates:{text} names {word!r}{suggestion(word, DATE_LEVELS)}; "
                f"levels: {listing(DATE_LEVELS)}"
            )
    places = [DATE_LEVELS.index(word) for word in wanted]
    if places != sorted(set(places)):
        raise TableError(f"column {attribute.name!r}: dates:{text} must go from fine to coarse, e.g. dates:month,year")
    values = distinct_numbers(column)
    days = np.floor(values if attribute.dates == "date" else values / 86400).astype("datetime64[D]")
    texts = [_date_labels(days, word) for word in wanted if not (word == "day" and attribute.dates == "date")]
    coded = [np.unique(labels, return_inverse=True) for labels in texts]
    groups = [codes.astype(np.int32) for _, codes in coded]
    labels = [tuple(str(label) for label in found) for found, _ in coded]
    return stacked_levels(tuple(number_label(value, attribute.dates) for value in values), groups, labels, values)


def _date_labels(days: NDArray[np.datetime64], level: str) -> NDArray[np.str_]:
    if level == "day":
        return days.astype(str)
    months = days.astype("datetime64[M]")
    if level == "month":
        return months.astype(str)
    years = months.astype("datetime64[Y]")
    if level == "year":
        return years.astype(str)
    if level == "decade":
        return np.array([f"{number // 10 * 10}s" for number in years.astype(np.int64) + 1970])
    quarter = (months.astype(np.int64) % 12) // 3 + 1
    return np.array([f"{year}-Q{number}" for year, number in zip(years.astype(str), quarter, strict=True)])
