"""Everything the two reports may speak of, as plain data; and which part of it may leave the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.measures.measure import Reading
from crypsis.privacy.model import Verdict
from crypsis.table.table import LOCAL, Table


@dataclass(frozen=True)
class ColumnStory:
    """What happened to one column, in words and counts."""

    name: str
    role: str
    kind: str
    treatment: str
    distinct_before: int
    distinct_after: int
    changed: float
    """Share of released cells that differ from the original, 0–100."""


@dataclass(frozen=True)
class Histogram:
    """A column before and after, over the same bins."""

    name: str
    labels: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]


@dataclass(frozen=True)
class Dossier:
    """The facts of a release."""

    title: str
    written: str
    version: str
    method: str
    family: str
    order: str
    rows_before: int
    rows_after: int
    columns: tuple[ColumnStory, ...]
    verdicts_before: tuple[Verdict, ...]
    verdicts: tuple[Verdict, ...]
    losses: tuple[Reading, ...] = ()
    risks_before: tuple[Reading, ...] = ()
    risks: tuple[Reading, ...] = ()
    class_sizes: Histogram | None = None
    distributions: tuple[Histogram, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Warnings a signatory should read."""

    @property
    def suppressed(self) -> int:
        return self.rows_before - self.rows_after

    def internal(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self) | {"suppressed": self.suppressed}

    def external(self) -> dict[str, Any]:
        """What was done and what was lost: no risk figure, no setting, nothing about the original's rare values."""
        return {
            "title": self.title,
            "written": self.written,
            "version": self.version,
            "method": self.method,
            "family": self.family,
            "order": self.order,
            "rows": self.rows_after,
            "suppressed": self.suppressed,
            "columns": [
                {"name": c.name, "role": c.role, "kind": c.kind, "treatment": c.treatment, "distinct": c.distinct_after}
                for c in self.columns
            ],
            "guarantees": [verdict.statement for verdict in self.verdicts],
            "losses": [
                {
                    "measure": r.measure,
                    "value": r.value,
                    "unit": r.unit,
                    "better": r.better,
                    "definition": r.definition,
                    "scope": r.scope,
                    "missing": r.missing,
                }
                for r in self.losses
            ],
        }


def tell_columns(original: Table, masked: Table) -> tuple[ColumnStory, ...]:
    """One story per published column."""
    return tuple(_tell(original, masked, name) for name in masked.names)


def _tell(original: Table, masked: Table, name: str) -> ColumnStory:
    attribute, level = original.attribute(name), masked.level(name)
    shown, kept = masked.attribute(name), masked.kept
    if level == LOCAL:
        treatment, changed = (
            "recoded record by record to coarser values where needed",
            _lifted_share(original, masked, name),
        )
    elif level > 0 and attribute.hierarchy is not None:
        groups = len(attribute.hierarchy.labels[level])
        treatment = "hidden" if groups == 1 else f"recoded to {groups} groups"
        changed = 100.0
    else:
        changed = _changed_share(original, masked, name)
        treatment = "unchanged" if changed == 0 else ("masked" if shown.role.value == "quasi" else "changed")
    return ColumnStory(
        name,
        attribute.role.value,
        attribute.kind.value,
        treatment,
        _distinct(original, name, np.ones(len(original), dtype=np.bool_)),
        _distinct(masked, name, kept),
        changed,
    )


def _distinct(table: Table, name: str, kept: NDArray[np.bool_]) -> int:
    codes = table.codes([name])[kept, 0]
    return int(np.unique(codes[codes >= 0]).size)


def _changed_share(original: Table, masked: Table, name: str) -> float:
    before, after = original.column(name)[masked.kept], masked.column(name)[masked.kept]
    if not before.size:
        return 0.0
    same = (before == after) | ((before != before) & (after != after))
    return float(100 * (1 - same.mean()))


def _lifted_share(original: Table, masked: Table, name: str) -> float:
    hierarchy = original.attribute(name).hierarchy
    leaves = hierarchy.size if hierarchy is not None else 0
    column = masked.column(name)[masked.kept]
    return float(100 * np.mean(column >= leaves)) if column.size else 0.0


def class_size_histogram(before: NDArray[np.float64], after: NDArray[np.float64]) -> Histogram:
    """Records by the size of the class they stand in."""
    edges: Sequence[float] = (1, 2, 3, 5, 10, 20, 50, 100, float("inf"))
    labels = ("1", "2", "3–4", "5–9", "10–19", "20–49", "50–99", "100+")
    counts = []
    for sizes in (before, after):
        sizes = sizes[~np.isnan(sizes)]
        counts.append(
            tuple(float(np.sum((sizes >= lo) & (sizes < hi))) for lo, hi in zip(edges, edges[1:], strict=False))
        )
    return Histogram("class size", labels, counts[0], counts[1])


def distributions(original: Table, masked: Table, most: int = 12) -> tuple[Histogram, ...]:
    """Quasi-identifiers that kept their domain, before and after, in at most `most` bins."""
    drawn = []
    for name in masked.names:
        if original.attribute(name).role.value != "quasi" or masked.level(name) != 0:
            continue
        drawn.append(
            _numbers(original, masked, name, most)
            if original.holds_numbers(name)
            else _codes(original, masked, name, most)
        )
    return tuple(drawn)


def _numbers(original: Table, masked: Table, name: str, most: int) -> Histogram:
    before, after = original.column(name), masked.column(name)[masked.kept]
    before, after = before[~np.isnan(before)], after[~np.isnan(after)]
    # Quantile-free, rounded bin edges between the 1st and 99th percentile: the extremes of a person stay unseen.
    low, high = np.percentile(before, [1, 99]) if before.size else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1, most - 1)
    inner = [f"{edge:.4g}" for edge in edges]
    labels = (f"< {inner[0]}", *(f"{a}–{b}" for a, b in zip(inner, inner[1:], strict=False)), f"≥ {inner[-1]}")
    bins = np.concatenate([[-np.inf], edges, [np.inf]])
    return Histogram(name, labels, *(tuple(map(float, np.histogram(x, bins)[0])) for x in (before, after)))


def _codes(original: Table, masked: Table, name: str, most: int) -> Histogram:
    labels = list(original.labels(name))
    shown = list(masked.labels(name))
    before = np.bincount(original.column(name)[original.column(name) >= 0], minlength=len(labels))
    column = masked.column(name)[masked.kept]
    after_counts = np.bincount(column[column >= 0], minlength=len(shown))
    after = {label: int(after_counts[code]) for code, label in enumerate(shown)}
    common = sorted(range(len(labels)), key=lambda code: -before[code])[: most - 1]
    names = [labels[code] for code in common]
    rest_before = float(before.sum() - before[common].sum())
    rest_after = float(after_counts.sum() - sum(after.get(n, 0) for n in names))
    return Histogram(
        name,
        (*names, "all others"),
        (*(float(before[code]) for code in common), rest_before),
        (*(float(after.get(n, 0)) for n in names), rest_after),
    )
