"""How quick the studio is, part by part; each is printed as soon as it is known.

    python benchmarks/studio.py [first adult many upload] [--rows 1000000] [--megabytes 300] [--json FILE]

first    `crypsis studio` with no argument until the example's front is finished: in a new home with nothing compiled,
         in a new home, and once more in that one
adult    every page on Adult (in the folder CRYPSIS_DATA, else in ../shared/data beside the repository), then walking
         the front while the search runs
many     the same on a table of invented people
upload   a large file through the browser, into a studio that refuses it once it is there

Needs chromium and playwright. Seconds of the wall clock from the request to the page that can be used; the search
runs meanwhile in its own process. Every wait is bounded. Nothing is written beside the data: the studio gets a copy.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl
from playwright.sync_api import Error, sync_playwright

from crypsis.studio import jobs

PROGRAM = (sys.executable, "-c", "from crypsis.cli import main; main()")
PATIENCE = 180.0
PARTS = ("first", "adult", "many", "upload")
Figures = dict[str, float]


def people(path: Path, rows: int) -> None:
    """Invented people, as many as wanted."""
    rng = np.random.default_rng(1)
    pl.DataFrame(
        {
            "age": rng.integers(18, 95, rows),
            "sex": rng.choice(["female", "male"], rows),
            "region": rng.integers(1, 40, rows).astype(str),
            "education": rng.choice(["none", "school", "college", "doctor"], rows),
            "hours": rng.integers(0, 70, rows),
            "income": np.round(rng.lognormal(10, 0.5, rows), -2),
        }
    ).write_csv(path)


@contextmanager
def studio(home: Path, source: Path | None = None, **more: str) -> Iterator[tuple[str, int]]:
    """A studio as a person starts it: its first address, and its process."""
    home.mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "CRYPSIS_STUDIO_HOME": str(home), **more}
    command = [*PROGRAM, "studio", *([str(source)] if source else []), "--no-browser"]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address is not None, "the studio did not start"
        yield address[0], server.pid
    finally:
        server.terminate()
        server.wait()
        for record in [*home.rglob(".*.job.json"), *(source.parent.rglob(".*.job.json") if source else ())]:
            jobs.stop(record.with_name(record.name.removeprefix(".").removesuffix(".job.json")))


def until(page: Any, expression: str, seconds: float = PATIENCE) -> float:
    """Seconds until an expression is true in the page."""
    began = time.monotonic()
    while not _holds(page, expression):
        if time.monotonic() > began + seconds:
            raise SystemExit(f"given up after {seconds:.0f} s: {expression}")
        page.wait_for_timeout(50)
    return time.monotonic() - began


def _holds(page: Any, expression: str) -> bool:
    try:
        return bool(page.evaluate(expression))
    except Error:  # the page loads itself anew, because the file was read
        return False


def ready(page: Any, address: str) -> float:
    """Seconds from the request to the page that can be used."""
    began = time.monotonic()
    try:
        page.goto(address, wait_until="commit")
    except Error:  # the page before it was just filling itself, because the file was in
        page.goto(address, wait_until="commit")
    page.wait_for_selector("body[data-ready]", state="attached")
    return time.monotonic() - began


def first_run(browser: Any, folder: Path) -> Iterator[tuple[str, Figures]]:
    """From the command to a finished front."""
    cold = {"NUMBA_CACHE_DIR": str(folder / "kernels")}
    for name, home, more in (("nothing compiled", "a", cold), ("new home", "b", {}), ("again", "b", {})):
        began = time.monotonic()
        with studio(folder / home, **more) as (address, _):
            page = browser.new_page()
            page.set_default_timeout(1000 * PATIENCE)
            found = {"address printed, s": time.monotonic() - began}
            ready(page, address)
            found["first page, s"] = time.monotonic() - began
            _open_example(page)
            until(page, "document.querySelectorAll('#front-table tbody tr').length > 0")
            found["first points, s"] = time.monotonic() - began
            until(page, "document.getElementById('search-words').textContent.startsWith('Finished')")
            found["finished front, s"] = time.monotonic() - began
            page.close()
        yield f"first run, {name}", found


def _open_example(page: Any) -> None:
    """From Home to the example."""
    page.click("#cards li h3 a")
    page.wait_for_url("**/s/**")
    page.wait_for_selector("body[data-ready]", state="attached")


LONG_TASKS = """window.tasks = [];
const seen = list => window.tasks.push(...list.getEntries().map(e => e.duration));
new PerformanceObserver(seen).observe({type: 'longtask', buffered: true});"""


class Visit:
    """A person at one studio: each action with its seconds, those of the studio's processor, and the longest task."""

    def __init__(self, page: Any, server: int) -> None:
        self.page, self.server = page, server
        self.found: Figures = {}
        self.longest = 0.0

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        work, began = _work(self.server), time.monotonic()
        yield
        self.found[f"{name}, s"] = time.monotonic() - began
        self.found[f"{name}, studio's CPU, s"] = _work(self.server) - work

    def ready(self, name: str, address: str) -> None:
        """Go to a page; the longest task of the page that is left is noted."""
        self.note_tasks()
        with self.timed(name):
            ready(self.page, address)

    def note_tasks(self) -> None:
        try:
            self.longest = max([self.longest, *self.page.evaluate("window.tasks ?? []")])
        except Error:  # the page fills itself anew just now, because the file was read; its tasks are gone
            self.page.wait_for_selector("body[data-ready]", state="attached")


