"""The content of the two reports as plain data, and the part of it that may be published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from crypsis.audits import Finding
from crypsis.measures.measure import Reading, measures
from crypsis.privacy.anonymity import SmallestClass
from crypsis.privacy.model import Verdict
from crypsis.report.columns import ReportedColumn
from crypsis.report.hardest import Subgroup
from crypsis.report.histograms import Histogram
from crypsis.rulebook.book import RuleResult


@dataclass(frozen=True)
class LimitResult:
    """A limit on a risk, or the tolerance of a declared use, and the reading.

    Attributes
    ----------
    name : str
        Name of the limit or use.
    at_most : float
        Largest reading allowed.
    holds : bool
        Whether the reading is within it.
    binding : bool
        Whether a release is refused beyond it; otherwise it is reported only.
    reading : Reading
        What was measured.
    use : bool
        Whether it is a declared use, which the public report names.
    """

    name: str
    at_most: float
    holds: bool
    binding: bool
    reading: Reading
    use: bool = False


@dataclass(frozen=True)
class ReportedFinding:
    """What the file reveals by itself, and the reason it was released all the same."""

    found: str
    waived: str
    finding: Finding


@dataclass(frozen=True)
class ReportedScenario:
    """What an intruder with some knowledge achieves on the original and on the released file.

    name  name of the scenario
    knows  columns the intruder knows
    alone_before, alone_after  unique records; None after perturbation, where class sizes have no meaning
    smallest_before, smallest_after  size of the smallest equivalence class
    before, after  record linkage on the original and on the released file
    because  why this intruder knows no other column, as the plan says
    """

    name: str
    knows: tuple[str, ...]
    alone_before: int
    alone_after: int | None
    smallest_before: int
    smallest_after: int | None
    before: Reading
    after: Reading
    because: str = ""


@dataclass(frozen=True)
class ReportContent:
    """The facts of a release."""

    title: str
    written: str
    """Time of writing."""
    version: str
    """Version of Crypsis."""
    method: str
    """How the file was masked, in a sentence."""
    family: str
    order: str
    """Order of the rows."""
    rows_before: int
    """Records of the original."""
    rows_after: int
    """Records of the file."""
    columns: tuple[ReportedColumn, ...]
    """What happened to each column."""
    smallest_class: SmallestClass | None
    """k over every quasi-identifier of the released file, whatever columns the demands name."""
    verdicts_before: tuple[Verdict, ...]
    """Privacy models judged on the original."""
    verdicts: tuple[Verdict, ...]
    """Privacy models judged on the file."""
    findings: tuple[ReportedFinding, ...] = ()
    audited: str = ""
    """What the audit looked at."""
    losses: tuple[Reading, ...] = ()
    risks_before: tuple[Reading, ...] = ()
    risks: tuple[Reading, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Measures without a meaning for this file, and why."""
    demands: tuple[LimitResult, ...] = ()
    rulebook: str = ""
    """Title of the rulebook; empty without one."""
    rules: tuple[RuleResult, ...] = ()
    scenarios: tuple[ReportedScenario, ...] = ()
    hardest: tuple[Subgroup, ...] = ()
    """Groups of records with the greatest loss."""
    class_sizes: Histogram | None = None
    """Records by size of their equivalence class."""
    distributions: tuple[Histogram, ...] = ()
    """Quasi-identifiers before and after."""
    card: Mapping[str, Any] | None = None
    """What was harmed, as `crypsis.text.card_facts` gives it."""
    chosen: str = ""
    """Which solution was chosen, and why."""
    front: tuple[Mapping[str, Any], ...] = ()
    """Points with name, family, kind ("solution", "baseline" or "chosen"), loss and risk."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the masking."""
    seed_print: str = ""
    """A salted digest of the seed: the owner of the seed can prove it, nobody can read it."""
    signed_by: str = ""
    """Public key of the signature, 64 hexadecimal digits; empty without one."""
    assumed: tuple[str, ...] = ()
    """Confidential columns that are taken for unknown outside: who knows one and two more columns finds people."""
    notes: tuple[str, ...] = ()
    """Warnings for the person who signs."""

    @property
    def suppressed(self) -> int:
        """Number of suppressed records."""
        return self.rows_before - self.rows_after

    def internal(self) -> dict[str, Any]:
        """The content of the internal report."""
        return dict(self._facts)

    @cached_property
    def _facts(self) -> dict[str, Any]:
        return asdict(self) | {"suppressed": self.suppressed}

    def external(self) -> dict[str, Any]:
        """The content of the external report: no risk figure, no setting, nothing about rare values of the original."""
        return external_facts(self.internal())


