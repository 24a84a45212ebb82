"""The common yardstick: every solution, whichever search found it, under the same losses, risks, uses and models.

Risks are read once for each intruder, by the columns she knows; the worst counts. A figure that means nothing after
a kind of masking is not given, and the reason is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from crypsis.errors import SearchError, TableError
from crypsis.masking.method import Family
from crypsis.measures.measure import BoundMeasure, Measure, Reading
from crypsis.plan import Plan
from crypsis.plan.sections import Use
from crypsis.privacy.model import PrivacyModel, Verdict
from crypsis.privacy.properties import class_sizes
from crypsis.run.solution import Measured
from crypsis.table.table import Table

ANYBODY = "anybody"
"""Name of the intruder who knows every quasi-identifier, when a plan names no other."""
CLASSES_UNSAID = "class sizes say nothing after perturbation: equal values do not mean equal people"


@dataclass(frozen=True)
class Reader:
    """A measure bound to the original: once, or once for each intruder."""

    title: str
    measure: Measure
    bound_measures: Mapping[str, BoundMeasure]
    """Intruder (or '') → bound."""


@dataclass
class _Notes:
    figures: dict[str, float | None] = field(default_factory=dict)
    unsaid: dict[str, str] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    guessing: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    by: dict[str, dict[str, float]] = field(default_factory=dict)
    """Measure → intruder → reading."""


class Yardstick:
    """A plan's measures and models, bound to the original."""

    def __init__(self, plan: Plan, original: Table) -> None:
        self.plan, self.original = plan, original
        self.knows = intruders(plan, original)
        self.losses = [self._reader(c.name, c.build()) for c in plan.measures.loss]
        self.risks = [self._reader(c.name, c.build()) for c in plan.measures.risk]
        self.uses = [(use, self._reader(use.title, use.build())) for use in plan.use]
        taken = {reader.title for reader in [*self.losses, *self.risks]}
        self.limits: list[tuple[str, float, Reader | None]] = []
        for limit in plan.limit:
            measure = limit.build()
            plain = measure is None or (limit.measure in taken and not limit.settings)
            title = limit.measure if plain or limit.measure not in taken else f"{limit.measure} (limited)"
            self.limits.append(
                (title, limit.at_most, None if plain or measure is None else self._reader(title, measure))
            )
        self.models: list[PrivacyModel] = plan.models()
        self.objectives = [use for use in plan.use if use.treated_as == "objective"]

    @property
    def axes(self) -> tuple[str, ...]:
        """What the common front minimises."""
        return ("loss", "risk", "uses") if self.objectives else ("loss", "risk")

    def _reader(self, title: str, measure: Measure) -> Reader:
        if measure.aim != "risk" or measure.columns:
            obstacle = measure.obstacle(self.original)
            if obstacle:
                raise SearchError(f"measure {title!r} cannot be read: {obstacle}")
            return Reader(title, measure, {"": measure.against(self.original)})
        bound_measures = {}
        for intruder, knows in self.knows.items():
            names = readable(measure, self.original, knows)
            if names:
                bound_measures[intruder] = measure.model_copy(update={"columns": names}).against(self.original)
        if not bound_measures:
            reason = measure.model_copy(update={"columns": next(iter(self.knows.values()))}).obstacle(self.original)
            raise SearchError(f"measure {title!r} cannot be read for any intruder: {reason}")
        return Reader(title, measure, bound_measures)

    # -- measuring --

    def measure(self, masked: Table, family: str) -> Measured:
        """All figures, verdicts and complaints of one masked table."""
        found = _Notes()
        self._read_all(masked, family, found)
        self._classes(masked, family, found)
        records = max(len(masked), 1)
        found.figures["suppressed"] = 100.0 * float((~masked.kept).sum()) / records
        verdicts = [] if family == Family.PERTURBATION else [self._judge(model, masked) for model in self.models]
        return Measured(
            figures={name: _finite(value) for name, value in found.figures.items()},
            unsaid=found.unsaid,
            intervals=found.intervals,
            guessing=found.guessing,
            notes=tuple(dict.fromkeys(found.notes)),
            verdicts=tuple(_plain_verdict(v) for v in verdicts),
            complaints=tuple(self._complaints(verdicts, family, found)),
        )

    def _read_all(self, masked: Table, family: str, found: _Notes) -> None:
        for reader in [*self.losses, *self.risks, *(r for _, r in self.uses), *(r for _, _, r in self.limits if r)]:
            self._read(reader, masked, family, found)
        found.figures["loss"] = _mean([found.figures[reader.title] for reader in self.losses])
        by_intruder = {intruder: self._risk_to(intruder, found) for intruder in self.knows}
        worst = [value for value in by_intruder.values() if value is not None]
        lacking = any(found.figures[reader.title] is None for reader in self.risks)
        found.figures["risk"] = None if lacking or not worst else max(worst)
        if len(self.knows) > 1:
            found.figures |= {f"risk.{intruder}": value for intruder, value in by_intruder.items()}
        if self.objectives:
            shares = [(u.weight, found.figures[u.title], u.tolerance) for u in self.objectives]
            total = sum(weight for weight, _, _ in shares)
            parts = [w * 100.0 * v / t for w, v, t in shares if v is not None]
            found.figures["uses"] = sum(parts) / total if len(parts) == len(shares) else None

    def _risk_to(self, intruder: str, found: _Notes) -> float | None:
        """Mean of the risks that can be read by what one intruder knows."""
        of = [found.by.get(reader.title, {}) for reader in self.risks]
        return _mean([each[intruder if intruder in each else ""] for each in of if intruder in each or "" in each])

    def _read(self, reader: Reader, masked: Table, family: str, found: _Notes) -> None:
        if family not in reader.measure.valid_for:
            found.figures[reader.title] = None
            found.unsaid[reader.title] = f"the number has no meaning after {family}"
            return
        try:
            readings = {intruder: bound.explain(masked) for intruder, bound in reader.bound_measures.items()}
        except TableError as error:
            found.figures[reader.title] = None
            found.unsaid[reader.title] = str(error)
            return
        worst = max(readings.values(), key=lambda reading: reading.value)
        found.figures[reader.title] = worst.value
        found.by[reader.title] = {intruder: reading.value for intruder, reading in readings.items()}
        if len(readings) > 1:
            found.figures |= {f"{reader.title}.{intruder}": reading.value for intruder, reading in readings.items()}
        self._remark(reader.title, worst, found)

    @staticmethod
    def _remark(title: str, reading: Reading, found: _Notes) -> None:
        if reading.interval is not None:
            found.intervals[title] = (float(reading.interval[0]), float(reading.interval[1]))
        if reading.baseline is not None:
            found.guessing[title] = float(reading.baseline)
        if reading.warning:
            found.notes.append(f"{title}: {reading.warning}")

    def _classes(self, masked: Table, family: str, found: _Notes) -> None:
        """Smallest class and share of unique records, over all quasi-identifiers and over what each intruder knows."""
        if family == Family.PERTURBATION:
            found.figures |= {"k": None, "unique": None}
            found.unsaid |= {"k": CLASSES_UNSAID, "unique": CLASSES_UNSAID}
            return
        views = {tuple(self.original.quasi_identifiers), *self.knows.values()} - {()}
        smallest, alone = [], []
        for names in views:
            sizes = class_sizes(masked, names)[masked.kept]
            smallest.append(float(sizes.min()) if len(sizes) else 0.0)
            alone.append(100.0 * float((sizes == 1).sum()) / max(len(sizes), 1))
        found.figures |= {"k": min(smallest), "unique": max(alone)}

    # -- judging --

    @staticmethod
    def _judge(model: PrivacyModel, masked: Table) -> Verdict:
        obstacle = model.obstacle(masked)
        if obstacle:
            raise SearchError(obstacle)
        return model.judge(masked)

    def _complaints(self, verdicts: Sequence[Verdict], family: str, found: _Notes) -> list[str]:
        told = [_complaint(verdict) for verdict in verdicts if not verdict.holds]
        if family == Family.PERTURBATION and self.models:
            told.append(f"the required models cannot be judged: {CLASSES_UNSAID}")
        suppressed, allowed = found.figures["suppressed"] or 0.0, 100.0 * self.plan.suppression
        if suppressed > allowed + 1e-9:
            told.append(f"{suppressed:.3g} % of the records are left out, at most {allowed:g} % may be")
        for title, most, _ in self.limits:
            value = found.figures.get(title)
            if value is None:
                told.append(f"{title} is limited to {most:g} and cannot be read after {family}")
            elif value > most + 1e-9:
                told.append(f"{title} is {value:.4g}, at most {most:g} is allowed")
        for use, reader in self.uses:
            told += self._use_complaint(use, found.figures[reader.title])
        return told

    @staticmethod
    def _use_complaint(use: Use, value: float | None) -> list[str]:
        if use.treated_as != "limit":
            return []
        if value is None:
            return [f"use {use.title!r} cannot be read"]
        if value > use.tolerance:
            return [f"use {use.title!r} is {value:.4g} off, {use.tolerance:g} is tolerated"]
        return []


def intruders(plan: Plan, table: Table) -> dict[str, tuple[str, ...]]:
    """Who may look people up, and by which columns."""
    if plan.scenario:
        return {each.name: each.knows for each in plan.scenario}
    return {ANYBODY: tuple(table.quasi_identifiers)}


def readable(measure: Measure, table: Table, knows: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns the measure can read."""
    if not measure.model_copy(update={"columns": tuple(knows)}).obstacle(table):
        return tuple(knows)
    return tuple(name for name in knows if not measure.model_copy(update={"columns": (name,)}).obstacle(table))


def _mean(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return float(np.mean(present)) if present and len(present) == len(values) else None


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _plain_verdict(verdict: Verdict) -> dict[str, Any]:
    plain = {name: value.item() if hasattr(value, "item") else value for name, value in asdict(verdict).items()}
    plain["attained"] = _finite(plain["attained"])
    return plain


def _complaint(verdict: Verdict) -> str:
    return (
        f"{verdict.model} requires {verdict.sense} {verdict.required:g} and {verdict.attained:g} is attained; "
        f"{verdict.offending} of {verdict.records} records offend"
    )
