"""Tables from pandas, polars and pyarrow frames, and back in the types of the frame they were made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import TableError, describe_type, find_repeated, listing, suggestion
from crypsis.table.attribute import Attribute, Kind, Role, read_kind, read_role
from crypsis.table.builders import attach_built_hierarchy
from crypsis.table.encoding import Declared, Source, Wish, encode, encode_series_zeros
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.table import Column, Table, require_table

# -- Tables from pandas, polars and pyarrow frames; `crypsis.table.frames` goes back.

Frame: TypeAlias = Any
"""A pandas or polars DataFrame, or a pyarrow Table."""
Backend = Literal["pandas", "polars", "pyarrow"]


@dataclass(frozen=True, eq=False)
class Origin:
    """The frame a table was made from, and the attributes and columns read from it."""

    frame: Frame  # A snapshot of the frame
    backend: Backend  # its library
    attributes: tuple[Attribute, ...]  # attributes as read
    columns: tuple[Column, ...]  # columns as read
    read_with: Any = None  # the options of the file it was read from, as given and found out


def _admit_frame(frame: Frame) -> tuple[Any, Backend, list[str]]:
    """A snapshot of a frame, its library, and its column names as text."""
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
    if "" in names:
        raise TableError(f"column {names.index('') + 1} has no name; give every column one")
    if backend is nw.Implementation.PANDAS:
        # under copy-on-write a shallow copy is a safe snapshot; before pandas 3 only a deep one is
        return frame.copy(deep=not _copies_on_write()), "pandas", names
    if backend is nw.Implementation.POLARS:
        return frame.clone(), "polars", names
    if backend is nw.Implementation.PYARROW:
        return frame, "pyarrow", names
    if isinstance(frame, (str, Path)):
        raise TableError(f"the path of a file is no table; read it first, e.g. crypsis.read_table({str(frame)!r})")
    raise TableError(
        f"{describe_type(frame)} is no table; give a crypsis.Table, a pandas or polars DataFrame or a pyarrow Table "
        f"(collect a lazy frame first)"
    )


def _copies_on_write() -> bool:
    """Whether the installed pandas copies on write."""
    import pandas as pd

    return int(pd.__version__.split(".", 1)[0]) >= 3


def _native_series(native: Any, backend: str, place: int) -> Any:
    """The column of a frame at a position, as a series of its library."""
    if backend == "pandas":
        return native.iloc[:, place]
    return native.to_series(place) if backend == "polars" else native.column(place)


def _as_polars(series: Any, backend: str, name: str) -> pl.Series:
    """A series of any of the libraries as a polars series; a pandas column of mixed Python objects becomes text."""
    if backend == "polars":
        return series  # type: ignore[no-any-return]
    if backend == "pyarrow":
        return pl.Series(name, series)
    try:
        if str(series.dtype).startswith(("period", "interval")):
            raise TypeError("a type that only pandas has")
        if series.dtype.kind == "c":
            raise TableError(f"column {name!r} holds complex numbers; give their parts as columns of their own")
        converted = _from_pandas(series.sparse.to_dense() if str(series.dtype).startswith("Sparse") else series)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        lost = series.isna().to_numpy()
        cells = [None if gone else str(cell) for cell, gone in zip(series, lost, strict=True)]
        return pl.Series(name, cells, dtype=pl.String)
    if converted.dtype.is_float():
        converted = converted.fill_nan(None).clone()
    return pl.Series(name, converted)


def _from_pandas(series: Any) -> pl.Series:
    """A pandas series as a polars series, cell by cell where pyarrow is absent and the type is not one of numpy."""
    plain = isinstance(series.dtype, np.dtype) and series.dtype.kind in "biufmM"
    if plain or find_spec("pyarrow") is not None:
        return pl.Series(nw.from_native(series, series_only=True).to_polars())
    lost = series.isna().to_numpy()
    made = pl.Series([None if gone else cell for cell, gone in zip(series, lost, strict=True)])
    if made.dtype == pl.Object:
        raise TypeError("cells of a type that polars has not")
    return made


def _declared_categories(series: Any, backend: str) -> Declared | None:
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


# -- Tables from pandas, polars and pyarrow frames; `crypsis.table.frames` goes back.

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
        for name in named_columns(names):
            if given.get(name) is role:
                raise TableError(f"column {name!r} is named twice as {role}; name it once")
            if name in given:
                raise TableError(f"column {name!r} is given two roles, {given[name]} and {role}; choose one")
            given[name] = role
    return table_of(frame, given, kinds or {}, hierarchies or {}, Source())


def named_columns(names: Iterable[str] | str | None) -> list[str]:
    """Names of columns as somebody gives them for a frame: several, one as text, or none.

    >>> named_columns("age"), named_columns(name for name in ("age", "sex")), named_columns(None)
    (['age'], ['age', 'sex'], [])
    """
    return [names] if isinstance(names, str) else list(() if names is None else names)


def as_table(data: Table | Frame) -> Table:
    """Return a table unchanged, and wrap a frame, whose columns then have no role.

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

    `masked`: the values are masked: columns may be constant or empty.
    """
    native, backend, names = _admit_frame(frame)
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
        series = _native_series(native, backend, place)
        declared = None if wish.kind is Kind.NUMERIC else _declared_categories(series, backend)
        cells = _as_polars(series, backend, name)
        attribute, column = encode(name, cells, wish, source, declared)
        attribute = attribute.but(stored=cells.dtype)
        if name in hierarchies:
            ordered = declared is not None or wish.order is not None
            attribute, column = attach_built_hierarchy(hierarchies[name], attribute, column, source, ordered=ordered)
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
    empty, single = ([name for name in distinct if distinct[name] == count] for count in (0, 1))
    said = _describe_silent(single, "one value for all records", source)
    return [*said, *_describe_silent(empty, "no value at all", source)]


def _describe_silent(names: Sequence[str], what: str, source: Source) -> list[str]:
    """A note on columns without information; none where there is no such column."""
    if len(names) < 2:
        return [f"{source.of(name)} has {what} and carries no information" for name in names]
    name_of = f"{source.name}: " if source.name else ""
    return [f"{name_of}columns {listing(names)} have {what} and carry no information"]


def _distinct(column: NDArray[Any]) -> int:
    """0 for no value, 1 for one value that all records share, 2 for anything else."""
    present = column[~np.isnan(column)] if column.dtype == np.float64 else column[column != MISSING]
    if not len(present):
        return 0
    return 1 if len(present) == len(column) and bool((present == present[0]).all()) else 2


# -- Tables back to frames, in the types of the frame they were made from.
#
# A wrapped table keeps its frame. Columns that are not masked are returned as they are, without a copy; masked columns
# keep their type wherever that type can hold the masked values.

INTEGER_LIMIT = float(2**63)


def to_frame(table: Table, *, suppressed: Literal["drop", "keep"] = "drop") -> Frame:
    """Return a table as the kind of frame it was made from, or as a polars frame.

    Index, column order, types, categories and columns that were not masked are those of the frame, except that −0.0
    becomes 0.0. Generalised columns are text.

    Parameters
    ----------
    table : Table
    suppressed : {"drop", "keep"}
        Leave suppressed records out, or keep their rows with missing quasi-identifiers.

    Returns
    -------
    Frame

    Raises
    ------
    TableError
        If `suppressed` is neither, or the table has a column that its frame does not have.

    Examples
    --------
    >>> crypsis.to_frame(crypsis.example(3)).shape
    (3, 10)
    """
    require_table(table, "to_frame")
    if suppressed not in ("drop", "keep"):
        raise TableError(f"suppressed is {suppressed!r}; it may be 'drop' or 'keep'")
    if suppressed == "keep" and not table.kept.all():
        table = _blank_identifiers(table)
    origin = table.origin
    if not isinstance(origin, Origin) or len(origin.columns[0]) != table.rows:
        fresh = pl.DataFrame([_fresh(table, name) for name in table.names])
        return fresh if suppressed == "keep" or table.kept.all() else fresh.filter(pl.Series(table.kept))
    frame = _assemble({name: _with_one_zero(*_restore_column(table, name, origin)) for name in table.names}, origin)
    if suppressed == "keep" or table.kept.all():
        return frame
    if origin.backend == "pandas":
        return frame.loc[table.kept]
    return frame.filter(pl.Series(table.kept) if origin.backend == "polars" else _arrow_mask(table.kept))


def to_frame_like(table: Table, source: Table) -> Frame:
    """Return a table as a frame of the library and types of another table's frame, of which nothing else is in it.

    Neither an index nor a category that no record holds comes from the source.

    >>> to_frame_like(Table.from_columns({"age": [3, 4]}), Table.from_columns({"age": [5]})).shape
    (2, 1)
    """
    made = pl.DataFrame([_fresh(table, name) for name in table.names]).filter(pl.Series(table.kept))
    origin = source.origin
    if not isinstance(origin, Origin) or origin.backend == "polars":
        return made
    places = {attribute.name: place for place, attribute in enumerate(origin.attributes)}
    natives = {name: _native_series(origin.frame, origin.backend, place) for name, place in places.items()}
    if origin.backend == "pandas":
        import pandas as pd

        return pd.DataFrame({each.name: _published_pandas(each, natives[each.name]) for each in made.get_columns()})
    import pyarrow as pa

    return pa.table({each.name: _published_arrow(each, natives[each.name]) for each in made.get_columns()})


def _published_pandas(column: pl.Series, native: Any) -> Any:
    """A column as pandas holds it, in the type of the native one where that can hold the values."""
    if isinstance(column.dtype, (pl.Enum, pl.Categorical)):
        return _fresh_to_pandas(column)
    return _in_pandas(column, native.dtype, None, column.name)


def _published_arrow(column: pl.Series, native: Any) -> Any:
    """A column as pyarrow holds it, in the type of the native one where that can hold the values."""
    import pyarrow as pa

    if not isinstance(column.dtype, (pl.Enum, pl.Categorical)):
        return to_native(column, native, "pyarrow")
    words, ordered = column.cast(pl.String), isinstance(column.dtype, pl.Enum)
    labels = (
        column.dtype.categories.to_list()
        if isinstance(column.dtype, pl.Enum)
        else words.drop_nulls().unique(maintain_order=True).to_list()
    )
    codes = words.replace_strict(labels, range(len(labels)), default=None, return_dtype=pl.Int32)
    kind = native.type if pa.types.is_dictionary(native.type) else pa.dictionary(pa.int32(), pa.string())
    values = pa.array(labels, pa.string()).cast(kind.value_type)
    return pa.DictionaryArray.from_arrays(codes.to_arrow().cast(kind.index_type), values, ordered=ordered)


def to_pandas(frame: pl.DataFrame) -> Any:
    """A polars frame as a pandas frame, with pyarrow or without.

    Whole numbers and truth values with holes become floats and objects, as `polars.DataFrame.to_pandas` makes them.
    """
    import pandas as pd

    return pd.DataFrame({column.name: _fresh_to_pandas(column) for column in frame.get_columns()})


def _fresh_to_pandas(column: pl.Series) -> Any:
    import pandas as pd

    if isinstance(column.dtype, (pl.Enum, pl.Categorical)):
        words = column.cast(pl.String)
        if isinstance(column.dtype, pl.Enum):
            return pd.Categorical(words.to_list(), column.dtype.categories.to_list(), ordered=True)
        return pd.Categorical(words.to_list(), words.drop_nulls().unique(maintain_order=True).to_list())
    if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone:
        naive = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy()
        return pd.Series(naive).dt.tz_localize("UTC").dt.tz_convert(column.dtype.time_zone)
    if column.dtype == pl.Date:
        return column.cast(pl.Datetime("ms")).to_numpy()
    return column.to_numpy() if column.dtype.is_numeric() or column.dtype.is_temporal() else column.to_list()


def _arrow_mask(kept: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(kept)


def _blank_identifiers(table: Table) -> Table:
    columns = {}
    for name in table.quasi_identifiers:
        column = table.column(name).copy()
        column[~table.kept] = np.nan if table.holds_numbers(name) else MISSING
        columns[name] = column
    return table.with_columns(columns)


def _fresh(table: Table, name: str) -> pl.Series:
    """A column of a table without its frame, in the type the column had where its values still allow it."""
    attribute = table.attribute(name)
    if table.holds_numbers(name):
        stored = attribute.stored
        typed = stored is not None and (stored.is_numeric() or stored == pl.Datetime)
        return _number_series(table.column(name), attribute, stored if typed else None)
    return _as_stored(_label_codes(table.column(name), table.labels(name), name), table.labels(name), attribute)


def _as_stored(texts: pl.Series, labels: tuple[str, ...], attribute: Attribute) -> pl.Series:
    """Categories as the truth values, whole numbers or categories that they were; else as text."""
    stored = attribute.stored
    if stored == pl.Boolean and set(labels) <= {"true", "false"}:
        return texts == "true"
    if stored is not None and stored.is_integer() and all(_WHOLE.fullmatch(label) for label in labels):
        numbers = texts.cast(stored, strict=False)
        return numbers if numbers.null_count() == texts.null_count() else texts
    if stored in (pl.Enum, pl.Categorical) and len(set(labels)) == len(labels):
        return texts.cast(pl.Enum(labels) if attribute.kind is Kind.ORDINAL else pl.Categorical)
    return texts


_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
"""A whole number as its label is written."""


def _restore_column(table: Table, name: str, origin: Origin) -> tuple[bool, Any]:
    """Whether a column changed, and the column as a series of the frame's library."""
    places = {attribute.name: place for place, attribute in enumerate(origin.attributes)}
    if name not in places:
        raise TableError(f"column {name!r} is not in the frame the table was made from; drop it first")
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
        like = _as_polars(native, origin.backend, name).dtype
        return True, to_native(_number_series(column, attribute, like), native, origin.backend)
    if alike:
        wanted, found = _rows_to_gather(column, collected, len(before.categories))
        if found:
            return True, _gather_cells(native, wanted, origin.backend)
        return True, _declared_cells(column, native, before, origin.backend)
    fresh = _label_codes(table.column(name), table.labels(name), name)
    return True, (_word_categories if table.level(name) == 0 else to_native)(fresh, native, origin.backend)


