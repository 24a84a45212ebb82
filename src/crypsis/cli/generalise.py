"""`crypsis generalise`: a table that may be larger than memory, counted, generalised, released and verified."""

from __future__ import annotations

import importlib
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from crypsis.cli import options, rulebooks
from crypsis.cli.output import figure, say, say_json, say_released, show_spinner
from crypsis.errors import EngineError, PlanError, ReleaseRefused, listing
from crypsis.small_tables import table

if TYPE_CHECKING:
    import polars as pl

    from crypsis.plan import Plan
    from crypsis.plan.sections import Column
    from crypsis.release.lazy_release import CountedLimit
    from crypsis.release.ledger import ReleaseLedger
    from crypsis.searches.pbg_ea.demanded_node import FoundNode, NodeTerms
    from crypsis.table.lazy import LazyTable
    from crypsis.table.table import Table

SHOWN = 30
"""Nodes of a front that are printed; --json has all."""


CLASS_RISKS = ("risk", "class-risk", "record-linkage")
LOSSES = ("loss", "information-loss")
"""Measures of a limit that are read from counts; beside them, suppressed."""
MEMORY = "or use `crypsis run` where the table fits in memory"


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
    replaces: options.Replaces = None,
    json: options.Json = False,
) -> None:
    """Generalise a table that may be larger than memory.

    Counts its tuples, evaluates every node of the lattice exactly (of a very large lattice those that PBG-EA tries),
    releases the best one, enters it in the ledger and verifies it.

    Needs a hierarchy for every quasi-identifier; guarantees k-anonymity and distinct l-diversity. Columns of [[mask]]
    are read alone, masked, and written beside the others before anything is counted.
    """
    from crypsis.plan import Plan
    from crypsis.release.lazy_release import provable
    from crypsis.searches.pbg_ea.demanded_node import find_demanded_node
    from crypsis.table.lazy import require_arrow

    require_arrow()
    document = Plan.read(plan)
    _refuse(document)
    k, l = provable(document.models())  # noqa: E741
    waivers = {**document.waivers(), **rulebooks.waivers_of(waive)}
    with _connect(engine, scheduler), ExitStack() as kept:
        with show_spinner(f"counting {plan.parent / document.data.source}"):
            held = collected = _count_table(document, plan.parent, engine, bool(l))
        if document.mask or _rounded_weight(document):
            place = TemporaryDirectory(prefix=".crypsis-masked-", dir=(plan if out is None else out).absolute().parent)
            folder = Path(kept.enter_context(place))
            with show_spinner("masking columns on their own, counting again"):
                held = _mask_beforehand(held, document, plan.parent, engine, bool(l), folder)
        terms = _terms(document, k, l, held)
        with show_spinner("evaluating nodes"):
            found = find_demanded_node(held.counts, terms, document.run.seed or 0, _seconds(document))
            front = _front(held, document) if found.proven else None
        levels = _levels(level, found.node.levels, held)
        content = {
            "records": held.counts.total,
            "tuples": len(held.tuples),
            "nodes": found.nodes,
            "evaluated": found.evaluated,
            "front": [] if front is None else front.to_dicts(),
            "least_loss": {
                **found.node.__dict__,
                "levels": dict(zip(held.counts.names, found.node.levels, strict=False)),
                "risk": found.risk,
            },
        }
        if not json:
            _report(held, found, front, document)
        if out is not None:
            ledger = _ledger(document, plan.parent, replaces)
            written = _Written(out, waivers, title, sign, ledger, json)
            content |= _release(held, collected, levels, document, written)
    if json:
        say_json(content)


