"""What a solution would reveal if it were released: audited once, in the background, and kept; then by column.

The audit of a large table takes half a minute. It depends on the run, the solution and how many people a rulebook lets
a column single out; reasons, rules and earlier releases are applied to it when a page is shown.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from crypsis.audits import Audit, Finding, FindingKind
from crypsis.errors import CrypsisError
from crypsis.masking.following import recompute_following
from crypsis.measures.measure import Reading, measures
from crypsis.plan import Plan
from crypsis.privacy.anonymity import missing_cells_in_anonymity
from crypsis.release.findings import AuditTerms, audit_release_findings, split_waivers
from crypsis.release.ledger import LedgerEntry, earlier_findings, ledger_of_plan
from crypsis.release.published import flatten, order_published_rows
from crypsis.rulebook import Evidence, Rulebook, RuleResult, check_rulebook, read_rulebook
from crypsis.run import Solution
from crypsis.run.store import LOCK
from crypsis.table.attribute import Role
from crypsis.table.precision import at_source_precision
from crypsis.table.table import Table
from crypsis.text import attack_finding_text

if TYPE_CHECKING:
    from crypsis.studio.session import Session

MOST_KEPT = 3
"""Audits that are kept; the oldest goes first, since each holds a table."""


@dataclass(eq=False)
class SolutionAudit:
    """A solution as it would be published, and what that reveals."""

    plan: Plan
    original: Table
    masked: Table
    solution: Solution
    published: Table
    found: Audit  # without reasons, and without earlier releases
    _risks: dict[str, Reading] = field(default_factory=dict)
    _earlier: tuple[list[LedgerEntry], list[Finding]] | None = None

    def findings(self, waivers: Mapping[str, str]) -> Audit:
        """What the file reveals, alone and with earlier ones, with the reasons why it may."""
        findings = sorted([*self.found.findings, *self._beside_earlier()], key=lambda each: not each.refuses)
        return replace(self.found, findings=tuple(findings), waived=dict(waivers))

    def _beside_earlier(self) -> list[Finding]:
        """What the file reveals together with earlier releases; looked at again only if there are others."""
        entries = ledger_of_plan(self.plan).earlier(self.original)
        if self._earlier is None or self._earlier[0] != entries:
            self._earlier = entries, earlier_findings(self.original, self.published, entries)
        return self._earlier[1]

    @property
    def earlier(self) -> list[LedgerEntry]:
        """The earlier releases of the same source beside which it was looked at."""
        return [] if self._earlier is None else self._earlier[0]

    def rules(self, book: Rulebook | None, waivers: Mapping[str, str]) -> list[RuleResult]:
        """Every rule of a rulebook, checked on the same file and the same audit."""
        if book is None:
            return []
        suppressed, waived = int((~self.masked.kept).sum()), self.findings(waivers).waived_kinds
        evidence = Evidence(
            self.published, self.solution.family, self.plan.release.order, suppressed, self._measure_risks(book), waived
        )
        return check_rulebook(book, evidence, split_waivers(waivers)[0])

    def _measure_risks(self, book: Rulebook) -> list[Reading]:
        """The risks that a rulebook limits, each measured once."""
        for name in sorted({str(getattr(rule, "measure", "")) for rule in book.rule} - {"", *self._risks}):
            measure = measures.build(name)
            if not measure.obstacle(self.original) and self.solution.family in measure.valid_for:
                self._risks[name] = measure.against(self.original).explain(self.masked)
        return list(self._risks.values())


def audit_solution(plan: Plan, masked: Table, original: Table, solution: Solution, allowed: int) -> SolutionAudit:
    """Audit a masked table as it would be published.

    `allowed`: people whom a column may single out that nothing masks.
    """
    rows = order_published_rows(masked, "kept")
    published = flatten(recompute_following(at_source_precision(masked, original), original), rows)
    missing = missing_cells_in_anonymity(plan.models())
    terms = AuditTerms(solution.family, frozenset(plan.list_unstated()), missing, allowed)
    found = audit_release_findings(published, original, rows, terms)
    return SolutionAudit(plan, original, masked, solution, published, found)


Key = tuple[str, str, int, int]


class SolutionAudits:
    """The audits of the solutions of a session, each made once: when its solution is chosen, or asked for."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._made: dict[Key, SolutionAudit] = {}
        self._alone = threading.Lock()
        self.made = 0
        """Audits that were made so far."""

    def begin(self, number: int) -> None:
        """Audit a solution in the background, unless another one is chosen before its turn comes."""
        threading.Thread(target=self._in_background, args=(number,), daemon=True).start()

    def _in_background(self, number: int) -> None:
        try:
            with self._alone:
                if self._session.chosen == number:
                    self._audit(number)
        except (CrypsisError, OSError, MemoryError):
            pass  # the page that asks for it says why it cannot be made

    def of(self, number: int) -> SolutionAudit:
        """The audit of a solution; waits while it is made."""
        with self._alone:
            return self._audit(number)

    def made_of(self, number: int) -> SolutionAudit | None:
        """The audit of a solution if it is made; nothing is waited for."""
        return self._made.get(self._key(number))

    def _key(self, number: int) -> Key:
        session = self._session
        book = session.choices.rulebook
        allowed = read_rulebook(book).allowed_alone if book else 0
        return str(session.run_folder), _written(session.run_folder), number, allowed

    def _audit(self, number: int) -> SolutionAudit:
        session, key = self._session, self._key(number)
        allowed = key[-1]
        if key not in self._made:
            solution, run = session.solution(number), session.run
            made = audit_solution(run.plan, session.masked_table(number), run.original, solution, allowed)
            self.made += 1
            while len(self._made) >= MOST_KEPT:
                del self._made[next(iter(self._made))]
            self._made[key] = made
        return self._made[key]