def _with_one_zero(changed: bool, column: Any) -> tuple[bool, Any]:
    """A restored column without −0.0."""
    settled = encode_series_zeros(column)
    return changed or settled is not column, settled


def _in_terms_of(
    before: tuple[str, ...], now: tuple[str, ...], codes: NDArray[np.int32]
) -> tuple[NDArray[np.int32], bool]:
    """Codes by the new categories as codes by the former ones, if those contain every value in use."""
    place = {label: code for code, label in enumerate(before)}
    translate = np.array([*(place.get(label, MISSING) for label in now), MISSING], dtype=np.int32)
    former = translate[codes]
    same = bool(np.array_equal(former == MISSING, codes == MISSING))
    return (former, True) if same else (codes, False)


def _declared_cells(codes: NDArray[np.int32], native: Any, before: Attribute, backend: str) -> Any:
    """Cells of declared categories that no record had."""
    fresh = _label_codes(codes, before.categories, before.name)
    if backend == "pandas" and hasattr(native, "cat"):
        import pandas as pd

        return pd.Series(pd.Categorical.from_codes(codes, dtype=native.dtype), index=native.index, name=native.name)
    if backend == "polars" and native.dtype == pl.Enum:
        return fresh.cast(native.dtype)
    return _word_categories(fresh, native, backend)