def _refuse(document: Plan) -> None:
    """Refuse everything that counts alone cannot show, at once, with what to write instead."""
    found = list(_unreadable(document))
    if document.use:
        found.append("[[use]]: uses are measured on records and not on counts; leave the tables out")
    measured = {limit.measure for limit in document.limit} - {*CLASS_RISKS, *LOSSES, "suppressed"}
    found += [
        f"[[limit]] on {name}: it is measured on records and not on counts; limit risk, loss or suppressed instead"
        for name in sorted(measured)
    ]
    if document.scenario:
        found.append(
            '[[scenario]]: classes are counted over all quasi-identifiers; demand [[require]] model = "k-anonymity" '
            "over all of them, which is stricter, and leave the scenarios out"
        )
    if "format" in document.release.model_fields_set and document.release.format not in ("csv", "parquet"):
        found.append(
            f'release.format: {document.release.format!r} is not written in parts; write format = "csv" or "parquet"'
        )
    for name, column in document.columns.items():
        found += [f"columns.{name}.{each}" for each in _of_records(document, name, column)]
    if found:
        raise PlanError("\n".join(["counting cannot obey all of the plan:", *found, f"change these, {MEMORY}"]))


def _of_records(document: Plan, name: str, column: Column) -> Iterator[str]:
    """Settings of a column that are obeyed record by record alone, and what to write instead."""
    treatment = column.publish.partition(":")[0]
    if column.derived:
        yield (
            'derived: it is recomputed record by record; give it role = "identifier", which leaves it out, and compute '
            "it from the released file"
        )
    if column.labels:
        yield "labels: codes are released as they are counted; leave labels out, and say what they mean in label"
    if treatment == "noise":
        yield 'publish: noise is calibrated by every published column; write publish = "raked" or "rounded:…"'
    others = [each for each in column.publish.partition(":")[2].split(",") if treatment == "raked" and each.strip()]
    if others and set(map(str.strip, others)) != set(_quasi(document)):
        yield 'publish: margins are those of all quasi-identifiers; write publish = "raked"'
    if column.publish and any(name in rule.columns for rule in document.edit_rules()):
        yield "publish: a [[rule]] speaks of it, which would be judged record by record; leave one of the two out"


def _quasi(document: Plan) -> list[str]:
    """Names of the quasi-identifiers of a plan."""
    return [name for name, column in document.columns.items() if column.role == "quasi"]


def _unreadable(document: Plan) -> Iterator[str]:
    """Ways to read a file that a scan has not."""
    said = [name for name in document.data.reading_options() if name not in ("delimiter", "encoding", "missing")]
    if said:
        yield f"data.{said[0]}: what is counted is plain text or Parquet: write Parquet, drop {listing(said)}"
    if (document.data.encoding or "utf8").lower().replace("-", "") != "utf8":
        yield f"data.encoding: {document.data.encoding!r} cannot be counted; write the file in UTF-8"


def _terms(document: Plan, k: int, l: int, held: LazyTable) -> NodeTerms:  # noqa: E741
    """What the plan demands of a node."""
    from crypsis.searches.pbg_ea.demanded_node import NodeTerms

    quasi = {name: document.columns[name] for name in _quasi(document) if name in held.counts.names}

    def least(names: Collection[str], usual: float = 100.0) -> float:
        return min((limit.at_most for limit in document.limit if limit.measure in names), default=usual)

    return NodeTerms(
        k,
        l,
        min(document.suppression, least(("suppressed",)) / 100.0),
        least(CLASS_RISKS),
        least(LOSSES),
        {name: column.at_most for name, column in quasi.items() if column.at_most is not None},
        frozenset(name for name, column in quasi.items() if column.lock),
        {name: column.linked for name, column in quasi.items() if column.linked},
    )


def _limits(document: Plan) -> list[CountedLimit]:
    """The limits of the plan, measured again on the written files."""
    from crypsis.release.lazy_release import CountedLimit

    found = [
        CountedLimit(
            each.measure,
            each.at_most,
            "information-loss"
            if each.measure in LOSSES
            else "record-linkage"
            if "link" in each.measure
            else "class-risk",
        )
        for each in document.limit
        if each.measure != "suppressed"
    ]
    capped = ((name, document.columns[name].at_most) for name in _quasi(document))
    return found + [CountedLimit(f"loss of {n}", most, "information-loss", n) for n, most in capped if most is not None]


