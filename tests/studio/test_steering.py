"""A search is steered on the Explore page: a column is locked, the old front stays as a ghost, undo goes back."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe

from browsing import serving, small_example, until
from crypsis.run import Run
from crypsis.studio import jobs

READY = "body[data-ready]"
IN_FORCE = "words => document.getElementById('in-force').textContent.includes(words)"
GHOST = "document.querySelectorAll('#front-chart .ghost').length"
FOUND = "document.querySelectorAll('#front-chart .pt.on').length > 0"
AGREES = """fetch(document.body.dataset.base + '/explore.json').then(r => r.json()).then(c => {
    const at = id => document.getElementById(id).textContent, number = Number(at('panel-title').split(' ')[1]);
    const tags = [...document.querySelectorAll('#panel-tags .tag')].slice(1).map(each => each.firstChild.textContent);
    const titles = c.offers.filter(each => each.number === number).map(each => each.title.toLowerCase());
    const standing = c.points.find(each => each.number === number)?.standing;
    return JSON.stringify(tags) === JSON.stringify([standing, ...titles]) && at('front-summary') === c.summary.words
        && at('head-chosen') === String(c.chosen ?? 'none');
})"""
"""Whether banner, header and the open panel say what the front is now."""
IDLE = "document.querySelectorAll('[aria-busy=true]').length === 0"


def wait_words(page: Any, start: str) -> None:
    until(page, "start => document.getElementById('search-words').textContent.startsWith(start)", start)


def test_a_locked_column_starts_a_child_beside_a_ghost_and_undo_goes_back(own_home: Path, visitor: Any) -> None:
    plan = small_example(own_home)
    before = plan.read_text()
    with serving(own_home) as server:
        page = visitor.enter(server)
        wait_words(page, "Finished")
        until(page, IDLE)
        first = numbers(page)

        page.click(".wish summary:has-text('age')")
        page.fill(".wish[open] [name=most]", "140")
        page.click(".wish[open] [value=cap]")  # the browser refuses what is above 100
        assert plan.read_text() == before
        page.click(".wish summary:has-text('sex')")
        page.click(".wish[open] form:has([value=sex]) [value=lock]")
        until(page, IN_FORCE, "sex stays as collected")
        assert tomllib.loads(plan.read_text())["columns"]["sex"]["lock"] is True
        until(page, f"{GHOST} > 1")
        until(page, FOUND)
        wait_words(page, "Finished")
        until(page, IDLE)
        folder = own_home / "example" / "people-plan-run-2"
        with Run.open(folder) as child:
            assert child.lock.parent == "people-plan-run"
            found = [s for s in child.front if not s.baseline]
            assert found
            assert all(s.evaluation.columns["sex"]["loss"] == 0.0 or s.figure("suppressed") for s in found)
        assert numbers(page) != first
        page.wait_for_selector(".wish summary:has-text('locked')")
        assert Axe().run(page).violations_count == 0
        page.click("#ghost-hide")
        until(page, f"{GHOST} === 0")

        page.focus("#undo")
        page.keyboard.press("Enter")
        until(page, "document.getElementById('steering').hidden")
        assert tomllib.loads(plan.read_text()) == tomllib.loads(before)
        until(page, FOUND)
        wait_words(page, "Finished")
        assert numbers(page) == first

        page.click("a[href='/']")  # the child is not lost: Home shows it again
        page.wait_for_selector(READY)
        page.click("button:has-text('Look at this search')")
        page.wait_for_url("**/explore")
        assert numbers(page) != first


def numbers(page: Any) -> dict[str, float]:
    """Solutions of the page, with their losses."""
    found: dict[str, float] = page.evaluate(
        "fetch(document.body.dataset.base + '/explore.json').then(r => r.json())"
        ".then(c => Object.fromEntries(c.points.map(p => [p.number, p.loss])))"
    )
    return found


def test_a_box_a_method_and_a_solution_steer_the_search(own_home: Path, visitor: Any) -> None:
    small_example(own_home, searches=("memetic", "pbg-ea"))
    with serving(own_home) as server:
        page = visitor.enter(server)
        wait_words(page, "Finished")
        until(page, IDLE)
        folder = own_home / "example" / "people-plan-run"
        assert page.is_disabled("#focus")
        box = page.locator("#front-chart svg").bounding_box()
        page.mouse.move(box["x"] + 120, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + 300, box["y"] + 200, steps=4)
        page.mouse.up()
        page.click("#focus")
        until(page, IN_FORCE, "(not obeyed yet)")
        until(page, f"{GHOST} > 1")  # the front as it was
        drop = page.locator("#legend button").first
        name = str(drop.get_attribute("aria-label")).removeprefix("Drop ")
        drop.click()
        until(page, IN_FORCE, f"drop {name}")
        page.wait_for_selector(f"[aria-label='Restore {name}']")
        last = page.locator("#legend [aria-label^='Drop ']")  # without the last one the run would end
        assert last.get_attribute("aria-disabled") == "true"
        last.click(force=True)
        until(page, "document.getElementById('message').textContent.includes('the only search that goes on')")
        other = str(last.get_attribute("aria-label")).removeprefix("Drop ")
        refused = page.evaluate(
            """async (search) => {
                const body = new URLSearchParams({what: 'drop', search});
                const answer = await fetch(document.body.dataset.base + '/steer', {method: 'POST', body});
                return (await answer.json()).message;
            }""",
            other,
        )
        assert refused.startswith(f"drop {other}: no other search goes on")

        page.click("#undo")
        page.wait_for_selector(f"[aria-label='Drop {name}']")

        page.click("#offers button >> nth=0")  # its panel stays open while the front moves on
        opened = page.inner_text("#panel-title")
        page.click("#extend")
        until(page, IN_FORCE, f"obeyed by {name} after generation")
        until(page, AGREES)
        assert page.inner_text("#panel-title") == opened
        page.click("#undo")
        until(page, "!document.getElementById('in-force').textContent")
        page.click("#pause")
        until(page, lambda: not jobs.is_running(folder))
        with Run.open(folder) as run:
            assert [entry.what for entry in run.steering] == ["focus", "drop", "undo", "undo"]
            assert run.steering[0].obeyed
            liked = next(s.number for s in run.front if not s.baseline)
        page.click("#front-summary")
        page.evaluate("sessionStorage.setItem('tables', 'yes')")
        page.reload()
        page.wait_for_selector(READY)
        page.click(f"[aria-label='Select solution {liked}']")
        page.wait_for_selector("#more-like:not([disabled])")
        page.click("#more-like")
        until(page, IN_FORCE, f"more like solution {liked}")


def test_what_a_plan_does_not_allow_changes_nothing(own_home: Path, visitor: Any) -> None:
    """Ages of which fewer than k people share one cannot stay as collected: it is said, and the search goes on."""
    plan = small_example(own_home)
    before = plan.read_text()
    with serving(own_home) as server:
        page = visitor.enter(server)
        wait_words(page, "Finished")
        until(page, IDLE)
        page.click(".wish summary:has-text('age')")
        page.click(".wish[open] [value=lock]")
        page.wait_for_selector(".wish .problems li")
        assert "age" in page.text_content(".wish .problems li")
        assert plan.read_text() == before
        assert page.is_hidden("#steering")
