"""Hierarchies from a short specification: intervals, dates, prefixes, frequency merges, or a file."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import TableError, listing, suggestion
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.encoding import Source, name_values
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.hierarchy_files import fitted, number_label, read_hierarchy

TOP = "*"
Numbers = NDArray[np.float64]
BUILDERS = ("intervals", "dates", "prefixes", "merge", "file")
DATE_LEVELS = ("day", "month", "quarter", "year", "decade")


def build_hierarchy(spec: Hierarchy | str | Path, attribute: Attribute, column: NDArray[Any]) -> Hierarchy:
    """The hierarchy a specification describes for a column.

    spec  'intervals:5,10,20' (widths, each dividing the next; 'intervals:5,10@18' starts at 18) ·
          'dates:month,quarter,year' · 'prefixes:3,2,1' (characters kept) · 'merge:8,4,2' (groups per level) ·
          'file:PATH' or a path · a ready Hierarchy. The top level '*' is added by every builder.
    """
    if isinstance(spec, Hierarchy):
        return fitted(spec, attribute)
    head, _, rest = str(spec).partition(":")
    if isinstance(spec, Path) or head not in BUILDERS:
        return _from_path(Path(spec), head if ":" in str(spec) else "", attribute)
    if head == "file":
        return _from_path(Path(rest), "", attribute)
    if head == "intervals":
        return intervals(rest, attribute, column)
    if head == "dates":
        return dates(rest, attribute, column)
    if head == "prefixes":
        return prefixes(rest, attribute, column)
    return merges(rest, attribute, column)


def attach(
    spec: Hierarchy | str | Path, attribute: Attribute, column: NDArray[Any], source: Source, *, ordered: bool
) -> tuple[Attribute, NDArray[Any]]:
    """The attribute with its hierarchy, once every value is known to be in it.

    An ordinal attribute whose order nobody stated takes the order of the hierarchy's values.
    """
    hierarchy = build_hierarchy(spec, attribute, column)
    _refuse_uncovered(hierarchy, attribute, column, source)
    if attribute.kind is Kind.ORDINAL and not ordered:
        used = set(attribute.categories)
        categories = tuple(label for label in hierarchy.labels[0] if label in used)
        place = {label: code for code, label in enumerate(categories)}
        recode = np.array([*(place[label] for label in attribute.categories), MISSING], dtype=np.int32)
        attribute, column = attribute.but(categories=categories), recode[column]
    return attribute.but(hierarchy=hierarchy), column


def _refuse_uncovered(hierarchy: Hierarchy, attribute: Attribute, column: NDArray[Any], source: Source) -> None:
    if attribute.numeric:
        absent = ~np.isnan(column) & ~np.isin(column, hierarchy.values)
        texts = [number_label(value, attribute.dates) for value in column[absent]]
    else:
        known = set(hierarchy.labels[0])
        lost = np.array([*(label not in known for label in attribute.categories), False])
        absent = lost[column]
        texts = [attribute.categories[code] for code in column[absent]]
    if texts:
        row = int(np.argmax(absent))
        raise TableError(
            f"{source.at(row, attribute.name)}: the hierarchy of the column lacks {name_values(pl.Series(texts))}; "
            f"add a row for every value to the hierarchy, or correct the data"
        )


# -- from a file --


def _from_path(path: Path, head: str, attribute: Attribute) -> Hierarchy:
    if head and not path.exists():
        raise TableError(
            f"column {attribute.name!r}: {str(path)!r} is neither a hierarchy file nor a builder"
            f"{suggestion(head, BUILDERS)}; builders: {listing(BUILDERS)}, e.g. intervals:5,10,20"
        )
    hierarchy = read_hierarchy(path)
    try:
        return fitted(hierarchy, attribute)
    except TableError as error:
        raise TableError(f"{path}: {error}") from None


# -- intervals --


def intervals(text: str, attribute: Attribute, column: NDArray[Any]) -> Hierarchy:
    """Numbers → intervals of given widths, each dividing the next, counted from 0 or from '@origin'."""
    if not attribute.numeric or attribute.dates:
        what = "dates" if attribute.dates else attribute.kind
        instead = "dates:month,year" if attribute.dates else "prefixes:… or merge:…"
        raise TableError(f"column {attribute.name!r} holds {what} and intervals need numbers; use {instead}")
    widths, origin, digits = _widths(text, attribute.name)
    values = _distinct(column)
    bins = _bins(values, widths[0], origin, digits)
    whole = digits == 0 and bool(np.all(values == np.round(values)))
    groups, labels = [], []
    for width in widths:
        found, codes = np.unique(bins // int(width / widths[0]), return_inverse=True)
        groups.append(codes.astype(np.int32))
        labels.append(tuple(_interval_label(int(place), width, origin, digits, whole) for place in found))
    return _stacked(tuple(number_label(value, "") for value in values), groups, labels, values)


def interval_centres(text: str, attribute: Attribute, values: NDArray[np.float64], *, whole: bool) -> list[Numbers]:
    """The middle of the interval of each number, width by width.

    Parameters
    ----------
    text : str
        Widths and origin as in 'intervals:…'.
    attribute : Attribute
        The column, named in a refusal.
    values : ndarray of shape (n,)
        Numbers without missing ones.
    whole : bool
        Whether the column counts in whole numbers, so that 20–29 has the middle 24.5 and not 25.

    Returns
    -------
    list of ndarray of shape (n,)
        One array for each width, from narrow to wide.

    Examples
    --------
    >>> interval_centres("5,10", Attribute("age", Kind.NUMERIC), np.array([21.0, 34.0]), whole=True)
    [array([22., 32.]), array([24.5, 34.5])]
    """
    widths, origin, digits = _widths(text, attribute.name)
    bins = _bins(values, widths[0], origin, digits)
    inset = 1.0 if whole and digits == 0 else 0.0
    places = [(float(width), bins // int(width / widths[0])) for width in widths]
    return [np.asarray(float(origin) + width * place + (width - inset) / 2) for width, place in places]


def _widths(text: str, name: str) -> tuple[list[Decimal], Decimal, int]:
    """Widths, origin and how many decimals they have; refused unless each width divides the next."""
    widths_text, _, origin_text = text.partition("@")
    widths = [_decimal(word, text, name) for word in widths_text.split(",")]
    origin = _decimal(origin_text, text, name) if origin_text else Decimal(0)
    if min(widths) <= 0:
        raise TableError(f"column {name!r}: intervals:{text} has a width that is not above 0")
    for narrow, wide in pairwise(widths):
        if wide <= narrow or wide % narrow:
            raise TableError(
                f"column {name!r}: in intervals:{text} the width {narrow} does not divide the next, {wide}, "
                f"so levels would not nest; choose widths that each divide the next, e.g. 5,10,20"
            )
    digits = max(0, *(-int(number.as_tuple().exponent) for number in (*widths, origin)))
    return widths, origin, digits


def _bins(values: NDArray[np.float64], width: Decimal, origin: Decimal, digits: int) -> NDArray[np.int64]:
    """Number of the narrowest interval of each value, counted in units of the last decimal so that 0.3 is 3 × 0.1."""
    unit = 10.0**digits
    scaled = (values - float(origin)) * unit
    near = np.round(scaled)
    scaled = np.where(np.abs(scaled - near) <= 1e-9 * np.maximum(1.0, np.abs(near)), near, scaled)
    return np.floor(scaled / float(width * 10**digits)).astype(np.int64)


def _interval_label(place: int, width: Decimal, origin: Decimal, digits: int, whole: bool) -> str:
    low = origin + place * width
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
    """Dates → day, month, quarter, year, decade; give those wanted, from fine to coarse."""
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
    values = _distinct(column)
    days = np.floor(values if attribute.dates == "date" else values / 86400).astype("datetime64[D]")
    texts = [_date_labels(days, word) for word in wanted if not (word == "day" and attribute.dates == "date")]
    coded = [np.unique(labels, return_inverse=True) for labels in texts]
    groups = [codes.astype(np.int32) for _, codes in coded]
    labels = [tuple(str(label) for label in found) for found, _ in coded]
    return _stacked(tuple(number_label(value, attribute.dates) for value in values), groups, labels, values)


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


# -- prefixes --


def prefixes(text: str, attribute: Attribute, column: NDArray[Any]) -> Hierarchy:
    """Codes → their first characters, the rest as stars: postcodes, occupation and diagnosis codes."""
    lengths = _falling(text, "prefixes", "characters to keep", attribute.name)
    values = _distinct(column) if attribute.numeric else np.empty(0)
    if attribute.dates or not np.array_equal(values, np.round(values)):
        raise TableError(
            f"column {attribute.name!r} has dates or decimals and prefixes need codes; use another builder"
        )
    texts = tuple(number_label(value, "") for value in values) if attribute.numeric else attribute.categories
    longest = max(map(len, texts), default=0)
    groups, labels = [], []
    for length in lengths:
        cut = [label[:length] + "*" * (longest - min(length, len(label))) for label in texts]
        seen: dict[str, int] = {}
        groups.append(np.array([seen.setdefault(label, len(seen)) for label in cut], dtype=np.int32))
        labels.append(tuple(seen))
    return _stacked(texts, groups, labels, values)


def _falling(text: str, builder: str, what: str, name: str) -> list[int]:
    try:
        numbers = [int(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1 or numbers != sorted(set(numbers), reverse=True):
        raise TableError(f"column {name!r}: {builder}:{text} must list falling numbers of {what}, e.g. {builder}:4,3,2")
    return numbers


# -- frequency merges --


def merges(text: str, attribute: Attribute, column: NDArray[Any]) -> Hierarchy:
    """Categories → fewer groups: the two rarest are joined until the number asked for is left; 'merge:1' is only '*'.

    Nominal groups are called 'other 1', 'other 2', … since a label that lists rare values would publish them;
    ordinal ones join neighbours only and are called by their ends.
    """
    if attribute.numeric:
        raise TableError(f"column {attribute.name!r} is numeric and merges need categories; use intervals:… or dates:…")
    sizes = _falling(text, "merge", "groups", attribute.name)
    counts = np.bincount(column[column != MISSING], minlength=len(attribute.categories))
    join = _join_neighbours if attribute.kind is Kind.ORDINAL else _join_rarest
    groups, labels = join(attribute.categories, counts, [size for size in sizes if size > 1])  # 1 is the top
    return _stacked(attribute.categories, groups, labels, np.empty(0))


Levels = tuple[list[NDArray[np.int32]], list[tuple[str, ...]]]


def _join_rarest(categories: Sequence[str], counts: NDArray[np.int64], sizes: list[int]) -> Levels:
    heap: list[tuple[int, int, tuple[int, ...]]] = [(int(count), place, (place,)) for place, count in enumerate(counts)]
    heapq.heapify(heap)
    names: dict[tuple[int, ...], str] = {(place,): label for place, label in enumerate(categories)}
    taken, number = set(categories), 0
    groups, labels = [], []
    for size in sizes:
        while len(heap) > size:
            (few, first, rare), (more, second, next_rare) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (few + more, min(first, second), tuple(sorted(rare + next_rare))))
        level, words = np.empty(len(categories), dtype=np.int32), []
        for code, (_, _, members) in enumerate(sorted(heap, key=lambda group: (-group[0], group[1]))):
            while members not in names:
                number += 1
                if f"other {number}" not in taken:
                    names[members] = f"other {number}"
            level[list(members)] = code
            words.append(names[members])
        groups.append(level)
        labels.append(tuple(words))
    return groups, labels


def _join_neighbours(categories: Sequence[str], counts: NDArray[np.int64], sizes: list[int]) -> Levels:
    runs = [[place] for place in range(len(categories))]
    weight = [int(count) for count in counts]
    groups, labels = [], []
    for size in sizes:
        while len(runs) > size:
            at = min(range(len(runs) - 1), key=lambda place: (weight[place] + weight[place + 1], place))
            runs[at] += runs.pop(at + 1)
            weight[at] += weight.pop(at + 1)
        groups.append(np.repeat(np.arange(len(runs), dtype=np.int32), [len(run) for run in runs]))
        ends = [(categories[run[0]], categories[run[-1]]) for run in runs]
        labels.append(tuple(low if low == high else f"{low} – {high}" for low, high in ends))
    return groups, labels


# -- the pieces --


def _distinct(column: NDArray[Any]) -> NDArray[np.float64]:
    return np.unique(column[~np.isnan(column)])


def _stacked(
    leaves: tuple[str, ...],
    groups: list[NDArray[np.int32]],
    labels: list[tuple[str, ...]],
    values: NDArray[np.float64],
) -> Hierarchy:
    """Level 0, the given levels, and the top '*'."""
    bottom, top = np.arange(len(leaves), dtype=np.int32), np.zeros(len(leaves), dtype=np.int32)
    return Hierarchy((bottom, *groups, top), (leaves, *labels, (TOP,)), values)