def _seconds(document: Plan) -> float | None:
    """The budget of the plan in seconds, if it is one of time."""
    from crypsis.plan.sections import read_plan_budget

    budget = read_plan_budget(document.run.budget) if document.run.budget else None
    return None if budget is None or math.isinf(budget.seconds) else budget.seconds


def _ledger(document: Plan, home: Path, replaces: list[Path] | None) -> ReleaseLedger:
    """The ledger in which the release is entered, which knows its source by its path too."""
    from crypsis.release.ledger import ReleaseLedger

    return ReleaseLedger.usual(home / document.data.source, document.release.ledger, replaces=replaces or ())


def _rounded_weight(document: Plan) -> str:
    """The weight that is published rounded; empty if there is none."""
    return next((name for name, each in document.columns.items() if each.publish.startswith("rounded")), "")


def _raked_weight(document: Plan) -> str:
    """The weight that is published raked; empty if there is none."""
    return next((name for name, each in document.columns.items() if each.publish.startswith("raked")), "")


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
    counted = counted.decide_roles({name: column.role.value for name, column in document.columns.items()})
    said = {n: {"importance": c.importance, "label": c.label} for n, c in document.columns.items()}
    return replace(
        counted.describe(said),
        labels={name: column.label for name, column in document.columns.items()},
        treated={name: column.publish for name, column in document.columns.items()},
    )


def _kinds(columns: Mapping[str, Column]) -> dict[str, str | tuple[str, ...]]:
    """The order or the kind of every column of which the plan says one."""
    return {n: c.order or str(c.kind.value if c.kind else "") for n, c in columns.items() if c.order or c.kind}


def _mask_beforehand(
    held: LazyTable, document: Plan, home: Path, engine: str, diverse: bool, folder: Path
) -> LazyTable:
    """The table counted again after the columns of `mask` were read alone and masked; the copy lies in `folder`."""
    import secrets

    import polars as pl

    from crypsis.masking.weights import publish_weight
    from crypsis.table.frames import to_frame, wrap
    from crypsis.table.lazy import changed_cells, read_columns, write_replaced

    names = list(dict.fromkeys(name for each in document.mask for name in each.build().columns))
    names += [name for name in [_rounded_weight(document)] if name]
    ruled = [name for rule in document.edit_rules() if set(rule.columns) & set(names) for name in rule.columns]
    frame = held.frame if engine == "polars" else _count_table(document, home, "polars", diverse).frame
    read = list(dict.fromkeys([*names, *ruled]))
    given = {name: document.columns[name] for name in read if name in document.columns}
    before = read_columns(frame, read)
    collected = wrap(
        before,
        roles={name: column.role.value for name, column in given.items()},
        kinds=_kinds(given),
    )
    treated = {
        n: collected.attribute(n).but(publish=c.publish) for n, c in given.items() if _rounded_weight(document) == n
    }
    collected = collected.with_columns({}, attributes=treated)
    seed = document.run.seed if document.run.seed is not None else secrets.randbits(63)
    made = publish_weight(document.masked_beforehand(collected, seed), collected)
    _refuse_broken_rules(document, collected, made, names)
    masked = pl.DataFrame(to_frame(made, suppressed="keep")).select(names)
    copy = write_replaced(frame, masked, folder / "masked.parquet")
    again = _count_table(document, home, engine, diverse, copy)
    return replace(again, masked=changed_cells(before.select(names), masked))


def _refuse_broken_rules(document: Plan, collected: Table, made: Table, names: Collection[str]) -> None:
    """Refuse a masking of columns on their own that breaks rules; what is generalised breaks none."""
    from crypsis.table.rules import read_rule

    found = []
    for rule in document.rule:
        measure = rule.measure()
        if rule.at_most is None or not set(read_rule(measure.rule).columns) & set(names):
            continue
        broken = measure.against(collected).read(made)
        if broken > rule.at_most:
            found.append(f"{rule.title}: {figure(broken)} % of the records break it after [[mask]] and kept it before")
    if found:
        raise ReleaseRefused(
            "nothing was released: "
            + "; ".join(found)
            + "; mask its columns in another way, make them quasi, or allow a share of the records by at_most"
        )


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


