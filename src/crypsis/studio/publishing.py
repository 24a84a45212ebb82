"""Preparation of a release: rulebook and findings checked on the masked table, and previews of both reports."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from crypsis.audits import Audit
from crypsis.measures.measure import Reading, measures
from crypsis.plan import Plan
from crypsis.privacy.anonymity import missing_reading
from crypsis.release.findings import AuditTerms, audit_release, split_waivers
from crypsis.release.ledger import earlier_findings
from crypsis.release.published import flatten, row_order
from crypsis.rulebook import Evidence, Rulebook, RuleResult, check_rulebook, read_rulebook
from crypsis.run import Solution
from crypsis.run.releasing import ledger_of
from crypsis.table.precision import at_source_precision
from crypsis.table.table import Table

STYLE = re.compile(r'\sstyle="([^"]*)"')
SHEET = re.compile(r"<style>(.*?)</style>", re.DOTALL)
META = re.compile(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>")


@dataclass(frozen=True)
class ReleaseDecisions:
    """Title, rulebook and waivers of a release."""

    title: str
    rulebook: str = ""
    waivers: Mapping[str, str] = field(default_factory=dict)

    def book(self) -> Rulebook | None:
        """The rulebook, if one is chosen."""
        return read_rulebook(self.rulebook) if self.rulebook else None


def rules(
    plan: Plan, masked: Table, original: Table, solution: Solution, decided: ReleaseDecisions
) -> list[RuleResult]:
    """Every rule of the rulebook, checked on the file as it would be published."""
    book = decided.book()
    if book is None:
        return []
    published = flatten(at_source_precision(masked, original), masked.kept.nonzero()[0])
    wanted = {str(getattr(rule, "measure", "")) for rule in book.rule} - {""}
    risks: list[Reading] = []
    for name in sorted(wanted):
        measure = measures.build(name)
        if not measure.obstacle(original) and solution.family in measure.valid_for:
            risks.append(measure.against(original).explain(masked))
    suppressed = int((~masked.kept).sum())
    waived = findings(plan, masked, original, solution.family, decided.waivers, book).waived_kinds
    evidence = Evidence(published, solution.family, plan.release.order, suppressed, risks, waived)
    return check_rulebook(book, evidence, split_waivers(decided.waivers)[0])


def findings(
    plan: Plan,
    masked: Table,
    original: Table,
    family: str,
    waivers: Mapping[str, str],
    book: Rulebook | None = None,
) -> Audit:
    """What the file reveals, alone and with earlier releases, with the reasons findings were waived for."""
    rows = row_order(masked, "kept")
    published = flatten(at_source_precision(masked, original), rows)
    earlier = earlier_findings(original, published, ledger_of(plan).earlier(original))
    allowed = book.allowed_alone if book is not None else 0
    terms = AuditTerms(family, frozenset(plan.unstated()), missing_reading(plan.models()), allowed)
    found = audit_release(published, original, rows, terms, beside=earlier)
    return replace(found, waived=dict(waivers))


def fresh_preview(home: Path) -> Path:
    """A new name in a private folder; earlier previews are removed."""
    folder = home / "previews"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder / secrets.token_hex(8)


def framed(html: str) -> tuple[str, str]:
    """A report with its styles in one sheet, for a policy without unsafe-inline: page and nonce of the sheet."""
    nonce = secrets.token_urlsafe(16)
    styles: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        key = styles.setdefault(found[1], f"s{len(styles)}")
        return f' data-style="{key}"'

    page = STYLE.sub(named, META.sub("", html))
    more = "".join(f'[data-style="{key}"]{{{text}}}' for text, key in styles.items())
    page = SHEET.sub(lambda found: f'<style nonce="{nonce}">{found[1]}{more}</style>', page, count=1)
    return page, nonce
