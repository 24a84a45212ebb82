"""Preparation of a release: rulebook and findings checked on the masked table, and previews of both reports."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from crypsis.audits import Audit
from crypsis.errors import CrypsisError, ReleaseRefused
from crypsis.measures.measure import Reading, measures
from crypsis.plan import Plan
from crypsis.privacy.anonymity import missing_reading
from crypsis.release.findings import AuditTerms, audit_release, split_waivers
from crypsis.release.ledger import earlier_findings
from crypsis.release.published import flatten, row_order
from crypsis.rulebook import Evidence, Rulebook, RuleResult, check_rulebook, read_rulebook
from crypsis.run import Solution
from crypsis.run.releasing import ledger_of
from crypsis.studio.session import Session
from crypsis.studio.studio import figure
from crypsis.table.attribute import UNPUBLISHED, Role
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


def frame_report(html: str) -> tuple[str, str]:
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


# -- The checklist of a release; nothing is released while an item fails.


@dataclass(frozen=True)
class Item:
    """A demand, whether it is met, and what was found."""

    what: str
    holds: bool
    found: str


def checklist(session: Session, solution: Solution | None) -> list[Item]:
    """The items that need no decoding; rulebook and findings are checked on the masked table."""
    if solution is None:
        return [Item("A solution is chosen", False, "choose one above")]
    return [
        Item("A solution is chosen", True, f"number {solution.number}"),
        *_demands(session, solution),
        _agreement(session),
        _check_undecided(session),
        _identifiers(session),
    ]


def refuse_open(items: Sequence[Item]) -> None:
    """Refuse a release while an item of the checklist fails, naming every one that does."""
    failing = [f"{item.what} ({item.found})" for item in items if not item.holds]
    if failing:
        raise ReleaseRefused(f"nothing was released: the checklist is not met: {'; '.join(failing)}")


def _demands(session: Session, solution: Solution) -> list[Item]:
    """Privacy models, then limits, uses and suppression."""
    evaluation = solution.evaluation
    items = [
        Item(
            f"{verdict['model']}: {verdict['statement']}",
            bool(verdict["holds"]),
            f"{figure(verdict['attained'])} attained, {verdict['sense']} {figure(verdict['required'])} required",
        )
        for verdict in evaluation.verdicts
    ]
    if not items:
        limited = [limit.build() for limit in session.run.plan.limit]
        demanded = any(measure is not None and measure.aim == "risk" for measure in limited)
        items = [Item("A privacy model or a risk limit is demanded", demanded, "see the Goal page")]
    pairs = zip(evaluation.complaints, solution.complaints, strict=True)
    others = [text for complaint, text in pairs if complaint.kind != "model"]
    return [*items, Item("Limits, uses and suppression", not others, "; ".join(others) or "all kept")]


def _agreement(session: Session) -> Item:
    outdated = session.outdated
    words = "the plan was changed since; start a new search to use it" if outdated else "the run follows this plan"
    return Item("Plan and search agree", not outdated, words)


def _check_undecided(session: Session) -> Item:
    """Every column of the run has a role."""
    open_ = [name for name, column in session.run.plan.columns.items() if column.role is Role.UNDECIDED]
    found = f"undecided: {', '.join(open_)}" if open_ else "all columns have a role"
    return Item("Somebody decided about every column", not open_, found)


def _identifiers(session: Session) -> Item:
    """No identifier of the plan, as it is now or as it was searched, is in the file."""
    what = "Identifiers are not released"
    try:
        original = session.run.original
    except CrypsisError as error:
        return Item(what, False, f"the file cannot be read: {error}")
    plans = (session.plan, session.run.plan)
    named = dict.fromkeys(n for plan in plans for n, c in plan.columns.items() if c.role in UNPUBLISHED)
    published = [a.name for a in original.attributes if a.role not in UNPUBLISHED and a.name in named]
    found = f"{', '.join(published)} would be published" if published else ", ".join(named) or "none declared"
    return Item(what, not published, found)
