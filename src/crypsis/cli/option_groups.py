"""Options that belong together: a command takes one argument for a group, and the command line shows every option."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from crypsis.cli import inputs, options

if TYPE_CHECKING:
    from crypsis.plan import Plan
    from crypsis.table.table import Table


def ungrouped(command: Callable[..., None]) -> Callable[..., None]:
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
class Roles:
    """What the command line says about the columns of a file."""

    quasi: options.Quasi = None
    identifier: options.Identifier = None
    confidential: options.Confidential = None
    kind: options.Kinds = None
    hierarchy: options.Hierarchies = None
    plan: options.PlanFile = None

    def read(self, file: Path, masked: bool = False) -> Table:
        """The table in a file, with the roles of the plan and of the command line; the latter win."""
        return inputs.load(file, self, masked)


@dataclass(frozen=True)
class PlanEngine:
    """Where a run computes; default: as its plan says."""

    engine: options.EngineName = None
    workers: options.Workers = None
    scheduler: options.Scheduler = None

    @contextmanager
    def opened(self, document: Plan) -> Iterator[Any]:
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
    seed: options.Seed = None
    keep_order: options.KeepOrder = False
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

    require: options.Requirements = None
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="MEASURE=LARGEST reading allowed, e.g. record-linkage=5; may be repeated", show_default=False
        ),
    ] = None
    rulebook: options.RulebookName = None
    waive: options.Waive = None


@dataclass(frozen=True)
class BundleOptions:
    """What is written, and how it is described."""

    out: Annotated[Path, typer.Option("--out", "-o", help="folder to write; must not exist", show_default=False)]
    title: options.Title = "Protected microdata"
    method: Annotated[str, typer.Option(help="how the file was masked, in a sentence for both reports")] = (
        "The file was masked before it reached Crypsis."
    )
    family: Annotated[
        str, typer.Option(help="aggregation, recoding or perturbation; a perturbed file cannot rely on class sizes")
    ] = "unknown"
    format: Annotated[str, typer.Option(help="csv or parquet")] = "csv"
    keep_order: options.KeepOrder = False
    sign: options.Sign = None


@dataclass(frozen=True)
class Factorial:
    """The design of a study, and how its results are judged."""

    vary: Annotated[
        list[str],
        typer.Option("--vary", "-v", help="SETTING=A,B,C or SETTING=FIRST:LAST:STEP; repeat", show_default=False),
    ]
    replicates: Annotated[int, typer.Option(help="runs of every combination", min=1)] = 10
    seed: Annotated[int, typer.Option(help="first seed of the design; same seed, same trials")] = 0
    alpha: Annotated[float, typer.Option(help="level of significance", min=1e-6, max=0.5)] = 0.05


@dataclass(frozen=True)
class Fixed:
    """What does not vary in a study."""

    set_: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="NAME=VALUE setting that does not vary; may be repeated")
    ] = None
    k: Annotated[int, typer.Option(help="smallest group, for partitioners", min=1)] = 3
    generations: Annotated[int, typer.Option(help="length of a search's runs; 0: its own", min=0)] = 0


@dataclass(frozen=True)
class Effort:
    """How much of a study is done now, and by whom."""

    most: Annotated[
        int | None, typer.Option(help="stop after so many new trials and say how long the rest takes", min=1)
    ] = None
    workers: Annotated[int, typer.Option(help="processes; 1 runs here, 0 means one per core", min=0)] = 1
