"""Look at the built site as a reader does, from files without a server: a picture of every page, and its faults.

    python docs/make.py && python docs/look.py --out FOLDER [--dark] [--width 1280] [PAGE …]

Opens every page of `site/` in Chromium (`CHROMIUM` names another program), saves a picture of the whole page and
sheets of many pages, and prints: links to nowhere, requests that leave the folder, errors of scripts, pages wider than
the window, code that is cut off without a way to scroll, pictures that do not load. Then it searches for a word.
Exit 1 if anything is printed. Needs the extra `check`.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

from PIL import Image
from playwright.sync_api import Page, sync_playwright

SITE = Path(__file__).resolve().parents[1] / "site"
SHEET = (6, 320, 420)
"""Pages beside each other on a sheet, and the size of each in pixels."""
TALLEST = 16_000
"""Pixels of a page that a picture shows."""
FAULTS = """() => {
  const found = [];
  if (document.documentElement.scrollWidth > window.innerWidth + 1)
    found.push(`wider than the window: ${document.documentElement.scrollWidth} pixels`);
  for (const block of document.querySelectorAll('.md-content pre > code'))
    if (block.scrollWidth > block.clientWidth + 1 && !['auto', 'scroll'].includes(getComputedStyle(block).overflowX))
      found.push('code is cut off: ' + block.textContent.slice(0, 60));
  for (const picture of document.querySelectorAll('.md-content img'))
    if (picture.complete && !picture.naturalWidth) found.push('no picture: ' + picture.getAttribute('src'));
  return found;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help="such as index.html; all without")
    parser.add_argument("--out", type=Path, help="folder of the pictures; none are made without")
    parser.add_argument("--dark", action="store_true", help="as a reader who prefers dark pages sees it")
    parser.add_argument("--width", type=int, default=1280, help="of the window, in pixels")
    asked = parser.parse_args()
    every = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
    pages = asked.pages or [name for name in every if name != "404.html"]  # which only a server shows
    faults, pictures, anchors, links = list[str](), list[Path](), dict[str, set[str]](), dict[str, list[str]]()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
        scheme = "dark" if asked.dark else "light"
        page = browser.new_context(
            viewport={"width": asked.width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        ).new_page()
        here = ""
        page.on("request", lambda sent: faults.append(f"{here}: asks {sent.url}") if _outside(sent.url) else None)
        page.on("pageerror", lambda error: faults.append(f"{here}: {error}"))
        for name in pages:
            here = name
            page.goto((SITE / name).as_uri())
            faults += [f"{name}: {fault}" for fault in page.evaluate(FAULTS)]
            anchors[name] = set(page.evaluate("() => [...document.querySelectorAll('[id]')].map(e => e.id)"))
            links[name] = page.evaluate("() => [...document.querySelectorAll('a[href]')].map(a => a.href)")
            if asked.out:
                pictures.append(_picture(page, asked.out / f"{name.replace('/', '-')}.png"))
        found = _search(page, "hypervolume")
        browser.close()
    if not asked.pages:
        faults += _broken(links, anchors)
    if asked.out:
        _sheets(pictures, asked.out)
    count = sum(map(len, links.values()))
    sys.stdout.write(f"{len(pages)} pages, {count} links; the search for 'hypervolume' finds {found} pages\n")
    if not found:
        faults.append("the search finds nothing")
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    sys.exit(bool(faults))


def _outside(address: str) -> bool:
    return urlparse(address).scheme not in ("file", "data", "blob")


def _broken(links: dict[str, list[str]], anchors: dict[str, set[str]]) -> list[str]:
    """Links between pages that lead to no page, or to no place in it."""
    found = []
    for name, targets in links.items():
        for target in sorted(set(targets)):
            address, place = urldefrag(target)
            if urlparse(address).scheme != "file":
                continue
            path = Path(unquote(urlparse(address).path))
            if not path.is_file():
                found.append(f"{name}: no such page: {target}")
            elif place and path.suffix == ".html":
                there = anchors.get(str(path.relative_to(SITE)), set())
                if unquote(place) not in there and place != "__codelineno":
                    found.append(f"{name}: no such place: {path.name}#{place}")
    return found


def _picture(page: Page, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    tall = min(page.evaluate("document.documentElement.scrollHeight"), TALLEST)
    wide = page.viewport_size["width"] if page.viewport_size else 1280
    cut = {"x": 0, "y": 0, "width": wide, "height": tall}
    page.screenshot(path=path, full_page=True, animations="disabled", clip=cut)
    return path


def _search(page: Page, word: str) -> int:
    """How many pages the search of the site lists, typed into its box on the first page."""
    page.goto((SITE / "index.html").as_uri())
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator("input.md-search__input").click()
    page.keyboard.type(word)
    results = page.locator("li.md-search-result__item")
    try:
        results.first.wait_for(timeout=15_000)
    except Exception:  # noqa: BLE001 - nothing is listed, which the caller reports
        return 0
    return results.count()


def _sheets(pictures: list[Path], folder: Path) -> None:
    """Many pages on one picture, cut at the height of the cells."""
    across, width, height = SHEET
    each = across * 3
    for first in range(0, len(pictures), each):
        sheet = Image.new("RGB", (across * width, 3 * height), "gray")
        for place, path in enumerate(pictures[first : first + each]):
            with Image.open(path) as picture:
                small = picture.convert("RGB").resize((width - 8, round(picture.height * (width - 8) / picture.width)))
            top = small.crop((0, 0, small.width, min(small.height, height - 8)))
            sheet.paste(top, (place % across * width + 4, place // across * height + 4))
        sheet.save(folder / f"sheet-{first // each + 1}.png")


if __name__ == "__main__":
    main()
