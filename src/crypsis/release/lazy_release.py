"""A chosen node applied to data that are never read as a whole, and the written files counted again.

Which classes must go is decided from the counts. The engine that holds the data then maps values to labels, leaves out
identifiers and suppressed records, and writes Parquet files. A second counted pass over those files must find exactly
what the counts promise, or the folder never gets its name.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.audits import Audit
from crypsis.errors import PlanError, ReleaseRefused, TableError
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.measures.intervals import class_interval
from crypsis.measures.masking_description import Treatment
from crypsis.measures.measure import Reading
from crypsis.measures.record_linkage import MISSING_LINKS, RecordLinkage
from crypsis.privacy import KAnonymity, LDiversity
from crypsis.privacy import models as registered
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import PrivacyModel, Verdict
from crypsis.release.bundle import write_reports
from crypsis.release.facts import EVERYTHING, ReleaseDescription, reported_findings, without_seeds
from crypsis.release.findings import audit_files, check_finding_waivers, refuse_open, split_waivers
from crypsis.release.leaks import refuse_leaks
from crypsis.release.manifest import digests, write_manifests, write_sealed, write_text
from crypsis.release.published import Order
from crypsis.release.shuffling import shuffle_files
from crypsis.release.signing import SigningKey
from crypsis.report import ReportContent
from crypsis.report.content import ReportedColumn, ReportedScenario
from crypsis.table.attribute import Kind, Role
from crypsis.table.encoding import Source
from crypsis.table.equivalence_classes import classes_of, columns_by_key, equivalence_classes, pack
from crypsis.table.files import atomic_folder
from crypsis.table.frames import table_of
from crypsis.table.lattice import Lattice
from crypsis.table.lazy import RECORDS, Lazy, LazyTable, batches, engine_of, scan, tally
from crypsis.table.lookalikes import DIGITS, fold_label, known_contents
from crypsis.table.suppression import Rule, allowed_records, rule_code, suppress
from crypsis.table.table import Table
from crypsis.text import audited_text, node_text, treatment_text
from crypsis.version import __version__

CODE, LABEL, KEY = "crypsis code ", "crypsis label ", "crypsis key "
"""Names of columns that live only inside the map."""


@dataclass(frozen=True)
class LazyRelease:
    """A release as the count over its files found it."""

    folder: Path
    levels: tuple[int, ...]
    message: str
    records: int
    suppressed: int
    k: int
    l: int | None  # noqa: E741
    engine: str


@dataclass(frozen=True, eq=False)
class TupleOutcomes:
    """What happens to every distinct tuple at a node."""

    codes: NDArray[np.int32]
    """int32[tuples, quasi-identifiers]: group of the tuple at the node"""
    suppressed_tuples: NDArray[np.bool_]
    """bool[tuples]: whether the tuple is suppressed"""
    k: int
    l: int | None  # noqa: E741
    suppressed: int


def release_lazily(
    source: LazyTable,
    levels: Sequence[int],
    folder: str | Path,
    *,
    suppression: float = 0.01,
    rule: Rule = "failing-class",
    k: int = 0,
    l: int = 0,  # noqa: E741
    order: Order = "shuffled",
    rng: Generator | None = None,
    waivers: Mapping[str, str] | None = None,
) -> LazyRelease:
    """Generalise, suppress, write with the engine of the source, count the written files and compare.

    levels  one per quasi-identifier, e.g. `optimum(source.counts, k=5).levels`
    k, l    demanded of every class, as in the masking method `generalisation`; 0 takes what the limit allows
    order   of the written records; the order of the source can re-identify people
    rng     of that order; the operating system's randomness unless given
    waivers findings that may pass, with the reason, e.g. {"singling-out:wage": "not known outside the office"}
    folder  must not exist; gets `data/*.parquet` and a sealed `manifest.json` without any value of the data
    """
    lattice = lattice_of(source)
    levels = tuple(int(level) for level in levels)
    lattice.check(levels)
    outcome = decide(source, lattice, levels, suppression, rule, k, l)
    folder = Path(folder)
    with atomic_folder(folder, mode=0o755) as aside:
        found, _ = write_node(source, levels, outcome, aside / "data", order, rng, k, l)
        judged_findings(source, aside / "data", waivers)
        made = LazyRelease(
            folder, levels, node_text(lattice, levels), source.counts.total - found.suppressed, found.suppressed,
            found.k, found.l, source.engine,
        )  # fmt: skip
        write_sealed(aside / "manifest.json", _manifest(made, lattice, rule, aside / "data"))
    return made


def write_node(
    source: LazyTable,
    levels: Sequence[int],
    outcome: TupleOutcomes,
    data: Path,
    order: Order,
    rng: Generator | None = None,
    k: int = 0,
    l: int = 0,  # noqa: E741
) -> tuple[TupleOutcomes, pl.DataFrame]:
    """Write the data at a node into a new folder and count them there; → what was found, and the counted tuples.

    Files that do not hold what the counts promise, or less than k and l, are refused.
    """
    lattice, maps = lattice_of(source), data.parent / "maps"
    maps.mkdir()
    _sink(source.frame, _map(source, lattice, levels, outcome, maps), data)
    shutil.rmtree(maps)
    if order == "shuffled":
        shuffle_files(data, rng or np.random.default_rng())
    written = tally(scan(data, source.engine, _session(source.frame)), source.counts.names)
    return check_counts(written, expect_counts(source, lattice, levels, outcome), lattice.names, outcome, k, l), written


def judged_findings(
    source: LazyTable, data: Path, waivers: Mapping[str, str] | None, unstated: Collection[str] = ()
) -> Audit:
    """What the written files reveal; refused unless each finding is waived.

    unstated  confidential columns of which nobody said that no one outside knows their values
    """
    names, of_findings = source.frame.collect_schema().names(), split_waivers(waivers)[1]
    check_finding_waivers(of_findings, names)
    return refuse_open(audit_files(data, source.published, unstated), of_findings)


def lattice_of(source: LazyTable) -> Lattice:
    """The lattice of the quasi-identifiers."""
    return Lattice(tuple(a for a in source.counts.attributes if a.role == "quasi"))


# -- which classes go --


def decide(
    source: LazyTable,
    lattice: Lattice,
    levels: Sequence[int],
    suppression: float,
    rule: Rule,
    k: int,
    l: int,  # noqa: E741
) -> TupleOutcomes:
    """Classes of the node and which of them are suppressed, by the rules of the method `generalisation`."""
    rule_code(rule)
    confidential = next((a.name for a in source.counts.attributes if a.role == "confidential"), "")
    if l and not confidential:
        raise PlanError("l was demanded but no column is confidential; name one as confidential")
    raised = [h.lift(source.leaves(n), v) for n, h, v in zip(lattice.names, lattice.hierarchies, levels, strict=True)]
    codes, records = np.stack(raised, axis=1), source.tuples[RECORDS].to_numpy()
    classes = equivalence_classes(codes)
    size, distinct = classes.totals(records), np.zeros(classes.count, dtype=np.int64)
    if confidential:
        distinct = known_contents(classes, source.coded, confidential)[1].distinct
    found = suppress(size, distinct, rule, allowed_records(suppression, int(size.sum())), k, l)
    gone = found.left_out
    if gone.all():
        raise TableError("every class would be suppressed and nothing is left to release; raise a level")
    reached = int(distinct[~gone].min()) if confidential else None
    return TupleOutcomes(codes, gone[classes.of], int(size[~gone].min()), reached, found.records)


# -- the map --


def _map(
    source: LazyTable, lattice: Lattice, levels: Sequence[int], outcome: TupleOutcomes, maps: Path
) -> Callable[[Lazy], Lazy]:
    """The function that generalises the data: joins with small tables of values, which are in `maps`."""
    schema = source.frame.collect_schema()
    names, keys = schema.names(), _keys(outcome.codes)
    for place, name in enumerate(lattice.names):
        labels = _labels(lattice, levels, place, outcome.codes[:, place])
        raw = source.tuples[name].cast(pl.Float64) if schema[name].is_float() else source.tuples[name]
        pairs = pl.DataFrame({name: raw, f"{CODE}{place}": outcome.codes[:, place].astype(np.int64)})
        pairs = pairs.with_columns(labels.alias(f"{LABEL}{place}")).drop_nulls(name).unique(name).sort(name)
        pairs.write_parquet(maps / f"{place}.parquet")
    doomed = pl.DataFrame(
        {f"{KEY}{n}": _pack(outcome.codes[outcome.suppressed_tuples], group) for n, group in enumerate(keys)}
    )
    doomed.unique().write_parquet(maps / "gone.parquet")
    raised = {name: place for place, name in enumerate(lattice.names) if levels[place]}
    chosen = [
        nw.col(f"{LABEL}{raised[name]}").alias(name) if name in raised else nw.col(name)
        for name in names
        if name not in source.identifiers
    ]

    def mapped(frame: Lazy) -> Lazy:
        for place, name in enumerate(lattice.names):
            frame = frame.join(_beside(source, maps / f"{place}.parquet"), on=name, how="left")
        frame = frame.with_columns(*(_key(group).alias(f"{KEY}{n}") for n, group in enumerate(keys)))
        if outcome.suppressed_tuples.any():
            on = [f"{KEY}{n}" for n in range(len(keys))]
            frame = frame.join(_beside(source, maps / "gone.parquet"), on=on, how="anti")
        return frame.select(*chosen)

    return mapped


def _labels(lattice: Lattice, levels: Sequence[int], place: int, codes: NDArray[np.int32]) -> pl.Series:
    words = pl.Series([*lattice.hierarchies[place].labels[levels[place]], None], dtype=pl.String)
    return words.gather(np.where(codes < 0, len(words) - 1, codes))


Group = list[tuple[int, int]]
"""Attributes packed into one key: (place, radix) each."""


def _keys(codes: NDArray[np.int32]) -> list[Group]:
    """Attributes in as few groups as 62 bits allow."""
    radices = [int(column.max(initial=-1)) + 2 for column in codes.T]
    return [[(place, radices[place]) for place in places] for places in columns_by_key(radices)]


def _pack(codes: NDArray[np.int32], group: Group) -> NDArray[np.int64]:
    return pack(len(codes), [codes[:, place] + 1 for place, _ in group], [radix for _, radix in group])


def _key(group: Group) -> nw.Expr:
    """The same as an expression of the engine."""
    key = nw.lit(0, dtype=nw.Int64)
    for place, radix in group:
        key = key * radix + nw.col(f"{CODE}{place}").fill_null(-1).cast(nw.Int64) + 1
    return key


def _beside(source: LazyTable, path: Path) -> Lazy:
    return scan(path, source.engine, _session(source.frame))


def _session(frame: Lazy) -> Any:
    return frame.to_native().sparkSession if engine_of(frame) == "spark" else None


def _sink(frame: Lazy, mapped: Callable[[Lazy], Lazy], data: Path) -> None:
    """Write Parquet files into a new folder; polars writes some records at a time."""
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        data.mkdir()
        with ExitStack() as open_files:
            writer: pq.ParquetWriter | None = None
            for batch in batches(native):
                made = mapped(nw.from_native(batch.lazy())).collect().to_polars().to_arrow()
                if writer is None:
                    writer = open_files.enter_context(pq.ParquetWriter(data / "part-0.parquet", made.schema))
                writer.write_table(made)
        return
    made = mapped(frame)
    engine = engine_of(frame)
    if engine == "dask":
        made.to_native().to_parquet(str(data), write_index=False)
    elif engine == "spark":
        made.to_native().write.parquet(str(data))
    else:
        data.mkdir()
        made.sink_parquet(data / "part-0.parquet")
    for path in data.iterdir():
        if path.suffix != ".parquet" or path.name.startswith("."):
            path.unlink()


# -- the second pass --


def expect_counts(source: LazyTable, lattice: Lattice, levels: Sequence[int], outcome: TupleOutcomes) -> pl.DataFrame:
    """The expected count over the written files, from the tuples alone."""
    columns = [
        _labels(lattice, levels, place, outcome.codes[:, place]).alias(name)
        for place, name in enumerate(lattice.names)
        if levels[place]
    ]
    names = list(source.counts.names)
    kept = source.tuples.with_columns(columns).filter(pl.Series(~outcome.suppressed_tuples))
    return kept.group_by(names).agg(pl.col(RECORDS).sum()).sort(names)


def check_counts(
    written: pl.DataFrame,
    expected: pl.DataFrame,
    names: Sequence[str],
    outcome: TupleOutcomes,
    k: int,
    l: int,  # noqa: E741
) -> TupleOutcomes:
    """Refuse files that differ from the counts; returns k and l of the files."""
    if not _plain(written).equals(_plain(expected)):
        raise ReleaseRefused(
            f"the written files hold {written[RECORDS].sum()} records in {len(written)} distinct tuples and the counts "
            f"promise {expected[RECORDS].sum()} in {len(expected)}; nothing was released: were the data changed "
            f"meanwhile? count them again"
        )
    others = [name for name in written.columns if name not in (*names, RECORDS)]
    classes = written.group_by(*names).agg(pl.col(RECORDS).sum(), *(_values(written, n) for n in others[:1]))
    found_k = int(np.asarray(classes[RECORDS]).min())
    found_l = int(np.asarray(classes[others[0]]).min()) if others else None
    if found_k < k or (found_l or 0) < l:
        raise ReleaseRefused(
            f"the written files reach k = {found_k} and l = {found_l}, and k = {k} and l = {l} were demanded; nothing "
            f"was released"
        )
    return TupleOutcomes(outcome.codes, outcome.suppressed_tuples, found_k, found_l, outcome.suppressed)


def _values(written: pl.DataFrame, name: str) -> pl.Expr:
    """How many values of a column a class holds: look-alikes are one value, nulls none."""
    column = pl.col(name).drop_nulls()
    if written[name].dtype.is_numeric():
        return column.cast(pl.Float64).round_sig_figs(DIGITS).n_unique()
    labels = written[name].drop_nulls().cast(pl.String).unique().to_list()
    folded = [fold_label(label) for label in labels]
    return column.cast(pl.String).replace_strict(labels, folded, return_dtype=pl.String).n_unique()


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Counts in the same types for every engine."""
    columns = [
        series.cast(pl.Float64) if series.dtype.is_numeric() else series.cast(pl.String)
        for series in frame.drop(RECORDS).get_columns()
    ]
    plain = pl.DataFrame([*columns, frame[RECORDS]])
    return plain.sort(plain.columns)


