"""Audits: what a published file reveals, over all its columns, whatever the plan declares."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.audits.audit import Audit, audit, audit_published
    from crypsis.audits.finding import REASONED, Finding, FindingKind, waiver_key
    from crypsis.audits.published import Published

__all__ = ["REASONED", "Audit", "Finding", "FindingKind", "Published", "audit", "audit_published", "waiver_key"]

load_when_used(__name__)
