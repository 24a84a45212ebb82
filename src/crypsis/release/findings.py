"""Findings on a written file: each refuses the release unless it is waived with a reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crypsis.audits import Audit, Finding, FindingKind, Published, audit_matched_records
from crypsis.audits.restatement import find_restating_metadata
from crypsis.errors import PlanError, ReleaseRefused, listing, suggestion
from crypsis.privacy.demands import ConfidentialModel
from crypsis.privacy.model import PrivacyModel
from crypsis.rulebook import Rulebook, RuleResult, refusals
from crypsis.table.equivalence_classes import MissingReading
from crypsis.table.table import PERTURBATION, Table
from crypsis.text import attack_decisions_text, proposed_waivers_text

SHORTEST_REASON = 5
"""Letters a reason has at least."""


def split_waivers(waivers: Mapping[str, str] | None) -> tuple[dict[str, str], dict[str, str]]:
    """Waivers of rules (by their id) and of findings (kind:column); an id holds no colon."""
    waivers = {str(key): str(reason) for key, reason in (waivers or {}).items()}
    rules = {key: reason for key, reason in waivers.items() if ":" not in key}
    return rules, {key: reason for key, reason in waivers.items() if ":" in key}


def check_finding_waivers(waivers: Mapping[str, str], columns: Sequence[str]) -> None:
    """Refuse a waiver of an unknown finding, of a column that is not there, or without a reason."""
    for key, reason in waivers.items():
        kind, column = key.split(":", 1)
        known = [str(each) for each in FindingKind]
        if kind not in known:
            near = suggestion(kind, known)
            raise PlanError(f"there is no finding {kind!r} to waive{near}; findings: {listing(known, most=20)}")
        if column not in columns:
            near = suggestion(column, columns)
            raise PlanError(
                f"waiver of {key!r}: there is no column {column!r}{near}; columns: {listing(columns, most=40)}"
            )
        if len(reason.strip()) < SHORTEST_REASON:
            raise PlanError(f"the waiver of {key!r} needs a reason in words, e.g. 'known to nobody outside the office'")


@dataclass(frozen=True)
class AuditTerms:
    """How the audit reads a published table."""

    family: str  # family of the masking
    # confidential columns of which nobody said that no one outside knows their values
    unstated: frozenset[str] = frozenset()
    missing: MissingReading = "own"  # how missing cells are read where records are counted
    allowed: int = 0  # people whom a column may single out that nothing masks and nobody spoke of


def audit_release_findings(
    published: Table,
    original: Table | None,
    rows: NDArray[np.intp],
    terms: AuditTerms,
    file: Path | None = None,
    beside: Sequence[Finding] = (),
) -> Audit:
    """Findings on a written file: its audit, where rows stand in another order than the original's.

    Records are looked at in the order of the original, so that the order in which they are published, drawn anew for
    every release, decides about no finding: what was shown before a release is what its written file is judged by.

    `rows` int[n].
    """
    place = np.argsort(rows, kind="stable")
    published, rows = published.take(place), rows[place]
    before = None if original is None else original.take(rows)
    seen = Published(
        published,
        before,
        terms.family == PERTURBATION,
        unstated=terms.unstated,
        missing=terms.missing,
        allowed=terms.allowed,
    )
    return audit_matched_records(seen, beside=[*(find_restating_metadata(file) if file is not None else ()), *beside])


@dataclass(frozen=True)
class Refusal:
    """Everything for which one file is not released, said at once."""

    complaints: Sequence[str] = ()  # guarantees and limits that are missed, a sentence each
    findings: Sequence[Finding] = ()  # what the file reveals and nobody waived
    earlier: Sequence[str] = ()  # folders of earlier releases of the same source
    rulebook: Rulebook | None = None
    rules: Sequence[RuleResult] = ()  # those of it that are broken and not waived

    def raise_any(self) -> None:
        """Refuse with every reason, what helps against each, and what lets findings pass; nothing without a reason."""
        parts = list[str]()
        if self.complaints:
            parts.append(f"{'; '.join(self.complaints)}{MISSED if self.findings or self.rules else ''}")
        if self.findings:
            parts.append(attack_decisions_text(self.findings, self.earlier))
        final = {rule.id for rule in self.rulebook.rule if not rule.waivable} if self.rulebook else set[str]()
        waivable = tuple(each.id for each in self.rules if each.id not in final)
        if self.rulebook and self.rules:
            parts.append(f"rulebook {self.rulebook.name}: {'; '.join(refusals(self.rules))}")
        if parts:
            text = "nothing was released: " + "\nand: ".join(parts)
            keys = tuple(dict.fromkeys(each.key for each in self.findings if each.columns))
            raise ReleaseRefused(text, keys, waivable, proposed_waivers_text(self.findings), bool(self.complaints))


MISSED = "\n  no waiver helps against it: mask more, choose another solution, or demand less"
"""What to do about a guarantee or a limit that is missed, where other reasons stand beside it."""


def columns_answering_findings(
    models: Sequence[PrivacyModel], table: Table, unstated: Collection[str]
) -> frozenset[str]:
    """Confidential columns whose findings are answered: a model demands diversity, or nobody is said to know them."""
    demanded = {name for model in models if isinstance(model, ConfidentialModel) for name in model.hidden(table)}
    return frozenset(demanded) | frozenset(table.confidential).difference(unstated)
