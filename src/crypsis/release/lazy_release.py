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
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.audits import Audit
from crypsis.errors import PlanError, ReleaseRefused, TableError
from crypsis.masking.generalisation import generalise
from crypsis.masking.weights import rake_counted_weights
from crypsis.measures.class_risk import MISSING_CLASSES, ClassRisk
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.measures.information_loss import BoundInformation, InformationLoss
from crypsis.measures.intervals import class_confidence_interval
from crypsis.measures.masking_description import Treatment
from crypsis.measures.measure import Reading
from crypsis.measures.objective import keeps_objective_limit
from crypsis.measures.record_linkage import MISSING_LINKS, RecordLinkage
from crypsis.privacy import KAnonymity, LDiversity
from crypsis.privacy import models as registered
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import PrivacyModel, Verdict
from crypsis.release.bundle import write_bundle
from crypsis.release.facts import ReleaseDescription
from crypsis.release.findings import Refusal, check_finding_waivers, split_waivers
from crypsis.release.guarantees import complaints_of_guarantees
from crypsis.release.lazy_audit import audit_lazy_release
from crypsis.release.lazy_ledger import CountedSource, ReleaseParts, findings_with_earlier
from crypsis.release.lazy_shuffling import shuffle_lazy_release
from crypsis.release.leaks import refuse_leaks
from crypsis.release.ledger import LedgerEntry, LedgerSource, ReleaseLedger
from crypsis.release.manifest import remove_seeds_for_manifest, write_beside_manifest
from crypsis.release.published import PARTS_OF_FORMAT, Order, scan_published_parts
from crypsis.report import ReportContent
from crypsis.report.codebook import PublishedLabels
from crypsis.report.content import (
    EVERYTHING,
    LimitResult,
    ReportedColumn,
    ReportedScenario,
    findings_for_internal_report,
)
from crypsis.rulebook import Rulebook
from crypsis.searches.pbg_ea.demanded_node import CountedNodes, NodeTerms
from crypsis.table.attribute import Attribute, Kind, Role, attribute_weights
from crypsis.table.encoding import Source
from crypsis.table.equivalence_classes import class_columns_by_key, classes_of, equivalence_classes, pack_class_codes
from crypsis.table.frames import table_of
from crypsis.table.lattice import Lattice
from crypsis.table.lazy import (
    RECORDS,
    WEIGHTS,
    Lazy,
    LazyTable,
    batches,
    engine_of_lazy_frame,
    lazy_frame,
    require_arrow,
    scan,
    tally,
    tally_weights,
)
from crypsis.table.lookalikes import DIGITS, count_without_lookalikes, fold_label
from crypsis.table.suppression import Rule, allowed_records, code_of_suppression_rule, suppress
from crypsis.table.table import Table
from crypsis.text import attacker_text, audited_text, masking_treatment_text
from crypsis.version import __version__

CountedFormat = Literal["parquet", "csv"]
"""Formats in which data that are counted are written."""
# -- A chosen node applied to data that are never read as a whole, and the written files counted again.
#
# Which classes must go is decided from the counts. The engine that holds the data then maps values to labels, leaves
# out identifiers and suppressed records, and writes Parquet files. A second counted pass over those files must find
# exactly what the counts promise, or the folder never gets its name.

CODE, LABEL, KEY, WEIGHT = "crypsis code ", "crypsis label ", "crypsis key ", "crypsis weight"
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
    weight: str = "",
) -> tuple[TupleOutcomes, pl.DataFrame]:
    """Write the data at a node into a new folder and count them there; → what was found, and the counted tuples.

    Files that do not hold what the counts promise, or less than k and l, are refused. `weight`: column whose values
    become weights raked to margins of what is written.
    """
    lattice, maps = lattice_of_lazy_release(source), data.parent / "maps"
    raked = _rake(source, lattice, levels, outcome, weight) if weight else None
    maps.mkdir()
    _sink(source.frame, _map(source, lattice, levels, outcome, maps, weight, raked), data)
    shutil.rmtree(maps)
    if order == "shuffled":
        shuffle_lazy_release(data, rng or np.random.default_rng())
    written = tally(scan(data, source.engine, _session(source.frame)), source.counts.names)
    return _check_counts(
        written, _expect_counts(source, lattice, levels, outcome), lattice.names, outcome, k, l
    ), written


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


