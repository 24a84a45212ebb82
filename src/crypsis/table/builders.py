"""Hierarchies from a short specification: intervals, dates, prefixes, merges of rare values, or a file."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import TableError, describe_type, listing, suggestion
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.encoding import Source, name_encoded_values
from crypsis.table.hierarchy import MISSING, RARE, Hierarchy, free_hierarchy_label, hierarchy_number_label
from crypsis.table.text_files import read_text, records, sniff_text_file_delimiter

LONGEST = 15
"""Places before or behind the point up to which a width is written out."""


class ColumnShape(Protocol):
    """What the choice looks at."""

    @property
    def whole(self) -> bool:
        """Whether all numbers are whole."""

    @property
    def digits(self) -> int:
        """Length of codes made of digits; 0 where they are not."""

    @property
    def distinct(self) -> int:
        """Number of different values."""


def builder_for(attribute: Attribute, column: NDArray[Any], shape: ColumnShape, kind: Kind) -> str:
    """A builder to start from, e.g. 'intervals:5,10,20,40'."""
    if attribute.dates:
        return "dates:month,quarter,year"
    if kind is Kind.NUMERIC:
        return _intervals(column, shape.whole)
    if shape.digits >= 3 and shape.distinct > 10:
        return f"prefixes:{','.join(str(length) for length in range(shape.digits - 1, 0, -1))}"
    sizes = [size for size in (32, 16, 8, 4, 2) if size < shape.distinct]
    return f"merge:{','.join(map(str, sizes or [1]))}"


def _intervals(numbers: NDArray[np.float64], whole: bool) -> str:
    """Widths that double, from about a twentieth of the range up, in round figures."""
    known = numbers[~np.isnan(numbers)]
    span = float(np.ptp(known)) if len(known) else 0.0
    span = span or 20.0  # a constant is one interval of any width
    power = int(np.floor(np.log10(span / 20)))
    if whole:
        power = max(power, 0)
    mantissa = next((m for m in (1, 2, 5) if m * 10.0**power >= span / 20), 10)
    widths = [mantissa * 2**step for step in range(4)]
    if abs(power) > LONGEST:
        return f"intervals:{','.join(f'{width}e{power}' for width in widths)}"
    if power >= 0:
        return f"intervals:{','.join(str(width * 10**power) for width in widths)}"
    return f"intervals:{','.join(f'{width * 10.0**power:.{-power}f}' for width in widths)}"


# -- Hierarchies in files: one row per value (the convention of ARX).


def read_hierarchy(path: str | Path, *, delimiter: str | None = None, encoding: str = "utf8") -> Hierarchy:
    """Read a hierarchy from a file with one row per value (the convention of ARX).

    Parameters
    ----------
    path : path
        Each row has a value, its group at level 1, at level 2, …; a first row level0, level1, … is a header.
    delimiter : str, optional
        By default comma, semicolon or tab, whichever the first row uses most.
    encoding : str
        Encoding of the file.

    Returns
    -------
    Hierarchy
        Its leaves in the order of the rows.

    Raises
    ------
    TableError
        If the file cannot be read, a row is incomplete, a value occurs twice, or levels do not nest.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("towns.csv").write_text("Turku,Finland,*\\nTartu,Estonia,*\\n")
    >>> crypsis.read_hierarchy("towns.csv")
    Hierarchy(2 → 2 → 1)
    """
    path = Path(path)
    content = read_text(path, encoding)
    rows = [
        (line, fields)
        for line, fields in records(content, delimiter or sniff_text_file_delimiter(content, path), path)
        if fields
    ]
    if [cell.strip().lower() for cell in rows[0][1]] == [f"level{place}" for place in range(len(rows[0][1]))]:
        rows = rows[1:]
    if not rows:
        raise TableError(f"{path} has a header but no values; give one row per value")
    width = len(rows[0][1])
    if width < 2:
        raise TableError(
            f"{path}, line {rows[0][0]}: only one column; a hierarchy needs a value and at least one level"
        )
    seen: dict[str, int] = {}
    for line, fields in rows:
        if len(fields) != width:
            raise TableError(
                f"{path}, line {line}: {len(fields)} fields where the first row has {width}; fill every level"
            )
        if "" in fields:
            raise TableError(f"{path}, line {line}: level {fields.index('')} is empty; name the group of every level")
        if fields[0] in seen:
            before = seen[fields[0]]
            raise TableError(f"{path}, line {line}: {fields[0]!r} was already on line {before}; list every value once")
        seen[fields[0]] = line
    try:
        return Hierarchy.from_rows([fields for _, fields in rows])
    except TableError as error:
        raise TableError(f"{path}: {error}") from None


def _fit_numbers(hierarchy: Hierarchy, attribute: Attribute) -> Hierarchy:
    """Give a hierarchy the numbers of its values, if the attribute is numeric.

    Returns with leaves in ascending order, or unchanged.
    """
    if not attribute.numeric or len(hierarchy.values):
        return hierarchy
    labels = hierarchy.labels[0]
    numbers = np.array([_number_of(label, attribute) for label in labels])
    order = np.argsort(numbers, kind="stable")
    if len(np.unique(numbers)) < len(numbers):
        raise TableError(
            f"two values of the hierarchy of column {attribute.name!r} are the same number; list each once"
        )
    groups = [np.arange(len(labels), dtype=np.int32), *(level[order] for level in hierarchy.groups[1:])]
    names = (tuple(labels[place] for place in order), *hierarchy.labels[1:])
    return Hierarchy(tuple(groups), names, numbers[order])


def _number_of(label: str, attribute: Attribute) -> float:
    try:
        if attribute.dates == "date":
            return float(np.datetime64(label, "D").astype(np.int64))
        if attribute.dates == "datetime":
            return float(np.datetime64(label, "us").astype(np.int64)) / 1e6
        return float(label)
    except ValueError:
        what = "date" if attribute.dates else "number"
        raise TableError(
            f"the hierarchy's value {label!r} is no {what} but column {attribute.name!r} is numeric; "
            f"correct the value or declare the column nominal"
        ) from None


# -- Hierarchies of numbers: intervals, and parts of dates.

TOP = "*"
Numbers = NDArray[np.float64]
DATE_LEVELS = ("day", "month", "quarter", "year", "decade")


def _distinct_numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    """The distinct numbers of a column, ascending, without missing ones."""
    return np.unique(column[~np.isnan(column)])


def _stacked_levels(
    leaves: tuple[str, ...],
    groups: list[NDArray[np.int32]],
    labels: list[tuple[str, ...]],
    values: NDArray[np.float64],
) -> Hierarchy:
    """Build a hierarchy of level 0, some levels, and the top level "*".

    `groups` int32[leaves]; `values` float64[leaves]: numbers of the leaves; empty for categories.
    """
    bottom, top = np.arange(len(leaves), dtype=np.int32), np.zeros(len(leaves), dtype=np.int32)
    return Hierarchy((bottom, *groups, top), (leaves, *labels, (TOP,)), values)


# -- intervals --


def intervals(text: str, attribute: Attribute, column: NDArray[Any]) -> Hierarchy:
    """Hierarchy of intervals of given widths, each dividing the next, counted from 0 or from "@origin"."""
    if not attribute.numeric or attribute.dates:
        what = "dates" if attribute.dates else attribute.kind
        instead = "dates:month,year" if attribute.dates else "prefixes:… or merge:…"
        raise TableError(f"column {attribute.name!r} holds {what} and intervals need numbers; use {instead}")
    widths, origin, digits = _widths(text, attribute.name)
    values = _distinct_numbers(column)
    bins = _bins(values, widths[0], origin, digits)
    whole = digits == 0 and bool(np.all(values == np.round(values)))
    groups, labels = [], []
    for width in widths:
        found, codes = np.unique(bins // int(width / widths[0]), return_inverse=True)
        groups.append(codes.astype(np.int32))
        labels.append(tuple(_interval_label(int(place), width, origin, digits, whole) for place in found))
    return _stacked_levels(tuple(hierarchy_number_label(value, "") for value in values), groups, labels, values)


def centres_of_built_intervals(text: str, attribute: Attribute, values: Numbers, *, whole: bool) -> list[Numbers]:
    """The middle of the interval of each number in a hierarchy built from intervals, width by width.

    `values` float64[n]; returns float64[n].

    >>> from crypsis.table.attribute import Kind
    >>> centres_of_built_intervals("5,10", Attribute("age", Kind.NUMERIC), np.array([21.0, 34.0]), whole=True)
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
    """Hierarchy of days, months, quarters, years and decades."""
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
    values = _distinct_numbers(column)
    days = np.floor(values if attribute.dates == "date" else values / 86400).astype("datetime64[D]")
    texts = [_date_labels(days, word) for word in wanted if not (word == "day" and attribute.dates == "date")]
    coded = [np.unique(labels, return_inverse=True) for labels in texts]
    groups = [codes.astype(np.int32) for _, codes in coded]
    labels = [tuple(str(label) for label in found) for found, _ in coded]
    return _stacked_levels(
        tuple(hierarchy_number_label(value, attribute.dates) for value in values), groups, labels, values
    )


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


