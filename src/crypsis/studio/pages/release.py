"""Preparation of a release: rulebook and findings checked on the masked table, and previews of both reports."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from crypsis.audits import Audit
from crypsis.errors import CrypsisError, PlanError, ReleaseRefused, TableError
from crypsis.masking.following import recompute_following
from crypsis.measures.measure import Reading, measures
from crypsis.plan import Plan
from crypsis.privacy.anonymity import missing_cells_in_anonymity
from crypsis.release import verify
from crypsis.release.findings import AuditTerms, audit_release_findings, check_finding_waivers, split_waivers
from crypsis.release.ledger import earlier_findings, ledger_of_plan
from crypsis.release.published import flatten, order_published_rows
from crypsis.rulebook import Evidence, Rulebook, RuleResult, check_rulebook, read_rulebook
from crypsis.run import Solution
from crypsis.studio.access import POLICY
from crypsis.studio.forms import Form, one
from crypsis.studio.responses import answer, changes, refusal, respond_with_report, routes_of, shows
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.precision import at_source_precision
from crypsis.table.table import Table
from crypsis.text import attack_finding_text, audited_text, over_all_text
from crypsis.text.reports import figure_text


@dataclass(frozen=True)
class ReleaseDecisions:
    """Title, rulebook and waivers of a release."""

    title: str
    rulebook: str = ""
    waivers: Mapping[str, str] = field(default_factory=dict)

    def book(self) -> Rulebook | None:
        """The rulebook, if one is chosen."""
        return read_rulebook(self.rulebook) if self.rulebook else None


def _preview_rulebook_rules(
    plan: Plan, masked: Table, original: Table, solution: Solution, decided: ReleaseDecisions
) -> list[RuleResult]:
    """Rulebook on the Release page: every rule, checked on the masked table as it would be published."""
    book = decided.book()
    if book is None:
        return []
    published = flatten(recompute_following(at_source_precision(masked, original), original), masked.kept.nonzero()[0])
    wanted = {str(getattr(rule, "measure", "")) for rule in book.rule} - {""}
    risks: list[Reading] = []
    for name in sorted(wanted):
        measure = measures.build(name)
        if not measure.obstacle(original) and solution.family in measure.valid_for:
            risks.append(measure.against(original).explain(masked))
    suppressed = int((~masked.kept).sum())
    waived = _preview_release_findings(plan, masked, original, solution.family, decided.waivers, book).waived_kinds
    evidence = Evidence(published, solution.family, plan.release.order, suppressed, risks, waived)
    return check_rulebook(book, evidence, split_waivers(decided.waivers)[0])


def _preview_release_findings(
    plan: Plan,
    masked: Table,
    original: Table,
    family: str,
    waivers: Mapping[str, str],
    book: Rulebook | None = None,
) -> Audit:
    """Findings on the Release page: what the file reveals, alone and with earlier ones, with reasons of waivers."""
    rows = order_published_rows(masked, "kept")
    published = flatten(recompute_following(at_source_precision(masked, original), original), rows)
    earlier = earlier_findings(original, published, ledger_of_plan(plan).earlier(original))
    allowed = book.allowed_alone if book is not None else 0
    terms = AuditTerms(family, frozenset(plan.list_unstated()), missing_cells_in_anonymity(plan.models()), allowed)
    found = audit_release_findings(published, original, rows, terms, beside=earlier)
    return replace(found, waived=dict(waivers))


def _fresh_preview(home: Path) -> Path:
    """A new name in a private folder; earlier previews are removed."""
    folder = home / "previews"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder / secrets.token_hex(8)


# -- The checklist of a release; nothing is released while an item fails.


@dataclass(frozen=True)
class Item:
    """A demand, whether it is met, and what was found."""

    what: str
    holds: bool
    found: str


def release_page_checklist(session: Session, solution: Solution | None) -> list[Item]:
    """The studio's Release page: the checklist of a chosen solution, as far as no decoding is needed."""
    if solution is None:
        return [Item("A solution is chosen", False, "choose one above")]
    return [
        Item("A solution is chosen", True, f"number {solution.number}"),
        *_demands(session, solution),
        _agreement(session),
        _check_undecided(session),
        _identifiers(session),
    ]


def _refuse_open_checklist(items: Sequence[Item]) -> None:
    """On the Release page, refuse a release while an item of the checklist fails, naming every one that does."""
    failing = [f"{item.what} ({item.found})" for item in items if not item.holds]
    if failing:
        raise ReleaseRefused(f"nothing was released: the checklist is not met: {'; '.join(failing)}")


