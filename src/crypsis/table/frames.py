"""Frames in and the same frames out: pandas, polars and pyarrow.

A wrapped table remembers its frame. Columns nobody touched go back as they are, without a copy; masked ones
take the type they had wherever that type can hold what they now say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import TableError, listing, repeated, suggestion
from crypsis.table.attribute import Attribute, Kind, Role, read_kind
from crypsis.table.builders import attach
from crypsis.table.encoding import Declared, Source, Wish, encode
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.restoring import gathered, labelled, numbered, rows_to_gather, to_native
from crypsis.table.signed_zeros import without_signed_zeros
from crypsis.table.table import Column, Table

Kinds = Mapping[str, str | Sequence[str]]
Hierarchies = Mapping[str, Hierarchy | str | Path]


@dataclass(frozen=True, eq=False)
class Origin:
    """The frame a table came from, and what its columns were when it came."""

    frame: Any
    backend: Literal["pandas", "polars", "pyarrow"]
    attributes: tuple[Attribute, ...]
    columns: tuple[Column, ...]


def wrap(
    frame: Any,
    *,
    identifiers: Iterable[str] = (),
    quasi_identifiers: Iterable[str] = (),
    confidential: Iterable[str] = (),
    kinds: Kinds | None = None,
    hierarchies: Hierarchies | None = None,
) -> Table:
    """A pandas, polars or pyarrow frame as a table; the frame is not changed, and later changes to it do not reach us.

    kinds        'numeric', 'ordinal' or 'nominal' by column, or a list of categories from low to high
    hierarchies  by column: a Hierarchy, a builder such as 'intervals:5,10,20', or the path of a hierarchy file
    """
    roles: dict[str, Role] = {}
    for role, names in (
        (Role.IDENTIFIER, identifiers),
        (Role.QUASI_IDENTIFIER, quasi_identifiers),
        (Role.CONFIDENTIAL, confidential),
    ):
        for name in [names] if isinstance(names, str) else names:
            if name in roles:
                raise TableError(f"column {name!r} is given two roles, {roles[name]} and {role}; choose one")
            roles[name] = role
    return table_of(frame, roles, kinds or {}, hierarchies or {}, Source())


def table_of(
    frame: Any, roles: Mapping[str, Role], kinds: Kinds, hierarchies: Hierarchies, source: Source, masked: bool = False
) -> Table:
    """The table of a frame whose rows come from `source`; of a masked file little is demanded."""
    native, backend, names = _admitted(frame)
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
        wish = _wish(name, roles.get(name, Role.OTHER), kinds.get(name))
        series = _native_series(native, backend, place)
        declared = None if wish.kind is Kind.NUMERIC else _declared(series, backend)
        attribute, column = encode(name, _polars(series, backend, name), wish, source, declared)
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


def _admitted(frame: Any) -> tuple[Any, Literal["pandas", "polars", "pyarrow"], list[str]]:
    """The native frame (guarded against later changes), its library, and its column names as text."""
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
    twice = repeated(names)
    if twice:
        raise TableError(f"two columns share a name: {listing(map(repr, twice))}; give every column its own")
    if backend is nw.Implementation.PANDAS:
        # under copy-on-write a shallow copy is a safe snapshot; before pandas 3 only a deep one is
        return frame.copy(deep=not _copies_on_write()), "pandas", names
    if backend is nw.Implementation.POLARS:
        return frame.clone(), "polars", names
    if backend is nw.Implementation.PYARROW:
        return frame, "pyarrow", names
    raise TableError(
        f"a {type(frame).__module__.split('.')[0]} {type(frame).__name__} cannot be wrapped; "
        f"give a pandas or polars DataFrame or a pyarrow Table (collect a lazy frame first)"
    )


def _copies_on_write() -> bool:
    import pandas as pd

    return int(pd.__version__.split(".", 1)[0]) >= 3


def _native_series(native: Any, backend: str, place: int) -> Any:
    if backend == "pandas":
        return native.iloc[:, place]
    return native.to_series(place) if backend == "polars" else native.column(place)


def _polars(series: Any, backend: str, name: str) -> pl.Series:
    """Any native series as polars; a pandas column of mixed Python objects as text."""
    if backend == "polars":
        return series  # type: ignore[no-any-return]
    if backend == "pyarrow":
        return pl.Series(name, series)
    try:
        if str(series.dtype).startswith(("period", "interval")):
            raise TypeError("a type of pandas' own")
        converted = nw.from_native(series, series_only=True).to_polars()
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        lost = series.isna().to_numpy()
        cells = [None if gone else str(cell) for cell, gone in zip(series, lost, strict=True)]
        return pl.Series(name, cells, dtype=pl.String)
    if converted.dtype.is_float():
        converted = converted.fill_nan(None).clone()
    return pl.Series(name, converted)


def _declared(series: Any, backend: str) -> Declared | None:
    """Labels and codes of a categorical column; None for any other."""
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


def _look_over(table: Table, source: Source) -> list[str]:
    """Refuse what cannot be protected at all; note what is merely odd."""
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
    """0 for no value, 1 for one that all records share, 2 for anything that tells records apart."""
    present = column[~np.isnan(column)] if column.dtype == np.float64 else column[column != MISSING]
    if not len(present):
        return 0
    return 1 if len(present) == len(column) and bool((present == present[0]).all()) else 2


# -- back --


def to_frame(table: Table, *, suppressed: Literal["drop", "keep"] = "drop") -> Any:
    """The table as the kind of frame it came from (polars, if it came from none).

    Index, column order, types, categories and untouched columns are as they were (−0.0 apart, which becomes 0.0);
    generalised columns are text.
    suppressed  'drop' leaves suppressed records out; 'keep' keeps their rows, their quasi-identifiers missing
    """
    if suppressed not in ("drop", "keep"):
        raise TableError(f"suppressed is {suppressed!r}; it may be 'drop' or 'keep'")
    if suppressed == "keep" and not table.kept.all():
        table = _blanked(table)
    origin = table.origin
    if not isinstance(origin, Origin) or len(origin.columns[0]) != table.rows:
        fresh = pl.DataFrame([_fresh(table, name) for name in table.names])
        return fresh if suppressed == "keep" or table.kept.all() else fresh.filter(pl.Series(table.kept))
    frame = _assembled({name: _with_one_zero(*_restored(table, name, origin)) for name in table.names}, origin)
    if suppressed == "keep" or table.kept.all():
        return frame
    if origin.backend == "pandas":
        return frame.loc[table.kept]
    return frame.filter(pl.Series(table.kept) if origin.backend == "polars" else _arrow_mask(table.kept))


def _arrow_mask(kept: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(kept)


def _blanked(table: Table) -> Table:
    columns = {}
    for name in table.quasi_identifiers:
        column = table.column(name).copy()
        column[~table.kept] = np.nan if table.holds_numbers(name) else MISSING
        columns[name] = column
    return table.with_columns(columns)


def _fresh(table: Table, name: str) -> pl.Series:
    if table.holds_numbers(name):
        return numbered(table.column(name), table.attribute(name))
    return labelled(table.column(name), table.labels(name), name)


def _restored(table: Table, name: str, origin: Origin) -> tuple[bool, Any]:
    """One column as a series of the frame's own library; whether it changed, and what it is now."""
    places = {attribute.name: place for place, attribute in enumerate(origin.attributes)}
    if name not in places:
        raise TableError(f"column {name!r} was not in the frame the table came from; drop it before going back")
    place = places[name]
    native = _native_series(origin.frame, origin.backend, place)
    collected, before = origin.columns[place], origin.attributes[place]
    column, attribute = table.column(name), table.attribute(name)
    alike = column.dtype == collected.dtype and table.level(name) == 0
    if alike and attribute.categories != before.categories:
        column, alike = _in_terms_of(before.categories, attribute.categories, column)
    if alike and np.array_equal(column, collected, equal_nan=column.dtype == np.float64):
        return False, native
    if table.holds_numbers(name):
        like = _polars(native, origin.backend, name).dtype
        return True, to_native(numbered(column, attribute, like), native, origin.backend)
    if alike:
        wanted, found = rows_to_gather(column, collected, len(before.categories))
        if found:
            return True, gathered(native, wanted, origin.backend)
        return True, _declared_cells(column, native, before, origin.backend)
    return True, to_native(labelled(table.column(name), table.labels(name), name), native, origin.backend)


