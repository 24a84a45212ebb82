"""A studio in a process of its own and a browser before it, for the tests of tests/studio."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from crypsis.plan import Plan
from crypsis.plan.document import as_toml
from crypsis.studio import jobs, session
from crypsis.studio.jobs import Job
from crypsis.studio.pages import home
from crypsis.studio.server import build_file
from crypsis.studio.studio import Studio
from crypsis.studio.workspace import REGISTER, Workspace

PATIENCE = 240.0
"""Seconds until a wait is given up: kernels may have to be compiled first, and the machine be busy."""
PROGRAM = (sys.executable, "-c", "from crypsis.cli import main; main()")
MISSING = "no browser: `apt-get install chromium` and `pip install playwright axe-playwright-python` run these tests"


def chromium() -> str:
    """The system's browser; without one the test says in a line what is missing, and fails where it is demanded."""
    found = os.environ.get("CRYPSIS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        import axe_playwright_python  # noqa: F401
        import playwright  # noqa: F401
    except ImportError:
        found = None
    if found is None:
        if os.environ.get("CRYPSIS_BROWSER_REQUIRED"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return found


def small_example(home: Path, budget: str = "2 generations", searches: tuple[str, ...] = ("memetic",)) -> Path:
    """The built-in example with one or a few quick searches, laid out where the studio will find it."""
    folder = home / "example"
    plan = folder / "people-plan.toml"
    session.write_example_for_session(folder, plan, rows=400)
    quicken(plan, budget, *searches)
    return plan


def quicken(plan: Path, budget: str, *searches: str) -> None:
    """Leave one or a few searches in a plan and give them little time."""
    document = tomllib.loads(plan.read_text(encoding="utf-8"))
    document["search"] = [each for each in document["search"] if each["name"] in (searches or ("memetic",))]
    document["run"] = {"budget": budget, "points": 8, "seed": 11}
    plan.write_text(as_toml(Plan.parse(document)), encoding="utf-8")


def whole_studio(studio: Studio) -> Starlette:
    """The pages of one file at the root, beside what opens files."""
    return Starlette(routes=[*home.routes(Workspace(studio.home))[1:], Mount("/", build_file(studio))])


class Server:
    """`crypsis studio` as a person starts it."""

    def __init__(self, home: Path, path: Path | None = None, browser: Path | None = None) -> None:
        self.home = home
        command = [*PROGRAM, "studio", *([str(path)] if path else []), *([] if browser else ["--no-browser"])]
        self.releases = home.with_name(f"{home.name}-releases")
        environment = {
            **os.environ,
            "CRYPSIS_STUDIO_HOME": str(home),
            "CRYPSIS_RELEASES": str(self.releases),
            "BROWSER": str(browser),
        }
        self.errors = home / "server.log"
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=self.errors.open("a"), text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, self.errors.read_text()
        self.address = found[0]
        place = self.address.split("/?")[0]
        self.base = place if "/s/" in place else f"{place}/s/{_first_file(home)}"
        self.pass_: Any = None
        """What a browser that has entered holds."""

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()


def _first_file(home: Path) -> str:
    """The address of the file that a studio opened last."""
    return str(json.loads((home / REGISTER).read_text(encoding="utf-8"))[0]["id"])


@contextmanager
def serving(home: Path, path: Path | None = None, browser: Path | None = None) -> Iterator[Server]:
    server = Server(home, path, browser)
    try:
        yield server
    finally:
        server.stop()


def ended(job: Job) -> None:
    """Wait until a search has ended by itself."""
    ending = time.monotonic() + PATIENCE
    while job.alive:
        assert time.monotonic() < ending, "the search does not end"
        time.sleep(0.05)


def end_searches(home: Path) -> None:
    """Let no search outlive the test that began it."""
    for record in home.rglob(".*.job.json"):
        job = jobs.recorded_job(record.with_name(record.name.removeprefix(".").removesuffix(".job.json")))
        if job is not None and job.alive:
            os.kill(job.pid, signal.SIGKILL)
            ended(job)


def _holds(page: Any, what: str | Callable[[], bool], given: Any) -> bool:
    """Whether it is true now; a page that is just being left or reloaded has no answer yet."""
    from playwright.sync_api import Error

    if callable(what):
        return what()
    try:
        return bool(page.evaluate(what, given))
    except Error as error:
        if not any(words in str(error) for words in ("context was destroyed", "Cannot find context")):
            raise
        return False


def until(page: Any, what: str | Callable[[], bool], given: Any = None, seconds: float = PATIENCE) -> None:
    """Wait until an expression is true in a page (or a function here, while the page goes on).

    Playwright's own waiting evaluates text, which the page's policy forbids.
    """
    ending = time.monotonic() + seconds
    while not _holds(page, what, given):
        assert time.monotonic() < ending, f"still not: {what}"
        page.wait_for_timeout(60)