def _manifest(made: LazyRelease, lattice: Lattice, rule: str, data: Path) -> dict[str, Any]:
    return {
        "format": 1,
        "version": __version__,
        "records": made.records,
        "suppressed": made.suppressed,
        "rule": rule,
        "levels": dict(zip(lattice.names, made.levels, strict=True)),
        "quasi_identifiers": list(lattice.names),
        "guarantees": {"k-anonymity": made.k} | ({} if made.l is None else {"l-diversity (distinct)": made.l}),
        "files": {f"data/{name}": digest for name, digest in digests(data).items()},
    }


# -- The content of the reports of a counted release: columns, loss and record linkage from counts alone.

NOTE = (
    "The data were counted and never read as a whole: class sizes and different confidential values are exact, and so "
    "is the share of people re-identified by record linkage; other risks and losses were not measured."
)
KEPT = "The rows keep the order of the source, which may re-identify people."


@dataclass(frozen=True, eq=False)
class CountedRelease:
    """Counted data, their levels of generalisation, and the tuples in the written files."""

    source: LazyTable
    lattice: Lattice
    levels: Sequence[int]
    outcome: TupleOutcomes
    written: pl.DataFrame

    @cached_property
    def losses(self) -> dict[str, float]:
        """Mean cell loss of each quasi-identifier, 0 to 1: (m − 1)/(M − 1) for m of M values, a suppressed one 1."""
        records, found = self.source.tuples[RECORDS].to_numpy(), {}
        for place, (name, hierarchy) in enumerate(zip(self.lattice.names, self.lattice.hierarchies, strict=True)):
            codes = self.outcome.codes[:, place]
            share = (hierarchy.leaves(self.levels[place]) - 1) / max(hierarchy.size - 1, 1)
            cells = np.where(self.outcome.suppressed_tuples, 1.0, np.where(codes < 0, 0.0, share[codes]))
            found[name] = float((cells * records).sum() / records.sum())
        return found

    def level(self, name: str) -> int:
        """Level of a column; 0 for one that is no quasi-identifier."""
        return self.levels[self.lattice.names.index(name)] if name in self.lattice.names else 0


