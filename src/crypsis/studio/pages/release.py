"""Preparation of a release: the checklist, what the file reveals by column, rules, previews, and the release itself."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crypsis.errors import CrypsisError, PlanError, ReleaseRefused, TableError, listing
from crypsis.release.findings import SHORTEST_REASON
from crypsis.release.ledger import LedgerEntry
from crypsis.rulebook import Rulebook, RuleResult, read_rulebook
from crypsis.rulebook.rules import ColumnsRule
from crypsis.run import Solution
from crypsis.studio.columns import decide
from crypsis.studio.forms import Form, one
from crypsis.studio.pages.goal import answer_goal_question, goal_questions
from crypsis.studio.responses import answer, changes, refusal, respond_with_page, routes_of, shows
from crypsis.studio.session import MadeRelease, Session
from crypsis.studio.solution_audit import ColumnFindings, group_findings, join_answered
from crypsis.studio.studio import Studio
from crypsis.studio.terms import limit_text
from crypsis.table.atomic_files import private_folder
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.readers.formats import WrittenFormat
from crypsis.text import audited_text
from crypsis.text.reports import figure_text, percent_text


@dataclass(frozen=True)
class ReleaseDecisions:
    """Title, rulebook and reasons of a release."""

    title: str
    rulebook: str = ""
    waivers: Mapping[str, str] = field(default_factory=dict)

    def book(self) -> Rulebook | None:
        """The rulebook, if one is chosen."""
        return read_rulebook(self.rulebook) if self.rulebook else None


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
    link: str = ""  # where it is mended, and what to call that
    link_words: str = ""
    level: str = ""  # another level than that of an item that holds or fails

    @property
    def shown(self) -> str:
        """The level in which the page shows it."""
        return self.level or ("good" if self.holds else "stop")


def release_page_checklist(session: Session, solution: Solution | None) -> list[Item]:
    """The studio's Release page: the checklist of a chosen solution, as far as no decoding is needed."""
    if solution is None:
        return [Item("A solution is chosen", False, "choose one above", "/explore", "Look at the solutions")]
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
        items = [Item("A privacy model or a risk limit is demanded", demanded, "say what must hold", "/goal", "Goal")]
    return [*items, *_limits(session, solution), *_uses(session, solution), *_other_complaints(solution)]


def _limits(session: Session, solution: Solution) -> list[Item]:
    """The limits of the plan, with what the solution attains."""
    broken = {each.subject for each in solution.evaluation.complaints if each.kind == "limit"}
    items = []
    for each in session.run.plan.limit:
        unit, found = " %" if each.in_per_cent else "", solution.figure(each.measure)
        attained = "not measured" if found is None else f"{figure_text(found)}{unit} attained"
        items.append(Item(limit_text(each), each.measure not in broken, attained))
    return items


def _uses(session: Session, solution: Solution) -> list[Item]:
    """The declared uses: a limit must be kept; an aim is told beside its tolerance and stops nothing."""
    broken = {each.subject for each in solution.evaluation.complaints if each.kind == "use"}
    items = []
    for use in session.run.plan.use:
        found, limited = solution.figure(use.title), use.treated_as == "limit"
        change = "not measured" if found is None else f"its answers come {figure_text(found)} % apart"
        told = f"{change}, {figure_text(use.tolerance)} % {'allowed' if limited else 'tolerated; an aim, not a demand'}"
        within = found is None or found <= use.tolerance
        items.append(
            Item(use.title, use.title not in broken, told, level="" if within or use.title in broken else "look")
        )
    return items


def _other_complaints(solution: Solution) -> list[Item]:
    """What else may not be: too many records left out, or a masking that gives class sizes no meaning."""
    pairs = zip(solution.evaluation.complaints, solution.complaints, strict=True)
    others = [Item("Suppression and method", False, text) for each, text in pairs if each.kind in OTHER_COMPLAINTS]
    share = solution.figure("suppressed")
    return others or [Item("Records left out", True, f"{percent_text(share or 0.0)} %")]


OTHER_COMPLAINTS = ("no-model", "suppression")


def _agreement(session: Session) -> Item:
    outdated = session.outdated
    words = "the plan was changed since; start a new search to use it" if outdated else "the run follows this plan"
    return Item("Plan and search agree", not outdated, words)


def _check_undecided(session: Session) -> Item:
    """Every column of the run has a role."""
    open_ = [name for name, column in session.run.plan.columns.items() if column.role is Role.UNDECIDED]
    found = f"undecided: {', '.join(open_)}" if open_ else "all columns have a role"
    return Item("Somebody decided about every column", not open_, found, "/data#questions", "Answer the questions")


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


