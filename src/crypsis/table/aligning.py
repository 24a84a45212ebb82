"""Read a masked table in the columns, roles and codes of its original, whichever tool masked it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crypsis.errors import ReleaseRefused, TableError, listing, name_hierarchy, word
from crypsis.table.attribute import UNMASKED, UNPUBLISHED, Dates, Role
from crypsis.table.files import read_table
from crypsis.table.frames import Frame, as_table
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.table import LOCAL, Column, Table

SWAPPED = (Role.CONFIDENTIAL, Role.WEIGHT, Role.STRATUM)
"""Roles of columns that a masking may have swapped by themselves: one alone is no key."""

SECONDS = 86_400.0
"""Of a day."""


def read_aligned(original: Table, path: str | Path) -> Table:
    """Read a masked file in the columns, roles and codes of the original."""
    return align(original, read_beside(original, path), str(path))


def read_beside(original: Table, path: str | Path) -> Table:
    """Read a masked file before it is aligned: by what it says itself, and with the kinds of the original."""
    kinds = {a.name: a.kind.value for a in original.attributes if not a.numeric}
    present = set(read_table(path, masked=True).names)
    return read_table(path, kinds={n: k for n, k in kinds.items() if n in present}, masked=True)


def align(original: Table, masked: Table, where: str = "the masked table") -> Table:
    """Return the masked table in the original's columns, roles and codes.

    Labels that are no category of the original become nodes of its hierarchy where it has one, and new categories
    where it has none. Identifiers may be absent. Rows in another order are put in that of the original where unmasked
    columns identify every row.
    """
    if len(masked) != len(original):
        raise TableError(
            f"{where} has {len(masked)} rows and the original {len(original)}; rows must correspond one to one, "
            f"so keep suppressed records as empty rows"
        )
    lost = [n for n in original.names if n not in masked.names and original.attribute(n).role not in UNPUBLISHED]
    if lost:
        raise TableError(f"{where} lacks the columns {listing(lost)} of the original; both files need the same columns")
    aligned = _ordered_by_key(original, in_terms_of(original, masked, where))
    refuse_unaligned_rows(original, aligned, where)
    return aligned


def aligned_pair(original: Table | Frame, masked: Table | Frame) -> tuple[Table, Table]:
    """Return an original and its masked version, tables or frames, in one set of roles and codes.

    `original`, `masked`: row by row the same records, or they are refused. A table gives its roles and codes to a
    frame beside it; two tables are returned as they are; of two frames no column has a role.

    >>> table = crypsis.example(20)
    >>> original, masked = aligned_pair(table, crypsis.to_frame(table))
    >>> masked.quasi_identifiers == original.quasi_identifiers
    True
    """
    if isinstance(masked, Table):
        return original if isinstance(original, Table) else read_aligned_frame(masked, original), masked
    before = as_table(original)
    return before, align(before, as_table(masked))


def read_aligned_frame(table: Table, frame: Frame) -> Table:
    """Aligning: read a masked frame in the columns, roles, categories and hierarchies of its original."""
    read = as_table(frame)
    lost = [name for name in table.names if name not in read.names]
    if lost:
        raise TableError(f"the frame lacks the columns {listing(lost)} of the table beside it; give all its columns")
    read = read.drop([name for name in read.names if name not in table.names])
    for attribute in table.attributes:
        name = attribute.name
        if attribute.numeric != read.attribute(name).numeric:
            raise TableError(
                f"column {name!r} is {read.attribute(name).kind} in the frame and {attribute.kind} in the table beside "
                f"it; give both with the same type"
            )
        if attribute.numeric:
            read = with_dates(read, name, attribute.dates)
        else:
            read = read.with_categories(name, attribute.categories)
        read = read.with_columns({}, attributes={name: attribute})
    return read


def with_dates(table: Table, name: str, dates: Dates) -> Table:
    """The table with a column of dates as moments, or of moments as dates: files hold midnights as dates.

    `dates`: what its numbers count: "date" for days, "datetime" for seconds.

    >>> import datetime as dt
    >>> import polars as pl
    >>> days = as_table(pl.DataFrame({"born": [dt.date(1970, 1, 2)]}))
    >>> with_dates(days, "born", "datetime").column("born").tolist()
    [86400.0]
    """
    attribute = table.attribute(name)
    if not dates or not attribute.dates or dates == attribute.dates:
        return table
    column = table.column(name)
    column = column * SECONDS if dates == "datetime" else column / SECONDS
    return table.with_columns({name: column}, attributes={name: attribute.but(dates=dates)})


def _ordered_by_key(original: Table, aligned: Table) -> Table:
    """The rows of a masked table in the order of the original, where unmasked columns identify every row.

    `aligned`: its masked version in the same codes, in any order; returned as it is where nothing identifies its
    rows.
    """
    roles = (*UNMASKED, *UNPUBLISHED)
    known = [n for n in aligned.names if aligned.level(n) == 0 and original.attribute(n).role in roles]
    names = [n for n in known if np.array_equal(np.sort(original.codes([n])[:, 0]), np.sort(aligned.codes([n])[:, 0]))]
    before, after = original.codes(names), aligned.codes(names)
    swapped = len(names) == 1 and original.attribute(names[0]).role in SWAPPED
    if not names or swapped or np.array_equal(before, after):
        return aligned
    ours, theirs = np.lexsort(before.T), np.lexsort(after.T)
    identified = bool((before[ours][1:] != before[ours][:-1]).any(axis=1).all())
    if not identified or not np.array_equal(before[ours], after[theirs]):
        return aligned
    place = np.empty(len(ours), dtype=np.intp)
    place[ours] = theirs
    return aligned.take(place)


def refuse_unaligned_rows(original: Table, aligned: Table, where: str) -> None:
    """Aligning: refuse a masked table whose rows are in another order than those of its original.


    Two or more unmasked columns with the same records in another order show it. A single column may be swapped.
    """
    names = [n for n in aligned.names_by_role(*UNMASKED) if aligned.level(n) == 0]
    before, after = original.codes(names), aligned.codes(names)
    if len(names) < 2 or np.array_equal(before, after):
        return
    if np.array_equal(before[np.lexsort(before.T)], after[np.lexsort(after.T)]):
        raise TableError(
            f"{where} holds the records of the original in another order, so that rows do not correspond; write it in "
            f"the order of the original" + word(python="", command=", e.g. by crypsis mask --keep-order")
        )


def in_terms_of(original: Table, masked: Table, where: str = "the masked table") -> Table:
    """Return the columns of a masked table in the original's roles and codes, whatever its rows are.

    `masked`: any number of rows in any order.
    """
    absent = [name for name in original.names if name not in masked.names]
    empty = np.zeros(len(masked), dtype=np.intp)
    aligned = original.drop(absent).take(empty) if len(masked) != len(original) else original.drop(absent)
    for name in aligned.names:
        aligned = _take_over(aligned, masked, name, where)
    return aligned.without(~masked.kept)


def _take_over(aligned: Table, masked: Table, name: str, where: str) -> Table:
    attribute = aligned.attribute(name)
    if attribute.numeric and masked.holds_numbers(name):
        return aligned.with_columns({name: with_dates(masked, name, attribute.dates).column(name)})
    if attribute.numeric and attribute.hierarchy is None:
        raise TableError(
            f"{where}: column {name!r} is numeric in the original and text here; give its hierarchy, "
            f"e.g. {name_hierarchy(name)}"
        )
    if masked.holds_numbers(name):
        raise TableError(
            f"{where}: column {name!r} is numeric here and {attribute.kind} in the original; read both alike"
        )
    labels, codes = masked.labels(name), masked.column(name)
    known = set(attribute.categories)
    if attribute.hierarchy is not None and not known.issuperset(labels):
        return aligned.with_columns(
            {name: _nodes(attribute.hierarchy, labels, codes, name, where)}, levels={name: LOCAL}
        )
    union = (*attribute.categories, *(label for label in labels if label not in known))
    place = {label: code for code, label in enumerate(union)}
    translate = np.array([*(place[label] for label in labels), MISSING], dtype=np.int32)
    return aligned.with_columns({name: translate[codes]}, attributes={name: attribute.but(categories=union)})


def _nodes(hierarchy: Hierarchy, labels: tuple[str, ...], codes: Column, name: str, where: str) -> Column:
    """Codes of the finest node that carries each label."""
    place: dict[str, int] = {}
    for node, label in enumerate(hierarchy.node_labels):
        place.setdefault(label, node)
    strange = sum(label not in place for label in labels)
    if strange:
        raise TableError(
            f"{where}: column {name!r} has {strange} labels that are not in its hierarchy; "
            f"give the hierarchy the file was recoded with"
        )
    return np.array([*(place[label] for label in labels), MISSING], dtype=np.int32)[codes]


def refuse_unaligned_roles(original: Table, masked: Table) -> None:
    """Refuse to read a masked column in another role than its original's, as models and audit would not judge it."""
    guarded = (Role.QUASI_IDENTIFIER, Role.IDENTIFIER, Role.CONFIDENTIAL)
    for attribute in original.attributes:
        if attribute.role not in guarded or attribute.name not in masked.names:
            continue
        role = masked.attribute(attribute.name).role
        if attribute.role is Role.QUASI_IDENTIFIER and role is Role.IDENTIFIER:
            raise ReleaseRefused(
                f"nothing was released: {attribute.name!r} is a quasi-identifier in the original and an identifier, "
                f"which is never published, in the masked table, so that its loss cannot be measured; give it the role "
                f"'identifier' in the original too, or drop the column from both tables"
            )
        if role is not attribute.role and role is not Role.IDENTIFIER:
            raise ReleaseRefused(
                f"nothing was released: {attribute.name!r} has the role {attribute.role.value!r} in the original and "
                f"{role.value!r} in the masked table; give it the role {attribute.role.value!r} again, or drop the "
                f"column"
            )