def distinct(values: pl.Series) -> int:
    """Number of different values; a missing one does not count."""
    return int(values.drop_nulls().n_unique())


def linkage(classes: pl.DataFrame, total: int, scope: tuple[str, ...]) -> Reading:
    """Record linkage by every quasi-identifier: of each published class one person is expected to be found."""
    published, hits = int(classes[RECORDS].sum()), len(classes)
    counts = {
        "records": total,
        "published": published,
        "expected hits": hits,
        "certain hits": int((classes[RECORDS] == 1).sum()),
    }
    rate, baseline = 100.0 * hits / total, 100.0 / published
    interval = class_interval(classes[RECORDS].to_numpy().astype(np.int64), total)
    return RecordLinkage().reading(rate, scope, MISSING_LINKS, counts, interval=interval, baseline=baseline)


def counted_report_content(
    node: CountedRelease,
    before: Sequence[Verdict],
    after: Sequence[Verdict],
    audit: Audit,
    description: ReleaseDescription,
    order: str,
) -> ReportContent:
    """The content of both reports."""
    scope, total = tuple(node.lattice.names), node.source.counts.total
    classes = [frame.group_by(scope).agg(pl.col(RECORDS).sum()) for frame in (node.source.tuples, node.written)]
    risks = [linkage(each, total, scope) for each in classes]
    alone = [int((each[RECORDS] == 1).sum()) for each in classes]
    smallest = [int(np.asarray(each[RECORDS]).min()) for each in classes]
    return ReportContent(
        title=description.title,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        method=description.method,
        family="recoding",
        order=order,
        rows_before=total,
        rows_after=int(node.written[RECORDS].sum()),
        columns=_columns(node),
        verdicts_before=tuple(before),
        verdicts=tuple(after),
        smallest_class=SmallestClass(scope, smallest[1]),
        findings=reported_findings(audit),
        assumed=audit.assumed([n for n, role in node.source.published.items() if role == Role.CONFIDENTIAL]),
        audited=audited_text(audit),
        losses=(_general_loss(node, scope),),
        risks_before=(risks[0],),
        risks=(risks[1],),
        scenarios=(
            ReportedScenario(EVERYTHING, scope, alone[0], alone[1], smallest[0], smallest[1], risks[0], risks[1]),
        ),
        settings=without_seeds(description.settings),
        notes=(NOTE, KEPT) if order == "kept" else (NOTE,),
    )