def _word_categories(fresh: pl.Series, native: Any, backend: str) -> Any:
    """Categories the frame may not hold, as cells of its own type where that takes any category, else as text."""
    if _as_polars(native, backend, fresh.name).dtype == pl.Boolean:
        fresh = (fresh == "true").alias(fresh.name)
    if backend == "polars" and native.dtype == pl.Categorical:
        return fresh.cast(native.dtype)
    return to_native(fresh, native, backend)


def _assemble(series: Mapping[str, tuple[bool, Any]], origin: Origin) -> Any:
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


# -- one column --


def _label_codes(codes: NDArray[np.int32], labels: tuple[str, ...], name: str) -> pl.Series:
    """The label of each code as a polars series; a missing value is null."""
    texts = pl.Series(name, list(labels), dtype=pl.String)
    places = pl.Series(codes).cast(pl.Int64)
    return texts.gather(places.set(places == MISSING, None)).alias(name)


def _number_series(values: NDArray[np.float64], attribute: Attribute, like: Any = None) -> pl.Series:
    """Numbers as a polars series: dates as dates, and integers where they fit.

    `values` float64[n]: the numbers; NaN is missing; `attribute`: name of the column, and whether its numbers are
    dates.
    """
    plain = pl.Series(attribute.name, values).fill_nan(None)
    if attribute.dates == "date":
        return plain.round(0).cast(pl.Int32).cast(pl.Date)
    if attribute.dates == "datetime":
        moments = (plain * 1e6).round(0).cast(pl.Int64).cast(pl.Datetime("us"))
        return _apply_zone(moments, like)
    if like is None or like.is_integer():
        return _as_integers(plain, like or pl.Int64())
    if like == pl.Float32 and bool((plain == plain.cast(pl.Float32).cast(pl.Float64)).fill_null(True).all()):
        return plain.cast(pl.Float32)
    return plain


