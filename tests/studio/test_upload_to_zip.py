"""From an upload to an unpacked archive that `crypsis verify` accepts, and every page between them free of findings."""

from __future__ import annotations

import random
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from browsing import PROGRAM, Server, quicken, serving, small_example, until
from crypsis.table.files import read_table
from reference import reference

IDLE = "document.querySelectorAll('[aria-busy=true]').length === 0"
READY = "body[data-ready]"


def dated() -> bytes:
    """Visits with dates, missing cells and a column of which nothing says what it is."""
    draw = random.Random(7)
    lines = ["age,sex,visit,ward,x7"]
    for _ in range(240):
        age = "" if draw.random() < 0.05 else str(draw.randint(20, 60))
        visit = "" if draw.random() < 0.05 else f"2024-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        lines.append(f"{age},{draw.choice('fm')},{visit},{draw.choice('abc')},{draw.choice(['0', '1', ''])}")
    return "\n".join(lines).encode()


def coded() -> bytes:
    """Coded categories: the first records of the survey that was found hard to edit."""
    return b"".join(reference("testdata.csv").read_bytes().splitlines(keepends=True)[:1200])


def upload(page: Any, server: Server, name: str, content: bytes) -> str:
    page.goto("/".join(server.base.split("/")[:3]))
    page.wait_for_selector(READY)
    page.set_input_files("#file", files=[{"name": name, "mimeType": "text/csv", "buffer": content}])
    page.wait_for_selector("#grid")
    page.wait_for_selector(READY)
    return str(page.url.rsplit("/", 1)[0])


