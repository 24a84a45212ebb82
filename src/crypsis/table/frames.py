"""Tables from pandas, polars and pyarrow frames; `crypsis.table.restoring` goes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import TableError, find_repeated, listing, suggestion
from crypsis.table.attribute import Attribute, Kind, Role, read_kind, read_role
from crypsis.table.builders import attach
from crypsis.table.encoding import Declared, Source, Wish, encode
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.table import Column, Table

Frame: TypeAlias = Any
"""A pandas or polars DataFrame, or a pyarrow Table."""
Backend = Literal["pandas", "polars", "pyarrow"]


@dataclass(frozen=True, eq=False)
class Origin:
    """The frame a table was made from, and the attributes and columns read from it.

    Attributes
    ----------
    frame : Frame
        A snapshot of the frame.
    backend : {"pandas", "polars", "pyarrow"}
        Its library.
    attributes : tuple of Attribute
        Attributes as read.
    columns : tuple of ndarray
        Columns as read.
    """

    frame: Frame
    backend: Backend
    attributes: tuple[Attribute, ...]
    columns: tuple[Column, ...]


def admit_frame(frame: Frame) -> tuple[Any, Backend, list[str]]:
    """A snapshot of a frame, its library, and its column names as text.

    Parameters
    ----------
    frame : Frame
        What the caller gave.

    Returns
    -------
    frame, backend, names
        The snapshot, "pandas", "polars" or "pyarrow", and the names.

    Raises
    ------
    TableError
        If it is no eager frame of these libraries, or two columns share a name.
    """
    backend: nw.Implementation | None = None
    try:
        backend = nw.from_native(frame, eager_only=True).implementation
        eager = True
    except nw.exceptions.DuplicateError:
        eager = True
    except TypeError:
        eager = False
    labels = (frame.column_names if hasattr(frame, "column_names") else frame.columns) if eager else ()
    names = [str(label) for label in labels]
    twice = find_repeated(names)
    if twice:
        raise TableError(f"two columns share a name: {listing(map(repr, twice))}; give every column its own")
    if backend is nw.Implementation.PANDAS:
        # under copy-on-write a shallow copy is a safe snapshot; before pandas 3 only a deep one is
        return frame.copy(deep=not copies_on_write()), "pandas", names
    if backend is nw.Implementation.POLARS:
        return frame.clone(), "polars", names
    if backend is nw.Implementation.PYARROW:
        return frame, "pyarrow", names
    raise TableError(
        f"a {type(frame).__module__.split('.')[0]} {type(frame).__name__} is no table; give a crypsis.Table, a pandas "
        f"or polars DataFrame or a pyarrow Table (collect a lazy frame first)"
    )


def copies_on_write() -> bool:
    """Whether the installed pandas copies on write."""
    import pandas as pd

    return int(pd.__version__.split(".", 1)[0]) >= 3


def native_series(native: Any, backend: str, place: int) -> Any:
    """The column of a frame at a position, as a series of its library."""
    if backend == "pandas":
        return native.iloc[:, place]
    return native.to_series(place) if backend == "polars" else native.column(place)


def as_polars(series: Any, backend: str, name: str) -> pl.Series:
    """A series of any of the libraries as a polars series; a pandas column of mixed Python objects becomes text."""
    if backend == "polars":
        return series  # type: ignore[no-any-return]
    if backend == "pyarrow":
        return pl.Series(name, series)
    try:
        if str(series.dtype).startswith(("period", "interval")):
            raise TypeError("a type that only pandas has")
        converted = nw.from_native(series, series_only=True).to_polars()
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        lost = series.isna().to_numpy()
        cells = [None if gone else str(cell) for cell, gone in zip(series, lost, strict=True)]
        return pl.Series(name, cells, dtype=pl.String)
    if converted.dtype.is_float():
        converted = converted.fill_nan(None).clone()
    return pl.Series(name, converted)


def declared_categories(series: Any, backend: str) -> Declared | None:
    """Labels and codes of a column whose type declares categories; None for any other column."""
    if backend == "pandas":
        if not hasattr(series, "cat"):
            return None
        labels = tuple(str(label) for label in series.cat.categories)
        found = Declared(labels, bool(series.cat.ordered), series.cat.codes.to_numpy().astype(np.int32))
    elif backend == "polars":
        if series.dtype != pl.Enum:
            return None
        codes = series.to_physical().cast(pl.Int32).fill_null(MISSING).to_numpy()
        found = Declared(tuple(series.dtype.categories), True, codes)
    else:
        import pyarrow as pa

        if not pa.types.is_dictionary(series.type):
            return None
        whole = series.unify_dictionaries().combine_chunks()
        codes = whole.indices.cast(pa.int32()).fill_null(MISSING).to_numpy(zero_copy_only=False)
        found = Declared(tuple(str(v) for v in whole.dictionary.to_pylist()), bool(series.type.ordered), codes)
    if len(set(found.labels)) < len(found.labels):
        raise TableError("a categorical column has two categories of the same name; give every category its own")
    return found


# -- Tables from pandas, polars and pyarrow frames; `crypsis.table.restoring` goes back.

Kinds = Mapping[str, str | Sequence[str]]
Hierarchies = Mapping[str, Hierarchy | str | Path]


def wrap(
    frame: Frame,
    *,
    identifiers: Iterable[str] = (),
    quasi_identifiers: Iterable[str] = (),
    confidential: Iterable[str] = (),
    roles: Mapping[str, str] | None = None,
    kinds: Kinds | None = None,
    hierarchies: Hierarchies | None = None,
) -> Table:
    """Make a table of a pandas, polars or pyarrow frame.

    The frame is not changed, and later changes to it do not change the table.

    Parameters
    ----------
    frame : Frame
        A pandas or polars DataFrame, or a pyarrow Table.
    identifiers, quasi_identifiers, confidential : iterable of str
        Columns by role; every other column is undecided, and nothing is released before somebody decides.
    roles : mapping of str to str, optional
        Further roles by column: "weight", "household", "stratum", or "other" for a column that nobody could use to find
        a person.
    kinds : mapping of str to str or sequence of str, optional
        "numeric", "ordinal" or "nominal" by column, or the categories of an ordinal column from low to high. By default
        the kind is read from the values.
    hierarchies : mapping of str to Hierarchy, str or path, optional
        By column: a Hierarchy, a builder such as "intervals:5,10,20", or the path of a hierarchy file.

    Returns
    -------
    Table
        The values of the frame, encoded.

    Raises
    ------
    TableError
        If a named column does not exist, a column has two roles, the values cannot be protected, or a table is given,
        which has its roles.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [31, 32, 47], "sex": ["f", "m", "f"], "income": [2100, 2500, 3900]})
    >>> table = crypsis.wrap(frame, quasi_identifiers=["age", "sex"], confidential=["income"])
    >>> table.quasi_identifiers
    ['age', 'sex']
    """
    if isinstance(frame, Table):
        raise TableError(
            "a table has its roles, kinds and hierarchies, and some are given as well; leave them out, or give the "
            "frame the table was made from"
        )
    given = {name: read_role(role, name) for name, role in (roles or {}).items()}
    for role, names in (
        (Role.IDENTIFIER, identifiers),
        (Role.QUASI_IDENTIFIER, quasi_identifiers),
        (Role.CONFIDENTIAL, confidential),
    ):
        for name in [names] if isinstance(names, str) else names:
            if name in given:
                raise TableError(f"column {name!r} is given two roles, {given[name]} and {role}; choose one")
            given[name] = role
    return table_of(frame, given, kinds or {}, hierarchies or {}, Source())


def as_table(data: Table | Frame) -> Table:
    """Return a table unchanged, and wrap a frame, whose columns then have no role.

    Raises
    ------
    TableError
        If `data` is neither a table nor a pandas, polars or pyarrow frame.

    Examples
    --------
    >>> import polars as pl
    >>> as_table(pl.DataFrame({"age": [31, 32]}))
    Table(2 rows: age)
    """
    return data if isinstance(data, Table) else wrap(data)


def table_of(
    frame: Frame,
    roles: Mapping[str, Role],
    kinds: Kinds,
    hierarchies: Hierarchies,
    source: Source,
    masked: bool = False,
) -> Table:
    """Make a table of a frame whose rows come from a file or from memory.

    roles, kinds, hierarchies  by column, as for `wrap`
    source  where the rows come from, for messages
    masked  the values are masked: columns may be constant or empty

    Raises
    ------
    TableError
        If a named column does not exist or the values cannot be protected.
    """
    native, backend, names = admit_frame(frame)
    for what, chosen in (("role", roles), ("kind", kinds), ("hierarchy", hierarchies)):
        for name in chosen:
            if name not in names:
                where = f"{source.name}: " if source.name else ""
                raise TableError(
                    f"{where}there is no column {name!r} to give a {what}{suggestion(str(name), names)}; "
                    f"columns: {listing(names)}"
                )
    attributes, columns = [], []
    for place, name in enumerate(names):
        wish = _wish(name, roles.get(name, Role.UNDECIDED), kinds.get(name))
        series = native_series(native, backend, place)
        declared = None if wish.kind is Kind.NUMERIC else declared_categories(series, backend)
        attribute, column = encode(name, as_polars(series, backend, name), wish, source, declared)
        if name in hierarchies:
            ordered = declared is not None or wish.order is not None
            attribute, column = attach(hierarchies[name], attribute, column, source, ordered=ordered)
        attributes.append(attribute)
        columns.append(column)
    table = Table(tuple(attributes), tuple(columns))
    notes = () if masked else tuple(_look_over(table, source))
    return replace(table, origin=Origin(native, backend, table.attributes, table.columns), notes=notes)


def _wish(name: str, role: Role, kind: str | Sequence[str] | None) -> Wish:
    if kind is None:
        return Wish(role)
    if isinstance(kind, str):
        return Wish(role, read_kind(kind, name))
    return Wish(role, Kind.ORDINAL, tuple(str(label) for label in kind))


def _look_over(table: Table, source: Source) -> list[str]:
    """Refuse what cannot be protected, and return notes on columns without information."""
    name_of = f"{source.name}: " if source.name else ""
    if not table.rows:
        raise TableError(f"{name_of}the table has no rows; give at least one record")
    distinct = {name: _distinct(column) for name, column in zip(table.names, table.columns, strict=True)}
    if all(count == 0 for count in distinct.values()):
        raise TableError(f"{name_of}every value of every row is missing; give a table with data in it")
    notes = []
    quasi = table.quasi_identifiers
    for name, count in distinct.items():
        role = table.attribute(name).role
        if count == 0 and role in (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL):
            raise TableError(
                f"{source.of(name)}: all rows are missing, so there is nothing to protect as {role}; "
                f"drop the column or give it the role 'other'"
            )
        if count == 1 and quasi == [name]:
            raise TableError(
                f"{source.of(name)}: the only quasi-identifier has one value for all records, so there is "
                f"nothing to mask; name a quasi-identifier that differs between people"
            )
        if count < 2:
            what = "no value at all" if count == 0 else "one value for all records"
            notes.append(f"{source.of(name)} has {what} and carries no information")
    return notes


def _distinct(column: NDArray[Any]) -> int:
    """0 for no value, 1 for one value that all records share, 2 for anything else."""
    present = column[~np.isnan(column)] if column.dtype == np.float64 else column[column != MISSING]
    if not len(present):
        return 0
    return 1 if len(present) == len(column) and bool((present == present[0]).all()) else 2


__all__ = ["Frame", "Hierarchies", "Kinds", "as_table", "table_of", "wrap"]