def _front(held: LazyTable, document: Plan) -> pl.DataFrame:
    """Nodes that no other beats in k, l and loss, by increasing loss."""
    import numpy as np
    import polars as pl

    from crypsis.searches.pbg_ea import minimal_node_scores
    from crypsis.searches.pbg_ea.evaluation import evaluate_lattice

    nodes = evaluate_lattice(held.counts, document.suppression, value_spread=False)
    aims = [nodes[name].to_numpy().astype(np.float64) for name in ("k", "l") if name in nodes.columns]
    best = minimal_node_scores(np.stack([*aims, -nodes["glm"].to_numpy()], axis=1))
    return nodes.filter(pl.Series(best) & (pl.col("k") > 0)).sort("glm")


def _report(held: LazyTable, found: FoundNode, front: pl.DataFrame | None, document: Plan) -> None:
    say(f"{held.counts.total} records, {len(held.tuples)} distinct tuples")
    if front is None:
        say(f"{found.evaluated} of {found.nodes} nodes evaluated, as the search PBG-EA chose; another may lose less")
    else:
        say(f"{found.nodes} nodes, of which {len(front)} are on the front of k, l and loss")
        names = [name for name in front.columns if name in (*held.counts.names, "k", "l", "suppressed")]
        head = [*names, "loss, %"]
        rows = [[*(str(row[name]) for name in names), figure(100 * row["glm"])] for row in front.head(SHOWN).to_dicts()]
        say(table(head, rows, right=range(len(head))))
        if len(front) > SHOWN:
            say(f"{len(front) - SHOWN} more have a greater loss: --json")
    if document.search and "search" in document.model_fields_set:
        say("[[search]] and [measures] are not asked: nodes are compared by the general loss metric (cells per domain)")
    say()
    best = found.node
    reached = f"k = {best.k}" + ("" if best.l is None else f", l = {best.l}")
    say(f"least loss that meets the plan: {best.message}")
    say(
        f"{reached}, loss {figure(100 * best.glm)} %, class risk {figure(found.risk)} %, {best.suppressed} records "
        f"suppressed"
    )


class _Written(NamedTuple):
    """Where and how a release is written."""

    out: Path
    waivers: Mapping[str, str]
    title: str
    sign: Path | None
    ledger: ReleaseLedger
    json: bool


def _release(
    held: LazyTable, collected: LazyTable, levels: tuple[int, ...], document: Plan, written: _Written
) -> dict[str, Any]:
    from dataclasses import asdict

    from crypsis.release import ReleaseDescription, verify
    from crypsis.release.lazy_release import lattice_of_lazy_release, publish_counted, source_for_ledger
    from crypsis.text import node_text

    message = node_text(lattice_of_lazy_release(held), levels)
    description = ReleaseDescription(
        written.title, f"{message[:1].upper()}{message[1:]}.", "recoding", {"levels": list(levels)}
    )
    format = document.release.format if "format" in document.release.model_fields_set else "parquet"
    with show_spinner("generalising, writing, counting again"):
        publish_counted(
            held, levels, written.out, models=document.models(), suppression=document.suppression,
            description=description, format="csv" if format == "csv" else "parquet", order=document.release.order,
            limits=_limits(document), weight=_raked_weight(document), waivers=written.waivers,
            unstated=document.list_unstated(), sign=written.sign, ledger=written.ledger,
            collected=source_for_ledger(collected),
        )  # fmt: skip
        found = verify(written.out)
    if not written.json:
        say()
        say_released(written.out, found)
    if not found.sound:
        raise ReleaseRefused("; ".join(found.problems))
    return {"release": str(written.out), "levels": list(levels), "verdicts": [asdict(v) for v in found.verdicts]}


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
