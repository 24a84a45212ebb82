"""A program of its own that reads a file of SPSS, Stata or SAS, so that a damaged file can end it and nothing else.

The library is written in C and a few wrong bytes can make it crash. Started by path with the name of the library's
function, the file, the folder to write to, the bytes of memory that may be used, the bytes of a cell, and options as
JSON; it imports nothing of Crypsis.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

REFUSED = 3
"""Exit code for a file that the library refuses."""
WIDEST = 20_000


def _read_isolated(call: str, path: str, folder: Path, memory: int, cell: int, options: dict[str, Any]) -> None:
    """Write ``table.arrow`` and ``about.json``; the latter alone where the file claims more than memory holds."""
    import polars as pl
    import pyreadstat

    read = getattr(pyreadstat, call)
    kept = {name: value for name, value in options.items() if name == "encoding"}
    about = read(path, metadataonly=True, output_format="polars", **kept)[1]
    rows, columns = max(about.number_rows or 0, 0), len(about.column_names)
    if columns > WIDEST or cell * rows * columns > memory or not columns:
        (folder / "about.json").write_text(json.dumps({"rows": rows, "columns": columns}), encoding="utf-8")
        return
    limit = max(memory // (cell * columns), 1) + 1
    frame, about = read(path, output_format="polars", row_limit=limit, **options)
    lettered = dict[str, int]()
    plain = []
    for series in frame.get_columns():
        if series.dtype == pl.Object:  # numbers among letters, each of which means missing
            cells = series.to_list()
            lettered[series.name] = sum(isinstance(each, str) for each in cells)
            numbers = [each if isinstance(each, (int, float)) else None for each in cells]
            series = pl.Series(series.name, numbers, dtype=pl.Float64)
        plain.append(series)
    pl.DataFrame(plain).write_ipc(folder / "table.arrow")
    told = {
        "rows": frame.height,
        "columns": frame.width,
        "lettered": lettered,
        "labels": about.column_names_to_labels or {},
        "codes": {name: list(each.items()) for name, each in (about.variable_value_labels or {}).items()},
        "ranges": getattr(about, "missing_ranges", None) or {},
        "letters": getattr(about, "missing_user_values", None) or {},
        "measures": getattr(about, "variable_measure", None) or {},
    }
    (folder / "about.json").write_text(json.dumps(told), encoding="utf-8")


def main(call: str, path: str, folder: str, memory: str, cell: str, options: str) -> int:
    """Read the file; returns the exit code."""
    try:
        _read_isolated(call, path, Path(folder), int(memory), int(cell), json.loads(options))
    except BaseException:  # noqa: BLE001 - whatever the library says names cells, and is not repeated
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