# -- Hierarchies from a short specification: intervals, dates, prefixes, merges of rare values, or a file.

BUILDERS = ("intervals", "dates", "prefixes", "merge", "file")


def build_hierarchy(spec: Hierarchy | str | Path, attribute: Attribute, column: NDArray[Any]) -> Hierarchy:
    """Build the hierarchy of a column from a specification.

    Parameters
    ----------
    spec : Hierarchy, str or path
        "intervals:5,10,20" (widths, each dividing the next; "intervals:5,10@18" starts at 18),
        "dates:month,quarter,year", "prefixes:3,2,1" (characters kept), "merge:8,4,2" (groups per level), "file:PATH" or
        a path, or a hierarchy. Every builder adds the top level "*".
    attribute : Attribute
    column : ndarray
        Its values: numbers, or codes of categories.

    Returns
    -------
    Hierarchy

    Raises
    ------
    TableError
        If the specification cannot be read or does not suit the column.

    Examples
    --------
    >>> age = crypsis.Attribute("age", crypsis.Kind.NUMERIC)
    >>> crypsis.build_hierarchy("intervals:5,10", age, np.array([21.0, 24.0, 38.0])).labels[1]
    ('20–24', '35–39')
    """
    if isinstance(spec, Hierarchy):
        return _fit_numbers(spec, attribute)
    if not isinstance(spec, (str, Path)):
        raise TableError(
            f"column {attribute.name!r}: {describe_type(spec)} is no hierarchy; give a builder such as "
            f"intervals:5,10,20, the path of a hierarchy file, or a crypsis.Hierarchy"
        )
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
    known = column[:0].astype(np.int64) if attribute.numeric else column[column != MISSING]
    return merges(rest, attribute, np.bincount(known, minlength=len(attribute.categories)))


