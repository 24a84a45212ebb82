"""Tables that are counted and not read: files larger than memory, and frames of DuckDB, Spark or Dask.

A lattice needs only distinct tuples with counts. The engine that has the data counts them; the result is as small as
the number of distinct tuples, however many records there are.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import (
    EngineError,
    TableError,
    find_repeated,
    listing,
    suggestion,
    unknown_column,
)
from crypsis.extras import import_extra
from crypsis.table.attribute import UNPUBLISHED, Attribute, Role, read_role
from crypsis.table.builders import merges
from crypsis.table.encoding import Source, encode_lazy_zeros, encode_series_zeros
from crypsis.table.equivalence_classes import class_columns_by_key, equivalence_classes, pack_class_codes
from crypsis.table.frames import Hierarchies, Kinds, table_of
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.inference import infer_column_types
from crypsis.table.table import Table
from crypsis.table.text_files import DELIMITERS

LOOKED_AT = 10_000
"""Records from which the types of columns that are not counted are inferred."""


def _scan_text(path: Path, names: Sequence[str], delimiter: str | None, missing: Sequence[str]) -> pl.LazyFrame:
    """Open a CSV or TSV file without reading it; the named columns are text.

    `missing`: Missing-value markers; an empty cell is always missing.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            header = file.readline()
    except FileNotFoundError:
        raise TableError(f"{path} does not exist; give a Parquet or CSV file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path} cannot be read ({type(error).__name__}); counting needs text in UTF-8") from None
    usual = "\t" if path.suffix.lower() in (".tsv", ".tab") else max(DELIMITERS, key=header.count)
    try:
        lazy = pl.scan_csv(
            path,
            separator=delimiter or usual,
            schema_overrides=dict.fromkeys(names, pl.String),
            null_values=[text for text in missing if text],
            infer_schema_length=LOOKED_AT,
        )
        lazy.collect_schema()
        return lazy
    except pl.exceptions.PolarsError:
        raise TableError(f"{path} cannot be read as CSV; write it again, or as Parquet") from None


def _typed_counts(
    lazy: pl.LazyFrame, tuples: pl.DataFrame, records: str, roles: Mapping[str, Role], kinds: Kinds, source: Source
) -> tuple[pl.LazyFrame, pl.DataFrame, pl.DataFrame]:
    """Type counted texts: numbers as numbers in the data and in the tuples, dates as dates in the values."""
    names = [name for name in tuples.columns if name != records]
    meant = infer_column_types(tuples.select(names), roles, kinds, (), source)[0].schema
    numbers = [
        pl.col(name).str.strip_chars().str.strip_chars_start("+").cast(dtype)
        for name, dtype in meant.items()
        if dtype.is_numeric()
    ]
    tuples = tuples.with_columns(numbers).group_by(names).agg(pl.col(records).sum()).sort(names)
    texts = tuples.select(name for name in names if tuples.schema[name] == pl.String)
    values = tuples.select(names).with_columns(infer_column_types(texts, roles, kinds, (), source)[0].get_columns())
    return lazy.with_columns(numbers), tuples, values


# -- Distinct tuples of a table with the number of records of each; a lattice needs nothing else of a table.

