"""The published table: plain labels, used categories only, no identifiers, no suppressed records."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.table.aligning import with_dates
from crypsis.table.attribute import UNPUBLISHED, Kind
from crypsis.table.files import read_table
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import LOCAL, Table

Order = Literal["shuffled", "kept"]
"""Whether the rows of a release are shuffled."""
Format = Literal["csv", "parquet"]
"""File types of a release."""


def row_order(masked: Table, order: str, rng: Generator | None = None) -> NDArray[np.intp]:
    """The rows that are written, shuffled unless their order is to be kept.

    rng  draws the order; the operating system's randomness unless given
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
    table = masked.drop(masked.named(*UNPUBLISHED)).take(rows)
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


def schema_of(table: Table, format: Format) -> dict[str, Any]:
    """The schema of a published table as plain data."""
    columns = []
    for attribute in table.attributes:
        entry: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind.value, "role": attribute.role.value}
        if attribute.dates:
            entry["dates"] = attribute.dates
        if not attribute.numeric:
            entry["categories"] = list(attribute.categories)
        columns.append(entry)
    return {"format": format, "file": f"data.{format}", "missing": "", "rows": len(table), "columns": columns}


def read_published(folder: Path, schema: dict[str, Any]) -> Table:
    """Read a published table from its files."""
    columns = schema["columns"]
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
    )
    if list(table.names) != [c["name"] for c in columns]:
        raise TableError(f"{schema['file']}: its columns are not those of schema.json")
    for c in columns:
        if "categories" in c:
            table = table.with_categories(c["name"], c["categories"], Kind(c["kind"]))
        dates = c.get("dates", "")
        if table.holds_numbers(c["name"]):
            table = with_dates(table, c["name"], dates)
        table = table.with_columns({}, attributes={c["name"]: table.attribute(c["name"]).but(dates=dates)})
    return table