def _written(folder: Path | None) -> str:
    """Which run is in a folder: another one may take its name."""
    try:
        return str((folder / LOCK).stat().st_mtime_ns) if folder is not None else ""
    except OSError:
        return ""


# -- Findings by column, as the Release page shows them.

State = Literal["blocks", "accepted", "note"]
ORDER: tuple[State, ...] = ("blocks", "accepted", "note")
PLANNED = frozenset({FindingKind.FEW_UNITS, FindingKind.EARLIER_RELEASE, FindingKind.METADATA})
"""Findings that no role of a column answers."""
STATED = frozenset({FindingKind.SINGLING_OUT, FindingKind.COMBINATION, FindingKind.ASSUMPTION})
"""Findings about who knows a column: why nobody outside does is a reason to accept them."""


@dataclass(frozen=True)
class ColumnFindings:
    """All that was found about one column, and how it stands."""

    column: str
    state: State
    findings: tuple[tuple[str, bool], ...]  # in words, and whether it stops a release
    reason: str  # why it may pass; empty if nobody said
    keys: tuple[str, ...]  # of the findings that a reason lets pass
    role: Role  # in the plan as it is now
    by_role: bool  # whether another role of the column answers what was found
    stated: str = ""  # what the plan says of who knows the column
    together: bool = False  # whether an earlier release and this one together stop it
    homogeneous: bool = False  # whether all records of some class share its value

    @property
    def question(self) -> str:
        """The beginning of the sentence that a reason completes."""
        if self.together:
            return f"Both files together may tell {self.column} because"
        known = self.role is Role.CONFIDENTIAL
        return f"Nobody outside knows {self.column} because" if known else f"Release {self.column} as it is because"

    @property
    def answered(self) -> str:
        """The reason of the plan that lets all pass that was found; empty where there is something to answer here."""
        return self.stated if self.state == "accepted" and not self.keys else ""

    @property
    def undecided(self) -> bool:
        """Whether nobody decided about the column: no reason replaces a decision."""
        return self.role is Role.UNDECIDED


def group_findings(audit: Audit, plan: Plan) -> list[ColumnFindings]:
    """Findings under their first column; columns that stop the release first."""
    found: dict[str, list[Finding]] = {}
    for each in audit.findings:
        found.setdefault(each.columns[0] if each.columns else "", []).append(each)
    cards = [_column_findings(name, some, audit, plan) for name, some in found.items()]
    return sorted(cards, key=lambda card: ORDER.index(card.state))


def _column_findings(name: str, findings: Sequence[Finding], audit: Audit, plan: Plan) -> ColumnFindings:
    refusing = [each for each in findings if each.refuses]
    reasons = [audit.reason(each) for each in refusing]
    column = plan.columns.get(name)
    stated = "" if column is None else column.because
    answered = bool(stated) and any(each.kind in STATED for each in findings)
    state: State = "blocks" if not all(reasons) else "accepted" if reasons or answered else "note"
    return ColumnFindings(
        column=name,
        state=state,
        findings=tuple((attack_finding_text(each), each.refuses) for each in findings),
        reason=next(filter(None, reasons), ""),
        keys=tuple(dict.fromkeys(each.key for each in refusing)),
        role=Role.OTHER if column is None else column.role,
        by_role=column is not None and any(each.kind not in PLANNED for each in refusing),
        stated=stated,
        homogeneous=any(each.kind is FindingKind.HOMOGENEOUS for each in findings),
        together=any(each.kind is FindingKind.EARLIER_RELEASE for each in refusing),
    )


MOST_APART = 3
"""Columns accepted with the same reason of the plan that have a card each; more are one list."""


def join_answered(cards: Sequence[ColumnFindings]) -> tuple[list[ColumnFindings], dict[str, list[ColumnFindings]]]:
    """Cards that stand by themselves, and those that the plan gives one reason for, by that reason."""
    alike = dict[str, list[ColumnFindings]]()
    for card in cards:
        alike.setdefault(card.answered, []).append(card)
    joined = {reason: some for reason, some in alike.items() if reason and len(some) > MOST_APART}
    return [card for card in cards if card.answered not in joined], joined
