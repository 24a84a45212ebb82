"""`crypsis generalise`: a table that may be larger than memory, counted, generalised, released and verified."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options, rulebooks
from crypsis.cli.output import figure, say, say_json, say_released, show_spinner, table
from crypsis.errors import EngineError, PlanError, ReleaseRefused, listing

if TYPE_CHECKING:
    import polars as pl

    from crypsis.plan import Plan
    from crypsis.plan.sections import Column
    from crypsis.searches.pbg_ea.evaluation import Node
    from crypsis.table.lazy import LazyTable

SHOWN = 30
"""Nodes of a front that are printed; --json has all."""


OF_RECORDS = frozenset({"at_most", "lock", "linked", "derived", "publish"})
"""Settings of a column that are obeyed record by record."""


def generalise(
    plan: Annotated[Path, typer.Argument(help="plan.toml: columns, hierarchies, require", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="release to write; must not exist. Without it, only the front is shown"),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(help="COLUMN=LEVEL, once for every quasi-identifier; default: the node of least loss"),
    ] = None,
    engine: Annotated[str, typer.Option(help="what counts and writes: polars, duckdb, spark or dask")] = "polars",
    scheduler: Annotated[
        str, typer.Option(help="address of a Dask scheduler whose workers see the files", show_default=False)
    ] = "",
    title: options.Title = "Protected microdata",
    sign: options.Sign = None,
    waive: options.Waive = None,
    json: options.Json = False,
) -> None:
    """Generalise a table that may be larger than memory.

    Counts its tuples, evaluates every node of the lattice exactly, releases the best one and verifies it.

    Needs a hierarchy for every quasi-identifier; guarantees k-anonymity and distinct l-diversity. Columns of [[mask]]
    are read alone, masked, and written beside the others before anything is counted.
    """
    from crypsis.plan import Plan
    from crypsis.release.lazy_release import provable
    from crypsis.searches.pbg_ea.evaluation import evaluate_lattice, optimal_lattice_node
    from crypsis.table.lazy import require_arrow

    require_arrow()
    document = Plan.read(plan)
    _refuse(document)
    k, l = provable(document.models())  # noqa: E741
    waivers = {**document.waivers(), **rulebooks.waivers_of(waive)}
    with _connect(engine, scheduler), ExitStack() as kept:
        with show_spinner(f"counting {plan.parent / document.data.source}"):
            held = _count_table(document, plan.parent, engine, bool(l))
        if document.mask:
            place = TemporaryDirectory(prefix=".crypsis-masked-", dir=(plan if out is None else out).absolute().parent)
            folder = Path(kept.enter_context(place))
            with show_spinner("masking columns on their own, counting again"):
                held = _mask_beforehand(held, document, plan.parent, engine, bool(l), folder)
        with show_spinner("evaluating every node"):
            nodes = evaluate_lattice(held.counts, document.suppression, value_spread=False)
            best = optimal_lattice_node(held.counts, k, document.suppression, l=l or None)
        levels = _levels(level, best.levels, held)
        front = _front(nodes)
        content = {
            "records": held.counts.total,
            "tuples": len(held.tuples),
            "nodes": len(nodes),
            "front": front.to_dicts(),
            "least_loss": {**best.__dict__, "levels": dict(zip(held.counts.names, best.levels, strict=False))},
        }
        if not json:
            _report(held, nodes, front, best)
        if out is not None:
            content |= _release(held, levels, out, document, waivers, title, sign, json)
    if json:
        say_json(content)


def _refuse(document: Plan) -> None:
    """Refuse what counts alone cannot show."""
    if document.use or document.limit:
        raise PlanError(
            "uses and limits are measured on records and not on counts; leave [[use]] and [[limit]] out for "
            "`crypsis generalise`, or use `crypsis run` where the table fits in memory"
        )
    said = [name for name in document.data.reading_options() if name not in ("delimiter", "encoding", "missing")]
    if said:
        raise PlanError(
            f"data.{said[0]}: a table that is counted is plain text or Parquet, so this cannot be obeyed; write it as "
            f"Parquet and leave {listing(said)} out"
        )
    if "format" in document.release.model_fields_set and document.release.format != "parquet":
        raise PlanError(
            f"release.format: a table that is counted is written as Parquet, so {document.release.format!r} cannot be "
            f'obeyed; write format = "parquet", or use `crypsis run` where the table fits in memory'
        )
    told = {name for column in document.columns.values() for name in OF_RECORDS & column.model_fields_set}
    sections = [
        *sorted(f"{name} of a column" for name in told),
        *(n for n in ("scenario", "rule") if getattr(document, n)),
    ]
    if sections:
        raise PlanError(
            f"{listing(sections)} cannot be obeyed by counting tuples; leave it out for `crypsis generalise`, or use "
            f"`crypsis run` where the table fits in memory"
        )
    if (document.data.encoding or "utf8").lower().replace("-", "") != "utf8":
        raise PlanError(f"data.encoding: {document.data.encoding!r} cannot be counted; write the file in UTF-8")


def _count_table(document: Plan, home: Path, engine: str, diverse: bool, copy: Path | None = None) -> LazyTable:
    """Count the source of a plan, or a copy of it as Parquet."""
    from crypsis.table.attribute import Role
    from crypsis.table.lazy import TEXT, count_lazily, scan

    named: dict[Role, list[str]] = {role: [] for role in Role}
    for name, column in document.columns.items():
        named[column.role].append(name)
    confidential = _confidential_column(document, named[Role.CONFIDENTIAL]) if diverse else []
    path = copy or home / document.data.source
    if path.suffix.lower() in TEXT and engine != "polars":
        raise PlanError(f"{path.name}: text is counted by polars alone; leave --engine out, or write Parquet")
    counted = count_lazily(
        path if engine == "polars" else scan(path, engine).to_native(),
        quasi_identifiers=named[Role.QUASI_IDENTIFIER],
        confidential=confidential,
        identifiers=named[Role.IDENTIFIER],
        kinds=_kinds(document.columns),
        hierarchies=document.hierarchies(home),
        delimiter=document.data.delimiter,
        missing=document.data.missing or ("",),
    )
    return counted.decide_roles({name: column.role.value for name, column in document.columns.items()})


def _kinds(columns: Mapping[str, Column]) -> dict[str, str | tuple[str, ...]]:
    """The order or the kind of every column of which the plan says one."""
    return {n: c.order or str(c.kind.value if c.kind else "") for n, c in columns.items() if c.order or c.kind}


def _mask_beforehand(
    held: LazyTable, document: Plan, home: Path, engine: str, diverse: bool, folder: Path
) -> LazyTable:
    """The table counted again after the columns of `mask` were read alone and masked; the copy lies in `folder`."""
    import secrets
    from dataclasses import replace

    import polars as pl

    from crypsis.table.frames import to_frame, wrap
    from crypsis.table.lazy import changed_cells, read_columns, write_replaced

    names = list(dict.fromkeys(name for each in document.mask for name in each.build().columns))
    frame = held.frame if engine == "polars" else _count_table(document, home, "polars", diverse).frame
    given = {name: document.columns[name] for name in names if name in document.columns}
    before = read_columns(frame, names)
    collected = wrap(
        before,
        roles={name: column.role.value for name, column in given.items()},
        kinds=_kinds(given),
    )
    seed = document.run.seed if document.run.seed is not None else secrets.randbits(63)
    masked = pl.DataFrame(to_frame(document.masked_beforehand(collected, seed), suppressed="keep"))
    copy = write_replaced(frame, masked, folder / "masked.parquet")
    return replace(_count_table(document, home, engine, diverse, copy), masked=changed_cells(before, masked))


def _confidential_column(document: Plan, confidential: list[str]) -> list[str]:
    """The one confidential column whose values are counted."""
    wanted = list(dict.fromkeys(n for m in document.models() for n in getattr(m, "confidential", ()))) or confidential
    if len(wanted) != 1:
        raise PlanError(
            f"l-diversity is counted for one confidential column and the plan has {len(wanted)}; name it in "
            f'the requirement, e.g. confidential = ["diagnosis"]'
        )
    return wanted


def _levels(texts: list[str] | None, best: tuple[int, ...], held: LazyTable) -> tuple[int, ...]:
    """The levels asked for, or those of least loss."""
    if not texts:
        return best
    names = list(held.counts.names)[: len(best)]
    given = options.pairs(options.split(texts), "--level")
    if set(given) != set(names) or not all(text.isdigit() for text in given.values()):
        raise PlanError(
            f"--level: give a whole number for every quasi-identifier, e.g. {','.join(f'{n}=0' for n in names)}"
        )
    return tuple(int(given[name]) for name in names)


def _front(nodes: pl.DataFrame) -> pl.DataFrame:
    """Nodes that no other beats in k, l and loss, by increasing loss."""
    import numpy as np
    import polars as pl

    from crypsis.searches.pbg_ea import minimal_node_scores

    aims = [nodes[name].to_numpy().astype(np.float64) for name in ("k", "l") if name in nodes.columns]
    best = minimal_node_scores(np.stack([*aims, -nodes["glm"].to_numpy()], axis=1))
    return nodes.filter(pl.Series(best) & (pl.col("k") > 0)).sort("glm")


def _report(held: LazyTable, nodes: pl.DataFrame, front: pl.DataFrame, best: Node) -> None:
    say(f"{held.counts.total} records, {len(held.tuples)} distinct tuples")
    say(f"{len(nodes)} nodes, of which {len(front)} are on the front of k, l and loss")
    names = [name for name in nodes.columns if name in (*held.counts.names, "k", "l", "suppressed")]
    head = [*names, "loss, %"]
    rows = [[*(str(row[name]) for name in names), figure(100 * row["glm"])] for row in front.head(SHOWN).to_dicts()]
    say(table(head, rows, right=range(len(head))))
    if len(front) > SHOWN:
        say(f"{len(front) - SHOWN} more have a greater loss: --json")
    say()
    reached = f"k = {best.k}" + ("" if best.l is None else f", l = {best.l}")
    say(f"least loss that meets the plan: {best.message}")
    say(f"{reached}, loss {figure(100 * best.glm)} %, {best.suppressed} records suppressed")


def _release(
    held: LazyTable,
    levels: tuple[int, ...],
    out: Path,
    document: Plan,
    waivers: Mapping[str, str],
    title: str,
    sign: Path | None,
    json: bool,
) -> dict[str, Any]:
    from dataclasses import asdict

    from crypsis.release import ReleaseDescription, verify
    from crypsis.release.lazy_release import lattice_of_lazy_release, publish_counted
    from crypsis.text import node_text

    message = node_text(lattice_of_lazy_release(held), levels)
    description = ReleaseDescription(
        title, f"{message[:1].upper()}{message[1:]}.", "recoding", {"levels": list(levels)}
    )
    with show_spinner("generalising, writing, counting again"):
        publish_counted(
            held, levels, out, models=document.models(), suppression=document.suppression, description=description,
            order=document.release.order, waivers=waivers, unstated=document.list_unstated(),
            sign=sign,
        )  # fmt: skip
        found = verify(out)
    if not json:
        say()
        say_released(out, found)
    if not found.sound:
        raise ReleaseRefused("; ".join(found.problems))
    return {"release": str(out), "levels": list(levels), "verdicts": [asdict(v) for v in found.verdicts]}


@contextmanager
def _connect(engine: str, scheduler: str) -> Iterator[None]:
    """A Dask cluster as the current one, where an address is given."""
    if not scheduler:
        yield
        return
    if engine != "dask":
        raise PlanError(f"--scheduler is the address of a Dask scheduler and the engine is {engine}; add --engine dask")
    try:
        client = importlib.import_module("distributed").Client(scheduler, timeout="10s")
    except ImportError:
        raise EngineError('Dask is not installed; install it with: pip install "crypsis[dask]"') from None
    except (OSError, TimeoutError, ValueError) as error:
        raise EngineError(f"no Dask scheduler answered at {scheduler!r} ({type(error).__name__}); start one") from None
    with client:
        yield
