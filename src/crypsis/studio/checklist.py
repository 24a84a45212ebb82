"""The checklist of a release; nothing is released while an item fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crypsis.errors import CrypsisError, ReleaseRefused
from crypsis.run import Solution
from crypsis.studio.session import Session
from crypsis.studio.studio import figure
from crypsis.table.attribute import UNPUBLISHED, Role


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
        _undecided(session),
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


def _undecided(session: Session) -> Item:
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
