"""Hierarchies from a short specification: intervals, dates, prefixes, merges of rare values, or a file."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import TableError, listing, suggestion
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.encoding import Source, name_values
from crypsis.table.group_labels import spanning_label
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.hierarchy_files import fitted, number_label, read_hierarchy
from crypsis.table.number_builders import dates, distinct_numbers, intervals, stacked_levels

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
    known = column[:0].astype(np.int64) if attribute.numeric else column[column != MISSING]
    return merges(rest, attribute, np.bincount(known, minlength=len(attribute.categories)))


def attach(
    spec: Hierarchy | str | Path, attribute: Attribute, column: NDArray[Any], source: Source, *, ordered: bool
) -> tuple[Attribute, NDArray[Any]]:
    """Attach a hierarchy to an attribute, if it contains every value of the column.

    An ordinal attribute without a stated order takes the order of the hierarchy's values.

    Parameters
    ----------
    spec : Hierarchy, str or path
        As for `build_hierarchy`.
    attribute : Attribute
    column : ndarray
        Its values.
    source : Source
        Where they come from, for messages.
    ordered : bool
        Whether the order of the categories is stated.

    Returns
    -------
    attribute, column
        With the hierarchy, and codes in the order of the categories.

    Raises
    ------
    TableError
        If a value is not in the hierarchy.
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


# -- prefixes --


def prefixes(text: str, attribute: Attribute, column: NDArray[Any]) -> Hierarchy:
    """Hierarchy of the first characters of codes such as postcodes, occupations or diagnoses.

    text  characters kept at each level, for example "4,3,2"
    attribute  a column of codes

    Raises
    ------
    TableError
        If the lengths do not decrease, or the column has dates or decimals.
    """
    lengths = _decreasing(text, "prefixes", "characters to keep", attribute.name)
    values = distinct_numbers(column) if attribute.numeric else np.empty(0)
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
    return stacked_levels(texts, groups, labels, values)


def _decreasing(text: str, builder: str, what: str, name: str) -> list[int]:
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

    Nominal groups are called "other 1", "other 2", …, since a label that lists rare values would publish them. Ordinal
    groups merge neighbours only and are named by their ends, as far as these are not rare.

    text  groups at each level, for example "8,4,2"; "1" is the top level alone
    attribute  a column of categories
    counts  int64[categories]: records with each of them

    Raises
    ------
    TableError
        If the numbers do not decrease, or the column is numeric.
    """
    if attribute.numeric:
        raise TableError(f"column {attribute.name!r} is numeric and merges need categories; use intervals:… or dates:…")
    sizes = _decreasing(text, "merge", "groups", attribute.name)
    join = _join_neighbours if attribute.kind is Kind.ORDINAL else _join_rarest
    groups, labels = join(attribute.categories, counts, [size for size in sizes if size > 1])  # 1 is the top
    return stacked_levels(attribute.categories, groups, labels, np.empty(0))


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
        level, texts = np.empty(len(categories), dtype=np.int32), []
        for code, (_, _, members) in enumerate(sorted(heap, key=lambda group: (-group[0], group[1]))):
            while members not in names:
                number += 1
                if f"other {number}" not in taken:
                    names[members] = f"other {number}"
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
            texts.append(spanning_label(members, held, {*categories, *texts}))
        labels.append(tuple(texts))
    return groups, labels