def _apply_zone(moments: pl.Series, like: Any) -> pl.Series:
    if like is None or like != pl.Datetime:
        return moments
    timed = moments.cast(pl.Datetime(like.time_unit))
    return timed.dt.replace_time_zone("UTC").dt.convert_time_zone(like.time_zone) if like.time_zone else timed


def _as_integers(numbers: pl.Series, dtype: Any) -> pl.Series:
    """As integers of the given type if every number is whole and fits, else unchanged."""
    whole = bool(((numbers == numbers.round(0)) & (numbers.abs() < INTEGER_LIMIT)).fill_null(True).all())
    if not whole:
        return numbers
    cast = numbers.cast(pl.Int64).cast(dtype, strict=False)
    return cast if cast.null_count() == numbers.null_count() else numbers


# -- cells of the frame itself --


def _rows_to_gather(
    codes: NDArray[np.int32], collected: NDArray[np.int32], categories: int
) -> tuple[NDArray[np.int64], bool]:
    """For each masked code a row of the original column that has it.

    `codes`, `collected` int32[n]; returns int64[n].
    """
    rows = np.arange(len(codes), dtype=np.int64)
    first = np.full(categories + 1, -1, dtype=np.int64)
    first[collected[::-1]] = rows[::-1]  # code −1 lands on the last place
    wanted = first[codes]
    still = codes == collected
    wanted[still] = rows[still]
    return wanted, bool(np.all((wanted >= 0) | (codes == MISSING)))


