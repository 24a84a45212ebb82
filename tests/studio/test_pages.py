"""Pages for everyone: no finding of axe in light and dark, 400 % zoom, still when asked; bad files get a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browsing import Server, until

PAGES = ("/../..", "/explore", "/data", "/goal", "/release")
"""Home, and the pages of a file."""
LOADED = """[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .reduce((sum, each) => sum + each.decodedBodySize, 0)"""
"""Bytes of everything a page has loaded, without compression."""
IDLE = "document.querySelectorAll('[aria-busy=true]').length === 0"


def settle(page: Any, server: Server, path: str) -> None:
    page.goto(server.base + path)
    page.wait_for_selector("body[data-ready]")
    until(page, IDLE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(server: Server, visitor: Any, scheme: str) -> None:
    page = visitor.enter(server, color_scheme=scheme, reduced_motion="reduce")
    visitor.session(page, pinned=True)
    found: dict[Any, list[str]] = {}
    for path in PAGES:
        settle(page, server, path)
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        if path == "/data":
            page.click("tr[data-column=education] [data-order]")
            page.wait_for_selector("#order")
            _axe(page, found, path, "order")
            page.click("tr[data-column=age] [data-preview]")
            page.wait_for_selector("#levels table")
        if path == "/explore":
            open_closer_looks(page)
        assert page.evaluate(LOADED) < 300_000
        _axe(page, found, path)
        if path == "/explore" and scheme == "light":
            page.keyboard.press("t")
            page.wait_for_selector("[data-view=table] >> nth=0")
            _axe(page, found, path, "tables")
            page.keyboard.press("t")
            page.wait_for_selector("[data-view=chart] >> nth=0")
            until(page, IDLE)
    assert found == {}


def open_closer_looks(page: Any) -> None:
    """Every part of the closer look at the selected solution, and what was harmed most, which is compared once seen."""
    page.locator("#description").scroll_into_view_if_needed()
    page.wait_for_selector("#description table", state="attached")
    until(page, IDLE)
    for button in page.locator("[data-look]").all():
        button.click()
    until(page, "[...document.querySelectorAll('.closer-part')].every(each => each.childElementCount)")
    until(page, IDLE)


def _axe(page: Any, found: dict[Any, list[str]], *where: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for violation in Axe().run(page).response["violations"]:
        found[*where, violation["id"]] = [node["html"][:160] for node in violation["nodes"][:3]]


def test_four_hundred_per_cent(server: Server, visitor: Any) -> None:
    page = visitor.enter(server, viewport={"width": 320, "height": 400}, reduced_motion="reduce")
    visitor.session(page, pinned=True)
    wide = """() => [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > 321
        && !e.closest('.scroll, pre, .hidden')).map(e => e.outerHTML.slice(0, 90)).slice(0, 4)"""
    moving = "[...document.querySelectorAll('*')].filter(e => getComputedStyle(e).animationName !== 'none').length"
    for path in PAGES:
        settle(page, server, path)
        if path == "/explore":
            open_closer_looks(page)
        assert (path, page.evaluate(wide)) == (path, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert page.evaluate(moving) == 0


@pytest.mark.parametrize(("width", "height"), [(1000, 700), (1440, 900)])
def test_the_decision_is_on_one_screen(server: Server, visitor: Any, width: int, height: int) -> None:
    """The whole front and all offers without scrolling; figures of a column beside its bar."""
    page = visitor.enter(server, viewport={"width": width, "height": height}, reduced_motion="reduce")
    visitor.session(page)
    settle(page, server, "/explore")
    bottom = "id => Math.round(document.getElementById(id).getBoundingClientRect().bottom)"
    assert page.locator("#offers button").count() >= 1
    assert page.evaluate(bottom, "offers") < 340
    assert page.evaluate(bottom, "front-chart") <= height
    assert page.evaluate("document.getElementById('front-chart').clientHeight") >= 280
    until(page, "document.querySelector('#column-estimates .marks')")
    picks = page.locator("#panel .pick")
    worst = page.get_attribute("#panel .pick[aria-pressed=true]", "data-column")
    other = next(name for name in ("age", "hours") if name != worst)
    page.hover(f"#panel .pick[data-column={other}]")
    until(page, "name => document.querySelector('#column-estimates b').textContent === name", other)
    assert "mean: " in page.inner_text("#column-estimates")
    page.hover("#panel-title")
    until(page, "name => document.querySelector('#column-estimates b').textContent === name", worst)
    page.focus("#panel .pick[aria-pressed=true]")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.matches('.pick[aria-pressed=true]')")
    assert picks.evaluate_all("all => all.filter(each => each.tabIndex === 0).length") == 1
    page.click("#column-estimates [data-distribution]")
    page.wait_for_selector("#look-column svg")


def test_the_picture_and_the_panel_never_part(server: Server, visitor: Any) -> None:
    """Offers are buttons, marks have sentences, figures have definitions, and no title stands over other figures."""
    page = visitor.enter(server, viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    visitor.session(page)
    settle(page, server, "/explore")
    chosen = page.inner_text("#head-chosen")
    assert page.inner_text("#front-summary").startswith(f"Solution {chosen} is chosen")
    assert page.inner_text("#panel-title") == f"Solution {chosen}"
    assert page.inner_text("#choose").startswith("Chosen")
    page.locator("#offers button").last.click()
    picked = page.locator("#offers button").last.get_attribute("data-number")
    until(page, "n => document.getElementById('panel-title').textContent === `Solution ${n}`", picked)
    undefined = "[...document.querySelectorAll('#panel .big dt')].filter(e => !e.querySelector('.def .define')).length"
    assert page.evaluate(undefined) == 0
    point = page.locator("#front-chart .pt.on").first
    point.hover(force=True)
    page.wait_for_selector("#front-chart .tip:not([hidden])")
    assert "% of the people are found" in page.inner_text("#front-chart .tip")
    looks = "kind => { const e = document.querySelector(`#symbols .pt.${kind}`); return getComputedStyle(e).fill; }"
    assert page.evaluate(looks, "on") != page.evaluate(looks, "beaten")
    spread = """() => {
        const at = [...document.querySelectorAll('#front-chart .pt.on')].map(e => e.getBoundingClientRect().x);
        return (Math.max(...at) - Math.min(...at)) / document.getElementById('front-chart').clientWidth; }"""
    if page.locator("#front-chart .pt.on").count() > 1:
        assert page.evaluate(spread) > 0.4, "what is far out does not take the room of the front"
    shown = page.locator("#front-chart .pt").count()
    page.click("[data-zoom=all]")
    until(page, f"document.querySelectorAll('#front-chart .pt').length > {shown}")
    page.click("[data-zoom=releasable]")
    until(page, f"document.querySelectorAll('#front-chart .pt').length === {shown}")
    page.mouse.move(0, 0)
    stops = "id => [...document.querySelectorAll(`#${id} button`)].filter(e => e.tabIndex === 0).length"
    assert page.locator("#front-table button").count() > 1
    assert page.evaluate(stops, "front-table") == 1
    page.route("**/solution/**", lambda route: route.abort())  # as if the studio were gone
    before = page.inner_text("#panel-title"), page.inner_text("#panel .big")
    page.focus("#walk")
    for key in ("ArrowLeft", "ArrowLeft", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
        page.wait_for_timeout(50)
        now = page.inner_text("#panel-title"), page.inner_text("#panel .big")
        assert (now[0] == before[0]) == (now[1] == before[1])
    page.unroute("**/solution/**")
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    settle(page, server, "/explore")
    until(page, "document.querySelector('#column-estimates .marks')")
    asked.clear()
    page.focus("#walk")
    for key in ("Home", *["ArrowRight", "ArrowLeft"] * 4, "ArrowRight"):
        page.keyboard.press(key)
    until(page, IDLE)
    decoded = {each for each in asked if each.endswith(("/estimates", "/description"))}
    assert len({each.split("/")[-2] for each in decoded}) <= 1, "only where the walk ends is a table decoded"
    page.wait_for_timeout(400)
    assert not [each for each in asked if each.endswith("/description")], "files are compared once somebody looks"
    page.locator("#description").scroll_into_view_if_needed()
    page.wait_for_selector("#description table", state="attached")
    settle(page, server, "/data")
    tabbed = "[...document.querySelectorAll('#grid :is(input, select, button)')].filter(e => e.tabIndex === 0).length"
    assert page.evaluate(tabbed) <= 1, "the whole table is one tab stop"


WIDE = ",".join(f"c{number}" for number in range(10_000)) + "\n" + ",".join("1" for _ in range(10_000)) + "\n"
NAMED = "id,email\n" + "".join(f"{number},someone{number}@example.org\n" for number in range(60))
BAD = {
    "empty": ("people.csv", b"", "is empty"),
    "binary": ("people.csv", bytes(range(256)) * 8, "people.csv"),
    "wide": ("people.csv", (WIDE * 1).encode(), "columns"),
    "ragged": ("people.csv", b"name,town\nAnna\nBea,Bonn,x\n", "people.csv"),
    "identifiers": ("people.csv", NAMED.encode(), "no column is left to mask"),
    "ending": ("people.exe", b"MZ", "must end in one of"),
}


def test_a_bad_file_gets_its_sentence(server: Server, visitor: Any) -> None:
    page = visitor.enter(server)
    settle(page, server, "/../..")
    for case, (name, content, words) in BAD.items():
        page.evaluate("document.getElementById('bring-problems').replaceChildren()")
        page.set_input_files("#file", files=[{"name": name, "mimeType": "text/csv", "buffer": content}])
        page.wait_for_selector("#bring-problems li")
        message = page.inner_text("#bring-problems")
        assert (case, words in message, message) == (case, True, message)
        assert str(server.home) not in message
        assert page.locator("#cards li h3").all_inner_texts() == ["people.csv"]  # no other file is listed


def test_a_name_cannot_climb(server: Server, visitor: Any, finished: Path) -> None:
    page = visitor.enter(server)
    settle(page, server, "/../..")
    choose = """name => {
        const chosen = new DataTransfer();
        chosen.items.add(new File(["age,sex\\n1,f\\n2,m\\n"], name));
        document.getElementById("file").files = chosen.files;
        document.getElementById("bring-problems").replaceChildren();
        document.getElementById("file").dispatchEvent(new Event("change"));
    }"""
    for name in ("../../evil.csv", "..\\\\..\\\\evil.csv", "/tmp/evil.csv"):
        page.evaluate(choose, name)
        page.wait_for_selector("#bring-problems li")
        assert "contains a path" in page.inner_text("#bring-problems")
    assert list(finished.parent.rglob("evil*")) == []
    assert list(finished.glob("uploads/*")) == []  # nothing of what was refused is left