def attach_built_hierarchy(
    spec: Hierarchy | str | Path, attribute: Attribute, column: NDArray[Any], source: Source, *, ordered: bool
) -> tuple[Attribute, NDArray[Any]]:
    """Attach a hierarchy built from a specification to an attribute, if it contains every value of the column.

    An ordinal attribute without a stated order takes the order of the hierarchy's values.

    `ordered`: whether the order of the categories is stated.
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
        texts = [hierarchy_number_label(value, attribute.dates) for value in column[absent]]
    else:
        known = set(hierarchy.labels[0])
        lost = np.array([*(label not in known for label in attribute.categories), False])
        absent = lost[column]
        texts = [attribute.categories[code] for code in column[absent]]
    if texts:
        row = int(np.argmax(absent))
        raise TableError(
            f"{source.at(row, attribute.name)}: the hierarchy of the column lacks "
            f"{name_encoded_values(pl.Series(texts))}; "
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
        return _fit_numbers(hierarchy, attribute)
    except TableError as error:
        raise TableError(f"{path}: {error}") from None


# -- prefixes --


def prefixes(text: str, attribute: Attribute, column: NDArray[Any]) -> Hierarchy:
    """Hierarchy of the first characters of codes such as postcodes, occupations or diagnoses."""
    lengths = _sort_decreasing(text, "prefixes", "characters to keep", attribute.name)
    values = _distinct_numbers(column) if attribute.numeric else np.empty(0)
    if attribute.dates or not np.array_equal(values, np.round(values)):
        raise TableError(
            f"column {attribute.name!r} has dates or decimals and prefixes need codes; use another builder"
        )
    texts = tuple(hierarchy_number_label(value, "") for value in values) if attribute.numeric else attribute.categories
    longest = max(map(len, texts), default=0)
    groups, labels = [], []
    for length in lengths:
        cut = [label[:length] + "*" * (longest - min(length, len(label))) for label in texts]
        seen: dict[str, int] = {}
        groups.append(np.array([seen.setdefault(label, len(seen)) for label in cut], dtype=np.int32))
        labels.append(tuple(seen))
    return _stacked_levels(texts, groups, labels, values)


def _sort_decreasing(text: str, builder: str, what: str, name: str) -> list[int]:
    try:
        numbers = [int(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1 or numbers != sorted(set(numbers), reverse=True):
        raise TableError(
            f"column {name!r}: {builder}:{text} must list decreasing numbers of {what}, e.g. {builder}:4,3,2"
        )
    return numbers


# -- frequency merges --


def merges(text: str, attribute: Attribute, counts: NDArray[np.int64]) -> Hierarchy:
    """Hierarchy that merges rare categories: the two rarest are merged until the wanted number of groups is left.

    Nominal groups are named by their members where these are few and not rare ("clerk or sales"), else
    "other (5 values)", since a label that lists rare values would publish them. Ordinal groups merge neighbours only
    and are named by their ends, as far as these are not rare.

    `counts` int64[categories].
    """
    if attribute.numeric:
        raise TableError(f"column {attribute.name!r} is numeric and merges need categories; use intervals:… or dates:…")
    sizes = _sort_decreasing(text, "merge", "groups", attribute.name)
    join = _join_neighbours if attribute.kind is Kind.ORDINAL else _join_rarest
    groups, labels = join(attribute.categories, counts, [size for size in sizes if size > 1])  # 1 is the top
    return _stacked_levels(attribute.categories, groups, labels, np.empty(0))


Levels = tuple[list[NDArray[np.int32]], list[tuple[str, ...]]]


def _join_rarest(categories: Sequence[str], counts: NDArray[np.int64], sizes: list[int]) -> Levels:
    heap: list[tuple[int, int, tuple[int, ...]]] = [(int(count), place, (place,)) for place, count in enumerate(counts)]
    heapq.heapify(heap)
    names: dict[tuple[int, ...], str] = {(place,): label for place, label in enumerate(categories)}
    taken = set(categories)
    groups, labels = [], []
    for size in sizes:
        while len(heap) > size:
            (few, first, rare), (more, second, next_rare) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (few + more, min(first, second), tuple(sorted(rare + next_rare))))
        level, texts = np.empty(len(categories), dtype=np.int32), []
        for code, (_, _, members) in enumerate(sorted(heap, key=lambda group: (-group[0], group[1]))):
            if members not in names:
                held = [int(counts[place]) for place in members]
                names[members] = label_of_built_group([categories[place] for place in members], held, taken)
                taken.add(names[members])
            level[list(members)] = code
            texts.append(names[members])
        groups.append(level)
        labels.append(tuple(texts))
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
        texts: list[str] = []
        for run in runs:
            members, held = [categories[place] for place in run], [int(counts[place]) for place in run]
            texts.append(label_of_built_span(members, held, {*categories, *texts}))
        labels.append(tuple(texts))
    return groups, labels


MOST_NAMED, LONGEST_NAME = 3, 40
"""Members and characters up to which a merged group is named by its members."""


def label_of_built_group(labels: Sequence[str], counts: Sequence[int], taken: Collection[str]) -> str:
    """Label of categories merged in a hierarchy: their names where these are few, short and not rare, else how many.

    `taken`: the categories of the column and the labels of its other groups, which no group shares.

    >>> label_of_built_group(["clerk", "sales"], [9, 3], ())
    'clerk or sales'
    >>> label_of_built_group(["clerk", "falconer"], [9, 1], ["other (2 values)"])
    'other (2 values), group 2'
    """
    *others, last = labels
    name = f"{', '.join(others)} or {last}"
    if len(labels) <= MOST_NAMED and len(name) <= LONGEST_NAME and min(counts) >= RARE and name not in taken:
        return name
    name = free = f"other ({len(labels)} values)"
    number = 1
    while free in taken:
        number += 1
        free = f"{name}, group {number}"
    return free


def label_of_built_span(labels: Sequence[str], counts: Sequence[int], taken: Collection[str]) -> str:
    """Label of neighbouring ordered categories in a hierarchy built by merges of rare values: their ends.

    `labels`: the members in order; one alone is its own label; returns the outermost members that are not rare,
    and whether rarer ones lie beyond.

    >>> label_of_built_span(["none", "basic", "high"], [5, 1, 9], ())
    'none – high'
    >>> label_of_built_span(["high", "phd"], [9, 1], ())
    'high and rarer'
    """
    if len(labels) == 1:
        return labels[0]
    named = [place for place, count in enumerate(counts) if count >= RARE]
    if not named:
        return label_of_built_group(labels, counts, taken)
    low, high = named[0], named[-1]
    span = labels[low] if low == high else f"{labels[low]} – {labels[high]}"
    whole = low == 0 and high == len(labels) - 1
    return span if whole else free_hierarchy_label(f"{span} and rarer", taken)
