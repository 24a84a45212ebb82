"""A chosen node applied to data that are never read as a whole, and the written files counted again.

Which classes must go is decided from the counts. The engine that holds the data then maps values to labels, leaves out
identifiers and suppressed records, and writes Parquet files. A second counted pass over those files must find exactly
what the counts promise, or the folder never gets its name.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.audits import Audit, Finding, FindingKind
from crypsis.audits.exposure import FEW, Exposure
from crypsis.errors import PlanError, ReleaseRefused, TableError
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.measures.intervals import class_confidence_interval
from crypsis.measures.masking_description import Treatment
from crypsis.measures.measure import Reading
from crypsis.measures.record_linkage import MISSING_LINKS, RecordLinkage
from crypsis.privacy import KAnonymity, LDiversity
from crypsis.privacy import models as registered
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import PrivacyModel, Verdict
from crypsis.release.bundle import write_bundle
from crypsis.release.facts import ReleaseDescription
from crypsis.release.findings import MOST_COMBINATIONS, check_finding_waivers, refuse_open, split_waivers
from crypsis.release.leaks import COUNTED, refuse_leaks
from crypsis.release.manifest import remove_seeds_for_manifest, write_beside_manifest
from crypsis.release.published import Order
from crypsis.report import ReportContent
from crypsis.report.codebook import PublishedLabels
from crypsis.report.content import EVERYTHING, ReportedColumn, ReportedScenario, findings_for_internal_report
from crypsis.rulebook import Rulebook
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.encoding import Source
from crypsis.table.equivalence_classes import class_columns_by_key, classes_of, equivalence_classes, pack_class_codes
from crypsis.table.frames import table_of
from crypsis.table.lattice import Lattice
from crypsis.table.lazy import RECORDS, Lazy, LazyTable, batches, engine_of_lazy_frame, require_arrow, scan, tally
from crypsis.table.lookalikes import DIGITS, count_without_lookalikes, fold_label
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.suppression import Rule, allowed_records, code_of_suppression_rule, suppress
from crypsis.table.table import Table
from crypsis.text import audited_text, masking_treatment_text
from crypsis.version import __version__

PART = 1_000_000
"""Records of a part, about."""
MOST_PARTS = 512
"""Files that are open at the same time."""
BATCH = 250_000


def shuffle_lazy_release(data: Path, rng: Generator) -> None:
    """Shuffle the written files of a lazy release, whose data are never read as a whole."""
    pa, files = require_arrow(), sorted(data.glob("*.parquet"))
    rows = _count_written(files)
    number = min(max(1, -(-rows // PART)), MOST_PARTS)
    parts = data / "parts"
    parts.mkdir()
    _distribute(files, parts, number, rng)
    for path in files:
        path.unlink()
    for place, path in enumerate(sorted(parts.iterdir())):
        with pa.ipc.open_stream(path) as stream:
            part = pl.DataFrame(pl.from_arrow(stream.read_all()))
        path.unlink()
        part[rng.permutation(len(part))].write_parquet(data / f"part-{place:03d}.parquet", row_group_size=BATCH)
    shutil.rmtree(parts)


def _count_written(files: Iterable[Path]) -> int:
    return sum(int(pl.scan_parquet(path).select(pl.len()).collect().item()) for path in files)


def _distribute(files: list[Path], parts: Path, number: int, rng: Generator) -> None:
    """Parts are streams, since a Parquet writer would keep every small batch in memory until it is closed."""
    pa, pq = require_arrow(), require_arrow("pyarrow.parquet")
    squeezed = pa.ipc.IpcWriteOptions(compression="lz4")
    with ExitStack() as open_files:
        writers: dict[int, Any] = {}
        for path in files:
            with pq.ParquetFile(path, pre_buffer=False) as file:  # a buffer would keep all it has read
                for batch in file.iter_batches(BATCH):
                    frame = pl.DataFrame(pl.from_arrow(batch))
                    drawn = rng.integers(number, size=len(frame))
                    for place in range(number):
                        part = frame.filter(pl.Series(drawn == place)).to_arrow()
                        if place not in writers:
                            target = open_files.enter_context(pa.OSFile(str(parts / f"{place:03d}"), "wb"))
                            writer = pa.ipc.new_stream(target, part.schema, options=squeezed)
                            writers[place] = open_files.enter_context(writer)
                        writers[place].write_table(part)


# -- A chosen node applied to data that are never read as a whole, and the written files counted again.
#
# Which classes must go is decided from the counts. The engine that holds the data then maps values to labels, leaves
# out identifiers and suppressed records, and writes Parquet files. A second counted pass over those files must find
# exactly what the counts promise, or the folder never gets its name.

CODE, LABEL, KEY = "crypsis code ", "crypsis label ", "crypsis key "
"""Names of columns that live only inside the map."""


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


def _write_node(
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
    lattice, maps = lattice_of_lazy_release(source), data.parent / "maps"
    maps.mkdir()
    _sink(source.frame, _map(source, lattice, levels, outcome, maps), data)
    shutil.rmtree(maps)
    if order == "shuffled":
        shuffle_lazy_release(data, rng or np.random.default_rng())
    written = tally(scan(data, source.engine, _session(source.frame)), source.counts.names)
    return _check_counts(
        written, _expect_counts(source, lattice, levels, outcome), lattice.names, outcome, k, l
    ), written


def _judged_findings(
    source: LazyTable, data: Path, waivers: Mapping[str, str] | None, unstated: Collection[str] = ()
) -> Audit:
    """What the written files reveal; refused unless each finding is waived."""
    names, of_findings = source.frame.collect_schema().names(), split_waivers(waivers)[1]
    check_finding_waivers(of_findings, names)
    return refuse_open(audit_lazy_release(data, source.published_roles, unstated), of_findings)


# -- which classes go --


def _decide_lazy_release(
    source: LazyTable,
    lattice: Lattice,
    levels: Sequence[int],
    suppression: float,
    rule: Rule,
    k: int,
    l: int,  # noqa: E741
) -> TupleOutcomes:
    """Classes of the node chosen for data never read as a whole, and which of them are suppressed."""
    code_of_suppression_rule(rule)
    confidential = next((a.name for a in source.counts.attributes if a.role == "confidential"), "")
    if l and not confidential:
        raise PlanError("l was demanded but no column is confidential; name one as confidential")
    raised = [h.lift(source.leaves(n), v) for n, h, v in zip(lattice.names, lattice.hierarchies, levels, strict=True)]
    codes, records = np.stack(raised, axis=1), source.tuples[RECORDS].to_numpy()
    classes = equivalence_classes(codes)
    size, distinct = classes.totals(records), np.zeros(classes.count, dtype=np.int64)
    if confidential:
        distinct = count_without_lookalikes(classes, source.coded, confidential)[1].distinct
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

    def map_frame(frame: Lazy) -> Lazy:
        for place, name in enumerate(lattice.names):
            frame = frame.join(_beside(source, maps / f"{place}.parquet"), on=name, how="left")
        frame = frame.with_columns(*(_key(group).alias(f"{KEY}{n}") for n, group in enumerate(keys)))
        if outcome.suppressed_tuples.any():
            on = [f"{KEY}{n}" for n in range(len(keys))]
            frame = frame.join(_beside(source, maps / "gone.parquet"), on=on, how="anti")
        return frame.select(*chosen)

    return map_frame


def _labels(lattice: Lattice, levels: Sequence[int], place: int, codes: NDArray[np.int32]) -> pl.Series:
    words = pl.Series([*lattice.hierarchies[place].labels[levels[place]], None], dtype=pl.String)
    return words.gather(np.where(codes < 0, len(words) - 1, codes))


Group = list[tuple[int, int]]
"""Attributes packed into one key: (place, radix) each."""


def _keys(codes: NDArray[np.int32]) -> list[Group]:
    """Attributes in as few groups as 62 bits allow."""
    radices = [int(column.max(initial=-1)) + 2 for column in codes.T]
    return [[(place, radices[place]) for place in places] for places in class_columns_by_key(radices)]


def _pack(codes: NDArray[np.int32], group: Group) -> NDArray[np.int64]:
    return pack_class_codes(len(codes), [codes[:, place] + 1 for place, _ in group], [radix for _, radix in group])


def _key(group: Group) -> nw.Expr:
    """The same as an expression of the engine."""
    key = nw.lit(0, dtype=nw.Int64)
    for place, radix in group:
        key = key * radix + nw.col(f"{CODE}{place}").fill_null(-1).cast(nw.Int64) + 1
    return key


def _beside(source: LazyTable, path: Path) -> Lazy:
    return scan(path, source.engine, _session(source.frame))


def _session(frame: Lazy) -> Any:
    return frame.to_native().sparkSession if engine_of_lazy_frame(frame) == "spark" else None


def _sink(frame: Lazy, map_frame: Callable[[Lazy], Lazy], data: Path) -> None:
    """Write Parquet files into a new folder; polars writes some records at a time."""
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        pq = require_arrow("pyarrow.parquet")
        data.mkdir()
        with ExitStack() as open_files:
            writer: Any = None
            for batch in batches(native):
                made = map_frame(nw.from_native(batch.lazy())).collect().to_polars().to_arrow()
                if writer is None:
                    writer = open_files.enter_context(pq.ParquetWriter(data / "part-0.parquet", made.schema))
                writer.write_table(made)
        return
    made = map_frame(frame)
    engine = engine_of_lazy_frame(frame)
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


def _expect_counts(source: LazyTable, lattice: Lattice, levels: Sequence[int], outcome: TupleOutcomes) -> pl.DataFrame:
    """The expected count over the written files, from the tuples alone."""
    columns = [
        _labels(lattice, levels, place, outcome.codes[:, place]).alias(name)
        for place, name in enumerate(lattice.names)
        if levels[place]
    ]
    names = list(source.counts.names)
    kept = source.tuples.with_columns(columns).filter(pl.Series(~outcome.suppressed_tuples))
    return kept.group_by(names).agg(pl.col(RECORDS).sum()).sort(names)


def _check_counts(
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


def count_distinct_released(values: pl.Series) -> int:
    """Number of different values of a column counted for a lazy release; a missing one does not count."""
    return int(values.drop_nulls().n_unique())


def _linkage_of_lazy_release(classes: pl.DataFrame, total: int, scope: tuple[str, ...]) -> Reading:
    """Record linkage of a lazy release, from counted classes: of each one person is expected to be found."""
    published, hits = int(classes[RECORDS].sum()), len(classes)
    counts = {
        "records": total,
        "published": published,
        "expected hits": hits,
        "certain hits": int((classes[RECORDS] == 1).sum()),
    }
    rate, baseline = 100.0 * hits / total, 100.0 / published
    interval = class_confidence_interval(classes[RECORDS].to_numpy().astype(np.int64), total)
    return RecordLinkage().make_reading(rate, scope, MISSING_LINKS, counts, interval=interval, baseline=baseline)


def _counted_report_content(
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
    risks = [_linkage_of_lazy_release(each, total, scope) for each in classes]
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
        findings=findings_for_internal_report(audit),
        assumed=audit.assumed_columns(
            [n for n, role in node.source.published_roles.items() if role == Role.CONFIDENTIAL]
        ),
        audited=audited_text(audit),
        losses=(_general_loss(node, scope),),
        risks_before=(risks[0],),
        risks=(risks[1],),
        scenarios=(
            ReportedScenario(EVERYTHING, scope, alone[0], alone[1], smallest[0], smallest[1], risks[0], risks[1]),
        ),
        settings=remove_seeds_for_manifest(description.settings),
        notes=(NOTE, KEPT) if order == "kept" else (NOTE,),
    )


def _general_loss(node: CountedRelease, scope: tuple[str, ...]) -> Reading:
    missing = "a missing value is a category of its own and loses nothing until its record is suppressed"
    counts = {name: 100.0 * loss for name, loss in node.losses.items()}
    return GeneralLoss().make_reading(100.0 * float(np.mean(list(node.losses.values()))), scope, missing, counts)


def _columns(node: CountedRelease) -> tuple[ReportedColumn, ...]:
    """Every published column; those that are not counted are as collected."""
    columns = []
    for name, dtype in node.source.frame.collect_schema().items():
        if name in node.source.identifiers:
            continue
        if name not in node.source.counts.names:
            kind = (Kind.NUMERIC if dtype.is_numeric() else Kind.NOMINAL).value
            changed = node.source.masked.get(name, 0.0)
            treatment = masking_treatment_text(Treatment.MOVED if changed else Treatment.UNCHANGED)
            role = node.source.roles.get(name, Role.UNDECIDED)
            role = Role.OTHER if role is Role.UNDECIDED else role  # by a waiver
            columns.append(ReportedColumn(name, role.value, kind, treatment, None, None, changed))
            continue
        attribute, level = node.source.coded.attribute(name), node.level(name)
        groups = len(attribute.hierarchy.labels[level]) if level and attribute.hierarchy is not None else 0
        changed = 100.0 if level else node.source.masked.get(name, 0.0)
        moved = Treatment.MOVED if changed else Treatment.UNCHANGED
        treatment = masking_treatment_text(Treatment.GENERALISED if level else moved, groups)
        before, after = count_distinct_released(node.source.tuples[name]), count_distinct_released(node.written[name])
        loss = 100.0 * node.losses[name] if name in node.losses else None
        kind = attribute.kind.value
        columns.append(ReportedColumn(name, attribute.role.value, kind, treatment, before, after, changed, loss))
    return tuple(columns)


def _schema_of_counts(node: CountedRelease, data: Path, pattern: str) -> dict[str, Any]:
    """What a reader needs to know about each column, as JSON; only categories that occur, of counted columns."""
    columns = []
    for column in _columns(node):
        entry: dict[str, Any] = {"name": column.name, "kind": column.kind, "role": column.role}
        if node.level(column.name) and column.kind == Kind.NUMERIC:
            entry["kind"] = Kind.ORDINAL.value
        if column.name in node.written.columns and entry["kind"] != Kind.NUMERIC:
            entry["categories"] = sorted(node.written[column.name].drop_nulls().cast(pl.String).unique().to_list())
        columns.append(entry)
    rows = _count_written(data.glob(pattern))
    return {"format": "parquet", "file": pattern, "missing": "", "rows": rows, "columns": columns}


def _labels_of_counts(node: CountedRelease, column: ReportedColumn, missing: int) -> PublishedLabels:
    """The labels of a counted column, and how many records hold each value of its hierarchy."""
    if column.name not in node.written.columns:
        return PublishedLabels(Attribute(column.name, Kind(column.kind)), missing, None)
    attribute, level = node.source.coded.attribute(column.name), node.level(column.name)
    if attribute.numeric and not level:
        return PublishedLabels(attribute, missing, None)
    labels = tuple(sorted(node.written[column.name].drop_nulls().cast(pl.String).unique().to_list()))
    hierarchy = attribute.hierarchy
    if not level or hierarchy is None:
        return PublishedLabels(attribute, missing, labels)
    leaves = node.source.leaves(column.name)
    counts = np.zeros(hierarchy.size, dtype=np.int64)
    np.add.at(counts, leaves[leaves >= 0], node.source.tuples[RECORDS].to_numpy()[leaves >= 0])
    nodes = tuple((level, group) for group in range(len(hierarchy.labels[level])))
    return PublishedLabels(attribute, missing, labels, hierarchy, nodes, counts)


# -- A release of data that are counted and never read into memory as a whole; a second count checks the written
#    files.
#
# Counts prove k-anonymity and distinct l-diversity. Record linkage follows from them too: an intruder who knows every
# quasi-identifier finds the equivalence class of a person, and in expectation re-identifies one person per class.


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
    rule: Rule = "failing-class",
    description: ReleaseDescription | None = None,
    order: Order = "shuffled",
    rng: Generator | None = None,
    waivers: Mapping[str, str] | None = None,
    unstated: Collection[str] = (),
    sign: str | Path | None = None,
) -> Path:
    """Generalise, suppress, write with the engine of the source, count the written files, judge and rename.

    `folder` must not exist; it gets `public/` and `internal/` like any release, with data in several Parquet files.
    `waivers`, `unstated`, `order`, `rng` and `sign` are those of `publish`.
    """
    k, l = provable(models)  # noqa: E741
    lattice, levels = lattice_of_lazy_release(source), tuple(int(level) for level in levels)
    lattice.check(levels)
    outcome = _decide_lazy_release(source, lattice, levels, suppression, rule, k, l)
    about = description or ReleaseDescription()
    made = CountedPublication(source, levels, outcome, models, about, order, rng, waivers, unstated, k, l)
    return write_bundle(folder, made, sign)


@dataclass(eq=False)
class CountedPublication:
    """A node applied to data that an engine holds; the written files are counted."""

    source: LazyTable
    levels: Sequence[int]
    outcome: TupleOutcomes
    models: Sequence[PrivacyModel]
    description: ReleaseDescription
    order: Order
    rng: Generator | None
    waivers: Mapping[str, str] | None
    unstated: Collection[str]
    k: int
    l: int  # noqa: E741
    rulebook: Rulebook | None = None  # rules are not proven by counts
    measured: bool = True

    def write(self, public: Path) -> ReportContent:
        """Let the engine write the node, and count, audit and judge the written files."""
        source, lattice, data = self.source, lattice_of_lazy_release(self.source), public / "data"
        found, written = _write_node(source, self.levels, self.outcome, data, self.order, self.rng, self.k, self.l)
        findings = _judged_findings(source, data, self.waivers, self.unstated)
        for place, path in enumerate(sorted(data.iterdir())):
            path.rename(public / f"data-{place:03d}.parquet").chmod(0o644)
        data.rmdir()
        self._published = table_for_lazy_release(written, source.counts.names[: len(lattice.names)])
        verdicts = [judge_lazy_release(model, self._published, written[RECORDS].to_numpy()) for model in self.models]
        node = CountedRelease(source, lattice, self.levels, found, written)
        self._node = node
        schema = _schema_of_counts(node, public, COUNTED)
        write_beside_manifest(public / "schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
        before = _judged_before(source, lattice, self.models)
        return _counted_report_content(node, before, verdicts, findings, self.description, self.order)

    def facts(self) -> Mapping[str, Any]:
        """The columns that were counted."""
        quasi = list(lattice_of_lazy_release(self.source).names)
        confidential = [name for name in self.source.counts.names if name not in quasi]
        return {"counted": {"quasi": quasi, "confidential": confidential}}

    def labels(self, public: Path) -> Sequence[PublishedLabels]:
        """The labels of the written files; a column that was not counted has none."""
        blank = pl.scan_parquet(public / COUNTED).null_count().collect(engine="streaming")
        return [
            _labels_of_counts(self._node, column, int(blank[column.name].item())) for column in _columns(self._node)
        ]

    def refuse_leaks(self, public: Path, content: ReportContent, named: Sequence[str]) -> None:
        """Refuse values of records in public files, beyond what statements and measures say."""
        sentences = [*named, *(verdict.demand for verdict in content.verdicts)]
        sentences += [f"{each.definition} {each.missing} {each.unit}" for each in content.losses]
        refuse_leaks(public, self._published, self.source.coded, risks=content.risks, sentences=sentences)


# -- judging --


def table_for_lazy_release(tuples: pl.DataFrame, quasi: Sequence[str]) -> Table:
    """Counted tuples of a lazy release as a table of categories, so that privacy models can judge them."""
    texts = tuples.drop(RECORDS).cast(pl.String)
    roles = {n: Role.QUASI_IDENTIFIER if n in quasi else Role.CONFIDENTIAL for n in texts.columns}
    return table_of(texts, roles, dict.fromkeys(texts.columns, Kind.NOMINAL.value), {}, Source("the counts"), True)


def _judged_before(source: LazyTable, lattice: Lattice, models: Sequence[PrivacyModel]) -> list[Verdict]:
    original = table_for_lazy_release(source.tuples, lattice.names)
    return [judge_lazy_release(model, original, source.tuples[RECORDS].to_numpy()) for model in models]


def audit_lazy_release(data: Path, roles: Mapping[str, str], unstated: Collection[str] = (), allowed: int = 0) -> Audit:
    """The audit of Parquet files: columns that are no quasi-identifiers, each by itself and beside every other
    column.
    """
    files = pl.scan_parquet(data / "*.parquet")
    records = int(files.select(pl.len()).collect().item())
    outside = [name for name, role in roles.items() if role != Role.QUASI_IDENTIFIER]
    about = _about(files, list(roles)) if records else dict.fromkeys(roles, 0)
    exposure, found = Exposure(records, allowed, unstated), list[Finding]()
    for name in outside:
        single = _alone(files, (name,), records) if records else 0
        if roles[name] == Role.UNDECIDED:
            found.append(Finding(FindingKind.UNDECIDED, (name,), single, single / max(records, 1)))
        found += exposure.judge(name, Role(roles[name]), single)
    many = (each for each in found if each.share > LARGEST_SHARE or each.kind is FindingKind.UNDECIDED)
    settled = {each.columns[0] for each in many}
    open_ = [name for name in roles if name not in settled]
    tried = [names for size in range(2, FEW + 1) for names in combinations(open_, size) if not _quasi(names, roles)]
    values = {names: prod(about[name] for name in names) for names in tried}
    tried.sort(key=lambda each: -values[each])
    found += _together(files, tried[:MOST_COMBINATIONS], roles, records, unstated)
    looked = min(len(tried), MOST_COMBINATIONS)
    found.sort(key=lambda each: not each.refuses)
    return Audit(tuple(found), records, len(roles), looked, len(tried), False, {}, whole=False)


def _quasi(names: tuple[str, ...], roles: Mapping[str, str]) -> bool:
    """Whether all are quasi-identifiers, of which k-anonymity speaks."""
    return all(roles[name] == Role.QUASI_IDENTIFIER for name in names)


def _about(files: pl.LazyFrame, names: list[str]) -> dict[str, int]:
    """How many different values every column has, estimated."""
    counts = files.select(pl.col(name).approx_n_unique() for name in names).collect(engine="streaming")
    return {name: int(counts[name].item()) for name in names}


def _together(
    files: pl.LazyFrame,
    tried: list[tuple[str, ...]],
    roles: Mapping[str, str],
    records: int,
    unstated: Collection[str],
) -> Iterator[Finding]:
    """The worst combination of every column that is no quasi-identifier, as `few_together` gives them."""
    worst: dict[tuple[str, FindingKind, bool], tuple[int, tuple[str, ...]]] = {}
    for names in tried:
        single = _alone(files, names, records)
        confidential = [name for name in names if roles[name] == Role.CONFIDENTIAL]
        stated = [name for name in confidential if name not in unstated]
        named = (stated or confidential)[:1] or [name for name in names if roles[name] != Role.QUASI_IDENTIFIER]
        kind = FindingKind.ASSUMPTION if confidential else FindingKind.COMBINATION
        for name in named:
            key = name, kind, not stated
            if single > worst.get(key, (0, names))[0]:
                worst[key] = single, names
    for (name, kind, stops), (single, names) in worst.items():
        others, share = tuple(other for other in names if other != name), single / max(records, 1)
        yield Finding(kind, (name, *others), single, share, stops and share > LARGEST_SHARE)


def _alone(files: pl.LazyFrame, names: tuple[str, ...], records: int) -> int:
    """How many combinations of values occur once, part by part of their hashes, so that memory follows a part."""
    empty = pl.all_horizontal(pl.col(name).is_null() for name in names)
    values = files.select(names).filter(~empty)
    parts, single = max(1, -(-records // PART)), 0
    for part in range(parts):
        some = values.filter(pl.struct(names).hash(1) % parts == part) if parts > 1 else values
        once = some.group_by(names).len("crypsis count").filter(pl.col("crypsis count") == 1).select(pl.len())
        single += int(once.collect(engine="streaming").item())
    return single


def judge_lazy_release(model: PrivacyModel, tuples: Table, records: NDArray[np.int64]) -> Verdict:
    """The verdict on a lazy release, given as distinct tuples with their numbers of records."""
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


def lattice_of_lazy_release(source: LazyTable) -> Lattice:
    """The lattice of the quasi-identifiers of data that are released and never read as a whole."""
    return Lattice(tuple(a for a in source.counts.attributes if a.role == "quasi"))