def _demands(session: Session, solution: Solution) -> list[Item]:
    """Privacy models, then limits, uses and suppression."""
    evaluation = solution.evaluation
    items = [
        Item(
            f"{verdict['model']}: {verdict.get('demand') or verdict['statement']}",  # as runs called it before
            bool(verdict["holds"]),
            f"{figure_text(verdict['attained'])} attained, "
            f"{verdict['sense']} {figure_text(verdict['required'])} required",
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


# -- The Release page: checklist, findings and rules, both reports, the release and its verification.

REPORTS = {"internal": ("internal", "report.html"), "external": ("public", "report.html")}


class _ReleasePage:
    """Choosing, checking, waiving, previewing, exporting, verifying."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.shown: dict[str, Path] = {}

    def content(self) -> dict[str, Any]:
        session = self.studio.session
        solution = _chosen_solution(session)
        return {
            "candidates": _candidates(session),
            "s": solution,
            "items": release_page_checklist(session, solution),
            "title": session.choices.title or f"Protected {session.source.stem}",
            "folder": self.studio.release_folder(),
            "released": session.choices.released,
            "rulebook": session.choices.rulebook,
        }

    @shows("/release")
    def page(self, request: Request) -> Response:
        return self.studio.page("release", self.content)

    @shows("/release/rules")
    def show_rules(self, request: Request) -> Response:
        session = self.studio.session
        solution = _needed_solution(session)
        run = session.run
        decided, masked = _decisions(session), session.masked_table(solution.number)
        return self.studio.part(
            "rules.html",
            rules=_preview_rulebook_rules(run.plan, masked, run.original, solution, decided),
            audit=(
                audit := _preview_release_findings(
                    run.plan, masked, run.original, solution.family, decided.waivers, decided.book()
                )
            ),
            findings=[(each, attack_finding_text(each), audit.reason(each)) for each in audit.findings],
            audited=audited_text(audit),
            waivable={rule.id for rule in book.rule if rule.waivable} if (book := decided.book()) else set(),
            waivers=decided.waivers,
        )

    @changes("/release/waive")
    def waive(self, request: Request, form: Form) -> Response:
        session = self.studio.session
        reasons = {name.removeprefix("waive."): one(form, name) for name in form if name.startswith("waive.")}
        waivers = {rule: reason for rule, reason in reasons.items() if reason}
        book = _decisions(session).book()
        of_rules, of_findings = split_waivers(waivers)
        check_finding_waivers(of_findings, session.run.original.names)
        if book is not None:
            book.check_waivers(of_rules)
        session.change(waivers=waivers)
        return answer("The waivers are saved; the internal report lists them.", go=f"{self.studio.address}/release")

    @changes("/release/preview")
    def preview(self, request: Request, form: Form) -> Response:
        session = self.studio.session
        session.change(title=one(form, "title"))
        self.shown["folder"] = _publish(session, _fresh_preview(self.studio.home), preview=True)
        html = self.studio.render("previews.html")
        message = (
            "Both reports are below, from a test release that was written, read back and judged. Nothing was released."
        )
        return answer(message, parts={"previews": html})

    @shows("/release/report/{sort}")
    def report(self, request: Request) -> Response:
        place = REPORTS.get(request.path_params["sort"])
        folder = self.shown.get("folder")
        if place is None or folder is None or not folder.exists():
            raise TableError("there is no preview yet; press Preview both reports")
        html, nonce = respond_with_report((folder / place[0] / place[1]).read_text(encoding="utf-8"))
        policy = POLICY.replace("style-src 'self'", f"style-src 'nonce-{nonce}'")
        return HTMLResponse(html, headers={"content-security-policy": policy})

    @changes("/release/export")
    def export(self, request: Request, form: Form) -> Response:
        session = self.studio.session
        text = one(form, "folder")
        if not text:
            raise PlanError("no folder is given; write the folder of the release")
        session.change(title=one(form, "title"))
        _refuse_open_checklist(release_page_checklist(session, _chosen_solution(session)))
        folder = _publish(session, (session.home / Path(text).expanduser()))
        session.change(released={**session.choices.released, str(folder): str(session.chosen)})
        return _verify(self.studio, folder, f"Released into {folder.name} and verified from its files.")

    @changes("/release/verify")
    def verify_again(self, request: Request, form: Form) -> Response:
        folder = one(form, "folder")
        if folder not in self.studio.session.choices.released:
            return refusal("only releases made here can be verified here; for others use crypsis verify FOLDER")
        return _verify(self.studio, Path(folder), "Verified again from its files.")


def routes(studio: Studio) -> list[Route]:
    """Choosing, checking, waiving, previewing, exporting, verifying."""
    return routes_of(_ReleasePage(studio))


def _chosen_solution(session: Session) -> Solution | None:
    try:
        return session.solution(session.chosen) if session.has_run and session.chosen is not None else None
    except CrypsisError:
        return None


def _needed_solution(session: Session) -> Solution:
    solution = _chosen_solution(session)
    if solution is None:
        raise PlanError("no solution is chosen; choose one here or on the Explore page")
    return solution


def _candidates(session: Session) -> list[Solution]:
    """Pinned solutions, the offers, and the chosen one."""
    if not session.has_run:
        return []
    front = session.front
    numbers = [
        *session.pins,
        *dict.fromkeys(offer.solution.number for offer in front.offers),
        *([session.chosen] if session.chosen else []),
    ]
    known = {solution.number: solution for solution in front.everything}
    return [known[number] for number in dict.fromkeys(numbers) if number in known]


def _decisions(session: Session) -> ReleaseDecisions:
    choices = session.choices
    waivers = {**session.plan.waivers(), **choices.waivers}
    return ReleaseDecisions(choices.title or f"Protected {session.source.stem}", choices.rulebook, waivers)


def _publish(session: Session, folder: Path, preview: bool = False) -> Path:
    solution = _needed_solution(session)
    decided = _decisions(session)
    session.run.release(
        solution, folder, title=decided.title, rulebook=decided.book(), waivers=decided.waivers, preview=preview
    )
    return folder


def _verify(studio: Studio, folder: Path, message: str) -> Response:
    found = verify(folder)
    parts = {
        "verified": studio.render(
            "verified.html",
            found=found,
            folder=folder,
            over_all=over_all_text(found.smallest_class, found.family, [v.columns for v in found.verdicts]),
        ),
        "folder-field": studio.render("folder.html", folder=studio.release_folder()),
    }
    return answer(message if found.sound else f"{folder.name} is not sound.", parts=parts)