def visit(browser: Any, source: Path, home: Path) -> Figures:
    """Open the studio on a file, look at every page, search, walk, steer, pause, and audit a solution."""
    with studio(home, source) as (address, server):
        page = browser.new_page()
        page.add_init_script(LONG_TASKS)
        page.set_default_timeout(1000 * PATIENCE)
        there = Visit(page, server)
        there.ready("first page, while reading", address)
        base = "/".join(page.url.split("/")[:5])
        there.ready("goal while reading", f"{base}/goal")
        with there.timed("file read after these"):
            until(
                page,
                "fetch(document.body.dataset.base + '/data').then(r => r.text()).then(t => t.includes('data-column'))",
            )
        for name in ("", *NAMES):
            there.ready(f"{name or 'home'} once read", f"{base}/{name}" if name else "/".join(base.split("/")[:3]))
        _decide(there, base)
        _search(there, base)
        _audit(there, base)
        there.note_tasks()
        there.found |= {
            "longest task in the browser, ms": there.longest,
            "script memory of the page, MB": page.evaluate("performance.memory.usedJSHeapSize / 1e6"),
            "whole memory of the page's process, MB": _renderer(browser),
            "memory of the studio, MB": _status(server, "VmRSS"),
            "peak memory of the studio, MB": _peak(server),
        }
        page.close()
    return there.found


NAMES = ("data", "goal", "explore", "release")


def _decide(there: Visit, base: str) -> None:
    """Settle what is undecided, give a column another role and back, and check the plan."""
    page = there.page
    ready(page, f"{base}/data")
    if page.locator("button[formaction$='/data/settle']").count():
        with there.timed("all questions answered"):
            page.click("button[formaction$='/data/settle']")
            page.wait_for_selector("#question", state="detached")
    there.note_tasks()
    row = page.locator("#rows tr").first
    with there.timed("a role is changed and shown"):
        before = page.inner_text("#reveals")
        row.locator("select[name=role]").select_option("other")
        until(page, f"document.getElementById('reveals').innerText !== {json.dumps(before)}", 30)
    with there.timed("and changed back"):
        page.locator("#rows tr").first.locator("select[name=role]").select_option("quasi")
        until(page, f"document.getElementById('reveals').innerText === {json.dumps(before)}", 30)
    there.ready("goal with every role", f"{base}/goal")
    with there.timed("the plan is checked"):
        page.click("#check")
        page.wait_for_selector("#estimate .banner")


def _search(there: Visit, base: str) -> None:
    """Start, walk while it runs, steer, pause."""
    page, found = there.page, there.found
    there.ready("explore before the search", f"{base}/explore")
    page.click("#start")
    page.wait_for_selector("#front-table tbody tr >> nth=0", state="attached")
    there.ready("explore while searching", f"{base}/explore")
    points = "fetch(document.body.dataset.base + '/explore.json').then(r => r.json()).then(c => c.points"
    until(page, f"{points}.length > 0)")
    page.wait_for_timeout(5000)
    several = page.evaluate(f"{points}.filter(p => p.standing === 'front').length > 2)")
    for _ in range(2 if several else 0):  # the second time, the page has the panels already
        steps = [_step(page, "ArrowRight" if n < 4 else "ArrowLeft") for n in range(8)]
        found["a step while searching, until its figures are in the panel, ms, median"] = median(steps)
        found["… worst"] = max(steps)
    slides = [_slide(page, n) for n in range(20)]
    found["a move of a limit while searching, ms, median"], found["… worst of these"] = median(slides), max(slides)
    with there.timed("steering, from the click to the page that says it"):
        page.locator("#legend button").first.click()
        page.wait_for_selector("#in-force li")
    with there.timed("steering obeyed"):
        until(page, "/generation|step|obeyed/.test(document.getElementById('in-force').textContent) && "
              "!document.getElementById('in-force').textContent.includes('not obeyed yet')")  # fmt: skip
    with there.timed("pause, until it is said"):
        page.click("#pause")
        until(page, "/Paus/.test(document.getElementById('search-words').textContent)")
    with there.timed("pause, until the search has written its state"):
        until(page, "/^(Paused|Finished)/.test(document.getElementById('search-words').textContent)")
    there.note_tasks()
    ready(page, f"{base}/explore")
    with there.timed("description of a solution that nobody looked at"):
        until(page, "(document.getElementById('description')?.scrollIntoView(),"
              " document.querySelector('#description table') !== null)")  # fmt: skip
    if not several:  # the front is short: baselines are solutions too
        steps = [_step(page, row=n % 2) for n in range(9)][1:]  # the first one may be selected already
        found["a step after the pause, until its figures are in the panel, ms, median"] = median(steps)
        found["… worst of them"] = max(steps)