# -- The Release page: checklist, findings and rules, both reports, the release.

REPORTS = {"internal": ("internal", "report.html"), "external": ("public", "report.html")}
DECISIONS = {
    "leave-out": (Role.IDENTIFIER, "is left out of the release"),
    "protect": (Role.QUASI_IDENTIFIER, "is masked with the other quasi-identifiers"),
    "confidential": (Role.CONFIDENTIAL, "is confidential"),
}
"""What the buttons of a column decide: its role, and what then happens to it."""


class _ReleasePage:
    """Choosing, checking, accepting with a reason, deciding about columns, previewing, releasing."""

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
            "outdated": session.outdated,
            "title": session.choices.title or f"Protected {session.source.stem}",
            "folder": self.studio.release_folder(),
            "formats": get_args(WrittenFormat),
            "format": session.run.plan.release.format if solution is not None else "",
            "releases": list(enumerate(session.choices.releases, 1)),
            "rulebook": session.choices.rulebook,
        }

    @shows("/release")
    def page(self, request: Request) -> Response:
        return self.studio.page("release", self.content)

    @shows("/release/rules")
    def show_rules(self, request: Request) -> Response:
        session = self.studio.session
        solution, decided = _needed_solution(session), _decisions(session)
        found = session.audits.of(solution.number)
        audit, book = found.findings(decided.waivers), decided.book()
        cards, rules = group_findings(audit, session.plan), found.rules(book, decided.waivers)
        single, joined = join_answered(cards)
        return self.studio.part(
            "rules.html",
            cards=cards,
            single=single,
            joined=joined,
            blocking=_count_blocking(cards, rules),
            rules=rules,
            book=book,
            audited=audited_text(audit),
            waivable={rule.id for rule in book.rule if rule.waivable} if book else set(),
            waivers=decided.waivers,
            forbidden={
                rule.id: rule.find_forbidden(found.published.names)
                for rule in (book.rule if book else ())
                if isinstance(rule, ColumnsRule)
            },
            releases=list(enumerate(session.choices.releases, 1)),
            elsewhere=_list_releases_elsewhere(session, found.earlier),
        )

    @changes("/release/accept")
    def accept(self, request: Request, form: Form) -> Response:
        """Accept what was found about columns, or a rule that is not kept, with a reason, or take it back.

        One reason is given for all that was found about the columns.
        """
        session = self.studio.session
        back, rule = one(form, "do") == "take-back", one(form, "rule")
        reason = "" if back else one(form, "reason")
        keys: tuple[str, ...]
        if rule:
            keys, what = (rule,), "the rule"
        else:
            cards = [_card(session, name) for name in form.get("column", ("",))]
            keys, what = tuple(key for card in cards for key in card.keys), listing([card.column for card in cards])
        if not back and len(reason) < SHORTEST_REASON:
            raise PlanError(f"{what}: write the reason in words, e.g. known to nobody outside the office")
        book = _decisions(session).book()
        if rule and reason and book is not None:
            book.check_waivers({rule: reason})
        kept = {key: said for key, said in session.choices.waivers.items() if key not in keys}
        session.change(waivers=kept | (dict.fromkeys(keys, reason) if reason else {}))
        message = (
            f"{what}: accepted; the internal report gives the reason." if reason else f"{what}: no longer accepted."
        )
        return answer(message, parts={"reveals": self._reveals(request)})

    @changes("/release/decide")
    def decide(self, request: Request, form: Form) -> Response:
        """Give a column another role or demand, as the finding about it proposes; a new search is then needed."""
        session, name, reason = self.studio.session, one(form, "column"), one(form, "reason")
        if one(form, "do") == "diversity":
            problems = demand_diversity(session, name)
            message = f"Every class is to hold two values of {name}. A new search is needed before a release."
            return refusal(*problems) if problems else answer(message, go=f"{self.studio.address}/release")
        role, happens = DECISIONS.get(one(form, "do"), (None, ""))
        if role is None:
            raise PlanError(f"there is no such decision; choose one of {', '.join(DECISIONS)}")
        if role is Role.CONFIDENTIAL and len(reason) < SHORTEST_REASON:
            raise PlanError(f"{name}: write first why nobody outside knows it, in the field of the column")
        problems = decide(session, [name], role, reason if role is Role.CONFIDENTIAL else "")
        if problems:
            return refusal(*problems)
        return answer(
            f"{name} {happens}. A new search is needed before a release.", go=f"{self.studio.address}/release"
        )

    @changes("/release/preview")
    def preview(self, request: Request, form: Form) -> Response:
        session = self.studio.session
        session.change(title=one(form, "title"))
        self.shown["folder"] = _publish(session, _fresh_preview(self.studio.home), _format(form), preview=True)
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
        return respond_with_page(folder / place[0] / place[1])

    @changes("/release/export")
    def export(self, request: Request, form: Form) -> Response:
        session = self.studio.session
        text = one(form, "folder")
        if not text:
            raise PlanError("no folder is given; write the folder of the release")
        session.change(title=one(form, "title"))
        _refuse_open_checklist(release_page_checklist(session, _chosen_solution(session)))
        folder = (session.source.parent / Path(text).expanduser()).absolute()
        _refuse_hidden(folder, self.studio.home)
        _publish(session, folder, _format(form))
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        made = MadeRelease(str(folder), session.chosen or 0, _decisions(session).title, now)
        number = len(session.change(releases=(*session.choices.releases, made)).releases)
        return answer(f"Released into {folder.name}.", go=f"{self.studio.address}/release/{number}")

    def _reveals(self, request: Request) -> str:
        return bytes(self.show_rules(request).body).decode()