def _general_loss(node: CountedRelease, scope: tuple[str, ...]) -> Reading:
    missing = "a missing value is a category of its own and loses nothing until its record is suppressed"
    counts = {name: 100.0 * loss for name, loss in node.losses.items()}
    return GeneralLoss().reading(100.0 * float(np.mean(list(node.losses.values()))), scope, missing, counts)


def _columns(node: CountedRelease) -> tuple[ReportedColumn, ...]:
    """Every published column; those that are not counted are as collected."""
    columns = []
    for name, dtype in node.source.frame.collect_schema().items():
        if name in node.source.identifiers:
            continue
        if name not in node.source.counts.names:
            kind = (Kind.NUMERIC if dtype.is_numeric() else Kind.NOMINAL).value
            unchanged = treatment_text(Treatment.UNCHANGED)
            role = node.source.roles.get(name, Role.UNDECIDED)
            role = Role.OTHER if role is Role.UNDECIDED else role  # by a waiver
            columns.append(ReportedColumn(name, role.value, kind, unchanged, None, None, 0.0))
            continue
        attribute, level = node.source.coded.attribute(name), node.level(name)
        groups = len(attribute.hierarchy.labels[level]) if level and attribute.hierarchy is not None else 0
        treatment = treatment_text(Treatment.GENERALISED if level else Treatment.UNCHANGED, groups)
        before, after = distinct(node.source.tuples[name]), distinct(node.written[name])
        changed = 100.0 if level else 0.0
        loss = 100.0 * node.losses[name] if name in node.losses else None
        kind = attribute.kind.value
        columns.append(ReportedColumn(name, attribute.role.value, kind, treatment, before, after, changed, loss))
    return tuple(columns)