def _rake(
    source: LazyTable, lattice: Lattice, levels: Sequence[int], outcome: TupleOutcomes, weight: str
) -> NDArray[np.float64]:
    """float64[tuples]: the raked weight that every record of a tuple is published with."""
    sums = tally_weights(source.frame, list(source.counts.names), weight)
    held, records = sums[WEIGHTS].to_numpy(), sums[RECORDS].to_numpy()
    if len(sums) != len(source.tuples) or not np.all(records <= source.tuples[RECORDS].to_numpy()):
        raise ReleaseRefused("nothing was released: the data were changed since they were counted; count them again")
    if float(source.frame.select(nw.col(weight).min()).collect().to_polars().item() or 0.0) < 0.0:
        raise TableError(f"columns.{weight}.publish: {weight!r} holds negative numbers and cannot weigh records")
    published = generalise(source.coded, lattice, levels).without(outcome.suppressed_tuples)
    return rake_counted_weights(published, lattice.names, records, held)


def _map(
    source: LazyTable,
    lattice: Lattice,
    levels: Sequence[int],
    outcome: TupleOutcomes,
    maps: Path,
    weight: str = "",
    raked: NDArray[np.float64] | None = None,
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
    on = [f"{KEY}{n}" for n in range(len(keys))]
    if raked is not None:
        kept = ~outcome.suppressed_tuples & (raked > 0)
        classes = pl.DataFrame({f"{KEY}{n}": _pack(outcome.codes[kept], group) for n, group in enumerate(keys)})
        classes = classes.with_columns(pl.Series(WEIGHT, raked[kept]))
        classes.unique(on).sort(on).write_parquet(maps / "weights.parquet")
    raised = {name: place for place, name in enumerate(lattice.names) if levels[place]}
    chosen = [
        nw.col(f"{LABEL}{raised[name]}").alias(name) if name in raised else nw.col(name)
        for name in names
        if name not in source.identifiers and (raked is None or name != weight)
    ]
    if raked is not None:
        place = [name for name in names if name not in source.identifiers].index(weight)
        own = nw.when(~nw.col(weight).is_null()).then(nw.col(WEIGHT)).otherwise(nw.lit(None))
        chosen.insert(place, own.alias(weight))

    def map_frame(frame: Lazy) -> Lazy:
        for place, name in enumerate(lattice.names):
            frame = frame.join(_beside(source, maps / f"{place}.parquet"), on=name, how="left")
        frame = frame.with_columns(*(_key(group).alias(f"{KEY}{n}") for n, group in enumerate(keys)))
        if raked is not None:
            frame = frame.join(_beside(source, maps / "weights.parquet"), on=on, how="left")
        if outcome.suppressed_tuples.any():
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
EARLIER_UNTRIED = "Earlier releases of the same source were not attacked together with this one: {}."
KEPT = "The rows keep the order of the source, which may re-identify people."


@dataclass(frozen=True, eq=False)
class CountedRelease:
    """Counted data, their levels of generalisation, and the tuples in the written files."""

    source: LazyTable
    lattice: Lattice
    levels: Sequence[int]
    outcome: TupleOutcomes
    written: pl.DataFrame
    weight: str = ""  # column whose values are raked weights

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
            changed = 100.0 if name == node.weight else node.source.masked.get(name, 0.0)
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


def _schema_of_counts(node: CountedRelease, format: CountedFormat) -> dict[str, Any]:
    """What a reader needs to know about each column, as JSON; only categories that occur, of counted columns."""
    columns = []
    for column in _columns(node):
        entry: dict[str, Any] = {"name": column.name, "kind": column.kind, "role": column.role}
        if node.level(column.name) and column.kind == Kind.NUMERIC:
            entry["kind"] = Kind.ORDINAL.value
        if column.name in node.written.columns and entry["kind"] != Kind.NUMERIC:
            entry["categories"] = sorted(node.written[column.name].drop_nulls().cast(pl.String).unique().to_list())
        columns.append(entry)
    rows, pattern = int(node.written[RECORDS].sum()), PARTS_OF_FORMAT[format]
    return {"format": format, "file": pattern, "missing": "", "rows": rows, "columns": columns}


def _labels_of_counts(node: CountedRelease, column: ReportedColumn, missing: int) -> PublishedLabels:
    """The labels of a counted column, and how many records hold each value of its hierarchy."""
    if column.name not in node.written.columns:
        publish, label = node.source.treated.get(column.name, ""), node.source.labels.get(column.name, "")
        return PublishedLabels(Attribute(column.name, Kind(column.kind), label=label, publish=publish), missing, None)
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


@dataclass(frozen=True)
class CountedLimit:
    """The largest reading that a counted release may have; readings are per cent."""

    name: str  # as the plan calls it
    at_most: float
    measure: Literal["class-risk", "record-linkage", "information-loss"]
    column: str = ""  # of a loss; all quasi-identifiers unless given


def publish_counted(
    source: LazyTable,
    levels: Sequence[int],
    folder: str | Path,
    *,
    models: Sequence[PrivacyModel],
    suppression: float,
    rule: Rule = "failing-class",
    description: ReleaseDescription | None = None,
    format: CountedFormat = "parquet",
    order: Order = "shuffled",
    rng: Generator | int | None = None,
    limits: Sequence[CountedLimit] = (),
    weight: str = "",
    waivers: Mapping[str, str] | None = None,
    unstated: Collection[str] = (),
    sign: str | Path | None = None,
    ledger: ReleaseLedger | None = None,
    collected: LedgerSource | None = None,
) -> Path:
    """Generalise, suppress, write with the engine of the source, count the written files, judge and rename.

    `folder` must not exist; it gets `public/` and `internal/` like any release, with data in several files. `waivers`,
    `unstated`, `order`, `rng`, `sign` and `ledger` are those of `publish`. `weight`: column whose values become weights
    raked to margins of what is written. `collected`: what the ledger keeps of the source, where columns were masked
    before the count; that of `source` unless given.
    """
    k, l = provable(models)  # noqa: E741
    lattice, levels = lattice_of_lazy_release(source), tuple(int(level) for level in levels)
    lattice.check(levels)
    ledger, kept = ledger or ReleaseLedger.usual(), collected or source_for_ledger(source)
    ledger.check()
    check_finding_waivers(split_waivers(waivers)[1], source.frame.collect_schema().names())
    outcome = _decide_lazy_release(source, lattice, levels, suppression, rule, k, l)
    about = description or ReleaseDescription()
    made = CountedPublication(
        source, levels, outcome, models, about, order, None if rng is None else np.random.default_rng(rng), waivers,
        unstated, k, l, format, limits, weight, ledger.earlier(kept),
    )  # fmt: skip
    write_bundle(folder, made, sign)
    ledger.enter(kept, Path(folder))
    return Path(folder)


def source_for_ledger(source: LazyTable) -> CountedSource:
    """What the ledger keeps of a table that is counted."""
    roles = {**source.published_roles, **dict.fromkeys(source.identifiers, Role.IDENTIFIER), **source.roles}
    return CountedSource(source.frame, roles)


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
    format: CountedFormat = "parquet"
    limits: Sequence[CountedLimit] = ()
    weight: str = ""
    earlier: Sequence[LedgerEntry] = ()
    rulebook: Rulebook | None = None  # rules are not proven by counts
    measured: bool = True

    def write(self, public: Path) -> ReportContent:
        """Let the engine write the node, and count, audit and judge the written files."""
        source, lattice, data = self.source, lattice_of_lazy_release(self.source), public / "data"
        found, written = _write_node(
            source, self.levels, self.outcome, data, self.order, self.rng, self.k, self.l, self.weight
        )
        if self.format == "csv":
            _write_as_text(data)
        for place, path in enumerate(sorted(data.iterdir())):
            path.rename(public / f"data-{place:03d}.{self.format}").chmod(0o644)
        data.rmdir()
        self._published = table_for_lazy_release(written, source.counts.names[: len(lattice.names)])
        verdicts = [judge_lazy_release(model, self._published, written[RECORDS].to_numpy()) for model in self.models]
        node = CountedRelease(source, lattice, self.levels, found, written, self.weight)
        self._node = node
        schema = _schema_of_counts(node, self.format)
        write_beside_manifest(public / "schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
        files = scan_published_parts(public, schema)
        if self.format != "parquet":
            _check_texts(tally(lazy_frame(files), source.counts.names), written)
        audited = audit_lazy_release(files, source.published_roles, self.unstated)
        parts = ReleaseParts(files, {each["name"]: each for each in schema["columns"]})
        together, untried = findings_with_earlier(parts, self.earlier)
        beside = sorted([*together, *audited.findings], key=lambda each: not each.refuses)
        findings = replace(audited, findings=tuple(beside), waived=split_waivers(self.waivers)[1])
        kept = [_read_limit(node, limit) for limit in self.limits]
        missed = complaints_of_guarantees(verdicts, kept)
        Refusal(missed, findings.open, [each.folder for each in self.earlier]).raise_any()
        before = _judged_before(source, lattice, self.models)
        content = _counted_report_content(node, before, verdicts, findings, self.description, self.order)
        notes = (*content.notes, EARLIER_UNTRIED.format("; ".join(untried))) if untried else content.notes
        return replace(content, demands=tuple(kept), notes=notes)

    def facts(self) -> Mapping[str, Any]:
        """The columns that were counted."""
        quasi = list(lattice_of_lazy_release(self.source).names)
        confidential = [name for name in self.source.counts.names if name not in quasi]
        return {"counted": {"quasi": quasi, "confidential": confidential}}

    def labels(self, public: Path) -> Sequence[PublishedLabels]:
        """The labels of the written files; a column that was not counted has none."""
        schema = json.loads((public / "schema.json").read_text(encoding="utf-8"))
        blank = scan_published_parts(public, schema).null_count().collect(engine="streaming")
        return [
            _labels_of_counts(self._node, column, int(blank[column.name].item())) for column in _columns(self._node)
        ]

    def refuse_leaks(self, public: Path, content: ReportContent, named: Sequence[str]) -> None:
        """Refuse values of records in public files, beyond what statements and measures say."""
        sentences = [*named, *(verdict.demand for verdict in content.verdicts)]
        sentences += [f"{each.definition} {each.missing} {each.unit}" for each in content.losses]
        sentences += [
            attacker_text(d.reading.measure, d.reading.scope) for d in content.demands if d.reading.aim == "risk"
        ]
        risks = [*content.risks, *(d.reading for d in content.demands if d.reading.aim == "risk")]
        refuse_leaks(public, self._published, self.source.coded, risks=risks, sentences=sentences)


def _read_limit(node: CountedRelease, limit: CountedLimit) -> LimitResult:
    """A limit with its reading in the written files."""
    scope = tuple(node.lattice.names)
    classes = node.written.group_by(scope).agg(pl.col(RECORDS).sum())
    if limit.measure == "record-linkage":
        reading = _linkage_of_lazy_release(classes, node.source.counts.total, scope)
    elif limit.measure == "class-risk":
        published = max(int(classes[RECORDS].sum()), 1)
        figures = {"classes": len(classes), "records": published}
        reading = ClassRisk().make_reading(
            100.0 * len(classes) / published, scope, MISSING_CLASSES, figures, baseline=100.0 / published
        )
    else:
        nodes = CountedNodes(node.source.counts, NodeTerms())
        losses = nodes.column_losses(node.levels, node.outcome.suppressed_tuples)
        scope = (limit.column,) if limit.column else scope
        weights = [node.source.coded.attribute(name) for name in scope]
        value = float(np.average([losses[name] for name in scope], weights=attribute_weights(weights)))
        measure = InformationLoss(columns=(limit.column,) if limit.column else ())
        reading = measure.make_reading(value, scope, BoundInformation.missing_cells, losses)
    holds = keeps_objective_limit(reading.value, limit.at_most, reading.better)
    return LimitResult(limit.name, limit.at_most, holds, True, reading)


def _write_as_text(data: Path) -> None:
    """Every Parquet file of a folder as a CSV file, some records at a time."""
    for path in sorted(data.glob("*.parquet")):
        pl.scan_parquet(path).sink_csv(path.with_suffix(".csv"), quote_style="necessary")
        path.unlink()


def _check_texts(again: pl.DataFrame, written: pl.DataFrame) -> None:
    """Refuse text files that do not hold the tuples that were written."""
    names = [name for name in written.columns if name != RECORDS]
    numbers = {name for name in names if again[name].dtype.is_numeric()}
    plain = [
        _plain(each.with_columns(pl.col(n).cast(pl.Float64 if n in numbers else pl.String) for n in names))
        for each in (again, written)
    ]
    if not plain[0].equals(plain[1]):
        raise ReleaseRefused(
            "nothing was released: the text files do not read back as the tuples that were judged; write format = "
            '"parquet"'
        )


# -- judging --


def table_for_lazy_release(tuples: pl.DataFrame, quasi: Sequence[str]) -> Table:
    """Counted tuples of a lazy release as a table of categories, so that privacy models can judge them."""
    texts = tuples.drop(RECORDS).cast(pl.String)
    roles = {n: Role.QUASI_IDENTIFIER if n in quasi else Role.CONFIDENTIAL for n in texts.columns}
    return table_of(texts, roles, dict.fromkeys(texts.columns, Kind.NOMINAL.value), {}, Source("the counts"), True)


def _judged_before(source: LazyTable, lattice: Lattice, models: Sequence[PrivacyModel]) -> list[Verdict]:
    original = table_for_lazy_release(source.tuples, lattice.names)
    return [judge_lazy_release(model, original, source.tuples[RECORDS].to_numpy()) for model in models]


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
