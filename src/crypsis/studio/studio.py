"""The studio: the session in use, rendering of pages, and the head and foot of every page."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.responses import HTMLResponse, Response

from crypsis.errors import CrypsisError, TableError
from crypsis.home import state_home
from crypsis.plan import read_plan_budget
from crypsis.plan.sections import models
from crypsis.run.choosing import DEFAULT_PICK
from crypsis.studio import jobs
from crypsis.studio.session import EXAMPLE, Session
from crypsis.studio.terms import TERMS, limit_text
from crypsis.table.atomic_files import private_folder
from crypsis.table.attribute import Role
from crypsis.text import burden_text_of_card, class_size_text, column_text, intruder_text, omission_text_on_card
from crypsis.text.reports import count_text, figure_text, integer_text, percent_text


def studio_home() -> Path:
    """The studio's own folder, private to the user: the example and uploads."""
    given = os.environ.get("CRYPSIS_STUDIO_HOME")
    try:
        folder = Path(given) if given else state_home() / "studio"
        private_folder(folder).chmod(0o700)
    except (OSError, RuntimeError) as error:  # RuntimeError: this user has no home
        raise TableError(
            f"the studio has no folder of its own ({error}); name one it may write to in CRYPSIS_STUDIO_HOME "
            "or CRYPSIS_HOME"
        ) from None
    return folder


RELEASES = "CRYPSIS_RELEASES"
"""Environment variable with the folder for releases of uploads and of the example."""


def releases_of_copies() -> Path:
    """Where releases of uploads and of the example are written, which have no folder of the user's own."""
    named = os.environ.get(RELEASES)
    try:
        return Path(named).expanduser() if named else Path.home() / "crypsis-releases"
    except RuntimeError:  # this user has no home
        raise TableError(f"this user has no home folder for releases; name a folder in {RELEASES}") from None


# -- The studio: the session in use, rendering of pages, and the head and foot of every page.

PAGES = (("data", "/data", "Data"), ("goal", "/goal", "Goal"), ("explore", "/explore", "Explore"),
         ("release", "/release", "Release"))  # fmt: skip


def group_digits(text: str) -> str:
    """A sentence with its whole numbers of four digits and more written as counts: 5 190."""
    return re.sub(r"(?<![\w.,-])\d{4,}(?![\w.,-]*\d)", lambda found: count_text(int(found[0])), text)


