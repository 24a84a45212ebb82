"""Everything the two reports may speak of, as plain data; and which part of it may leave the house."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from crypsis.measures.measure import Reading
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import Verdict
from crypsis.report.columns import ColumnStory
from crypsis.report.hardest import Subgroup
from crypsis.report.histograms import Histogram


@dataclass(frozen=True)
class Demand:
    """A limit on a risk, or the tolerance of a declared use, and what was read."""

    name: str
    at_most: float
    holds: bool
    binding: bool
    reading: Reading


@dataclass(frozen=True)
class RuleStory:
    """A rule of the rulebook and what became of it."""

    id: str
    statement: str
    found: str
    holds: bool
    waived: str


@dataclass(frozen=True)
class ScenarioStory:
    """What an intruder with some knowledge achieves on the original and on the released file."""

    name: str
    knows: tuple[str, ...]
    alone_before: int
    alone_after: int | None
    """None where class sizes mean nothing, after perturbation."""
    smallest_before: int
    smallest_after: int | None
    before: Reading
    after: Reading


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
    smallest_class: SmallestClass | None
    """k over every quasi-identifier of the released file, whatever columns the demands name."""
    losses: tuple[Reading, ...] = ()
    risks_before: tuple[Reading, ...] = ()
    risks: tuple[Reading, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Measures that say nothing about this file → why."""
    demands: tuple[Demand, ...] = ()
    rulebook: str = ""
    rules: tuple[RuleStory, ...] = ()
    scenarios: tuple[ScenarioStory, ...] = ()
    hardest: tuple[Subgroup, ...] = ()
    class_sizes: Histogram | None = None
    distributions: tuple[Histogram, ...] = ()
    front: tuple[Mapping[str, Any], ...] = ()
    """Points with name, family, kind (solution, baseline or chosen), loss and risk."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed_print: str = ""
    """A salted digest of the seed: whoever holds the seed can prove it, nobody can read it."""
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
                {
                    "name": c.name,
                    "role": c.role,
                    "kind": c.kind,
                    "treatment": c.treatment,
                    "distinct": c.distinct_after,
                    "loss": None if c.loss is None else rounded(c.loss),
                }
                for c in self.columns
            ],
            "guarantees": self._guarantees(),
            "smallest_class": self.smallest_class and asdict(self.smallest_class),
            "uses": [
                {"name": d.name, "at_most": d.at_most, "kept": d.holds, **public_reading(d.reading)}
                for d in self.demands
                if d.reading.aim == "loss"
            ],
            "losses": [public_reading(reading) for reading in self.losses],
        }

    def _guarantees(self) -> list[str]:
        told = list(dict.fromkeys(verdict.statement for verdict in self.verdicts))
        if any(d.binding and d.reading.aim == "risk" for d in self.demands):
            told.append("the chance of finding a person again was measured and lies within the limit set for this file")
        if self.rules:
            told.append(f"the rules for this kind of file were checked: {self.rulebook}")
        return told


def public_reading(reading: Reading) -> dict[str, Any]:
    """A loss as strangers may know it: rounded, without counts."""
    return {
        "measure": reading.measure,
        "value": rounded(reading.value),
        "unit": reading.unit,
        "better": reading.better,
        "definition": reading.definition,
        "scope": list(reading.scope),
        "missing": reading.missing,
    }


def rounded(value: float) -> float:
    """Four significant digits: an exact sum over the original would be a fact about its people."""
    return float(f"{value:.4g}")