def _with_one_zero(changed: bool, column: Any) -> tuple[bool, Any]:
    """A restored column without −0.0."""
    settled = without_signed_zeros(column)
    return changed or settled is not column, settled


def _in_terms_of(
    before: tuple[str, ...], now: tuple[str, ...], codes: NDArray[np.int32]
) -> tuple[NDArray[np.int32], bool]:
    """Codes of the present categories as codes of the former ones, if those hold every value in use."""
    place = {label: code for code, label in enumerate(before)}
    translate = np.array([*(place.get(label, MISSING) for label in now), MISSING], dtype=np.int32)
    former = translate[codes]
    same = bool(np.array_equal(former == MISSING, codes == MISSING))
    return (former, True) if same else (codes, False)


def _declared_cells(codes: NDArray[np.int32], native: Any, before: Attribute, backend: str) -> Any:
    """Cells of categories that were declared but that no record held."""
    fresh = labelled(codes, before.categories, before.name)
    if backend == "pandas" and hasattr(native, "cat"):
        import pandas as pd

        return pd.Series(pd.Categorical.from_codes(codes, dtype=native.dtype), index=native.index, name=native.name)
    if backend == "polars" and native.dtype == pl.Enum:
        return fresh.cast(native.dtype)
    return to_native(fresh, native, backend)


def _assembled(series: Mapping[str, tuple[bool, Any]], origin: Origin) -> Any:
    if origin.backend == "polars":
        return pl.DataFrame([column.alias(name) for name, (_, column) in series.items()])
    if origin.backend == "pyarrow":
        import pyarrow as pa

        columns = {name: column for name, (_, column) in series.items()}
        return pa.table(columns).replace_schema_metadata(origin.frame.schema.metadata)
    places = [place for place, attribute in enumerate(origin.attributes) if attribute.name in series]
    frame = origin.frame.iloc[:, places].copy(deep=not _copies_on_write())
    for new, place in enumerate(places):
        changed, column = series[origin.attributes[place].name]
        if changed:
            frame.isetitem(new, column)
    return frame
