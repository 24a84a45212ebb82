"""Groups of the values of a column, made by hand: shown with counts, and kept as a hierarchy file beside the plan."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crypsis.errors import TableError, listing
from crypsis.studio.session import Session
from crypsis.table.atomic_files import private_folder, write_atomically
from crypsis.table.builders import build_hierarchy, read_hierarchy
from crypsis.table.files import write_hierarchy_file
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.table import Table

MOST_GROUPED = 400
"""Largest number of values that are grouped by hand."""
SECOND = 2
"""The level of larger groups."""
FOLDER = "hierarchies"
TOP = "*"
"""The group of all values."""


@dataclass(frozen=True)
class ValueGroup:
    """A group: its name, its values with their records, and the larger group it is in; a value by itself has its own.

    `larger` is empty where the group is in none.
    """

    name: str
    members: tuple[tuple[str, int], ...]
    larger: str = ""

    @property
    def records(self) -> int:
        """Records of all its values."""
        return sum(count for _, count in self.members)


def value_counts(session: Session, name: str, kind: str | None) -> dict[str, int]:
    """The values of a column of categories and their records, in the order of the column."""
    column = _categories(session, name, kind)
    codes, labels = column.column(name), column.attribute(name).categories
    counts = np.bincount(codes[codes != MISSING], minlength=len(labels))
    return {label: int(counts[place]) for place, label in enumerate(labels)}


def _categories(session: Session, name: str, kind: str | None) -> Table:
    column = session.reading.column_as(name, kind)
    attribute = column.attribute(name)
    if attribute.numeric:
        raise TableError(
            f"column {name!r} holds numbers, which are grouped into intervals; if they are codes, give it the kind "
            f"nominal first"
        )
    return column


def value_groups(session: Session, name: str, said: Mapping[str, Any]) -> list[ValueGroup]:
    """The groups of a column at the first level of its hierarchy; without one, every value by itself."""
    counts = value_counts(session, name, said.get("kind"))
    if len(counts) > MOST_GROUPED:
        raise TableError(
            f"column {name!r} holds {len(counts)} values, more than the {MOST_GROUPED} that can be grouped by hand; "
            f"write a file with a line per value, and name it as its hierarchy"
        )
    built = _built(session, name, said)
    of, above = dict(zip(counts, counts, strict=True)), dict[str, str]()
    if built is not None:
        of |= _groups_at(built, min(1, built.height))
        above = _groups_at(built, SECOND) if built.height > SECOND else {}
    found: dict[str, list[tuple[str, int]]] = {}
    for value, count in counts.items():
        found.setdefault(of[value], []).append((value, count))
    if len(found) == 1 and len(counts) > 1:  # the top alone is no grouping
        found = {value: [(value, count)] for value, count in counts.items()}
    larger = {group: above.get(members[0][0], "") for group, members in found.items()}
    return [
        ValueGroup(group, tuple(members), larger[group] if larger[group] != group else "")
        for group, members in found.items()
    ]


def count_dropped_levels(session: Session, name: str, said: Mapping[str, Any]) -> int:
    """Levels of the hierarchy of a column beyond the two that are edited by hand, without the group of all values."""
    built = _built(session, name, said)
    return max(0, built.height - SECOND - 1) if built is not None else 0


def _groups_at(hierarchy: Hierarchy, level: int) -> dict[str, str]:
    """The name of the group of every value at a level."""
    groups, labels = hierarchy.groups[level], hierarchy.labels[level]
    return {leaf: labels[group] for leaf, group in zip(hierarchy.labels[0], groups, strict=True)}


def _built(session: Session, name: str, said: Mapping[str, Any]) -> Hierarchy | None:
    """The hierarchy of a column, if it has one."""
    if not said.get("hierarchy"):
        return None
    column = _categories(session, name, said.get("kind"))
    place = session.plan.hierarchies(session.home)[name]
    return build_hierarchy(place, column.attribute(name), column.column(name))


def save_groups(session: Session, name: str, kind: str | None, groups: Sequence[tuple[str, str, str]]) -> str:
    """Write a hierarchy file for values, their groups and larger groups; → its path, relative to the plan.

    A larger group may be empty: the group is then by itself. A file that an earlier search may have read is never
    overwritten.
    """
    counts = value_counts(session, name, kind)
    if len({group for _, group, _ in groups}) == len(counts):  # larger groups of single values are their groups
        groups = [(value, larger.strip() or group, "") for value, group, larger in groups]
    named = {value: group for value, group, _ in groups}
    larger = {named[value].strip(): each.strip() for value, _, each in groups if each.strip()}
    left = [value for value in counts if not named.get(value, "").strip()]
    if left:
        raise TableError(f"{name}: {len(left)} values are in no group; name a group for each, or leave it by itself")
    own = {group for value, group in named.items() if value != group}
    taken = sorted(value for value in counts if value in own and named[value] != value)
    if taken:
        raise TableError(f"{name}: a group is called like the value {listing(taken)} that is not in it; rename it")
    if len(set(named.values())) == len(counts):
        raise TableError(
            f"{name}: every value is by itself, so that nothing is grouped; choose two or more values first"
        )
    unlike = sorted({group for value, group, each in groups if larger.get(group.strip(), "") != each.strip()})
    if unlike:
        raise TableError(f"{name}: {listing(unlike)} is in two larger groups; put it into one")
    names = {named[value].strip() for value in counts}
    taken = sorted(each for each in set(larger.values()) if each in names and larger.get(each, each) != each)
    if taken:
        raise TableError(f"{name}: a larger group is called like the group {listing(taken)} outside it; rename it")
    if not larger:
        return _write(session, name, Hierarchy.from_rows([(value, named[value].strip(), TOP) for value in counts]))
    found = [(value, group := named[value].strip(), larger.get(group, group), TOP) for value in counts]
    return _write(session, name, Hierarchy.from_rows(found))


def import_groups(session: Session, name: str, kind: str | None, text: str) -> str:
    """Keep a hierarchy that was written elsewhere, if it has every value; \u2192 its path, relative to the plan."""
    column = _categories(session, name, kind)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.csv" if re.fullmatch(r"[\w.-]+", name) else Path(folder) / "column.csv"
        file.write_text(text, encoding="utf-8")
        try:
            hierarchy = read_hierarchy(file)
        except TableError as error:
            raise TableError(str(error).replace(f"{folder}/", "")) from None
    lacking = [value for value in column.attribute(name).categories if value not in set(hierarchy.labels[0])]
    if lacking:
        raise TableError(f"{name}: the file has no line for {len(lacking)} of its values; list every value once")
    return _write(session, name, hierarchy)


def groups_as_csv(session: Session, name: str, said: Mapping[str, Any]) -> bytes:
    """The hierarchy of a column as a CSV file with a line per value."""
    rows = [(value, value, TOP) for value in value_counts(session, name, said.get("kind"))]
    hierarchy = _built(session, name, said) or Hierarchy.from_rows(rows)
    with tempfile.TemporaryDirectory() as folder:
        return write_hierarchy_file(hierarchy, Path(folder) / "groups.csv").read_bytes()


def _write(session: Session, name: str, hierarchy: Hierarchy) -> str:
    """Write a hierarchy under the first name that is free or holds the same."""
    with tempfile.TemporaryDirectory() as folder:
        content = write_hierarchy_file(hierarchy, Path(folder) / "groups.csv").read_bytes()
    private_folder(session.home / FOLDER)
    stem, number = re.sub(r"[^\w.-]", "_", name).strip(".") or "column", 2
    path = session.home / FOLDER / f"{stem}.csv"
    while path.exists() and path.read_bytes() != content:
        path = path.with_name(f"{stem}-{number}.csv")
        number += 1
    if not path.exists():
        write_atomically(path, content)
    return f"{FOLDER}/{path.name}"
