"""The content of the reports of a counted release: columns, loss and record linkage from counts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from crypsis.audits import Audit
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.measures.intervals import class_interval
from crypsis.measures.masking_description import Treatment
from crypsis.measures.measure import Reading
from crypsis.measures.mixed_distance import MISSING_LINKS
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import Verdict
from crypsis.release.facts import EVERYTHING, ReleaseDescription, reported_findings, without_seeds
from crypsis.release.lazy_release import TupleOutcomes
from crypsis.report import ReportContent
from crypsis.report.columns import ReportedColumn
from crypsis.report.content import ReportedScenario
from crypsis.table.attribute import Kind, Role
from crypsis.table.lattice import Lattice
from crypsis.table.lazy import RECORDS, LazyTable
from crypsis.text import audited_text, treatment_text
from crypsis.version import __version__

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
