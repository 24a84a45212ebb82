"""The published table: plain labels, used categories only, no identifiers, no suppressed records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import PlanError, TableError
from crypsis.masking.following import recompute_following
from crypsis.privacy.model import PrivacyModel
from crypsis.table.aligning import with_dates
from crypsis.table.attribute import UNPUBLISHED, Kind, Role
from crypsis.table.encoding import Source
from crypsis.table.files import read_table
from crypsis.table.frames import table_of
from crypsis.table.hierarchy import MISSING
from crypsis.table.precision import at_source_precision
from crypsis.table.readers.formats import WrittenFormat
from crypsis.table.table import LOCAL, Column, Table

Order = Literal["shuffled", "kept"]
"""Whether the rows of a release are shuffled."""
PLAIN_CELLS = {"decimal": ".", "thousands": "", "dates": ()}
PLAIN_TEXT = {"encoding": "utf8", "delimiter": ",", **PLAIN_CELLS}
PUBLISHED_FORM: dict[str, dict[str, Any]] = {
    "csv": PLAIN_TEXT, "csv.gz": PLAIN_TEXT, "xlsx": {"sheet": "data", **PLAIN_CELLS}
}  # fmt: skip
"""How released text is written in a format, whatever its cells look like."""
PARTS_OF_FORMAT = {"parquet": "data-*.parquet", "csv": "data-*.csv"}
"""The files of a release that was counted, by format: the count compares their labels with the schema."""


def prepare_published(
    models: Sequence[PrivacyModel], masked: Table, original: Table | None
) -> tuple[Table, Table | None, Population | None]:
    """The masked table of a release, its original and its population: members only, numbers as precise as collected,
    derived columns recomputed.
    """
    masked, original, population = keep_published_members(models, masked, original)
    if original is not None:
        masked = recompute_following(at_source_precision(masked, original), original)
    return masked, original, population


def order_published_rows(masked: Table, order: str, rng: Generator | None = None) -> NDArray[np.intp]:
    """Order the rows of the published table, without suppressed records, shuffled unless kept in order.

    `rng`: draws the order; the operating system's randomness unless given.
    """
    rows = np.flatnonzero(masked.kept)
    if order == "shuffled":
        (rng or np.random.default_rng()).shuffle(rows)
    return rows


def flatten(masked: Table, rows: NDArray[np.intp]) -> Table:
    """Rows of a masked table as they are published.

    Identifiers are dropped. Generalised columns become plain categories, and only categories that occur are listed,
    since a list of all original categories would disclose rare ones.
    """
    table = masked.drop(masked.names_by_role(*UNPUBLISHED)).take(rows)
    for name in table.names:
        table = _rounded_dates(table, name) if table.holds_numbers(name) else _used_categories(table, name)
    return table.with_columns({}, attributes={a.name: a.but(hierarchy=None) for a in table.attributes})


def _rounded_dates(table: Table, name: str) -> Table:
    """Dates have whole days or seconds; a mean of dates is rounded."""
    return table.with_columns({name: np.round(table.column(name))}) if table.attribute(name).dates else table


def _used_categories(table: Table, name: str) -> Table:
    attribute, labels, codes = table.attribute(name), table.labels(name), table.column(name)
    used = dict.fromkeys(labels[code] for code in np.unique(codes[codes != MISSING]))
    kind = attribute.kind
    if table.level(name) == LOCAL:
        kind = Kind.NOMINAL
    elif attribute.numeric:
        kind = Kind.ORDINAL
    plain = attribute.but(dates="")
    return table.with_columns({}, attributes={name: plain}).with_categories(name, used, kind)


def schema_of(table: Table, format: WrittenFormat) -> dict[str, Any]:
    """The schema of a published table as plain data."""
    columns = []
    for attribute in table.attributes:
        entry: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind.value, "role": attribute.role.value}
        if attribute.dates:
            entry["dates"] = attribute.dates
        if attribute.derived:
            entry["derived"] = attribute.derived
        if not attribute.numeric:
            entry["categories"] = list(attribute.categories)
        columns.append(entry)
    return {"format": format, "file": f"data.{format}", "missing": "", "rows": len(table), "columns": columns}


def read_published(folder: Path, schema: dict[str, Any], counted: bool = False) -> Table:
    """Read a published table from its files.

    `counted`: whether the files of a release that was counted are read as a whole.
    """
    columns = schema["columns"]
    if "*" in schema["file"] and counted:
        table = table_of(
            pl.DataFrame(scan_published_parts(folder, schema).collect()),
            {c["name"]: Role(c["role"]) for c in columns},
            {c["name"]: c["kind"] for c in columns},
            {},
            Source(schema["file"]),
            masked=True,
        )
        return _settle_columns(table, schema)
    if "*" in schema["file"]:
        raise TableError(
            "the release is counted and never read into memory as a whole, so rulebooks and differences between "
            "releases are not available; `crypsis verify` counts it again"
        )
    if Path(schema["file"]).name != schema["file"] or (folder / schema["file"]).is_symlink():
        raise TableError(
            "schema.json names a file that is not in its folder; a release is read from its own files only"
        )
    table = read_table(
        folder / schema["file"],
        roles={c["name"]: c["role"] for c in columns},
        kinds={c["name"]: c["kind"] for c in columns},
        missing=(),  # an empty text in quotation marks is a category; an empty cell is missing
        masked=True,
        **PUBLISHED_FORM.get(schema["format"], {}),
    )
    return _settle_columns(table, schema)


def scan_published_parts(folder: Path, schema: Mapping[str, Any]) -> pl.LazyFrame:
    """The files of a release that was counted, as one frame that is not read; of text, every category is text."""
    pattern = str(schema["file"])
    if pattern not in PARTS_OF_FORMAT.values():
        raise TableError("schema.json names files that no release has; a release is read from its own files only")
    if pattern == PARTS_OF_FORMAT["parquet"]:
        return pl.scan_parquet(folder / pattern)
    types = {c["name"]: pl.Float64 if c["kind"] == Kind.NUMERIC.value else pl.String for c in schema["columns"]}
    return pl.scan_csv(folder / pattern, schema_overrides=types)


def _settle_columns(table: Table, schema: Mapping[str, Any]) -> Table:
    """The columns of a published table as its schema describes them."""
    columns = schema["columns"]
    if list(table.names) != [c["name"] for c in columns]:
        raise TableError(f"{schema['file']}: its columns are not those of schema.json")
    for c in columns:
        if "categories" in c:
            table = table.with_categories(c["name"], c["categories"], Kind(c["kind"]))
        dates = c.get("dates", "")
        if table.holds_numbers(c["name"]):
            table = with_dates(table, c["name"], dates)
        settled = table.attribute(c["name"]).but(dates=dates, derived=c.get("derived", ""))
        table = table.with_columns({}, attributes={c["name"]: settled})
    return table


# -- The written file in the order of the original, so that both can be compared.


def put_back(published: Table, masked: Table, rows: NDArray[np.intp]) -> Table:
    """The masked table with the cells of the published file."""
    columns: dict[str, Column] = {}
    for name in published.names:
        column = masked.column(name).copy()
        if masked.holds_numbers(name):
            column[rows] = published.column(name)
        else:
            column[rows] = _codes(published, masked, name, column[rows])
        columns[name] = column
    return masked.with_columns(columns)


def _codes(published: Table, masked: Table, name: str, own: Column) -> Column:
    """Codes of the published labels; where two groups share a label, the one of the record."""
    first: dict[str, int] = {}
    same = np.array([*(first.setdefault(label, code) for code, label in enumerate(masked.labels(name))), MISSING])
    read = np.array([*(first.get(label, MISSING) for label in published.labels(name)), MISSING])
    found = read[published.column(name)]
    return np.where(same[own] == found, own, found).astype(np.int32)


# -- Privacy models about a population: only its members are released, without the column of membership.


@dataclass(frozen=True, eq=False)
class Population:
    """The population of a file; internal, never released."""

    masked: Table  # all people, masked, with the column of membership
    original: Table | None  # the same before masking
    members: NDArray[np.intp]  # int[m]: rows of those who are in the file

    def around(self, published: Table, rows: NDArray[np.intp]) -> Table:
        """The population in which every member stands as published.

        `rows` int[n].
        """
        return put_back(published, self.masked, self.members[rows])


def keep_published_members(
    models: Sequence[PrivacyModel], masked: Table, original: Table | None
) -> tuple[Table, Table | None, Population | None]:
    """The published table of a release: keep released members, drop the column of membership."""
    speaking = [model for model in models if model.membership]
    if not speaking:
        return masked, original, None
    inside = np.ones(len(masked), dtype=np.bool_)
    for model in speaking:
        obstacle = model.obstacle(masked)
        if obstacle:
            raise PlanError(obstacle)
        inside &= model.members(masked)
    names = {model.membership for model in speaking}
    members = np.flatnonzero(inside)

    def reduce_table(table: Table) -> Table:
        return table.take(members).drop(names & set(table.names))

    population = Population(masked, original, members)
    return reduce_table(masked), None if original is None else reduce_table(original), population
