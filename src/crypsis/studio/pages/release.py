"""The Release page: checklist, findings and rules, both reports, the release and its verification."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from crypsis.errors import CrypsisError, PlanError, TableError
from crypsis.release import verify
from crypsis.release.findings import check_finding_waivers, split_waivers
from crypsis.run import Solution
from crypsis.studio.access import POLICY
from crypsis.studio.forms import Form, one
from crypsis.studio.publishing import (
    ReleaseDecisions,
    checklist,
    findings,
    frame_report,
    fresh_preview,
    refuse_open,
    rules,
)
from crypsis.studio.responses import answer, changes, refusal, routes_of, shows
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio
from crypsis.text import audited_text, finding_text, over_all_text

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
            "items": checklist(session, solution),
            "title": session.choices.title or f"Protected {session.source.stem}",
            "folder": self.studio.release_folder(),
            "released": session.choices.released,
            "rulebook": session.choices.rulebook,
        }

    @shows("/release")
    def page(self, request: Request) -> Response:
        return self.studio.page("release", self.content)

    @shows("/release/rules")
    def checked(self, request: Request) -> Response:
        session = self.studio.session
        solution = _needed_solution(session)
        run = session.run
        decided, masked = _decisions(session), session.masked(solution.number)
        return self.studio.part(
            "rules.html",
            rules=rules(run.plan, masked, run.original, solution, decided),
            audit=(audit := findings(run.plan, masked, run.original, solution.family, decided.waivers, decided.book())),
            findings=[(each, finding_text(each), audit.reason(each)) for each in audit.findings],
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
        return answer("The waivers are saved; the internal report lists them.", go="/release")

    @changes("/release/preview")
    def preview(self, request: Request, form: Form) -> Response:
        session = self.studio.session
        session.change(title=one(form, "title"))
        self.shown["folder"] = _publish(session, fresh_preview(self.studio.home), preview=True)
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
        html, nonce = frame_report((folder / place[0] / place[1]).read_text(encoding="utf-8"))
        policy = POLICY.replace("style-src 'self'", f"style-src 'nonce-{nonce}'")
        return HTMLResponse(html, headers={"content-security-policy": policy})

    @changes("/release/export")
    def export(self, request: Request, form: Form) -> Response:
        session = self.studio.session
        text = one(form, "folder")
        if not text:
            raise PlanError("no folder is given; write the folder of the release")
        session.change(title=one(form, "title"))
        refuse_open(checklist(session, _chosen_solution(session)))
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
        raise PlanError("no solution is chosen; choose one here or on the Front page")
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
