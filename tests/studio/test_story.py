"""From a file to a verified release with a browser, as a custodian does it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from browsing import Server, drawing_library, quicken, serving, small_example, until
from crypsis.release import verify
from crypsis.studio import jobs

READY = "body[data-ready]"
IDLE = "document.querySelectorAll('[aria-busy=true]').length === 0"


def go(page: Any, server: Server, path: str = "/") -> None:
    page.goto(server.base + path)
    page.wait_for_selector(READY)


def wait_words(page: Any, start: str) -> None:
    until(page, "start => document.getElementById('search-words').textContent.startsWith(start)", start)


def tab_to(page: Any, selector: str, most: int = 120) -> None:
    """Press Tab until the element has the focus."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab")


def test_from_file_to_verified_release(tmp_path: Path, visitor: Any) -> None:
    drawing_library(tmp_path)
    small_example(tmp_path)
    with serving(tmp_path) as server:
        page = visitor.enter(server)
        assert page.url == server.base + "/"  # the token has left the address
        wait_words(page, "Finished")

        go(page, server, "/data")
        page.click("tr[data-column=district] [data-preview]")
        page.wait_for_selector("#preview table")
        row = page.locator("tr[data-column=hours]")
        row.locator("[name=hierarchy]").fill("intervals:10,20,40")
        row.locator("[name=hierarchy]").press("Tab")
        page.wait_for_selector("text=hours: saved as quasi, numeric, intervals:10,20,40")
        assert 'hierarchy = "intervals:10,20,40"' in (tmp_path / "example" / "people-plan.toml").read_text()

        go(page, server, "/goal")
        page.select_option("#new-require", "l-diversity")
        page.click("[value='add:require']")
        page.wait_for_selector("[value='drop:require:1']")
        page.click("#check")
        page.wait_for_selector("#estimate .banner.good")

        go(page, server)
        page.wait_for_selector("#outdated:not([hidden])")
        page.click("#start")
        page.wait_for_selector("#outdated", state="hidden")
        wait_words(page, "Finished")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("p")
        page.wait_for_selector("text=is pinned")
        page.click("#keep")
        page.wait_for_selector("text=is chosen:")

        go(page, server, "/compare")
        until(page, IDLE)
        page.wait_for_selector(".compared canvas")

        go(page, server, "/release")
        until(page, IDLE)
        page.click("#preview-reports")
        page.frame_locator("iframe[title='Internal report']").locator("h1").wait_for()
        page.click("#export")
        page.wait_for_selector("#verified .banner.good")
        assert verify(tmp_path / "example" / "people-release").sound
        assert "kept" not in server.errors.read_text()


def test_reload_kill_and_restart_lose_nothing(tmp_path: Path, visitor: Any) -> None:
    drawing_library(tmp_path)
    plan = small_example(tmp_path)
    quicken(plan, "120s")
    run = plan.with_name("people-plan-run")
    server = Server(tmp_path)
    try:
        page = visitor.enter(server)
        until(page, "document.querySelectorAll('#front-table tbody tr').length > 3")
        wait_words(page, "Searching")
        page.reload()
        page.wait_for_selector(READY)
        page.keyboard.press("t")
        page.focus("#front-table button")
        label, rows = "document.activeElement.getAttribute('aria-label')", "#front-table tbody tr"
        held, before = page.evaluate(label), page.locator(rows).count()
        until(page, f"before => document.querySelectorAll('{rows}').length > before", before)
        assert page.evaluate(label) == held  # the front moved and the focus did not
        job = jobs.job(run)
        assert job is not None
        assert job.alive

        server.kill()
        assert job.alive  # the search outlives the studio
        os.kill(job.pid, signal.SIGKILL)
        while job.alive:
            page.wait_for_timeout(50)
        server = Server(tmp_path)
        page = visitor.enter(server)
        wait_words(page, "Paused")
        before = page.evaluate("fetch('/front.json').then(r => r.json()).then(c => c.points.length)")
        assert before > 3
        page.click("#start")
        wait_words(page, "Searching")
        page.click("#pause")
        wait_words(page, "Paused")
        after = page.evaluate("fetch('/front.json').then(r => r.json()).then(c => c.points.length)")
        assert after >= before
    finally:
        server.stop()
        jobs.stop(run)


def test_two_tabs_agree(server: Server, visitor: Any) -> None:
    first = visitor.enter(server)
    second = visitor.page(first.context)
    go(second, server)
    number = first.evaluate("fetch('/front.json').then(r => r.json()).then(c => c.knee)")
    pinned = "number => document.querySelectorAll('#head dd')[2].textContent.split(', ').includes(String(number))"
    first.wait_for_selector("#pin:not([disabled])")
    first.keyboard.press("p")
    until(second, pinned, number)


def test_keyboard_alone(server: Server, visitor: Any) -> None:
    page = visitor.enter(server)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    tab_to(page, "#walk")
    page.keyboard.press("ArrowDown")
    until(page, "document.getElementById('walk-now').textContent.startsWith('Solution')")
    page.keyboard.press("p")
    page.wait_for_selector("text=is pinned")
    page.keyboard.press("c")
    page.wait_for_selector("text=is chosen for the release")
    page.keyboard.press("t")
    assert page.is_visible("#front-table")
    page.keyboard.press("t")
    page.keyboard.press("?")
    assert page.evaluate("document.getElementById('help').open")
    page.keyboard.press("Escape")
    tab_to(page, "nav a[href='/release']", 400)
    page.keyboard.press("Enter")
    page.wait_for_url("**/release")
    page.wait_for_selector(READY)
    tab_to(page, "#export")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verified .banner.good")
    tab_to(page, "nav a[href='/']", 400)
    page.keyboard.press("Enter")
    page.wait_for_selector("#pin:has-text('Unpin')")
    page.keyboard.press("p")
    page.wait_for_selector("text=no longer pinned")