COMMON = 10
"""A value of at least this many records may be named in a message."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Distinct tuples of some columns of a table.

    An attribute with a hierarchy is coded by the leaves of the hierarchy, any other by its categories, and a number
    without a hierarchy by the rank of its value. A missing value is −1, a value of its own.

    `codes` int32[tuples, attributes].
    """

    attributes: tuple[Attribute, ...]
    codes: NDArray[np.int32]
    records: NDArray[np.int64]  # int64[tuples]: number of records of each tuple

    @property
    def total(self) -> int:
        """Number of records."""
        return int(self.records.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(attribute.name for attribute in self.attributes)

    def place(self, name: str) -> int:
        """Position of a column."""
        return self.names.index(name)


def count_distinct_lazily(table: Table, names: Sequence[str]) -> Counts:
    """Count the distinct tuples of some columns over the kept records of a table that is counted and not read."""
    codes = _all_coded(table, names)
    classes = equivalence_classes(codes, table.kept)
    return Counts(tuple(table.attribute(name) for name in names), codes[classes.first], classes.sizes)


def _count_weighted(table: Table, names: Sequence[str], weights: NDArray[np.int64]) -> Counts:
    """Count the distinct tuples of a table whose rows stand for several records each.

    `weights` int64[n].
    """
    codes = _all_coded(table, names)
    classes = equivalence_classes(codes)
    return Counts(tuple(table.attribute(name) for name in names), codes[classes.first], classes.totals(weights))


def _all_coded(table: Table, names: Sequence[str]) -> NDArray[np.int32]:
    """int32[n, p]: codes of the named columns."""
    columns = [_code_column(table, name) for name in names]
    return np.stack(columns, axis=1) if columns else np.empty((table.rows, 0), dtype=np.int32)


def _code_column(table: Table, name: str) -> NDArray[np.int32]:
    attribute = table.attribute(name)
    if attribute.hierarchy is None or table.level(name) != 0:
        return table.codes([name])[:, 0]
    if not attribute.numeric:
        _refuse_unlisted(table, name, attribute.hierarchy)
    return table.leaf_codes(name)


def _refuse_unlisted(table: Table, name: str, hierarchy: Hierarchy) -> None:
    """Refuse values that a hierarchy lacks: their number, and those that many records have by name."""
    attribute = table.attribute(name)
    known = set(hierarchy.labels[0])
    unlisted = [code for code, label in enumerate(attribute.categories) if label not in known]
    if not unlisted:
        return
    column = table.column(name)
    shared = np.bincount(column[column >= 0], minlength=len(attribute.categories))
    common = [repr(attribute.categories[code]) for code in unlisted if shared[code] >= COMMON]
    named = f" ({listing(common)}{', and rare ones' if len(common) < len(unlisted) else ''})" if common else ""
    raise TableError(
        f"column {name!r}: {len(unlisted)} of its {len(attribute.categories)} values{named} are absent from its "
        f"hierarchy, which lists {hierarchy.size}; add a row for each to the hierarchy"
    )


# -- Distinct tuples counted batch by batch, in memory that grows with the tuples and not with the records.
#
# A first pass finds the values of each column. A second pass packs every record into one integer, counts batches and
# adds the counts. The streaming group-by of polars needs several times as much memory.

BATCH = 500_000
"""Records read at a time."""
PENDING = 2_000_000
"""Counted keys kept before they are added."""


def batches(lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The records of a lazy frame in batches, in their order; a batch is read when it is needed."""
    yield from lazy.collect_batches(chunk_size=BATCH, maintain_order=True, engine="streaming")


def tally_packed_lazily(lazy: pl.LazyFrame, names: Sequence[str], records: str) -> pl.DataFrame | None:
    """Count distinct tuples of a table that is not read, by packing each record into one integer."""
    schema = lazy.collect_schema()
    if not all(_orderable(schema[name]) for name in names):
        return None
    chosen = lazy.select(pl.col(names)).with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None))
    values = [_values(chosen, name) for name in names]
    if len(class_columns_by_key(_radices(values))) > 1:
        return None
    counted, waiting = pl.DataFrame(schema={"key": pl.Int64, records: pl.Int64}), list[pl.DataFrame]()
    for batch in batches(chosen):
        waiting.append(pl.DataFrame({"key": _pack(batch, values)}).group_by("key").agg(_length(records)))
        if sum(map(len, waiting)) > max(PENDING, len(counted)):
            counted, waiting = _sum_counts([counted, *waiting], records), []
    counted = _sum_counts([counted, *waiting], records).sort("key")
    return pl.DataFrame([*_unpack(counted["key"].to_numpy(), values), counted[records]])


def _orderable(dtype: pl.DataType) -> bool:
    return dtype == pl.String or dtype == pl.Boolean or dtype.is_integer() or dtype.is_float() or dtype == pl.Date


def _values(lazy: pl.LazyFrame, name: str) -> pl.Series:
    """The values of a column, sorted, without missing."""
    return lazy.select(pl.col(name).unique()).collect(engine="streaming")[name].drop_nulls().sort()


def _length(records: str) -> pl.Expr:
    return pl.len().cast(pl.Int64).alias(records)


def _sum_counts(parts: Sequence[pl.DataFrame], records: str) -> pl.DataFrame:
    return pl.concat(parts).group_by("key").agg(pl.col(records).sum())


def _pack(batch: pl.DataFrame, values: Sequence[pl.Series]) -> NDArray[np.int64]:
    return pack_class_codes(len(batch), [_codes(batch[each.name], each) for each in values], _radices(values))


def _radices(values: Sequence[pl.Series]) -> list[int]:
    return [len(each) + 1 for each in values]


def _codes(series: pl.Series, values: pl.Series) -> NDArray[np.int64]:
    """1, 2, … in the order of values; 0 is missing."""
    if series.dtype == pl.String:
        found = series.cast(pl.Enum(values)).to_physical().cast(pl.Int64) + 1
        return found.fill_null(0).to_numpy()
    places = values.to_physical().cast(_wide(values)).search_sorted(series.to_physical().cast(_wide(values)))
    return np.where(series.is_null().to_numpy(), 0, places.to_numpy().astype(np.int64) + 1)


def _wide(values: pl.Series) -> type[pl.DataType]:
    """The type in which values are looked up; Boolean values as integers."""
    return pl.Float64 if values.dtype.is_float() else pl.UInt64 if values.dtype == pl.UInt64 else pl.Int64


def _unpack(key: NDArray[np.int64], values: Sequence[pl.Series]) -> list[pl.Series]:
    columns = []
    for each in reversed(values):
        key, code = np.divmod(key, len(each) + 1)
        place = pl.Series(code.astype(np.int64) - 1)
        columns.append(each.gather(place.set(place < 0, None)).alias(each.name))
    return columns[::-1]


# -- Tables that are counted and not read: files larger than memory, and frames of DuckDB, Spark or Dask.
#
# A lattice needs only distinct tuples with counts. The engine that has the data counts them; the result is as small as
# the number of distinct tuples, however many records there are.

Engine = Literal["polars", "duckdb", "spark", "dask"]
ENGINES: tuple[Engine, ...] = ("polars", "duckdb", "spark", "dask")
PACKAGES = {"duckdb": "duckdb", "spark": "pyspark.sql", "dask": "dask.dataframe"}
RECORDS = "records of the tuple"
"""Name of the column of counts; no column of the data may have it."""
WEIGHTS = "weights of the tuple"
TEXT = (".csv", ".tsv", ".tab", ".txt")

Lazy = nw.LazyFrame[Any]


@dataclass(frozen=True, eq=False, repr=False)
class LazyTable:
    """A table that is counted and not read."""

    frame: Lazy
    counts: Counts  # distinct tuples with their records
    tuples: pl.DataFrame  # one row per distinct tuple: values as in the data, then `RECORDS`; sorted
    coded: Table  # the tuples as a table, row by row
    identifiers: tuple[str, ...] = ()  # columns that a release leaves out
    # roles of columns that are not counted; one without a role is undecided, and nothing is released before it has
    # one
    roles: Mapping[str, Role] = field(default_factory=dict)
    # share of the cells, per cent, that a masking before the count changed, by column
    masked: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)  # what columns mean, for the codebook
    treated: Mapping[str, str] = field(default_factory=dict)  # how a weight is published, e.g. "raked"

    def decide_roles(self, roles: Mapping[str, str]) -> LazyTable:
        """The table with roles for columns that are not counted."""
        given = {name: read_role(role, name) for name, role in roles.items() if name not in self.counts.names}
        hidden = (name for name, role in given.items() if role in UNPUBLISHED)
        return replace(
            self, identifiers=tuple(dict.fromkeys((*self.identifiers, *hidden))), roles={**self.roles, **given}
        )

    def describe(self, columns: Mapping[str, Mapping[str, Any]]) -> LazyTable:
        """The table with what is said of counted columns beside role and hierarchy, such as their importance."""
        given = {name: said for name, said in columns.items() if name in self.counts.names}
        changed = {name: self.coded.attribute(name).but(**said) for name, said in given.items()}
        attributes = tuple(each.but(**given.get(each.name, {})) for each in self.counts.attributes)
        return replace(
            self,
            coded=self.coded.with_columns({}, attributes=changed),
            counts=replace(self.counts, attributes=attributes),
        )

    @property
    def published_roles(self) -> dict[str, Role]:
        """Every published column and its role."""
        counted = {attribute.name: attribute.role for attribute in self.counts.attributes}
        names = [name for name in self.frame.collect_schema().names() if name not in self.identifiers]
        return {name: counted.get(name) or self.roles.get(name, Role.UNDECIDED) for name in names}

    def __repr__(self) -> str:
        return f"LazyTable({self.counts.total} records, {len(self.tuples)} distinct: {', '.join(self.counts.names)})"

    @property
    def engine(self) -> Engine:
        """The engine that has the data."""
        return engine_of_lazy_frame(self.frame)

    def leaves(self, name: str) -> NDArray[np.int32]:
        """The leaf of each distinct tuple in the hierarchy of a column."""
        return self.coded.leaf_codes(name)


def read_columns(frame: Lazy, names: Sequence[str]) -> pl.DataFrame:
    """Some columns of data that are not read as a whole, in the order of their records."""
    native = frame.to_native()
    _check_names(frame, names)
    return pl.concat(list(batches(native.select(names))))


def require_arrow(module: str = "pyarrow") -> Any:
    """The library that writes data which are never read as a whole, or a module of it; from the extra `large`."""
    return import_extra(module, "large", "writing data that are never read as a whole")


def write_replaced(frame: Lazy, columns: pl.DataFrame, path: Path) -> Path:
    """A Parquet copy of data that are not read as a whole, with some columns replaced row by row."""
    pq = require_arrow("pyarrow.parquet")
    first, order = 0, frame.collect_schema().names()
    with ExitStack() as open_files:
        writer: Any = None
        for batch in batches(frame.to_native()):
            own = columns[first : first + len(batch)]
            made = batch.with_columns(own.get_columns()).select(order).to_arrow()
            first += len(batch)
            if writer is None:
                writer = open_files.enter_context(pq.ParquetWriter(path, made.schema))
            writer.write_table(made.cast(writer.schema))
    return path


def changed_cells(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, float]:
    """The share of the cells of every column that two frames do not have in common, per cent.

    >>> changed_cells(pl.DataFrame({"x": [1, 2, 3, None]}), pl.DataFrame({"x": [1.0, 2.5, 2.5, None]}))
    {'x': 50.0}
    """
    found = dict[str, float]()
    for name in after.columns:
        pair = before[name], after[name]
        kind = pl.Float64 if all(each.dtype.is_numeric() for each in pair) else pl.String
        differs = pair[0].cast(kind).ne_missing(pair[1].cast(kind))
        found[name] = 100.0 * float(differs.sum()) / max(len(differs), 1)
    return found


def engine_of_lazy_frame(frame: Lazy) -> Engine:
    """The engine, such as DuckDB, Spark or Dask, that has the data of a lazy frame."""
    found = frame.implementation
    if found.is_pyspark() or found.is_pyspark_connect():
        return "spark"
    for name in ENGINES:
        if found.value == name:
            return name
    raise TableError(
        f"a lazy frame of {found.value} was given; counting is tested with {listing(ENGINES)}: write the data to "
        f"Parquet and give the path"
    )


def scan(path: str | Path, engine: str = "polars", session: Any = None) -> Lazy:
    """Open data without reading them."""
    if engine not in ENGINES:
        raise EngineError(
            f"there is no counting engine {engine!r}{suggestion(engine, ENGINES)}; known: {listing(ENGINES)}"
        )
    pattern = str(path)
    if Path(path).is_dir():
        pattern = str(Path(path) / "*.parquet")
    elif "*" not in pattern and not Path(path).exists():
        raise TableError(f"{path} does not exist; give a Parquet or CSV file, a folder of Parquet files or a pattern")
    options: dict[str, Any] = {}
    if engine != "polars":
        package = _package(engine)
        if engine == "spark":
            options["session"] = session or package.SparkSession.builder.getOrCreate()
    text = Path(pattern).suffix.lower() in TEXT
    if text and engine == "spark":
        options |= {"header": True, "inferSchema": True}
    try:
        read = nw.scan_csv if text else nw.scan_parquet
        frame: Lazy = read(pattern, backend="pyspark" if engine == "spark" else engine, **options)
        frame.collect_schema()
        return frame
    except (pl.exceptions.PolarsError, nw.exceptions.NarwhalsError, OSError):
        raise TableError(f"{path} cannot be read as {'CSV' if text else 'Parquet'}; write it again") from None


def _package(engine: str) -> Any:
    try:
        return importlib.import_module(PACKAGES[engine])
    except ImportError:
        raise EngineError(
            f"counting with {engine} needs a package that is not installed; install it with: pip install "
            f'"crypsis[{engine}]", or use the engine "polars"'
        ) from None


def count_lazily(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    confidential: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    kinds: Kinds | None = None,
    hierarchies: Hierarchies | None = None,
    delimiter: str | None = None,
    missing: Sequence[str] = ("",),
) -> LazyTable:
    """Count the distinct tuples of quasi-identifiers and confidential columns in the engine that has the data."""
    names = [*quasi_identifiers, *confidential]
    text = isinstance(data, (str, Path)) and Path(data).suffix.lower() in TEXT
    frame = nw.from_native(_scan_text(Path(data), names, delimiter, missing)) if text else lazy_frame(data)
    _check_names(frame, [*names, *identifiers])
    roles = dict.fromkeys(quasi_identifiers, Role.QUASI_IDENTIFIER) | dict.fromkeys(confidential, Role.CONFIDENTIAL)
    source, wished = Source("the counted data"), _wished_kinds(kinds, names)
    tuples = tally(frame, names)
    if tuples.is_empty():
        raise TableError("the data have no records; give at least one")
    values = tuples.drop(RECORDS)
    if text:
        lazy, tuples, values = _typed_counts(frame.to_native(), tuples, RECORDS, roles, wished, source)
        frame = encode_lazy_zeros(nw.from_native(lazy))
        tuples, values = (each.with_columns(map(encode_series_zeros, each.get_columns())) for each in (tuples, values))
    coded = _code_tuples(values, roles, wished, _wished_kinds(hierarchies, names), source, tuples[RECORDS].to_numpy())
    counts = _count_weighted(coded, names, tuples[RECORDS].to_numpy())
    return LazyTable(frame, counts, tuples, coded, tuple(identifiers))


def _code_tuples(
    values: pl.DataFrame,
    roles: dict[str, Role],
    kinds: dict[str, Any],
    hierarchies: dict[str, Any],
    source: Source,
    records: NDArray[np.int64],
) -> Table:
    """The distinct tuples as a table; merges of rare values are made from the records of each value."""
    rare = {name: str(spec)[6:] for name, spec in hierarchies.items() if str(spec).startswith("merge:")}
    given = {name: spec for name, spec in hierarchies.items() if name not in rare}
    coded = table_of(values, roles, kinds, given, source)
    for name, sizes in rare.items():
        attribute, codes = coded.attribute(name), coded.column(name)
        known = ~coded.missing(name)
        held = np.zeros(max(len(attribute.categories), 1), dtype=np.int64)
        if not attribute.numeric:
            np.add.at(held, codes[known], records[known])
        given[name] = merges(sizes, attribute, held)
    return table_of(values, roles, kinds, given, source) if rare else coded


def lazy_frame(data: Any) -> Lazy:
    """Make a lazy frame of data; categories become text, which every engine groups and joins alike."""
    if isinstance(data, (str, Path)):
        frame = scan(data)
    else:
        try:
            given = nw.from_native(data)
        except TypeError:
            raise TableError(
                f"a {type(data).__name__} is no lazy frame; give a polars LazyFrame, a DuckDB relation, a Spark or "
                f"Dask DataFrame, or a path"
            ) from None
        frame = given if isinstance(given, nw.LazyFrame) else given.lazy("polars")
    engine_of_lazy_frame(frame)
    texts = [name for name, dtype in frame.collect_schema().items() if dtype in (nw.Categorical, nw.Enum)]
    frame = frame.with_columns(nw.col(*texts).cast(nw.String)) if texts else frame
    return encode_lazy_zeros(frame)


def tally(frame: Lazy, names: Sequence[str]) -> pl.DataFrame:
    """Count the distinct tuples of some columns in one pass over the data; polars in two passes and less memory."""
    native = frame.to_native()
    try:
        packed = tally_packed_lazily(native, names, RECORDS) if isinstance(native, pl.LazyFrame) else None
    except pl.exceptions.ComputeError:
        raise TableError(
            "the data cannot be read to the end: a line has too many cells, or a cell is not of its column's type; "
            "correct the file, or write it as Parquet"
        ) from None
    if packed is not None:
        return _settle_types(packed, names)
    counted = frame.select(*names).group_by(*names).agg(nw.len().alias(RECORDS))
    options: dict[str, Any] = {"engine": "streaming"} if engine_of_lazy_frame(frame) == "polars" else {}
    found = _settle_types(counted.collect(**options).to_polars(), names)
    return found.group_by(names).agg(pl.col(RECORDS).sum()).sort(names)


def tally_weights(frame: Lazy, names: Sequence[str], weight: str) -> pl.DataFrame:
    """The sum of a column of weights over every distinct tuple, and how many records have one; in `WEIGHTS`, `RECORDS`.

    The tuples are those of `tally`, in the same order.
    """
    native = frame.to_native()
    sums = [pl.col(WEIGHTS).sum(), pl.col(RECORDS).sum()]
    if isinstance(native, pl.LazyFrame):
        known = pl.col(weight).cast(pl.Float64).fill_nan(None)
        single = [known.sum().alias(WEIGHTS), known.is_not_null().sum().cast(pl.Int64).alias(RECORDS)]
        parts = list[pl.DataFrame]()
        for batch in batches(native.select(*names, weight)):
            parts.append(batch.group_by(names).agg(single))
            if sum(map(len, parts[1:])) > max(PENDING, len(parts[0])):
                parts = [pl.concat(parts).group_by(names).agg(sums)]
        found = pl.concat(parts)
    else:
        column = nw.col(weight).cast(nw.Float64)
        counted = frame.select(*names, weight).group_by(*names)
        found = counted.agg(column.sum().alias(WEIGHTS), column.count().alias(RECORDS)).collect().to_polars()
    return _settle_types(found, names).group_by(names).agg(sums).sort(names)


def _settle_types(found: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Counts in types that are the same for every engine."""
    found = found.with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None), pl.col(RECORDS).cast(pl.Int64))
    whole = [name for name in names if found[name].dtype.is_float() and _is_whole(found[name])]
    return found.with_columns(pl.col(whole).cast(pl.Int64), pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def _is_whole(series: pl.Series) -> bool:
    """Whether floats are whole numbers: an engine without missing integers stores them as floats."""
    return bool((series.drop_nulls() % 1 == 0).all()) and float(series.abs().max() or 0) < 2**53  # type: ignore[arg-type]


def _check_names(frame: Lazy, names: Sequence[str]) -> None:
    present = frame.collect_schema().names()
    unknown = unknown_column(names, present)
    if unknown:
        raise TableError(unknown)
    twice = find_repeated(names)
    if twice:
        raise TableError(f"column {twice[0]!r} is named twice; give every column one role")
    if RECORDS in present:
        raise TableError(f"a column is called {RECORDS!r}, which counting needs; rename it")
    if not names:
        raise TableError("no column is named to count by; name the quasi-identifiers")


def _wished_kinds(given: Mapping[str, Any] | None, names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in (given or {}).items() if name in names}