def schema_of_counts(node: CountedRelease, data: Path, pattern: str) -> dict[str, Any]:
    """What a reader needs to know about each column, as JSON; only categories that occur, of counted columns."""
    columns = []
    for column in _columns(node):
        entry: dict[str, Any] = {"name": column.name, "kind": column.kind, "role": column.role}
        if node.level(column.name) and column.kind == Kind.NUMERIC:
            entry["kind"] = Kind.ORDINAL.value
        if column.name in node.written.columns and entry["kind"] != Kind.NUMERIC:
            entry["categories"] = sorted(node.written[column.name].drop_nulls().cast(pl.String).unique().to_list())
        columns.append(entry)
    rows = sum(int(pq.read_metadata(path).num_rows) for path in data.iterdir())
    return {"format": "parquet", "file": pattern, "missing": "", "rows": rows, "columns": columns}


# -- A release of data that are counted and never read into memory as a whole; a second count checks the written
#    files.
#
# Counts prove k-anonymity and distinct l-diversity. Record linkage follows from them too: an intruder who knows every
# quasi-identifier finds the equivalence class of a person, and in expectation re-identifies one person per class.

PATTERN = "data-*.parquet"


def provable(models: Sequence[PrivacyModel]) -> tuple[int, int]:
    """The k and l that meet every model; refused if counts cannot prove one."""
    if not models:
        raise PlanError('nothing is required; add [[require]] with model = "k-anonymity" and k = 5')
    for model in models:
        if not isinstance(model, KAnonymity) and not (isinstance(model, LDiversity) and model.kind == "distinct"):
            raise PlanError(
                f"{registered.name_of(model)} cannot be proven by counting, only k-anonymity and distinct l-diversity "
                f"can; leave it out, or use `crypsis run` where the table fits in memory"
            )
        if isinstance(model, KAnonymity) and model.missing != "own":
            raise PlanError(
                f'k-anonymity with missing = "{model.missing}" cannot be proven by counting equal tuples; leave '
                f"missing out, which is stricter, or use `crypsis run` where the table fits in memory"
            )
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=1)
    return k, max((int(model.l) for model in models if isinstance(model, LDiversity)), default=0)


