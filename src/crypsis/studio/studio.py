"""The studio itself: the desk in use, how a page is drawn, and what every page says in its head and foot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.responses import HTMLResponse, Response

from crypsis.errors import CrypsisError
from crypsis.plan import read_budget
from crypsis.studio import jobs
from crypsis.studio.run_status import Glance
from crypsis.studio.session import Desk
from crypsis.studio.vega import Bundle

PAGES = (("data", "/data", "Data"), ("goal", "/goal", "Goal"), ("front", "/", "Front"),
         ("compare", "/compare", "Compare"), ("release", "/release", "Release"))  # fmt: skip


class Studio:
    """What all requests share."""

    def __init__(self, home: Path, desk: Desk) -> None:
        self.home, self.desk = home, desk
        self.opened = 1
        self.leaving: Callable[[], bool] = lambda: False
        self.bundle = Bundle(home)
        self.bundle.prepare()
        self.environment = Environment(
            loader=PackageLoader("crypsis.studio"),
            autoescape=select_autoescape(default=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.environment.filters |= {"figure": figure, "count": count, "whole": whole, "percent": percent}

    def put_on_desk(self, desk: Desk) -> None:
        self.desk = desk
        self.opened += 1

    # -- pages --

    def page(self, name: str, content: Callable[[], Mapping[str, Any]]) -> Response:
        """A whole page with head and foot; it names the state before which nothing on it was read."""
        version = self.revision()
        more = {"here": name, "pages": PAGES, "version": version, "head": self.head(), "foot": self.foot(name)}
        return HTMLResponse(self.render(f"{name}.html", **more, **content()))

    def part(self, template: str, **content: Any) -> Response:
        """A piece of a page."""
        return HTMLResponse(self.render(template, **content))

    def render(self, template: str, **content: Any) -> str:
        return self.environment.get_template(template).render(content)

    def head(self) -> dict[str, Any]:
        """File, rule status and choices made."""
        desk = self.desk
        seen = desk.reading.profile
        return {
            "file": desk.source.name,
            "rows": seen.rows if seen else None,
            "reading": not desk.reading.done,
            "problem": desk.reading.problem,
            "rules": self._rules(),
            "pins": desk.pins,
            "chosen": desk.chosen,
            "status": self.status()["words"],
        }

    def _rules(self) -> dict[str, Any]:
        desk = self.desk
        if not desk.plan_path.exists():
            return {"words": "no rules yet", "state": "open"}
        try:
            plan = desk.plan
            demands = len(plan.models()) + len(plan.limit) + sum(use.treated_as == "limit" for use in plan.use)
            words = f"{demands} demand{'s' if demands != 1 else ''}"
            number = desk.chosen
            if number is None or not desk.has_run:
                return {"words": f"{words}, no solution chosen", "state": "open"}
            broken = len(desk.solution(number).measured.complaints)
        except CrypsisError:
            return {"words": "the plan needs attention", "state": "bad"}
        if broken:
            return {"words": f"solution {number} breaks {broken} of {words}", "state": "bad"}
        kept = f"all {words}" if demands > 1 else "what is demanded"
        return {"words": f"solution {number} keeps {kept}", "state": "good"}

    def foot(self, name: str) -> dict[str, str]:
        """The plan as it stands and the command that does the same."""
        desk = self.desk
        plan = desk.plan_path
        text = plan.read_text(encoding="utf-8") if plan.exists() else ""
        folder = desk.run_folder
        run = str(folder) if folder is not None else f"{plan.with_suffix('')}-run"
        pins = [*map(str, desk.pins)]
        commands = {
            "data": ["init", str(desk.source), "--out", str(plan)],
            "goal": ["check", str(plan)],
            "front": jobs.run_command(plan, Path(run)) if not desk.has_run else ["front", run],
            "compare": ["compare", run, *(pins[:2] if len(pins) > 1 else ["knee", "best"])],
            "release": self.release_command(Path(run)),
        }
        return {"plan": text, "command": jobs.as_typed(commands[name]), "path": plan.name}

    def release_command(self, run: Path) -> list[str]:
        desk = self.desk
        choices = desk.choices
        command = ["release", str(run), "--pick", str(desk.chosen or "knee"), "--out", str(self.release_folder())]
        command += ["--title", choices.title] if choices.title else []
        command += ["--rulebook", choices.rulebook] if choices.rulebook else []
        for rule, reason in choices.waivers.items():
            command += ["--waive", f"{rule}={reason}"]
        return command

    def release_folder(self) -> Path:
        """The first free name for a release beside the data."""
        stem, number = self.desk.plan_path.stem.removesuffix("-plan"), 2
        folder = self.desk.home / f"{stem}-release"
        while folder.exists():
            folder = self.desk.home / f"{stem}-release-{number}"
            number += 1
        return folder

    # -- how it stands --

    def status(self) -> dict[str, Any]:
        """The search in words and figures."""
        desk = self.desk
        folder = desk.run_folder
        if not desk.reading.done:
            return {"state": "reading", "words": f"Reading {desk.source.name} …", "used": None}
        if folder is None:
            return {"state": "none", "words": "No search yet.", "used": None}
        going = jobs.running(folder)
        if not desk.has_run:
            known = jobs.job(folder)
            if going:
                return {"state": "running", "words": "The search is starting …", "used": 0.0}
            told = known.complaint() if known else ""
            return {"state": "failed", "words": told or "The search ended before it wrote anything.", "used": None}
        return self._of_run(folder, desk.glance(), going)

    @staticmethod
    def _of_run(folder: Path, seen: Glance, going: bool) -> dict[str, Any]:
        told = f"{seen.solutions} solutions measured, {seen.evaluations} candidates tried in {seen.elapsed:.0f} s"
        state = "running" if going else "finished" if seen.finished else "paused"
        words = {
            "running": f"Searching: {told}",
            "finished": f"Finished: {told}.",
            "paused": f"Paused, nothing is lost: {told}.",
        }[state]
        known = jobs.job(folder)
        complaint = known.complaint() if known and state == "paused" else ""
        return {
            "state": "failed" if complaint else state,
            "words": complaint or words,
            "used": _share(seen.elapsed, seen.budget) if going else None,
            "budget": seen.budget,
        }

    def revision(self) -> str:
        """Changes whenever something on a page may have."""
        desk = self.desk
        parts: list[Any] = [self.opened, desk.reading.done]
        parts += [*desk.stamps(), desk.choices.run]
        if desk.has_run:
            seen = desk.glance()
            parts += [seen.solutions, seen.finished]
        return "-".join(map(str, parts))


def _share(elapsed: float, budget: str | None) -> float | None:
    seconds = read_budget(budget).seconds if budget else float("inf")
    return min(1.0, elapsed / seconds) if seconds != float("inf") else None


def figure(value: Any) -> str:
    """Three or four digits for the eye; a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e9 else f"{value:.3g}"
    return str(value)


def percent(value: float | None) -> str:
    """One digit behind the point, so that columns line up; what is almost nothing is not called nothing."""
    if value is None:
        return "–"
    return "<0.1" if 0 < value < 0.05 else f"{value:.1f}"


def whole(value: float) -> str:
    return count(round(value))


def count(value: int) -> str:
    """1 000 000, with narrow spaces."""
    return f"{value:,}".replace(",", "\u202f")
