"""Tables that are counted and not read: files larger than memory, and frames of DuckDB, Spark or Dask.

A lattice needs only distinct tuples with counts. The engine that has the data counts them; the result is as small as
the number of distinct tuples, however many records there are.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import EngineError, TableError, listing, repeated, suggestion, unknown_column
from crypsis.table.attribute import UNPUBLISHED, Role, read_role
from crypsis.table.builders import merges
from crypsis.table.counts import Counts, count_weighted
from crypsis.table.encoding import Source
from crypsis.table.frames import Hierarchies, Kinds, table_of
from crypsis.table.lazy_text import scan_text, typed_counts
from crypsis.table.signed_zeros import without_signed_zeros, without_signed_zeros_lazily
from crypsis.table.table import Table
from crypsis.table.tallying import tally_packed

Engine = Literal["polars", "duckdb", "spark", "dask"]
ENGINES: tuple[Engine, ...] = ("polars", "duckdb", "spark", "dask")
PACKAGES = {"duckdb": "duckdb", "spark": "pyspark.sql", "dask": "dask.dataframe"}
RECORDS = "records of the tuple"
"""Name of the column of counts; no column of the data may have it."""
TEXT = (".csv", ".tsv", ".tab", ".txt")

Lazy = nw.LazyFrame[Any]


@dataclass(frozen=True, eq=False, repr=False)
class LazyTable:
    """A table that is counted and not read.

    Attributes
    ----------
    frame : narwhals.LazyFrame
    counts : Counts
        Distinct tuples with their records.
    tuples : polars.DataFrame
        One row per distinct tuple: values as in the data, then `RECORDS`; sorted.
    coded : Table
        The tuples as a table, row by row.
    identifiers : tuple of str
        Columns that a release leaves out.
    roles : mapping of str to Role
        Roles of columns that are not counted; one without a role is undecided, and nothing is released before it has
        one.
    """

    frame: Lazy
    counts: Counts
    tuples: pl.DataFrame
    coded: Table
    identifiers: tuple[str, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)

    def decided(self, roles: Mapping[str, str]) -> LazyTable:
        """The table with roles for columns that are not counted.

        Parameters
        ----------
        roles : mapping of str to str
            E.g. ``{"wage": "confidential", "hours": "other"}``. Identifiers and households are left out.

        Returns
        -------
        LazyTable
        """
        given = {name: read_role(role, name) for name, role in roles.items() if name not in self.counts.names}
        hidden = (name for name, role in given.items() if role in UNPUBLISHED)
        return replace(
            self, identifiers=tuple(dict.fromkeys((*self.identifiers, *hidden))), roles={**self.roles, **given}
        )

    @property
    def published(self) -> dict[str, Role]:
        """Every published column and its role."""
        counted = {attribute.name: attribute.role for attribute in self.counts.attributes}
        names = [name for name in self.frame.collect_schema().names() if name not in self.identifiers]
        return {name: counted.get(name) or self.roles.get(name, Role.UNDECIDED) for name in names}

    def __repr__(self) -> str:
        return f"LazyTable({self.counts.total} records, {len(self.tuples)} distinct: {', '.join(self.counts.names)})"

    @property
    def engine(self) -> Engine:
        """The engine that has the data."""
        return engine_of(self.frame)

    def leaves(self, name: str) -> NDArray[np.int32]:
        """The leaf of each distinct tuple in the hierarchy of a column."""
        return self.coded.leaf_codes(name)


def engine_of(frame: Lazy) -> Engine:
    """The engine that has the data of a lazy frame.

    Parameters
    ----------
    frame : narwhals.LazyFrame

    Returns
    -------
    str
        "polars", "duckdb", "spark" or "dask".

    Raises
    ------
    TableError
        If it is another engine.
    """
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
    """Open data without reading them.

    Parameters
    ----------
    path : path
        A Parquet or CSV file, a folder of Parquet files, or a pattern such as "people/*.parquet".
    engine : {"polars", "duckdb", "spark", "dask"}
        The engine that counts; the last three are packages of their own.
    session : SparkSession, optional
        By default the running session, or a new one on this machine.

    Returns
    -------
    narwhals.LazyFrame

    Raises
    ------
    EngineError
        If the engine is unknown or not installed.
    TableError
        If the data cannot be read.
    """
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
    """Count the distinct tuples of quasi-identifiers and confidential columns in the engine that has the data.

    Parameters
    ----------
    data : lazy frame or path
        A polars LazyFrame, a DuckDB relation, a Spark or Dask DataFrame, or the path of a file.
    quasi_identifiers, confidential : sequence of str
        Columns that are counted.
    identifiers : sequence of str
        Columns that a release leaves out.
    kinds, hierarchies : mapping, optional
        As for `wrap`.
    delimiter : str, optional
        Of a text file, whose cells are read as by `read_table`.
    missing : sequence of str
        Missing-value markers of a text file.

    Returns
    -------
    LazyTable

    Raises
    ------
    TableError
        If a column does not exist, a specification does not suit it, or there are no records.
    """
    names = [*quasi_identifiers, *confidential]
    text = isinstance(data, (str, Path)) and Path(data).suffix.lower() in TEXT
    frame = nw.from_native(scan_text(Path(data), names, delimiter, missing)) if text else lazy_frame(data)
    _check_names(frame, [*names, *identifiers])
    roles = dict.fromkeys(quasi_identifiers, Role.QUASI_IDENTIFIER) | dict.fromkeys(confidential, Role.CONFIDENTIAL)
    source, wished = Source("the counted data"), _wished(kinds, names)
    tuples = tally(frame, names)
    if tuples.is_empty():
        raise TableError("the data have no records; give at least one")
    values = tuples.drop(RECORDS)
    if text:
        lazy, tuples, values = typed_counts(frame.to_native(), tuples, RECORDS, roles, wished, source)
        frame = without_signed_zeros_lazily(nw.from_native(lazy))
        tuples, values = (each.with_columns(map(without_signed_zeros, each.get_columns())) for each in (tuples, values))
    coded = _coded(values, roles, wished, _wished(hierarchies, names), source, tuples[RECORDS].to_numpy())
    counts = count_weighted(coded, names, tuples[RECORDS].to_numpy())
    return LazyTable(frame, counts, tuples, coded, tuple(identifiers))


def _coded(
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
    """Make a lazy frame of data; categories become text, which every engine groups and joins alike.

    Parameters
    ----------
    data : lazy frame, frame or path

    Returns
    -------
    narwhals.LazyFrame

    Raises
    ------
    TableError
        If it is none of these.
    """
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
    engine_of(frame)
    texts = [name for name, dtype in frame.collect_schema().items() if dtype in (nw.Categorical, nw.Enum)]
    frame = frame.with_columns(nw.col(*texts).cast(nw.String)) if texts else frame
    return without_signed_zeros_lazily(frame)


def tally(frame: Lazy, names: Sequence[str]) -> pl.DataFrame:
    """Count the distinct tuples of some columns in one pass over the data; polars in two passes and less memory.

    Parameters
    ----------
    frame : narwhals.LazyFrame
    names : sequence of str

    Returns
    -------
    polars.DataFrame
        Tuples in order, and their records in the column `RECORDS`.

    Raises
    ------
    TableError
        If the data cannot be read to the end.
    """
    native = frame.to_native()
    try:
        packed = tally_packed(native, names, RECORDS) if isinstance(native, pl.LazyFrame) else None
    except pl.exceptions.ComputeError:
        raise TableError(
            "the data cannot be read to the end: a line has too many cells, or a cell is not of its column's type; "
            "correct the file, or write it as Parquet"
        ) from None
    if packed is not None:
        return _settled(packed, names)
    counted = frame.select(*names).group_by(*names).agg(nw.len().alias(RECORDS))
    options: dict[str, Any] = {"engine": "streaming"} if engine_of(frame) == "polars" else {}
    found = _settled(counted.collect(**options).to_polars(), names)
    return found.group_by(names).agg(pl.col(RECORDS).sum()).sort(names)


def _settled(found: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Counts in types that are the same for every engine."""
    found = found.with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None), pl.col(RECORDS).cast(pl.Int64))
    whole = [name for name in names if found[name].dtype.is_float() and _whole(found[name])]
    return found.with_columns(pl.col(whole).cast(pl.Int64), pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def _whole(series: pl.Series) -> bool:
    """Whether floats are whole numbers: an engine without missing integers stores them as floats."""
    return bool((series.drop_nulls() % 1 == 0).all()) and float(series.abs().max() or 0) < 2**53  # type: ignore[arg-type]


def _check_names(frame: Lazy, names: Sequence[str]) -> None:
    present = frame.collect_schema().names()
    unknown = unknown_column(names, present)
    if unknown:
        raise TableError(unknown)
    twice = repeated(names)
    if twice:
        raise TableError(f"column {twice[0]!r} is named twice; give every column one role")
    if RECORDS in present:
        raise TableError(f"a column is called {RECORDS!r}, which counting needs; rename it")
    if not names:
        raise TableError("no column is named to count by; name the quasi-identifiers")


def _wished(given: Mapping[str, Any] | None, names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in (given or {}).items() if name in names}
