"""From a file to a verified release with a browser, as a custodian does it.

Every wait is for something that stays: a sentence that fades after some seconds may be missed on a busy machine.
"""

from __future__ import annotations

import http.server
import os
import signal
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browsing import Server, end_searches, ended, quicken, serving, small_example, until
from crypsis.release import verify
from crypsis.studio import jobs

READY = "body[data-ready]"
IDLE = "document.querySelectorAll('[aria-busy=true]').length === 0"
PINNED = "number => document.getElementById('head-pins').textContent.split(', ').includes(String(number))"
UNPINNED = PINNED.replace("=> document", "=> !document")
POINTS = "fetch(document.body.dataset.base + '/explore.json').then(r => r.json()).then(c => c.points.length)"


def go(page: Any, server: Server, path: str = "/explore") -> None:
    page.goto(server.base + path)
    page.wait_for_selector(READY)


def wait_words(page: Any, start: str) -> None:
    until(page, "start => document.getElementById('search-words')?.textContent.startsWith(start)", start)


def tab_to(page: Any, selector: str, most: int = 120) -> None:
    """Press Tab until the element has the focus."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab")


def test_from_file_to_verified_release(own_home: Path, visitor: Any) -> None:
    plan = small_example(own_home)
    plan.write_text("# Agreed with the data protection officer.\n" + plan.read_text(), encoding="utf-8")
    with serving(own_home) as server:
        page = visitor.enter(server)
        assert page.url == server.base + "/explore"  # the token has left the address
        wait_words(page, "Finished")

        go(page, server, "/data")
        columns = lambda: tomllib.loads(plan.read_text())["columns"]  # noqa: E731
        page.click("tr[data-column=hours] [data-preview]")
        page.fill("#builder-with", "10,15")
        page.wait_for_selector("#builder-problems li")  # 10 does not divide 15
        page.fill("#builder-with", "10,20,40")
        page.wait_for_selector("#builder-use:not([disabled])")
        until(page, "!document.querySelector('#builder-problems li')")
        page.click("#builder-use")
        until(page, lambda: columns()["hours"]["hierarchy"] == "intervals:10,20,40")
        page.click("tr[data-column=education] [data-order]")
        before = columns()["education"]["order"]
        page.click("#order li:nth-child(2) [data-move='-1']")
        until(page, lambda: columns()["education"]["order"] == [before[1], before[0], *before[2:]])
        assert page.evaluate("document.activeElement.closest('li').dataset.value") == before[1]

        go(page, server, "/goal")
        page.click("#advanced > summary")
        page.select_option("#new-require", "l-diversity")
        page.click("[value='add:require']")
        page.wait_for_selector("[value='drop:require:1']")
        page.fill("[aria-label='Importance of age']", "3")
        page.fill("[aria-label='Largest loss of age, per cent']", "60")
        page.keyboard.press("Tab")
        until(page, lambda: columns()["age"].get("importance") == 3 and columns()["age"].get("at_most") == 60)
        page.fill("#new-rule", "age >> 15")
        page.click("[value='add:rule']")
        page.wait_for_selector("#goal-problems li")  # it cannot be read
        page.fill("#new-rule", "age >= 15")
        page.click("[value='add:rule']")
        page.wait_for_selector("[value^='drop:rule:']")
        until(page, lambda: tomllib.loads(plan.read_text())["rule"][-1] == {"holds": "age >= 15"})
        assert columns()["age"]["importance"] == 3
        page.click("#check")
        page.wait_for_selector("#estimate .banner.good")
        assert plan.read_text().startswith("# Agreed with the data protection officer.\n")

        go(page, server)
        page.wait_for_selector("#outdated:not([hidden])")
        assert page.inner_text("#search-words") == page.inner_text("#outdated")
        assert page.inner_text("#start") == "Start again"
        page.click("#start")
        page.wait_for_selector("#outdated", state="hidden")
        wait_words(page, "Finished")
        page.wait_for_selector("#pin:not([disabled])")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("p")
        page.wait_for_selector("#pin:has-text('Unpin')")
        page.click("#keep")
        until(page, "document.getElementById('head-chosen').textContent !== 'none'")

        page.click("[data-look=beside]")
        page.click("#look-beside tbody button")  # the distribution of a column in both
        page.wait_for_selector("#look-column svg rect.file2")
        page.click("[data-look=person]")
        page.click("#look-person [data-fetch*='rank=1']")
        until(page, "document.getElementById('look-person').textContent.includes('Number 2 of 400')")

        go(page, server, "/release")
        until(page, IDLE)
        page.click("#preview-reports")
        page.frame_locator("iframe[title='Internal report']").locator("h1").wait_for()
        page.click("#export")
        page.wait_for_url("**/release/1")
        page.wait_for_selector("#verified .banner.good")
        assert verify(server.releases / "people-release").sound
        assert "kept" not in server.errors.read_text()


def test_reload_kill_and_restart_lose_nothing(own_home: Path, visitor: Any) -> None:
    plan = small_example(own_home)
    quicken(plan, "1h")  # it ends when it is told to
    run = plan.with_name("people-plan-run")
    server = Server(own_home)
    try:
        page = visitor.enter(server)
        until(page, "document.querySelectorAll('#front-table tbody tr').length > 3")
        wait_words(page, "Searching")
        page.reload()
        page.wait_for_selector(READY)
        page.keyboard.press("t")
        page.focus("#front-table button")
        label = "document.activeElement.getAttribute('aria-label')"
        held = page.evaluate(label)
        number = page.evaluate(POINTS.replace("c.points.length", "c.points.at(-1).number"))
        page.evaluate("number => fetch(`${document.body.dataset.base}/pin/${number}`, {method: 'POST'})", number)
        row = "number => document.querySelector(`tr[data-number='${number}']`)?.textContent.includes('pinned')"
        until(page, row, number)
        assert page.evaluate(label) == held  # the page was brought up to date and the focus stayed
        job = jobs.recorded_job(run)
        assert job is not None
        assert job.alive

        server.kill()
        page.wait_for_selector("#gone", state="visible")  # said at once, and for as long as it is so
        assert job.alive  # the search outlives the studio
        os.kill(job.pid, signal.SIGKILL)
        ended(job)
        server = Server(own_home)
        page.wait_for_selector("#gone", state="hidden")  # the open page has found the studio that was started again
        wait_words(page, "The search was killed")
        assert page.get_attribute("#search-words", "class") == "level-stop"
        before = page.evaluate(POINTS)
        assert before > 3
        page.click("#start")
        wait_words(page, "Searching")
        page.click("#pause")
        wait_words(page, "Paused")
        assert page.evaluate(POINTS) >= before
    finally:
        server.stop()
    end_searches(own_home)
    assert not jobs.is_running(run)


def test_two_tabs_hold_two_files_and_home_lists_both(own_home: Path, visitor: Any) -> None:
    small_example(own_home)
    content = b"age,sex,ill\n" + b"".join(
        b"%d,%s,%s\n" % (20 + n % 9, b"fm"[n % 2 :][:1], b"yn"[n % 3 % 2 :][:1]) for n in range(60)
    )
    with serving(own_home) as server:
        first = visitor.enter(server)
        second = visitor.page(first.context)
        go(second, server, "/../..")
        second.set_input_files("#file", files=[{"name": "ward.csv", "mimeType": "text/csv", "buffer": content}])
        second.wait_for_selector("tr[data-column=ill]")
        until(first, "document.querySelector('#head dd').textContent.includes('records')")  # read, and loaded anew
        first.reload()
        first.wait_for_selector(READY)
        assert first.inner_text("#head dd").startswith("people.csv")
        assert second.inner_text("#head dd").startswith("ward.csv")
        assert first.url.split("/s/")[1][:12] != second.url.split("/s/")[1][:12]
        third = visitor.page(first.context)
        go(third, server, "/../..")
        assert third.locator("#cards h3").all_inner_texts()[:2] != []
        assert sorted(text.split()[0] for text in third.locator("#cards h3").all_inner_texts()) == [
            "people.csv",
            "ward.csv",
        ]
        copies = list(own_home.glob("uploads/*/ward.csv"))
        assert len(copies) == 1
        third.click("[aria-label='Delete the copy of ward.csv']")
        until(third, lambda: not copies[0].exists())
        third.wait_for_selector("#cards li")
        until(third, "document.querySelectorAll('#cards h3').length === 1")
        until(second, "document.body.innerText.includes('no such file in the studio any more')")  # said by itself


def test_two_tabs_agree(server: Server, visitor: Any) -> None:
    first = visitor.enter(server)
    number = visitor.session(first)
    second = visitor.page(first.context)
    go(second, server)
    until(first, UNPINNED, number)
    for here, there in ((first, second), (second, first)):
        there.evaluate("document.querySelector('details.sliders').open = true")
        there.focus("#limit-risk")  # a live update neither waits for the focus nor takes it
        here.wait_for_selector("#pin:has-text('Pin'):not([disabled])")
        here.keyboard.press("p")
        until(there, PINNED, number)
        there.wait_for_selector("#pin:has-text('Unpin')")
        here.wait_for_selector("#pin:has-text('Unpin')")
        here.keyboard.press("p")
        until(there, UNPINNED, number)
        there.wait_for_selector("#pin:text-matches('^Pin')")
        assert there.evaluate("document.activeElement.id") == "limit-risk"
    third = visitor.page(first.context)
    go(third, server, "/compare")  # an old address
    assert third.url == server.base + "/explore"
    third.wait_for_selector("#choose[aria-pressed=true]")
    go(third, server, "/release")
    assert third.is_hidden("#stale")
    first.keyboard.press("p")
    third.wait_for_selector("#stale")
    third.click("#stale a")
    third.wait_for_selector(f"#head-pins:text-is('{number}')")
    first.wait_for_selector("#pin:has-text('Unpin')")
    first.keyboard.press("p")
    until(second, UNPINNED, number)
    second.locator("#limit-risk").fill("50")
    until(first, "document.getElementById('limit-risk').value === '50'")


def test_two_tabs_share_one_goal(server: Server, visitor: Any) -> None:
    first = visitor.enter(server)
    second = visitor.page(first.context)
    for page in (first, second):
        go(page, server, "/goal")
        page.click("#advanced > summary")
    try:
        second.select_option("#new-require", "t-closeness")
        second.click("[value='add:require']")
        first.wait_for_selector("[value='drop:require:1']")
        first.click("[value='add:scenario']")
        second.wait_for_selector("#scenario-0")
        assert second.query_selector("[value='drop:require:1']")  # neither tab undid what the other did
    finally:
        for button in ("drop:require:1", "drop:scenario:0"):
            second.click(f"[value='{button}']")
            second.wait_for_selector(f"[value='{button}']", state="detached")


def test_keyboard_alone(server: Server, visitor: Any) -> None:
    page = visitor.enter(server)
    visitor.session(page)
    go(page, server)
    page.wait_for_selector("#pin:not([disabled])")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    tab_to(page, "#walk")
    page.keyboard.press("ArrowDown")
    until(page, "document.getElementById('walk-now').textContent.startsWith('Solution')")
    page.keyboard.press("p")
    page.wait_for_selector("#pin:has-text('Unpin')")
    page.keyboard.press("c")
    page.wait_for_selector("#choose[aria-pressed=true]")
    page.keyboard.press("t")
    page.wait_for_selector("#front-table")
    page.keyboard.press("t")
    page.wait_for_selector("#front-chart")
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#help:not([open])", state="attached")
    tab_to(page, "nav a[href$='/release']", 400)
    page.keyboard.press("Enter")
    page.wait_for_url("**/release")
    page.wait_for_selector(READY)
    tab_to(page, "#export")
    page.keyboard.press("Enter")
    page.wait_for_url("**/release/*")
    page.wait_for_selector("#verified .banner.good")
    tab_to(page, "nav a[href$='/explore']", 400)
    page.keyboard.press("Enter")
    page.wait_for_selector("#pin:has-text('Unpin')")
    page.keyboard.press("p")
    page.wait_for_selector("#pin:text-matches('^Pin')")


def test_the_browser_enters_by_a_file_and_no_other_server_hears_of_it(
    finished: Path, visitor: Any, tmp_path: Path
) -> None:
    """No process argument holds the token, the address works twice, and no other port sees the cookie."""
    arguments, opener = tmp_path / "arguments", tmp_path / "opener"
    opener.write_text(f'#!/bin/sh\nprintf "%s" "$*" > {arguments}.part && mv {arguments}.part {arguments}\n')
    opener.chmod(0o700)
    with serving(finished, browser=opener) as server, listening() as (port, heard):
        page = visitor.page(visitor.context())
        until(page, arguments.exists)
        file = arguments.read_text()
        assert file.startswith("file://")
        assert server.address.split("token=")[1] not in file
        page.goto(file)
        page.wait_for_selector(READY)
        assert page.url == server.base.split("/s/")[0] + "/"  # nobody named a file: Home, with the example on it
        assert page.locator("#cards li h3 a").count() >= 1
        assert list(finished.glob("open-*.html")) == []
        for context in (page.context, visitor.context()):
            again = visitor.page(context)
            again.goto(server.address)
            again.wait_for_selector(READY)
        for host in ("127.0.0.1", "localhost"):
            page.goto(f"http://{host}:{port}/")
        assert {host for host, _ in heard} == {f"127.0.0.1:{port}", f"localhost:{port}"}
        assert {cookie for _, cookie in heard} == {None}


@contextmanager
def listening() -> Iterator[tuple[int, list[tuple[str, str | None]]]]:
    """Another server on this machine, and the Host and Cookie of each request it gets."""
    heard: list[tuple[str, str | None]] = []

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append((self.headers["host"], self.headers.get("cookie")))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running.server_address[1], heard
        running.shutdown()