def external_facts(internal: Mapping[str, Any]) -> dict[str, Any]:
    """The content of the external report, from that of the internal one.

    Parameters
    ----------
    internal : mapping
        What `ReportContent.internal` gives, or the internal JSON report.

    Returns
    -------
    dict
    """
    same = (
        "title",
        "written",
        "version",
        "method",
        "family",
        "order",
        "suppressed",
        "smallest_class",
        "assumed",
        "signed_by",
    )
    demands = internal["demands"]
    return {
        **{name: internal[name] for name in same},
        "rows": internal["rows_after"],
        "columns": [
            {name: column[name] for name in ("name", "role", "kind", "treatment")}
            | {"distinct": column["distinct_after"], "loss": _public_loss(column)}
            for column in internal["columns"]
        ],
        "guarantees": guarantees(
            [verdict["statement"] for verdict in internal["verdicts"]],
            risk_limited(demands),
            internal["rulebook"] if internal["rules"] else "",
        ),
        "promised": promised(internal),
        "uses": [
            {"name": d["name"], "at_most": d["at_most"], "kept": d["holds"], **public_reading(d["reading"])}
            for d in demands
            if d["use"]
        ],
        "losses": [public_reading(reading) for reading in internal["losses"] if _is_public(reading)],
        "harmed": list((internal["card"] or {}).get("public", ())),
    }


def promised(internal: Mapping[str, Any]) -> list[list[str]]:
    """The columns that each guarantee names.

    internal  content of the internal report
    """
    return [list(verdict["columns"]) for verdict in internal["verdicts"]]


def guarantees(statements: Iterable[str], limited: bool, rulebook: str) -> list[str]:
    """What the external report may promise: what the models state, that a risk is limited, that rules were checked.

    Parameters
    ----------
    statements : iterable of str
        Of the verdicts that hold.
    limited : bool
        Whether the file keeps a binding limit on a risk.
    rulebook : str
        Title of the rulebook; empty without one.

    Returns
    -------
    list of str
    """
    sentences = list(dict.fromkeys(statements))
    if limited:
        sentences.append("the risk of re-identification was measured and is within the limit set for this file")
    if rulebook:
        sentences.append(f"the rules for this kind of file were checked: {rulebook}")
    return sentences


def risk_limited(demands: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a binding limit on a risk is among the demands."""
    return any(each["binding"] and each["reading"]["aim"] == "risk" for each in demands)


def _is_public(reading: Mapping[str, Any]) -> bool:
    """Whether users of the file may read a loss; one of a measure that is no longer known may be read."""
    return reading["measure"] not in measures or measures[reading["measure"]].public


def _public_loss(column: Mapping[str, Any]) -> float | None:
    """The rounded loss of a column: 0 for one that did not change, None where it is not known."""
    if column["loss"] is None:
        return 0.0 if column["changed"] == 0 else None
    return rounded(column["loss"])


def public_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    """A reading as the external report gives it: rounded, without counts.

    reading  a loss as plain data
    """
    same = ("measure", "unit", "better", "definition", "missing")
    named = {name: reading[name] for name in same}
    return {**named, "value": rounded(reading["value"]), "scope": list(reading["scope"])}


def rounded(value: float) -> float:
    """A number rounded to four significant digits: an exact sum over the original would disclose single values.

    Examples
    --------
    >>> rounded(12.34567)
    12.35
    """
    return float(f"{value:.4g}")
