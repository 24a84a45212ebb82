"""Wishes about columns: each starts a child of the running search, and undoing one goes back to the parent."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from crypsis.errors import PlanError, SearchError, TableError, unknown_column
from crypsis.plan import Plan
from crypsis.plan.checking import search_obstacles
from crypsis.run.steering import SteeringLog, fold_entries
from crypsis.run.store import PLAN
from crypsis.studio import jobs
from crypsis.studio.session import Session

Wish = Literal["lock", "spare", "cap", "free"]
WISHES = ("lock", "importance", "at_most")
"""Settings of a column that a wish changes."""
SPARED, MOST = 2.0, 5.0
"""A spared column counts so many times as much as before, up to the most that a plan allows."""


def wish_for_column(session: Session, column: str, wish: str, most: float | None = None) -> str:
    """Change a column in the plan and start a child of the search; returns a message.

    `wish`: lock (published as collected), spare (counts twice as much), cap (loses at most so many per cent) or free
    (none of these). Nothing is changed where the plan or one of its searches does not allow it.
    """
    parent = session.run_folder
    if parent is None or not session.has_run:
        raise SearchError("there is no search yet whose solutions could be taken along; press Start")
    if session.outdated:
        raise SearchError("the plan was changed since this search: start again, then change columns")
    document = session.document
    settings = document["columns"].get(column)
    if settings is None:
        raise TableError(unknown_column([column], document["columns"]))
    words = _change_column(settings, column, wish, most)
    plan, problems = Plan.understand(document)
    if plan is None or problems:
        raise PlanError("\n".join(problems))
    if obstacles := search_obstacles(plan, session.reading.table(plan, session.home)):
        raise SearchError("\n".join(obstacles))
    jobs.stop(parent, 0.0)
    session.save(document)
    child = session.new_run()
    budget = session.run_status().budget
    command = [*jobs.start_job_command(session.plan_path, child), "--from", str(parent)]
    jobs.start(child, [*command, *(["--budget", budget] if budget else [])])
    choices = session.choices
    session.change(
        run=child.name,
        parents={**choices.parents, child.name: parent.name},
        wishes={**choices.wishes, child.name: words},
    )
    return f"{words[0].upper()}{words[1:]}. A new search begins with the solutions that still hold; Undo goes back."


def _change_column(settings: dict[str, Any], column: str, wish: str, most: float | None) -> str:
    """Change the settings of a column by a wish; returns it in words."""
    if wish == "lock":
        settings.pop("at_most", None)
        settings["lock"] = True
        return LOCKED.format(column)
    if wish == "spare":
        settings["importance"] = min(MOST, SPARED * float(settings.get("importance", 1.0)))
        return COUNTED.format(column, settings["importance"])
    if wish == "cap" and most is not None and 0.0 <= most <= 100.0:
        settings.pop("lock", None)
        settings["at_most"] = most
        return CAPPED.format(column, most)
    if wish == "free":
        for name in WISHES:
            settings.pop(name, None)
        return f"{column} is masked like any other"
    raise PlanError(f"{column}: a cap is a number from 0 to 100, the per cent of the column that may be lost")


LOCKED, CAPPED = "{} stays as collected", "{} loses at most {:g} %"
COUNTED = "what {} loses counts {:g} times"


def wishes_in_plan(plan: Plan) -> list[str]:
    """What a plan wishes of single columns, in the words of the wishes that would have led to it."""
    return [
        words
        for name, column in plan.columns.items()
        for words, wished in (
            (LOCKED.format(name), column.lock),
            (CAPPED.format(name, column.at_most or 0.0), column.at_most is not None),
            (COUNTED.format(name, column.importance), column.importance != 1.0),
        )
        if wished
    ]


def undo_last(session: Session) -> str:
    """Undo the last entry in force of the running search, or go back to its parent; returns a message."""
    folder = session.run_folder
    if folder is not None and fold_entries(SteeringLog(folder).read()).entries:
        session.run.steer("undo")
        return "The last change is undone at the next step of the search."
    parent = session.choices.parents.get(session.choices.run, "")
    if not parent:
        raise SearchError("there is nothing to undo")
    if session.has_run and session.outdated:
        raise SearchError("the plan was changed since this search began; change it back on the Goal page, then undo")
    return _go_back(session, session.home / parent)


def _go_back(session: Session, parent: Path) -> str:
    """Continue the parent of a search, with the columns of its plan."""
    if not (parent / PLAN).is_file():
        raise SearchError(f"{parent.name}: the folder of the earlier search is gone, so there is no way back")
    before = tomllib.loads((parent / PLAN).read_text(encoding="utf-8")).get("columns", {})
    document = session.document
    for name, settings in document["columns"].items():
        for key in WISHES:
            settings.pop(key, None)
            if key in before.get(name, {}):
                settings[key] = before[name][key]
    problems = session.save(document)
    if problems:
        raise PlanError("\n".join(problems))
    if session.run_folder is not None:
        jobs.stop(session.run_folder, 0.0)
    session.change(run=parent.name)
    if not session.run_status().finished and not jobs.is_running(parent):
        session.start()
        return "Undone: the earlier search continues."
    return "Undone: this is the earlier search again."