def _gather_cells(native: Any, wanted: NDArray[np.int64], backend: str) -> Any:
    """Cells of a native series at the given rows; −1 becomes a missing value of the same type where it has one."""
    hole = wanted < 0
    if backend == "polars":
        places = pl.Series(wanted)
        return native.gather(places.set(pl.Series(hole), None))
    if backend == "pyarrow":
        import pyarrow as pa

        return native.take(pa.array(wanted, mask=hole))
    taken = native.iloc[np.maximum(wanted, 0)].set_axis(native.index)
    if not hole.any():
        return taken
    if taken.dtype.kind in "iu" and isinstance(taken.dtype, np.dtype):
        taken = taken.astype(taken.dtype.name.replace("int", "Int").replace("u", "U"))
    elif taken.dtype == np.bool_:
        taken = taken.astype("boolean")
    return taken.mask(hole)


# -- series of the frame's library --


def to_native(fresh: pl.Series, native: Any, backend: str) -> Any:
    """A restored polars series as a column of the frame's library, with the missing values of the native column."""
    if backend == "pandas":
        return _to_pandas(fresh, native)
    collected = native if backend == "polars" else pl.Series(fresh.name, native.combine_chunks())
    if collected.dtype.is_float() and fresh.dtype.is_float():
        nan = fresh.is_null() & collected.is_nan().fill_null(False)
        if nan.any():
            fresh = fresh.set(nan, float("nan"))
    if backend == "polars":
        return fresh
    import pyarrow as pa

    arrow = fresh.to_arrow()
    return pa.chunked_array([arrow.cast(_arrow_type(arrow.type, native.type))])


