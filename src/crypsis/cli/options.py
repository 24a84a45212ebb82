"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_PICK = "faithful"
"""`crypsis.run.choosing.DEFAULT_PICK`, which is slow to import."""
PICKS = 'a number, faithful, balanced, safest, knee, or "faithful where risk < 5"'
"""How a solution of a run may be named."""

# -- the data and the roles of its columns --

File = Annotated[Path, typer.Argument(help="CSV, TSV or Parquet file", show_default=False)]
PlanFile = Annotated[
    Path | None, typer.Option("--plan", "-p", help="plan.toml with the roles of the columns", show_default=False)
]
Quasi = Annotated[
    list[str] | None,
    typer.Option("--quasi", "-q", help="quasi-identifiers, comma-separated; '*' for every column", show_default=False),
]
Identifier = Annotated[
    list[str] | None,
    typer.Option("--identifier", help="direct identifiers, comma-separated; never released", show_default=False),
]
Confidential = Annotated[
    list[str] | None, typer.Option("--confidential", help="confidential columns, comma-separated", show_default=False)
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", help="COLUMN=numeric, ordinal or nominal; may be repeated", show_default=False),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", help="COLUMN=FILE or COLUMN=intervals:5,10,20; may be repeated", show_default=False),
]

# -- masking and demands --

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", help="NAME=VALUE setting of the masking method, e.g. k=5; may be repeated"),
]
Requirements = Annotated[
    list[str] | None,
    typer.Option("--require", "-r", help="a privacy model that must hold, e.g. k-anonymity:k=5; may be repeated"),
]
SmallestClass = Annotated[int, typer.Option(min=2, help="smallest equivalence class that may be released")]
KeepOrder = Annotated[
    bool,
    typer.Option(
        "--keep-order",
        help="do not shuffle the rows, as assess and release --original need; their order can re-identify people",
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="for a repeatable result; keep it secret", show_default=False)]
RulebookName = Annotated[
    str | None,
    typer.Option("--rulebook", help="a rulebook that must be kept: a shipped name or a TOML file", show_default=False),
]
Waive = Annotated[
    list[str] | None,
    typer.Option(
        "--waive",
        help="RULE=REASON or singling-out:COLUMN=REASON: let a broken rule, or a column that singles people out, pass, "
        "on record; may be repeated",
        show_default=False,
    ),
]

# -- runs and engines --

PlanToRead = Annotated[Path, typer.Argument(help="the plan.toml", show_default=False)]
RunFolder = Annotated[Path, typer.Argument(help="folder of a run", show_default=False)]
Budget = Annotated[
    str | None,
    typer.Option(help="60s or 10m in all; 500 evaluations or 50 generations for each search", show_default=False),
]
EngineName = Annotated[
    str | None,
    typer.Option("--engine", help="threads, serial, processes or dask; default: the plan's", show_default=False),
]
Workers = Annotated[int | None, typer.Option(min=0, help="threads or processes; 0: one per core", show_default=False)]
Scheduler = Annotated[str | None, typer.Option(help="address of a Dask scheduler", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no progress")]

# -- releases and output --

ReleaseFolder = Annotated[Path, typer.Argument(help="a release, or its public folder", show_default=False)]
Sign = Annotated[
    Path | None,
    typer.Option("--sign", help="private key that signs the release: see crypsis keys new", show_default=False),
]
Title = Annotated[str, typer.Option(help="title of the reports")]
Definitions = Annotated[bool, typer.Option("--definitions", help="explain every figure")]
Json = Annotated[bool, typer.Option("--json", help="print JSON for a program instead of text for a person")]