def visit(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(READY)
    until(page, IDLE)


def post(page: Any, path: str) -> None:
    page.evaluate("path => fetch(document.body.dataset.base + path, {method: 'POST'})", path)


def search(page: Any, base: str) -> None:
    post(page, "/search/start")
    until(page, "document.getElementById('search-words').textContent.startsWith('Finished')")
    visit(page, f"{base}/data")
    post(page, "/search/keep")
    until(page, "document.getElementById('head-chosen').textContent !== 'none'")


def accept_everything(page: Any) -> None:
    """Give a reason for whatever stops the release, one field per column."""
    while page.query_selector(".finding.blocks form"):
        card = page.locator(".finding.blocks:has(form)").first
        name = card.get_attribute("data-finding")
        assert card.locator("input[name=reason]").count() == 1
        card.locator("input[name=reason]").fill("agreed with the data protection officer")
        card.locator("button", has_text="Accept").click()
        page.wait_for_selector(f".finding.accepted[data-finding='{name}']")
    assert page.query_selector(".finding.blocks") is None


def axe(page: Any) -> dict[str, list[str]]:
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    found = Axe().run(page).response["violations"]
    return {each["id"]: [node["html"][:160] for node in each["nodes"][:3]] for each in found}


def release(page: Any, base: str, folder: Path) -> Path:
    """Release what is chosen, download it, unpack it; gives the unpacked folder."""
    visit(page, f"{base}/release")
    accept_everything(page)
    assert "[[" not in page.inner_text("main")
    assert axe(page) == {}
    page.click("#export")
    until(page, "/[/]release[/]\\d+$/.test(location.pathname) || !!document.querySelector('#publish-problems li')")
    assert page.locator("#publish-problems li").all_inner_texts() == []
    page.wait_for_selector("#verified .banner.good")
    until(page, IDLE)
    assert axe(page) == {}
    with page.expect_download() as held:
        page.click("#zip")
    archive = folder / held.value.suggested_filename
    held.value.save_as(archive)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder / "unpacked")
    (unpacked,) = (folder / "unpacked").iterdir()
    assert {each.name for each in unpacked.iterdir()} == {"public"}
    told = subprocess.run([*PROGRAM, "verify", str(unpacked)], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    return unpacked


def test_the_example(own_home: Path, visitor: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    small_example(own_home)
    with serving(own_home) as server:
        page = visitor.enter(server, accept_downloads=True)
        until(page, "document.getElementById('search-words').textContent.startsWith('Finished')")
        base = page.url.rsplit("/", 1)[0]
        post(page, "/search/keep")
        until(page, "document.getElementById('head-chosen').textContent !== 'none'")
        unpacked = release(page, base, tmp_path_factory.mktemp("example"))
        assert (unpacked / "public" / "report.html").exists()
        assert (server.releases / "people-release" / "internal").exists()
        assert not list(own_home.rglob("people-release")), "nothing is released into the hidden folder"

        page.click("#signature > summary") if not page.is_visible("#key") else None
        page.fill("#key", str(own_home.parent / "office.key"))
        page.click("[value=make]")
        page.wait_for_selector("#verified .banner:has-text('signed with the key')")
        page.goto(f"{base}/../..")
        page.wait_for_selector("#cards a:has-text('Protected people')")
        page.click("#cards a:has-text('Protected people')")
        page.wait_for_selector("#verified .banner.good")
        page.click("#withdrawal > summary")
        page.click("text=Withdraw the release")
        page.wait_for_selector("#withdrawal .problems li")  # it asks once
        page.check("[name=received][value=yes]")
        page.click("text=Withdraw the release")
        page.wait_for_selector("text=Withdrawn on")
        assert not (server.releases / "people-release").exists()
        assert axe(page) == {}


def edit_by_keyboard(page: Any, plan: Path, columns: Any) -> None:
    """The grid is one tab stop: arrows move, Enter edits and saves, Escape leaves; nothing is saved by arrowing."""
    stops = "[...document.querySelectorAll('#grid select, #grid input, #grid button')].filter(e => e.tabIndex >= 0)"
    here = "document.activeElement.id"
    assert page.evaluate(f"{stops}.length") == 1
    before, first = plan.read_text(), page.evaluate(f"{stops}[0].closest('tr').dataset.column")
    page.evaluate(f"{stops}[0].focus()")
    page.keyboard.press("Control+Home")
    assert page.evaluate(here) == "role-1"
    for key, there in (("ArrowDown", "role-2"), ("ArrowRight", "kind-2"), ("ArrowUp", "kind-1"), ("Home", "role-1")):
        page.keyboard.press(key)
        assert page.evaluate(here) == there
    role = page.evaluate("document.activeElement.value")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.value") != role, "Enter begins to edit"
    page.wait_for_timeout(300)
    assert plan.read_text() == before, "nothing is saved by arrowing through a select"
    page.keyboard.press("Escape")
    until(page, f"document.getElementById('role-1').value === {role!r} && {here} === 'role-1'")
    assert plan.read_text() == before
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    chosen, name = page.evaluate("[document.activeElement.value, document.activeElement.closest('tr').dataset.column]")
    page.keyboard.press("Enter")
    until(page, lambda: columns()[name]["role"] == chosen)
    until(page, f"{here} === 'role-1'")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#grid')") is None, f"one tab stop ({first})"
    page.locator("#decided button").first.click()
    until(page, lambda: columns()[name]["role"] == role)


def test_coded_categories(own_home: Path, visitor: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    content = coded()
    small_example(own_home)
    with serving(own_home) as server:
        page = visitor.enter(server, accept_downloads=True)
        base = upload(page, server, "testdata.csv", content)
        (plan,) = own_home.glob("uploads/*/testdata-plan.toml")
        columns = lambda: tomllib.loads(plan.read_text())["columns"]  # noqa: E731
        for column in ("roof", "walls", "relat"):
            page.click(f"tr[data-column={column}] [data-preview]")
            page.wait_for_selector(f"#builder[data-column={column}] #levels table")
        page.select_option("tr[data-column=roof] [name=role]", "other")
        until(page, lambda: columns()["roof"]["role"] == "other")
        page.select_option("tr[data-column=roof] [name=role]", "quasi")
        until(page, lambda: columns()["roof"]["role"] == "quasi")

        page.select_option("tr[data-column=sex] [name=kind]", "ordinal")
        until(page, lambda: columns()["sex"]["kind"] == "ordinal")
        page.fill("tr[data-column=sex] [name=hierarchy]", "intervals:x")
        page.keyboard.press("Tab")
        page.wait_for_selector("#grid-problems li")
        until(page, "document.querySelector('tr[data-column=sex] [name=hierarchy]').value !== 'intervals:x'")

        edit_by_keyboard(page, plan, columns)

        page.click("tr[data-column=relat] [data-groups]")
        page.wait_for_selector("#groups")
        while page.query_selector("#groups-named [data-group=split]"):
            page.locator("#groups-named [data-group=split]").first.click()
        for place in (0, 1):
            page.locator("#groups [data-alone] .chips input").nth(place).check(force=True)
        page.keyboard.press("Tab")
        page.click("[data-group=make]")
        page.keyboard.type("close family")
        assert axe(page) == {}
        page.click("[data-group=save]")
        until(page, lambda: columns()["relat"].get("hierarchy") == "hierarchies/relat.csv")
        assert "close family" in (plan.parent / "hierarchies" / "relat.csv").read_text()

        quicken(plan, "1 generations", "households")
        search(page, base)
        unpacked = release(page, base, tmp_path_factory.mktemp("coded"))
        assert len(read_table(unpacked / "public" / "data.csv")) > 1000


def test_dates_and_missing_cells(own_home: Path, visitor: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    small_example(own_home)
    with serving(own_home) as server:
        page = visitor.enter(server, accept_downloads=True)
        base = upload(page, server, "visits.csv", dated())
        (plan,) = own_home.glob("uploads/*/visits-plan.toml")
        columns = lambda: tomllib.loads(plan.read_text())["columns"]  # noqa: E731
        open_ = [name for name, said in columns().items() if said["role"] == "undecided"]
        assert open_, "the file leaves a question"
        assert axe(page) == {}
        page.focus("#content")
        page.keyboard.press("c")  # one key for one answer
        page.wait_for_selector("#decided")
        until(page, lambda: any(columns()[name]["role"] == "confidential" for name in open_))
        page.locator("#decided button").first.click()
        until(page, lambda: [n for n, said in columns().items() if said["role"] == "undecided"] == open_)
        page.wait_for_selector("#question")
        page.click("text=Answer all by the safest reading")
        until(page, lambda: not [n for n, said in columns().items() if said["role"] == "undecided"])
        page.wait_for_selector("#question", state="detached")
        assert page.locator("#grid select[name=role]").evaluate_all("all => all.every(e => e.value !== 'undecided')")

        visit(page, f"{base}/goal")
        page.fill("#ask-k", "4")
        page.keyboard.press("Tab")
        until(page, lambda: tomllib.loads(plan.read_text())["require"][0]["k"] == 4)
        page.click("#check")
        page.wait_for_selector("#estimate .banner")
        assert axe(page) == {}
        quicken(plan, "1 generations")
        search(page, base)
        release(page, base, tmp_path_factory.mktemp("dated"))