def _audit(there: Visit, base: str) -> None:
    """Choose a solution: its audit, and the page once more."""
    page = there.page
    page.click("#choose")
    until(page, "document.getElementById('choose').getAttribute('aria-pressed') === 'true'")
    there.ready("release page of the chosen solution", f"{base}/release")
    with there.timed("its audit, after that"):
        page.wait_for_selector("#reveals-summary")
    there.ready("release page again", f"{base}/release")
    with there.timed("its audit, again"):
        page.wait_for_selector("#reveals-summary")


def _step(page: Any, key: str = "", row: int = 0) -> float:
    """Milliseconds from a key, or a click on a row of the table, to the figures of the new solution."""
    return float(
        page.evaluate(
            """([key, row]) => new Promise(done => {
                const title = document.getElementById('panel-title'), before = title.textContent;
                const began = performance.now(), gone = () => performance.now() - began;
                const look = () => {
                    if (title.textContent !== before || gone() > 5000) done(gone()); else requestAnimationFrame(look);
                };
                if (key) document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
                else document.querySelectorAll('#front-table tbody tr')[row].click();
                look();
            })""",
            [key, row],
        )
    )


def _slide(page: Any, number: int) -> float:
    """Milliseconds from moving a limit to the next painted frame."""
    return float(
        page.evaluate(
            """value => new Promise(done => {
                const slider = document.getElementById('limit-risk'), began = performance.now();
                slider.value = value;
                slider.dispatchEvent(new Event('input', {bubbles: true}));
                requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
            })""",
            20 + number,
        )
    )


def _renderer(browser: Any) -> float:
    """Resident megabytes of the largest process that draws a page."""
    message = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    return max(_status(each["id"], "VmRSS") for each in message if each["type"] == "renderer")


def _peak(process: int) -> float:
    return _status(process, "VmHWM")


def _status(process: int, field: str) -> float:
    text = Path(f"/proc/{process}/status").read_text()
    found = re.search(rf"{field}:\s+(\d+) kB", text)
    return int(found[1]) / 1000 if found else 0.0


def upload(browser: Any, folder: Path, megabytes: int) -> Figures:
    """A large body: how long, how much memory, how much work; the studio refuses the file when it looks into it."""
    large = folder / "large.csv"
    with large.open("wb") as file:
        file.write(b",".join(b"c%d" % n for n in range(3000)) + b"\n")  # more columns than the studio takes
        piece = b"1," * 500_000
        for _ in range(megabytes):
            file.write(piece)
    with studio(folder / "home") as (address, server):
        page = browser.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        ready(page, address)
        _open_example(page)
        until(page, "document.getElementById('search-words').textContent.startsWith('Finished')")
        ready(page, "/".join(address.split("/")[:3]))
        work, peak, began = _work(server), _peak(server), time.monotonic()
        page.set_input_files("#file", str(large))
        page.wait_for_selector("#bring-problems li")
        found = {
            "file, MB": large.stat().st_size / 1e6,
            "until its sentence, s": time.monotonic() - began,
            "work of the studio, s": _work(server) - work,
            "growth of the studio's peak memory, MB": _peak(server) - peak,
            "left on disk, MB": sum(p.stat().st_size for p in folder.glob("home/uploads/*/*")) / 1e6,
        }
        page.close()
    return found


def _work(process: int) -> float:
    """Seconds of processor time a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def adult() -> Path:
    named = os.environ.get("CRYPSIS_DATA")
    path = (Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data") / "adult.csv"
    if not path.is_file():
        sys.exit("adult.csv is not at hand; set CRYPSIS_DATA to the folder that holds it")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=" ".join(PARTS))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    results: dict[str, Figures] = {}

    def message(name: str, found: Figures) -> None:
        results[name] = {key: round(value, 2) for key, value in found.items()}
        print(f"{name} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
        print(*(f"  {key:50} {value:10.2f}" for key, value in found.items()), sep="\n", flush=True)

    def looked_at(name: str, lay: Callable[[Path], object], folder: Path) -> None:
        place = folder / name
        place.mkdir()
        lay(place / f"{name}.csv")
        message(name, visit(browser, place / f"{name}.csv", folder / "home"))

    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as driver:
        folder = Path(temporary)
        flags = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        wanted = asked.parts or PARTS
        if "first" in wanted:
            for name, found in first_run(browser, folder):
                message(name, found)
        if "adult" in wanted:
            looked_at("adult", lambda path: shutil.copy(adult(), path), folder)
        if "many" in wanted:
            looked_at("many", lambda path: people(path, asked.rows), folder)
        if "upload" in wanted:
            message("upload", upload(browser, folder, asked.megabytes))
        browser.close()
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