def templates() -> Environment:
    """The templates of all pages, with the words and figures they print."""
    environment = Environment(
        loader=PackageLoader("crypsis.studio"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "figure": figure_text, "count": count_text, "whole": integer_text, "percent": percent_text,
        "omission": omission_text_on_card,
        "column_text": column_text, "class_size_text": class_size_text, "burden_text": burden_text_of_card,
        "intruder": intruder_text, "grouped": group_digits,
    }  # fmt: skip
    environment.filters |= filters
    environment.globals |= {"terms": TERMS, "models": models}
    return environment


CHANGED = "The plan was changed since this search: start again."


class Studio:
    """The pages of one file: its session, and what all requests about it share."""

    def __init__(self, home: Path, session: Session, address: str = "") -> None:
        self.home, self.session, self.address = home, session, address
        self.opened = 1
        self.leaving: Callable[[], bool] = lambda: False
        self.environment = templates()

    # -- pages --

    def page(self, name: str, content: Callable[[], Mapping[str, Any]], template: str = "") -> Response:
        """A page with head and foot; its version is read before its content, which may have a foot of its own."""
        version = self.revision()
        more = {"here": name, "pages": PAGES, "version": version, "head": self.head(), "foot": self.foot(name)}
        return HTMLResponse(self.render(template or f"{name}.html", **{**more, **content()}))

    def part(self, template: str, **content: Any) -> Response:
        """A part of a page."""
        return HTMLResponse(self.render(template, **content))

    def render(self, template: str, **content: Any) -> str:
        """A template filled with content."""
        return self.environment.get_template(template).render({"base": self.address, **content})

    def head(self) -> dict[str, Any]:
        """File, rules, choices and status of the search."""
        session = self.session
        seen = session.reading.profile
        return {
            "file": session.source.name,
            "example": session.home == self.home / EXAMPLE,
            "rows": seen.rows if seen else None,
            "reading": not session.reading.done,
            "problem": session.reading.problem,
            "rules": self._rules(),
            "pins": session.pins,
            "chosen": session.chosen,
            "status": self.status(),
        }

    def _rules(self) -> dict[str, Any]:
        session = self.session
        if not session.plan_path.exists():
            return {"words": "no rules yet", "state": "open", "meaning": TERMS["plan"]}
        try:
            plan = session.plan
            demands = len(plan.models()) + len(plan.limit) + sum(use.treated_as == "limit" for use in plan.use)
            words = f"{demands} demand{'s' if demands != 1 else ''}"
            listed = [models.name_of(each) for each in plan.models()] + [limit_text(each) for each in plan.limit]
            listed += [use.title for use in plan.use if use.treated_as == "limit"]
            meaning = f"What the plan demands: {', '.join(listed)}." if listed else "The plan demands nothing yet."
            number = session.chosen
            if number is None or not session.has_run:
                return {"words": f"{words}, no solution chosen", "state": "open", "meaning": meaning}
            broken = len(session.solution(number).evaluation.complaints)
        except CrypsisError:
            return {"words": "the plan needs attention", "state": "bad", "meaning": TERMS["plan"]}
        if broken:
            return {"words": f"solution {number} breaks {broken} of {words}", "state": "bad", "meaning": meaning}
        kept = f"all {words}" if demands > 1 else "what is demanded"
        return {"words": f"solution {number} keeps {kept}", "state": "good", "meaning": meaning}

    def foot(self, name: str) -> dict[str, str]:
        """The plan, and the command that does what the page does."""
        session = self.session
        plan = session.plan_path
        text = plan.read_text(encoding="utf-8") if plan.exists() else ""
        folder = session.run_folder
        run = str(folder) if folder is not None else f"{plan.with_suffix('')}-run"
        commands = {
            "data": ["init", str(session.source), "--out", str(plan)],
            "goal": ["check", str(plan)],
            "explore": jobs.start_job_command(plan, Path(run)) if not session.has_run else ["front", run],
            "release": self.release_command(Path(run)),
        }
        return {"plan": text, "command": jobs.job_command_as_typed(commands[name]), "path": plan.name}

    def release_command(self, run: Path) -> list[str]:
        """The command that makes the release."""
        session = self.session
        choices = session.choices
        picked = str(session.chosen or DEFAULT_PICK)
        command = ["release", str(run), "--pick", picked, "--out", str(self.release_folder())]
        command += ["--title", choices.title] if choices.title else []
        command += ["--rulebook", choices.rulebook] if choices.rulebook else []
        for rule, reason in choices.waivers.items():
            command += ["--waive", f"{rule}={reason}"]
        return command

    def release_folder(self) -> Path:
        """The first free name for a release: beside the file, or where releases of copies are written."""
        session, number = self.session, 2
        own = session.home.resolve().is_relative_to(self.home.resolve())
        place = releases_of_copies() if own else session.source.parent
        stem = session.plan_path.stem.removesuffix("-plan")
        taken = {each.folder for each in session.choices.releases}
        folder = place / f"{stem}-release"
        while folder.exists() or str(folder) in taken:
            folder = place / f"{stem}-release-{number}"
            number += 1
        return folder

    # -- status --

    def status(self) -> dict[str, Any]:
        """The state of the search, in words and figures."""
        session = self.session
        if not session.reading.done:
            return {"state": "reading", "words": f"Reading {session.source.name} …", "level": "open", "used": None}
        found = jobs.run_state(session.run_folder, session.run_status() if session.has_run else None)
        changed = session.outdated
        words = CHANGED if found.state != "running" else f"{found.words}. {CHANGED}"
        return {
            "state": found.state,
            "words": words if changed else found.words,
            "level": "look" if changed else found.level,
            "outdated": changed,
            "used": _share(found.status.elapsed, found.status.budget) if found.state == "running" else None,
            "budget": found.status.budget,
        }

    def first_page(self) -> str:
        """The page on which work continues: Data while a column is undecided or there is no search, then the front."""
        if self.session.run_folder is None:
            return "/data"
        undecided = [name for name, column in self.session.plan.columns.items() if column.role is Role.UNDECIDED]
        return "/data" if undecided else "/explore"

    def revision(self) -> str:
        """A version that changes whenever something on a page may change."""
        session = self.session
        parts: list[Any] = [self.opened, session.reading.done]
        parts += [*session.stamps(), session.choices.run]
        if session.has_run:
            seen = session.run_status()
            parts += [seen.solutions, seen.finished, seen.steered, session.steering_stamp()]
        return "-".join(map(str, parts))


def _share(elapsed: float, budget: str | None) -> float | None:
    seconds = read_plan_budget(budget).seconds if budget else float("inf")
    return min(1.0, elapsed / seconds) if seconds != float("inf") else None
