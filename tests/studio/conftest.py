from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from browsing import PATIENCE, Server, chromium, end_searches, ended, serving, small_example
from crypsis.studio import jobs


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield opened
        opened.close()


class Visitor:
    """Browser contexts that reach nothing but the studio, and remember whatever went wrong."""

    def __init__(self, browser: Any) -> None:
        self.browser, self.contexts = browser, []
        self.outside: list[str] = []
        self.errors: list[str] = []

    def context(self, **settings: Any) -> Any:
        context = self.browser.new_context(**settings)
        context.set_default_timeout(1000 * PATIENCE)
        context.route("**/*", self._only_here)
        self.contexts.append(context)
        return context

    def _only_here(self, route: Any) -> None:
        host = urlsplit(route.request.url).hostname or ""
        if (
            host.endswith("localhost")
            or host == "127.0.0.1"
            or route.request.url.startswith(("data:", "blob:", "file:"))
        ):
            route.continue_()
        else:
            self.outside.append(route.request.url)
            route.abort()

    def page(self, context: Any) -> Any:
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.errors.append(line.text) if line.type in ("error", "warning") else None)
        return page

    def enter(self, server: Server, **settings: Any) -> Any:
        """A new browser window on the studio's first page."""
        page = self.page(self.context(**settings, storage_state=server.pass_))
        if server.pass_ is None:
            page.goto(server.address)
        page.goto(server.base)
        page.wait_for_selector("body[data-ready]")
        server.pass_ = page.context.storage_state()
        return page

    def session(self, page: Any, pinned: bool = False) -> int:
        """The session as if nobody had chosen anything, or with the default pinned and chosen; gives its number.

        Asked from a page beside it: the page itself is loaded again when a run has been read.
        """
        beside = page.context.new_page()
        base = "/".join(page.url.split("/")[:5])
        beside.goto(f"{base}/head")
        found = beside.evaluate(
            """async ([pinned, base]) => {
                const content = await (await fetch(base + '/explore.json')).json();
                const post = (path, fields) => fetch(base + path, {method: 'POST', body: new URLSearchParams(fields)});
                for (const number of content.pins) await post(`/unpin/${number}`);
                await post('/limits', {loss: 100, risk: 100});
                await post(`/choose/${content.default}`);
                if (pinned) await post(`/pin/${content.default}`);
                return content.default;
            }""",
            [pinned, base],
        )
        beside.close()
        return int(found)


@pytest.fixture
def visitor(browser: Any) -> Iterator[Visitor]:
    made = Visitor(browser)
    yield made
    for context in made.contexts:
        context.close()
    assert made.outside == []
    expected = ("the server responded with a status of 4", "net::ERR_")  # a refusal, or a server ended, on purpose
    assert [text for text in made.errors if not any(each in text for each in expected)] == []


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("studio")
    folder.chmod(0o700)
    small_example(folder)
    yield folder
    end_searches(folder)


@pytest.fixture
def own_home(tmp_path: Path) -> Iterator[Path]:
    """A studio's folder for one test; no search begun there outlives it."""
    yield tmp_path
    end_searches(tmp_path)


@pytest.fixture(scope="session")
def finished(home: Path) -> Path:
    """The example with a search that has ended."""
    with serving(home):
        run = home / "example" / "people-plan-run"
        job = jobs.recorded_job(run)
        assert job is not None
        ended(job)
    return home


@pytest.fixture(scope="session")
def server(finished: Path) -> Iterator[Server]:
    """A studio on the finished example, for every test that leaves the session as it was."""
    with serving(finished) as started:
        yield started