def publish_counted(
    source: LazyTable,
    levels: Sequence[int],
    folder: str | Path,
    *,
    models: Sequence[PrivacyModel],
    suppression: float,
    description: ReleaseDescription | None = None,
    order: Order = "shuffled",
    rng: Generator | None = None,
    waivers: Mapping[str, str] | None = None,
    unstated: Collection[str] = (),
    sign: str | Path | None = None,
) -> Path:
    """Generalise, suppress, write, count the written files, judge them, and rename the release atomically.

    levels  one per quasi-identifier, e.g. `optimum(source.counts, k=5).levels`
    models  k-anonymity and distinct l-diversity
    waivers findings that may pass, with the reason, e.g. {"singling-out:wage": "not known outside the office"}
    unstated  confidential columns of which nobody said that no one outside knows them; see `publish`
    sign    file of a private key that signs the manifests: see `new_keys`
    folder  must not exist; gets `public/` and `internal/` like any release, with data in several Parquet files
    """
    key = SigningKey.read(sign) if sign is not None else None
    k, l = provable(models)  # noqa: E741
    lattice, folder = lattice_of(source), Path(folder)
    levels = tuple(int(level) for level in levels)
    lattice.check(levels)
    outcome = decide(source, lattice, levels, suppression, "failing-class", k, l)
    with atomic_folder(folder, mode=0o755) as aside:
        public, internal, data = aside / "public", aside / "internal", aside / "data"
        public.mkdir(mode=0o755)
        internal.mkdir(mode=0o700)
        found, written = write_node(source, levels, outcome, data, order, rng, k, l)
        findings = judged_findings(source, data, waivers, unstated)
        for place, path in enumerate(sorted(data.iterdir())):
            path.rename(data / f"data-{place:03d}.parquet").chmod(0o644)
        published = tuples_of(written, source.counts.names[: len(lattice.names)])
        verdicts = [judge_counted(model, published, written[RECORDS].to_numpy()) for model in models]
        node = CountedRelease(source, lattice, levels, found, written)
        schema = schema_of_counts(node, data, PATTERN)
        write_text(public / "schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
        before = _judged_before(source, lattice, models)
        content = counted_report_content(node, before, verdicts, findings, description or ReleaseDescription(), order)
        content = replace(content, signed_by=key.public if key else "")
        write_reports(public, internal, content)
        quasi = list(lattice.names)
        counted = {"quasi": quasi, "confidential": [n for n in source.counts.names if n not in quasi]}
        files = digests(public) | digests(data)
        write_manifests(public, internal, content, models, {"counted": counted, "files": files}, measured=True, key=key)
        sentences = [v.statement for v in verdicts] + [f"{r.definition} {r.missing} {r.unit}" for r in content.losses]
        refuse_leaks(public, published, source.coded, risks=content.risks, sentences=sentences)
        for path in data.iterdir():
            path.rename(public / path.name)
        data.rmdir()
    return folder


# -- judging --


def tuples_of(tuples: pl.DataFrame, quasi: Sequence[str]) -> Table:
    """Counted tuples as a table of plain categories, one row each."""
    texts = tuples.drop(RECORDS).cast(pl.String)
    roles = {n: Role.QUASI_IDENTIFIER if n in quasi else Role.CONFIDENTIAL for n in texts.columns}
    return table_of(texts, roles, dict.fromkeys(texts.columns, Kind.NOMINAL.value), {}, Source("the counts"), True)


def judge_counted(model: PrivacyModel, tuples: Table, records: NDArray[np.int64]) -> Verdict:
    """The verdict on data given as distinct tuples with their numbers of records."""
    verdict = model.judge(tuples)
    if isinstance(model, KAnonymity):
        classes = classes_of(tuples, model.quasi_identifiers or tuples.quasi_identifiers)
        levels = classes.spread_out(classes.totals(records).astype(np.float64))
    else:
        levels = model.levels(tuples)  # frequencies do not change the number of values
    failing = levels < model.required
    return replace(
        verdict,
        attained=float(levels.min()),
        holds=not failing.any(),
        offending=int(records[failing].sum()),
        records=int(records.sum()),
    )


def read_counted(public: Path, schema: Mapping[str, Any], counted: Mapping[str, Sequence[str]]) -> CountedFiles:
    """Count the published files and compare them with their schema."""
    quasi = list(counted["quasi"])
    frame = scan(public / PATTERN)
    written = tally(frame, [*quasi, *counted["confidential"]])
    names = [column["name"] for column in schema["columns"]]
    found = {n: sorted(written[n].drop_nulls().cast(pl.String).unique()) for n in written.columns if n != RECORDS}
    described = (
        schema["rows"] == int(written[RECORDS].sum())
        and names == frame.collect_schema().names()
        and quasi == [c["name"] for c in schema["columns"] if c["role"] == Role.QUASI_IDENTIFIER.value]
        and all(c["categories"] == found.get(c["name"]) for c in schema["columns"] if "categories" in c)
    )
    return CountedFiles(written, tuple(quasi), tuple(names), described)


@dataclass(frozen=True, eq=False)
class CountedFiles:
    """A count over published files."""

    written: pl.DataFrame
    quasi: tuple[str, ...]
    names: tuple[str, ...]
    described: bool
    """Whether the schema describes the files."""

    @property
    def records(self) -> int:
        """Number of published records."""
        return int(self.written[RECORDS].sum())

    @property
    def distinct(self) -> dict[str, int | None]:
        """How many values each column has; None where it was not counted."""
        counted = {name: distinct(self.written[name]) for name in self.written.columns if name != RECORDS}
        return {name: counted.get(name) for name in self.names}

    @property
    def smallest_class(self) -> SmallestClass:
        """Size of the smallest equivalence class over all quasi-identifiers."""
        classes = self.written.group_by(self.quasi).agg(pl.col(RECORDS).sum())
        return SmallestClass(self.quasi, int(np.asarray(classes[RECORDS]).min(initial=self.records)))

    def judge(self, model: PrivacyModel) -> Verdict:
        """The verdict of a privacy model on the published data."""
        return judge_counted(model, tuples_of(self.written, self.quasi), self.written[RECORDS].to_numpy())


def _judged_before(source: LazyTable, lattice: Lattice, models: Sequence[PrivacyModel]) -> list[Verdict]:
    original = tuples_of(source.tuples, lattice.names)
    return [judge_counted(model, original, source.tuples[RECORDS].to_numpy()) for model in models]