def _arrow_type(fresh: Any, native: Any) -> Any:
    """The native type if it is of the same family as the fresh one, else the fresh type."""
    import pyarrow as pa

    family = [pa.types.is_integer, pa.types.is_floating, pa.types.is_date, pa.types.is_timestamp, _is_text]
    for member in family:
        if member(fresh) and member(native):
            return native if not pa.types.is_float16(native) else fresh
    return pa.string() if _is_text(fresh) else fresh


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _to_pandas(fresh: pl.Series, native: Any) -> Any:
    """A pandas series with the index of the native one, in its dtype where that can hold the values."""
    return _in_pandas(fresh, native.dtype, native.index, native.name)


def _in_pandas(fresh: pl.Series, dtype: Any, index: Any, name: Any) -> Any:
    """A pandas series in a dtype where that can hold the values."""
    import pandas as pd

    holes = fresh.null_count() > 0
    objects = bool(dtype == np.dtype(object))
    if fresh.dtype == pl.String or objects:
        return pd.Series(fresh.to_list(), index=index, name=name, dtype=object if objects else None)
    if fresh.dtype == pl.Boolean:
        flags = pd.Series(pd.array(fresh.to_list(), dtype="boolean"), index=index, name=name)
        return flags if holes and dtype == np.bool_ else flags.astype(dtype)
    arrow = isinstance(dtype, pd.ArrowDtype)
    nullable = isinstance(dtype, pd.api.extensions.ExtensionDtype) and not arrow
    if fresh.dtype.is_integer():
        whole = pd.Series(fresh.to_list(), dtype="Int64", index=index, name=name)
        if holes and not (nullable or arrow):
            return whole.astype(dtype.name.replace("int", "Int").replace("u", "U"))
        return whole.astype(dtype)
    if fresh.dtype.is_float():
        numbers = pd.Series(fresh.to_numpy(), index=index, name=name)
        if arrow:
            return pd.Series(pd.array(fresh.to_list(), dtype=_arrow_float(dtype)), index=index, name=name)
        if nullable:
            return numbers.astype("Float32" if fresh.dtype == pl.Float32 else "Float64")
        return numbers
    moments = pd.Series(fresh.to_numpy(), index=index, name=name)
    if arrow:
        return pd.Series(pd.array(fresh.to_list(), dtype=dtype), index=index, name=name)
    if getattr(dtype, "tz", None) is not None:
        naive = fresh.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        moments = pd.Series(naive.to_numpy(), index=index, name=name).dt.tz_localize("UTC").dt.tz_convert(dtype.tz)
    return moments.astype(dtype)


def _arrow_float(dtype: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    return dtype if pa.types.is_floating(dtype.pyarrow_dtype) else pd.ArrowDtype(pa.float64())


def finite_numbers_of_frame(table: Table, name: str) -> NDArray[np.float64]:
    """The numbers of a column of a table made from a frame, or a sentence if some of them are infinite."""
    column: NDArray[np.float64] = table.numbers([name])[:, 0]
    endless = int(np.isinf(column).sum())
    if endless:
        raise TableError(
            f"column {name!r} holds {endless} infinite values, which no measure can compare; make them missing or "
            f"correct them"
        )
    return column


__all__ = ["Frame", "Hierarchies", "Kinds", "as_table", "table_of", "wrap"]
