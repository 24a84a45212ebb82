"""Hierarchies in files: one row per value (the convention of ARX)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crypsis.errors import TableError
from crypsis.table.attribute import Attribute
from crypsis.table.delimited import records, sniff
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.raw_files import read_text


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
    rows = [(line, fields) for line, fields in records(content, delimiter or sniff(content, path), path) if fields]
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


def fitted(hierarchy: Hierarchy, attribute: Attribute) -> Hierarchy:
    """Give a hierarchy the numbers of its values, if the attribute is numeric.

    returns  with leaves in ascending order, or unchanged

    Raises
    ------
    TableError
        If a value is no number, or two are the same number.
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


def number_label(value: float, dates: str) -> str:
    """The label of a number: whole numbers without decimals, dates as dates.

    dates  {"", "date", "datetime"}: whether it counts days or seconds since 1970-01-01

    Examples
    --------
    >>> number_label(3.0, ""), number_label(31.0, "date")
    ('3', '1970-02-01')
    """
    if dates == "date":
        return str(np.datetime64(int(value), "D"))
    if dates == "datetime":
        return str(np.datetime64(round(value * 1e6), "us"))
    return str(int(value)) if value == round(value) and abs(value) < 2**53 else repr(float(value))
