"""Findings on a written file: each refuses the release unless it is waived with a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crypsis.audits import Audit, Finding, FindingKind, Published, audit_published
from crypsis.audits.metadata import metadata
from crypsis.errors import PlanError, ReleaseRefused, listing, suggestion
from crypsis.table.missing_cells import MissingReading
from crypsis.table.provenance import PERTURBATION
from crypsis.table.table import Table
from crypsis.text import decisions_text

SHORTEST_REASON = 5
"""Letters a reason has at least."""


def split_waivers(waivers: Mapping[str, str] | None) -> tuple[dict[str, str], dict[str, str]]:
    """Waivers of rules (by their id) and of findings (kind:column); an id holds no colon."""
    rules = {key: reason for key, reason in (waivers or {}).items() if ":" not in key}
    return rules, {key: reason for key, reason in (waivers or {}).items() if ":" in key}


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
    """How the audit reads a published table.

    family    family of the masking
    unstated  confidential columns of which nobody said that no one outside knows their values
    missing   how missing cells are read where records are counted
    allowed   people whom a column may single out that nothing masks and nobody spoke of
    """

    family: str
    unstated: frozenset[str] = frozenset()
    missing: MissingReading = "own"
    allowed: int = 0


def audit_release(
    published: Table,
    original: Table | None,
    rows: NDArray[np.intp],
    terms: AuditTerms,
    file: Path | None = None,
    beside: Sequence[Finding] = (),
) -> Audit:
    """The audit of a published table whose rows stand in another order than the original's.

    Parameters
    ----------
    published : Table
        The written file, read back.
    original : Table or None
        The table before masking; without it nobody knows which cells were masked, and all count as collected.
    rows : int[n]
        Row of the original behind each published record.
    terms : AuditTerms
        How the table is read.
    file : Path, optional
        The written file, for what it holds beside the table.
    beside : sequence of Finding
        What was found beside the file, such as earlier releases.

    Returns
    -------
    Audit
    """
    before = None if original is None else original.take(rows)
    seen = Published(
        published,
        before,
        terms.family == PERTURBATION,
        unstated=terms.unstated,
        missing=terms.missing,
        allowed=terms.allowed,
    )
    return audit_published(seen, beside=[*(metadata(file) if file is not None else ()), *beside])


def refuse_open(found: Audit, waivers: Mapping[str, str]) -> Audit:
    """The audit with the reasons findings were waived for.

    waivers  finding (kind:column) → reason

    Raises
    ------
    ReleaseRefused
        If a finding that stops a release was not waived; it says what to decide about each.
    """
    found = replace(found, waived=dict(waivers))
    if found.open:
        raise ReleaseRefused(decisions_text(found.open))
    return found