def routes(studio: Studio) -> list[Route]:
    """Choosing, checking, accepting with a reason, deciding about columns, previewing, releasing."""
    return routes_of(_ReleasePage(studio))


def count_stops(session: Session, number: int) -> int | None:
    """Findings and rules that stop the release of a solution; None while it is not audited yet."""
    found = session.audits.made_of(number)
    if found is None:
        return None
    decided = _decisions(session)
    book = decided.book()
    return _count_blocking(
        group_findings(found.findings(decided.waivers), session.plan), found.rules(book, decided.waivers)
    )


def _list_releases_elsewhere(session: Session, earlier: Sequence[LedgerEntry]) -> list[str]:
    """Folders of earlier releases of the same source that were not made from this copy of it."""
    own = {str(Path(each.folder).resolve()) for each in session.choices.releases}
    return [Path(each.folder).name for each in earlier if each.folder not in own and not each.withdrawn]


def _count_blocking(cards: Sequence[ColumnFindings], rules: Sequence[RuleResult]) -> int:
    return sum(card.state == "blocks" for card in cards) + sum(not rule.passed for rule in rules)


def _card(session: Session, column: str) -> ColumnFindings:
    audit = session.audits.of(_needed_solution(session).number).findings(_decisions(session).waivers)
    for card in group_findings(audit, session.plan):
        if card.column == column and card.keys:
            if card.undecided:
                raise PlanError(f"{column}: nobody decided about it yet; answer the question about it on the Data page")
            return card
    raise PlanError(f"nothing that stops a release was found about {column!r}; load the page again")


def _format(form: Form) -> WrittenFormat | None:
    """The format of the data that was chosen; None: that of the plan."""
    chosen = one(form, "format")
    if chosen and chosen not in get_args(WrittenFormat):
        raise PlanError(f"there is no format {chosen!r}; formats: {', '.join(get_args(WrittenFormat))}")
    return cast(WrittenFormat, chosen) if chosen else None


def _refuse_hidden(folder: Path, home: Path) -> None:
    """Refuse a release where nobody finds it again, and where it is deleted with the copy of a file."""
    if folder.resolve().is_relative_to(home.resolve()):
        raise PlanError("a release is not written into the studio's own folder, which is hidden; name another folder")


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


def _publish(session: Session, folder: Path, format: WrittenFormat | None, preview: bool = False) -> Path:
    solution = _needed_solution(session)
    decided = _decisions(session)
    private_folder(folder.parent)
    session.run.release(
        solution, folder, title=decided.title, rulebook=decided.book(), waivers=decided.waivers, preview=preview,
        format=format,
    )  # fmt: skip
    return folder


def demand_diversity(session: Session, name: str) -> list[str]:
    """Demand that every class holds two values of one more column; returns the problems of the plan."""
    with session.lock:
        demanded = goal_questions(session)
        hidden = [each for each, on in demanded["confidential"] if on]
        form = {"do": ["l"], "l": [str(demanded["l"] or 2)], "confidential": [*hidden, name]}
        changed, _ = answer_goal_question(session, form)
        return session.save(changed)
