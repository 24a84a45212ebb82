"""How quick the studio is: a page on Adult and on a million rows, and walking the front while the search runs.

    python benchmarks/studio.py [adult.csv] [--rows 1000000] [--json]

Needs chromium and playwright. Seconds of the wall clock from the request to the page that can be used; the search
runs meanwhile in its own process. Nothing is written beside the data: the studio works on a copy.
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
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl
from playwright.sync_api import Error, sync_playwright

from crypsis.studio import jobs

PROGRAM = (sys.executable, "-c", "from crypsis.cli import main; main()")


def million(path: Path, rows: int) -> None:
    """Invented people, enough of them."""
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


def visit(browser: Any, source: Path, home: Path) -> dict[str, float]:
    """Open the studio on a file, look at every page, start the search and walk."""
    environment = {**os.environ, "CRYPSIS_STUDIO_HOME": str(home)}
    command = [*PROGRAM, "studio", str(source), "--no-browser"]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = {}
    try:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address is not None
        base = address[0].split("/?")[0]
        page = browser.new_page()
        page.set_default_timeout(300_000)
        for name, where in (("first page", address[0]), ("data", f"{base}/data"), ("goal", f"{base}/goal")):
            found[f"{name}, s"] = _seconds(page, where)
        began = time.monotonic()
        while not page.evaluate("fetch('/data').then(r => r.text()).then(t => t.includes('data-column'))"):
            page.wait_for_timeout(100)
        found["file read after, s"] = time.monotonic() - began
        found["data once read, s"] = _seconds(page, f"{base}/data")
        page.goto(base)
        page.wait_for_selector("body[data-ready]")
        page.click("#start")
        page.wait_for_selector("#front-table tbody tr >> nth=0", state="attached")
        found["front while searching, s"] = _seconds(page, base)
        steps = [_step(page, n) for n in range(12)]
        found["a step of the walk, ms, median"], found["a step, ms, worst"] = median(steps), max(steps)
        heap = page.evaluate("performance.memory ? performance.memory.usedJSHeapSize / 1e6 : 0")
        found["script memory of the page, MB"] = heap
        page.close()
    finally:
        server.terminate()
        server.wait()
        for run in source.parent.glob("*-run"):
            jobs.stop(run)
    return found


def _seconds(page: Any, address: str) -> float:
    """From the request to the page that can be used."""
    began = time.monotonic()
    try:
        page.goto(address, wait_until="commit")
    except Error:  # the page before it was just filling itself, because the file was in
        page.goto(address, wait_until="commit")
    page.wait_for_selector("body[data-ready]", state="attached")
    return time.monotonic() - began


def _step(page: Any, number: int) -> float:
    """Milliseconds from the key to the words that name the new point, measured inside the page."""
    return float(
        page.evaluate(
            """key => new Promise(done => {
                const words = document.getElementById('walk-now'), began = performance.now();
                const seen = new MutationObserver(() => { seen.disconnect(); done(performance.now() - began); });
                seen.observe(words, {childList: true, characterData: true, subtree: true});
                document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
                setTimeout(() => done(5000), 5000);
            })""",
            "ArrowRight" if number % 2 else "ArrowLeft",
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("adult", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        home = Path(folder) / "home"
        home.mkdir(mode=0o700)
        for name, rows in (("adult", 0), ("many", asked.rows)):
            place = Path(folder) / name
            place.mkdir()
            source = place / f"{name}.csv"
            if rows:
                million(source, rows)
            elif asked.adult is None:
                continue
            else:
                shutil.copy(asked.adult, source)
            results[name] = {key: round(value, 2) for key, value in visit(browser, source, home).items()}
        browser.close()
    if asked.json:
        print(json.dumps(results, indent=2))
        return
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, found in results.items():
        print(name, *(f"  {key:34} {value:10.2f}" for key, value in found.items()), sep="\n")


if __name__ == "__main__":
    main()
