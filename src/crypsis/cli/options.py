"""Arguments and options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from crypsis.errors import PlanError, listing

if TYPE_CHECKING:
    from crypsis.plan import Plan
    from crypsis.privacy.model import PrivacyModel
    from crypsis.table.readers.formats import WrittenFormat
    from crypsis.table.table import Table

DEFAULT_PICK = "faithful"
"""`crypsis.run.choosing.DEFAULT_PICK`, which is slow to import."""
PICKS = 'a number, faithful, balanced, safest, knee, or "faithful where risk < 5"'
"""How a solution of a run may be named."""

# -- the data and the roles of its columns --

File = Annotated[
    Path, typer.Argument(help="text, Parquet, Excel, SPSS, Stata, SAS or database file", show_default=False)
]
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
Replaces = Annotated[
    list[Path] | None,
    typer.Option(
        help="folder of an earlier release of the same source that nobody outside has: this one takes its place in "
        "the ledger; may be repeated",
        show_default=False,
    ),
]
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

# -- Options that belong together: a command takes one argument for a group, and the command line shows every option.


def flatten_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with one parameter for every option, as typer needs it: the fields of a group stand in its place."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind) and isinstance(kind, type)}
    parameters = []
    for name, given in signature(command).parameters.items():
        if name in groups:
            parameters += list(_parameters(groups[name]))
        else:
            parameters.append(given.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

    def call(**given: Any) -> None:
        filled = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        command(**given, **filled)

    call.__name__, call.__doc__ = command.__name__, command.__doc__
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return call


def _parameters(group: type[Any]) -> Iterator[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = Parameter.empty if field.default is MISSING else field.default
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name])


@dataclass(frozen=True)
class FileForm:
    """How a file is written, where that is not to be found out from the file."""

    missing: Annotated[
        list[str] | None,
        typer.Option("--missing", help="missing-value markers, comma-separated, e.g. NA,.", show_default=False),
    ] = None
    decimal: Annotated[str | None, typer.Option("--decimal", help="decimal mark: . or ,", show_default=False)] = None
    thousands: Annotated[
        str | None, typer.Option("--thousands", help="thousands mark: . , ' space or none", show_default=False)
    ] = None
    dates: Annotated[
        list[str] | None,
        typer.Option("--dates", help="forms of dates, e.g. dd.mm.yyyy or mm/dd/yyyy", show_default=False),
    ] = None
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="of a text file, e.g. cp1252", show_default=False)
    ] = None
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="of a text file: , ; | or tab", show_default=False)
    ] = None
    sheet: Annotated[
        str | None, typer.Option("--sheet", help="of a workbook, by name or number", show_default=False)
    ] = None
    query: Annotated[
        str | None, typer.Option("--query", help="a select that a database answers", show_default=False)
    ] = None
    table: Annotated[str | None, typer.Option("--table", help="a table of a database", show_default=False)] = None

    def given_form(self) -> dict[str, Any]:
        """What is given, as `read_table` takes it."""
        if self.table and self.query:
            raise PlanError("--table and --query say both what is read of a database; give one of them")
        marks = {"space": " ", "none": "", "tab": "\t", "comma": ",", "semicolon": ";", "point": "."}
        found = {
            "missing": ("", *split(self.missing)) if self.missing else None,
            "decimal": marks.get(self.decimal or "", self.decimal),
            "thousands": marks.get(self.thousands or "", self.thousands),
            "dates": tuple(split(self.dates)) if self.dates else None,
            "encoding": self.encoding,
            "delimiter": marks.get(self.delimiter or "", self.delimiter),
            "sheet": self.sheet,
            "query": self.query or (_query_for_table(self.table) if self.table else None),
        }
        return {name: value for name, value in found.items() if value is not None}


def _query_for_table(name: str) -> str:
    """The select that reads a table of a database, which may be named with its schema.

    >>> _query_for_table("clinic.visits")
    'select * from "clinic"."visits"'
    """
    parts = ('"' + part.replace('"', '""') + '"' for part in name.split("."))
    return f"select * from {'.'.join(parts)}"


@dataclass(frozen=True)
class Roles(FileForm):
    """What the command line says about a file and its columns."""

    quasi: Quasi = None
    identifier: Identifier = None
    confidential: Confidential = None
    kind: Kinds = None
    hierarchy: Hierarchies = None
    plan: PlanFile = None

    def read(self, file: Path, masked: bool = False) -> Table:
        """The table in a file, with the roles of the plan and of the command line; the latter win."""
        return load(file, self, masked)


@dataclass(frozen=True)
class PlanEngine:
    """Where a run computes; default: as its plan says."""

    engine: EngineName = None
    workers: Workers = None
    scheduler: Scheduler = None

    @contextmanager
    def open_engine(self, document: Plan) -> Iterator[Any]:
        """The engine, closed at the end of the block."""
        from crypsis.engines import engine

        chosen = document.run
        with engine(
            self.engine or ("dask" if self.scheduler else chosen.engine),
            chosen.workers if self.workers is None else self.workers,
            self.scheduler or chosen.scheduler,
        ) as place:
            yield place


@dataclass(frozen=True)
class BlockEngine:
    """Where the blocks of a large table are computed."""

    engine: Annotated[
        str,
        typer.Option(help="where the blocks of partitioner=blocks are computed: threads, serial, processes or dask"),
    ] = "threads"
    workers: Annotated[int, typer.Option(min=0, help="threads or worker processes; 0: one per core")] = 0
    scheduler: Annotated[str, typer.Option(help="address of a Dask scheduler", show_default=False)] = ""


@dataclass(frozen=True)
class MaskedFile:
    """How a masked file is written."""

    out: Annotated[Path, typer.Option("--out", "-o", help="file to write; must not exist", show_default=False)]
    seed: Seed = None
    keep_order: KeepOrder = False
    spreadsheet_safe: Annotated[
        bool, typer.Option("--spreadsheet-safe", help="write cells that a spreadsheet would execute as text")
    ] = False


@dataclass(frozen=True)
class AttackFiles:
    """The files of an attack besides the release."""

    original: Annotated[Path, typer.Option(help="the file before masking", show_default=False)]
    control: Annotated[
        Path | None, typer.Option(help="people of the same kind who are not in the release", show_default=False)
    ] = None
    second: Annotated[
        Path | None, typer.Option(help="another release of the same people, to intersect with", show_default=False)
    ] = None
    rows_correspond: Annotated[
        bool,
        typer.Option("--rows-correspond", help="row i of the masked file is row i of the original (mask --keep-order)"),
    ] = False


@dataclass(frozen=True)
class IntruderOptions:
    """What the intruder knows and tries."""

    knows: Annotated[
        list[str] | None,
        typer.Option(
            help="columns the intruder knows, comma-separated; default: the quasi-identifiers, and besides up to three "
            "of the published columns at a time",
            show_default=False,
        ),
    ] = None
    window: Annotated[
        float | None,
        typer.Option(help="per cent of rank swapping, if the intruder knows it", show_default=False),
    ] = None
    attempts: Annotated[int, typer.Option(help="people, or predicates, tried by each attack")] = 1000
    margin: Annotated[float, typer.Option(help="points by which an attack must beat its control to be a finding")] = 5.0
    seed: Annotated[int, typer.Option(min=0, help="for the draw of people")] = 0


@dataclass(frozen=True)
class Demands:
    """What a release must keep."""

    require: Requirements = None
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="MEASURE=LARGEST reading allowed, e.g. record-linkage=5; may be repeated", show_default=False
        ),
    ] = None
    rulebook: RulebookName = None
    waive: Waive = None
    waivers: Annotated[
        list[Path] | None,
        typer.Option(
            help="file of [[waive]] tables as --propose writes it, a reason in each; may be repeated",
            show_default=False,
        ),
    ] = None
    propose: Annotated[
        Path | None,
        typer.Option(
            help="if the file reveals too much, write a [[waive]] table for every finding here; a person fills in the "
            "reasons",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class BundleOptions:
    """What is written, and how it is described."""

    out: Annotated[Path, typer.Option("--out", "-o", help="folder to write; must not exist", show_default=False)]
    title: Title = "Protected microdata"
    method: Annotated[str, typer.Option(help="how the file was masked, in a sentence for both reports")] = (
        "The file was masked before it reached Crypsis."
    )
    family: Annotated[
        str, typer.Option(help="aggregation, recoding or perturbation; a perturbed file cannot rely on class sizes")
    ] = "unknown"
    format: Annotated[
        str | None,
        typer.Option(
            help="csv, csv.gz, parquet, xlsx, sav, dta or xpt; by default that of the plan of a run, or of the file",
            show_default=False,
        ),
    ] = None
    keep_order: KeepOrder = False
    sign: Sign = None
    replaces: Replaces = None


# -- From the texts of options to tables, settings, requirements and randomness.


def split(values: Iterable[str] | None) -> list[str]:
    """['a,b', 'c'] → ['a', 'b', 'c']."""
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]


EXAMPLES = {
    "--set": "k=5", "--limit": "record-linkage=5", "--level": "age=2", "--hierarchy": "age=intervals:5,10,20",
    "--importance": "age=3", "--waive": "singling-out:income=known to nobody outside",
}  # fmt: skip
"""What an option that takes NAME=VALUE may look like, where it is not the kind of a column."""


def pairs(values: Sequence[str] | None, option: str) -> dict[str, str]:
    """['age=numeric'] → {'age': 'numeric'}."""
    found = {}
    for value in values or ():
        name, equals, rest = value.partition("=")
        if not equals or not name or not rest:
            example = EXAMPLES.get(option, "age=numeric")
            raise PlanError(f"{option} {value!r}: write NAME=VALUE, for example {option} {example!r}")
        found[name.strip()] = rest.strip()
    return found


def settings(values: Sequence[str] | None) -> dict[str, Any]:
    """['k=5', 'ending=generic'] → {'k': 5, 'ending': 'generic'}; JSON values are understood."""
    parsed = {}
    for name, text in pairs(values, "--set").items():
        try:
            parsed[name] = json.loads(text)
        except json.JSONDecodeError:
            parsed[name] = text
    return parsed


def load(file: Path, given: Roles, masked: bool = False) -> Table:
    """The table in `file`, with the roles of the plan and of the command line; the latter win."""
    from crypsis.plan import Plan
    from crypsis.table.attribute import Role
    from crypsis.table.files import read_table

    named = {
        Role.IDENTIFIER: split(given.identifier),
        Role.CONFIDENTIAL: split(given.confidential),
        Role.QUASI_IDENTIFIER: split(given.quasi),
    }
    every = named[Role.QUASI_IDENTIFIER] == ["*"]
    roles = dict[str, str]()
    for role, names in named.items():
        roles |= {} if every and role is Role.QUASI_IDENTIFIER else dict.fromkeys(names, role.value)
    sorts, trees = pairs(given.kind, "--kind"), dict(pairs(given.hierarchy, "--hierarchy"))
    if given.plan is None:
        table = read_table(file, roles, sorts, trees, masked=masked, **given.given_form())
    else:
        table = Plan.read(given.plan).table(
            given.plan.parent, file, roles, sorts, trees, masked=masked, reading=given.given_form()
        )
    if every:
        table = table.with_roles(dict.fromkeys(table.names_by_role(Role.UNDECIDED), Role.QUASI_IDENTIFIER))
    return table


def written_format(text: str | None) -> WrittenFormat | None:
    """The format that --format names."""
    from typing import get_args

    from crypsis.table.readers.formats import WrittenFormat

    known: tuple[WrittenFormat, ...] = get_args(WrittenFormat)
    named = (text or "").strip().lower().removeprefix(".")
    chosen = next((each for each in known if each == named), None)
    if text is not None and chosen is None:
        raise PlanError(f"--format {text!r}: choose {listing(known, most=20)}")
    return chosen


def requirements(texts: Sequence[str] | None, plan: Plan | None) -> list[PrivacyModel]:
    """['k-anonymity:k=5', 'l-diversity:l=2,kind=entropy'] and the plan's requirements → models."""
    from crypsis.privacy import models

    built = plan.models() if plan else []
    for text in texts or ():
        name, _, rest = text.partition(":")
        built.append(models.build(name, **settings(split([rest]))))
    return built


def read_plan(path: Path | None) -> Plan | None:
    """The plan in a file, if one is given."""
    from crypsis.plan import Plan

    return Plan.read(path) if path else None


def randomness(seed: int | None) -> Any:
    """The operating system's randomness, unless the user gives a seed."""
    import numpy as np

    return np.random.default_rng(seed)
