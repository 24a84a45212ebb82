"""What follows from the files is made again: pages, schema and counts, even after everything was sealed anew."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crypsis.masking import Microaggregation
from crypsis.privacy import KAnonymity
from crypsis.release import Account, publish, verify
from crypsis.release.manifest import digests, seal, sha256
from crypsis.table.example import example
from waiving import waiving


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    original = example(120, seed=1)
    masked = Microaggregation(k=5, missing="aggregate").mask(original, np.random.default_rng(0))
    account = Account("Test", "Microaggregation in groups of five.", "aggregation", {"k": 5})
    folder = tmp_path_factory.mktemp("released") / "release"
    asked, reasons = [KAnonymity(k=5)], waiving("income")
    return publish(masked, folder, models=asked, original=original, account=account, waivers=reasons)


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    return shutil.copytree(bundle, tmp_path / "copy")


def reseal(folder: Path) -> None:
    """What a careful forger does: every digest and seal made to fit."""
    for part in ("public", "internal"):
        path = folder / part / "manifest.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        path.unlink()
        content["files"] = digests(folder / part)
        if part == "internal":
            content["public"] = sha256(folder / "public" / "manifest.json")
        content["seal"] = seal(content)
        path.write_text(json.dumps(content), encoding="utf-8")


def edited(name: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / name
        content = json.loads(path.read_text(encoding="utf-8"))
        change(content)
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    return edit


def page(name: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return edit


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (page("public/report.html", "records released", "people released"), "public/report.html does not say"),
        (page("internal/report.html", "Records hardest", "Records easiest"), "internal/report.html does not say"),
        (edited("public/report.json", lambda c: c.update(rows=7)), "counts other records"),
        (edited("public/report.json", lambda c: c["columns"][0].update(distinct=1)), "counts other records"),
        (edited("public/report.json", lambda c: c.update(guarantees=[])), "does not state the guarantee"),
        (edited("public/schema.json", lambda c: c.update(rows=7)), "schema.json does not describe"),
        (edited("public/manifest.json", lambda c: c["requirements"][0]["verdict"].update(attained=50)), "differently"),
    ],
)
def test_a_forger_who_seals_everything_anew_is_still_found(
    copy: Path, forge: Callable[[Path], None], words: str
) -> None:
    forge(copy)
    reseal(copy)
    problems = verify(copy).problems
    assert any(words in problem for problem in problems), problems


def test_sealing_anew_without_a_change_is_sound(copy: Path) -> None:
    reseal(copy)
    assert verify(copy).problems == ()


def test_what_could_not_be_checked_is_said(copy: Path) -> None:
    assert any("internal part" in note for note in verify(copy / "public").notes)
    change = edited("public/report.json", lambda c: c.update(version="0.0.1"))
    change(copy)
    reseal(copy)
    found = verify(copy)
    assert any("not rendered again" in note for note in found.notes)
