"""Take the pictures of the studio's pages: the built-in example from the finished front to the checked release.

python docs/screenshots.py [--out docs/images]     needs chromium and playwright
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
PROGRAM = (sys.executable, "-m", "crypsis")
WAIT = 300
"""Seconds a page may take: the kernels may have to be compiled first."""
IDLE = "document.querySelectorAll('[aria-busy=true]').length === 0"
FINISHED = "document.getElementById('search-words').textContent.startsWith('Finished')"


@contextmanager
def studio(home: Path) -> Iterator[str]:
    """The studio on the built-in example: its first address."""
    environment = {
        **os.environ,
        "CRYPSIS_STUDIO_HOME": str(home / "studio"),
        "CRYPSIS_RELEASES": str(home / "releases"),
        "CRYPSIS_LEDGER": str(home / "ledger.json"),
    }
    server = subprocess.Popen([*PROGRAM, "studio", "--no-browser"], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        message = server.stdout.readline() if server.stdout is not None else ""
        found = re.search(r"http://\S+", message)
        if found is None:
            sys.exit("the studio did not start; see `crypsis doctor`")
        yield found[0]
    finally:
        server.terminate()
        server.wait()


def until(page: Any, expression: str) -> None:
    """Ask again and again: the page's content policy lets nobody wait inside it."""
    end = time.monotonic() + WAIT
    while not page.evaluate(expression):
        if time.monotonic() > end:
            sys.exit(f"given up after {WAIT} s: {expression}")
        page.wait_for_timeout(100)


def taken(page: Any, address: str, path: Path, tallest: int | None = None) -> None:
    """One page, as tall as it is or cut."""
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    until(page, IDLE)
    page.wait_for_timeout(1500)  # charts are drawn after the page is ready
    cut = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": tallest} if tallest else None
    page.screenshot(path=path, full_page=True, **({"clip": cut} if cut else {}))


def walk_through(page: Any, base: str, images: Path) -> None:
    """All pages with a pinned and a chosen solution, and the page of a release."""
    until(page, FINISHED)
    page.click("#extend")  # the example searches a few seconds: on a busy machine that is no front to look at
    until(page, "document.getElementById('search-words').textContent.startsWith('Searching')")
    until(page, FINISHED)
    page.reload()  # so that the best balance is selected
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector("#pin:not([disabled])")
    page.keyboard.press("p")
    page.wait_for_selector("#pin:has-text('Unpin')")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector("#pin:text-matches('^Pin')")
    page.keyboard.press("p")
    page.wait_for_selector("#pin:has-text('Unpin')")
    page.keyboard.press("c")
    until(page, "document.getElementById('head-chosen').textContent !== 'none'")
    for name, path in (("data", "/data"), ("goal", "/goal"), ("front", "/explore")):
        taken(page, base + path, images / f"studio-{name}.png")
    taken(page, f"{base}/release", images / "studio-release.png")
    page.click("#export")
    page.wait_for_url("**/release/1")
    taken(page, f"{base}/release/1", images / "studio-released.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "images")
    images = parser.parse_args().out
    images.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="studio-") as home,
        studio(Path(home)) as address,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        context.set_default_timeout(1000 * WAIT)
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        page.click("#cards li h3 a")
        page.wait_for_url("**/s/**")
        page.wait_for_selector("body[data-ready]")
        base = page.url.rsplit("/", 1)[0]
        walk_through(page, base, images)
        page.emulate_media(color_scheme="dark")
        taken(page, f"{base}/explore", images / "studio-dark.png", 1200)
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 320, "height": 900})
        taken(page, f"{base}/explore", images / "studio-narrow.png", 1800)
        browser.close()


if __name__ == "__main__":
    main()
